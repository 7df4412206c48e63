//! CTX743: the same passage twice in a request.

use super::prelude::*;

/// Off by default: a repeated quotation may be intended.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(
        743,
        "repeated-passage",
        "the same passage twice in a request",
        case!("repeated-passage"),
    )
    .off_by_default(),
    check: Check::Request(check_request),
};

/// Minimum size in bytes of a reported passage.
const MIN_PASSAGE_BYTES: usize = 200;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for (_, placed) in cx.request.message_parts() {
        let texts = part_texts(placed);
        let passages = texts
            .iter()
            .flat_map(|text| text.split("\n\n"))
            .map(str::trim)
            .filter(|passage| passage.len() >= MIN_PASSAGE_BYTES);
        let twice: Vec<&str> = passages
            .filter(|passage| !seen.insert((*passage).to_owned()))
            .collect();
        if let Some(first) = twice.first() {
            let message = format!(
                "found a passage of {} bytes for the second time: `{}`",
                first.len(),
                shorten(first)
            );
            out.push(
                cx.finding(&RULE.meta, &placed.pointer, message)
                    .help("say it once: the model reads both, and both cost"),
            );
        }
    }
}
