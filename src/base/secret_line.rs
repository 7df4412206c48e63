//! Lines that give a name its value, and values that stand for others.

/// The name and the value of a line such as `NAME=value`, `export NAME="value"` or `NAME = value`; `None` for any other line.
pub fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = ["export ", "set ", "$env:"].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (is_name && !value.starts_with(['=', '>', '~'])).then(|| (name, unquoted(value)))
}

/// A value without the quotes around it, and without the comment behind them.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let quoted = value.chars().next().filter(|first| matches!(first, '"' | '\'')).and_then(|quote| {
        let rest = value.strip_prefix(quote)?;
        rest.get(..rest.find(quote)?)
    });
    quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or(value).trim_end())
}

/// Whether a value stands for one that is filled in elsewhere: `${TOKEN}`, `<your key>`, `changeme`, `***`.
pub fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "changeme",
        "change-me",
        "change_me",
        "dummy",
        "example",
        "fake",
        "foobar",
        "insert",
        "placeholder",
        "redacted",
        "replace",
        "sample",
        "todo",
        "your",
    ];
    let value = value.trim();
    let small = value.to_ascii_lowercase();
    let first = value.chars().next();
    value.len() < 4
        || first.is_some_and(|first| "$<{%@⟦".contains(first) || value.chars().all(|c| c == first || c == '.' || c == '…'))
        || ["null", "none", "true", "false"].contains(&small.as_str())
        || WORDS.iter().any(|word| small.contains(word))
}

#[cfg(test)]
#[path = "../../tests/unit/base/secret_line.rs"]
mod tests;
