//! CTX121: a type that nobody knows.

use super::family::{either, finding, shown};
use crate::rules::prelude::*;
use crate::settings::layers::RowFault;

/// Without a type there are no defaults, and nothing can be said about what the agent would receive.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(121, "unknown-type", "a type that neither the language nor the project knows", PAGE)
        .examples(BAD, GOOD)
        .fixed(Fixable::Suggested),
    check: Check::Node(check),
};

const PAGE: &str = "\
The type of a task decides its parts and the defaults of its settings. The language has five: atomic, sequential, reduce, script and
director_evaluator_loop. A project can declare more, each built on one of them:

```toml
[operators.survey]
base = \"sequential\"
```

For a task of an unknown type nothing can be resolved, so nothing else is said about its settings.";

const BAD: &[Example] = &[
    template("<task type=\"atmic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
    template(
        "<task type=\"reduce\" name=\"digest\">\n  <description>digest the week</description>\n  <inner_task>\n    <task type=\"atmic\"><description>name the decision of the day</description></task>\n  </inner_task>\n  <reduction_task>\n    <description>add it to the digest</description>\n  </reduction_task>\n</task>\n",
    ),
];

const GOOD: &[Example] = &[
    FINE_EXAMPLE,
    Example {
        template: "<task type=\"survey\" name=\"ask\">\n  <description>ask the team</description>\n  <steps>\n    <task><description>collect the answers</description></task>\n  </steps>\n</task>\n",
        project: "[operators.survey]\nbase = \"sequential\"\n",
    },
];

const FINE_EXAMPLE: Example = match FINE {
    [first, ..] => *first,
    [] => template(""),
};

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(written) = &cx.task.operator else { return };
    let layers = &cx.cx.config.layers;
    // A part has a row whatever is written on the task around its body.
    let unknown = cx.body.fault == Some(RowFault::UnknownOperator)
        || cx.task.slot.part().is_some() && layers.row(&written.value, None) == Err(RowFault::UnknownOperator);
    if !unknown {
        return;
    }
    let message = format!("there is no type `{}`; expected {}", shown(&written.value), either(layers.operators()));
    let found = finding(&RULE.meta, cx.cx, written.span, message);
    out.push(match nearest(&written.value, layers.operators()) {
        Some(meant) => {
            let fix = Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(written.span, meant)]);
            found.help(format!("did you mean `{meant}`?")).fix(fix)
        }
        None => found.help("if it is a type of your own, declare it in ctxc.toml under `[operators]`"),
    });
}
