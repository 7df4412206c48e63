//! CTX104: a context setting outside `<context_management>`.

use super::structure_prelude::{file_line_break, has_few_children, whole_line_span, *};
use crate::syntax::write::{escape_text, insert_child};
use crate::template::setting::{SettingName, Word};

/// If the setting is ignored, an unintended default applies.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        104,
        "misplaced-setting",
        "a context setting outside `<context_management>`"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    if let TemplateFaultKind::MisplacedSetting {
        setting,
        block,
        task,
    } = fault.kind
    {
        return Some(element_finding(cx, fault, setting, block, task));
    }
    let TemplateFaultKind::UnknownAttribute {
        kind, attribute, ..
    } = fault.kind
    else {
        return None;
    };
    let setting = SettingName::parse(attribute.name())?;
    (kind.is_body() || kind == ElementKind::ContextManagement)
        .then(|| attribute_finding(cx, fault, kind, setting))
}

fn element_finding(
    cx: &FileCx<'_>,
    fault: &TemplateFault<'_>,
    setting: SettingName,
    block: Option<Element<'_>>,
    task: Element<'_>,
) -> Diagnostic {
    let word = setting.word();
    let message =
        format!("`<{word}>` has no effect here: settings belong in `<context_management>`");
    let found = file_finding(&RULE.meta, cx, fault.span, message);
    if !has_few_children(task) || !block.is_none_or(has_few_children) {
        return found.help("move it there");
    }
    let strays: Vec<Element<'_>> = task
        .elements()
        .filter(|child| setting_name(*child).is_some())
        .collect();
    let mut names: Vec<Option<SettingName>> = strays
        .iter()
        .chain(&settings_in_block(block))
        .map(|child| setting_name(*child))
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
    found.fix(Fix::safe(title, move_edits(cx, &strays, block)))
}

fn setting_name(element: Element<'_>) -> Option<SettingName> {
    if element.namespace().is_some() {
        None
    } else {
        SettingName::parse(element.name())
    }
}

fn settings_in_block(block: Option<Element<'_>>) -> Vec<Element<'_>> {
    block
        .into_iter()
        .flat_map(Element::elements)
        .filter(|child| setting_name(*child).is_some())
        .collect()
}

/// Moves all stray settings of a task at once. Of two equal fixes only the first applies, because
/// the second finds its text gone.
fn move_edits(cx: &FileCx<'_>, strays: &[Element<'_>], block: Option<Element<'_>>) -> Vec<Edit> {
    let text = cx.document.text;
    let xml = |stray: &Element<'_>| stray.span().slice(text).to_owned();
    if let Some(block) = block {
        let all: Vec<String> = strays.iter().map(xml).collect();
        let mut edits = vec![insert_child(block, &all.join("\n"))];
        edits.extend(
            strays
                .iter()
                .map(|stray| Edit::delete(whole_line_span(cx, stray.span()))),
        );
        return edits;
    }
    let mut edits = Vec::new();
    let mut rest = strays.iter();
    let Some(first) = rest.next() else {
        return edits;
    };
    let line = file_line_break(cx);
    let (open, between, close) = match cx.line_indent(first.span().start) {
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
    edits.extend(rest.map(|stray| Edit::delete(whole_line_span(cx, stray.span()))));
    edits
}

/// Reports settings written as attributes of a task or of the block.
fn attribute_finding(
    cx: &FileCx<'_>,
    fault: &TemplateFault<'_>,
    kind: ElementKind,
    setting: SettingName,
) -> Diagnostic {
    let word = setting.word();
    let message = format!(
        "`{word}` has no effect as an attribute: settings are elements of `<context_management>`"
    );
    let found = file_finding(&RULE.meta, cx, fault.span, message);
    let element = fault.element;
    if !has_few_children(element) {
        return found.help("move it there");
    }
    let own = |child: &Element<'_>| {
        child.namespace().is_none() && child.name() == ElementKind::ContextManagement.tag()
    };
    let block = if kind == ElementKind::ContextManagement {
        Some(element)
    } else {
        element.elements().find(own)
    };
    let written: Vec<Option<SettingName>> = settings_in_block(block)
        .into_iter()
        .map(setting_name)
        .collect();
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
