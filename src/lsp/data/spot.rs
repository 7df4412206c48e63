//! Analyses a place in YAML from the lines before it, because a text under edit is rarely
//! well-formed.

use crate::base::span::Span;

/// The position of the cursor in the structure of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DataCursor<'t> {
    /// The keys above the place, without list items.
    pub(super) path: Vec<&'t str>,
    /// The key whose value is being written; `None` for a key or a list item.
    pub(super) key: Option<&'t str>,
    /// The word at the place.
    pub(super) word: Span,
    /// The word with its quotes.
    pub(super) outer: Span,
    /// The missing closing quote.
    pub(super) missing: Option<char>,
    /// In a TOML header, the closing brackets.
    pub(super) header: Option<&'static str>,
    /// Keys or items beside the place that must not be repeated.
    pub(super) used_names: Vec<&'t str>,
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || "_-./".contains(c)
}

fn strip_quotes(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Returns the start of the line, the line up to the place, and the word at the place.
fn line_before(text: &str, offset: usize) -> (usize, &str, Span) {
    let before = text.get(..offset).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let behind = text.get(offset..).unwrap_or("");
    let line = before.get(start..).unwrap_or("");
    let mut typed = before.len() - before.trim_end_matches(is_word_char).len();
    // The id of a segment contains a colon, as in `input:ticket`.
    let head = line.get(..line.len() - typed).unwrap_or("");
    let kind = head.strip_suffix(':').map_or(0, |kind| {
        kind.len() - kind.trim_end_matches(is_word_char).len()
    });
    let is_value = !head
        .get(..head.len().saturating_sub(kind + 1))
        .unwrap_or("")
        .trim_matches([' ', '-'])
        .is_empty();
    if kind > 0 && (typed > 0 || is_value) {
        typed += kind + 1;
    }
    let tail = behind.len() - behind.trim_start_matches(is_word_char).len();
    (
        start,
        line,
        Span::from_offsets(offset - typed, offset + tail),
    )
}

/// Analyses a place in a scenario.
pub(super) fn yaml_cursor(text: &str, offset: usize) -> Option<DataCursor<'_>> {
    let (start, line, word) = line_before(text, offset);
    if line.trim_start().starts_with('#') || line.contains(" #") {
        return None;
    }
    let (dash, mut column) = item_columns(line);
    let mut path = Vec::new();
    let mut limit = dash;
    for line in text
        .get(..start)?
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let (own_dash, own) = item_columns(line);
        let is_above =
            own < column || limit.is_some_and(|limit| own_dash.is_none() && own <= limit);
        if is_above && let Some((key, _)) = line.get(own..)?.split_once(':') {
            path.push(strip_quotes(key));
            column = own;
            limit = own_dash;
        } else if own == column && limit.is_none() {
            // The list item with this key begins here.
            limit = own_dash;
        }
        if column == 0 && limit.is_none() {
            break;
        }
    }
    path.reverse();
    let own = item_columns(line).1;
    let (key, brace) = scan_flow(line.get(own..)?, &mut path);
    let taken = match (key, brace) {
        (Some(_), _) => Vec::new(),
        (None, Some(brace)) => keys_in_braces(
            text.get(start + own + brace + 1..)?.lines().next()?,
            line.len() - own - brace - 1,
        ),
        (None, None) => {
            let behind = text.get(offset..)?.lines().skip(1);
            let above = text
                .get(..start)?
                .lines()
                .rev()
                .take_while(|_| dash.is_none());
            [
                keys_beside(above, own, true),
                keys_beside(behind, own, false),
            ]
            .concat()
        }
    };
    Some(DataCursor {
        path,
        key,
        word,
        outer: word,
        missing: None,
        header: None,
        used_names: taken,
    })
}

/// Returns the keys of the mapping on the lines above or below a place.
fn keys_beside<'t>(
    lines: impl Iterator<Item = &'t str>,
    column: usize,
    is_above: bool,
) -> Vec<&'t str> {
    let mut keys = Vec::new();
    for line in lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let (dash, own) = item_columns(line);
        let begins_item = dash.is_some_and(|dash| dash < column);
        if own < column || begins_item && !is_above {
            break;
        }
        if own == column {
            keys.extend(
                line.get(own..)
                    .and_then(|line| line.split_once(':'))
                    .map(|(key, _)| strip_quotes(key)),
            );
        }
        if begins_item {
            break;
        }
    }
    keys
}

/// Returns the other keys of a mapping in braces; the text starts after the opening brace.
fn keys_in_braces(text: &str, at: usize) -> Vec<&str> {
    let mut keys = Vec::new();
    let (mut depth, mut quote, mut token) = (0_usize, None, 0);
    for (end, c) in text.char_indices().chain([(text.len(), '}')]) {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') if depth > 0 => depth -= 1,
            (None, ',' | '}' | ']') if depth == 0 => {
                let piece = text
                    .get(token..end)
                    .filter(|_| !(token..=end).contains(&at));
                keys.extend(
                    piece
                        .and_then(|piece| piece.split_once(':'))
                        .map(|(key, _)| strip_quotes(key)),
                );
                token = end + 1;
                if c != ',' {
                    break;
                }
            }
            (Some(_) | None, _) => {}
        }
    }
    keys
}

/// Returns the column of the first list dash, if any, and that of the text after the last one.
fn item_columns(line: &str) -> (Option<usize>, usize) {
    let mut dash = None;
    let mut at = line.len() - line.trim_start_matches(' ').len();
    while let Some(rest) = line.get(at..).and_then(|rest| rest.strip_prefix("- ")) {
        dash = dash.or(Some(at));
        at += 2 + rest.len() - rest.trim_start_matches(' ').len();
    }
    (dash, at)
}

/// Follows the braces and brackets of a line and adds the open keys to the path. Returns the key
/// whose value is being written, and the start of the innermost open braces.
fn scan_flow<'t>(line: &'t str, path: &mut Vec<&'t str>) -> (Option<&'t str>, Option<usize>) {
    let mut key = None;
    let mut token = 0;
    let mut quote = None;
    // Open brackets: true for a list, the length of the path before them, the key before them, and
    // their start.
    let mut open: Vec<(bool, usize, Option<&str>, usize)> = Vec::new();
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(own), c) if own == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => {
                open.push((c == '[', path.len(), key, at));
                path.extend(key.filter(|_| c == '{'));
                key = key.filter(|_| c == '[');
                token = at + 1;
            }
            (None, '}' | ']') => {
                if let Some((_, above, before, _)) = open.pop() {
                    path.truncate(above);
                    key = before;
                }
            }
            (None, ',') if open.last().is_some_and(|(is_list, ..)| !is_list) => {
                (key, token) = (None, at + 1);
            }
            (None, ':') if key.is_none() => {
                let is_end = line
                    .get(at + 1..)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
                key = line.get(token..at).map(strip_quotes).filter(|_| is_end);
            }
            (Some(_) | None, _) => {}
        }
    }
    (
        key,
        open.last()
            .filter(|(is_list, ..)| !is_list)
            .map(|(.., at)| *at),
    )
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/data/spot.rs"]
mod tests;
