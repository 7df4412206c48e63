//! One text out of a template and everything that it takes in: `include`, `extends` with its blocks and `super()`, `import`.
//!
//! What is imported has names of its own (`imports`). Names that are chosen while rendering stay beyond it, with a note. Bounded in depth, in steps and in bytes; a cycle is
//! a note. What is put in is enclosed in `{% with %}` wherever it could change the white space or the names around it.

use super::adapt::{Adapted, adapt};
use super::bodies::{Asked, Locals, Use, asked};
use super::imports::Names;
use super::layout;
use super::page::{Blocks, Page, chosen_later, collect, enclose, first_name, sole_literal, trims_back};
use super::scan::{Kind, Piece, Trim};
use crate::import::model::{Library, Options};
use crate::import::names::{beside, folders};
use crate::import::note::{Note, NoteKind};
use crate::jinja::limits::MAX_BYTES;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// How deep files and blocks may stand in each other.
const MAX_DEPTH: usize = 32;
/// How often something may be taken in.
const MAX_STEPS: usize = 10_000;
/// How many notes one prompt gives.
const MAX_NOTES: usize = 200;

/// What became of a template.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Its text with everything in it.
    pub(super) text: String,
    /// Whether that is another text than the file's.
    pub(super) is_changed: bool,
    /// The files that it holds.
    pub(super) parts: BTreeSet<String>,
    /// What is to be known.
    pub(super) notes: Vec<Note>,
    /// What any of the files calls one that it imports as a whole.
    pub(super) modules: BTreeSet<String>,
    /// What the names of imported files are called in the text, with those names and their files.
    pub(super) called: BTreeMap<String, (String, String)>,
}

/// What all steps share.
pub(super) struct Flattener<'a> {
    library: &'a dyn Library,
    pub(super) options: Options,
    pages: BTreeMap<String, Rc<Page>>,
    /// The names that pages define, by path.
    pub(super) exports: BTreeMap<String, Rc<BTreeSet<String>>>,
    /// The imported files whose inputs were told.
    pub(super) told: BTreeSet<String>,
    /// The files being read, from the outside in.
    pub(super) stack: Vec<String>,
    depth: usize,
    steps: usize,
    pub(super) flat: Flat,
}

/// Takes everything in.
pub(super) fn flatten(path: &str, text: &str, library: &dyn Library, options: Options) -> Flat {
    let (pages, exports, told, stack) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new(), vec![path.to_owned()]);
    let mut flattener = Flattener { library, options, pages, exports, told, stack, depth: 0, steps: 0, flat: Flat::default() };
    let page = flattener.page(path, text);
    let text = flattener.whole(&page);
    Flat { text, ..flattener.flat }
}

impl Flattener<'_> {
    pub(super) fn note(&mut self, page: &Page, piece: &Piece, kind: NoteKind) {
        self.add(Note { path: page.path.clone(), line: page.lines.line(piece.range.start as u32), kind });
    }

    pub(super) fn add(&mut self, note: Note) {
        if self.flat.notes.len() < MAX_NOTES && !self.flat.notes.contains(&note) {
            self.flat.notes.push(note);
        }
    }

    fn page(&mut self, path: &str, text: &str) -> Rc<Page> {
        if let Some(page) = self.pages.get(path) {
            return Rc::clone(page);
        }
        let Adapted { text, notes, is_changed, modules } = adapt(path, text);
        self.flat.notes.extend(notes);
        self.flat.is_changed |= is_changed;
        self.flat.modules.extend(modules.0.keys().cloned());
        let page = Rc::new(Page::new(path, text, modules));
        self.pages.insert(path.to_owned(), Rc::clone(&page));
        page
    }

    /// The page of a name, where a loader would find it: from the given folders, then from the page's own folder upwards.
    pub(super) fn load(&mut self, page: &Page, piece: &Piece, name: &str) -> Option<Rc<Page>> {
        self.flat.is_changed = true;
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.note(page, piece, NoteKind::TooLarge { limit: MAX_BYTES });
            return None;
        }
        let found = folders(&page.path, self.library.roots()).into_iter().find_map(|folder| {
            let path = beside(&folder, name)?;
            match self.library.text(&path) {
                Ok(None) => None,
                Ok(Some(text)) => Some(Ok((path, text))),
                Err(reason) => Some(Err(reason)),
            }
        });
        let name = name.to_owned();
        let (path, text) = match found {
            Some(Ok(found)) => found,
            Some(Err(reason)) => {
                self.note(page, piece, NoteKind::UnreadablePart { name, reason });
                return None;
            }
            None => {
                self.note(page, piece, NoteKind::MissingPart { name });
                return None;
            }
        };
        if self.stack.contains(&path) || self.stack.len() >= MAX_DEPTH {
            let chain = self.stack.iter().chain([&path]).cloned().collect::<Vec<_>>().join(" → ");
            self.note(page, piece, NoteKind::Cycle { name, chain });
            return None;
        }
        self.flat.parts.insert(path.clone());
        let text = if self.options.keep_trailing_newline { &text } else { layout::without_last_break(&text) };
        Some(self.page(&path, text))
    }

    /// The text of a page that may extend others.
    fn whole(&mut self, page: &Rc<Page>) -> String {
        let (mut blocks, mut out, mut page, depth) = (Blocks::new(), String::new(), Rc::clone(page), self.stack.len());
        loop {
            collect(&page, &mut blocks);
            let extends = page.pieces.iter().position(|piece| piece.word(&page.text) == "extends");
            let Some(at) = extends else { break };
            let Some(piece) = page.pieces.get(at) else { break };
            let Some(name) = sole_literal(&page, piece) else {
                self.note(&page, piece, chosen_later("extends"));
                break;
            };
            let before = page.text.get(..piece.range.start).unwrap_or("");
            if !page.pieces.iter().take(at).all(|piece| piece.kind == Kind::Comment || piece.slice(&page.text).trim().is_empty())
                && page.pieces.iter().take(at).any(|piece| matches!(piece.kind, Kind::Data | Kind::Variable))
                && !before.trim().is_empty()
            {
                let (what, why) = ("a text before `extends`".to_owned(), "put `extends` first".to_owned());
                self.note(&page, piece, NoteKind::Unsupported { what, why });
            }
            if is_in_condition(&page, at) {
                let (what, why) = ("`extends` in a condition".to_owned(), "put it first; make a prompt for each base".to_owned());
                self.note(&page, piece, NoteKind::Unsupported { what, why });
            }
            self.definitions(&page, &Names::new(), &mut out);
            let Some(base) = self.load(&page, piece, &name) else { break };
            self.stack.push(base.path.clone());
            page = base;
        }
        self.emit(&page, 0..page.pieces.len(), &blocks, None, &mut out);
        self.stack.truncate(depth);
        out
    }

    /// Pieces with everything that they take in. `inside` is the block they stand in, and how many overrides lie above it.
    fn emit(&mut self, page: &Rc<Page>, range: Range<usize>, blocks: &Blocks, inside: Option<(&str, usize)>, out: &mut String) {
        let (mut at, mut locals) = (range.start, Locals::new(inside.is_some()));
        while let Some(piece) = page.pieces.get(at).filter(|_| at < range.end) {
            if out.len() > MAX_BYTES {
                return self.note(page, piece, NoteKind::TooLarge { limit: MAX_BYTES });
            }
            locals.over(&page.text, piece);
            match (piece.kind, piece.word(&page.text)) {
                (Kind::Statement, "include") => self.include(page, at, out),
                (Kind::Statement, "import" | "from") => self.import(page, piece, &Names::new(), out),
                (Kind::Statement, "block") => {
                    let close = page.close(at);
                    let rest = piece.rest(&page.text);
                    let name = first_name(rest);
                    self.flat.is_changed = true;
                    let ends = (piece.left, page.pieces.get(close).map_or(Trim::Default, |piece| piece.right));
                    let content = self.body(page, &name, 0, blocks);
                    if !rest.split_whitespace().any(|word| word == "scoped") {
                        self.hidden(page, piece, &name, &content, &locals);
                    }
                    enclose(out, &content.text, ends, content.inner, trims_back(page, close + 1));
                    at = close;
                }
                (Kind::Data, _) => out.push_str(layout::data(&page.text, &page.pieces, at, self.options)),
                _ => match asked(&page.text, piece) {
                    Some(Use::Whole(asked)) => self.asked(page, at, &asked, (blocks, inside), &locals, out),
                    Some(Use::Part(_)) => self.refuse_blocks(page, piece),
                    None => out.push_str(piece.slice(&page.text)),
                },
            }
            at += 1;
        }
    }

    /// Puts what a block says where it is asked for.
    fn asked(
        &mut self,
        page: &Rc<Page>,
        at: usize,
        asked: &Asked<'_>,
        (blocks, inside): (&Blocks, Option<(&str, usize)>),
        locals: &Locals,
        out: &mut String,
    ) {
        let Some(piece) = page.pieces.get(at) else { return };
        self.flat.is_changed = true;
        let (name, level) = match (asked.block, inside) {
            (Some(name), _) => (name, 0),
            (None, Some((name, level))) => (name, level + 1),
            (None, None) => return self.refuse_blocks(page, piece),
        };
        if blocks.get(name).is_none_or(|bodies| bodies.len() <= level) {
            let said = if asked.block.is_some() { format!("`self.{name}()`") } else { "`super()`".to_owned() };
            let why = format!("there is no block `{name}` that it could mean; name one of the text, or take it out");
            return self.note(page, piece, NoteKind::Unsupported { what: said, why });
        }
        let content = self.body(page, name, level, blocks);
        self.hidden(page, piece, name, &content, locals);
        let (left, right) = (piece.left, piece.right);
        let (open, close) = match (asked.kept, asked.filters) {
            (None, "") => {
                return enclose(out, &content.text, (left, right), content.inner, trims_back(page, at + 1));
            }
            (None, filters) => (format!("filter {filters}"), "endfilter"),
            (Some(kept), "") => (format!("set {kept}"), "endset"),
            (Some(kept), filters) => (format!("set {kept}|{filters}"), "endset"),
        };
        out.extend(["{%", left.sign(), " ", &open, " %}"]);
        let mut whole = String::new();
        enclose(&mut whole, &content.text, (Trim::Default, Trim::Default), content.inner, true);
        out.push_str(&whole);
        out.extend(["{% ", close, " ", right.sign(), "%}"]);
    }

    /// Tells a use of a block that is more than what it says put out, filtered or kept.
    pub(super) fn refuse_blocks(&mut self, page: &Page, piece: &Piece) {
        let said = match asked(&page.text, piece) {
            None => return,
            Some(Use::Part(said)) => said,
            Some(Use::Whole(Asked { block: Some(block), .. })) => format!("self.{block}()"),
            Some(Use::Whole(Asked { block: None, .. })) => "super()".to_owned(),
        };
        let why = format!("it is put where it stands alone; keep it first, outside of macros: `{{% set said = {said} %}}`");
        self.note(page, piece, NoteKind::Unsupported { what: format!("`{said}` in a macro or an expression"), why });
    }

    /// Tells a name that a block reads and that the statements around the place do not give it.
    fn hidden(&mut self, page: &Page, piece: &Piece, block: &str, content: &Content, locals: &Locals) {
        let Some(name) = locals.hidden(&content.text) else { return };
        let why = "a statement around the place binds that name, and Jinja2 shows it to no block but `{% block … scoped %}`; write that, \
                   or give one of them another name";
        let kind = NoteKind::Unsupported { what: format!("`{name}` in block `{block}`"), why: why.to_owned() };
        self.note(page, piece, kind);
    }

    /// What a block says, `level` overrides below the most derived.
    fn body(&mut self, page: &Rc<Page>, name: &str, level: usize, blocks: &Blocks) -> Content {
        let mut content = Content { text: String::new(), inner: (Trim::Default, Trim::Default) };
        let Some(block) = blocks.get(name).and_then(|bodies| bodies.get(level)) else { return content };
        self.steps += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.steps > MAX_STEPS {
            if let Some(piece) = block.page.pieces.get(block.open) {
                self.note(page, piece, NoteKind::TooLarge { limit: MAX_BYTES });
            }
            self.depth -= 1;
            return content;
        }
        self.emit(&block.page, block.open + 1..block.close, blocks, Some((name, level)), &mut content.text);
        self.depth -= 1;
        let sign = |at: usize, of: fn(&Piece) -> Trim| block.page.pieces.get(at).map_or(Trim::Default, of);
        content.inner = (sign(block.open, |piece| piece.right), sign(block.close, |piece| piece.left));
        content
    }

    pub(super) fn include(&mut self, page: &Rc<Page>, at: usize, out: &mut String) {
        let Some(piece) = page.pieces.get(at) else { return };
        let Some(name) = sole_literal(page, piece) else { return self.note(page, piece, chosen_later("include")) };
        let rest = piece.rest(&page.text);
        if rest.contains("without context") {
            let (what, why) = ("`include … without context`".to_owned(), "a text here sees all inputs of its task".to_owned());
            return self.note(page, piece, NoteKind::Unsupported { what, why });
        }
        let notes = self.flat.notes.len();
        let Some(inner) = self.load(page, piece, &name) else {
            let is_missing = matches!(self.flat.notes.last(), Some(Note { kind: NoteKind::MissingPart { .. }, .. }));
            if is_missing && rest.contains("ignore missing") {
                self.flat.notes.truncate(notes);
            }
            return;
        };
        self.stack.push(inner.path.clone());
        let content = self.whole(&inner);
        self.stack.pop();
        enclose(out, &content, (piece.left, piece.right), (Trim::Default, Trim::Default), trims_back(page, at + 1));
    }
}

/// What a block says, and what its own tags do to the white space at its ends.
struct Content {
    text: String,
    inner: (Trim, Trim),
}

/// Whether a condition is open before a piece.
fn is_in_condition(page: &Page, at: usize) -> bool {
    let words = page.pieces.iter().take(at).map(|piece| piece.word(&page.text));
    words.fold(0_usize, |depth, word| match word {
        "if" | "for" | "with" => depth + 1,
        "endif" | "endfor" | "endwith" => depth.saturating_sub(1),
        _ => depth,
    }) > 0
}
