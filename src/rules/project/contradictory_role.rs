//! CTX530: a role that says two things at once.

use super::words::line;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// One of the two would hold, and its author may mean the other.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        530,
        "contradictory-role",
        "a role both names its model and says what it has to be, or blocks a tool that it allows",
        PAGE,
    )
    .fixed(Fixable::Suggested)
    .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A role either names its `model`, or says what a model has to be (`tier`, `capabilities`), and the cheapest that qualifies is taken: with both,
one of them would be without effect. Likewise an entry of `blocked_tools` that covers all of an entry of `tools` takes it away again. To block
a part of what a prefix allows is what `blocked_tools` is for: `tools = [\"git_*\"]`, `blocked_tools = [\"git_push\"]`.";

const BAD: &[Example] = &[
    project(
        "[roles.triage]\nmodel = \"small\"\ntier = \"economy\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
    ),
    project("[roles.triage]\ntools = [\"read_file\", \"git_log\"]\nblocked_tools = [\"git_*\"]\n"),
];

const GOOD: &[Example] = &[project("[roles.triage]\ntools = [\"read_file\", \"git_*\"]\nblocked_tools = [\"git_push\"]\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&RULE, fault, message);
    if let FaultKind::ToolBlocked { role, tool, blocked } = &fault.kind {
        let finding =
            found(format!("role `{role}` is allowed `{tool}`, and `{}` of its blocked tools takes it away", blocked.value));
        let finding = cx.label(finding, fault.file, blocked.span, "blocked here");
        return Some(finding.help("take it out of one of the two lists"));
    }
    let FaultKind::TwoModels { role, key } = &fault.kind else { return None };
    let finding = found(format!("role `{role}` names its `model`, so its `{key}` would have no effect"));
    let finding = finding.note("a role names its model, or says what a model has to be");
    let whole = line(cx, fault);
    let text = cx.config.files.get(fault.file as usize).map_or("", |file| whole.slice(&file.text)).trim();
    // Only where the key and its value have the line to themselves.
    if text.starts_with(key) && is_whole(text) {
        return Some(finding.fix(Fix::suggested(format!("remove `{key}`"), vec![Edit::replace(whole, "")])));
    }
    Some(finding.help(format!("remove `{key}`, or remove `model`")))
}

/// Whether a value ends on its line.
fn is_whole(line: &str) -> bool {
    let count = |c: char| line.matches(c).count();
    count('[') == count(']') && count('{') == count('}') && count('"') % 2 == 0 && !line.contains("\"\"\"")
}
