//! Judges one expectation on a context. Examines only the context; every verdict has a reason.

use super::lookup::judge_lookup;
use super::patterns;
use super::policy::{judge_same_list, judge_tools};
use super::rendered_segments::{
    describe_segments, missing_reason, retained_ids, segment_place, select_segments,
};
use super::stored_request::{request_differences, stored_request};
use crate::base::contained_path;
use crate::base::span::Spanned;
use crate::eval::answer::same_json;
use crate::eval::prepared_case::{CaseInput, SeenContext};
use crate::eval::verdict::{
    self, CountBounds, ExpectationOutcome, ExpectationVerdict, JudgedOutcome, Reason, ResultPlace,
};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::Trust;
use crate::kernel::sampling::Sampled;
use crate::record::fixed_mask::FixedMask;
use crate::scenario::expect::context::{describe_setting as setting_words, trust_word};
use crate::scenario::expect::model::{self, ModelTest};
use crate::scenario::expect::segments::describe_ids;
use crate::scenario::model::{ContextExpectation, CountedTokens, SegmentSelector, SegmentState};
use crate::scenario::paths;
use crate::settings::data::OriginData;
use crate::settings::provenance::Layer;
use crate::template::setting::SettingName;
use std::io::ErrorKind;

pub(in crate::eval) fn judge_expectation(
    seen: &SeenContext<'_>,
    expectation: &Spanned<ContextExpectation>,
) -> ExpectationVerdict {
    let (outcome, reason) = judge_outcome(seen, &expectation.value);
    ExpectationVerdict::new(
        expectation.value.describe(),
        (outcome, reason),
        expectation.span,
    )
}

fn judge_outcome(seen: &SeenContext<'_>, expectation: &ContextExpectation) -> JudgedOutcome {
    let receiver = seen.case.receiver;
    let inner = |inner: &[Spanned<ContextExpectation>]| -> Vec<JudgedOutcome> {
        inner
            .iter()
            .map(|one| judge_outcome(seen, &one.value))
            .collect()
    };
    match expectation {
        ContextExpectation::Segment {
            selector: which,
            state,
        } => judge_segment(seen, which, *state),
        ContextExpectation::Segments(ids) => judge_segments(seen, ids),
        ContextExpectation::Trust {
            segment,
            is_trusted,
        } => judge_trust(seen, segment, *is_trusted),
        ContextExpectation::Contains(found) => patterns::judge_contains(seen, found),
        ContextExpectation::Absent(found) => patterns::judge_absent(seen, found),
        ContextExpectation::Order(ids) => judge_order(seen, ids),
        ContextExpectation::Tokens {
            counted: of,
            max,
            min,
        } => judge_tokens(seen, of, max.as_ref(), min.as_ref()),
        ContextExpectation::PromptCache { .. } => verdict::fail_blind(
            expectation.describe(),
            "one context alone, with no call before it: `tokens: {of: prefix, min: N}` says what of it a cache can reuse",
        ),
        ContextExpectation::NothingCut(expected) => judge_nothing_cut(seen, *expected),
        ContextExpectation::Setting { name, value, node } => {
            judge_setting(seen, name.value, &value.value, node.as_ref())
        }
        ContextExpectation::Tools(names) => {
            judge_same_list(seen, "tools", names, &receiver.tools())
        }
        ContextExpectation::ToolsOf(test) => judge_tools(seen, test),
        ContextExpectation::Model(name) => judge_model(seen, &name.value),
        ContextExpectation::ModelOf(test) => judge_model_properties(seen, test),
        ContextExpectation::ProtectedPaths(paths) => {
            judge_same_list(seen, "protected paths", paths, &receiver.protected_paths())
        }
        ContextExpectation::Lookup(test) => judge_lookup(seen, test),
        ContextExpectation::Snapshot => judge_snapshot(seen),
        ContextExpectation::OfAgent { node, .. } => verdict::fail_blind(
            expectation.describe(),
            format!(
                "one agent alone, and not a whole run with `{}` in it",
                node.value
            ),
        ),
        ContextExpectation::Not(one) => {
            verdict::negate(judge_outcome(seen, &one.value), &one.value.describe())
        }
        ContextExpectation::AnyOf(some) => verdict::any_holds(inner(some)),
        ContextExpectation::AllOf(some) => verdict::all_hold(&inner(some)),
    }
}

/// Describes the disposition of a segment.
fn describe_disposition(account: &SegmentReport) -> String {
    match &account.disposition {
        Disposition::Kept => "it whole".to_owned(),
        Disposition::Cut { range, .. } => {
            format!(
                "it cut to {} of {} bytes: {}",
                range.len(),
                account.segment.text.text().len(),
                account.reason
            )
        }
        Disposition::Shortened { left_out } => {
            let left_out: usize = left_out.iter().map(ExactSizeIterator::len).sum();
            let whole = account.segment.text.text().len();
            // A mutated segment can have a shorter text.
            format!(
                "it cut to {} of {whole} bytes: {}",
                whole.saturating_sub(left_out),
                account.reason
            )
        }
        Disposition::Dropped => format!("it dropped: {}", account.reason),
    }
}

const fn is_state(state: SegmentState, disposition: &Disposition) -> bool {
    matches!(
        (state, disposition),
        (SegmentState::Kept, Disposition::Kept)
            | (
                SegmentState::Cut,
                Disposition::Cut { .. } | Disposition::Shortened { .. }
            )
            | (SegmentState::Dropped, Disposition::Dropped)
    )
}

fn judge_segment(
    seen: &SeenContext<'_>,
    which: &SegmentSelector,
    state: SegmentState,
) -> JudgedOutcome {
    let found = select_segments(seen.assembly, which);
    let expected = match state {
        SegmentState::Kept => which.describe(),
        SegmentState::Absent => format!("no {}", which.describe()),
        SegmentState::Cut | SegmentState::Dropped => {
            format!("{} {}", which.describe(), state.word())
        }
    };
    match (state, found.first()) {
        (SegmentState::Absent, None) => verdict::pass(expected, "none"),
        (SegmentState::Absent, Some(first)) => {
            let why = format!("it is there by {}", first.segment.why);
            (
                ExpectationOutcome::Fail,
                Reason::new(expected, format!("`{}`", first.segment.id))
                    .with_place(segment_place(first))
                    .with_advice(why),
            )
        }
        (_, None) => {
            let reason = missing_reason(seen.assembly, which, expected);
            (
                ExpectationOutcome::Fail,
                if seen.can_exist(which) {
                    reason
                } else {
                    reason.into_blind()
                },
            )
        }
        (_, Some(first)) => {
            let other = found
                .iter()
                .find(|account| !is_state(state, &account.disposition));
            match other {
                Some(other) => (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, describe_disposition(other))
                        .with_place(segment_place(other)),
                ),
                None => verdict::pass(expected, describe_disposition(first)),
            }
        }
    }
}

fn judge_segments(seen: &SeenContext<'_>, ids: &[Spanned<String>]) -> JudgedOutcome {
    let stands = retained_ids(seen.assembly);
    let expected = || format!("exactly {}", describe_ids(ids));
    let more: Vec<String> = stands
        .iter()
        .filter(|id| ids.iter().all(|other| other.value != **id))
        .map(|id| format!("`{id}`"))
        .collect();
    if let Some(missing) = ids.iter().find(|id| !stands.contains(&id.value.as_str())) {
        let which = SegmentSelector::Id(missing.clone());
        let disposition = select_segments(seen.assembly, &which)
            .first()
            .map(|account| describe_disposition(account));
        let mut reason = missing_reason(seen.assembly, &which, expected());
        reason.found = disposition.map_or_else(
            || format!("no `{}`", missing.value),
            |disposition| format!("`{}`: {disposition}", missing.value),
        );
        return (
            ExpectationOutcome::Fail,
            if seen.can_exist(&which) {
                reason
            } else {
                reason.into_blind()
            },
        );
    }
    if !more.is_empty() {
        return (
            ExpectationOutcome::Fail,
            Reason::new(expected(), format!("{} as well", more.join(", ")))
                .with_advice(describe_segments(seen.assembly)),
        );
    }
    if stands != ids.iter().map(|id| id.value.as_str()).collect::<Vec<_>>() {
        return (
            ExpectationOutcome::Fail,
            Reason::new(format!("the order {}", describe_ids(ids)), "another")
                .with_advice(describe_segments(seen.assembly)),
        );
    }
    verdict::pass(expected(), "them")
}

fn judge_trust(
    seen: &SeenContext<'_>,
    segment: &Spanned<String>,
    is_trusted: bool,
) -> JudgedOutcome {
    let which = SegmentSelector::Id(segment.clone());
    let expected = format!("`{}` to be {}", segment.value, trust_word(is_trusted));
    match select_segments(seen.assembly, &which).first() {
        None => (
            ExpectationOutcome::Fail,
            missing_reason(seen.assembly, &which, expected).into_blind(),
        ),
        Some(account) => {
            let is = account.segment.trust == Trust::Trusted;
            let outcome = if is == is_trusted {
                ExpectationOutcome::Pass
            } else {
                ExpectationOutcome::Fail
            };
            (
                outcome,
                Reason::new(expected, trust_word(is)).with_place(segment_place(account)),
            )
        }
    }
}

fn judge_order(seen: &SeenContext<'_>, ids: &[Spanned<String>]) -> JudgedOutcome {
    let stands = retained_ids(seen.assembly);
    let expected = format!("the order {}", describe_ids(ids));
    let mut last = None;
    for id in ids {
        let Some(at) = stands.iter().position(|other| *other == id.value) else {
            let which = SegmentSelector::Id(id.clone());
            let dropped = select_segments(seen.assembly, &which)
                .first()
                .map(|account| describe_disposition(account));
            let mut reason = missing_reason(seen.assembly, &which, expected).into_blind();
            reason.found = dropped.map_or_else(
                || format!("no `{}`", id.value),
                |dropped| format!("`{}`: {dropped}", id.value),
            );
            return (ExpectationOutcome::Fail, reason);
        };
        if let Some((before, name)) = last
            && at < before
        {
            let found = format!("`{}` before `{name}`", id.value);
            return (
                ExpectationOutcome::Fail,
                Reason::new(expected, found).with_advice(describe_segments(seen.assembly)),
            );
        }
        last = Some((at, id.value.as_str()));
    }
    verdict::pass(expected, "it")
}

fn judge_tokens(
    seen: &SeenContext<'_>,
    of: &CountedTokens,
    max: Option<&Spanned<u64>>,
    min: Option<&Spanned<u64>>,
) -> JudgedOutcome {
    let report = &seen.assembly.report;
    let figure = match of {
        CountedTokens::Total => report.tokens,
        CountedTokens::Prefix => report.prefix_tokens,
        CountedTokens::Segment(which) => {
            let found = select_segments(seen.assembly, which);
            if found.is_empty() {
                return (
                    ExpectationOutcome::Fail,
                    missing_reason(
                        seen.assembly,
                        which,
                        format!("{} to be counted", which.describe()),
                    )
                    .into_blind(),
                );
            }
            found.iter().map(|account| account.kept_tokens).sum()
        }
    };
    let what = of.describe();
    let Some(figure) = figure.map(|figure| figure as u64) else {
        return (
            ExpectationOutcome::Fail,
            Reason::new(what, "no count of them").into_blind(),
        );
    };
    let counter = if report.is_exact { "" } else { ", an estimate" };
    let (outcome, reason) = verdict::judge_count(
        figure,
        what,
        CountBounds { min, max },
        &format!("{}{counter}", report.tokenizer),
    );
    let is_over = max.is_some_and(|max| figure > max.value);
    (
        outcome,
        if is_over {
            reason.with_advice(describe_largest(seen))
        } else {
            reason
        },
    )
}

/// Describes the largest segments.
fn describe_largest(seen: &SeenContext<'_>) -> String {
    let mut segments: Vec<(usize, &str)> = seen
        .assembly
        .report
        .segments
        .iter()
        .filter_map(|account| Some((account.kept_tokens?, account.segment.id.as_str())))
        .collect();
    segments.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let words: Vec<String> = segments
        .iter()
        .take(3)
        .map(|(tokens, id)| format!("{id} {tokens}"))
        .collect();
    format!("the largest: {}", words.join(", "))
}

fn judge_nothing_cut(seen: &SeenContext<'_>, expected: bool) -> JudgedOutcome {
    let lost = seen
        .assembly
        .report
        .segments
        .iter()
        .find(|account| account.disposition != Disposition::Kept);
    let words = if expected {
        "every segment whole"
    } else {
        "something cut or dropped"
    };
    let reason = match lost {
        None => Reason::new(words, "every segment whole"),
        Some(account) => Reason::new(
            words,
            format!(
                "`{}`: {}",
                account.segment.id,
                describe_disposition(account)
            ),
        )
        .with_place(segment_place(account)),
    };
    (
        if lost.is_none() == expected {
            ExpectationOutcome::Pass
        } else {
            ExpectationOutcome::Fail
        },
        reason,
    )
}

/// Describes the provenance of a setting.
fn describe_provenance(origin: &OriginData) -> String {
    match origin.layer {
        Layer::Operator | Layer::Subtype => format!("the default of type {}", origin.row),
        Layer::Project | Layer::ProjectSubtype => {
            format!("the project's default of type {}", origin.row)
        }
        Layer::Template => "written in the template".to_owned(),
        Layer::Request => "written in the request".to_owned(),
    }
}

fn judge_setting(
    seen: &SeenContext<'_>,
    name: SettingName,
    value: &str,
    node: Option<&Spanned<String>>,
) -> JudgedOutcome {
    let at = node.map_or(seen.case.node.as_str(), |node| node.value.as_str());
    let expected = format!("{} {value}", setting_words(name, node));
    let settings = match seen.case.forest.settings(seen.case.receiver.task, at) {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            return (
                ExpectationOutcome::Fail,
                Reason::new(
                    expected,
                    format!("no settings: {at} has no context of its own"),
                )
                .into_blind(),
            );
        }
        Err(fault) => {
            return (
                ExpectationOutcome::Fail,
                Reason::new(expected, fault.to_string()).into_blind(),
            );
        }
    };
    let found = settings.get(name);
    let word = if found.applies {
        found.value.as_str()
    } else {
        "n/a"
    };
    let is_same = word == value || (!found.applies && matches!(value, "N/A" | "na"));
    let mut reason = Reason::new(
        expected,
        format!("{word}, {}", describe_provenance(&found.origin)),
    );
    if !is_same {
        if let Some(path) = &found.origin.path {
            reason = reason.with_place(ResultPlace {
                file: Some((path.clone(), found.origin.span)),
                ..ResultPlace::default()
            });
        }
        if let Some(overridden) = found
            .overridden
            .first()
            .filter(|overridden| overridden.value != found.value)
        {
            reason = reason.with_advice(format!(
                "it beats {}, {}",
                overridden.value.as_str(),
                describe_provenance(&overridden.origin)
            ));
        }
    }
    (
        if is_same {
            ExpectationOutcome::Pass
        } else {
            ExpectationOutcome::Fail
        },
        reason,
    )
}

fn judge_model(seen: &SeenContext<'_>, expected: &str) -> JudgedOutcome {
    let found = seen.case.model();
    let (outcome, reason) = verdict::judge_name("model", expected, found, "none");
    let advice = || {
        format!(
            "neither a role nor `{}` itself names one",
            seen.case.receiver.task
        )
    };
    (
        outcome,
        if found.is_none() {
            reason.with_advice(advice())
        } else {
            reason
        },
    )
}

/// Judges the model by all properties in the expectation.
fn judge_model_properties(seen: &SeenContext<'_>, test: &ModelTest) -> JudgedOutcome {
    let routed = &seen.case.routed;
    let chosen = routed.choice.as_ref().map(|choice| choice.model);
    let part = |word: &str, expected: &Spanned<String>, found: Option<&str>| {
        verdict::judge_name(
            word,
            &expected.value,
            found,
            "no model that the project defines",
        )
    };
    let mut judged: Vec<JudgedOutcome> = test
        .name
        .iter()
        .map(|name| judge_model(seen, &name.value))
        .collect();
    judged.extend(
        test.id
            .iter()
            .map(|id| part("model id", id, chosen.map(|model| model.id.as_str()))),
    );
    let provider = chosen.map(|model| model.provider.value.as_str());
    judged.extend(
        test.provider
            .iter()
            .map(|expected| part("provider", expected, provider)),
    );
    if let Some(expected) = &test.sampling {
        let is_there = |one: &Sampled| {
            expected
                .get(&one.name)
                .is_some_and(|value| same_json(value, &one.value))
        };
        let is_same =
            routed.sampling.iter().all(is_there) && routed.sampling.len() == expected.len();
        let all: Vec<String> = routed.sampling.iter().map(Sampled::describe).collect();
        let found = if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        };
        let outcome = if is_same {
            ExpectationOutcome::Pass
        } else {
            ExpectationOutcome::Fail
        };
        judged.push((
            outcome,
            Reason::new(
                format!("sampling {}", model::describe_sampling(expected)),
                found,
            ),
        ));
    }
    verdict::all_hold(&judged)
}

/// The reason why there is no stored request: the file is missing or unreadable.
fn missing_snapshot(input: &CaseInput<'_>, path: &str, expected: String) -> Reason {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_absent =
        |why: &String| *why == contained_path::describe_io_error(&ErrorKind::NotFound.into());
    match input
        .beside
        .text(&format!("{}/{name}", paths::SNAPSHOT_FOLDER))
    {
        Err(why) if !is_absent(&why) => {
            Reason::new(expected, format!("what cannot be read there: {why}"))
                .with_advice("put the stored request back, or remove what stands in its place")
        }
        Err(_) | Ok(_) => Reason::new(expected, "no such file")
            .with_advice("nothing is stored yet: `ctxc eval --accept` stores it"),
    }
}

fn judge_snapshot(seen: &SeenContext<'_>) -> JudgedOutcome {
    let input = seen.case.input;
    let path = paths::snapshot_path(input.path, &input.case.name.value);
    let expected = format!("the request as stored in {path}");
    let Some(stored) = input.snapshot else {
        return (
            ExpectationOutcome::Fail,
            missing_snapshot(input, &path, expected).into_blind(),
        );
    };
    let now = stored_request(seen);
    let mask = FixedMask::with_known_forms();
    if mask.is_same_request(stored, &now) {
        return verdict::pass(expected, "the same");
    }
    // Masked values of the stored request are not a difference, so both are masked.
    let (stored, now) = if stored.contains('⟦') {
        let masked = |document: String| match seen.case.run.answers.comparison {
            Some(comparison) => comparison.mask_document(&document),
            None => document,
        };
        (
            masked(stored.to_owned()),
            masked(mask.mask_stored_request(&now)),
        )
    } else {
        (stored.to_owned(), now)
    };
    let partings = request_differences(&stored, &now, Some(seen));
    let first = partings.first().cloned().unwrap_or_default();
    let file = first
        .file
        .or_else(|| Some((path, None)).filter(|_| first.origin.is_none()));
    let place = ResultPlace {
        origin: first.origin,
        file,
        ..ResultPlace::default()
    };
    verdict::differing_request(expected, place, partings.into_iter().map(|one| one.words))
}
