//! Scorecards with every verdict of a scenario.

use super::artifacts::{Artifacts, put};
use ctxc::internals::kernel::context::Trust;
use ctxc::internals::kernel::provider::Usage;
use ctxc::internals::record::json_text;
use ctxc::internals::record::recording::{
    AnsweredBy, MaskedCount, Recording, TrialNumber, TrialStage,
};
use ctxc::internals::run::trace::{
    Begin, End, Partial, SegmentLine, ToolLine, TraceEvent, TraceLine,
};
use ctxc::internals::schema::json::names;
use ctxc::runtime::{AgentOutput, Obstacle, SubtaskRequest};
use serde_json::{Value, json};

pub(super) fn scorecards(out: &mut Artifacts) {
    let project = crate::cli::eval::every_ending();
    let card = project.run(&["eval", "--json"]).exits_with(3).json();
    for case in card["cases"].as_array().unwrap() {
        let mut part = card.clone();
        part["cases"] = Value::Array(vec![case.clone()]);
        put(out, names::SCORECARD, case["id"].as_str().unwrap(), part);
    }
    mutations(out);
    gates(out);
    requests(out);
    contracts(out);
    recordings(out);
    runs(out);
    put(
        out,
        names::SCORECARD,
        "a whole run",
        crate::run::whole::sample()
            .run(&["eval", "--json"])
            .exits_with(0)
            .json(),
    );
    let scripted = crate::cli::eval_judge::scripted();
    put(
        out,
        names::SCORECARD,
        "scores of a judge",
        scripted.run(&["eval", "--json"]).exits_with(0).json(),
    );
    for card in crate::cli::eval_scores::scorecards() {
        put(out, names::SCORECARD, "scores", card);
    }
    let recorded = crate::cli::eval_answers::recorded_once();
    put(
        out,
        names::SCORECARD,
        "recorded",
        recorded.run(&["eval", "--json"]).exits_with(0).json(),
    );
    let unanswered = crate::cli::gate::branch();
    std::fs::remove_file(unanswered.path("scenarios/recordings/recorded.jsonl")).unwrap();
    put(
        out,
        names::SCORECARD,
        "without answers",
        unanswered.run(&["eval", "--json"]).exits_with(7).json(),
    );
    let stale = crate::cli::eval_record::stale();
    put(
        out,
        names::SCORECARD,
        "a provider that fails and miscounts",
        crate::cli::eval_calls::failing_and_miscounted(),
    );
    put(
        out,
        names::SCORECARD,
        "stale",
        stale.run(&["eval", "--json"]).exits_with(6).json(),
    );
    project.run(&["eval", "--out", "card.json"]).exits_with(3);
    put(
        out,
        names::SCORECARD,
        "carried",
        project
            .run(&["eval", "--json", "--since", "card.json"])
            .exits_with(3)
            .json(),
    );
    let project = crate::cli::eval::every_ending();
    crate::cli::eval::commit(&project);
    project.write_file("docs/runbook.md", "Restart all of it.\n");
    put(
        out,
        names::SCORECARD,
        "a revision",
        project
            .run(&["eval", "holds", "--json", "--since", "main"])
            .exits_with(0)
            .json(),
    );
}

/// Decisions of the gate, and its inputs.
fn gates(out: &mut Artifacts) {
    let project = crate::cli::gate::branch();
    put(
        out,
        names::GATE,
        "nothing",
        project.run(&["gate", "--json"]).exits_with(0).json(),
    );
    for name in ["recorded", "scripted"] {
        put(
            out,
            names::BASELINE,
            name,
            serde_json::from_str(&project.read_file(&format!("baselines/{name}.json"))).unwrap(),
        );
    }
    put(
        out,
        names::SCORECARD,
        "compared",
        project
            .run(&["eval", "--baseline", "baselines", "--json"])
            .exits_with(0)
            .json(),
    );
    let triage = project.read_file("templates/triage.xml");
    project.write_file(
        "templates/triage.xml",
        triage.replace(
            "the rules of the house",
            "all of the rules of the house, each of them",
        ),
    );
    project.write_file(
        "scenarios/scripted.yaml",
        project
            .read_file("scenarios/scripted.yaml")
            .replace("  - snapshot: true\n", ""),
    );
    std::fs::remove_file(project.path("scenarios/recorded.yaml")).unwrap();
    put(
        out,
        names::GATE,
        "loosened",
        project.run(&["gate", "--json"]).exits_with(4).json(),
    );
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "so",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    put(
        out,
        names::GATE,
        "accepted",
        project.run(&["gate", "--json"]).exits_with(0).json(),
    );
    project.write_file(
        "scenarios/scripted.yaml",
        project
            .read_file("scenarios/scripted.yaml")
            .replace("reply: billing", "reply: access"),
    );
    put(
        out,
        names::GATE,
        "failing",
        project.run(&["gate", "--json"]).exits_with(4).json(),
    );
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "it fails",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    put(
        out,
        names::BASELINE,
        "failing",
        serde_json::from_str(&project.read_file("baselines/scripted.json")).unwrap(),
    );
    put(
        out,
        names::SCORECARD,
        "compared with a failure",
        project
            .run(&["eval", "--baseline", "baselines", "--json"])
            .exits_with(1)
            .json(),
    );
    let triage = project.read_file("templates/triage.xml");
    project.write_file("templates/triage.xml", "<task");
    put(
        out,
        names::GATE,
        "stopped",
        project.run(&["gate", "--json"]).exits_with(1).json(),
    );
    project.write_file("templates/triage.xml", triage);
    for line in project.read_file("baselines/LOG.jsonl").lines() {
        put(
            out,
            names::BASELINE_LOG,
            "a line",
            serde_json::from_str(line).unwrap(),
        );
    }
}

/// Rows of a package whose contract was kept in one version and is broken, with consent, in the next;
/// the package does not list one of its consumers.
fn contracts(out: &mut Artifacts) {
    let project = crate::cli::package_contracts::package();
    crate::cli::gate::git(&project, &["init", "-q"]);
    let contract = "contracts/acme/rules/shape.yaml";
    let shape = project.read_file(&format!("shop/{contract}"));
    project.write_file(&format!("bank/{contract}"), shape);
    let extra = ["package", "can-publish", "--consumer", "bank"];
    project.run(&extra).exits_with(0);
    let replace = crate::cli::gate::replace;
    replace(&project, "ctxc.toml", "1.0.0", "1.1.0");
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    let args = [
        "package",
        "can-publish",
        "--accept",
        "shop",
        "--reason",
        "so",
    ];
    let mut command = project.command(&args);
    command.env("GIT_AUTHOR_EMAIL", "lead@example.org");
    assert!(command.status().unwrap().success());
    for (file, name) in [
        ("contracts/MATRIX.jsonl", names::CONTRACT_MATRIX),
        ("contracts/ACCEPTED.jsonl", names::CONTRACT_ACCEPTANCE),
    ] {
        for line in project.read_file(file).lines() {
            put(out, name, "a line", serde_json::from_str(line).unwrap());
        }
    }
}

/// Calls with every optional part, and with none.
fn recordings(out: &mut Artifacts) {
    let bare = crate::record::file::call("1");
    let full = Recording {
        at: Some("2026-11-23T08:00:00Z".to_owned()),
        agent: Some("clerk".to_owned()),
        conversation: Some("c1".to_owned()),
        run: Some("r1".to_owned()),
        command: Some(vec!["pytest".to_owned()]),
        trial: Some(TrialNumber {
            stage: TrialStage::First,
            number: 1,
            of: 3,
        }),
        answered_by: AnsweredBy::Upstream,
        response: Some(json_text::to_raw_json("{}")),
        usage: Usage {
            input: Some(1),
            cached: Some(1),
            output: Some(1),
            reasoning: Some(1),
        },
        latency_ms: Some(1),
        headers: [("request-id".to_owned(), "x".to_owned())].into(),
        chunks: Some(vec![(1, "data".to_owned())]),
        caller: Some("agent.py:40".to_owned()),
        redacted: vec![MaskedCount {
            pointer: "/request/a".to_owned(),
            kind: "email".to_owned(),
            count: 1,
        }],
        ..bare.clone()
    };
    let failed = Recording {
        answered_by: AnsweredBy::Replay,
        response: None,
        status: None,
        error: Some("timeout".to_owned()),
        ..bare.clone()
    };
    for (from, call) in [("bare", bare), ("full", full), ("failed", failed)] {
        put(
            out,
            names::REQUEST,
            from,
            serde_json::from_str(&call.to_line()).unwrap(),
        );
    }
}

/// Lines of a trace, of every event.
fn runs(out: &mut Artifacts) {
    let request = SubtaskRequest {
        kind: "atomic".to_owned(),
        description: "Look.".to_owned(),
        inputs: [("a".to_owned(), json!(1))].into(),
        template_hints: vec!["look".to_owned()],
        context_management: [("inherit_context".to_owned(), json!("none"))].into(),
        max_depth: Some(2),
        subtype: Some("subtask".to_owned()),
        file_paths: vec!["a.rs".to_owned()],
    };
    let output = AgentOutput {
        subtask_request: Some(request.clone()),
        ..AgentOutput::complete("done").with_notes("well")
    };
    let bare = AgentOutput::complete(Value::Null);
    let stage = || "/steps/0".to_owned();
    let obstacle = Obstacle::new("provider", "no answer");
    let partial = |content: Value| Partial {
        stage: stage(),
        notes: "well".to_owned(),
        content,
    };
    let end = End {
        obstacle: Some(obstacle.clone()),
        partial: vec![partial(Value::Null), partial(json!("it"))],
        ..End::default()
    };
    let segments = vec![SegmentLine {
        id: "system".to_owned(),
        state: "kept".to_owned(),
        tokens: Some(3),
    }];
    let begin = Begin {
        inputs: [("x".to_owned(), json!("this"))].into(),
        ..Begin::default()
    };
    let tool = ToolLine {
        stage: stage(),
        number: 1,
        name: "look".to_owned(),
        arguments: json!({"at": "it"}),
        result: "seen".to_owned(),
        is_error: false,
    };
    let bare_request = SubtaskRequest {
        kind: "atomic".to_owned(),
        description: "Look.".to_owned(),
        ..SubtaskRequest::default()
    };
    let events = [
        TraceEvent::Begin(begin),
        TraceEvent::Stage {
            stage: stage(),
            node: stage(),
            model: None,
            segments,
        },
        TraceEvent::Tool(tool),
        TraceEvent::Command {
            stage: stage(),
            argv: vec!["true".to_owned()],
            output: bare.clone(),
        },
        TraceEvent::Subtask {
            stage: stage(),
            depth: 1,
            request,
            refused: None,
            trust: Trust::Trusted,
        },
        TraceEvent::Subtask {
            stage: stage(),
            depth: 1,
            request: bare_request,
            refused: Some("too deep".to_owned()),
            trust: Trust::Untrusted,
        },
        TraceEvent::Result {
            stage: stage(),
            output,
            notes_cut: false,
            trust: Trust::Trusted,
        },
        TraceEvent::Result {
            stage: stage(),
            output: bare,
            notes_cut: true,
            trust: Trust::Untrusted,
        },
        TraceEvent::Failed {
            stage: stage(),
            obstacle,
        },
        TraceEvent::Case {
            stage: stage(),
            case: Some(0),
            test: None,
        },
        TraceEvent::Round {
            stage: stage(),
            round: 1,
            ends: true,
        },
        TraceEvent::End(end),
    ];
    for event in events {
        let line = TraceLine {
            schema: names::RUN.to_owned(),
            run: "20261125-200000-000000-0000".to_owned(),
            event,
        };
        put(
            out,
            names::RUN,
            "an event",
            serde_json::to_value(line).unwrap(),
        );
    }
}

/// Stored requests with parts of every kind.
fn requests(out: &mut Artifacts) {
    let project = crate::cli::moved_requests::desk();
    let stored = |name: &str| {
        serde_json::from_str::<Value>(
            &project.read_file(&format!("scenarios/snapshots/{name}.json")),
        )
        .unwrap()
    };
    put(out, names::SNAPSHOT, "a role", stored("late"));
    project.write_file("docs/rules.md", "Be frank.\n");
    put(
        out,
        names::SCORECARD,
        "a shard",
        project
            .run(&["eval", "--json", "--shard", "1/1"])
            .exits_with(1)
            .json(),
    );
    put(
        out,
        names::SCORECARD,
        "a diff",
        project
            .run(&["eval", "--json", "--diff"])
            .exits_with(1)
            .json(),
    );
    project.write_file("docs/rules.md", "Be honest.\n");
    let said = [
        r#"{"role": "user", "content": [{"type": "text", "text": "two\nlines"}, {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}]}"#,
        r#"{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "r"}]}"#,
        r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {"query": "x"}}]}"#,
        r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "is_error": true, "content": "none"}]}"#,
        r#"{"role": "user", "content": [{"type": "document", "title": "t", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUFB"}}]}"#,
        r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "d", "name": "search", "input": {}}]}"#,
        r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "some"}]}"#,
    ];
    project.write_file("samples/parts.jsonl", said.join("\n"));
    let given = [
        "--input",
        "letter=x",
        "--result",
        "facts=[1]",
        "--history",
        "samples/parts.jsonl",
        "--name",
        "parts",
    ];
    project
        .run(&[&["new", "scenario", "desk", "--node", "answer"], &given[..]].concat())
        .exits_with(0);
    put(out, names::SNAPSHOT, "parts", stored("parts"));
    let named = "<task name=\"named\"><model>own</model><description>d</description><output_format type=\"json\"/></task>";
    project.write_file("templates/named.xml", named);
    project
        .run(&["new", "scenario", "named", "--name", "named"])
        .exits_with(0);
    put(
        out,
        names::SNAPSHOT,
        "a model by its name alone",
        stored("named"),
    );
    project
        .run(&["new", "scenario", "other", "--name", "free"])
        .exits_with(0);
    put(out, names::SNAPSHOT, "any answer", stored("free"));
}

/// Unnoticed mutations of every kind.
fn mutations(out: &mut Artifacts) {
    let project = crate::cli::eval::sample();
    project.write_file(
        "ctxc.toml",
        "[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\ntools = [\"read\"]\nblocked_tools = [\"rm\"]\nprotected_paths = [\"a/**\"]\n\
         [models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 8000\n",
    );
    let case = |name: &str, tokens: u64| {
        format!(
            "name: {name}\nrole: clerk\ncontext: {{objective: sort, inputs: {{ticket: x}}}}\nexpect_context:\n  - tokens: {{max: {tokens}}}\n"
        )
    };
    project.write_file("scenarios/a.yaml", case("a", 900));
    project.write_file("scenarios/b.yaml", case("b", 1));
    let plan = "<task type=\"sequential\" name=\"plan\"><description>d</description><steps><task as=\"one\">\
        <description>do</description></task></steps></task>";
    project.write_file("templates/plan.xml", plan);
    let two = project
        .read_file("templates/triage.xml")
        .replace("    <path>", "    <path>samples/t1.txt</path>\n    <path>");
    project.write_file("templates/triage.xml", two);
    project.write_file(
        "scenarios/c.yaml",
        case("c", 900)
            .replace("role: clerk", "task: plan")
            .replace(", inputs: {ticket: x}", ""),
    );
    let found = project
        .run(&["eval", "--mutate", "--json"])
        .exits_with(1)
        .json();
    let unnoticed = found["agents"][0]["unnoticed"].as_array().unwrap();
    let kinds = ctxc::internals::eval::mutate::CHANGE_KINDS;
    for kind in kinds.into_iter().filter(|kind| *kind != "fact_dropped") {
        assert!(
            unnoticed.iter().any(|change| change["change"] == kind),
            "{kind}: {found:#}"
        );
    }
    put(out, names::MUTATIONS, "of every kind", found);
    let loose = crate::session::samples::loose_scenario();
    let facts = loose.run(&["eval", "--mutate", "--json"]).exits_with(0);
    assert!(facts.stdout.contains("fact_dropped"), "{}", facts.stdout);
    put(out, names::MUTATIONS, "facts of a summary", facts.json());
    let card = loose.run(&["eval", "--json"]).exits_with(0).json();
    assert_eq!(card["cases"][0]["answer"], "computed");
    put(out, names::SCORECARD, "a compaction", card);
    put(
        out,
        names::COVERAGE,
        "two agents",
        project
            .run(&["eval", "--coverage", "--json"])
            .exits_with(0)
            .json(),
    );
    let unasked = case("d", 900)
        .replace("role: clerk", "task: triage")
        .replace(
            "expect_context:\n  - tokens: {max: 900}",
            "expectations:\n  - contains: x",
        );
    project.write_file("scenarios/d.yaml", unasked);
    put(
        out,
        names::PLAN,
        "nobody is asked",
        project
            .run(&["eval", "--plan", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::PLAN,
        "recorded once",
        crate::cli::eval_record::stale()
            .run(&["eval", "--plan", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::PLAN,
        "of a compaction by a program",
        crate::session::scenarios::example()
            .run(&["eval", "--plan", "--json"])
            .exits_with(0)
            .json(),
    );
    comparisons(out);
    std::fs::remove_file(project.path("scenarios/a.yaml")).unwrap();
    std::fs::remove_file(project.path("scenarios/d.yaml")).unwrap();
    put(
        out,
        names::MUTATIONS,
        "nobody asked",
        project
            .run(&["eval", "--mutate", "--json"])
            .exits_with(1)
            .json(),
    );
}

/// Comparisons, and the plan of one.
fn comparisons(out: &mut Artifacts) {
    let project = crate::cli::compare::recorded();
    let models = ["compare", "--across", "model", "small", "large", "--json"];
    let forth = project.run(&models).exits_with(7).json();
    put(out, names::COMPARISON, "models", forth);
    let back = ["compare", "--across", "model", "large", "small", "--json"];
    put(
        out,
        names::COMPARISON,
        "models, the other way round",
        project.run(&back).exits_with(7).json(),
    );
    let plan = [&models[..], &["--plan"]].concat();
    put(
        out,
        names::PLAN,
        "of a comparison",
        project.run(&plan).exits_with(0).json(),
    );
    let judged = crate::cli::compare::judged();
    let roles = ["compare", "--across", "role", "clerk", "talker", "--json"];
    put(
        out,
        names::COMPARISON,
        "roles with scores",
        judged.run(&roles).exits_with(0).json(),
    );
}
