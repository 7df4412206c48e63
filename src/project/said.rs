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

fn add(at: &mut Vec<String>, value: &Value, out: &mut BTreeMap<Vec<String>, String>) {
    let mut below = |key: String, value: &Value| {
        at.push(key);
        add(at, value, out);
        at.pop();
    };
    match value {
        Value::Table(keys) => keys.iter().for_each(|(key, value)| below(key.clone(), value)),
        Value::Array(items) if items.iter().all(Value::is_table) => {
            items.iter().for_each(|item| below(item.to_string(), &Value::Boolean(true)));
        }
        value => drop(out.insert(at.clone(), value.to_string())),
    }
}
