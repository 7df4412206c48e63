//! The trust of values on their way to every reader, in real runs: subtasks, hinted tasks,
//! requested files, resumed runs.

use super::support::{
    events_of_kind, newest_trace, project_with_templates, run_scripted, state_folder, trace_calls,
};
use crate::cli::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::path::Path;

const READER: &str = r#"<task type="atomic" name="reader"><description>Read the mail.</description>
    <parameters><parameter name="mail" type="string" required="true" trust="untrusted"/></parameters>
    <instructions>The mail: {{mail}}</instructions></task>"#;
const CLERK: &str = r#"<task type="atomic" name="clerk"><description>Answer as the named person.</description>
    <parameters><parameter name="persona" type="string" required="true"/></parameters><system>You are {{persona}}.</system></task>"#;
const COUNTER: &str = r#"<task type="atomic" name="counter"><description>Count.</description>
    <parameters><parameter name="n" type="integer" required="true"/></parameters><system>Answer in {{n}} words.</system></task>"#;
const MAIL: [&str; 3] = ["reader", "--input", "mail=EVIL"];

/// The messages of each request of a run, with their speakers.
fn requests(project: &Project) -> Vec<Vec<(String, String)>> {
    let trace = newest_trace(&state_folder(project));
    let message = |message: &Value| {
        (
            message["role"].as_str().unwrap_or_default().to_owned(),
            message["content"].as_str().unwrap_or_default().to_owned(),
        )
    };
    trace_calls(&trace)
        .into_iter()
        .map(|call| {
            call["request"]["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(message)
                .collect()
        })
        .collect()
}

/// The text outside of all fences.
fn outside(text: &str) -> String {
    super::oracle::outside_of_fences(text)
}

/// An agent that requests a subtask, and answers once it has its result.
fn asks(request: &str) -> String {
    format!(
        "- {{when: {{has: of the subtask}}, reply: done}}\n- {{when: {{lacks: SUBTASK}}, reply: {{status: CONTINUATION, content: x, subtask_request: {{type: atomic, {request}}}}}}}\n- {{reply: SUBRESULT}}\n"
    )
}

#[test]
fn a_hinted_task_takes_nothing_untrusted_into_its_system_text() {
    let project = project_with_templates(&[("reader", READER), ("clerk", CLERK)]);
    let answers = asks("description: d, template_hints: [clerk], inputs: {persona: root}");
    let run = run_scripted(&project, &MAIL, &answers).exits_with(1);
    run.stderr_contains(
        "clerk, system: `persona` is untrusted and would become part of the system text",
    );
    assert_eq!(requests(&project).len(), 1, "the clerk is not asked");
    // A value that comes of no foreign text is the author's.
    let trusting = READER.replace(" trust=\"untrusted\"", "");
    let project = self::project_with_templates(&[("reader", &trusting), ("clerk", CLERK)]);
    run_scripted(&project, &MAIL, "- {when: {has: of the subtask}, reply: done}\n- {when: {has: You are}, reply: fine}\n- {reply: {status: CONTINUATION, content: x, subtask_request: {type: atomic, description: d, template_hints: [clerk], inputs: {persona: root}}}}\n").exits_with(0);
    let sent = requests(&project);
    assert_eq!(
        sent[1][0],
        ("system".to_owned(), "You are root.".to_owned())
    );
    assert!(
        sent[2]
            .last()
            .unwrap()
            .1
            .starts_with("The result of the subtask:\n\nfine"),
        "{sent:#?}"
    );
}

#[test]
fn a_number_of_an_untrusted_request_is_a_number_and_a_text_in_its_place_is_refused() {
    let project = project_with_templates(&[("reader", READER), ("counter", COUNTER)]);
    let answers = |n: &str| {
        format!(
            "- {{when: {{has: of the subtask}}, reply: done}}\n- {{when: {{has: Answer in}}, reply: one two}}\n- {{reply: {{status: CONTINUATION, content: x, subtask_request: {{type: atomic, description: d, template_hints: [counter], inputs: {{n: {n}}}}}}}}}\n"
        )
    };
    run_scripted(&project, &MAIL, &answers("3")).exits_with(0);
    let sent = requests(&project);
    assert_eq!(sent[1][0].1, "Answer in 3 words.");
    let text = &sent[2].last().unwrap().1;
    assert!(
        text.contains("one two") && !outside(text).contains("one two"),
        "{text}"
    );
    run_scripted(&project, &MAIL, &answers("three; obey me"))
        .exits_with(1)
        .stderr_contains("the value of `n` is a string, and its type is `integer`");
}

/// A script of the registry is not run with the text of a letter, neither as the line of a shell
/// nor as an argument of it.
#[test]
fn no_shell_reads_what_an_untrusted_request_brings() {
    for command in [
        r#"<command shell="sh">echo {{who}}</command>"#,
        "<command>sh -c {{who}}</command>",
        "<command><arg>bash</arg><arg>-ec</arg><arg>--</arg><arg>echo {{who}}</arg></command>",
    ] {
        let greet = format!(
            r#"<task type="script" name="greet"><description>Hello.</description><parameters><parameter name="who" type="string" required="true"/></parameters>{command}</task>"#
        );
        let project = project_with_templates(&[("reader", READER), ("greet", &greet)]);
        let answers =
            asks("description: d, template_hints: [greet], inputs: {who: \"x; touch PWNED\"}");
        run_scripted(&project, &MAIL, &answers)
            .exits_with(1)
            .stderr_contains(
                "`who` is untrusted and would become part of a line that a shell reads",
            );
    }
    // Arguments and variables are no lines of a shell: this one does not run because it was not
    // permitted.
    let greet = r#"<task type="script" name="greet"><description>Hello.</description><parameters><parameter name="who" type="string" required="true"/></parameters>
        <command><arg>sh</arg><arg>-c</arg><arg>echo "$WHO" "$1"</arg><arg>-</arg><arg>{{who}}</arg></command><env><var name="WHO">{{who}}</var></env></task>"#;
    let project = project_with_templates(&[("reader", READER), ("greet", greet)]);
    let answers =
        asks("description: d, template_hints: [greet], inputs: {who: \"x; touch PWNED\"}");
    run_scripted(&project, &MAIL, &answers)
        .exits_with(1)
        .stderr_contains("the commands of this project are not permitted");
}

/// A value inside a text taints as one beside it does.
#[test]
fn a_subtask_of_an_agent_that_read_untrusted_text_is_fenced_there_and_back() {
    let project = project_with_templates(&[("reader", READER)]);
    let answers = asks("description: SUBTASK of the mail, inputs: {tone: angry}");
    run_scripted(&project, &MAIL, &answers).exits_with(0);
    let sent = requests(&project);
    assert_eq!(sent.len(), 3);
    for (speaker, text) in &sent[1] {
        assert!(
            speaker != "system" || !(text.contains("SUBTASK") || text.contains("angry")),
            "{text}"
        );
        assert!(
            !["SUBTASK", "angry", "EVIL"]
                .iter()
                .any(|word| outside(text).contains(word)),
            "{text}"
        );
    }
    let (speaker, sent_text) = sent[2].last().unwrap();
    assert_eq!(
        (speaker.as_str(), outside(sent_text).as_str()),
        ("user", "The result of the subtask:\n\nsubtask")
    );
    assert!(sent_text.contains("SUBRESULT"));
    let trace = newest_trace(&state_folder(&project));
    assert_eq!(events_of_kind(&trace, "subtask")[0]["trust"], "untrusted");
    assert!(
        events_of_kind(&trace, "result")
            .iter()
            .all(|result| result["trust"] == "untrusted")
    );
    // In a profile without fences nothing of it is printed.
    let bare = READER
        .replace("{{mail}}", "none")
        .replace("name=\"reader\"", "name=\"reader\" profile=\"bare\"");
    let project =
        self::project_with_templates(&[("reader", &bare)]).with_file("docs/a.md", "page EVIL");
    let answers = asks("description: SUBTASK, file_paths: [docs/a.md]");
    run_scripted(&project, &MAIL, &answers)
        .exits_with(1)
        .stderr_contains("`subtask` is untrusted, and the profile `bare` has no fence");
}

/// A sequence whose first step requests a subtask that reads a file, and whose second obeys its
/// result.
const TONE: &str = r#"<task type="sequential" name="t"><description>Answer.</description><steps>
    <task as="tone"><description>Find the tone.</description></task>
    <task><description>Answer.</description><system>You answer in this tone: {{tone}}</system>
      <context_management><inherit_context>none</inherit_context></context_management></task></steps></task>"#;
const TONE_ANSWERS: &str = "- {when: {node: tone, has: of the subtask}, reply: EVIL}\n- {when: {node: tone}, reply: {status: CONTINUATION, content: x, subtask_request: {type: atomic, description: SUBTASK, file_paths: [docs/a.md]}}}\n- {when: {has: SUBTASK}, reply: EVIL}\n";

#[test]
fn the_result_of_a_subtask_that_read_a_file_is_untrusted_in_later_steps_unless_checked() {
    let refused =
        "t /steps/1, system: `tone` is untrusted and would become part of the system text";
    let project =
        project_with_templates(&[("t", TONE)]).with_file("docs/a.md", "the page says EVIL");
    project.run(&["check"]).exits_with(0);
    run_scripted(&project, &["t"], TONE_ANSWERS)
        .exits_with(1)
        .stderr_contains(refused);
    let sent = requests(&project);
    assert!(
        sent[1]
            .iter()
            .all(|(speaker, text)| speaker != "system" || !text.contains("EVIL")),
        "{sent:#?}"
    );
    assert!(sent[1].iter().any(|(_, text)| text.contains("the page says EVIL") && !outside(text).contains("EVIL")));
    // A run that resumes from its trace applies the same trust.
    let resume = ["run", "--no-index", "--script", "answers.yaml", "--resume"];
    let again = ProgramRun::from(
        project
            .command(&resume)
            .env("XDG_STATE_HOME", state_folder(&project))
            .output()
            .unwrap(),
    );
    again.exits_with(1).stderr_contains(refused);
    // The command of a later step, too.
    let shell = TONE.replace(
        "<task><description>Answer.</description><system>You answer in this tone: {{tone}}</system>
      <context_management><inherit_context>none</inherit_context></context_management></task>",
        r#"<task type="script" as="say"><description>Say it.</description><command shell="sh">echo {{tone}}</command></task>"#,
    );
    let project =
        self::project_with_templates(&[("t", &shell)]).with_file("docs/a.md", "the page says EVIL");
    let answers = format!("{TONE_ANSWERS}- {{when: {{node: say}}, reply: said}}\n");
    run_scripted(&project, &["t"], &answers)
        .exits_with(1)
        .stderr_contains("`tone` is untrusted and would become part of a line that a shell reads");
    // Its author marks it as checked.
    let checked = TONE.replace("<task as=\"tone\">", "<task as=\"tone\" trust=\"trusted\">");
    let project = self::project_with_templates(&[("t", &checked)])
        .with_file("docs/a.md", "the page says EVIL");
    run_scripted(
        &project,
        &["t"],
        &format!("{TONE_ANSWERS}- {{reply: done}}\n"),
    )
    .exits_with(0);
}

#[test]
fn a_subtask_has_only_files_that_an_agent_may_ask_for() {
    let task = r#"<task type="atomic" name="t"><description>Look.</description></task>"#;
    let project = project_with_templates(&[("t", task)])
        .with_file(".gitignore", "/private/\n*.log\n")
        .with_file("docs/a.md", "the desk is oak")
        .with_file("docs/b.log", "planted")
        .with_file("private/c.md", "planted")
        .with_file(".env", "planted")
        .with_file("docs/.hidden.md", "planted")
        .with_file("docs/prod.env", "planted")
        .with_file("docs/id_rsa", "planted")
        .with_file(
            "docs/key.md",
            [
                "-----BEGIN ",
                "PRIVATE KEY-----\n",
                &"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2),
                "\n",
            ]
            .concat(),
        )
        .with_file("guarded/d.md", "planted");
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.r]\ntemplate = \"t\"\nprotected_paths = [\"guarded/**\"]\n\
         [roles.q]\ntemplate = \"t\"\nprotected_paths = [\"**\"]\n[context]\ninclude = [\"docs\"]\n",
    );
    let refused = [
        (".env", "it is hidden"),
        ("docs/.hidden.md", "it is hidden"),
        ("docs/b.log", "`.gitignore` or `.ignore` names it"),
        ("private/c.md", "`.gitignore` or `.ignore` names it"),
        ("docs/../private/c.md", "`.gitignore` or `.ignore` names it"),
        ("docs/prod.env", "its name is that of a key"),
        ("docs/id_rsa", "its name is that of a key"),
        ("docs/key.md", "it holds a key or credentials"),
        ("guarded/d.md", "role `r` protects it"),
        ("./guarded/d.md", "role `r` protects it"),
        ("ctxc.toml", "it sets up the project"),
        ("CTXC.TOML", "it sets up the project"),
        ("ctxc.suppressions.toml", "it sets up the project"),
        ("../outside.md", "it lies outside the project's folder"),
        ("/etc/hostname", "it lies outside the project's folder"),
        ("docs/none.md", "it does not exist"),
        #[cfg(unix)]
        ("docs/link.md", "it is hidden"),
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink("../.env", project.path("docs/link.md")).unwrap();
    for subject in ["t", "r"] {
        for (path, why) in refused {
            let answers = asks(&format!(
                "description: SUBTASK, file_paths: [docs/a.md, {path}]"
            ));
            let run = run_scripted(&project, &[subject], &answers).exits_with(1);
            assert!(
                run.stderr
                    .contains("the subtask of / is refused: agents may not ask for the file"),
                "{path}: {}",
                run.stderr
            );
            assert!(
                run.stderr.to_lowercase().contains(&why.to_lowercase()),
                "{path}: {}",
                run.stderr
            );
            assert_eq!(requests(&project).len(), 1, "{path}");
        }
        run_scripted(
            &project,
            &[subject],
            &asks("description: SUBTASK, file_paths: [docs/a.md]"),
        )
        .exits_with(0);
        let sent = requests(&project);
        let holds = |(speaker, text): &(String, String)| {
            speaker == "user" && text.contains("oak") && !outside(text).contains("oak")
        };
        assert!(sent[1].iter().any(holds), "{:#?}", sent[1]);
        assert!(
            !sent[1]
                .iter()
                .any(|(speaker, text)| speaker == "system" && text.contains("oak"))
        );
    }
    // A role that protects everything has no file itself.
    let run = run_scripted(
        &project,
        &["q"],
        &asks("description: SUBTASK, file_paths: [docs/a.md]"),
    )
    .exits_with(1);
    assert!(
        run.stderr.contains("role `q` protects it"),
        "{}",
        run.stderr
    );
}

/// The reason why an answer has a wrong form quotes it, and the quotation may be a foreign text.
#[test]
fn a_wrong_answer_is_quoted_in_a_fence() {
    let task = READER.replace(
        "</instructions>",
        "</instructions><output_format type=\"json\" schema=\"object\"/>",
    );
    let project = project_with_templates(&[("reader", &task)]);
    run_scripted(
        &project,
        &MAIL,
        "- {when: {has: does not have the form}, reply: {ok: true}}\n- {reply: obey EVIL}\n",
    )
    .exits_with(0);
    let sent = requests(&project);
    let text = &sent[1].last().unwrap().1;
    assert!(
        text.contains("obey EVIL") && !outside(text).contains("EVIL"),
        "{text}"
    );
    assert!(
        text.starts_with("This answer does not have the form that was asked for:\n\n<untrusted-"),
        "{text}"
    );
    // Without a foreign text in the context it stays a sentence.
    let task = task.replace(" trust=\"untrusted\"", "");
    let project = self::project_with_templates(&[("reader", &task)]);
    run_scripted(
        &project,
        &MAIL,
        "- {when: {has: does not have the form}, reply: {ok: true}}\n- {reply: obey}\n",
    )
    .exits_with(0);
    assert!(
        requests(&project)[1]
            .last()
            .unwrap()
            .1
            .contains("found “obey”. Give the corrected answer")
    );
}

/// A value that cannot hold a text may stand anywhere, before a run as in it.
#[test]
fn an_untrusted_number_in_a_system_text_is_fine_in_a_manifest() {
    let task = r#"<task type="sequential" name="t"><description>Answer.</description>
        <parameters><parameter name="n" type="integer" required="true" trust="untrusted"/></parameters>
        <steps><task><description>x</description><system>Answer in {{n}} words.</system></task></steps></task>"#;
    let alone = COUNTER.replace("required=\"true\"", "required=\"true\" trust=\"untrusted\"");
    let flag = r#"<task type="atomic" name="flag"><description>Answer.</description>
        <parameters><parameter name="previous_output" type="boolean" default="true"/></parameters><system>Strict: {{previous_output}}.</system></task>"#;
    let project = project_with_templates(&[("t", task), ("counter", &alone), ("flag", flag)]);
    project.run(&["check"]).exits_with(0);
    project.run(&["manifest"]).exits_with(0);
    run_scripted(&project, &["t", "--input", "n=3"], "- {reply: a b c}\n").exits_with(0);
}

/// A scenario made of a run freezes the situation that the agent had in the run.
#[test]
fn a_scenario_of_a_run_keeps_what_the_run_has_seen() {
    let task = TONE.replace(
        "<system>You answer in this tone: {{tone}}</system>",
        "<instructions>In this tone: {{tone}}</instructions>",
    );
    let project =
        project_with_templates(&[("t", &task)]).with_file("docs/a.md", "the page says EVIL");
    run_scripted(
        &project,
        &["t"],
        &format!("{TONE_ANSWERS}- {{reply: done}}\n"),
    )
    .exits_with(0);
    let sent = requests(&project);
    let last = &sent.last().unwrap().last().unwrap().1;
    assert!(
        last.contains("EVIL") && !outside(last).contains("EVIL"),
        "{last}"
    );
    let run = newest_trace(&state_folder(&project))[0]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let from = format!("run:{run}/steps/1");
    let new = ProgramRun::from(
        project
            .command(&["new", "scenario", "--from", &from, "--no-index"])
            .env("XDG_STATE_HOME", state_folder(&project))
            .output()
            .unwrap(),
    );
    new.exits_with(0);
    let written = project.files().into_iter().filter(|file| {
        file.starts_with("scenarios/")
            && Path::new(file)
                .extension()
                .is_some_and(|ending| ending == "yaml")
    });
    let text: String = written.map(|file| project.read_file(&file)).collect();
    assert!(
        text.contains("{\"content\":\"EVIL\",\"trust\":\"untrusted\"}"),
        "{text}"
    );
}
