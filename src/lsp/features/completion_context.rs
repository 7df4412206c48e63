//! What is being written at a place of a text that is rarely well-formed yet: seen by looking back from it, and at the word
//! that goes on behind it.

use crate::base::span::Span;

/// How far is looked back for what was begun: 8 KiB.
const BACK: usize = 8 << 10;

/// What is being written at a place.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::lsp) struct CompletionContext<'t> {
    pub(in crate::lsp) begun: Begun<'t>,
    /// The word around the place, which a completion replaces; empty where there is none.
    pub(in crate::lsp) word: Span,
}

/// What was begun before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum Begun<'t> {
    /// `<`, and perhaps the first letters of a name.
    Element { open: usize },
    /// `</`, and perhaps letters.
    End { open: usize },
    /// A tag, white space, and perhaps the first letters of an attribute.
    Attribute { open: usize },
    /// The value of an attribute.
    Value { open: usize, name: &'t str, typed: &'t str },
    /// `{{` or `{%` in a text or a value, with what was written in it before the word.
    Expression { before: &'t str },
    /// `<?ctxc allow`.
    Allow,
    /// Text between tags, with what was written before the word since the last tag.
    Text { before: &'t str },
    /// Something that nothing is known of.
    Other,
}

/// Looks at what stands around a place.
pub(in crate::lsp) fn completion_context(text: &str, offset: usize) -> CompletionContext<'_> {
    let mut from = offset.saturating_sub(BACK);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..offset).unwrap_or("");
    let behind = text.get(offset..).unwrap_or("");
    let typed = before.len() - before.trim_end_matches(is_of_name).len();
    let tail = behind.len() - behind.trim_start_matches(is_of_name).len();
    let word = Span::of(offset - typed, offset + tail);
    if let Some(inside) = braces(before) {
        // Of a path its last name is completed: `{{verdict.te`.
        let last = before.len() - before.trim_end_matches(|c: char| is_of_name(c) && c != '.').len();
        let next = behind.len() - behind.trim_start_matches(|c: char| is_of_name(c) && c != '.').len();
        let before = inside.get(..inside.len() - last.min(inside.len())).unwrap_or("");
        return CompletionContext { begun: Begun::Expression { before }, word: Span::of(offset - last, offset + next) };
    }
    let tag = before.rfind('<').and_then(|open| Some((from + open, before.get(open + 1..)?))).filter(|(_, rest)| is_open(rest));
    let Some((open, rest)) = tag else {
        let since = before.rfind('>').and_then(|end| before.get(end + 1..)).unwrap_or(before);
        let before = since.get(..since.len() - typed.min(since.len())).unwrap_or("");
        return CompletionContext { begun: Begun::Text { before }, word };
    };
    if let Some(rest) = rest.strip_prefix('/') {
        let begun = if rest.len() == typed { Begun::End { open } } else { Begun::Other };
        return CompletionContext { begun, word };
    }
    if let Some(rest) = rest.strip_prefix("?ctxc") {
        let is_rule = rest.trim_start().strip_prefix("allow").is_some_and(|rest| rest.starts_with(' ') && !rest.contains('='));
        return CompletionContext { begun: if is_rule { Begun::Allow } else { Begun::Other }, word };
    }
    if !rest.contains(|c: char| c.is_ascii_whitespace()) {
        let begun = if rest.len() == typed { Begun::Element { open } } else { Begun::Other };
        return CompletionContext { begun, word };
    }
    // Inside a value when its quote has not been closed.
    let mut quote: Option<(char, usize)> = None;
    for (at, c) in rest.char_indices() {
        match quote {
            Some((own, _)) if c == own => quote = None,
            None if c == '"' || c == '\'' => quote = Some((c, at)),
            Some(_) | None => {}
        }
    }
    let Some((own, at)) = quote else {
        let is_name = rest.get(..rest.len() - typed).is_some_and(|rest| rest.ends_with([' ', '\t', '\n', '\r', '"', '\'']));
        // What stands behind a blank is an attribute of its own.
        let word = if typed == 0 { Span::of(offset, offset) } else { word };
        return CompletionContext { begun: if is_name { Begun::Attribute { open } } else { Begun::Other }, word };
    };
    let name = rest.get(..at).unwrap_or("").trim_end().trim_end_matches('=').trim_end();
    let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("");
    let typed = rest.get(at + 1..).unwrap_or("");
    // The whole value, where its quote is closed before anything else begins.
    let end = behind
        .find(|c: char| c == own || "<>=\n".contains(c))
        .filter(|end| behind.get(*end..).is_some_and(|b| b.starts_with(own)));
    let word = Span::of(offset - typed.len(), offset + end.unwrap_or(tail));
    CompletionContext { begun: Begun::Value { open, name, typed }, word }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

/// What stands between the braces of an expression or a Jinja tag that is open at the end of a text.
fn braces(before: &str) -> Option<&str> {
    let of = |open: &str, close: &str| {
        let at = before.rfind(open)?;
        let inside = before.get(at + 2..)?;
        (!inside.contains(close) && !inside.contains(['<', '\n'])).then_some((at, before.get(at..)?))
    };
    let found = of("{{", "}}").into_iter().chain(of("{%", "%}")).max_by_key(|(at, _)| *at);
    found.map(|(_, inside)| inside)
}

/// Whether a tag that begins so has not ended: no `>` outside of its values.
fn is_open(rest: &str) -> bool {
    let mut quote = None;
    for c in rest.chars() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return false,
            _ => {}
        }
    }
    true
}

/// The place in an expression, by what was written before its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum Slot<'t> {
    /// A name with a value.
    Name,
    /// A field of what a path leads to.
    Field(&'t str),
    /// A text that is compared with what a path leads to.
    Word(&'t str),
    /// What compares the value before it in a condition, or joins conditions.
    Operator,
    /// A filter of Jinja.
    Filter,
    /// A test of Jinja.
    Test,
    /// The first word of a Jinja tag.
    Tag,
}

/// The place in an expression, a condition or the path of `from`.
pub(in crate::lsp) fn slot(before: &str) -> Slot<'_> {
    if let Some(path) = before.strip_suffix('.') {
        return Slot::Field(path.get(path.trim_end_matches(is_of_name).len()..).unwrap_or(""));
    }
    let trimmed = before.trim_end();
    let compared = before.strip_suffix(['\'', '"']).map(str::trim_end);
    if let Some(path) = compared.and_then(|left| left.strip_suffix("==").or_else(|| left.strip_suffix("!="))).map(str::trim_end) {
        return Slot::Word(path.get(path.trim_end_matches(is_of_name).len()..).unwrap_or(""));
    }
    let is_inside = before.starts_with(['{']) || before.matches(['\'', '"']).count() % 2 == 1;
    let word = trimmed.rsplit(char::is_whitespace).next().unwrap_or("");
    let is_value = word.ends_with(|c: char| is_of_name(c) || "'\"])".contains(c));
    let is_joined = ["", "and", "or", "not", "lt", "le", "gt", "ge"].contains(&word);
    match () {
        () if !is_inside && before.len() > trimmed.len() && is_value && !is_joined => Slot::Operator,
        () if trimmed.ends_with('|') => Slot::Filter,
        () if trimmed.trim_end_matches('-') == "{%" => Slot::Tag,
        () if trimmed.ends_with(" is") || trimmed.ends_with(" is not") => Slot::Test,
        () => Slot::Name,
    }
}

/// The function whose call is open at the end of a text, and its arguments so far: `{{shorten(text=message, `.
pub(in crate::lsp) fn call(before: &str) -> Option<(&str, &str)> {
    let (head, given) = before.rsplit_once('(').filter(|(_, given)| !given.contains([')', '"', '\'']))?;
    let name = head.get(head.trim_end_matches(is_of_name).len()..)?;
    (!name.is_empty()).then_some((name, given))
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/features/completion_context.rs"]
mod tests;
