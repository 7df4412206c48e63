//! CTX732: a placeholder in a system text that was not filled in.

use super::prelude::*;

/// The agent reads `{{customer_name}}` and invents a name.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        732,
        "unfilled-placeholder",
        "a placeholder left in a system text",
        case!("unfilled-placeholder"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx
        .request
        .message_parts()
        .filter(|(message, _)| message.speaker == Speaker::System)
    {
        let Some(Part::Text(text)) = &placed.part else {
            continue;
        };
        let Some(found) = find_placeholder(text) else {
            continue;
        };
        let message = format!(
            "found `{}` in the system text, where a value was expected",
            shorten(found)
        );
        let help = "fill it in where the text is made, and fail there when the value is missing";
        out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
    }
}

/// Returns the first unfilled placeholder. Code is skipped, because texts about templates contain
/// examples.
fn find_placeholder(text: &str) -> Option<&str> {
    // Few texts contain any of these.
    let has = |what: &&str| memchr::memmem::find(text.as_bytes(), what.as_bytes()).is_some();
    if !["{{", "[object Object]", "undefined", "None", "NaN"]
        .iter()
        .any(has)
    {
        return None;
    }
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second piece between backticks is code.
        let found = line
            .split('`')
            .step_by(2)
            .find_map(|piece| find_braced_name(piece).or_else(|| find_object_text(piece)));
        let value = || {
            line.rsplit_once(": ")
                .map(|(_, value)| value.trim())
                .filter(|value| matches!(*value, "undefined" | "None" | "NaN"))
        };
        if let Some(found) = found.or_else(value) {
            return Some(found);
        }
    }
    None
}

fn find_object_text(text: &str) -> Option<&str> {
    let at = text.find("[object Object]")?;
    text.get(at..at + "[object Object]".len())
}

/// Finds `{{name}}`, with or without spaces.
fn find_braced_name(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let from = rest.get(at..)?;
        let end = from.find("}}")?;
        let name = from.get(2..end)?.trim();
        let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name
                .chars()
                .all(|one| one.is_alphanumeric() || matches!(one, '_' | '.' | '-'));
        if is_name {
            return from.get(..end + 2);
        }
        rest = from.get(2..)?;
    }
    None
}
