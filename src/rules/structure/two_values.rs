//! CTX116: two contents where one may stand.

use super::family::{finding, words};
use crate::rules::prelude::*;
use crate::syntax::write::remove_attribute;
use crate::template::fault::{Fault, FaultKind};

/// Of two values the agent would receive one, and nobody said which.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(116, "two-values", "two values where one may stand", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
An `<input>` takes its value from exactly one place: `from`, a text, or a task or call inside it. A text element has its text in place
or in the file of its `src`; a `<command>` is one text or a list of `<arg>`; a `<model>` is a name or `<preferred>` with `<fallback>`.
Of two the agent would receive one, and which one is nobody's decision.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <parameters>\n    <parameter name=\"subject\"/>\n  </parameters>\n  <inputs>\n    <input name=\"title\" from=\"subject\">friendly</input>\n  </inputs>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <instructions src=\"rules.md\">answer with one word</instructions>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::TwoContents { kind } = fault.kind else { return None };
    let element = fault.element;
    let attributes: Vec<&str> = ["from", "src"].into_iter().filter(|name| element.attribute(name).is_some()).collect();
    let mut contents: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
    let inside: Vec<_> = element
        .elements()
        .filter(|child| child.namespace().is_none() && !child.name().contains(':') && child.name() != "use")
        .collect();
    let has_words = words(element).next().is_some();
    if has_words {
        contents.push("a text".to_owned());
    }
    let mut tags: Vec<&str> = inside.iter().map(|child| child.name()).collect();
    tags.dedup();
    contents.extend(tags.iter().map(|tag| format!("`<{tag}>`")));
    let message = format!("`<{}>` has {}, and can have one of them", kind.tag(), contents.join(" and "));
    let mut found = finding(&RULE.meta, cx, element.name_span(), message);
    if let (&[name], true) = (attributes.as_slice(), has_words || !inside.is_empty()) {
        let empty = Edit::replace(element.inner(), "");
        found = found.fix(Fix::suggested(format!("keep `{name}`, remove what stands inside"), vec![empty]));
        if let Some(edit) = remove_attribute(element, name) {
            found = found.fix(Fix::suggested(format!("remove `{name}`, keep what stands inside"), vec![edit]));
        }
    } else if has_words && attributes.is_empty() {
        let edits = words(element).map(Edit::delete).collect();
        found = found.fix(Fix::suggested("remove the text, keep the elements", edits));
    }
    Some(found.help("keep the one that is meant"))
}
