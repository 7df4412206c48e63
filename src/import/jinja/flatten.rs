//! Flattens a template and everything that it includes into one text: `include`, `extends` with its
//! blocks and `super()`, `import`.
//!
//! Names that are computed while rendering cannot be resolved, and become a note. Bounded in depth,
//! steps and bytes; a cycle is a note. Inserted text is enclosed in `{% with %}` wherever it could
//! change the white space or the names around it.

use super::block_calls::{BlockCall, said};
use super::page::{Page, Statement, chosen_later, enclose};
use super::pieces::{self, Kind, Trim};
use crate::import::model::{Library, Options};
use crate::import::names::{beside, folders};
use crate::import::note::{Note, NoteKind};
use crate::jinja::limits::MAX_BYTES;
use crate::jinja::tags::tags;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The maximum nesting of files and blocks.
const MAX_DEPTH: usize = 32;
/// The maximum number of inclusions.
const MAX_STEPS: usize = 10_000;
/// The maximum number of notes of one prompt.
const MAX_NOTES: usize = 200;

/// The flattened template.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Its text, with everything included.
    pub(super) text: String,
    /// The included files.
    pub(super) parts: BTreeSet<String>,
    /// The notes on it.
    pub(super) notes: Vec<Note>,
}

/// The state of flattening. Pages and their texts outlive it.
pub(super) struct Flattener<'p, 't> {
    library: &'p dyn Library,
    options: Options,
    pub(super) pages: &'p BTreeMap<&'t str, Page<'t>>,
    /// The imported files whose inputs were reported.
    pub(super) reported: BTreeSet<&'t str>,
    /// The files being read, outermost first.
    pub(super) stack: Vec<&'t str>,
    depth: usize,
    steps: usize,
    flat: Flat,
}

/// The body of a block: its page, and the pieces between its two tags.
#[derive(Clone, Debug)]
pub(super) struct Block<'p, 't> {
    page: &'p Page<'t>,
    inside: Range<usize>,
}

/// Blocks by name, the most derived first.
pub(super) type Blocks<'p, 't> = BTreeMap<&'t str, Vec<Block<'p, 't>>>;

/// The blocks in scope, and the current one with the number of overrides above it.
pub(super) type Among<'b, 'p, 't> = (&'b Blocks<'p, 't>, Option<(&'t str, usize)>);

/// The text of a block, and the trimming of its own tags at both ends.
struct Content {
    text: String,
    inner: (Trim, Trim),
}

/// Flattens a template.
pub(super) fn flatten(path: &str, text: &str, library: &dyn Library, options: Options) -> Flat {
    let texts = gather(path, text, library, options);
    let pages = texts
        .iter()
        .map(|(path, text)| (path.as_str(), Page::new(path, text)))
        .collect();
    let reported = BTreeSet::new();
    let stack = vec![path];
    let flat = Flat::default();
    let mut flattener = Flattener {
        library,
        options,
        pages: &pages,
        reported,
        stack,
        depth: 0,
        steps: 0,
        flat,
    };
    let Some(page) = pages.get(path) else {
        return flattener.flat;
    };
    flattener.flat.notes.extend(page.notes.iter().cloned());
    let text = flattener.whole(page);
    Flat {
        text,
        ..flattener.flat
    }
}

/// The texts of a file and of everything that it includes, by path.
fn gather(
    path: &str,
    text: &str,
    library: &dyn Library,
    options: Options,
) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::from([(path.to_owned(), text.to_owned())]);
    let mut open = vec![(path.to_owned(), text.to_owned())];
    while let Some((path, text)) = open.pop() {
        for name in others(&text) {
            let Some(Ok((path, text))) = find(library, &path, &name) else {
                continue;
            };
            if !texts.contains_key(&path) {
                let text = if options.keep_trailing_newline {
                    &text
                } else {
                    pieces::without_last_break(&text)
                };
                texts.insert(path.clone(), text.to_owned());
                open.push((path, text.to_owned()));
            }
        }
    }
    texts
}

/// The file of a name, in the order of a loader: from the given folders, then from the page's
/// folder upwards.
fn find(library: &dyn Library, from: &str, name: &str) -> Option<Result<(String, String), String>> {
    folders(from, library.roots())
        .into_iter()
        .find_map(|folder| {
            let path = beside(&folder, name)?;
            library
                .text(&path)
                .map(|text| Some((path, text?)))
                .transpose()
        })
}

/// The names of included files, as written.
pub(super) fn others(text: &str) -> Vec<String> {
    let taking =
        tags(text).filter(|tag| ["include", "extends", "import", "from"].contains(&tag.keyword()));
    taking
        .filter_map(|tag| tag.string(1).map(str::to_owned))
        .collect()
}

impl<'p, 't> Flattener<'p, 't> {
    pub(super) fn note(&mut self, page: &Page<'t>, at: usize, kind: NoteKind) {
        let line = page
            .pieces
            .get(at)
            .map_or(0, |piece| page.lines.line(piece.range.start as u32));
        self.add(Note {
            path: page.path.to_owned(),
            line,
            kind,
        });
    }

    pub(super) fn add(&mut self, note: Note) {
        if self.flat.notes.len() < MAX_NOTES && !self.flat.notes.contains(&note) {
            self.flat.notes.push(note);
        }
    }

    /// Loads the page that the statement at a piece includes.
    pub(super) fn load(&mut self, page: &Page<'t>, at: usize, name: &str) -> Option<&'p Page<'t>> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.note(page, at, NoteKind::TooLarge { limit: MAX_BYTES });
            return None;
        }
        let path = match find(self.library, page.path, name) {
            Some(Ok((path, _))) => path,
            Some(Err(reason)) => {
                self.note(
                    page,
                    at,
                    NoteKind::UnreadablePart {
                        name: name.to_owned(),
                        reason,
                    },
                );
                return None;
            }
            None => {
                self.note(
                    page,
                    at,
                    NoteKind::MissingPart {
                        name: name.to_owned(),
                    },
                );
                return None;
            }
        };
        if self.stack.contains(&path.as_str()) || self.stack.len() >= MAX_DEPTH {
            let chain = self
                .stack
                .iter()
                .copied()
                .chain([path.as_str()])
                .collect::<Vec<_>>()
                .join(" → ");
            self.note(
                page,
                at,
                NoteKind::Cycle {
                    name: name.to_owned(),
                    chain,
                },
            );
            return None;
        }
        let page = self.pages.get(path.as_str())?;
        if self.flat.parts.insert(path) {
            self.flat.notes.extend(page.notes.iter().cloned());
        }
        Some(page)
    }

    /// The text of a page that may extend others.
    fn whole(&mut self, page: &'p Page<'t>) -> String {
        let mut blocks = Blocks::new();
        let mut out = String::new();
        let mut page = page;
        let depth = self.stack.len();
        loop {
            for (name, inside) in page.blocks() {
                blocks.entry(name).or_default().push(Block { page, inside });
            }
            let extends = page
                .statements
                .iter()
                .find_map(|(at, statement)| match statement {
                    Statement::Extends(name, is_outermost) => Some((*at, name, *is_outermost)),
                    _ => None,
                });
            let Some((at, name, is_outermost)) = extends else {
                break;
            };
            let Some(name) = name else {
                self.note(page, at, chosen_later("extends"));
                break;
            };
            let mut before = page.pieces.iter().take(at);
            if before.any(|piece| match &piece.kind {
                Kind::Data => !piece.slice(page.text).trim().is_empty(),
                Kind::Tag(tag) => !tag.is_block,
                Kind::Comment | Kind::Raw | Kind::EndRaw => false,
            }) {
                let what = "a text before `extends`".to_owned();
                let why = "put `extends` first".to_owned();
                self.note(page, at, NoteKind::Unsupported { what, why });
            }
            if !is_outermost {
                let what = "`extends` in a condition".to_owned();
                let why = "put it first; make a prompt for each base".to_owned();
                self.note(page, at, NoteKind::Unsupported { what, why });
            }
            self.define(page, &mut out);
            let Some(base) = self.load(page, at, name) else {
                break;
            };
            self.stack.push(base.path);
            page = base;
        }
        // Prevents a trailing `-%}` of the definitions from trimming the beginning of the base.
        if out.ends_with("-%}") {
            out.push_str("{# #}");
        }
        self.emit(page, 0..page.pieces.len(), Some((&blocks, None)), &mut out);
        self.stack.truncate(depth);
        out
    }

    /// Writes pieces with everything that they include.
    pub(super) fn emit(
        &mut self,
        page: &Page<'t>,
        range: Range<usize>,
        among: Option<Among<'_, 'p, 't>>,
        out: &mut String,
    ) {
        let mut at = range.start;
        while let Some(piece) = page.pieces.get(at).filter(|_| at < range.end) {
            if out.len() > MAX_BYTES {
                return self.note(page, at, NoteKind::TooLarge { limit: MAX_BYTES });
            }
            match page.statements.get(&at) {
                Some(Statement::Include(name, is_optional)) => {
                    self.include(page, at, (name.as_deref(), *is_optional), out);
                }
                Some(Statement::Import(import)) => self.import(page, at, import, out),
                Some(Statement::Block(name, close)) => {
                    let content = among.map(|(blocks, _)| self.body(page, at, (name, 0), blocks));
                    if let Some(content) = content {
                        let ends = (
                            piece.left,
                            page.pieces
                                .get(*close)
                                .map_or(Trim::Default, |piece| piece.right),
                        );
                        enclose(
                            out,
                            &content.text,
                            ends,
                            content.inner,
                            page.trims_back(close + 1),
                        );
                    }
                    at = *close;
                }
                Some(Statement::Asks(BlockCall::Whole(block))) => {
                    self.block_call(page, at, *block, among, out);
                }
                Some(Statement::Asks(BlockCall::Part(said))) => self.refuse_block(page, at, said),
                Some(Statement::Extends(..)) | None if piece.is_data() => {
                    out.push_str(pieces::data(page.text, &page.pieces, at, self.options));
                }
                Some(Statement::Extends(..)) | None => out.push_str(piece.slice(page.text)),
            }
            at += 1;
        }
    }

    /// Writes a block at the place of its call.
    fn block_call(
        &mut self,
        page: &Page<'t>,
        at: usize,
        block: Option<&'t str>,
        among: Option<Among<'_, 'p, 't>>,
        out: &mut String,
    ) {
        let (name, level, blocks) = match (block, among) {
            (Some(name), Some((blocks, _))) => (name, 0, blocks),
            (None, Some((blocks, Some((name, level))))) => (name, level + 1, blocks),
            (_, None) | (None, Some((_, None))) => {
                return self.refuse_block(page, at, &said(block));
            }
        };
        if blocks.get(name).is_none_or(|bodies| bodies.len() <= level) {
            let why =
                format!("there is no block `{name}` here; name a block of the text, or remove it");
            return self.note(
                page,
                at,
                NoteKind::Unsupported {
                    what: format!("`{}`", said(block)),
                    why,
                },
            );
        }
        let content = self.body(page, at, (name, level), blocks);
        let Some(piece) = page.pieces.get(at) else {
            return;
        };
        enclose(
            out,
            &content.text,
            (piece.left, piece.right),
            content.inner,
            page.trims_back(at + 1),
        );
    }

    /// Rejects a use of a block other than its plain output.
    fn refuse_block(&mut self, page: &Page<'t>, at: usize, said: &str) {
        let why = format!(
            "it can only be used alone: write `{{{{ {said} }}}}`, or the text of the block itself"
        );
        self.note(
            page,
            at,
            NoteKind::Unsupported {
                what: format!("`{said}` in a macro or an expression"),
                why,
            },
        );
    }

    /// The text of a block at a number of overrides below the most derived one.
    fn body(
        &mut self,
        page: &Page<'t>,
        at: usize,
        (name, level): (&'t str, usize),
        blocks: &Blocks<'p, 't>,
    ) -> Content {
        let mut content = Content {
            text: String::new(),
            inner: (Trim::Default, Trim::Default),
        };
        let Some(Block { page: own, inside }) =
            blocks.get(name).and_then(|bodies| bodies.get(level))
        else {
            return content;
        };
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps > MAX_STEPS {
            self.note(page, at, NoteKind::TooLarge { limit: MAX_BYTES });
            return content;
        }
        self.depth += 1;
        self.emit(
            own,
            inside.clone(),
            Some((blocks, Some((name, level)))),
            &mut content.text,
        );
        self.depth -= 1;
        let open = inside
            .start
            .checked_sub(1)
            .and_then(|open| own.pieces.get(open));
        content.inner.0 = open.map_or(Trim::Default, |piece| piece.right);
        content.inner.1 = own
            .pieces
            .get(inside.end)
            .map_or(Trim::Default, |piece| piece.left);
        content
    }

    fn include(
        &mut self,
        page: &Page<'t>,
        at: usize,
        (name, is_optional): (Option<&str>, bool),
        out: &mut String,
    ) {
        let Some(name) = name else {
            return self.note(page, at, chosen_later("include"));
        };
        if page.has_word(at, "without") {
            let what = "`include … without context`".to_owned();
            let why = "a text here sees all inputs of its task".to_owned();
            return self.note(page, at, NoteKind::Unsupported { what, why });
        }
        if is_optional && find(self.library, page.path, name).is_none() {
            return;
        }
        let Some(inner) = self.load(page, at, name) else {
            return;
        };
        self.stack.push(inner.path);
        let content = self.whole(inner);
        self.stack.pop();
        let ends = page
            .pieces
            .get(at)
            .map_or((Trim::Default, Trim::Default), |piece| {
                (piece.left, piece.right)
            });
        enclose(
            out,
            &content,
            ends,
            (Trim::Default, Trim::Default),
            page.trims_back(at + 1),
        );
    }
}
