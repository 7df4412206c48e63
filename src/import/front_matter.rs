//! Front matter: YAML between two lines of `---` at the beginning of a prompt, and the text after
//! it.

use super::note::ImportNoteKind;
use super::prompt_model::ImportedPrompt;
use crate::base::lines::count_line_ends;
use crate::syntax::yaml::{self, YamlFaultKind, YamlNode, YamlValue};
use std::borrow::Cow;

/// The maximum size of front matter, or of a prompt that is YAML as a whole, in bytes.
const MAX_YAML_BYTES: usize = 1 << 20;

/// A prompt split in two.
#[derive(Debug)]
pub(super) struct FrontMatter<'t> {
    /// The parsed front matter; empty if there is none.
    pub(super) root: YamlNode<'t>,
    /// Its first line.
    pub(super) line: u32,
    /// The text after it.
    pub(super) body: &'t str,
    /// The first line of the body.
    pub(super) body_line: u32,
    /// The source text of the front matter.
    pub(super) text: &'t str,
}

impl FrontMatter<'_> {
    /// The line of a node.
    pub(super) fn line_of(&self, node: &YamlNode<'_>) -> u32 {
        let before = self.text.get(..node.span.start as usize).unwrap_or("");
        self.line + count_line_ends(before)
    }
}

/// Splits a prompt and parses its front matter; faults become notes.
pub(super) fn split_prompt<'t>(
    path: &str,
    text: &'t str,
    imported: &mut ImportedPrompt,
) -> FrontMatter<'t> {
    let nothing = || yaml::parse_tree("").0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        // A licence header may precede it.
        if bare.is_empty() || bare.starts_with('#') && at < MAX_YAML_BYTES {
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
        return FrontMatter {
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
            let first = 1 + count_line_ends(text.get(..start).unwrap_or(""));
            let body = text.get(behind..).unwrap_or("");
            let root = if check_size(path, matter, imported) {
                read_yaml(path, matter, first, imported)
            } else {
                nothing()
            };
            return FrontMatter {
                root,
                line: first,
                body,
                body_line: 1 + count_line_ends(text.get(..behind).unwrap_or("")),
                text: matter,
            };
        }
        end += line.len();
    }
    imported.add_note(
        path,
        1,
        ImportNoteKind::Broken(
            "the front matter is never closed: expected a second line of `---`".to_owned(),
        ),
    );
    FrontMatter {
        root: nothing(),
        line: 1,
        body: "",
        body_line: 1,
        text: "",
    }
}

fn check_size(path: &str, text: &str, imported: &mut ImportedPrompt) -> bool {
    if text.len() > MAX_YAML_BYTES {
        imported.add_note(
            path,
            1,
            ImportNoteKind::TooLarge {
                limit: MAX_YAML_BYTES,
            },
        );
    }
    text.len() <= MAX_YAML_BYTES
}

/// YAML as `PyYAML` accepts it: continuation lines of quoted texts in the first column are
/// indented, which does not change the text.
pub(super) fn indent_quotes(text: &str) -> Cow<'_, str> {
    if text.len() > MAX_YAML_BYTES || yaml::parse_tree(text).1.is_empty() {
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
    if yaml::parse_tree(&out).1.is_empty() {
        out.into()
    } else {
        text.into()
    }
}

/// Reads a prompt that is YAML or JSON as a whole.
pub(super) fn read_whole<'t>(
    path: &str,
    text: &'t str,
    imported: &mut ImportedPrompt,
) -> FrontMatter<'t> {
    let text = if check_size(path, text, imported) {
        text
    } else {
        ""
    };
    FrontMatter {
        root: read_yaml(path, text, 1, imported),
        line: 1,
        body: "",
        body_line: 1,
        text,
    }
}

fn read_yaml<'t>(
    path: &str,
    text: &'t str,
    line: u32,
    imported: &mut ImportedPrompt,
) -> YamlNode<'t> {
    let (root, faults) = yaml::parse_tree(text);
    for fault in faults.iter().take(20) {
        let before = text.get(..fault.span.start as usize).unwrap_or("");
        let at = line + count_line_ends(before);
        imported.add_note(
            path,
            at,
            ImportNoteKind::Broken(describe_fault(&fault.kind)),
        );
    }
    root
}

fn describe_fault(kind: &YamlFaultKind) -> String {
    match kind {
        YamlFaultKind::Syntax(words) => format!("it is not valid YAML: {words}"),
        YamlFaultKind::Tab => "found a tab where YAML expects spaces".to_owned(),
        YamlFaultKind::TooDeep => "its lists and mappings are nested too deep".to_owned(),
        YamlFaultKind::TooHeavy => "its aliases repeat too much".to_owned(),
        YamlFaultKind::UnknownAlias(name) => format!("alias `*{name}` has no anchor before it"),
        YamlFaultKind::DuplicateKey { key, .. } => format!("key `{key}` is there twice"),
        YamlFaultKind::KeyWithParts => "a key is a list or a mapping; expected a text".to_owned(),
        YamlFaultKind::Merge => "`<<` merges something that is not a mapping".to_owned(),
        YamlFaultKind::NumberTooLarge(number) => {
            format!("the number {number} is beyond 64 bits; put it into quotes")
        }
        YamlFaultKind::SecondDocument => "a second document begins; expected one".to_owned(),
    }
}

/// A value on one line: texts unquoted, everything else as JSON.
pub(super) fn one_line(node: &YamlNode<'_>) -> String {
    match &node.value {
        YamlValue::Text(text) => text.to_string(),
        YamlValue::Null
        | YamlValue::Bool(_)
        | YamlValue::Number(_)
        | YamlValue::List(_)
        | YamlValue::Map(_) => node.to_json().to_string(),
    }
}
