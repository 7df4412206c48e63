//! Tests of the private items of `src/session/facts/command.rs`.

use super::CommandLine;

fn commands(line: &str) -> Vec<String> {
    CommandLine::parse(line).commands
}

fn files(line: &str) -> Vec<String> {
    let files = CommandLine::parse(line).files;
    files.into_iter().map(|file| file.path).collect()
}

#[test]
fn words_of_the_shell_are_no_commands() {
    let line = "for a in x; do if grep -q a b &>/dev/null; then make all; break; fi; done";
    assert_eq!(commands(line), ["make all"]);
}

#[test]
fn a_script_or_a_module_identifies_what_an_interpreter_runs() {
    assert_eq!(commands("python3 -c 'print(1)'"), [""; 0]);
    assert_eq!(
        commands("python3 tools/build.py --fast"),
        ["python3 build.py --fast"]
    );
    assert_eq!(files("python3 tools/build.py"), ["tools/build.py"]);
    assert_eq!(commands("python -m pytest tests"), ["pytest tests"]);
}

#[test]
fn revisions_are_no_files() {
    assert_eq!(
        files(
            "git diff origin/main...HEAD; git show main:src/a.rs; git diff origin/main..a.b src/b.rs"
        ),
        ["src/b.rs"]
    );
}
