//! CTX616: a scenario that has not been reviewed for a long time.

use super::scenario_prelude::*;
use crate::scenario::date;

/// An unreviewed scenario drifts away from its intention.
pub(crate) static RULE: Rule = Rule::new(
    RuleMeta {
        renamed_from: &["stale-scenario"],
        ..meta!(
            warning,
            616,
            "review-due",
            "a scenario that has not been reviewed for a long time"
        )
    },
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(reviewed), Some(today)) = (cx.case.reviewed, cx.file.world.today) else {
        return;
    };
    let age = today - date::day_number(reviewed.value);
    let limit = i64::from(cx.file.world.config.eval.stale_after_days);
    if age > limit {
        let finding = cx.finding(
            &RULE.meta,
            reviewed.span,
            format!("the case was last reviewed {age} days ago; after {limit} a review is due"),
        );
        out.push(finding.help("read it again, and write the day"));
    }
}
