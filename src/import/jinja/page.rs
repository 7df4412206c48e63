//! A template file that was split, and what is looked up in it: blocks, macros, the names that statements take in.

use super::bodies::is_kept;
use super::modules::{Member, Modules};
use super::scan::{Kind, Piece, Trim, scan};
use super::words::{Word, literal, words};
use crate::base::source::LineIndex;
use crate::import::note::NoteKind;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A template file.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) pieces: Vec<Piece>,
    /// What it calls the files that it imports as a whole, and where it has their names.
    pub(super) modules: Modules,
    pub(super) members: Vec<Member>,
    /// For each piece that opens a block, a macro or a kept text, the one that closes it; the number of pieces where none does.
    closes: Vec<usize>,
    pub(super) lines: LineIndex,
}

impl Page {
    pub(super) fn new(path: &str, text: String, (modules, members): (Modules, Vec<Member>)) -> Self {
        let pieces = scan(&text);
        let mut closes = vec![pieces.len(); pieces.len()];
        let mut open: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, piece) in pieces.iter().enumerate() {
            let word = piece.word(&text);
            if matches!(word, "block" | "macro") || is_kept(&text, piece) {
                open.entry(word).or_default().push(at);
            } else if let Some(opened) = word.strip_prefix("end").and_then(|word| open.get_mut(word)?.pop())
                && let Some(close) = closes.get_mut(opened)
            {
                *close = at;
            }
        }
        let lines = LineIndex::new(&text);
        Self { path: path.to_owned(), pieces, modules, members, closes, lines, text }
    }

    /// The piece that closes the one at `open`.
    pub(super) fn close(&self, open: usize) -> usize {
        self.closes.get(open).copied().unwrap_or(self.pieces.len())
    }
}

/// A block's body: a page and the pieces of its two tags.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) page: Rc<Page>,
    pub(super) open: usize,
    pub(super) close: usize,
}

/// Blocks by name, the most derived first.
pub(super) type Blocks = BTreeMap<String, Vec<Block>>;

/// The name that a statement begins with.
pub(super) fn first_name(rest: &str) -> String {
    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

pub(super) fn chosen_later(what: &str) -> NoteKind {
    let why = "what it takes in is chosen while rendering; write the name as a text".to_owned();
    NoteKind::Unsupported { what: format!("`{what}`"), why }
}

/// The one name that a statement takes in.
pub(super) fn sole_literal(page: &Page, piece: &Piece) -> Option<String> {
    let tokens = words(&page.text, piece.inner.clone());
    let (first, rest) = tokens.get(1..)?.split_first()?;
    let flags = ["ignore", "missing", "with", "without", "context"];
    let plain = rest.iter().all(|token| flags.contains(&token.slice(&page.text)));
    (first.word == Word::Text && plain).then(|| literal(first.slice(&page.text))).flatten()
}

/// Adds the blocks of a page behind those that override them.
pub(super) fn collect(page: &Rc<Page>, blocks: &mut Blocks) {
    for (open, piece) in page.pieces.iter().enumerate() {
        if piece.word(&page.text) == "block" {
            let close = page.close(open);
            let name = first_name(piece.rest(&page.text));
            blocks.entry(name).or_default().push(Block { page: Rc::clone(page), open, close });
        }
    }
}

/// Whether the next tag takes the white space before it away.
pub(super) fn trims_back(page: &Page, from: usize) -> bool {
    let next = page.pieces.iter().skip(from).find(|piece| !piece.slice(&page.text).trim().is_empty());
    next.is_some_and(|piece| piece.kind != Kind::Data && piece.left == Trim::All)
}

/// Puts a text in where a tag stood.
pub(super) fn enclose(out: &mut String, content: &str, ends: (Trim, Trim), inner: (Trim, Trim), is_trimmed_behind: bool) {
    let signs = [ends.0, ends.1, inner.0, inner.1];
    let dashed = |text: &str, at_end: bool| {
        let text = if at_end { text.trim_end() } else { text.trim_start() };
        let signs = if at_end { ["-%}", "-}}", "-#}"] } else { ["{%-", "{{-", "{#-"] };
        signs.iter().any(|sign| if at_end { text.ends_with(sign) } else { text.starts_with(sign) })
    };
    let names = || scan(content).iter().any(|piece| matches!(piece.word(content), "set" | "macro"));
    let is_plain = signs.iter().all(|sign| *sign == Trim::Default)
        && !is_trimmed_behind
        && !dashed(out, true)
        && !dashed(content, true)
        && !dashed(content, false)
        && !names();
    if is_plain {
        return out.push_str(content);
    }
    out.extend(["{%", ends.0.sign(), " with ", inner.0.sign(), "%}"]);
    out.push_str(content);
    out.extend(["{%", inner.1.sign(), " endwith ", ends.1.sign(), "%}"]);
}
