//! The packages that a project requires, with their sources. Never looks at a source.

use crate::base::contained_path::slash_path;
use crate::base::span::Spanned;
use semver::Version;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

/// A package that a project requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// Its name: `acme/rules`.
    pub name: Spanned<String>,
    /// Its source.
    pub source: Spanned<PackageSource>,
    /// The trust in its texts.
    pub trust: PackageTrust,
}

/// The trust in the texts of a package that templates refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackageTrust {
    /// They are texts of the project's authors.
    #[default]
    Author,
    /// They are texts from outside.
    Outside,
}

impl PackageTrust {
    /// Its values in a project file.
    pub const WORDS: [&'static str; 2] = ["author", "outside"];
}

/// The source of a package. Its [`fmt::Display`] is the form of a project file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageSource {
    /// A folder, relative to the project, whose edits count at once.
    Path(String),
    /// A tag of a git repository.
    Git {
        /// The address: `https://example.org/rules.git`.
        url: String,
        /// The tag: `v1.2.0`.
        tag: String,
    },
}

/// A source that cannot be read. Its text is the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceFault {
    /// Neither a folder nor a repository.
    #[error("`path:FOLDER` or `git+https://…@TAG` (also `git+ssh`, `git+file`)")]
    Form,
    /// No tag, or one that git does not accept.
    #[error("the tag of a release at the end, such as `@v1.2.0`")]
    Tag,
    /// An absolute folder, or none.
    #[error("a folder relative to the project, such as `path:../rules`")]
    Folder,
    /// A user name with a password, or a token.
    #[error("an address without a password or token; git takes it from its own credential helper")]
    Secret,
}

/// Returns the expected form of a consumer's source, which names a branch instead of a tag.
pub fn expected_consumer(fault: SourceFault) -> String {
    match fault {
        SourceFault::Tag => "a branch at the end, such as `@main`".to_owned(),
        SourceFault::Form | SourceFault::Folder | SourceFault::Secret => {
            fault.to_string().replace("@TAG", "@BRANCH")
        }
    }
}

/// The schemes of repositories.
const GIT_SCHEMES: [&str; 3] = ["https://", "ssh://", "file://"];
/// Signs that the names of tags cannot contain.
const TAG_SIGNS: [char; 8] = ['~', '^', ':', '?', '*', '[', '\\', '@'];

impl FromStr for PackageSource {
    type Err = SourceFault;

    fn from_str(text: &str) -> Result<Self, SourceFault> {
        Self::parse(text)
    }
}

impl PackageSource {
    /// Reads a source as written in a project file. One folder has one form: `./a/../b/` is `b`.
    pub fn parse(text: &str) -> Result<Self, SourceFault> {
        if let Some(folder) = text.strip_prefix("path:") {
            let is_relative = !folder.trim().is_empty()
                && !folder.starts_with('/')
                && !folder.contains(|c: char| c == '\\' || c.is_control())
                && folder.as_bytes().get(1) != Some(&b':');
            return is_relative
                .then(|| Self::Path(normalize_folder(Path::new(folder))))
                .ok_or(SourceFault::Folder);
        }
        let (url, tag) = split_revision(text)?;
        if is_tag(tag) {
            let (url, tag) = (url.to_owned(), tag.to_owned());
            return Ok(Self::Git { url, tag });
        }
        Err(SourceFault::Tag)
    }

    /// The source without its tag: two requirements on one package must agree on it.
    pub fn place(&self) -> &str {
        match self {
            Self::Path(place) | Self::Git { url: place, .. } => place,
        }
    }
}

impl fmt::Display for PackageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(folder) => write!(f, "path:{folder}"),
            Self::Git { url, tag } => write!(f, "git+{url}@{tag}"),
        }
    }
}

/// Returns a folder without `.`, needless `..` and a `/` at its end.
pub fn normalize_folder(folder: &Path) -> String {
    let mut out = PathBuf::new();
    for part in folder.components() {
        match part {
            Component::ParentDir if out.file_name().is_some() => drop(out.pop()),
            Component::CurDir => {}
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => out.push(part),
        }
    }
    let path = slash_path(&out);
    if path.is_empty() {
        return ".".to_owned();
    }
    path
}

/// Returns a source as it may be printed: without the user name, password or token of its address.
pub fn mask_credentials(text: &str) -> String {
    let mut shown = text.to_owned();
    if let Some(place) = find_credentials(text, |c| c == '/') {
        shown.replace_range(place, "…");
    }
    shown
}

/// Returns a line of a file as it may be displayed: with `*` in place of each byte of the user name,
/// password or token in the address of a source, so that all places in the line stay.
pub fn hide_credentials(line: &str) -> Cow<'_, str> {
    let is_end = |c: char| matches!(c, '/' | '"' | '\'') || c.is_whitespace();
    let mut shown = Cow::Borrowed(line);
    for (source, _) in line.match_indices("git+") {
        let found = find_credentials(line.get(source..).unwrap_or(""), is_end);
        if let Some(place) = found {
            let stars = "*".repeat(place.len());
            let place = source + place.start..source + place.end;
            shown.to_mut().replace_range(place, &stars);
        }
    }
    shown
}

/// The place before the `@` of the first address in a text, whose host ends with such a character.
fn find_credentials(text: &str, is_end: impl Fn(char) -> bool) -> Option<Range<usize>> {
    let start = text.find("//")? + 2;
    let host = text.get(start..)?.split(is_end).next()?;
    let (user, _) = host.rsplit_once('@')?;
    Some(start..start + user.len())
}

/// Splits `git+URL@REVISION` into its address and its revision; empty if there is none.
pub fn split_revision(text: &str) -> Result<(&str, &str), SourceFault> {
    let url = text.strip_prefix("git+").ok_or(SourceFault::Form)?;
    let scheme = GIT_SCHEMES.into_iter().find(|own| url.starts_with(own));
    let rest = scheme
        .and_then(|scheme| url.get(scheme.len()..))
        .filter(|_| !url.contains(|c: char| c.is_whitespace() || c.is_control()))
        .ok_or(SourceFault::Form)?;
    let (host, path) = rest.split_once('/').ok_or(SourceFault::Form)?;
    // A host such as `-oProxyCommand=…` would be an option of ssh.
    if host.starts_with('-') || host.contains("@-") || path.is_empty() {
        return Err(SourceFault::Form);
    }
    let has_secret = match host.rsplit_once('@') {
        Some((user, _)) => scheme != Some("ssh://") || user.contains(':'),
        None => false,
    };
    if has_secret {
        return Err(SourceFault::Secret);
    }
    let (path, revision) = path.rsplit_once('@').unwrap_or((path, ""));
    let end = url.len() - rest.len() + host.len() + 1 + path.len();
    Ok((url.get(..end).unwrap_or(url), revision))
}

/// Splits a tag into the text before its version and the version; `None` if it has none.
pub fn split_version(tag: &str) -> Option<(&str, Version)> {
    let starts = tag.char_indices().map(|(at, _)| at);
    starts.into_iter().find_map(|at| {
        let (prefix, rest) = tag.split_at_checked(at)?;
        Some((prefix, Version::parse(rest).ok()?))
    })
}

/// Returns true if users of one version can take the other by Semantic Versioning: both have the same
/// first number, and below 1.0.0 the same second one.
pub fn has_same_major(one: &Version, other: &Version) -> bool {
    major_of(one) == major_of(other)
}

/// Returns the numbers of a version that differ if its users cannot take the other.
pub const fn major_of(version: &Version) -> (u64, u64) {
    let minor = if version.major == 0 { version.minor } else { 0 };
    (version.major, minor)
}

/// True for a name that git accepts as a tag or branch and no program takes for an option.
pub fn is_tag(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && part.strip_suffix(".lock").is_none()
    };
    !name.starts_with('-')
        && name.split('/').all(is_part)
        && !name.contains("..")
        && !name.contains(|c: char| TAG_SIGNS.contains(&c) || c.is_whitespace() || c.is_control())
}
