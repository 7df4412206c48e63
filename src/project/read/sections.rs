//! The small sections: `edition`, `[project]`, `[owners]`, `[fmt]`, `[allow]`, and those of later releases.

use super::value::{Key, Sink, Value, number, span, table, text, texts};
use crate::base::span::Spanned;
use crate::base::suggest::nearest;
use crate::format::Indent;
use crate::project::config::{EDITION, Format, Reserved};
use crate::project::fault::FaultKind;
use crate::project::glob::Globs;
use crate::project::keys;
use toml::de::DeValue;

pub(super) fn edition(sink: &mut Sink, value: &Value<'_>) {
    let Some(found) = text(sink, "edition", value) else { return };
    if found.value != EDITION {
        sink.report(found.span, FaultKind::UnknownEdition { found: found.value.to_owned() });
    }
}

pub(super) fn project(sink: &mut Sink, value: &Value<'_>) -> Option<Spanned<String>> {
    let mut name = None;
    for (key, value) in table(sink, "project", value)? {
        match key.get_ref().as_ref() {
            "name" => name = text(sink, "project.name", value).map(|name| name.map(str::to_owned)),
            "version" => drop(text(sink, "project.version", value)),
            "description" => drop(text(sink, "project.description", value)),
            _ => sink.unknown_key("project", key, &keys::PROJECT.names()),
        }
    }
    if let Some(empty) = name.as_ref().filter(|name| name.value.trim().is_empty()) {
        let kind = FaultKind::BadValue {
            key: "project.name".to_owned(),
            found: empty.value.clone(),
            expected: "a name with at least one character".to_owned(),
            near: None,
        };
        sink.report(empty.span, kind);
        return None;
    }
    name
}

pub(super) fn owners(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<(Globs, String)>) {
    for (key, value) in table(sink, "owners", value).into_iter().flatten() {
        let pattern = key.get_ref().as_ref();
        let mut globs = Globs::default();
        if let Err(error) = globs.add(pattern) {
            sink.report(span(&key.span()), FaultKind::BadGlob { pattern: pattern.to_owned(), error });
        }
        if let Some(owner) = text(sink, &format!("owners.\"{pattern}\""), value) {
            out.push((globs, owner.value.to_owned()));
        }
    }
}

pub(super) fn format(sink: &mut Sink, value: &Value<'_>, out: &mut Format) {
    for (key, value) in table(sink, "fmt", value).into_iter().flatten() {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("width", _) => out.width = number(sink, "fmt.width", value, keys::WIDTH).map_or(out.width, |width| width as u32),
            ("indent", DeValue::String(word)) if word == keys::TAB => out.indent = Indent::Tab,
            ("indent", DeValue::String(word)) => {
                let kind = FaultKind::BadValue {
                    key: "fmt.indent".to_owned(),
                    found: word.as_ref().to_owned(),
                    expected: "a number of spaces from 1 to 16, or \"tab\"".to_owned(),
                    near: nearest(word, [keys::TAB]).map(str::to_owned),
                };
                sink.report(span(&value.span()), kind);
            }
            ("indent", _) => {
                let spaces = number(sink, "fmt.indent", value, keys::INDENT);
                out.indent = spaces.map_or(out.indent, |spaces| Indent::Spaces(spaces as u8));
            }
            _ => sink.unknown_key("fmt", key, &keys::FORMAT.names()),
        }
    }
}

pub(super) fn allow(sink: &mut Sink, value: &Value<'_>) -> Vec<Spanned<String>> {
    let mut out = Vec::new();
    for (key, value) in table(sink, "allow", value).into_iter().flatten() {
        if key.get_ref().as_ref() == "loosen" {
            out.extend(texts(sink, "allow.loosen", value).into_iter().map(|entry| entry.map(str::to_owned)));
        } else {
            sink.unknown_key("allow", key, &keys::ALLOW.names());
        }
    }
    out
}

/// A section that a later release reads: a table, kept with its place.
pub(super) fn reserved(sink: &mut Sink, key: &Key<'_>, value: &Value<'_>) -> Option<Reserved> {
    table(sink, key.get_ref(), value)?;
    Some(Reserved { file: sink.file, span: span(&key.span()), value: span(&value.span()) })
}

/// The nearest of owned names.
pub(super) fn near<'s>(written: &str, names: impl IntoIterator<Item = &'s str>) -> Option<String> {
    nearest(written, names).map(str::to_owned)
}
