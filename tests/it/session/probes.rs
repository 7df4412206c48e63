//! Probes of compactions: their questions, grades, judges, and the comparison of methods.

use super::writers::{Agent, Step, write_lines, write_session};
use crate::cli::eval_record::{asked, completion, serve, upstream, with_model};
use crate::cli::project::Project;
use ctxc::internals::base::hash::Hasher;
use ctxc::internals::scenario::rubric::Criterion;
use ctxc::internals::schema::json::names;
use ctxc::internals::session::probe::document::Probe;
use ctxc::internals::session::probe::edits::file_edits;
use ctxc::internals::session::probe::grade::shipped_rubric;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The words that a session of a number is about.
fn word(number: usize, place: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ba", "ko", "mi", "tu", "ra", "lo", "pe", "zu"];
    let mut rest = number * 131 + place * 17 + 4_099;
    let mut word = String::new();
    for _ in 0..4 {
        word += SYLLABLES[rest % 8];
        rest /= 8;
    }
    word
}

/// A session whose summary has the first half of what was truncated.
fn steps(number: usize) -> Vec<Step> {
    let w = |place: usize| word(number, place);
    let failing = Step::Run {
        command: format!("npm run {}", w(0)),
        output: format!("TypeError: {} is not a {} of {}", w(1), w(2), w(3)),
        fails: true,
    };
    let request = [
        "Fix the checkout.",
        "Add a page for orders.",
        "Review the payments.",
    ];
    vec![
        Step::User(format!(
            "{} Never edit the {} {} clients.",
            request[number % 3],
            w(4),
            w(5)
        )),
        failing,
        Step::Create(format!("src/{}/{}.rs", w(6), w(7))),
        Step::Edit(format!("src/{}/{}.rs", w(8), w(9))),
        Step::Assistant(format!(
            "I decided to use {} instead of {} because {} is slow.",
            w(10),
            w(11),
            w(12)
        )),
        Step::Assistant(format!("The lock file has {} 3.{number}.1 today.", w(13))),
        Step::Tasks(vec![
            format!("Write the {} migration of {}", w(14), w(15)),
            format!("Remove the {} flag of {}", w(16), w(17)),
        ]),
        Step::Compact(format!(
            "- `npm run {}` failed with TypeError: {} is not a {} of {}\n- src/{}/{}.rs is new\n- next: write the {} migration of {}",
            w(0),
            w(1),
            w(2),
            w(3),
            w(6),
            w(7),
            w(14),
            w(15)
        )),
        Step::User("continue".into()),
    ]
}

#[test]
fn branches_that_were_left_are_not_asked_about() {
    let rule = |word: &str| format!("Never touch the {word} service directly.");
    let entry = |id: &str, parent: &str, text: &str| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": {"role": "user", "content": text}});
    let compaction = |id: &str, parent: &str| json!({"type": "compaction", "id": id, "parentId": parent, "timestamp": "t", "summary": "x", "tokensBefore": 9});
    let pi = vec![
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": "/srv/shop"}),
        entry("1", "", &rule("kobaluri")),
        entry("2", "1", &rule("mizuvano")),
        // Back to the first message, then back behind a compaction.
        entry("3", "1", &rule("fipelora")),
        compaction("4", "3"),
        entry("5", "4", &rule("zulopena")),
        entry("6", "3", &rule("ravonomi")),
        compaction("7", "6"),
    ];
    let claude = |uuid: &str, parent: &str, text: &str| json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "message": {"role": "user", "content": text}});
    let boundary = |uuid: &str| json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid, "sessionId": "s", "compactMetadata": {"trigger": "auto"}});
    let summary = |uuid: &str| json!({"type": "user", "uuid": uuid, "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "x"}});
    let code = vec![
        claude("1", "", &rule("kobaluri")),
        claude("2", "1", &rule("mizuvano")),
        claude("3", "1", &rule("fipelora")),
        boundary("b1"),
        summary("s1"),
        claude("5", "s1", &rule("zulopena")),
        claude("6", "3", &rule("ravonomi")),
        boundary("b2"),
        summary("s2"),
    ];
    for (agent, rows) in [("pi", pi), ("claude", code)] {
        let project = Project::new().with_file("s.jsonl", write_lines(&rows));
        let document = project
            .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
            .exits_with(0)
            .json();
        for (at, words) in [
            (0, &["kobaluri", "fipelora"][..]),
            (1, &["kobaluri", "fipelora", "ravonomi"]),
        ] {
            let point = document["points"][at]["probes"].to_string();
            for word in ["kobaluri", "mizuvano", "fipelora", "zulopena", "ravonomi"] {
                assert_eq!(
                    point.contains(word),
                    words.contains(&word),
                    "{agent} {at} {word}: {point}"
                );
            }
        }
    }
}

fn session(number: usize) -> String {
    write_session(Agent::Claude, &steps(number))
}

fn probes_of(document: &Value) -> Vec<&Value> {
    let points = document["points"].as_array().unwrap();
    points
        .iter()
        .flat_map(|point| point["probes"].as_array().unwrap())
        .collect()
}

fn probe<'d>(document: &'d Value, id: &str) -> &'d Value {
    let found = probes_of(document)
        .into_iter()
        .find(|probe| probe["id"] == id);
    found.unwrap_or_else(|| panic!("there is no probe {id}"))
}

#[test]
fn the_shipped_rubric_has_six_dimensions_and_fourteen_criteria() {
    let rubric = shipped_rubric();
    let dimensions: BTreeSet<&str> = rubric.criteria.iter().map(Criterion::dimension).collect();
    assert_eq!(
        dimensions.into_iter().collect::<Vec<_>>(),
        [
            "accuracy",
            "artifact_trail",
            "completeness",
            "context_awareness",
            "continuity",
            "instruction_following"
        ]
    );
    assert_eq!(rubric.criteria.len(), 14);
    for criterion in &rubric.criteria {
        let scores: Vec<u64> = criterion.anchors.keys().copied().collect();
        assert_eq!(
            (scores, criterion.max_score),
            (vec![0, 3, 5], 5),
            "{}",
            criterion.id
        );
        assert!(!criterion.probes.is_empty(), "{}", criterion.id);
    }
}

#[test]
fn probes_ask_for_what_was_truncated_and_for_nothing_else() {
    let project = Project::new().with_file("s.jsonl", session(1));
    let args = ["compaction", "probe", "make", "s.jsonl", "--json"];
    let document = project.run(&args).exits_with(0).json();
    assert_eq!(project.run(&args).stdout, project.run(&args).stdout);
    let ids: Vec<&str> = probes_of(&document)
        .iter()
        .map(|probe| probe["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "recall_errors",
            "recall_values",
            "recall_commands",
            "recall_rules",
            "artifact_files",
            "continuation_next",
            "decision_reasons"
        ]
    );
    let errors = probe(&document, "recall_errors");
    assert_eq!(errors["kind"], "recall");
    assert_eq!(errors["facts"][0]["is_resolved"], false);
    assert!(
        errors["facts"][0]["text"]
            .as_str()
            .unwrap()
            .contains(&word(1, 1))
    );
    assert_eq!(errors["messages"], json!([2, 2]));
    let criteria = |id: &str| -> BTreeSet<&str> {
        let all = probe(&document, id)["criteria"].as_array().unwrap();
        all.iter().map(|id| id.as_str().unwrap()).collect()
    };
    assert!(criteria("artifact_files").contains("artifact_files_created"));
    // No rule is expected in the answer, so none can be respected.
    assert!(!criteria("recall_errors").contains("instruction_constraints"));
    assert!(criteria("recall_rules").contains("instruction_constraints"));
    assert!(!criteria("recall_rules").contains("continuity_work_state"));
    let context = document["points"][0]["compacted_context"].as_str().unwrap();
    assert!(context.contains(&word(1, 7)) && !context.contains(&word(1, 9)));
    // A message that stays is not asked about: pi keeps the last one.
    let mut kept = steps(1);
    kept.insert(
        7,
        Step::Assistant("I decided to keep the kept thing because of the plan.".into()),
    );
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Pi, &kept));
    let text = project.run(&args).exits_with(0).stdout;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(
        !probe(&document, "decision_reasons")
            .to_string()
            .contains("kept thing")
    );
    // Nothing was truncated that a question is about.
    let small = [
        Step::User("Hello there.".into()),
        Step::Compact("Nothing.".into()),
    ];
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &small));
    project
        .run(&args)
        .exits_with(0)
        .stdout_contains("\"probes\": []");
}

#[test]
fn secrets_in_the_name_of_a_session_are_masked() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let name = format!("{secret}.jsonl");
    let project = Project::new().with_file(&name, session(1));
    project
        .run(&["compaction", "probe", "make", &name])
        .exits_with(0)
        .stdout_contains(" #1: ")
        .output_lacks(secret);
}

#[test]
fn changes_of_files_are_read_from_arguments_and_patches() {
    let found = |arguments: Value| -> Vec<(String, String)> {
        let edits = file_edits(&arguments).into_iter();
        edits.map(|edit| (edit.path, edit.text)).collect()
    };
    let pair = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let edit = json!({"file_path": "a.rs", "old_string": "one", "new_string": "let two = 2;"});
    assert_eq!(found(edit), [pair("a.rs", "let two = 2;")]);
    let many = json!({"file_path": "a.rs", "edits": [{"new_string": "x"}, {"new_string": "y"}]});
    assert_eq!(found(many), [pair("a.rs", "x y")]);
    assert_eq!(found(json!({"file_path": "a.rs"})), []);
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** Add File: b.rs\n+fresh\n*** End Patch";
    let both = [pair("a.rs", "new"), pair("b.rs", "fresh")];
    assert_eq!(found(json!({"input": patch})), both);
    assert_eq!(found(json!({"command": ["bash", "-lc", patch]})), both);
}

#[test]
fn an_error_is_resolved_once_its_command_succeeds() {
    let run = |output: &str, fails| Step::Run {
        command: "npm run checkout".into(),
        output: output.into(),
        fails,
    };
    let steps = [
        Step::User("Fix it.".into()),
        run("TypeError: order.lines is not iterable", true),
        run("ok", false),
        Step::Compact("Fixed.".into()),
    ];
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &steps));
    let document = project
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        probe(&document, "recall_errors")["facts"][0]["is_resolved"],
        true
    );
    // There is no open work.
    assert!(
        probes_of(&document)
            .iter()
            .all(|probe| probe["id"] != "continuation_next")
    );
}

#[test]
fn methods_are_compared_in_their_known_order() {
    let mut project = Project::new();
    let mut args = vec!["compaction", "probe", "compare", "--json"];
    let names: Vec<String> = (0..8).map(|number| format!("s{number}.jsonl")).collect();
    for (number, name) in names.iter().enumerate() {
        project = project.with_file(name, session(number));
    }
    args.extend(names.iter().map(String::as_str));
    for method in ["truncate=0", "recorded", "command=cat"] {
        args.extend(["--method", method]);
    }
    let run = project.run(&args).exits_with(0);
    let report = run.json();
    let overall = |at: usize| report["methods"][at]["scores"]["overall"].as_f64().unwrap();
    assert!(
        overall(0) < 0.5 && overall(0) + 1.0 < overall(1) && overall(1) + 1.0 < overall(2),
        "{}",
        run.stdout
    );
    let difference = |at: usize| {
        let rows = report["methods"][at]["differences"]
            .as_array()
            .unwrap()
            .clone();
        rows.into_iter().find(|row| row["of"] == "overall").unwrap()
    };
    for at in [1, 2] {
        let row = difference(at);
        let (low, high) = (
            row["interval"][0].as_f64().unwrap(),
            row["interval"][1].as_f64().unwrap(),
        );
        assert!(
            0.0 < low && low <= row["value"].as_f64().unwrap() && high <= 5.0,
            "{row}"
        );
    }
    assert_eq!(
        report["counts"],
        json!({"sessions": 8, "compactions": 8, "messages": 88, "probes": 56})
    );
    assert!(report["methods"][0]["token_ratio"].as_f64().unwrap() < 0.01);
    assert!(report["methods"][1]["token_ratio"].as_f64().unwrap() < 0.5);
    let groups: Vec<&str> = report["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["value"].as_str().unwrap())
        .collect();
    assert_eq!(groups, ["debugging", "feature", "review", "short"]);
    assert!(report["notes"][0].as_str().unwrap().contains("may betray"));
    // Fewer than five sessions have no interval.
    let few = project
        .run(&[
            "compaction",
            "probe",
            "compare",
            "s0.jsonl",
            "--method",
            "recorded",
            "--method",
            "truncate=0",
        ])
        .exits_with(0);
    few.stdout_contains("fewer than five sessions for an interval")
        .stdout_contains("graded by facts");
    project
        .run(&[
            "compaction",
            "probe",
            "compare",
            "s0.jsonl",
            "--method",
            "recorded",
            "--method",
            "command=false",
        ])
        .exits_with(7)
        .stdout_contains("recorded: no score, ")
        .stdout_contains("`command=false`: it ended with exit code 1");
}

/// Probes with answers that contain the first of the expected facts.
fn answered(project: &Project, share: impl Fn(usize, usize) -> usize) -> Value {
    let mut document = project
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let probes = document["points"][0]["probes"].as_array_mut().unwrap();
    for (at, probe) in probes.iter_mut().enumerate() {
        let facts = probe["facts"].as_array().unwrap();
        let count = share(at, facts.len());
        let lines: Vec<String> = facts[..count]
            .iter()
            .map(|fact| format!("- {}", fact["text"].as_str().unwrap()))
            .collect();
        probe["model_response"] = lines.join("\n").into();
    }
    document
}

fn many_facts() -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..10 {
        steps.extend(self::steps(number).into_iter().take(6));
    }
    steps.push(Step::Compact("Nothing.".into()));
    steps
}

/// Labels of a person who gives the share of the expected facts that an answer has.
fn labels(document: &Value) -> String {
    let mut labels = String::new();
    for (at, probe) in probes_of(document).iter().enumerate() {
        let (question, answer) = (
            probe["probe_question"].as_str().unwrap(),
            probe["model_response"].as_str().unwrap(),
        );
        let known: Probe = serde_json::from_value((*probe).clone()).unwrap();
        let facts = known.ground_truth();
        let mut hasher = Hasher::new();
        hasher
            .add_field(format!("{question}\n\nExpected facts:\n{facts}"))
            .add_field(answer);
        let found = answer.lines().count() * 5;
        let label = json!({"schema": "ctxc/label/1", "criterion": "compression#completeness_coverage", "answer": hasher.finish().to_string(),
            "case": "probe", "score": found / probe["facts"].as_array().unwrap().len(), "max": 5, "by": "ann@example.org", "at": format!("2024-11-28T08:00:{at:02}Z")});
        writeln!(labels, "{label}").unwrap();
    }
    labels
}

#[test]
fn grades_follow_labels_of_people() {
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &many_facts()));
    let document = answered(&project, |at, count| at * count / 5 % (count + 1));
    project.write_file("answers.json", document.to_string());
    project.write_file("labels/ann.jsonl", labels(&document));
    let report = project
        .run(&["compaction", "probe", "grade", "answers.json", "--json"])
        .exits_with(0)
        .json();
    let row = &report["agreement"][0];
    assert_eq!((&row["with"], &row["pairs"]), (&json!("labels"), &json!(7)));
    assert!(row["spearman"]["value"].as_f64().unwrap() > 0.9, "{row}");
    // The grade of an answer has these keys alone.
    let output = report["grades"][0]["output"].as_object().unwrap();
    let keys: BTreeSet<&str> = output.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        BTreeSet::from(["aggregateScore", "criterionResults", "dimensionScores"])
    );
    let result = output["criterionResults"][0].as_object().unwrap();
    let keys: BTreeSet<&str> = result.keys().map(String::as_str).collect();
    assert_eq!(keys, BTreeSet::from(["criterionId", "reasoning", "score"]));
    // Means: criteria over probes, then dimensions by weight, then all dimensions alike.
    let readable = &report["readable"];
    let dimensions = readable["dimensions"].as_object().unwrap();
    let sum: f64 = dimensions.values().map(|mean| mean.as_f64().unwrap()).sum();
    assert_eq!(dimensions.len(), 6);
    assert!((readable["overall"].as_f64().unwrap() - sum / 6.0).abs() < 1e-9);
    assert!(
        readable["criteria"].get("continuity_todo_state").is_none(),
        "no to-do was truncated"
    );
}

#[test]
fn a_request_to_read_again_and_another_value_cost_points() {
    let project = Project::new().with_file("s.jsonl", session(3));
    let grade = |change: &dyn Fn(&str, String) -> String, criterion: &str| -> u64 {
        let mut document = answered(&project, |_, count| count);
        for probe in document["points"][0]["probes"].as_array_mut().unwrap() {
            let id = probe["id"].as_str().unwrap().to_owned();
            let answer = probe["model_response"].as_str().unwrap().to_owned();
            probe["model_response"] = change(&id, answer).into();
        }
        project.write_file("answers.json", document.to_string());
        let report = project
            .run(&["compaction", "probe", "grade", "answers.json", "--json"])
            .exits_with(0)
            .json();
        let rows = report["grades"].as_array().unwrap().clone();
        let results = rows
            .iter()
            .flat_map(|row| row["output"]["criterionResults"].as_array().unwrap());
        results
            .filter(|row| row["criterionId"] == criterion)
            .map(|row| row["score"].as_u64().unwrap())
            .min()
            .unwrap()
    };
    let same = |_: &str, answer: String| answer;
    assert_eq!(grade(&same, "accuracy_factual"), 5);
    assert_eq!(grade(&same, "instruction_format"), 5);
    assert_eq!(grade(&same, "continuity_work_state"), 5);
    let asks = |_: &str, answer: String| format!("{answer}\n- I need to read the files again");
    assert!(grade(&asks, "continuity_work_state") <= 3);
    let other = |_: &str, answer: String| answer.replace(" 3.3.1", " 9.9.9");
    assert_eq!(grade(&other, "accuracy_factual"), 0);
    let prose = |_: &str, answer: String| answer.replace("- ", "");
    assert_eq!(grade(&prose, "instruction_format"), 0);
}

#[test]
fn answers_after_opaque_compactions_are_graded_apart() {
    let text = session(2);
    let without_summary: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("isCompactSummary"))
        .collect();
    let project = Project::new().with_file("s.jsonl", without_summary.join("\n") + "\n");
    let document = answered(&project, |_, count| count);
    assert_eq!(document["points"][0]["compacted_context"], Value::Null);
    project.write_file("answers.json", document.to_string());
    let report = project
        .run(&["compaction", "probe", "grade", "answers.json", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(report["readable"]["overall"], Value::Null);
    assert!(report["opaque"]["overall"].as_f64().unwrap() > 3.0);
    project
        .run(&[
            "compaction",
            "probe",
            "compare",
            "s.jsonl",
            "--method",
            "recorded",
            "--method",
            "truncate=0",
        ])
        .exits_with(7)
        .stdout_contains("`recorded`: its context is opaque");
}

#[test]
fn documents_and_methods_that_are_none_are_refused() {
    let project = Project::new()
        .with_file("s.jsonl", session(1))
        .with_file("answers.json", "{\"schema\": 1}");
    let grade = ["compaction", "probe", "grade", "answers.json"];
    project
        .run(&grade)
        .exits_with(1)
        .stderr_contains("answers.json is no document of probes");
    project.write_file(
        "answers.json",
        "{\"schema\": \"ctxc/gate/1\", \"points\": []}",
    );
    project
        .run(&grade)
        .exits_with(1)
        .stderr_contains("expected \"ctxc/compaction-probes/1\"");
    let made = project
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .stdout;
    project.write_file("answers.json", made);
    project
        .run(&grade)
        .exits_with(2)
        .stderr_contains("found no answer in answers.json");
    project
        .run(&[
            "compaction",
            "probe",
            "compare",
            "s.jsonl",
            "--method",
            "shorten",
        ])
        .exits_with(2)
        .stderr_contains("expected `recorded`, `truncate=TOKENS`");
    project
        .run(&["compaction", "probe", "make", "s.jsonl#4"])
        .exits_with(5)
        .stderr_contains("found no such compaction");
}

/// A project with a role and a session, and a vendor that gives these answers.
fn with_vendor(answers: Vec<String>) -> (Project, crate::cli::eval_record::Upstream) {
    let server = upstream(answers);
    let project = with_model(&server.address).with_file("secret-name.jsonl", session(1));
    (project, server)
}

fn scores(probe: &Value, score: u64) -> String {
    let criteria = probe["criteria"].as_array().unwrap();
    let results: Vec<Value> = criteria
        .iter()
        .map(|id| json!({"criterionId": id, "score": score, "reasoning": "as it is"}))
        .collect();
    completion(&json!({ "criterionResults": results }).to_string())
}

#[test]
fn nothing_is_sent_before_permission_price_and_a_yes() {
    let (project, server) = with_vendor(Vec::new());
    let ask = [
        "compaction",
        "probe",
        "ask",
        "secret-name.jsonl",
        "--role",
        "clerk",
    ];
    asked(&project, &[&ask[..], &["--plan"]].concat())
        .exits_with(0)
        .stdout_contains("role `clerk` with the task `answer-probe`: 7 to 21 calls, US$ ")
        .stdout_contains("text of the session, masked, goes to `house` (http://127.0.0.1:");
    asked(&project, &ask)
        .exits_with(2)
        .stderr_contains("asking a model is not permitted in this project");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &ask)
        .exits_with(2)
        .stderr_contains("expected a yes before text of a session is sent");
    assert!(server.asked.try_recv().is_err());
}

#[test]
fn answers_and_grades_of_roles_are_recorded_replayed_and_blind() {
    let project = Project::new().with_file("s.jsonl", session(1));
    let made = project
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let count = probes_of(&made).len();
    let (project, server) = with_vendor(vec![completion("- an answer of the model"); count]);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let recording = ["--recording", "answers.jsonl", "--yes"];
    let ask = [
        "compaction",
        "probe",
        "ask",
        "secret-name.jsonl",
        "--role",
        "clerk",
        "--json",
    ];
    let first = asked(&project, &[&ask[..], &recording].concat()).exits_with(0);
    let requests: Vec<String> = (0..count).map(|_| server.asked.recv().unwrap()).collect();
    for request in &requests {
        assert!(request.contains("Answer from the context alone") && request.contains(&word(1, 7)));
        assert!(!request.contains("secret-name"), "{request}");
        // The truncated file is nowhere in what the role receives.
        assert!(!request.contains(&word(1, 9)), "{request}");
    }
    // Replayed without a vendor.
    drop(server);
    let again = asked(&project, &[&ask[..], &recording].concat()).exits_with(0);
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(
        first.json()["points"][0]["probes"][0]["model_response"],
        "- an answer of the model"
    );
    project.write_file("method-b-last.json", &first.stdout);
}

/// A session with a resolved error, which two questions with the same criteria are about.
fn resolved_error() -> String {
    let run = |output: &str, fails| Step::Run {
        command: "npm run checkout".into(),
        output: output.into(),
        fails,
    };
    let steps = [
        Step::User("Fix it.".into()),
        run("TypeError: order.lines is not iterable", true),
        run("ok", false),
        Step::Compact("- TypeError: order.lines is not iterable".into()),
    ];
    write_session(Agent::Claude, &steps)
}

#[test]
fn a_judge_sees_no_name_and_its_invalid_scores_are_asked_for_again() {
    let made = Project::new().with_file("s.jsonl", resolved_error());
    let mut document = made
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    document["points"][0]["session"] = "secret-name".into();
    let probes = document["points"][0]["probes"].as_array_mut().unwrap();
    assert_eq!(probes[0]["criteria"], probes[1]["criteria"]);
    probes.truncate(1);
    probes[0]["model_response"] = "- an answer of the model".into();
    let probe = probes[0].clone();
    let all = probe["criteria"].as_array().unwrap();
    let bad = |results: Value| completion(&json!({ "criterionResults": results }).to_string());
    let unknown = bad(json!([{"criterionId": "style", "score": 4, "reasoning": ""}]));
    let missing = bad(json!([{"criterionId": "accuracy_factual", "score": 4, "reasoning": ""}]));
    let (project, server) = with_vendor(vec![unknown.clone(), missing.clone(), scores(&probe, 4)]);
    project.write_file("method-b-last.json", document.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let grade = [
        "compaction",
        "probe",
        "grade",
        "method-b-last.json",
        "--judge",
        "clerk",
        "--seed",
        "7",
        "--json",
        "--yes",
    ];
    let good = [&grade[..], &["--recording", "good.jsonl"]].concat();
    let run = asked(&project, &good).exits_with(0);
    let report = run.json();
    assert_eq!(
        (&report["judge"], &report["seed"]),
        (&json!("clerk"), &json!(7))
    );
    let results = report["grades"][0]["output"]["criterionResults"]
        .as_array()
        .unwrap();
    assert_eq!(results.len(), all.len());
    assert!(results.iter().all(|result| result["score"] == 4));
    assert_eq!(report["grades"][0]["output"]["aggregateScore"], json!(4.0));
    assert_eq!(report["agreement"][0]["with"], "facts");
    let requests: Vec<String> = (0..3).map(|_| server.asked.recv().unwrap()).collect();
    for request in &requests {
        for hidden in [
            "secret-name",
            "method-b",
            "recorded",
            "truncate",
            ".jsonl",
            "clerk",
            "#1",
        ] {
            assert!(!request.contains(hidden), "`{hidden}` is in {request}");
        }
        for shown in [
            "an answer of the model",
            "expert evaluator",
            "order.lines is not iterable",
            "Which errors",
        ] {
            assert!(request.contains(shown), "`{shown}` is not in {request}");
        }
    }
    let places: Vec<usize> = all
        .iter()
        .map(|id| {
            requests[0]
                .find(&format!("{}: ", id.as_str().unwrap()))
                .unwrap()
        })
        .collect();
    assert!(
        !places.is_sorted(),
        "criteria stand in the order of the rubric: {places:?}"
    );
    // Replayed without a vendor.
    drop(server);
    assert_eq!(asked(&project, &good).exits_with(0).stdout, run.stdout);

    let (project, _server) = with_vendor(vec![unknown; 3]);
    project.write_file("method-b-last.json", document.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let report = asked(
        &project,
        &[&grade[..], &["--recording", "bad.jsonl"]].concat(),
    )
    .exits_with(3)
    .json();
    assert_eq!(report["grades"], json!([]));
    assert_eq!(
        report["ungraded"][0]["reason"],
        "no valid answer in 3 attempts: a score for `style`, which was not asked"
    );
}

/// A document with one answered probe, and the ids of its criteria.
fn one_answer() -> (Value, Vec<String>) {
    let made = Project::new().with_file("s.jsonl", resolved_error());
    let mut document = made
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let probes = document["points"][0]["probes"].as_array_mut().unwrap();
    probes.truncate(1);
    probes[0]["model_response"] = "- an answer of the model".into();
    let ids = probes[0]["criteria"].as_array().unwrap().iter();
    let ids = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    (document, ids)
}

#[test]
fn votes_and_dimensions_are_priced_recorded_and_replayed() {
    let (document, ids) = one_answer();
    let rubric = shipped_rubric();
    let own = rubric.criteria.iter().filter(|one| ids.contains(&one.id));
    let dimensions: BTreeSet<&str> = own.map(Criterion::dimension).collect();
    let count = dimensions.len();
    assert!((2..ids.len()).contains(&count));
    let known = ids.clone();
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    let server = serve(3 * count, move |request| {
        let body = request.rsplit("\r\n").next().unwrap().to_owned();
        let vote = votes.entry(body.clone()).or_default();
        *vote += 1;
        let score = [5, 1, 4][*vote - 1];
        let entry = |id: &String| {
            let quote = match id.as_str() {
                "accuracy_factual" => "never written",
                "accuracy_technical" => "order.lines  is not\niterable",
                "completeness_depth" => "",
                _ => "an answer",
            };
            json!({"criterionId": id, "score": score, "quote": quote, "reasoning": format!("vote {score}")})
        };
        let own = known.iter().filter(|id| body.contains(&format!("{id}: ")));
        let results: Vec<Value> = own.map(entry).collect();
        completion(&json!({ "criterionResults": results }).to_string())
    });
    let project = with_model(&server.address);
    project.write_file("answers.json", document.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let grade = [
        "compaction",
        "probe",
        "grade",
        "answers.json",
        "--judge",
        "clerk",
        "--by-dimension",
        "--recording",
        "votes.jsonl",
    ];
    let with = |more: &[&str]| asked(&project, &[&grade[..], more].concat());
    let (least, most) = (3 * count, 9 * count);
    with(&["--votes", "3", "--plan"])
        .exits_with(0)
        .stdout_contains(&format!("`grade-probe`: {least} to {most} calls, US$ "))
        .stdout_contains(&format!(" in {least} requests"));
    let run = with(&["--votes", "3", "--yes", "--json"]).exits_with(0);
    let report = run.json();
    assert_eq!(report["votes"], 3);
    let row = &report["grades"][0];
    let results = row["output"]["criterionResults"].as_array().unwrap();
    // In the order of the rubric, each with the median and its reason.
    let found: Vec<&str> = results
        .iter()
        .map(|one| one["criterionId"].as_str().unwrap())
        .collect();
    assert_eq!(found, ids);
    assert!(
        results
            .iter()
            .all(|one| one["score"] == 4 && one["reasoning"] == "vote 4"),
        "{row}"
    );
    assert!(
        row["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["votes"] == json!([1, 4, 5]))
    );
    assert_eq!(
        report["evidence"],
        json!({"scores": ids.len(), "split_votes": ids.len(), "quotes": ids.len() - 1, "missing_quotes": 1})
    );
    let requests: Vec<String> = (0..least).map(|_| server.asked.recv().unwrap()).collect();
    for request in &requests {
        let asked = ids
            .iter()
            .filter(|id| request.contains(&format!("{id}: ")))
            .count();
        assert!(asked < ids.len(), "{request}");
    }
    // Replayed without a vendor; one vote is the first.
    drop(server);
    assert_eq!(
        with(&["--votes", "3", "--json"]).exits_with(0).stdout,
        run.stdout
    );
    with(&["--votes", "3"])
        .exits_with(0)
        .stdout_contains("1 answer graded by clerk, the median of 3 votes each")
        .stdout_contains(&format!(
            "1 of {} quotes of the judge occurs neither in the answer nor in its context; 1 of {} scores without a quote; votes differ on",
            ids.len() - 1,
            ids.len()
        ));
    let one = with(&["--json"]).exits_with(0).json();
    assert_eq!(
        one["grades"][0]["output"]["criterionResults"][0]["score"],
        5
    );
    with(&["--votes", "5"])
        .exits_with(2)
        .stderr_contains(&format!("{} to {} calls", 2 * count, 6 * count))
        .stderr_contains("expected a yes before text of a session is sent");
    with(&["--votes", "4"])
        .exits_with(2)
        .stderr_contains("expected 1, 3, 5, 7 or 9");
    asked(
        &project,
        &[
            "compaction",
            "probe",
            "grade",
            "answers.json",
            "--votes",
            "3",
        ],
    )
    .exits_with(2)
    .stderr_contains("--judge");
}

#[test]
fn a_call_after_a_recorded_refusal_needs_a_yes_too() {
    let (document, _) = one_answer();
    let (project, server) = with_vendor(vec![completion("no scores")]);
    project.write_file("answers.json", document.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let grade = [
        "compaction",
        "probe",
        "grade",
        "answers.json",
        "--judge",
        "clerk",
        "--recording",
        "r.jsonl",
    ];
    asked(&project, &[&grade[..], &["--yes"]].concat())
        .exits_with(3)
        .stdout_contains("without a grade: recall_errors");
    drop(server);
    asked(&project, &grade)
        .exits_with(2)
        .stderr_contains("expected a yes before text of a session is sent");
}

#[test]
fn equal_questions_of_two_methods_are_one_call() {
    let (project, _server) = with_vendor(vec![completion("- an answer"); 2]);
    project.write_file("s.jsonl", resolved_error());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    // Both keep nothing.
    let compare = [
        "compaction",
        "probe",
        "compare",
        "s.jsonl",
        "--method",
        "truncate=0",
        "--method",
        "truncate=1",
        "--role",
        "clerk",
        "--yes",
    ];
    asked(&project, &compare)
        .exits_with(0)
        .stdout_contains("2 probes, 1 compaction, 1 session")
        .stderr_contains("2 to 6 calls")
        .output_lacks("not compared");
}

#[test]
fn a_plan_shows_all_steps_and_runs_nothing() {
    let (project, server) = with_vendor(Vec::new());
    let compare = |more: &[&str]| {
        let args = [
            "compaction",
            "probe",
            "compare",
            "secret-name.jsonl",
            "--method",
            "recorded",
            "--method",
            "command=touch ran",
            "--plan",
        ];
        asked(&project, &[&args[..], more].concat()).exits_with(0)
    };
    compare(&[
        "--role",
        "clerk",
        "--judge",
        "clerk",
        "--method",
        "regenerative=clerk",
    ])
    .stdout_contains("command=touch ran in 1 run")
    .stdout_contains("`compact-regenerative`: 1 to 3 calls, US$ ")
    .stdout_contains("`answer-probe`: 21 to 63 calls, US$ ")
    .stdout_contains("`grade-probe`: 21 to 63 calls, US$ 0 to ")
    .output_lacks("not compared");
    compare(&[]).stdout_contains("no role is named, so no model is asked");
    assert!(!project.files().iter().any(|file| file == "ran"));
    assert!(server.asked.try_recv().is_err());
}

#[test]
fn people_label_answers_to_probes_and_both_judges_are_compared_with_them() {
    let (mut document, ids) = one_answer();
    let mut second = document["points"][0].clone();
    second["probes"][0]["model_response"] =
        "- TypeError: order.lines is not iterable (resolved)".into();
    document["points"].as_array_mut().unwrap().push(second);
    let known = ids.clone();
    let server = serve(2, move |request| {
        let score = if request.contains("an answer of the model") {
            1
        } else {
            4
        };
        let entry = |id: &String| json!({"criterionId": id, "score": score, "reasoning": ""});
        let results: Vec<Value> = known.iter().map(entry).collect();
        completion(&json!({ "criterionResults": results }).to_string())
    });
    let project = with_model(&server.address);
    project.write_file("answers.json", document.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let label = [
        "label",
        "answers.json",
        "--criterion",
        "compression#accuracy_technical",
    ];
    let by = [&label[..], &["--by", "ann@example.org"]].concat();
    let shown = project.run_with_input(&by, b"1\n5\n").exits_with(0);
    shown
        .stdout_contains("Which errors did the tools report?")
        .stdout_contains("Expected facts:")
        .stdout_contains("Are references to code")
        .stderr_contains("`ctxc compaction probe grade answers.json` shows the agreement");
    project
        .run_with_input(&by, b"")
        .exits_with(0)
        .stderr_contains("every answer is labelled");
    let labels = project.read_file("labels/ann@example.org.jsonl");
    assert!(!labels.contains("order.lines"), "{labels}");
    let grade = [
        "compaction",
        "probe",
        "grade",
        "answers.json",
        "--judge",
        "clerk",
        "--yes",
        "--recording",
        "r.jsonl",
    ];
    asked(&project, &grade)
        .exits_with(0)
        .stdout_contains("Spearman's ρ of clerk with labels on 2 scores: ")
        .stdout_contains("Spearman's ρ of facts with labels on 2 scores: ")
        .stdout_contains("Spearman's ρ of clerk with facts on ");
    let report = asked(&project, &[&grade[..], &["--json"]].concat())
        .exits_with(0)
        .json();
    let rows: Vec<(&str, &str)> = report["agreement"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["criterion"].is_null())
        .map(|row| {
            (
                row["judge"].as_str().unwrap(),
                row["with"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [("clerk", "labels"), ("facts", "labels"), ("clerk", "facts")]
    );
    project
        .run(&[&label[..], &["--html", "page.html"]].concat())
        .exits_with(0)
        .stderr_contains("the file has text of a session");
    assert!(
        project
            .read_file("page.html")
            .contains("order.lines is not iterable")
    );
}

#[test]
fn answers_of_all_methods_are_asked_for_and_graded_without_a_name() {
    let made = Project::new().with_file("s.jsonl", resolved_error());
    let document = made
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let judged = scores(probes_of(&document)[0], 3);
    let mut answers = vec![completion("- an answer"); 4];
    answers.extend(vec![judged; 4]);
    let (project, server) = with_vendor(answers);
    project.write_file("secret-name.jsonl", resolved_error());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let compare = [
        "compaction",
        "probe",
        "compare",
        "secret-name.jsonl",
        "--method",
        "recorded",
        "--method",
        "truncate=20",
        "--role",
        "clerk",
        "--judge",
        "clerk",
        "--json",
        "--yes",
    ];
    let report = asked(&project, &compare).exits_with(0).json();
    assert_eq!(
        (&report["graded"], &report["judge"]),
        (&json!("answers"), &json!("clerk"))
    );
    assert_eq!(report["counts"]["probes"], 2);
    for at in [0, 1] {
        assert_eq!(report["methods"][at]["scores"]["overall"], json!(3.0));
    }
    for _ in 0..8 {
        let request = server.asked.recv().unwrap();
        for hidden in ["secret-name", "recorded", "truncate", "clerk"] {
            assert!(!request.contains(hidden), "`{hidden}` is in {request}");
        }
    }
    // Nothing of it is kept in the project.
    assert!(
        project.files().iter().all(|file| !file.contains("probes")),
        "{:?}",
        project.files()
    );
}

#[test]
fn summaries_of_a_role_build_on_each_other_or_on_the_whole() {
    let mut steps = steps(1);
    steps.extend([
        Step::Create("src/second.rs".into()),
        Step::Compact("Nothing.".into()),
    ]);
    let (project, server) = with_vendor(
        ["anchored one", "anchored two", "whole one", "whole two"]
            .map(completion)
            .to_vec(),
    );
    project.write_file("s.jsonl", write_session(Agent::Claude, &steps));
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let compare = [
        "compaction",
        "probe",
        "compare",
        "s.jsonl",
        "--method",
        "anchored-iterative=clerk",
        "--method",
        "regenerative=clerk",
        "--yes",
        "--recording",
        "a.jsonl",
    ];
    asked(&project, &compare)
        .exits_with(0)
        .stdout_contains("anchored-iterative=clerk: ");
    let requests: Vec<String> = (0..4).map(|_| server.asked.recv().unwrap()).collect();
    let first = word(1, 9);
    let has = |at: usize, text: &str| requests[at].contains(text);
    assert!(has(0, &first) && !has(0, "anchored one"));
    assert!(has(1, "anchored one") && has(1, "second.rs") && !has(1, &first));
    assert!(has(2, &first) && has(3, &first) && has(3, "second.rs") && !has(3, "whole one"));
}

/// An answer of a role to any question.
fn reply(request: &str) -> String {
    if !request.contains("expert evaluator") {
        return completion("- an answer");
    }
    let rubric = shipped_rubric();
    let own = rubric.criteria.iter();
    let own = own.filter(|one| request.contains(&format!("{}: ", one.id)));
    let entry = |one: &Criterion| {
        let score = (request.len() + one.id.len()) % 6;
        json!({"criterionId": one.id, "score": score, "quote": "an answer", "reasoning": "so"})
    };
    let results: Vec<Value> = own.map(entry).collect();
    completion(&json!({ "criterionResults": results }).to_string())
}

/// Documents of every kind, for the test of schemas.
pub(crate) fn put_artifacts(mut put: impl FnMut(&'static str, &'static str, Value)) {
    let mut project = Project::new();
    let names: Vec<String> = (0..5).map(|number| format!("s{number}.jsonl")).collect();
    for (number, name) in names.iter().enumerate() {
        project = project.with_file(name, session(number));
    }
    project.write_file("s.jsonl", session(1));
    let made = project
        .run(&["compaction", "probe", "make", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    put(names::COMPACTION_PROBES, "made", made);
    let mut document = answered(&project, |_, count| count);
    put(names::COMPACTION_PROBES, "answered", document.clone());
    // Equal scores alone, so that no rank is defined.
    project.write_file("labels/ann.jsonl", labels(&document));
    let mut opaque = document["points"][0].clone();
    opaque["compacted_context"] = Value::Null;
    opaque["tokens_after"] = Value::Null;
    document["points"].as_array_mut().unwrap().push(opaque);
    document["points"][0]["probes"][0]["model_response"] = Value::Null;
    project.write_file("answers.json", document.to_string());
    put(names::COMPACTION_PROBES, "opaque", document);
    let grade = ["compaction", "probe", "grade", "answers.json", "--json"];
    put(
        names::COMPACTION_GRADES,
        "facts",
        project.run(&grade).exits_with(0).json(),
    );
    project.write_file("s.jsonl", write_session(Agent::Claude, &many_facts()));
    let document = answered(&project, |at, count| at * count / 5 % (count + 1));
    project.write_file("labels/ann.jsonl", labels(&document));
    project.write_file("answers.json", document.to_string());
    let graded = project.run(&grade).exits_with(0).json();
    put(names::COMPACTION_GRADES, "labels", graded);
    let mut compare = vec![
        "compaction",
        "probe",
        "compare",
        "--json",
        "--method",
        "recorded",
        "--method",
        "truncate=0",
    ];
    compare.extend(names.iter().map(String::as_str));
    put(
        names::COMPACTION_COMPARISON,
        "context",
        project.run(&compare).exits_with(0).json(),
    );
    let failing = [
        "compaction",
        "probe",
        "compare",
        "--json",
        "s.jsonl",
        "--method",
        "recorded",
        "--method",
        "command=false",
    ];
    put(
        names::COMPACTION_COMPARISON,
        "failed",
        project.run(&failing).exits_with(7).json(),
    );
    let server = serve(9, reply);
    let project = with_model(&server.address);
    project.write_file("s.jsonl", resolved_error());
    project.write_file("answers.json", one_answer().0.to_string());
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let judge = ["--judge", "clerk", "--yes", "--json"];
    let judged = asked(
        &project,
        &[
            &["compaction", "probe", "grade", "answers.json"],
            &judge[..],
        ]
        .concat(),
    );
    put(
        names::COMPACTION_GRADES,
        "role",
        judged.exits_with(0).json(),
    );
    let compare = [
        "compaction",
        "probe",
        "compare",
        "s.jsonl",
        "--method",
        "recorded",
        "--method",
        "truncate=0",
        "--role",
        "clerk",
    ];
    let compared = asked(&project, &[&compare[..], &judge[..]].concat());
    put(
        names::COMPACTION_COMPARISON,
        "role",
        compared.exits_with(0).json(),
    );
}
