//! How much of a conversation is kept: a fold over its units from the first on, which needs no state between calls.
//!
//! Whenever the tokens since the front exceed the limit, the front moves to where at most seven tenths of it remain. So the front stays
//! the same from call to call between two cuts, and whoever folds the same messages finds the same front. What the user asked last stays
//! before the front where that passes it: an agent at work on a long answer still knows what was asked.

use super::budget::{Disposition, WORTH_CUTTING};
use super::conversation::{BrokenConversation, Speaker, Turn, units};
use super::shortened::{Shortened, says_nothing, tokens, trim};
use super::tokens::TokenCounter;
use crate::base::number::thousands;
use std::ops::Range;

/// What is asked for of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryLimits {
    /// How many of the last turns; a turn begins where the user speaks after the agent, or first.
    pub turns: Option<usize>,
    /// Tokens at most.
    pub max_tokens: Option<usize>,
    /// Whether what tools gave back before the last turn is left out.
    pub compacted: bool,
}

/// A conversation that is to be cut.
#[derive(Debug)]
pub struct Conversation<'a> {
    said: Vec<Said<'a>>,
    units: Vec<Range<usize>>,
    /// The units that turns begin with: where the user speaks after the agent, or first.
    turns: Vec<usize>,
    limits: HistoryLimits,
    /// Whether nothing of the user's is sure to stand before it.
    is_first: bool,
    counter: &'a dyn TokenCounter,
}

/// One of its messages.
#[derive(Debug)]
struct Said<'a> {
    id: &'a str,
    turn: &'a Turn,
    /// How it reads.
    text: &'a str,
    /// Tokens of it whole; 0 before they are counted.
    tokens: usize,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// What became of it.
    pub fate: Disposition,
    /// Tokens of what stayed.
    pub kept: usize,
    /// Why.
    pub reason: String,
    /// What stayed of it, where it is not there whole.
    pub turn: Option<Turn>,
}

/// What became of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    /// What became of each message.
    pub messages: Vec<Folded>,
    /// Tokens of what stayed.
    pub tokens: usize,
    /// Tokens that it can grow by before it is cut, for sure: twice its longest unit, an answer and what comes next.
    pub growth: usize,
    /// Messages in front that the next call repeats, as long as it grows by no more than that.
    pub repeated: usize,
}

/// How far a conversation is folded, unit by unit.
struct Walk<'a> {
    /// Tokens of each unit, as it is by now.
    sizes: Vec<usize>,
    /// The messages of each unit of which something is left out.
    shortened: Vec<Option<Vec<Shortened<'a>>>>,
    /// The first unit of those that stay.
    front: usize,
    /// The units before it that stay as well: what the user had asked when the front moved.
    held: Vec<usize>,
    /// The units in which the user speaks since the last turn began, as far as they stay: the question.
    asked: Vec<usize>,
    /// Tokens of what stays.
    sum: usize,
}

impl<'a> Walk<'a> {
    fn size(&self, unit: usize) -> usize {
        self.sizes.get(unit).copied().unwrap_or(0)
    }

    fn set(&mut self, unit: usize, tokens: usize, short: Option<Vec<Shortened<'a>>>) {
        if let (Some(size), Some(slot)) = (self.sizes.get_mut(unit), self.shortened.get_mut(unit)) {
            (*size, *slot) = (tokens, short);
        }
    }
}

/// A unit of the question, as it can stay before the front.
struct Asked<'a> {
    unit: usize,
    tokens: usize,
    /// Its messages, where something is left out now.
    short: Option<Vec<Shortened<'a>>>,
}

fn sum(question: &[Asked<'_>]) -> usize {
    question.iter().map(|one| one.tokens).sum()
}

impl<'a> Conversation<'a> {
    /// A conversation: each message with its id and with how it reads.
    ///
    /// # Errors
    /// A call without its result, or a result without its call.
    pub fn of(
        messages: impl Iterator<Item = (&'a str, &'a Turn, &'a str)>,
        limits: HistoryLimits,
        counter: &'a dyn TokenCounter,
    ) -> Result<Self, BrokenConversation> {
        let said: Vec<Said<'a>> = messages.map(|(id, turn, text)| Said { id, turn, text, tokens: 0 }).collect();
        let units = units(&said.iter().map(|said| said.turn).collect::<Vec<_>>())?;
        let mut conversation = Self { units, said, turns: Vec::new(), limits, is_first: false, counter };
        let mut is_open = false;
        for (at, unit) in conversation.units.iter().enumerate() {
            let mut messages = conversation.said.get(unit.clone()).unwrap_or_default().iter();
            is_open &= messages.all(|said| said.turn.speaker != Speaker::Assistant);
            if conversation.is_users(unit) && !std::mem::replace(&mut is_open, true) {
                conversation.turns.push(at);
            }
        }
        Ok(conversation)
    }

    /// The same where nothing of the user's may stand before it: a cut lets it begin with the user, as providers expect.
    #[must_use]
    pub fn first(self, is_first: bool) -> Self {
        Self { is_first, ..self }
    }

    /// Bytes of it, and tokens of what has none: no tokenizer counts more.
    pub fn bytes(&self) -> usize {
        self.said.iter().map(|said| said.text.len() + said.turn.media_tokens()).sum()
    }

    /// Its own limit.
    pub fn own(&self) -> Option<usize> {
        self.limits.max_tokens
    }

    /// Tokens of a message, whole.
    pub fn tokens(&self, at: usize) -> usize {
        self.said.get(at).map_or(0, |said| said.tokens)
    }

    /// Counts its messages.
    pub fn count(&mut self) {
        let counter = self.counter;
        for said in self.said.iter_mut().filter(|said| said.turn.speaker != Speaker::System) {
            said.tokens = counter.count(said.text) + said.turn.media_tokens();
        }
    }

    /// Tokens with which its last turn stays whole, or all of it where the user never speaks.
    pub fn last_turn(&self) -> usize {
        let last = self.turns.last().copied().unwrap_or(0);
        let units = self.units.get(last..).unwrap_or_default();
        let tokens: usize = units.iter().flat_map(Clone::clone).map(|at| self.tokens(at)).sum();
        // A limit leaves seven tenths of itself to more than one unit.
        if units.len() < 2 { tokens } else { (tokens * 10).div_ceil(7) }
    }

    /// What is kept of it within a limit. Without one, nothing needs to be counted.
    pub fn fold(&self, limit: Option<usize>) -> Fold {
        let (sizes, shortened) = (vec![0; self.units.len()], vec![None; self.units.len()]);
        let mut walk = Walk { sizes, shortened, front: 0, held: Vec::new(), asked: Vec::new(), sum: 0 };
        let mut longest = 0;
        for (at, unit) in self.units.iter().enumerate() {
            if let Ok(turn) = self.turns.binary_search(&at) {
                if self.limits.compacted {
                    let before = turn.checked_sub(1).and_then(|before| self.turns.get(before)).copied();
                    self.compact_turn(&mut walk, before.unwrap_or(0)..at);
                }
                walk.asked.clear();
            }
            if self.is_users(unit) {
                walk.asked.push(at);
            }
            let size: usize = unit.clone().map(|at| self.tokens(at)).sum();
            longest = longest.max(size);
            walk.set(at, size, None);
            walk.sum += size;
            if let Some(limit) = limit.filter(|limit| walk.sum > *limit) {
                self.advance(&mut walk, (at, unit), limit);
            }
        }
        self.told(walk, limit, longest)
    }

    /// Leaves out what tools gave back in a turn.
    fn compact_turn(&self, walk: &mut Walk<'a>, turn: Range<usize>) {
        for before in turn {
            let Some(range) = self.units.get(before) else { continue };
            let cut = walk.shortened.get_mut(before).and_then(Option::take);
            let Some(short) = self.compact(range, cut) else { continue };
            let tokens = tokens(&short);
            if before >= walk.front || walk.held.contains(&before) {
                walk.sum = walk.sum - walk.size(before) + tokens;
            }
            walk.set(before, tokens, Some(short));
        }
    }

    /// Moves the front, since what stays exceeds the limit with a unit.
    fn advance(&self, walk: &mut Walk<'a>, (at, unit): (usize, &Range<usize>), limit: usize) {
        let room = limit / 10 * 7 + limit % 10 * 7 / 10;
        let mut question = self.question(walk, at, room / 2);
        if sum(&question) > limit {
            question.clear();
        }
        let exceeds = |question: &[Asked<'_>]| walk.size(at) + sum(question) > limit;
        let cut = |question: &[Asked<'_>]| trim(self.whole(unit), room.saturating_sub(sum(question)), self.counter);
        // Older messages go before the words of this one do.
        while !question.is_empty() && exceeds(&question) && says_nothing(&cut(&question)) {
            question.pop();
        }
        let short = exceeds(&question).then(|| cut(&question));
        walk.sum -= std::mem::take(&mut walk.held).into_iter().map(|held| walk.size(held)).sum::<usize>();
        if let Some(mut short) = short {
            let least = tokens(&short);
            if least + sum(&question) > limit {
                // It cannot be cut so far. Where what is asked cannot be cut instead, that goes before it.
                let left = limit.saturating_sub(least);
                let narrow = self.question(walk, at, left);
                if left > WORTH_CUTTING && sum(&narrow) <= left {
                    question = narrow;
                } else {
                    short.clear();
                }
            }
            walk.front = if short.is_empty() { at + 1 } else { at };
            walk.sum = tokens(&short);
            walk.set(at, walk.sum, Some(short));
        }
        let held = |front: usize| question.iter().filter(|one| one.unit < front).map(|one| one.tokens).sum::<usize>();
        while walk.front < at && walk.sum + held(walk.front) > room {
            walk.sum -= walk.size(walk.front);
            walk.front += 1;
        }
        if self.is_first && held(walk.front) == 0 {
            let begins = |unit: &usize| self.begins_with_user(*unit) || question.iter().any(|one| one.unit == *unit);
            let next = (walk.front..=at).find(begins).unwrap_or(walk.front);
            walk.sum -= (walk.front..next).map(|unit| walk.size(unit)).sum::<usize>();
            walk.front = next;
        }
        for Asked { unit, tokens, short } in question {
            if unit < walk.front {
                walk.held.push(unit);
                walk.sum += tokens;
                if short.is_some() {
                    walk.set(unit, tokens, short);
                }
            }
        }
        // What is gone does not come back.
        walk.asked.retain(|unit| *unit >= walk.front || walk.held.contains(unit));
    }

    /// What stays within so many tokens of the question before a unit: from its last message back, each has what those before it leave, and
    /// at least half of the rest. The last one stays even where it cannot be cut so far; none stays of which no word would.
    fn question(&self, walk: &Walk<'a>, at: usize, most: usize) -> Vec<Asked<'a>> {
        let asked = || walk.asked.iter().copied().filter(|unit| *unit < at);
        let mut before: usize = asked().map(|unit| walk.size(unit)).sum();
        let mut left = most;
        let mut question = Vec::new();
        for unit in asked().rev() {
            before -= walk.size(unit);
            let share = left.saturating_sub(before).max(left / 2);
            let whole = self.units.get(unit).filter(|_| walk.size(unit) > share);
            let short = whole.map(|unit| trim(self.whole(unit), share, self.counter));
            if short.as_deref().is_some_and(says_nothing) {
                continue;
            }
            let tokens = short.as_deref().map_or(walk.size(unit), tokens);
            if tokens > left && !question.is_empty() {
                break;
            }
            left = left.saturating_sub(tokens);
            question.push(Asked { unit, tokens, short });
        }
        question
    }

    fn is_users(&self, unit: &Range<usize>) -> bool {
        unit.clone().any(|at| self.said.get(at).is_some_and(|said| said.turn.is_users()))
    }

    fn begins_with_user(&self, unit: usize) -> bool {
        self.units.get(unit).and_then(|unit| self.said.get(unit.start)).is_some_and(|said| said.turn.is_users())
    }

    /// The unit that the turns begin with that are asked for.
    fn first_turn(&self) -> usize {
        let Some(turns) = self.limits.turns else { return 0 };
        self.turns.iter().nth_back(turns.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// The messages of a unit, some of which may be cut already, without what tools gave back; `None` where nothing is to be left out.
    fn compact(&self, unit: &Range<usize>, cut: Option<Vec<Shortened<'a>>>) -> Option<Vec<Shortened<'a>>> {
        let mut short = cut.unwrap_or_else(|| self.whole(unit));
        for one in &mut short {
            one.leave_out_results(self.counter);
        }
        short.iter().any(|one| !one.left_out.is_empty()).then_some(short)
    }

    fn whole(&self, unit: &Range<usize>) -> Vec<Shortened<'a>> {
        let said = self.said.get(unit.clone()).unwrap_or_default().iter();
        said.map(|said| Shortened::of(said.id, said.turn, said.text, said.tokens)).collect()
    }

    fn told(&self, walk: Walk<'a>, limit: Option<usize>, longest: usize) -> Fold {
        let Walk { front, held, mut shortened, .. } = walk;
        let first = self.first_turn();
        let mut messages = Vec::with_capacity(self.said.len());
        let mut tokens = 0;
        for (number, unit) in self.units.iter().enumerate() {
            let short = shortened.get_mut(number).and_then(Option::take).unwrap_or_default();
            let mut short = short.into_iter().map(Some).collect::<Vec<_>>();
            for at in unit.clone() {
                let Some(said) = self.said.get(at) else { continue };
                let short = short.get_mut(at - unit.start).and_then(Option::take).filter(|short| !short.left_out.is_empty());
                let dropped = if said.turn.speaker == Speaker::System {
                    Some("the system said it, and an agent has its own".to_owned())
                } else if number < front && !held.contains(&number) {
                    Some(format!("the conversation grew beyond {} tokens", thousands(limit.unwrap_or(0))))
                } else {
                    let turns = || format!("it stands before the last {} turns", self.limits.turns.unwrap_or(0));
                    (number < first).then(turns)
                };
                let folded = match (dropped, short) {
                    (Some(reason), _) => Folded { fate: Disposition::Dropped, kept: 0, reason, turn: None },
                    (None, Some(short)) if short.turn.parts.is_empty() => {
                        let reason = "its call is too long to be kept beside what the user says".to_owned();
                        Folded { fate: Disposition::Dropped, kept: 0, reason, turn: None }
                    }
                    (None, Some(Shortened { turn, tokens, mut left_out, .. })) => {
                        left_out.sort_by_key(|range| range.start);
                        let reason = "it is too long, or came from a tool before the last turn".to_owned();
                        Folded { fate: Disposition::Shortened { left_out }, kept: tokens, reason, turn: Some(turn) }
                    }
                    (None, None) => Folded { fate: Disposition::Kept, kept: said.tokens, reason: "fits".to_owned(), turn: None },
                };
                tokens += folded.kept;
                messages.push(folded);
            }
        }
        let growth = longest.saturating_mul(2);
        let holds = limit.is_none_or(|limit| tokens + growth <= limit);
        Fold { messages, tokens, growth, repeated: if holds { self.repeated() } else { 0 } }
    }

    /// Messages that no next message changes by itself.
    fn repeated(&self) -> usize {
        if self.limits.turns.is_some_and(|turns| self.turns.len() + 1 >= turns) {
            return 0;
        }
        let last = self.turns.last().copied().unwrap_or(0);
        let mut late = self.units.iter().skip(if self.limits.compacted { last } else { self.units.len() });
        late.find(|unit| self.compact(unit, None).is_some()).map_or(self.said.len(), |unit| unit.start)
    }
}
