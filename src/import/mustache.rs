//! Splits `{{…}}` of Handlebars and Mustache into tags, and finds those that stand alone on a line.
//!
//! Linear; never fails: unclosed braces are literal text.

use std::ops::Range;

/// The kind of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagMark {
    /// Text between tags.
    Words,
    /// `{{x}}`.
    Value,
    /// `{{{x}}}`, `{{&x}}`: an unescaped value.
    Raw,
    /// `{{#x}}`.
    Open,
    /// `{{^x}}`.
    Inverted,
    /// `{{else}}`, `{{else if x}}`.
    Else,
    /// `{{/x}}`.
    Close,
    /// `{{! … }}`.
    Comment,
    /// `{{> x}}`.
    Partial,
}

/// A tag, or the text between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MustacheTag {
    pub(super) mark: TagMark,
    /// The range of its content without marks and surrounding blanks; of a text, the part that
    /// remains after trimming.
    pub(super) inner: Range<usize>,
    /// The offset of its start.
    pub(super) start: usize,
    trims: (bool, bool),
}

impl MustacheTag {
    pub(super) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.inner.clone()).unwrap_or("")
    }
}

/// Splits a text; adjacent white space that tags remove is trimmed.
pub(super) fn split_tags(text: &str) -> Vec<MustacheTag> {
    let mut all = split_raw(text);
    let alone: Vec<bool> = (0..all.len()).map(|at| is_alone(text, &all, at)).collect();
    for at in 0..all.len() {
        if all.get(at).is_none_or(|tag| tag.mark != TagMark::Words) {
            continue;
        }
        let side = |at: Option<usize>, trim: fn(&MustacheTag) -> bool| {
            let at = at?;
            Some((alone.get(at).copied().unwrap_or(false), trim(all.get(at)?)))
        };
        let before = side(at.checked_sub(1), |tag| tag.trims.1).unwrap_or_default();
        let after = side(Some(at + 1), |tag| tag.trims.0).unwrap_or_default();
        let Some(tag) = all.get_mut(at) else { continue };
        let mut words = text.get(tag.inner.clone()).unwrap_or("");
        let end = tag.inner.end;
        if before.1 {
            words = words.trim_start();
        } else if before.0 {
            let rest = words.trim_start_matches([' ', '\t']);
            words = rest
                .strip_prefix('\n')
                .unwrap_or(if rest.is_empty() { rest } else { words });
        }
        let start = end - words.len();
        if after.1 {
            words = words.trim_end();
        } else if after.0 {
            words = words.trim_end_matches([' ', '\t']);
        }
        tag.inner = start..start + words.len();
    }
    all
}

fn split_raw(text: &str) -> Vec<MustacheTag> {
    let mut all = Vec::new();
    let mut at = 0;
    let mut words = 0;
    let push_words = |all: &mut Vec<MustacheTag>, range: Range<usize>| {
        if !range.is_empty() {
            all.push(MustacheTag {
                mark: TagMark::Words,
                start: range.start,
                inner: range,
                trims: (false, false),
            });
        }
    };
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("{{")) {
        let start = at + found;
        let Some((tag, end)) = parse_tag(text, start) else {
            break;
        };
        push_words(&mut all, words..start);
        all.push(tag);
        (at, words) = (end, end);
    }
    push_words(&mut all, words..text.len());
    all
}

fn parse_tag(text: &str, start: usize) -> Option<(MustacheTag, usize)> {
    let rest = text.get(start + 2..)?;
    let (left, rest) = rest
        .strip_prefix('~')
        .map_or((false, rest), |rest| (true, rest));
    let from = text.len() - rest.len();
    let (mark, skip, close) = match rest.as_bytes().first()? {
        b'!' if rest.starts_with("!--") => (TagMark::Comment, 3, "--"),
        b'!' => (TagMark::Comment, 1, ""),
        b'{' => (TagMark::Raw, 1, "}"),
        b'&' => (TagMark::Raw, 1, ""),
        b'#' => (TagMark::Open, 1, ""),
        b'^' => (TagMark::Inverted, 1, ""),
        b'/' => (TagMark::Close, 1, ""),
        b'>' => (TagMark::Partial, 1, ""),
        _ => (TagMark::Value, 0, ""),
    };
    let body = rest.get(skip..)?;
    let (length, right) = find_end(body, close)?;
    let inner = body.get(..length)?;
    let lead = inner.len() - inner.trim_start().len();
    let begin = from + skip + lead;
    let inner = begin..begin + inner.trim().len();
    let end = from + skip + length + close.len() + usize::from(right) + 2;
    let word = text.get(inner.clone())?;
    let mark = if mark == TagMark::Value && (word == "else" || word.starts_with("else ")) {
        TagMark::Else
    } else {
        mark
    };
    Some((
        MustacheTag {
            mark,
            inner,
            start,
            trims: (left, right),
        },
        end,
    ))
}

/// The length of a tag's content, and true if a `~` precedes its end. Scans only to the end of the
/// tag.
fn find_end(body: &str, close: &str) -> Option<(usize, bool)> {
    let mut at = 0;
    loop {
        let end = at + body.get(at..)?.find("}}")?;
        let inside = body.get(..end)?;
        let (bare, right) = inside
            .strip_suffix('~')
            .map_or((inside, false), |bare| (bare, true));
        // Three braces are closed by three: the first of them precedes these two, or is one of
        // them.
        if close == "}" && !right && body.get(end..).is_some_and(|rest| rest.starts_with("}}}")) {
            return Some((end, false));
        }
        if let Some(bare) = bare.strip_suffix(close) {
            return Some((bare.len(), right));
        }
        at = end + 1;
    }
}

/// Returns true if a tag without output is alone on its line.
fn is_alone(text: &str, all: &[MustacheTag], at: usize) -> bool {
    let quiet = [
        TagMark::Open,
        TagMark::Inverted,
        TagMark::Else,
        TagMark::Close,
        TagMark::Comment,
        TagMark::Partial,
    ];
    let Some(tag) = all.get(at).filter(|tag| quiet.contains(&tag.mark)) else {
        return false;
    };
    let before = text.get(..tag.start).unwrap_or("");
    let end = all.get(at + 1).map_or(text.len(), |next| next.start);
    let after = text.get(end..).unwrap_or("");
    let head = before.trim_end_matches([' ', '\t']);
    let tail = after.trim_start_matches([' ', '\t']);
    (head.is_empty() || head.ends_with('\n')) && (tail.is_empty() || tail.starts_with('\n'))
}

#[cfg(test)]
#[path = "../../tests/unit/import/mustache.rs"]
mod tests;
