//! Values in lines of environment and properties files: up to the end of the line if neighbouring
//! lines have the same form.

use super::pair::{NamedValue, strip_line_number};
use super::place::{QuoteExtent, closing_quote};
use super::values::{ValueNotation, is_assigned_secret, is_secret_value, is_standalone_secret};
use crate::base::secrets::environment::parse_assignment;
use std::ops::Range;

/// Returns a value of an environment file, which may contain blanks, or of a shell word.
pub(super) fn environment_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let place = pair.place;
    // A command whose output is the value.
    if place.byte_at(pair.after) == Some(b'`') {
        return None;
    }
    if pair.begins_line()
        && place.ends_line(range.end + usize::from(writing == ValueNotation::Quoted))
        && is_assigned_secret(place.slice(&range))
        && is_in_environment(pair)
    {
        return Some(range);
    }
    if writing == ValueNotation::Quoted {
        let rest = place.text_from(range.end);
        let is_open = rest.starts_with('\n') && is_in_environment(pair);
        let more = place
            .byte_at(pair.after)
            .filter(|_| is_open)
            .and_then(|quote| closing_quote(rest, quote, QuoteExtent::Text));
        return place.secret_range(range.start..range.end + more.unwrap_or(0));
    }
    let rest = rest_length(pair, range.end);
    let whole = range.start..range.end + rest;
    let range = if place.begins_line(pair.name.start) || pair.begins_line() {
        range
    } else {
        place.trim_punctuation(range)
    };
    place
        .secret_range(whole)
        .filter(|_| rest > 0)
        .or_else(|| place.secret_range(range))
}

/// Returns the number of bytes after a value's first word that belong to it: up to the end of the
/// line, unless a command or a comment follows.
fn rest_length(pair: &NamedValue<'_>, end: usize) -> usize {
    const COMMANDS: &str = " python python3 node npm npx yarn pnpm make cargo go docker kubectl helm psql mysql pytest uv poetry ruby bundle java \
                            bash sh exec sudo env ctxc ";
    let line = pair
        .place
        .text_from(end)
        .split(['\n', '\r'])
        .next()
        .unwrap_or("");
    let line = line.split(" #").next().unwrap_or("").trim_end();
    let mut words = line.split_whitespace();
    let is_command = words
        .next()
        .is_none_or(|first| COMMANDS.split(' ').any(|one| one == first) || first.contains('/'))
        || line
            .split_whitespace()
            .any(|word| word.starts_with('-') || word.contains('='))
        || line.contains([';', '&', '|', '>', '<', '$', '`', '"', '\'']);
    if !line.starts_with([' ', '\t'])
        || is_command
        || !pair.begins_line()
        || !is_in_environment(pair)
    {
        0
    } else {
        line.len()
    }
}

/// Returns true if a line is next to a line of an environment file, or is the whole file.
fn is_in_environment(pair: &NamedValue<'_>) -> bool {
    let NamedValue {
        place, name, after, ..
    } = pair;
    let is_line = |line: &str| {
        !line.starts_with([' ', '\t'])
            && (line.starts_with('#') || parse_assignment(line).is_some())
    };
    let before = place.text_before(name.start, 1024);
    let before = before
        .strip_suffix(pair.line_number())
        .unwrap_or(before)
        .trim_end();
    let behind = place
        .text_from(*after)
        .split_once('\n')
        .map(|(_, behind)| behind.trim_start_matches(['\r', '\n']));
    let above = before.rsplit('\n').next().unwrap_or("");
    let below = behind
        .and_then(|behind| behind.lines().next())
        .unwrap_or("");
    pair.line_number().contains(".env")
        || is_line(strip_line_number(above))
        || is_line(strip_line_number(below))
        || before.is_empty() && behind == Some("")
}

/// Returns a value that extends to the end of its line.
pub(super) fn property_value(pair: &NamedValue<'_>, range: Range<usize>) -> Option<Range<usize>> {
    let whole = range.start..range.end + rest_length(pair, range.end);
    let value = pair.place.slice(&whole);
    let has_blanks = whole.end > range.end && is_secret_value(value);
    let is_whole =
        (has_blanks || is_standalone_secret(value)) && !value.ends_with([',', '{', '(', '\\', ';']);
    (pair.place.ends_line(whole.end) && is_whole).then_some(whole)
}
