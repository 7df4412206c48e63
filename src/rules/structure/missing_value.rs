//! CTX117: an input without a value.

use super::family::{finding, is_small, shown};
use crate::rules::prelude::*;
use crate::syntax::tree::Element;
use crate::syntax::write::set_attribute;
use crate::template::fault::{Fault, FaultKind};

/// Nothing is ever rendered as an empty place.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(117, "missing-value", "an input that says nothing", PAGE).examples(BAD, FINE).fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
An `<input>` gives the agent a named value: from a variable (`from=\"…\"`), a text between its tags, or the result of a task or call
inside it. With none of them the agent would be shown a name and an empty place.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <parameters>\n    <parameter name=\"subject\"/>\n  </parameters>\n  <inputs>\n    <input name=\"subject\"/>\n  </inputs>\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::NoContent { kind } = fault.kind else { return None };
    let name = fault.element.attribute("name").map(|name| name.value().trim().to_owned());
    let message = match &name {
        Some(name) => format!("the input `{}` has no value", shown(name)),
        None => format!("`<{}>` has no value", kind.tag()),
    };
    let found = finding(&RULE.meta, cx, fault.span, message).help("give it from=\"…\", a text, or a task whose result it is");
    let declared = name.filter(|name| is_declared(fault.element, name));
    Some(match declared {
        Some(name) => {
            let edits = vec![set_attribute(fault.element, "from", &name)];
            found.fix(Fix::suggested(format!("take it from the parameter `{}`", shown(&name)), edits))
        }
        None => found,
    })
}

/// Whether a task around an element declares a parameter of this name.
fn is_declared(element: Element<'_>, name: &str) -> bool {
    let around = std::iter::successors(element.parent(), |element| element.parent()).filter(|around| is_small(*around));
    let lists = around.flat_map(|task| task.elements().filter(|child| child.name() == "parameters"));
    lists
        .filter(|list| is_small(*list))
        .flat_map(Element::elements)
        .any(|parameter| parameter.attribute("name").is_some_and(|own| own.value().trim() == name))
}
