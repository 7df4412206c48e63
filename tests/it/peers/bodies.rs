//! Request bodies, read by the client types that the providers publish themselves.

use super::editors::script;
use crate::cli::project::Project;
use ctxc::internals::record::file::RecordingFile;
use pretty_assertions::assert_eq;
use std::process::Command;

#[test]
#[ignore = "needs bodies: the providers' client packages from their requirements"]
fn bodies_are_what_the_providers_own_clients_send() {
    let vectors = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/spec/vectors/rendering.json"
    );
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/spec/rendering.md");
    let mut python = Command::new("python3");
    python
        .arg(script("bodies.py"))
        .args([vectors, page])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python
        .output()
        .unwrap_or_else(|error| panic!("python3: {error}"));
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{printed}");
    let text = std::fs::read_to_string(vectors).unwrap();
    let cases = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let bodies = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["bodies"].as_object().unwrap().len());
    // Five more on the page, with tools, and twice five that must be refused.
    assert!(
        printed.contains(&format!("{} bodies read", bodies.sum::<usize>() + 5 + 10)),
        "{printed}"
    );
}

/// The agent of `examples/python_agent` with OpenAI's own library, against its script: it sends
/// what its recording holds.
#[test]
#[ignore = "needs bodies: the providers' client packages from their requirements"]
fn bodies_of_the_python_agent_are_those_of_its_recording() {
    let project =
        ["agent.py", "script.yaml", "ctxc.toml"]
            .iter()
            .fold(Project::new(), |project, name| {
                project.with_file(
                    name,
                    std::fs::read(format!(
                        "{}/examples/python_agent/{name}",
                        env!("CARGO_MANIFEST_DIR")
                    ))
                    .unwrap(),
                )
            });
    let args = [
        "record",
        "--script",
        "script.yaml",
        "--into",
        "recordings",
        "--name",
        "order",
        "--",
        "python3",
        "agent.py",
    ];
    project
        .run(&args)
        .exits_with(0)
        .stdout_contains("It arrives tomorrow.")
        .stderr_contains("recorded 3 calls of 1 model (gpt-4.1)");
    let requests = |text: String| {
        let calls = RecordingFile::parse(&text).unwrap().calls;
        calls
            .into_iter()
            .map(|call| call.request.get().to_owned())
            .collect::<Vec<_>>()
    };
    let kept = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/python_agent/recordings/order.jsonl"
    ))
    .unwrap();
    assert_eq!(
        requests(project.read_file("recordings/order.jsonl")),
        requests(kept)
    );
}
