//! CTX742: personal data in a request.

use super::prelude::*;

/// Off by default: most customer-service agents receive some.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(
        742,
        "personal-data",
        "personal data in what a model is sent",
        case!("personal-data"),
    )
    .off_by_default(),
    check: Check::Request(check_request),
};

/// Masks that replace personal data in recordings.
const MASKS_BY_KIND: [(&str, &str); 4] = [
    ("⟦email:", "an e-mail address"),
    ("⟦phone:", "a phone number"),
    ("⟦card:", "a card number"),
    ("⟦iban:", "an IBAN"),
];

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx.request.message_parts() {
        let texts = part_texts(placed);
        let found = MASKS_BY_KIND
            .iter()
            .find(|(placeholder, _)| texts.iter().any(|text| text.contains(placeholder)));
        if let Some((_, what)) = found {
            let help = "leave it out where the model can do without it";
            out.push(
                cx.finding(&RULE.meta, &placed.pointer, format!("found {what}"))
                    .help(help),
            );
        }
    }
}
