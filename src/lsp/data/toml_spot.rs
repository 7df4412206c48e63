//! Analyses a place in TOML. Scans the whole text and tolerates errors, because a text under edit
//! is rarely well-formed.

use super::spot::Spot;
use crate::base::span::Span;

/// The token that is expected next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A part of a header's name.
    Header,
    /// A key, or a part of one.
    Key,
    /// The `=` or the dot after a key.
    Equals,
    Value,
    /// The end of a line, or a separator of values.
    End,
}

/// An open list or inline table.
struct Open<'t> {
    is_list: bool,
    start: usize,
    /// The key before it.
    key: Option<&'t str>,
    above: usize,
    /// The length of the path inside it.
    path: usize,
}

/// A key, a part of a header, or an item of a list.
struct Name<'t> {
    path: Vec<&'t str>,
    group: usize,
    word: &'t str,
    start: usize,
    /// True if it must not be defined again.
    is_whole: bool,
}

struct Scan<'t> {
    text: &'t str,
    offset: usize,
    next: Next,
    path: Vec<&'t str>,
    key: Option<&'t str>,
    open: Vec<Open<'t>>,
    /// The number of keys in the header; its start if it is one of an array of tables; its closing
    /// brackets.
    header: (usize, usize, &'static str),
    names: Vec<Name<'t>>,
    is_passed: bool,
    /// The place and the group of its name, once the scan has passed it; `None` if nothing can be
    /// written there, as in a comment.
    found: Option<(Spot<'t>, usize)>,
}

/// Analyses a place in the project file.
pub(super) fn toml(text: &str, offset: usize) -> Option<Spot<'_>> {
    let (path, open, names) = (Vec::new(), Vec::new(), Vec::new());
    let mut scan = Scan {
        text,
        offset,
        next: Next::Key,
        path,
        key: None,
        open,
        header: (0, 0, ""),
        names,
        is_passed: false,
        found: None,
    };
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        at = scan.token(at, c);
    }
    scan.pass(text.len(), text.len());
    let (mut spot, group) = scan.found?;
    let is_same = |own: &&Name<'_>| {
        own.group == group && own.path == spot.path && !spot.outer.touches(own.start as u32)
    };
    let is_taken = |own: &&Name<'_>| spot.header.is_none() || own.is_whole;
    spot.taken = scan
        .names
        .iter()
        .filter(is_same)
        .filter(is_taken)
        .map(|own| own.word)
        .collect();
    Some(spot)
}

impl<'t> Scan<'t> {
    /// Reads the token at a place and returns the start of the next.
    fn token(&mut self, start: usize, c: char) -> usize {
        let rest = self.text.get(start..).unwrap_or("");
        match c {
            ' ' | '\t' | '\r' => return start + 1,
            '#' => {
                let end = start + rest.find('\n').unwrap_or(rest.len());
                self.pass(start, start);
                self.silence(end + 1);
                return end;
            }
            '"' | '\'' => return self.quoted(start, rest, c),
            '\n' => {
                self.pass(start, start);
                self.line(rest);
            }
            '[' if self.next == Next::Key && self.open.is_empty() => {
                self.pass(start, start);
                let is_double = rest.starts_with("[[");
                self.header = if is_double {
                    (0, start, "]]")
                } else {
                    (0, 0, "]")
                };
                self.path.clear();
                self.next = Next::Header;
                self.silence(start + self.header.2.len());
                return start + self.header.2.len();
            }
            '[' | '{' => {
                self.pass(start, start);
                if self.next == Next::Value {
                    let (is_list, above) = (c == '[', self.path.len());
                    self.path.extend(self.key.filter(|_| !is_list));
                    self.open.push(Open {
                        is_list,
                        start,
                        key: self.key,
                        above,
                        path: self.path.len(),
                    });
                    self.next = if is_list { Next::Value } else { Next::Key };
                }
            }
            ']' if self.next == Next::Header => {
                self.pass(start, start);
                self.end_header(self.header.2 == "]");
                return start + if rest.starts_with("]]") { 2 } else { 1 };
            }
            ']' | '}' => {
                self.pass(start, start);
                if let Some(open) = self.open.pop() {
                    self.path.truncate(open.above);
                    (self.key, self.next) = (open.key, Next::End);
                }
            }
            ',' => {
                self.pass(start, start);
                if let Some(open) = self.open.last() {
                    self.path.truncate(open.path);
                    self.next = if open.is_list { Next::Value } else { Next::Key };
                }
            }
            '.' if matches!(self.next, Next::Equals | Next::Header) => {
                self.pass(start, start);
                self.path.extend(self.key.take());
                self.next = if self.next == Next::Header {
                    Next::Header
                } else {
                    Next::Key
                };
            }
            '=' => {
                self.pass(start, start);
                if self.next == Next::Equals {
                    self.whole();
                    self.next = Next::Value;
                }
            }
            _ => {
                let stops: &[char] = if self.next == Next::Value {
                    STOPS_OF_VALUES
                } else {
                    STOPS
                };
                let end = start + rest.find(stops).unwrap_or(rest.len()).max(c.len_utf8());
                self.word(Span::of(start, end), Span::of(start, end), None);
                return end;
            }
        }
        start + c.len_utf8()
    }

    /// Reads a string in single or triple quotes and returns its end.
    fn quoted(&mut self, start: usize, rest: &'t str, quote: char) -> usize {
        let long = if quote == '"' { "\"\"\"" } else { "'''" };
        if let Some(inner) = rest.strip_prefix(long) {
            let end = start + inner.find(long).map_or(rest.len(), |end| end + 6);
            self.pass(start, start);
            self.silence(end);
            self.next = Next::End;
            return end;
        }
        let mut is_escaped = false;
        let inner = rest.get(1..).unwrap_or("");
        let end = inner.char_indices().find(|(_, c)| {
            let is_end = *c == '\n' || *c == quote && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped && quote == '"';
            is_end
        });
        let (length, end, missing) = match end {
            Some((length, c)) if c == quote => (length, start + length + 2, None),
            // An unclosed string is assumed to be one word.
            _ => {
                let length = inner
                    .find([' ', '\t', '\r', '\n', ',', ']', '}', '#'])
                    .unwrap_or(inner.len());
                (length, start + 1 + length, Some(quote))
            }
        };
        self.word(
            Span::of(start, end),
            Span::of(start + 1, start + 1 + length),
            missing,
        );
        end
    }

    /// Handles a key, a part of a header or a value; `inner` is its text without quotes.
    fn word(&mut self, outer: Span, inner: Span, missing: Option<char>) {
        self.pass(outer.start as usize, outer.end as usize);
        if let Some((spot, _)) = &mut self.found
            && spot.outer == outer
            && inner != outer
            && inner.touches(self.offset as u32)
        {
            (spot.word, spot.missing) = (inner, missing);
        }
        let name = inner.slice(self.text);
        let list = self
            .open
            .last()
            .filter(|open| open.is_list)
            .map(|open| open.start);
        let group = list.unwrap_or_else(|| self.group());
        if matches!(self.next, Next::Key | Next::Header)
            || self.next == Next::Value && list.is_some()
        {
            self.names.push(Name {
                path: self.path.clone(),
                group,
                word: name,
                start: outer.start as usize,
                is_whole: false,
            });
        }
        match self.next {
            Next::Header => self.key = Some(name),
            Next::Key => (self.key, self.next) = (Some(name), Next::Equals),
            Next::Value => self.next = Next::End,
            Next::Equals | Next::End => {}
        }
    }

    /// Marks the text up to `end` as one in which nothing can be written.
    fn silence(&mut self, end: usize) {
        self.is_passed |= self.offset < end;
    }

    /// Returns an identifier of the current table, which differs between tables with the same path.
    fn group(&self) -> usize {
        if self.next == Next::Header {
            return 0;
        }
        self.open.last().map_or(self.header.1, |open| open.start)
    }

    /// Marks the last name as complete, so that it must not be defined again.
    fn whole(&mut self) {
        if let Some(last) = self.names.last_mut() {
            last.is_whole = true;
        }
    }

    fn end_header(&mut self, is_whole: bool) {
        if is_whole {
            self.whole();
        }
        self.path.extend(self.key.take());
        self.header.0 = self.path.len();
        self.next = Next::End;
    }

    /// Handles the end of a line: everything on it ends, except open brackets that continue.
    fn line(&mut self, rest: &str) {
        if self.next == Next::Header {
            self.end_header(false);
        }
        if !self
            .open
            .last()
            .is_some_and(|open| goes_on(open.is_list, self.next, rest.trim_start()))
        {
            self.open.clear();
            self.path.truncate(self.header.0);
            (self.key, self.next) = (None, Next::Key);
        }
    }

    /// Passes the text up to `end`. If the place lies before or inside it, records the possible
    /// completion.
    fn pass(&mut self, start: usize, end: usize) {
        if self.is_passed || self.offset > end {
            return;
        }
        let outer = if self.offset < start {
            Span::of(self.offset, self.offset)
        } else {
            Span::of(start, end)
        };
        let key = self.key.filter(|_| self.next == Next::Value);
        let list = self
            .open
            .last()
            .filter(|open| open.is_list && self.next == Next::Value)
            .map(|open| open.start);
        let group = list.unwrap_or_else(|| self.group());
        let header = (self.next == Next::Header).then_some(self.header.2);
        let can = !matches!(self.next, Next::Equals | Next::End);
        let spot = Spot {
            path: self.path.clone(),
            key,
            word: outer,
            outer,
            header,
            missing: None,
            taken: Vec::new(),
        };
        self.found = can.then_some((spot, group));
        self.is_passed = true;
    }
}

/// Returns true if a list or inline table continues after the end of a line.
fn goes_on(is_list: bool, next: Next, behind: &str) -> bool {
    let is_header = behind.strip_prefix('[').is_some_and(|inner| {
        let name = inner
            .trim_start_matches('[')
            .split([']', '\n'])
            .next()
            .unwrap_or("");
        name.starts_with(char::is_alphabetic) && !name.contains([',', '{'])
    });
    let key = behind.split(|c: char| !is_bare(c)).next().unwrap_or("");
    let is_key = !key.is_empty()
        && behind
            .get(key.len()..)
            .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('='));
    let is_inside = if is_list {
        !is_key
    } else {
        next != Next::End || behind.starts_with([',', '}'])
    };
    is_inside && !is_header
}

fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

const STOPS_OF_VALUES: &[char] = &[
    ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}', '#', '"', '\'', '=',
];
const STOPS: &[char] = &[
    ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}', '#', '"', '\'', '=', '.',
];
