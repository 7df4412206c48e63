//! CTX624: a value that is not of its parameter's type.

use super::cx::CaseCx;
use super::words::first_line;
use crate::rules::prelude::*;
use crate::scenario::model::Frozen;
use crate::template::value_type;
use serde_json::Value;

/// A task with a number.
const TYPED: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>sort {{ticket}}, in at most {{words}} words</description>
  <parameters>
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>
    <parameter name=\"words\" type=\"integer\" default=\"50\"/>
  </parameters>
</task>
";

/// The case has no context.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(624, "wrong-input", "a value that is not of its parameter's type", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Case(check),
};

const PAGE: &str = "\
A value that a run or a scenario hands in is of the type that its parameter declares; with any other there is no context. In YAML `5`, `true`
and `null` are a number, a boolean and no value, and in quotes each is a text. A field of a CSV table is a text; in JSONL a value has its type.
`null` stands for no value: the default counts where there is one, and it is an error where a value is required.";

const BAD: &[Example] = &[
    Example {
        template: TYPED,
        project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late, words: \"20\"}
expect_context:
  - nothing_cut: true
",
    },
    Example {
        template: TYPED,
        project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs:
    ticket: 4711
expect_context:
  - nothing_cut: true
",
    },
];

const GOOD: &[Example] = &[Example {
    template: TYPED,
    project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: \"4711\", words: 20}
expect_context:
  - nothing_cut: true
",
}];

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else { return };
    for parameter in &takes.parameters {
        // What a file holds is known when it is read.
        let Some(given) = cx.case.situation.inputs.get(&*parameter.name) else { continue };
        let Frozen::Value(value) = &given.value else { continue };
        let Some(kind) = parameter.wanted().missed(value) else { continue };
        // An alias of nothing is told as that.
        if value.is_null() && given.span.slice(cx.file.text).starts_with('*') {
            continue;
        }
        let (name, found) = (&parameter.name, value_type::word(value));
        let message = format!("the value of `{name}` is {found}, and its type in the task `{task}` is `{kind}`");
        let finding = cx.finding(&RULE.meta, first_line(cx.file.text, given.span), message);
        out.push(mended(cx, finding, (value, kind), given.span));
    }
}

/// Says how the value is written that was probably meant: in quotes, or without them.
fn mended(cx: &CaseCx<'_>, finding: Diagnostic, (value, kind): (&Value, &str), span: Span) -> Diagnostic {
    if cx.is_row() {
        let is_field = value.is_string();
        return if is_field { finding.help("a field of a CSV table is a text; in JSONL a value has its type") } else { finding };
    }
    let bare = |text: &str| value_type::is_of(&value_type::written(text, Some(kind)), kind);
    let insert = match value.as_str() {
        Some(text) if bare(text) && !text.contains('\n') => text.to_owned(),
        None if kind == "string" && (value.is_number() || value.is_boolean()) => format!("\"{}\"", span.slice(cx.file.text)),
        _ => return finding,
    };
    let finding = finding.help(format!("did you mean `{insert}`?"));
    finding.fix(Fix::suggested(format!("write `{insert}`"), vec![Edit::replace(span, insert)]))
}
