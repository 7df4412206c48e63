//! `ctxc eval --plan`: what a run would ask, what that costs, and what its rules make of cases that pass at some rate. Calls nobody.

use super::load::Chosen;
use super::text::usd;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape;
use crate::cli::render::summary::plural;
use crate::eval::finished::{Estimate, Finished};
use crate::eval::statistics::outlook;
use crate::eval::trials;
use crate::scenario::model::Rule;

/// Calls that are under way at once where nobody says how many.
const USUAL: usize = 10;
/// Rates at which trials may pass.
const RATES: [u32; 6] = [99, 90, 70, 50, 30, 10];

/// Prints the plan.
pub(super) fn print(
    chosen: &[Chosen<'_>],
    finished: &[Option<Finished>],
    (jobs, confirms): (Option<usize>, bool),
    cx: &mut Cx,
) -> Result<()> {
    let planned: Vec<(&Chosen<'_>, &Finished)> =
        chosen.iter().zip(finished).filter_map(|(case, done)| Some((case, done.as_ref()?))).collect();
    let mut all = Estimate { calls: (0, 0), usd: Some((0.0, 0.0)), ms: Some((0, 0)) };
    let (mut asked, mut longest) = (0, 0);
    let mut rules: Vec<Rule> = Vec::new();
    for (case, done) in &planned {
        let name = escape(&case.case.name.value);
        let Some(one) = done.anew else {
            cx.line(&format!("{name}: {}", done.trouble.as_deref().map_or("no call".into(), escape)))?;
            continue;
        };
        cx.line(&format!("{name}: {}", words(&one)))?;
        all.calls = (all.calls.0 + one.calls.0, all.calls.1 + one.calls.1);
        all.usd = all.usd.zip(one.usd).map(|(all, one)| (all.0 + one.0, all.1 + one.1));
        all.ms = all.ms.zip(one.ms).map(|(all, one)| (all.0 + one.0, all.1 + one.1));
        longest = longest.max(one.ms.map_or(0, |ms| ms.1));
        asked += 1;
        if !rules.contains(&case.case.rule) {
            rules.push(case.case.rule);
        }
    }
    cx.line(&format!("{} of {} would be asked: {}", plural(asked, "scenario"), planned.len(), words(&all)))?;
    if let Some((least, most)) = all.ms.filter(|_| asked > 0) {
        let at_once = jobs.unwrap_or(USUAL).min(asked).max(1) as u64;
        let seconds = |ms: u64| ms.div_ceil(1000);
        let most = seconds((most / at_once).max(longest));
        cx.line(&format!("by the recorded times {} to {most} s, with {at_once} at once", seconds(least / at_once)))?;
    } else if asked > 0 {
        cx.line("how long that takes is known once all of them were recorded")?;
    }
    for rule in rules {
        characteristic(&rule, confirms, cx)?;
    }
    Ok(())
}

fn words(one: &Estimate) -> String {
    let (least, most) = one.calls;
    let calls =
        if least == most { plural(most as usize, "call") } else { format!("{least} to {}", plural(most as usize, "call")) };
    let price = one.usd.map_or_else(|| "at no price that ctxc.toml names".to_owned(), usd);
    format!("{calls}, {price}")
}

/// What a rule makes of cases.
fn characteristic(rule: &Rule, confirms: bool, cx: &mut Cx) -> Result<()> {
    let confirm = trials::confirming(rule).filter(|_| confirms);
    let first = rule.sequential.map_or_else(
        || format!("{} of {}", rule.pass, rule.runs),
        |test| format!("a sequential test of {} against {}", test.p1, test.p0),
    );
    let second = confirm.map_or_else(String::new, |rule| format!(", then {} of {}", rule.pass, rule.runs));
    cx.line(&format!("{first}{second}: a scenario whose trials pass at this rate passes, in so many trials on average"))?;
    for percent in RATES {
        let outlook = outlook::stages(rule, confirm.as_ref(), f64::from(percent) / 100.0);
        cx.line(&format!("  {percent} %: {:.1} %, {:.1}", outlook.pass * 100.0, outlook.trials))?;
    }
    Ok(())
}
