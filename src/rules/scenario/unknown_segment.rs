//! CTX611: an expectation on a segment that no context has.

use super::cx::CaseCx;
use super::walk::{self, Stake};
use super::words::{list, short, some};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::span::Spanned;
use crate::base::suggest::nearest;
use crate::rules::rule::{Check, Rule};
use crate::scenario::keys::KINDS;

/// A task with an input and a file.
const SHOWN: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>sort the ticket</description>
  <parameters>
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>
  </parameters>
  <inputs>
    <input name=\"ticket\" from=\"ticket\"/>
  </inputs>
  <file_paths>
    <path>docs/teams.md</path>
  </file_paths>
</task>
";

/// A slip in an id makes `absent` hold for ever.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(611),
        name: "unknown-segment",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::Suggested,
        summary: "an expectation on a segment that no context has",
        page: "\
The id of a segment is its kind, alone or with what it holds: `system`, `input:ticket`, `file:src/a.rs`. An id that begins with no kind names
nothing, so that `absent` holds for ever and everything else never. Neither does one whose name is no input and no file of the task or of
what it refers to; of what is expected to be absent, a slip alone is told. `ctxc manifest TASK` shows the ids of a task's context; a path
goes under `source`.",
        bad: &[Example { template: SHOWN, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"inptu:ticket\", state: kept}
" }, Example { template: SHOWN, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"input:tiket\", state: kept}
" }, Example { template: SHOWN, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"file:teams.md\", state: absent}
" }],
        good: &[Example { template: SHOWN, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - segment: {id: \"input:ticket\", state: kept}
  - segment: {id: \"file:docs/teams.md\", state: kept}
  - segment: {id: \"file:secrets.env\", state: absent}
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    walk::named(&cx.case.expect_context, &mut |id, stake| {
        let written = id.value.as_str();
        let (kind, rest) = written.split_once(':').map_or((written, ""), |(kind, rest)| (kind, rest));
        // A second segment of a kind is numbered: `file#2`.
        let word = kind.split(['#', '/', '@']).next().unwrap_or(kind);
        // An agent role is told its objective in a segment of that name.
        if KINDS.contains(&word) || word == "objective" {
            out.extend(name(cx, id, stake));
            return;
        }
        let finding = cx.finding(&RULE.meta, id.span, format!("no context has a segment `{written}`: an id begins with a kind"));
        let near = nearest(word, KINDS.iter().copied());
        let whole = near.map(|near| format!("{near}{}", written.get(word.len()..).unwrap_or("")));
        let finding = match near {
            None if rest.is_empty() && written.contains(['/', '.']) => {
                finding.help("a path goes under `source`: `{source: PATH}`")
            }
            _ => finding.note(format!("the kinds are {}", list(KINDS))),
        };
        out.push(cx.meant(finding, id.span, whole.as_deref()));
    });
}

/// What is said of an id whose kind is one, and whose name is none of those that the agents of the task can be shown. What is
/// expected to be absent may have any name: of that a slip alone is told.
fn name(cx: &CaseCx<'_>, id: &Spanned<String>, stake: Stake) -> Option<Diagnostic> {
    let own = id.value.strip_prefix("inherited:").unwrap_or(&id.value);
    let (kind, rest) = own.split_once(':')?;
    let wanted = numbered(rest);
    let (task, takes) = cx.receiver()?;
    let found: Vec<&str> = cx.case.situation.matches.iter().map(|found| found.id.as_str()).collect();
    let (what, known): (&str, Vec<&str>) = match kind {
        "input" => ("an input", takes.inputs.iter().map(String::as_str).collect()),
        // What is found for a description comes from the fixtures too.
        "file" => {
            let matched = if takes.finds_files { found.as_slice() } else { &[] };
            ("a file", takes.files.iter().map(String::as_str).chain(matched.iter().copied()).collect())
        }
        "fresh" => ("a match", found),
        _ => return None,
    };
    if known.contains(&rest) || known.contains(&wanted) {
        return None;
    }
    // The file without its folder, or in another one, is meant more often than it is mistyped.
    let same = |other: &&str| stem(other) == stem(wanted) && kind != "input";
    let near = known.iter().copied().find(same).or_else(|| nearest(wanted, known.iter().copied()));
    if near.is_none() && stake == Stake::MayHold {
        return None;
    }
    let whole = near.map(|near| id.value.replacen(rest, near, 1));
    let finding = cx.finding(&RULE.meta, id.span, format!("no agent of `{task}` is shown {what} `{}`", short(wanted)));
    let is_parameter = kind == "input" && takes.parameters.iter().any(|parameter| *parameter.name == *wanted);
    let finding = match (is_parameter && near.is_none(), known.as_slice()) {
        (true, _) => {
            finding.help("its value stands in the texts of the task; only what `<inputs>` declares is a segment of its own")
        }
        (false, []) => finding.note(match kind {
            "input" => "it declares no `<inputs>`",
            "file" => "it names no files: `file_context` gives a file that `<file_paths>` names another text",
            _ => "the case says nothing of what `memory` and `retrieval` give back",
        }),
        (false, known) => finding.note(format!("it can be one of {}", some(known))),
    };
    Some(cx.meant(finding, id.span, whole.as_deref()))
}

/// A name without the number that tells it from another of the same.
fn numbered(name: &str) -> &str {
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('#').filter(|(_, end)| is_number(end)).map_or(name, |(name, _)| name)
}

/// The last part of a path.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
