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
    .off(),
    check: Check::Request(check),
};

/// Minimum size in bytes of a reported passage.
const LEAST: usize = 200;

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for (_, placed) in cx.request.parts() {
        let texts = texts(placed);
        let passages = texts
            .iter()
            .flat_map(|text| text.split("\n\n"))
            .map(str::trim)
            .filter(|passage| passage.len() >= LEAST);
        let twice: Vec<&str> = passages
            .filter(|passage| !seen.insert((*passage).to_owned()))
            .collect();
        if let Some(first) = twice.first() {
            let message = format!(
                "found a passage of {} bytes for the second time: `{}`",
                first.len(),
                short(first)
            );
            out.push(
                cx.found(&RULE.meta, &placed.pointer, message)
                    .help("say it once: the model reads both, and both cost"),
            );
        }
    }
}
