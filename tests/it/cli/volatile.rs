//! `[requests] volatile`: values that differ every time do not change a request.

use super::eval_record::{asked, completion, stale, upstream, with_model};
use super::project::Project;
use std::path::Path;

const SETTING: &str =
    "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"(Sort|Order) the\" }]\n";

#[test]
fn an_answer_is_found_by_the_rest_of_its_request() {
    let project = stale();
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE");
    // The setting may come later than the recording.
    project.write_file("ctxc.toml", project.read_file("ctxc.toml") + SETTING);
    let run = project.run(&["eval"]).exits_with(0);
    run.stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 2 (replayed)");
    // Everything else is compared.
    project.write_file(
        "templates/triage.xml",
        project
            .read_file("templates/triage.xml")
            .replace("ticket:", "letter:"),
    );
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE")
        .stdout_contains("letter");
}

/// As above, where something of the request was masked.
#[test]
fn an_answer_is_found_by_the_rest_of_a_request_that_is_masked() {
    let server = upstream(["billing"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    let template = project
        .read_file("templates/triage.xml")
        .replace("Sort", "For help@example.com, Sort");
    project.write_file("templates/triage.xml", &template);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    let recording = project
        .files()
        .into_iter()
        .find(|file| {
            Path::new(file)
                .extension()
                .is_some_and(|ending| ending == "jsonl")
        })
        .unwrap();
    assert!(
        project.read_file(&recording).contains("⟦email:")
            && !project.read_file(&recording).contains("help@")
    );
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 2 (replayed)");
    project.write_file("templates/triage.xml", template.replace("Sort", "Order"));
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE")
        .stdout_contains("For ⟦email⟧, Order the")
        .output_lacks("help@");
    project.write_file("ctxc.toml", project.read_file("ctxc.toml") + SETTING);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 2 (replayed)");
    project.write_file(
        "templates/triage.xml",
        template.replace("ticket:", "letter:"),
    );
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE")
        .stdout_contains("letter")
        .output_lacks("Order");
}

#[test]
fn a_value_is_left_out_whole() {
    let server = upstream(["billing"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    let other = project
        .read_file("ctxc.toml")
        .replace("id = \"house-1\"", "id = \"house-2\"");
    project.write_file("ctxc.toml", &other);
    project.run(&["eval"]).exits_with(6);
    project.write_file("ctxc.toml", other + "[requests]\nvolatile = \"/model\"\n");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("replayed");
}

/// A test of an agent whose request contains the date passes on the next day.
#[test]
fn a_stored_request_is_without_it() {
    let body = |day: &str| {
        format!(
            r#"{{"model":"gpt-4.1","messages":[{{"role":"system","content":"Today is {day} 10:00."}},{{"role":"user","content":"Hi"}}]}}"#
        )
    };
    let project = Project::new().with_file("sent.json", body("2026-11-25"));
    project
        .run(&["new", "scenario", "--from", "sent.json", "--name", "s"])
        .exits_with(0);
    project.run(&["eval"]).exits_with(0);
    project.write_file("scenarios/requests/s.json", body("2026-11-26"));
    // The difference is a date: a setting exists for that.
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("Today is 2026-11-26")
        .stdout_contains("`[requests] volatile` in ctxc.toml leaves it out");
    project.write_file("ctxc.toml", "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"day [0-9]{9}\" }, \"/metadata\"]\n");
    let run = project.run(&["eval"]).exits_with(1);
    run.stderr_contains(
        "leaves out /day [0-9]{9}/ in `/messages`, which no request of this run has",
    )
    .stderr_contains("leaves out `/metadata`, which");
    project.write_file(
        "ctxc.toml",
        "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"[0-9-]+ [0-9:]+\" }]\n",
    );
    project.run(&["eval", "--accept"]).exits_with(0);
    project.write_file("scenarios/requests/s.json", body("2027-01-31"));
    project.run(&["eval"]).exits_with(0);
    project.write_file(
        "scenarios/requests/s.json",
        body("2027-01-31").replace("Today", "Now"),
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("Now is")
        .output_lacks("leaves it out");
}

#[test]
fn what_is_no_place_of_a_request_is_reported() {
    let project = Project::new().with_file(
        "templates/a.xml",
        "<task type=\"atomic\" name=\"a\"><description>x</description></task>\n",
    );
    let check_with = |value: &str| {
        project.write_file("ctxc.toml", format!("[requests]\nvolatile = {value}\n"));
        project.run(&["check", "--format", "concise"]).exits_with(2)
    };
    check_with("[\"metadata\"]")
        .stdout_contains("a JSON Pointer of a part of the request, such as `/metadata/id`");
    check_with("\"\"").stdout_contains("a JSON Pointer");
    check_with("[{ in = \"/a\" }]").stdout_contains("pattern");
    check_with("[{ in = \"/a\", pattern = \"(\" }]").stdout_contains("a pattern");
    check_with("[3]").stdout_contains("a JSON Pointer such as");
    check_with("[{ in = \"/a\", pattern = \"x\", patern = \"y\" }]").stdout_contains("patern");
    project.write_file(
        "ctxc.toml",
        "[requests]\nvolatile = [\"/a\", { in = \"\", pattern = \"x\" }]\n",
    );
    project.run(&["check"]).exits_with(0);
}

#[test]
fn the_gate_lists_what_a_change_leaves_out() {
    let project = stale();
    project.write_file(
        "templates/triage.xml",
        project
            .read_file("templates/triage.xml")
            .replace("Order", "Sort"),
    );
    super::eval::commit(&project);
    project
        .run(&["gate", "--base", "HEAD"])
        .exits_with(7)
        .stdout_contains("no file of the project differs from it");
    project.write_file(
        "templates/triage.xml",
        project
            .read_file("templates/triage.xml")
            .replace("Sort", "Order"),
    );
    project.write_file("ctxc.toml", project.read_file("ctxc.toml") + SETTING);
    let run = project
        .run(&["gate", "--base", "HEAD", "--json"])
        .exits_with(4);
    let weakened = run.json()["weakened"].clone();
    let found = weakened
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["kind"] == "threshold")
        .cloned();
    assert!(
        found.unwrap()["of"].to_string().contains("volatile"),
        "{weakened}"
    );
}
