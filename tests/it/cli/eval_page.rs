//! The page: the conversation, the changes of the request, and the last runs of scenarios that do
//! not pass.

use super::eval_answers::{TASK, scenario};
use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn a_failing_scenario_is_shown_with_its_conversation_its_diff_and_its_last_runs() {
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/billing.yaml",
            scenario("expect_context:\n  - snapshot: true\nanswers: [{reply: \"billing <b>\"}]\n"),
        )
        .with_file(
            "scenarios/other.yaml",
            scenario("answers: [{reply: billing}]\n").replace("name: billing", "name: other"),
        );
    project.run(&["eval", "--accept"]).exits_with(0);
    project.run(&["eval"]).exits_with(0);
    project.write_file(
        "templates/triage.xml",
        TASK.replace("Sort the ticket", "Order the ticket at once"),
    );
    project
        .run(&["eval", "--report", "html=page.html"])
        .exits_with(1);
    let page = project.read_file("page.html");
    let has = |what: &str| assert!(page.contains(what), "{what}\n{page}");
    has("<h2>Conversation</h2>");
    has("<li><strong>user</strong><pre tabindex=\"0\">## Task\n\n");
    has("Order the ticket at once: ");
    has(
        "<strong>answer of trial 1 of 2, by script: passes</strong><pre tabindex=\"0\">billing &lt;b&gt;</pre>",
    );
    has("<del>-");
    has("<ins>+");
    has("<figcaption>mean tokens in the last 3 runs: ");
    has("; 2 passed; model or context changed in between</figcaption><svg class=\"line\"");
    has(
        "<figcaption>scenarios that passed in the last 3 runs of this selection, 1 of 2 in the last</figcaption>",
    );
    has("<p class=\"fail\"><strong>✗</strong> 2 scenarios: 1 passed, 1 failed");
    has("<summary class=\"fail\"><strong>✗ FAIL</strong><b>billing</b>");
    has("<li><strong>✓ PASS</strong><b>other</b>");
    // A run of one scenario is no point of the line of both, and the other way round.
    let page = |args: &[&str]| {
        project
            .run(&[&["eval", "--format", "html"], args].concat())
            .stdout
    };
    assert!(!page(&["billing"]).contains("of this selection"));
    let of = |page: &str| {
        let (_, rest) = page.split_once("passed in the last ").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    assert_eq!(
        of(&page(&["billing"])),
        "2 runs of this selection, 0 of 1 in the last"
    );
    assert_eq!(
        of(&page(&[])),
        "4 runs of this selection, 1 of 2 in the last"
    );
    let page = project.read_file("page.html");
    has("content=\"default-src 'none'; style-src 'unsafe-inline'\"");
    assert!(!page.contains("<script") && !page.contains("://"), "{page}");
    // A passing scenario has no such section.
    assert_eq!(page.matches("<h2>Conversation</h2>").count(), 1);
    // Without a history and without a stored request the page shows the conversation.
    project.write_file(
        "scenarios/billing.yaml",
        scenario("answers: [{reply: access}]\n"),
    );
    let page = project
        .run(&["eval", "--no-history", "--format", "html"])
        .exits_with(1)
        .stdout;
    assert!(
        page.contains("by script: fails")
            && !page.contains("<figure>")
            && !page.contains("stored one"),
        "{page}"
    );
}

#[test]
fn a_page_of_many_failures_stays_small() {
    let long = "word ".repeat(4_000);
    let cases = (0..150).fold(String::new(), |cases, number| {
        cases + &format!("  - {{id: c{number}, input: {{objective: sort, inputs: {{ticket: \"{long}\"}}}}, expected: [{{contains: [x]}}], answers: [{{reply: y}}]}}\n")
    });
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/many.yaml",
            format!("id: many\ndefaults: {{task: triage}}\ncases:\n{cases}"),
        );
    let page = project
        .run(&["eval", "--format", "html"])
        .exits_with(1)
        .stdout;
    assert_eq!(page.matches("<h2>Conversation</h2>").count(), 100);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains(" more characters</pre>"));
}
