//! The fold of a conversation: the part of it that is kept within limits. Computed over its units
//! from the first on, with no state between calls.
//!
//! When the tokens since the front exceed the limit, the front moves to a unit from which at most
//! seven tenths of the limit remain. Between two such cuts the front stays the same from call to
//! call, and a fold of the same messages always yields the same front. The user's last question
//! stays even after the front passes it, so that an agent at work on a long answer still has the
//! question.

use super::budget::{Disposition, WORTH_CUTTING};
use super::conversation::{BrokenConversation, Speaker, Turn, split_units};
use super::shortened::{ShortenedMessage, lacks_user_text, total_tokens, trim_messages};
use super::tokens::TokenCounter;
use crate::base::number::format_thousands;
use std::ops::Range;

/// The limits of the kept part of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Number of the last turns to keep; a turn begins at the first user message, and at each one
    /// after a message of the agent.
    pub turns: Option<usize>,
    /// Maximum number of tokens.
    pub max_tokens: Option<usize>,
    /// True to remove the tool results before the last turn.
    pub compacted: bool,
}

/// A conversation to fold.
#[derive(Debug)]
pub struct FoldableConversation<'a> {
    messages: Vec<CountedMessage<'a>>,
    units: Vec<Range<usize>>,
    /// The units at which turns begin: the first of the user, and each of the user after one of the
    /// agent.
    turns: Vec<usize>,
    limits: HistoryLimits,
    /// True if no content from the user is certain to precede the conversation.
    is_first: bool,
    counter: &'a dyn TokenCounter,
}

/// One message of the conversation.
#[derive(Debug)]
struct CountedMessage<'a> {
    id: &'a str,
    turn: &'a Turn,
    /// The text form of the message.
    text: &'a str,
    /// Tokens of the complete message; 0 before they are counted.
    tokens: usize,
}

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedMessage {
    /// The disposition of the message.
    pub disposition: Disposition,
    /// Tokens of the kept part.
    pub kept: usize,
    /// The reason for the disposition.
    pub reason: String,
    /// The kept part, if the message was shortened.
    pub turn: Option<Turn>,
}

/// The result of a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldResult {
    /// The outcome of each message.
    pub messages: Vec<FoldedMessage>,
    /// Tokens of all kept parts.
    pub tokens: usize,
    /// Tokens by which the conversation can certainly grow before it is cut again: twice its
    /// longest unit, for an answer and the next message.
    pub growth: usize,
    /// Leading messages that the next call repeats unchanged, if it grows by at most `growth`.
    pub repeated: usize,
}

/// The state of a fold, unit by unit.
struct FoldState<'a> {
    /// Tokens of each unit, in its current form.
    sizes: Vec<usize>,
    /// The messages of each unit that has been shortened.
    shortened: Vec<Option<Vec<ShortenedMessage<'a>>>>,
    /// The first of the kept units.
    front: usize,
    /// The kept units before the front: the user's question when the front moved.
    held_units: Vec<usize>,
    /// The kept units of the user since the last turn began: the question.
    question_units: Vec<usize>,
    /// Tokens of all kept units.
    sum: usize,
}

impl<'a> FoldState<'a> {
    fn unit_size(&self, unit: usize) -> usize {
        self.sizes.get(unit).copied().unwrap_or(0)
    }

    fn set_unit(&mut self, unit: usize, tokens: usize, short: Option<Vec<ShortenedMessage<'a>>>) {
        if let (Some(size), Some(slot)) = (self.sizes.get_mut(unit), self.shortened.get_mut(unit)) {
            (*size, *slot) = (tokens, short);
        }
    }
}

/// A unit of the question in the form in which it can stay before the front.
struct QuestionUnit<'a> {
    unit: usize,
    tokens: usize,
    /// Its messages, if they are shortened now.
    short: Option<Vec<ShortenedMessage<'a>>>,
}

fn question_tokens(question: &[QuestionUnit<'_>]) -> usize {
    question.iter().map(|one| one.tokens).sum()
}

impl<'a> FoldableConversation<'a> {
    /// Builds a conversation from messages, each with its id and its text form.
    ///
    /// # Errors
    /// A call without its result, or a result without its call.
    pub fn new(
        messages: impl Iterator<Item = (&'a str, &'a Turn, &'a str)>,
        limits: HistoryLimits,
        counter: &'a dyn TokenCounter,
    ) -> Result<Self, BrokenConversation> {
        let uncounted: Vec<CountedMessage<'a>> = messages
            .map(|(id, turn, text)| CountedMessage {
                id,
                turn,
                text,
                tokens: 0,
            })
            .collect();
        let units = split_units(
            &uncounted
                .iter()
                .map(|message| message.turn)
                .collect::<Vec<_>>(),
        )?;
        let mut conversation = Self {
            units,
            messages: uncounted,
            turns: Vec::new(),
            limits,
            is_first: false,
            counter,
        };
        let mut is_open = false;
        for (at, unit) in conversation.units.iter().enumerate() {
            let mut messages = conversation
                .messages
                .get(unit.clone())
                .unwrap_or_default()
                .iter();
            is_open &= messages.all(|message| message.turn.speaker != Speaker::Assistant);
            if conversation.is_user_unit(unit) && !std::mem::replace(&mut is_open, true) {
                conversation.turns.push(at);
            }
        }
        Ok(conversation)
    }

    /// Sets whether the fold must begin with the user, as providers expect, because no content from
    /// the user precedes it.
    #[must_use]
    pub fn require_user_first(self, is_first: bool) -> Self {
        Self { is_first, ..self }
    }

    /// An upper bound of its tokens: its bytes plus the tokens of media.
    pub fn max_token_count(&self) -> usize {
        self.messages
            .iter()
            .map(|message| message.text.len() + message.turn.media_tokens())
            .sum()
    }

    /// The conversation's own limit of tokens.
    pub fn own_limit(&self) -> Option<usize> {
        self.limits.max_tokens
    }

    /// Tokens of a complete message.
    pub fn message_tokens(&self, at: usize) -> usize {
        self.messages.get(at).map_or(0, |message| message.tokens)
    }

    /// Counts the tokens of all messages.
    pub fn count_messages(&mut self) {
        let counter = self.counter;
        for message in self
            .messages
            .iter_mut()
            .filter(|message| message.turn.speaker != Speaker::System)
        {
            message.tokens = counter.count(message.text) + message.turn.media_tokens();
        }
    }

    /// The limit that keeps the last turn complete, or the whole conversation if the user has no
    /// message.
    pub fn last_turn_limit(&self) -> usize {
        let last = self.turns.last().copied().unwrap_or(0);
        let units = self.units.get(last..).unwrap_or_default();
        let tokens: usize = units
            .iter()
            .flat_map(Clone::clone)
            .map(|at| self.message_tokens(at))
            .sum();
        // If there is more than one unit, a fold keeps only seven tenths of the limit.
        if units.len() < 2 {
            tokens
        } else {
            (tokens * 10).div_ceil(7)
        }
    }

    /// Folds the conversation into a limit. Without a limit no counts are needed.
    pub fn fold(&self, limit: Option<usize>) -> FoldResult {
        let (sizes, shortened) = (vec![0; self.units.len()], vec![None; self.units.len()]);
        let mut walk = FoldState {
            sizes,
            shortened,
            front: 0,
            held_units: Vec::new(),
            question_units: Vec::new(),
            sum: 0,
        };
        let mut longest = 0;
        for (at, unit) in self.units.iter().enumerate() {
            if let Ok(turn) = self.turns.binary_search(&at) {
                if self.limits.compacted {
                    let before = turn
                        .checked_sub(1)
                        .and_then(|before| self.turns.get(before))
                        .copied();
                    self.compact_turn(&mut walk, before.unwrap_or(0)..at);
                }
                walk.question_units.clear();
            }
            if self.is_user_unit(unit) {
                walk.question_units.push(at);
            }
            let size: usize = unit.clone().map(|at| self.message_tokens(at)).sum();
            longest = longest.max(size);
            walk.set_unit(at, size, None);
            walk.sum += size;
            if let Some(limit) = limit.filter(|limit| walk.sum > *limit) {
                self.advance_front(&mut walk, at, unit, limit);
            }
        }
        self.build_result(walk, limit, longest)
    }

    /// Removes the tool results of a turn.
    fn compact_turn(&self, walk: &mut FoldState<'a>, turn: Range<usize>) {
        for before in turn {
            let Some(range) = self.units.get(before) else {
                continue;
            };
            let cut = walk.shortened.get_mut(before).and_then(Option::take);
            let Some(short) = self.compact_unit(range, cut) else {
                continue;
            };
            let tokens = total_tokens(&short);
            if before >= walk.front || walk.held_units.contains(&before) {
                walk.sum = walk.sum - walk.unit_size(before) + tokens;
            }
            walk.set_unit(before, tokens, Some(short));
        }
    }

    /// Moves the front because the kept units exceed the limit.
    fn advance_front(
        &self,
        walk: &mut FoldState<'a>,
        at: usize,
        unit: &Range<usize>,
        limit: usize,
    ) {
        let room = limit / 10 * 7 + limit % 10 * 7 / 10;
        let mut question = self.fit_question(walk, at, room / 2);
        if question_tokens(&question) > limit {
            question.clear();
        }
        let exceeds =
            |question: &[QuestionUnit<'_>]| walk.unit_size(at) + question_tokens(question) > limit;
        let cut = |question: &[QuestionUnit<'_>]| {
            trim_messages(
                self.full_messages(unit),
                room.saturating_sub(question_tokens(question)),
                self.counter,
            )
        };
        // Older messages of the question are removed before this unit's own words.
        while !question.is_empty() && exceeds(&question) && lacks_user_text(&cut(&question)) {
            question.pop();
        }
        let short = exceeds(&question).then(|| cut(&question));
        walk.sum -= std::mem::take(&mut walk.held_units)
            .into_iter()
            .map(|held| walk.unit_size(held))
            .sum::<usize>();
        if let Some(mut short) = short {
            let min = total_tokens(&short);
            if min + question_tokens(&question) > limit {
                // The unit cannot be cut far enough. The question is cut instead, if that is
                // possible; otherwise the unit is dropped.
                let left = limit.saturating_sub(min);
                let narrow = self.fit_question(walk, at, left);
                if left > WORTH_CUTTING && question_tokens(&narrow) <= left {
                    question = narrow;
                } else {
                    short.clear();
                }
            }
            walk.front = if short.is_empty() { at + 1 } else { at };
            walk.sum = total_tokens(&short);
            walk.set_unit(at, walk.sum, Some(short));
        }
        let held = |front: usize| {
            question
                .iter()
                .filter(|one| one.unit < front)
                .map(|one| one.tokens)
                .sum::<usize>()
        };
        while walk.front < at && walk.sum + held(walk.front) > room {
            walk.sum -= walk.unit_size(walk.front);
            walk.front += 1;
        }
        if self.is_first && held(walk.front) == 0 {
            let begins = |unit: &usize| {
                self.begins_with_user(*unit) || question.iter().any(|one| one.unit == *unit)
            };
            let next = (walk.front..=at).find(begins).unwrap_or(walk.front);
            walk.sum -= (walk.front..next)
                .map(|unit| walk.unit_size(unit))
                .sum::<usize>();
            walk.front = next;
        }
        for QuestionUnit {
            unit,
            tokens,
            short,
        } in question
        {
            if unit < walk.front {
                walk.held_units.push(unit);
                walk.sum += tokens;
                if short.is_some() {
                    walk.set_unit(unit, tokens, short);
                }
            }
        }
        // A removed unit never comes back.
        walk.question_units
            .retain(|unit| *unit >= walk.front || walk.held_units.contains(unit));
    }

    /// The kept form of the question before a unit, within `max` tokens. From the last message
    /// back, each receives the tokens that those before it do not need, and at least half of the
    /// rest. The last message stays even if it cannot be cut far enough; a message of which no word
    /// would remain is dropped.
    fn fit_question(&self, walk: &FoldState<'a>, at: usize, max: usize) -> Vec<QuestionUnit<'a>> {
        let last_question = || {
            walk.question_units
                .iter()
                .copied()
                .filter(|unit| *unit < at)
        };
        let mut before: usize = last_question().map(|unit| walk.unit_size(unit)).sum();
        let mut left = max;
        let mut question = Vec::new();
        for unit in last_question().rev() {
            before -= walk.unit_size(unit);
            let share = left.saturating_sub(before).max(left / 2);
            let whole = self
                .units
                .get(unit)
                .filter(|_| walk.unit_size(unit) > share);
            let short =
                whole.map(|unit| trim_messages(self.full_messages(unit), share, self.counter));
            if short.as_deref().is_some_and(lacks_user_text) {
                continue;
            }
            let tokens = short.as_deref().map_or(walk.unit_size(unit), total_tokens);
            if tokens > left && !question.is_empty() {
                break;
            }
            left = left.saturating_sub(tokens);
            question.push(QuestionUnit {
                unit,
                tokens,
                short,
            });
        }
        question
    }

    fn is_user_unit(&self, unit: &Range<usize>) -> bool {
        unit.clone().any(|at| {
            self.messages
                .get(at)
                .is_some_and(|message| message.turn.has_user_content())
        })
    }

    fn begins_with_user(&self, unit: usize) -> bool {
        self.units
            .get(unit)
            .and_then(|unit| self.messages.get(unit.start))
            .is_some_and(|message| message.turn.has_user_content())
    }

    /// The unit at which the requested turns begin.
    fn first_turn(&self) -> usize {
        let Some(turns) = self.limits.turns else {
            return 0;
        };
        self.turns
            .iter()
            .nth_back(turns.saturating_sub(1))
            .copied()
            .unwrap_or(0)
    }

    /// The messages of a unit, possibly cut already, without tool results; `None` if nothing has to
    /// be removed.
    fn compact_unit(
        &self,
        unit: &Range<usize>,
        cut: Option<Vec<ShortenedMessage<'a>>>,
    ) -> Option<Vec<ShortenedMessage<'a>>> {
        let mut short = cut.unwrap_or_else(|| self.full_messages(unit));
        for one in &mut short {
            one.leave_out_results(self.counter);
        }
        short
            .iter()
            .any(|one| !one.left_out.is_empty())
            .then_some(short)
    }

    fn full_messages(&self, unit: &Range<usize>) -> Vec<ShortenedMessage<'a>> {
        let messages = self.messages.get(unit.clone()).unwrap_or_default().iter();
        messages
            .map(|message| {
                ShortenedMessage::new(message.id, message.turn, message.text, message.tokens)
            })
            .collect()
    }

    fn build_result(
        &self,
        walk: FoldState<'a>,
        limit: Option<usize>,
        longest: usize,
    ) -> FoldResult {
        let FoldState {
            front,
            held_units: held,
            mut shortened,
            ..
        } = walk;
        let first = self.first_turn();
        let mut messages = Vec::with_capacity(self.messages.len());
        let mut tokens = 0;
        for (number, unit) in self.units.iter().enumerate() {
            let short = shortened
                .get_mut(number)
                .and_then(Option::take)
                .unwrap_or_default();
            let mut short = short.into_iter().map(Some).collect::<Vec<_>>();
            for at in unit.clone() {
                let Some(message) = self.messages.get(at) else {
                    continue;
                };
                let short = short
                    .get_mut(at - unit.start)
                    .and_then(Option::take)
                    .filter(|short| !short.left_out.is_empty());
                let dropped = if message.turn.speaker == Speaker::System {
                    Some("the system said it, and an agent has its own".to_owned())
                } else if number < front && !held.contains(&number) {
                    Some(format!(
                        "the conversation grew beyond {} tokens",
                        format_thousands(limit.unwrap_or(0))
                    ))
                } else {
                    let turns = || {
                        format!(
                            "it stands before the last {} turns",
                            self.limits.turns.unwrap_or(0)
                        )
                    };
                    (number < first).then(turns)
                };
                let folded = match (dropped, short) {
                    (Some(reason), _) => FoldedMessage {
                        disposition: Disposition::Dropped,
                        kept: 0,
                        reason,
                        turn: None,
                    },
                    (None, Some(short)) if short.turn.parts.is_empty() => {
                        let reason =
                            "its call is too long to be kept beside what the user says".to_owned();
                        FoldedMessage {
                            disposition: Disposition::Dropped,
                            kept: 0,
                            reason,
                            turn: None,
                        }
                    }
                    (
                        None,
                        Some(ShortenedMessage {
                            turn,
                            tokens,
                            mut left_out,
                            ..
                        }),
                    ) => {
                        left_out.sort_by_key(|range| range.start);
                        let reason =
                            "it is too long, or came from a tool before the last turn".to_owned();
                        FoldedMessage {
                            disposition: Disposition::Shortened { left_out },
                            kept: tokens,
                            reason,
                            turn: Some(turn),
                        }
                    }
                    (None, None) => FoldedMessage {
                        disposition: Disposition::Kept,
                        kept: message.tokens,
                        reason: "fits".to_owned(),
                        turn: None,
                    },
                };
                tokens += folded.kept;
                messages.push(folded);
            }
        }
        let growth = longest.saturating_mul(2);
        let holds = limit.is_none_or(|limit| tokens + growth <= limit);
        FoldResult {
            messages,
            tokens,
            growth,
            repeated: if holds { self.repeated_messages() } else { 0 },
        }
    }

    /// Leading messages that stay the same when another message is added.
    fn repeated_messages(&self) -> usize {
        if self
            .limits
            .turns
            .is_some_and(|turns| self.turns.len() + 1 >= turns)
        {
            return 0;
        }
        let last = self.turns.last().copied().unwrap_or(0);
        let mut late = self.units.iter().skip(if self.limits.compacted {
            last
        } else {
            self.units.len()
        });
        late.find(|unit| self.compact_unit(unit, None).is_some())
            .map_or(self.messages.len(), |unit| unit.start)
    }
}
