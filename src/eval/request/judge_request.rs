//! Judges one expectation on a request of another program. Properties that only agents of this
//! project have, such as settings, cannot be judged.

use super::examined_request::{
    ExaminedRequest, find_sections, parse_plain_request, stored_form as stored_as,
};
use crate::base::span::Spanned;
use crate::base::suggest;
use crate::eval::answer::{first_difference, same_json};
use crate::eval::context::request_differences;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::verdict::{
    self, CountBounds, ExpectationOutcome, ExpectationVerdict, JudgedOutcome, Presence, Reason,
    ResultPlace,
};
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::RequestComparison;
use crate::record::volatile::{VOLATILE_ADVICE, differ_in_digits};
use crate::request::model::{CacheMark, ModelRequest};
use crate::request::prompt_cache::{self, PrefixBreak};
use crate::request::segments::{RequestSegment, build_segments as segments_of};
use crate::request::threads::is_shared;
use crate::scenario::expect::context::{backquoted_names, to_percent};
use crate::scenario::expect::segments::describe_ids;
use crate::scenario::expect::tools::ToolTest;
use crate::scenario::model::{
    ContextExpectation, CountedTokens, PatternTest, SegmentSelector, SegmentState,
};
use crate::scenario::paths;
use crate::scenario::values::FrozenValue;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a displayed text, in bytes.
const MAX_EXCERPT_BYTES: usize = 60;

/// A request with its case.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRequest<'a> {
    pub(super) context: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    pub(super) sent: &'a ExaminedRequest,
}

/// A text of a request with its id.
struct NamedText<'a> {
    id: &'a str,
    words: &'a str,
    tokens: usize,
}

pub(super) fn judge_request(
    seen: &SeenRequest<'_>,
    expectation: &Spanned<ContextExpectation>,
) -> ExpectationVerdict {
    let (outcome, reason) = judge_expectation(seen, &expectation.value);
    ExpectationVerdict::new(
        expectation.value.describe(),
        (outcome, reason),
        expectation.span,
    )
}

fn judge_expectation(seen: &SeenRequest<'_>, expectation: &ContextExpectation) -> JudgedOutcome {
    let inner = |inner: &[Spanned<ContextExpectation>]| -> Vec<JudgedOutcome> {
        inner
            .iter()
            .map(|one| judge_expectation(seen, &one.value))
            .collect()
    };
    match expectation {
        ContextExpectation::Segment {
            selector: which,
            state,
        } => judge_segment(seen, which, *state),
        ContextExpectation::Segments(ids) => judge_segments(seen, ids),
        ContextExpectation::Contains(patterns) => {
            judge_patterns(seen, patterns, Presence::Required)
        }
        ContextExpectation::Absent(patterns) => judge_patterns(seen, patterns, Presence::Forbidden),
        ContextExpectation::Order(ids) => judge_order(seen, ids),
        ContextExpectation::Tokens {
            counted: of,
            max,
            min,
        } => judge_tokens(seen, of, max.as_ref(), min.as_ref()),
        ContextExpectation::PromptCache { min_reused } => judge_prompt_cache(seen, *min_reused),
        ContextExpectation::NothingCut(true) => {
            verdict::pass("every segment whole", "a request as it was sent")
        }
        ContextExpectation::Tools(names) => judge_same_tools(seen, names),
        ContextExpectation::ToolsOf(test) => judge_tools(seen, test),
        ContextExpectation::Model(name) => judge_model(seen, name),
        ContextExpectation::ModelOf(test) if test.provider.is_none() && test.sampling.is_none() => {
            verdict::all_hold(
                &test
                    .name
                    .iter()
                    .chain(&test.id)
                    .map(|id| judge_model(seen, id))
                    .collect::<Vec<_>>(),
            )
        }
        ContextExpectation::Snapshot => judge_snapshot(seen),
        ContextExpectation::Not(one) => {
            verdict::negate(judge_expectation(seen, &one.value), &one.value.describe())
        }
        ContextExpectation::AnyOf(some) => verdict::any_holds(inner(some)),
        ContextExpectation::AllOf(some) => verdict::all_hold(&inner(some)),
        ContextExpectation::Trust { .. }
        | ContextExpectation::NothingCut(false)
        | ContextExpectation::Setting { .. }
        | ContextExpectation::ModelOf(_)
        | ContextExpectation::ProtectedPaths(_)
        | ContextExpectation::Lookup(_)
        | ContextExpectation::OfAgent { .. } => verdict::fail_blind(
            expectation.describe(),
            "a request of another program, for which this cannot be checked",
        ),
    }
}

fn segment_ids<'a>(seen: &SeenRequest<'a>) -> Vec<&'a str> {
    seen.sent
        .segments
        .iter()
        .map(|segment| segment.id.as_str())
        .collect()
}

/// The texts that a selector selects; a failed outcome if there are none. `expected` describes
/// their purpose.
fn named_texts<'a>(
    seen: &SeenRequest<'a>,
    which: &SegmentSelector,
    expected: impl FnOnce() -> String,
) -> Result<Vec<NamedText<'a>>, Box<JudgedOutcome>> {
    let id = selected_id(which)?;
    let found = find_texts(seen, id);
    if found.is_empty() {
        Err(Box::new((
            ExpectationOutcome::Fail,
            missing_reason(seen, id, expected()).into_blind(),
        )))
    } else {
        Ok(found)
    }
}

fn find_texts<'a>(seen: &SeenRequest<'a>, id: &str) -> Vec<NamedText<'a>> {
    let counter = &*seen.sent.counter;
    let all = &seen.sent.segments;
    let whole = |segment: &'a RequestSegment| NamedText {
        id: &segment.id,
        words: &segment.text,
        tokens: segment.tokens(counter),
    };
    let named: Vec<NamedText<'a>> = all
        .iter()
        .filter(|segment| segment.id == id || segment.group == id)
        .map(whole)
        .collect();
    if !named.is_empty() {
        return named;
    }
    let Some((group, title)) = id.split_once('/') else {
        return Vec::new();
    };
    let of_group = all
        .iter()
        .filter(|segment| segment.group == group || segment.id == group);
    let nothing = BTreeMap::new();
    let blocks = seen
        .context
        .answers
        .config
        .map_or(&nothing, |config| &config.requests.blocks);
    let section = |segment: &'a RequestSegment| {
        let section = find_sections(segment, blocks)
            .into_iter()
            .find(|section| section.title == title)?;
        let text = segment.text.get(section.range)?;
        Some(NamedText {
            id: &segment.id,
            words: text,
            tokens: counter.count(text),
        })
    };
    of_group.filter_map(section).collect()
}

fn selected_id(which: &SegmentSelector) -> Result<&str, Box<JudgedOutcome>> {
    match which {
        SegmentSelector::Id(id) => Ok(&id.value),
        SegmentSelector::Kind(_) | SegmentSelector::Source(_) => {
            Err(Box::new(verdict::fail_blind(
                which.describe(),
                "a request of another program, whose segments only have ids",
            )))
        }
    }
}

/// The reason for a missing text, with the nearest or all existing ids.
fn missing_reason(seen: &SeenRequest<'_>, id: &str, expected: String) -> Reason {
    let here = segment_ids(seen);
    let near = suggest::nearest_candidate(id, here.iter().copied())
        .map(|near| format!("did you mean `{near}`?"));
    let there = match (here.as_slice(), here.len() > 12) {
        ([first, .., last], true) => format!("{} segments, `{first}` to `{last}`", here.len()),
        _ => here.join(", "),
    };
    Reason::new(expected, format!("no `{id}`"))
        .with_advice(near.unwrap_or_else(|| format!("it has {there}")))
}

fn judge_segment(
    seen: &SeenRequest<'_>,
    which: &SegmentSelector,
    state: SegmentState,
) -> JudgedOutcome {
    let id = match selected_id(which) {
        Ok(id) => id,
        Err(blind) => return *blind,
    };
    let is_there = !find_texts(seen, id).is_empty();
    match state {
        SegmentState::Kept if is_there => verdict::pass(which.describe(), "it"),
        SegmentState::Kept => (
            ExpectationOutcome::Fail,
            missing_reason(seen, id, which.describe()),
        ),
        SegmentState::Absent if is_there => {
            verdict::fail(format!("no {}", which.describe()), format!("`{id}`"))
        }
        SegmentState::Absent => verdict::pass(format!("no {}", which.describe()), "none"),
        SegmentState::Cut | SegmentState::Dropped => verdict::fail_blind(
            format!("{} {}", which.describe(), state.word()),
            "a request as it was sent: what was left out is not in it",
        ),
    }
}

fn judge_segments(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> JudgedOutcome {
    let here = segment_ids(seen);
    let expected = format!("exactly {}", describe_ids(wanted));
    let wanted: Vec<&str> = wanted.iter().map(|one| one.value.as_str()).collect();
    if here == wanted {
        return verdict::pass(expected, "them");
    }
    let quote = |ids: Vec<&str>| {
        ids.iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|id| !here.contains(id))
        .collect();
    let more: Vec<&str> = here
        .iter()
        .copied()
        .filter(|id| !wanted.contains(id))
        .collect();
    let mut words = Vec::new();
    if !missing.is_empty() {
        words.push(format!("no {}", quote(missing)));
    }
    if !more.is_empty() {
        words.push(format!("{} as well", quote(more)));
    }
    verdict::fail(
        expected,
        if words.is_empty() {
            "another order".to_owned()
        } else {
            words.join(", and ")
        },
    )
}

fn judge_order(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> JudgedOutcome {
    let expected = format!("the order {}", describe_ids(wanted));
    let mut last: Option<(usize, &str)> = None;
    for id in wanted {
        let is_it = |segment: &RequestSegment| segment.id == id.value || segment.group == id.value;
        let Some(at) = seen.sent.segments.iter().position(is_it) else {
            return (
                ExpectationOutcome::Fail,
                missing_reason(seen, &id.value, expected).into_blind(),
            );
        };
        if let Some((_, name)) = last.filter(|(before, _)| at < *before) {
            return verdict::fail(expected, format!("`{}` before `{name}`", id.value));
        }
        last = Some((at, &id.value));
    }
    verdict::pass(expected, "it")
}

/// Judges patterns that must occur, or must not.
fn judge_patterns(
    seen: &SeenRequest<'_>,
    patterns: &PatternTest,
    presence: Presence,
) -> JudgedOutcome {
    let verb = match presence {
        Presence::Required => "to contain",
        Presence::Forbidden => "not to contain",
    };
    let place = patterns.describe_place();
    let texts = match &patterns.within {
        None => all_texts(seen),
        Some(which) => match named_texts(seen, which, || {
            format!("{place} {verb} {}", patterns.describe())
        }) {
            Err(none) => return *none,
            Ok(found) => found,
        },
    };
    for pattern in &patterns.patterns {
        let expected = format!("{place} {verb} /{}/", pattern.value);
        let mut hit = None;
        for text in &texts {
            match seen
                .context
                .patterns
                .find_pattern(&pattern.value, text.words)
            {
                Ok(Some(range)) => {
                    hit = Some((text, range));
                    break;
                }
                Ok(None) => {}
                Err(why) => return verdict::fail_blind(expected, why),
            }
        }
        match (hit, presence) {
            (None, Presence::Required) => {
                let bytes: usize = texts.iter().map(|text| text.words.len()).sum();
                return verdict::fail(expected, format!("it nowhere in {bytes} bytes"));
            }
            (Some((text, range)), Presence::Forbidden) => {
                let end = text
                    .words
                    .floor_char_boundary(range.end.min(range.start + MAX_EXCERPT_BYTES));
                let excerpt = text
                    .words
                    .get(range.start..end)
                    .unwrap_or_default()
                    .replace('\n', "⏎");
                let place = ResultPlace {
                    segment: Some(text.id.to_owned()),
                    range: Some(range),
                    ..ResultPlace::default()
                };
                return (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, format!("“{excerpt}” in `{}`", text.id))
                        .with_place(place),
                );
            }
            (Some(_), Presence::Required) | (None, Presence::Forbidden) => {}
        }
    }
    verdict::pass(
        format!("{place} {verb} {}", patterns.describe()),
        match presence {
            Presence::Required => "each",
            Presence::Forbidden => "none",
        },
    )
}

fn all_texts<'a>(seen: &SeenRequest<'a>) -> Vec<NamedText<'a>> {
    seen.sent
        .segments
        .iter()
        .map(|segment| NamedText {
            id: &segment.id,
            words: &segment.text,
            tokens: 0,
        })
        .collect()
}

fn judge_tokens(
    seen: &SeenRequest<'_>,
    of: &CountedTokens,
    max: Option<&Spanned<u64>>,
    min: Option<&Spanned<u64>>,
) -> JudgedOutcome {
    let what = of.describe();
    let counter = &*seen.sent.counter;
    let figure: usize = match of {
        CountedTokens::Total => seen
            .sent
            .segments
            .iter()
            .map(|segment| segment.tokens(counter))
            .sum(),
        CountedTokens::Prefix => {
            return verdict::fail_blind(
                what,
                "one request alone: what a cache can reuse depends on the call before",
            );
        }
        CountedTokens::Segment(which) => {
            match named_texts(seen, which, || {
                format!("{} to be counted", which.describe())
            }) {
                Err(none) => return *none,
                Ok(found) => found.iter().map(|text| text.tokens).sum(),
            }
        }
    };
    let by = if counter.is_exact() {
        counter.name().to_owned()
    } else {
        format!("{}, an estimate", counter.name())
    };
    verdict::judge_count(figure as u64, what, CountBounds { min, max }, &by)
}

fn judge_prompt_cache(seen: &SeenRequest<'_>, min_reused: f64) -> JudgedOutcome {
    let expected = ContextExpectation::PromptCache { min_reused }.describe();
    if let Some(lost) = lost_breakpoints(seen.sent) {
        let hint = "what no breakpoint (`cache_control`) stands behind is sent and paid for anew in each call";
        return (
            ExpectationOutcome::Fail,
            Reason::new(expected, lost).with_advice(hint.to_owned()),
        );
    }
    let Some(before) = &seen.sent.before else {
        return verdict::fail_blind(
            expected,
            "the first call of its conversation, so nothing of it can be reused",
        );
    };
    let counter = &*seen.sent.counter;
    let (found, had) = (
        prompt_cache::compare_calls(before, &seen.sent.segments, counter),
        count_tokens(before, counter),
    );
    let share = token_share(found.reused, had);
    let words = format!(
        "{} % of the {had} tokens of the call before",
        to_percent(share)
    );
    if share >= min_reused {
        return verdict::pass(expected, words);
    }
    let reason = Reason::new(expected, words);
    let Some(broken) = found.broken_by else {
        return (ExpectationOutcome::Fail, reason);
    };
    let PrefixBreak {
        segment,
        offset,
        before,
        after,
        ..
    } = broken;
    let place = ResultPlace {
        segment: Some(segment.clone()),
        ..ResultPlace::default()
    };
    let difference = format!(
        "`{segment}` differs from its byte {offset}: “{}” in place of “{}”",
        excerpt(&after),
        excerpt(&before)
    );
    (
        ExpectationOutcome::Fail,
        reason.with_place(place).with_advice(difference),
    )
}

/// The description of cache breakpoints that the recorded call has and the request lacks: all of
/// them, or those before the messages.
fn lost_breakpoints(sent: &ExaminedRequest) -> Option<&'static str> {
    let recorded = sent.recorded.as_ref()?;
    let recorded = parse_plain_request(recorded.request.get(), Some(&recorded.endpoint)).ok()?;
    let marks = |request: &ModelRequest, segments: &[RequestSegment]| {
        let marked = || segments.iter().filter(|segment| segment.is_breakpoint);
        (
            CacheMark::from_block(&request.body).is_some() || marked().next().is_some(),
            marked().any(is_shared),
        )
    };
    let (had, has) = (
        marks(&recorded, &segments_of(&recorded)),
        marks(&sent.request, &sent.segments),
    );
    match () {
        () if had.0 && !has.0 => Some("no cache breakpoint, and the recorded call has one"),
        () if had.1 && !has.1 => Some(
            "no cache breakpoint behind the tools or the system text, and the recorded call has one",
        ),
        () => None,
    }
}

/// The fraction of a call that the next one repeats unchanged at its beginning, from 0 to 1.
pub fn reused_share(
    before: &[RequestSegment],
    now: &[RequestSegment],
    counter: &dyn TokenCounter,
) -> f64 {
    token_share(
        prompt_cache::compare_calls(before, now, counter).reused,
        count_tokens(before, counter),
    )
}

fn token_share(reused: usize, had: usize) -> f64 {
    let number = |tokens: usize| f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
    (number(reused) / number(had.max(1))).min(1.0)
}

fn count_tokens(segments: &[RequestSegment], counter: &dyn TokenCounter) -> usize {
    segments.iter().map(|segment| segment.tokens(counter)).sum()
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    text.get(..text.floor_char_boundary(MAX_EXCERPT_BYTES))
        .unwrap_or_default()
        .replace('\n', "⏎")
}

fn judge_same_tools(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> JudgedOutcome {
    let expected = format!("tools {}", backquoted_names(wanted));
    let here: BTreeSet<&str> = seen
        .sent
        .request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(|one| one.value.as_str()).collect();
    let missing: Vec<String> = wanted
        .difference(&here)
        .map(|name| format!("no `{name}`"))
        .collect();
    let more: Vec<String> = here
        .difference(&wanted)
        .map(|name| format!("`{name}` too"))
        .collect();
    if missing.is_empty() && more.is_empty() {
        return verdict::pass(expected, "the same");
    }
    verdict::fail(expected, [missing, more].concat().join(", and "))
}

fn judge_tools(seen: &SeenRequest<'_>, test: &ToolTest) -> JudgedOutcome {
    let tools = &seen.sent.request.tools;
    let here = |name: &str| tools.iter().find(|tool| tool.name == name);
    let mut judged = Vec::new();
    for name in &test.has {
        let words = format!("a tool `{}`", name.value);
        judged.push(if here(&name.value).is_some() {
            verdict::pass(words, "that")
        } else {
            verdict::fail(words, "none of that name")
        });
    }
    for name in &test.lacks {
        let words = format!("not a tool `{}`", name.value);
        judged.push(if here(&name.value).is_none() {
            verdict::pass(words, "that")
        } else {
            verdict::fail(words, "it")
        });
    }
    judged.extend(
        test.exactly
            .iter()
            .map(|wanted| judge_same_tools(seen, wanted)),
    );
    for (name, wanted) in &test.schema_of {
        let words = format!(
            "the parameters of `{}` as they stand {}",
            name.value,
            if matches!(wanted, FrozenValue::File(_)) {
                "in its file"
            } else {
                "here"
            }
        );
        let wanted =
            match wanted {
                FrozenValue::Value(value) => Ok(value.clone()),
                FrozenValue::File(path) => seen.input.beside.text(path).and_then(|text| {
                    serde_json::from_str(&text).map_err(|error| error.to_string())
                }),
            };
        judged.push(
            match (
                here(&name.value).and_then(|tool| seen.sent.request.argument_schema(tool)),
                wanted,
            ) {
                (None, _) => verdict::fail_blind(words, "no definition of that tool"),
                (_, Err(why)) => verdict::fail_blind(words, why),
                (Some(found), Ok(wanted)) if same_json(&wanted, found) => {
                    verdict::pass(words, "the same")
                }
                (Some(found), Ok(wanted)) => verdict::fail(
                    words,
                    format!(
                        "others at {}",
                        first_difference(&wanted, found, "$".to_owned())
                    ),
                ),
            },
        );
    }
    verdict::all_hold(&judged)
}

fn judge_model(seen: &SeenRequest<'_>, wanted: &Spanned<String>) -> JudgedOutcome {
    verdict::judge_name(
        "model",
        &wanted.value,
        seen.sent.request.model.as_deref(),
        "none",
    )
}

fn judge_snapshot(seen: &SeenRequest<'_>) -> JudgedOutcome {
    let input = seen.input;
    let path = paths::snapshot_path(input.path, &input.case.name.value);
    let expected = format!("the request as stored in {path}");
    let Some(stored) = input.snapshot else {
        let reason = Reason::new(expected, "no such file")
            .with_advice("nothing is stored yet: `ctxc eval --accept` stores it");
        return (ExpectationOutcome::Fail, reason.into_blind());
    };
    let comparison = seen.context.answers.comparison;
    let now = stored_as(
        &seen.sent.request,
        comparison.map(RequestComparison::volatile),
    );
    // The stored request can have been masked by other rules than today's.
    let masked = |document: &str| {
        comparison.map_or_else(
            || document.to_owned(),
            |comparison| comparison.mask_document(document),
        )
    };
    let is_same = |comparison: &RequestComparison| {
        let sent = seen
            .sent
            .call
            .as_ref()
            .and_then(|call| ModelRequest::parse(&call.body, Some(&call.endpoint)).ok());
        let clear = sent.map_or_else(
            || now.clone(),
            |request| stored_as(&request, Some(comparison.volatile())),
        );
        comparison.is_same_document(stored, &clear)
    };
    if stored == now || comparison.is_some_and(is_same) {
        return verdict::pass(expected, "the same");
    }
    let (stored, now) = (masked(stored), masked(&now));
    let advice = differ_in_digits(&stored, &now).then_some(VOLATILE_ADVICE);
    let partings = request_differences(&stored, &now, None)
        .into_iter()
        .map(|one| one.words);
    let (outcome, reason) = verdict::differing_request(
        expected,
        ResultPlace {
            file: Some((path, None)),
            ..ResultPlace::default()
        },
        partings,
    );
    let reason = match advice {
        Some(advice) => reason.with_advice(advice),
        None => reason,
    };
    (outcome, reason)
}
