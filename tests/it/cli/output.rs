//! Output without a reader, output that cannot be written, and bugs.

use super::project::{ProgramRun, Project};
use std::process::Stdio;

#[test]
fn a_reader_that_goes_away_is_quiet_success() {
    let project = Project::new();
    let mut child = project
        .command(&["rules", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    ProgramRun::from(child.wait_with_output().unwrap())
        .exits_with(0)
        .stderr_is_empty();
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported_and_exits_3() {
    let project = Project::new();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    for args in [
        &["rules", "--json"][..],
        &["--help"],
        &["--version"],
        &["check", "--help"],
    ] {
        let output = project
            .command(args)
            .stdout(full.try_clone().unwrap())
            .output()
            .unwrap();
        ProgramRun::from(output)
            .exits_with(3)
            .stderr_contains("cannot write to standard output: no space is left on the disk")
            .stderr_contains("hint: ");
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_bug_is_called_one_and_exits_3() {
    let run = Project::new().run(&["debug-panic"]).exits_with(3);
    let run = run
        .stderr_contains("error: ctxc has a bug; your files are not at fault")
        .stderr_contains("src/cli/verbs.rs:");
    assert!(!run.stderr.contains("thread 'main'"), "{}", run.stderr);
}

#[test]
fn without_a_verb_the_help_reports_what_there_is() {
    Project::new()
        .run(&[])
        .exits_with(2)
        .stderr_contains("Usage: ctxc")
        .stderr_contains("explain");
    Project::new()
        .run(&["--help"])
        .exits_with(0)
        .stdout_contains("Usage: ctxc");
    Project::new()
        .run(&["--version"])
        .exits_with(0)
        .stdout_contains("ctxc 0.");
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let project = Project::new();
    assert!(
        !project
            .run(&["rules"])
            .exits_with(0)
            .stdout
            .contains('\x1b')
    );
    assert!(
        project
            .run(&["rules", "--color", "always"])
            .exits_with(0)
            .stdout
            .contains('\x1b')
    );
    assert!(
        !project
            .run(&["rules", "--color", "never"])
            .exits_with(0)
            .stdout
            .contains('\x1b')
    );
    assert!(
        project
            .run(&["--color=always", "explain", "nothing-like-it"])
            .exits_with(2)
            .stderr
            .contains("\x1b[1;31merror\x1b[0m")
    );
}

#[test]
#[cfg(unix)]
fn an_interrupt_exits_130_and_prints_nothing() {
    let case =
        "name: c\ntask: clean\ncontext: {objective: go}\nexpect_context: [nothing_cut: true]\n";
    let project = Project::new()
        .with_file("templates/t.xml", super::check::CLEAN)
        .with_file("scenarios/c.yaml", case);
    assert!(
        std::process::Command::new("mkfifo")
            .arg(project.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    // Each waits: for standard input, for a pipe without a writer.
    for args in [
        &["check", "-"][..],
        &["fmt", "-"],
        &["eval", "--since", "pipe"],
        &["manifest", "diff", "pipe", "pipe"],
        &["diff", "pipe", "pipe"],
        &["import", "--verify", "pipe"],
    ] {
        let mut command = project.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        // The program's handler is in place long before this is over.
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(
            std::process::Command::new("kill")
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let run = ProgramRun::from(child.wait_with_output().unwrap());
        drop(input);
        assert_eq!(
            (run.code, &*run.stdout, &*run.stderr),
            (Some(130), "", ""),
            "{args:?}"
        );
    }
}
