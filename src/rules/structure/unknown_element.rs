//! CTX102: an element that the language does not have.

use super::family::{children, finding, meant, shown, tags};
use crate::rules::prelude::*;
use crate::syntax::tree::Element;
use crate::syntax::write::rename_element;
use crate::template::elements::Kind;
use crate::template::fault::{Fault, FaultKind};

/// An element that nobody knows would be left out of the prompt without a word.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(102, "unknown-element", "an element that the language does not have", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
What ctxc does not know cannot reach the agent: the element and everything in it would be missing from the prompt, and nobody would
notice. So it is an error, with the nearest name that may stand in its place.

Tags inside a text (`<b>`, `<answer>`) are elements too. Where they are meant as words for the agent, write them as text: `&lt;answer>`,
or put the text into `<![CDATA[ … ]]>`.

Elements of your own are welcome anywhere in a namespace of their own: `<x:owner xmlns:x=\"urn:my-team\">…</x:owner>` is kept.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <instrctions>answer with one word</instrctions>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket, answer in <answer>one word</answer></description>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::UnknownElement { parent, known_elsewhere } = fault.kind else { return None };
    let name = fault.element.name();
    if let Some(meant) = meant(parent, name).filter(|_| !known_elsewhere) {
        let message = format!("`<{parent}>` has no element `<{}>`", shown(name), parent = parent.tag());
        let fix = Fix::suggested(format!("write <{meant}>"), rename_element(fault.element, meant));
        return Some(finding(&RULE.meta, cx, fault.span, message).help(format!("did you mean `<{meant}>`?")).fix(fix));
    }
    if parent.is_text() {
        return Some(in_text(cx, fault, parent));
    }
    if known_elsewhere {
        return None;
    }
    let message = format!("`<{}>` has no element `<{}>`", parent.tag(), shown(name));
    let found = finding(&RULE.meta, cx, fault.span, message);
    let may: Vec<Kind> = children(parent).collect();
    Some(match may.len() {
        0 => found.help(format!("nothing stands in `<{}>` but text", parent.tag())),
        1..=6 => found.help(format!("it holds {}", tags(may))),
        _ => found.help("remove it, or give it a namespace of its own to keep it as an extension"),
    })
}

fn in_text(cx: &FileCx<'_>, fault: &Fault<'_>, parent: Kind) -> Diagnostic {
    let name = shown(fault.element.name());
    let message = format!("`<{name}>` stands in the text of `<{}>` and would not reach the agent", parent.tag());
    let mut edits = Vec::new();
    escape(fault.element, &mut edits);
    finding(&RULE.meta, cx, fault.span, message)
        .help("to have the agent read the tag itself, write `&lt;`, or put the text into `<![CDATA[ … ]]>`")
        .fix(Fix::suggested(format!("write &lt;{name}> as text"), edits))
}

/// The `<` of an element's tags, and of those inside it, as text. As deep as the document's depth limit.
fn escape(element: Element<'_>, edits: &mut Vec<Edit>) {
    let text = element.document().text;
    let tags = [Some(element.start_tag()), element.end_tag()].into_iter().flatten();
    for tag in tags.filter(|tag| text.as_bytes().get(tag.start as usize) == Some(&b'<')) {
        edits.push(Edit::replace(Span::new(tag.start, tag.start + 1), "&lt;"));
    }
    for inside in element.elements() {
        escape(inside, edits);
    }
}
