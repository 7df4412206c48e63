//! The dry run: assembles a context before any run. An unknown value counts no tokens, is listed
//! beside its segment, and turns the segment's token count into a range.
//!
//! Every run stays within these ranges, whatever its values are: they are the lower and upper
//! bounds of the cost of a whole segment.

use super::assemble::{Assembly, Report, draft_context};
use super::blocks::{fitting_block, frame_with_separator};
use super::context_source::NoSource;
use super::fault::Fault;
use super::fence_marker::FenceMarks;
use super::fill::UnknownHandling;
use super::fit::Assembler;
use super::options::Options;
use super::render::message::speaker_of;
use super::render::profile::SegmentFrame;
use super::request::Request;
use super::role;
use super::scope::{ChainMemo, place_at_agent};
use super::segments::draft_segment::{DraftSegment, WaitingFacts};
use super::task_graph::TaskGraph;
use crate::kernel::assembler::{ContextAssembler, SegmentReport, order_segments};
use crate::kernel::budget::{self, BudgetBlock};
use crate::kernel::context::{FIRST_EXPENDABLE, Segment};

impl UnknownHandling {
    /// True for the modes of a dry run, which counts tokens and renders nothing for a reader.
    pub(super) fn is_dry_run(self) -> bool {
        matches!(self, Self::Variable | Self::Expected)
    }
}

/// The memos that the dry runs of one task's agents share.
#[derive(Debug)]
pub(super) struct DryMemos {
    variable: ChainMemo,
    expected: ChainMemo,
}

impl Default for DryMemos {
    fn default() -> Self {
        Self {
            variable: ChainMemo::new(UnknownHandling::Variable),
            expected: ChainMemo::new(UnknownHandling::Expected),
        }
    }
}

/// The result of a dry run.
pub(super) struct DryRun {
    /// The report of a run in which every unknown value is empty.
    pub(super) report: Report,
    /// The unknown values and conditions of each segment.
    pub(super) waiting: Vec<WaitingFacts>,
    /// The cost of each segment if it is present and uncut.
    pub(super) whole: Vec<WholeCost>,
    /// Tokens of the budget that are reserved for untrusted text.
    pub(super) untrusted_reserve: usize,
}

/// The cost of a segment that is present and uncut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WholeCost {
    /// Tokens of the budget that fitting requires, as a lower bound; fitting reserves a separator
    /// for every segment.
    pub(super) needs: usize,
    /// The lower bound of its tokens.
    pub(super) least: usize,
    /// The upper bound of its tokens; `None` if they are unbounded.
    pub(super) most: Option<usize>,
    /// True if the segment stands for several merged ones, which a run fits separately.
    pub(super) is_several: bool,
    /// True if the segment contains untrusted text.
    pub(super) is_untrusted: bool,
    /// The lower bound of the tokens of the trusted part of a segment that is never cut; 0 for
    /// other segments.
    pub(super) trusted: usize,
}

impl WholeCost {
    /// Adds the tokens of merged segments.
    fn plus_merged(self, others: usize) -> Self {
        let Self {
            needs, least, most, ..
        } = self;
        Self {
            needs: needs + others,
            least: least + others,
            most: most.map(|most| most + others),
            ..self
        }
    }
}

/// Assembles a context without the values that only a run knows.
pub(super) fn compute_dry_run(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    options: &Options<'_>,
    memos: &mut DryMemos,
) -> Result<DryRun, Vec<Fault>> {
    dry_run_with(forest, request, &mut memos.variable, options)
}

/// Returns the tokens of the request if the caller overrides no default and a loop is in its first
/// round.
pub(super) fn expected_tokens(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    options: &Options<'_>,
    memos: &mut DryMemos,
) -> Option<usize> {
    // Lookups are skipped: a caller may replace the values that they depend on.
    let request = Request {
        source: &NoSource,
        ..*request
    };
    let report = dry_run_with(forest, &request, &mut memos.expected, options)
        .ok()?
        .report;
    Some(
        report
            .segments
            .iter()
            .filter_map(|account| account.kept_tokens)
            .sum(),
    )
}

fn dry_run_with(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    memo: &mut ChainMemo,
    options: &Options<'_>,
) -> Result<DryRun, Vec<Fault>> {
    let draft = draft_context(forest, request, memo, options)?;
    let tokens = |drafted: &DraftSegment| {
        drafted
            .condition
            .is_none()
            .then(|| merged_tokens(drafted, options, &draft.facts.marks))
    };
    let others: Vec<Option<usize>> = draft.segments.iter().map(tokens).collect();
    let (segments, waiting): (Vec<_>, Vec<_>) = draft
        .segments
        .into_iter()
        .map(DraftSegment::into_parts)
        .unzip();
    let order = role::segment_order(request.role, options.profile);
    let options = role::with_order(options, &order);
    let is_open = |(segment, waiting): (&Segment, &WaitingFacts)| {
        segment.priority() >= FIRST_EXPENDABLE && !waiting.unknown.is_empty()
    };
    let has_open_trusted_text = segments.iter().zip(&waiting).any(is_open);
    let assembler = Assembler {
        options: &options,
        facts: &draft.facts,
        merged_tokens: &others,
        has_open_trusted_text,
    };
    let Assembly { report, .. } = assembler
        .assemble(segments)
        .map_err(|fault| vec![place_at_agent(forest, request, fault)])?;
    let mut whole = whole_costs(&assembler, &report.segments, &waiting);
    for (at, (account, slot)) in report.segments.iter().zip(&mut whole).enumerate() {
        (slot.is_untrusted, slot.trusted) = trusted_share(&assembler, at, &account.segment);
    }
    let frame = SegmentFrame::default();
    let blocks: Vec<BudgetBlock<'_>> = report
        .segments
        .iter()
        .map(|account| fitting_block(&account.segment, &frame, 0))
        .collect();
    let has_open_share = draft.facts.has_open_share;
    let untrusted_reserve = options.budget.map_or(0, |tokens| {
        budget::untrusted_reserve(&blocks, tokens, has_open_share)
    });
    Ok(DryRun {
        report,
        waiting,
        whole,
        untrusted_reserve,
    })
}

/// Returns true if the segment contains untrusted text, and the tokens of the trusted part of a
/// segment that is never cut.
fn trusted_share(assembler: &Assembler<'_>, at: usize, segment: &Segment) -> (bool, usize) {
    let Options {
        profile,
        counter,
        budget,
        ..
    } = *assembler.options;
    let frame = frame_with_separator(profile, segment, &assembler.facts.marks);
    let is_untrusted = fitting_block(segment, &frame, 0).is_untrusted();
    let Some(others) = assembler
        .merged_tokens(at)
        .filter(|_| budget.is_some() && segment.priority() < FIRST_EXPENDABLE)
    else {
        return (is_untrusted, 0);
    };
    let own = Segment {
        text: segment.text.without_untrusted(),
        ..segment.clone()
    };
    let own = fitting_block(&own, &frame, others);
    (
        is_untrusted,
        if own.is_trusted_fixed() {
            own.token_count(counter)
        } else {
            0
        },
    )
}

/// Returns the tokens of the headings of all steps that are merged into a segment.
fn merged_tokens(drafted: &DraftSegment, options: &Options<'_>, marks: &FenceMarks) -> usize {
    let Some(run) = &drafted.merged else { return 0 };
    let Options {
        profile, counter, ..
    } = *options;
    let mut other = drafted.segment.clone();
    let form = format!(
        "{:?} {:?} {profile:?} {}",
        other.kind,
        other.trust,
        counter.name()
    );
    run.heading_tokens(form, |title| {
        title.clone_into(&mut other.title);
        fitting_block(&other, &frame_with_separator(profile, &other, marks), 0).token_count(counter)
    })
}

/// Returns the cost of each segment. The last segment of a message has no separator behind it, and
/// its position may depend on the run.
fn whole_costs(
    assembler: &Assembler<'_>,
    accounts: &[SegmentReport],
    waiting: &[WaitingFacts],
) -> Vec<WholeCost> {
    let segments: Vec<&Segment> = accounts.iter().map(|account| &account.segment).collect();
    let comes = waiting.iter().any(|waiting| waiting.condition.is_some());
    // Without unknown values the report holds for every run.
    let varies = comes
        || waiting
            .iter()
            .any(|waiting| waiting.is_doubtful || !waiting.unknown.is_empty());
    let stays = |segment: &Segment, waiting: &WaitingFacts| {
        let is_bound = assembler.options.budget.is_some() || segment.max_tokens.is_some();
        let may_be_dropped = is_bound && segment.priority() >= FIRST_EXPENDABLE;
        waiting.condition.is_none() && !waiting.is_doubtful && !may_be_dropped
    };
    let mut whole = vec![WholeCost::default(); accounts.len()];
    // The loop runs backwards: `follows` and `may_follow` record that a segment of the same message
    // certainly or possibly comes later.
    let mut follows = false;
    let mut may_follow = false;
    let mut message = None;
    for at in order_segments(&segments, speaker_of, assembler.options.order)
        .into_iter()
        .rev()
    {
        let (Some(account), Some(waits), Some(slot)) =
            (accounts.get(at), waiting.get(at), whole.get_mut(at))
        else {
            continue;
        };
        let segment = &account.segment;
        if !segment.turns.is_empty() {
            // A turn is a message of its own, and the conversation is fitted as one block.
            let (kept, whole) = (
                account.kept_tokens.unwrap_or(0),
                account.full_tokens.unwrap_or(0),
            );
            // An unknown conversation is bounded only by its own limit.
            let most = if waits.unknown.is_empty() {
                Some(whole)
            } else {
                assembler.facts.history.max_tokens
            };
            *slot = WholeCost {
                needs: kept,
                least: kept,
                most,
                ..WholeCost::default()
            };
            (message, follows, may_follow) = (None, false, true);
            continue;
        }
        if message.replace(speaker_of(segment)) != Some(speaker_of(segment)) {
            (follows, may_follow) = (false, comes);
        }
        if waits.condition.is_none() {
            let needs = account.full_tokens.unwrap_or(0);
            *slot = WholeCost {
                needs,
                least: needs,
                most: Some(needs),
                ..WholeCost::default()
            };
            if varies && !follows {
                *slot = last_segment_cost(assembler, segment, may_follow)
                    .plus_merged(assembler.merged_tokens(at).unwrap_or(0));
            }
            slot.is_several = assembler.merged_tokens(at).is_some_and(|others| others > 0);
            let own = segment
                .max_tokens
                .filter(|_| !slot.is_several && segment.priority() >= FIRST_EXPENDABLE);
            slot.most = slot
                .most
                .filter(|_| segment.text.open_positions().is_empty());
            if let Some(own) = own.filter(|own| !waits.unknown.is_empty() || slot.needs > *own) {
                // It is cut to that limit, or dropped if not even a mark fits into it.
                *slot = WholeCost {
                    most: slot.most.into_iter().chain([own]).min(),
                    ..WholeCost::default()
                };
            }
        }
        follows |= stays(segment, waits);
        may_follow = true;
    }
    whole
}

/// Returns the cost of a segment that may be the last of its message: without a separator, or with
/// one if another segment may follow.
fn last_segment_cost(assembler: &Assembler<'_>, segment: &Segment, may_follow: bool) -> WholeCost {
    let Options {
        profile,
        counter,
        budget,
        ..
    } = *assembler.options;
    let frame = frame_with_separator(profile, segment, &assembler.facts.marks);
    let with = [&*frame.head, segment.text.text(), &frame.tail].concat();
    let without = with.strip_suffix(profile.separator()).unwrap_or(&with);
    let count = |text: &str| {
        budget::count_open_text(
            text,
            segment
                .text
                .open_positions()
                .iter()
                .map(|at| frame.head.len() + at),
            counter,
        )
    };
    let alone = count(without);
    // Fitting counts the separator; it matters only if there is a limit or another segment follows.
    let needs = if may_follow || budget.is_some() || segment.max_tokens.is_some() {
        count(&with)
    } else {
        alone
    };
    let (least, most) = if may_follow {
        (needs.min(alone), needs.max(alone))
    } else {
        (alone, alone)
    };
    WholeCost {
        needs,
        least,
        most: Some(most),
        ..WholeCost::default()
    }
}
