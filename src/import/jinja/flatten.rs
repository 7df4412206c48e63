//! Flattens a template and everything that it includes into one text: `include`, `extends` with its
//! blocks and `super()`, `import`.
//!
//! Names that are computed while rendering cannot be resolved, and become a note. Bounded in depth,
//! steps and bytes; a cycle is a note. Inserted text is enclosed in `{% with %}` wherever it could
//! change the white space or the names around it.

use super::page::{
    BlockCall, EnclosedText, JinjaInclude, JinjaPage, PageStatement, call_text, computed_name_note,
    insert_enclosed,
};
use super::pieces::{self, PieceKind, TrimPair};
use crate::import::note::{ImportNote, ImportNoteKind};
use crate::import::prompt_model::{EngineOptions, PromptLibrary};
use crate::import::prompt_names::{path_in_folder, search_folders};
use crate::jinja::static_limits::MAX_TEXT_BYTES;
use crate::jinja::tags::split_tags;
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
pub(super) struct FlatTemplate {
    /// Its text, with everything included.
    pub(super) text: String,
    /// The included files.
    pub(super) parts: BTreeSet<String>,
    /// The notes on it.
    pub(super) notes: Vec<ImportNote>,
}

/// The state of flattening. Pages and their texts outlive it.
pub(super) struct TemplateFlattener<'p, 't> {
    library: &'p dyn PromptLibrary,
    options: EngineOptions,
    pub(super) pages: &'p BTreeMap<&'t str, JinjaPage<'t>>,
    /// The imported files whose inputs were reported.
    pub(super) reported: BTreeSet<&'t str>,
    /// The files being read, outermost first.
    pub(super) stack: Vec<&'t str>,
    depth: usize,
    steps: usize,
    flat: FlatTemplate,
}

/// The body of a block: its page, and the pieces between its two tags.
#[derive(Clone, Debug)]
pub(super) struct BlockBody<'p, 't> {
    page: &'p JinjaPage<'t>,
    inside: Range<usize>,
}

/// Blocks by name, the most derived first.
pub(super) type BlocksByName<'p, 't> = BTreeMap<&'t str, Vec<BlockBody<'p, 't>>>;

/// A block at a number of overrides below the most derived one.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockLevel<'t> {
    name: &'t str,
    level: usize,
}

/// The blocks in scope, and the current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockScope<'b, 'p, 't> {
    blocks: &'b BlocksByName<'p, 't>,
    current: Option<BlockLevel<'t>>,
}

/// The text of a block, and the trimming of its own tags at both ends.
struct BlockContent {
    text: String,
    inner: TrimPair,
}

/// Flattens a template.
pub(super) fn flatten_template(
    path: &str,
    text: &str,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> FlatTemplate {
    let texts = gather_texts(path, text, library, options);
    let pages = texts
        .iter()
        .map(|(path, text)| (path.as_str(), JinjaPage::new(path, text)))
        .collect();
    let reported = BTreeSet::new();
    let stack = vec![path];
    let flat = FlatTemplate::default();
    let mut flattener = TemplateFlattener {
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
    let text = flattener.flatten_page(page);
    FlatTemplate {
        text,
        ..flattener.flat
    }
}

/// The texts of a file and of everything that it includes, by path.
fn gather_texts(
    path: &str,
    text: &str,
    library: &dyn PromptLibrary,
    options: EngineOptions,
) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::from([(path.to_owned(), text.to_owned())]);
    let mut open = vec![(path.to_owned(), text.to_owned())];
    while let Some((path, text)) = open.pop() {
        for name in included_names(&text) {
            let Some(Ok((path, text))) = find_file(library, &path, &name) else {
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
fn find_file(
    library: &dyn PromptLibrary,
    from: &str,
    name: &str,
) -> Option<Result<(String, String), String>> {
    search_folders(from, library.roots())
        .into_iter()
        .find_map(|folder| {
            let path = path_in_folder(&folder, name)?;
            library
                .text(&path)
                .map(|text| Some((path, text?)))
                .transpose()
        })
}

/// The names of included files, as written.
pub(super) fn included_names(text: &str) -> Vec<String> {
    let taking = split_tags(text)
        .filter(|tag| ["include", "extends", "import", "from"].contains(&tag.keyword()));
    taking
        .filter_map(|tag| tag.string_token(1).map(str::to_owned))
        .collect()
}

impl<'p, 't> TemplateFlattener<'p, 't> {
    pub(super) fn note_at(&mut self, page: &JinjaPage<'t>, at: usize, kind: ImportNoteKind) {
        let line = page
            .pieces
            .get(at)
            .map_or(0, |piece| page.lines.line_number(piece.range.start as u32));
        self.add_note(ImportNote {
            path: page.path.to_owned(),
            line,
            kind,
        });
    }

    pub(super) fn add_note(&mut self, note: ImportNote) {
        if self.flat.notes.len() < MAX_NOTES && !self.flat.notes.contains(&note) {
            self.flat.notes.push(note);
        }
    }

    /// Loads the page that the statement at a piece includes.
    pub(super) fn load_page(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        name: &str,
    ) -> Option<&'p JinjaPage<'t>> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.note_at(
                page,
                at,
                ImportNoteKind::TooLarge {
                    limit: MAX_TEXT_BYTES,
                },
            );
            return None;
        }
        let path = match find_file(self.library, page.path, name) {
            Some(Ok((path, _))) => path,
            Some(Err(reason)) => {
                self.note_at(
                    page,
                    at,
                    ImportNoteKind::UnreadablePart {
                        name: name.to_owned(),
                        reason,
                    },
                );
                return None;
            }
            None => {
                self.note_at(
                    page,
                    at,
                    ImportNoteKind::MissingPart {
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
            self.note_at(
                page,
                at,
                ImportNoteKind::Cycle {
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
    fn flatten_page(&mut self, page: &'p JinjaPage<'t>) -> String {
        let mut blocks = BlocksByName::new();
        let mut out = String::new();
        let mut page = page;
        let depth = self.stack.len();
        loop {
            for (name, inside) in page.blocks() {
                blocks
                    .entry(name)
                    .or_default()
                    .push(BlockBody { page, inside });
            }
            let extends = page
                .statements
                .iter()
                .find_map(|(at, statement)| match statement {
                    PageStatement::Extends(name, is_outermost) => Some((*at, name, *is_outermost)),
                    _ => None,
                });
            let Some((at, name, is_outermost)) = extends else {
                break;
            };
            let Some(name) = name else {
                self.note_at(page, at, computed_name_note("extends"));
                break;
            };
            let mut before = page.pieces.iter().take(at);
            if before.any(|piece| match &piece.kind {
                PieceKind::Data => !piece.slice(page.text).trim().is_empty(),
                PieceKind::Tag(tag) => !tag.is_block,
                PieceKind::Comment | PieceKind::Raw | PieceKind::EndRaw => false,
            }) {
                let what = "a text before `extends`".to_owned();
                let why = "put `extends` first".to_owned();
                self.note_at(page, at, ImportNoteKind::Unsupported { what, why });
            }
            if !is_outermost {
                let what = "`extends` in a condition".to_owned();
                let why = "put it first; make a prompt for each base".to_owned();
                self.note_at(page, at, ImportNoteKind::Unsupported { what, why });
            }
            self.write_definitions(page, &mut out);
            let Some(base) = self.load_page(page, at, name) else {
                break;
            };
            self.stack.push(base.path);
            page = base;
        }
        // Prevents a trailing `-%}` of the definitions from trimming the beginning of the base.
        if out.ends_with("-%}") {
            out.push_str("{# #}");
        }
        let scope = BlockScope {
            blocks: &blocks,
            current: None,
        };
        self.write_pieces(page, 0..page.pieces.len(), Some(scope), &mut out);
        self.stack.truncate(depth);
        out
    }

    /// Writes pieces with everything that they include.
    pub(super) fn write_pieces(
        &mut self,
        page: &JinjaPage<'t>,
        range: Range<usize>,
        among: Option<BlockScope<'_, 'p, 't>>,
        out: &mut String,
    ) {
        let mut at = range.start;
        while let Some(piece) = page.pieces.get(at).filter(|_| at < range.end) {
            if out.len() > MAX_TEXT_BYTES {
                return self.note_at(
                    page,
                    at,
                    ImportNoteKind::TooLarge {
                        limit: MAX_TEXT_BYTES,
                    },
                );
            }
            match page.statements.get(&at) {
                Some(PageStatement::Include(include)) => self.write_include(page, at, include, out),
                Some(PageStatement::Import(import)) => self.write_import(page, at, import, out),
                Some(PageStatement::Block(name, close)) => {
                    let block = BlockLevel { name, level: 0 };
                    let content =
                        among.map(|scope| self.block_content(page, at, block, scope.blocks));
                    if let Some(content) = content {
                        let enclosed = EnclosedText {
                            text: &content.text,
                            outer: TrimPair {
                                left: piece.left,
                                right: TrimPair::of_piece(page.pieces.get(*close)).right,
                            },
                            inner: content.inner,
                            is_trimmed_behind: page.trims_back(close + 1),
                        };
                        insert_enclosed(out, enclosed);
                    }
                    at = *close;
                }
                Some(PageStatement::BlockCall(BlockCall::Whole(block))) => {
                    self.write_block_call(page, at, *block, among, out);
                }
                Some(PageStatement::BlockCall(BlockCall::Part(call))) => {
                    self.reject_block(page, at, call);
                }
                Some(PageStatement::Extends(..)) | None if piece.is_data() => {
                    out.push_str(pieces::piece_text(
                        page.text,
                        &page.pieces,
                        at,
                        self.options,
                    ));
                }
                Some(PageStatement::Extends(..)) | None => out.push_str(piece.slice(page.text)),
            }
            at += 1;
        }
    }

    /// Writes a block at the place of its call.
    fn write_block_call(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        block: Option<&'t str>,
        among: Option<BlockScope<'_, 'p, 't>>,
        out: &mut String,
    ) {
        let overridden = |current: BlockLevel<'t>| BlockLevel {
            level: current.level + 1,
            ..current
        };
        let called = among.and_then(|scope| {
            let block = match block {
                Some(name) => BlockLevel { name, level: 0 },
                None => overridden(scope.current?),
            };
            Some((block, scope.blocks))
        });
        let Some((called, blocks)) = called else {
            return self.reject_block(page, at, &call_text(block));
        };
        let BlockLevel { name, level } = called;
        if blocks.get(name).is_none_or(|bodies| bodies.len() <= level) {
            let why =
                format!("there is no block `{name}` here; name a block of the text, or remove it");
            return self.note_at(
                page,
                at,
                ImportNoteKind::Unsupported {
                    what: format!("`{}`", call_text(block)),
                    why,
                },
            );
        }
        let content = self.block_content(page, at, called, blocks);
        let Some(piece) = page.pieces.get(at) else {
            return;
        };
        let enclosed = EnclosedText {
            text: &content.text,
            outer: TrimPair::of_piece(Some(piece)),
            inner: content.inner,
            is_trimmed_behind: page.trims_back(at + 1),
        };
        insert_enclosed(out, enclosed);
    }

    /// Rejects a use of a block other than its plain output.
    fn reject_block(&mut self, page: &JinjaPage<'t>, at: usize, call: &str) {
        let why = format!(
            "it can only be used alone: write `{{{{ {call} }}}}`, or the text of the block itself"
        );
        self.note_at(
            page,
            at,
            ImportNoteKind::Unsupported {
                what: format!("`{call}` in a macro or an expression"),
                why,
            },
        );
    }

    /// The text of a block.
    fn block_content(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        block: BlockLevel<'t>,
        blocks: &BlocksByName<'p, 't>,
    ) -> BlockContent {
        let mut content = BlockContent {
            text: String::new(),
            inner: TrimPair::DEFAULT,
        };
        let Some(BlockBody { page: own, inside }) = blocks
            .get(block.name)
            .and_then(|bodies| bodies.get(block.level))
        else {
            return content;
        };
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps > MAX_STEPS {
            self.note_at(
                page,
                at,
                ImportNoteKind::TooLarge {
                    limit: MAX_TEXT_BYTES,
                },
            );
            return content;
        }
        self.depth += 1;
        let scope = BlockScope {
            blocks,
            current: Some(block),
        };
        self.write_pieces(own, inside.clone(), Some(scope), &mut content.text);
        self.depth -= 1;
        let open = inside
            .start
            .checked_sub(1)
            .and_then(|open| own.pieces.get(open));
        content.inner = TrimPair {
            left: TrimPair::of_piece(open).right,
            right: TrimPair::of_piece(own.pieces.get(inside.end)).left,
        };
        content
    }

    fn write_include(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        include: &JinjaInclude,
        out: &mut String,
    ) {
        let Some(name) = include.file.as_deref() else {
            return self.note_at(page, at, computed_name_note("include"));
        };
        if page.has_word(at, "without") {
            let what = "`include … without context`".to_owned();
            let why = "a text here sees all inputs of its task".to_owned();
            return self.note_at(page, at, ImportNoteKind::Unsupported { what, why });
        }
        if include.is_optional && find_file(self.library, page.path, name).is_none() {
            return;
        }
        let Some(inner) = self.load_page(page, at, name) else {
            return;
        };
        self.stack.push(inner.path);
        let content = self.flatten_page(inner);
        self.stack.pop();
        let enclosed = EnclosedText {
            text: &content,
            outer: TrimPair::of_piece(page.pieces.get(at)),
            inner: TrimPair::DEFAULT,
            is_trimmed_behind: page.trims_back(at + 1),
        };
        insert_enclosed(out, enclosed);
    }
}
