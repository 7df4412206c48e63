//! Files outside the project's folder, and files reached in a roundabout way: shown, fixed and recorded like any other,
//! from wherever one stands, and never mistaken for the file of that name inside.

use super::check::{CONFLICT, WARNING};
use super::project::{Project, Run};
use pretty_assertions::assert_eq;

/// A file whose only slip has a safe fix.
const OLD: &str = "<task type=\"atomic\" name=\"old\">\n  <description>this & that</description>\n</task>\n";

/// A project, and beside it a folder with a file that has a namesake inside.
fn beside() -> Project {
    let project = Project::new().file("work/ctxc.toml", "").file("work/sub/x.txt", "").file("work/else/a.xml", OLD);
    project.file("else/a.xml", CONFLICT)
}

fn run_in(project: &Project, folder: &str, args: &[&str]) -> Run {
    Run::from(project.command(args).current_dir(project.path(folder)).output().unwrap())
}

#[test]
fn lines_of_files_outside_are_shown_from_everywhere() {
    let project = beside();
    let whole = project.path("else/a.xml").to_str().unwrap().to_owned();
    let ways: [(&str, &[&str], &str); 5] = [
        ("work", &["check", "../else/a.xml"], "../else/a.xml:5:5"),
        ("work/sub", &["check", "../../else/a.xml"], "../else/a.xml:5:5"),
        ("", &["check", "--project", "work", "else/a.xml"], "../else/a.xml:5:5"),
        ("", &["check", "--project", "work", "else"], "../else/a.xml:5:5"),
        ("work", &["check", &whole], &whole),
    ];
    for (folder, args, place) in ways {
        let run = run_in(&project, folder, args).code(1);
        let run = run.says(&format!("error[context-conflict] {place}")).says("5 │     <fresh_context>enabled</fresh_context>");
        assert!(!run.stdout.contains("this & that"), "lines of another file: {}", run.stdout);
    }
}

#[test]
fn standard_input_is_shown_under_any_name() {
    for name in ["-", "else/a.xml", "../outside.xml", "/nowhere/z.xml"] {
        let run = beside().run_with(&["check", "-", "--stdin-path", name, "--project", "work"], CONFLICT.as_bytes()).code(1);
        run.says("5 │     <fresh_context>enabled</fresh_context>");
    }
}

#[test]
fn a_fix_changes_the_file_that_was_named_and_no_namesake() {
    let project = beside();
    project.write("else/a.xml", OLD);
    project.run(&["check", "--fix", "--project", "work", "else/a.xml"]).code(0).says("fixed 1 finding");
    assert_eq!(project.read("else/a.xml"), OLD.replace('&', "&amp;"));
    assert_eq!(project.read("work/else/a.xml"), OLD);
}

#[test]
fn what_is_recorded_of_a_file_outside_holds_from_another_folder() {
    let project = beside();
    project.write("else/a.xml", WARNING);
    let record = ["check", "--suppress-existing", "../../else/a.xml"];
    run_in(&project, "work/sub", &record).code(0).says("recorded 1 finding");
    run_in(&project, "work", &["check", "../else/a.xml"]).code(0).says("1 suppressed");
    project.run(&["check", "--project", "work", "else/a.xml"]).code(0).says("1 suppressed");
}

/// By its words `link/../a.xml` is `a.xml`; the system goes to the folder above the one that the link leads to.
#[test]
#[cfg(unix)]
fn a_way_through_a_link_leads_to_what_the_system_opens() {
    let project =
        Project::new().file("work/ctxc.toml", "").file("work/a.xml", OLD).file("far/deep/x.txt", "").file("far/a.xml", OLD);
    std::os::unix::fs::symlink("../far/deep", project.path("work/link")).unwrap();
    run_in(&project, "work", &["check", "--fix", "link/../a.xml"]).code(0).says("fixed 1 finding");
    assert_eq!(project.read("far/a.xml"), OLD.replace('&', "&amp;"));
    assert_eq!(project.read("work/a.xml"), OLD);
    // The project itself behind a link.
    std::os::unix::fs::symlink("work/sub/deep", project.path("here")).unwrap();
    std::fs::create_dir_all(project.path("work/sub/deep")).unwrap();
    project.write("out.xml", OLD);
    project.run(&["check", "--fix", "--project", "here", "out.xml"]).code(0).says("fixed 1 finding");
    assert_eq!(project.read("out.xml"), OLD.replace('&', "&amp;"));
}

const FORMATS: [&str; 10] = ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "checkstyle", "rdjson"];

/// What `extends` names may be anybody's: its faults have a name, a line and a column, and no line is shown, of a pinned one either.
#[test]
fn no_format_shows_a_line_of_what_extends_names() {
    let shared = "# hunter2\n[lints]\nno-contxt = \"error\" # hunter2\n# hunter2\n";
    let pinned = ctxc::internals::base::hash::Hash::of(shared.as_bytes()).to_string();
    let zeros = format!("b3:{}", "0".repeat(64));
    for (hash, place) in [(&pinned, "../house.toml:3:1: "), (&zeros, "ctxc.toml:1:")] {
        let config = format!("extends = {{ path = \"../house.toml\", hash = \"{hash}\" }}\n");
        let project = Project::new().file("house.toml", shared).file("work/ctxc.toml", config).file("work/templates/t.xml", OLD);
        run_in(&project, "work", &["check"]).says(place);
        for format in FORMATS {
            let run = run_in(&project, "work", &["check", "--format", format]);
            assert!(run.code != Some(0) && !run.stdout.is_empty(), "{format}: {run:#?}");
            assert!(!run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"), "{format}: {run:#?}");
        }
    }
    // The place of a setting is one of those that are told.
    let shared = "[defaults.atomic]\ninherit_context = \"none\" # hunter2\n";
    let hash = ctxc::internals::base::hash::Hash::of(shared.as_bytes());
    let config = format!("extends = {{ path = \"../house.toml\", hash = \"{hash}\" }}\n");
    let project = Project::new().file("house.toml", shared).file("work/ctxc.toml", config);
    run_in(&project, "work", &["defaults"]).code(0).says("../house.toml:2:19");
}

/// A link of the project says nothing of what is behind it, whoever names the link.
#[test]
#[cfg(unix)]
fn a_named_link_out_of_the_project_has_places_and_no_lines() {
    let project = beside();
    std::os::unix::fs::symlink("../else/a.xml", project.path("work/link.xml")).unwrap();
    let run = run_in(&project, "work", &["check", "link.xml"]).code(1).says("link.xml:5:5");
    assert!(!run.stdout.contains("<fresh_context>"), "{}", run.stdout);
}
