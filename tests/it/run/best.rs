//! Scenarios of the runs that add the most to the existing ones.

use super::support::{newest_trace_file, project_with_templates, run_scripted, state_folder};
use super::traces::with_state;
use crate::cli::project::Project;
use pretty_assertions::assert_eq;

/// A ticket takes one of two ways.
const CHOICE: &str = r#"<task type="sequential" name="t"><description>Handle {{x}}.</description>
    <parameters><parameter name="x" type="string" required="true"/></parameters><steps>
    <task as="sort"><description>Sort {{x}}.</description></task>
    <cond><case test="sort == 'bill'"><task><description>Refund {{x}}.</description></task></case>
    <case test="sort != 'bill'"><task><description>Answer {{x}}.</description></task></case></cond></steps></task>"#;
const ONE: &str = r#"<task type="atomic" name="one"><description>Say {{x}}.</description><parameters><parameter name="x" type="string" required="true"/></parameters></task>"#;

fn go(project: &Project, task: &str, x: &str, answers: &str) {
    drop(run_scripted(
        project,
        &[task, "-i", &format!("x={x}")],
        answers,
    ));
}

fn runs() -> Project {
    let project = project_with_templates(&[("t", CHOICE), ("one", ONE)]);
    let go = |task: &str, x: &str, answers: &str| go(&project, task, x, answers);
    go(
        "t",
        "a",
        "- {when: {node: sort}, reply: bill}\n- {reply: done}\n",
    );
    go(
        "t",
        "b",
        "- {when: {node: sort}, reply: bill}\n- {reply: done}\n",
    );
    go(
        "t",
        "c",
        "- {when: {node: sort}, reply: other}\n- {reply: done}\n",
    );
    go(
        "t",
        "d",
        "- {when: {node: sort}, reply: other}\n- {reply: {status: FAILED, content: no}}\n",
    );
    go("one", "e", "- {reply: said}\n");
    project
}

fn scenarios(project: &Project) -> Vec<String> {
    let is_one = |path: &String| {
        path.strip_prefix("scenarios/")
            .is_some_and(|rest| !rest.contains('/'))
    };
    project.files().into_iter().filter(is_one).collect()
}

#[test]
fn each_run_that_is_chosen_adds_a_way_and_the_next_command_adds_none() {
    let project = runs();
    let first = with_state(&project, &["new", "scenario", "--best", "2"])
        .exits_with(0)
        .stderr_contains("2 of 5 kept runs chosen: they cover the most");
    // One for each task, before a second one of any.
    assert_eq!(
        scenarios(&project),
        ["scenarios/one-1.yaml", "scenarios/t-1.yaml"],
        "{}",
        first.stdout
    );
    assert!(
        project.read_file("scenarios/t-1.yaml").contains("x: c"),
        "{}",
        project.read_file("scenarios/t-1.yaml")
    );
    with_state(&project, &["new", "scenario", "--best", "9", "t"])
        .exits_with(0)
        .stderr_contains("2 of 4 kept runs chosen: no other run");
    assert_eq!(scenarios(&project).len(), 4);
    with_state(&project, &["check"]).exits_with(0);
    with_state(&project, &["eval"]).exits_with(0);
    let none = with_state(&project, &["new", "scenario", "--best", "9"])
        .exits_with(5)
        .stderr_contains("0 of 5 kept runs chosen");
    none.stderr_contains("no run that a scenario can hold covers anything new");
    with_state(&project, &["new", "scenario", "--best", "0"])
        .exits_with(2)
        .stderr_contains("'--best <N>'");
}

#[test]
fn a_complete_run_goes_before_newer_ones_that_failed_were_broken_off_or_had_no_answer() {
    let project = project_with_templates(&[("one", ONE)]);
    go(&project, "one", "good", "- {reply: said}\n");
    go(
        &project,
        "one",
        "bad",
        "- {reply: {status: FAILED, content: no}}\n",
    );
    go(&project, "one", "cut", "- {reply: said}\n");
    // Its last line has the end of the run.
    let path = newest_trace_file(&state_folder(&project));
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rfind('\n').unwrap();
    std::fs::write(&path, &text[..=last]).unwrap();
    go(
        &project,
        "one",
        "unsaid",
        "- {when: {has: [never said]}, reply: said}\n",
    );
    let done = with_state(&project, &["new", "scenario", "--best", "4", "one"])
        .exits_with(0)
        .stderr_contains("1 of 4 kept runs chosen");
    assert_eq!(
        done.stderr
            .matches("is skipped: none of its calls was answered")
            .count(),
        1,
        "{}",
        done.stderr
    );
    assert!(
        project
            .read_file("scenarios/one-1.yaml")
            .contains("x: good"),
        "{}",
        project.read_file("scenarios/one-1.yaml")
    );
}

#[test]
fn what_no_scenario_can_hold_is_passed_over_and_wrong_choices_are_refused() {
    let project = runs();
    project.write_file("templates/one.xml", ONE.replace("Say", "Tell"));
    let none = with_state(&project, &["new", "scenario", "--best", "3"]).exits_with(5);
    none.stderr_contains("the templates have changed since")
        .stderr_contains("0 of 5 kept runs chosen");
    // Those of other tasks are neither counted nor named.
    let one = with_state(&project, &["new", "scenario", "--best", "3", "one"])
        .exits_with(5)
        .stderr_contains("0 of 1 kept run chosen");
    assert_eq!(
        one.stderr.matches("is skipped").count(),
        1,
        "{}",
        one.stderr
    );
    project.write_file(
        "templates/two.xml",
        ONE.replace("name=\"one\"", "name=\"two\""),
    );
    with_state(&project, &["new", "scenario", "--best", "5", "two"])
        .exits_with(5)
        .stderr_contains("no run of `two` is kept");
    let single = with_state(
        &project,
        &["new", "scenario", "--best", "3", "--from", "run:last"],
    )
    .exits_with(2)
    .stderr_contains("--from 'run:*'");
    single.stderr_contains("`run:last` is a single run; `--best` takes `run:PREFIX*`");
    let early = with_state(
        &project,
        &["new", "scenario", "--best", "3", "--from", "run:1999*"],
    )
    .exits_with(5);
    early.stderr_contains("no run whose name begins with `1999` is kept");
    with_state(&project, &["new", "scenario", "--best", "3", "tt"])
        .exits_with(2)
        .stderr_contains("there is no task `tt`");
    with_state(
        &project,
        &["new", "scenario", "--best", "3", "t", "--name", "x"],
    )
    .exits_with(2);
}

#[test]
fn of_several_scenarios_none_is_written_if_one_is_refused() {
    const VALUE: &str = "q7Zp2Lx9Vt4Kc8Rw1Nb6Yd3Hs5Jf0GmA";
    let project = runs();
    go(
        &project,
        "t",
        &format!("say {VALUE}"),
        "- {when: {node: sort}, reply: bill}\n- {reply: done}\n",
    );
    go(&project, "one", "plain", "- {reply: said}\n");
    project.write_file(".env", format!("SHOP_TOKEN={VALUE}\n"));
    let best = ["new", "scenario", "--best", "2"];
    with_state(&project, &best)
        .exits_with(2)
        .stderr_contains("would hold the value of `SHOP_TOKEN` in .env");
    assert_eq!(scenarios(&project), [""; 0]);
    with_state(&project, &[&best[..], &["--allow-secrets"]].concat()).exits_with(0);
    assert_eq!(scenarios(&project).len(), 2);
}

#[test]
fn what_the_archivist_proposes_is_a_comment_until_somebody_takes_it_over() {
    let project = runs();
    let propose = [
        "new",
        "scenario",
        "--from",
        "run:last",
        "--propose",
        "--script",
        "archivist.yaml",
    ];
    with_state(&project, &propose)
        .exits_with(2)
        .stderr_contains("--propose asks the role `archivist`, which ctxc.toml does not have");
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.archivist]\ntemplate = \"one\"\nsystem = \"You record what there is.\"\n",
    );
    let reply = r#"{"name": "said-once", "reason": "it was said\nonce\u2028or\u0085twice", "expectations": [{"contains": ["(?i)said\u2029?"]}, {"contains": ["[a-"]}, {"wish": 1}]}"#;
    project.write_file(
        "archivist.yaml",
        format!("answers:\n- {{when: {{has: [You record what there is, 'name: one-1', said]}}, reply: {reply}}}\n"),
    );
    with_state(&project, &propose[..5])
        .exits_with(2)
        .stderr_contains("asking a model is not permitted in this project");
    with_state(&project, &propose).exits_with(0);
    let text = project.read_file("scenarios/one-1.yaml");
    let expected = "# Proposed by the role `archivist`; nothing of it holds before somebody takes it over.\n\
        # name: \"said-once\"\n# reason: \"it was said\\nonce or twice\"\n# expectations:\n#   - {\"contains\":[\"(?i)said ?\"]}\n# (2 more left out: no expectation that scenarios know)\n# What one";
    assert!(text.starts_with(expected), "{text}");
    assert!(!text.contains(['\u{85}', '\u{2028}', '\u{2029}']), "{text}");
    with_state(&project, &["check"]).exits_with(0);
    with_state(&project, &["eval"]).exits_with(0);
    project.write_file(
        "archivist.yaml",
        "answers:\n- {reply: I would rather not}\n",
    );
    with_state(&project, &propose)
        .exits_with(3)
        .stderr_contains("the archivist proposes nothing");
    assert_eq!(scenarios(&project).len(), 1);
    with_state(
        &project,
        &["new", "scenario", "--from", "@last#1", "--propose"],
    )
    .exits_with(2)
    .stderr_contains("--propose is for runs");
}
