//! CTX191: an `allow` of a rule that does not exist.

use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::span::Spanned;
use crate::base::suggest::nearest;
use crate::rules::list;
use crate::rules::rule::{Check, FileCx, Rule};

/// A misspelt name silences nothing, and the author believes that it does.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(191),
        name: "unknown-allow",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::Suggested,
        summary: "an `allow` instruction names no rule",
        page: "\
`<?ctxc allow NAME?>` takes the name or the code of a rule, as printed in brackets behind the severity of a finding
(`warning[no-context]`). A name that no rule has silences nothing. `ctxc rules` lists all names.",
        bad: &[Example {
            template: "<task type=\"atomic\" name=\"triage\">\n  <?ctxc allow no-contxt?>\n  <description>sort the ticket</description>\n</task>\n",
            project: "",
        }],
        good: &[Example {
            template: "<task type=\"atomic\" name=\"roll\">\n  <?ctxc allow no-context reason=\"needs nothing\"?>\n  <description>answer with a number from 1 to 6</description>\n  <context_management>\n    <inherit_context>none</inherit_context>\n  </context_management>\n</task>\n",
            project: "",
        }],
    },
    check: Check::Edge,
};

/// Words it.
pub(in crate::rules) fn word(cx: &FileCx<'_>, name: Spanned<&str>) -> Diagnostic {
    let finding = Diagnostic::new(&RULE.meta, cx.path, name.span, format!("no rule is called `{}`", name.value));
    if let Some(meant) = nearest(name.value, names()) {
        return finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(name.span, meant)]));
    }
    // One word of a name: `contxt` for any of those with `context`.
    let words = || names().flat_map(|name| name.split('-')).filter(|word| word.len() > 3);
    let Some(word) = nearest(name.value, words()) else { return finding.help("`ctxc rules` lists the names of all rules") };
    let with = names().filter(|name| name.split('-').any(|own| own == word)).map(|name| format!("`{name}`"));
    finding.help(format!("did you mean one of {}?", with.collect::<Vec<_>>().join(", ")))
}

fn names() -> impl Iterator<Item = &'static str> {
    list::all().map(|rule| rule.meta.name)
}
