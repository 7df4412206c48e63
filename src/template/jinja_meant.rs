//! A text as Jinja2 means it, where minijinja would read it otherwise: macros that ask for a `caller`, arguments whose default is
//! another argument, names of a macro's surroundings that it writes into and never reads.
//!
//! Reads a text that parses, once, without recursion. Every line stays where it is.

use super::jinja_macros::{callers, inside};
use super::jinja_tags::{Kind, Piece, Tag, pieces};
use std::borrow::Cow;
use std::ops::Range;

/// A stretch, and what stands there instead.
type Edit = (Range<usize>, String);

/// What tells a statement that was put in from one of the text.
const MARK: &str = "\"_d\"";
/// A value that there is not, where minijinja wants an expression.
const NOTHING: &str = "{}._";

/// The text.
pub(crate) fn meant(text: &str) -> Cow<'_, str> {
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if !has("macro") && !has("call") {
        return Cow::Borrowed(text);
    }
    let mut edits: Vec<Edit> = callers(text).into_iter().map(|at| (at..at, " is defined".to_owned())).collect();
    for placed in pieces(text) {
        let Piece::Tag(tag) = placed.piece else { continue };
        defaults(&tag, &mut edits);
    }
    inside(text, &["macro", "call"], |_, tag| written_into(tag, &mut edits));
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    edits.sort_by_key(|(range, _)| range.start);
    let (mut out, mut start) = (String::with_capacity(text.len()), 0);
    for (range, words) in edits {
        out.push_str(text.get(start..range.start).unwrap_or(""));
        out.push_str(&words);
        start = range.end;
    }
    out.push_str(text.get(start..).unwrap_or(""));
    Cow::Owned(out)
}

/// Whether a tag was put in by [`meant`].
pub(crate) fn is_put_in(tag: &Tag<'_>) -> bool {
    tag.is_block && tag.word(0) == "set" && tag.word(8) == MARK
}

/// An argument of a macro or a call, and the tokens of its default.
pub(super) struct Argument {
    pub(super) name: usize,
    pub(super) default: Range<usize>,
}

/// The arguments that the head of a macro or a call names.
pub(super) fn arguments(tag: &Tag<'_>) -> Vec<Argument> {
    let open = match tag.word(0) {
        "macro" if tag.is_block => 2,
        "call" if tag.is_block && tag.word(1) == "(" => 1,
        _ => return Vec::new(),
    };
    let parts = tag.parts(open + 1..tag.closed(open)).into_iter();
    parts.map(|part| Argument { name: part.start, default: (part.start + 2).min(part.end)..part.end }).collect()
}

/// minijinja takes the last default first, so one that names an argument before it is taken behind the head instead.
fn defaults(tag: &Tag<'_>, edits: &mut Vec<Edit>) {
    let (all, mut behind) = (arguments(tag), String::new());
    for (number, one) in all.iter().enumerate() {
        let before = all.get(..number).unwrap_or(&[]);
        let names = |name: &str| before.iter().any(|before| tag.word(before.name) == name);
        let (Some(first), Some(last)) = (tag.tokens.get(one.default.start), tag.tokens.get(one.default.end.saturating_sub(1)))
        else {
            continue;
        };
        if one.default.is_empty() || !tag.names(one.default.clone()).any(names) {
            continue;
        }
        let range = first.start..last.end;
        let mut lines = String::new();
        let mut said = String::new();
        for at in one.default.clone() {
            let word = tag.word(at);
            lines.extend(word.matches('\n'));
            said.push_str(&if tag.kind(at) == Some(Kind::Literal) { word.replace('\n', "\\n") } else { word.to_owned() });
            if let (Some(token), Some(next)) = (tag.tokens.get(at), tag.tokens.get(at + 1).filter(|_| at + 1 < one.default.end)) {
                let between = tag.text.get(token.end..next.start).unwrap_or("");
                lines.extend(between.matches('\n'));
                said.push_str(if between.is_empty() { "" } else { " " });
            }
        }
        edits.push((range, format!("{NOTHING}{lines}")));
        let name = tag.word(one.name);
        let is_given = format!("{name} is defined and {MARK}");
        behind.extend(["{% set ", name, " = ", name, " if ", &is_given, " else (", &said, ") %}"]);
    }
    put_in(tag, edits, behind.strip_suffix("%}").unwrap_or(""));
}

/// Puts statements behind a tag, without the end of the last: the end of the tag goes there, with what it trims.
fn put_in(tag: &Tag<'_>, edits: &mut Vec<Edit>, statements: &str) {
    if !statements.is_empty() {
        let sign = tag.end.checked_sub(3).and_then(|at| tag.text.as_bytes().get(at)).filter(|sign| matches!(sign, b'-' | b'+'));
        let end = tag.end - 2 - usize::from(sign.is_some());
        edits.push((end..end, format!("%}}{statements}")));
    }
}

/// minijinja gives a macro what it reads: so what it writes into is read as well.
fn written_into(tag: &Tag<'_>, edits: &mut Vec<Edit>) {
    if !tag.is_block || tag.word(0) != "set" {
        return;
    }
    let (all, assigned) = (tag.tokens.len(), tag.assigned());
    let target = 1..assigned.or_else(|| tag.outside("|", 1..all)).unwrap_or(all);
    let value = assigned.map_or(all..all, |equal| equal + 1..all);
    let is_root = |at: &usize| tag.kind(*at) == Some(Kind::Word) && tag.word(at - 1) != "." && tag.word(at + 1) == ".";
    let roots: Vec<&str> = target.filter(is_root).map(|at| tag.word(at)).collect();
    let is_read = roots.iter().all(|root| tag.names(value.clone()).any(|name| name == *root));
    let (Some(first), Some(last)) = (tag.tokens.get(value.start).or(tag.tokens.last()), tag.tokens.last()) else { return };
    if roots.is_empty() || is_read {
        return;
    }
    let roots = roots.join(", ");
    if assigned.is_some() {
        edits.push((first.start..first.start, "[(".to_owned()));
        edits.push((last.end..last.end, format!("), {roots}][0]")));
    } else {
        put_in(tag, edits, &format!("{{% set _d = _d if _d is defined and {MARK} else [{roots}] "));
    }
}

#[cfg(test)]
mod tests {
    use super::meant;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_default_that_is_another_argument_is_taken_behind_the_head() {
        let text = "{% macro a(x, y=x|upper,\n z=[y,\n 'p\nq']) -%}\n{{ z }}{% endmacro %}";
        let says = "{% macro a(x, y={}._,\n z={}._\n\n) %}{% set y = y if y is defined and \"_d\" else (x|upper) %}\
                    {% set z = z if z is defined and \"_d\" else ([y, 'p\\nq']) -%}\n{{ z }}{% endmacro %}";
        assert_eq!(meant(text), says);
        assert_eq!(meant(says), says);
        let same = "{% macro a(x, y=k, z=m.x, w=f(x=1)) %}{% endmacro %}{% call(u, v=2) a(1, y=u) %}{% endcall %}";
        assert_eq!(meant(same), same);
    }

    #[test]
    fn what_a_macro_writes_into_is_read_there() {
        let text =
            "{% macro a() %}{% set n.x = 1, 2 %}{% set n.y %}t{% endset %}{% set n.z = n.z + 1 %}{% endmacro %}{% set n.x = 3 %}";
        let says = "{% macro a() %}{% set n.x = [(1, 2), n][0] %}{% set n.y %}{% set _d = _d if _d is defined and \"_d\" else [n] %}t{% endset %}{% set n.z = n.z + 1 %}\
                    {% endmacro %}{% set n.x = 3 %}";
        assert_eq!(meant(text), says);
    }
}
