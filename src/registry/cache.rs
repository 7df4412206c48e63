//! The index of the build cache: which files the last build saw, with their stamps, and what it depended on.
//!
//! Looked up in place: opening it decodes a short head and nothing else, so that a build in which nothing changed costs
//! the walk. Whatever is damaged, of another version or of another compiler reads as `None`: there is no cache.

use super::codec::{Decoder, Encoder, STAMP};
use crate::base::fs::Stamp;
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use std::ops::Range;

/// Changes with the layout of any cache file; the compiler's version stands beside it.
const MAGIC: &str = concat!("ctxc build cache 5, written by ctxc ", env!("CARGO_PKG_VERSION"));
/// Bytes of one record: path hash, stamp, path (offset, length), ordinal, kind.
const RECORD: usize = 8 + STAMP + 4 + 4 + 4 + 1;
const DIGEST: usize = 32;

/// What a file was to the last build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// It was compiled, and nothing was found.
    Clean,
    /// It was compiled, with findings.
    Noted,
    /// Its root is none of the language.
    Skipped,
}

/// Findings of one rule and severity, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// The rule's code.
    pub rule: u16,
    /// How grave they are.
    pub severity: Severity,
    /// How many there are.
    pub count: u32,
    /// How many of them have a fix.
    pub fixable: u32,
    /// How many of those a safe fix mends.
    pub safe: u32,
}

/// Something outside the templates that a build looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dependency {
    /// The path that was asked for.
    pub(super) path: Box<str>,
    /// What was there.
    pub(super) seen: Sight,
}

/// What a build saw of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sight {
    /// Nothing that could be read.
    Nothing,
    /// The path without links.
    Real(Box<str>),
    /// A file.
    File(Stamp),
}

/// Everything that decides about a build beside its input files.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Keys {
    /// The project file without its rows and defaults.
    pub(super) rest: Option<Hash>,
    /// Each row with what tasks take from it.
    pub(super) rows: Vec<(Box<str>, Hash)>,
}

/// The head of the index.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    pub(super) keys: Keys,
    /// The registry's file as it was left.
    pub(super) registry: Stamp,
    /// The registry's own hash.
    pub(super) hash: Option<Hash>,
    /// The digest of the facts beside the index.
    pub(super) facts: Option<Hash>,
    /// Files compiled.
    pub(super) taken: u32,
    /// Their findings.
    pub(super) tallies: Vec<Tally>,
    /// What texts are pulled from.
    pub(super) dependencies: Vec<Dependency>,
}

/// One file of the last build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) stamp: Stamp,
    pub(super) kind: FileKind,
    /// Its position in the order of paths.
    pub(super) ordinal: u32,
}

/// A file to be recorded.
#[derive(Clone, Debug)]
pub(super) struct Seen<'p> {
    pub(super) path: &'p str,
    pub(super) stamp: Stamp,
    pub(super) kind: FileKind,
}

/// The index as read.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) head: Head,
    bytes: Vec<u8>,
    records: Range<usize>,
    paths: Range<usize>,
}

/// Writes an index. `files` are in the order of their paths.
pub(super) fn encode(head: &Head, files: &[Seen<'_>]) -> Vec<u8> {
    let mut out = Encoder::default();
    out.str(MAGIC);
    encode_head(head, &mut out);
    let mut order: Vec<(u64, u32)> = files.iter().enumerate().map(|(at, file)| (key(file.path), at as u32)).collect();
    order.sort_unstable();
    let mut offsets = Vec::with_capacity(files.len());
    let mut total = 0_u32;
    for file in files {
        offsets.push(total);
        total += file.path.len() as u32;
    }
    out.u32(files.len() as u32);
    for (key, at) in order {
        let (Some(file), Some(&offset)) = (files.get(at as usize), offsets.get(at as usize)) else { continue };
        out.u64(key);
        out.stamp(file.stamp);
        out.u32(offset);
        out.u32(file.path.len() as u32);
        out.u32(at);
        out.u8(file.kind as u8);
    }
    out.u32(total);
    for file in files {
        out.bytes.extend_from_slice(file.path.as_bytes());
    }
    let digest = Hash::of(&out.bytes);
    out.hash(digest);
    out.bytes
}

fn encode_head(head: &Head, out: &mut Encoder) {
    out.hash(head.keys.rest.unwrap_or(Hash([0; 32])));
    out.list(&head.keys.rows, |out, (name, hash)| {
        out.str(name);
        out.hash(*hash);
    });
    out.stamp(head.registry);
    out.hash(head.hash.unwrap_or(Hash([0; 32])));
    out.hash(head.facts.unwrap_or(Hash([0; 32])));
    out.u32(head.taken);
    out.list(&head.tallies, encode_tally);
    out.list(&head.dependencies, |out, dependency| {
        out.str(&dependency.path);
        match &dependency.seen {
            Sight::Nothing => out.u8(0),
            Sight::Real(path) => {
                out.u8(1);
                out.str(path);
            }
            Sight::File(stamp) => {
                out.u8(2);
                out.stamp(*stamp);
            }
        }
    });
}

pub(super) fn encode_tally(out: &mut Encoder, tally: &Tally) {
    out.u32(u32::from(tally.rule));
    out.u8(tally.severity as u8);
    out.u32(tally.count);
    out.u32(tally.fixable);
    out.u32(tally.safe);
}

pub(super) fn decode_tally(input: &mut Decoder<'_>) -> Option<Tally> {
    let rule = u16::try_from(input.u32()?).ok()?;
    let severity = *[Severity::Error, Severity::Warning, Severity::Info, Severity::Hint].get(input.u8()? as usize)?;
    Some(Tally { rule, severity, count: input.u32()?, fixable: input.u32()?, safe: input.u32()? })
}

fn decode_head(input: &mut Decoder<'_>) -> Option<Head> {
    let rest = Some(input.hash()?);
    let rows = input.list(|input| Some((Box::from(input.str()?), input.hash()?)))?;
    let registry = input.stamp()?;
    let hash = Some(input.hash()?);
    let facts = Some(input.hash()?);
    let taken = input.u32()?;
    let tallies = input.list(decode_tally)?;
    let dependencies = input.list(|input| {
        let path = input.str()?.into();
        let seen = match input.u8()? {
            0 => Sight::Nothing,
            1 => Sight::Real(input.str()?.into()),
            2 => Sight::File(input.stamp()?),
            _ => return None,
        };
        Some(Dependency { path, seen })
    })?;
    Some(Head { keys: Keys { rest, rows }, registry, hash, facts, taken, tallies, dependencies })
}

/// Reads an index.
pub(super) fn decode(bytes: Vec<u8>) -> Option<Index> {
    let (body, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
    // The version first: an index of another compiler is not damaged, and not worth hashing.
    let mut input = Decoder::new(body);
    if input.str()? != MAGIC || Hash::of(body).0 != digest {
        return None;
    }
    let head = decode_head(&mut input)?;
    let count = input.u32()? as usize;
    let records = input.bytes(count.checked_mul(RECORD)?)?;
    let total = input.u32()? as usize;
    let paths = input.bytes(total)?;
    if !input.is_done() {
        return None;
    }
    let end = body.len();
    let paths_start = end - paths.len();
    let records_start = paths_start - 4 - records.len();
    let (records, paths) = (records_start..paths_start - 4, paths_start..end);
    Some(Index { head, bytes, records, paths })
}

impl Index {
    /// How many files it knows, skipped ones among them.
    pub(super) fn len(&self) -> usize {
        self.records.len() / RECORD
    }

    /// What it knows of a file.
    pub(super) fn find(&self, path: &str) -> Option<Record> {
        let records = self.bytes.get(self.records.clone())?;
        let wanted = key(path);
        let key_at = |at: usize| Decoder::new(records.get(at * RECORD..).unwrap_or(&[])).u64().unwrap_or(u64::MAX);
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if key_at(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        while low < self.len() && key_at(low) == wanted {
            let (found, record) = self.record(low)?;
            if found == path {
                return Some(record);
            }
            low += 1;
        }
        None
    }

    /// All files with their paths, in no order that means anything.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, Record)> {
        (0..self.len()).filter_map(|at| self.record(at))
    }

    fn record(&self, at: usize) -> Option<(&str, Record)> {
        let mut input = Decoder::new(self.bytes.get(self.records.clone())?.get(at * RECORD..)?);
        input.u64()?;
        let stamp = input.stamp()?;
        let (offset, len) = (input.u32()? as usize, input.u32()? as usize);
        let ordinal = input.u32()?;
        let kind = *[FileKind::Clean, FileKind::Noted, FileKind::Skipped].get(input.u8()? as usize)?;
        let path = self.bytes.get(self.paths.clone())?.get(offset..offset.checked_add(len)?)?;
        Some((std::str::from_utf8(path).ok()?, Record { stamp, kind, ordinal }))
    }
}

/// A hash to sort and find paths by; equal keys are told apart by the path itself.
fn key(path: &str) -> u64 {
    let mut state = path.len() as u64;
    for chunk in path.as_bytes().chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        state = (state.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    state ^ (state >> 29)
}

/// Whether a file may still change without its stamp changing: it was written so shortly before `now` (nanoseconds since
/// 1970, taken before the file was read) that another write could fall into the same tick of the file system's clock.
pub(super) fn is_racy(stamp: Stamp, now: i128) -> bool {
    let latest = stamp.modified.max(stamp.changed);
    // Whole seconds are the mark of a coarse clock: two seconds is the coarsest in use.
    let tick = if stamp.modified % 1_000_000_000 == 0 { 2_000_000_000 } else { 50_000_000 };
    latest + tick >= now
}

/// A stamp that no file has, for files that must be looked at again.
pub(super) const UNTRUSTED: Stamp = Stamp { len: u64::MAX, modified: 0, id: 0, changed: 0 };

#[cfg(test)]
mod tests {
    use super::{Dependency, FileKind, Head, Keys, Seen, Sight, Tally, UNTRUSTED, decode, encode, is_racy};
    use crate::base::fs::Stamp;
    use crate::base::hash::Hash;
    use crate::base::rule_meta::Severity;

    fn example(paths: &[String]) -> Vec<u8> {
        let stamp = |at: usize| Stamp { len: at as u64, modified: -7 + at as i128, id: 9, changed: i128::MAX };
        let kind = |at: usize| if at % 3 == 2 { FileKind::Skipped } else { FileKind::Noted };
        let files: Vec<_> = paths.iter().enumerate().map(|(at, path)| Seen { path, stamp: stamp(at), kind: kind(at) }).collect();
        let head = Head {
            keys: Keys { rest: Some(Hash([1; 32])), rows: vec![("atomic".into(), Hash([2; 32]))] },
            facts: Some(Hash([3; 32])),
            tallies: vec![Tally { rule: 203, severity: Severity::Info, count: 3, fixable: 1, safe: 0 }],
            dependencies: [Sight::Nothing, Sight::Real("/b".into()), Sight::File(stamp(4))]
                .map(|seen| Dependency { path: "a.txt".into(), seen })
                .into(),
            ..Head::default()
        };
        encode(&head, &files)
    }

    #[test]
    fn what_is_written_is_found() {
        let paths: Vec<String> = (0..1_000).map(|n| format!("team{}/pack/file{n}.xml", n % 7)).collect();
        let index = decode(example(&paths)).unwrap();
        assert_eq!((index.len(), index.files().count()), (1_000, 1_000));
        for (at, path) in paths.iter().enumerate() {
            let record = index.find(path).unwrap();
            assert_eq!((record.ordinal, record.stamp.len), (at as u32, at as u64));
            assert_eq!(record.kind == FileKind::Skipped, at % 3 == 2);
        }
        assert!(index.find("team0/pack/file1000.xml").is_none() && index.find("").is_none());
        let head = &index.head;
        assert_eq!((head.dependencies.len(), head.tallies.len(), head.keys.rows.len()), (3, 1, 1));
        assert_eq!(head.dependencies[1].seen, Sight::Real("/b".into()));
        assert_eq!(decode(example(&[])).unwrap().len(), 0);
    }

    #[test]
    fn damage_is_no_cache() {
        let bytes = example(&["a.xml".to_owned(), "b.xml".to_owned()]);
        for end in 0..bytes.len() {
            assert!(decode(bytes[..end].to_vec()).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(decode(changed).is_none(), "changed at {at}");
        }
    }

    #[test]
    fn a_file_written_a_moment_ago_is_not_trusted() {
        let second = 1_000_000_000;
        let stamp = |modified| Stamp { len: 1, modified, id: 1, changed: modified };
        assert!(is_racy(stamp(100 * second + 1), 100 * second + 1 + second / 100), "within a tick");
        assert!(!is_racy(stamp(100 * second + 1), 101 * second), "long ago");
        assert!(is_racy(stamp(100 * second), 101 * second), "on a file system that counts seconds");
        assert!(is_racy(stamp(200 * second), 101 * second), "in the future");
        assert!(is_racy(Stamp { changed: 101 * second, ..stamp(5) }, 101 * second), "moved into place just now");
        assert_ne!(UNTRUSTED, Stamp::default());
    }
}
