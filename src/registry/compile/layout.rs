//! The layout of `registry.json`: one definition per line, sorted by name, so that a difference of
//! two registries is a difference of lines.
//!
//! Never reads a template. The bytes depend only on the items.

use crate::base::hash::{Hash, Hasher};
use crate::registry::artifact::EDITION;
use crate::registry::raw::SCHEMA;
use crate::template::names::DefinitionKind;

/// Bytes of a hash as text: `b3:` and 64 digits.
pub(in crate::registry) const HASH_LEN: usize = 67;

/// One definition.
#[derive(Clone, Copy, Debug)]
pub(in crate::registry) struct LayoutItem<'a> {
    pub(in crate::registry) kind: DefinitionKind,
    pub(in crate::registry) name: &'a str,
    pub(in crate::registry) hash: Hash,
    /// Its line, with the hash still to be filled in.
    pub(in crate::registry) bytes: &'a [u8],
    /// The offset of the hash in the line.
    pub(in crate::registry) hash_at: u32,
}

/// Sorts items into the order of the layout.
pub(in crate::registry) fn sort_items(items: &mut [LayoutItem<'_>]) {
    items.sort_unstable_by(|a, b| (a.kind, a.name).cmp(&(b.kind, b.name)));
}

/// The registry's hash: over schema, edition, and the names and hashes of all items in order.
fn registry_hash(items: &[LayoutItem<'_>]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.add_field(SCHEMA).add_field(EDITION);
    for item in items {
        hasher
            .add_field(item.kind.word())
            .add_field(item.name)
            .add_field(item.hash.0);
    }
    hasher.finish()
}

fn registry_head(hash: Hash) -> String {
    let compiler = env!("CARGO_PKG_VERSION");
    format!(
        "{{\"schema\":\"{SCHEMA}\",\"edition\":\"{EDITION}\",\"compiler\":\"{compiler}\",\"hash\":\"{hash}\",\n\"tasks\":["
    )
}

/// The text before the items of a kind, including the end of the previous kind.
fn section_opening(kind: DefinitionKind) -> &'static [u8] {
    match kind {
        DefinitionKind::Task => b"",
        DefinitionKind::Template => b"],\n\"templates\":[",
        DefinitionKind::Fragment => b"],\n\"fragments\":[",
    }
}

const KINDS: [DefinitionKind; 3] = [
    DefinitionKind::Task,
    DefinitionKind::Template,
    DefinitionKind::Fragment,
];

/// Writes the registry of sorted items.
pub(in crate::registry) fn write_items(items: &[LayoutItem<'_>]) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(items.iter().map(|item| item.bytes.len() + 2).sum::<usize>() + 512);
    out.extend_from_slice(registry_head(registry_hash(items)).as_bytes());
    let mut items = items.iter().peekable();
    for kind in KINDS {
        out.extend_from_slice(section_opening(kind));
        let mut any = false;
        while let Some(item) = items.next_if(|item| item.kind == kind) {
            out.extend_from_slice(if any { b",\n" } else { b"\n" });
            let (start, end) = item
                .bytes
                .split_at_checked(item.hash_at as usize)
                .unwrap_or((item.bytes, &[]));
            out.extend_from_slice(start);
            out.extend_from_slice(item.hash.to_string().as_bytes());
            out.extend_from_slice(end.get(HASH_LEN..).unwrap_or(&[]));
            any = true;
        }
        if any {
            out.push(b'\n');
        }
    }
    out.extend_from_slice(b"]}\n");
    out
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/compile/layout.rs"]
mod tests;
