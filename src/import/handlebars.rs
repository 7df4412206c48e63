//! Converts Handlebars, as used by dotprompt, and Mustache: to `{{name}}` if that is enough, else
//! to Jinja.
//!
//! Names inside `each` refer to the item, as in the original. A construct without a counterpart
//! becomes a note at its line.

use super::braces::{Piece, joined, push_literal, written};
use super::fstring::is_name;
use super::model::Syntax;
use super::mustache::{Mark, Tag, tags};
use super::note::NoteKind;
use std::collections::BTreeSet;

/// The maximum nesting of blocks, above that of the language.
const MAX_DEPTH: usize = 64;
/// The maximum number of notes of one text.
const MAX_NOTES: usize = 200;

/// The dialect of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Handlebars,
    Mustache,
}

/// The converted text, its syntax, and notes by byte offset.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) syntax: Syntax,
    pub(super) notes: Vec<(usize, NoteKind)>,
}

/// The scope of names in a block.
#[derive(Clone, Debug)]
struct Frame {
    /// The prefix of names; empty at the top level.
    base: String,
    /// The name in the tag that closes the block.
    close: String,
    /// The Jinja tag that ends it.
    ends: String,
    /// True if names have the same meaning as outside.
    is_open: bool,
}

struct Writer<'t> {
    text: &'t str,
    dialect: Dialect,
    lists: &'t BTreeSet<String>,
    out: String,
    frames: Vec<Frame>,
    notes: Vec<(usize, NoteKind)>,
    loops: usize,
}

/// Converts a text; `lists` are the inputs known to be lists.
pub(super) fn write(text: &str, dialect: Dialect, lists: &BTreeSet<String>) -> Written {
    let all = tags(text);
    if let Some(pieces) = plain(text, &all, dialect) {
        let notes = escapes(text, &all, dialect);
        let (text, syntax) = written(&pieces);
        return Written {
            text,
            syntax,
            notes,
        };
    }
    let notes = escapes(text, &all, dialect);
    let mut writer = Writer {
        text,
        dialect,
        lists,
        out: String::new(),
        frames: Vec::new(),
        notes,
        loops: 0,
    };
    for (at, tag) in all.iter().enumerate() {
        let is_before_tag = all.get(at + 1).is_some();
        writer.tag(tag, is_before_tag, &all, at);
    }
    if let Some(frame) = writer.frames.last() {
        let kind = NoteKind::Broken(format!("`{{{{#{}}}}}` is never closed", frame.close));
        writer.notes.push((text.len(), kind));
    }
    // Jinja removes the last line break.
    if writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    Written {
        text: writer.out,
        syntax: Syntax::Jinja,
        notes: writer.notes,
    }
}

/// The parts of a text that consists of values and literal text only.
fn plain(text: &str, all: &[Tag], dialect: Dialect) -> Option<Vec<Piece>> {
    let piece = |tag: &Tag| match tag.mark {
        Mark::Words => Some(Piece::Words(tag.text(text).to_owned())),
        Mark::Comment => Some(Piece::Words(String::new())),
        Mark::Value | Mark::Raw
            if is_path(tag.text(text)) && !is_helper(tag.text(text), dialect) =>
        {
            Some(Piece::Name(tag.text(text).to_owned()))
        }
        Mark::Value
        | Mark::Raw
        | Mark::Open
        | Mark::Inverted
        | Mark::Else
        | Mark::Close
        | Mark::Partial => None,
    };
    all.iter()
        .map(piece)
        .collect::<Option<Vec<_>>>()
        .map(joined)
}

/// The note that Mustache escapes values for HTML.
fn escapes(text: &str, all: &[Tag], dialect: Dialect) -> Vec<(usize, NoteKind)> {
    let first = all
        .iter()
        .find(|tag| tag.mark == Mark::Value)
        .filter(|_| dialect == Dialect::Mustache);
    let note = |tag: &Tag| {
        let difference = "Mustache escapes `&`, `<`, `>` and `\"` in values for HTML; here values stay as they are".to_owned();
        (
            tag.start,
            NoteKind::Differs {
                what: format!("`{{{{{}}}}}`", tag.text(text)),
                difference,
            },
        )
    };
    first.map(note).into_iter().collect()
}

fn is_path(text: &str) -> bool {
    text.split('.').all(is_name) && !matches!(text, "this" | "else")
}

fn is_helper(word: &str, dialect: Dialect) -> bool {
    dialect == Dialect::Handlebars
        && matches!(
            word,
            "role" | "history" | "media" | "section" | "json" | "lookup" | "log"
        )
}

fn unsupported(what: &str, why: &str) -> NoteKind {
    NoteKind::Unsupported {
        what: format!("`{what}`"),
        why: why.to_owned(),
    }
}

impl Writer<'_> {
    fn tag(&mut self, tag: &Tag, is_before_tag: bool, all: &[Tag], at: usize) {
        let inner = tag.text(self.text);
        if self.frames.len() > MAX_DEPTH || self.notes.len() > MAX_NOTES {
            return;
        }
        match tag.mark {
            Mark::Words => push_literal(&mut self.out, inner, is_before_tag),
            Mark::Comment => {}
            Mark::Value | Mark::Raw => self.value(tag, inner),
            Mark::Open => self.open(tag, inner, all, at),
            Mark::Inverted if inner.is_empty() => self.out.push_str("{% else %}"),
            Mark::Inverted => self.block(tag, inner, "not "),
            Mark::Else => {
                let test = inner.strip_prefix("else").unwrap_or("").trim();
                match test
                    .strip_prefix("if ")
                    .map(|path| self.path(tag, path.trim()))
                {
                    Some(path) => self.out.extend(["{% elif ", &path, " %}"]),
                    None if test.is_empty() => self.out.push_str("{% else %}"),
                    None => self.notes.push((
                        tag.start,
                        unsupported(
                            &format!("{{{{{inner}}}}}"),
                            "only `else` and `else if` are read",
                        ),
                    )),
                }
            }
            Mark::Close => match self.frames.pop() {
                Some(frame) if frame.close == inner => self.out.push_str(&frame.ends),
                _ => self.notes.push((
                    tag.start,
                    NoteKind::Broken(format!("`{{{{/{inner}}}}}` closes nothing")),
                )),
            },
            Mark::Partial => {
                self.notes.push((
                    tag.start,
                    unsupported(&format!("{{{{> {inner}}}}}"), "write its text in its place"),
                ));
            }
        }
    }

    fn value(&mut self, tag: &Tag, inner: &str) {
        let (word, rest) = inner
            .split_once(char::is_whitespace)
            .map_or((inner, ""), |(word, rest)| (word, rest.trim()));
        if self.dialect == Dialect::Handlebars {
            let shown = format!("{{{{{inner}}}}}");
            let why = match word {
                "history" => {
                    "it stands inside a block, and the conversation is always there: put it between two messages"
                }
                "media" => "an agent here reads only texts",
                "section" => {
                    "a text has no sections that are filled later; pass the part as an input"
                }
                "role" => "a role begins a message only outside of blocks, with its name as a text",
                "json" => {
                    let path = rest.split_whitespace().next().unwrap_or("").to_owned();
                    let path = self.path(tag, &path);
                    let indent = rest
                        .split_once("indent=")
                        .map(|(_, width)| width.trim())
                        .filter(|width| width.parse::<u8>().is_ok());
                    let filter = indent.map_or_else(
                        || "tojson".to_owned(),
                        |width| format!("tojson(indent={width})"),
                    );
                    self.out.extend(["{{ ", &path, "|", &filter, " }}"]);
                    let difference =
                        "`<`, `>`, `&` and `'` are written as `\\u003c` and so on, keys in the order of their names".to_owned();
                    return self.notes.push((
                        tag.start,
                        NoteKind::Differs {
                            what: format!("`{shown}`"),
                            difference,
                        },
                    ));
                }
                _ if !rest.is_empty() => "there is no helper of that name",
                _ => "",
            };
            if !why.is_empty() {
                return self.notes.push((tag.start, unsupported(&shown, why)));
            }
        }
        let path = self.path(tag, inner);
        self.out.extend(["{{ ", &path, " }}"]);
    }

    /// The Jinja path of a name within the current blocks.
    fn path(&mut self, tag: &Tag, written: &str) -> String {
        let mut named = written.trim();
        if let Some(index) = named.strip_prefix('@') {
            let index = match index {
                "index" => "loop.index0",
                "first" => "loop.first",
                "last" => "loop.last",
                "key" => "key",
                _ => index.strip_prefix("root.").unwrap_or(""),
            };
            if !index.is_empty() {
                return index.to_owned();
            }
        }
        let mut depth = self.frames.iter().filter(|frame| !frame.is_open).count();
        while let Some(rest) = named.strip_prefix("../") {
            named = rest;
            depth = depth.saturating_sub(1);
        }
        let base = depth
            .checked_sub(1)
            .and_then(|at| self.frames.iter().filter(|frame| !frame.is_open).nth(at));
        let base = base.map_or_else(String::new, |frame| frame.base.clone());
        if matches!(named, "this" | ".") && !base.is_empty() {
            return base;
        }
        let named = named
            .strip_prefix("this.")
            .or_else(|| named.strip_prefix("./"))
            .unwrap_or(named);
        if !is_path(named) {
            self.notes.push((
                tag.start,
                unsupported(
                    written,
                    "only names, and fields behind dots, stand for values",
                ),
            ));
            return "none".to_owned();
        }
        if base.is_empty() {
            named.to_owned()
        } else {
            format!("{base}.{named}")
        }
    }

    fn open(&mut self, tag: &Tag, inner: &str, all: &[Tag], at: usize) {
        let mut words = inner.split_whitespace();
        let helper = words.next().unwrap_or("");
        let first = words.next();
        let second = words.next();
        match (self.dialect, helper, first) {
            (Dialect::Handlebars, "if", Some(path)) => self.condition(tag, path, "if", ""),
            (Dialect::Handlebars, "unless", Some(path)) => {
                self.condition(tag, path, "unless", "not ");
            }
            (Dialect::Handlebars, "each", Some(path)) => self.each(tag, path, "each", all, at),
            (Dialect::Handlebars, "with", Some(path)) => {
                let base = self.path(tag, path);
                self.out.extend(["{% if ", &base, " %}"]);
                self.push("with", base, "{% endif %}");
            }
            (Dialect::Handlebars, "ifEquals" | "unlessEquals", Some(left)) => {
                let left = self.operand(tag, left);
                let right = self.operand(tag, second.unwrap_or(""));
                let sign = if helper == "ifEquals" { " == " } else { " != " };
                self.out.extend(["{% if ", &left, sign, &right, " %}"]);
                self.frames.push(Frame {
                    base: String::new(),
                    close: helper.to_owned(),
                    ends: "{% endif %}".to_owned(),
                    is_open: true,
                });
            }
            (Dialect::Mustache, name, None) => {
                let body = self.body(inner, all, at);
                let is_list = self.lists.contains(name)
                    || body
                        .iter()
                        .any(|tag| matches!(tag.text(self.text), "." | "this"));
                if is_list {
                    self.each(tag, name, name, all, at);
                } else {
                    self.block(tag, name, "");
                }
            }
            _ => {
                self.notes.push((
                    tag.start,
                    unsupported(
                        &format!("{{{{#{inner}}}}}"),
                        "there is no helper of that name",
                    ),
                ));
                self.frames.push(Frame {
                    base: String::new(),
                    close: helper.to_owned(),
                    ends: String::new(),
                    is_open: true,
                });
            }
        }
    }

    fn push(&mut self, close: &str, base: String, ends: &str) {
        self.frames.push(Frame {
            base,
            close: close.to_owned(),
            ends: ends.to_owned(),
            is_open: false,
        });
    }

    fn operand(&mut self, tag: &Tag, written: &str) -> String {
        let is_literal = written.starts_with(['"', '\''])
            || written.parse::<f64>().is_ok()
            || matches!(written, "true" | "false");
        if is_literal {
            written.to_owned()
        } else {
            self.path(tag, written)
        }
    }

    fn condition(&mut self, tag: &Tag, path: &str, close: &str, negation: &str) {
        let path = self.path(tag, path);
        self.out.extend(["{% if ", negation, &path, " %}"]);
        let close = close.to_owned();
        let ends = "{% endif %}".to_owned();
        self.frames.push(Frame {
            base: String::new(),
            close,
            ends,
            is_open: true,
        });
    }

    /// Converts a section of Mustache as a condition.
    fn block(&mut self, tag: &Tag, name: &str, negation: &str) {
        if negation.is_empty() {
            let difference =
                "it is read as a condition: declare the input as a list if it should be repeated"
                    .to_owned();
            self.notes.push((
                tag.start,
                NoteKind::Differs {
                    what: format!("`{{{{#{name}}}}}`"),
                    difference,
                },
            ));
        }
        self.condition(tag, name, name, negation);
    }

    /// The tags inside the block that opens at `at`.
    fn body<'a>(&self, inner: &str, all: &'a [Tag], at: usize) -> &'a [Tag] {
        const FAR: usize = 1_000;
        let name = inner.split_whitespace().next().unwrap_or("");
        let rest = all.get(at + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .take(FAR)
            .position(|tag| tag.mark == Mark::Close && tag.text(self.text) == name);
        rest.get(..end.unwrap_or(rest.len().min(FAR)))
            .unwrap_or_default()
    }

    fn each(&mut self, tag: &Tag, path: &str, close: &str, all: &[Tag], at: usize) {
        let list = self.path(tag, path);
        let has_key = self
            .body(tag.text(self.text), all, at)
            .iter()
            .any(|tag| tag.text(self.text).contains("@key"));
        self.loops += 1;
        let mut names = ["item", "entry", "element"]
            .into_iter()
            .map(str::to_owned)
            .chain((1..50).map(|number| format!("item_{number}")));
        let used: BTreeSet<&String> = self.frames.iter().map(|frame| &frame.base).collect();
        let name = names
            .find(|name| !used.contains(name) && !self.text.contains(name.as_str()))
            .unwrap_or_default();
        if has_key {
            self.out
                .extend(["{% for key, ", &name, " in ", &list, "|items %}"]);
        } else {
            self.out.extend(["{% for ", &name, " in ", &list, " %}"]);
        }
        self.push(close, name, "{% endfor %}");
    }
}
