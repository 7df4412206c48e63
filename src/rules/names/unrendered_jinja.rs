//! CTX322: Jinja in a text that does not say so.

use crate::jinja::builtins::has_statement;
use crate::rules::prelude::*;
use crate::rules::structure::family::finding;
use crate::syntax::tree::Element;
use crate::syntax::write::set_attribute;
use crate::template::elements::Kind;

/// The agent reads the tags as words.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(322, "unrendered-jinja", "Jinja in a text without `syntax=\"jinja\"`", case!("unrendered-jinja"))
        .fixed(Fixable::Suggested),
    check: Check::File(check),
};

/// Endings of files that nobody writes anything but Jinja into.
const ENDINGS: [&str; 3] = [".j2", ".jinja", ".jinja2"];

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let text = cx.document.text;
    // Nearly no file has one of them.
    if memchr::memmem::find(text.as_bytes(), b"{%").is_none() && !ENDINGS.iter().any(|ending| text.contains(ending)) {
        return;
    }
    for element in cx.document.elements() {
        if is_decided(element) {
            continue;
        }
        let is = |name: &str| element.attribute(name).is_some();
        let message = match element.attribute("src") {
            Some(src) if ENDINGS.iter().any(|ending| src.value().ends_with(ending)) => {
                format!("the name of `{}` says Jinja, and the agent reads its tags as words", src.value())
            }
            None if has_statement(&element.text()) => "the agent reads this Jinja tag as words".to_owned(),
            _ => continue,
        };
        let written = element.span().slice(text);
        let at = written.find("{%").filter(|_| !is("src"));
        let start = element.span().start;
        let span = at.map_or_else(|| element.name_span(), |at| Span::new(start + at as u32, start + at as u32 + 2));
        let fix = |name, value, why: &str| Fix::suggested(why.to_owned(), vec![set_attribute(element, name, value)]);
        let found = finding(&RULE.meta, cx, span, message);
        let found = found.fix(fix("syntax", "jinja", "write syntax=\"jinja\": the text is rendered"));
        out.push(found.fix(fix("verbatim", "true", "write verbatim=\"true\": the tags are meant as words")));
    }
}

/// Whether a text without a file of its own is meant as Jinja, and does not say so.
pub(super) fn is_meant(element: Element<'_>) -> bool {
    !is_decided(element) && element.attribute("src").is_none() && has_statement(&element.text())
}

/// Whether an element is no text, or says itself how it is read.
fn is_decided(element: Element<'_>) -> bool {
    !is_text(element) || element.attribute("syntax").is_some() || element.attribute("verbatim").is_some()
}

/// Whether the element takes a text that can be rendered.
fn is_text(element: Element<'_>) -> bool {
    let name = element.name();
    Kind::homes(name).filter_map(|home| home.child(name)).any(|child| child.kind.is_text())
}
