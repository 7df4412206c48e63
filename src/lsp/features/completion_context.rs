//! Analyses the cursor's place in a text that is rarely well-formed, from the text before it and
//! the rest of the word after it.

use crate::base::span::Span;

/// The number of bytes before the cursor that are searched: 8 KiB.
const MAX_LOOKBACK_BYTES: usize = 8 << 10;

/// The construct at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::lsp) struct CompletionContext<'t> {
    pub(in crate::lsp) construct: OpenConstruct<'t>,
    /// The word at the cursor, which a completion replaces; may be empty.
    pub(in crate::lsp) word: Span,
}

/// The construct that begins before the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum OpenConstruct<'t> {
    /// `<`, and possibly the first letters of a name.
    Element { open: usize },
    /// `</`, and possibly letters.
    End { open: usize },
    /// A tag, white space, and possibly the first letters of an attribute.
    Attribute { open: usize },
    /// The value of an attribute.
    Value {
        open: usize,
        name: &'t str,
        typed: &'t str,
    },
    /// `{{` or `{%` in a text or a value, with its text up to the word.
    Expression { before: &'t str },
    /// `<?ctxc allow`.
    Allow,
    /// Text between tags, with the part from the last tag to the word.
    Text { before: &'t str },
    /// Any other construct, in which nothing is completed.
    Other,
}

/// Analyses the text around an offset.
pub(in crate::lsp) fn completion_context(text: &str, offset: usize) -> CompletionContext<'_> {
    let mut from = offset.saturating_sub(MAX_LOOKBACK_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..offset).unwrap_or("");
    let behind = text.get(offset..).unwrap_or("");
    let typed = before.len() - before.trim_end_matches(is_name_char).len();
    let tail = behind.len() - behind.trim_start_matches(is_name_char).len();
    let word = Span::from_offsets(offset - typed, offset + tail);
    if let Some(inside) = open_expression(before) {
        // In a path only the last name is completed: `{{verdict.te`.
        let last = before.len()
            - before
                .trim_end_matches(|c: char| is_name_char(c) && c != '.')
                .len();
        let next = behind.len()
            - behind
                .trim_start_matches(|c: char| is_name_char(c) && c != '.')
                .len();
        let before = inside
            .get(..inside.len() - last.min(inside.len()))
            .unwrap_or("");
        return CompletionContext {
            construct: OpenConstruct::Expression { before },
            word: Span::from_offsets(offset - last, offset + next),
        };
    }
    let tag = before
        .rfind('<')
        .and_then(|open| Some((from + open, before.get(open + 1..)?)))
        .filter(|(_, rest)| is_open_tag(rest));
    let Some((open, rest)) = tag else {
        let since = before
            .rfind('>')
            .and_then(|end| before.get(end + 1..))
            .unwrap_or(before);
        let before = since
            .get(..since.len() - typed.min(since.len()))
            .unwrap_or("");
        return CompletionContext {
            construct: OpenConstruct::Text { before },
            word,
        };
    };
    if let Some(rest) = rest.strip_prefix('/') {
        let begun = if rest.len() == typed {
            OpenConstruct::End { open }
        } else {
            OpenConstruct::Other
        };
        return CompletionContext {
            construct: begun,
            word,
        };
    }
    if let Some(rest) = rest.strip_prefix("?ctxc") {
        let is_rule = rest
            .trim_start()
            .strip_prefix("allow")
            .is_some_and(|rest| rest.starts_with(' ') && !rest.contains('='));
        return CompletionContext {
            construct: if is_rule {
                OpenConstruct::Allow
            } else {
                OpenConstruct::Other
            },
            word,
        };
    }
    if !rest.contains(|c: char| c.is_ascii_whitespace()) {
        let begun = if rest.len() == typed {
            OpenConstruct::Element { open }
        } else {
            OpenConstruct::Other
        };
        return CompletionContext {
            construct: begun,
            word,
        };
    }
    // The cursor is inside a value if its quote is still open.
    let mut quote: Option<(char, usize)> = None;
    for (at, c) in rest.char_indices() {
        match quote {
            Some((own, _)) if c == own => quote = None,
            None if c == '"' || c == '\'' => quote = Some((c, at)),
            Some(_) | None => {}
        }
    }
    let Some((own, at)) = quote else {
        let is_name = rest
            .get(..rest.len() - typed)
            .is_some_and(|rest| rest.ends_with([' ', '\t', '\n', '\r', '"', '\'']));
        // Text after the blank belongs to the next attribute.
        let word = if typed == 0 {
            Span::from_offsets(offset, offset)
        } else {
            word
        };
        return CompletionContext {
            construct: if is_name {
                OpenConstruct::Attribute { open }
            } else {
                OpenConstruct::Other
            },
            word,
        };
    };
    let name = rest
        .get(..at)
        .unwrap_or("")
        .trim_end()
        .trim_end_matches('=')
        .trim_end();
    let name = name
        .rsplit(|c: char| c.is_ascii_whitespace())
        .next()
        .unwrap_or("");
    let typed = rest.get(at + 1..).unwrap_or("");
    // The word is the whole value if its quote is closed on the same line.
    let end = behind
        .find(|c: char| c == own || "<>=\n".contains(c))
        .filter(|end| behind.get(*end..).is_some_and(|b| b.starts_with(own)));
    let word = Span::from_offsets(offset - typed.len(), offset + end.unwrap_or(tail));
    CompletionContext {
        construct: OpenConstruct::Value { open, name, typed },
        word,
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

/// Returns the text of an expression or Jinja tag that is open at the end of a text, with its
/// braces.
fn open_expression(before: &str) -> Option<&str> {
    let of = |open: &str, close: &str| {
        let at = before.rfind(open)?;
        let inside = before.get(at + 2..)?;
        (!inside.contains(close) && !inside.contains(['<', '\n']))
            .then_some((at, before.get(at..)?))
    };
    let found = of("{{", "}}")
        .into_iter()
        .chain(of("{%", "%}"))
        .max_by_key(|(at, _)| *at);
    found.map(|(_, inside)| inside)
}

/// Returns true if a tag has not ended: its text contains no `>` outside values.
fn is_open_tag(rest: &str) -> bool {
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

/// The position in an expression, by the text before its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum ExpressionSlot<'t> {
    /// A name of a value.
    Name,
    /// A field of the value at a path.
    Field(&'t str),
    /// A text that is compared with the value at a path.
    Word(&'t str),
    /// An operator that compares the value before it, or joins conditions.
    Operator,
    /// A filter of Jinja.
    Filter,
    /// A test of Jinja.
    Test,
    /// The first word of a Jinja tag.
    Tag,
}

/// Returns the position in an expression, a condition or the path of `from`.
pub(in crate::lsp) fn expression_slot(before: &str) -> ExpressionSlot<'_> {
    if let Some(path) = before.strip_suffix('.') {
        return ExpressionSlot::Field(
            path.get(path.trim_end_matches(is_name_char).len()..)
                .unwrap_or(""),
        );
    }
    let trimmed = before.trim_end();
    let compared = before.strip_suffix(['\'', '"']).map(str::trim_end);
    if let Some(path) = compared
        .and_then(|left| left.strip_suffix("==").or_else(|| left.strip_suffix("!=")))
        .map(str::trim_end)
    {
        return ExpressionSlot::Word(
            path.get(path.trim_end_matches(is_name_char).len()..)
                .unwrap_or(""),
        );
    }
    let is_inside = before.starts_with(['{']) || before.matches(['\'', '"']).count() % 2 == 1;
    let word = trimmed.rsplit(char::is_whitespace).next().unwrap_or("");
    let is_value = word.ends_with(|c: char| is_name_char(c) || "'\"])".contains(c));
    let is_joined = ["", "and", "or", "not", "lt", "le", "gt", "ge"].contains(&word);
    match () {
        () if !is_inside && before.len() > trimmed.len() && is_value && !is_joined => {
            ExpressionSlot::Operator
        }
        () if trimmed.ends_with('|') => ExpressionSlot::Filter,
        () if trimmed.trim_end_matches('-') == "{%" => ExpressionSlot::Tag,
        () if trimmed.ends_with(" is") || trimmed.ends_with(" is not") => ExpressionSlot::Test,
        () => ExpressionSlot::Name,
    }
}

/// Returns the function whose call is open at the end of a text, with its arguments so far:
/// `{{shorten(text=message, `.
pub(in crate::lsp) fn open_call(before: &str) -> Option<(&str, &str)> {
    let (head, arguments) = before
        .rsplit_once('(')
        .filter(|(_, arguments)| !arguments.contains([')', '"', '\'']))?;
    let name = head.get(head.trim_end_matches(is_name_char).len()..)?;
    (!name.is_empty()).then_some((name, arguments))
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/features/completion_context.rs"]
mod tests;
