//! CTX191: an `allow` of a rule that does not exist.

use crate::rules::prelude::*;

/// A misspelt name silences nothing, and the author believes that it does.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        191,
        "unknown-allow",
        "an `allow` instruction names no rule"
    )
    .with_fix(Fixable::Suggested),
    Check::Edge,
);

/// `names` contains the names of all rules.
pub(in crate::rules) fn report(
    cx: &FileCx<'_>,
    name: Spanned<&str>,
    names: &[&'static str],
) -> Diagnostic {
    let finding = Diagnostic::new(
        &RULE.meta,
        cx.path,
        name.span,
        format!("no rule is called `{}`", name.value),
    );
    if let Some(meant) = nearest_candidate(name.value, names.iter().copied()) {
        return finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(name.span, meant)],
            ));
    }
    // Matches a single word of a name: `contxt` suggests all rules with `context` in their name.
    let words = || {
        names
            .iter()
            .flat_map(|name| name.split('-'))
            .filter(|word| word.len() > 3)
    };
    let Some(word) = nearest_candidate(name.value, words()) else {
        return finding.help("`ctxc rules` lists the names of all rules");
    };
    let with = names
        .iter()
        .filter(|name| name.split('-').any(|own| own == word))
        .map(|name| format!("`{name}`"));
    finding.help(format!(
        "did you mean one of {}?",
        with.collect::<Vec<_>>().join(", ")
    ))
}
