//! `ctxc fmt` at the command line.

use super::project::Project;
use pretty_assertions::assert_eq;

const LOOSE: &str = "<task   name=\"a\" type=\"atomic\">\n<description>d</description></task>\n";
const TIDY: &str = "<task name=\"a\" type=\"atomic\">\n  <description>d</description>\n</task>\n";

fn read(project: &Project, name: &str) -> String {
    std::fs::read_to_string(project.path(name)).unwrap()
}

#[test]
fn files_are_laid_out_and_counted() {
    let project = Project::new()
        .file("templates/a.xml", LOOSE)
        .file("templates/b.xml", TIDY.replace("\"a\"", "\"b\""))
        .file("templates/pom.xml", "<project/>");
    assert_eq!(project.run(&["fmt", "--check"]).code(1).warns("would format 1 file, 1 unchanged").stdout, "templates/a.xml\n");
    project
        .run(&["fmt", "--diff"])
        .code(1)
        .says("-<task   name=\"a\" type=\"atomic\">")
        .says("+<task name=\"a\" type=\"atomic\">");
    assert_eq!(read(&project, "templates/a.xml"), LOOSE, "nothing is written");
    project.run(&["fmt"]).code(0).warns("formatted 1 file, 1 unchanged");
    assert_eq!(read(&project, "templates/a.xml"), TIDY);
    assert_eq!(read(&project, "templates/pom.xml"), "<project/>");
    project.run(&["fmt", "--check"]).code(0).warns("would format 0 files, 2 unchanged");
}

#[test]
fn what_is_not_well_formed_is_left_alone_with_a_word() {
    let broken = "<task name=\"a\">\n  <description>a & b</description>\n</task>\n";
    let project = Project::new().file("templates/a.xml", broken).file("templates/b.xml", LOOSE);
    project
        .run(&["fmt"])
        .code(1)
        .warns("templates/a.xml: left as it is: it is not well-formed XML (line 2, column 18); `ctxc check`")
        .warns("formatted 1 file");
    assert_eq!(read(&project, "templates/a.xml"), broken);
    assert_eq!(read(&project, "templates/b.xml"), TIDY);
    project.run(&["fmt", "nowhere"]).code(2).warns("there is no such file or folder");
    Project::new().run(&["fmt"]).code(5);
}

#[test]
fn the_project_says_how_wide_and_how_deep() {
    let project = Project::new().file("ctxc.toml", "[fmt]\nindent = 4\nwidth = 20\n").file("templates/a.xml", LOOSE);
    project.run(&["fmt"]).code(0);
    assert_eq!(
        read(&project, "templates/a.xml"),
        "<task\n        name=\"a\"\n        type=\"atomic\">\n    <description>d</description>\n</task>\n"
    );
    let wrong = Project::new().file("ctxc.toml", "[fmt]\nident = 4\n").file("templates/a.xml", LOOSE);
    wrong.run(&["check"]).code(2).says("unknown-key").says("`indent`");
    wrong.run(&["fmt"]).code(2);
}

#[test]
fn standard_input_is_laid_out_on_standard_output() {
    let project = Project::new();
    assert_eq!(project.run_with(&["fmt", "-"], LOOSE.as_bytes()).code(0).stdout, TIDY);
    assert_eq!(project.run_with(&["fmt", "-"], TIDY.as_bytes()).code(0).stdout, TIDY);
    project.run_with(&["fmt", "-", "--check"], LOOSE.as_bytes()).code(1);
    assert_eq!(
        project.run_with(&["fmt", "-"], b"<task>").code(1).stdout,
        "<task>",
        "what cannot be laid out comes back as it was"
    );
}

#[test]
fn encodings_and_line_ends_stay() {
    let project = Project::new();
    let wide: Vec<u8> =
        std::iter::once(0xFEFF_u16).chain(LOOSE.replace('\n', "\r\n").encode_utf16()).flat_map(u16::to_le_bytes).collect();
    std::fs::create_dir_all(project.path("templates")).unwrap();
    std::fs::write(project.path("templates/a.xml"), wide).unwrap();
    project.run(&["fmt"]).code(0);
    let expected: Vec<u8> =
        std::iter::once(0xFEFF_u16).chain(TIDY.replace('\n', "\r\n").encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(std::fs::read(project.path("templates/a.xml")).unwrap(), expected);
}
