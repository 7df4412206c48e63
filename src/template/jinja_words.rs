//! Where a Jinja text says a name: in its tags, not in its strings, comments and raw parts, not as a field, a filter or the name of an
//! argument.

use crate::base::span::Span;

/// The places of a name; `offset` is where the text starts.
pub fn words(text: &str, name: &str, offset: u32) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('{')).map(|open| at + open) {
        let rest = text.get(open..).unwrap_or("");
        let behind = |end: &str| rest.find(end).map_or(text.len(), |at| open + at + end.len());
        at = if rest.starts_with("{#") {
            behind("#}")
        } else if is_raw(rest) {
            let end = rest.match_indices("{%").find(|(at, _)| tag_word(rest.get(*at..).unwrap_or("")) == "endraw");
            end.map_or(text.len(), |(at, _)| open + at + 2)
        } else if rest.starts_with("{{") || rest.starts_with("{%") {
            let end = in_tag(text, open, name, &mut found);
            end.max(open + 2)
        } else {
            open + 1
        };
    }
    found.into_iter().map(|at| Span::new(offset + at as u32, offset + (at + name.len()) as u32)).collect()
}

fn is_raw(rest: &str) -> bool {
    rest.starts_with("{%") && tag_word(rest) == "raw"
}

/// The first word of a block tag.
fn tag_word(rest: &str) -> &str {
    let inner = rest.get(2..).unwrap_or("").trim_start_matches(['-', '+']).trim_start();
    let end = inner.find(|c: char| !is_part(c)).unwrap_or(inner.len());
    inner.get(..end).unwrap_or("")
}

fn is_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Reads one tag from its opening; where it ends.
fn in_tag(text: &str, open: usize, name: &str, found: &mut Vec<usize>) -> usize {
    let is_block = text.get(open..).is_some_and(|rest| rest.starts_with("{%"));
    let close = if is_block { "%}" } else { "}}" };
    let mut at = open + 2;
    let (mut depth, mut first, mut before) = (0_u32, is_block, ' ');
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if depth == 0 && rest.starts_with(close) {
            return at + 2;
        }
        if let Some(length) = string(rest) {
            (at, before) = (at + length, '"');
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        if !is_part(c) {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += c.len_utf8();
            before = if c.is_whitespace() { before } else { c };
            continue;
        }
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let behind = rest.get(length..).unwrap_or("").trim_start();
        let is_argument = depth > 0 && behind.starts_with('=') && !behind.starts_with("==");
        let is_name = !matches!(before, '.' | '|') && !is_argument && !std::mem::take(&mut first);
        if is_name && rest.get(..length) == Some(name) {
            found.push(at);
        }
        (at, before) = (at + length, 'x');
    }
    text.len()
}

/// The length of a string that begins here, its quotes as they are or as references.
fn string(rest: &str) -> Option<usize> {
    let quote = ["\"", "'", "&quot;", "&apos;", "&#34;", "&#39;"].into_iter().find(|quote| rest.starts_with(quote))?;
    let mut at = quote.len();
    loop {
        let tail = rest.get(at..).filter(|tail| !tail.is_empty())?;
        if tail.starts_with(quote) {
            return Some(at + quote.len());
        }
        let mut chars = tail.chars();
        let c = chars.next()?;
        let escaped = if c == '\\' { chars.next().map_or(0, char::len_utf8) } else { 0 };
        at += c.len_utf8() + escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    fn at(text: &str) -> Vec<u32> {
        words(text, "a", 0).iter().map(|span| span.start).collect()
    }

    #[test]
    fn a_name_is_found_where_it_is_one() {
        assert_eq!(at("{{ a }} a {{ a.b }}"), [3, 13]);
        assert_eq!(at("{% for x in a %}{{ x.a }}{% endfor %}"), [12]);
        assert_eq!(at("{{ f(a, a=a, b=[a == 1]) }}"), [5, 10, 16]);
        assert_eq!(at("{{ 'a' ~ \"a\\\"a\" ~ a }}"), [18]);
        assert_eq!(at("{{ &quot;a&quot; ~ a }}"), [19]);
        assert_eq!(at("{# a #}{% raw %}{{ a }}{% endraw %}{{ x|a }}{{- a -}}"), [48]);
        assert_eq!(at("{% set a = 1 %}{{ aa ~ a ~ b.a ~ ä ~ a"), [7, 23, 38]);
        assert_eq!(at("{{ {'k': a} }}{"), [9]);
    }
}
