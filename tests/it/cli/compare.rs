//! `ctxc compare`: the same scenarios with two models, roles or revisions.

use super::eval_answers::TASK;
use super::eval_record::{asked, completion, upstream, with_model};
use super::gate::replace;
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const MODELS: [&str; 5] = ["compare", "--across", "model", "small", "large"];
const SCENARIO: &str = "name: billing\nrole: clerk\nruns: 1\npass_threshold: 1\n\
    context: {objective: sort, inputs: {ticket: my invoice}}\nexpectations:\n  - contains: [billing]\n";

/// A project with two models behind an address.
fn with_two_models(address: &str) -> Project {
    let project = with_model(address);
    let config = project.read_file("ctxc.toml");
    project.write_file(
        "ctxc.toml",
        config
            + "[models.large]\nid = \"house-2\"\nprovider = \"house\"\ntier = \"premium\"\ncontext_window = 8000\n\
               usd_per_million = { input = 2.0, output = 20.0 }\n",
    );
    project.write_file("scenarios/billing.yaml", SCENARIO);
    project
}

/// A project with one scenario that was recorded with two models, and one that was not.
pub(crate) fn recorded() -> Project {
    let server = upstream(["billing", "access"].map(completion).to_vec());
    let project = with_two_models(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &[&MODELS[..], &["--record"]].concat()).exits_with(0);
    let other = SCENARIO
        .replace("billing\n", "other\n")
        .replace("my invoice", "my key");
    project.write_file("scenarios/other.yaml", other);
    project
}

#[test]
fn models_are_compared_by_answers_that_are_recorded_for_each() {
    let server = upstream(["billing", "access"].map(completion).to_vec());
    let project = with_two_models(&server.address);
    let plan = [&MODELS[..], &["--plan"]].concat();
    let record = [&MODELS[..], &["--record", "--budget-usd", "1"]].concat();
    project
        .run(&MODELS)
        .exits_with(7)
        .stdout_contains(
            "`large` and `small` were not compared: no scenario is decided with both\n",
        )
        .stdout_contains(
            "not compared: billing: no answer of `small` is recorded; `--record` asks for it",
        );
    project
        .run(&plan)
        .exits_with(0)
        .stdout_contains("billing with small: 1 call, US$ ")
        .stdout_contains("billing with large: 1 call, US$ ")
        .stdout_contains("2 scenarios of 2 would be asked: 2 calls, ");
    asked(&project, &record)
        .exits_with(2)
        .stderr_contains("asking a model is not permitted in this project");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    let own = project.read_file("scenarios/recordings/billing.jsonl");
    project
        .run(&plan)
        .exits_with(0)
        .stdout_contains("billing with small: no call")
        .stdout_contains("1 scenario of 2 would be asked: 1 call, ");
    let first = asked(&project, &record)
        .exits_with(0)
        .stderr_contains("asked models: 1 call, US$ 0.004");
    let sent: Vec<String> = server.asked.iter().take(2).collect();
    assert!(sent[0].contains("\"house-1\"") && sent[1].contains("\"house-2\""));
    // The scenario's own recording stays, and from now on nothing is asked.
    assert_eq!(own, project.read_file("scenarios/recordings/billing.jsonl"));
    let kept = project.read_file("scenarios/compare/model-large/recordings/billing.jsonl");
    assert_eq!(kept.lines().count(), 1);
    project
        .run(&["eval"])
        .exits_with(0)
        .output_lacks("without a scenario");
    let again = project.run(&MODELS).exits_with(0);
    assert_eq!(first.stdout, again.stdout);
    again
        .stdout_contains("`large` differs from `small`, but not significantly\n")
        .stdout_contains("1 scenario compared, 1 pass → fail; 0 not compared\n")
        .stdout_contains("1 worse, 0 better: one-sided sign test, p = 0.500\n  fewer than 5 differences can never be significant")
        .stdout_contains("  model             house-1  house-2\n")
        .stdout_contains("  tokens per trial  1100     1100\n")
        .stdout_contains("  US$ per trial     0.002    0.004\n")
        .stdout_contains(
            "billing: pass → fail, 1 of 1 → 0 of 1 trials; scenarios/billing.yaml:7: expected /billing/, `large` found it nowhere in “access”\n",
        );
    let json = [&MODELS[..], &["--json"]].concat();
    let [one, other] = [(); 2].map(|()| project.run(&json).exits_with(0).stdout);
    assert_eq!(one, other);
    let found: Value = serde_json::from_str(&one).unwrap();
    let pair = &found["pairs"][0];
    assert_eq!([&pair["worse"], &pair["better"]], [&json!(1), &json!(0)]);
    assert_eq!(pair["cases"][0]["difference"]["side"], "large");
    assert_eq!(pair["other"]["cost_usd"], 0.004);
    // A new case has no answers: the others are compared, and the exit code says so.
    let more = SCENARIO
        .replace("billing\n", "other\n")
        .replace("my invoice", "my key");
    project.write_file("scenarios/other.yaml", more);
    project
        .run(&MODELS)
        .exits_with(7)
        .stdout_contains("1 scenario compared, 1 pass → fail; 1 not compared\n");
    project
        .run(&[&["compare", "billing"], &MODELS[1..]].concat())
        .exits_with(0);
}

#[test]
fn a_model_is_not_compared_by_a_script_a_context_or_the_request_of_a_program() {
    let project = with_two_models("http://127.0.0.1:9/v1");
    let script = format!("{SCENARIO}answers: [{{reply: billing}}]\n");
    project.write_file("scenarios/billing.yaml", script);
    let context = SCENARIO.replace("billing\n", "context\n");
    let context = context.replace(
        "expectations:\n  - contains: [billing]",
        "expect_context:\n  - contains: [invoice]",
    );
    project.write_file("scenarios/context.yaml", context);
    let request =
        "name: sent\nrequest: {file: files/body.json}\nexpect_context: [{contains: [hello]}]\n";
    project.write_file("scenarios/sent.yaml", request);
    project.write_file(
        "scenarios/files/body.json",
        r#"{"model": "m", "messages": [{"role": "user", "content": "hello"}]}"#,
    );
    project
        .run(&MODELS)
        .exits_with(7)
        .stdout_contains("not compared: billing: its script answers for every model\n")
        .stdout_contains("not compared: context: no answer of a model is judged\n")
        .stdout_contains("not about an agent of this project\n");
    // A task without a role is asked as if its template named the model.
    project.write_file(
        "scenarios/billing.yaml",
        SCENARIO.replace("role: clerk", "task: triage"),
    );
    project
        .run(&[
            "compare", "billing", "--across", "model", "small", "large", "--plan",
        ])
        .exits_with(0)
        .stdout_contains("billing with large: 1 call, US$ ");
}

/// A project with two roles whose scripted answers depend on their texts.
fn with_two_roles(count: usize) -> Project {
    let roles = "[roles.clerk]\ntemplate = \"triage\"\nsystem = \"Be brief.\"\n[roles.talker]\ntemplate = \"triage\"\nsystem = \"Talk a lot.\"\n";
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("ctxc.toml", roles);
    for number in 0..count {
        let name = format!("ticket-{number}");
        let script = "expect_context:\n  - snapshot: true\nanswers:\n  - {when: {has: [Talk]}, reply: well}\n  - {reply: billing}\n";
        let text = format!("{SCENARIO}{script}").replace("name: billing", &format!("name: {name}"));
        project.write_file(&format!("scenarios/{name}.yaml"), text);
    }
    project.run(&["eval", "--accept"]).exits_with(0);
    project
}

/// A project with two roles, and a script that stands in for the judge of their answers.
pub(crate) fn judged() -> Project {
    let project = super::eval_judge::scripted();
    let config = project.read_file("ctxc.toml")
        + "[roles.talker]\ntemplate = \"triage\"\nsystem = \"Talk a lot.\"\n";
    project.write_file("ctxc.toml", config);
    project
}

#[test]
fn scores_of_the_judge_are_shown_side_by_side() {
    judged()
        .run(&["compare", "--across", "role", "clerk", "talker"])
        .exits_with(0)
        .stdout_contains("  score: rubric: it names a team  0.00     0.00\n");
}

#[test]
fn roles_are_compared_with_a_sign_test_and_on_a_page() {
    let across = ["compare", "--across", "role", "clerk", "talker"];
    let project = with_two_roles(5);
    let run = project.run(&[&across[..], &["--report", "html=page.html"]].concat());
    run.exits_with(0)
        .stdout_contains("`talker` is worse than `clerk`\n")
        .stdout_contains("5 worse, 0 better: one-sided sign test, p = 0.031\n")
        .output_lacks("snapshot");
    let page = project.read_file("page.html");
    let has = |what: &str| assert!(page.contains(what), "{what}\n{page}");
    has("<h1>`talker` is worse than `clerk`</h1>");
    has("<tr><th></th><th>clerk</th><th>talker</th></tr>");
    has("`talker` found it nowhere in “well”</li>");
    assert!(!page.contains("<script") && !page.contains("://"), "{page}");
    project
        .run(&["compare", "--across", "role", "talker", "clerk"])
        .exits_with(0)
        .stdout_contains("`clerk` is better than `talker`\n")
        .stdout_contains("ticket-0: fail → pass, 0 of 1 → 1 of 1 trials; ");
    // By default only scenarios of these roles are run.
    project.write_file(
        "scenarios/alone.yaml",
        SCENARIO
            .replace("billing\n", "alone\n")
            .replace("role: clerk", "task: triage"),
    );
    project.run(&across).exits_with(0).output_lacks("alone");
    project
        .run(&[&["compare", "alone"], &across[1..]].concat())
        .exits_with(7);
    // Three sides: each with the first.
    let config = project.read_file("ctxc.toml") + "[roles.third]\ntemplate = \"triage\"\n";
    project.write_file("ctxc.toml", config);
    project
        .run(&[&across[..], &["third"]].concat())
        .exits_with(0)
        .stdout_contains("`third` passes as often as `clerk`\n");
}

#[test]
fn revisions_are_compared_with_the_current_files() {
    let project = with_two_roles(1);
    super::eval::commit(&project);
    let across = ["compare", "--across", "revision", "main", "."];
    project
        .run(&across)
        .exits_with(0)
        .stdout_contains("`.` passes as often as `main`\n");
    replace(&project, "templates/triage.xml", "Sort", "Talk about");
    project
        .run(&across)
        .exits_with(0)
        .stdout_contains("ticket-0: pass → fail, 1 of 1 → 0 of 1 trials; ")
        .stdout_contains("`.` found it nowhere in “well”");
    // A role that the base lacks is no failure of the base.
    replace(
        &project,
        "scenarios/ticket-0.yaml",
        "role: clerk",
        "role: new",
    );
    let config = project.read_file("ctxc.toml") + "[roles.new]\ntemplate = \"triage\"\n";
    project.write_file("ctxc.toml", config);
    project
        .run(&across)
        .exits_with(7)
        .stdout_contains("not compared: ticket-0: `main`: there is no agent role `new`");
}

#[test]
fn equal_requests_of_two_revisions_are_asked_once() {
    let server = upstream(["billing", "billing"].map(completion).to_vec());
    let project = with_two_models(&server.address);
    super::eval::commit(&project);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let across = ["compare", "--across", "revision", "main", "."];
    let with = |more: &[&str]| asked(&project, &[&across[..], more].concat());
    with(&["--plan"])
        .exits_with(0)
        .stdout_contains("billing with .: no call\n")
        .stdout_contains("1 scenario of 2 would be asked: 1 call, ");
    with(&["--record"])
        .exits_with(0)
        .stderr_contains("asked models: 1 call, ");
    let mut sides = std::fs::read_dir(project.path("scenarios/compare")).unwrap();
    let side = sides.next().unwrap().unwrap().path();
    // Today's recording of the scenario answers a revision that lacks it.
    std::fs::remove_dir_all(project.path("scenarios/compare")).unwrap();
    with(&[]).exits_with(7);
    asked(&project, &["eval", "--record"]).exits_with(0);
    with(&[]).exits_with(0);
    // A damaged answer of one side is an error of that side alone.
    std::fs::create_dir_all(side.join("recordings")).unwrap();
    std::fs::write(side.join("recordings/billing.jsonl"), "{").unwrap();
    with(&[]).exits_with(7).stdout_contains(
        "not compared: billing: `main`: the recorded answers in scenarios/compare/revision-main/",
    );
    std::fs::remove_dir_all(side).unwrap();
    let template = project.read_file("templates/triage.xml");
    project.write_file("templates/triage.xml", "<task");
    super::eval::commit(&project);
    project.write_file("templates/triage.xml", template);
    with(&[]).exits_with(1);
}

#[test]
fn sides_with_different_rules_are_not_compared() {
    let answers = ["billing"; 8].map(completion).to_vec();
    let server = upstream(answers);
    let project = with_two_models(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    let runs = SCENARIO.replace("runs: 1\npass_threshold: 1", "runs: 2\npass_threshold: 2");
    project.write_file("scenarios/billing.yaml", runs);
    let own = project.read_file("scenarios/recordings/billing.jsonl");
    let large = ["compare", "--across", "model", "large", "small"];
    // The calls of both sides share the budget: the first one costs US$ 0.004, the second 0.002.
    asked(
        &project,
        &[&large[..], &["--record", "--budget-usd", "0.009"]].concat(),
    )
    .exits_with(7)
    .stdout_contains("the budget of US$ 0.009 has US$ 0.008 used");
    project
        .run(&MODELS)
        .exits_with(7)
        .stdout_contains("not compared: billing: only 1 of the trials of `small` are recorded; `--record` asks for all of them");
    asked(&project, &[&MODELS[..], &["--plan"]].concat())
        .exits_with(0)
        .stdout_contains("billing with small: 2 calls, ")
        .stdout_contains("billing with large: no call");
    asked(&project, &[&MODELS[..], &["--record"]].concat())
        .exits_with(0)
        .stderr_contains("asked models: 2 calls, ")
        .stdout_contains("  trials passed     2 of 2   2 of 2\n");
    assert_eq!(own, project.read_file("scenarios/recordings/billing.jsonl"));
}

#[test]
fn a_wrong_side_is_refused_with_the_nearest_name() {
    let project = with_two_models("http://127.0.0.1:9/v1");
    super::eval::commit(&project);
    for (words, expected, advice) in [
        (
            &["model", "small"][..],
            "expected two names or more, found 1",
            "`ctxc compare --across model A B`",
        ),
        (
            &["model"],
            "expected two names or more, found 0",
            "name the base first",
        ),
        (
            &["model", "small", "small"],
            "`small` is named twice",
            "--across model",
        ),
        (
            &["modle", "small", "large"],
            "--across modle: expected model, role, revision",
            "did you mean `model`?",
        ),
        (
            &["model", "small", "larg"],
            "there is no model `larg` in this project",
            "did you mean `large`?",
        ),
        (
            &["model", "small", "billing"],
            "there is no model `billing`",
            "models here: large, small",
        ),
        (
            &["role", "clerk", "clrk"],
            "there is no role `clrk` in this project",
            "did you mean `clerk`?",
        ),
        (
            &["revision", "main", "mian"],
            "there is no revision `mian`",
            "did you mean `main`?",
        ),
        (
            &["model", "small", "large", "--budget-usd", "1"],
            "a budget is for calls of models",
            "`--record`",
        ),
        (
            &["model", "small", "large", "--plan", "--format", "html"],
            "--plan is no page",
            "--format text or json",
        ),
    ] {
        let run = project
            .run(&[&["compare", "--across"], words].concat())
            .exits_with(2);
        run.stderr_contains(expected).stderr_contains(advice);
    }
    project
        .run(&[
            "compare", "--tag", "none", "--across", "model", "small", "large",
        ])
        .exits_with(5);
    project
        .run(&["compare", "biling", "--across", "model", "small", "large"])
        .exits_with(2)
        .stderr_contains("did you mean `billing`?");
}
