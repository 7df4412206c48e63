//! An error of a scenario in `ctxc check` is one in `ctxc eval` too, and a key that only looks like
//! an expectation is reported.

use super::eval::sample;
use super::project::Project;
use pretty_assertions::assert_eq;

/// A scenario of the task `triage` with these lines below its inputs, and these after its
/// situation.
fn scenario(name: &str, situation: &str, rest: &str) -> String {
    format!(
        "name: {name}\ntask: triage\ncontext:\n  objective: sort it\n  inputs:\n    ticket: No invoice came.\n{situation}{rest}"
    )
}

fn found(project: &Project) -> Vec<String> {
    let run = project.run(&["check", "--format", "concise", "--verbose"]);
    let of_family = |line: &&str| line.starts_with("scenarios/") || line.starts_with("ctxc.toml");
    run.stdout
        .lines()
        .filter(of_family)
        .map(str::to_owned)
        .collect()
}

#[test]
fn cases_with_errors_are_not_run() {
    let whole = "expect_context:\n  - nothing_cut: true\n";
    let clash = "expect_context:\n  - tokens: {max: 1, min: 2}\n";
    let files = [
        ("fine", scenario("fine", "", whole)),
        ("twin", scenario("fine", "", whole)),
        ("clash", scenario("clash", "", clash)),
        (
            "nobody",
            scenario("nobody", "", whole).replace("triage", "traige"),
        ),
        (
            "empty",
            scenario("empty", "", whole).replace("  inputs:\n    ticket: No invoice came.\n", ""),
        ),
        ("slip", scenario("slip", "    tiket: x\n", whole)),
        (
            "lost",
            scenario(
                "lost",
                "  file_context: {docs/runbook.md: !file gone.md}\n",
                whole,
            ),
        ),
    ];
    let project = files.iter().fold(sample(), |project, (name, text)| {
        project.with_file(&format!("scenarios/{name}.yaml"), text)
    });
    let run = project.run(&["eval", "--json"]).exits_with(1);
    let card: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let told = |case: &serde_json::Value| {
        let path = case["path"]
            .as_str()
            .unwrap()
            .trim_start_matches("scenarios/")
            .to_owned();
        format!(
            "{path}: {} {}",
            case["verdict"].as_str().unwrap(),
            case["trouble"].as_str().unwrap_or("-")
        )
    };
    let told: Vec<String> = card["cases"].as_array().unwrap().iter().map(told).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    clash.yaml: error impossible-expectation (CTX614): scenarios/clash.yaml:8:19: at most 1 tokens are allowed, and at least 2 are expected
    empty.yaml: error missing-input (CTX613): scenarios/empty.yaml:2:7: the task `triage` needs a value for `ticket`
    fine.yaml: pass -
    lost.yaml: error missing-frozen-file (CTX619): scenarios/lost.yaml:7:41: there is no file `scenarios/gone.md`
    nobody.yaml: error unknown-receiver (CTX610): scenarios/nobody.yaml:2:7: the project has no task `traige`; did you mean `triage`?
    slip.yaml: error unknown-input (CTX612): scenarios/slip.yaml:7:5: the task `triage` takes no value `tiket`
    twin.yaml: error duplicate-case (CTX618): scenarios/twin.yaml:1:7: another case is called `fine`
    ");
    // A rule that the project turns off does not stop the run.
    let off = "[lints]\nimpossible-expectation = \"off\"\n";
    project.write_file("ctxc.toml", off);
    project
        .run(&["eval", "scenarios/clash.yaml"])
        .exits_with(1)
        .stdout_contains("1 failed");
}

#[test]
fn ids_that_nothing_has_are_reported() {
    let lines = "expect_context:
  - segment: {id: 'input:txt', state: kept}
  - segment: {id: 'input:ticket', state: absent}
  - segment: {id: 'inherited:input:text#2', state: absent}
  - segment: {id: 'file:src/nosuch.rs', state: kept}
  - segment: {id: 'file:runbook.md', state: absent}
  - segment: {id: 'file:secrets.env', state: absent}
  - tokens: {of: {id: 'fresh:T-18'}, max: 9}
  - any_of: [{contains: {in: 'input:nothing', patterns: [a]}}]
  - order: [description, 'fresh:T-17']
";
    let text = scenario("ids", "  retrieval: {T-17: Logins fail.}\n", lines);
    let project = sample().with_file("scenarios/ids.yaml", text);
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    scenarios/ids.yaml:9:19: warning[unknown-segment]: no agent of `triage` is shown an input `txt`
    scenarios/ids.yaml:12:19: warning[unknown-segment]: no agent of `triage` is shown a file `src/nosuch.rs`
    scenarios/ids.yaml:13:19: warning[unknown-segment]: no agent of `triage` is shown a file `runbook.md`
    scenarios/ids.yaml:15:23: warning[unknown-segment]: no agent of `triage` is shown a match `T-18`
    ");
    project.run(&["check", "--fix", "--unsafe-fixes"]);
    let fixed = project.read_file("scenarios/ids.yaml");
    assert!(
        fixed.contains("{id: 'input:text', state: kept}\n  - segment: {id: 'input:ticket'"),
        "{fixed}"
    );
    assert!(
        fixed.contains("{id: 'file:docs/runbook.md', state: absent}"),
        "{fixed}"
    );
}

/// The frozen file is the shown file, for every notation of its path.
#[test]
fn frozen_files_are_found_however_they_are_written() {
    let lines = "expect_context:\n  - contains: [Frozen]\n  - absent: [Restart]\n";
    for written in [
        "docs/runbook.md",
        "./docs/runbook.md",
        "docs//runbook.md",
        "docs/x/../runbook.md",
    ] {
        let text = scenario(
            "frozen",
            &format!("  file_context: {{\"{written}\": Frozen.}}\n"),
            lines,
        );
        let project = sample().with_file("scenarios/frozen.yaml", text);
        assert_eq!(found(&project), [""; 0], "{written}");
        project.run(&["eval", "--out", "card.json"]).exits_with(0);
        // The later content of the live file is no part of the case.
        project.write_file("docs/runbook.md", "Changed.\n");
        project
            .run(&["eval", "--since", "card.json"])
            .exits_with(0)
            .stdout_contains("1 carried");
    }
    let files = "  file_context:\n    docs/runbok.md: a\n    ../x.md: b\n    docs/runbook.md: c\n    ./docs/runbook.md: d\n    src/a.rs: e\n";
    let project = sample().with_file("scenarios/frozen.yaml", scenario("frozen", files, lines));
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    scenarios/frozen.yaml:8:5: hint[unused-frozen-file]: no agent of `triage` is shown `docs/runbok.md`
    scenarios/frozen.yaml:9:5: error[wrong-scenario-value]: `context.file_context` is `../x.md`; expected the path of a file inside the project, from the folder of ctxc.toml: `src/a.rs`
    scenarios/frozen.yaml:11:5: error[wrong-scenario-value]: `context.file_context` is `./docs/runbook.md`; expected another file: `docs/runbook.md` is the same one
    scenarios/frozen.yaml:12:5: hint[unused-frozen-file]: no agent of `triage` is shown `src/a.rs`
    ");
    let project = sample().with_file(
        "scenarios/frozen.yaml",
        scenario(
            "frozen",
            "  file_context:\n    docs/runbok.md: a\n    src/a.rs: e\n",
            lines,
        ),
    );
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    scenarios/frozen.yaml:8:5: warning[unused-frozen-file]: no agent of `triage` is shown `docs/runbok.md`
    scenarios/frozen.yaml:9:5: hint[unused-frozen-file]: no agent of `triage` is shown `src/a.rs`
    ");
}

#[test]
fn what_expects_nothing_is_reported() {
    let lines = "expect_context:
  - contains: ''
  - contains: ['.*']
  - contains: {in: 'input:text', patterns: ['.*']}
  - tokens: {max: 5000}
expectations:
  - contains: ['x?']
  - field_matches: {path: $.a, pattern: '.*'}
";
    let role = scenario("idle", "", lines).replace("task: triage", "role: triage");
    let project = sample().with_file("scenarios/idle.yaml", role);
    project.write_file("ctxc.toml", "[roles.triage]\nmodel = \"m\"\nbudget = { tokens = 5000 }\n[models.m]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n");
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    scenarios/idle.yaml:8:15: warning[impossible-expectation]: every text matches this pattern, so it expects nothing
    scenarios/idle.yaml:9:16: warning[impossible-expectation]: every text matches this pattern, so it expects nothing
    scenarios/idle.yaml:13:16: warning[impossible-expectation]: every text matches this pattern, so it expects nothing
    ");
}

#[test]
fn suites_without_cases_and_every_bad_row_are_reported() {
    let project = sample().with_file("scenarios/none.yaml", "id: none\ncases: []\n");
    let table = "id: table\ncases_from: rows.csv\ndefaults: {task: triage, context: {objective: sort}, expect_context: [{nothing_cut: true}]}\n";
    let project = project.with_file("scenarios/table.yaml", table);
    let project = project.with_file(
        "scenarios/rows.csv",
        "id,ticket\n1,late\n2\n3,a,b\n4,late\n",
    );
    let bare = project.with_file(
        "scenarios/bare.yaml",
        table.replace("table", "bare").replace("rows", "bare"),
    );
    let project = bare.with_file("scenarios/bare.csv", "id,ticket\n");
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    scenarios/bare.yaml:2:13: error[bad-case-table]: the cases of `bare.csv` cannot be read: it has no row
    scenarios/none.yaml:2:8: error[wrong-scenario-value]: `cases` is `[]`; expected a list of 1 or more
    scenarios/table.yaml:2:13: error[bad-case-table]: the cases of `rows.csv` cannot be read: line 3 has 1 field, but the first line has 2 columns
    scenarios/table.yaml:2:13: error[bad-case-table]: the cases of `rows.csv` cannot be read: line 4 has 3 fields, but the first line has 2 columns
    ");
}

#[test]
fn places_and_stored_requests_that_are_not_what_they_seem_are_reported() {
    let text = |name: &str| scenario(name, "", "expect_context:\n  - snapshot: true\n");
    let project = sample()
        .with_file("scenarios/a.yaml", text("Refund"))
        .with_file("scenarios/b.yaml", text("refund"));
    project.write_file(
        "ctxc.toml",
        "[eval]\nscenarios = [\"scenarios\", \"scenaros\", \"tests/agents\"]\n",
    );
    insta::assert_snapshot!(found(&project).join("\n"), @r"
    ctxc.toml:2:27: warning[empty-scenario-folder]: there is no scenario at `scenaros`
    ctxc.toml:2:39: warning[empty-scenario-folder]: there is no scenario at `tests/agents`
    scenarios/b.yaml:1:7: warning[duplicate-case]: the stored requests `scenarios/snapshots/refund.json` and `scenarios/snapshots/Refund.json` are the same file where case is ignored
    ");
}
