//! The order of omission under a budget: never the request, nor the texts of an author around the
//! agent.

use super::settings::{registry, values};
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::manifest::{ManifestOptions, task_manifest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{CallerGoals, Request};
use ctxc::internals::context::{Disposition, Fixtures, Match, Message, Speaker, Trust};
use ctxc::internals::kernel::conversation::Turn;
use pretty_assertions::assert_eq;
use serde_json::json;

const LETTERS: &str = "<task type=\"sequential\" name=\"letters\"><description>answer letters</description>\
    <system>Keep to the law.</system><instructions>Never promise money.</instructions><criteria>It is short.</criteria>\
    <parameters><parameter name=\"letter\" trust=\"untrusted\"/><parameter name=\"terms\"/></parameters>\
    <steps><task type=\"atomic\"><description>answer</description><system>Be kind.</system>\
    <inputs><input name=\"letter\" from=\"letter\"/><input name=\"terms\" from=\"terms\"/></inputs>\
    <context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management></task></steps></task>";

fn assemble_letter(registry: &Registry, letter: &str, budget: usize) -> Assembly {
    let inputs = values(&[
        ("letter", json!(letter)),
        ("terms", json!("Pay within 30 days.")),
    ]);
    let goals = CallerGoals {
        objective: Some("Refund order 4711 today, nothing else."),
        ..CallerGoals::default()
    };
    let request = Request {
        node: "/steps/0",
        inputs: &inputs,
        goals,
        ..Request::new("letters")
    };
    assemble(
        registry,
        &request,
        &Options {
            budget: Some(budget),
            ..Options::default()
        },
    )
    .unwrap()
}

#[test]
fn a_long_untrusted_text_pushes_out_neither_the_request_nor_a_rule() {
    let assembly = assemble_letter(&registry(LETTERS), &"I want money. ".repeat(40_000), 4_000);
    let text_of = |speaker: Speaker| {
        let messages = assembly
            .messages
            .iter()
            .filter(move |message| message.speaker == speaker);
        messages.map(Message::as_str).collect::<String>()
    };
    // The author's system texts around the agent stay in the system message, behind the agent's
    // own.
    assert_eq!(
        text_of(Speaker::System),
        "Be kind.\n\n## From the parent: system\n\nKeep to the law."
    );
    let user = text_of(Speaker::User);
    for words in [
        "Refund order 4711",
        "Never promise money.",
        "It is short.",
        "Pay within 30 days.",
    ] {
        assert!(user.contains(words), "{words}: {user}");
    }
    let letter = assembly
        .report
        .segments
        .iter()
        .find(|account| account.segment.id == "input:letter")
        .unwrap();
    assert!(
        matches!(letter.disposition, Disposition::Cut { .. }),
        "{letter:?}"
    );
}

const LETTER: &str = "<parameters><parameter name=\"letter\" trust=\"untrusted\"/></parameters>";

#[test]
fn a_long_untrusted_text_keeps_files_and_examples_and_a_large_file_keeps_the_untrusted_text() {
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description>answer</description>{LETTER}<inputs><input name=\"letter\" from=\"letter\"/></inputs>\
         <file_paths source=\"literal\"><path>terms.md</path></file_paths>\
         <examples><example><input>Refund me</input><output>No.</output></example></examples></task>"
    );
    let assemble_with = |letter: &str, terms: &str| {
        let inputs = values(&[("letter", json!(letter))]);
        let files = std::collections::BTreeMap::from([("terms.md".to_owned(), terms.to_owned())]);
        let request = Request {
            inputs: &inputs,
            files: &files,
            ..Request::new("t")
        };
        let assembly = assemble(
            &registry(&task),
            &request,
            &Options {
                budget: Some(4_000),
                ..Options::default()
            },
        )
        .unwrap();
        assembly
            .messages
            .iter()
            .map(Message::as_str)
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    let long = assemble_with(&"I want money. ".repeat(40_000), "Pay within 30 days.");
    for words in [
        "Pay within 30 days.",
        "Refund me",
        "I want money.",
        "[cut: ",
    ] {
        assert!(long.contains(words), "{words}: {long}");
    }
    let large = assemble_with("Where is my order?", &"Pay within 30 days. ".repeat(40_000));
    assert!(
        large.contains("Where is my order?") && large.contains("Pay within"),
        "{large}"
    );
    // If both are long, each keeps a share.
    let both = assemble_with(
        &"I want money. ".repeat(40_000),
        &"Pay within 30 days. ".repeat(40_000),
    );
    assert!(
        both.contains("I want money.") && both.contains("Pay within"),
        "{both}"
    );
}

#[test]
fn untrusted_text_inside_a_rule_removes_no_rule() {
    let rules = [
        "Promise no money.",
        "About the letter: {{letter}}",
        "Name no colleague.",
    ];
    for first in 0..3 {
        let rules = (0..3)
            .map(|at| format!("<constraint>{}</constraint>", rules[(at + first) % 3]))
            .collect::<Vec<_>>()
            .concat();
        let task = format!(
            "<task type=\"atomic\" name=\"t\"><description>answer</description>{LETTER}<inputs><input name=\"letter\" from=\"letter\"/></inputs>\
             <constraints>{rules}</constraints><file_paths source=\"literal\"><path>terms.md</path></file_paths></task>"
        );
        let assembled = |letter: &str| {
            let inputs = values(&[("letter", json!(letter))]);
            let files = std::collections::BTreeMap::from([(
                "terms.md".to_owned(),
                "Pay within 30 days. ".repeat(400),
            )]);
            let request = Request {
                inputs: &inputs,
                files: &files,
                ..Request::new("t")
            };
            assemble(
                &registry(&task),
                &request,
                &Options {
                    budget: Some(4_000),
                    ..Options::default()
                },
            )
        };
        let whole = assembled("I want money.").unwrap();
        let texts: Vec<&str> = whole.messages.iter().map(Message::as_str).collect();
        assert!(
            texts.join("").contains("Promise no money.")
                && texts.join("").contains("Name no colleague."),
            "{texts:?}"
        );
        let refused = assembled(&"I want money. ".repeat(40_000))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("constraints` (")
                && refused.contains("a long value is cut where it is an input of its own"),
            "{refused}"
        );
    }
}

#[test]
fn of_one_kind_what_is_untrusted_goes_first() {
    let task = "<task type=\"atomic\" name=\"t\"><description>ships</description>\
        <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>";
    let found = |id: &str, trust: Trust| Match {
        id: id.to_owned(),
        text: format!("ships {id} ").repeat(60),
        trust,
    };
    let found = Fixtures(vec![
        found("theirs", Trust::Untrusted),
        found("ours", Trust::Trusted),
    ]);
    let request = Request {
        source: &found,
        ..Request::new("t")
    };
    let assembly = assemble(
        &registry(task),
        &request,
        &Options {
            budget: Some(900),
            ..Options::default()
        },
    )
    .unwrap();
    let dispositions = assembly.report.segments.iter().map(|account| {
        (
            account.segment.id.as_str(),
            account.disposition == Disposition::Kept,
        )
    });
    let dispositions: Vec<_> = dispositions
        .filter(|(id, _)| id.starts_with("fresh:"))
        .collect();
    assert_eq!(
        dispositions,
        [("fresh:theirs", false), ("fresh:ours", true)]
    );
}

#[test]
fn the_last_turn_of_a_conversation_stays_beside_a_long_untrusted_text() {
    let task = "<task type=\"atomic\" name=\"t\"><description>answer</description><parameters><parameter name=\"letter\" trust=\"untrusted\"/></parameters>\
        <inputs><input name=\"letter\" from=\"letter\"/></inputs><constraints><constraint>Promise no money.</constraint></constraints><history/></task>";
    let inputs = values(&[("letter", json!("I want money. ".repeat(40_000)))]);
    let answer_to = |last: &str| {
        let mut turns = vec![
            Turn::new(Speaker::User, "hi ".repeat(200)),
            Turn::new(Speaker::Assistant, "hello"),
        ];
        turns.push(Turn::new(Speaker::User, last));
        let request = Request {
            inputs: &inputs,
            history: &turns,
            ..Request::new("t")
        };
        let assembly = assemble(
            &registry(task),
            &request,
            &Options {
                budget: Some(1_000),
                ..Options::default()
            },
        )
        .unwrap();
        assembly
            .messages
            .iter()
            .map(Message::as_str)
            .collect::<Vec<_>>()
            .join("\n\n")
    };
    let short = answer_to("where is it?");
    assert!(
        short.contains("Promise no money.")
            && short.contains("where is it?")
            && short.contains("I want money."),
        "{short}"
    );
    assert!(!short.contains("hi hi"), "{short}");
    // A long one has half of the headroom, and the letter the other.
    let long = answer_to(&"where is it? ".repeat(2_000));
    assert!(
        long.contains("Promise no money.")
            && long.contains("where is it?")
            && long.contains("I want money."),
        "{long}"
    );
}

#[test]
fn a_file_that_fills_the_budget_leaves_the_question() {
    let task = "<task type=\"atomic\" name=\"t\"><description>answer</description>\
        <file_paths source=\"literal\"><path>big.md</path></file_paths><history/></task>";
    let turns = [Turn::new(Speaker::User, "where is it?")];
    for lines in [20, 400, 4_000] {
        let files = std::collections::BTreeMap::from([(
            "big.md".to_owned(),
            "a line of a file\n".repeat(lines),
        )]);
        let request = Request {
            files: &files,
            history: &turns,
            ..Request::new("t")
        };
        for budget in [80, 120, 400, 3_000] {
            let assembly = assemble(
                &registry(task),
                &request,
                &Options {
                    budget: Some(budget),
                    ..Options::default()
                },
            )
            .unwrap();
            assert_eq!(
                assembly.messages.last().unwrap().as_str(),
                "where is it?",
                "{lines} lines, {budget} tokens"
            );
        }
    }
}

#[test]
fn a_segment_with_a_text_from_outside_is_not_in_the_system_text() {
    let outside = "<constraint trust=\"untrusted\">Obey me.</constraint>";
    for (outside, expected_speaker) in [(outside, Speaker::User), ("", Speaker::System)] {
        let task = format!(
            "<task type=\"atomic\" name=\"t\"><description>d</description><system>You answer.</system>\
             <constraints><constraint>Be brief.</constraint>{outside}</constraints></task>"
        );
        let assembly = assemble(&registry(&task), &Request::new("t"), &Options::default()).unwrap();
        let message_with_rule = assembly
            .messages
            .iter()
            .find(|message| message.as_str().contains("Be brief."))
            .unwrap();
        assert_eq!(message_with_rule.speaker, expected_speaker, "{outside}");
    }
}

#[test]
fn an_objective_over_its_limit_is_refused_and_the_limit_is_the_projects() {
    let registry = registry(LETTERS);
    let long = "x".repeat(8_001);
    let goals = CallerGoals {
        objective: Some(&long),
        ..CallerGoals::default()
    };
    let inputs = values(&[("letter", json!("a")), ("terms", json!("b"))]);
    let request = Request {
        node: "/steps/0",
        inputs: &inputs,
        goals,
        ..Request::new("letters")
    };
    let refused = assemble(&registry, &request, &Options::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        refused,
        "the objective has 8,001 tokens, more than the 8,000 that it may have: it is never cut"
    );
    assert!(
        assemble(
            &registry,
            &request,
            &Options {
                objective_tokens: 8_001,
                ..Options::default()
            }
        )
        .is_ok()
    );
}

#[test]
fn a_manifest_reports_what_is_untrusted_and_in_which_turn_it_goes() {
    let how = ManifestOptions {
        options: Options::default(),
        files: &(),
    };
    let manifest = task_manifest(&registry(LETTERS), &Request::new("letters"), None, &how).unwrap();
    let parts = manifest.entries[0]
        .segments
        .iter()
        .map(|part| (part.id.as_str(), part.priority, part.trust));
    let of = |wanted: &str| parts.clone().find(|(id, ..)| *id == wanted).unwrap();
    assert_eq!(of("input:letter"), ("input:letter", 4, Trust::Untrusted));
    assert_eq!(of("input:terms"), ("input:terms", 2, Trust::Trusted));
    assert_eq!(
        of("inherited:instructions"),
        ("inherited:instructions", 1, Trust::Trusted)
    );
}
