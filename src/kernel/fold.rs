//! How much of a conversation is kept: a fold over its units from the first on, which needs no state between calls.
//!
//! Whenever the tokens since the front exceed the limit, the front moves to where at most seven tenths of it remain. So the front stays
//! the same from call to call between two cuts, and whoever folds the same messages finds the same front. What the user asked last stays
//! before the front where that passes it: an agent at work on a long answer still knows what was asked.

use super::budget::{Block, Disposition, missing, tail};
use super::context::{Cut, Kind, Trust};
use super::conversation::{BrokenConversation, Slot, Speaker, Turn, TurnText, units};
use super::tokens::TokenCounter;
use crate::base::number::thousands;
use std::cmp::Reverse;
use std::ops::Range;

/// What is asked for of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryLimits {
    /// How many of the last turns; a turn begins where the user speaks.
    pub turns: Option<usize>,
    /// Tokens at most.
    pub max_tokens: Option<usize>,
    /// Whether what tools gave back before the last message of the user is left out.
    pub compacted: bool,
}

/// A conversation that is to be cut.
#[derive(Debug)]
pub struct Conversation<'a> {
    said: Vec<Said<'a>>,
    units: Vec<Range<usize>>,
    limits: HistoryLimits,
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
struct Walk {
    /// Tokens of each unit, as it is by now.
    sizes: Vec<usize>,
    /// The messages of each unit of which something is left out.
    shortened: Vec<Option<Vec<Shortened>>>,
    /// The first unit of those that stay.
    front: usize,
    /// The unit before it that stays as well: what the user had asked when the front moved.
    held: Option<usize>,
    /// The last unit in which the user speaks.
    asked: Option<usize>,
    /// Tokens of what stays.
    sum: usize,
}

impl Walk {
    fn size(&self, unit: usize) -> usize {
        self.sizes.get(unit).copied().unwrap_or(0)
    }

    fn set(&mut self, unit: usize, tokens: usize, short: Option<Vec<Shortened>>) {
        if let (Some(size), Some(slot)) = (self.sizes.get_mut(unit), self.shortened.get_mut(unit)) {
            (*size, *slot) = (tokens, short);
        }
    }
}

/// What the user asked last, as it can stay before the front.
struct Question {
    unit: usize,
    tokens: usize,
    /// Its messages, where something is left out now.
    short: Option<Vec<Shortened>>,
}

fn tokens(unit: &[Shortened]) -> usize {
    unit.iter().map(|one| one.tokens).sum()
}

/// A message of which something is left out.
#[derive(Clone, Debug)]
struct Shortened {
    turn: Turn,
    read: TurnText,
    tokens: usize,
    left_out: Vec<Range<usize>>,
    /// Its texts before anything was left out.
    whole: Vec<Slot>,
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
        let turns: Vec<&Turn> = said.iter().map(|said| said.turn).collect();
        Ok(Self { units: units(&turns)?, said, limits, counter })
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

    /// Tokens with which its last turn stays whole: that from the last message of the user on, or all of it.
    pub fn last_turn(&self) -> usize {
        let last = self.units.iter().rposition(|unit| self.is_users(unit)).unwrap_or(0);
        let units = self.units.get(last..).unwrap_or_default();
        let tokens: usize = units.iter().flat_map(Clone::clone).map(|at| self.tokens(at)).sum();
        // A limit leaves seven tenths of itself to more than one unit.
        if units.len() < 2 { tokens } else { (tokens * 10).div_ceil(7) }
    }

    /// What is kept of it within a limit. Without one, nothing needs to be counted.
    pub fn fold(&self, limit: Option<usize>) -> Fold {
        let none = vec![None; self.units.len()];
        let mut walk = Walk { sizes: vec![0; self.units.len()], shortened: none, front: 0, held: None, asked: None, sum: 0 };
        let mut longest = 0;
        for (at, unit) in self.units.iter().enumerate() {
            if self.is_users(unit) {
                if self.limits.compacted {
                    self.compact_turn(&mut walk, at);
                }
                walk.asked = Some(at);
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

    /// Leaves out what tools gave back in the turn before a unit.
    fn compact_turn(&self, walk: &mut Walk, end: usize) {
        for before in walk.asked.unwrap_or(0)..end {
            let Some(range) = self.units.get(before) else { continue };
            let cut = walk.shortened.get_mut(before).and_then(Option::take);
            let Some(short) = self.compact(range, cut) else { continue };
            let tokens = tokens(&short);
            if before >= walk.front || walk.held == Some(before) {
                walk.sum = walk.sum - walk.size(before) + tokens;
            }
            walk.set(before, tokens, Some(short));
        }
    }

    /// Moves the front, since what stays exceeds the limit with a unit.
    fn advance(&self, walk: &mut Walk, (at, unit): (usize, &Range<usize>), limit: usize) {
        let room = limit / 10 * 7 + limit % 10 * 7 / 10;
        let most = limit.checked_sub(walk.size(at)).map_or(room / 2, |left| left.min(room / 2));
        let question = walk.asked.filter(|asked| *asked < at).and_then(|asked| self.question(walk, asked, most));
        let beside = question.as_ref().map_or(0, |question| question.tokens);
        walk.sum -= walk.held.take().map_or(0, |held| walk.size(held));
        if walk.size(at) > limit {
            let short = self.trim(unit, room - beside);
            if short.is_none() && walk.asked == Some(at) {
                // What is gone does not come back.
                walk.asked = None;
            }
            walk.front = if short.is_some() { at } else { at + 1 };
            walk.sum = short.as_deref().map_or(0, tokens);
            walk.set(at, walk.sum, short);
        }
        let held =
            |front: usize| question.as_ref().filter(|question| question.unit < front).map_or(0, |question| question.tokens);
        while walk.front < at && walk.sum + held(walk.front) > room {
            walk.sum -= walk.size(walk.front);
            walk.front += 1;
        }
        if let Some(Question { unit, tokens, short }) = question.filter(|question| question.unit < walk.front) {
            walk.held = Some(unit);
            walk.sum += tokens;
            if short.is_some() {
                walk.set(unit, tokens, short);
            }
        }
    }

    /// What stays of the last question within so many tokens.
    fn question(&self, walk: &Walk, unit: usize, most: usize) -> Option<Question> {
        if walk.size(unit) <= most {
            return Some(Question { unit, tokens: walk.size(unit), short: None });
        }
        let short = self.trim(self.units.get(unit)?, most)?;
        Some(Question { unit, tokens: tokens(&short), short: Some(short) })
    }

    fn is_users(&self, unit: &Range<usize>) -> bool {
        unit.clone().any(|at| self.said.get(at).is_some_and(|said| said.turn.is_users()))
    }

    /// The unit that the turns begin with that are asked for.
    fn first_turn(&self) -> usize {
        let Some(turns) = self.limits.turns else { return 0 };
        let mut users = self.said.iter().enumerate().rev().filter(|(_, said)| said.turn.is_users());
        let Some((first, _)) = users.nth(turns.saturating_sub(1)) else { return 0 };
        self.units.iter().position(|unit| unit.end > first).unwrap_or(0)
    }

    /// The messages of a unit, some of which may be cut already, without what tools gave back; `None` where nothing is to be left out.
    fn compact(&self, unit: &Range<usize>, cut: Option<Vec<Shortened>>) -> Option<Vec<Shortened>> {
        let mut short = cut.unwrap_or_else(|| self.whole(unit));
        for (one, at) in short.iter_mut().zip(unit.clone()) {
            let Some(said) = self.said.get(at) else { continue };
            let results: Vec<usize> =
                one.read.slots.iter().enumerate().filter(|(_, slot)| slot.is_result).map(|(at, _)| at).collect();
            for slot in results {
                one.leave_out(said.id, slot, 0, self.counter);
            }
        }
        short.iter().any(|one| !one.left_out.is_empty()).then_some(short)
    }

    fn whole(&self, unit: &Range<usize>) -> Vec<Shortened> {
        let said = self.said.get(unit.clone()).unwrap_or(&[]).iter();
        let whole = |said: &Said<'_>| Shortened {
            turn: said.turn.clone(),
            read: said.turn.read(),
            tokens: said.tokens,
            left_out: Vec::new(),
            whole: said.turn.read().slots,
        };
        said.map(whole).collect()
    }

    /// The messages of a unit, cut to so many tokens: the longest result first, texts of messages last.
    fn trim(&self, unit: &Range<usize>, room: usize) -> Option<Vec<Shortened>> {
        let mut short = self.whole(unit);
        let mut slots: Vec<(Reverse<bool>, Reverse<usize>, usize, usize)> = Vec::new();
        for (at, one) in short.iter().enumerate() {
            let slot = |(number, slot): (usize, &Slot)| (Reverse(slot.is_result), Reverse(slot.range.len()), at, number);
            slots.extend(one.read.slots.iter().enumerate().map(slot));
        }
        slots.sort_unstable();
        for (.., at, slot) in slots {
            let total = tokens(&short);
            let (Some(one), Some(said)) = (short.get_mut(at), self.said.get(unit.start + at)) else { continue };
            if total <= room {
                break;
            }
            let left = (room + one.tokens).checked_sub(total).and_then(|left| left.checked_sub(one.turn.media_tokens()));
            let keep = left.and_then(|left| one.fit(said.id, slot, left, self.counter));
            one.leave_out(said.id, slot, keep.unwrap_or(0), self.counter);
        }
        (tokens(&short) <= room).then_some(short)
    }

    fn told(&self, walk: Walk, limit: Option<usize>, longest: usize) -> Fold {
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
                } else if number < front && held != Some(number) {
                    Some(format!("the conversation grew beyond {} tokens", thousands(limit.unwrap_or(0))))
                } else {
                    let turns = || format!("it stands before the last {} turns", self.limits.turns.unwrap_or(0));
                    (number < first).then(turns)
                };
                let folded = match (dropped, short) {
                    (Some(reason), _) => Folded { fate: Disposition::Dropped, kept: 0, reason, turn: None },
                    (None, Some(Shortened { turn, tokens, mut left_out, .. })) => {
                        left_out.sort_by_key(|range| range.start);
                        let reason = "its longest texts are too long, or came from a tool before the last turn".to_owned();
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
        let users = self.said.iter().filter(|said| said.turn.is_users()).count();
        if self.limits.turns.is_some_and(|turns| users + 1 >= turns) {
            return 0;
        }
        let last = self.units.iter().rposition(|unit| self.is_users(unit)).unwrap_or(0);
        let mut late = self.units.iter().skip(if self.limits.compacted { last } else { self.units.len() });
        late.find(|unit| self.compact(unit, None).is_some()).map_or(self.said.len(), |unit| unit.start)
    }
}

impl Shortened {
    /// Bytes of a text that fit into so many tokens with the rest of its message.
    fn fit(&self, id: &str, slot: usize, left: usize, counter: &dyn TokenCounter) -> Option<usize> {
        let range = self.read.slots.get(slot)?.range.clone();
        let text = |range: Range<usize>| self.read.text.get(range).unwrap_or("");
        let block = Block { head: text(0..range.start), tail: text(range.end..self.read.text.len()), ..block(id, text(range)) };
        tail(&block, left, counter).map(|(range, ..)| range.end)
    }

    /// Keeps so many bytes of a text, unless the mark of what is left out were longer than that.
    fn leave_out(&mut self, id: &str, slot: usize, keep: usize, counter: &dyn TokenCounter) {
        let (Some(text), Some(whole)) = (self.turn.slot_mut(slot), self.whole.get(slot)) else { return };
        let whole = whole.range.clone();
        let mark = missing(id, whole.len() - keep);
        if text.len() <= keep + mark.len() {
            return;
        }
        text.truncate(keep);
        text.push_str(&mark);
        self.left_out.retain(|range| !whole.contains(&range.start));
        self.left_out.push(whole.start + keep..whole.end);
        self.read = self.turn.read();
        self.tokens = counter.count(&self.read.text) + self.turn.media_tokens();
    }
}

fn block<'b>(id: &'b str, text: &'b str) -> Block<'b> {
    let turn = (Kind::History, Trust::Untrusted);
    Block {
        id,
        priority: Kind::History.priority(),
        turn,
        head: "",
        text,
        tail: "",
        open: &[],
        others: 0,
        most: None,
        cut: &Cut::Tail,
    }
}
