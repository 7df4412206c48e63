//! The raw contents of a project file, key by key and independent of their meaning, so that a
//! comparison of two files misses no difference.

use std::collections::BTreeMap;
use toml::Value;

/// Returns every key by its path, with its value as TOML. A list is one value; each entry of a list
/// of tables is a key named by its text. Empty for invalid TOML.
pub fn flatten_keys(text: &str) -> BTreeMap<Vec<String>, String> {
    let mut out = BTreeMap::new();
    add_value(
        &mut Vec::new(),
        &Value::Table(text.parse().unwrap_or_default()),
        &mut out,
    );
    out
}

/// Parses a value that is a list of texts; `None` for any other value.
pub fn parse_text_list(value: &str) -> Option<Vec<String>> {
    let table: toml::Table = format!("list = {value}").parse().ok()?;
    table
        .get("list")?
        .as_array()?
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// The value recorded for a table in a list.
static PRESENT: Value = Value::Boolean(true);

fn add_value(at: &mut Vec<String>, value: &Value, out: &mut BTreeMap<Vec<String>, String>) {
    let below: Vec<(String, &Value)> = if let Some(keys) = value.as_table() {
        keys.iter()
            .map(|(key, value)| (key.clone(), value))
            .collect()
    } else if let Some(items) = value
        .as_array()
        .filter(|items| !items.is_empty() && items.iter().all(Value::is_table))
    {
        items
            .iter()
            .map(|item| (item.to_string(), &PRESENT))
            .collect()
    } else {
        // `3.0` and `3` are the same number.
        out.insert(
            at.clone(),
            value
                .as_float()
                .map_or_else(|| value.to_string(), |number| number.to_string()),
        );
        return;
    };
    for (key, value) in below {
        at.push(key);
        add_value(at, value, out);
        at.pop();
    }
}
