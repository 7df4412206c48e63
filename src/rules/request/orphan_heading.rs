//! CTX745: a heading without text below it.

use super::prelude::*;
use crate::request::sections::find_sections;

/// Off by default: a list of headings may be intended.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(
        745,
        "orphan-heading",
        "a heading with nothing below it",
        case!("orphan-heading"),
    )
    .off_by_default(),
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
        let is_orphan = |range: std::ops::Range<usize>| {
            let body = text.get(range).unwrap_or_default();
            body.trim_start().starts_with('#') && body.trim().lines().count() == 1
        };
        let found = find_sections(text)
            .into_iter()
            .find(|section| is_orphan(section.range.clone()));
        if let Some(found) = found {
            let message = format!(
                "there is nothing below the heading `{}`",
                shorten(&found.title)
            );
            let help = "its text may come from an empty value: leave the heading out in that case";
            out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
        }
    }
}
