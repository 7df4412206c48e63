//! CTX115: text where only elements are allowed.

use super::structure_prelude::{wrapping_child, *};

/// No agent receives text between elements.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        115,
        "misplaced-text",
        "text where only elements are allowed"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::MisplacedText { parent } = fault.kind else {
        return None;
    };
    let span = trim_span(cx, fault.span);
    let text = span.slice(cx.document.text);
    let words = short_excerpt(text);
    let message = format!(
        "`{}` is directly in `<{}>`, where no agent reads it",
        first_line(&words),
        fault.element.name()
    );
    let mut found = file_finding(&RULE.meta, cx, span, message);
    let has = |kind: ElementKind| {
        fault
            .element
            .elements()
            .any(|child| child.name() == kind.tag())
    };
    let home = [ElementKind::Description, ElementKind::Instructions]
        .into_iter()
        .find(|kind| parent.is_body() && !has(*kind));
    if let Some(home) = home.or_else(|| wrapping_child(parent, fault.element)) {
        let tag = home.tag();
        let edits = vec![
            Edit::insert(span.start, format!("<{tag}>")),
            Edit::insert(span.end, format!("</{tag}>")),
        ];
        let article = if parent.child(tag).is_some_and(|child| child.is_repeatable) {
            "a"
        } else {
            "the"
        };
        return Some(found.fix(Fix::suggested(format!("make it {article} <{tag}>"), edits)));
    }
    if matches!(parent, ElementKind::Parameters | ElementKind::Parameter) {
        return Some(found.help("a parameter is written `<parameter name=\"…\"/>`"));
    }
    if parent == ElementKind::OutputFormat {
        let help = "type=\"json\" says that it is JSON, and schema=\"…\" of which form: a type, or a file with a JSON Schema";
        return Some(found.help(help));
    }
    if !text.contains("--") && !text.ends_with('-') && !text.starts_with("<![CDATA[") {
        let edits = vec![
            Edit::insert(span.start, "<!-- "),
            Edit::insert(span.end, " -->"),
        ];
        found = found.fix(Fix::suggested("make it a comment", edits));
    }
    let may: Vec<ElementKind> = suggested_children(parent).collect();
    Some(if (1..=6).contains(&may.len()) {
        found.help(format!("`<{}>` holds {}", parent.tag(), list_tags(may)))
    } else {
        found
    })
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("").trim_end()
}
