//! CTX744: characters without width.

use super::prelude::*;

/// Off by default: text copied from web pages contains them, with little effect.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(
        744,
        "zero-width",
        "zero-width characters in a request",
        case!("zero-width"),
    )
    .off_by_default(),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    // Joiners are letters in some scripts and parts of emoji, so they are excluded.
    let is_one = |one: char| matches!(one, '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}');
    for (_, placed) in cx.request.message_parts() {
        let Some(found) = part_texts(placed)
            .iter()
            .find_map(|text| text.chars().find(|one| is_one(*one)))
        else {
            continue;
        };
        let message = format!(
            "found U+{:04X}, which is invisible and splits a word into other tokens",
            u32::from(found)
        );
        out.push(
            cx.finding(&RULE.meta, &placed.pointer, message)
                .help("remove it where the text is read in"),
        );
    }
}
