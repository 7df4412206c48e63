//! Conversations under budgets, compared with an assembler that was written from the rules of
//! `docs/spec/rendering.md`: the disposition of each message, the words that remain of it, the ends of
//! cache prefixes and the counted tokens. The promised prefix of the next call holds as well.

use super::settings::registry;
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::message::Message;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::context::{Counting, Disposition, Kind, Profile, Speaker};
use ctxc::internals::kernel::conversation::{Media, MediaSource, Part, ToolResult, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The inputs of one case.
#[derive(Clone, Debug)]
struct Case {
    units: Vec<Unit>,
    turns: Option<usize>,
    own: Option<usize>,
    compacted: bool,
    /// The bytes of an input of this call, and its limit of tokens.
    input: Option<(usize, Option<usize>)>,
    budget: Option<usize>,
    /// True if the input stands in front of everything for the user.
    is_first: bool,
}

/// Messages that stay together.
#[derive(Clone, Debug)]
enum Unit {
    System,
    User(usize),
    /// A blank message of the user.
    Blank(bool),
    /// Words of the user, and a picture.
    Picture(usize),
    /// Several texts of the user: a question with pasted texts beside it.
    Pasted(Vec<usize>),
    Assistant(usize),
    /// Words of the assistant, and the length of each call's result.
    Calls(usize, Vec<usize>),
    /// A call with an argument of some length whose result has some words and a picture; and the
    /// user's words with it.
    Shot(usize, usize, Option<usize>),
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 1_usize..60, 3 => 60_usize..300, 1 => 300_usize..1_500]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        1 => Just(Unit::System),
        4 => size().prop_map(Unit::User),
        4 => size().prop_map(Unit::Assistant),
        4 => (0_usize..30, prop::collection::vec(size(), 1..4)).prop_map(|(words, results)| Unit::Calls(words, results)),
        1 => any::<bool>().prop_map(Unit::Blank),
        1 => size().prop_map(Unit::Picture),
        2 => prop::collection::vec(size(), 2..5).prop_map(Unit::Pasted),
        2 => (size(), size(), prop::option::of(size())).prop_map(|(argument, size, words)| Unit::Shot(argument, size, words)),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let input = prop::option::of((1_usize..800, prop::option::of(60_usize..400)));
    let own = prop::option::of(prop_oneof![3 => 20_usize..1_500, 1 => 1_500_usize..9_000]);
    let budget = prop::option::of(prop_oneof![3 => 150_usize..3_000, 1 => 3_000_usize..12_000]);
    let turns = prop::option::weighted(0.2, 1_usize..5);
    (
        prop::collection::vec(unit(), 1..20),
        turns,
        own,
        prop::bool::weighted(0.25),
        input,
        budget,
        any::<bool>(),
    )
        .prop_map(
            |(units, turns, own, compacted, input, budget, is_first)| Case {
                units,
                turns,
                own,
                compacted,
                input,
                budget,
                is_first,
            },
        )
}

fn text(at: usize, size: usize) -> String {
    let word = format!("w{at} ");
    word.chars().cycle().take(size).collect()
}

const PICTURE: &str = "[image https://a/b.png]";
/// The tokens of a picture beside its words.
const PICTURE_TOKENS: usize = 1_600;

fn picture() -> Part {
    let source = MediaSource::Url("https://a/b.png".to_owned());
    Part::Media(Media {
        media_type: "image".to_owned(),
        name: None,
        source,
    })
}

/// Messages, by units.
fn unit_turns(units: &[Unit]) -> Vec<Vec<Turn>> {
    let one = |(at, unit): (usize, &Unit)| match unit {
        Unit::System => vec![Turn::new(Speaker::System, "old orders")],
        Unit::User(size) => vec![Turn::new(Speaker::User, text(at, *size))],
        Unit::Blank(is_empty) => vec![Turn::new(Speaker::User, if *is_empty { "" } else { " \n" })],
        Unit::Picture(size) => {
            let mut turn = Turn::new(Speaker::User, text(at, *size));
            turn.parts.push(picture());
            vec![turn]
        }
        Unit::Pasted(sizes) => {
            vec![Turn {
                speaker: Speaker::User,
                parts: sizes
                    .iter()
                    .map(|size| Part::Text(text(at, *size)))
                    .collect(),
            }]
        }
        Unit::Assistant(size) => vec![Turn::new(Speaker::Assistant, text(at, *size))],
        Unit::Shot(argument, size, words) => {
            let result = ToolResult {
                call: "s".to_owned(),
                parts: vec![Part::Text(text(at, *size)), picture()],
                is_error: false,
            };
            let words = words.map(|words| Part::Text(text(at, words)));
            let parts = std::iter::once(Part::Result(result)).chain(words).collect();
            let call = Turn::new(Speaker::Assistant, "").calling(
                "s",
                "f",
                json!({"a": "a".repeat(*argument)}),
            );
            vec![
                call,
                Turn {
                    speaker: Speaker::User,
                    parts,
                },
            ]
        }
        Unit::Calls(words, results) => {
            let ids = 0..results.len();
            let calls = ids.fold(
                Turn::new(Speaker::Assistant, text(at, *words)),
                |turn, id| turn.calling(format!("c{id}"), "f", json!({"n": id})),
            );
            let results = results
                .iter()
                .enumerate()
                .map(|(id, size)| Turn::result(format!("c{id}"), text(at, *size)));
            std::iter::once(calls).chain(results).collect()
        }
    };
    units.iter().enumerate().map(one).collect()
}

fn task(case: &Case) -> Registry {
    let number = |name: &str, number: Option<usize>| {
        number.map_or_else(String::new, |number| format!(" {name}=\"{number}\""))
    };
    let cap = number("max_tokens", case.input.and_then(|(_, cap)| cap));
    let input = format!(
        "<parameters><parameter name=\"now\"/></parameters><inputs><input name=\"now\" from=\"now\"{cap}/></inputs>"
    );
    let input = if case.input.is_some() {
        input
    } else {
        String::new()
    };
    let history = format!(
        "<history{}{} compacted=\"{}\"/>",
        number("turns", case.turns),
        number("max_tokens", case.own),
        case.compacted
    );
    registry(&format!(
        "<task type=\"atomic\" name=\"t\"><description>Answer.</description><system>You answer.</system>{input}{history}</task>"
    ))
}

fn assembled(case: &Case, units: &[Unit]) -> Assembly {
    let turns = unit_turns(units).concat();
    let now = case
        .input
        .map(|(size, _)| ("now".to_owned(), Value::from("i".repeat(size))));
    let inputs: BTreeMap<String, Value> = now.into_iter().collect();
    let request = Request {
        inputs: &inputs,
        history: &turns,
        ..Request::new("t")
    };
    let order: &[Kind] = if case.is_first { &[Kind::History] } else { &[] };
    let options = Options {
        profile: Profile::Plain,
        order,
        budget: case.budget,
        counting: Counting::Always,
        ..Options::default()
    };
    assemble(&task(case), &request, &options).unwrap()
}

/// A piece of a message of the oracle that may be cut.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    is_result: bool,
    is_picture: bool,
}

/// A message of the oracle: its pieces and the text around them, as rendered.
#[derive(Clone, Debug)]
struct Heard {
    id: String,
    /// The text before each piece, and behind the last one.
    around: Vec<String>,
    pieces: Vec<Piece>,
    is_users: bool,
    is_assistants: bool,
    is_systems: bool,
}

impl Heard {
    fn of(number: usize, turn: &Turn) -> Self {
        let (mut around, mut pieces, mut open) = (Vec::new(), Vec::new(), String::new());
        let mut piece = |open: &mut String, part: &Part, is_result: bool| {
            let (text, is_picture) = match part {
                Part::Text(text) => (text.clone(), false),
                Part::Media(_) => (PICTURE.to_owned(), true),
                other @ (Part::Reasoning(_) | Part::Call(_) | Part::Result(_) | _) => {
                    panic!("{other:?}")
                }
            };
            around.push(std::mem::take(open));
            pieces.push(Piece {
                text,
                is_result,
                is_picture,
            });
        };
        for (at, part) in turn.parts.iter().enumerate() {
            open += if at > 0 { "\n" } else { "" };
            match part {
                Part::Call(call) => {
                    open += &[
                        "[call ",
                        &call.name,
                        " ",
                        &call.id,
                        "] ",
                        &call.arguments.to_string(),
                    ]
                    .concat();
                }
                Part::Result(result) => {
                    open += &["[result ", &result.call, "] "].concat();
                    for (at, part) in result.parts.iter().enumerate() {
                        open += if at > 0 { "\n" } else { "" };
                        piece(&mut open, part, true);
                    }
                }
                part @ (Part::Text(_) | Part::Media(_) | Part::Reasoning(_) | _) => {
                    piece(&mut open, part, false);
                }
            }
        }
        around.push(open);
        let says = pieces
            .iter()
            .any(|piece| !piece.is_result && !piece.text.trim().is_empty());
        Self {
            id: format!("history:{number}"),
            around,
            pieces,
            is_users: turn.speaker == Speaker::User && says,
            is_assistants: turn.speaker == Speaker::Assistant,
            is_systems: turn.speaker == Speaker::System,
        }
    }

    fn text(&self) -> String {
        let texts = self
            .pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .chain([""]);
        self.around
            .iter()
            .map(String::as_str)
            .zip(texts)
            .flat_map(|(around, text)| [around, text])
            .collect()
    }

    fn tokens(&self) -> usize {
        if self.is_systems { 0 } else { self.size() }
    }

    fn size(&self) -> usize {
        self.text().len()
            + PICTURE_TOKENS * self.pieces.iter().filter(|piece| piece.is_picture).count()
    }

    /// The same with some bytes of a text, and the mark of the rest; unchanged if that would be no
    /// shorter. Of a picture the mark alone stays.
    fn cut(&self, at: usize, keep: usize) -> Self {
        let mut cut = self.clone();
        let Piece {
            text, is_picture, ..
        } = &mut cut.pieces[at];
        let mark = mark(&self.id, text.len() - keep);
        if *is_picture {
            *text = format!("[cut: image of {} left out]", self.id);
            *is_picture = false;
        } else if text.len() - keep > mark.len() {
            *text = format!("{}{mark}", &text[..keep]);
        }
        cut
    }
}

fn mark(id: &str, bytes: usize) -> String {
    format!("\n[cut: {bytes} bytes of {id} left out]\n")
}

fn tokens(unit: &[Heard]) -> usize {
    unit.iter().map(Heard::tokens).sum()
}

/// A unit in its present form without the tool results.
fn compact(now: &[Heard], whole: &[Heard]) -> Vec<Heard> {
    let mut now = now.to_vec();
    for (heard, whole) in now
        .iter_mut()
        .zip(whole)
        .filter(|(now, whole)| now.pieces.len() == whole.pieces.len())
    {
        for at in (0..whole.pieces.len()).filter(|at| whole.pieces[*at].is_result) {
            let mark = mark(&heard.id, whole.pieces[at].text.len());
            if whole.pieces[at].is_picture {
                if heard.pieces[at].is_picture {
                    *heard = heard.cut(at, 0);
                }
            } else if heard.pieces[at].text.len() > mark.len() {
                heard.pieces[at].text = mark;
            }
        }
    }
    now
}

/// A unit cut to a number of tokens or as far as it can be.
fn trim(whole: &[Heard], room: usize) -> Vec<Heard> {
    let cut = in_steps(whole, room);
    let is_mixed = whole
        .iter()
        .any(|heard| heard.is_users && heard.pieces.iter().any(|piece| piece.is_result));
    if !is_mixed || (tokens(&cut) <= room && !is_silent(&cut, whole)) {
        return cut;
    }
    in_steps(&whole.iter().map(without_calls).collect::<Vec<_>>(), room)
}

/// Returns the rest of a message without calls and results: a mark in place of the result, and the
/// words behind it.
fn without_calls(heard: &Heard) -> Heard {
    if !heard.is_users {
        return Heard {
            around: vec![String::new()],
            pieces: Vec::new(),
            ..heard.clone()
        };
    }
    let words: Vec<Piece> = heard
        .pieces
        .iter()
        .filter(|piece| !piece.is_result)
        .cloned()
        .collect();
    let [words] = &words[..] else {
        panic!("{words:?}")
    };
    let text = mark(
        &heard.id,
        heard.text().len() - "\n".len() - words.text.len(),
    );
    Heard {
        around: vec![format!("{text}\n"), String::new()],
        pieces: vec![words.clone()],
        ..heard.clone()
    }
}

/// A unit cut in four steps.
fn in_steps(whole: &[Heard], room: usize) -> Vec<Heard> {
    let mut unit = whole.to_vec();
    let places: Vec<(usize, usize)> = whole
        .iter()
        .enumerate()
        .flat_map(|(message, heard)| (0..heard.pieces.len()).map(move |at| (message, at)))
        .collect();
    for (is_result, is_picture) in [(true, false), (true, true), (false, true), (false, false)] {
        let mut step = places.clone();
        step.retain(|&(message, at)| {
            let piece = &whole[message].pieces[at];
            (piece.is_result, piece.is_picture) == (is_result, is_picture)
        });
        let text = |&(message, at): &(usize, usize)| whole[message].pieces[at].text.len();
        let all =
            |&(message, at): &(usize, usize)| mark(&whole[message].id, text(&(message, at))).len();
        if tokens(&unit) <= room {
            break;
        }
        if is_picture {
            for (message, at) in step {
                if tokens(&unit) > room {
                    unit[message] = unit[message].cut(at, 0);
                }
            }
            continue;
        }
        let others = tokens(&unit) - step.iter().map(text).sum::<usize>();
        let size = |common: usize| -> usize {
            step.iter()
                .map(|place| text(place).min(common.max(all(place))))
                .sum()
        };
        let common = (0..=room)
            .rev()
            .find(|common| others + size(*common) <= room)
            .unwrap_or(0);
        for place in step.iter().filter(|place| text(place) > common) {
            unit[place.0] = unit[place.0].cut(place.1, common.saturating_sub(all(place)));
        }
    }
    unit
}

/// True if the user has words in a unit of which no character stays.
fn is_silent(now: &[Heard], whole: &[Heard]) -> bool {
    let users = now.iter().zip(whole).filter(|(_, whole)| whole.is_users);
    let piece_texts = |heard: &'_ Heard| {
        heard
            .pieces
            .iter()
            .filter(|piece| !piece.is_result)
            .cloned()
            .collect::<Vec<_>>()
    };
    let texts = users.flat_map(|(now, whole)| {
        piece_texts(now)
            .into_iter()
            .zip(piece_texts(whole))
            .map(|(now, piece)| (&whole.id, now, piece))
    });
    let words: Vec<bool> = texts
        .filter(|(.., piece)| !piece.is_picture && !piece.text.trim().is_empty())
        .map(|(id, now, piece)| now.text == mark(id, piece.text.len()))
        .collect();
    !words.is_empty() && words.into_iter().all(|is_gone| is_gone)
}

fn users(unit: &[Heard]) -> bool {
    unit.iter().any(|heard| heard.is_users)
}

/// The units with words of the user, grouped by turns: within a turn the assistant has no words.
fn turns(units: &[Vec<Heard>]) -> Vec<Vec<usize>> {
    let mut turns: Vec<Vec<usize>> = Vec::new();
    for at in (0..units.len()).filter(|at| users(&units[*at])) {
        let goes_on = |turn: &Vec<usize>| {
            !units[turn[0] + 1..=at]
                .iter()
                .flatten()
                .any(|heard| heard.is_assistants)
        };
        match turns.last_mut().filter(|turn| goes_on(turn)) {
            Some(turn) => turn.push(at),
            None => turns.push(vec![at]),
        }
    }
    turns
}

/// Fits a question into a number of tokens and returns the rest of it, by its units.
fn question(
    asked: &[usize],
    now: &[Vec<Heard>],
    whole: &[Vec<Heard>],
    most: usize,
) -> BTreeMap<usize, Vec<Heard>> {
    let mut kept = BTreeMap::new();
    let mut left = most;
    for (number, at) in asked.iter().enumerate().rev() {
        let before: usize = asked[..number].iter().map(|at| tokens(&now[*at])).sum();
        let share = if before <= left / 2 {
            left - before
        } else {
            left / 2
        };
        let stays = if tokens(&now[*at]) <= share {
            now[*at].clone()
        } else {
            trim(&whole[*at], share)
        };
        if is_silent(&stays, &whole[*at]) {
            continue;
        }
        if tokens(&stays) > left && !kept.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens(&stays));
        kept.insert(*at, stays);
    }
    kept
}

/// Folds a conversation: returns for each unit if it stays, its messages after the fold, and the
/// tokens.
fn fold(whole: &[Vec<Heard>], case: &Case, limit: usize) -> (Vec<bool>, Vec<Vec<Heard>>, usize) {
    let turns = turns(whole);
    let mut now: Vec<Vec<Heard>> = Vec::new();
    let mut front = 0;
    let mut held: Vec<usize> = Vec::new();
    let room = limit * 7 / 10;
    for (at, unit) in whole.iter().enumerate() {
        if case.compacted && turns.iter().any(|turn| turn[0] == at) {
            for (at, before) in now.iter_mut().enumerate() {
                *before = compact(before, &whole[at]);
            }
        }
        now.push(unit.clone());
        let since = |front: usize| -> usize { now[front..].iter().map(|unit| tokens(unit)).sum() };
        if since(front) + held.iter().map(|at| tokens(&now[*at])).sum::<usize>() <= limit {
            continue;
        }
        let mut asked = turns
            .iter()
            .rfind(|turn| turn[0] <= at)
            .cloned()
            .unwrap_or_default();
        asked.retain(|asked| *asked < at && (*asked >= front || held.contains(asked)));
        let size = |kept: &BTreeMap<usize, Vec<Heard>>| -> usize {
            kept.values().map(|unit| tokens(unit)).sum()
        };
        let mut kept = question(&asked, &now, whole, room / 2);
        if size(&kept) > limit {
            kept.clear();
        }
        while tokens(unit) + size(&kept) > limit
            && is_silent(&trim(unit, room.saturating_sub(size(&kept))), unit)
        {
            if kept.pop_first().is_none() {
                break;
            }
        }
        if tokens(unit) + size(&kept) <= limit {
            let before =
                |front: usize| -> usize { kept.range(..front).map(|(_, unit)| tokens(unit)).sum() };
            front = (front..=at)
                .find(|front| *front == at || since(*front) + before(*front) <= room)
                .unwrap();
        } else {
            let cut = trim(unit, room.saturating_sub(size(&kept)));
            front = at;
            if tokens(&cut) + size(&kept) > limit {
                let narrow = question(&asked, &now, whole, limit.saturating_sub(tokens(&cut)));
                if limit > tokens(&cut) + 100 && size(&narrow) + tokens(&cut) <= limit {
                    kept = narrow;
                } else {
                    front = at + 1;
                }
            }
            now[at] = cut;
        }
        if case.is_first && kept.range(..front).next().is_none() {
            let is_next = |unit: &usize| whole[*unit][0].is_users || kept.contains_key(unit);
            front = (front..=at).find(is_next).unwrap_or(front);
        }
        kept.retain(|at, _| *at < front);
        held = kept.keys().copied().collect();
        for (at, unit) in kept {
            now[at] = unit;
        }
    }
    let first = case.turns.map_or(0, |wanted| {
        if turns.len() < wanted {
            0
        } else {
            turns[turns.len() - wanted][0]
        }
    });
    let stays: Vec<bool> = (0..now.len())
        .map(|at| at >= first && (at >= front || held.contains(&at)))
        .collect();
    let total = now
        .iter()
        .zip(&stays)
        .filter(|(_, stays)| **stays)
        .map(|(unit, _)| tokens(unit))
        .sum();
    (stays, now, total)
}

/// Each message by its id, with the rest of it.
type Fates = Vec<(String, Option<String>)>;

/// The outcome of a case by the specification: the messages, the ends of prefixes by message, the
/// rest of the input, and the tokens of the conversation.
fn expected(case: &Case) -> (Fates, Vec<usize>, Option<String>, usize) {
    let mut number = 0;
    let mut heard = |turn: &Turn| {
        number += 1;
        Heard::of(number, turn)
    };
    let whole: Vec<Vec<Heard>> = unit_turns(&case.units)
        .iter()
        .map(|unit| unit.iter().map(&mut heard).collect())
        .collect();
    // Heading, text, separator.
    let fixed = "You answer.\n\n".len() + "Task:\nAnswer.\n\n".len();
    let mut left = case.budget.unwrap_or(usize::MAX) - fixed;
    let bound = case.input.and_then(|(_, cap)| cap).unwrap_or(0);
    let limit = case
        .own
        .or(case.budget.map(|budget| {
            budget
                .saturating_sub(fixed + bound)
                .max(budget.saturating_sub(fixed) / 2)
        }))
        .unwrap_or(usize::MAX / 10);
    let (mut kept, mut now, mut stays) = fold(&whole, case, limit);
    let last = turns(&whole).last().map_or(0, |turn| turn[0]);
    // The input is the author's: it is fitted first, into the part of the budget that is not
    // reserved for the conversation.
    let others = case.budget.map_or(0, |budget| budget / 4).min(left / 2);
    left -= others;
    let input = case.input.map(|(size, cap)| {
        let frame = "Input: now:\n\n\n".len();
        let text = "i".repeat(size);
        let most = cap.unwrap_or(usize::MAX);
        if frame + size <= left.min(most) {
            left -= frame + size;
            return Some(text);
        }
        let is_capped = most <= left;
        let room = left.min(most);
        let rest = frame + mark("input:now", size).len();
        if (room <= 100 && !is_capped) || room <= rest {
            return None;
        }
        let keep = room - rest;
        let cut = format!("{}{}", &text[..keep], mark("input:now", size - keep));
        left -= frame + cut.len();
        Some(cut)
    });
    left += others;
    let longest = whole.iter().map(|unit| tokens(unit)).max().unwrap_or(0);
    let mut is_repeated = stays + 2 * longest <= limit;
    if stays > left {
        (kept, now, stays) = fold(&whole, case, left);
    }
    is_repeated &= stays + 2 * longest <= left;
    let all = turns(&whole).len();
    is_repeated &= case.turns.is_none_or(|turns| all + 1 < turns);
    let changes = |at: usize| {
        case.compacted
            && at >= last
            && tokens(&compact(&whole[at], &whole[at])) < tokens(&whole[at])
    };
    let end = (0..whole.len())
        .find(|at| changes(*at))
        .unwrap_or(whole.len());
    let mut dispositions = Vec::new();
    let mut messages = 2;
    let mut repeated = None;
    for (at, unit) in now.iter().enumerate() {
        for (message, heard) in whole[at].iter().enumerate() {
            let is_left_out = unit[message].text().is_empty() && !heard.text().is_empty();
            let stays = kept[at] && !heard.is_systems && !is_left_out;
            dispositions.push((heard.id.clone(), stays.then(|| unit[message].text())));
            messages += usize::from(stays);
            if stays && is_repeated && at < end {
                repeated = Some(messages - 1);
            }
        }
    }
    // Behind the fixed part, if anything follows; behind the repeated part.
    let mut ends = Vec::new();
    if messages > 2 || input.as_ref().is_some_and(Option::is_some) {
        ends.push(1);
    }
    ends.extend(repeated);
    (dispositions, ends, input.flatten(), stays)
}

fn dispositions(assembly: &Assembly) -> Fates {
    let turns = assembly
        .report
        .segments
        .iter()
        .enumerate()
        .filter(|(_, account)| account.segment.is_turn());
    let message = |at: usize| {
        assembly
            .messages
            .iter()
            .find(|message| message.segments.contains(&at))
            .map(|message| message.as_str().to_owned())
    };
    turns
        .map(|(at, account)| (account.segment.id.clone(), message(at)))
        .collect()
}

/// The tokens of a rendered message.
fn read_size(text: &str) -> usize {
    text.len() + PICTURE_TOKENS * text.matches(PICTURE).count()
}

/// Everything of a body that is read before the answer, in its order, without the marks of caches
/// and the text behind the last word.
fn stream(target: &str, body: &str) -> String {
    fn leaves(value: &Value, out: &mut String) {
        match value {
            Value::Array(list) => list.iter().for_each(|value| leaves(value, out)),
            Value::Object(fields) => {
                for (name, value) in fields.iter().filter(|(name, _)| *name != "cache_control") {
                    out.extend(["\u{1}", name, "\u{2}"]);
                    leaves(value, out);
                }
            }
            Value::String(text) => out.push_str(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        }
    }
    let body: Value = serde_json::from_str(body).unwrap();
    let fields = match target {
        "openai-responses" => ["instructions", "input"],
        "anthropic" => ["system", "messages"],
        "gemini" => ["systemInstruction", "contents"],
        _ => ["none", "messages"],
    };
    let mut out = String::new();
    for field in fields {
        leaves(&body[field], &mut out);
    }
    out
}

/// The messages up to the last end of a prefix.
fn prefix(assembly: &Assembly) -> Vec<Message> {
    let Some(last) = assembly
        .messages
        .iter()
        .rposition(|message| !message.breakpoints.is_empty())
    else {
        return Vec::new();
    };
    let mut messages = assembly.messages[..=last].to_vec();
    let message = &mut messages[last];
    let end = *message.breakpoints.last().unwrap();
    assert!(message.parts.is_empty() || end == message.as_str().len());
    message.text = message.text.slice(0..end);
    messages
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn conversations_are_cut_as_the_specification_requires(case in cases()) {
        let assembly = assembled(&case, &case.units);
        let (fates_expected, ends, input, stays) = expected(&case);
        prop_assert_eq!(dispositions(&assembly), fates_expected.clone());
        // The request is never pushed out, except by a limit too small for marks beside the longest
        // argument, which is never cut.
        let units = unit_turns(&case.units);
        let asked = units.concat().iter().rposition(|turn| {
            let words = |part: &Part| matches!(part, Part::Text(text) if text.starts_with('w'));
            turn.speaker == Speaker::User && turn.parts.iter().any(words)
        });
        let argument = case.units.iter().map(|unit| if let Unit::Shot(argument, ..) = unit { *argument } else { 0 }).max().unwrap_or(0);
        let room = case.own.map(|own| own.saturating_sub(argument));
        if let (Some(asked), Some(1_000..), None) = (asked, room, case.budget) {
            prop_assert!(fates_expected[asked].1.is_some(), "{}", asked + 1);
        }
        let marked = assembly.messages.iter().enumerate().filter(|(_, message)| !message.breakpoints.is_empty()).map(|(at, _)| at);
        prop_assert!(case.is_first || marked.collect::<Vec<_>>() == ends, "{:?} and not {ends:?}", assembly.messages);
        let now = assembly.messages.iter().find_map(|message| message.as_str().split_once("Input: now:\n"));
        prop_assert_eq!(now.map(|(_, text)| text), input.as_deref());
        let mut kept = 0;
        for account in assembly.report.segments.iter().filter(|account| account.segment.is_turn()) {
            let (id, text) = fates_expected.iter().find(|(id, _)| *id == account.segment.id).unwrap();
            let whole = account.segment.text.text();
            let disposition = match &account.disposition {
                Disposition::Kept => text.as_deref() == Some(whole),
                Disposition::Shortened { left_out } => text.as_deref().is_some_and(|text| text != whole) && !left_out.is_empty(),
                other @ (Disposition::Cut { .. } | Disposition::Dropped | _) => *other == Disposition::Dropped && text.is_none(),
            };
            prop_assert!(disposition, "{id}: {:?}", account.disposition);

            let full = if whole == "old orders" { 0 } else { read_size(whole) };
            prop_assert_eq!((account.full_tokens, account.kept_tokens), (Some(full), Some(text.as_deref().map_or(0, read_size))));
            kept += account.kept_tokens.unwrap();
        }
        if fates_expected.iter().any(|(_, text)| text.is_some()) {
            prop_assert_eq!(kept, stays);
        }
        let all: usize = assembly.messages.iter().map(|message| read_size(message.as_str())).sum();
        prop_assert!(case.budget.is_none_or(|budget| all <= budget));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The next text is no longer than the longest before; if it is longer, only the part before
    /// the conversation is promised.
    #[test]
    fn the_next_request_begins_with_the_guaranteed_text(case in cases(), answer in size(), next in unit(), is_user in any::<bool>()) {
        let now = assembled(&case, &case.units);
        let longest = unit_turns(&case.units).iter().flatten().map(|turn| read_size(&turn.text_form().text)).max().unwrap_or(0);
        let next = if is_user { vec![Unit::Assistant(answer.min(longest)), Unit::User(longest.clamp(1, 40))] } else { vec![next] };
        let grown: Vec<Unit> = case.units.iter().cloned().chain(next.clone()).collect();
        let then = assembled(&case, &grown);
        let size = |units: &[Unit]| unit_turns(units).iter().map(|unit| unit.iter().map(|turn| read_size(&turn.text_form().text)).sum::<usize>()).collect::<Vec<_>>();
        let most = size(&case.units).into_iter().max().unwrap_or(0);
        let is_within = size(&next).iter().sum::<usize>() <= 2 * most;
        let promised = prefix(&now);
        // In an empty conversation the position of the text behind it is not yet known.
        let is_within = is_within && (!case.is_first || now.messages.iter().any(Message::is_turn));
        let promised = if is_within { promised } else { promised.into_iter().take(if case.is_first { 1 } else { 2 }).collect() };
        if promised.iter().all(|message| message.speaker == Speaker::System) {
            return Ok(());
        }
        for target in TARGETS {
            let of = |messages: &[Message]| Some(stream(target.name, &target.render_body(messages, &CallParams::default()).ok()?));
            // Not every target takes a picture.
            let (Some(before), Some(after)) = (of(&promised), of(&then.messages)) else { continue };
            prop_assert!(after.starts_with(&before), "{}:\n{before:?}\n{after:?}", target.name);
        }
    }
}
