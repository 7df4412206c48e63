//! Fits the segments into the budget, with the conversation as one of them, and checks the joined
//! messages against the budget.

use super::blocks::{fitting_block, rendered_text, turn_tokens};
use super::fault::{Fault, FaultKind};
use super::fence_marker::FenceMarks;
use super::options::Options;
use super::render::message::{self, Message, RenderedSegment, speaker_of};
use super::render::profile::SegmentFrame;
use crate::kernel::assembler::Deferred;
use crate::kernel::budget::{self, BlockFitter, BudgetBlock, Counting, Disposition, FittedBlock};
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Origin, Segment, Stability, TracedText};
use crate::kernel::conversation::{Speaker, Turn};
use crate::kernel::fold::{FoldResult, FoldableConversation, FoldedMessage, HistoryLimits};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Facts about a context beside its segments.
pub(super) struct ContextFacts {
    /// The segments that cannot be known before the agent has run.
    pub(super) late: Vec<Deferred>,
    /// The marks of the fences around untrusted text.
    pub(super) marks: FenceMarks,
    /// The limits of the conversation.
    pub(super) history: HistoryLimits,
    /// Tokens that are reserved for matches of lookups.
    pub(super) reserved: usize,
    /// True if a conversation may be among the segments, even an empty one, or if a text that is
    /// empty in this request may contain untrusted text in another.
    pub(super) has_open_share: bool,
}

/// Assembles segments into rendered messages.
pub(super) struct Assembler<'a> {
    pub(super) options: &'a Options<'a>,
    pub(super) facts: &'a ContextFacts,
    /// Tokens of the steps that are merged into each segment of a dry run; `None` for a segment
    /// that may be absent, which no other figure may count on. Empty outside a dry run.
    pub(super) merged_tokens: &'a [Option<usize>],
    /// True in a dry run in which a trusted expendable text waits for a value: a run may drop it,
    /// however short it is now.
    pub(super) has_open_trusted_text: bool,
}

/// The disposition of each segment, and the resulting messages.
pub(super) struct Fit {
    pub(super) fitted: Vec<FittedBlock>,
    /// Tokens of each segment, whole and as it stays, including room for a separator.
    costs: Vec<[Option<usize>; 2]>,
    pub(super) messages: Vec<Message>,
    /// The messages of the conversation that the next call repeats.
    pub(super) repeated: BTreeSet<usize>,
}

/// The maximum number of attempts to make room for tokens that appear only when texts are joined.
const MAX_ROUNDS: usize = 24;

/// The conversation among the segments.
struct ConversationFit<'a> {
    conversation: FoldableConversation<'a>,
    /// The indices of its messages among the segments.
    indices: Vec<usize>,
    is_counted: bool,
    /// The maximum of its tokens, independent of the rest of this call.
    limit: Option<usize>,
}

/// The blocks of all segments, with the conversation among them.
#[derive(Clone, Copy)]
struct FitInput<'i, 'c> {
    blocks: &'i [BudgetBlock<'i>],
    conversation: &'i ConversationFit<'c>,
    /// The most that can stay of the conversation: its messages within its own limit.
    largest_fold: &'i FoldResult,
}

/// The messages of the conversation that stay.
#[derive(Clone, Copy)]
struct RemainingMessages<'s, 'r> {
    /// By segment: the remaining part of a message that is not whole.
    turns: &'s [Option<Turn>],
    /// The indices of the messages that the next call repeats.
    repeated: &'r BTreeSet<usize>,
}

/// Returns an upper bound of the tokens of a segment that consists of messages.
fn token_bound(segment: &Segment) -> usize {
    segment.text.text().len() + segment.turns.iter().map(Turn::media_tokens).sum::<usize>()
}

/// Returns true if a segment that is never cut contains a value.
fn has_fixed_values(segments: &[Segment]) -> bool {
    let is_value = |origin: &Origin| matches!(origin, Origin::Input { .. } | Origin::Result { .. });
    let never_cut = segments
        .iter()
        .filter(|segment| segment.priority() < FIRST_EXPENDABLE);
    never_cut
        .flat_map(|segment| segment.text.stretches())
        .any(|stretch| is_value(&stretch.origin))
}

impl ConversationFit<'_> {
    /// Records the disposition of each message, and returns the remaining part of those that are
    /// not whole.
    fn record_dispositions(
        &self,
        fitted: &mut [FittedBlock],
        fold: FoldResult,
    ) -> Vec<Option<Turn>> {
        let mut turns = vec![None; fitted.len()];
        for (number, (&at, folded)) in self.indices.iter().zip(fold.messages).enumerate() {
            let (Some(fitted), Some(slot)) = (fitted.get_mut(at), turns.get_mut(at)) else {
                continue;
            };
            let FoldedMessage {
                disposition,
                kept,
                reason,
                turn,
            } = folded;
            let full = self
                .is_counted
                .then(|| self.conversation.message_tokens(number));
            let kept = if disposition == Disposition::Dropped {
                Some(0)
            } else {
                self.is_counted.then_some(kept)
            };
            *fitted = FittedBlock {
                disposition,
                full,
                kept,
                reason,
            };
            *slot = turn;
        }
        turns
    }
}

impl Assembler<'_> {
    /// Returns the tokens of the steps merged into a segment; `None` if the segment may be absent.
    pub(super) fn merged_tokens(&self, at: usize) -> Option<usize> {
        self.merged_tokens.get(at).copied().unwrap_or(Some(0))
    }

    /// Fits the segments into the budget, and checks the joined messages against it: a joined text
    /// may have a few more tokens than its parts.
    pub(super) fn fit_segments(
        &self,
        segments: &[Segment],
        frames: &[SegmentFrame],
        order: &[usize],
    ) -> Result<Fit, Fault> {
        let Options {
            budget,
            counter,
            counting,
            ..
        } = *self.options;
        let is_needed = counting == Counting::Always || budget.is_some();
        let one = |(at, segment): (usize, &Segment)| {
            let own = if is_needed && !segment.is_turn() {
                turn_tokens(segment, counter)
            } else {
                0
            };
            self.merged_tokens(at).unwrap_or(0) + own
        };
        let others: Vec<usize> = segments.iter().enumerate().map(one).collect();
        let blocks = segments.iter().zip(frames).zip(&others);
        let mut blocks: Vec<BudgetBlock<'_>> = blocks
            .map(|((segment, frame), others)| fitting_block(segment, frame, *others))
            .collect();
        let plan = self.plan_conversation(segments, &blocks, order)?;
        let first = plan.indices.first().copied();
        let largest_fold = plan
            .conversation
            .fold(plan.limit.filter(|_| plan.is_counted));
        if let Some(first) = first.and_then(|first| blocks.get_mut(first)) {
            first.others = if plan.is_counted {
                largest_fold.tokens
            } else {
                plan.conversation.max_token_count()
            };
        }
        let trusted = self.fit_trusted_segments(segments, frames, order, &blocks)?;
        let input = FitInput {
            blocks: &blocks,
            conversation: &plan,
            largest_fold: &largest_fold,
        };
        let fit_around = |fitted: &[Option<FittedBlock>]| {
            self.fit_around(segments, frames, order, input, fitted)
        };
        match fit_around(&trusted) {
            Err(_) if self.has_open_trusted_text => fit_around(&vec![None; blocks.len()]),
            fit => fit,
        }
    }

    /// Fits the segments around those that are fitted already.
    fn fit_around(
        &self,
        segments: &[Segment],
        frames: &[SegmentFrame],
        order: &[usize],
        input: FitInput<'_, '_>,
        fitted_before: &[Option<FittedBlock>],
    ) -> Result<Fit, Fault> {
        let FitInput {
            blocks,
            conversation: plan,
            largest_fold,
        } = input;
        let Options {
            profile,
            budget,
            counter,
            counting,
            ..
        } = *self.options;
        let first = plan.indices.first().copied();
        let fitting = BlockFitter::new(blocks, counter, fitted_before);
        let mut limit_of_round = budget;
        let mut reduction = 0;
        for _ in 0..MAX_ROUNDS {
            let mut fold = largest_fold.clone();
            let mut narrow = |left: usize| {
                if fold.tokens > left {
                    fold = plan.conversation.fold(Some(left));
                }
                let rest = left.saturating_sub(fold.tokens);
                if largest_fold.repeated == 0 || largest_fold.growth > rest {
                    fold.repeated = 0;
                }
                fold.tokens
            };
            let floor = plan.conversation.last_turn_limit().min(largest_fold.tokens);
            let elastic = first.filter(|_| plan.is_counted);
            let elastic = elastic.map(|at| budget::ElasticBlock {
                at,
                floor,
                take: &mut narrow as &mut dyn FnMut(usize) -> usize,
            });
            let mut fitted =
                match fitting.fit_rest(limit_of_round, counting, fitted_before.to_vec(), elastic) {
                    Ok(fitted) => fitted,
                    // The error names the requested budget, not the rest of it.
                    Err(over) => {
                        return Err(FaultKind::OverBudget(
                            over.for_budget(budget, has_fixed_values(segments)),
                        )
                        .into());
                    }
                };
            let turns = plan.record_dispositions(&mut fitted, fold.clone());
            let repeated = plan.indices.iter().take(fold.repeated).copied();
            let repeated: BTreeSet<usize> = repeated
                .filter(|at| self.merged_tokens(*at).is_some())
                .collect();
            let rendered = self.render_segments(
                segments,
                frames,
                order,
                &fitted,
                RemainingMessages {
                    turns: &turns,
                    repeated: &repeated,
                },
            );
            let messages = message::join_messages(&rendered, profile);
            let tools = || {
                rendered
                    .iter()
                    .filter(|part| part.segment.kind == Kind::Tools)
                    .map(|part| &part.text)
            };
            let texts = || {
                messages
                    .iter()
                    .filter(|message| !message.is_turn())
                    .map(|message| &message.text)
                    .chain(tools())
            };
            // Messages of turns are already counted; without a count their bytes are used.
            let turns = segments
                .iter()
                .zip(&fitted)
                .filter(|(segment, _)| !segment.turns.is_empty());
            let apart: usize = turns
                .map(|(segment, fitted)| fitted.kept.unwrap_or_else(|| token_bound(segment)))
                .sum();
            let limit = budget.filter(|limit| {
                apart + texts().map(|text| text.text().len()).sum::<usize>() > *limit
            });
            let needed = limit.map_or(0, |_| {
                apart
                    + texts()
                        .map(|text| counter.count(text.text()))
                        .sum::<usize>()
            });
            let Some(over) = limit
                .and_then(|limit| needed.checked_sub(limit))
                .filter(|over| *over > 0)
            else {
                let costs = fitted
                    .iter()
                    .map(|fitted| [fitted.full, fitted.kept])
                    .collect();
                self.recount_last_segments(&mut fitted, &rendered);
                self.recount_incomplete(&mut fitted, segments, frames, order);
                return Ok(Fit {
                    fitted,
                    costs,
                    messages,
                    repeated,
                });
            };
            reduction = over.max(reduction * 2);
            // With fewer tokens than the fixed segments need, fitting fails.
            let needed = fitting.fixed_tokens(fitted_before);
            let narrower = |limit: usize| {
                limit
                    .saturating_sub(reduction)
                    .max(if limit > needed { needed } else { 0 })
            };
            limit_of_round = limit_of_round.map(narrower);
        }
        let limit = budget.unwrap_or(0);
        Err(FaultKind::OverBudget(
            fitting
                .over_budget(fitted_before, limit)
                .for_budget(budget, has_fixed_values(segments)),
        )
        .into())
    }

    /// Returns the dispositions of the trusted segments that can be cut. They are fitted as if all
    /// untrusted text were empty, into the budget without the room reserved for untrusted text, so
    /// that no byte of them depends on untrusted text. Returns `None` for every segment if no
    /// untrusted text is possible.
    fn fit_trusted_segments(
        &self,
        segments: &[Segment],
        frames: &[SegmentFrame],
        order: &[usize],
        blocks: &[BudgetBlock<'_>],
    ) -> Result<Vec<Option<FittedBlock>>, Fault> {
        let none = vec![None; blocks.len()];
        let Options {
            budget: Some(limit),
            counter,
            ..
        } = *self.options
        else {
            return Ok(none);
        };
        if !self.facts.has_open_share && !blocks.iter().any(BudgetBlock::is_untrusted) {
            return Ok(none);
        }
        let reserved = budget::untrusted_reserve(blocks, limit, self.facts.has_open_share);
        let is_bounded = |block: &BudgetBlock<'_>| {
            block.is_untrusted() || block.byte_count() <= block.max_tokens()
        };
        // A token is at least one byte.
        if blocks.iter().map(BudgetBlock::trusted_bytes).sum::<usize>() + reserved <= limit
            && blocks.iter().all(is_bounded)
        {
            let fits = |block: &BudgetBlock<'_>| {
                block
                    .is_trusted_expendable()
                    .then(|| FittedBlock::fully_kept(None))
            };
            return Ok(blocks.iter().map(fits).collect());
        }
        let (mut indices, mut trusted, mut merged) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (segment, block)) in segments.iter().zip(blocks).enumerate() {
            if block.is_trusted_expendable() || block.is_trusted_fixed() {
                indices.push(at);
                trusted.push(Segment {
                    text: segment.text.without_untrusted(),
                    ..segment.clone()
                });
                merged.push(self.merged_tokens(at));
            }
        }
        let frames: Vec<SegmentFrame> = indices
            .iter()
            .filter_map(|at| frames.get(*at))
            .cloned()
            .collect();
        let order: Vec<usize> = order
            .iter()
            .filter_map(|at| indices.binary_search(at).ok())
            .collect();
        let trusted_blocks = trusted.iter().zip(&frames).zip(&merged);
        let trusted_blocks = trusted_blocks
            .map(|((segment, frame), merged)| fitting_block(segment, frame, merged.unwrap_or(0)));
        let never_cut: usize = trusted_blocks
            .filter(|block| block.priority < FIRST_EXPENDABLE)
            .map(|block| block.token_count(counter))
            .sum();
        if never_cut > limit {
            let over = BlockFitter::new(blocks, counter, &none).over_budget(&none, limit);
            return Err(FaultKind::OverBudget(
                over.for_budget(Some(limit), has_fixed_values(segments)),
            )
            .into());
        }
        let reserved = reserved.min((limit - never_cut) / 2);
        let options = Options {
            budget: Some(limit - reserved),
            ..*self.options
        };
        let facts = ContextFacts {
            late: Vec::new(),
            marks: self.facts.marks.clone(),
            history: HistoryLimits::default(),
            reserved: 0,
            has_open_share: false,
        };
        let Ok(alone) = (Assembler {
            options: &options,
            facts: &facts,
            merged_tokens: &merged,
            has_open_trusted_text: false,
        })
        .fit_segments(&trusted, &frames, &order) else {
            // Joined, the texts that are never cut exceed the sum of their parts and leave no room.
            let dropped = |block: &BudgetBlock<'_>| {
                block
                    .is_trusted_expendable()
                    .then(|| FittedBlock::dropped("no tokens were left".to_owned()))
            };
            return Ok(blocks.iter().map(dropped).collect());
        };
        let mut fitted_blocks = none;
        for ((at, fitted), [full, kept]) in indices.into_iter().zip(alone.fitted).zip(alone.costs) {
            if let Some(slot) = fitted_blocks.get_mut(at).filter(|_| {
                blocks
                    .get(at)
                    .is_some_and(BudgetBlock::is_trusted_expendable)
            }) {
                *slot = Some(FittedBlock {
                    full,
                    kept,
                    ..fitted
                });
            }
        }
        Ok(fitted_blocks)
    }

    /// Returns the conversation with its limit, counted if a limit may apply.
    fn plan_conversation<'s>(
        &'s self,
        segments: &'s [Segment],
        blocks: &[BudgetBlock<'_>],
        order: &[usize],
    ) -> Result<ConversationFit<'s>, Fault> {
        let Options {
            budget,
            counter,
            counting,
            ..
        } = *self.options;
        // Text that is never cut is present in every call.
        let leads = |segment: &Segment| {
            segment.priority() < FIRST_EXPENDABLE
                && !segment.text.text().trim().is_empty()
                && speaker_of(segment) == Speaker::User
        };
        let mut before = order
            .iter()
            .filter_map(|at| segments.get(*at))
            .take_while(|segment| !segment.is_turn());
        let is_first = !before.any(leads);
        let indices: Vec<usize> = (0..segments.len())
            .filter(|at| segments.get(*at).is_some_and(Segment::is_turn))
            .collect();
        let chosen = indices.iter().filter_map(|at| segments.get(*at));
        let turns = chosen.filter_map(|segment| {
            Some((
                segment.id.as_str(),
                segment.turns.first()?,
                segment.text.text(),
            ))
        });
        let conversation =
            FoldableConversation::new(turns, self.facts.history, counter).map_err(|broken| {
                let id = indices
                    .get(broken.at)
                    .and_then(|at| segments.get(*at))
                    .map_or_else(String::new, |segment| segment.id.clone());
                FaultKind::Conversation {
                    id,
                    why: broken.why,
                }
            })?;
        let mut plan = ConversationFit {
            conversation: conversation.require_user_first(is_first),
            indices,
            is_counted: false,
            limit: None,
        };
        if plan.indices.is_empty() {
            return Ok(plan);
        }
        // The tokens of the stable segments, plus the maximum of the segments that change with the
        // session or call.
        let bounds = |is_meant: fn(&BudgetBlock<'_>) -> bool,
                      count: &dyn Fn(&BudgetBlock<'_>) -> usize|
         -> usize {
            let bound = |(segment, block): (&Segment, &BudgetBlock<'_>)| match segment.stability {
                _ if segment.is_turn() || !is_meant(block) => 0,
                Stability::Fixed | Stability::Project => block.max_tokens().min(count(block)),
                Stability::Session | Stability::Call => segment.max_tokens.unwrap_or(0),
            };
            segments.iter().zip(blocks).map(bound).sum::<usize>()
        };
        let bytes = plan.conversation.max_token_count();
        let all = bytes + blocks.iter().map(BudgetBlock::byte_count).sum::<usize>();
        let own = plan.conversation.own_limit();
        // If three times its size fits, nothing is cut now, and later calls have room to grow.
        let is_near = |limit: usize| bytes * 3 > limit;
        let is_close = |budget: usize| {
            all + bytes * 2 > budget
                || is_near(budget.saturating_sub(
                    bounds(|_| true, &|block| block.byte_count()) + self.facts.reserved,
                ))
        };
        let matters = own.is_some_and(is_near) || budget.is_some_and(is_close);
        if matters || counting == Counting::Always {
            plan.conversation.count_messages();
            plan.is_counted = true;
            let count = |block: &BudgetBlock<'_>| block.token_count(counter);
            let rest = |budget: usize| {
                let all = bounds(|_| true, &count) + self.facts.reserved;
                // Segments that can be cut leave the conversation at least half of the room they
                // share.
                let never_cut = bounds(|block| block.priority < FIRST_EXPENDABLE, &count);
                budget
                    .saturating_sub(all)
                    .max(budget.saturating_sub(never_cut) / 2)
            };
            plan.limit = own.or_else(|| budget.map(rest));
        }
        Ok(plan)
    }

    /// Returns the segments that stay, in order, as rendered.
    fn render_segments<'s>(
        &self,
        segments: &'s [Segment],
        frames: &[SegmentFrame],
        order: &[usize],
        fitted: &[FittedBlock],
        remaining: RemainingMessages<'s, '_>,
    ) -> Vec<RenderedSegment<'s>> {
        let mut is_behind = false;
        let one = |&index: &usize| {
            let segment = segments.get(index)?;
            // More of the conversation will stand before the segments behind it.
            is_behind |= segment.is_turn();
            let disposition = &fitted.get(index)?.disposition;
            if *disposition == Disposition::Dropped || self.merged_tokens(index).is_none() {
                return None;
            }
            let holds = if is_behind && !remaining.repeated.contains(&index) {
                Stability::Call
            } else {
                segment.stability
            };
            let short = remaining.turns.get(index).and_then(Option::as_ref);
            let origin = || {
                segment
                    .text
                    .stretches()
                    .first()
                    .map(|stretch| stretch.origin.clone())
            };
            let text = match short {
                Some(turn) => TracedText::new(turn.text_form().text, origin()?),
                None => rendered_text(
                    segment,
                    frames.get(index)?,
                    self.options.profile,
                    disposition,
                ),
            };
            let turns = short.map_or(Cow::Borrowed(&*segment.turns), |turn| {
                Cow::Borrowed(std::slice::from_ref(turn))
            });
            Some(RenderedSegment {
                index,
                segment,
                text,
                turns,
                stability: holds,
            })
        };
        order.iter().filter_map(one).collect()
    }

    /// Corrects the tokens of the last segment of each message: it has no separator behind it, for
    /// which fitting reserved room.
    fn recount_last_segments(&self, fitted: &mut [FittedBlock], rendered: &[RenderedSegment<'_>]) {
        for message in rendered.chunk_by(RenderedSegment::shares_message) {
            let Some(last) = message.last().filter(|last| last.turns.is_empty()) else {
                continue;
            };
            let Some(fitted) = fitted
                .get_mut(last.index)
                .filter(|fitted| fitted.kept.is_some())
            else {
                continue;
            };
            fitted.kept = Some(self.segment_tokens(last.index, &last.text));
            if fitted.disposition == Disposition::Kept {
                fitted.full = fitted.kept;
            }
        }
    }

    /// Returns the tokens of a segment with the given rendered text, including the steps merged
    /// into it.
    fn segment_tokens(&self, at: usize, text: &TracedText) -> usize {
        budget::count_open_text(
            text.text(),
            text.open_positions().iter().copied(),
            self.options.counter,
        ) + self.merged_tokens(at).unwrap_or(0)
    }

    /// Corrects the full tokens of a segment that is cut or omitted: as the last of its message it
    /// would have no separator.
    fn recount_incomplete(
        &self,
        fitted: &mut [FittedBlock],
        segments: &[Segment],
        frames: &[SegmentFrame],
        order: &[usize],
    ) {
        let joins = |a: &usize, b: &usize| {
            let text = |at: &usize| {
                segments
                    .get(*at)
                    .filter(|segment| segment.turns.is_empty())
                    .map(speaker_of)
            };
            text(a).is_some() && text(a) == text(b)
        };
        for message in order.chunk_by(joins) {
            let Some(&last) = message.last() else {
                continue;
            };
            let (Some(segment), Some(frame), Some(fitted)) =
                (segments.get(last), frames.get(last), fitted.get_mut(last))
            else {
                continue;
            };
            if fitted.disposition != Disposition::Kept
                && fitted.full.is_some()
                && segment.turns.is_empty()
            {
                let whole = rendered_text(segment, frame, self.options.profile, &Disposition::Kept);
                fitted.full = Some(self.segment_tokens(last, &whole));
            }
        }
    }
}
