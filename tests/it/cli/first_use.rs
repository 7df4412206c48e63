//! The first steps of a new user: with prompts of another format, with a script among the tasks,
//! with a table of cases, with a slip in the layout of a scenario.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\">\n  <description>Sort {{ticket}} {{labels}}.</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\"/>\n    <parameter name=\"labels\" type=\"string[]\" default=\"[]\"/>\n  </parameters>\n</task>\n";
const SCRIPT: &str = "<task type=\"script\" name=\"collect\">\n  <description>Collect.</description>\n  <command>git diff</command>\n</task>\n";

fn scenario(name: &str, task: &str) -> String {
    format!(
        "name: {name}\ntask: {task}\ncontext:\n  objective: go\n  inputs: {{ticket: late}}\nexpect_context:\n  - nothing_cut: true\n"
    )
}

#[test]
fn jinja_is_reported_in_a_prompt_of_another_ending() {
    let project = Project::new()
        .with_file(
            "p/polite.prompt",
            "{% if vip %}Be polite.{% endif %} Answer {{ question }}.\n",
        )
        .with_file(
            "p/hello.prompt",
            "---\ninput:\n  schema:\n    name: string\n---\nHello {{name}}.\n",
        );
    project.run(&["import", "p"]).exits_with(0);
    assert!(
        project
            .read_file("templates/polite.xml")
            .contains("src=\"../p/polite.prompt\" syntax=\"jinja\"")
    );
    assert!(!project.read_file("templates/hello.xml").contains("jinja"));
    let run = project
        .run(&[
            "render",
            "polite",
            "--input",
            "question=why",
            "--input",
            "vip=yes",
        ])
        .exits_with(0);
    assert!(
        run.stdout.contains("Be polite. Answer why."),
        "{}",
        run.stdout
    );
}

#[test]
fn a_variant_of_a_prompt_is_no_half_of_it() {
    let text = "---\ninput:\n  schema:\n    name: string\n---\n{{role \"system\"}}\nBe kind.\n{{role \"user\"}}\nHello {{name}}.\n";
    let project = Project::new()
        .with_file("p/hello.prompt", text)
        .with_file("p/hello.system.prompt", text);
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("wrote 2 templates");
}

#[test]
fn the_template_of_a_prompt_keeps_its_name_and_is_never_another_ones() {
    let project = Project::new()
        .with_file("a/basic.j2", "First {{ x }}\n")
        .with_file("b/basic.j2", "Second {{ y }}\n");
    project
        .run(&["import", "a", "b"])
        .exits_with(0)
        .stdout_contains("a/basic.j2 (Jinja, text stays in its file) → templates/basic.xml");
    let (first, second) = (
        project.read_file("templates/basic.xml"),
        project.read_file("templates/b-basic.xml"),
    );
    for args in [
        &["import", "b/basic.j2"][..],
        &["import", "b/basic.j2", "--force"],
        &["import", "b", "a", "--force"],
    ] {
        project
            .run(args)
            .exits_with(0)
            .stdout_contains("templates/b-basic.xml already exists, unchanged");
        assert_eq!(
            (
                project.read_file("templates/basic.xml"),
                project.read_file("templates/b-basic.xml")
            ),
            (first.clone(), second.clone())
        );
        assert_eq!(
            project
                .files()
                .iter()
                .filter(|name| name.starts_with("templates/"))
                .count(),
            2
        );
    }
    project.write_file("b/basic.j2", "Changed {{ y }} and {{ z }}\n");
    project
        .run(&["import", "b/basic.j2", "--force"])
        .exits_with(0)
        .stdout_contains("→ templates/b-basic.xml");
    assert_eq!(project.read_file("templates/basic.xml"), first);
}

#[test]
fn a_prompt_of_langchain_needs_no_type_and_may_be_folded_at_the_margin() {
    let folded = "input_variables: [text]\ntemplate: 'Summarize:\n\n\n{text}\n\n\nIt''s a \"summary\".'\ntemplate_format: f-string\n";
    let project = Project::new()
        .with_file(
            "p/plain.yaml",
            "input_variables:\n  - text\ntemplate: Sum up {text}\n",
        )
        .with_file(
            "p/plain2.json",
            "{\n  \"input_variables\": [\"text\"],\n  \"template\": \"Sum up {text}\"\n}\n",
        )
        .with_file("p/folded.yaml", folded)
        .with_file("p/other.yaml", "template: page\nlayout: wide\n");
    let run = project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("wrote 3 templates");
    assert!(
        !run.stdout.contains("no YAML") && !run.stdout.contains("no text uses it"),
        "{}",
        run.stdout
    );
    assert!(
        project
            .read_file("templates/folded.xml")
            .contains("It's a \"summary\"."),
        "{}",
        project.read_file("templates/folded.xml")
    );
    project
        .run(&[
            "import",
            "--from",
            "langchain",
            "p",
            "-o",
            "templates/again",
        ])
        .exits_with(0)
        .stdout_contains("wrote 3 templates");
}

#[test]
fn a_value_that_is_asked_for_alone_may_be_anything() {
    let project = Project::new().with_file("p/s.j2", "{% if names %}There are names.{% endif %}\n");
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("names (any");
    let text = |args: &[&str]| {
        project
            .run(&[&["render", "s"], args].concat())
            .exits_with(0)
            .stdout
    };
    assert!(text(&["--input", "names=a, b"]).contains("There are names."));
    assert!(!text(&[]).contains("There are names."));
}

#[test]
fn a_script_needs_no_scenario_and_can_have_none() {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n[eval]\n")
        .with_file("templates/collect.xml", SCRIPT)
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/a.yaml", scenario("a", "t"));
    project
        .run(&["check", "-v"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project
        .run(&["new", "scenario", "collect"])
        .exits_with(2)
        .stderr_contains("`collect` calls no agent, and a scenario tests what an agent is shown");
    project.write_file(
        "scenarios/b.yaml",
        scenario("b", "collect").replace("  inputs: {ticket: late}\n", ""),
    );
    let run = project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("the task `collect` calls no agent");
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
}

#[test]
fn include_that_leads_to_no_template_is_what_is_reported() {
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n[templates]\ninclude = [\"prompt/**\"]\n",
        )
        .with_file("prompts/t.xml", TASK)
        .with_file("scenarios/a.yaml", scenario("a", "t"));
    let why = "there is no template in what `[templates] include` names: `prompt/**`, which does not exist";
    for args in [&["check"][..], &["eval"], &["manifest"], &["render", "t"]] {
        let run = project.run(args).exits_with(5).stderr_contains(why);
        assert!(!run.stdout.contains("unknown-receiver"), "{}", run.stdout);
    }
}

#[test]
fn what_is_wrong_with_a_column_is_reported_once_with_its_place() {
    let suite = "id: risk\ndefaults:\n  task: t\n  context: {objective: go}\n  expect_context: [nothing_cut: true]\ncases_from: risk.csv\n";
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/risk-suite.yaml", suite)
        .with_file("scenarios/risk.csv", "id,tickket\na,1\nb,2\nc,3\n");
    let run = project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("scenarios/risk.csv:1:4")
        .stdout_contains("in lines 2, 3, 4 of risk.csv");
    assert_eq!(
        run.stdout.matches("takes no value `tickket`").count(),
        1,
        "{}",
        run.stdout
    );
    project.write_file("scenarios/risk.csv", "id,ticket,runs\na,1,3\nb,2,x\n");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("in line 3 of risk.csv");
}

#[test]
fn odd_indentation_is_called_that() {
    let project = Project::new().with_file("templates/t.xml", TASK);
    let fine = scenario("a", "t");
    for (from, to) in [
        ("  objective: go\n", "   objective: go\n"),
        (
            "  - nothing_cut: true\n",
            "  - nothing_cut: true\n - tokens: {max: 90}\n",
        ),
        ("task: t\n", "task: t\n  node: /\n"),
    ] {
        let text = fine.replace(from, to);
        assert_ne!(text, fine);
        project.write_file("scenarios/a.yaml", &text);
        let run = project
            .run(&["check"])
            .exits_with(1)
            .stdout_contains("is not indented like the lines that it belongs to");
        assert!(!run.stdout.contains("into quotes"), "{}", run.stdout);
    }
    project.write_file(
        "scenarios/a.yaml",
        fine.replace("objective: go", "objective: \"go\" now"),
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("into quotes");
}

#[test]
fn a_case_that_nothing_decides_gives_the_reason() {
    let text = scenario("a", "t").replace(
        "expect_context:\n  - nothing_cut: true\n",
        "expectations:\n  - contains: [x]\n",
    );
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/a.yaml", text);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("INCONCLUSIVE")
        .stdout_contains("no answer to check them against")
        .stdout_contains("`answers:`");
}

#[test]
fn the_hint_for_a_list_is_one_that_works() {
    let project = Project::new().with_file("templates/t.xml", TASK);
    let base = ["render", "t", "--input", "ticket=x", "--input"];
    project
        .run(&[&base[..], &["labels=a,b"]].concat())
        .exits_with(2)
        .stderr_contains("--input 'labels=[\"a\", \"b\"]'");
    project
        .run(&[&base[..], &["labels=[\"a\", \"b\"]"]].concat())
        .exits_with(0);
}

#[test]
fn agents_without_a_scenario_are_among_what_no_one_notices() {
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("templates/u.xml", TASK.replace("name=\"t\"", "name=\"u\""))
        .with_file("templates/collect.xml", SCRIPT)
        .with_file("scenarios/a.yaml", scenario("a", "t"));
    let run = project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("u  no scenario, so no change is detected");
    let run = run
        .stdout_contains("1 agent without a scenario")
        .stderr_contains("ctxc new scenario TASK")
        .stderr_contains("snapshot: true");
    assert!(!run.stdout.contains("collect"), "{}", run.stdout);
    let found = project
        .run(&["eval", "--mutate", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(found["untested"], serde_json::json!(["u"]));
    // One whose scenario fails has one.
    project.write_file(
        "scenarios/u.yaml",
        scenario("u", "u") + "  - contains: [nowhere]\n",
    );
    let run = project
        .run(&["eval", "--mutate"])
        .exits_with(1)
        .stdout_contains("u  no scenario that passes, so no change is detected");
    let run = run
        .stdout_contains("not asked: `u` fails before anything is changed")
        .stdout_contains("1 agent without a scenario that passes");
    assert!(!run.stderr.contains("ctxc new scenario"), "{}", run.stderr);
}

#[test]
fn a_folder_that_is_no_project_is_looked_through_with_a_word() {
    let bare = Project::new().with_file("a.xml", TASK);
    let note = "there is no ctxc.toml here or above, and no folder templates: looking at all XML files below";
    for args in [
        &["check"][..],
        &["fmt", "--check"],
        &["fmt", "--diff"],
        &["build"],
        &["check", "--diff"],
    ] {
        let run = bare.run(args);
        assert!(run.stderr.contains(note), "{args:?}: {}", run.stderr);
    }
    // A command line that names its files, or a project that has either kind, gets no hint.
    for (project, args) in [
        (
            Project::new().with_file("a.xml", TASK),
            &["check", "a.xml"][..],
        ),
        (
            Project::new().with_file("templates/a.xml", TASK),
            &["check"],
        ),
        (
            Project::new()
                .with_file("a.xml", TASK)
                .with_file("ctxc.toml", ""),
            &["check"],
        ),
    ] {
        let run = project.run(args).exits_with(0);
        assert!(
            !run.stderr.contains("ctxc.toml"),
            "{args:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_role_whose_task_is_gone_is_a_finding_and_no_wrong_usage() {
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("ctxc.toml", "[roles.clerk]\ntemplate = \"gone\"\n");
    project
        .run(&["check", "--format", "concise"])
        .exits_with(1)
        .stdout_contains("ctxc.toml:2:12: error[unknown-task]");
    project.run(&["build"]).exits_with(1);
    // An invalid key of the project file is a usage error, with any other finding beside it.
    project.write_file(
        "ctxc.toml",
        "[roles.clerk]\ntemplate = \"gone\"\n[nonsense]\n",
    );
    project.run(&["check"]).exits_with(2);
}

#[test]
fn a_stored_request_of_no_scenario_is_reported() {
    let text = scenario("a", "t").replace("nothing_cut: true", "snapshot: true");
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/a.yaml", &text);
    project.run(&["eval", "--accept"]).exits_with(0);
    project.run(&["eval"]).exits_with(0).stderr_is_empty();
    project.write_file("scenarios/a.yaml", text.replace("name: a", "name: b"));
    project.run(&["eval", "--accept"]).exits_with(0);
    project
        .run(&["eval"])
        .exits_with(0)
        .stderr_contains("scenarios/snapshots/a.json is a stored request without a scenario");
    project.run(&["eval", "b"]).exits_with(0).stderr_is_empty();
}

#[test]
fn a_lookup_in_no_file_is_reported() {
    let fresh = TASK.replace(
        "</description>\n",
        "</description>\n  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>\n",
    );
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n[context]\ninclude = [\"docz/**\"]\n",
        )
        .with_file("templates/t.xml", fresh)
        .with_file("docs/a.md", "Tickets are sorted by hand.\n");
    project
        .run(&["check"])
        .exits_with(0)
        .stderr_contains("[context] include: there is nothing at `docz/**`");
    project
        .run(&["render", "t", "--input", "ticket=sorted by hand"])
        .exits_with(0)
        .stderr_contains("there are no files to look up context in");
}

#[test]
fn a_policy_on_the_model_sees_that_of_a_role() {
    let model = |name: &str| {
        format!(
            "[models.{name}]\nid = \"claude-{name}\"\nprovider = \"anthropic\"\ntier = \"economy\"\ncontext_window = 8000\n"
        )
    };
    let config = |models: &str| {
        let (large, small) = (model("large"), model("small"));
        let policy = "[[require]]\nrole = \"reviewer\"\nmust = ['model in [\"large\"]']\n";
        format!(
            "edition = \"2026\"\n{large}{small}[roles.reviewer]\ntemplate = \"t\"\nmodel = {models}\n{policy}"
        )
    };
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("ctxc.toml", config("\"large\""));
    let run = project.run(&["check"]);
    assert!(
        !run.stdout.contains("requirement-not-met"),
        "{}",
        run.stdout
    );
    let body = project.run(&[
        "render",
        "t",
        "--input",
        "ticket=x",
        "--as",
        "anthropic",
        "--model",
        "large",
    ]);
    assert!(body.stdout.contains("\"claude-large\""), "{body:#?}");
    project.write_file("ctxc.toml", config("[\"large\", \"small\"]"));
    project
        .run(&["check"])
        .stdout_contains("model is `small`, and the project requires");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is() {
    let text = "<task type=\"atomic\" name=\"a\"><description>x & y</description></task>\n";
    let project = Project::new()
        .with_file("templates/a.xml", text)
        .with_file("p/b.j2", "{{ x }}\n")
        .with_file("taken.json", "{\"mine\": 1}\n");
    let files = project.files();
    for args in [
        &["check", "--fix", "--report", "json=taken.json"][..],
        &["check", "--suppress-existing", "-o", "nowhere/x.txt"],
        &["build", "--report", "junit=nowhere/x.xml"],
        &["import", "p", "--report", "json=taken.json"],
    ] {
        let run = project.run(args);
        assert!(matches!(run.code, Some(2 | 3)), "{args:?}: {run:#?}");
        assert_eq!(
            (project.files(), project.read_file("templates/a.xml")),
            (files.clone(), text.to_owned()),
            "{args:?}"
        );
    }
}

#[test]
fn a_quiet_run_writes_whole_files() {
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/a.yaml", scenario("a", "t"));
    project
        .run(&["eval", "-q", "--report", "text=out.txt"])
        .exits_with(0)
        .stdout_is_empty();
    assert!(
        project
            .read_file("out.txt")
            .contains("1 scenario: 1 passed"),
        "{}",
        project.read_file("out.txt")
    );
}

/// A description in a file is empty at the file (finding L7).
#[test]
fn an_empty_file_describes_nothing() {
    let task = "<task type=\"atomic\" name=\"t\"><description src=\"t.md\"/></task>\n";
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("templates/t.md", " \n\n");
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    assert!(
        run.stdout.contains(
            "error[missing-description]: the description is empty: `t.md` holds no words"
        ),
        "{}",
        run.stdout
    );
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("templates/t.md", "Sort.\n");
    project.run(&["check"]).exits_with(0);
}

/// A forgotten `syntax` has one way out, and no other fix damages the text before it.
#[test]
fn a_forgotten_syntax_is_all_that_is_fixed() {
    let task = "<task type=\"atomic\" name=\"s\">\n  <description>Go</description>\n  <parameters><parameter name=\"a\" type=\"string\" default=\"q\"/></parameters>\n  <instructions>{% if a %}{{ a|upper }}{% endif %}</instructions>\n</task>\n";
    let project = Project::new().with_file("templates/s.xml", task);
    project.run(&["check"]).exits_with(1);
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(0);
    assert!(
        project
            .read_file("templates/s.xml")
            .contains("<instructions syntax=\"jinja\">{% if a %}{{ a|upper }}{% endif %}<"),
        "{}",
        project.read_file("templates/s.xml")
    );
    let run = project.run(&["render", "s"]).exits_with(0);
    assert!(
        run.stdout.contains('Q') && !run.stdout.contains('\\'),
        "{}",
        run.stdout
    );
}

#[test]
fn a_prompt_of_langchain_whose_text_is_elsewhere_shows_where_to_write_it() {
    let project = Project::new().with_file(
        "p.yaml",
        "_type: prompt\ninput_variables: [a]\ntemplate_path: x.txt\n",
    );
    let run = project
        .run(&["import", "p.yaml", "--from", "langchain"])
        .exits_with(1);
    run.stdout_contains("such as `template_path` names, is not read: write it into `template`")
        .output_lacks("no text uses it");
}
