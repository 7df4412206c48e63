//! Request bodies of model providers. They may lie beside scenarios as YAML or JSON and are
//! recognised by their content.

use crate::syntax::yaml::{self, YamlNode};

/// Keys of scenarios and suites that no request has.
const SCENARIO_KEYS: [&str; 8] = [
    "task",
    "role",
    "cases",
    "cases_from",
    "defaults",
    "context",
    "expect_context",
    "expectations",
];

/// Returns true if a text is the body of a model request: it has messages or an input, and no key
/// of a scenario.
pub fn is_request_body(text: &str) -> bool {
    let names = |words: &[&str]| words.iter().all(|word| text.contains(word));
    if ![
        &["messages"][..],
        &["contents"],
        &["model", "input"],
        &["model", "prompt"],
    ]
    .into_iter()
    .any(names)
    {
        return false;
    }
    let (root, _) = yaml::parse_tree(text);
    let has = |key: &str| root.get(key).is_some();
    let says_scenario = root
        .get("schema")
        .and_then(YamlNode::text)
        .is_some_and(|schema| schema.starts_with("ctxc/"));
    let is_said = |item: &YamlNode<'_>| {
        ["role", "content", "parts"]
            .iter()
            .any(|key| item.get(key).is_some())
    };
    let lists = |key: &str| {
        root.get(key)
            .and_then(YamlNode::items)
            .is_some_and(|items| items.iter().any(is_said))
    };
    let is_sent =
        lists("messages") || lists("contents") || has("model") && (has("input") || has("prompt"));
    is_sent && !says_scenario && !SCENARIO_KEYS.iter().any(|key| has(key))
}

#[cfg(test)]
#[path = "../../tests/unit/scenario/request_body.rs"]
mod tests;
