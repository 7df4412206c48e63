//! An author's text that a change removes, and whose loss no scenario would notice.

use super::gate::{commit, git, replace};
use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}\n    Never promise a refund.\n    Be brief.</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const SCENARIO: &str = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";
const GONE: &str =
    "no scenario of the base holds “Never promise a refund.”, which is gone or was changed";

fn branch(config: &str, expected: &str) -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", config)
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "templates/other.xml",
            TASK.replace("name=\"triage\"", "name=\"other\""),
        )
        .with_file("scenarios/bare.yaml", format!("{SCENARIO}{expected}"));
    project.run(&["eval", "--accept"]);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    project.write_file("notes.md", "x");
    commit(&project);
    project
}

#[test]
fn a_rule_that_no_scenario_holds_is_named_where_it_goes() {
    let gate = "[eval.gate]\nuncovered = ";
    for (config, code, says) in [
        (String::new(), 0, format!("note: `triage`: {GONE}")),
        (format!("{gate}\"warn\"\n"), 0, format!("note: `triage`: {GONE}")),
        (
            format!("{gate}\"fail\"\n"),
            4,
            "uncovered of `triage`: allowed changes of text that a scenario of the base holds, found none that holds “Never promise a refund.”, which is gone or was changed".to_owned(),
        ),
    ] {
        let project = branch(&config, "");
        project.run(&["gate"]).exits_with(0).output_lacks("no scenario of the base holds");
        for other in ["", "\n    Promise what you like."] {
            project.write_file("templates/triage.xml", TASK.replace("\n    Never promise a refund.", other));
            let run = project.run(&["gate"]).exits_with(code).stdout_contains(&says).output_lacks("Be brief");
            run.stdout_contains("first merge a scenario that expects the text");
        }
    }
    let project = branch(&format!("{gate}\"off\"\n"), "");
    replace(
        &project,
        "templates/triage.xml",
        "\n    Never promise a refund.",
        "",
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .output_lacks("no scenario of the base holds");
    // The change does not turn it off, and may turn it on.
    let project = branch("", "");
    replace(
        &project,
        "templates/triage.xml",
        "\n    Never promise a refund.",
        "",
    );
    project.write_file("ctxc.toml", format!("{gate}\"off\"\n"));
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("[eval.gate] uncovered")
        .stdout_contains(GONE);
    project.write_file("ctxc.toml", format!("{gate}\"fail\"\n"));
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("uncovered of `triage`")
        .stdout_contains("nothing is loosened");
}

#[test]
fn what_a_scenario_holds_is_not_named() {
    // An expectation, a stored request, and an answer for these words alone.
    let scripted = "expectations: [{contains: [hi]}]\nanswers: [{reply: hi, when: {has: [refund]}}, {reply: ho}]\n";
    for expected in [
        "  - contains: [promise a refund]\n",
        "  - snapshot: true\n",
        scripted,
    ] {
        let project = branch("", expected);
        replace(
            &project,
            "templates/triage.xml",
            "\n    Never promise a refund.",
            "",
        );
        project
            .run(&["gate"])
            .exits_with(4)
            .output_lacks("no scenario of the base holds");
    }
}

#[test]
fn another_word_beside_a_pattern_is_named() {
    // The scenario contains a part of the line, and the replacement contains it as well.
    let project = branch("", "  - contains: [promise a refund]\n");
    replace(
        &project,
        "templates/triage.xml",
        "Never promise",
        "Always promise",
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains(&format!("note: `triage`: {GONE}"));
}

#[test]
fn secrets_of_the_work_tree_are_masked_on_both_sides() {
    // The stored request of the base holds a placeholder for a value that an environment file of
    // the work tree names.
    let secret = "violet-harbour-ladder-7431";
    let project = Project::new()
        .with_file(".gitignore", ".env\n")
        .with_file(".env", format!("DESK_TOKEN={secret}\n"))
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/bare.yaml",
            SCENARIO.replace("my invoice", &format!("invoice {secret}")) + "  - snapshot: true\n",
        );
    project
        .run(&["eval", "--accept", "--allow-secrets"])
        .exits_with(0);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    replace(
        &project,
        "templates/triage.xml",
        "\n    Never promise a refund.",
        "",
    );
    commit(&project);
    assert!(
        !project
            .read_file("scenarios/snapshots/bare.json")
            .contains(secret)
    );
    let run = project
        .run(&["gate"])
        .exits_with(4)
        .output_lacks("no scenario of the base holds")
        .output_lacks(secret);
    run.stdout_contains(
        "found message 1 (user), line 4: “Be brief.” in place of “Never promise a refund.”",
    );
}

#[test]
fn agents_without_a_scenario_are_named_and_lines_are_few() {
    let project = branch("", "");
    replace(&project, "templates/other.xml", "Be brief", "Be long");
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("note: `other`: no scenario of the base holds its text, which changed: no scenario that passes tests it");
    let rules: String = ["a", "b", "c", "d", "e", "f", "g"]
        .map(|rule| format!("\n    Keep rule {rule} at all times."))
        .concat();
    git(&project, &["switch", "-q", "-f", "main"]);
    replace(&project, "templates/triage.xml", "\n    Be brief.", &rules);
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    replace(&project, "templates/triage.xml", &rules, "");
    commit(&project);
    let run = project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("“Keep rule a at all times.”")
        .stdout_contains("“Keep rule e at all times.”");
    run.stdout_contains(
        "no scenario of the base holds 2 more lines, which are gone or were changed",
    )
    .output_lacks("rule f");
}

/// A file, a text of it, and its replacement.
type Swap = (&'static str, &'static str, &'static str);

/// A project that fails for uncovered text, on a branch off its base.
fn strict(files: &[(&str, &str)]) -> Project {
    let mut project = Project::new().with_file(
        "ctxc.toml",
        "[eval.gate]\nuncovered = \"fail\"\nmanifest_tokens = 9.0\n",
    );
    for (path, text) in files {
        project = project.with_file(path, text);
    }
    project.run(&["eval", "--accept"]);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    project.write_file("notes.md", "x");
    commit(&project);
    project.run(&["gate"]).exits_with(0);
    project
}

/// The same with more in the project file.
fn strict_with(config: &str, files: &[(&str, &str)]) -> Project {
    let config = format!("[eval.gate]\nuncovered = \"fail\"\nmanifest_tokens = 9.0\n\n{config}");
    strict(&[&[("ctxc.toml", config.as_str())], files].concat())
}

const PAID: &str = "<task type=\"atomic\" name=\"pay\">\n  <description>Sort the letter.\n    Refunds go to DE89370400440532013000 and are reported to lead@example.org.</description>\n</task>\n";

fn paid(expected: &str) -> String {
    format!("name: s\ntask: pay\ncontext: {{objective: x}}\nexpect_context:\n{expected}")
}

#[test]
fn a_value_that_masks_hide_is_held_by_no_stored_request() {
    let swapped = PAID
        .replace("DE89370400440532013000", "GB82WEST12345698765432")
        .replace("lead@example.org", "mallory@example.org");
    for expected in [
        "  - snapshot: true\n",
        "  - contains: [Refunds go to]\n",
        "  - snapshot: true\n  - contains: [are reported]\n",
    ] {
        let project = strict(&[
            ("templates/pay.xml", PAID),
            ("scenarios/s.yaml", &paid(expected)),
        ]);
        project.write_file("templates/pay.xml", &swapped);
        let run = project
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains("uncovered of `pay`");
        let run = run
            .stdout_contains("none that holds the masked value in “Refunds go to ⟦")
            .stdout_contains("which was changed");
        run.output_lacks("GB82")
            .output_lacks("DE89")
            .output_lacks("mallory")
            .output_lacks("lead@")
            .output_lacks("Sort the letter");
        // Nor does it print the value of a removed line.
        project.write_file(
            "templates/pay.xml",
            PAID.replace(
                "\n    Refunds go to DE89370400440532013000 and are reported to lead@example.org.",
                "",
            ),
        );
        project
            .run(&["gate"])
            .exits_with(4)
            .output_lacks("DE89")
            .output_lacks("lead@");
    }
    // Text in the place of a mask is released as well.
    let project = strict(&[
        ("templates/pay.xml", PAID),
        (
            "scenarios/s.yaml",
            &paid("  - snapshot: true\n  - contains: [Refunds go to]\n"),
        ),
    ]);
    project.write_file(
        "templates/pay.xml",
        PAID.replace(
            "DE89370400440532013000 and are reported to lead@example.org",
            "all who ask and are reported to none",
        ),
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("“Refunds go to ⟦");
    // One expectation that fails is enough.
    let project = strict(&[
        ("templates/pay.xml", PAID),
        (
            "scenarios/s.yaml",
            &paid("  - contains: [DE89370400440532013000]\n"),
        ),
    ]);
    project.write_file("templates/pay.xml", &swapped);
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("`s` fails")
        .output_lacks("uncovered");
    // So is a project's own pattern, and another line may go with it.
    let own = "[record]\nmask = [\"desk-[0-9]+\"]\n";
    let template = PAID.replace("DE89370400440532013000", "desk-41");
    let project = strict_with(
        own,
        &[
            ("templates/pay.xml", &template),
            ("scenarios/s.yaml", &paid("  - snapshot: true\n")),
        ],
    );
    project.write_file(
        "templates/pay.xml",
        template
            .replace("desk-41", "desk-66")
            .replace("Sort the letter", "Sort this letter"),
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("the masked value in “Refunds go to ⟦own⟧")
        .output_lacks("desk-")
        .stdout_contains("`s` fails");
}

const MODEL: &str =
    "[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n\n";
const ALONE: &str = "<task type=\"atomic\" name=\"alone\">\n  <description>Answer the letter.\n    Never insult a customer.</description>\n</task>\n";

#[test]
fn text_of_roles_and_of_tasks_without_a_scenario_is_examined() {
    let config = format!(
        "{MODEL}[roles.clerk]\ntemplate = \"triage\"\nsystem = {{ file = \"sys.md\" }}\nmodel = \"small\"\n\n\
        [roles.lonely]\ntemplate = \"alone\"\nsystem = \"Be calm. Never lend money.\"\nmodel = \"small\"\n\n\
        [roles.second]\ntemplate = \"triage\"\nsystem = \"Sort fast. Never lend money.\"\nmodel = \"small\"\n"
    );
    let of = |name: &str, subject: &str| {
        format!(
            "name: {name}\n{subject}: {}\ncontext: {{objective: sort, inputs: {{ticket: my invoice}}}}\nexpect_context:\n  - contains: [invoice]\n",
            if subject == "role" { "clerk" } else { "triage" }
        )
    };
    let files = [
        ("sys.md", "You sort tickets.\nNever give legal advice.\n"),
        ("templates/triage.xml", TASK),
        ("templates/alone.xml", ALONE),
        ("scenarios/role.yaml", &of("r", "role")),
        ("scenarios/task.yaml", &of("t", "task")),
    ];
    let project = strict_with(&config, &files);
    let rows: [(&str, &str, &str, &str); 7] = [
        (
            "sys.md",
            "Never give legal advice.\n",
            "",
            "uncovered of `clerk`: allowed changes of text that a scenario of the base holds, found none that holds “Never give legal advice.”",
        ),
        (
            "ctxc.toml",
            " Never lend money.\"\nmodel = \"small\"\n\n[roles.second]",
            "\"\nmodel = \"small\"\n\n[roles.second]",
            "uncovered of `lonely`: allowed changes of text that a scenario of the base holds, found none that holds its text, which changed",
        ),
        (
            "ctxc.toml",
            "Sort fast. Never lend money.",
            "Sort fast.",
            "uncovered of `second`",
        ),
        (
            "templates/alone.xml",
            "\n    Never insult a customer.",
            "",
            "uncovered of `lonely`",
        ),
        (
            "templates/alone.xml",
            "Answer the letter.",
            "Answer the letter. Promise a refund.",
            "uncovered of `lonely`",
        ),
        (
            "templates/triage.xml",
            "\n    Never promise a refund.",
            "",
            "uncovered of `triage`",
        ),
        (
            "templates/triage.xml",
            "    <parameter",
            "<!-- why -->    <parameter",
            "",
        ),
    ];
    for (path, from, to, says) in rows {
        let changed = Project::copy_of(&project);
        replace(&changed, path, from, to);
        let run = changed
            .run(&["gate"])
            .exits_with(if says.is_empty() { 0 } else { 4 })
            .stdout_contains(says);
        assert_eq!(
            run.stdout.matches("uncovered of").count(),
            usize::from(!says.is_empty()),
            "{}",
            run.stdout
        );
    }
    // A rename hides nothing, with the role that plays it and without.
    replace(
        &project,
        "templates/alone.xml",
        "\n    Never insult a customer.",
        "",
    );
    replace(&project, "templates/alone.xml", "\"alone\"", "\"alone2\"");
    replace(&project, "ctxc.toml", "\"alone\"", "\"alone2\"");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("uncovered of `lonely`")
        .stdout_contains("its text, which changed");
    let project = strict(&[
        ("templates/alone.xml", ALONE),
        ("templates/triage.xml", TASK),
        ("scenarios/task.yaml", &of("t", "task")),
    ]);
    replace(&project, "templates/alone.xml", "\"alone\"", "\"alone2\"");
    project.run(&["gate"]).exits_with(0);
    replace(
        &project,
        "templates/alone.xml",
        "\n    Never insult a customer.",
        "",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("uncovered of `alone`")
        .stdout_contains("its text, which is gone")
        .stdout_contains("the change brings `alone2`");
    std::fs::remove_file(project.path("templates/alone.xml")).unwrap();
    project.run(&["gate"]).exits_with(0);
}

#[test]
fn a_renamed_task_is_compared_with_what_it_was() {
    let filed = TASK.replace(
        "</task>",
        "  <file_paths><path>docs/rules.md</path></file_paths>\n</task>",
    );
    let project = strict(&[
        ("templates/triage.xml", &filed),
        ("docs/rules.md", "# Rules\nRefunds need a lead.\n"),
        ("scenarios/s.yaml", SCENARIO),
    ]);
    for path in ["templates/triage.xml", "scenarios/s.yaml"] {
        let text = project.read_file(path).replace("triage", "sort");
        project.write_file(path, text);
    }
    project.run(&["gate"]).exits_with(0);
    replace(&project, "docs/rules.md", "Refunds need a lead.\n", "");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("uncovered of `triage`")
        .stdout_contains("“Refunds need a lead.”");
}

#[test]
fn another_form_of_the_same_text_is_no_change() {
    let config = format!(
        "{MODEL}[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\ntools = [\"pay\"]\n\n\
        [tools.pay]\ndescription = \"Pay out.\"\nparameters = {{ type = \"object\", properties = {{ sum = {{ type = \"number\", description = \"Never above 100.\" }} }} }}\n"
    );
    let template = TASK
        .replace(
            "required=\"true\"/>",
            "required=\"true\" trust=\"untrusted\"/>",
        )
        .replace("    Be brief.", "    Be brief\n    and kind.")
        .replace(
            "</task>",
            "  <output_format type=\"json\" schema=\"answer.json\"/>\n</task>",
        );
    let schema = "{\"type\": \"object\", \"required\": [\"team\", \"why\"], \"properties\": {\"team\": {\"type\": \"string\"}, \"why\": {\"type\": \"string\", \"description\": \"Never a name.\"}}}";
    let role = SCENARIO.replace("task: triage", "role: clerk");
    let project = strict_with(
        &config,
        &[
            ("templates/triage.xml", &template),
            ("templates/answer.json", schema),
            ("scenarios/s.yaml", &role),
        ],
    );
    let harmless: [(&str, &[Swap]); 4] = [
        (
            "the task gets another name",
            &[
                ("templates/triage.xml", "\"triage\"", "\"sort\""),
                ("ctxc.toml", "\"triage\"", "\"sort\""),
            ],
        ),
        (
            "keys of the schema change places",
            &[(
                "templates/answer.json",
                "\"type\": \"object\", \"required\": [\"team\", \"why\"]",
                "\"required\": [\"why\", \"team\"], \"type\": \"object\"",
            )],
        ),
        (
            "keys of a tool change places",
            &[(
                "ctxc.toml",
                "type = \"number\", description = \"Never above 100.\"",
                "description = \"Never above 100.\", type = \"number\"",
            )],
        ),
        (
            "lines break elsewhere",
            &[(
                "templates/triage.xml",
                "Never promise a refund.\n    Be brief\n    and kind.",
                "Never promise\n    a refund. Be brief and kind.",
            )],
        ),
    ];
    for (name, edits) in harmless {
        let changed = Project::copy_of(&project);
        for (path, from, to) in edits {
            replace(&changed, path, from, to);
        }
        let run = changed.run(&["gate"]);
        assert_eq!(run.code, Some(0), "{name}: {}", run.stdout);
    }
    for (path, from, to, says) in [
        (
            "templates/answer.json",
            "Never a name.",
            "A name.",
            "“properties.why.description: Never a name.”",
        ),
        (
            "templates/answer.json",
            "[\"team\", \"why\"]",
            "[\"team\"]",
            "“required: why”",
        ),
        (
            "ctxc.toml",
            "Never above 100.",
            "Any sum.",
            "“parameters.properties.sum.description: Never above 100.”",
        ),
        (
            "templates/triage.xml",
            "Never promise a refund.\n    Be brief\n    and kind.",
            "Never promise\n    a refund. Be brief.",
            "“Never promise a refund.”",
        ),
    ] {
        let changed = Project::copy_of(&project);
        replace(&changed, path, from, to);
        changed
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains(says)
            .output_lacks("untrusted-");
    }
}

#[test]
fn a_file_of_tools_is_examined() {
    let config = format!(
        "{MODEL}[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\ntools = [\"pay\"]\n\n[tools]\nfrom = \"tools.json\"\n"
    );
    let tools = "{\"tools\": [{\"name\": \"pay\", \"description\": \"Pay out. Only after a lead has agreed.\", \"inputSchema\": {\"type\": \"object\"}}]}";
    let role = SCENARIO.replace("task: triage", "role: clerk");
    let project = strict_with(
        &config,
        &[
            ("templates/triage.xml", TASK),
            ("tools.json", tools),
            ("scenarios/s.yaml", &role),
        ],
    );
    replace(&project, "tools.json", " Only after a lead has agreed.", "");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("“description: Pay out. Only after a lead has agreed.”");
}

#[test]
fn a_scenario_that_fails_makes_no_other_line_uncovered() {
    let project = strict(&[
        ("templates/triage.xml", TASK),
        (
            "scenarios/s.yaml",
            &format!("{SCENARIO}  - contains: [promise a refund]\n"),
        ),
    ]);
    replace(
        &project,
        "templates/triage.xml",
        "\n    Never promise a refund.",
        "",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("`bare` fails")
        .output_lacks("uncovered");
}
