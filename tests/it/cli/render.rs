//! `render`: token counters, and the cache of their counts.

use super::check::CLEAN;
use super::project::Project;
use pretty_assertions::assert_eq;

fn sample() -> Project {
    Project::new().with_file("templates/clean.xml", CLEAN)
}

/// The line of the report on the whole.
fn total(project: &Project, args: &[&str]) -> String {
    let all: Vec<&str> = ["render", "clean", "--explain"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let run = project.run(&all).exits_with(0);
    run.stdout
        .lines()
        .find(|line| line.starts_with("total"))
        .unwrap()
        .to_owned()
}

#[test]
fn the_report_names_who_counted() {
    let project = sample();
    assert!(
        total(&project, &[]).contains("counted by o200k"),
        "{}",
        total(&project, &[])
    );
    assert!(total(&project, &["--tokenizer", "cl100k"]).contains("counted by cl100k"));
    let claude = total(&project, &["--tokenizer", "claude", "--budget", "5000"]);
    assert!(
        claude.contains(" about ") && claude.contains(" of 5,000, counted by claude (estimate)"),
        "{claude}"
    );
    let run = project.run(&["render", "clean", "--explain"]).exits_with(0);
    let segments = run
        .stdout
        .lines()
        .filter(|line| line.contains(" priority "));
    assert!(
        segments.clone().count() > 0 && segments.clone().all(|line| line.contains(" token")),
        "{}",
        run.stdout
    );
}

#[test]
fn a_tokenizer_that_no_one_has_is_named_with_the_nearest() {
    let project = sample();
    project
        .run(&["render", "clean", "--tokenizer", "o200k_base"])
        .exits_with(2)
        .stderr_contains("there is no tokenizer `o200k_base`")
        .stderr_contains("did you mean `o200k`?");
    project
        .run(&["render", "clean", "--tokenizer", "xyz"])
        .exits_with(2)
        .stderr_contains("tokenizers: o200k, cl100k, claude, gemini, llama, bytes");
}

#[test]
fn what_a_budget_leaves_no_room_for_is_reported_without_being_asked() {
    let text = "<task name=\"sort\" type=\"atomic\"><description>Sort it.</description><parameters><parameter name=\"mail\"/></parameters>\
        <inputs><input name=\"mail\" from=\"mail\"/></inputs><file_paths source=\"literal\"><path>long.md</path></file_paths></task>";
    let project = Project::new()
        .with_file("templates/sort.xml", text)
        .with_file("long.md", "words and words ".repeat(400));
    let given = ["render", "sort", "--input", "mail=hello"];
    let with = |budget: &str| {
        project
            .run(&[&given[..], &["--budget", budget]].concat())
            .exits_with(0)
    };
    let small = project
        .run(&[&given[..], &["--budget", "3"]].concat())
        .exits_with(1)
        .stdout_is_empty();
    small.stderr_contains("error: templates/sort.xml:1:33: `description` needs 6 tokens, which may not be cut; the budget is 3");
    with("2000").stderr_is_empty();
    with("300").stderr_contains(
        "not everything fits into 300 tokens; cut: file:long.md; --explain says why",
    );
    with("20").stderr_contains(
        "not everything fits into 20 tokens; dropped: file:long.md; --explain says why",
    );
    project
        .run(&[&given[..], &["--budget", "20", "--explain"]].concat())
        .exits_with(0)
        .stderr_is_empty();
}

#[test]
fn a_conversation_is_shown_where_the_task_asks_for_it() {
    let task = "<task type=\"atomic\" name=\"reply\">\n  <description>reply</description>\n  <history turns=\"1\"/>\n</task>\n";
    let chat = "{\"role\":\"user\",\"content\":\"hello\"}\n{\"role\":\"assistant\",\"content\":\"good day\"}\n{\"role\":\"user\",\"content\":\"a zebra\"}\n";
    let project = sample()
        .with_file("templates/reply.xml", task)
        .with_file("chat.jsonl", chat)
        .with_file("bad.jsonl", "{\"role\":\"bot\"}\n");
    let run = project
        .run(&["render", "reply", "--history", "chat.jsonl", "--raw"])
        .exits_with(0);
    assert!(
        run.stdout.ends_with("\n[user]\na zebra\n") && !run.stdout.contains("good day"),
        "{}",
        run.stdout
    );
    run.stderr_contains("not shown whole: 2 of 3 messages of the conversation; --explain says why");
    project
        .run(&["manifest", "reply", "--history", "chat.jsonl"])
        .exits_with(0)
        .stdout_contains(" · history:1 dropped · history:2 dropped");
    let shown = project
        .run(&["render", "reply", "--history", "chat.jsonl"])
        .exits_with(0)
        .stdout_contains("│ a zebra")
        .stdout_contains("  conversation\n");
    assert!(
        !shown.stdout.contains("earlier attempts"),
        "{}",
        shown.stdout
    );
    let manifest = project
        .run(&["manifest", "reply", "--history", "chat.jsonl", "--json"])
        .exits_with(0)
        .json();
    let segments = manifest["entries"][0]["segments"].as_array().unwrap();
    let history = segments
        .iter()
        .filter(|part| part["kind"] == "history")
        .map(|part| part["tokens"].as_u64().unwrap());
    assert_eq!(
        history.map(|tokens| tokens > 0).collect::<Vec<_>>(),
        [false, false, true]
    );
    project
        .run(&["render", "clean", "--history", "chat.jsonl"])
        .exits_with(0)
        .stderr_contains("its task has no <history>");
    project
        .run(&["render", "reply", "--history", "bad.jsonl"])
        .exits_with(2)
        .stderr_contains("--history bad.jsonl: line 1: `role` is `bot`");
    project
        .run(&["render", "reply", "--history", "none.jsonl"])
        .exits_with(2)
        .stderr_contains("the file cannot be read");
}

#[test]
fn an_agent_that_receives_nothing_is_reported() {
    let task = "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{% if x %}{{ x }}{% endif %}</description>\
                <parameters><parameter name=\"x\" default=\"\"/></parameters></task>";
    let project = Project::new().with_file("templates/t.xml", task);
    let run = project.run(&["render", "t"]).exits_with(0);
    assert!(
        run.stdout.is_empty() && run.stderr.contains("this agent receives nothing"),
        "{run:#?}"
    );
    let run = project.run(&["render", "t", "-i", "x=a"]).exits_with(0);
    assert!(!run.stderr.contains("receives nothing"), "{run:#?}");
}

/// A call in a text is an agent of the task, as the element is.
#[test]
fn a_call_in_a_text_is_an_agent_of_its_task() {
    let library = "<library><template name=\"g\" params=\"w, n\"><task type=\"atomic\"><description>Say {{w}} in {{n}}.</description></task></template>\
        <task type=\"atomic\" name=\"t\"><description>It is {{ g(\"a\", n=word) }}, {{g('a',n = word)}}, {{ g(h.a[0], true) }}.</description>\
        <parameters><parameter name=\"word\"/><parameter name=\"h\" type=\"object\"/></parameters></task></library>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("t.xml", library);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    let refused = project
        .run(&[
            "render",
            "t",
            "--input",
            "word=x",
            "--input",
            "h={\"a\":[\"y\"]}",
        ])
        .exits_with(2);
    refused.stderr_contains("give each: --result /calls/0=VALUE --result /calls/1=VALUE");
    let given = ["--input", "word=x", "--input", "h={\"a\":[\"y\"]}"];
    let raw = |more: &[&str]| {
        project
            .run(&[&["render", "t", "--raw"], &given[..], more].concat())
            .exits_with(0)
            .stdout
    };
    assert!(raw(&["--result", "/calls/0=A", "--result", "/calls/1=B"]).contains("It is A, A, B."));
    assert!(raw(&["--node", "/calls/0"]).contains("Say a in x."));
    assert!(raw(&["--node", "/calls/1"]).contains("Say y in true."));
}

/// The result of a node is bound to that node, at any position of the requested agent.
#[test]
fn a_result_belongs_to_one_node_of_the_whole_task() {
    let look = "<context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>";
    let library = format!(
        "<library><template name=\"g\" params=\"a\"><task type=\"atomic\"><description>look up {{{{a}}}}</description>{look}</task></template>\
         <template name=\"h\" params=\"a\"><task type=\"atomic\"><description>say {{{{a}}}}</description></task></template>\
         <task name=\"d1\" type=\"atomic\"><description>It is {{{{h(\"y\")}}}}, {{{{i}}}}.</description>\
         <inputs><input name=\"i\"><call template=\"h\"><arg name=\"a\">y</arg></call></input></inputs></task>\
         <task name=\"d2\" type=\"sequential\"><description>Outer {{{{g(\"x\")}}}} {{{{i}}}}</description>\
         <inputs><input name=\"i\"><call template=\"g\"><arg name=\"a\">x</arg></call></input></inputs>\
         <steps><task ref=\"d1\"/><task as=\"last\"><description>d</description></task></steps></task></library>"
    );
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("t.xml", &library);
    let run = |given: &[&str]| {
        project.run(&[&["render", "d2", "--raw", "--node", "/steps/0"], given].concat())
    };
    let outer = ["--result", "/calls/0=OUTER", "--result", "/inputs/0=OUTER"];
    run(&outer)
        .exits_with(2)
        .stderr_contains("/steps/0/inputs/0=VALUE")
        .stderr_contains("/steps/0/calls/0=VALUE");
    let inner = [
        "--result",
        "/steps/0/calls/0=H",
        "--result",
        "/steps/0/inputs/0=I",
    ];
    run(&[outer, inner].concat())
        .exits_with(0)
        .stdout_contains("\nH\n")
        .stdout_contains("\nI\n");
    // A bare name is enough if one result alone has it.
    run(&["--result", "i=EVIL"]).exits_with(2).stderr_contains(
        "the result `i` could be that of /inputs/0, /steps/0/inputs/0; expected a path",
    );
    run(&["--result", "last=x", "--result", "/steps/1=x"])
        .exits_with(2)
        .stderr_contains("the result `last` is that of /steps/1, which is there by its path");
    run(&["--result", "/steps/7=x"])
        .exits_with(2)
        .stderr_contains("no step of `d2` has such a result");
}

#[test]
fn an_agent_that_makes_an_argument_of_a_step_is_one_of_its_task() {
    let library = "<library><template name=\"h\" params=\"a\"><task type=\"atomic\"><description>say {{a}}</description></task></template>\
        <task name=\"t\" type=\"sequential\"><description>d</description><steps>\
        <call template=\"h\"><arg name=\"a\"><task><description>inner</description></task></arg></call></steps></task></library>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("t.xml", library);
    project
        .run(&["render", "t", "--node", "/steps/0/args/0"])
        .exits_with(0)
        .stdout_contains("inner");
    project
        .run(&["render", "t", "--node", "/steps/0", "--result", "a=X"])
        .exits_with(0)
        .stdout_contains("say X");
}
