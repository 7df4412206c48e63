//! Front matter: YAML between two lines of `---` at the beginning of a prompt, and the text after
//! it.

use super::model::Imported;
use super::note::NoteKind;
use crate::base::lines::ended;
use crate::syntax::yaml::{self, FaultKind, Node, Value};
use std::borrow::Cow;

/// The maximum size of front matter, or of a prompt that is YAML as a whole, in bytes.
const LIMIT: usize = 1 << 20;

/// A prompt split in two.
#[derive(Debug)]
pub(super) struct Front<'t> {
    /// The parsed front matter; empty if there is none.
    pub(super) root: Node<'t>,
    /// Its first line.
    pub(super) line: u32,
    /// The text after it.
    pub(super) body: &'t str,
    /// The first line of the body.
    pub(super) body_line: u32,
    /// The source text of the front matter.
    pub(super) text: &'t str,
}

impl Front<'_> {
    /// The line of a node.
    pub(super) fn line_of(&self, node: &Node<'_>) -> u32 {
        let before = self.text.get(..node.span.start as usize).unwrap_or("");
        self.line + ended(before)
    }
}

/// Splits a prompt and parses its front matter; faults become notes.
pub(super) fn split<'t>(path: &str, text: &'t str, imported: &mut Imported) -> Front<'t> {
    let nothing = || yaml::read("").0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        // A licence header may precede it.
        if bare.is_empty() || bare.starts_with('#') && at < LIMIT {
            at += line.len();
        } else {
            break;
        }
    }
    let rest = text.get(at..).unwrap_or("");
    let is_fence = |line: &str| line.trim_end() == "---";
    let Some(open) = rest
        .split_inclusive('\n')
        .next()
        .filter(|line| is_fence(line))
    else {
        return Front {
            root: nothing(),
            line: 1,
            body: text,
            body_line: 1,
            text: "",
        };
    };
    let start = at + open.len();
    let mut end = start;
    for line in text.get(start..).unwrap_or("").split_inclusive('\n') {
        if is_fence(line) {
            let matter = text.get(start..end).unwrap_or("");
            let behind = end + line.len();
            let first = 1 + ended(text.get(..start).unwrap_or(""));
            let body = text.get(behind..).unwrap_or("");
            let root = if read_size(path, matter, imported) {
                read(path, matter, first, imported)
            } else {
                nothing()
            };
            return Front {
                root,
                line: first,
                body,
                body_line: 1 + ended(text.get(..behind).unwrap_or("")),
                text: matter,
            };
        }
        end += line.len();
    }
    imported.note(
        path,
        1,
        NoteKind::Broken(
            "the front matter is never closed: expected a second line of `---`".to_owned(),
        ),
    );
    Front {
        root: nothing(),
        line: 1,
        body: "",
        body_line: 1,
        text: "",
    }
}

fn read_size(path: &str, text: &str, imported: &mut Imported) -> bool {
    if text.len() > LIMIT {
        imported.note(path, 1, NoteKind::TooLarge { limit: LIMIT });
    }
    text.len() <= LIMIT
}

/// YAML as `PyYAML` accepts it: continuation lines of quoted texts in the first column are
/// indented, which does not change the text.
pub(super) fn indented(text: &str) -> Cow<'_, str> {
    if text.len() > LIMIT || yaml::read(text).1.is_empty() {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut quote = None;
    for line in text.split_inclusive('\n') {
        if quote.is_some() && !line.starts_with([' ', '\t', '\n']) {
            out.push(' ');
        }
        out.push_str(line);
        let mut rest = line;
        if quote.is_none() {
            let value = line
                .split_once(": ")
                .map_or("", |(_, value)| value.trim_start());
            let Some(open) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                continue;
            };
            (quote, rest) = (Some(open), value.get(1..).unwrap_or(""));
        }
        while let Some(open) = quote
            && let Some(at) = rest.find([open, '\\'])
        {
            let is_pair = if open == '"' {
                rest.get(at..).unwrap_or("").starts_with('\\')
            } else {
                rest.get(at..).unwrap_or("").starts_with("''")
            };
            let is_end = !is_pair && rest.get(at..).unwrap_or("").starts_with(open);
            let skipped = rest
                .get(at..)
                .unwrap_or("")
                .chars()
                .take(if is_pair { 2 } else { 1 })
                .map(char::len_utf8)
                .sum::<usize>();
            rest = rest.get(at + skipped..).unwrap_or("");
            if is_end {
                quote = None;
            }
        }
    }
    if yaml::read(&out).1.is_empty() {
        out.into()
    } else {
        text.into()
    }
}

/// Reads a prompt that is YAML or JSON as a whole.
pub(super) fn whole<'t>(path: &str, text: &'t str, imported: &mut Imported) -> Front<'t> {
    let text = if read_size(path, text, imported) {
        text
    } else {
        ""
    };
    Front {
        root: read(path, text, 1, imported),
        line: 1,
        body: "",
        body_line: 1,
        text,
    }
}

fn read<'t>(path: &str, text: &'t str, line: u32, imported: &mut Imported) -> Node<'t> {
    let (root, faults) = yaml::read(text);
    for fault in faults.iter().take(20) {
        let before = text.get(..fault.span.start as usize).unwrap_or("");
        let at = line + ended(before);
        imported.note(path, at, NoteKind::Broken(words(&fault.kind)));
    }
    root
}

fn words(kind: &FaultKind) -> String {
    match kind {
        FaultKind::Syntax(words) => format!("it is not valid YAML: {words}"),
        FaultKind::Tab => "found a tab where YAML expects spaces".to_owned(),
        FaultKind::Deep => "its lists and mappings are nested too deep".to_owned(),
        FaultKind::Heavy => "its aliases repeat too much".to_owned(),
        FaultKind::UnknownAlias(name) => format!("alias `*{name}` has no anchor before it"),
        FaultKind::DuplicateKey { key, .. } => format!("key `{key}` is there twice"),
        FaultKind::KeyWithParts => "a key is a list or a mapping; expected a text".to_owned(),
        FaultKind::Merge => "`<<` merges something that is not a mapping".to_owned(),
        FaultKind::Beyond(number) => {
            format!("the number {number} is beyond 64 bits; put it into quotes")
        }
        FaultKind::SecondDocument => "a second document begins; expected one".to_owned(),
    }
}

/// A value on one line: texts unquoted, everything else as JSON.
pub(super) fn shown(node: &Node<'_>) -> String {
    match &node.value {
        Value::Text(text) => text.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
            node.to_json().to_string()
        }
    }
}
