//! CTX504: a value that its key cannot take.

use super::words::{Form, meant, slice};
use crate::project::config::EDITION;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A value of another type or outside its set.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(504, "wrong-value", "a value that its key cannot take", PAGE).fixed(Fixable::Safe).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
Each key takes values of one type, and many take only certain words. The finding says what stands there and what may. A value that
cannot be taken is left out, as if the line were absent, so that the rest of the check goes on.

In `[defaults]` and `[operators]`, which decide the settings of tasks, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    project("[defaults.atomic]\nfresh_context = true\n"),
    project("[defaults.atomic]\nfresh_context = \"disable\"\n"),
    project("[limits]\ndepth = 100000\n"),
    project("[limits]\ndepth = \"300\"\n"),
    project("edition = 2026\n"),
    project("[templates]\nexclude = \"/srv/drafts\"\n"),
];

const GOOD: &[Example] = &[project("[defaults.atomic]\nfresh_context = \"disabled\"\n\n[limits]\ndepth = 300\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&RULE, fault, message);
    if let FaultKind::BadValue { key, found: what, expected, near } = &fault.kind {
        let finding = found(format!("`{key}` is `{what}`; expected {expected}"));
        return Some(meant(finding, fault.span, near.as_deref(), Form::Text));
    }
    if let FaultKind::BadGlob { pattern, error } = &fault.kind {
        let finding = found(format!("the pattern `{pattern}` cannot be read: {error}"));
        return Some(finding.help("`*` stands for a name, `**` for any folders: `templates/**/*.xml`"));
    }
    let FaultKind::WrongType { key, expected, found: what } = &fault.kind else { return None };
    let finding = found(format!("`{key}` is {what}; expected {expected}"));
    let inner = slice(cx, fault).trim_matches(['"', '\'']);
    let takes_bare = expected.starts_with("`true`") && matches!(inner, "true" | "false")
        || expected.contains("number") && inner.parse::<u64>().is_ok();
    if *what == "a text" && takes_bare {
        return Some(finding.fix(Fix::safe("take the quotes off", vec![Edit::replace(fault.span, inner)])));
    }
    if key == "edition" && slice(cx, fault) == EDITION {
        return Some(finding.fix(Fix::safe("put it in quotes", vec![Edit::replace(fault.span, format!("\"{EDITION}\""))])));
    }
    Some(finding)
}
