//! Tests of the private items of `src/registry/workspace/inputs.rs`.

use super::CheckInputs;
use crate::base::hash::Hash;

#[test]
fn templates_come_and_go_and_texts_change() {
    let hash = |text: &str| Hash::digest(text.as_bytes());
    let inputs = |templates: &[(&str, &str)], others: &[(&str, &str)]| CheckInputs {
        templates: templates
            .iter()
            .map(|(name, text)| ((*name).to_owned(), hash(text)))
            .collect(),
        others: others
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Some(hash(text))))
            .collect(),
        ..CheckInputs::default()
    };
    let before = inputs(
        &[("a", "1"), ("b", "1"), ("c", "1")],
        &[("t", "1"), ("u", "1"), ("v", "1")],
    );
    let after = inputs(
        &[("b", "2"), ("c", "1"), ("d", "1")],
        &[("t", "2"), ("u", "1"), ("w", "1")],
    );
    let changed: Vec<String> = after.changed_files(&before).into_iter().collect();
    assert_eq!(changed, ["a", "b", "d", "t"]);
}
