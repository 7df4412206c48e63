//! `import "x" as m` and `from "x" import a`: what the file defines on its top level, with names of its own in the one text, so that none
//! of them is taken for an input or for a name of another file.

use super::bodies::{is_kept, targets};
use super::flatten::Flattener;
use super::layout;
use super::modules::free_prefix;
use super::page::{Page, chosen_later, first_name};
use super::scan::{Kind, Piece, Trim};
use super::uses::Tag;
use super::words::{Word, literal, words};
use crate::import::names::kebab;
use crate::import::note::{Note, NoteKind};
use crate::jinja::parse::parse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What names of a page are called in the one text.
pub(super) type Names = BTreeMap<String, String>;

/// What is kept of the top level of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// A macro, or a `set` with all to its end: the numbers of its tags.
    Whole(usize, usize),
    /// A statement.
    Tag(usize),
    /// An `import`.
    Import(usize),
}

const SKIPPED: [&str; 4] = ["autoescape", "block", "call", "filter"];
const KEPT: [&str; 3] = ["for", "if", "with"];

/// Definitions, and the conditions and loops around them; nothing of what is put out.
fn items(page: &Page) -> Vec<Item> {
    let (mut items, mut open, mut skipped, mut at) = (Vec::new(), Vec::new(), 0_usize, 0);
    while let Some(piece) = page.pieces.get(at) {
        let word = piece.word(&page.text);
        let closed = word.strip_prefix("end").unwrap_or("");
        match word {
            word if SKIPPED.contains(&word) => skipped += 1,
            _ if SKIPPED.contains(&closed) => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            "macro" => {
                items.push(Item::Whole(at, page.close(at)));
                at = page.close(at);
            }
            "set" if is_kept(&page.text, piece) => {
                items.push(Item::Whole(at, page.close(at)));
                at = page.close(at);
            }
            "set" | "do" => items.push(Item::Tag(at)),
            "import" | "from" => items.push(Item::Import(at)),
            word if KEPT.contains(&word) => {
                open.push(items.len());
                items.push(Item::Tag(at));
            }
            "elif" | "else" if !open.is_empty() => items.push(Item::Tag(at)),
            _ if KEPT.contains(&closed) => {
                let from = open.pop().unwrap_or(items.len());
                let is_branch = |item: &Item| match item {
                    Item::Tag(at) => page.pieces.get(*at).is_none_or(|piece| !matches!(piece.word(&page.text), "set" | "do")),
                    Item::Whole(..) | Item::Import(_) => false,
                };
                if items.get(from..).is_some_and(|inner| inner.iter().all(is_branch)) {
                    items.truncate(from);
                } else {
                    items.push(Item::Tag(at));
                }
            }
            _ => {}
        }
        at += 1;
    }
    items
}

/// An import as it is written.
struct Import {
    /// The file.
    name: String,
    /// What stands before each of its names, where it is imported as a whole, and what it is called.
    module: Option<(String, String)>,
    /// Its names and what they are called here.
    chosen: Vec<(String, String)>,
    is_with_context: bool,
}

fn read(page: &Page, piece: &Piece) -> Option<Import> {
    let (text, tokens) = (&page.text, words(&page.text, piece.inner.clone()));
    let word = |at: usize| tokens.get(at).map_or("", |token| token.slice(text));
    let name = tokens.get(1).filter(|token| token.word == Word::Text).and_then(|token| literal(token.slice(text)))?;
    let is_context = |at: usize| matches!(word(at), "with" | "without") && word(at + 1) == "context";
    let end = (2..tokens.len()).find(|at| is_context(*at)).unwrap_or(tokens.len());
    let is_with_context = word(end) == "with";
    if piece.word(text) == "import" {
        let module = (word(2) == "as").then(|| word(3).to_owned())?;
        let prefix = page.modules.get(&module)?.clone();
        return Some(Import { name, module: Some((module, prefix)), chosen: Vec::new(), is_with_context });
    }
    let (mut chosen, mut at) = (Vec::new(), 3);
    while at < end {
        let is_renamed = word(at + 1) == "as";
        let called = if is_renamed { word(at + 2) } else { word(at) };
        chosen.push((word(at).to_owned(), called.to_owned()));
        at += if is_renamed { 4 } else { 2 };
    }
    (word(2) == "import").then_some(Import { name, module: None, chosen, is_with_context })
}

/// What stands before the names of a file that a page does not import from it.
fn hidden(page: &Page, path: &str) -> String {
    let stem = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or(path);
    free_prefix(&page.text, &format!("_{}", kebab(stem).replace('-', "_")))
}

impl Import {
    /// What the names of a file are called in the page that imports it.
    fn called(&self, page: &Page, inner: &Page, exports: &BTreeSet<String>) -> Names {
        let hidden = hidden(page, &inner.path);
        let prefix = self.module.as_ref().map_or(&hidden, |(_, prefix)| prefix);
        let called = |name: &str| {
            let chosen = self.chosen.iter().find(|(chosen, _)| chosen == name);
            chosen.map_or_else(|| format!("{prefix}{name}"), |(_, called)| called.clone())
        };
        exports.iter().map(|name| (name.clone(), called(name))).collect()
    }
}

impl Flattener<'_> {
    /// The names that the top level of a page has, those that it imports among them.
    fn exports(&mut self, page: &Rc<Page>) -> Rc<BTreeSet<String>> {
        if let Some(known) = self.exports.get(&page.path) {
            return Rc::clone(known);
        }
        let mut names = BTreeSet::new();
        for item in items(page) {
            let (Item::Whole(at, _) | Item::Tag(at) | Item::Import(at)) = item;
            let Some(piece) = page.pieces.get(at) else { continue };
            match (item, piece.word(&page.text)) {
                (Item::Import(_), _) => names.extend(self.imported(page, piece).map(Names::into_values).into_iter().flatten()),
                (_, "macro") => drop(names.insert(first_name(piece.rest(&page.text)))),
                (_, "set") => names.extend(targets(&page.text, &words(&page.text, piece.inner.clone()))),
                _ => {}
            }
        }
        let names = Rc::new(names);
        self.exports.insert(page.path.clone(), Rc::clone(&names));
        names
    }

    /// What an import brings, as the page calls it.
    fn imported(&mut self, page: &Rc<Page>, piece: &Piece) -> Option<Names> {
        let import = read(page, piece)?;
        let inner = self.load(page, piece, &import.name)?;
        self.stack.push(inner.path.clone());
        let exports = self.exports(&inner);
        self.stack.pop();
        Some(import.called(page, &inner, &exports))
    }

    /// Puts what is imported where the import stands; `names` are what the page's own names are called.
    pub(super) fn import(&mut self, page: &Rc<Page>, piece: &Piece, names: &Names, out: &mut String) {
        self.flat.is_changed = true;
        let Some(import) = read(page, piece) else { return self.note(page, piece, chosen_later("import")) };
        let Some(inner) = self.load(page, piece, &import.name) else { return };
        self.stack.push(inner.path.clone());
        let exports = self.exports(&inner);
        self.missing(page, piece, &import, &inner, &exports);
        let called = import.called(page, &inner, &exports).into_iter();
        let called: Names = called.map(|(name, called)| (name, names.get(&called).cloned().unwrap_or(called))).collect();
        let own = called.iter().map(|(name, called)| (called.clone(), (name.clone(), inner.path.clone())));
        self.flat.called.extend(own);
        let mut text = String::new();
        self.definitions(&inner, &called, &mut text);
        self.stack.pop();
        if !import.is_with_context {
            self.context(&inner, &text);
        }
        if piece.left != Trim::Default {
            out.extend(["{#", piece.left.sign(), " #}"]);
        }
        out.push_str(&text);
        if piece.right != Trim::Default {
            out.extend(["{# ", piece.right.sign(), "#}"]);
        }
    }

    /// Tells names that the file does not have: Jinja2 puts nothing for them.
    fn missing(&mut self, page: &Rc<Page>, piece: &Piece, import: &Import, inner: &Page, exports: &BTreeSet<String>) {
        let has = |name: &str| exports.contains(name) && !name.starts_with('_');
        let kind = |name: String| {
            let why = format!("{} sets no such name, so that Jinja2 puts nothing; set it there, or take it out", inner.path);
            NoteKind::Unsupported { what: format!("`{name}`"), why }
        };
        for (name, _) in import.chosen.iter().filter(|(name, _)| !has(name)) {
            self.note(page, piece, kind(name.clone()));
        }
        let Some((module, _)) = &import.module else { return };
        let members = page.members.iter().filter(|member| member.module == *module && !has(&member.name));
        for member in members {
            let kind = kind(format!("{module}.{}", member.name));
            self.add(Note { path: page.path.clone(), line: member.line, kind });
        }
    }

    /// Tells what a file reads that is imported without the inputs: Jinja2 shows it none.
    fn context(&mut self, page: &Rc<Page>, text: &str) {
        if !self.told.insert(page.path.clone()) {
            return;
        }
        for name in parse(text).variables {
            let read = page.pieces.iter().find(|piece| {
                let tokens = words(&page.text, piece.inner.clone());
                let tag = Tag::new(&page.text, &tokens);
                matches!(piece.kind, Kind::Variable | Kind::Statement)
                    && (0..tokens.len()).any(|at| tag.word(at) == name && tag.is_value(at))
            });
            let Some(piece) = read else { continue };
            let difference = "Jinja2 shows a file that is imported no inputs, so that it puts nothing but a global of the \
                              environment; here it is an input: hand it to the macro, or write `import … with context`";
            let kind = NoteKind::Differs { what: format!("`{name}`"), difference: difference.to_owned() };
            self.note(page, piece, kind);
        }
    }

    /// What a page defines on its top level, without anything that it puts out there.
    pub(super) fn definitions(&mut self, page: &Rc<Page>, names: &Names, out: &mut String) {
        for item in items(page) {
            match item {
                Item::Tag(at) => {
                    let Some(piece) = page.pieces.get(at) else { continue };
                    let (tag, _) = renamed(page, piece, names, &BTreeSet::new());
                    out.extend(["{%", &tag, "%}"]);
                }
                Item::Import(at) => {
                    let Some(piece) = page.pieces.get(at) else { continue };
                    self.import(page, &Piece { left: Trim::Default, right: Trim::Default, ..piece.clone() }, names, out);
                }
                Item::Whole(open, close) => self.definition(page, open, close, names, out),
            }
        }
    }

    /// A macro or a kept text, without what its tags do to the white space around them.
    fn definition(&mut self, page: &Rc<Page>, open: usize, close: usize, names: &Names, out: &mut String) {
        let own: BTreeSet<String> = page.pieces.iter().take(close).skip(open).flat_map(|piece| own(page, piece)).collect();
        for at in open..=close {
            let Some(piece) = page.pieces.get(at) else { break };
            match (piece.kind, piece.word(&page.text)) {
                (Kind::Data, _) => out.push_str(layout::data(&page.text, &page.pieces, at, self.options)),
                (Kind::Comment | Kind::Raw, _) => out.push_str(piece.slice(&page.text)),
                (Kind::Statement, "import" | "from") => self.import(page, piece, names, out),
                (Kind::Statement, "include") => self.include(page, at, out),
                (Kind::Statement | Kind::Variable, _) => {
                    self.refuse_blocks(page, piece);
                    let (tag, signs) = renamed(page, piece, names, &own);
                    let left = if at == open { "" } else { piece.left.sign() };
                    let right = if at == close { "" } else { piece.right.sign() };
                    out.extend([signs.0, left, &tag, right, signs.1]);
                }
            }
        }
    }
}

/// The names that the head of a macro or a call gives to its arguments.
fn own(page: &Page, piece: &Piece) -> Vec<String> {
    if !matches!(piece.word(&page.text), "call" | "macro") {
        return Vec::new();
    }
    let tokens = words(&page.text, piece.inner.clone());
    let tag = Tag::new(&page.text, &tokens);
    let is_call = tag.word(0) == "call";
    let open = if is_call { 1 } else { 2 };
    let names = (open..tokens.len()).filter(|at| tag.word(open) == "(" && tag.is_entry(*at, open));
    names.map(|at| tag.word(at).to_owned()).collect()
}

/// What stands between the signs of a tag, with the page's names as they are called in the one text, and the signs around it.
fn renamed(page: &Page, piece: &Piece, names: &Names, own: &BTreeSet<String>) -> (String, (&'static str, &'static str)) {
    let (text, tokens) = (&page.text, words(&page.text, piece.inner.clone()));
    let tag = Tag::new(text, &tokens);
    let (mut out, mut start) = (String::new(), piece.inner.start);
    for (at, token) in tokens.iter().enumerate() {
        let name = token.slice(text);
        let is_test = at > 0 && (tag.word(at - 1) == "is" || at > 1 && tag.word(at - 1) == "not" && tag.word(at - 2) == "is");
        let called = names.get(name).filter(|_| tag.is_value(at) && !is_test && !own.contains(name));
        if let Some(called) = called {
            out.push_str(text.get(start..token.range.start).unwrap_or(""));
            out.push_str(called);
            start = token.range.end;
        }
    }
    out.push_str(text.get(start..piece.inner.end).unwrap_or(""));
    (out, if piece.kind == Kind::Variable { ("{{", "}}") } else { ("{%", "%}") })
}
