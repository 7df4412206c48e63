//! `ctxc record` and `ctxc replay` around a program: its exit code, the messages of ctxc beside it,
//! and the resulting files.

use super::client::{caller_arguments, is_recording, proxy_command};
use crate::cli::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, response};
use pretty_assertions::assert_eq;

const CALLS: &str = "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"one\"}]}\n{\"model\":\"gpt-y\",\"messages\":[]}";

/// Runs the calling program behind a verb.
fn around(project: &Project, verb: &[&str], calls: &str, env: &[(&str, &str)]) -> ProgramRun {
    let caller = caller_arguments();
    let words: Vec<&str> = verb
        .iter()
        .copied()
        .chain(["--"])
        .chain(caller.iter().map(String::as_str))
        .collect();
    ProgramRun::from(
        proxy_command(project, &words)
            .env("CTXC_TEST_CALLS", calls)
            .envs(env.iter().copied())
            .output()
            .unwrap(),
    )
}

#[test]
fn a_program_is_recorded_and_replayed_without_its_vendor() {
    let server = Server::with_response(response(
        "200 OK",
        "content-type: application/json\r\n",
        "{\"said\":1}",
    ));
    let project = Project::new();
    let url = server.url();
    let env = [
        ("OPENAI_BASE_URL", url.as_str()),
        ("OPENAI_API_KEY", "sk-of-the-test-4711-0815"),
    ];
    let recorded = around(&project, &["record"], CALLS, &env)
        .exits_with(0)
        .stdout_contains("status 200: {\"said\":1}");
    let said = recorded
        .stderr_contains("recorded 2 calls of 2 models (gpt-x, gpt-y) as @last: nothing to mask, ");
    drop(said.stderr_contains("ms added a call"));
    assert_eq!(server.requests().len(), 2);
    assert!(
        project
            .files()
            .iter()
            .all(|file| file.starts_with(".data/ctxc/")),
        "{:?}",
        project.files()
    );
    let replayed = around(&project, &["replay", "@last"], CALLS, &[])
        .exits_with(0)
        .stdout_contains("status 200: {\"said\":1}");
    drop(replayed.stderr_contains("answered 2 calls of 2 models (gpt-x, gpt-y)"));
    // No vendor was called.
    assert_eq!(server.requests().len(), 2);
    let other = "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"other\"}]}";
    around(&project, &["replay", "@last"], other, &[])
        .exits_with(6)
        .stdout_contains("status 422")
        .stderr_contains("not answered: call 1:");
}

#[test]
fn what_changes_with_every_run_is_answered_by_its_place_in_the_conversation() {
    let project = Project::new().with_file(
        "script.yaml",
        "answers:\n  - {when: {has: [two]}, reply: second}\n  - reply: first\n",
    );
    let calls = |day: &str| {
        let begin = format!(
            "{{\"model\":\"gpt-x\",\"messages\":[{{\"role\":\"system\",\"content\":\"It is {day}.\"}},{{\"role\":\"user\",\"content\":\"one\"}}"
        );
        format!(
            "{begin}]}}\n{begin},{{\"role\":\"assistant\",\"content\":\"first\"}},{{\"role\":\"user\",\"content\":\"two\"}}]}}"
        )
    };
    around(
        &project,
        &["record", "--script", "script.yaml"],
        &calls("Monday"),
        &[],
    )
    .exits_with(0)
    .stdout_contains("second");
    let later = calls("Tuesday");
    around(&project, &["replay", "@last"], &later, &[])
        .exits_with(6)
        .stderr_contains("`/messages/0/content` was “It is Monday.”");
    let run = around(
        &project,
        &["replay", "--match", "turn", "@last"],
        &later,
        &[],
    )
    .exits_with(0);
    let (first, second) = (run.stdout.find("first"), run.stdout.find("second"));
    assert!(first.is_some() && first < second, "{}", run.stdout);
}

#[test]
fn the_exit_code_is_that_of_the_command_unless_ctxc_failed() {
    let project = Project::new();
    around(&project, &["record"], "", &[("CTXC_TEST_FAILS", "1")]).exits_with(101);
    let run = |words: &[&str]| ProgramRun::from(proxy_command(&project, words).output().unwrap());
    run(&["record", "--", "ctxc-no-such-program"])
        .exits_with(2)
        .stderr_contains("the command `ctxc-no-such-program` was not found");
    run(&["record", "--name", "last", "--", "true"])
        .exits_with(2)
        .stderr_contains("`last` is the newest recording");
    run(&["record", "--name", "../up", "--", "true"])
        .exits_with(2)
        .stderr_contains("cannot be the name of a recording");
    run(&["record", "--upstream", "ftp://a", "--", "true"])
        .exits_with(2)
        .stderr_contains("`ftp://a` is not a valid address");
    run(&["record", "--upstream", "acme=http://a", "--", "true"])
        .exits_with(2)
        .stderr_contains("there is no vendor `acme`");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    run(&["proxy", "--port", &port])
        .exits_with(3)
        .stderr_contains(&format!("the proxy cannot listen on port {port}"));
    #[cfg(unix)]
    run(&["record", "--", "sh", "-c", "kill -9 $$"]).exits_with(137);
}

#[test]
fn no_call_is_explained() {
    let project = Project::new();
    around(&project, &["record"], "", &[])
        .exits_with(0)
        .stderr_contains("recorded 0 calls")
        .stderr_contains("the proxy received no connection. Libraries find the proxy by their variables (OPENAI_BASE_URL, ")
        .stderr_contains("  a mocked client sends nothing: run the program without the mock")
        .stderr_contains("  a client with an address in its code ignores the variables")
        .stderr_contains("  a library that reads another variable: name it in ctxc.toml");
    // A refused call gives the reason itself.
    let project = project.with_file("script.yaml", "answers:\n  - reply: a\n");
    let run = around(
        &project,
        &["record", "--script", "script.yaml"],
        r#"{"messages": no}"#,
        &[],
    )
    .exits_with(0);
    let run = run
        .stderr_contains("refused, as its provider would: it is not valid JSON: expected a value")
        .stderr_contains("recorded 0 calls");
    assert!(!run.stderr.contains("mock"), "{}", run.stderr);
    assert!(!project.files().iter().any(|file| is_recording(file)));
}
