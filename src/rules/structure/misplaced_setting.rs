//! CTX104: a context setting outside `<context_management>`.

use super::family::{is_small, line_break, whole_line};
use super::prelude::*;
use crate::syntax::write::{escape_text, insert_child};
use crate::template::setting::{SettingName, Word};

/// If the setting is ignored, an unintended default applies.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        104,
        "misplaced-setting",
        "a context setting outside `<context_management>`"
    )
    .fixed(Fixable::Safe),
    Check::Template(word),
);

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    if let FaultKind::MisplacedSetting {
        setting,
        block,
        task,
    } = fault.kind
    {
        return Some(element(cx, fault, setting, block, task));
    }
    let FaultKind::UnknownAttribute {
        kind, attribute, ..
    } = fault.kind
    else {
        return None;
    };
    let setting = SettingName::parse(attribute.name())?;
    (kind.is_body() || kind == Kind::ContextManagement)
        .then(|| attributes(cx, fault, kind, setting))
}

fn element(
    cx: &FileCx<'_>,
    fault: &Fault<'_>,
    setting: SettingName,
    block: Option<Element<'_>>,
    task: Element<'_>,
) -> Diagnostic {
    let word = setting.word();
    let message =
        format!("`<{word}>` has no effect here: settings belong in `<context_management>`");
    let found = finding(&RULE.meta, cx, fault.span, message);
    if !is_small(task) || !block.is_none_or(is_small) {
        return found.help("move it there");
    }
    let strays: Vec<Element<'_>> = task
        .elements()
        .filter(|child| name_of(*child).is_some())
        .collect();
    let mut names: Vec<Option<SettingName>> = strays
        .iter()
        .chain(&inside(block))
        .map(|child| name_of(*child))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    if names.len() < count {
        return found.help("the same setting is written twice: keep the value that is meant, in `<context_management>`");
    }
    let title = if strays.len() == 1 {
        "move it into <context_management>"
    } else {
        "move the settings into <context_management>"
    };
    found.fix(Fix::safe(title, moved(cx, &strays, block)))
}

fn name_of(element: Element<'_>) -> Option<SettingName> {
    if element.namespace().is_some() {
        None
    } else {
        SettingName::parse(element.name())
    }
}

fn inside(block: Option<Element<'_>>) -> Vec<Element<'_>> {
    block
        .into_iter()
        .flat_map(Element::elements)
        .filter(|child| name_of(*child).is_some())
        .collect()
}

/// Moves all stray settings of a task at once. Of two equal fixes only the first applies, because
/// the second finds its text gone.
fn moved(cx: &FileCx<'_>, strays: &[Element<'_>], block: Option<Element<'_>>) -> Vec<Edit> {
    let text = cx.document.text;
    let xml = |stray: &Element<'_>| stray.span().slice(text).to_owned();
    if let Some(block) = block {
        let all: Vec<String> = strays.iter().map(xml).collect();
        let mut edits = vec![insert_child(block, &all.join("\n"))];
        edits.extend(
            strays
                .iter()
                .map(|stray| Edit::delete(whole_line(cx, stray.span()))),
        );
        return edits;
    }
    let mut edits = Vec::new();
    let mut rest = strays.iter();
    let Some(first) = rest.next() else {
        return edits;
    };
    let line = line_break(cx);
    let (open, between, close) = match cx.indent(first.span().start) {
        Some(own) => (
            format!("{line}{own}  "),
            format!("{line}{own}  "),
            format!("{line}{own}"),
        ),
        None => Default::default(),
    };
    let all: Vec<String> = strays.iter().map(xml).collect();
    let body = format!(
        "<context_management>{open}{}{close}</context_management>",
        all.join(&between)
    );
    edits.push(Edit::replace(first.span(), body));
    edits.extend(rest.map(|stray| Edit::delete(whole_line(cx, stray.span()))));
    edits
}

/// Reports settings written as attributes of a task or of the block.
fn attributes(cx: &FileCx<'_>, fault: &Fault<'_>, kind: Kind, setting: SettingName) -> Diagnostic {
    let word = setting.word();
    let message = format!(
        "`{word}` has no effect as an attribute: settings are elements of `<context_management>`"
    );
    let found = finding(&RULE.meta, cx, fault.span, message);
    let element = fault.element;
    if !is_small(element) {
        return found.help("move it there");
    }
    let own = |child: &Element<'_>| {
        child.namespace().is_none() && child.name() == Kind::ContextManagement.tag()
    };
    let block = if kind == Kind::ContextManagement {
        Some(element)
    } else {
        element.elements().find(own)
    };
    let written: Vec<Option<SettingName>> = inside(block).into_iter().map(name_of).collect();
    let mut xml: Vec<String> = Vec::new();
    let mut edits = Vec::new();
    for attribute in element
        .attributes()
        .filter(|attribute| attribute.namespace().is_none())
    {
        let Some(name) = SettingName::parse(attribute.name()) else {
            continue;
        };
        if written.contains(&Some(name)) {
            return found.help("the same setting is in `<context_management>`: keep the value that is meant, there");
        }
        xml.push(format!(
            "<{0}>{1}</{0}>",
            name.word(),
            escape_text(attribute.value().trim())
        ));
        let before = cx
            .document
            .text
            .get(..attribute.span().start as usize)
            .unwrap_or("")
            .trim_ascii_end()
            .len();
        edits.push(Edit::delete(Span::new(before as u32, attribute.span().end)));
    }
    let xml = xml.join("\n");
    edits.push(match block {
        Some(block) => insert_child(block, &xml),
        None => insert_child(
            element,
            &format!(
                "<context_management>\n  {}\n</context_management>",
                xml.replace('\n', "\n  ")
            ),
        ),
    });
    found.fix(Fix::safe("move it into <context_management>", edits))
}
