//! A text for the agent in its canonical form, as a list of parts: words, and fragments used between them.
//!
//! Never substitutes a variable and never follows a `use`: rendering does. Reads no file: what `src` names is handed in.

use super::artifact::ReferenceKind;
use super::json::Json;
use crate::syntax::tree::{Element, Kind};
use crate::template::parts::{Substitution, Text, TextSyntax, Trust};
use crate::template::text::dedent;
use std::borrow::Cow;

/// Stands for a `use` while a text loses its indentation. No XML document can hold it.
const USE: char = '\u{1}';

/// The files that one file pulls in, by what is written there. `None` is one that could not be had, which is reported elsewhere.
pub trait Sources {
    /// The decoded text that a `src` names.
    fn text(&self, written: &str) -> Option<&str>;

    /// The JSON Schema of an answer: JSON without layout.
    fn schema(&self, written: &str) -> Option<&str>;
}

/// No files.
impl Sources for () {
    fn text(&self, _: &str) -> Option<&str> {
        None
    }

    fn schema(&self, _: &str) -> Option<&str> {
        None
    }
}

/// Appends a text with what is special about it: `{"text":"…"}`, or `{"parts":[{"text":"…"},{"use":"…"}]}`.
/// Fragments that it uses go to `references`.
pub(super) fn write(text: &Text<'_>, sources: &dyn Sources, out: &mut Json, references: &mut Vec<(ReferenceKind, String)>) {
    out.raw("{");
    match &text.src {
        Some(src) => {
            out.key("text");
            let words = sources.text(&src.value).unwrap_or("");
            out.str(&if preserves(text.element) { unix(words) } else { dedent(words) });
            out.key("src");
            out.str(&src.value);
        }
        None => content(text.element, out, references),
    }
    if text.syntax == TextSyntax::Jinja {
        out.raw(",\"syntax\":\"jinja\"");
    }
    if text.substitution == Substitution::Off {
        out.raw(",\"verbatim\":true");
    }
    if text.trust == Trust::Untrusted {
        out.raw(",\"trust\":\"untrusted\"");
    }
    out.raw("}");
}

/// Appends what stands between the tags: `"text":…` or `"parts":…`.
fn content(element: Element<'_>, out: &mut Json, references: &mut Vec<(ReferenceKind, String)>) {
    let uses: Vec<String> = element.elements().filter(|child| is_use(*child)).map(fragment).collect();
    if uses.is_empty() {
        let text = element.text();
        out.key("text");
        out.str(&if preserves(element) { Cow::Borrowed(&*text) } else { dedent(&text) });
        return;
    }
    let joined = joined(element);
    let text = if preserves(element) { Cow::Borrowed(joined.as_str()) } else { dedent(&joined) };
    out.key("parts");
    out.raw("[");
    let mut uses = uses.into_iter();
    for (number, words) in text.split(USE).enumerate() {
        if number > 0 {
            out.item();
            let name = uses.next().unwrap_or_default();
            out.raw("{\"use\":");
            out.str(&name);
            out.raw("}");
            references.push((ReferenceKind::Use, name));
        }
        if !words.is_empty() {
            out.item();
            out.raw("{\"text\":");
            out.str(words);
            out.raw("}");
        }
    }
    out.raw("]");
}

/// The text of an element with a mark for each `use`.
fn joined(element: Element<'_>) -> String {
    let mut out = String::new();
    for node in element.children() {
        match node.kind() {
            Kind::Text | Kind::Cdata => out.push_str(&node.text()),
            Kind::Element if node.as_element().is_some_and(is_use) => out.push(USE),
            Kind::Element | Kind::Comment | Kind::Instruction => {}
        }
    }
    out
}

/// Whether an element stands for a fragment.
pub(crate) fn is_use(element: Element<'_>) -> bool {
    element.namespace().is_none() && element.name() == "use"
}

fn fragment(element: Element<'_>) -> String {
    element.attribute("fragment").map_or_else(String::new, |name| name.value().trim().to_owned())
}

/// A text of which nothing goes: a line break is one sign, as it is in XML.
fn unix(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Whether the nearest `xml:space` says `preserve`.
pub(crate) fn preserves(element: Element<'_>) -> bool {
    let mut at = Some(element);
    while let Some(element) = at {
        if let Some(space) = element.attribute("xml:space") {
            return space.value() == "preserve";
        }
        at = element.parent();
    }
    false
}
