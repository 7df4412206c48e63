//! `ctxc eval` and `ctxc new scenario`: screens, exit codes, files, snapshots, and the cases that
//! are run again.

use super::gate::git;
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::Value;

const TRIAGE: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort the ticket.</description>
  <parameters>
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>
  </parameters>
  <inputs>
    <input name=\"text\" from=\"ticket\" trust=\"untrusted\"/>
  </inputs>
  <system>You triage support tickets.</system>
  <file_paths source=\"literal\">
    <path>docs/runbook.md</path>
  </file_paths>
  <context_management>
    <inherit_context>none</inherit_context>
    <fresh_context>disabled</fresh_context>
  </context_management>
</task>
";

pub(crate) fn sample() -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/triage.xml", TRIAGE);
    project
        .with_file("docs/runbook.md", "Restart it.\n")
        .with_file("samples/t1.txt", "No invoice came.\n")
}

/// A scenario of the task with these lines below its situation.
pub(super) fn scenario(name: &str, lines: &str) -> String {
    format!(
        "name: {name}\ntask: triage\ntags: [{name}-tag]\ncontext:\n  objective: sort it\n  inputs:\n    ticket: No invoice came.\n{lines}"
    )
}

#[test]
fn a_scenario_written_from_a_render_passes_and_fails_when_the_context_moves() {
    let project = sample();
    let made = project
        .run(&[
            "new",
            "scenario",
            "triage",
            "--input",
            "ticket=@samples/t1.txt",
        ])
        .exits_with(0)
        .stderr_is_empty();
    assert_eq!(
        made.stdout,
        "wrote scenarios/triage-t1.yaml and scenarios/snapshots/triage-t1.json: 7 expectations on the context, taken from this render; add what the answer must satisfy\n"
    );
    insta::assert_snapshot!(project.read_file("scenarios/triage-t1.yaml"), @r#"
    # What triage receives today, as `ctxc new scenario` took it from a render. Take out what may change, and
    # add what the answer must satisfy: `expectations`.
    # No word may change: `ctxc eval --accept` takes over a change that is meant, after showing it.
    schema: ctxc/scenario/1
    name: triage-t1
    task: triage
    context:
      objective: "Sort the ticket."
      inputs:
        ticket: {file: "../samples/t1.txt"}
    expect_context:
      - segments: {exactly: [system, "file:docs/runbook.md", description, "input:text"]}
      - nothing_cut: true
      - trust: {segment: "input:text", is: untrusted}
      - tokens: {of: total, max: 80}
      - setting: {name: inherit_context, value: none}
      - setting: {name: fresh_context, value: disabled}
      - snapshot: true
    "#);
    let run = project.run(&["eval"]).exits_with(0).stderr_is_empty();
    assert_eq!(
        run.stdout,
        "✓ PASS (context only)  triage-t1  context 7/7  answer not recorded\n\
         1 scenario: 1 passed, 0 failed, 0 errored; 0 carried, 0 calls, US$ 0\n"
    );
    project.run(&["check"]).exits_with(0);
    let moved = TRIAGE.replace(
        "  <file_paths source=\"literal\">\n    <path>docs/runbook.md</path>\n  </file_paths>\n",
        "",
    );
    project.write_file("templates/triage.xml", &moved);
    let run = project.run(&["eval"]).exits_with(1).stderr_is_empty();
    insta::assert_snapshot!(run.stdout, @r"
    ✗ FAIL  triage-t1  context 5/7  answer not recorded
      scenarios/triage-t1.yaml:12: expected exactly `system`, `file:docs/runbook.md`, `description`, `input:text`, found no `file:docs/runbook.md`
        segments here: system, description, input:text
      scenarios/triage-t1.yaml:18: expected the request as stored in scenarios/snapshots/triage-t1.json, found message 1 (system), line 2: nothing in place of “## File: docs/runbook.md”
        at templates/triage.xml:9
        `ctxc eval --accept` shows what changed and stores it
    1 scenario: 0 passed, 1 failed, 0 errored; 0 carried, 0 calls, US$ 0
    ");
    // An existing file is never overwritten, and a name is given once.
    let again = [
        "new",
        "scenario",
        "triage",
        "--input",
        "ticket=x",
        "--name",
        "triage-t1",
    ];
    project
        .run(&again)
        .exits_with(2)
        .stderr_contains("there is a scenario `triage-t1` already");
    project.write_file("scenarios/other.yaml", "");
    let named = [
        "new",
        "scenario",
        "triage",
        "--input",
        "ticket=x",
        "--name",
        "b",
        "--output",
        "scenarios/other.yaml",
    ];
    project
        .run(&named)
        .exits_with(2)
        .stderr_contains("scenarios/other.yaml already exists and is never overwritten");
    assert_eq!(project.read_file("scenarios/other.yaml"), "");
    project
        .run(&["new", "scenario", "triage", "--name", "c"])
        .exits_with(2)
        .stderr_contains("`ticket` has no value");
    project
        .run(&["new", "scenario", "triag"])
        .exits_with(2)
        .stderr_contains("did you mean `triage`?");
}

#[test]
fn coverage_names_every_agent_and_what_is_held_of_it() {
    let plan = "<task type=\"sequential\" name=\"plan\"><description>Plan.</description><steps><task as=\"draft\"><description>Draft.\
        </description></task><task ref=\"triage\"/><task><description>Check {{draft}}.</description></task></steps></task>";
    let project = sample().with_file("templates/plan.xml", plan);
    project.write_file(
        "scenarios/a.yaml",
        scenario(
            "a",
            "expect_context:\n  - not: {contains: [Restrat]}\nexpectations:\n  - contains: x\n",
        ),
    );
    project
        .run(&["new", "scenario", "plan", "--node", "draft"])
        .exits_with(2)
        .stderr_contains("`ticket` has no value");
    project
        .run(&[
            "new", "scenario", "plan", "--node", "draft", "--input", "ticket=x",
        ])
        .exits_with(0);
    assert!(
        project
            .read_file("scenarios/plan-1.yaml")
            .contains("task: plan\nnode: draft\n")
    );
    let run = project.run(&["eval", "--coverage"]).exits_with(0);
    insta::assert_snapshot!(run.stdout, @r"
    plan --node draft  1 scenario: nothing_cut, segments, setting, snapshot, tokens
    plan --node /steps/2  no scenario
    triage  1 scenario: answer, contains
    2 of 3 agents tested
    ");
    project
        .run(&["eval", "plan-1"])
        .exits_with(0)
        .stdout_contains("1 scenario: 1 passed");
}

#[test]
fn each_ending_has_its_exit_code() {
    let project = sample();
    project
        .run(&["eval"])
        .exits_with(5)
        .stderr_contains("no scenario to run")
        .stderr_contains("`ctxc new scenario TASK` writes one");
    project
        .run(&["eval", "--allow-empty"])
        .exits_with(0)
        .stdout_is_empty();
    for project in [&project, &Project::new()] {
        let empty = project
            .run(&["eval", "--allow-empty", "--json", "--junit", "empty.xml"])
            .exits_with(0)
            .json();
        assert_eq!(
            (&empty["schema"], &empty["summary"]["planned"]),
            (&"ctxc/scorecard/1".into(), &0.into())
        );
        assert_eq!(empty["cases"].as_array().map(Vec::len), Some(0));
        assert!(
            project
                .read_file("empty.xml")
                .contains("<testsuites name=\"ctxc eval\" tests=\"0\"")
        );
        let changes = project
            .run(&["eval", "--allow-empty", "--mutate", "--json"])
            .exits_with(0)
            .json();
        assert_eq!(changes["agents"].as_array().map(Vec::len), Some(0));
    }
    let pass = scenario("fine", "expect_context:\n  - contains: [Restart]\n");
    let fail = scenario("wrong", "expect_context:\n  - absent: [Restart]\n");
    let script = "expectations:\n  - contains: [billing]\nanswers:\n  - when: {has: [REFUND]}\n    reply: billing\n";
    let error = scenario("lost", script);
    project.write_file("scenarios/fine.yaml", pass);
    project.write_file("scenarios/wrong.yaml", fail);
    project.run(&["eval", "fine"]).exits_with(0);
    project
        .run(&["eval", "scenarios/wrong.yaml"])
        .exits_with(1)
        .stdout_contains("found “Restart” in the system message");
    project
        .run(&["eval", "--tag", "fine-tag"])
        .exits_with(0)
        .stdout_contains("1 scenario: 1 passed");
    project.run(&["eval", "--filter", "^fi"]).exits_with(0);
    project
        .run(&["eval", "--filter", "("])
        .exits_with(2)
        .stderr_contains("/(/ is not a valid pattern: unclosed group");
    project
        .run(&["eval", "--role", "nobody"])
        .exits_with(2)
        .stderr_contains("there is no role `nobody` in this project");
    project
        .run(&["eval", "--tag", "nobody"])
        .exits_with(5)
        .stderr_contains("the arguments select none of the project's scenarios");
    project
        .run(&["eval", "fin"])
        .exits_with(2)
        .stderr_contains("there is no scenario, suite, file or folder `fin`")
        .stderr_contains("did you mean `fine`?");
    project.write_file("scenarios/lost.yaml", error);
    let all = project.run(&["eval"]).exits_with(3);
    all.stdout_contains("3 scenarios: 1 passed, 1 failed, 1 errored; 0 carried")
        .stdout_contains("none of the 1 scripted answers is for this request");
    project.write_file("scenarios/broken.yaml", "name: [\n");
    // One unreadable file stops none of the others, under any selection.
    project.write_file("scenarios/blob.yaml", [0xff, 0xfe, 0x00]);
    let all = project
        .run(&["eval"])
        .exits_with(3)
        .stdout_contains("5 scenarios: 1 passed, 1 failed, 3 errored; 0 carried");
    all.stdout_contains("scenarios/broken.yaml:1: nothing of this file is run: scenario-syntax (CTX601): scenarios/broken.yaml:1:7: ");
    project
        .run(&["eval", "fine"])
        .exits_with(0)
        .stdout_contains("1 scenario: 1 passed")
        .stderr_is_empty();
    project
        .run(&["eval", "scenarios/fine.yaml"])
        .exits_with(0)
        .stdout_contains("1 scenario: 1 passed");
    project
        .run(&["eval", "--filter", "^fine$"])
        .exits_with(1)
        .stdout_contains("3 scenarios: 1 passed, 0 failed, 2 errored")
        .stdout_contains("fine ");
    project
        .run(&["eval", "--tag", "fine-tag", "--junit", "junit.xml"])
        .exits_with(1)
        .stdout_contains("scenarios/broken.yaml");
    assert!(project.read_file("junit.xml").contains("errors=\"2\""));
    project
        .run(&["eval", "scenarios/broken.yaml"])
        .exits_with(1)
        .stdout_contains("1 scenario: 0 passed, 0 failed, 1 errored");
    project
        .run(&["eval", "fine", "--out", "card.json"])
        .exits_with(0);
    project
        .run(&["eval", "--since", "card.json", "--filter", "^fine$"])
        .exits_with(1)
        .stdout_contains("1 carried");
    // The same holds for a removed task, role or input: the author of the removal sees an error.
    let project = sample();
    let gone = [
        ("task: triage", "task: triag"),
        ("task: triage", "role: nobody"),
        ("ticket: No", "tickt: No"),
    ];
    for (from, to) in gone {
        project.write_file(
            "scenarios/a.yaml",
            scenario("a", "expect_context:\n  - nothing_cut: true\n").replace(from, to),
        );
        project
            .run(&["eval"])
            .exits_with(1)
            .stdout_contains("ERROR")
            .stdout_contains("scenarios/a.yaml:1: unknown-");
    }
    // An unreadable context is a failure of its own.
    let project = sample().with_file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - nothing_cut: true\n"),
    );
    let later = "<?ctxc allow unreadable-path reason=\"later\"?><path>docs/gone.md";
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("<path>docs/runbook.md", later),
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("context 0/1")
        .stdout_contains("templates/triage.xml:11: there is no context: docs/gone.md cannot be read: it does not exist\n");
}

#[test]
fn the_scorecard_is_the_same_on_any_number_of_threads() {
    let mut project = sample();
    for number in 0..40 {
        let wrong = if number % 7 == 0 {
            "  - absent: ['Re[s]tart']\n"
        } else {
            ""
        };
        let text = scenario(
            &format!("s{number:02}"),
            &format!("expect_context:\n  - contains: [Restart]\n{wrong}"),
        );
        project = project.with_file(&format!("scenarios/s{number:02}.yaml"), text);
    }
    let one = project
        .run(&["eval", "--json", "--threads", "1"])
        .exits_with(1)
        .stdout;
    let four = project
        .run(&["eval", "--json", "--threads", "4", "--out", "card.json"])
        .exits_with(1)
        .stdout;
    assert_eq!(one, four);
    assert_eq!(project.read_file("card.json"), one);
    let card: Value = serde_json::from_str(&one).unwrap();
    let tags = card["summary"]["tags"].clone();
    assert_eq!(tags.as_array().map(Vec::len), Some(40));
    assert_eq!(
        card["summary"]
            .to_string()
            .replace(&format!("\"tags\":{tags},"), ""),
        "{\"planned\":40,\"answered\":0,\"passed\":34,\"failed\":6,\"stale\":0,\"errored\":0,\"inconclusive\":0,\"carried\":0,\"pass_rate\":null,\"interval\":null,\"tokens\":0,\"calls\":0,\"cost_usd\":0.0}"
    );
    let names: Vec<&str> = card["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["id"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted());
    project.run(&["eval", "--junit", "out.xml"]).exits_with(1);
    let xml = project.read_file("out.xml");
    assert!(
        xml.contains("<testsuite name=\"ctxc eval\" tests=\"40\" failures=\"6\" errors=\"0\" skipped=\"0\" time=\"0\">"),
        "{xml}"
    );
    assert_eq!(
        roxmltree::Document::parse(&xml)
            .unwrap()
            .descendants()
            .filter(|node| node.has_tag_name("failure"))
            .count(),
        6
    );
}

#[test]
fn stored_requests_are_accepted_after_they_were_shown() {
    let project = sample().with_file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - snapshot: true\n"),
    );
    let none = project.run(&["eval"]).exits_with(1);
    none.stdout_contains("found no such file")
        .stdout_contains("nothing is stored yet: `ctxc eval --accept` stores it");
    let first = project.run(&["eval", "--accept"]).exits_with(0);
    first
        .stdout_contains("+            \"You triage support tickets.\",")
        .stderr_contains("stored: scenarios/snapshots/a.json");
    assert!(
        project
            .read_file("scenarios/snapshots/a.json")
            .contains("You triage support tickets.")
    );
    project.run(&["eval"]).exits_with(0);
    project
        .run(&["eval", "--accept"])
        .exits_with(0)
        .stderr_contains("every stored request is as it was");
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("You triage", "You sort"),
    );
    project.run(&["eval"]).exits_with(1).stdout_contains(
        "message 1 (system), line 1: “You sort support tickets.” in place of “You triage",
    );
    let second = project.run(&["eval", "--accept"]).exits_with(0);
    second
        .stdout_contains("-            \"You triage support tickets.\",\n+            \"You sort support tickets.\",\n")
        .stderr_contains("stored anew: scenarios/snapshots/a.json");
    project.run(&["eval"]).exits_with(0);
    // The mark of untrusted text moves with every input; the stored request does not.
    assert!(
        project
            .read_file("scenarios/snapshots/a.json")
            .contains("<untrusted-000000000000000000000 ")
    );
    // Other faults remain.
    let more = scenario(
        "a",
        "expect_context:\n  - snapshot: true\n  - absent: [sort]\n",
    );
    project.write_file("scenarios/a.yaml", more);
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("You triage", "You do sort"),
    );
    project
        .run(&["eval", "--accept"])
        .exits_with(1)
        .stderr_contains("stored anew");
}

#[test]
fn what_no_scenario_would_notice_is_listed() {
    let project = sample().with_file(
        "scenarios/a.yaml",
        scenario(
            "a",
            "expect_context:\n  - contains: [Restart, You triage]\n",
        ),
    );
    let run = project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stderr_contains("`snapshot: true` under `expect_context` notices every change");
    insta::assert_snapshot!(run.stdout, @r"
    triage  5 of 16 changes noticed by 1 scenario (31 %)
      not detected: segment `description` dropped; `segments` would detect it
      not detected: segment `input:text` dropped; `segments` would detect it
      not detected: segment `description` loses the second half of its text; `snapshot` would detect it
      not detected: segment `input:text` loses the second half of its text; `snapshot` would detect it
      not detected: segment `system` loses the second half of its text; `snapshot` would detect it
      not detected: segment `description` loses its first word; `snapshot` would detect it
      not detected: segment `input:text` loses its first word; `snapshot` would detect it
      not detected: segment `input:text` shown without its fence; `trust` would detect it
      not detected: inherit_context set to full; `setting` would detect it
      not detected: inherit_context set to subset; `setting` would detect it
      not detected: fresh_context set to enabled; `setting` would detect it
    ");
    // A case that fails before any mutation is skipped and reported.
    project.write_file(
        "scenarios/b.yaml",
        scenario("b", "expect_context:\n  - absent: [Restart]\n"),
    );
    let run = project.run(&["eval", "--mutate"]).exits_with(1);
    run.stdout_contains("by 1 scenario (31 %)").stdout_contains(
        "not asked: `b` fails before anything is changed, so nothing can be learned from it",
    );
    let found = project
        .run(&["eval", "--mutate", "--json"])
        .exits_with(1)
        .stderr_is_empty()
        .json();
    let agent = &found["agents"][0];
    assert_eq!(
        (&agent["subject"], &agent["tried"], &agent["noticed"]),
        (&"triage".into(), &16.into(), &5.into())
    );
    assert_eq!(
        agent["unnoticed"][0],
        serde_json::json!({"change": "segment_dropped", "name": "description", "noticed_by": "segments"})
    );
    assert_eq!(
        agent["unnoticed"][8],
        serde_json::json!({"change": "setting", "name": "inherit_context", "value": "full", "noticed_by": "setting"})
    );
    assert_eq!(found["not_asked"], serde_json::json!(["b"]));
    assert_eq!(
        (&found["totals"], &found["untested"]),
        (
            &serde_json::json!({"tried": 16, "noticed": 5}),
            &serde_json::json!([])
        )
    );
}

#[test]
fn unchanged_scenarios_that_passed_are_carried() {
    let project = sample();
    let other = TRIAGE
        .replace("name=\"triage\"", "name=\"other\"")
        .replace("docs/runbook.md", "docs/other.md");
    project.write_file("templates/other.xml", &other);
    project.write_file("docs/other.md", "Restart that.\n");
    let restart = "expect_context:\n  - contains: [Restart]\n";
    project.write_file("scenarios/a.yaml", scenario("a", restart));
    project.write_file(
        "scenarios/b.yaml",
        scenario("b", restart).replace("task: triage", "task: other"),
    );
    project
        .run(&["eval", "--out", "card.json"])
        .exits_with(0)
        .stdout_contains("2 passed");
    // Compares with the last card, and leaves the next one.
    let carried = |code: i32| {
        let card = project
            .run(&[
                "eval",
                "--json",
                "--since",
                "card.json",
                "--out",
                "card.json",
            ])
            .exits_with(code)
            .json();
        let carried = |case: &&Value| !case["carried_from"].is_null();
        let all = card["cases"].as_array().unwrap().iter().filter(carried);
        all.map(|case| case["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(carried(0), ["a", "b"]);
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(0)
        .stdout_contains(
            "✓ CARRIED PASS (context only)  a  context 1/1  answer not recorded, from b3:",
        )
        .stdout_contains("2 passed, 0 failed, 0 errored; 2 carried");
    // A comment and white space move nothing.
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("  <system>", "  <!-- who -->\n\n      <system>"),
    );
    project.write_file(
        "scenarios/b.yaml",
        format!(
            "# a note\n\n{}",
            scenario("b", restart).replace("task: triage", "task: other")
        ),
    );
    assert_eq!(carried(0), ["a", "b"]);
    // A text, a file that a template names, and an expectation do.
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("You triage", "You sort"),
    );
    assert_eq!(carried(0), ["b"]);
    assert_eq!(carried(0), ["a", "b"]);
    project.write_file("docs/other.md", "Restart it all.\n");
    assert_eq!(carried(0), ["a"]);
    project.write_file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - absent: [Restart]\n"),
    );
    assert_eq!(carried(1), ["b"]);
    // A failed case is run until it passes.
    assert_eq!(carried(1), ["b"]);
}

/// Makes the project a repository with one commit, `main`.
pub(crate) fn commit(project: &Project) {
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let who = [
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "init.defaultBranch=main",
        ];
        command
            .envs([
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
            ])
            .env_remove("GIT_DIR");
        let done = command
            .current_dir(project.path(""))
            .args(who)
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
}

#[test]
fn a_revision_of_git_can_be_compared_with() {
    let project = sample();
    let restart = "expect_context:\n  - contains: [Restart]\n";
    project.write_file("scenarios/a.yaml", scenario("a", restart));
    project.write_file(
        "scenarios/b.yaml",
        scenario("b", restart)
            .replace("    ticket: No", "    ticket: !file t.txt\n")
            .replace(" invoice came.\n", ""),
    );
    project.write_file("scenarios/t.txt", "words\n");
    commit(&project);
    let run_of = |args: &[&str]| {
        let card = project
            .run(&[&["eval", "--json"], args].concat())
            .exits_with(0)
            .json();
        let all = card["cases"].as_array().unwrap().iter();
        all.map(|case| case["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let none = project
        .run(&["eval", "--since", "main"])
        .exits_with(0)
        .stdout_contains("0 scenarios: 0 passed");
    none.stderr_contains("2 scenarios did not change since main: not run");
    project.write_file("scenarios/t.txt", "other words\n");
    assert_eq!(run_of(&["--since", "main"]), ["b"]);
    assert_eq!(run_of(&["--affected"]), ["b"]);
    // A commit of the branch is a change as well: it is compared with where the branch began, as
    // the gate does.
    git(&project, &["checkout", "-q", "-b", "work"]);
    git(&project, &["commit", "-q", "-a", "-m", "second"]);
    let affected = project.run(&["eval", "--affected"]).exits_with(0);
    assert!(
        affected.stderr.contains("1 scenario did not change since ")
            && affected.stderr.contains(" of main: not run"),
        "{}",
        affected.stderr
    );
    git(&project, &["checkout", "-q", "main"]);
    project.write_file("scenarios/t.txt", "other words\n");
    project.write_file("ctxc.toml", "edition = \"2026\"\n# a comment\n");
    project.write_file("scenarios/t.txt", "words\n");
    assert_eq!(run_of(&["--since", "main"]), Vec::<String>::new());
    project.write_file("docs/runbook.md", "Restart all of it.\n");
    assert_eq!(run_of(&["--since", "main"]), ["a", "b"]);
    let gone = project
        .run(&["eval", "--since", "mian"])
        .exits_with(2)
        .stderr_contains("there is no revision `mian`");
    gone.stderr_contains("there is no file mian either; `ctxc eval --out FILE` writes a scorecard");
    project.write_file("x.json", "{}");
    project
        .run(&["eval", "--since", "x.json"])
        .exits_with(2)
        .stderr_contains("x.json is neither a revision nor a scorecard");
}

/// A project with a scenario for every verdict.
pub(crate) fn every_ending() -> Project {
    let roles = "edition = \"2026\"\n[roles.sorter]\ntemplate = \"triage\"\nmodel = \"small\"\ntools = [\"search\"]\n\
        [models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n[lints]\nmissing-input = \"warning\"\n";
    let mut project = sample().with_file("ctxc.toml", roles);
    let script = |expected: &str, rule: &str| {
        format!("expectations:\n{expected}{rule}answers:\n  - reply: billing\n")
    };
    let texts = [
        (
            "holds",
            "expect_context:\n  - contains: [Restart]\n".to_owned(),
        ),
        (
            "found",
            "expect_context:\n  - absent: {in: \"file:docs/runbook.md\", patterns: [Restart]}\n"
                .to_owned(),
        ),
        (
            "typed",
            "expect_context:\n  - absent: {in: \"input:text\", patterns: [invoice]}\n".to_owned(),
        ),
        (
            "set",
            "expect_context:\n  - setting: {name: inherit_context, value: full}\n".to_owned(),
        ),
        ("stored", "expect_context:\n  - snapshot: true\n".to_owned()),
        (
            "answered",
            script(
                "  - contains: [billing]\n  - rubric: polite\n    gate: false\n",
                "",
            ),
        ),
        (
            "wrong",
            script(
                "  - contains: [data]\n  - contains: [access]\n    gate: false\n",
                "",
            ),
        ),
        ("unjudged", script("  - rubric: polite\n", "")),
        (
            "open",
            script(
                "  - contains: [billing]\n",
                "rule: {sequential: {p0: 0.6, p1: 0.9, alpha: 0.05, beta: 0.1, max: 2}}\n",
            ),
        ),
        (
            "lost",
            "expectations:\n  - contains: [x]\nanswers:\n  - when: {has: [REFUND]}\n    reply: x\n"
                .to_owned(),
        ),
        (
            "nowhere",
            "node: /steps/4\nexpect_context:\n  - nothing_cut: true\n".to_owned(),
        ),
    ];
    for (name, lines) in texts {
        project = project.with_file(&format!("scenarios/{name}.yaml"), scenario(name, &lines));
    }
    let role = scenario("role", "expect_context:\n  - model: small\n")
        .replace("task: triage", "role: sorter");
    let described = TRIAGE
        .replace("name=\"triage\"", "name=\"described\"")
        .replace("Sort the", "Sort {{ticket}}, the");
    let unfilled = scenario("unfilled", "expect_context:\n  - nothing_cut: true\n")
        .replace("task: triage", "task: described");
    let unfilled = unfilled.replace("  inputs:\n    ticket: No invoice came.\n", "");
    let suite = "id: many\nname: many of them\nversion: 2\ndefaults:\n  task: triage\n  context: {objective: sort it, inputs: {ticket: x}}\n\
        cases:\n  - id: one\n    expect_context: [{nothing_cut: true}]\n";
    let stored = project
        .with_file("scenarios/role.yaml", role)
        .with_file("templates/described.xml", described);
    stored
        .with_file("scenarios/unfilled.yaml", unfilled)
        .with_file("scenarios/many.yaml", suite)
        .with_file("scenarios/snapshots/stored.json", "other\n")
}

#[test]
fn every_ending_is_counted_and_reported() {
    let run = every_ending()
        .run(&["eval"])
        .exits_with(3)
        .stderr_is_empty();
    let told = [
        "14 scenarios: 4 passed, 6 failed, 2 errored, 2 inconclusive; 0 carried, 0 calls, US$ 0\n",
        "✓ PASS                 answered  context 0/0  answer 2 of 2 (scripted)\n",
        "✓ PASS (context only)  many/one  context 1/1  answer not recorded\n",
        "? INCONCLUSIVE         open      context 0/0  answer 2 of 2 (scripted)\n",
        "? INCONCLUSIVE         unjudged  context 0/0  answer not judged\n",
        "found no judge: ctxc.toml has no role `judge`; `ctxc new judge` writes one (skipped)\n",
        "! ERROR                lost      context 0/0  answer not recorded\n",
        "expected /data/, found it nowhere in “billing”\n",
        "expected /access/, found it nowhere in “billing” (no gate)\n",
        "    at segment `file:docs/runbook.md`, bytes 0..7, docs/runbook.md:1\n",
        "    at segment `input:text`, bytes 3..10, input `ticket`\n",
        "expected inherit_context full, found none, written in the template\n    at templates/triage.xml:14\n",
        "templates/described.xml:2: there is no context: `ticket` has no value; `context.inputs` gives it, as `ticket`\n",
    ];
    for told in told {
        assert!(run.stdout.contains(told), "{told}\n{}", run.stdout);
    }
}

#[test]
fn scenarios_are_looked_for_in_files_folders_and_patterns() {
    let project = sample();
    let text = |name: &str| scenario(name, "expect_context:\n  - contains: [Restart]\n");
    for name in [
        "agents/a/scenarios/a.yaml",
        "agents/b/scenarios/deep/b.yaml",
        "agents/b/notes/c.yaml",
        "one.yaml",
        "scenarios/d.yaml",
    ] {
        let stem = name.rsplit('/').next().unwrap().trim_end_matches(".yaml");
        project.write_file(name, text(stem));
    }
    project.write_file(
        "ctxc.toml",
        "[eval]\nscenarios = [\"agents/*/scenarios\", \"one.yaml\"]\n",
    );
    let ran = || {
        let card = project.run(&["eval", "--json"]).exits_with(0).json();
        let all = card["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| case["id"].as_str().unwrap().to_owned());
        all.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ran(), "a b one");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 4 files");
    project.write_file(
        "ctxc.toml",
        "[eval]\nscenarios = [\"{scenarios,agents/a}/**/*.yaml\", \"agents/[x\"]\n",
    );
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("`eval.scenarios` is `agents/[x`");
    project.write_file(
        "ctxc.toml",
        "[eval]\nscenarios = [\"{scenarios,agents/a}/**/*.yaml\"]\n",
    );
    assert_eq!(ran(), "a d");
}

#[test]
fn pages_hold_every_scenario_and_no_name_breaks_them() {
    let project = every_ending();
    let hostile = "expect_context:\n  - contains: [\"<img src=x onerror=alert\\\\(1\\\\)>|`*&\"]\n";
    project.write_file("scenarios/hostile.yaml", scenario("hostile", hostile));
    let card = project.run(&["eval", "--json"]).json();
    let cases = card["cases"].as_array().unwrap();
    let open = cases
        .iter()
        .filter(|case| case["verdict"] != "pass")
        .count();
    for (name, format) in [("e.html", "html"), ("e.md", "markdown")] {
        // The history grows from run to run.
        let page = project
            .run(&["eval", "--no-history", "--format", format])
            .exits_with(3)
            .stdout;
        assert!(
            !page.contains("<img")
                && !page.contains("<script")
                && !page.contains("http:")
                && !page.contains("https:"),
            "{page}"
        );
        assert_eq!(
            page.matches("<details").count(),
            open + usize::from(format == "markdown"),
            "{page}"
        );
        // An artifact may replace one of its own kind.
        for _ in 0..2 {
            project
                .run(&[
                    "eval",
                    "--no-history",
                    "--report",
                    &format!("{format}={name}"),
                ])
                .exits_with(3);
            assert_eq!(project.read_file(name), page);
        }
    }
    let html = project.read_file("e.html");
    assert_eq!(html.matches("<b>").count(), cases.len(), "{html}");
    assert!(
        html.contains("/&lt;img src=x onerror=alert\\(1\\)&gt;|`*&amp;/"),
        "{html}"
    );
    project
        .run(&["eval", "--mutate", "--format", "html"])
        .exits_with(2)
        .stderr_contains("this format is for verdicts");
}

/// `--fail-fast`: cases behind the first failure are neither run nor listed, on any number of
/// threads.
#[test]
fn nothing_runs_behind_the_first_failure_where_that_is_asked() {
    let mut project = sample();
    for (name, word) in [
        ("a", "invoice"),
        ("b", "elephant"),
        ("c", "invoice"),
        ("d", "elephant"),
    ] {
        project = project.with_file(
            &format!("scenarios/{name}.yaml"),
            scenario(name, &format!("expect_context:\n  - contains: {word}\n")),
        );
    }
    let ids = |arguments: &[&str]| {
        let card: Value =
            serde_json::from_str(&project.run(arguments).exits_with(1).stdout).unwrap();
        let cases = card["cases"].as_array().unwrap().iter();
        cases
            .map(|case| {
                format!(
                    "{} {}",
                    case["id"].as_str().unwrap(),
                    case["verdict"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&["eval", "--json"]),
        ["a pass", "b fail", "c pass", "d fail"]
    );
    for threads in ["1", "4"] {
        assert_eq!(
            ids(&["eval", "--json", "--fail-fast", "--threads", threads]),
            ["a pass", "b fail"]
        );
    }
    let run = project.run(&["eval", "--fail-fast"]).exits_with(1);
    run.stdout_contains("2 scenarios: 1 passed, 1 failed")
        .stderr_contains("2 scenarios after the first that does not pass: not run");
    project
        .run(&["eval", "--fail-fast", "a", "c"])
        .exits_with(0)
        .stdout_contains("2 passed");
}
