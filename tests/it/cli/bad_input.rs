//! Invalid inputs and places: each with a message that names a way out, and its exit code.

use super::check::{CLEAN, CONFLICT};
use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn a_path_that_is_not_there() {
    let project = Project::new().with_file("templates/triage.xml", CLEAN);
    let run = project
        .run(&["check", "templates/traige.xml"])
        .exits_with(2)
        .stdout_is_empty();
    run.stderr_contains("templates/traige.xml: there is no such file or folder")
        .stderr_contains("did you mean `templates/triage.xml`?");
}

#[test]
fn a_folder_without_templates() {
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("pom.xml", "<project/>");
    let run = project
        .run(&["check"])
        .exits_with(5)
        .stderr_contains("there is no template in this project, only 1 XML file of other kinds");
    run.stderr_contains("`ctxc init`")
        .stderr_contains("--allow-empty")
        .stdout_is_empty();
    Project::new()
        .run(&["check"])
        .exits_with(5)
        .stdout_is_empty()
        .stderr_contains("error: there is no template in this project\n");
    project
        .run(&["check", "--allow-empty"])
        .exits_with(0)
        .stderr_is_empty();
    let json = project
        .run(&["check", "--allow-empty", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(json["files"], 0);
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_read_is_a_finding_and_hides_no_other() {
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("a.xml", CLEAN)
        .with_file("b.xml", CONFLICT);
    // A dangling link is unreadable for every user, the superuser included.
    std::os::unix::fs::symlink("nowhere", project.path("c.xml")).unwrap();
    let run = project.run(&["check"]).exits_with(1).stderr_is_empty();
    run.stdout_contains("error[unreadable-file] c.xml:1:1: cannot be read: it does not exist")
        .stdout_contains("error[context-conflict] b.xml:5:5");
}

#[test]
#[cfg(unix)]
fn links_that_lead_in_a_circle_end() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    std::os::unix::fs::symlink("..", project.path("templates/up")).unwrap();
    std::os::unix::fs::symlink("self.xml", project.path("templates/self.xml")).unwrap();
    let run = project.run(&["check"]).exits_with(1);
    run.stdout_contains("error[unreadable-file] templates/self.xml:1:1:")
        .stdout_contains("checked 2 files: 1 error");
}

#[test]
fn a_folder_that_is_called_like_a_file() {
    let project = Project::new().with_file("templates/x.xml/a.xml", CLEAN);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
    project
        .run(&["check", "templates/x.xml"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
}

#[test]
fn a_project_file_with_a_typo() {
    let project = Project::new()
        .with_file("ctxc.toml", "[lints]\nno-contxt = \"error\"\n")
        .with_file("templates/a.xml", CONFLICT);
    let run = project.run(&["check"]).exits_with(2);
    run.stdout_contains("ctxc.toml:2:1: ")
        .stdout_contains("no-context")
        .stdout_contains("error[context-conflict] templates/a.xml:5:5");
    let project = Project::new()
        .with_file("ctxc.toml", "[lints\n")
        .with_file("templates/a.xml", CLEAN);
    project
        .run(&["check", "--format", "concise"])
        .exits_with(2)
        .stdout_contains("ctxc.toml:1:");
}

#[test]
fn a_project_file_that_is_no_text() {
    let project = Project::new()
        .with_file("ctxc.toml", b"[lints]\n\xff")
        .with_file("templates/a.xml", CLEAN);
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("ctxc.toml is not text: byte 8 is not UTF-8")
        .stderr_contains("save it as UTF-8");
}

#[test]
fn a_file_of_two_hundred_megabytes_is_refused_unread() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    std::fs::File::create(project.path("templates/big.xml"))
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    let started = std::time::Instant::now();
    let run = project.run(&["check"]).exits_with(1);
    assert!(
        started.elapsed() < std::time::Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    run.stdout_contains("error[file-too-large] templates/big.xml:1:1: is larger than 10 MiB")
        .stdout_contains("--max-file-size");
}

#[test]
fn standard_input_without_end_is_refused_at_the_limit() {
    let project = Project::new();
    let run = project
        .run_with_input(&["check", "-", "--max-file-size", "1K"], &[b' '; 4096])
        .exits_with(1);
    run.stdout_contains("error[file-too-large] -:1:1: is larger than 1 KiB");
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("a.xml", b"<task>\xff</task>");
    let run = project.run(&["check"]).exits_with(1).stderr_is_empty();
    run.stdout_contains("a.xml:1:").stdout_contains("UTF-8");
}

#[test]
fn names_and_texts_cannot_steer_the_terminal() {
    let text =
        "<task type=\"\u{1b}[31mred\" name=\"a\"><description>\u{202e}d</description></task>";
    let project = Project::new().with_file("a\u{1b}]0;title\u{7}.xml", text);
    for format in ["full", "concise"] {
        let run = project.run(&["check", "--verbose", "--format", format]);
        assert!(
            !run.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{}",
            run.stdout
        );
        assert!(
            run.stdout.contains(r"a\u{1b}]0;title\u{7}.xml"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_folder_with_a_million_findings_is_no_flood() {
    let many = format!(
        "<task type=\"atomic\" name=\"m\">\n{}<description>d</description></task>",
        "<foo/>\n".repeat(3_000)
    );
    let project = Project::new().with_file("a.xml", many);
    let run = project.run(&["check"]).exits_with(1);
    assert_eq!(run.stdout.matches("error[").count(), 100);
    run.stdout_contains("more findings in a.xml; `--format json` has them all");
}

#[test]
fn a_build_of_nothing_leaves_nothing_behind() {
    let project = Project::new();
    project.run(&["build"]).exits_with(5);
    project.run(&["build", "nowhere.xml"]).exits_with(2);
    assert!(!project.path(".ctxc").exists());
}

#[test]
fn disguised_changes_are_reported_as_they_are() {
    let task = "<task name=\"summarize\" type=\"atomic\"><description>d</description></task>";
    let project = Project::new().with_file("a.xml", task);
    let run = project.run(&["explain", "summarize"]).exits_with(2);
    run.stderr_contains("`summarize` is a task")
        .stderr_contains("`ctxc show summarize`")
        .stderr_contains("`ctxc explain summarize.fresh_context`");
    project.run(&["show", "summarize"]).exits_with(0);
    let run = project
        .run(&["build", "-o", "no/such/x.json"])
        .exits_with(3);
    run.stderr_contains("cannot write no/such/x.json: the folder no/such does not exist");
    let missing = Project::new()
        .with_file(
            "ctxc.toml",
            "[templates]\ninclude = [\"nope\", \"x/**/*.xml\"]\n",
        )
        .with_file("x/y.md", "");
    let run = missing.run(&["check"]).exits_with(5);
    run.stderr_contains(
        "what `[templates] include` names: `nope`, which does not exist; `x/**/*.xml`",
    );
    let folder = Project::new().with_file("ctxc.toml/a.xml", task);
    folder
        .run(&["check"])
        .exits_with(2)
        .stderr_contains("is a folder")
        .stderr_contains("give the folder another name");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_no_missing_file() {
    let project = Project::new();
    std::os::unix::fs::symlink("loop.xml", project.path("loop.xml")).unwrap();
    std::os::unix::fs::symlink("gone.xml", project.path("dead.xml")).unwrap();
    let run = project.run(&["check", "loop.xml"]).exits_with(2);
    assert!(
        run.stderr_contains(
            "loop.xml: the link cannot be followed: too many levels of symbolic links"
        )
        .stderr
        .matches("did you mean")
        .count()
            == 0
    );
    project
        .run(&["check", "dead.xml"])
        .exits_with(2)
        .stderr_contains("dead.xml: the link leads to nothing");
}

#[test]
fn a_shared_file_that_is_no_toml_is_one_finding() {
    let markdown = "# Rules\n\nFirst rule: be kind.\n\n- one\n- two\n";
    let hash = ctxc::internals::base::hash::Hash::digest(markdown.as_bytes());
    let pin = format!("extends = {{ path = \"rules.md\", hash = \"{hash}\" }}\n");
    let project = Project::new()
        .with_file("ctxc.toml", pin)
        .with_file("rules.md", markdown);
    let run = project
        .run(&["check", "--format", "concise", "--allow-empty"])
        .exits_with(1);
    assert_eq!(
        run.stdout.matches("[project-syntax]").count(),
        1,
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.matches("rules.md:").count(), 1, "{}", run.stdout);
}

#[test]
fn words_in_instructions_and_numbers_in_the_project_file_are_put_right() {
    let task =
        "<task name=\"a\" type=\"atomic\"><?ctxc allow contxt?><description>d</description></task>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = 2026\n")
        .with_file("a.xml", task);
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("put it in quotes")
        .stdout_contains("did you mean one of")
        .stdout_contains("`no-context`");
    project.run(&["check", "--fix"]).exits_with(0);
    assert_eq!(
        std::fs::read_to_string(project.path("ctxc.toml")).unwrap(),
        "edition = \"2026\"\n"
    );
}
