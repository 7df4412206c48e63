//! `extends`: a shared file, pinned by the hash of its bytes.

use super::draft::{Draft, Owner, draft};
use super::value::{Sink, Value, span, text};
use crate::base::fs::ReadFs;
use crate::base::hash::Hash;
use crate::base::source::LineIndex;
use crate::base::span::{Span, Spanned};
use crate::project::config::{ConfigFile, FILE_LIMIT, Input};
use crate::project::fault::FaultKind;
use crate::project::keys::EXTENDS;
use std::io::ErrorKind;
use std::path::Path;
use toml::de::DeValue;

/// Its index among the project's files.
pub(super) const SHARED: u16 = 1;

/// `extends` as written.
#[derive(Clone, Debug)]
pub(super) struct Extends {
    /// The shared file, relative to the project root.
    pub(super) path: Spanned<String>,
    /// The pinned hash.
    pub(super) hash: Option<Spanned<String>>,
    /// The edit that adds a hash, up to the hash itself and after it.
    pub(super) pin: Option<(Span, String, &'static str)>,
}

pub(super) fn extends(sink: &mut Sink, value: &Value<'_>) -> Option<Extends> {
    let at = span(&value.span());
    if let DeValue::String(path) = value.get_ref() {
        let before = format!("{{ path = {}, hash = \"", quoted(path));
        return local(
            sink,
            Extends { path: Spanned::new(path.as_ref().to_owned(), at), hash: None, pin: Some((at, before, "\" }")) },
        );
    }
    let DeValue::Table(keys) = value.get_ref() else {
        sink.wrong_type("extends", value, "a path in quotes, or `{ path = \"…\", hash = \"b3:…\" }`");
        return None;
    };
    let (mut path, mut hash, mut package) = (None, None, false);
    for (key, value) in keys {
        match key.get_ref().as_ref() {
            "path" => path = text(sink, "extends.path", value),
            "hash" => hash = text(sink, "extends.hash", value),
            "package" => {
                package = true;
                if let Some(name) = text(sink, "extends.package", value) {
                    sink.report(name.span, FaultKind::SharedPackage { name: name.value.to_owned() });
                }
            }
            _ => sink.unknown_key("extends", key, &EXTENDS.names()),
        }
    }
    if package {
        return None;
    }
    let Some(path) = path else {
        let kind =
            FaultKind::WrongType { key: "extends".to_owned(), expected: "a table with `path`", found: "a table without `path`" };
        sink.report(at, kind);
        return None;
    };
    let pin = Some((Span::at(path.span.end), ", hash = \"".to_owned(), "\"")).filter(|_| is_inline(value));
    local(sink, Extends { path: path.map(str::to_owned), hash: hash.map(|hash| hash.map(str::to_owned)), pin })
}

/// Whether a table is written in braces: its place then covers more than its first key's header.
fn is_inline(value: &Value<'_>) -> bool {
    let DeValue::Table(keys) = value.get_ref() else { return false };
    let range = value.span();
    keys.iter().all(|(key, value)| range.contains(&key.span().start) && value.span().end <= range.end)
}

/// Takes a path inside or beside the project; refuses packages and places of one machine.
fn local(sink: &mut Sink, extends: Extends) -> Option<Extends> {
    let path = extends.path.value.as_str();
    if let Some(name) = path.strip_prefix("package:") {
        sink.report(extends.path.span, FaultKind::SharedPackage { name: name.trim().to_owned() });
        return None;
    }
    if path.trim().is_empty() || Path::new(path).is_absolute() || path.contains('\0') {
        let kind = FaultKind::BadValue {
            key: "extends".to_owned(),
            found: path.to_owned(),
            expected: "a path relative to the project".to_owned(),
            near: None,
        };
        sink.report(extends.path.span, kind);
        return None;
    }
    Some(extends)
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Reads the shared file of a project. One that is not what was pinned is not parsed, and no word of it is kept: nobody may be shown it.
pub(super) fn load(sink: &mut Sink, input: &Input<'_>, extends: &Extends) -> Option<(ConfigFile, Draft)> {
    let path = extends.path.value.as_str();
    let mut unreadable = |reason: String| {
        let kind = FaultKind::SharedUnreadable { path: path.to_owned(), reason };
        sink.report(extends.path.span, kind);
        None
    };
    let bytes = match read(input.files, &input.root.join(path)) {
        Ok(bytes) => bytes,
        Err(reason) => return unreadable(reason),
    };
    let hash = Hash::of(&bytes);
    let file = |text: &str| ConfigFile { path: path.into(), lines: LineIndex::new(text), text: text.into(), hash };
    if !extends.pins(hash) {
        report_pin(sink, extends, hash);
        return Some((file(""), Draft::default()));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some((file(&text), draft(&text, SHARED, Owner::Shared, input.rules))),
        Err(_) => unreadable("it is not UTF-8".to_owned()),
    }
}

fn read(files: &dyn ReadFs, path: &Path) -> Result<Vec<u8>, String> {
    files.read(path, FILE_LIMIT).map_err(|error| reason(&error))
}

/// Why a file cannot be read, in words.
pub(super) fn reason(error: &std::io::Error) -> String {
    let known = [
        (ErrorKind::NotFound, "there is no such file"),
        (ErrorKind::PermissionDenied, "reading it is not permitted"),
        (ErrorKind::IsADirectory, "it is a folder"),
        (ErrorKind::FileTooLarge, "it is larger than 1 MiB"),
    ];
    let reason = known.iter().find(|(kind, _)| *kind == error.kind());
    reason.map_or_else(|| error.to_string(), |(_, reason)| (*reason).to_owned())
}

impl Extends {
    /// Whether the file with a hash is the one that is meant.
    fn pins(&self, hash: Hash) -> bool {
        self.hash.as_ref().and_then(|pinned| Hash::parse(&pinned.value)) == Some(hash)
    }
}

/// Reports a hash that is missing, cannot be read or is another file's, with the edit that writes the right one.
fn report_pin(sink: &mut Sink, extends: &Extends, actual: Hash) {
    let pinned = extends.hash.as_ref();
    let edit = match (pinned, &extends.pin) {
        (Some(hash), _) => Some((hash.span, format!("\"{actual}\""))),
        (None, Some((at, before, after))) => Some((*at, format!("{before}{actual}{after}"))),
        (None, None) => Some((Span::at(extends.path.span.end), format!("\nhash = \"{actual}\""))),
    };
    let kind =
        FaultKind::SharedHash { path: extends.path.value.clone(), pinned: pinned.map(|hash| hash.value.clone()), actual, edit };
    sink.report(pinned.map_or(extends.path.span, |hash| hash.span), kind);
}
