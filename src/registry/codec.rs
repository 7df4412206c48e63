//! The bytes of the build cache: little-endian numbers and length-prefixed strings, nothing else.
//!
//! Reading never panics and never allocates more than the input holds: damaged bytes give `None`, and the cache is ignored.

use crate::base::fs::Stamp;
use crate::base::hash::Hash;
use crate::base::span::Span;

/// Appends values to a buffer.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
}

impl Encoder {
    pub(super) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn str(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn optional(&mut self, text: Option<&str>) {
        self.u8(u8::from(text.is_some()));
        if let Some(text) = text {
            self.str(text);
        }
    }

    pub(super) fn hash(&mut self, hash: Hash) {
        self.bytes.extend_from_slice(&hash.0);
    }

    pub(super) fn span(&mut self, span: Span) {
        self.u32(span.start);
        self.u32(span.end);
    }

    pub(super) fn stamp(&mut self, stamp: Stamp) {
        self.u64(stamp.len);
        self.bytes.extend_from_slice(&stamp.modified.to_le_bytes());
        self.u64(stamp.id);
        self.bytes.extend_from_slice(&stamp.changed.to_le_bytes());
    }

    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        let items = items.into_iter();
        self.u32(items.len() as u32);
        for item in items {
            each(self, item);
        }
    }
}

/// Bytes of an encoded [`Stamp`].
pub(super) const STAMP: usize = 48;

/// Takes values off the front of a slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn str(&mut self) -> Option<&'a str> {
        let len = self.u32()? as usize;
        std::str::from_utf8(self.bytes(len)?).ok()
    }

    #[allow(clippy::option_option, reason = "damaged, absent and present are three things")]
    pub(super) fn optional(&mut self) -> Option<Option<&'a str>> {
        match self.u8()? {
            0 => Some(None),
            1 => self.str().map(Some),
            _ => None,
        }
    }

    pub(super) fn hash(&mut self) -> Option<Hash> {
        self.array().map(Hash)
    }

    pub(super) fn span(&mut self) -> Option<Span> {
        Some(Span { start: self.u32()?, end: self.u32()? })
    }

    pub(super) fn stamp(&mut self) -> Option<Stamp> {
        let len = self.u64()?;
        let modified = i128::from_le_bytes(self.array()?);
        let id = self.u64()?;
        Some(Stamp { len, modified, id, changed: i128::from_le_bytes(self.array()?) })
    }

    pub(super) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        // Every item takes at least one byte: a count beyond that is damage, not a reason to allocate.
        if count > self.rest.len() {
            return None;
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    pub(super) const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }
}
