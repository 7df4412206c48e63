//! Path patterns: `*`, `?`, `[a-z]`, `{a,b}` within a folder, `**` across folders. A pattern that names a folder
//! matches everything under it. Matching is linear in the path, whatever the pattern.

use globset::{GlobBuilder, GlobMatcher};

/// Why a pattern cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It is empty.
    #[error("a pattern needs at least one character")]
    Empty,
    /// It starts at the root of the machine, or leaves the project.
    #[error("a pattern is relative to the project and stays inside it")]
    Outside,
    /// A bracket or brace without its other half, or more than a pattern can hold.
    #[error("{0}")]
    Syntax(String),
    /// Too long.
    #[error("a pattern has at most 1,000 bytes")]
    Long,
}

/// One pattern: what it names, and what lies under that.
#[derive(Clone, Debug)]
struct Glob {
    whole: GlobMatcher,
    under: GlobMatcher,
}

/// A list of patterns; matches what any of them matches.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    globs: Vec<Glob>,
    written: Vec<String>,
}

impl Globs {
    /// Whether there is not a valid pattern.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Returns whether it matches every path, as `**` does.
    pub fn matches_everything(&self) -> bool {
        self.matches("\u{1}/\u{1}")
    }

    /// The patterns as written.
    pub fn written(&self) -> &[String] {
        &self.written
    }

    /// Adds a pattern.
    pub fn add(&mut self, pattern: &str) -> Result<(), GlobError> {
        if pattern.len() > 1000 {
            return Err(GlobError::Long);
        }
        let plain = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        if plain.is_empty() {
            return Err(if pattern.starts_with('/') { GlobError::Outside } else { GlobError::Empty });
        }
        if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            return Err(GlobError::Outside);
        }
        self.globs.push(Glob { whole: matcher(plain)?, under: matcher(&format!("{plain}/**"))? });
        self.written.push(pattern.to_owned());
        Ok(())
    }

    /// Whether a path relative to the project, with `/` between its parts, matches, or a folder above it does.
    pub fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.whole.is_match(path) || glob.under.is_match(path))
    }

    /// Whether a name without folders matches as a whole.
    pub fn matches_name(&self, name: &str) -> bool {
        self.globs.iter().any(|glob| glob.whole.is_match(name))
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, GlobError> {
    let mut builder = GlobBuilder::new(pattern);
    let built = builder.literal_separator(true).backslash_escape(false).empty_alternates(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| GlobError::Syntax(error.kind().to_string()))
}
