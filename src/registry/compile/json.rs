//! A JSON writer into one buffer: no value trees, no allocation but that of the buffer.

use serde::Serialize;

/// Appends JSON to a buffer. The caller is responsible for commas and brackets; tests parse every
/// entry.
#[derive(Debug, Default)]
pub(super) struct Json {
    pub(super) bytes: Vec<u8>,
}

impl Json {
    /// Appends text verbatim.
    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends serialisable data.
    pub(super) fn value(&mut self, value: &impl Serialize) {
        // Writing plain data with string keys to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.bytes, value);
    }

    /// Appends a string.
    pub(super) fn str(&mut self, text: &str) {
        self.value(&text);
    }

    /// Appends `"key":`, after a comma unless it is the first of its object.
    pub(super) fn key(&mut self, key: &str) {
        if !matches!(self.bytes.last(), Some(b'{')) {
            self.raw(",");
        }
        self.raw("\"");
        self.raw(key);
        self.raw("\":");
    }

    /// Appends a comma unless a list has just begun.
    pub(super) fn item(&mut self) {
        if !matches!(self.bytes.last(), Some(b'[')) {
            self.raw(",");
        }
    }
}
