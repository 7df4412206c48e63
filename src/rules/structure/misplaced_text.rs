//! CTX115: text where only elements stand.

use super::family::{children, finding, shown, tags, trimmed, wrap};

use crate::rules::prelude::*;
use crate::syntax::tree::Element;
use crate::syntax::write::set_attribute;
use crate::template::elements::{Attr, Kind};
use crate::template::fault::{Fault, FaultKind};
use crate::template::parts::{SCHEMA_TYPES, is_schema_file};

/// Text between elements reaches nobody.
pub(crate) static RULE: Rule = Rule::new(
    meta!(error, 115, "misplaced-text", "text where only elements stand").fixed(Fixable::Suggested),
    Check::Template(word),
);

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::MisplacedText { parent } = fault.kind else { return None };
    let span = trimmed(cx, fault.span);
    let text = span.slice(cx.document.text);
    let words = shown(text);
    let message = format!("`{}` stands directly in `<{}>`, where no agent reads it", first_line(&words), fault.element.name());
    let mut found = finding(&RULE.meta, cx, span, message);
    let has = |kind: Kind| fault.element.elements().any(|child| child.name() == kind.tag());
    let home = [Kind::Description, Kind::Instructions].into_iter().find(|kind| parent.is_body() && !has(*kind));
    if let Some(home) = home.or_else(|| wrap(parent, fault.element)) {
        let tag = home.tag();
        let edits = vec![Edit::insert(span.start, format!("<{tag}>")), Edit::insert(span.end, format!("</{tag}>"))];
        let article = if parent.child(tag).is_some_and(|child| child.many) { "a" } else { "the" };
        return Some(found.fix(Fix::suggested(format!("make it {article} <{tag}>"), edits)));
    }
    if matches!(parent, Kind::Parameters | Kind::Parameter) {
        return Some(match parameters(parent, fault.element, span, text) {
            Some(edits) => found.fix(Fix::suggested("write it as the name of a parameter", edits)),
            None => found.help("a parameter is written `<parameter name=\"…\"/>`"),
        });
    }
    if parent == Kind::OutputFormat {
        return Some(output_format(fault.element, text, found));
    }
    if !text.contains("--") && !text.ends_with('-') && !text.starts_with("<![CDATA[") {
        let edits = vec![Edit::insert(span.start, "<!-- "), Edit::insert(span.end, " -->")];
        found = found.fix(Fix::suggested("make it a comment", edits));
    }
    let may: Vec<Kind> = children(parent).collect();
    Some(if (1..=6).contains(&may.len()) { found.help(format!("`<{}>` holds {}", parent.tag(), tags(may))) } else { found })
}

/// Names between the tags are those of parameters.
fn parameters(parent: Kind, element: Element<'_>, span: Span, text: &str) -> Option<Vec<Edit>> {
    let names: Vec<&str> = text.split([',', ' ', '\n', '\t', '\r']).filter(|name| !name.is_empty()).collect();
    let is_name =
        |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    if !names.iter().all(is_name) {
        return None;
    }
    match (parent, &*names) {
        (Kind::Parameter, [name]) if element.attribute("name").is_none() => {
            Some(vec![set_attribute(element, "name", name), Edit::delete(element.inner())])
        }
        (Kind::Parameters, names) => {
            let all: Vec<String> = names.iter().map(|name| format!("<parameter name=\"{name}\"/>")).collect();
            Some(vec![Edit::replace(span, all.concat())])
        }
        _ => None,
    }
}

/// What the answer must be is said by attributes.
fn output_format(element: Element<'_>, text: &str, found: Diagnostic) -> Diagnostic {
    let known = |name: &str| Kind::OutputFormat.attribute(name).map_or(&[][..], Attr::words);
    let is_schema = SCHEMA_TYPES.contains(&text) || is_schema_file(text);
    let attribute = if known("type").contains(&text) { "type" } else { "schema" };
    if (attribute == "schema" && !is_schema) || element.attribute(attribute).is_some() || element.elements().next().is_some() {
        return found
            .help("type=\"json\" says that it is JSON, and schema=\"…\" of which form: a type, or a file with a JSON Schema");
    }
    let edits = vec![set_attribute(element, attribute, text), Edit::delete(element.inner())];
    found.fix(Fix::suggested(format!("write {attribute}=\"{text}\""), edits))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("").trim_end()
}
