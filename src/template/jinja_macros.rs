//! What Jinja has in a macro without its being declared: `caller`, `varargs`, `kwargs`.
//!
//! Reads a text that parses, once, without recursion.

#[cfg(feature = "assemble")]
use super::jinja_tags::inserted;
use super::jinja_tags::{Piece, Tag, pieces};
#[cfg(feature = "assemble")]
use std::borrow::Cow;

/// The arguments of a call beyond those that a macro names.
const REST: [&str; 2] = ["kwargs", "varargs"];

/// Each tag inside of a macro, behind the head of the innermost.
fn inside<'t>(text: &'t str, mut look: impl FnMut(&Tag<'t>, &Tag<'t>)) {
    let mut heads: Vec<Tag<'t>> = Vec::new();
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        match tag.word(0) {
            "macro" if tag.is_block => heads.push(tag),
            "endmacro" if tag.is_block => drop(heads.pop()),
            _ => heads.last().into_iter().for_each(|head| look(head, &tag)),
        }
    }
}

/// Whether a macro has a parameter of a name.
fn declares(head: &Tag<'_>, name: &str) -> bool {
    (3..head.tokens.len()).any(|at| head.word(at) == name)
}

/// A text whose macros ask whether they have a `caller` where they ask for it: to Jinja2 none is false, to a strict reader an error.
#[cfg(feature = "assemble")]
pub(crate) fn asking_for_callers(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"caller").is_none() {
        return Cow::Borrowed(text);
    }
    let mut places = Vec::new();
    inside(text, |head, tag| {
        let asked = tag.tokens.iter().enumerate().filter(|(at, _)| tag.word(*at) == "caller" && is_asked(tag, *at));
        if !declares(head, "caller") {
            places.extend(asked.map(|(_, token)| (token.end, " is defined".to_owned())));
        }
    });
    if places.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(inserted(text, places)) }
}

/// Whether nothing but the truth of a name counts where it stands.
#[cfg(feature = "assemble")]
fn is_asked(tag: &Tag<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| tag.word(before));
    let is_alone = matches!(tag.word(at + 1), "" | "and" | "or" | "else" | ")" | "]" | "}" | ",");
    let is_condition = tag.is_block && matches!(tag.word(0), "if" | "elif");
    is_alone && (matches!(before, "if" | "elif" | "not") || is_condition && matches!(before, "and" | "or"))
}

/// The places where macros read the arguments beyond those that they name.
pub(super) fn rest_of_arguments(text: &str) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    inside(text, |head, tag| {
        let start = usize::from(tag.is_block);
        for (at, token) in tag.tokens.iter().enumerate().skip(start) {
            let name = REST.into_iter().find(|name| tag.word(at) == *name && tag.is_name(at, start) && !declares(head, name));
            found.extend(name.map(|name| (name, token.start)));
        }
    });
    found
}
