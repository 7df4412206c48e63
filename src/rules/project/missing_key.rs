//! CTX532: a table without a key that it cannot do without.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// What is left out has no value that could be taken for granted.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(532, "missing-key", "a table of the project file lacks a key that it needs", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A model needs its `provider`, its `tier` and its `context_window`, a provider its `kind`, prices both `input` and `output`: none of them has a
value that would be right where nothing stands. The table is left out until it is whole.";

const BAD: &[Example] = &[
    project("[models.small]\nprovider = \"openai\"\ntier = \"economy\"\n"),
    project("[providers.main]\nbase_url = \"https://models.example/v1\"\n"),
];

const GOOD: &[Example] = &[project("[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::MissingKey { table, key } = &fault.kind else { return None };
    let message = format!("`{table}` has no `{key}`, which it needs");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help(match *key {
        "provider" => "add who answers: `provider = \"openai\"`, or one of `[providers]`",
        "tier" => "add how able it is: `tier = \"standard\"` (economy, standard, standard_plus, premium)",
        "context_window" => "add its window in tokens: `context_window = 128000`",
        "kind" => "add the protocol it speaks: `kind = \"openai\"` (openai, anthropic, gemini, ollama)",
        "input" => "add what a million tokens sent cost in US$: `input = 0.15`",
        "output" => "add what a million tokens answered cost in US$: `output = 0.60`",
        "reruns" => "add how often each case is run: `reruns = 3`",
        "variance" => "add how much its pass rate may vary: `variance = 0.1`",
        "cost_usd" => "add the budget of one run in US$: `cost_usd = 5.0`",
        "accepters" => "add who may accept a baseline: `accepters = [\"ada\"]`",
        _ => "add the file, relative to the project: `file = \"prompts/role.md\"`",
    }))
}
