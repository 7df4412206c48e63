//! Builds templates and other XML, indented by two spaces. Writes to memory, so it cannot fail.

use quick_xml::Writer;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use quick_xml::name::QName;

/// Writes elements one after another; each call writes complete lines.
pub struct TemplateWriter {
    out: Writer<Vec<u8>>,
    open: Vec<String>,
}

impl std::fmt::Debug for TemplateWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateWriter")
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl Default for TemplateWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl TemplateWriter {
    /// An empty document.
    pub fn new() -> Self {
        Self {
            out: Writer::new_with_indent(Vec::new(), b' ', 2),
            open: Vec::new(),
        }
    }

    /// Writes the XML declaration, for readers that require one.
    pub fn declaration(&mut self) -> &mut Self {
        self.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
        self
    }

    /// Opens an element.
    pub fn open(&mut self, name: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.write_event(Event::Start(start_event(name, attributes)));
        self.open.push(name.to_owned());
        self
    }

    /// Closes the innermost open element.
    pub fn close(&mut self) -> &mut Self {
        if let Some(name) = self.open.pop() {
            self.write_event(Event::End(BytesEnd::new(name)));
        }
        self
    }

    /// Writes an element that contains only text, on one line.
    pub fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) -> &mut Self {
        self.write_event(Event::Start(start_event(name, attributes)));
        self.write_event(Event::Text(BytesText::from_escaped(super::escape_text(
            text,
        ))));
        self.write_event(Event::End(BytesEnd::new(name)));
        self
    }

    /// Writes an element without content.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.write_event(Event::Empty(start_event(name, attributes)));
        self
    }

    /// Writes a comment. `--` in it becomes `- -`, which XML allows.
    pub fn comment(&mut self, text: &str) -> &mut Self {
        let safe = text.replace("--", "- -");
        let pad = if safe.ends_with('-') { " " } else { "" };
        self.write_event(Event::Comment(BytesText::from_escaped(format!(
            " {safe}{pad} "
        ))));
        self
    }

    /// Closes all open elements and returns the text, which ends in a line break.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        let mut text = String::from_utf8(self.out.into_inner()).unwrap_or_default();
        text.push('\n');
        text
    }

    fn write_event(&mut self, event: Event<'_>) {
        // Writing to a vector cannot fail.
        let _ = self.out.write_event(event);
    }
}

fn start_event(name: &str, attributes: &[(&str, &str)]) -> BytesStart<'static> {
    let mut start = BytesStart::new(name.to_owned());
    for (name, value) in attributes {
        start.push_attribute(Attribute {
            key: QName(name),
            value: super::escape_attribute(value),
        });
    }
    start
}
