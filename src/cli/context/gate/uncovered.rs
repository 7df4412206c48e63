//! Trusted text that a change removes without failing any scenario of the base.

use super::compared::GateComparison;
use super::names::all_cases;
use super::text_change::TextChange;
use super::untested::find_untested;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::with_cases;
use crate::cli::error::Result;
use crate::eval::compile_masks;
use crate::eval::context::own_text::{LostPassage, find_losses};
use crate::eval::mutate::{ByAgent, OwnContext, SelectedCases, noticed_losses, own_contexts};
use crate::project::eval::UncoveredPolicy;
use crate::record::redact::Redactor;
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::load::LoadedScenario;
use crate::scenario::model::ScenarioCase;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of lines of an agent that are listed.
const MAX_LINES: usize = 5;
/// The maximum number of further agents that are listed beside a line.
const MAX_FURTHER_AGENTS: usize = 3;

/// A removed passage.
#[derive(Default)]
struct RemovedPassage {
    /// The passage as it is quoted.
    masked: String,
    /// The agents that received it.
    subjects: BTreeSet<String>,
    /// True if it is replaced by another value that masks hide.
    is_value: bool,
    /// True if a stored request was changed to accept the removal.
    is_hidden: bool,
    is_noticed: bool,
}

/// Describes removed or changed text, with the agents that received it. Text of an agent without a
/// scenario is listed once.
pub(super) fn find_uncovered(compared: &GateComparison) -> Result<Vec<(String, String)>> {
    let Some((then, theirs)) = &compared.base.then else {
        return Ok(Vec::new());
    };
    let (now, names) = (&compared.project, &compared.base.names);
    let change = TextChange::new(then, now, [&names.tasks, &names.roles]);
    let is_off = compared.gate_limits().uncovered == UncoveredPolicy::Off;
    if is_off
        || change.tasks.is_empty()
            && !change.is_configured
            && change.removed_tasks().next().is_none()
    {
        return Ok(Vec::new());
    }
    // By the names of tasks and roles in the base.
    let renamed = (!names.tasks.is_empty() || !names.roles.is_empty()).then(|| {
        let mut own = Scenarios::from_revision(then, None);
        own.files.retain(LoadedScenario::is_sound);
        own
    });
    let own = renamed.as_ref().unwrap_or(theirs);
    let known: BTreeSet<&str> = all_cases(theirs)
        .map(|(.., case)| case.name.value.as_str())
        .collect();
    let is_asked = |case: &ScenarioCase| {
        known.contains(case.name.value.as_str()) && change.affects(&case.subject.value)
    };
    let asked = all_cases(own)
        .map(|(.., case)| case)
        .filter(|case| is_asked(case));
    let asked: BTreeSet<String> = asked.map(|case| case.name.value.clone()).collect();
    let before = with_cases(then, (own, then), &asked, |run, inputs| {
        own_contexts(run, inputs, SelectedCases::Passing)
    })?;
    let after = with_cases(now, (theirs, then), &asked, |run, inputs| {
        own_contexts(run, inputs, SelectedCases::All)
    })?;
    let redactor = Redactor::new([0; 32], now.known_secrets());
    let patterns = [then, now]
        .map(|project| compile_masks(&project.config.record.mask))
        .concat();
    let redactor = redactor.with_patterns(patterns);
    let both = before
        .iter()
        .filter_map(|(place, old)| Some((place, old, after.get(place)?)));
    let lost: ByAgent<Vec<LostPassage>> = both
        .map(|(place, old, new)| {
            (
                place.clone(),
                find_losses(&old.segments, &new.segments, &redactor),
            )
        })
        .filter(|(_, lost)| !lost.is_empty())
        .collect();
    let noticed = with_cases(then, (own, then), &asked, |run, inputs| {
        noticed_losses(run, inputs, &lost)
    })?;
    let stored: BTreeSet<&str> = all_cases(own)
        .filter(|(.., case)| case.uses_snapshot() && !case.is_run)
        .map(|(.., case)| case.name.value.as_str())
        .collect();
    let mut found = uncovered_passages(&before, &after, &lost, &noticed, &stored);
    found.extend(find_untested(&change, &before, &redactor)?);
    Ok(found)
}

/// Returns the passages that no scenario covers, by the agents that lost them.
fn uncovered_passages(
    before: &ByAgent<OwnContext>,
    after: &ByAgent<OwnContext>,
    lost: &ByAgent<Vec<LostPassage>>,
    noticed: &BTreeSet<((String, String), usize)>,
    stored: &BTreeSet<&str>,
) -> Vec<(String, String)> {
    let mut all: BTreeMap<(&str, &str), BTreeMap<&str, RemovedPassage>> = BTreeMap::new();
    // The first round finds the losses that stored requests accept, which a simulated loss would
    // not show.
    for is_first in [true, false] {
        for (place, losses) in lost {
            let (Some(old), Some(new)) = (before.get(place), after.get(place)) else {
                continue;
            };
            let is_hidden = stored.contains(place.0.as_str()) && !new.is_noticed;
            for (number, loss) in losses.iter().enumerate() {
                let of_agent = all.entry((&old.task, &place.1)).or_default();
                let gone = of_agent.entry(&loss.text).or_default();
                if is_first {
                    gone.masked.clone_from(&loss.masked);
                    gone.subjects.insert(old.subject.clone());
                    gone.is_hidden |= is_hidden;
                    gone.is_value |= loss.instead.is_some();
                } else if !is_hidden && (!gone.is_hidden || new.is_noticed) {
                    // A pattern that the loss would break may match the replacement.
                    gone.is_noticed |= new.is_noticed && noticed.contains(&(place.clone(), number));
                }
            }
        }
    }
    let mut lines: Vec<(Vec<String>, &RemovedPassage)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for ((task, node), gone) in &all {
        for (text, gone) in gone.iter().filter(|(_, gone)| !gone.is_noticed) {
            let subject = gone
                .subjects
                .first()
                .filter(|_| gone.subjects.len() == 1)
                .map_or(*task, String::as_str);
            let agent = if *node == "/" {
                subject.to_owned()
            } else {
                format!("{subject}{node}")
            };
            let at = *known.entry(text).or_insert_with(|| {
                lines.push((Vec::new(), gone));
                lines.len() - 1
            });
            lines
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|(agents, _)| agents.push(agent.clone()));
        }
    }
    describe_passages(lines)
}

/// Describes the first lines of each agent; a line that several agents lost is listed once.
fn describe_passages(lines: Vec<(Vec<String>, &RemovedPassage)>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (agents, gone) in lines {
        let Some((agent, others)) = agents.split_first() else {
            continue;
        };
        let count = counts.entry(agent.clone()).or_default();
        *count += 1;
        if *count > MAX_LINES {
            continue;
        }
        let mut also: Vec<String> = others
            .iter()
            .take(MAX_FURTHER_AGENTS)
            .map(|other| format!("`{other}`"))
            .collect();
        also.extend(
            others
                .len()
                .checked_sub(MAX_FURTHER_AGENTS)
                .filter(|more| *more > 0)
                .map(|more| format!("{more} more agents")),
        );
        let also = if also.is_empty() {
            String::new()
        } else {
            format!(", also of {}", also.join(", "))
        };
        let quoted = one_line_excerpt(&gone.masked);
        let what = if gone.is_value {
            format!("the masked value in “{quoted}”, which was changed")
        } else {
            format!("“{quoted}”, which is gone or was changed")
        };
        found.push((agent.clone(), what + &also));
    }
    let more = counts.into_iter().filter(|(_, count)| *count > MAX_LINES);
    found.extend(more.map(|(agent, count)| {
        (
            agent,
            format!(
                "{} more lines, which are gone or were changed",
                count - MAX_LINES
            ),
        )
    }));
    found
}
