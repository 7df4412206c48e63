//! CTX733: characters that the model reads but people do not see.

use super::prelude::*;
use crate::base::hidden_text::{HiddenKind, HiddenRun, hidden_runs, is_isolate};

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
        let texts = part_texts(placed);
        let is_hidden = |text: &str, run: &HiddenRun| {
            run.is_critical && !text.get(run.range.clone()).is_some_and(is_isolate)
        };
        let Some(run) = texts
            .into_iter()
            .find_map(|text| hidden_runs(text).find(|run| is_hidden(text, run)))
        else {
            continue;
        };
        let effect = match run.kind {
            HiddenKind::Tag => "tag characters, which are read and not shown",
            HiddenKind::Direction => "a mark that turns the direction of the text",
            HiddenKind::Selector
            | HiddenKind::Joiner
            | HiddenKind::DirectionHint
            | HiddenKind::NoWidth => "hidden characters in a row, which are read and not shown",
        };
        let message = format!("found U+{:04X}: {effect}", u32::from(run.first));
        out.push(
            cx.finding(&RULE.meta, &placed.pointer, message)
                .help("take such characters out of what comes from outside"),
        );
    }
}
