//! JSON straight into a buffer: no value trees, no allocation but the buffer's own.

use crate::base::span::Span;

/// Appends JSON to a buffer. The caller keeps the commas and brackets right; tests read every entry back.
#[derive(Debug, Default)]
pub(super) struct Json {
    pub(super) bytes: Vec<u8>,
}

impl Json {
    /// Appends bytes as they are.
    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends a string.
    pub(super) fn str(&mut self, text: &str) {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.bytes, text);
    }

    /// Appends a string or `null`.
    pub(super) fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.str(text),
            None => self.raw("null"),
        }
    }

    /// Appends a number.
    pub(super) fn number(&mut self, number: u64) {
        let _ = serde_json::to_writer(&mut self.bytes, &number);
    }

    /// Appends `true` or `false`.
    pub(super) fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Appends a span.
    pub(super) fn span(&mut self, span: Span) {
        self.raw("{\"start\":");
        self.number(u64::from(span.start));
        self.raw(",\"end\":");
        self.number(u64::from(span.end));
        self.raw("}");
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
