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
