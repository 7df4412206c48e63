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
    let project = Project::new().file("templates/triage.xml", TRIAGE).file("templates/week.xml", week);
    project.file("docs/runbook.md", "Restart it.\n".repeat(20))
}

#[test]
fn people_see_segments_prefix_and_total() {
    let run = sample().run(&["manifest", "triage"]).code(0).silent();
    assert_eq!(
        run.stdout,
        "triage\n \
         1 system 6 · 2 docs/runbook.md 72 │ reusable prefix 78 │ 3 description ≥ 5\n \
         total 83 tokens (o200k) and what a run brings: ticket\n"
    );
    let given = sample().run(&["manifest", "triage", "--input", "ticket=a leak", "--budget", "500"]).code(0);
    assert_eq!(
        given.stdout,
        "triage\n \
         1 system 6 · 2 docs/runbook.md 72 │ reusable prefix 78 │ 3 description 7\n \
         total 85 of 500 tokens (o200k)\n"
    );
    let bounded = sample().run(&["manifest", "triage", "--budget", "500"]).code(0);
    bounded.says("3 description ≤ 494\n total 83 to 500 of 500 tokens").says(", by ticket\n");
    let all = sample().run(&["manifest"]).code(0).silent();
    let step = "week/steps/1\n 1 parent's description 9 │ reusable prefix 9 │ 2 description ≥ 6 · 3 first ≥ 6\n";
    all.says(step).says("\n3 agents, 187 tokens known before a run\n");
    sample().run(&["manifest", "week", "--node", "/steps/1"]).code(0).says("week/steps/1");
}

#[test]
fn a_manifest_is_checked_and_a_stale_one_says_what_changed() {
    let project = sample();
    let file = "context-manifest.json";
    project.run(&["manifest", "--output", file]).code(0).silent_out().warns("wrote context-manifest.json (3 agents)");
    let before = project.read(file);
    assert_eq!(project.run(&["manifest", "--json", "--threads", "1"]).code(0).stdout, before);
    project.run(&["manifest", "--check", file]).code(0).says("is up to date");
    // White space between elements is nothing that anybody receives.
    project.write("templates/triage.xml", TRIAGE.replace('\n', "\n\n\n").replace("  <", "\t    <"));
    project.run(&["manifest", "--check", file]).code(0);
    assert_eq!(project.run(&["manifest", "--json"]).stdout, before);
    project.write("templates/triage.xml", TRIAGE.replace("support tickets", "all support tickets of the house"));
    project.write("docs/runbook.md", "Restart it.\n");
    let stale = project.run(&["manifest", "--check", file]).code(1);
    assert_eq!(
        stale.stdout,
        "context-manifest.json is out of date; `ctxc manifest --output context-manifest.json` writes it\n\
         ~ triage  83 → 30 (−53, −64 %) tokens; reusable prefix 78 → 25 (−53, −68 %)\n    \
         ~ system 6 → 10: text of the template (templates/triage.xml)\n    ~ file:docs/runbook.md 72 → 15: file\n\
         ~ week/steps/0  83 → 30 (−53, −64 %) tokens; reusable prefix 78 → 25 (−53, −68 %)\n    \
         ~ system 6 → 10: text of the template (templates/triage.xml)\n    ~ file:docs/runbook.md 72 → 15: file\n\
         2 agents changed; 187 → 81 (−106, −57 %) tokens known before a run\n"
    );
    assert_eq!(project.read(file), before, "a check writes nothing");
    project.run(&["manifest", "--output", "new.json"]).code(0);
    let difference = project.run(&["manifest", "diff", file, "new.json"]).code(0);
    assert_eq!(difference.stdout, stale.stdout.split_once('\n').unwrap().1);
    project.run(&["manifest", "diff", file, file]).code(0).says("every agent receives the same\n");
}

#[test]
fn registries_are_compared_by_what_their_agents_receive() {
    let project = sample();
    project.run(&["build", "-o", "old.json"]).code(0);
    project.write("ctxc.toml", "[defaults.sequential]\naccumulate_data = false\n");
    project.run(&["build", "-o", "new.json"]).code(0);
    let run = project.run(&["manifest", "diff", "old.json", "new.json"]).code(0);
    assert_eq!(
        run.stdout,
        "~ week/steps/1  21 → 15 (−6, −29 %) tokens\n    \
         accumulate_data of week true → false (ctxc.toml:2)\n    - accumulated:first 6: accumulate_data\n\
         1 agent changed; 187 → 181 (−6, −3 %) tokens known before a run\n"
    );
}

#[test]
fn nothing_but_a_manifest_is_written_over() {
    let project = sample();
    for (args, said) in [
        (&["manifest", "--output", "templates/triage.xml", "--json"][..], "is no manifest"),
        (&["manifest", "--output", "manifest.txt"], "which format"),
        (&["manifest", "--output", "a.json", "--format", "text"], "for screens"),
        (&["manifest", "traige"], "did you mean `triage`?"),
        (&["manifest", "triage", "--node", "/steps/0"], "there is no node"),
        (&["manifest", "--input", "a=b"], "TASK"),
        (&["manifest", "diff", "gone.json", "gone.json"], "there is no file or folder gone.json"),
    ] {
        project.run(args).code(2).silent_out().warns(said);
    }
    assert_eq!(project.read("templates/triage.xml"), TRIAGE);
    for (text, said) in [
        ("", "is no manifest"),
        ("{\"schema\":\"ctxc/manifest/2\"}", "a newer ctxc wrote it"),
        ("{\"schema\":\"ctxc/manifest/1\"}", "is no manifest"),
    ] {
        project.write("bad.json", text);
        project.run(&["manifest", "--check", "bad.json"]).code(3).silent_out().warns(said);
        project.run(&["manifest", "diff", "bad.json", "bad.json"]).code(3).warns(said);
    }
    std::fs::remove_file(project.path("docs/runbook.md")).unwrap();
    project.run(&["manifest"]).code(1).silent_out().warns("docs/runbook.md cannot be read");
}

#[test]
fn pages_hold_every_segment_and_no_name_breaks_them() {
    let hostile = "<img src=x onerror=alert(1)>|`*&\".md";
    let escaped = hostile.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let project = sample().file(&format!("docs/{hostile}"), "text\n");
    project.write("templates/triage.xml", TRIAGE.replace("runbook.md", &escaped));
    for (name, format) in [("m.html", "html"), ("m.md", "markdown")] {
        let page = project.run(&["manifest", "--format", format]).code(0).stdout;
        assert!(!page.contains("<img") && !page.contains("<script"), "{page}");
        project.run(&["manifest", "--output", name]).code(0);
        assert_eq!(project.read(name), page);
        // Written again over its own kind.
        project.run(&["manifest", "--output", name]).code(0);
    }
    let html = project.read("m.html");
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;") && !html.contains("http"), "{html}");
    let parts = project.run(&["manifest", "--json"]).json();
    let count: usize = parts["entries"].as_array().unwrap().iter().map(|entry| entry["segments"].as_array().unwrap().len()).sum();
    assert_eq!(html.matches("<tr><td").count(), count);
    let table = project.read("m.md");
    assert_eq!(table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |")).count(), count);
    assert!(table.contains("\\|\\`\\*"), "{table}");
}

#[test]
fn an_empty_template_is_not_written_over_either() {
    let project = sample();
    project.write("templates/empty.xml", "");
    project.run(&["manifest", "triage", "--output", "templates/empty.xml", "--json"]).code(1);
    std::fs::remove_file(project.path("templates/empty.xml")).unwrap();
    project.write("empty.xml", "");
    project.run(&["manifest", "triage", "--output", "empty.xml", "--json"]).code(2).warns("is no manifest");
    project.write("empty.json", "");
    project.run(&["manifest", "triage", "--output", "empty.json"]).code(0);
}
