//! CTX508: a default that its type can never use.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Nothing is carried where there are no steps.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(508, "default-without-effect", "a project default for accumulation where there are no steps", PAGE)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
Only `sequential` and `director_evaluator_loop` have steps whose results can be carried along. For any other type
`accumulate_data = true` and `accumulation_format` change nothing about what the agent receives.";

const BAD: &[Example] = &[project("[defaults.atomic]\naccumulate_data = true\n")];

const GOOD: &[Example] = &[project("[defaults.sequential]\naccumulate_data = false\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::DefaultWithoutEffect { row, setting, base } = &fault.kind else { return None };
    let message = format!("`{setting}` has no effect for `{row}`: it has no steps whose results could be carried");
    let finding = cx.finding(&RULE, fault, message);
    let finding =
        if row.as_str() == base.word() { finding } else { finding.note(format!("`{row}` is built on `{}`", base.word())) };
    Some(finding.help("remove the line; `sequential` and `director_evaluator_loop` are the types that carry results"))
}
