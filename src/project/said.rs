//! What a project file says, key by key, whatever ctxc makes of it: so that of two of them nothing that differs is overlooked.

use std::collections::BTreeMap;
use toml::Value;

/// Every key, by the names on the way to it, with its value as TOML. A list is one value, but for one of tables, each of which is a key as
/// it is written. Nothing for what is no TOML.
pub fn said(text: &str) -> BTreeMap<Vec<String>, String> {
    let mut out = BTreeMap::new();
    add(&mut Vec::new(), &Value::Table(text.parse().unwrap_or_default()), &mut out);
    out
}

/// The texts of a value that is a list of texts; `None` for another one.
pub fn text_list(value: &str) -> Option<Vec<String>> {
    let table: toml::Table = format!("list = {value}").parse().ok()?;
    table.get("list")?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The value of a table in a list of them.
static SAID: Value = Value::Boolean(true);

fn add(at: &mut Vec<String>, value: &Value, out: &mut BTreeMap<Vec<String>, String>) {
    let below: Vec<(String, &Value)> = if let Some(keys) = value.as_table() {
        keys.iter().map(|(key, value)| (key.clone(), value)).collect()
    } else if let Some(items) = value.as_array().filter(|items| !items.is_empty() && items.iter().all(Value::is_table)) {
        items.iter().map(|item| (item.to_string(), &SAID)).collect()
    } else {
        // `3.0` and `3` are one number.
        out.insert(at.clone(), value.as_float().map_or_else(|| value.to_string(), |number| number.to_string()));
        return;
    };
    for (key, value) in below {
        at.push(key);
        add(at, value, out);
        at.pop();
    }
}
