//! Converts Handlebars, as used by dotprompt, and Mustache: to `{{name}}` if that is enough, else
//! to Jinja.
//!
//! Names inside `each` refer to the item, as in the original. A construct without a counterpart
//! becomes a note at its line.

use super::braces::{ImportedPiece, join_literals, push_literal, write_pieces};
use super::fstring::is_name;
use super::mustache::{MustacheTag, TagMark, split_tags};
use super::note::ImportNoteKind;
use super::prompt_model::PlaceholderSyntax;
use std::collections::BTreeSet;

/// The maximum nesting of blocks, above that of the language.
const MAX_DEPTH: usize = 64;
/// The maximum number of notes of one text.
const MAX_NOTES: usize = 200;

/// The dialect of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagDialect {
    Handlebars,
    Mustache,
}

/// The converted text, its syntax, and notes by byte offset.
#[derive(Debug)]
pub(super) struct ConvertedText {
    pub(super) text: String,
    pub(super) syntax: PlaceholderSyntax,
    pub(super) notes: Vec<(usize, ImportNoteKind)>,
}

/// The scope of names in a block.
#[derive(Clone, Debug)]
struct BlockFrame {
    /// The prefix of names; empty at the top level.
    base: String,
    /// The name in the tag that closes the block.
    close: String,
    /// The Jinja tag that ends it.
    ends: String,
    /// True if names have the same meaning as outside.
    is_open: bool,
}

struct JinjaWriter<'t> {
    text: &'t str,
    dialect: TagDialect,
    lists: &'t BTreeSet<String>,
    out: String,
    frames: Vec<BlockFrame>,
    notes: Vec<(usize, ImportNoteKind)>,
    loops: usize,
}

/// Converts a text; `lists` are the inputs known to be lists.
pub(super) fn convert_text(
    text: &str,
    dialect: TagDialect,
    lists: &BTreeSet<String>,
) -> ConvertedText {
    let all = split_tags(text);
    if let Some(pieces) = plain_pieces(text, &all, dialect) {
        let notes = escape_notes(text, &all, dialect);
        let (text, syntax) = write_pieces(&pieces);
        return ConvertedText {
            text,
            syntax,
            notes,
        };
    }
    let notes = escape_notes(text, &all, dialect);
    let mut writer = JinjaWriter {
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
        writer.write_tag(tag, is_before_tag, &all, at);
    }
    if let Some(frame) = writer.frames.last() {
        let kind = ImportNoteKind::Broken(format!("`{{{{#{}}}}}` is never closed", frame.close));
        writer.notes.push((text.len(), kind));
    }
    // Jinja removes the last line break.
    if writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    ConvertedText {
        text: writer.out,
        syntax: PlaceholderSyntax::Jinja,
        notes: writer.notes,
    }
}

/// The parts of a text that consists of values and literal text only.
fn plain_pieces(
    text: &str,
    all: &[MustacheTag],
    dialect: TagDialect,
) -> Option<Vec<ImportedPiece>> {
    let piece = |tag: &MustacheTag| match tag.mark {
        TagMark::Words => Some(ImportedPiece::Words(tag.text(text).to_owned())),
        TagMark::Comment => Some(ImportedPiece::Words(String::new())),
        TagMark::Value | TagMark::Raw
            if is_path(tag.text(text)) && !is_helper(tag.text(text), dialect) =>
        {
            Some(ImportedPiece::Name(tag.text(text).to_owned()))
        }
        TagMark::Value
        | TagMark::Raw
        | TagMark::Open
        | TagMark::Inverted
        | TagMark::Else
        | TagMark::Close
        | TagMark::Partial => None,
    };
    all.iter()
        .map(piece)
        .collect::<Option<Vec<_>>>()
        .map(join_literals)
}

/// The note that Mustache escapes values for HTML.
fn escape_notes(
    text: &str,
    all: &[MustacheTag],
    dialect: TagDialect,
) -> Vec<(usize, ImportNoteKind)> {
    let first = all
        .iter()
        .find(|tag| tag.mark == TagMark::Value)
        .filter(|_| dialect == TagDialect::Mustache);
    let note = |tag: &MustacheTag| {
        let difference = "Mustache escapes `&`, `<`, `>` and `\"` in values for HTML; here values stay as they are".to_owned();
        (
            tag.start,
            ImportNoteKind::Differs {
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

fn is_helper(word: &str, dialect: TagDialect) -> bool {
    dialect == TagDialect::Handlebars
        && matches!(
            word,
            "role" | "history" | "media" | "section" | "json" | "lookup" | "log"
        )
}

fn unsupported_note(what: &str, why: &str) -> ImportNoteKind {
    ImportNoteKind::Unsupported {
        what: format!("`{what}`"),
        why: why.to_owned(),
    }
}

impl JinjaWriter<'_> {
    fn write_tag(
        &mut self,
        tag: &MustacheTag,
        is_before_tag: bool,
        all: &[MustacheTag],
        at: usize,
    ) {
        let inner = tag.text(self.text);
        if self.frames.len() > MAX_DEPTH || self.notes.len() > MAX_NOTES {
            return;
        }
        match tag.mark {
            TagMark::Words => push_literal(&mut self.out, inner, is_before_tag),
            TagMark::Comment => {}
            TagMark::Value | TagMark::Raw => self.write_value(tag, inner),
            TagMark::Open => self.open_block(tag, inner, all, at),
            TagMark::Inverted if inner.is_empty() => self.out.push_str("{% else %}"),
            TagMark::Inverted => self.open_section(tag, inner, "not "),
            TagMark::Else => {
                let test = inner.strip_prefix("else").unwrap_or("").trim();
                match test
                    .strip_prefix("if ")
                    .map(|path| self.resolve_path(tag, path.trim()))
                {
                    Some(path) => self.out.extend(["{% elif ", &path, " %}"]),
                    None if test.is_empty() => self.out.push_str("{% else %}"),
                    None => self.notes.push((
                        tag.start,
                        unsupported_note(
                            &format!("{{{{{inner}}}}}"),
                            "only `else` and `else if` are read",
                        ),
                    )),
                }
            }
            TagMark::Close => match self.frames.pop() {
                Some(frame) if frame.close == inner => self.out.push_str(&frame.ends),
                _ => self.notes.push((
                    tag.start,
                    ImportNoteKind::Broken(format!("`{{{{/{inner}}}}}` closes nothing")),
                )),
            },
            TagMark::Partial => {
                self.notes.push((
                    tag.start,
                    unsupported_note(&format!("{{{{> {inner}}}}}"), "write its text in its place"),
                ));
            }
        }
    }

    fn write_value(&mut self, tag: &MustacheTag, inner: &str) {
        let (word, rest) = inner
            .split_once(char::is_whitespace)
            .map_or((inner, ""), |(word, rest)| (word, rest.trim()));
        if self.dialect == TagDialect::Handlebars {
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
                    let path = self.resolve_path(tag, &path);
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
                        ImportNoteKind::Differs {
                            what: format!("`{shown}`"),
                            difference,
                        },
                    ));
                }
                _ if !rest.is_empty() => "there is no helper of that name",
                _ => "",
            };
            if !why.is_empty() {
                return self.notes.push((tag.start, unsupported_note(&shown, why)));
            }
        }
        let path = self.resolve_path(tag, inner);
        self.out.extend(["{{ ", &path, " }}"]);
    }

    /// The Jinja path of a name within the current blocks.
    fn resolve_path(&mut self, tag: &MustacheTag, written: &str) -> String {
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
                unsupported_note(
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

    /// Converts the tag that begins a block. `inner` is its text, `at` its index in `all`, the tags
    /// of the template.
    fn open_block(&mut self, tag: &MustacheTag, inner: &str, all: &[MustacheTag], at: usize) {
        let mut words = inner.split_whitespace();
        let helper = words.next().unwrap_or("");
        let first = words.next();
        let second = words.next();
        match (self.dialect, helper, first) {
            (TagDialect::Handlebars, "if", Some(path)) => self.open_condition(tag, path, "if", ""),
            (TagDialect::Handlebars, "unless", Some(path)) => {
                self.open_condition(tag, path, "unless", "not ");
            }
            (TagDialect::Handlebars, "each", Some(path)) => {
                self.open_loop(tag, path, "each", all, at);
            }
            (TagDialect::Handlebars, "with", Some(path)) => {
                let base = self.resolve_path(tag, path);
                self.out.extend(["{% if ", &base, " %}"]);
                self.push_frame("with", base, "{% endif %}");
            }
            (TagDialect::Handlebars, "ifEquals" | "unlessEquals", Some(left)) => {
                let left = self.write_operand(tag, left);
                let right = self.write_operand(tag, second.unwrap_or(""));
                let sign = if helper == "ifEquals" { " == " } else { " != " };
                self.out.extend(["{% if ", &left, sign, &right, " %}"]);
                self.frames.push(BlockFrame {
                    base: String::new(),
                    close: helper.to_owned(),
                    ends: "{% endif %}".to_owned(),
                    is_open: true,
                });
            }
            (TagDialect::Mustache, name, None) => {
                let body = self.block_body(inner, all, at);
                let is_list = self.lists.contains(name)
                    || body
                        .iter()
                        .any(|tag| matches!(tag.text(self.text), "." | "this"));
                if is_list {
                    self.open_loop(tag, name, name, all, at);
                } else {
                    self.open_section(tag, name, "");
                }
            }
            _ => {
                self.notes.push((
                    tag.start,
                    unsupported_note(
                        &format!("{{{{#{inner}}}}}"),
                        "there is no helper of that name",
                    ),
                ));
                self.frames.push(BlockFrame {
                    base: String::new(),
                    close: helper.to_owned(),
                    ends: String::new(),
                    is_open: true,
                });
            }
        }
    }

    fn push_frame(&mut self, close: &str, base: String, ends: &str) {
        self.frames.push(BlockFrame {
            base,
            close: close.to_owned(),
            ends: ends.to_owned(),
            is_open: false,
        });
    }

    fn write_operand(&mut self, tag: &MustacheTag, written: &str) -> String {
        let is_literal = written.starts_with(['"', '\''])
            || written.parse::<f64>().is_ok()
            || matches!(written, "true" | "false");
        if is_literal {
            written.to_owned()
        } else {
            self.resolve_path(tag, written)
        }
    }

    fn open_condition(&mut self, tag: &MustacheTag, path: &str, close: &str, negation: &str) {
        let path = self.resolve_path(tag, path);
        self.out.extend(["{% if ", negation, &path, " %}"]);
        let close = close.to_owned();
        let ends = "{% endif %}".to_owned();
        self.frames.push(BlockFrame {
            base: String::new(),
            close,
            ends,
            is_open: true,
        });
    }

    /// Converts a section of Mustache as a condition.
    fn open_section(&mut self, tag: &MustacheTag, name: &str, negation: &str) {
        if negation.is_empty() {
            let difference =
                "it is read as a condition: declare the input as a list if it should be repeated"
                    .to_owned();
            self.notes.push((
                tag.start,
                ImportNoteKind::Differs {
                    what: format!("`{{{{#{name}}}}}`"),
                    difference,
                },
            ));
        }
        self.open_condition(tag, name, name, negation);
    }

    /// The tags inside the block that opens at `at`.
    fn block_body<'a>(&self, inner: &str, all: &'a [MustacheTag], at: usize) -> &'a [MustacheTag] {
        const MAX_BODY_TAGS: usize = 1_000;
        let name = inner.split_whitespace().next().unwrap_or("");
        let rest = all.get(at + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .take(MAX_BODY_TAGS)
            .position(|tag| tag.mark == TagMark::Close && tag.text(self.text) == name);
        rest.get(..end.unwrap_or(rest.len().min(MAX_BODY_TAGS)))
            .unwrap_or_default()
    }

    fn open_loop(
        &mut self,
        tag: &MustacheTag,
        path: &str,
        close: &str,
        all: &[MustacheTag],
        at: usize,
    ) {
        let list = self.resolve_path(tag, path);
        let has_key = self
            .block_body(tag.text(self.text), all, at)
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
        self.push_frame(close, name, "{% endfor %}");
    }
}
