//! The path of a frozen situation into the context, the node that a result belongs to, and the
//! reasons why a case cannot be tried.

use super::bench::{
    Setting, TRIAGE, at, case, expecting, finish, id, patterns, registry, segment, text, word,
    words,
};
use crate::support::stored::messages_text;
use ctxc::internals::eval::case_result::{CaseResult, CaseVerdict};
use ctxc::internals::scenario::model::{
    CaseSubject, ContextExpectation, FrozenText, FrozenValue, LookupFixture, LookupStore,
    PastFailure, ScenarioCase, SegmentState, Situation,
};
use ctxc::internals::scenario::paths::snapshot_path;
use pretty_assertions::assert_eq;
use serde_json::json;

fn situation() -> Situation {
    Situation {
        objective: Some(word("bring the invoice")),
        constraints: words(&["no refunds", "two\nlines"]),
        criteria: words(&["names a team"]),
        previous_output: Some(json!({"plan": [1]})),
        failures: vec![PastFailure {
            stage: "plan".to_owned(),
            obstacle: "no data".to_owned(),
            note: "asked".to_owned(),
        }],
        ..case().situation
    }
}

/// The requests of a case as they would be stored.
fn request(registry: &ctxc::Registry, case: &ScenarioCase) -> String {
    let case = ScenarioCase {
        expect_context: vec![at(ContextExpectation::Snapshot)],
        ..case.clone()
    };
    let done = Setting::of(registry).finish(&case);
    messages_text(
        &done
            .snapshot
            .unwrap_or_else(|| panic!("{:?} {:?}", done.trouble, done.faults)),
    )
}

#[test]
fn what_is_asked_for_becomes_segments_behind_those_of_the_task() {
    let asked = ScenarioCase {
        situation: situation(),
        ..case()
    };
    let now = request(&registry(TRIAGE), &asked);
    insta::assert_snapshot!(now, @r#"
    [system]
    You triage support tickets.
    Never promise a refund.

    ## File: docs/runbook.md

    ```md
    # Runbook
    Restart it.
    Then wait.
    ```

    [user]
    ## Previous output

    <untrusted-000000000000000000000 name="previous_output">
    {
      "plan": [
        1
      ]
    }
    </untrusted-000000000000000000000>

    ## Task

    Sort No invoice came..

    ## Criteria

    - names a team

    ## Constraints

    - no refunds
    - two
      lines

    ## Earlier attempts

    <untrusted-000000000000000000000 name="failure_history">
    - plan: no data (asked)
    </untrusted-000000000000000000000>
    "#);
    // The objective is the work of a role; a task has its request in its description.
    let registry = registry(TRIAGE);
    let setting = Setting::of(&registry).with("[roles.sorter]\ntemplate = \"triage\"\n");
    let subject = at(CaseSubject::Role("sorter".to_owned()));
    let of_role = setting.finish(&ScenarioCase {
        subject,
        expect_context: vec![at(ContextExpectation::Snapshot)],
        ..asked
    });
    let snapshot = messages_text(&of_role.snapshot.unwrap());
    assert!(
        snapshot.contains("\n## Input: objective\n\nbring the invoice\n"),
        "{snapshot}"
    );
    // Nothing of it moves the prefix that a cache can reuse.
    let front = |text: &str| text.split_once("\n[user]\n").unwrap().0.to_owned();
    assert_eq!(front(&now), front(&request(&registry, &case())));
}

#[test]
fn a_parameter_of_that_name_takes_it() {
    let task = TRIAGE
        .replace(
            "    <parameter name=\"ticket\" required=\"true\"/>\n",
            "    <parameter name=\"ticket\" required=\"true\"/>\n    <parameter name=\"objective\" type=\"string\"/>\n    \
             <parameter name=\"constraints\" type=\"string\"/>\n    <parameter name=\"failure_history\" type=\"array\"/>\n    \
             <parameter name=\"severity\" type=\"string\"/>\n",
        )
        .replace(
            "Sort {{ticket}}.",
            "Sort {{ticket}} to {{objective}} at {{severity}}: {{constraints}} after {{failure_history[0].stage}}",
        );
    let extra = [
        ("severity".to_owned(), json!("sev1")),
        ("unused".to_owned(), json!(1)),
    ]
    .into();
    let asked = ScenarioCase {
        situation: Situation {
            extra,
            ..situation()
        },
        ..case()
    };
    let now = request(&registry(&task), &asked);
    let said = "Sort No invoice came. to bring the invoice at sev1: - no refunds\n- two\nlines after <untrusted-";
    assert!(
        now.contains(said) && now.contains(" name=\"failure_history\">\nplan\n"),
        "{now}"
    );
    assert!(
        !now.contains("## Earlier attempts")
            && !now.contains("## Input: objective")
            && now.contains("## Criteria"),
        "{now}"
    );
}

#[test]
fn files_of_the_case_stand_before_those_of_the_project() {
    let files = [("docs/runbook.md".to_owned(), text("frozen words\n"))].into();
    let frozen = ScenarioCase {
        situation: Situation {
            files,
            ..case().situation
        },
        ..case()
    };
    let (live, frozen) = (
        request(&registry(TRIAGE), &case()),
        request(&registry(TRIAGE), &frozen),
    );
    assert!(
        live.contains("Restart it.")
            && !frozen.contains("Restart it.")
            && frozen.contains("frozen words"),
        "{frozen}"
    );
}

#[test]
fn inputs_results_and_matches_may_be_files_beside_the_scenario() {
    let registry = registry(TRIAGE);
    let mut setting = Setting::of(&registry);
    let inputs = [(
        "ticket".to_owned(),
        Box::new(at(FrozenValue::File("t1.txt".to_owned()))),
    )]
    .into();
    let asked = ScenarioCase {
        situation: Situation {
            inputs,
            ..Situation::default()
        },
        ..expecting(vec![ContextExpectation::Contains(patterns(
            None,
            &["Sort from a file"],
        ))])
    };
    let missing = setting.finish(&asked);
    assert_eq!(missing.verdict, CaseVerdict::Fail);
    assert_eq!(
        missing.trouble.as_deref(),
        Some("t1.txt cannot be read: it does not exist")
    );
    setting
        .beside
        .insert("t1.txt".to_owned(), "from a file".to_owned());
    assert_eq!(setting.finish(&asked).verdict, CaseVerdict::Pass);
}

#[test]
fn fixtures_are_what_is_looked_up() {
    let fresh = TRIAGE.replace("<fresh_context>disabled", "<fresh_context>enabled");
    let matches = vec![LookupFixture {
        shelf: LookupStore::Retrieval,
        id: "kb/7".to_owned(),
        text: at(FrozenText::Text("seats were counted twice".to_owned())),
    }];
    let asked = ScenarioCase {
        situation: Situation {
            matches,
            ..case().situation
        },
        ..expecting(vec![
            segment(id("fresh:kb/7"), SegmentState::Kept),
            ContextExpectation::Contains(patterns(None, &["counted twice"])),
        ])
    };
    let registry = registry(&fresh);
    assert_eq!(
        Setting::of(&registry).finish(&asked).verdict,
        CaseVerdict::Pass
    );
    // The mark of untrusted text moves with every input; in a stored request it does not.
    assert!(request(&registry, &asked).contains("<untrusted-000000000000000000000 "));
}

#[test]
fn a_context_that_cannot_be_had_is_a_failure_with_its_reason() {
    let done = finish(&ScenarioCase {
        situation: Situation::default(),
        ..case()
    });
    assert_eq!(
        (done.verdict, done.faults[0].to_string().as_str()),
        (CaseVerdict::Fail, "`ticket` has no value")
    );
    let done = finish(&ScenarioCase {
        subject: at(CaseSubject::Task("triag".to_owned())),
        ..case()
    });
    assert_eq!(done.verdict, CaseVerdict::Fail);
    assert_eq!(
        done.trouble.as_deref(),
        Some("there is no task `triag` in this project; did you mean `triage`?")
    );
    let done = finish(&ScenarioCase {
        node: Some(word("/steps/1")),
        ..case()
    });
    assert_eq!(done.verdict, CaseVerdict::Fail);
    assert_eq!(
        done.trouble.as_deref(),
        Some("`triage` has no agent `/steps/1`; it has `/`")
    );
}

fn keys(done: &CaseResult) -> (String, String) {
    let keys = done.keys.unwrap();
    (keys.context.to_string(), keys.case.to_string())
}

#[test]
fn keys_move_with_what_they_cover_and_with_nothing_else() {
    let of = |text: &str, case: &ScenarioCase| keys(&Setting::of(&registry(text)).finish(case));
    let base = of(TRIAGE, &case());
    let spaced = TRIAGE.replace("  <system>", "  <!-- who it is -->\n\n      <system>");
    assert_eq!(of(&spaced, &case()), base);
    let moved = of(&TRIAGE.replace("disabled", "enabled"), &case());
    assert!(moved.0 != base.0 && moved.1 == base.1);
    let asked = of(
        TRIAGE,
        &ScenarioCase {
            situation: situation(),
            ..case()
        },
    );
    assert!(asked.0 != base.0 && asked.1 != base.1);
    let files = |text_of: &str| [("docs/runbook.md".to_owned(), text(text_of))].into();
    let one = of(
        TRIAGE,
        &ScenarioCase {
            situation: Situation {
                files: files("a"),
                ..case().situation
            },
            ..case()
        },
    );
    let other = of(
        TRIAGE,
        &ScenarioCase {
            situation: Situation {
                files: files("b"),
                ..case().situation
            },
            ..case()
        },
    );
    assert!(one.0 != other.0 && one.1 != other.1 && one.0 != base.0);
    // The position of a case in its file is no part of its key.
    let mut shifted = case();
    shifted.name.span = ctxc::internals::base::span::Span::new(7, 9);
    shifted.span = ctxc::internals::base::span::Span::new(3, 90);
    assert_eq!(of(TRIAGE, &shifted), base);
}

#[test]
fn two_names_never_share_a_stored_request() {
    assert_eq!(
        snapshot_path("scenarios/a.yaml", "triage-1"),
        "scenarios/snapshots/triage-1.json"
    );
    assert_eq!(
        snapshot_path("a.yaml", "triage-1"),
        "snapshots/triage-1.json"
    );
    let (one, other) = (
        snapshot_path("s/a.yaml", "a/b"),
        snapshot_path("s/a.yaml", "a b"),
    );
    assert!(
        one != other
            && one.starts_with("s/snapshots/a-b-")
            && other.starts_with("s/snapshots/a-b-"),
        "{one} {other}"
    );
    assert!(!snapshot_path("s/a.yaml", "..").contains(".."));
}
