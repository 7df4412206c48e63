//! Tests of the private items of `src/registry/compile/layout.rs`.

use super::{LayoutItem, sort_items, write_items};
use crate::base::hash::Hash;
use crate::registry::Registry;
use crate::template::names::DefinitionKind::{self, Fragment, Task, Template};

/// The line of a definition with its hash still open, and where that hash belongs.
fn line(kind: DefinitionKind, name: &str) -> (Vec<u8>, u32) {
    let hole = "0".repeat(super::HASH_LEN);
    let rest = match kind {
        Fragment => "\"source\":{\"path\":\"a\",\"span\":{\"start\":0,\"end\":0}},\"text\":1}",
        Task | Template => {
            "\"version\":null,\"operator\":\"atomic\",\"subtype\":null,\"source\":1,\"references\":1,\"warnings\":1,\"root\":1}"
        }
    };
    let text = format!("{{\"name\":\"{name}\",\"hash\":\"{hole}\",{rest}");
    let at = text.find(&hole).unwrap() as u32;
    (text.into_bytes(), at)
}

fn build(names: &[(DefinitionKind, &str, u8)]) -> Vec<u8> {
    let lines: Vec<_> = names
        .iter()
        .map(|(kind, name, _)| line(*kind, name))
        .collect();
    let mut items: Vec<LayoutItem<'_>> = names
        .iter()
        .zip(&lines)
        .map(|((kind, name, byte), (bytes, hash_at))| {
            let hash = Hash([*byte; 32]);
            LayoutItem {
                kind: *kind,
                name,
                hash,
                bytes,
                hash_at: *hash_at,
            }
        })
        .collect();
    sort_items(&mut items);
    write_items(&items)
}

#[test]
fn every_set_of_items_is_a_registry() {
    let all = [
        (Fragment, "f", 1),
        (Task, "b", 2),
        (Template, "t", 3),
        (Task, "a", 4),
        (Fragment, "e", 5),
    ];
    for mask in 0..32_u32 {
        let some: Vec<_> = (0..5_usize)
            .filter(|bit| mask & (1 << bit) != 0)
            .map(|bit| all[bit])
            .collect();
        let registry = Registry::read(build(&some)).unwrap();
        let count =
            registry.tasks().len() + registry.templates().len() + registry.fragments().len();
        assert_eq!(count as u32, mask.count_ones());
    }
}
