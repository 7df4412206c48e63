//! CTX746: base64 as text.

use super::prelude::*;

/// Off by default: tools sometimes return such data.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(
        746,
        "base64-text",
        "base64 as text outside of tool results",
        case!("base64-text"),
    )
    .off_by_default(),
    check: Check::Request(check_request),
};

/// Minimum length of a run of base64 characters that counts as data.
const MIN_RUN: usize = 256;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx
        .request
        .message_parts()
        .filter(|(_, placed)| !matches!(placed.part, Some(Part::Result(_))))
    {
        let longest = part_texts(placed)
            .iter()
            .map(|text| longest_run(text))
            .max()
            .unwrap_or(0);
        if longest >= MIN_RUN {
            let message = format!(
                "found {longest} characters of base64 as text, about {} tokens that the model cannot read",
                longest / 2
            );
            let help = "send an image or a document as a part of its own kind";
            out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
        }
    }
}

/// Returns the length of the longest run of base64 that contains lower-case letters, upper-case
/// letters and digits.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|one: char| {
        !one.is_ascii_alphanumeric() && !matches!(one, '+' | '/' | '=' | '-' | '_')
    });
    let has = |run: &str, is: fn(&u8) -> bool| run.as_bytes().iter().any(is);
    let is_data = |run: &&str| {
        has(run, u8::is_ascii_lowercase)
            && has(run, u8::is_ascii_uppercase)
            && has(run, u8::is_ascii_digit)
    };
    runs.filter(|run| run.len() >= MIN_RUN)
        .filter(is_data)
        .map(str::len)
        .max()
        .unwrap_or(0)
}
