//! Judges one expectation on a context. Examines only the context; every verdict has a reason.

use super::lookup::lookup;
use super::patterns;
use super::policy::{same, tools};
use super::rendered_context::{place, standing};
use super::select::{here, nothing, select};
use super::stored_request::{partings, stored_request};
use crate::base::contained_path;
use crate::base::span::Spanned;
use crate::eval::answer::same_json;
use crate::eval::prepared::{CaseInput, Seen};
use crate::eval::verdict::{self, Judged, Outcome, Place, Reason, Verdict};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::budget::Disposition;
use crate::kernel::context::Trust;
use crate::kernel::sampling::Sampled;
use crate::record::fixed_mask::FixedMask;
use crate::scenario::expect::context::{setting as setting_words, trust_word};
use crate::scenario::expect::model::{self, ModelTest};
use crate::scenario::expect::segments::listed;
use crate::scenario::model::{ContextExpectation, Counted, Selector, State};
use crate::scenario::paths;
use crate::settings::data::OriginData;
use crate::settings::provenance::Layer;
use crate::template::setting::SettingName;
use std::io::ErrorKind;

pub(in crate::eval) fn judge(
    seen: &Seen<'_>,
    expectation: &Spanned<ContextExpectation>,
) -> Verdict {
    let (outcome, reason) = of(seen, &expectation.value);
    Verdict {
        what: expectation.value.words(),
        outcome,
        gate: true,
        reason,
        span: expectation.span,
    }
}

fn of(seen: &Seen<'_>, expectation: &ContextExpectation) -> Judged {
    let receiver = seen.case.receiver;
    let inner = |inner: &[Spanned<ContextExpectation>]| -> Vec<Judged> {
        inner.iter().map(|one| of(seen, &one.value)).collect()
    };
    match expectation {
        ContextExpectation::Segment { which, state } => segment(seen, which, *state),
        ContextExpectation::Segments(ids) => segments(seen, ids),
        ContextExpectation::Trust {
            segment,
            is_trusted,
        } => trust(seen, segment, *is_trusted),
        ContextExpectation::Contains(found) => patterns::contains(seen, found),
        ContextExpectation::Absent(found) => patterns::absent(seen, found),
        ContextExpectation::Order(ids) => order(seen, ids),
        ContextExpectation::Tokens { of, max, min } => tokens(seen, of, max.as_ref(), min.as_ref()),
        ContextExpectation::PromptCache { .. } => verdict::blind(
            expectation.words(),
            "one context alone, with no call before it: `tokens: {of: prefix, min: N}` says what of it a cache can reuse",
        ),
        ContextExpectation::NothingCut(expected) => nothing_cut(seen, *expected),
        ContextExpectation::Setting { name, value, node } => {
            setting(seen, name.value, &value.value, node.as_ref())
        }
        ContextExpectation::Tools(names) => same(seen, "tools", names, &receiver.tools()),
        ContextExpectation::ToolsOf(test) => tools(seen, test),
        ContextExpectation::Model(name) => model(seen, &name.value),
        ContextExpectation::ModelOf(test) => model_of(seen, test),
        ContextExpectation::ProtectedPaths(paths) => {
            same(seen, "protected paths", paths, &receiver.protected_paths())
        }
        ContextExpectation::Lookup(test) => lookup(seen, test),
        ContextExpectation::Snapshot => snapshot(seen),
        ContextExpectation::OfAgent { node, .. } => verdict::blind(
            expectation.words(),
            format!(
                "one agent alone, and not a whole run with `{}` in it",
                node.value
            ),
        ),
        ContextExpectation::Not(one) => verdict::not(of(seen, &one.value), &one.value.words()),
        ContextExpectation::AnyOf(some) => verdict::any(inner(some)),
        ContextExpectation::AllOf(some) => verdict::all(&inner(some)),
    }
}

/// Describes the fate of a segment.
fn fate(account: &SegmentReport) -> String {
    match &account.fate {
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

const fn is_in(state: State, fate: &Disposition) -> bool {
    matches!(
        (state, fate),
        (State::Kept, Disposition::Kept)
            | (
                State::Cut,
                Disposition::Cut { .. } | Disposition::Shortened { .. }
            )
            | (State::Dropped, Disposition::Dropped)
    )
}

fn segment(seen: &Seen<'_>, which: &Selector, state: State) -> Judged {
    let found = select(seen.assembly, which);
    let expected = match state {
        State::Kept => which.words(),
        State::Absent => format!("no {}", which.words()),
        State::Cut | State::Dropped => format!("{} {}", which.words(), state.word()),
    };
    match (state, found.first()) {
        (State::Absent, None) => verdict::pass(expected, "none"),
        (State::Absent, Some(first)) => {
            let why = format!("it is there by {}", first.segment.why);
            (
                Outcome::Fail,
                Reason::new(expected, format!("`{}`", first.segment.id))
                    .at(place(first))
                    .hint(why),
            )
        }
        (_, None) => {
            let reason = nothing(seen.assembly, which, expected);
            (
                Outcome::Fail,
                if seen.could(which) {
                    reason
                } else {
                    reason.blind()
                },
            )
        }
        (_, Some(first)) => {
            let other = found.iter().find(|account| !is_in(state, &account.fate));
            match other {
                Some(other) => (
                    Outcome::Fail,
                    Reason::new(expected, fate(other)).at(place(other)),
                ),
                None => verdict::pass(expected, fate(first)),
            }
        }
    }
}

fn segments(seen: &Seen<'_>, ids: &[Spanned<String>]) -> Judged {
    let stands = standing(seen.assembly);
    let expected = || format!("exactly {}", listed(ids));
    let more: Vec<String> = stands
        .iter()
        .filter(|id| ids.iter().all(|other| other.value != **id))
        .map(|id| format!("`{id}`"))
        .collect();
    if let Some(missing) = ids.iter().find(|id| !stands.contains(&id.value.as_str())) {
        let which = Selector::Id(missing.clone());
        let fate = select(seen.assembly, &which)
            .first()
            .map(|account| fate(account));
        let mut reason = nothing(seen.assembly, &which, expected());
        reason.found = fate.map_or_else(
            || format!("no `{}`", missing.value),
            |fate| format!("`{}`: {fate}", missing.value),
        );
        return (
            Outcome::Fail,
            if seen.could(&which) {
                reason
            } else {
                reason.blind()
            },
        );
    }
    if !more.is_empty() {
        return (
            Outcome::Fail,
            Reason::new(expected(), format!("{} as well", more.join(", ")))
                .hint(here(seen.assembly)),
        );
    }
    if stands != ids.iter().map(|id| id.value.as_str()).collect::<Vec<_>>() {
        return (
            Outcome::Fail,
            Reason::new(format!("the order {}", listed(ids)), "another").hint(here(seen.assembly)),
        );
    }
    verdict::pass(expected(), "them")
}

fn trust(seen: &Seen<'_>, segment: &Spanned<String>, is_trusted: bool) -> Judged {
    let which = Selector::Id(segment.clone());
    let expected = format!("`{}` to be {}", segment.value, trust_word(is_trusted));
    match select(seen.assembly, &which).first() {
        None => (
            Outcome::Fail,
            nothing(seen.assembly, &which, expected).blind(),
        ),
        Some(account) => {
            let is = account.segment.trust == Trust::Trusted;
            let outcome = if is == is_trusted {
                Outcome::Pass
            } else {
                Outcome::Fail
            };
            (
                outcome,
                Reason::new(expected, trust_word(is)).at(place(account)),
            )
        }
    }
}

fn order(seen: &Seen<'_>, ids: &[Spanned<String>]) -> Judged {
    let stands = standing(seen.assembly);
    let expected = format!("the order {}", listed(ids));
    let mut last = None;
    for id in ids {
        let Some(at) = stands.iter().position(|other| *other == id.value) else {
            let which = Selector::Id(id.clone());
            let dropped = select(seen.assembly, &which)
                .first()
                .map(|account| fate(account));
            let mut reason = nothing(seen.assembly, &which, expected).blind();
            reason.found = dropped.map_or_else(
                || format!("no `{}`", id.value),
                |dropped| format!("`{}`: {dropped}", id.value),
            );
            return (Outcome::Fail, reason);
        };
        if let Some((before, name)) = last
            && at < before
        {
            let found = format!("`{}` before `{name}`", id.value);
            return (
                Outcome::Fail,
                Reason::new(expected, found).hint(here(seen.assembly)),
            );
        }
        last = Some((at, id.value.as_str()));
    }
    verdict::pass(expected, "it")
}

fn tokens(
    seen: &Seen<'_>,
    of: &Counted,
    max: Option<&Spanned<u64>>,
    min: Option<&Spanned<u64>>,
) -> Judged {
    let report = &seen.assembly.report;
    let figure = match of {
        Counted::Total => report.tokens,
        Counted::Prefix => report.prefix_tokens,
        Counted::Segment(which) => {
            let found = select(seen.assembly, which);
            if found.is_empty() {
                return (
                    Outcome::Fail,
                    nothing(
                        seen.assembly,
                        which,
                        format!("{} to be counted", which.words()),
                    )
                    .blind(),
                );
            }
            found.iter().map(|account| account.kept_tokens).sum()
        }
    };
    let what = of.words();
    let Some(figure) = figure.map(|figure| figure as u64) else {
        return (
            Outcome::Fail,
            Reason::new(what, "that nobody counted").blind(),
        );
    };
    let counter = if report.is_exact { "" } else { ", an estimate" };
    let (outcome, reason) = verdict::count(
        figure,
        what,
        max,
        min,
        &format!("{}{counter}", report.tokenizer),
    );
    let is_over = max.is_some_and(|max| figure > max.value);
    (
        outcome,
        if is_over {
            reason.hint(largest(seen))
        } else {
            reason
        },
    )
}

/// Describes the largest segments.
fn largest(seen: &Seen<'_>) -> String {
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

fn nothing_cut(seen: &Seen<'_>, expected: bool) -> Judged {
    let lost = seen
        .assembly
        .report
        .segments
        .iter()
        .find(|account| account.fate != Disposition::Kept);
    let words = if expected {
        "every segment whole"
    } else {
        "something cut or dropped"
    };
    let reason = match lost {
        None => Reason::new(words, "every segment whole"),
        Some(account) => Reason::new(
            words,
            format!("`{}`: {}", account.segment.id, fate(account)),
        )
        .at(place(account)),
    };
    (
        if lost.is_none() == expected {
            Outcome::Pass
        } else {
            Outcome::Fail
        },
        reason,
    )
}

/// Describes the provenance of a setting.
fn provenance(origin: &OriginData) -> String {
    match origin.layer {
        Layer::Operator | Layer::Subtype => format!("the default of type {}", origin.row),
        Layer::Project | Layer::ProjectSubtype => {
            format!("the project's default of type {}", origin.row)
        }
        Layer::Template => "written in the template".to_owned(),
        Layer::Request => "written in the request".to_owned(),
    }
}

fn setting(
    seen: &Seen<'_>,
    name: SettingName,
    value: &str,
    node: Option<&Spanned<String>>,
) -> Judged {
    let at = node.map_or(seen.case.node.as_str(), |node| node.value.as_str());
    let expected = format!("{} {value}", setting_words(name, node));
    let settings = match seen.case.forest.settings(seen.case.receiver.task, at) {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            return (
                Outcome::Fail,
                Reason::new(
                    expected,
                    format!("no settings: {at} has no context of its own"),
                )
                .blind(),
            );
        }
        Err(fault) => {
            return (
                Outcome::Fail,
                Reason::new(expected, fault.to_string()).blind(),
            );
        }
    };
    let found = settings.get(name);
    let word = if found.applies {
        found.value.word()
    } else {
        "n/a"
    };
    let is_same = word == value || (!found.applies && matches!(value, "N/A" | "na"));
    let mut reason = Reason::new(expected, format!("{word}, {}", provenance(&found.origin)));
    if !is_same {
        if let Some(path) = &found.origin.path {
            reason = reason.at(Place {
                file: Some((path.clone(), found.origin.span)),
                ..Place::default()
            });
        }
        if let Some(beaten) = found
            .beaten
            .first()
            .filter(|beaten| beaten.value != found.value)
        {
            reason = reason.hint(format!(
                "it beats {}, {}",
                beaten.value.word(),
                provenance(&beaten.origin)
            ));
        }
    }
    (
        if is_same {
            Outcome::Pass
        } else {
            Outcome::Fail
        },
        reason,
    )
}

fn model(seen: &Seen<'_>, expected: &str) -> Judged {
    let found = seen.case.model();
    let (outcome, reason) = verdict::name("model", expected, found, "none");
    let advice = || {
        format!(
            "neither a role nor `{}` itself names one",
            seen.case.receiver.task
        )
    };
    (
        outcome,
        if found.is_none() {
            reason.hint(advice())
        } else {
            reason
        },
    )
}

/// Judges the model by all properties in the expectation.
fn model_of(seen: &Seen<'_>, test: &ModelTest) -> Judged {
    let routed = &seen.case.routed;
    let chosen = routed.choice.as_ref().map(|choice| choice.model);
    let part = |word: &str, expected: &Spanned<String>, found: Option<&str>| {
        verdict::name(
            word,
            &expected.value,
            found,
            "no model that the project defines",
        )
    };
    let mut judged: Vec<Judged> = test
        .name
        .iter()
        .map(|name| model(seen, &name.value))
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
        let all: Vec<String> = routed.sampling.iter().map(Sampled::words).collect();
        let found = if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        };
        let outcome = if is_same {
            Outcome::Pass
        } else {
            Outcome::Fail
        };
        judged.push((
            outcome,
            Reason::new(format!("sampling {}", model::listed(expected)), found),
        ));
    }
    verdict::all(&judged)
}

/// The reason why there is no stored request: the file is missing or unreadable.
fn unstored(input: &CaseInput<'_>, path: &str, expected: String) -> Reason {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_absent = |why: &String| *why == contained_path::reason(&ErrorKind::NotFound.into());
    match input.beside.text(&format!("{}/{name}", paths::SNAPSHOTS)) {
        Err(why) if !is_absent(&why) => {
            Reason::new(expected, format!("what cannot be read there: {why}"))
                .hint("put the stored request back, or remove what stands in its place")
        }
        Err(_) | Ok(_) => Reason::new(expected, "no such file")
            .hint("nothing is stored yet: `ctxc eval --accept` stores it"),
    }
}

fn snapshot(seen: &Seen<'_>) -> Judged {
    let input = seen.case.input;
    let path = paths::snapshot(input.path, &input.case.name.value);
    let expected = format!("the request as stored in {path}");
    let Some(stored) = input.snapshot else {
        return (Outcome::Fail, unstored(input, &path, expected).blind());
    };
    let now = stored_request(seen);
    let mask = FixedMask::by_form();
    if mask.is_same_request(stored, &now) {
        return verdict::pass(expected, "the same");
    }
    // Masked values of the stored request are not a difference, so both are masked.
    let (stored, now) = if stored.contains('⟦') {
        let masked = |document: String| match seen.case.run.answers.comparison {
            Some(comparison) => comparison.masked(&document),
            None => document,
        };
        (masked(stored.to_owned()), masked(mask.stored_request(&now)))
    } else {
        (stored.to_owned(), now)
    };
    let partings = partings(&stored, &now, Some(seen));
    let first = partings.first().cloned().unwrap_or_default();
    let file = first
        .file
        .or_else(|| Some((path, None)).filter(|_| first.origin.is_none()));
    let place = Place {
        origin: first.origin,
        file,
        ..Place::default()
    };
    verdict::parted(expected, place, partings.into_iter().map(|one| one.words))
}
