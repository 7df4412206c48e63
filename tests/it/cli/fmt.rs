//! `fmt`: the files that it writes, only reports, and leaves alone.

use super::project::Project;
use pretty_assertions::assert_eq;

const MESSY: &str = "<task  name='a' type='atomic'><description>d</description></task>";
const LAID: &str = "<task name=\"a\" type=\"atomic\">\n  <description>d</description>\n</task>\n";
const BROKEN: &str = "<task name=\"b\">\n  <description>a < b</description>\n</task>\n";

fn project() -> Project {
    Project::new()
        .with_file("templates/a.xml", MESSY)
        .with_file("templates/b.xml", LAID.replace("\"a\"", "\"b\""))
        .with_file("templates/pom.xml", "<project>\n\n</project>")
}

#[test]
fn files_are_laid_out_in_place() {
    let project = project();
    let run = project.run(&["fmt"]).exits_with(0).stderr_is_empty();
    assert_eq!(
        run.stdout,
        "formatted templates/a.xml\nformatted 1 file, 1 laid out already\n"
    );
    assert_eq!(project.read_file("templates/a.xml"), LAID);
    assert_eq!(
        project.read_file("templates/pom.xml"),
        "<project>\n\n</project>"
    );
    assert_eq!(
        project.files(),
        ["templates/a.xml", "templates/b.xml", "templates/pom.xml"]
    );
    let run = project.run(&["fmt"]).exits_with(0).stderr_is_empty();
    assert_eq!(run.stdout, "formatted 0 files, 2 laid out already\n");
    project
        .run(&["fmt", "--quiet"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout_is_empty();
}

#[test]
fn a_check_names_files_and_writes_nothing() {
    let project = project();
    let run = project
        .run(&["fmt", "--check"])
        .exits_with(1)
        .stderr_is_empty();
    assert_eq!(
        run.stdout,
        "would format templates/a.xml\nwould change 1 file, 1 laid out already\n"
    );
    let run = project
        .run(&["fmt", "--diff", "templates/a.xml"])
        .exits_with(1)
        .stderr_contains("would change 1 file");
    insta::assert_snapshot!(run.stdout, @r#"
    --- templates/a.xml
    +++ templates/a.xml
    @@ -1 +1,3 @@
    -<task  name='a' type='atomic'><description>d</description></task>
    \ No newline at end of file
    +<task name="a" type="atomic">
    +  <description>d</description>
    +</task>
    "#);
    assert_eq!(project.read_file("templates/a.xml"), MESSY);
    project.run(&["fmt"]).exits_with(0);
    project.run(&["fmt", "--check"]).exits_with(0);
    project
        .run(&["fmt", "--diff"])
        .exits_with(0)
        .stdout_is_empty();
}

#[test]
fn what_cannot_be_laid_out_is_left_alone_and_reported() {
    let project = project()
        .with_file("templates/broken.xml", BROKEN)
        .with_file("templates/bytes.xml", b"<task>\xff</task>");
    let run = project.run(&["fmt"]).exits_with(1);
    let run = run.stderr_contains("templates/broken.xml: left alone: it has a syntax error at 2:18; `ctxc check` says which\n");
    run.stderr_contains("templates/bytes.xml: left alone: it is not text: byte 6 is not UTF-8\n")
        .stdout_contains("formatted 1 file, 1 laid out already, 2 files left alone\n");
    assert_eq!(project.read_file("templates/broken.xml"), BROKEN);
    // A named file that is no template is reported, one that is found by the walk is skipped.
    project
        .run(&["fmt", "templates/pom.xml"])
        .exits_with(1)
        .stderr_contains("templates/pom.xml: left alone: it is not a template");
    project.run(&["fmt", "none.xml"]).exits_with(2);
    Project::new().run(&["fmt"]).exits_with(5);
    Project::new().run(&["fmt", "--allow-empty"]).exits_with(0);
}

#[test]
fn standard_input_comes_back_laid_out() {
    let project = Project::new();
    let run = project
        .run_with_input(&["fmt", "-"], MESSY.as_bytes())
        .exits_with(0)
        .stderr_is_empty();
    assert_eq!(run.stdout, LAID);
    let run = project
        .run_with_input(&["fmt", "-", "--stdin-path", "b.xml"], BROKEN.as_bytes())
        .exits_with(1)
        .stderr_contains("b.xml: left alone");
    assert_eq!(run.stdout, BROKEN);
    project
        .run_with_input(&["fmt", "-", "--check"], MESSY.as_bytes())
        .exits_with(1)
        .stdout_is_empty();
    project
        .run_with_input(&["fmt", "-", "--check"], LAID.as_bytes())
        .exits_with(0)
        .stdout_is_empty();
    project
        .run_with_input(&["fmt", "-", "--diff"], MESSY.as_bytes())
        .exits_with(1)
        .stdout_contains("+++ -\n");
    project
        .run_with_input(&["fmt", "-", "--max-file-size", "10"], MESSY.as_bytes())
        .exits_with(3);
}

#[test]
fn the_project_sets_width_and_indentation() {
    let project = project().with_file("ctxc.toml", "[fmt]\nwidth = 20\nindent = \"tab\"\n");
    project.run(&["fmt", "templates/a.xml"]).exits_with(0);
    assert_eq!(
        project.read_file("templates/a.xml"),
        "<task\n\t\tname=\"a\"\n\t\ttype=\"atomic\">\n\t<description>d</description>\n</task>\n"
    );
    project.write_file("ctxc.toml", "[fmt]\nwidht = 20\n");
    let run = project.run(&["fmt"]).exits_with(2);
    run.stderr_contains("`[fmt]` has no key `widht`");
}

#[test]
fn encodings_marks_and_line_ends_stay() {
    let text = MESSY.replace("><d", ">\r\n<d");
    let project = Project::new().with_file("a.xml", format!("\u{feff}{text}"));
    project.run(&["fmt"]).exits_with(0);
    assert_eq!(
        project.read_file("a.xml"),
        format!("\u{feff}{}", LAID.replace('\n', "\r\n"))
    );
    let wide: Vec<u8> = format!("\u{feff}{MESSY}")
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    project.write_file("a.xml", &wide);
    project.run(&["fmt"]).exits_with(0);
    let expected: Vec<u8> = format!("\u{feff}{LAID}")
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(std::fs::read(project.path("a.xml")).unwrap(), expected);
}

#[test]
fn many_files_come_in_the_order_of_their_names() {
    let mut project = Project::new();
    for at in 0..40 {
        project = project.with_file(
            &format!("templates/{}/t{at:02}.xml", at % 3),
            MESSY.replace("'a'", &format!("'t{at}'")),
        );
    }
    let before = |run: &super::project::ProgramRun| run.stdout.clone();
    let one = project
        .run(&["fmt", "--check", "--threads", "1"])
        .exits_with(1);
    let four = project
        .run(&[
            "fmt",
            "--check",
            "--threads",
            "4",
            "templates",
            "templates/0/t00.xml",
        ])
        .exits_with(1);
    assert_eq!(before(&one), before(&four));
    assert_eq!(one.stdout.lines().count(), 41);
    project.run(&["fmt", "--threads", "4"]).exits_with(0);
    project.run(&["fmt", "--check"]).exits_with(0);
    project.run(&["build"]).exits_with(0);
}

#[cfg(unix)]
#[test]
fn a_folder_that_takes_no_files_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let project = project();
    let folder = project.path("templates");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = std::fs::write(folder.join("probe"), "").is_ok();
    if !is_root {
        project
            .run(&["fmt"])
            .exits_with(3)
            .stderr_contains("cannot write");
        assert_eq!(project.read_file("templates/a.xml"), MESSY);
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
