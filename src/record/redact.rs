//! Masks for a call before it reaches the disk: secrets by their value, their form and their name, personal data by their form.
//!
//! A placeholder such as `⟦email:3fa2⟧` is the same for the same value, and depends on a secret of the user's, so that nobody can try values
//! until one fits. A text in which everything is replaced stays as it is. Numbers are left alone: a card stands in a text.

use super::addresses::in_address;
use super::assigned::{self, Place, behind_key};
use super::escapes::{in_text, views};
use super::json_text::{Edit, Site, map_strings, replaced, string_edits};
use super::nameless_forms::{nameless_form, private_key, telegram};
use super::persons::{card, email, iban, phone};
use super::placeholders::{DIGITS, placeholders};
use super::recording::Redacted;
use crate::base::hash::Hasher;
use crate::base::secrets::known_forms::{known_form, may_be_known};
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A secret of fewer characters would be found in other words: it is one where it is a word of its own, and has a letter and a digit.
const SECRET: usize = 8;
/// One of fewer characters is none.
const SHORT: usize = 4;

/// Replaces what must not be kept.
#[derive(Clone)]
pub struct Redactor {
    /// What placeholders depend on.
    salt: [u8; 32],
    /// The values of secrets, the longest first.
    values: Arc<Vec<Finder<'static>>>,
    /// Whether personal data stay as they are.
    keeps_persons: bool,
    /// What a project wants replaced besides.
    own: Vec<Arc<dyn Find>>,
}

/// What must go of a text: where it stands, and what it is.
pub type Found = (Range<usize>, &'static str);

/// Bytes of letters, digits and `+/=_-` in a row from which on they are packed data: no key is as long, but for a web token.
const PACKED: usize = 400;

/// Layers of escapes that are read: JSON in a string of JSON in an address.
const LAYERS: usize = 4;

/// Bytes around an escape that are read with it.
const MARGIN: usize = 1024;

/// The depth to which escapes are read.
#[derive(Clone, Copy)]
struct Reach {
    /// Layers of escapes, one within another.
    layers: usize,
    /// Bytes around an escape.
    margin: usize,
}

/// Finds what a project wants replaced besides.
pub trait Find: std::fmt::Debug + Send + Sync {
    /// Every place where it stands, in order; the whole text where nobody can look.
    fn all(&self, text: &str) -> Vec<Range<usize>>;
}

/// What is found by a pattern of the project.
const OWN: &str = "own";
/// Values found by their text, their form or their name.
const KEPT_FROM_ALL: &str = "secret";

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Replaces these values wherever they stand, besides what has a known form.
    pub fn new(salt: [u8; 32], values: impl IntoIterator<Item = String>) -> Self {
        let has = |value: &str, is: fn(&char) -> bool| value.chars().any(|c| is(&c));
        let is_secret = |value: &String| {
            value.len() >= SECRET
                || value.len() >= SHORT && has(value, char::is_ascii_alphabetic) && has(value, char::is_ascii_digit)
        };
        let mut values: Vec<String> = values.into_iter().map(|value| value.trim().to_owned()).filter(is_secret).collect();
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let values = values.iter().map(|value| Finder::new(value).into_owned()).collect();
        Self { salt, values: Arc::new(values), keeps_persons: false, own: Vec::new() }
    }

    /// The same, which replaces secrets alone.
    #[must_use]
    pub fn keeping_persons(self) -> Self {
        Self { keeps_persons: true, ..self }
    }

    /// The same, which replaces personal data too.
    #[must_use]
    pub fn masking_persons(self) -> Self {
        Self { keeps_persons: false, ..self }
    }

    /// The same, which replaces more.
    #[must_use]
    pub fn replacing(self, own: Vec<Arc<dyn Find>>) -> Self {
        Self { own, ..self }
    }

    /// What stands for a value: the same for the same value.
    pub fn placeholder(&self, kind: &str, value: &str) -> String {
        let hash = Hasher::new().field(self.salt).field(kind).field(value).finish().to_string();
        format!("⟦{kind}:{}⟧", hash.get(3..7).unwrap_or_default())
    }

    /// Where a text has what must go, and what that is, in order: as it stands, and as it reads where JSON and addresses stand in it with
    /// their escapes, one within another.
    pub fn find(&self, text: &str) -> Vec<Found> {
        let mut all = self.scan(text);
        let longest = self.values.first().map_or(0, |value| value.needle().len());
        let reach = Reach { layers: LAYERS, margin: MARGIN.max(longest) };
        self.find_escaped(text, reach, &|at| at, &mut all);
        // The sign of an escape goes with the letter that it stands before, or what is left is no JSON any more.
        for (range, _) in &mut all {
            let before = text.get(..range.start).unwrap_or("");
            range.start -= (before.len() - before.trim_end_matches('\\').len()) % 2;
        }
        merged(all)
    }

    /// The same of a text as it reads, and of what reads so in turn.
    fn find_escaped(&self, text: &str, reach: Reach, place: &dyn Fn(usize) -> usize, all: &mut Vec<Found>) {
        if reach.layers == 0 {
            return;
        }
        for view in views(text, reach.margin) {
            let found = self.scan(&view.text).into_iter().map(|(range, kind)| {
                let range = in_text(&view, &range);
                (place(range.start)..place(range.end), kind)
            });
            all.extend(found);
            let reach = Reach { layers: reach.layers - 1, ..reach };
            self.find_escaped(&view.text, reach, &|at| place(view.place(at)), all);
        }
    }

    /// Known values, matches of the project's patterns, and placeholders: no other finding crosses them.
    fn fixed(&self, text: &str) -> Vec<(Range<usize>, Option<&'static str>)> {
        let bytes = text.as_bytes();
        let mut fixed: Vec<(Range<usize>, Option<&'static str>)> = Vec::new();
        let is_letter = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        for value in self.values.iter() {
            let len = value.needle().len();
            let places = value.find_iter(bytes).map(|at| at..at + len);
            let is_here =
                |range: &Range<usize>| len >= SECRET || !is_letter(range.start.checked_sub(1)) && !is_letter(Some(range.end));
            fixed.extend(places.filter(is_here).map(|range| (range, Some(KEPT_FROM_ALL))));
        }
        for own in &self.own {
            fixed.extend(own.all(text).into_iter().filter(|range| !range.is_empty()).map(|range| (range, Some(OWN))));
        }
        if !text.is_ascii() {
            fixed.extend(placeholders(text).filter(|one| one.hash.len() == DIGITS).map(|one| (one.range, None)));
        }
        // What begins first goes; of what begins there, the longest.
        fixed.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        fixed.retain_mut(|(range, _)| {
            range.start = range.start.max(end);
            let is_more = range.start < range.end;
            end = end.max(range.end);
            is_more
        });
        fixed
    }

    /// The ranges to mask in a text as it stands.
    fn scan(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        let mut at = 0;
        for (range, kind) in self.fixed(text).into_iter().chain(std::iter::once((text.len()..text.len(), None))) {
            self.scan_part(text, at..range.start, &mut found);
            at = at.max(range.end);
            found.extend(kind.map(|kind| (range, kind)));
        }
        merged(found)
    }

    /// The ranges to mask in a part of a text between known values.
    fn scan_part(&self, text: &str, part: Range<usize>, found: &mut Vec<Found>) {
        let Some(own) = text.get(..part.end) else { return };
        let bytes = own.as_bytes();
        // What goes on in a placeholder was looked at with what it stands for.
        let is_open = text.get(part.end..).is_some_and(|rest| rest.starts_with('⟦'));
        // Where what was found last ends, and the row of letters that one is in.
        let (mut from, mut at, mut row) = (part.start, part.start, part.start..part.start);
        while let Some(byte) = bytes.get(at) {
            let kind = class(*byte);
            if kind == Class::Other {
                at += 1;
                continue;
            }
            let mut word = 1;
            if matches!(kind, Class::Letter | Class::Digit) {
                word = length(bytes, at, |byte| byte.is_ascii_alphanumeric());
            }
            if at >= row.end && matches!(kind, Class::Letter | Class::Digit | Class::Hyphen | Class::Pack) {
                let more = bytes.get(at + word).is_some_and(|byte| is_packed(*byte));
                row = at..at + word + if more { length(bytes, at + word, is_packed) } else { 0 };
                if row.len() > PACKED {
                    let here = self.begins(Place { text: own, from, at }, *byte).or_else(|| packed_value(own, from, &row));
                    if let Some((range, kind)) = here.or_else(|| packed_token(own, &row)) {
                        (from, at, row) = (range.end, range.end, range.end..range.end);
                        found.push((range, kind));
                    } else {
                        at = row.end;
                    }
                    continue;
                }
            }
            let place = Place { text: own, from, at };
            let secret = |range: Option<Range<usize>>| range.map(|range| (range, KEPT_FROM_ALL));
            let before = at.checked_sub(1).filter(|at| *at >= from).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
            let one = match kind {
                Class::Letter if before != b'/' && !may_begin(bytes, at, word) => None,
                Class::Letter | Class::Digit | Class::Plus => self.begins(place, *byte),
                Class::Hyphen if before == b'-' || before.is_ascii_alphanumeric() => None,
                Class::Hyphen => self.begins(place, *byte).or_else(|| secret(assigned::option(place))),
                Class::Equals => secret(assigned::behind_equals(place)),
                Class::Colon => secret(assigned::behind_colon(place)),
                Class::Comma => secret(assigned::behind_comma(place)),
                Class::Closing => secret(assigned::in_element(place)),
                Class::At if !self.keeps_persons => email_around(place).map(|range| (range, "email")),
                Class::Slash if before == b'/' => secret(user_of(place)),
                Class::At | Class::Slash | Class::Pack | Class::Other => None,
            };
            let one = one.filter(|(range, _)| {
                range.start < range.end
                    && !(is_open && reaches_end(own, range.end))
                    && own.get(range.clone()).is_some_and(|value| !value.contains('⟦'))
            });
            if let Some((range, kind)) = one {
                at = range.end;
                from = range.end;
                row = at..at;
                found.push((range, kind));
            } else if matches!(kind, Class::Letter | Class::Digit) {
                at += word;
            } else {
                at += 1;
            }
        }
    }

    /// The range to mask at the beginning of a word.
    fn begins(&self, place: Place<'_>, first: u8) -> Option<Found> {
        let Place { text, from, at } = place;
        let rest = text.get(at..)?;
        let head = text.get(from..at)?;
        let before = head.chars().next_back().unwrap_or(' ');
        let secret = |len: usize| (at..at + len, KEPT_FROM_ALL);
        if let Some((skip, end)) = known_form(rest) {
            return Some((at + skip..at + end, KEPT_FROM_ALL));
        }
        if head.ends_with("//")
            && let Some(len) = in_address(head, rest)
        {
            return Some(secret(len));
        }
        match first {
            b'-' => return private_key(rest).filter(|_| rest.starts_with("-----BEGIN ")).map(secret),
            b'b' | b'B' => {
                if let Some(range) = assigned::scheme(place) {
                    return Some((range, KEPT_FROM_ALL));
                }
            }
            b'i' | b'E' | b'A' => {
                if let Some(range) = assigned::behind_word(place) {
                    return Some((range, KEPT_FROM_ALL));
                }
            }
            b'0'..=b'9' => {
                if let Some(len) = telegram(rest) {
                    return Some(secret(len));
                }
            }
            _ => {}
        }
        let is_long =
            || rest.bytes().take(14).all(|byte| byte.is_ascii_alphanumeric()) || rest.as_bytes().get(4..6) == Some(b"Q~");
        if !matches!(before, '.' | '-' | '_' | '~' | '/')
            && is_long()
            && let Some(len) = nameless_form(rest)
        {
            return Some(secret(len));
        }
        if self.keeps_persons {
            return None;
        }
        // Behind a hyphen, groups of hexadecimal digits look the same.
        if first.is_ascii_alphabetic()
            && before != '-'
            && let Some(len) = iban(rest)
        {
            return Some((at..at + len, "iban"));
        }
        // Digits behind a point are those of a fraction.
        let is_fraction = || before == '.' && head.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit()
            && let Some(len) = card(rest)
            && !is_fraction()
        {
            return Some((at..at + len, "card"));
        }
        if matches!(first, b'+' | b'(' | b'0'..=b'9')
            && let Some(len) = phone(before, rest)
        {
            return Some((at..at + len, "phone"));
        }
        None
    }

    /// A text with everything replaced, and how much of each kind.
    pub fn text(&self, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.text_behind("", text)
    }

    /// The same of a text that stands behind a name.
    pub fn text_behind(&self, name: &str, text: &str) -> (String, BTreeMap<&'static str, u64>) {
        self.replaced(text, self.find_behind(name, text))
    }

    /// The ranges to mask in a text behind a name.
    pub fn find_behind(&self, name: &str, text: &str) -> Vec<Found> {
        Self::named(Some(&Named::Key(name.to_owned())), text, self.find(text))
    }

    /// A text with what was found replaced, and how much of each kind.
    pub(super) fn replaced(&self, text: &str, found: Vec<Found>) -> (String, BTreeMap<&'static str, u64>) {
        let mut counts = BTreeMap::new();
        let edit = |(range, kind): Found| {
            *counts.entry(kind).or_default() += 1;
            let new = self.placeholder(kind, text.get(range.clone()).unwrap_or(""));
            (range, new)
        };
        let edits = found.into_iter().map(edit).collect();
        (replaced(text, edits), counts)
    }

    /// Words of a command with everything replaced: what stands behind an option that takes a secret goes as a whole.
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let mut before = "";
        let mut out = Vec::with_capacity(words.len());
        for word in words {
            let is_value = assigned::is_value_of(before, word) && !word.contains('⟦');
            out.push(if is_value { self.placeholder(KEPT_FROM_ALL, word) } else { self.text(word).0 });
            before = word;
        }
        out
    }

    /// A JSON text with the strings in it replaced; every other byte stays. Adds what was replaced, below `root`.
    pub fn json(&self, json: &str, root: &str, redacted: &mut Vec<Redacted>) -> String {
        replaced(json, self.json_edits(json, root, redacted))
    }

    /// The edits of a JSON text.
    pub(super) fn json_edits(&self, json: &str, root: &str, redacted: &mut Vec<Redacted>) -> Vec<Edit> {
        let mut names = Names::default();
        string_edits(json, |site, pointer, text| {
            let (changed, counts) = self.string(&mut names, site, pointer, text)?;
            let row = |(kind, count): (&&str, &u64)| Redacted {
                pointer: [root, pointer].concat(),
                kind: (*kind).to_owned(),
                count: *count,
            };
            redacted.extend(counts.iter().map(row));
            Some(changed)
        })
    }

    /// The same of a text whose strings at these pointers stay.
    pub fn json_except(&self, json: &str, pointers: &[&str]) -> String {
        let mut names = Names::default();
        map_strings(json, |site, pointer, text| {
            let (changed, _) = self.string(&mut names, site, pointer, text)?;
            (!pointers.contains(&pointer)).then_some(changed)
        })
    }

    /// A string of JSON with everything replaced, and how much of each kind; `None` where nothing is.
    fn string(&self, names: &mut Names, site: Site, pointer: &str, text: &str) -> Option<(String, BTreeMap<&'static str, u64>)> {
        let found = self.find(text);
        let found = if site == Site::Value { Self::named(names.of(pointer, text).as_ref(), text, found) } else { found };
        (!found.is_empty()).then(|| self.replaced(text, found))
    }

    /// The findings in a string, with those that its name adds.
    pub(super) fn named(name: Option<&Named>, text: &str, mut found: Vec<Found>) -> Vec<Found> {
        let ranges = match name {
            None => return found,
            Some(Named::Key(key)) => behind_key(key, text),
            Some(Named::Option(option)) => assigned::is_value_of(option, text).then_some(0..text.len()).into_iter().collect(),
        };
        let has_placeholder = |range: &Range<usize>| text.get(range.clone()).is_none_or(|value| value.contains('⟦'));
        found.extend(ranges.into_iter().filter(|range| !has_placeholder(range)).map(|range| (range, KEPT_FROM_ALL)));
        merged(found)
    }
}

/// The key before a string of JSON.
#[derive(Debug)]
pub(super) enum Named {
    /// Its key, or the name beside it.
    Key(String),
    /// The word before it in a list.
    Option(String),
}

/// The strings that were seen last, which name those behind them.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The object of a `name`, and that name.
    name: (String, String),
    /// The place of an option in a list, and that option.
    option: (String, String),
}

impl Names {
    /// The key before a string. Takes the strings of a text in their order.
    pub(super) fn of(&mut self, pointer: &str, text: &str) -> Option<Named> {
        let (above, key) = pointer.rsplit_once('/')?;
        let short = || if text.len() <= 128 { text.to_owned() } else { String::new() };
        if let Ok(number) = key.parse::<usize>() {
            let before = number.checked_sub(1).map(|number| format!("{above}/{number}"));
            let option =
                if before.as_deref() == Some(&*self.option.0) { std::mem::take(&mut self.option.1) } else { String::new() };
            if text.len() <= 128 {
                self.option = (pointer.to_owned(), text.to_owned());
            }
            if option.starts_with('-') {
                return Some(Named::Option(option));
            }
            // `["Authorization", "Bearer …"]`, and a list behind a key.
            let key = if option.is_empty() || number != 1 { above.rsplit('/').next()?.to_owned() } else { option };
            return Some(Named::Key(key));
        }
        if matches!(key, "name" | "Name" | "key" | "Key") {
            self.name = (above.to_owned(), short());
        }
        if matches!(key, "value" | "Value") && self.name.0 == above {
            return Some(Named::Key(std::mem::take(&mut self.name.1)));
        }
        Some(Named::Key(key.to_owned()))
    }
}

/// Returns whether nothing but signs that no value ends with stands between a place and the end of a text.
fn reaches_end(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.bytes().all(|byte| b".,;:)\\!".contains(&byte)))
}

/// The findings that a byte may begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Letter,
    Digit,
    Hyphen,
    /// `+` and `(`, which numbers begin with.
    Plus,
    /// `/`.
    Slash,
    /// Signs of packed data.
    Pack,
    Equals,
    Colon,
    Comma,
    Closing,
    At,
}

const fn class_of(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'-' => Class::Hyphen,
        b'+' | b'(' => Class::Plus,
        b'/' => Class::Slash,
        b'_' => Class::Pack,
        b'=' => Class::Equals,
        b':' => Class::Colon,
        b',' => Class::Comma,
        b'>' => Class::Closing,
        b'@' => Class::At,
        _ => Class::Other,
    }
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    // The signs that count are all ASCII.
    while byte < 128 {
        if let Some(class) = classes.split_at_mut(byte as usize).1.first_mut() {
            *class = class_of(byte);
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

/// The number of bytes from a place on that all pass a test.
fn length(bytes: &[u8], at: usize, is_such: impl Fn(u8) -> bool) -> usize {
    bytes.get(at..).unwrap_or(&[]).iter().take_while(|byte| is_such(**byte)).count()
}

/// Returns whether anything may begin with this word: a look at a few of its bytes, for the many words that are nothing.
fn may_begin(bytes: &[u8], at: usize, word: usize) -> bool {
    let [first, second, third, rest @ ..] = bytes.get(at..).unwrap_or(&[]) else { return false };
    may_be_known(*first, *second, *third)
        || matches!(first, b'b' | b'B' | b'i' | b'E' | b'A') && matches!(second, b'e' | b'E' | b'a' | b'A' | b's' | b'N' | b'R')
        || third.is_ascii_digit()
        || word >= 14
        || rest.get(1..3) == Some(b"Q~")
}

const fn is_packed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// The data behind a name that a row of packed data begins with.
fn packed_value(text: &str, from: usize, row: &Range<usize>) -> Option<Found> {
    let head = text.as_bytes().get(row.clone())?;
    let at = row.start + head.iter().take(100).position(|byte| *byte == b'=')?;
    assigned::behind_equals(Place { text, from, at }).map(|range| (range, KEPT_FROM_ALL))
}

/// The web token in a row of packed data, whose points end the row.
fn packed_token(text: &str, row: &Range<usize>) -> Option<Found> {
    let bytes = text.as_bytes();
    let own = bytes.get(row.clone())?;
    memchr::memmem::find_iter(own, "eyJ").map(|at| row.start + at).find_map(|at| {
        let start = if at >= 4 && bytes.get(at - 4..at) == Some(b"ops_") { at - 4 } else { at };
        let is_word = !start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let (skip, end) = text.get(start..).filter(|_| is_word && start >= row.start).and_then(known_form)?;
        Some((start + skip..start + end, KEPT_FROM_ALL))
    })
}

/// The name and password behind `//` that begin with no letter.
fn user_of(place: Place<'_>) -> Option<Range<usize>> {
    let start = place.at + 1;
    let rest = place.text.get(start..)?;
    if rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()) {
        return None;
    }
    let len = in_address(place.text.get(place.from..start)?, rest)?;
    Some(start..start + len)
}

/// The address of a person around an `@`.
fn email_around(place: Place<'_>) -> Option<Range<usize>> {
    /// Bytes of the part before `@` at most.
    const MOST: usize = 255;
    let head = place.text.get(place.from..place.at)?;
    let is_local = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | 'À'..='ɏ');
    let local: usize = head.chars().rev().take(MOST).take_while(|c| is_local(*c)).map(char::len_utf8).sum();
    let mut start = place.at - local;
    let mut before = place.text.get(place.from..start)?.chars().next_back().unwrap_or(' ');
    // What stands behind another `@` begins behind a sign that no letter is.
    for sign in place.text.get(start..place.at)?.chars() {
        if !matches!(before, '.' | '-' | '+' | '%' | '@') && !before.is_ascii_alphanumeric() {
            break;
        }
        before = sign;
        start += sign.len_utf8();
    }
    // `//user:password@host`
    let near = place.text.get(place.text.floor_char_boundary(start.saturating_sub(64)).max(place.from)..start)?;
    let is_user = before == ':' && near.rsplit([' ', '"', '\'', '\n']).next().is_some_and(|word| word.contains("//"));
    let len = email(place.text.get(start..)?).filter(|_| !is_user)?;
    Some(start..start + len)
}

/// Sorts findings and merges those that overlap.
pub(super) fn merged(mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut found: Vec<Found> = Vec::new();
    for (range, kind) in all {
        match found.last_mut().filter(|(last, _)| range.start < last.end) {
            Some((last, _)) => last.end = last.end.max(range.end),
            None => found.push((range, kind)),
        }
    }
    found
}
