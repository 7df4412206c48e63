//! `[requests] volatile`: what differs every time makes no request another one.

use super::eval_record::{asked, completion, stale, upstream, with_model};
use super::project::Project;
use std::path::Path;

const SETTING: &str =
    "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"(Sort|Order) the\" }]\n";

#[test]
fn an_answer_is_found_by_the_rest_of_its_request() {
    let project = stale();
    project.run(&["eval"]).code(6).says("STALE");
    // The setting may come later than the recording.
    project.write("ctxc.toml", project.read("ctxc.toml") + SETTING);
    let run = project.run(&["eval"]).code(0);
    run.says("answer 2 of 2 (replayed)  PASS");
    // All else is compared.
    project.write(
        "templates/triage.xml",
        project
            .read("templates/triage.xml")
            .replace("ticket:", "letter:"),
    );
    project.run(&["eval"]).code(6).says("STALE").says("letter");
}

/// As above, where something of the request was masked.
#[test]
fn an_answer_is_found_by_the_rest_of_a_request_that_is_masked() {
    let server = upstream(["billing"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    let template = project
        .read("templates/triage.xml")
        .replace("Sort", "For help@example.com, Sort");
    project.write("templates/triage.xml", &template);
    asked(&project, &["trust", "--yes"]).code(0);
    asked(&project, &["eval", "--record"]).code(0);
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
        project.read(&recording).contains("⟦email:") && !project.read(&recording).contains("help@")
    );
    project
        .run(&["eval"])
        .code(0)
        .says("answer 2 of 2 (replayed)  PASS");
    project.write("templates/triage.xml", template.replace("Sort", "Order"));
    project
        .run(&["eval"])
        .code(6)
        .says("STALE")
        .says("For ⟦email⟧, Order the")
        .never_says("help@");
    project.write("ctxc.toml", project.read("ctxc.toml") + SETTING);
    project
        .run(&["eval"])
        .code(0)
        .says("answer 2 of 2 (replayed)  PASS");
    project.write(
        "templates/triage.xml",
        template.replace("ticket:", "letter:"),
    );
    project
        .run(&["eval"])
        .code(6)
        .says("STALE")
        .says("letter")
        .never_says("Order");
}

#[test]
fn a_value_is_left_out_whole() {
    let server = upstream(["billing"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).code(0);
    asked(&project, &["eval", "--record"]).code(0);
    let other = project
        .read("ctxc.toml")
        .replace("id = \"house-1\"", "id = \"house-2\"");
    project.write("ctxc.toml", &other);
    project.run(&["eval"]).code(6);
    project.write("ctxc.toml", other + "[requests]\nvolatile = \"/model\"\n");
    project.run(&["eval"]).code(0).says("replayed");
}

/// A test of an agent that says what day it is passes on the next one.
#[test]
fn a_stored_request_is_without_it() {
    let body = |day: &str| {
        format!(
            r#"{{"model":"gpt-4.1","messages":[{{"role":"system","content":"Today is {day} 10:00."}},{{"role":"user","content":"Hi"}}]}}"#
        )
    };
    let project = Project::new().file("sent.json", body("2026-11-25"));
    project
        .run(&["new", "scenario", "--from", "sent.json", "--name", "s"])
        .code(0);
    project.run(&["eval"]).code(0);
    project.write("scenarios/requests/s.json", body("2026-11-26"));
    // What differs is a date: there is a setting for that.
    project
        .run(&["eval"])
        .code(1)
        .says("Today is 2026-11-26")
        .says("`[requests] volatile` in ctxc.toml leaves it out");
    project.write("ctxc.toml", "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"day [0-9]{9}\" }, \"/metadata\"]\n");
    let run = project.run(&["eval"]).code(1);
    run.warns("leaves out /day [0-9]{9}/ in `/messages`, which no request of this run has")
        .warns("leaves out `/metadata`, which");
    project.write(
        "ctxc.toml",
        "[requests]\nvolatile = [{ in = \"/messages\", pattern = \"[0-9-]+ [0-9:]+\" }]\n",
    );
    project.run(&["eval", "--accept"]).code(0);
    project.write("scenarios/requests/s.json", body("2027-01-31"));
    project.run(&["eval"]).code(0);
    project.write(
        "scenarios/requests/s.json",
        body("2027-01-31").replace("Today", "Now"),
    );
    project
        .run(&["eval"])
        .code(1)
        .says("Now is")
        .never_says("leaves it out");
}

#[test]
fn what_is_no_place_of_a_request_is_told() {
    let project = Project::new().file(
        "templates/a.xml",
        "<task type=\"atomic\" name=\"a\"><description>x</description></task>\n",
    );
    let told = |value: &str| {
        project.write("ctxc.toml", format!("[requests]\nvolatile = {value}\n"));
        project.run(&["check", "--format", "concise"]).code(2)
    };
    told("[\"metadata\"]").says("a JSON Pointer of a part of the request, such as `/metadata/id`");
    told("\"\"").says("a JSON Pointer");
    told("[{ in = \"/a\" }]").says("pattern");
    told("[{ in = \"/a\", pattern = \"(\" }]").says("a pattern");
    told("[3]").says("a JSON Pointer such as");
    told("[{ in = \"/a\", pattern = \"x\", patern = \"y\" }]").says("patern");
    project.write(
        "ctxc.toml",
        "[requests]\nvolatile = [\"/a\", { in = \"\", pattern = \"x\" }]\n",
    );
    project.run(&["check"]).code(0);
}

#[test]
fn the_gate_lists_what_a_change_leaves_out() {
    let project = stale();
    project.write(
        "templates/triage.xml",
        project
            .read("templates/triage.xml")
            .replace("Order", "Sort"),
    );
    super::eval::commit(&project);
    project
        .run(&["gate", "--base", "HEAD"])
        .code(7)
        .says("no file of the project differs from it");
    project.write(
        "templates/triage.xml",
        project
            .read("templates/triage.xml")
            .replace("Sort", "Order"),
    );
    project.write("ctxc.toml", project.read("ctxc.toml") + SETTING);
    let run = project.run(&["gate", "--base", "HEAD", "--json"]).code(4);
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
