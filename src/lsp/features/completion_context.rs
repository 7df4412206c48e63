//! What is being typed at a place of a text that is rarely well-formed yet: seen by looking back from it.

/// How far is looked back for what was begun: 8 KiB.
const BACK: usize = 8 << 10;

/// What was begun before a place.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::lsp) enum CompletionContext<'t> {
    /// `<`, and perhaps the first letters of a name.
    Element { open: usize, typed: &'t str },
    /// `</`, and perhaps letters.
    End { open: usize, typed: &'t str },
    /// A tag, white space, and perhaps the first letters of an attribute.
    Attribute { open: usize, typed: &'t str },
    /// The value of an attribute.
    Value { open: usize, name: &'t str, typed: &'t str },
    /// `{{` in a text or a value.
    Variable { typed: &'t str },
    /// Text between tags.
    Text { typed: &'t str },
}

/// Poll back from a place.
pub(in crate::lsp) fn completion_context(text: &str, offset: usize) -> CompletionContext<'_> {
    let mut from = offset.saturating_sub(BACK);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..offset).unwrap_or("");
    let word = |text: &'_ str| text.len() - text.trim_end_matches(|c: char| c.is_alphanumeric() || "_-.".contains(c)).len();
    if let Some(open) = before.rfind("{{").filter(|open| !before.get(*open..).unwrap_or("").contains("}}")) {
        let inside = before.get(open + 2..).unwrap_or("");
        if !inside.contains(['<', '\n']) {
            return CompletionContext::Variable { typed: inside.get(inside.len() - word(inside)..).unwrap_or("") };
        }
    }
    let tag = before.rfind('<').and_then(|open| Some((from + open, before.get(open + 1..)?))).filter(|(_, rest)| is_open(rest));
    let Some((open, rest)) = tag else {
        return CompletionContext::Text { typed: before.get(before.len() - word(before)..).unwrap_or("") };
    };
    if let Some(typed) = rest.strip_prefix('/') {
        return CompletionContext::End { open, typed };
    }
    if !rest.contains(|c: char| c.is_ascii_whitespace()) {
        return CompletionContext::Element { open, typed: rest };
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
    match quote {
        Some((_, at)) => {
            let name = rest.get(..at).unwrap_or("").trim_end().trim_end_matches('=').trim_end();
            let name = name.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("");
            CompletionContext::Value { open, name, typed: rest.get(at + 1..).unwrap_or("") }
        }
        None => CompletionContext::Attribute { open, typed: rest.rsplit(|c: char| c.is_ascii_whitespace()).next().unwrap_or("") },
    }
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

#[cfg(test)]
mod tests {
    use super::{CompletionContext, completion_context};

    #[test]
    fn what_was_begun_is_seen_from_its_place() {
        let at = |text: &'static str| completion_context(text, text.len());
        assert_eq!(at("<task><de"), CompletionContext::Element { open: 6, typed: "de" });
        assert_eq!(at("<task></"), CompletionContext::End { open: 6, typed: "" });
        assert_eq!(at("<task na"), CompletionContext::Attribute { open: 0, typed: "na" });
        assert_eq!(at("<task a=\">\" ty"), CompletionContext::Attribute { open: 0, typed: "ty" });
        assert_eq!(at("<task type = \"at"), CompletionContext::Value { open: 0, name: "type", typed: "at" });
        assert_eq!(at("<a b=\"{{ x.y"), CompletionContext::Variable { typed: "x.y" });
        assert_eq!(at("<a>{{x}} {{ cu"), CompletionContext::Variable { typed: "cu" });
        assert_eq!(at("<a>{{x}} wo"), CompletionContext::Text { typed: "wo" });
        assert_eq!(at(""), CompletionContext::Text { typed: "" });
        assert_eq!(at("<a b='"), CompletionContext::Value { open: 0, name: "b", typed: "" });
    }
}
