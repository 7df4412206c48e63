//! How `registry.json` is laid out: one definition on one line, sorted by name, so that a difference of two registries
//! is a difference of lines and an unchanged line can be taken from the old file.
//!
//! Never reads a template. The bytes depend on nothing but the items.

use super::artifact::EDITION;
use super::raw::SCHEMA;
use crate::base::hash::{Hash, Hasher};
use crate::template::names::DefinitionKind;
use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes of a hash as text: `b3:` and 64 digits.
pub(super) const HASH_LEN: usize = 67;
/// What separates two definitions.
const BETWEEN: &[u8] = b",\n";
const CHUNK: usize = 1 << 20;

/// Where the bytes of a definition are.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "fs"), allow(dead_code, reason = "what is spliced into a registry on disk needs a disk"))]
pub(super) enum Body<'a> {
    /// Just compiled; `hash_at` is where the hash belongs.
    New { bytes: &'a [u8], hash_at: u32 },
    /// In the registry on disk as they should be.
    Old { at: u64, len: u32 },
    /// In the registry on disk, but for the hash.
    Moved { at: u64, len: u32, hash_at: u32 },
}

/// One definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) kind: DefinitionKind,
    pub(super) name: &'a str,
    pub(super) hash: Hash,
    pub(super) body: Body<'a>,
}

#[cfg(feature = "fs")]
impl Item<'_> {
    pub(super) fn len(&self) -> u64 {
        match self.body {
            Body::New { bytes, .. } => bytes.len() as u64,
            Body::Old { len, .. } | Body::Moved { len, .. } => u64::from(len),
        }
    }
}

/// A run of the registry's bytes.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// These bytes.
    Bytes(Cow<'a, [u8]>),
    /// That range of the registry on disk.
    Old(Range<u64>),
}

/// Puts items into the order in which they are laid out.
pub(super) fn sort(items: &mut [Item<'_>]) {
    items.sort_unstable_by(|a, b| (a.kind, a.name).cmp(&(b.kind, b.name)));
}

/// The registry's hash: over what it is and the names and hashes of all items, in order.
pub(super) fn hash(items: &[Item<'_>]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.field(SCHEMA).field(EDITION);
    for item in items {
        hasher.field(item.kind.word()).field(item.name).field(item.hash.0);
    }
    hasher.finish()
}

fn head(hash: Hash) -> String {
    let compiler = env!("CARGO_PKG_VERSION");
    format!("{{\"schema\":\"{SCHEMA}\",\"edition\":\"{EDITION}\",\"compiler\":\"{compiler}\",\"hash\":\"{hash}\",\n\"tasks\":[")
}

/// What stands before the items of a kind, its predecessor's end included.
fn opening(kind: DefinitionKind) -> &'static [u8] {
    match kind {
        DefinitionKind::Task => b"",
        DefinitionKind::Template => b"],\n\"templates\":[",
        DefinitionKind::Fragment => b"],\n\"fragments\":[",
    }
}

const KINDS: [DefinitionKind; 3] = [DefinitionKind::Task, DefinitionKind::Template, DefinitionKind::Fragment];

/// The place of every item in the file, given their kinds and lengths in order.
#[cfg(feature = "fs")]
pub(super) fn places(items: impl IntoIterator<Item = (DefinitionKind, u32)>) -> Vec<u64> {
    let mut at = head(Hash([0; 32])).len() as u64;
    let mut out = Vec::new();
    let mut items = items.into_iter().peekable();
    for kind in KINDS {
        at += opening(kind).len() as u64;
        let mut any = false;
        while let Some((_, len)) = items.next_if(|(found, _)| *found == kind) {
            // A line break opens the first, a comma and a line break every other one.
            at += if any { 2 } else { 1 };
            out.push(at);
            at += u64::from(len);
            any = true;
        }
        at += u64::from(any);
    }
    out
}

/// The registry as runs of bytes. Items are sorted.
pub(super) fn pieces<'a>(items: &[Item<'a>], hash: Hash) -> Vec<Piece<'a>> {
    let mut out = Pieces { done: Vec::with_capacity(items.len() / 2 + 8), at: 0 };
    out.push(head(hash).into_bytes());
    let mut items = items.iter().peekable();
    for kind in KINDS {
        out.push(opening(kind));
        let mut any = false;
        while let Some(item) = items.next_if(|item| item.kind == kind) {
            out.item(item, any);
            any = true;
        }
        if any {
            out.push(&b"\n"[..]);
        }
    }
    out.push(&b"]}\n"[..]);
    out.done
}

struct Pieces<'a> {
    done: Vec<Piece<'a>>,
    at: u64,
}

impl<'a> Pieces<'a> {
    fn push(&mut self, bytes: impl Into<Cow<'a, [u8]>>) {
        let bytes = bytes.into();
        self.at += bytes.len() as u64;
        match self.done.last_mut() {
            _ if bytes.is_empty() => {}
            // Short runs are joined; long ones stay borrowed.
            Some(Piece::Bytes(last)) if bytes.len() < 256 => last.to_mut().extend_from_slice(&bytes),
            Some(_) | None => self.done.push(Piece::Bytes(bytes)),
        }
    }

    fn item(&mut self, item: &Item<'a>, any: bool) {
        let before = if any { BETWEEN } else { &b"\n"[..] };
        match item.body {
            Body::Old { at, len } => {
                // Two neighbours of the old file with what was between them are one run.
                if let Some(Piece::Old(run)) = self.done.last_mut()
                    && run.end + before.len() as u64 == at
                    && any
                {
                    run.end = at + u64::from(len);
                    self.at += before.len() as u64 + u64::from(len);
                    return;
                }
                self.push(before);
                self.old(at..at + u64::from(len));
            }
            Body::Moved { at, len, hash_at } => {
                self.push(before);
                let from = at + u64::from(hash_at);
                self.old(at..from);
                self.push(item.hash.to_string().into_bytes());
                self.old(from + HASH_LEN as u64..at + u64::from(len));
            }
            Body::New { bytes, hash_at } => {
                self.push(before);
                let (start, end) = bytes.split_at_checked(hash_at as usize).unwrap_or((bytes, &[]));
                self.push(start);
                self.push(item.hash.to_string().into_bytes());
                self.push(end.get(HASH_LEN..).unwrap_or(&[]));
            }
        }
    }

    fn old(&mut self, range: Range<u64>) {
        self.at += range.end - range.start;
        self.done.push(Piece::Old(range));
    }
}

/// Length of the registry in bytes.
pub(super) fn len(pieces: &[Piece<'_>]) -> u64 {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Old(range) => range.end - range.start,
        })
        .sum()
}

/// Writes the registry; `old` is the registry on disk that old pieces are in.
pub(super) fn write(pieces: &[Piece<'_>], old: &mut (impl Read + Seek), out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut chunk = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => out.write_all(bytes)?,
            Piece::Old(range) => {
                old.seek(SeekFrom::Start(range.start))?;
                let mut left = range.end - range.start;
                while left > 0 {
                    let step = left.min(CHUNK as u64);
                    chunk.resize(step as usize, 0);
                    old.read_exact(&mut chunk)?;
                    out.write_all(&chunk)?;
                    left -= step;
                }
            }
        }
    }
    Ok(())
}

/// Whether the registry on disk, `len` bytes long, holds these bytes already.
#[cfg(feature = "fs")]
pub(super) fn is_same(pieces: &[Piece<'_>], old: &mut (impl Read + Seek), old_len: u64) -> io::Result<bool> {
    if len(pieces) != old_len {
        return Ok(false);
    }
    let mut at = 0;
    let mut chunk = Vec::new();
    for piece in pieces {
        match piece {
            // A run that stays where it is needs no look; one that moves is only the same by chance, and then written again.
            Piece::Old(range) if range.start == at => at = range.end,
            Piece::Old(_) => return Ok(false),
            Piece::Bytes(bytes) => {
                old.seek(SeekFrom::Start(at))?;
                for part in bytes.chunks(CHUNK) {
                    chunk.resize(part.len(), 0);
                    old.read_exact(&mut chunk)?;
                    if chunk != part {
                        return Ok(false);
                    }
                }
                at += bytes.len() as u64;
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{Body, Item, hash, is_same, len, pieces, places, sort, write};
    use crate::base::hash::Hash;
    use crate::registry::Registry;
    use crate::template::names::DefinitionKind::{self, Fragment, Task, Template};
    use std::io::Cursor;

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
        let lines: Vec<_> = names.iter().map(|(kind, name, _)| line(*kind, name)).collect();
        let mut items: Vec<_> = names
            .iter()
            .zip(&lines)
            .map(|((kind, name, byte), (bytes, hash_at))| Item {
                kind: *kind,
                name,
                hash: Hash([*byte; 32]),
                body: Body::New { bytes, hash_at: *hash_at },
            })
            .collect();
        sort(&mut items);
        let pieces = pieces(&items, hash(&items));
        let mut out = Vec::new();
        write(&pieces, &mut Cursor::new(Vec::new()), &mut out).unwrap();
        assert_eq!(out.len() as u64, len(&pieces));
        assert!(is_same(&pieces, &mut Cursor::new(&out), out.len() as u64).unwrap());
        let mut other = out.clone();
        *other.last_mut().unwrap() = b' ';
        assert!(!is_same(&pieces, &mut Cursor::new(&other), out.len() as u64).unwrap());
        out
    }

    #[test]
    fn every_set_of_items_is_a_registry() {
        let all = [(Fragment, "f", 1), (Task, "b", 2), (Template, "t", 3), (Task, "a", 4), (Fragment, "e", 5)];
        for mask in 0..32_u32 {
            let some: Vec<_> = (0..5_usize).filter(|bit| mask & (1 << bit) != 0).map(|bit| all[bit]).collect();
            let registry = Registry::read(build(&some)).unwrap();
            let count = registry.tasks().len() + registry.templates().len() + registry.fragments().len();
            assert_eq!(count as u32, mask.count_ones());
        }
    }

    #[test]
    fn a_spliced_registry_equals_one_from_nothing() {
        let before = [(Task, "a", 1), (Task, "b", 2), (Task, "c", 3), (Task, "e", 4), (Template, "t", 5)];
        let after = [(Task, "a", 1), (Task, "b", 9), (Task, "d", 6), (Task, "e", 4), (Template, "t", 5), (Fragment, "f", 7)];
        let old = build(&before);
        let lens: Vec<_> = before.iter().map(|(kind, name, _)| (*kind, line(*kind, name).0.len() as u32)).collect();
        let at = places(lens);
        let fresh: Vec<_> = after.iter().map(|(kind, name, _)| line(*kind, name)).collect();
        let items: Vec<_> = after
            .iter()
            .zip(&fresh)
            .map(|((kind, name, byte), (bytes, hash_at))| {
                let known = before.iter().position(|(_, old, _)| old == name);
                let len = bytes.len() as u32;
                let body = match known {
                    Some(index) if before[index].2 == *byte => Body::Old { at: at[index], len },
                    Some(index) => Body::Moved { at: at[index], len, hash_at: *hash_at },
                    None => Body::New { bytes, hash_at: *hash_at },
                };
                Item { kind: *kind, name, hash: Hash([*byte; 32]), body }
            })
            .collect();
        let pieces = pieces(&items, hash(&items));
        let mut spliced = Vec::new();
        write(&pieces, &mut Cursor::new(&old), &mut spliced).unwrap();
        assert_eq!(String::from_utf8(spliced).unwrap(), String::from_utf8(build(&after)).unwrap());
    }
}
