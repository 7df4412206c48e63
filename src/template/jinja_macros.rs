//! What Jinja has in a macro without its being declared (`caller`, `varargs`, `kwargs`), and what its arguments may not default to.
//!
//! Reads a text that parses, once, without recursion.

use super::jinja_meant::arguments;
use super::jinja_tags::{Piece, Tag, pieces};

/// The arguments of a call beyond those that a macro names.
const REST: [&str; 2] = ["kwargs", "varargs"];

/// Each tag inside of a statement of these, behind the head of the innermost.
pub(super) fn inside<'t>(text: &'t str, of: &[&str], mut look: impl FnMut(&Tag<'t>, &Tag<'t>)) {
    let mut heads: Vec<Tag<'t>> = Vec::new();
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        match tag.word(0) {
            word if tag.is_block && of.contains(&word) => heads.push(tag),
            word if tag.is_block && word.strip_prefix("end").is_some_and(|word| of.contains(&word)) => drop(heads.pop()),
            _ => heads.last().into_iter().for_each(|head| look(head, &tag)),
        }
    }
}

/// Whether a macro has a parameter of a name.
fn declares(head: &Tag<'_>, name: &str) -> bool {
    (3..head.tokens.len()).any(|at| head.word(at) == name)
}

/// The places behind which macros ask whether they have a `caller`, to which none is false; to a strict reader it is an error.
pub(super) fn callers(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    if memchr::memmem::find(text.as_bytes(), b"caller").is_some() {
        inside(text, &["macro"], |head, tag| {
            let asked = tag.tokens.iter().enumerate().filter(|(at, _)| tag.word(*at) == "caller" && is_asked(tag, *at));
            if !declares(head, "caller") {
                places.extend(asked.map(|(_, token)| token.end));
            }
        });
    }
    places
}

/// Whether nothing but the truth of a name counts where it stands.
fn is_asked(tag: &Tag<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| tag.word(before));
    let is_alone = matches!(tag.word(at + 1), "" | "and" | "or" | "else" | ")" | "]" | "}" | ",");
    let is_condition = tag.is_block && matches!(tag.word(0), "if" | "elif");
    is_alone && (matches!(before, "if" | "elif" | "not") || is_condition && matches!(before, "and" | "or"))
}

/// The places where macros read the arguments beyond those that they name.
pub(super) fn rest_of_arguments(text: &str) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    inside(text, &["macro"], |head, tag| {
        let start = usize::from(tag.is_block);
        for (at, token) in tag.tokens.iter().enumerate().skip(start) {
            let name = REST.into_iter().find(|name| tag.word(at) == *name && tag.is_name(at, start) && !declares(head, name));
            found.extend(name.map(|name| (name, token.start)));
        }
    });
    found
}

/// The defaults of arguments that name the argument itself or one behind it, which has no value yet: the argument, the name, and where
/// that stands.
pub(super) fn too_early(text: &str) -> Vec<(&str, &str, usize)> {
    let mut found = Vec::new();
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        let all = arguments(&tag);
        for (number, one) in all.iter().enumerate() {
            let behind: Vec<&str> = all.iter().skip(number).map(|argument| tag.word(argument.name)).collect();
            let is_behind = |at: &usize| behind.contains(&tag.word(*at)) && tag.is_name(*at, one.default.start);
            let named = one.default.clone().find(is_behind).and_then(|at| Some((tag.word(at), tag.tokens.get(at)?.start)));
            found.extend(named.map(|(name, at)| (tag.word(one.name), name, at)));
        }
    }
    found
}

/// The first place where a text names a block of itself, of which it has none, in place of a value that it calls so.
pub(super) fn own_blocks(text: &str) -> Option<(&'static str, usize)> {
    const SELF: &str = "self";
    memchr::memmem::find(text.as_bytes(), SELF.as_bytes())?;
    let mut found = None;
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        let binds = tag.is_block && matches!(tag.word(0), "call" | "for" | "macro" | "set" | "with");
        let start = usize::from(tag.is_block);
        let read = (start..tag.tokens.len()).find(|at| tag.word(*at) == SELF && tag.is_name(*at, start));
        let Some(read) = read else { continue };
        if binds && tag.word(read + 1) != "." {
            return None;
        }
        found = found.or_else(|| Some((SELF, tag.tokens.get(read)?.start)));
    }
    found
}
