//! Fits blocks into a budget of tokens, and gives a reason for each block that is kept, cut or
//! dropped.
//!
//! Takes blocks by priority, trusted ones first, then by kind, then by their order; never reorders
//! them. Complete blocks are kept until one does not fit. That one is cut if its text may be cut
//! and more than [`WORTH_CUTTING`] tokens are left, its mark included. The blocks after it are
//! dropped, so that a block of lower priority is never kept when one of higher priority is dropped.
//! Exceptions are untrusted inputs and the last turn of a conversation, which have reserved tokens.
//! Every drop is reported.
//!
//! If untrusted text may be present, trusted blocks are fitted before all of that into the budget
//! left by [`untrusted_reserve`], so that untrusted text never changes a byte of them. Their
//! results are then passed in.

use super::context::{CutPolicy, FIRST_EXPENDABLE, Kind, Trust};
use super::grapheme;
use super::tokens::TokenCounter;
use crate::base::number::format_thousands;
use std::cell::OnceCell;
use std::ops::Range;

/// The number of remaining tokens up to which a text is dropped instead of cut: the rest would be
/// too short to be useful.
pub const WORTH_CUTTING: usize = 100;

/// A segment in the form in which it will be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetBlock<'a> {
    /// The segment's id, for reasons.
    pub id: &'a str,
    /// The order of removal: the greatest goes first; below 2 never.
    pub priority: u8,
    /// The order of removal within one priority: untrusted blocks go first, and among these the
    /// last kind.
    pub turn: (Trust, Kind),
    /// Rendered before the text: a heading, the opening of a fence.
    pub head: &'a str,
    /// The text.
    pub text: &'a str,
    /// Rendered after the text: the closing of a fence, a separator.
    pub tail: &'a str,
    /// Positions in the text at which values will be inserted that are not known yet, in order; the
    /// token count is then a lower bound.
    pub open: &'a [usize],
    /// Tokens besides the text that are fitted together with this block, such as those of a
    /// conversation; else 0.
    pub others: usize,
    /// Its own maximum of tokens.
    pub max_tokens: Option<usize>,
    /// The positions at which the text may be cut.
    pub cut: &'a CutPolicy,
    /// Untrusted ranges of the text.
    pub untrusted: &'a [Range<usize>],
}

/// The outcome of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disposition {
    /// Present completely.
    Kept,
    /// Only these bytes of its text are present, with a mark.
    Cut {
        /// The bytes that stayed.
        range: Range<usize>,
        /// The mark in place of the missing text.
        mark: String,
    },
    /// A message without these bytes of its text, each replaced by a mark.
    Shortened {
        /// The omitted bytes.
        left_out: Vec<Range<usize>>,
    },
    /// Not present.
    Dropped,
}

/// The result for one block. Token figures include heading and fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedBlock {
    /// The disposition.
    pub disposition: Disposition,
    /// Tokens of the complete block; `None` if its bytes fitted and no count was needed.
    pub full: Option<usize>,
    /// Tokens of the kept part; `None` if no count was needed.
    pub kept: Option<usize>,
    /// The reason.
    pub reason: String,
}

/// The error for uncuttable blocks that exceed the budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}, which may not be cut; the budget is {}{}", describe_need(parts, *needed), format_thousands(*budget), if *holds_values { LONG_VALUE_ADVICE } else { "" })]
pub struct OverBudget {
    /// The blocks that may not be cut, in order of priority, each with its tokens.
    pub parts: Vec<(String, usize)>,
    /// Tokens of all blocks that may not be cut.
    pub needed: usize,
    /// The budget.
    pub budget: usize,
    /// True if the blocks contain values.
    pub holds_values: bool,
}

/// The advice for a long value in a text that may not be cut.
const LONG_VALUE_ADVICE: &str =
    "; a long value is cut where it is an input of its own, which no text names";

impl OverBudget {
    /// The same error for another budget than the one that was fitted into, and for texts that
    /// contain values.
    #[must_use]
    pub fn for_budget(self, budget: Option<usize>, holds_values: bool) -> Self {
        let budget = budget.unwrap_or(self.budget);
        Self {
            needed: self.needed.max(budget.saturating_add(1)),
            budget,
            holds_values,
            ..self
        }
    }
}

/// Maximum number of blocks listed.
const MAX_LISTED_BLOCKS: usize = 8;

fn describe_need(parts: &[(String, usize)], needed: usize) -> String {
    if let [(id, _)] = parts {
        return format!("`{id}` needs {} tokens", format_thousands(needed));
    }
    let mut named: Vec<String> = parts
        .iter()
        .take(MAX_LISTED_BLOCKS)
        .map(|(id, tokens)| format!("`{id}` ({})", format_thousands(*tokens)))
        .collect();
    if parts.len() > MAX_LISTED_BLOCKS {
        named.push(format!("and {} more", parts.len() - MAX_LISTED_BLOCKS));
    }
    format!(
        "{} need {} tokens in all",
        named.join(", "),
        format_thousands(needed)
    )
}

/// The choice whether to count tokens even if no count is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Counting {
    /// Count every block.
    Always,
    /// Count only if the bytes may not fit.
    WhenNeeded,
}

/// A budget and its token counter.
#[derive(Clone, Copy, Debug)]
pub struct TokenBudget<'a> {
    /// Maximum number of tokens; `None` for no limit.
    pub tokens: Option<usize>,
    /// The token counter.
    pub counter: &'a dyn TokenCounter,
    /// The choice whether figures are always required.
    pub counting: Counting,
}

/// Fits blocks into a budget; one result per block, in their order.
///
/// # Errors
/// Blocks of priority 0 and 1 alone are larger than the budget.
pub fn fit_blocks(
    blocks: &[BudgetBlock<'_>],
    budget: &TokenBudget<'_>,
) -> Result<Vec<FittedBlock>, OverBudget> {
    let none_before = vec![None; blocks.len()];
    BlockFitter::new(blocks, budget.counter, &none_before).fit_rest(
        budget.tokens,
        budget.counting,
        none_before,
        None,
    )
}

/// A block that decides itself how many of the remaining tokens it uses: a conversation.
pub struct ElasticBlock<'e> {
    /// The index of the block.
    pub at: usize,
    /// Tokens reserved for it before other blocks that can be cut: at most half of the tokens left
    /// then.
    pub floor: usize,
    /// Receives the available tokens and returns the number used.
    pub take: &'e mut dyn FnMut(usize) -> usize,
}

/// The divisor of a budget for the tokens reserved for all untrusted text without a limit of its
/// own.
const UNTRUSTED_SHARE_DIVISOR: usize = 4;
/// The lowest priority number of untrusted segments without reserved tokens, such as files and
/// lookups.
const MIN_UNRESERVED_PRIORITY: u8 = 4;

/// Tokens of a budget that are reserved for untrusted text, independent of its length: the limit of
/// each untrusted input that has one, and a quarter of the budget for all other inputs, results of
/// earlier steps, values in uncuttable texts and a conversation together.
pub fn untrusted_reserve(blocks: &[BudgetBlock<'_>], budget: usize, has_open_share: bool) -> usize {
    let mut room: usize = 0;
    let mut has_share = has_open_share;
    for block in blocks.iter().filter(|block| block.is_untrusted()) {
        match block.max_tokens.filter(|_| block.is_foreign_input()) {
            Some(max) => room = room.saturating_add(max),
            None => {
                has_share |= block.is_foreign_input()
                    || block.turn.1 == Kind::History
                    || block.priority < MIN_UNRESERVED_PRIORITY;
            }
        }
    }
    room.saturating_add(if has_share {
        budget / UNTRUSTED_SHARE_DIVISOR
    } else {
        0
    })
}

/// Blocks with their tokens. Each block is counted at most once, and only when its tokens matter.
#[derive(Debug)]
pub struct BlockFitter<'b> {
    blocks: &'b [BudgetBlock<'b>],
    counter: &'b dyn TokenCounter,
    /// The token counts known so far.
    known: Vec<Option<usize>>,
    sizes: OnceCell<Vec<usize>>,
}

impl<'b> BlockFitter<'b> {
    /// Prepares blocks for fitting. `fitted_before` contains the results of blocks that are fitted
    /// already.
    pub fn new(
        blocks: &'b [BudgetBlock<'b>],
        counter: &'b dyn TokenCounter,
        fitted_before: &[Option<FittedBlock>],
    ) -> Self {
        let known = fitted_before
            .iter()
            .map(|fitted| fitted.as_ref().and_then(|fitted| fitted.full))
            .collect();
        Self {
            blocks,
            counter,
            known,
            sizes: OnceCell::new(),
        }
    }

    fn block_sizes(&self) -> &[usize] {
        let size = |(at, block): (usize, &BudgetBlock<'_>)| {
            self.known
                .get(at)
                .copied()
                .flatten()
                .unwrap_or_else(|| block.token_count(self.counter))
        };
        self.sizes
            .get_or_init(|| self.blocks.iter().enumerate().map(size).collect())
    }

    fn block_size(&self, at: usize) -> usize {
        self.block_sizes().get(at).copied().unwrap_or(0)
    }

    /// Tokens of the blocks that are never cut and of those that are fitted already.
    pub fn fixed_tokens(&self, fitted_before: &[Option<FittedBlock>]) -> usize {
        self.fixed_blocks(fitted_before)
            .map(|(_, tokens)| tokens)
            .sum()
    }

    fn fixed_blocks<'s>(
        &'s self,
        fitted_before: &'s [Option<FittedBlock>],
    ) -> impl Iterator<Item = (&'s BudgetBlock<'b>, usize)> {
        self.blocks.iter().enumerate().filter_map(|(at, block)| {
            match fitted_before.get(at).and_then(Option::as_ref) {
                Some(fitted) => Some((block, self.block_cost(at, fitted))),
                None => (block.priority < FIRST_EXPENDABLE).then(|| (block, self.block_size(at))),
            }
        })
    }

    /// Tokens of a block that is fitted already.
    fn block_cost(&self, at: usize, fitted: &FittedBlock) -> usize {
        match fitted.disposition {
            Disposition::Kept => self.block_size(at),
            Disposition::Cut { .. } | Disposition::Shortened { .. } | Disposition::Dropped => {
                fitted.kept.unwrap_or(0)
            }
        }
    }

    /// The error for blocks that are never cut, or are fitted already, and exceed a budget.
    pub fn over_budget(&self, fitted_before: &[Option<FittedBlock>], budget: usize) -> OverBudget {
        let mut staying: Vec<(&BudgetBlock<'_>, usize)> = self
            .fixed_blocks(fitted_before)
            .filter(|(block, tokens)| block.priority < FIRST_EXPENDABLE || *tokens > 0)
            .collect();
        staying.sort_by_key(|(block, _)| block.priority);
        let needed = staying.iter().map(|(_, tokens)| tokens).sum();
        let parts = staying
            .into_iter()
            .map(|(block, tokens)| (block.id.to_owned(), tokens))
            .collect();
        OverBudget {
            parts,
            needed,
            budget,
            holds_values: false,
        }
    }

    /// Fits the other blocks into the rest of a budget, around an elastic one.
    ///
    /// # Errors
    /// The blocks of priority 0 and 1 and those that are fitted already exceed the budget.
    pub fn fit_rest(
        &self,
        budget: Option<usize>,
        counting: Counting,
        fitted_before: Vec<Option<FittedBlock>>,
        mut elastic: Option<ElasticBlock<'_>>,
    ) -> Result<Vec<FittedBlock>, OverBudget> {
        let blocks = self.blocks;
        let is_over = budget
            .is_some_and(|limit| blocks.iter().map(BudgetBlock::byte_count).sum::<usize>() > limit);
        let is_whole = |fitted: &Option<FittedBlock>| {
            fitted
                .as_ref()
                .is_none_or(|fitted| fitted.disposition == Disposition::Kept)
        };
        let fits = |block: &BudgetBlock<'_>| block.byte_count() <= block.max_tokens();
        if elastic.is_none()
            && !is_over
            && fitted_before.iter().all(is_whole)
            && blocks.iter().all(fits)
        {
            let tokens = |at: usize| (counting == Counting::Always).then(|| self.block_size(at));
            return Ok((0..blocks.len())
                .map(|at| FittedBlock::fully_kept(tokens(at)))
                .collect());
        }
        let limit = budget.unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|&at| blocks.get(at).map(|block| (block.priority, block.turn)));
        let counted = |(at, fitted): (usize, Option<FittedBlock>)| {
            let fitted = fitted?;
            let tokens = self.block_cost(at, &fitted);
            Some(FittedBlock {
                full: Some(self.block_size(at)),
                kept: Some(tokens),
                ..fitted
            })
        };
        let mut fitted: Vec<Option<FittedBlock>> =
            fitted_before.into_iter().enumerate().map(counted).collect();
        let taken = fitted.iter().flatten().filter_map(|block| block.kept).sum();
        let (mut left, mut ended): (usize, Option<&str>) = (limit.saturating_sub(taken), None);
        let (mut floor, mut inputs, mut full_up) = (0, None, None);
        for &at in &order {
            let Some(block) = blocks
                .get(at)
                .filter(|_| fitted.get(at).is_some_and(Option::is_none))
            else {
                continue;
            };
            // Blocks that are never cut have been placed by now.
            if block.priority >= FIRST_EXPENDABLE && floor == 0 {
                floor = elastic
                    .as_ref()
                    .map_or(0, |elastic| elastic.floor.min(left / 2));
                left -= floor;
            }
            if block.priority >= FIRST_EXPENDABLE && inputs.is_none() {
                let all = blocks
                    .iter()
                    .enumerate()
                    .filter(|(_, block)| block.is_foreign_input());
                let input_tokens = all
                    .map(|(at, block)| self.block_size(at).min(block.max_tokens()))
                    .sum::<usize>()
                    .min(left / 2);
                left -= input_tokens;
                inputs = Some(input_tokens);
            }
            match (block.is_foreign_input(), inputs) {
                (false, _) => ended = ended.or(full_up),
                (true, Some(input_tokens @ 1..)) => {
                    left += input_tokens;
                    (inputs, full_up) = (Some(0), ended.take());
                }
                (true, _) => {}
            }
            if let Some(ElasticBlock { take, .. }) = elastic.take_if(|elastic| elastic.at == at) {
                left += std::mem::take(&mut floor);
                let taken = take(left);
                left = left.saturating_sub(taken);
                if let Some(slot) = fitted.get_mut(at) {
                    *slot = Some(FittedBlock::fully_kept(Some(taken)));
                }
                continue;
            }
            let full = self.block_size(at);
            let answer = match ended {
                None if full > block.max_tokens() && block.max_tokens() <= left => {
                    cut_block(block, full, block.max_tokens(), self.counter)
                }
                None if full <= left => FittedBlock::fully_kept(Some(full)),
                None if block.priority < FIRST_EXPENDABLE => {
                    let expendable: Vec<Option<FittedBlock>> = blocks
                        .iter()
                        .zip(fitted)
                        .map(|(block, fitted)| {
                            fitted.filter(|_| block.priority >= FIRST_EXPENDABLE)
                        })
                        .collect();
                    return Err(self.over_budget(&expendable, limit));
                }
                None => {
                    ended = Some(block.id);
                    cut_block(block, full, left, self.counter)
                }
                Some(last) => FittedBlock {
                    disposition: Disposition::Dropped,
                    full: Some(full),
                    kept: Some(0),
                    reason: format!("the budget ended at `{last}`, which goes before it"),
                },
            };
            left = left.saturating_sub(answer.kept.unwrap_or(0));
            if let Some(slot) = fitted.get_mut(at) {
                *slot = Some(answer);
            }
        }
        Ok(fitted.into_iter().flatten().collect())
    }
}

impl FittedBlock {
    /// A complete block.
    pub(crate) fn fully_kept(tokens: Option<usize>) -> Self {
        Self {
            disposition: Disposition::Kept,
            full: tokens,
            kept: tokens,
            reason: "fits".to_owned(),
        }
    }

    /// A dropped block, with the reason.
    #[cfg(feature = "assemble")]
    pub(crate) fn dropped(reason: String) -> Self {
        Self {
            disposition: Disposition::Dropped,
            full: None,
            kept: Some(0),
            reason,
        }
    }
}

impl BudgetBlock<'_> {
    /// Returns true for an untrusted input: the subject of the call, of any length.
    fn is_foreign_input(&self) -> bool {
        self.priority >= FIRST_EXPENDABLE && self.turn.1 == Kind::Input && self.is_untrusted()
    }

    /// Returns true if the text is untrusted completely or in part, so that its length is
    /// arbitrary.
    pub(crate) fn is_untrusted(&self) -> bool {
        let (trust, kind) = self.turn;
        trust == Trust::Untrusted || kind == Kind::History || !self.untrusted.is_empty()
    }

    /// Returns true for a text that can be cut and contains no untrusted part.
    #[cfg(feature = "assemble")]
    pub(crate) fn is_trusted_expendable(&self) -> bool {
        self.priority >= FIRST_EXPENDABLE && !self.is_untrusted()
    }

    /// Returns true for a text that is never cut and is trusted apart from the values in it.
    #[cfg(feature = "assemble")]
    pub(crate) fn is_trusted_fixed(&self) -> bool {
        self.priority < FIRST_EXPENDABLE
            && self.turn.0 == Trust::Trusted
            && self.turn.1 != Kind::History
    }

    /// Bytes of trusted text, and tokens without bytes; 0 for a block that is fitted with the
    /// untrusted ones.
    #[cfg(feature = "assemble")]
    pub(crate) fn trusted_bytes(&self) -> usize {
        if self.is_trusted_expendable() || self.is_trusted_fixed() {
            let others: usize = self.untrusted.iter().map(ExactSizeIterator::len).sum();
            return self.byte_count().saturating_sub(others);
        }
        0
    }

    /// Bytes of the complete block, and tokens without bytes.
    pub(crate) fn byte_count(&self) -> usize {
        // A token is at least one byte.
        self.head.len() + self.text.len() + self.tail.len() + self.others
    }

    /// Its own maximum of tokens; unlimited if it is never cut.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_tokens
            .filter(|_| self.priority >= FIRST_EXPENDABLE)
            .unwrap_or(usize::MAX)
    }

    /// Tokens of the complete block.
    pub(crate) fn token_count(&self, counter: &dyn TokenCounter) -> usize {
        let whole = [self.head, self.text, self.tail].concat();
        count_open_text(
            &whole,
            self.open.iter().map(|at| self.head.len() + at),
            counter,
        ) + self.others
    }

    fn render_part(&self, range: &Range<usize>, mark: &str) -> String {
        let text = self.text.get(range.clone()).unwrap_or("");
        if matches!(self.cut, CutPolicy::HeadAt(_)) {
            [self.head, mark, text, self.tail].concat()
        } else {
            [self.head, text, mark, self.tail].concat()
        }
    }
}

/// Tokens of a text; a lower bound if values that are not known yet will be inserted at some
/// positions.
pub(crate) fn count_open_text(
    text: &str,
    open: impl ExactSizeIterator<Item = usize>,
    counter: &dyn TokenCounter,
) -> usize {
    if open.len() == 0 {
        return counter.count(text);
    }
    let mut start = 0;
    let ends = open.chain([text.len()]);
    let pieces: Vec<&str> = ends
        .map(|end| {
            text.get(std::mem::replace(&mut start, end)..end)
                .unwrap_or("")
        })
        .collect();
    counter.min_tokens(&pieces)
}

/// The mark in place of `bytes` missing bytes at the end. Line breaks in an id are replaced.
pub(super) fn omission_mark(id: &str, bytes: usize) -> String {
    let id = id.replace(
        |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'),
        " ",
    );
    format!("\n[cut: {bytes} bytes of {id} left out]\n")
}

fn cut_mark(block: &BudgetBlock<'_>, range: &Range<usize>) -> String {
    let id = block.id.replace(
        |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'),
        " ",
    );
    match block.cut {
        CutPolicy::Tail => omission_mark(block.id, block.text.len() - range.len()),
        CutPolicy::TailAt(_) => format!("\n[cut: the rest of {id} left out]\n"),
        CutPolicy::HeadAt(_) => format!("[cut: what came before is left out of {id}]\n"),
    }
}

/// Cuts a block so that it fits in `left` tokens, or drops it.
fn cut_block(
    block: &BudgetBlock<'_>,
    full: usize,
    left: usize,
    counter: &dyn TokenCounter,
) -> FittedBlock {
    let dropped = |reason: String| FittedBlock {
        disposition: Disposition::Dropped,
        full: Some(full),
        kept: Some(0),
        reason,
    };
    // A block's own maximum applies even if it leaves very few tokens.
    let is_own = left == block.max_tokens();
    if left <= WORTH_CUTTING && !is_own {
        return dropped(format!(
            "{}, and texts are never cut to {WORTH_CUTTING} tokens or fewer",
            tokens_left_text(left)
        ));
    }
    let found = match block.cut {
        CutPolicy::Tail => longest_fitting_prefix(block, left, counter),
        CutPolicy::TailAt(borders) => longest_fitting_range(
            block,
            valid_borders(borders, block.text)
                .rev()
                .map(|border| 0..border),
            left,
            counter,
        ),
        CutPolicy::HeadAt(borders) => longest_fitting_range(
            block,
            valid_borders(borders, block.text).map(|border| border..block.text.len()),
            left,
            counter,
        ),
    };
    match found {
        Some((range, mark, kept)) => FittedBlock {
            disposition: Disposition::Cut { range, mark },
            full: Some(full),
            kept: Some(kept),
            reason: shortage_reason(left, is_own),
        },
        None => dropped(format!(
            "{}, not enough for a whole part of it",
            shortage_reason(left, is_own)
        )),
    }
}

fn shortage_reason(tokens: usize, is_own: bool) -> String {
    if is_own {
        format!("it may have {}", token_count_text(tokens))
    } else {
        tokens_left_text(tokens)
    }
}

fn tokens_left_text(tokens: usize) -> String {
    format!(
        "{} {} left",
        token_count_text(tokens),
        if tokens == 1 { "was" } else { "were" }
    )
}

fn token_count_text(tokens: usize) -> String {
    if tokens == 1 {
        "1 token".to_owned()
    } else {
        format!("{} tokens", format_thousands(tokens))
    }
}

/// The borders between two characters of a text, in order. Borders from a host may be invalid or
/// unsorted.
fn valid_borders(borders: &[usize], text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let is_between =
        |border: &&usize| **border > 0 && **border < text.len() && text.is_char_boundary(**border);
    let mut inside: Vec<usize> = borders.iter().filter(is_between).copied().collect();
    inside.sort_unstable();
    inside.dedup();
    inside.into_iter()
}

type CutCandidate = Option<(Range<usize>, String, usize)>;

/// The first of some ranges that fits with its mark. Ranges come from the longest to the shortest,
/// so bisection finds it.
fn longest_fitting_range(
    block: &BudgetBlock<'_>,
    ranges: impl Iterator<Item = Range<usize>>,
    left: usize,
    counter: &dyn TokenCounter,
) -> CutCandidate {
    let ranges: Vec<Range<usize>> = ranges.collect();
    let cost = |range: &Range<usize>| {
        let mark = cut_mark(block, range);
        let cost = counter.count(&block.render_part(range, &mark));
        (mark, cost)
    };
    let mut low = 0;
    let mut high = ranges.len();
    while low < high {
        let middle = low + (high - low) / 2;
        if ranges
            .get(middle)
            .is_some_and(|range| cost(range).1 <= left)
        {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let range = ranges.get(low)?;
    let (mark, cost) = cost(range);
    (cost <= left).then(|| (range.clone(), mark, cost))
}

/// The longest prefix that fits with its mark and ends at the end of a token and of a character.
fn longest_fitting_prefix(
    block: &BudgetBlock<'_>,
    left: usize,
    counter: &dyn TokenCounter,
) -> CutCandidate {
    let frame = counter.count(&block.render_part(&(0..0), &cut_mark(block, &(0..0))));
    let mut room = left.checked_sub(frame)?;
    let mut reduction: usize = 0;
    // A concatenated text may count a few tokens more than its parts: reduce the length by growing
    // steps until it fits.
    while room > 0 {
        let range = 0..grapheme::cut_position(block.text, counter.fit(block.text, room));
        if range.is_empty() {
            return None;
        }
        let mark = cut_mark(block, &range);
        let cost = counter.count(&block.render_part(&range, &mark));
        if cost <= left {
            return Some((range, mark, cost));
        }
        reduction = (cost - left).max(reduction.saturating_mul(2)).max(1);
        room = room.saturating_sub(reduction);
    }
    None
}
