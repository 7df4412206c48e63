//! CTX733: characters that the model reads but people do not see.

use super::prelude::*;

/// An attacker can hide instructions in invisible text.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        733,
        "invisible-text",
        "invisible text in a request",
        case!("invisible-text"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx.request.message_parts() {
        let found = part_texts(placed).into_iter().find_map(first_invisible);
        let Some(found) = found else { continue };
        let kind = if is_tag_character(found) {
            "tag characters, which are read and not shown"
        } else {
            "a mark that turns the direction of the text"
        };
        let message = format!("found U+{:04X}: {kind}", u32::from(found));
        out.push(
            cx.finding(&RULE.meta, &placed.pointer, message)
                .help("take such characters out of what comes from outside"),
        );
    }
}

/// Returns the first invisible character. Tags after a black flag are flags of regions.
fn first_invisible(text: &str) -> Option<char> {
    if text.is_ascii() {
        return None;
    }
    let mut is_flag = false;
    text.chars().find(|one| {
        if is_tag_character(*one) {
            return !is_flag;
        }
        is_flag = *one == '\u{1F3F4}';
        matches!(one, '\u{202A}'..='\u{202B}' | '\u{202D}'..='\u{202E}')
    })
}

const fn is_tag_character(one: char) -> bool {
    matches!(one, '\u{E0000}'..='\u{E007F}')
}
