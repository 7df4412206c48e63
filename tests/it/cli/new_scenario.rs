//! `ctxc new scenario` writes the agent's context, looked-up passages and objective included.

use super::eval::sample;
use super::project::{ProgramRun, Project, command_in};
use crate::support::stored::messages_text;

#[test]
fn one_objective_in_render_manifest_and_scenarios() {
    let plan = "<task type=\"atomic\" name=\"plan\"><description>Split it: {{objective}}</description>\
        <parameters><parameter name=\"objective\" required=\"true\"/></parameters>\
        <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management></task>";
    let roles = "edition = \"2026\"\n[roles.sorter]\ntemplate = \"triage\"\n[roles.planner]\ntemplate = \"plan\"\n";
    let project = sample()
        .with_file("ctxc.toml", roles)
        .with_file("templates/plan.xml", plan);
    let sorter = [
        "--role",
        "sorter",
        "--input",
        "ticket=x",
        "--objective",
        "sort by noon",
    ];
    let shown = project
        .run(&[&["render"], &sorter[..]].concat())
        .exits_with(0);
    shown
        .stdout_contains("## Input: objective")
        .stdout_contains("sort by noon")
        .stdout_contains("input `objective`");
    project
        .run(&["render", "--role", "planner", "--objective", "add a flag"])
        .exits_with(0)
        .stdout_contains("Split it: add a flag");
    project
        .run(&["render", "plan", "--objective", "@samples/t1.txt"])
        .exits_with(0)
        .stdout_contains("Split it: No invoice came.");
    for (args, expected) in [
        (
            &[
                "render",
                "triage",
                "--input",
                "ticket=x",
                "--objective",
                "sort",
            ][..],
            "`triage` by itself takes none",
        ),
        (
            &[
                "render",
                "plan",
                "--objective",
                "a",
                "--input",
                "objective=b",
            ],
            "give the same value",
        ),
        (
            &["render", "plan", "--objective", " "],
            "expected words that say what is to be done",
        ),
        (
            &["render", "plan", "--objective", "@none.txt"],
            "--objective @none.txt: the file cannot be read",
        ),
        (
            &["new", "scenario", "planner"],
            "`planner` takes an objective, and none is given",
        ),
        (
            &[
                "new",
                "scenario",
                "planner",
                "--objective",
                "a",
                "--input",
                "objective=b",
            ],
            "give the same value",
        ),
    ] {
        project
            .run(args)
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(expected);
    }
    // The scenario's objective is the task's value, and the description is not repeated in a
    // segment of its own.
    project
        .run(&[
            "new",
            "scenario",
            "planner",
            "--input",
            "objective=add a flag",
        ])
        .exits_with(0);
    let written = project.read_file("scenarios/planner-1.yaml");
    assert!(
        written.contains("  objective: \"add a flag\"\n  inputs:\n    objective: \"add a flag\"\n"),
        "{written}"
    );
    project
        .run(&["new", "scenario", "sorter", "--input", "ticket=x"])
        .exits_with(0);
    let written = project.read_file("scenarios/sorter-1.yaml");
    assert!(
        written.contains("  objective: \"Sort the ticket.\"\n")
            && !written.contains("exactly: [objective"),
        "{written}"
    );
    project
        .run(&[
            "new",
            "scenario",
            "sorter",
            "--name",
            "noon",
            "--input",
            "ticket=x",
            "--objective",
            "sort by noon",
        ])
        .exits_with(0);
    let written = project.read_file("scenarios/noon.yaml");
    assert!(
        written.contains("- segments: {exactly: [") && written.contains("objective"),
        "{written}"
    );
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("3 scenarios: 3 passed");
    project.run(&["check"]).exits_with(0);
}

/// Tasks with lookups: fresh context, files by description too, and a step that inherits passages.
fn curious() -> Project {
    let context = |fresh: &str| {
        format!(
            "<context_management><inherit_context>none</inherit_context><fresh_context>{fresh}</fresh_context></context_management>"
        )
    };
    let plain = format!(
        "<task type=\"atomic\" name=\"answer\"><description>Say how zebras are fed.</description>{}</task>",
        context("enabled")
    );
    let files =
        "<file_paths source=\"description\"><description>ibis nesting</description></file_paths>";
    let both = plain
        .replace("\"answer\"", "\"both\"")
        .replace("</description>", &format!("</description>{files}"));
    let round = "<task type=\"sequential\" name=\"round\"><description>Feed the zebras.</description>\
        <context_management><fresh_context>enabled</fresh_context><inherit_context>none</inherit_context></context_management>\
        <steps><task type=\"atomic\"><description>Weigh it.</description><context_management><inherit_context>full</inherit_context>\
        <fresh_context>disabled</fresh_context></context_management></task></steps></task>";
    let project = sample()
        .with_file("templates/answer.xml", plain)
        .with_file("templates/both.xml", both)
        .with_file("templates/round.xml", round);
    project
        .with_file(
            "docs/zebras.md",
            "  Zebras eat: \"hay\"\n\n\tand grass.\n\n",
        )
        .with_file(
            "docs/stable.md",
            "Zebras are fed at noon\r\nand at night.\n",
        )
        .with_file(
            "docs/ibis.md",
            "An ibis nests in reeds.\nIts nesting takes a month.",
        )
        .with_file("docs/other.md", "The bus leaves at nine.\n")
}

#[test]
fn a_new_scenario_holds_what_was_looked_up() {
    let project = curious();
    for task in ["answer", "both", "round"] {
        project
            .run(&["new", "scenario", task])
            .exits_with(0)
            .stderr_is_empty();
    }
    let written = project.read_file("scenarios/answer-1.yaml");
    let found = "    - id: docs/zebras.md\n      text: |2-\n          Zebras eat: \"hay\"\n\n        \tand grass.\n";
    assert!(written.contains(found), "{written}");
    assert!(
        written.contains("\"fresh:docs/zebras.md\"") && written.contains("  - nothing_cut: true\n"),
        "{written}"
    );
    assert!(
        written.contains("      text: \"Zebras are fed at noon\\r\\nand at night.\"\n"),
        "{written}"
    );
    // Files from a task's description have a folder of their own.
    let written = project.read_file("scenarios/both-1.yaml");
    let shelf = written.find("  retrieval:\n    - id: docs/ibis.md\n      text: |-\n        An ibis nests in reeds.\n").unwrap();
    assert!(
        written.find("  memory:\n").unwrap() < shelf && written.contains("\"file:docs/ibis.md\""),
        "{written}"
    );
    let written = project.read_file("scenarios/round-1.yaml");
    assert!(
        written.contains("\"inherited:fresh:docs/zebras.md\"")
            && written.contains("    - id: docs/zebras.md\n"),
        "{written}"
    );
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("3 scenarios: 3 passed");
    // Passages that the agent would find tomorrow do not concern them.
    project.write_file("docs/zebras.md", "Zebras eat: \"thistles\"\n");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("3 scenarios: 3 passed");
    project
        .run(&["new", "scenario", "answer", "--no-index"])
        .exits_with(0);
    assert!(
        !project
            .read_file("scenarios/answer-2.yaml")
            .contains("retrieval")
    );
}

#[test]
fn a_new_scenario_receives_what_the_render_shows_to_the_last_line_end() {
    let project = curious();
    for task in ["answer", "both", "round"] {
        project
            .run(&["new", "scenario", task])
            .exits_with(0)
            .stderr_is_empty();
    }
    for task in ["answer", "both", "round"] {
        let live = project
            .run(&["render", task, "--as", "openai-chat", "--model", "m"])
            .exits_with(0)
            .json();
        let name = format!("scenarios/{task}-1.yaml");
        project.write_file(&name, project.read_file(&name) + "  - snapshot: true\n");
        project.run(&["eval", &name, "--accept"]).exits_with(0);
        let stored =
            messages_text(&project.read_file(&format!("scenarios/snapshots/{task}-1.json")));
        for message in live["messages"].as_array().unwrap() {
            let content = message["content"].as_str().unwrap();
            // The mark of untrusted text moves with every request.
            let marked: Vec<&str> = content.split("untrusted-").collect();
            let rest = marked[1..].iter().map(|part| part.split_at(21).1);
            let content = std::iter::once(marked[0])
                .chain(rest)
                .collect::<Vec<_>>()
                .join("untrusted-000000000000000000000");
            assert!(stored.contains(&content), "{content}\n=====\n{stored}");
        }
    }
}

#[test]
fn the_files_of_ctxc_are_no_context() {
    let answer = "<task type=\"atomic\" name=\"answer\"><description src=\"../prompts/zebra.jinja\"/>\
        <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>";
    let config = "edition = \"2026\"\n[roles.keeper]\ntemplate = \"answer\"\nsystem = { file = \"prompts/keeper.md\" }\n\
        [eval]\nscenarios = [\"scenarios\", \"more\"]\n";
    let plain =
        "name: z\ntask: answer\ncontext: {objective: zebra}\nexpect_context: [{snapshot: true}]\n";
    let project = sample()
        .with_file("templates/answer.xml", answer)
        .with_file("prompts/zebra.jinja", "Feed the zebra.")
        .with_file("ctxc.toml", config);
    let project = project
        .with_file("prompts/keeper.md", "You keep the zebra.")
        .with_file("docs/feed.md", "A zebra eats hay.");
    let project = project
        .with_file("more/z.yaml", plain)
        .with_file("more/notes.txt", "The zebra is old.")
        .with_file("prompts/draft.md", "zebra, once more");
    project.run(&["eval", "--accept"]).exits_with(0);
    assert!(project.read_file("more/snapshots/z.json").contains("zebra"));
    project
        .run(&["eval", "--junit", "junit.xml", "--out", "card.json"])
        .exits_with(0);
    project.write_file(
        "check.xml",
        project
            .run(&["check", "--format", "junit"])
            .exits_with(0)
            .stdout,
    );
    project
        .run(&["manifest", "--output", "m.html"])
        .exits_with(0);
    let found = project
        .run(&["search", "zebra", "--json"])
        .exits_with(0)
        .json();
    let mut ids: Vec<&str> = found["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["docs/feed.md", "more/notes.txt", "prompts/draft.md"]);
}

#[test]
fn two_at_signs_begin_words_and_a_scenario_is_yaml() {
    let project = sample();
    let input = ["--input", "ticket=@@somebody wrote"];
    project
        .run(&[&["render", "triage"], &input[..]].concat())
        .exits_with(0)
        .stdout_contains(" @somebody wrote");
    project
        .run(&[&["new", "scenario", "triage"], &input[..]].concat())
        .exits_with(0)
        .stdout_contains("wrote scenarios/triage-1.yaml");
    assert!(
        project
            .read_file("scenarios/triage-1.yaml")
            .contains("ticket: \"@@somebody wrote\"")
    );
    project.run(&["eval"]).exits_with(0);
    for name in ["notes.txt", "scenarios/notes", "a.json"] {
        let run = project
            .run(&[
                "new", "scenario", "triage", "-i", "ticket=x", "--output", name,
            ])
            .exits_with(2)
            .stdout_is_empty();
        run.stderr_contains("would not be a scenario: expected a name that ends in .yaml");
        assert!(!project.path(name).exists());
    }
}

#[test]
fn files_are_named_from_where_one_stands() {
    let project = sample()
        .with_file("sub/t.txt", "from below\n")
        .with_file("t.txt", "from above\n");
    let run =
        |args: &[&str]| ProgramRun::from(command_in(&project.path("sub"), args).output().unwrap());
    for verb in [&["render", "--raw"][..], &["manifest", "--json"]] {
        let run = run(&[
            verb,
            &["../templates/triage.xml", "--input", "ticket=@t.txt"],
        ]
        .concat())
        .exits_with(0);
        assert!(
            run.stdout.contains("from below") || verb[0] == "manifest",
            "{}",
            run.stdout
        );
    }
    let named = [
        "new",
        "scenario",
        "../templates/triage.xml",
        "--input",
        "ticket=@t.txt",
    ];
    run(&named)
        .exits_with(0)
        .stdout_contains("wrote scenarios/triage-t.yaml");
    assert!(
        project
            .read_file("scenarios/triage-t.yaml")
            .contains("ticket: {file: \"../sub/t.txt\"}")
    );
    run(&[&named[..], &["--name", "here", "--output", "here.yaml"]].concat())
        .exits_with(0)
        .stdout_contains("wrote sub/here.yaml");
    assert!(
        project
            .read_file("sub/here.yaml")
            .contains("ticket: {file: t.txt}")
    );
    run(&["eval", "here.yaml", "../scenarios"])
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    // A path as findings print it is found from every folder.
    run(&[
        "render",
        "templates/triage.xml",
        "--input",
        "ticket=x",
        "--raw",
    ])
    .exits_with(0);
    run(&["render", "../templates/none.xml"])
        .exits_with(2)
        .stderr_contains("there is no task `../templates/none.xml`");
}

#[test]
fn a_new_scenario_can_hold_every_word() {
    let text =
        "Answer {{ ticket }}\nas {{ who }}.\n{% if who %}Never promise a refund.{% endif %}\n";
    let task = "<task type=\"atomic\" name=\"answer\"><description src=\"../prompts/a.j2\" syntax=\"jinja\"/>\
        <parameters><parameter name=\"ticket\" trust=\"untrusted\"/><parameter name=\"who\"/></parameters></task>";
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n[roles.clerk]\ntemplate = \"answer\"\n",
        )
        .with_file("templates/answer.xml", task)
        .with_file("prompts/a.j2", text);
    let given = ["--input", "ticket=fire", "--input", "who=Bot"];
    project
        .run(&[&["new", "scenario", "answer"], &given[..]].concat())
        .exits_with(0)
        .stdout_contains("wrote scenarios/answer-1.yaml");
    project
        .run(&[&["new", "scenario", "clerk", "--no-snapshot"], &given[..]].concat())
        .exits_with(0);
    let bare = project.read_file("scenarios/clerk-1.yaml");
    assert!(
        bare.contains("# Words may still change: `contains`") && !bare.contains("- snapshot"),
        "{bare}"
    );
    // The fence around a value belongs to one request, and is no part of the objective.
    assert!(bare.contains("  objective: \"as Bot.\"\n"), "{bare}");
    let held = project.read_file("scenarios/answer-1.yaml");
    assert!(
        held.contains("# No word may change: `ctxc eval --accept`")
            && held.ends_with("  - snapshot: true\n")
            && !held.contains("Words may"),
        "{held}"
    );
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    project.write_file("prompts/a.j2", text.replace("Never", "Always"));
    let run = project.run(&["eval"]).exits_with(1);
    run.stdout_contains("FAIL")
        .stdout_contains("Never promise a refund.")
        .stdout_contains("Always promise a refund.")
        .stdout_contains("2 scenarios: 1 passed, 1 failed");
}

/// A fragment that is a Jinja text, a step below such a task, and a step that receives such a text.
fn borrowed() -> Project {
    let context = |inherit: &str| {
        format!(
            "<context_management><inherit_context>{inherit}</inherit_context><fresh_context>disabled</fresh_context></context_management>"
        )
    };
    let fragment = "<library><fragment name=\"tone\" syntax=\"jinja\">{% if true %}Be short.{% endif %} Sign as Ann.</fragment>\
        <fragment name=\"letter\"><use fragment=\"tone\"/></fragment></library>";
    let answer = format!(
        "<task type=\"atomic\" name=\"answer\"><description>Answer it. <use fragment=\"letter\"/></description>{}</task>",
        context("none")
    );
    let round = |inherit: &str| {
        format!(
            "<task type=\"sequential\" name=\"round-{inherit}\"><description syntax=\"jinja\">{{% if true %}}Feed the zebras.{{% endif %}} Weigh \
            them first.</description><steps><task type=\"atomic\"><description>Go.</description>{}</task></steps></task>",
            context(inherit)
        )
    };
    let inner = format!(
        "<template name=\"inner\" params=\"how\"><task type=\"atomic\"><description>{{{{how}}}}</description>{}</task></template>",
        context("none")
    );
    let handing = "<task type=\"sequential\" name=\"handing\"><description>Go.</description><steps><call template=\"inner\">\
        <arg name=\"how\" syntax=\"jinja\">{% if true %}Run.{% endif %} Then rest.</arg></call></steps></task>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/library.xml", fragment);
    let project = project
        .with_file("templates/answer.xml", answer)
        .with_file("templates/inner.xml", inner);
    let project = project
        .with_file("templates/full.xml", round("full"))
        .with_file("templates/none.xml", round("none"));
    project.with_file("templates/handing.xml", handing)
}

#[test]
fn words_of_fragments_and_of_what_is_inherited_are_held_too() {
    let project = borrowed();
    project.run(&["check"]).exits_with(0);
    for task in ["answer", "round-full", "round-none", "handing"] {
        project.run(&["new", "scenario", task]).exits_with(0);
        let written = project.read_file(&format!("scenarios/{task}-1.yaml"));
        assert!(written.contains("- snapshot: true"), "{task}: {written}");
    }
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("4 scenarios: 4 passed");
    for task in ["answer", "round-full", "handing"] {
        let run = project
            .run(&["eval", &format!("{task}-1"), "--mutate"])
            .exits_with(0);
        let run = run.stdout_contains("(100 %)");
        assert!(!run.stdout.contains("not detected"), "{}", run.stdout);
    }
    // Each text of another file moves the cases that show it, and no other.
    for (file, from, to, failed) in [
        (
            "templates/library.xml",
            "Sign as Ann",
            "Sign as Bob",
            "answer-1",
        ),
        ("templates/full.xml", "Weigh", "Count", "round-full-1"),
        ("templates/none.xml", "Weigh", "Count", ""),
        (
            "templates/handing.xml",
            "Then rest",
            "Then walk",
            "handing-1",
        ),
    ] {
        let text = project.read_file(file);
        project.write_file(file, text.replace(from, to));
        let run = project
            .run(&["eval", "--json"])
            .exits_with(i32::from(!failed.is_empty()));
        let card = run.json();
        let names = card["cases"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|case| case["verdict"] != "pass");
        let names: Vec<&str> = names
            .map(|case| case["id"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(
            names,
            failed.split_whitespace().collect::<Vec<_>>(),
            "{file}"
        );
        project.write_file(file, text);
    }
}
