//! `crowded-budget`: a budget that cuts an agent's own texts in every call.

use super::project::Project;

/// A task with a number of rules, and a letter with these attributes.
fn task(rules: usize, letter: &str) -> String {
    let rule = |number| {
        format!(
            "<constraint>Rule {number:02}: never do forbidden thing number {number:02} under any circumstance whatsoever.</constraint>"
        )
    };
    let rules: String = (0..rules).map(rule).collect();
    format!(
        "<task type=\"atomic\" name=\"answer\">\n<description>Answer the mail.</description>\n<parameters><parameter name=\"mail\" required=\"true\" trust=\"untrusted\"/></parameters>\n\
         <inputs><input name=\"mail\" from=\"mail\"{letter}/></inputs>\n<constraints>{rules}</constraints>\n\
         <context_management><inherit_context>full</inherit_context></context_management>\n</task>\n"
    )
}

fn project(rules: usize, letter: &str, config: &str) -> Project {
    Project::new()
        .with_file("ctxc.toml", config)
        .with_file("templates/answer.xml", task(rules, letter))
}

const ROLE: &str = "edition = \"2026\"\n\n[roles.answer]\nbudget = { tokens = 400 }\n";

#[test]
fn rules_that_leave_an_untrusted_text_no_room_are_a_warning_at_the_budget() {
    let run = project(20, "", ROLE).run(&["check"]).exits_with(0);
    run.stdout_contains("warning[crowded-budget] ctxc.toml:4:")
        .stdout_contains(
            "answer: answer: the texts of its author do not fit into 400 tokens: of `constraints` ",
        )
        .stdout_contains("up to 100 tokens are kept for what others write");
    // The finding holds for every call, with any letter.
    let project = project(20, "", ROLE);
    for letter in ["", "Hello", &"I want money. ".repeat(4_000)] {
        let run = project
            .run(&[
                "render",
                "--role",
                "answer",
                "--input",
                &format!("mail={letter}"),
            ])
            .exits_with(0);
        run.stdout_contains("[cut: the rest of constraints left out]");
    }
}

#[test]
fn rules_that_fit_beside_an_untrusted_text_are_no_warning() {
    project(8, "", ROLE)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    // A limit of its own leaves the rules more tokens, or fewer.
    project(16, " max_tokens=\"20\"", ROLE)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project(16, " max_tokens=\"190\"", ROLE)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("crowded-budget");
}

#[test]
fn the_room_of_a_model_is_a_budget_and_the_warning_can_be_turned_off() {
    let model = "edition = \"2026\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 500\noutput_reserve = 100\n\n\
        [roles.answer]\nmodel = \"small\"\n";
    project(20, "", model)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("crowded-budget")
        .stdout_contains("do not fit into 400 tokens");
    let off = format!("{ROLE}\n[lints]\ncrowded-budget = \"off\"\n");
    project(20, "", &off)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    let error = format!("{ROLE}\n[lints]\ncrowded-budget = \"error\"\n");
    project(20, "", &error)
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("error[crowded-budget]");
}
