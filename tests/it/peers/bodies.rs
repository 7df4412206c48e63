//! Request bodies, read by the client types that the providers publish themselves.

use super::editors::script;
use std::process::Command;

#[test]
#[ignore = "needs bodies: the providers' client packages from their requirements"]
fn bodies_are_what_the_providers_own_clients_send() {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/spec/vectors/rendering.json");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/spec/rendering.md");
    let mut python = Command::new("python3");
    python.arg(script("bodies.py")).args([vectors, page]).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.output().unwrap_or_else(|error| panic!("python3: {error}"));
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let text = std::fs::read_to_string(vectors).unwrap();
    let cases = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let bodies = cases["cases"].as_array().unwrap().iter().map(|case| case["bodies"].as_object().unwrap().len());
    // Five more on the page, with tools, and twice five that must be refused.
    assert!(said.contains(&format!("{} bodies read", bodies.sum::<usize>() + 5 + 10)), "{said}");
}
