//! `[package]`: the package that a project is published as, and the names of packages and of what
//! they export.

use super::glob::Globs;
use crate::base::span::Spanned;
use crate::base::words::words;
use crate::template::names::DefinitionKind;
use semver::Version;
use std::fmt;
use toml_edit::{DocumentMut, Item};

/// `[package]`.
#[derive(Clone, Debug)]
pub struct PackageSection {
    /// `name`: `acme/rules`.
    pub name: Spanned<String>,
    /// `version`.
    pub version: Spanned<Version>,
    /// `license`.
    pub license: Option<String>,
    /// `files`; `None` if absent: the files of the project that a package needs.
    pub files: Option<Globs>,
    /// The patterns of `files`, in the order of the file.
    pub patterns: Vec<Spanned<String>>,
    /// `exports`: the definitions that others may use, in the order of the file.
    pub exports: Vec<Spanned<PackageExport>>,
    /// `recordings`: the package contains recorded answers.
    pub has_recordings: bool,
    /// `[[package.consumers]]`: the projects whose contracts a release must keep.
    pub consumers: Vec<ConsumerEntry>,
}

/// A table of `[[package.consumers]]`.
#[derive(Clone, Debug)]
pub struct ConsumerEntry {
    /// `source`.
    pub source: String,
    /// `name`; `None` if absent: that of its folder or repository.
    pub name: Option<String>,
}

/// A definition that a package exports: `tasks/triage`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackageExport {
    /// Its kind.
    pub kind: ExportKind,
    /// Its name; empty for the rules of the package, which have none.
    pub name: String,
}

words! {
    /// The kinds of definitions that a package can export.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ExportKind {
        /// A named part of a template.
        Fragment = "fragments",
        /// A role.
        Role = "roles",
        /// The `[lints]` of the package.
        Rules = "rules",
        /// A task.
        Task = "tasks",
        /// A tool.
        Tool = "tools",
    }
}

impl ExportKind {
    /// Returns the kind of a definition of a template; functions are always private.
    pub fn of_definition(kind: DefinitionKind) -> Option<Self> {
        match kind {
            DefinitionKind::Task => Some(Self::Task),
            DefinitionKind::Fragment => Some(Self::Fragment),
            DefinitionKind::Template => None,
        }
    }
}

impl PackageExport {
    /// Reads `KIND/NAME`, or `rules`.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, name) = text.split_once('/').unwrap_or((text, ""));
        let kind = ExportKind::parse(word)?;
        let is_named = kind != ExportKind::Rules;
        (is_named != name.is_empty() && text.contains('/') == is_named).then(|| Self {
            kind,
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for PackageExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if self.name.is_empty() {
            return Ok(());
        }
        write!(f, "/{}", self.name)
    }
}

/// True for the name of a package: an organisation and a name of lower-case letters, digits and `-`,
/// with one slash between them.
pub fn is_package_name(text: &str) -> bool {
    let is_part = |part: &str| {
        part.len() <= 64
            && part.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
            && !part.ends_with('-')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    text.split_once('/')
        .is_some_and(|(organisation, name)| is_part(organisation) && is_part(name))
}

/// Returns a project file without the settings of its author's machine and accounts: addresses and
/// keys of providers, limits of permissions, the place of the history, addresses of recordings, and
/// consumers. A file without them stays as it is.
pub fn without_private_settings(text: &str) -> String {
    let Ok(mut settings) = text.parse::<DocumentMut>() else {
        return text.to_owned();
    };
    settings.remove("history");
    settings.remove("policy");
    for (section, keys) in [
        ("package", &["consumers"][..]),
        ("record", &["env", "upstream"]),
    ] {
        let section = settings.get_mut(section).and_then(Item::as_table_like_mut);
        if let Some(section) = section {
            for key in keys {
                section.remove(key);
            }
        }
    }
    let providers = settings
        .get_mut("providers")
        .and_then(Item::as_table_like_mut);
    for (_, provider) in providers.into_iter().flat_map(|own| own.iter_mut()) {
        if let Some(provider) = provider.as_table_like_mut() {
            let keys: Vec<String> = provider.iter().map(|(key, _)| key.to_owned()).collect();
            for key in keys.iter().filter(|key| *key != "kind") {
                provider.remove(key);
            }
        }
    }
    settings.to_string()
}

/// Returns the path of the file that a project file extends, as it is written there.
pub fn extended_file(text: &str) -> Option<String> {
    let settings: DocumentMut = text.parse().ok()?;
    let path = settings.get("extends")?.get("path")?;
    path.as_str().map(str::to_owned)
}

#[cfg(test)]
#[path = "../../tests/unit/project/package_section.rs"]
mod tests;
