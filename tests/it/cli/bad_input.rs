//! Inputs and places that are not as they should be: each with a message that says what to do, and
//! its exit code.

use super::check::{CLEAN, CONFLICT};
use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn a_path_that_is_not_there() {
    let project = Project::new().file("templates/triage.xml", CLEAN);
    let run = project
        .run(&["check", "templates/traige.xml"])
        .code(2)
        .silent_out();
    run.warns("templates/traige.xml: there is no such file or folder")
        .warns("did you mean `templates/triage.xml`?");
}

#[test]
fn a_folder_without_templates() {
    let project = Project::new()
        .file("ctxc.toml", "")
        .file("pom.xml", "<project/>");
    let run = project
        .run(&["check"])
        .code(5)
        .warns("there is no template in this project, only 1 XML file of other kinds");
    run.warns("`ctxc init`").warns("--allow-empty").silent_out();
    Project::new()
        .run(&["check"])
        .code(5)
        .silent_out()
        .warns("error: there is no template in this project\n");
    project.run(&["check", "--allow-empty"]).code(0).silent();
    let json = project
        .run(&["check", "--allow-empty", "--json"])
        .code(0)
        .json();
    assert_eq!(json["files"], 0);
}

#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_read_is_a_finding_and_hides_no_other() {
    let project = Project::new()
        .file("ctxc.toml", "")
        .file("a.xml", CLEAN)
        .file("b.xml", CONFLICT);
    // A link to nothing cannot be read by anybody, the superuser included.
    std::os::unix::fs::symlink("nowhere", project.path("c.xml")).unwrap();
    let run = project.run(&["check"]).code(1).silent();
    run.says("error[unreadable-file] c.xml:1:1: cannot be read: it does not exist")
        .says("error[context-conflict] b.xml:5:5");
}

#[test]
#[cfg(unix)]
fn links_that_lead_in_a_circle_end() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    std::os::unix::fs::symlink("..", project.path("templates/up")).unwrap();
    std::os::unix::fs::symlink("self.xml", project.path("templates/self.xml")).unwrap();
    let run = project.run(&["check"]).code(1);
    run.says("error[unreadable-file] templates/self.xml:1:1:")
        .says("checked 2 files: 1 error");
}

#[test]
fn a_folder_that_is_called_like_a_file() {
    let project = Project::new().file("templates/x.xml/a.xml", CLEAN);
    project
        .run(&["check"])
        .code(0)
        .says("checked 1 file: nothing found");
    project
        .run(&["check", "templates/x.xml"])
        .code(0)
        .says("checked 1 file: nothing found");
}

#[test]
fn a_project_file_with_a_typo() {
    let project = Project::new()
        .file("ctxc.toml", "[lints]\nno-contxt = \"error\"\n")
        .file("templates/a.xml", CONFLICT);
    let run = project.run(&["check"]).code(2);
    run.says("ctxc.toml:2:1: ")
        .says("no-context")
        .says("error[context-conflict] templates/a.xml:5:5");
    let project = Project::new()
        .file("ctxc.toml", "[lints\n")
        .file("templates/a.xml", CLEAN);
    project
        .run(&["check", "--format", "concise"])
        .code(2)
        .says("ctxc.toml:1:");
}

#[test]
fn a_project_file_that_is_no_text() {
    let project = Project::new()
        .file("ctxc.toml", b"[lints]\n\xff")
        .file("templates/a.xml", CLEAN);
    project
        .run(&["check"])
        .code(2)
        .silent_out()
        .warns("ctxc.toml is not text: byte 8 is not UTF-8")
        .warns("save it as UTF-8");
}

#[test]
fn a_file_of_two_hundred_megabytes_is_refused_unread() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    std::fs::File::create(project.path("templates/big.xml"))
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    let started = std::time::Instant::now();
    let run = project.run(&["check"]).code(1);
    assert!(
        started.elapsed() < std::time::Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    run.says("error[file-too-large] templates/big.xml:1:1: is larger than 10 MiB")
        .says("--max-file-size");
}

#[test]
fn standard_input_without_end_is_refused_at_the_limit() {
    let project = Project::new();
    let run = project
        .run_with(&["check", "-", "--max-file-size", "1K"], &[b' '; 4096])
        .code(1);
    run.says("error[file-too-large] -:1:1: is larger than 1 KiB");
}

#[test]
fn bytes_that_are_no_text_are_a_finding() {
    let project = Project::new()
        .file("ctxc.toml", "")
        .file("a.xml", b"<task>\xff</task>");
    let run = project.run(&["check"]).code(1).silent();
    run.says("a.xml:1:").says("UTF-8");
}

#[test]
fn names_and_texts_cannot_steer_the_terminal() {
    let text =
        "<task type=\"\u{1b}[31mred\" name=\"a\"><description>\u{202e}d</description></task>";
    let project = Project::new().file("a\u{1b}]0;title\u{7}.xml", text);
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
    let project = Project::new().file("a.xml", many);
    let run = project.run(&["check"]).code(1);
    assert_eq!(run.stdout.matches("error[").count(), 100);
    run.says("more findings in a.xml; `--format json` has them all");
}

#[test]
fn a_build_of_nothing_leaves_nothing_behind() {
    let project = Project::new();
    project.run(&["build"]).code(5);
    project.run(&["build", "nowhere.xml"]).code(2);
    assert!(!project.path(".ctxc").exists());
}

#[test]
fn what_is_not_as_it_seems_is_said_as_it_is() {
    let task = "<task name=\"summarize\" type=\"atomic\"><description>d</description></task>";
    let project = Project::new().file("a.xml", task);
    let run = project.run(&["explain", "summarize"]).code(2);
    run.warns("`summarize` is a task")
        .warns("`ctxc show summarize`")
        .warns("`ctxc explain summarize.fresh_context`");
    project.run(&["show", "summarize"]).code(0);
    let run = project.run(&["build", "-o", "no/such/x.json"]).code(3);
    run.warns("cannot write no/such/x.json: the folder no/such does not exist");
    let missing = Project::new()
        .file(
            "ctxc.toml",
            "[templates]\ninclude = [\"nope\", \"x/**/*.xml\"]\n",
        )
        .file("x/y.md", "");
    let run = missing.run(&["check"]).code(5);
    run.warns("what `[templates] include` names: `nope`, which does not exist; `x/**/*.xml`");
    let folder = Project::new().file("ctxc.toml/a.xml", task);
    folder
        .run(&["check"])
        .code(2)
        .warns("is a folder")
        .warns("give the folder another name");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_no_missing_file() {
    let project = Project::new();
    std::os::unix::fs::symlink("loop.xml", project.path("loop.xml")).unwrap();
    std::os::unix::fs::symlink("gone.xml", project.path("dead.xml")).unwrap();
    let run = project.run(&["check", "loop.xml"]).code(2);
    assert!(
        run.warns("loop.xml: the link cannot be followed: too many levels of symbolic links")
            .stderr
            .matches("did you mean")
            .count()
            == 0
    );
    project
        .run(&["check", "dead.xml"])
        .code(2)
        .warns("dead.xml: the link leads to nothing");
}

#[test]
fn a_shared_file_that_is_no_toml_is_one_finding() {
    let markdown = "# Rules\n\nFirst rule: be kind.\n\n- one\n- two\n";
    let hash = ctxc::internals::base::hash::Hash::of(markdown.as_bytes());
    let pin = format!("extends = {{ path = \"rules.md\", hash = \"{hash}\" }}\n");
    let project = Project::new()
        .file("ctxc.toml", pin)
        .file("rules.md", markdown);
    let run = project
        .run(&["check", "--format", "concise", "--allow-empty"])
        .code(1);
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
        .file("ctxc.toml", "edition = 2026\n")
        .file("a.xml", task);
    project
        .run(&["check"])
        .code(2)
        .says("put it in quotes")
        .says("did you mean one of")
        .says("`no-context`");
    project.run(&["check", "--fix"]).code(0);
    assert_eq!(
        std::fs::read_to_string(project.path("ctxc.toml")).unwrap(),
        "edition = \"2026\"\n"
    );
}
