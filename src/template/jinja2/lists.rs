//! `batch` and `slice`: lists in parts, as Jinja2 parts them.

use super::given::{Given, refused};
use minijinja::{Error, Value};

/// What is parted, and into how many; the third argument fills what is short.
fn parted(given: &Given<'_, 3>, name: &str) -> Result<(Vec<Value>, i64), Error> {
    let items = given.value()?.try_iter()?.collect();
    let count = given.get(1).and_then(|count| count.as_i64().or_else(|| whole(count)));
    count.map(|count| (items, count)).ok_or_else(|| refused(format!("`{name}` is a whole number, and has to be given")))
}

/// The whole number that one with a fraction of nothing is.
fn whole(count: &Value) -> Option<i64> {
    let number = f64::try_from(count.clone()).ok().filter(|number| number.fract() == 0.0 && number.abs() < 1e15)?;
    #[allow(clippy::cast_possible_truncation, reason = "it has no fraction and fits")]
    let whole = number as i64;
    Some(whole)
}

/// `batch(linecount, fill_with=none)`: parts of so many. None are as many as nothing or less.
pub(super) fn batch(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "linecount", "fill_with"])?;
    let (items, count) = parted(&given, "linecount")?;
    let size = usize::try_from(count).ok();
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    for item in items {
        if size == Some(part.len()) {
            parts.push(Value::from(std::mem::take(&mut part)));
        }
        part.push(item);
    }
    if !part.is_empty() {
        if let (Some(fill), Some(size)) = (given.get(2), size) {
            part.resize(size.max(part.len()), fill.clone());
        }
        parts.push(Value::from(part));
    }
    Ok(Value::from(parts))
}

/// `slice(slices, fill_with=none)`: so many parts, the first of them one longer where they cannot be equal.
pub(super) fn slice(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "slices", "fill_with"])?;
    let (items, count) = parted(&given, "slices")?;
    let count = match usize::try_from(count) {
        Ok(0) => return Err(refused("a list cannot be parted into no slices")),
        Ok(count) => count,
        Err(_) => return Ok(Value::from(Vec::<Value>::new())),
    };
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut items = items.into_iter();
    let parts = (0..count).map(|number| {
        let mut part: Vec<Value> = items.by_ref().take(each + usize::from(number < longer)).collect();
        part.extend(given.get(2).filter(|_| number >= longer).cloned());
        Value::from(part)
    });
    Ok(Value::from(parts.collect::<Vec<_>>()))
}
