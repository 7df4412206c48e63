//! Filters of HTML and of addresses: what must not stand there as it is, and tags taken out.

use super::entities::unescape;
use super::given::{Given, refused, words};
use super::python::is_space;
use minijinja::value::ValueKind;
use minijinja::{Error, Value};
use std::fmt::Write as _;

/// A text as it stands in HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A value as it stands in HTML; what is safe does already.
fn escaped_once(value: &Value) -> String {
    if value.is_safe() { words(value).into_owned() } else { escaped(&words(value)) }
}

/// `escape`.
pub(super) fn escape(args: &[Value]) -> Result<Value, Error> {
    Ok(Value::from_safe_string(escaped_once(Given::new(args, ["value"])?.value()?)))
}

/// `forceescape`.
pub(super) fn forceescape(args: &[Value]) -> Result<Value, Error> {
    Ok(Value::from_safe_string(escaped(&Given::new(args, ["value"])?.text()?)))
}

/// `xmlattr(autospace=true)`.
pub(super) fn xmlattr(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["d", "autospace"])?;
    let attributes = given.value()?;
    if attributes.kind() != ValueKind::Map {
        return Err(refused(format!("names with their values are expected, found {}", attributes.kind())));
    }
    let mut out = String::new();
    for name in attributes.try_iter()? {
        let value = attributes.get_item(&name)?;
        if value.is_none() || value.is_undefined() {
            continue;
        }
        if words(&name).contains([' ', '\t', '\n', '\r', '\u{b}', '\u{c}', '/', '>', '=']) {
            return Err(refused(format!("{name:?} cannot be the name of an attribute")));
        }
        let space = if out.is_empty() && !given.get(1).is_none_or(Value::is_true) { "" } else { " " };
        // A text in memory is written without error.
        let _ = write!(out, "{space}{}=\"{}\"", escaped_once(&name), escaped_once(&value));
    }
    Ok(Value::from(out))
}

/// `striptags`.
pub(super) fn striptags(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value"])?;
    let text = without_tags(&without_comments(&given.text()?));
    let spaced = text.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    Ok(Value::from(unescape(&spaced).into_owned()))
}

/// A text without comments, also those that begin in what is left when another is taken out. One that never ends stays.
fn without_comments(text: &str) -> String {
    const OPEN: &str = "<!--";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('-') {
        let (before, behind) = rest.split_at(at + 1);
        out.push_str(before);
        rest = behind;
        if !out.ends_with(OPEN) {
            continue;
        }
        // The end may begin with the hyphens of the opening.
        let ends = [">", "->"].into_iter().find_map(|end| rest.strip_prefix(end));
        let Some(behind) = ends.or_else(|| rest.split_once("-->").map(|(_, behind)| behind)) else { break };
        out.truncate(out.len() - OPEN.len());
        rest = behind;
    }
    out + rest
}

/// A text without what stands between `<` and the next `>`.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((_, behind)) = tag.split_once('>') else { break };
        out.push_str(before);
        rest = behind;
    }
    out + rest
}

/// `urlencode`: a text, or the query that pairs make.
pub(super) fn urlencode(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value"])?;
    let value = given.value()?;
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(Value::from(quoted(&words(value), "/")));
    }
    let mut pairs = Vec::new();
    for item in value.try_iter()? {
        let (name, value) = if is_map {
            (item.clone(), value.get_item(&item)?)
        } else {
            (item.get_item_by_index(0)?, item.get_item_by_index(1)?)
        };
        pairs.push([name, value].map(|part| quoted(&words(&part), "").replace("%20", "+")).join("="));
    }
    Ok(Value::from(pairs.join("&")))
}

/// A text as it stands in an address.
fn quoted(text: &str, safe: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "_.-~".contains(c) || safe.contains(c) {
            out.push(c);
        } else {
            // A text in memory is written without error.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::entities::unescape;
    use super::{without_comments, without_tags};
    use pretty_assertions::assert_eq;

    #[test]
    fn comments_and_tags_go_as_python_takes_them_out() {
        let stripped = |text| without_tags(&without_comments(text));
        assert_eq!(stripped("a<!-- <b> -->c<i>d</i>"), "acd");
        assert_eq!(stripped("a<!-->b<!--->c"), "abc");
        assert_eq!(stripped("a<!<!-- x -->-- y -->b"), "ab");
        assert_eq!(stripped("a<!-- b <i>c"), "ac");
        assert_eq!(stripped("1 < 2"), "1 < 2");
    }

    #[test]
    fn references_are_read_as_python_reads_them() {
        assert_eq!(
            unescape("&amp;&lt&ampx;&nope;&#65;&#x42&#128;&#1;&#xD800;&#99999999999;&#;& &"),
            "&<&x;&nope;AB€\u{fffd}\u{fffd}&#;& &"
        );
        assert_eq!(unescape("&notit; &notin; &NotEqualTilde; &"), "¬it; ∉ ≂\u{338} &");
    }
}
