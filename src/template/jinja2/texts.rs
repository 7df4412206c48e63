//! Filters that cut, count and fill texts.

use super::given::{Given, refused};
use super::python::{is_word, lines};
use minijinja::{Error, Value};

/// `truncate(length=255, killwords=false, end="...", leeway=5)`.
pub(super) fn truncate(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["s", "length", "killwords", "end", "leeway"])?;
    let (text, length, leeway) = (given.own_text()?, given.size(1, 255)?, given.size(4, 5)?);
    let end = given.words(3).unwrap_or("...".into());
    let Some(kept) = length.checked_sub(end.chars().count()) else {
        return Err(refused(format!("a text of {length} characters cannot end with {end:?}")));
    };
    if text.chars().nth(length.saturating_add(leeway)).is_none() {
        return Ok(Value::from(text));
    }
    let cut = text.char_indices().nth(kept).and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    let cut = if given.is_true(2) { cut } else { cut.rsplit_once(' ').map_or(cut, |(before, _)| before) };
    Ok(Value::from(format!("{cut}{end}")))
}

/// `wordcount`.
pub(super) fn wordcount(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["s"])?;
    let text = given.text()?;
    Ok(Value::from(text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).count()))
}

/// `center(width=80)`.
pub(super) fn center(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "width"])?;
    let (text, width) = (given.text()?, given.size(1, 80)?);
    let free = width.saturating_sub(text.chars().count());
    let left = free / 2 + (free & width & 1);
    Ok(Value::from(format!("{}{text}{}", " ".repeat(left), " ".repeat(free - left))))
}

/// `indent(width=4, first=false, blank=false)`; the width may be what stands before each line.
pub(super) fn indent(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["s", "width", "first", "blank"])?;
    let before = match given.get(1).and_then(Value::as_str) {
        Some(before) => before.to_owned(),
        None => " ".repeat(given.size(1, 4)?),
    };
    // With an end of its own, a text that ends with a line end has an empty line behind it.
    let text = format!("{}\n", given.text()?);
    let mut out = String::new();
    for (at, line) in lines(&text).into_iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let is_indented = if at == 0 { given.is_true(2) } else { given.is_true(3) || !line.is_empty() };
        if is_indented {
            out.push_str(&before);
        }
        out.push_str(line);
    }
    Ok(Value::from(out))
}

/// `replace(old, new, count=none)`.
pub(super) fn replace(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["s", "old", "new", "count"])?;
    let (text, old, new) = (given.text()?, given.words(1), given.words(2));
    let (Some(old), Some(new)) = (old, new) else { return Err(refused("what to replace, and by what, is expected")) };
    let count = given.get(3).and_then(Value::as_usize);
    Ok(Value::from(count.map_or_else(|| text.replace(&*old, &new), |count| text.replacen(&*old, &new, count))))
}
