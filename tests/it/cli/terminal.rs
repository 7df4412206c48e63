//! The display in a terminal: lines that fit it, and the screens of `watch`. `script` is the
//! terminal.

use super::check::{CLEAN, CONFLICT};
use super::eval_answers::{sample, scenario};
use super::project::Project;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

/// The program on a terminal of so many columns.
pub(crate) fn terminal(project: &Project, columns: usize, line: &str) -> Child {
    let program = env!("CARGO_BIN_EXE_ctxc");
    let mut command = Command::new("script");
    command.args([
        "-qec",
        &format!("stty rows 50 cols {columns}; exec {program} {line}"),
        "/dev/null",
    ]);
    command
        .env("TERM", "xterm")
        .env("LANG", "C.UTF-8")
        .env_remove("NO_COLOR")
        .env_remove("LC_ALL");
    command
        .current_dir(project.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command.spawn().expect("util-linux has `script`")
}

/// The final lines of the screen.
pub(crate) fn screen(output: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let mut at = 0;
    for c in output.chars() {
        match c {
            '\n' => lines.push(Vec::new()),
            '\r' => at = 0,
            _ => {
                let line = lines.last_mut().unwrap();
                line.resize(line.len().max(at + 1), ' ');
                line[at] = c;
                at += 1;
            }
        }
    }
    lines
        .into_iter()
        .map(|line| line.into_iter().collect::<String>().trim_end().to_owned())
        .collect()
}

#[test]
fn lines_fit_the_screen() {
    let long = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket into one of the queues that there are, and say why it belongs there: {{tiket}}</description>\n  <parameters><parameter name=\"ticket\" type=\"string\"/></parameters>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "[defaults.atomic]\ninherit_context = \"subset\"\n",
        )
        .with_file("templates/a.xml", long);
    for columns in [80, 100] {
        for line in [
            "check",
            "check --verbose",
            "show triage",
            "explain triage.inherit_context",
            "explain context-conflict",
            "defaults",
            "rules",
            "init",
            "show nobody",
            "explain nothing-of-this-name",
        ] {
            let output = terminal(&project, columns, &format!("{line} --color never"))
                .wait_with_output()
                .unwrap();
            let lines = screen(&String::from_utf8(output.stdout).unwrap());
            assert!(lines.len() > 1, "{line} says nothing");
            for shown in lines {
                // Examples of templates are shown as they are.
                assert!(
                    shown.chars().count() <= columns || shown.starts_with("  <"),
                    "{line} in {columns} columns: {shown}"
                );
            }
        }
    }
    let piped = project.run(&["check"]).exits_with(1);
    assert!(
        piped.stdout.lines().any(|line| line.chars().count() > 100),
        "a pipe has no width: {}",
        piped.stdout
    );
}

#[test]
fn verdicts_come_first_and_fit_the_screen() {
    let name = "billing-of-a-customer-who-asks-twice-".repeat(3);
    let project = sample("answers: [{reply: access}]\n").with_file(
        "scenarios/long.yaml",
        scenario("answers: [{reply: billing}]\n").replace("billing\n", &format!("{name}\n")),
    );
    let shown = |line: &str| {
        let output = terminal(&project, 80, line).wait_with_output().unwrap();
        screen(&String::from_utf8(output.stdout).unwrap())
    };
    let lines = shown("eval --color never");
    let rows: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with(['✓', '✗']))
        .collect();
    assert!(rows[0].starts_with("✗ FAIL  billing  context 0/0"));
    assert!(rows[1].starts_with("✓ PASS  billing-of-a"), "{lines:?}");
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{lines:?}"
    );
    let colored = shown("eval").join("\n");
    assert!(colored.contains("\u{1b}[1;31m✗ FAIL\u{1b}[0m"), "{colored}");
    assert!(colored.contains("\u{1b}[32m✓ PASS\u{1b}[0m"), "{colored}");
}

#[test]
fn watch_redraws_the_screen_and_ends_it_with_time_and_count() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut child = terminal(&project, 100, "watch --color never");
    let mut screen = String::new();
    let mut bytes = [0; 1024];
    let mut until = |child: &mut Child, screens: usize| {
        while screen.matches("Ctrl-C ends it").count() < screens {
            let got = child.stdout.as_mut().unwrap().read(&mut bytes).unwrap();
            assert!(got > 0, "it ended: {screen}");
            screen.push_str(&String::from_utf8_lossy(&bytes[..got]));
        }
        let screens: Vec<&str> = screen.split("\u{1b}[2J\u{1b}[H").collect();
        assert_eq!(screens[0], "", "each begins with a cleared screen");
        screens.last().unwrap().trim().to_owned()
    };
    let first = until(&mut child, 1);
    assert!(
        first.starts_with("checked 1 file: nothing found")
            && first.contains(" UTC: 1 template. Watching"),
        "{first}"
    );
    project.write_file("templates/a.xml", CONFLICT);
    let second = until(&mut child, 2);
    assert!(
        second.contains("context-conflict")
            && second.contains("1 template; changed: templates/a.xml"),
        "{second}"
    );
    project.write_file("ctxc.suppressions.toml", "nonsense");
    let third = until(&mut child, 3);
    assert!(
        third.contains("error: ctxc.suppressions.toml:1") && third.contains("nothing is checked"),
        "{third}"
    );
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
