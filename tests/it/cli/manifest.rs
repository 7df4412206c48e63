//! `ctxc manifest`: text, files, checks, differences, and pages that no name can break.

use super::project::Project;
use pretty_assertions::assert_eq;

const TRIAGE: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort {{ticket}}.</description>
  <parameters>
    <parameter name=\"ticket\" required=\"true\"/>
  </parameters>
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

fn sample() -> Project {
    let week = "<task type=\"sequential\" name=\"week\">\n  <description>Write.</description>\n  <steps>\n    <task ref=\"triage\" as=\"first\"/>\n    \
        <task type=\"atomic\">\n      <description>Sum up {{first}}.</description>\n    </task>\n  </steps>\n</task>\n";
    let project = Project::new()
        .with_file("templates/triage.xml", TRIAGE)
        .with_file("templates/week.xml", week);
    project.with_file("docs/runbook.md", "Restart it.\n".repeat(20))
}

#[test]
fn people_see_segments_prefix_and_total() {
    let run = sample()
        .run(&["manifest", "triage"])
        .exits_with(0)
        .stderr_is_empty();
    assert_eq!(
        run.stdout,
        "triage\n \
         1 system 6 · 2 docs/runbook.md 72 │ reusable prefix 78 │ 3 description ≥ 5\n \
         total 83 tokens (o200k) and what a run brings: ticket\n"
    );
    let given = sample()
        .run(&[
            "manifest",
            "triage",
            "--input",
            "ticket=a leak",
            "--budget",
            "500",
        ])
        .exits_with(0);
    assert_eq!(
        given.stdout,
        "triage\n \
         1 system 6 · 2 docs/runbook.md 72 │ reusable prefix 78 │ 3 description 7\n \
         total 85 of 500 tokens (o200k)\n"
    );
    let turns = "<task type=\"atomic\" name=\"t\"><description>D</description><examples as=\"turns\"><example><input>a</input>\
        <output>b</output></example></examples></task>";
    let shown = Project::new()
        .with_file("templates/t.xml", turns)
        .run(&["manifest", "t"])
        .exits_with(0);
    shown.stdout_contains(" 1 examples:1 ");
    let bounded = sample()
        .run(&["manifest", "triage", "--budget", "500"])
        .exits_with(0);
    bounded.stdout_contains("3 description ≤ 494\n total between 11 and 500 of 500 tokens (o200k), depending on ticket; 83 if everything known now fits");
    let all = sample().run(&["manifest"]).exits_with(0).stderr_is_empty();
    let step = "week/steps/1\n 1 parent's description 9 │ reusable prefix 9 │ 2 description ≥ 6 · 3 first ≥ 6\n";
    all.stdout_contains(step)
        .stdout_contains("\n3 agents, 187 tokens known before a run\n");
    sample()
        .run(&["manifest", "week", "--node", "/steps/1"])
        .exits_with(0)
        .stdout_contains("week/steps/1");
}

#[test]
fn what_a_run_may_say_itself_is_not_counted_as_certain() {
    let task = "<task type=\"sequential\" name=\"p\"><description>Parent text.</description><steps><task><description>One.</description>\
        <inputs><input name=\"x\"><task><description>Deep.</description></task></input></inputs><instructions>{{x}}</instructions></task></steps></task>";
    let project = Project::new().with_file("templates/p.xml", task);
    let expected = "1 description 5 · 2 parent's description 0 or 10 │ reusable prefix 15 │ 3 instructions ≥ 0\n \
        total 5 tokens (o200k) and what a run brings: x; 15 with all that is known\n";
    project
        .run(&["manifest", "p", "--node", "/steps/0"])
        .exits_with(0)
        .stdout_contains(expected);
    let rendered = |x: &str| {
        project
            .run(&[
                "render",
                "p",
                "--node",
                "/steps/0",
                "--result",
                x,
                "--explain",
            ])
            .exits_with(0)
    };
    rendered("x=Parent text.").stdout_contains(
        "total                        11 tokens, counted by o200k; the first 5 stay",
    );
    rendered("x=").stdout_contains(
        "total                        15 tokens, counted by o200k; the first 15 stay",
    );
    // A text that does not consist of the parent's description keeps it there.
    let project = Project::new().with_file("templates/p.xml", task.replace("{{x}}", "Use {{x}}"));
    project
        .run(&["manifest", "p", "--node", "/steps/0"])
        .exits_with(0)
        .stdout_contains("parent's description 10 │")
        .stdout_contains(" total 20 tokens");
}

#[test]
fn a_manifest_is_checked_and_a_stale_one_reports_what_changed() {
    let project = sample();
    let file = "context-manifest.json";
    project
        .run(&["manifest", "--output", file])
        .exits_with(0)
        .stdout_is_empty()
        .stderr_contains("wrote context-manifest.json (3 agents)");
    let before = project.read_file(file);
    assert_eq!(
        project
            .run(&["manifest", "--json", "--threads", "1"])
            .exits_with(0)
            .stdout,
        before
    );
    project
        .run(&["manifest", "--check", "-o", file])
        .exits_with(0)
        .stdout_contains("is up to date");
    // White space between elements reaches no agent.
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace('\n', "\n\n\n").replace("  <", "\t    <"),
    );
    project
        .run(&["manifest", "--check", "-o", file])
        .exits_with(0);
    assert_eq!(project.run(&["manifest", "--json"]).stdout, before);
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("support tickets", "all support tickets of the house"),
    );
    project.write_file("docs/runbook.md", "Restart it.\n");
    let stale = project
        .run(&["manifest", "--check", "-o", file])
        .exits_with(1);
    assert_eq!(
        stale.stdout,
        "context-manifest.json is out of date; `ctxc manifest --output context-manifest.json` writes it\n\
         ~ triage  83 → 30 (−53, −64 %) tokens; reusable prefix 78 → 25 (−53, −68 %)\n    \
         ~ system 6 → 10: text of the template (templates/triage.xml)\n    ~ file:docs/runbook.md 72 → 15: file\n\
         ~ week/steps/0  83 → 30 (−53, −64 %) tokens; reusable prefix 78 → 25 (−53, −68 %)\n    \
         ~ system 6 → 10: text of the template (templates/triage.xml)\n    ~ file:docs/runbook.md 72 → 15: file\n\
         2 agents changed; 187 → 81 (−106, −57 %) tokens known before a run\n"
    );
    assert_eq!(project.read_file(file), before, "a check writes nothing");
    project
        .run(&["manifest", "--output", "new.json"])
        .exits_with(0);
    let difference = project
        .run(&["manifest", "diff", file, "new.json"])
        .exits_with(0);
    assert_eq!(difference.stdout, stale.stdout.split_once('\n').unwrap().1);
    project
        .run(&["manifest", "diff", file, file])
        .exits_with(0)
        .stdout_contains("every agent receives the same\n");
}

/// A role with a model whose price is known.
const MODEL: &str = "[roles.r]\ntemplate = \"t\"\nmodel = \"m\"\n[models.m]\nprovider = \"openai\"\ntier = \"economy\"\n\
    context_window = 128000\nusd_per_million = { input = 1.0, output = 2.0 }\n";

/// A caller may hand in another value: the figures hold for any, and the default is shown beside
/// them.
#[test]
fn a_default_is_not_the_value() {
    let text = "Hi ".repeat(90);
    let task = |default: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\"><description>Say {{{{x}}}}</description><instructions syntax=\"jinja\">{{% if n &gt; 1 %}}twice{{% endif %}}</instructions>\
             <parameters><parameter name=\"x\" default=\"{default}\"/><parameter name=\"n\" type=\"number\" default=\"2\"/></parameters></task>"
        )
    };
    let project = Project::new()
        .with_file("templates/t.xml", task("hi"))
        .with_file("ctxc.toml", "edition = \"2026\"\n");
    let entry = project.run(&["manifest", "--json"]).exits_with(0).json()["entries"][0].clone();
    assert_eq!(
        entry["defaults"],
        serde_json::json!([{"name": "n", "value": "2"}, {"name": "x", "value": "hi"}])
    );
    assert_eq!(entry["segments"][0]["variable"], serde_json::json!(["x"]));
    assert!(
        entry["total"]["bound"].is_null() && entry["total"]["least"] == entry["total"]["fixed"],
        "{entry:#}"
    );
    project
        .run(&["manifest"])
        .exits_with(0)
        .stdout_contains("what a run brings: n, x\n defaults, if a caller hands in nothing else (11 tokens with them): n 2, x hi\n");
    project
        .run(&["manifest", "--format", "markdown"])
        .exits_with(0)
        .stdout_contains(
            "defaults, if a caller hands in nothing else (11 tokens with them): n 2, x hi",
        );
    // Budgets and prices are of the request with the defaults in place.
    let known = entry["total"]["estimate"].as_u64().unwrap();
    assert!(
        known > entry["total"]["fixed"].as_u64().unwrap(),
        "{entry:#}"
    );
    project.write_file(
        "ctxc.toml",
        format!("edition = \"2026\"\n[[require]]\nmust = \"manifest_tokens < {known}\"\n{MODEL}"),
    );
    let refused = project.run(&["manifest"]).exits_with(1);
    assert!(
        refused
            .stderr
            .contains(&format!("has {known} tokens, and the project requires")),
        "{}",
        refused.stderr
    );
    project.write_file(
        "ctxc.toml",
        format!("edition = \"2026\"\n[[require]]\nmust = \"manifest_tokens <= {known}\"\n{MODEL}"),
    );
    let first = |args: &[&str]| {
        project
            .run(&[&["manifest", "--json"], args].concat())
            .exits_with(0)
            .json()["entries"][0]["cost"]["first"]
            .clone()
    };
    assert_eq!(
        first(&[]),
        first(&["--role", "r", "--input", "x=hi", "--input", "n=2"])
    );
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    // A rendered context names its defaults too, and none for a value that is handed in.
    let shown = |args: &[&str]| {
        project
            .run(&[&["render", "t"], args].concat())
            .exits_with(0)
            .stdout
    };
    assert!(
        shown(&[]).ends_with("\ndefaults, if a caller hands in nothing else: n 2, x hi\n"),
        "{}",
        shown(&[])
    );
    assert!(
        shown(&["--input", "x=hi"])
            .ends_with("\ndefaults, if a caller hands in nothing else: n 2\n")
    );
    assert!(!shown(&["--input", "x=hi", "--input", "n=2"]).contains("defaults"));
    assert!(
        !shown(&["--raw"]).contains("defaults")
            && !shown(&["--as", "openai-chat"]).contains("defaults")
    );
    assert_eq!(
        project.run(&["render", "t", "--json"]).exits_with(0).json()["defaults"],
        entry["defaults"]
    );
    // A value that is handed in is known, be it the default or another.
    let given = |x: &str| {
        project
            .run(&["manifest", "t", "--json", "--input", x, "--input", "n=2"])
            .exits_with(0)
            .json()["entries"][0]
            .clone()
    };
    let (known, long) = (given("x=hi"), given(&format!("x={text}")));
    for entry in [&known, &long] {
        assert!(
            entry.get("defaults").is_none() && entry["total"]["bound"] == entry["total"]["fixed"],
            "{entry:#}"
        );
    }
    assert!(
        long["total"]["bound"].as_u64() > Some(90) && known["total"]["bound"].as_u64() < Some(20)
    );
    // Another default is a change.
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(0);
    project.write_file("templates/t.xml", task("ho"));
    project
        .run(&["manifest", "diff", "m.json", "."])
        .exits_with(0)
        .stdout_contains("~ description");
}

#[test]
fn registries_are_compared_by_what_their_agents_receive() {
    let project = sample();
    project.run(&["build", "-o", "old.json"]).exits_with(0);
    project.write_file(
        "ctxc.toml",
        "[defaults.sequential]\naccumulate_data = false\n",
    );
    project.run(&["build", "-o", "new.json"]).exits_with(0);
    let run = project
        .run(&["manifest", "diff", "old.json", "new.json"])
        .exits_with(0);
    assert_eq!(
        run.stdout,
        "~ week/steps/1  21 → 15 (−6, −29 %) tokens\n    \
         accumulate_data of week true → false (ctxc.toml:2)\n    - accumulated:first 6: accumulate_data\n\
         1 agent changed; 187 → 181 (−6, −3 %) tokens known before a run\n"
    );
}

#[test]
fn a_change_is_reported_for_the_changed_segment_and_for_no_other() {
    // The fence of a known value has another mark now, and the input has two tokens of the budget
    // less.
    let task = "<task type=\"atomic\" name=\"t\"><description>Sort {{ticket}}.</description><instructions>For {{who}}: BE kind.</instructions>\
        <parameters><parameter name=\"ticket\"/><parameter name=\"log\"/><parameter name=\"who\" trust=\"untrusted\" default=\"a friend\"/></parameters>\
        <inputs><input name=\"told\" from=\"log\" trust=\"untrusted\"/></inputs><constraints><constraint>One team.</constraint></constraints></task>";
    let roles = "[roles.clerk]\ntemplate = \"t\"\nbudget = { tokens = 2000 }\n";
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("ctxc.toml", roles);
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(0);
    project.write_file(
        "templates/t.xml",
        task.replace("One team.", "One team, be quick."),
    );
    let run = project
        .run(&["manifest", "diff", "m.json", "."])
        .exits_with(0);
    assert_eq!(
        run.stdout,
        "~ clerk: t  82 → 85 (+3, +4 %) tokens; reusable prefix 7 → 10 (+3, +43 %)\n    \
         ~ constraints 7 → 10: text of the template (templates/t.xml)\n\
         1 agent changed; 82 → 85 (+3, +4 %) tokens known before a run\n"
    );
}

#[test]
fn what_is_held_against_a_registry_is_reported_without_roles() {
    let project = sample().with_file("ctxc.toml", ROLES);
    project.run(&["build", "-o", "r.json"]).exits_with(0);
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(0);
    let left_out =
        "1 role of . left out, since r.json is a registry, which holds tasks and no roles";
    for args in [["r.json", "."], [".", "r.json"]] {
        let run = project
            .run(&["manifest", "diff", args[0], args[1]])
            .exits_with(0)
            .stderr_contains(left_out);
        assert_eq!(run.stdout, "every agent receives the same\n");
    }
    // A task that a role plays is not in a manifest without the role.
    let run = project
        .run(&["manifest", "diff", "m.json", "r.json"])
        .exits_with(0)
        .stderr_contains("1 role of m.json left out");
    assert_eq!(run.stdout, "every agent receives the same\n");
    project.write_file("docs/runbook.md", "Restart it.\n");
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("support tickets", "all support tickets"),
    );
    let run = project
        .run(&["manifest", "diff", "r.json"])
        .exits_with(0)
        .stderr_contains("1 role of work tree left out");
    run.stdout_contains("~ triage  ")
        .stdout_contains("~ week/steps/0  ")
        .stdout_contains("2 agents changed");
    project
        .run(&["manifest", "diff", "r.json", "r.json"])
        .exits_with(0)
        .stderr_is_empty();
}

#[test]
fn nothing_but_a_manifest_is_written_over() {
    let project = sample();
    for (args, expected) in [
        (
            &["manifest", "--output", "templates/triage.xml", "--json"][..],
            "is no manifest",
        ),
        (&["manifest", "traige"], "did you mean `triage`?"),
        (
            &["manifest", "triage", "--node", "/steps/0"],
            "there is no node",
        ),
        (&["manifest", "--input", "a=b"], "TASK"),
        (
            &["manifest", "diff", "gone.json", "gone.json"],
            "there is no file or folder gone.json",
        ),
    ] {
        project
            .run(args)
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(expected);
    }
    assert_eq!(project.read_file("templates/triage.xml"), TRIAGE);
    project
        .run(&["manifest", "--output", "manifest.txt"])
        .exits_with(0);
    assert_eq!(
        project.read_file("manifest.txt"),
        project.run(&["manifest"]).exits_with(0).stdout
    );
    for (text, code, expected) in [
        ("", 1, "is not a manifest"),
        ("{}", 1, "is not a manifest"),
        (
            "{\"schema\":\"ctxc/manifest/2\"}",
            3,
            "a newer ctxc wrote it",
        ),
        ("{\"schema\":\"ctxc/manifest/1\"}", 1, "is not a manifest"),
    ] {
        project.write_file("bad.json", text);
        project
            .run(&["manifest", "--check", "-o", "bad.json"])
            .exits_with(code)
            .stdout_is_empty()
            .stderr_contains(expected);
        project
            .run(&["manifest", "diff", "bad.json", "bad.json"])
            .exits_with(code)
            .stderr_contains(expected);
    }
    std::fs::remove_file(project.path("docs/runbook.md")).unwrap();
    project
        .run(&["manifest"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("the file `docs/runbook.md` cannot be shown to the agent");
}

#[test]
fn a_folder_without_templates_has_nothing_to_show() {
    let empty = Project::new();
    for verb in [
        &["manifest"][..],
        &["eval"],
        &["render", "a"],
        &["new", "scenario", "a"],
    ] {
        empty
            .run(verb)
            .exits_with(5)
            .stdout_is_empty()
            .stderr_contains("there is no template in this project")
            .stderr_contains("`ctxc init` starts one");
    }
    empty.run(&["eval", "--allow-empty"]).exits_with(0);
}

#[test]
fn pages_hold_every_segment_and_no_name_breaks_them() {
    let hostile = "<img src=x onerror=alert(1)>|`*&\".md";
    let escaped = hostile
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let project = sample().with_file(&format!("docs/{hostile}"), "text\n");
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("runbook.md", &escaped),
    );
    for (name, format) in [("m.html", "html"), ("m.md", "markdown")] {
        let page = project
            .run(&["manifest", "--format", format])
            .exits_with(0)
            .stdout;
        assert!(
            !page.contains("<img") && !page.contains("<script"),
            "{page}"
        );
        project.run(&["manifest", "--output", name]).exits_with(0);
        assert_eq!(project.read_file(name), page);
        // An artifact may replace one of its own kind.
        project.run(&["manifest", "--output", name]).exits_with(0);
    }
    let html = project.read_file("m.html");
    assert!(
        html.contains("&lt;img src=x onerror=alert(1)&gt;") && !html.contains("http"),
        "{html}"
    );
    let parts = project.run(&["manifest", "--json"]).json();
    let count: usize = parts["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["segments"].as_array().unwrap().len())
        .sum();
    assert_eq!(html.matches("<tr><td").count(), count);
    let table = project.read_file("m.md");
    assert_eq!(
        table
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| |"))
            .count(),
        count
    );
    assert!(table.contains("\\|\\`\\*"), "{table}");
}

#[test]
fn an_empty_template_is_not_written_over_either() {
    let project = sample();
    project.write_file("templates/empty.xml", "");
    project
        .run(&[
            "manifest",
            "triage",
            "--output",
            "templates/empty.xml",
            "--json",
        ])
        .exits_with(2)
        .stderr_contains("is no manifest");
    std::fs::remove_file(project.path("templates/empty.xml")).unwrap();
    project.write_file("empty.xml", "");
    project
        .run(&["manifest", "triage", "--output", "empty.xml", "--json"])
        .exits_with(2)
        .stderr_contains("is no manifest");
    project.write_file("empty.json", "");
    project
        .run(&["manifest", "triage", "--output", "empty.json"])
        .exits_with(0);
}

const ROLES: &str = r#"
[roles.clerk]
template = "triage"
system = "You are the clerk."
tools = ["read_*"]
blocked_tools = ["read_mail"]
protected_paths = ["a|b*/**"]
budget = { tokens = 2000, usd = 0.0001 }
tier = "economy"

[models.small]
provider = "openai"
id = "small-2026"
tier = "economy"
context_window = 8192
output_reserve = 1000
usd_per_million = { input = 2.0, cached_input = 0.5, output = 8.0 }
"#;

#[test]
fn a_role_is_shown_with_its_model_its_price_and_what_it_may_do() {
    let project = sample().with_file("ctxc.toml", ROLES);
    let run = project
        .run(&["manifest", "--role", "clerk"])
        .exits_with(0)
        .stderr_is_empty();
    assert_eq!(
        run.stdout,
        "clerk: triage\n \
         model small (economy, openai, small-2026): the only one that is at least economy\n \
         1 system 11 · 2 docs/runbook.md 72 │ reusable prefix 83 │ 3 description ≤ 1,989 · 4 objective ≤ 1,984\n \
         total between 16 and 2,000 of 2,000 tokens (o200k), depending on objective, ticket; 88 if everything known now fits\n \
         US$ 0.000176 a call before its answer, 0.000051 with the prefix cached, at most 0.004: over its budget of 0.0001\n \
         tools read_*; not read_mail; protected a|b*/**\n"
    );
    let given = project.run(&[
        "manifest",
        "--role",
        "clerk",
        "--input",
        "ticket=a leak",
        "--budget",
        "500",
        "--tokenizer",
        "bytes",
    ]);
    given
        .exits_with(0)
        .stdout_contains("of 500 tokens (bytes, an upper bound)");
    let asked = [
        "manifest",
        "--role",
        "clerk",
        "--input",
        "ticket=a leak",
        "--objective",
        "sort by noon",
    ];
    project
        .run(&asked)
        .exits_with(0)
        .stdout_contains("3 description 7 · 4 objective 8\n")
        .stdout_contains(" total 98 of 2,000 tokens");
    project
        .run(&["manifest", "--objective", "sort"])
        .exits_with(2)
        .stderr_contains("name a TASK, or say --role NAME");
    // A task that a role plays is not listed again; by its own name it is listed without the role.
    project
        .run(&["manifest"])
        .exits_with(0)
        .stdout_contains("clerk: triage\n")
        .stdout_contains("\nweek/steps/0\n")
        .stdout_contains("\n3 agents");
    project
        .run(&["manifest", "triage"])
        .exits_with(0)
        .stdout_contains("triage\n 1 system 6 ");
    let page = project
        .run(&["manifest", "--role", "clerk", "--format", "markdown"])
        .exits_with(0);
    page.stdout_contains("Model <code>small</code> (economy, openai, small-2026)")
        .stdout_contains("- protected: <code>a\\|b\\*/\\*\\*</code>\n");
    let page = project
        .run(&["manifest", "--role", "clerk", "--format", "html"])
        .exits_with(0);
    page.stdout_contains("<p>model <code>small</code>")
        .stdout_contains("<code>a|b*/**</code>");
    project
        .run(&["manifest", "--role", "clark"])
        .exits_with(2)
        .stderr_contains("did you mean `clerk`?");
    sample()
        .run(&["manifest", "--role", "clerk"])
        .exits_with(2)
        .stderr_contains("`[roles.NAME]` of ctxc.toml defines one");
    project
        .run(&["manifest", "triage", "--role", "clerk"])
        .exits_with(2);
}

#[test]
fn one_token_is_a_token_and_its_bar_can_be_seen() {
    let go =
        "<task type=\"atomic\" name=\"go\" profile=\"bare\"><description>Go</description></task>";
    let project = sample().with_file("templates/go.xml", go);
    project
        .run(&["manifest", "go"])
        .exits_with(0)
        .stdout_contains("total 1 token (");
    let page = |format: &str| {
        let run = project
            .run(&["manifest", "go", "--format", format])
            .exits_with(0);
        run.output_lacks("1 tokens").stdout
    };
    assert!(page("markdown").contains("\n1 token ("));
    let html = page("html");
    assert!(html.contains("<p>1 token <span"), "{html}");
    assert!(html.contains(".bar{display:flex;min-width:6rem;"), "{html}");
    assert!(html.contains("style=\"flex-grow:1\""), "{html}");
}

#[test]
fn what_changed_about_a_role_is_reported_in_words() {
    let project = sample().with_file("ctxc.toml", ROLES);
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(0);
    project
        .run(&["manifest", "--check", "-o", "m.json"])
        .exits_with(0);
    let other = ROLES
        .replace("\"read_*\"", "\"search\"")
        .replace("You are the clerk.", "You are the clerk here.");
    let other = other
        .replace("tokens = 2000, usd = 0.0001", "tokens = 1000, usd = 0.5")
        .replace("id = \"small-2026\"", "id = \"x\"");
    project.write_file("ctxc.toml", other);
    let run = project
        .run(&["manifest", "--check", "-o", "m.json"])
        .exits_with(1);
    let run = run
        .stdout_contains("clerk: triage")
        .stdout_contains("~ system 11 → 12")
        .stdout_contains("budget 1,000, was 2,000")
        .stdout_contains("budget US$ 0.5 a call, was US$ 0.0001");
    run.stdout_contains("may use search")
        .stdout_contains("no longer: may use read_*")
        .stdout_contains("the same model in another way");
    // 88 tokens for US$ 2 or 4 per million; cached, 83 of them for US$ 0.5.
    project.write_file("ctxc.toml", ROLES.replace("input = 2.0", "input = 4.0"));
    project.run(&["manifest", "--check", "-o", "m.json"]).exits_with(1).stdout_contains(
        "~ clerk: triage  88 tokens; US$ 0.000176 → 0.000352 (+100 %) a call, with the prefix cached 0.000051 → 0.000062 (+19 %)\n",
    );
    project
        .run(&["manifest", "--output", "dear.json"])
        .exits_with(0);
    let json = project
        .run(&["manifest", "diff", "m.json", "dear.json", "--json"])
        .exits_with(0)
        .json();
    let clerk = &json["changed"][0];
    assert_eq!(
        (
            clerk["role"].as_str(),
            clerk["cost"]["from"]["first"].as_f64()
        ),
        (Some("clerk"), Some(0.000_176))
    );
    assert_eq!(clerk["cost"]["to"]["first"].as_f64(), Some(0.000_352));
    let page = project
        .run(&[
            "manifest",
            "diff",
            "m.json",
            "dear.json",
            "--format",
            "markdown",
        ])
        .exits_with(0);
    page.stdout_contains("| agent | tokens | reusable prefix | US$ a call |\n|---|---|---|---|\n")
        .stdout_contains("| US$ 0.000176 → 0.000352 (+100 %) a call");
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    let gone = project
        .run(&["manifest", "--check", "-o", "m.json"])
        .exits_with(1);
    gone.stdout_contains("- clerk: triage  88 tokens; US$ 0.000176 a call\n")
        .stdout_contains("+ triage  ");
}

#[test]
fn a_manifest_of_before_roles_is_still_read() {
    let project = sample();
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(0);
    let mut old: serde_json::Value = serde_json::from_str(&project.read_file("m.json")).unwrap();
    for entry in old["entries"].as_array_mut().unwrap() {
        let entry = entry.as_object_mut().unwrap();
        for key in ["routing", "profile", "cost"] {
            assert!(entry.remove(key).is_some(), "{key}");
        }
    }
    project.write_file("m.json", old.to_string());
    project
        .run(&["manifest", "--check", "-o", "m.json"])
        .exits_with(0);
}

#[test]
fn a_role_is_rendered_with_its_profile_model_and_budget() {
    let roles = ROLES.replace(
        "tier = \"economy\"\n\n",
        "tier = \"economy\"\nprofile = \"plain\"\n\n",
    );
    let project = sample().with_file("ctxc.toml", roles);
    let given = ["render", "--role", "clerk", "--input", "ticket=a leak"];
    let with = |more: &[&str]| project.run(&[&given[..], more].concat());
    with(&[])
        .exits_with(0)
        .stdout_contains("system    │ You are the clerk.")
        .stdout_contains("ctxc.toml:4")
        .stdout_contains("File: docs/runbook.md:");
    with(&["--profile", "markdown"])
        .exits_with(0)
        .stdout_contains("## File: docs/runbook.md");
    with(&["--explain"])
        .exits_with(0)
        .stdout_contains("the role's system and <system>")
        .stdout_contains(" of 2,000, counted by o200k")
        .stdout_contains(
            "model                        small: the only one that is at least economy",
        );
    let body = with(&["--as", "openai-chat"]).exits_with(0).json();
    assert_eq!(
        (
            body["model"].as_str(),
            body["max_completion_tokens"]
                .as_u64()
                .or(body["max_tokens"].as_u64())
        ),
        (Some("small-2026"), Some(1000))
    );
    let body = with(&[
        "--as",
        "openai-chat",
        "--model",
        "other",
        "--max-output",
        "5",
    ])
    .exits_with(0)
    .json();
    assert_eq!(body["model"].as_str(), Some("other"));
    with(&["--budget", "5"])
        .exits_with(1)
        .stderr_contains("system");
    project.run(&["render"]).exits_with(2);
    project
        .run(&["render", "triage", "--role", "clerk"])
        .exits_with(2);
}

#[test]
fn conditions_on_tokens_are_judged_where_a_manifest_is_made() {
    let require = |role: &str, limit: usize, more: &str| {
        format!(
            "[[require]]\n{role}must = \"manifest_tokens <= {limit}\"\nreason = \"it is called a thousand times a day\"\n{more}\n{ROLES}"
        )
    };
    let run = |text: String| sample().with_file("ctxc.toml", text).run(&["manifest"]);
    run(require("role = \"clerk\"\n", 88, ""))
        .exits_with(0)
        .stderr_is_empty();
    let broken = run(require("role = \"clerk\"\n", 87, ""))
        .exits_with(1)
        .stdout_contains("clerk: triage");
    broken.stderr_contains("ctxc.toml:3: clerk: triage has 88 tokens, and the project requires `manifest_tokens <= 87`: it is called a thousand times a day");
    run(require("role = \"clerk\"\n", 87, "level = \"warning\""))
        .exits_with(0)
        .stderr_contains("warning: ctxc.toml:3: clerk: triage has 88 tokens");
    // By name, path and type, for every agent of the task, and no others.
    run(require("name = \"week\"\n", 1, ""))
        .exits_with(1)
        .stderr_contains("week/steps/0 has 83 tokens")
        .stderr_contains("and ctxc.toml:3: week/steps/1 has");
    run(require("path = \"templates/triage.xml\"\n", 1, ""))
        .exits_with(1)
        .stderr_contains("clerk: triage has 88");
    run(require("operator = \"reduce\"\n", 1, "")).exits_with(0);
    run(require("subtype = \"standard\"\n", 1, ""))
        .exits_with(1)
        .stderr_contains("clerk: triage has 88");
    let check = sample()
        .with_file("ctxc.toml", require("role = \"clerk\"\n", 1, ""))
        .run(&["check", "--verbose"])
        .exits_with(0);
    check.stdout_contains("`ctxc manifest` checks it for every agent");
}

#[test]
fn arguments_that_are_trusted_by_the_authors_word_are_named() {
    let library = "<library><template name=\"f\" params=\"a\"><task type=\"atomic\"><description>See {{a}}.</description></task></template>\
        <task type=\"sequential\" name=\"t\"><description>d</description><parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters><steps>\
        <call template=\"f\"><arg from=\"mail\" trust=\"trusted\"/></call>\
        <task type=\"atomic\"><description>See {{i}}</description><inputs><input name=\"i\"><call template=\"f\"><arg name=\"a\" trust=\"trusted\">{{mail}}</arg></call></input></inputs></task>\
        </steps></task></library>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("t.xml", library);
    let shown = project.run(&["manifest", "t"]).exits_with(0).stdout;
    let declarations: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim().strip_prefix("trusted by the author's word "))
        .collect();
    assert_eq!(
        declarations,
        [
            "/steps/0/args/0",
            "/steps/0/args/0, a",
            "/steps/0/args/0, a"
        ]
    );
}
