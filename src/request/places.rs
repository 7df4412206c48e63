//! Where a value stands in the text of a JSON document.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

/// The bytes of the value that a JSON pointer leads to; of the nearest one around it, where it leads to none. The whole text where it is
/// no JSON.
pub fn place(text: &str, pointer: &str) -> Range<usize> {
    let Ok(mut here) = serde_json::from_str::<&RawValue>(text) else { return 0..text.len() };
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let inner = match here.get().as_bytes().first() {
            Some(b'{') => {
                serde_json::from_str::<BTreeMap<String, &RawValue>>(here.get()).ok().and_then(|mut keys| keys.remove(&token))
            }
            Some(b'[') => {
                let list = serde_json::from_str::<Vec<&RawValue>>(here.get()).ok();
                list.and_then(|list| list.get(token.parse::<usize>().ok()?).copied())
            }
            _ => None,
        };
        let Some(inner) = inner else { break };
        here = inner;
    }
    // It is a part of the text: its address says where.
    let start = (here.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..(start + here.get().len()).min(text.len())
}

/// A pointer to something below another place.
pub fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_pointer_leads_to_the_bytes_of_its_value() {
        let text = r#" {"a": [1, {"b/c": "x"}], "d": null}"#;
        let of = |pointer: &str| &text[place(text, pointer)];
        assert_eq!(of("/a/1/b~1c"), "\"x\"");
        assert_eq!(of("/a/0"), "1");
        assert_eq!(of("/a/7"), r#"[1, {"b/c": "x"}]"#);
        assert_eq!(of("/d"), "null");
        assert_eq!(of(""), text.trim());
        assert_eq!(place("no", "/a"), 0..2);
    }
}
