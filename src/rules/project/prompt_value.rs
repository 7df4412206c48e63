//! CTX533: a value in a role's system prompt, which takes none.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;
use crate::rules::structure::family::shown;

/// Its agent would read the braces.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        533,
        "value-in-system-prompt",
        "a `{{…}}` in a role's system prompt, where nothing stands for it",
        PAGE,
    )
    .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`system` of a role says who the agent is, whatever it is asked: it takes no values, so that it is the same bytes in every call and a provider's
cache can reuse it. `{{name}}` in it is not replaced: the agent would read the braces. A text with values belongs to the task that the role plays:
into its `<system>`, or better its `<instructions>`, with a `<parameter>` for each value.

Where the agent is to read braces, because it writes templates, say so in `[lints]`: `value-in-system-prompt = \"off\"`.";

const BAD: &[Example] = &[
    project("[roles.triage]\nsystem = \"You work for {{company}}.\"\n"),
    project(
        "[roles.triage]\nsystem = { file = \"prompts/triage.md\" }\n# file: prompts/triage.md\nYou sort tickets\nof {{ company | upper }}.\n",
    ),
];

const GOOD: &[Example] = &[project(
    "[roles.triage]\nsystem = \"You sort tickets. An answer is JSON: {\\\"team\\\": {\\\"name\\\": \\\"data\\\"}}\"\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::PromptValue { role, written, line } = &fault.kind else { return None };
    let place = line.as_ref().map_or_else(String::new, |(path, line)| format!(", {path}:{line}"));
    let written = shown(written);
    let message = format!("role `{role}` would be told `{written}` as it stands{place}: its system prompt takes no values");
    let finding = cx.finding(&RULE, fault, message);
    Some(
        finding.help("move the sentence to the task that it plays, into `<system>` or `<instructions>`, where values are put in"),
    )
}
