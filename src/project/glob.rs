//! Path patterns: `*`, `?`, `[a-z]`, `{a,b}` within a folder, `**` across folders. A pattern that
//! matches a folder matches everything below it, so a place in a project is a file, a folder with
//! everything in it, or a pattern of either. Matching takes linear time in the length of the path
//! for every pattern.

use globset::{GlobBuilder, GlobMatcher};

/// The reason why a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It is empty.
    #[error("a pattern needs at least one character")]
    Empty,
    /// It starts at the root of the machine, or leaves the project.
    #[error("a pattern is relative to the project and stays inside it")]
    Outside,
    /// A bracket or brace that is not closed, or a pattern that is too large.
    #[error("{0}")]
    Syntax(String),
    /// Too long.
    #[error("a pattern has at most 1,000 bytes")]
    Long,
}

/// One pattern: the paths that it matches, and everything below them.
#[derive(Clone, Debug)]
struct Glob {
    whole: GlobMatcher,
    under: GlobMatcher,
}

/// A list of patterns; matches every path that one of them matches.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    globs: Vec<Glob>,
    written: Vec<String>,
}

impl Globs {
    /// True if it contains no valid pattern.
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Returns true if it matches every path, as `**` does.
    pub fn matches_everything(&self) -> bool {
        self.matches("\u{1}/\u{1}")
    }

    /// The patterns as written.
    pub fn patterns(&self) -> &[String] {
        &self.written
    }

    /// Adds a pattern.
    pub fn add_pattern(&mut self, pattern: &str) -> Result<(), GlobError> {
        if pattern.len() > 1000 {
            return Err(GlobError::Long);
        }
        let plain = pattern
            .strip_prefix("./")
            .unwrap_or(pattern)
            .trim_end_matches('/');
        if plain.is_empty() {
            return Err(if pattern.starts_with('/') {
                GlobError::Outside
            } else {
                GlobError::Empty
            });
        }
        if plain.starts_with('/') || plain.split('/').any(|part| part == "..") {
            return Err(GlobError::Outside);
        }
        self.globs.push(Glob {
            whole: build_matcher(plain)?,
            under: build_matcher(&format!("{plain}/**"))?,
        });
        self.written.push(pattern.to_owned());
        Ok(())
    }

    /// True if a path relative to the project, with `/` as separator, or a folder above it matches.
    pub fn matches(&self, path: &str) -> bool {
        self.globs
            .iter()
            .any(|glob| glob.whole.is_match(path) || glob.under.is_match(path))
    }

    /// Returns true if a pattern matches a name or path itself, and not only a folder above it.
    pub fn matches_name(&self, name: &str) -> bool {
        self.globs.iter().any(|glob| glob.whole.is_match(name))
    }
}

/// Returns true if a pattern names folders level by level, as `teams/*` does.
pub fn is_level_by_level(pattern: &str) -> bool {
    let is_level = |part: &str| {
        !part.contains("**")
            && !matches!(part, "" | ".")
            && part.matches('{').count() == part.matches('}').count()
    };
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    plain.trim_end_matches('/').split('/').all(is_level)
}

fn build_matcher(pattern: &str) -> Result<GlobMatcher, GlobError> {
    let mut builder = GlobBuilder::new(pattern);
    let built = builder
        .literal_separator(true)
        .backslash_escape(false)
        .empty_alternates(true)
        .build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| GlobError::Syntax(error.kind().to_string()))
}

/// The folder or file that contains everything that a place can match.
pub fn fixed_prefix(place: &str) -> String {
    let parts = place
        .split('/')
        .take_while(|part| !is_pattern(part) && !part.is_empty());
    parts
        .filter(|part| *part != ".")
        .collect::<Vec<_>>()
        .join("/")
}

/// True if a place can match more than one path.
pub fn is_pattern(place: &str) -> bool {
    place.contains(['*', '?', '[', '{'])
}

/// True if a path of the project lies at a place.
pub fn contains_path(place: &str, path: &str) -> bool {
    let place = place.trim_start_matches("./").trim_end_matches('/');
    if place.is_empty() || place == "." {
        return true;
    }
    if !is_pattern(place) {
        return path
            .strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    }
    let mut globs = Globs::default();
    // An invalid pattern has been reported where it was read, and matches nothing.
    globs.add_pattern(place).is_ok() && globs.matches(path)
}
