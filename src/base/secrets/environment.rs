//! Parses files of environment variables: their names and values, and the passwords in URLs and
//! connection strings among them.
//!
//! Reads no file, and does not decide which values are secrets.

use super::names::is_secret_name;

/// The quotes around values.
const QUOTES: [char; 2] = ['"', '\''];

/// The name before `sign` in a line, and the text behind it.
fn split_assignment<'t>(line: &'t str, sign: &str) -> Option<(&'t str, &'t str)> {
    let line = line.trim_start();
    let line = ["export ", "set ", "$env:"]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line)
        .trim_start();
    let (name, written) = line.split_once(sign)?;
    let name = name.trim_end();
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_name.then_some((name, written))
}

/// The name and the value of a line such as `NAME=value`, `export NAME="value"` or `NAME = value`;
/// `None` for any other line.
pub fn parse_assignment(line: &str) -> Option<(&str, &str)> {
    let (name, written) =
        split_assignment(line, "=").filter(|(_, written)| !written.starts_with(['=', '>', '~']))?;
    let written = written.trim();
    Some((
        name,
        quoted_value(written).unwrap_or_else(|| unquoted_value(written)),
    ))
}

/// The text inside the quotes that `written` begins with, in its line or in the following ones.
fn quoted_value(written: &str) -> Option<&str> {
    let quote = written
        .chars()
        .next()
        .filter(|first| QUOTES.contains(first))?;
    let inner = written.get(1..)?;
    let mut is_escaped = false;
    let end = inner.find(|sign| {
        let ends = sign == quote && !is_escaped;
        is_escaped = sign == '\\' && quote == '"' && !is_escaped;
        ends
    })?;
    inner.get(..end)
}

/// An unquoted value without the comment or the next `export` behind it.
fn unquoted_value(written: &str) -> &str {
    let line = written.split('\n').next().unwrap_or("");
    [" #", "; export ", ";export ", " && export "]
        .iter()
        .fold(line, |line, end| line.split(end).next().unwrap_or(line))
        .trim()
}

/// The text of a file: UTF-8, or UTF-16 with a byte order mark.
pub fn decode_text(bytes: &[u8]) -> String {
    let units = |unit: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2).skip(1);
        pairs
            .filter_map(|pair| pair.try_into().ok())
            .map(unit)
            .collect::<Vec<u16>>()
    };
    match bytes {
        [0xff, 0xfe, ..] => String::from_utf16_lossy(&units(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => String::from_utf16_lossy(&units(u16::from_be_bytes)),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The names and values of a file. Each line of a multi-line value is a value of its own, and so is
/// a password in a URL or in a connection string.
pub fn parse_values(text: &str) -> Vec<(String, String)> {
    let mut values = Vec::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        let line = rest.split('\n').next().unwrap_or("");
        let mut end = line.len();
        if let Some((name, behind)) =
            split_assignment(line, "=").or_else(|| split_assignment(line, ": "))
        {
            let written = rest
                .get(line.len() - behind.len()..)
                .unwrap_or("")
                .trim_start_matches([' ', '\t']);
            let whole = quoted_value(written).unwrap_or_else(|| unquoted_value(written));
            let is_bare = written.starts_with(whole);
            let value = if is_bare {
                whole.trim_start_matches(QUOTES)
            } else {
                whole
            };
            end = rest.len() - written.len() + whole.len() + usize::from(!is_bare);
            add_value(name, value, &mut values);
        }
        let behind = rest
            .get(end..)
            .or_else(|| rest.get(line.len()..))
            .unwrap_or("");
        let next = behind.trim_start_matches(['"', '\'', ';', '&', ' ']);
        rest = if next.starts_with("export ") {
            next
        } else {
            behind.split_once('\n').map_or("", |(_, behind)| behind)
        };
    }
    values
}

/// Adds a value, both raw and with its escapes resolved, and the passwords in it.
fn add_value(name: &str, written: &str, values: &mut Vec<(String, String)>) {
    let own = [written.to_owned(), unescape(written)];
    let [written, read] = &own;
    let forms = if written == read { &own[..1] } else { &own[..] };
    for value in forms {
        values.extend(
            value
                .lines()
                .map(|line| (name.to_owned(), line.trim().to_owned())),
        );
        let user = value
            .split_once("://")
            .and_then(|(_, rest)| rest.rsplit_once('@'));
        let in_address = user
            .and_then(|(user, _)| user.split_once(':'))
            .map(|(_, password)| password);
        let fields = value
            .split([';', ' '])
            .filter_map(|field| field.split_once('='));
        let in_fields = fields
            .filter(|(name, _)| is_secret_name(name.trim()))
            .map(|(_, value)| value.trim().trim_matches(QUOTES));
        let passwords = in_address.into_iter().chain(in_fields);
        values.extend(passwords.map(|password| (format!("{name}_PASSWORD"), password.to_owned())));
    }
}

/// A value with its escapes resolved.
fn unescape(written: &str) -> String {
    let mut read = String::new();
    let mut signs = written.chars();
    while let Some(sign) = signs.next() {
        let escaped = if sign == '\\' { signs.next() } else { None };
        read.push(match escaped {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(other) => other,
            None => sign,
        });
    }
    read
}

#[cfg(test)]
#[path = "../../../tests/unit/base/secrets/environment.rs"]
mod tests;
