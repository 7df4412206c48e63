//! A JSON writer into one buffer: no value trees, no allocation but that of the buffer.

use serde::Serialize;

/// Appends JSON to a buffer. The caller is responsible for commas and brackets; tests parse every
/// entry.
#[derive(Debug, Default)]
pub(super) struct JsonBuffer {
    pub(super) bytes: Vec<u8>,
}

impl JsonBuffer {
    /// Appends text verbatim.
    pub(super) fn push_raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends serialisable data.
    pub(super) fn push_value(&mut self, value: &impl Serialize) {
        // Writing plain data with string keys to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.bytes, value);
    }

    /// Appends a string.
    pub(super) fn push_str(&mut self, text: &str) {
        self.push_value(&text);
    }

    /// Appends `"key":`, after a comma unless it is the first of its object.
    pub(super) fn push_key(&mut self, key: &str) {
        if !matches!(self.bytes.last(), Some(b'{')) {
            self.push_raw(",");
        }
        self.push_raw("\"");
        self.push_raw(key);
        self.push_raw("\":");
    }

    /// Appends a comma unless a list has just begun.
    pub(super) fn begin_item(&mut self) {
        if !matches!(self.bytes.last(), Some(b'[')) {
            self.push_raw(",");
        }
    }
}
