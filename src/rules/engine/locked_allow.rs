//! CTX192: an `allow` of a rule that is a promise of the language.

use crate::rules::prelude::*;

/// A promise about settings that can be switched off is none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(192, "locked-allow", "an `allow` instruction names a rule that cannot be silenced", PAGE)
        .examples(BAD, GOOD),
    check: Check::Edge,
};

const PAGE: &str = "\
Faults of the XML itself, of settings, types and subtypes, context conflicts and unresolved references can be neither silenced nor
lowered: a registry promises that its settings are consistent and its references resolved, and a promise that can be switched off is
none. The instruction has no effect; mend what the finding says instead.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <?ctxc allow context-conflict?>\n  <description>sort the ticket</description>\n</task>\n",
)];

const GOOD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"roll\">\n  <?ctxc allow no-context reason=\"needs nothing\"?>\n  <description>answer with a number from 1 to 6</description>\n  <context_management>\n    <inherit_context>none</inherit_context>\n  </context_management>\n</task>\n",
)];

/// Words it.
pub(in crate::rules) fn word(cx: &FileCx<'_>, name: Spanned<&str>) -> Diagnostic {
    Diagnostic::new(&RULE.meta, cx.path, name.span, format!("`{}` cannot be silenced", name.value))
        .note("the registry promises that no resolved setting contradicts another and that every reference leads somewhere")
        .help("remove the instruction and mend what the finding says")
}
