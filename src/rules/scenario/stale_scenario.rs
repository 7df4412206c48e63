//! CTX616: a scenario that nobody has read for long.

use super::cx::CaseCx;
use super::words::scenario;
use crate::rules::prelude::*;
use crate::scenario::date;

/// What nobody reads drifts away from what is meant.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(616, "stale-scenario", "a scenario that nobody has read for long", PAGE).examples(BAD, GOOD),
    check: Check::Case(check),
};

const PAGE: &str = "\
`reviewed` says when somebody last read the case and found it still right. After `[eval] stale_after_days` of `ctxc.toml` (90 where it says
nothing) the case is told: read it, and write the day. The clock is that of the machine, or `SOURCE_DATE_EPOCH` where it is set. A case without
`reviewed` is not asked for.";

const BAD: &[Example] = &[scenario!("expect_context:\n  - nothing_cut: true\nreviewed: 2020-01-31\n")];

const GOOD: &[Example] = &[scenario!("expect_context:\n  - nothing_cut: true\nreviewed: 9999-12-31\n")];

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(reviewed), Some(today)) = (cx.case.reviewed, cx.file.world.today) else { return };
    let age = today - date::number(reviewed.value);
    let limit = i64::from(cx.file.world.config.eval.stale_after_days);
    if age > limit {
        let finding = cx.finding(
            &RULE.meta,
            reviewed.span,
            format!("the case was last reviewed {age} days ago; after {limit} it is stale"),
        );
        out.push(finding.help("read it again, and write the day"));
    }
}
