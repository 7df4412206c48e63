//! The claims of `docs/SECURITY.md` that no other test covers, and the check that each of its
//! sentences names a test.

use super::client::{ProxyProcess, caller_arguments, proxy_command};
use super::stored_calls::everything;
use crate::cli::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, response};
use ctxc::internals::record::redact::Redactor;
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;

/// Records the calling program, with words of its command and with variables.
fn recorded(
    project: &Project,
    args: &[&str],
    more: &[&str],
    call: &str,
    env: &[(&str, &str)],
) -> ProgramRun {
    let caller = caller_arguments();
    let words: Vec<&str> = ["record"]
        .iter()
        .chain(args)
        .copied()
        .chain(["--"])
        .chain(caller.iter().map(String::as_str))
        .chain(more.iter().copied())
        .collect();
    let mut command = proxy_command(project, &words);
    ProgramRun::from(
        command
            .env("CTXC_TEST_CALLS", call)
            .envs(env.iter().copied())
            .output()
            .unwrap(),
    )
}

/// The body of a call with a text.
fn saying(text: &str) -> String {
    serde_json::json!({"model": "m", "messages": [{"role": "user", "content": text}]}).to_string()
}

const SCRIPT: &str = "answers:\n  - reply: Done.\n";

#[test]
fn values_of_secret_variables_are_in_no_byte_that_is_written() {
    let secrets = [
        ("SHOP_KEY", "planted-one-4711"),
        ("SHOP_TOKEN", "planted-two-4711"),
        ("SHOP_SECRET", "planted-three-4711"),
        ("PGPASSWORD", "planted-five-4711"),
        ("SHOP_PAT", "planted-six-4711"),
        ("SHOP_DSN", "planted-seven-4711"),
        ("SHOP_AUTH", "planted-eight-4711"),
    ];
    let open = ("SHOP_NAME", "planted-four-4711");
    let all = [&secrets[..], &[open]].concat();
    let values: Vec<&str> = all.iter().map(|(_, value)| *value).collect();
    let project = Project::new().with_file("script.yaml", SCRIPT);
    let text = format!("The values are {}.", values.join(" and "));
    recorded(
        &project,
        &["--script", "script.yaml"],
        &values,
        &saying(&text),
        &all,
    )
    .exits_with(0)
    .stderr_contains("secrets masked");
    let written = String::from_utf8(everything(&project)).unwrap();
    for (name, value) in secrets {
        assert!(!written.contains(value), "{name}");
    }
    // In the call and in the command: a value that is no secret by its name stays.
    assert_eq!(written.matches(open.1).count(), 2, "{written}");
}

#[test]
fn names_of_people_and_streets_are_kept() {
    let text = "Ann Smith of 12 Main Street, born on 3 May 1970, has order 4711";
    assert_eq!(Redactor::new([7; 32], []).mask_text(text).0, text);
}

#[test]
fn numbers_that_are_no_text_are_kept() {
    let body = r#"{"card":4111111111111111,"text":"4111111111111111"}"#;
    let kept = Redactor::new([7; 32], []).mask_json(body, "/request", &mut Vec::new());
    assert!(
        kept.starts_with(r#"{"card":4111111111111111,"text":"⟦card:"#),
        "{kept}"
    );
}

#[test]
fn a_script_sends_nothing() {
    let server = Server::with_response(response("200 OK", "", "{}"));
    let project = Project::new().with_file("script.yaml", SCRIPT);
    let env = [("OPENAI_BASE_URL", &*server.url())];
    recorded(
        &project,
        &["--script", "script.yaml"],
        &[],
        &saying("Hello"),
        &env,
    )
    .exits_with(0)
    .stdout_contains("Done.");
    assert_eq!(server.requests(), [""; 0]);
}

/// Of the other addresses of loopback that Linux has.
#[cfg(target_os = "linux")]
#[test]
fn the_proxy_listens_on_one_address_alone() {
    let mut proxy = ProxyProcess::for_upstream("http://127.0.0.1:9");
    let url = proxy.url("OPENAI_BASE_URL", "");
    let host = url
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    std::net::TcpStream::connect(&host).unwrap();
    std::net::TcpStream::connect(host.replace("127.0.0.1", "127.0.0.2")).unwrap_err();
    proxy.stop().exits_with(0);
}

/// The sentences of the page that name no test, and the named tests that do not exist.
fn faults(page: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("- ")) {
        let Some((_, rest)) = line.split_once(" <!-- test: ") else {
            faults.push(format!("no test: {line}"));
            continue;
        };
        let named = rest
            .trim_end_matches(" -->")
            .split(' ')
            .filter(|name| !tests.contains(*name));
        faults.extend(named.map(|name| format!("no such test: {name}")));
    }
    faults
}

/// The names of the functions below `tests/it` and `tests/unit` that stand below `#[test]`.
fn tests() -> BTreeSet<String> {
    let mut walk = ignore::WalkBuilder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it"));
    walk.add(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/unit"));
    let mut found = BTreeSet::new();
    for file in walk
        .build()
        .filter_map(Result::ok)
        .filter(|file| file.path().extension().is_some_and(|end| end == "rs"))
    {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            let name = line
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            found.extend(name.filter(|_| is_test).map(str::to_owned));
            is_test = line == "#[test]" || is_test && line.starts_with("#[");
        }
    }
    found
}

#[test]
fn every_sentence_on_security_is_held_by_a_test() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/SECURITY.md")).unwrap();
    assert!(page.lines().filter(|line| line.starts_with("- ")).count() > 20);
    assert_eq!(faults(&page, &tests()), [""; 0]);
}

#[test]
fn a_sentence_without_its_test_is_found() {
    let page = "Text.\n- A. <!-- test: a_sentence_without_its_test_is_found gone -->\n- B.\n";
    assert_eq!(
        faults(page, &tests()),
        ["no such test: gone", "no test: - B."]
    );
}
