//! Filters of numbers and of structures.

use super::floats::in_json;
use super::given::{Given, refused};
use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, ValueKind};
use minijinja::{Error, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

/// How deep lists and objects are looked into.
const DEPTH: usize = 64;

/// A value with the fields of all its objects in the order of their names.
fn sorted(value: &Value, depth: usize) -> Cow<'_, Value> {
    let (kind, items) = (value.kind(), || value.try_iter().into_iter().flatten());
    if depth == DEPTH {
        return Cow::Borrowed(value);
    }
    if kind == ValueKind::Map {
        let mut names: Vec<Value> = items().collect();
        names.sort_by(by_name);
        return Cow::Owned(Value::from_pairs(names.into_iter().map(|name| {
            let field = value.get_item(&name).unwrap_or_default();
            (name, sorted(&field, depth + 1).into_owned())
        })));
    }
    if matches!(kind, ValueKind::Seq | ValueKind::Iterable) {
        return Cow::Owned(Value::from(items().map(|item| sorted(&item, depth + 1).into_owned()).collect::<Vec<_>>()));
    }
    Cow::Borrowed(value)
}

/// Texts by their characters, numbers by what they are: never by an order that is none for some of them.
fn by_name(one: &Value, other: &Value) -> Ordering {
    let number = |value: &Value| f64::try_from(value.clone()).unwrap_or(f64::NAN);
    match (one.as_str(), other.as_str()) {
        (None, None) => number(one).total_cmp(&number(other)),
        (one, other) => one.cmp(&other),
    }
}

/// `tojson(indent=none)`: ASCII alone, fields in the order of their names, as Jinja2 has `json.dumps` write it.
pub(super) fn tojson(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "indent"])?;
    let json = minijinja::filters::tojson(
        &sorted(given.value()?, 0),
        given.get(1).cloned(),
        Kwargs::from_iter([("", Value::UNDEFINED); 0]),
    )?;
    let Some(text) = json.as_str().map(in_json) else { return Ok(json) };
    if text.is_ascii() {
        return Ok(Value::from_safe_string(text.into_owned()));
    }
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // A text in memory is written without error.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Ok(Value::from_safe_string(out))
}

/// `filesizeformat(binary=false)`.
pub(super) fn filesizeformat(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "binary"])?;
    let value = given.value()?;
    let number = match value.as_str() {
        Some(text) => text.trim().parse::<f64>().ok(),
        None if value.kind() == ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        None => f64::try_from(value.clone()).ok(),
    };
    let Some(bytes) = number.filter(|bytes| bytes.is_finite()) else {
        return Err(refused(format!("a number of bytes is expected, found {value}")));
    };
    let is_binary = given.is_true(1);
    let base: f64 = if is_binary { 1024.0 } else { 1000.0 };
    #[allow(clippy::float_cmp, reason = "one byte is written in its own way, and a part more is not")]
    let is_one = bytes == 1.0;
    if is_one {
        return Ok(Value::from("1 Byte"));
    }
    if bytes < base {
        // `+ 0.0` makes nothing of a nothing with a sign.
        return Ok(Value::from(format!("{:.0} Bytes", bytes.trunc() + 0.0)));
    }
    let mut unit = base;
    let mut chosen = 'Y';
    for prefix in ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'] {
        (unit, chosen) = (unit * base, prefix);
        if bytes < unit {
            break;
        }
    }
    let prefix = if is_binary { format!("{}i", chosen.to_ascii_uppercase()) } else { chosen.to_string() };
    Ok(Value::from(format!("{:.1} {prefix}B", base * bytes / unit)))
}

/// A group of `groupby`: a pair whose parts have names.
struct Group {
    grouper: Value,
    list: Value,
}

impl fmt::Debug for Group {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("").field(&self.grouper).field(&self.list).finish()
    }
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_usize(), key.as_str()) {
            (Some(0), _) | (_, Some("grouper")) => Some(self.grouper.clone()),
            (Some(1), _) | (_, Some("list")) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }

    fn render(self: &Arc<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, out)
    }
}

/// `groupby(attribute, default=none, case_sensitive=false)`: a group is called as in the first of its items.
pub(super) fn groupby(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "attribute", "default", "case_sensitive"])?;
    let Some(attribute) = given.words(1) else { return Err(refused("the attribute to group by is expected")) };
    let mut named = vec![("case_sensitive", Value::from(given.is_true(3)))];
    named.extend(given.get(2).map(|default| ("default", default.clone())));
    let groups = minijinja::filters::groupby(given.value()?.clone(), Some(&attribute), named.into_iter().collect())?;
    let mut made = Vec::new();
    for group in groups.try_iter()? {
        let list: Vec<Value> = group.get_attr("list")?.try_iter()?.collect();
        let first = list.first().map(|first| path(first, &attribute)).transpose()?;
        let grouper = first.filter(|value| !value.is_undefined()).map_or_else(|| group.get_attr("grouper"), Ok)?;
        made.push(Value::from_object(Group { grouper, list: Value::from(list) }));
    }
    Ok(Value::from(made))
}

/// What a path such as `a.b.0` leads to.
fn path(value: &Value, path: &str) -> Result<Value, Error> {
    path.split('.').try_fold(value.clone(), |value, part| match part.parse::<usize>() {
        Ok(index) => value.get_item_by_index(index),
        Err(_) => value.get_attr(part),
    })
}
