//! CTX601: a scenario file that is no YAML.

use super::cx::{ScenarioCx, mend};
use super::words::{SOUND, files, scenario};
use crate::base::number::WHOLE;
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};
use crate::syntax::yaml;

/// What cannot be read tests nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(601, "scenario-syntax", "a scenario file that is no YAML", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, SOUND),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
Scenarios and suites are YAML 1.2, and JSON, which is YAML too. Reading stops where the text is no YAML any more, so what stands behind
that place was not looked at. One file holds one document, 64 collections inside each other at most, and aliases that repeat no more
than a million nodes. A tag says nothing, except `!file PATH` where the content of a file can stand. A whole number beyond 64 bits goes into
quotes: without them it would be shown as `1.2e29`.";

const BAD: &[Example] = &[
    scenario!("expect_context:\n\t- nothing_cut: true\n"),
    files(
        "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late
expect_context:
  - nothing_cut: true
",
    ),
    files(
        "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: *late}
expect_context:
  - nothing_cut: true
",
    ),
];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if let FaultKind::UnknownTag(tag) = &fault.kind {
        let finding = cx.finding(&RULE.meta, fault, format!("the tag `!{tag}` means nothing here"));
        return Some(finding.help("`!file PATH` takes the content of a file; a text that begins with `!` goes into quotes"));
    }
    let FaultKind::Yaml(kind) = &fault.kind else { return None };
    let found = |message: String| cx.finding(&RULE.meta, fault, message);
    Some(match kind {
        yaml::FaultKind::Syntax(message) => found(format!("this is no YAML: {message}"))
            .note("nothing behind this place was read")
            .help("put a text that holds `: ` or ` #`, or begins with one of `[{&*!|>%@` and the like, into quotes"),
        yaml::FaultKind::Tab => {
            let spaces = "  ".repeat(fault.span.len() as usize);
            let finding = found("a tab indents this line; YAML is indented with spaces".to_owned());
            mend(finding, fault, Fix::suggested("write two spaces for a tab", vec![Edit::replace(fault.span, spaces)]))
        }
        yaml::FaultKind::Deep => found(format!("more than {} lists and mappings stand inside each other here", yaml::DEPTH)),
        yaml::FaultKind::Heavy => {
            found(format!("the file has more than {} nodes, what its aliases repeat among them", yaml::WEIGHT))
        }
        yaml::FaultKind::UnknownAlias(name) => {
            found(format!("`*{name}` repeats an anchor `&{name}` that does not stand before it"))
                .help("a text that begins with `*` goes into quotes")
        }
        yaml::FaultKind::KeyWithParts => found("a list or a mapping stands where the name of a key is expected".to_owned()),
        yaml::FaultKind::Merge => found("`<<` takes over a mapping, and this is none".to_owned()),
        yaml::FaultKind::Beyond(number) => found(format!("the number `{number}` is beyond 64 bits: {WHOLE}"))
            .note("it would be read as the nearest fraction, and shown as that")
            .help("put it into quotes: a text is shown as it is written"),
        yaml::FaultKind::SecondDocument => {
            found("a second document begins here; a file holds one".to_owned()).help("put several cases into a suite: `cases:`")
        }
        yaml::FaultKind::DuplicateKey { .. } => return None,
    })
}
