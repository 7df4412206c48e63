//! Untrusted text changes nothing of the author's: whatever its content and length, every trusted
//! segment stands at its place with the same bytes.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "what is not cut stays whole"
)]

use super::settings::{registry, values};
use crate::support::profiles::fenced_profiles;
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::fault::FaultKind;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Attempt, Request, StepResult};
use ctxc::internals::context::tokens::counter;
use ctxc::internals::context::{Disposition, Fixtures, Match, Message, Refused, Speaker, Trust};
use ctxc::internals::kernel::context::Kind;
use ctxc::internals::kernel::conversation::Turn;
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

static COUNTERS: LazyLock<[Arc<dyn TokenCounter>; 3]> = LazyLock::new(|| {
    [
        Arc::new(ByteCounter),
        Arc::new(ByteEstimate::new("estimate", 3.5)),
        counter("o200k").unwrap(),
    ]
});

/// The text of one rule of the tasks below.
fn rule(number: usize) -> String {
    format!(
        "Rule {number:02}: never do forbidden thing number {number:02} under any circumstance whatsoever."
    )
}

fn rules(count: usize) -> String {
    let rules = (0..count)
        .map(|number| format!("<constraint>{}</constraint>", rule(number)))
        .collect::<Vec<_>>()
        .concat();
    format!("<constraints>{rules}</constraints>")
}

const LETTER: &str = "<parameters><parameter name=\"letter\" trust=\"untrusted\"/><parameter name=\"terms\"/></parameters>";
const INPUTS: &str = "<inputs><input name=\"letter\" from=\"letter\"/><input name=\"terms\" from=\"terms\"/></inputs>";
const FILE: &str = "<file_paths source=\"literal\"><path>docs/a.md</path></file_paths>";
const EXAMPLES: &str = "<examples><example><input>Refund me</input><output>No.</output></example>\
    <example><input>Where is it?</input><output>On its way.</output></example></examples>";
const LOOKUP: &str = "<context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>";

/// The tasks, and the agent of each.
fn shapes() -> Vec<(String, &'static str)> {
    let atomic = |inner: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\"><description>Answer the letter.</description><system>You answer.</system>{LETTER}{inner}</task>"
        )
    };
    let capped = INPUTS.replace("from=\"letter\"", "from=\"letter\" max_tokens=\"300\"");
    let inside = rules(8).replace(
        "<constraints>",
        "<constraints><constraint>About the letter: {{letter}}</constraint>",
    );
    let step = |inherit: &str, step: &str| {
        format!(
            "<task type=\"sequential\" name=\"t\"><description>Answer the letter.</description><instructions>Be brief.</instructions>{LETTER}{INPUTS}{}{FILE}\
             <steps><task type=\"atomic\" as=\"plan\" trust=\"untrusted\"><description>plan</description></task>\
             <task type=\"atomic\"><description>Answer, and never break a rule.</description>{step}\
             <context_management><inherit_context>{inherit}</inherit_context></context_management></task></steps></task>",
            rules(12)
        )
    };
    vec![
        (atomic(&[INPUTS, &rules(9), FILE].concat()), "/"),
        (
            atomic(&[INPUTS, &rules(9), FILE, EXAMPLES, "<history/>"].concat()),
            "/",
        ),
        (atomic(&[&capped, &rules(9), FILE, EXAMPLES].concat()), "/"),
        (atomic(&[INPUTS, &rules(9), FILE, LOOKUP].concat()), "/"),
        (
            atomic(
                &[
                    "<inputs><input name=\"terms\" from=\"terms\"/></inputs>",
                    &inside,
                    FILE,
                    EXAMPLES,
                ]
                .concat(),
            ),
            "/",
        ),
        (step("full", FILE), "/steps/1"),
        (
            step("subset", &format!("{INPUTS}<history max_tokens=\"400\"/>")),
            "/steps/1",
        ),
        (
            step("none", &[INPUTS, &rules(5), FILE].concat()),
            "/steps/1",
        ),
    ]
}

static REGISTRIES: LazyLock<Vec<(Registry, &str)>> = LazyLock::new(|| {
    shapes()
        .into_iter()
        .map(|(task, node)| (registry(&task), node))
        .collect()
});

/// Texts that others have written for one call.
#[derive(Clone, Debug)]
struct Foreign {
    letter: String,
    plan: String,
    previous: Option<String>,
    conversation: Vec<Turn>,
    found: Vec<Match>,
    attempts: Vec<Attempt>,
}

/// One situation: a task, a token counter, a budget, and the length of the author's file.
#[derive(Clone, Debug)]
struct Case {
    shape: usize,
    counter: usize,
    profile: usize,
    budget: usize,
    file: usize,
    foreign: Vec<Foreign>,
}

fn foreign() -> impl Strategy<Value = Foreign> {
    let text = |most: usize| {
        let words = prop::sample::select(vec![
            "I want money. ",
            "{{letter}} ",
            "é😀",
            "\n\n## Constraints\n\n",
            "[cut: 5 bytes] ",
            "7",
        ]);
        let length = prop_oneof![2 => Just(0), 3 => 0..200_usize, 2 => 200..5_000_usize, 1 => 5_000..=most.max(5_000)];
        (words, length).prop_map(|(words, length)| {
            let mut text = words.repeat(length / words.len() + 1);
            text.truncate(text.floor_char_boundary(length));
            text
        })
    };
    // The writer of a letter may have read the author's texts.
    let letter = prop_oneof![
        5 => text(400_000),
        1 => (0..9_usize).prop_map(rule),
        1 => (5..13_usize).prop_map(|count| (0..count).map(|number| format!("- {}", rule(number))).collect::<Vec<_>>().join("\n")),
        1 => Just("Be brief.".to_owned()),
        1 => prop::sample::select(vec![FILE_LINE.repeat(3), FILE_LINE.repeat(60)]),
    ];
    let passage = prop_oneof![3 => text(9_000), 1 => (0..9_usize).prop_map(rule)];
    let found = (0..9_usize, passage).prop_map(|(number, text)| Match {
        id: format!("p{number}"),
        text,
        trust: Trust::Untrusted,
    });
    let attempt = text(5_000).prop_map(|note| Attempt {
        stage: "test".to_owned(),
        obstacle: "failed".to_owned(),
        note,
    });
    let conversation = prop::collection::vec(text(9_000), 0..6);
    let conversation = conversation.prop_map(|texts| {
        let turn = |(at, text): (usize, &String)| {
            Turn::new([Speaker::User, Speaker::Assistant][at % 2], text.clone())
        };
        texts.iter().enumerate().map(turn).collect()
    });
    (
        letter,
        text(9_000),
        text(9_000),
        conversation,
        prop::collection::vec(found, 0..9),
        prop::collection::vec(attempt, 0..3),
    )
        .prop_map(
            |(letter, plan, previous, conversation, found, attempts)| Foreign {
                letter,
                plan,
                previous: Some(previous),
                conversation,
                found,
                attempts,
            },
        )
}

fn cases() -> impl Strategy<Value = Case> {
    let budget = prop_oneof![3 => 60_usize..2_500, 1 => 2_500_usize..12_000];
    let file = prop_oneof![Just(0_usize), 1..20_usize, 20..400_usize];
    let about = (
        0..shapes().len(),
        0..10_usize,
        0..fenced_profiles().len(),
        any::<bool>(),
    );
    (about, budget, file, prop::collection::vec(foreign(), 2..4)).prop_map(
        |((shape, counter, profile, is_stage), budget, file, mut foreign)| {
            for one in &mut foreign {
                one.previous = one.previous.take().filter(|_| is_stage);
            }
            // The exact one is slow without optimisation: it gets shorter letters.
            let counter = if counter == 9 { 2 } else { counter % 2 };
            for one in foreign.iter_mut().filter(|_| counter == 2) {
                one.letter.truncate(one.letter.floor_char_boundary(20_000));
            }
            Case {
                shape,
                counter,
                profile,
                budget,
                file,
                foreign,
            }
        },
    )
}

const FILE_LINE: &str = "Pay within 30 days, and never on a Sunday.\n";

fn assembled(case: &Case, foreign: &Foreign) -> Result<Assembly, Refused> {
    let (registry, node) = &REGISTRIES[case.shape];
    let inputs = values(&[
        ("letter", json!(foreign.letter)),
        ("terms", json!("Pay within 30 days.")),
    ]);
    let results = BTreeMap::from([(
        "plan".to_owned(),
        StepResult {
            content: json!(foreign.plan),
            notes: None,
            trust: Trust::Trusted,
        },
    )]);
    let results = if *node == "/" {
        BTreeMap::new()
    } else {
        results
    };
    let files = BTreeMap::from([("docs/a.md".to_owned(), FILE_LINE.repeat(case.file))]);
    let source = Fixtures(foreign.found.clone());
    let previous = foreign.previous.clone().map(Value::String);
    let request = Request {
        node,
        inputs: &inputs,
        results: &results,
        files: &files,
        source: &source,
        history: &foreign.conversation,
        previous: previous.as_ref(),
        attempts: &foreign.attempts,
        ..Request::new("t")
    };
    let options = Options {
        profile: fenced_profiles()[case.profile],
        budget: Some(case.budget),
        counter: &*COUNTERS[case.counter],
        ..Options::default()
    };
    assemble(registry, &request, &options)
}

/// The trusted segments in their order, each with the rest of it.
fn trusted(assembly: &Assembly) -> Vec<(String, String)> {
    let mut standing: Vec<_> = assembly
        .report
        .segments
        .iter()
        .filter(|account| account.position.is_some())
        .collect();
    standing.sort_by_key(|account| account.position);
    let messages_text = assembly
        .messages
        .iter()
        .map(Message::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    let of = |account: &&ctxc::internals::kernel::assembler::SegmentReport| {
        let text = account.segment.text.text();
        let stays = match &account.disposition {
            Disposition::Cut { range, mark } => format!("{}{mark}", &text[range.clone()]),
            _ => text.to_owned(),
        };
        assert!(messages_text.contains(&stays), "{}", account.segment.id);
        (account.segment.id.clone(), stays)
    };
    let is_trusted = |account: &&ctxc::internals::kernel::assembler::SegmentReport| {
        let holds_letter = account.segment.text.text().contains("<untrusted-");
        account.segment.trust == Trust::Trusted
            && account.segment.kind != Kind::History
            && !holds_letter
    };
    standing
        .iter()
        .copied()
        .filter(is_trusted)
        .map(|account| of(&account))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_untrusted_text_changes_a_byte_of_a_trusted_segment(case in cases()) {
        let nothing = Foreign {
            letter: String::new(),
            plan: String::new(),
            previous: case.foreign[0].previous.as_ref().map(|_| String::new()),
            conversation: Vec::new(),
            found: Vec::new(),
            attempts: Vec::new(),
        };
        let plain = assembled(&case, &nothing).map(|assembly| trusted(&assembly));
        for foreign in &case.foreign {
            match (assembled(&case, foreign), &plain) {
                (Ok(assembly), Ok(plain)) => {
                    prop_assert_eq!(&trusted(&assembly), plain);
                    let counter = &COUNTERS[case.counter];
                    let text = |message: &&Message| !message.is_turn();
                    let all: usize = assembly.messages.iter().filter(text).map(|message| counter.count(message.as_str())).sum();
                    prop_assert!(all <= case.budget);
                }
                // Only a letter in a text that is never cut is refused; a case without tokens for
                // the author's words is refused with and without it.
                (Err(refused), plain) => {
                    prop_assert!(refused.iter().all(|fault| matches!(*fault.kind, FaultKind::OverBudget(_))), "{refused}");
                    prop_assert!(case.shape == 4 || plain.is_err(), "{refused}");
                }
                (Ok(_), Err(refused)) => prop_assert!(false, "{refused}"),
            }
        }
    }
}

fn answered(task: &str, letter: &str, said: &[Turn]) -> Assembly {
    let inputs = values(&[("mail", json!(letter))]);
    let request = Request {
        inputs: &inputs,
        history: said,
        ..Request::new("t")
    };
    let options = Options {
        budget: Some(1_000),
        counter: &*COUNTERS[1],
        ..Options::default()
    };
    assemble(&registry(task), &request, &options).unwrap()
}

#[test]
fn an_untrusted_text_of_many_lines_in_a_rule_takes_linear_time() {
    let registry = registry(
        "<task type=\"atomic\" name=\"t\"><description>Answer the mail.</description>\
         <constraints><constraint>About the mail: {{mail}}</constraint></constraints>\
         <parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters></task>",
    );
    let time = |lines: usize| {
        let inputs = values(&[("mail", json!("a\n".repeat(lines)))]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        let options = Options {
            budget: Some(1_000_000),
            counter: &*COUNTERS[0],
            ..Options::default()
        };
        let run = || {
            let started = Instant::now();
            assemble(&registry, &request, &options).unwrap();
            started.elapsed()
        };
        (0..3).map(|_| run()).min().unwrap()
    };
    let (small, large) = (time(4_000), time(16_000));
    assert!(
        large < small * 8,
        "four times the lines took {large:?} instead of {small:?}"
    );
}

#[test]
fn rules_of_two_thirds_of_the_room_stay_whole_beside_an_untrusted_text_and_a_conversation() {
    for history in ["", "<history/>"] {
        let task = format!(
            "<task type=\"atomic\" name=\"t\"><description>Answer the mail.</description>\
             <parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters>\
             <inputs><input name=\"mail\" from=\"mail\"/></inputs>{}{history}</task>",
            rules(28)
        );
        let long = vec![Turn::new(Speaker::User, "where is it? ".repeat(4_000))];
        let turns = if history.is_empty() { &[][..] } else { &long };
        for letter in ["", "Hello", &"I want money. ".repeat(30_000)] {
            let assembly = answered(&task, letter, turns);
            let rules = assembly
                .report
                .segments
                .iter()
                .find(|account| account.segment.kind == Kind::Constraints)
                .unwrap();
            assert_eq!(
                (
                    &rules.disposition,
                    rules.full_tokens.is_none_or(|full| full > 600)
                ),
                (&Disposition::Kept, true),
                "{history}"
            );
            let cut = assembly
                .report
                .segments
                .iter()
                .find(|account| account.segment.kind == Kind::Input)
                .unwrap();
            let kept = cut
                .kept_tokens
                .is_none_or(|kept| kept > 100 || letter.len() < 10);
            assert!(kept, "{history}: the letter has its room: {cut:?}");
        }
    }
}

#[test]
fn an_untrusted_text_that_quotes_a_rule_takes_its_place_from_none() {
    let task = |inherit: &str| {
        format!(
            "<task type=\"sequential\" name=\"t\"><description>letters</description>{LETTER}{}<instructions>Be kind.</instructions>\
             <steps><task type=\"atomic\"><description>answer</description><inputs><input name=\"letter\" from=\"letter\"/></inputs>\
             <context_management><inherit_context>{inherit}</inherit_context></context_management></task></steps></task>",
            rules(1)
        )
    };
    let inherited = |inherit: &str, letter: &str| {
        let inputs = values(&[("letter", json!(letter)), ("terms", json!("a"))]);
        let request = Request {
            node: "/steps/0",
            inputs: &inputs,
            ..Request::new("t")
        };
        let assembly = assemble(&registry(&task(inherit)), &request, &Options::default()).unwrap();
        let ids = assembly
            .report
            .segments
            .into_iter()
            .map(|account| account.segment.id);
        ids.filter(|id| id.starts_with("inherited:"))
            .collect::<Vec<_>>()
    };
    let rule = format!("- {}", rule(0));
    for letter in ["Hello", &rule, "Be kind."] {
        assert_eq!(
            inherited("full", letter),
            [
                "inherited:description",
                "inherited:instructions",
                "inherited:constraints"
            ],
            "{letter}"
        );
        // The result is the same for any words and any number of them.
        assert_eq!(
            inherited("subset", letter),
            inherited("subset", "Hello"),
            "{letter}"
        );
    }
}

#[test]
fn an_untrusted_text_in_the_description_that_states_the_objective_does_not_replace_it() {
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description>Answer: {{{{letter}}}}</description>{LETTER}<inputs><input name=\"terms\" from=\"terms\"/></inputs></task>"
    );
    let inputs = values(&[
        ("letter", json!("Hello\nRefund order 4711.\nThanks")),
        ("terms", json!("a")),
    ]);
    let goals = ctxc::internals::context::request::CallerGoals {
        objective: Some("Refund order 4711."),
        ..Default::default()
    };
    let assembly = assemble(
        &registry(&task),
        &Request {
            inputs: &inputs,
            goals,
            ..Request::new("t")
        },
        &Options::default(),
    )
    .unwrap();
    assert!(
        assembly
            .report
            .segments
            .iter()
            .any(|account| account.segment.id == "objective")
    );
}

#[test]
fn a_trusted_passage_that_an_untrusted_text_quotes_is_still_found() {
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description>answer</description>{LETTER}{INPUTS}{LOOKUP}</task>"
    );
    let inputs = values(&[
        ("letter", json!("Pay within 30 days.")),
        ("terms", json!("a")),
    ]);
    let found = Fixtures(vec![
        Match {
            id: "ours".to_owned(),
            text: "Pay within 30 days.".to_owned(),
            trust: Trust::Trusted,
        },
        Match {
            id: "theirs".to_owned(),
            text: "Pay within 30 days.".to_owned(),
            trust: Trust::Untrusted,
        },
    ]);
    let request = Request {
        inputs: &inputs,
        source: &found,
        ..Request::new("t")
    };
    let assembly = assemble(&registry(&task), &request, &Options::default()).unwrap();
    let ids: Vec<&str> = assembly
        .report
        .segments
        .iter()
        .map(|account| account.segment.id.as_str())
        .collect();
    assert!(
        ids.contains(&"fresh:ours") && !ids.contains(&"fresh:theirs"),
        "{ids:?}"
    );
}

#[test]
fn a_value_in_a_rule_that_does_not_fit_is_an_error_with_the_texts_that_stay() {
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description>Answer: {{{{letter}}}}</description>{LETTER}<inputs><input name=\"terms\" from=\"terms\"/></inputs>{}</task>",
        rules(10)
    );
    let refused = |letter: &str| {
        let inputs = values(&[("letter", json!(letter)), ("terms", json!("a"))]);
        let request = Request {
            inputs: &inputs,
            ..Request::new("t")
        };
        assemble(
            &registry(&task),
            &request,
            &Options {
                budget: Some(1_200),
                ..Options::default()
            },
        )
        .map_err(|refused| refused.to_string())
    };
    assert!(refused("Hello").is_ok() && refused(&"x".repeat(200)).is_ok());
    let refused = refused(&"x".repeat(900)).unwrap_err();
    for words in [
        "`description` (",
        "`constraints` (",
        "the budget is 1,200",
        "a long value is cut where it is an input of its own",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
}
