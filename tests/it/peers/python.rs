//! The package for Python, by its own tests and by a checker of types.

use std::process::Command;

fn passes(arguments: &[&str]) {
    let mut python = Command::new("python3");
    python
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/python"))
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
}

#[test]
#[ignore = "needs python: the package's wheel, and the libraries of its requirements"]
fn package_for_python_passes_its_tests() {
    passes(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
}

#[test]
#[ignore = "needs python: the package's wheel, and the libraries of its requirements"]
fn package_for_python_has_types_that_hold() {
    passes(&[
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        "../target/peers/python/mypy",
        "src",
    ]);
}
