//! Analyses a place in TOML. Scans the whole text and tolerates errors, because a text under edit
//! is rarely well-formed.

use super::spot::DataCursor;
use crate::base::span::Span;

/// The token that is expected next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedToken {
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
struct OpenBracket<'t> {
    is_list: bool,
    start: usize,
    /// The key before it.
    key: Option<&'t str>,
    /// The length of the path around it.
    outer_path: usize,
    /// The length of the path inside it.
    path: usize,
}

/// A key, a part of a header, or an item of a list.
struct ScannedKey<'t> {
    path: Vec<&'t str>,
    group: usize,
    word: &'t str,
    /// The word with its quotes.
    outer: Span,
    /// True if it must not be defined again.
    is_whole: bool,
    is_item: bool,
}

/// A key directly below a top-level key: `clerk` in `[roles.clerk.budget]`.
pub(in crate::lsp) struct SectionKey<'t> {
    pub(in crate::lsp) section: &'t str,
    pub(in crate::lsp) word: &'t str,
    /// The place of the word with its quotes.
    pub(in crate::lsp) outer: Span,
}

/// The header of a table.
#[derive(Clone, Copy, Default)]
struct ScannedHeader {
    /// The number of its keys.
    key_count: usize,
    /// Its start, if it is one of an array of tables; otherwise 0.
    item_start: usize,
    /// Its closing brackets.
    closing: &'static str,
}

struct TomlScanner<'t> {
    text: &'t str,
    offset: usize,
    next: ExpectedToken,
    path: Vec<&'t str>,
    key: Option<&'t str>,
    open: Vec<OpenBracket<'t>>,
    header: ScannedHeader,
    names: Vec<ScannedKey<'t>>,
    is_passed: bool,
    /// The place and the group of its name, once the scan has passed it; `None` if nothing can be
    /// written there, as in a comment.
    found: Option<(DataCursor<'t>, usize)>,
}

/// Returns every occurrence of the keys directly below top-level keys, in order.
pub(in crate::lsp) fn section_keys<'t>(text: &'t str) -> Vec<SectionKey<'t>> {
    let names = scan_text(text, usize::MAX).names.into_iter();
    let of = |own: ScannedKey<'t>| match *own.path {
        [section] if !own.is_item => Some(SectionKey {
            section,
            word: own.word,
            outer: own.outer,
        }),
        _ => None,
    };
    names.filter_map(of).collect()
}

/// Analyses a place in the project file.
pub(super) fn toml_cursor(text: &str, offset: usize) -> Option<DataCursor<'_>> {
    let scan = scan_text(text, offset);
    let (mut spot, group) = scan.found?;
    let is_same = |own: &&ScannedKey<'_>| {
        own.group == group && own.path == spot.path && !spot.outer.touches(own.outer.start)
    };
    let is_taken = |own: &&ScannedKey<'_>| spot.header.is_none() || own.is_whole;
    spot.used_names = scan
        .names
        .iter()
        .filter(is_same)
        .filter(is_taken)
        .map(|own| own.word)
        .collect();
    Some(spot)
}

fn scan_text(text: &str, offset: usize) -> TomlScanner<'_> {
    let (path, open, names) = (Vec::new(), Vec::new(), Vec::new());
    let mut scan = TomlScanner {
        text,
        offset,
        next: ExpectedToken::Key,
        path,
        key: None,
        open,
        header: ScannedHeader::default(),
        names,
        is_passed: false,
        found: None,
    };
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        at = scan.read_token(at, c);
    }
    scan.pass_text(text.len(), text.len());
    scan
}

impl<'t> TomlScanner<'t> {
    /// Reads the token at a place and returns the start of the next.
    fn read_token(&mut self, start: usize, c: char) -> usize {
        let rest = self.text.get(start..).unwrap_or("");
        match c {
            ' ' | '\t' | '\r' => return start + 1,
            '#' => {
                let end = start + rest.find('\n').unwrap_or(rest.len());
                self.pass_text(start, start);
                self.mark_silent(end + 1);
                return end;
            }
            '"' | '\'' => return self.read_string(start, rest, c),
            '\n' => {
                self.pass_text(start, start);
                self.handle_line_end(rest);
            }
            '[' if self.next == ExpectedToken::Key && self.open.is_empty() => {
                self.pass_text(start, start);
                let is_double = rest.starts_with("[[");
                self.header = ScannedHeader {
                    key_count: 0,
                    item_start: if is_double { start } else { 0 },
                    closing: if is_double { "]]" } else { "]" },
                };
                self.path.clear();
                self.next = ExpectedToken::Header;
                self.mark_silent(start + self.header.closing.len());
                return start + self.header.closing.len();
            }
            '[' | '{' => {
                self.pass_text(start, start);
                if self.next == ExpectedToken::Value {
                    let (is_list, outer_path) = (c == '[', self.path.len());
                    self.path.extend(self.key.filter(|_| !is_list));
                    self.open.push(OpenBracket {
                        is_list,
                        start,
                        key: self.key,
                        outer_path,
                        path: self.path.len(),
                    });
                    self.next = if is_list {
                        ExpectedToken::Value
                    } else {
                        ExpectedToken::Key
                    };
                }
            }
            ']' if self.next == ExpectedToken::Header => {
                self.pass_text(start, start);
                if self.header.closing == "]" {
                    self.mark_complete();
                }
                self.end_header();
                return start + if rest.starts_with("]]") { 2 } else { 1 };
            }
            ']' | '}' => {
                self.pass_text(start, start);
                if let Some(open) = self.open.pop() {
                    self.path.truncate(open.outer_path);
                    (self.key, self.next) = (open.key, ExpectedToken::End);
                }
            }
            ',' => {
                self.pass_text(start, start);
                if let Some(open) = self.open.last() {
                    self.path.truncate(open.path);
                    self.next = if open.is_list {
                        ExpectedToken::Value
                    } else {
                        ExpectedToken::Key
                    };
                }
            }
            '.' if matches!(self.next, ExpectedToken::Equals | ExpectedToken::Header) => {
                self.pass_text(start, start);
                self.path.extend(self.key.take());
                self.next = if self.next == ExpectedToken::Header {
                    ExpectedToken::Header
                } else {
                    ExpectedToken::Key
                };
            }
            '=' => {
                self.pass_text(start, start);
                if self.next == ExpectedToken::Equals {
                    self.mark_complete();
                    self.next = ExpectedToken::Value;
                }
            }
            _ => {
                let stops: &[char] = if self.next == ExpectedToken::Value {
                    VALUE_STOPS
                } else {
                    KEY_STOPS
                };
                let end = start + rest.find(stops).unwrap_or(rest.len()).max(c.len_utf8());
                self.handle_word(
                    Span::from_offsets(start, end),
                    Span::from_offsets(start, end),
                    None,
                );
                return end;
            }
        }
        start + c.len_utf8()
    }

    /// Reads a string in single or triple quotes and returns its end.
    fn read_string(&mut self, start: usize, rest: &'t str, quote: char) -> usize {
        let long = if quote == '"' { "\"\"\"" } else { "'''" };
        if let Some(inner) = rest.strip_prefix(long) {
            let end = start + inner.find(long).map_or(rest.len(), |end| end + 6);
            self.pass_text(start, start);
            self.mark_silent(end);
            self.next = ExpectedToken::End;
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
        self.handle_word(
            Span::from_offsets(start, end),
            Span::from_offsets(start + 1, start + 1 + length),
            missing,
        );
        end
    }

    /// Handles a key, a part of a header or a value; `inner` is its text without quotes.
    fn handle_word(&mut self, outer: Span, inner: Span, missing: Option<char>) {
        self.pass_text(outer.start as usize, outer.end as usize);
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
        let group = list.unwrap_or_else(|| self.table_id());
        if matches!(self.next, ExpectedToken::Key | ExpectedToken::Header)
            || self.next == ExpectedToken::Value && list.is_some()
        {
            self.names.push(ScannedKey {
                path: self.path.clone(),
                group,
                word: name,
                outer,
                is_whole: false,
                is_item: self.next == ExpectedToken::Value,
            });
        }
        match self.next {
            ExpectedToken::Header => self.key = Some(name),
            ExpectedToken::Key => (self.key, self.next) = (Some(name), ExpectedToken::Equals),
            ExpectedToken::Value => self.next = ExpectedToken::End,
            ExpectedToken::Equals | ExpectedToken::End => {}
        }
    }

    /// Marks the text up to `end` as one in which nothing can be written.
    fn mark_silent(&mut self, end: usize) {
        self.is_passed |= self.offset < end;
    }

    /// Returns an identifier of the current table, which differs between tables with the same path.
    fn table_id(&self) -> usize {
        if self.next == ExpectedToken::Header {
            return 0;
        }
        self.open
            .last()
            .map_or(self.header.item_start, |open| open.start)
    }

    /// Marks the last name as complete, so that it must not be defined again.
    fn mark_complete(&mut self) {
        if let Some(last) = self.names.last_mut() {
            last.is_whole = true;
        }
    }

    fn end_header(&mut self) {
        self.path.extend(self.key.take());
        self.header.key_count = self.path.len();
        self.next = ExpectedToken::End;
    }

    /// Handles the end of a line: everything on it ends, except open brackets that continue.
    fn handle_line_end(&mut self, rest: &str) {
        if self.next == ExpectedToken::Header {
            self.end_header();
        }
        if !self
            .open
            .last()
            .is_some_and(|open| continues_after(open.is_list, self.next, rest.trim_start()))
        {
            self.open.clear();
            self.path.truncate(self.header.key_count);
            (self.key, self.next) = (None, ExpectedToken::Key);
        }
    }

    /// Passes the text up to `end`. If the place lies before or inside it, records the possible
    /// completion.
    fn pass_text(&mut self, start: usize, end: usize) {
        if self.is_passed || self.offset > end {
            return;
        }
        let outer = if self.offset < start {
            Span::from_offsets(self.offset, self.offset)
        } else {
            Span::from_offsets(start, end)
        };
        let key = self.key.filter(|_| self.next == ExpectedToken::Value);
        let list = self
            .open
            .last()
            .filter(|open| open.is_list && self.next == ExpectedToken::Value)
            .map(|open| open.start);
        let group = list.unwrap_or_else(|| self.table_id());
        let header = (self.next == ExpectedToken::Header).then_some(self.header.closing);
        let can = !matches!(self.next, ExpectedToken::Equals | ExpectedToken::End);
        let spot = DataCursor {
            path: self.path.clone(),
            key,
            word: outer,
            outer,
            header,
            missing: None,
            used_names: Vec::new(),
        };
        self.found = can.then_some((spot, group));
        self.is_passed = true;
    }
}

/// Returns true if a list or inline table continues after the end of a line.
fn continues_after(is_list: bool, next: ExpectedToken, behind: &str) -> bool {
    let is_header = behind.strip_prefix('[').is_some_and(|inner| {
        let name = inner
            .trim_start_matches('[')
            .split([']', '\n'])
            .next()
            .unwrap_or("");
        name.starts_with(char::is_alphabetic) && !name.contains([',', '{'])
    });
    let key = behind
        .split(|c: char| !is_bare_char(c))
        .next()
        .unwrap_or("");
    let is_key = !key.is_empty()
        && behind
            .get(key.len()..)
            .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('='));
    let is_inside = if is_list {
        !is_key
    } else {
        next != ExpectedToken::End || behind.starts_with([',', '}'])
    };
    is_inside && !is_header
}

fn is_bare_char(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

const VALUE_STOPS: &[char] = &[
    ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}', '#', '"', '\'', '=',
];
const KEY_STOPS: &[char] = &[
    ' ', '\t', '\r', '\n', ',', '[', ']', '{', '}', '#', '"', '\'', '=', '.',
];
