//! `wordwrap`, as Python's `textwrap` breaks lines: where words end, at hyphens between letters, and inside of what fits no line.

use super::given::{Given, refused};
use super::python::{is_letter, is_space, is_word, lines};
use minijinja::{Error, Value};
use std::collections::VecDeque;
use std::ops::Range;

/// A stretch of the characters of a line that stays together, by their numbers.
type Chunk = Range<usize>;

/// How lines are broken.
struct Wrap {
    width: usize,
    breaks_long_words: bool,
    breaks_on_hyphens: bool,
}

/// `wordwrap(width=79, break_long_words=true, wrapstring="\n", break_on_hyphens=true)`.
pub(super) fn wordwrap(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["s", "width", "break_long_words", "wrapstring", "break_on_hyphens"])?;
    let is_on = |at: usize| given.get(at).is_none_or(Value::is_true);
    let wrap = Wrap { width: given.size(1, 79)?, breaks_long_words: is_on(2), breaks_on_hyphens: is_on(4) };
    if wrap.width == 0 {
        return Err(refused("a line has at least one character"));
    }
    let between = given.words(3).unwrap_or("\n".into());
    let mut paragraphs = Vec::new();
    for line in lines(given.own_text()?) {
        let characters: Vec<char> = line.chars().collect();
        let wrapped: Vec<String> = wrap.lines(&characters).into_iter().map(|line| said(&characters, &line)).collect();
        paragraphs.push(wrapped.join(&between));
    }
    Ok(Value::from(paragraphs.join(&between)))
}

fn said(characters: &[char], chunks: &[Chunk]) -> String {
    chunks.iter().flat_map(|chunk| characters.get(chunk.clone()).unwrap_or(&[])).collect()
}

impl Wrap {
    /// The lines of a paragraph.
    fn lines(&self, text: &[char]) -> Vec<Vec<Chunk>> {
        let is_blank = |chunk: &Chunk| text.get(chunk.clone()).unwrap_or(&[]).iter().all(|c| is_space(*c));
        let mut chunks = if self.breaks_on_hyphens { words(text) } else { simple_words(text) };
        let mut lines: Vec<Vec<Chunk>> = Vec::new();
        while let Some(first) = chunks.front() {
            if is_blank(first) && !lines.is_empty() {
                chunks.pop_front();
            }
            let (mut line, mut length) = (Vec::new(), 0);
            while let Some(chunk) = chunks.pop_front_if(|chunk| length + chunk.len() <= self.width) {
                length += chunk.len();
                line.push(chunk);
            }
            if let Some(long) = chunks.front_mut().filter(|chunk| chunk.len() > self.width) {
                if self.breaks_long_words {
                    let end = long.start + self.cut(text.get(long.clone()).unwrap_or(&[]), self.width - length);
                    line.push(long.start..end);
                    long.start = end;
                } else if line.is_empty() {
                    line.extend(chunks.pop_front());
                }
            }
            line.pop_if(|last| is_blank(last));
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    }

    /// How much of a word that fits no line goes into what is left of one: to behind the last hyphen there that has more than hyphens
    /// before it.
    fn cut(&self, word: &[char], left: usize) -> usize {
        let fitting = word.get(..left).unwrap_or(word);
        let hyphen = fitting.iter().rposition(|c| *c == '-').filter(|_| self.breaks_on_hyphens);
        let splits = |at: &usize| fitting.iter().take(*at).any(|c| *c != '-');
        hyphen.filter(splits).map_or(left, |at| at + 1)
    }
}

/// What `textwrap` takes for white space between words.
const fn is_between(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' | ' ')
}

/// Words, and what stands between them.
fn simple_words(text: &[char]) -> VecDeque<Chunk> {
    let mut chunks: VecDeque<Chunk> = VecDeque::new();
    for (at, c) in text.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        match chunks.back_mut() {
            Some(last) if before.is_some_and(|before| is_between(*before) == is_between(*c)) => last.end = at + 1,
            _ => chunks.push_back(at..at + 1),
        }
    }
    chunks
}

/// The same, words parted behind hyphens between letters and around dashes that are written as hyphens.
fn words(text: &[char]) -> VecDeque<Chunk> {
    let mut chunks = VecDeque::new();
    for chunk in simple_words(text) {
        if text.get(chunk.start).is_some_and(|c| is_between(*c)) {
            chunks.push_back(chunk);
            continue;
        }
        let mut start = chunk.start;
        while start < chunk.end {
            let end = dash(text, start).unwrap_or_else(|| {
                let ends = |at: &usize| dash(text, *at).is_some();
                let hyphen = |at: usize| is_hyphen(text, at).then_some(at + 1);
                (start + 1..chunk.end).find_map(|at| hyphen(at).or_else(|| ends(&at).then_some(at))).unwrap_or(chunk.end)
            });
            chunks.push_back(start..end);
            start = end;
        }
    }
    chunks
}

/// Where hyphens end that begin here, stand for a dash, and have words on both sides.
fn dash(text: &[char], at: usize) -> Option<usize> {
    let ends_word = |c: char| is_word(c) || matches!(c, '!' | '"' | '\'' | '&' | '.' | ',' | '?');
    let before = *text.get(at.checked_sub(1)?)?;
    if text.get(at) != Some(&'-') || !ends_word(before) {
        return None;
    }
    let end = at + text.get(at..)?.iter().take_while(|c| **c == '-').count();
    (end > at + 1 && is_word(*text.get(end)?)).then_some(end)
}

/// Whether a hyphen joins words: two letters before it, or one and a hyphen and one; a letter behind it, and one more, perhaps after
/// a hyphen.
fn is_hyphen(text: &[char], at: usize) -> bool {
    let letter = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| is_letter(*c));
    let hyphen = |at: Option<usize>| at.and_then(|at| text.get(at)) == Some(&'-');
    let back = |by: usize| at.checked_sub(by);
    hyphen(Some(at))
        && letter(back(1))
        && (letter(back(2)) || hyphen(back(2)) && letter(back(3)))
        && letter(Some(at + 1))
        && (letter(Some(at + 2)) || hyphen(Some(at + 2)) && letter(Some(at + 3)))
}
