//! Conversations under budgets, against an assembler of their rules that was written from `docs/spec/rendering.md`: what becomes of each message,
//! what stays of it, where a cache may end, how much is counted; and what is promised of the next call holds.

use super::settings::registry;
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::call::Call;
use ctxc::internals::context::render::message::Message;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::context::{Counting, Disposition, Profile, Speaker};
use ctxc::internals::kernel::conversation::{Part, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a case is made of.
#[derive(Clone, Debug)]
struct Case {
    units: Vec<Unit>,
    turns: Option<usize>,
    own: Option<usize>,
    compacted: bool,
    /// The bytes of an input of this call, and how many tokens it may have.
    input: Option<(usize, Option<usize>)>,
    budget: Option<usize>,
}

/// What stays together.
#[derive(Clone, Debug)]
enum Unit {
    System,
    User(usize),
    Assistant(usize),
    /// Words of the assistant, and how much each call of it gives back.
    Calls(usize, Vec<usize>),
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
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let input = prop::option::of((1_usize..800, prop::option::of(60_usize..400)));
    let own = prop::option::of(20_usize..1_500);
    let budget = prop::option::of(150_usize..3_000);
    let turns = prop::option::weighted(0.2, 1_usize..5);
    (prop::collection::vec(unit(), 1..20), turns, own, prop::bool::weighted(0.25), input, budget)
        .prop_map(|(units, turns, own, compacted, input, budget)| Case { units, turns, own, compacted, input, budget })
}

fn text(at: usize, size: usize) -> String {
    let word = format!("w{at} ");
    word.chars().cycle().take(size).collect()
}

/// Messages, by units.
fn said(units: &[Unit]) -> Vec<Vec<Turn>> {
    let one = |(at, unit): (usize, &Unit)| match unit {
        Unit::System => vec![Turn::new(Speaker::System, "old orders")],
        Unit::User(size) => vec![Turn::new(Speaker::User, text(at, *size))],
        Unit::Assistant(size) => vec![Turn::new(Speaker::Assistant, text(at, *size))],
        Unit::Calls(words, results) => {
            let ids = 0..results.len();
            let calls = ids.fold(Turn::new(Speaker::Assistant, text(at, *words)), |turn, id| {
                turn.calling(format!("c{id}"), "f", json!({"n": id}))
            });
            let results = results.iter().enumerate().map(|(id, size)| Turn::result(format!("c{id}"), text(at, *size)));
            std::iter::once(calls).chain(results).collect()
        }
    };
    units.iter().enumerate().map(one).collect()
}

fn task(case: &Case) -> Registry {
    let number = |name: &str, number: Option<usize>| number.map_or_else(String::new, |number| format!(" {name}=\"{number}\""));
    let cap = number("max_tokens", case.input.and_then(|(_, cap)| cap));
    let input =
        format!("<parameters><parameter name=\"now\"/></parameters><inputs><input name=\"now\" from=\"now\"{cap}/></inputs>");
    let input = if case.input.is_some() { input } else { String::new() };
    let history =
        format!("<history{}{} compacted=\"{}\"/>", number("turns", case.turns), number("max_tokens", case.own), case.compacted);
    registry(&format!(
        "<task type=\"atomic\" name=\"t\"><description>Answer.</description><system>You answer.</system>{input}{history}</task>"
    ))
}

fn assembled(case: &Case, units: &[Unit]) -> Assembly {
    let said = said(units).concat();
    let now = case.input.map(|(size, _)| ("now".to_owned(), Value::from("i".repeat(size))));
    let inputs: BTreeMap<String, Value> = now.into_iter().collect();
    let request = Request { inputs: &inputs, history: &said, ..Request::new("t") };
    let options = Options { profile: Profile::Plain, budget: case.budget, counting: Counting::Always, ..Options::default() };
    assemble(&task(case), &request, &options).unwrap()
}

/// A message of the oracle: the texts of it with what stands around them, as it reads.
#[derive(Clone, Debug)]
struct Heard {
    id: String,
    /// What stands before each text, and behind the last one.
    around: Vec<String>,
    texts: Vec<String>,
    are_results: bool,
    is_users: bool,
    is_systems: bool,
}

impl Heard {
    fn of(number: usize, turn: &Turn) -> Self {
        let (mut around, mut texts, mut open, mut are_results) = (Vec::new(), Vec::new(), String::new(), false);
        for (at, part) in turn.parts.iter().enumerate() {
            open += if at > 0 { "\n" } else { "" };
            match part {
                Part::Text(text) => {
                    around.push(std::mem::take(&mut open));
                    texts.push(text.clone());
                }
                Part::Call(call) => open += &["[call ", &call.name, " ", &call.id, "] ", &call.arguments.to_string()].concat(),
                Part::Result(result) => {
                    let [Part::Text(text)] = &*result.parts else { panic!("{result:?}") };
                    around.push(std::mem::take(&mut open) + &format!("[result {}] ", result.call));
                    texts.push(text.clone());
                    are_results = true;
                }
                other @ (Part::Reasoning(_) | Part::Media(_) | _) => panic!("{other:?}"),
            }
        }
        around.push(open);
        let id = format!("history:{number}");
        Self {
            id,
            around,
            texts,
            are_results,
            is_users: turn.speaker == Speaker::User,
            is_systems: turn.speaker == Speaker::System,
        }
    }

    fn text(&self) -> String {
        let texts = self.texts.iter().map(String::as_str).chain([""]);
        self.around.iter().map(String::as_str).zip(texts).flat_map(|(around, text)| [around, text]).collect()
    }

    fn tokens(&self) -> usize {
        if self.is_systems { 0 } else { self.text().len() }
    }

    /// The same with so many bytes of a text, and the mark of the rest; as it is where that would be no shorter.
    fn cut(&self, at: usize, keep: usize) -> Self {
        let mut cut = self.clone();
        let text = &self.texts[at];
        let mark = mark(&self.id, text.len() - keep);
        if text.len() - keep > mark.len() {
            cut.texts[at] = format!("{}{mark}", &text[..keep]);
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

/// A unit as it is now without what tools gave back.
fn compact(now: &[Heard], whole: &[Heard]) -> Vec<Heard> {
    let mut now = now.to_vec();
    for (heard, whole) in now.iter_mut().zip(whole).filter(|(heard, _)| heard.are_results) {
        for (text, whole) in heard.texts.iter_mut().zip(&whole.texts) {
            let mark = mark(&heard.id, whole.len());
            if text.len() > mark.len() {
                *text = mark;
            }
        }
    }
    now
}

/// A unit cut to so many tokens: the longest result first, then the longest text.
fn trim(unit: &[Heard], room: usize) -> Option<Vec<Heard>> {
    let mut unit = unit.to_vec();
    let mut order: Vec<(usize, usize)> =
        unit.iter().enumerate().flat_map(|(message, heard)| (0..heard.texts.len()).map(move |at| (message, at))).collect();
    order.sort_by_key(|&(message, at)| (!unit[message].are_results, usize::MAX - unit[message].texts[at].len()));
    for (message, at) in order {
        if tokens(&unit) <= room {
            break;
        }
        let heard = unit[message].clone();
        let others = tokens(&unit) - heard.tokens();
        let text = heard.texts[at].len();
        // Room is made for a mark that says all of it.
        let rest = heard.tokens() - text + mark(&heard.id, text).len();
        unit[message] = heard.cut(at, room.saturating_sub(others + rest).min(text - 1));
    }
    (tokens(&unit) <= room).then_some(unit)
}

fn users(unit: &[Heard]) -> bool {
    unit.iter().any(|heard| heard.is_users)
}

/// What stays of a conversation: whether each unit does, as it is then, and its tokens.
fn fold(whole: &[Vec<Heard>], case: &Case, limit: usize) -> (Vec<bool>, Vec<Vec<Heard>>, usize) {
    let mut now: Vec<Vec<Heard>> = Vec::new();
    let mut front = 0;
    let mut question = None;
    let room = limit * 7 / 10;
    for unit in whole {
        if case.compacted && users(unit) {
            for (at, before) in now.iter_mut().enumerate() {
                *before = compact(before, &whole[at]);
            }
        }
        now.push(unit.clone());
        let last = now.len() - 1;
        let since = |front: usize, question: Option<usize>| -> usize {
            question.into_iter().chain(front..=last).map(|at| tokens(&now[at])).sum()
        };
        if since(front, question) <= limit {
            continue;
        }
        // What the last question would be if the front moved past it.
        let asked = (0..=last).rfind(|at| users(&whole[*at])).filter(|at| *at < last && !now[*at].is_empty());
        let most = (room / 2).min(if tokens(unit) > limit { room } else { limit - tokens(unit) });
        let kept = |at: usize| if tokens(&now[at]) <= most { Some(now[at].clone()) } else { trim(&whole[at], most) };
        let asked = asked.and_then(|at| Some((at, kept(at)?)));
        let beside = |front: usize| asked.as_ref().filter(|(at, _)| *at < front).map_or(0, |(_, kept)| tokens(kept));
        if tokens(unit) > limit {
            let cut = trim(unit, room - beside(last));
            front = if cut.is_some() { last } else { last + 1 };
            now[last] = cut.unwrap_or_default();
        } else {
            front = (front..=last).find(|front| *front == last || since(*front, None) + beside(*front) <= room).unwrap();
        }
        question = asked.filter(|(at, _)| *at < front).map(|(at, kept)| {
            now[at] = kept;
            at
        });
    }
    let first = case.turns.map_or(0, |turns| {
        let all: Vec<usize> = (0..whole.len()).filter(|at| users(&whole[*at])).collect();
        if all.len() < turns { 0 } else { all[all.len() - turns] }
    });
    let stays: Vec<bool> = (0..now.len()).map(|at| at >= first && (at >= front || question == Some(at))).collect();
    let total = now.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(unit, _)| tokens(unit)).sum();
    (stays, now, total)
}

/// Each message by its id, with what stays of it.
type Fates = Vec<(String, Option<String>)>;

/// What the specification says becomes of a case: the messages, the ends of prefixes by message, what stays of the input, and the tokens of the
/// conversation.
fn expected(case: &Case) -> (Fates, Vec<usize>, Option<String>, usize) {
    let mut number = 0;
    let mut heard = |turn: &Turn| {
        number += 1;
        Heard::of(number, turn)
    };
    let whole: Vec<Vec<Heard>> = said(&case.units).iter().map(|unit| unit.iter().map(&mut heard).collect()).collect();
    // Heading, text, separator.
    let fixed = "You answer.\n\n".len() + "Task:\nAnswer.\n\n".len();
    let mut left = case.budget.unwrap_or(usize::MAX) - fixed;
    let bound = case.input.and_then(|(_, cap)| cap).unwrap_or(0);
    let limit = case
        .own
        .or(case.budget.map(|budget| budget.saturating_sub(fixed + bound).max(budget.saturating_sub(fixed) / 2)))
        .unwrap_or(usize::MAX / 10);
    let (mut kept, mut now, mut stays) = fold(&whole, case, limit);
    let last = whole.iter().rposition(|unit| users(unit)).unwrap_or(0);
    let turn: usize = whole[last..].iter().map(|unit| tokens(unit)).sum();
    let turn = if whole.len() - last == 1 { turn } else { (turn * 10).div_ceil(7) };
    let floor = turn.min(stays).min(left / 2);
    left -= floor;
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
    left += floor;
    let longest = whole.iter().map(|unit| tokens(unit)).max().unwrap_or(0);
    let mut is_repeated = stays + 2 * longest <= limit;
    if stays > left {
        (kept, now, stays) = fold(&whole, case, left);
    }
    is_repeated &= stays + 2 * longest <= left;
    let all = whole.iter().filter(|unit| users(unit)).count();
    is_repeated &= case.turns.is_none_or(|turns| all + 1 < turns);
    let changes = |at: usize| case.compacted && at >= last && tokens(&compact(&whole[at], &whole[at])) < tokens(&whole[at]);
    let end = (0..whole.len()).find(|at| changes(*at)).unwrap_or(whole.len());
    let mut fates = Vec::new();
    let mut messages = 2;
    let mut repeated = None;
    for (at, unit) in now.iter().enumerate() {
        for (message, heard) in whole[at].iter().enumerate() {
            let stays = kept[at] && !heard.is_systems;
            fates.push((heard.id.clone(), stays.then(|| unit[message].text())));
            messages += usize::from(stays);
            if stays && is_repeated && at < end {
                repeated = Some(messages - 1);
            }
        }
    }
    // Behind what is fixed, where anything follows; behind what is repeated.
    let mut ends = Vec::new();
    if messages > 2 || input.as_ref().is_some_and(Option::is_some) {
        ends.push(1);
    }
    ends.extend(repeated);
    (fates, ends, input.flatten(), stays)
}

fn fates(assembly: &Assembly) -> Fates {
    let turns = assembly.report.segments.iter().enumerate().filter(|(_, account)| account.segment.is_turn());
    let message = |at: usize| {
        assembly.messages.iter().find(|message| message.segments.contains(&at)).map(|message| message.as_str().to_owned())
    };
    turns.map(|(at, account)| (account.segment.id.clone(), message(at))).collect()
}

/// Everything of a body that is read before the answer, in its order, without the marks of caches and what stands behind the last word.
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
    let Some(last) = assembly.messages.iter().rposition(|message| !message.breakpoints.is_empty()) else { return Vec::new() };
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
    fn conversations_are_cut_as_the_specification_says(case in cases()) {
        let assembly = assembled(&case, &case.units);
        let (fates_expected, ends, input, stays) = expected(&case);
        prop_assert_eq!(fates(&assembly), fates_expected.clone());
        let said = assembly.messages.iter().enumerate().filter(|(_, message)| !message.breakpoints.is_empty()).map(|(at, _)| at);
        prop_assert_eq!(said.collect::<Vec<_>>(), ends, "{:?}", assembly.messages);
        let now = assembly.messages.iter().find_map(|message| message.as_str().split_once("Input: now:\n"));
        prop_assert_eq!(now.map(|(_, text)| text), input.as_deref());
        let mut kept = 0;
        for account in assembly.report.segments.iter().filter(|account| account.segment.is_turn()) {
            let (id, text) = fates_expected.iter().find(|(id, _)| *id == account.segment.id).unwrap();
            let whole = account.segment.text.text();
            let fate = match &account.fate {
                Disposition::Kept => text.as_deref() == Some(whole),
                Disposition::Shortened { left_out } => text.as_deref().is_some_and(|text| text != whole) && !left_out.is_empty(),
                other @ (Disposition::Cut { .. } | Disposition::Dropped | _) => *other == Disposition::Dropped && text.is_none(),
            };
            prop_assert!(fate, "{id}: {:?}", account.fate);
            let full = if whole == "old orders" { 0 } else { whole.len() };
            prop_assert_eq!((account.full_tokens, account.kept_tokens), (Some(full), Some(text.as_ref().map_or(0, String::len))));
            kept += account.kept_tokens.unwrap();
        }
        if fates_expected.iter().any(|(_, text)| text.is_some()) {
            prop_assert_eq!(kept, stays);
        }
        let all: usize = assembly.messages.iter().map(|message| message.as_str().len()).sum();
        prop_assert!(case.budget.is_none_or(|budget| all <= budget));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// What comes next is no longer than the longest before, or it is as long as it likes and only what stands before the conversation is
    /// promised.
    #[test]
    fn the_next_request_begins_with_what_is_promised(case in cases(), answer in size(), next in unit(), is_user in any::<bool>()) {
        let now = assembled(&case, &case.units);
        let longest = said(&case.units).iter().flatten().map(|turn| turn.read().text.len()).max().unwrap_or(0);
        let next = if is_user { vec![Unit::Assistant(answer.min(longest)), Unit::User(longest.clamp(1, 40))] } else { vec![next] };
        let grown: Vec<Unit> = case.units.iter().cloned().chain(next.clone()).collect();
        let then = assembled(&case, &grown);
        let size = |units: &[Unit]| said(units).iter().map(|unit| unit.iter().map(|turn| turn.read().text.len()).sum::<usize>()).collect::<Vec<_>>();
        let most = size(&case.units).into_iter().max().unwrap_or(0);
        let is_within = size(&next).iter().sum::<usize>() <= 2 * most;
        let promised = prefix(&now);
        let promised = if is_within { promised } else { promised.into_iter().take(2).collect() };
        if promised.iter().all(|message| message.speaker == Speaker::System) {
            return Ok(());
        }
        for target in TARGETS {
            let of = |messages: &[Message]| stream(target.name, &target.body(messages, &Call::default()).unwrap());
            let (before, after) = (of(&promised), of(&then.messages));
            prop_assert!(after.starts_with(&before), "{}:\n{before:?}\n{after:?}", target.name);
        }
    }
}
