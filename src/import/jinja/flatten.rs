//! One text out of a template and everything that it takes in: `include`, `extends` with its blocks and `super()`, `import`.
//!
//! Names that are chosen while rendering stay beyond it, with a note. Bounded in depth, in steps and in bytes; a cycle is
//! a note. What is put in is enclosed in `{% with %}` wherever it could change the white space or the names around it.

use super::adapt::{Adapted, adapt};
use super::layout;
use super::page::{Blocks, Page, chosen_later, collect, enclose, first_name, macros, prefixed, sole_literal, trims_back};
use super::scan::{Kind, Piece, Trim};
use super::words::{Word, literal, words};
use crate::import::model::{Library, Options};
use crate::import::names::{beside, folders};
use crate::import::note::{Note, NoteKind};
use crate::template::jinja::MAX_BYTES;
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
}

/// What all steps share.
struct Flattener<'a> {
    library: &'a dyn Library,
    options: Options,
    pages: BTreeMap<String, Rc<Page>>,
    /// The files being read, from the outside in.
    stack: Vec<String>,
    depth: usize,
    steps: usize,
    flat: Flat,
}

/// Takes everything in.
pub(super) fn flatten(path: &str, text: &str, library: &dyn Library, options: Options) -> Flat {
    let (pages, stack) = (BTreeMap::new(), vec![path.to_owned()]);
    let mut flattener = Flattener { library, options, pages, stack, depth: 0, steps: 0, flat: Flat::default() };
    let page = flattener.page(path, text);
    let text = flattener.whole(&page);
    Flat { text, ..flattener.flat }
}

impl Flattener<'_> {
    fn note(&mut self, page: &Page, piece: &Piece, kind: NoteKind) {
        let note = Note { path: page.path.clone(), line: page.lines.line(piece.range.start as u32), kind };
        if self.flat.notes.len() < MAX_NOTES && !self.flat.notes.contains(&note) {
            self.flat.notes.push(note);
        }
    }

    fn page(&mut self, path: &str, text: &str) -> Rc<Page> {
        if let Some(page) = self.pages.get(path) {
            return Rc::clone(page);
        }
        let Adapted { text, notes, is_changed } = adapt(path, text);
        self.flat.notes.extend(notes);
        self.flat.is_changed |= is_changed;
        let page = Rc::new(Page::new(path, text));
        self.pages.insert(path.to_owned(), Rc::clone(&page));
        page
    }

    /// The page of a name, where a loader would find it: from the given folders, then from the page's own folder upwards.
    fn load(&mut self, page: &Page, piece: &Piece, name: &str) -> Option<Rc<Page>> {
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
            out.push_str(&self.definitions(&page, None));
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
        let mut at = range.start;
        while let Some(piece) = page.pieces.get(at).filter(|_| at < range.end) {
            if out.len() > MAX_BYTES {
                return self.note(page, piece, NoteKind::TooLarge { limit: MAX_BYTES });
            }
            match (piece.kind, piece.word(&page.text)) {
                (Kind::Statement, "include") => self.include(page, at, out),
                (Kind::Statement, "import" | "from") => self.import(page, piece, out),
                (Kind::Statement, "block") => {
                    let close = page.close(at);
                    let name = first_name(piece.rest(&page.text));
                    self.flat.is_changed = true;
                    let ends = (piece.left, page.pieces.get(close).map_or(Trim::Default, |piece| piece.right));
                    self.block(page, close, &name, 0, blocks, ends, out);
                    at = close;
                }
                (Kind::Variable, _) if piece.inside(&page.text).trim() == "super()" => match inside {
                    Some((name, level)) => {
                        let ends = (piece.left, piece.right);
                        self.block(page, at, name, level + 1, blocks, ends, out);
                    }
                    None => self.note(page, piece, chosen_later("super()")),
                },
                (Kind::Data, _) => out.push_str(layout::data(&page.text, &page.pieces, at, self.options)),
                _ => out.push_str(piece.slice(&page.text)),
            }
            at += 1;
        }
    }

    /// A block by its name, `level` overrides below the most derived.
    #[allow(clippy::too_many_arguments, reason = "what a block is depends on both of its places")]
    fn block(
        &mut self,
        page: &Rc<Page>,
        at: usize,
        name: &str,
        level: usize,
        blocks: &Blocks,
        ends: (Trim, Trim),
        out: &mut String,
    ) {
        let Some(block) = blocks.get(name).and_then(|bodies| bodies.get(level)) else { return };
        self.steps += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.steps > MAX_STEPS {
            if let Some(piece) = block.page.pieces.get(block.open) {
                self.note(&block.page, piece, NoteKind::TooLarge { limit: MAX_BYTES });
            }
            self.depth -= 1;
            return;
        }
        let mut content = String::new();
        self.emit(&block.page, block.open + 1..block.close, blocks, Some((name, level)), &mut content);
        self.depth -= 1;
        let sign = |at: usize, of: fn(&Piece) -> Trim| block.page.pieces.get(at).map_or(Trim::Default, of);
        let inner = (sign(block.open, |piece| piece.right), sign(block.close, |piece| piece.left));
        enclose(out, &content, ends, inner, trims_back(page, at + 1));
    }

    fn include(&mut self, page: &Rc<Page>, at: usize, out: &mut String) {
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

    /// `import "x" as m`, `from "x" import a`: the macros themselves.
    fn import(&mut self, page: &Rc<Page>, piece: &Piece, out: &mut String) {
        self.flat.is_changed = true;
        let tokens = words(&page.text, piece.inner.clone());
        let source = tokens.get(1).filter(|token| token.word == Word::Text).and_then(|token| literal(token.slice(&page.text)));
        let Some(name) = source else { return self.note(page, piece, chosen_later("import")) };
        let alias_of = |at: usize| tokens.get(at + 1).filter(|_| tokens.get(at).is_some_and(|token| token.is(&page.text, "as")));
        let prefix = alias_of(2).map(|token| token.slice(&page.text).to_owned());
        if piece.word(&page.text) == "from" && tokens.iter().any(|token| token.is(&page.text, "as")) {
            let (what, why) = ("`from … import … as …`".to_owned(), "import it under its own name".to_owned());
            return self.note(page, piece, NoteKind::Unsupported { what, why });
        }
        let Some(inner) = self.load(page, piece, &name) else { return };
        self.stack.push(inner.path.clone());
        let text = self.definitions(&inner, prefix.as_deref());
        self.stack.pop();
        if piece.left != Trim::Default {
            out.extend(["{#", piece.left.sign(), " #}"]);
        }
        out.push_str(&text);
        if piece.right != Trim::Default {
            out.extend(["{# ", piece.right.sign(), "#}"]);
        }
    }

    /// The macros and variables that stand on the page's top level, without anything between them.
    fn definitions(&mut self, page: &Rc<Page>, prefix: Option<&str>) -> String {
        const OPENERS: [&str; 7] = ["block", "if", "for", "call", "filter", "with", "autoescape"];
        let (mut out, mut depth, mut at) = (String::new(), 0_usize, 0);
        let names: BTreeSet<String> = macros(page);
        while let Some(piece) = page.pieces.get(at) {
            let word = piece.word(&page.text);
            match word {
                "macro" if depth == 0 => {
                    let close = page.close(at);
                    for number in at..=close {
                        let Some(piece) = page.pieces.get(number) else { break };
                        let text = match piece.kind {
                            Kind::Data => layout::data(&page.text, &page.pieces, number, self.options).to_owned(),
                            Kind::Variable | Kind::Statement | Kind::Comment | Kind::Raw => prefixed(page, piece, prefix, &names),
                        };
                        out.push_str(&text);
                    }
                    at = close;
                }
                "set" if depth == 0 && piece.inside(&page.text).contains('=') => {
                    out.extend(["{% ", piece.inside(&page.text).trim(), " %}"]);
                }
                "import" | "from" if depth == 0 => self.import(page, piece, &mut out),
                word if OPENERS.contains(&word) => depth += 1,
                word if word.strip_prefix("end").is_some_and(|word| OPENERS.contains(&word)) => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
        out
    }
}
