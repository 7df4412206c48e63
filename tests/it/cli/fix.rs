//! `check --fix`: the fixes that it writes and omits, and that it never writes over a file that it
//! did not check.

use super::check::CLEAN;
use super::project::Project;
use pretty_assertions::assert_eq;

/// One warning with a safe fix (an older value), in a text with every part that must be kept.
const OLD: &str = "<task type=\"atomic\" name=\"a\">\n  <!-- kept  -->\n  <description>Sort — the ticket.</description>\n  \
    <context_management>\n    <inherit_context>true</inherit_context>\n  </context_management>\n</task>";

fn new() -> String {
    OLD.replace(">true<", ">full<")
}

/// Two errors with suggested fixes only.
const CONFLICT: &str = super::check::CONFLICT;

#[test]
fn safe_fixes_are_made_and_the_rest_is_reported() {
    let project = Project::new()
        .with_file("templates/a.xml", OLD)
        .with_file("templates/b.xml", CONFLICT);
    let run = project
        .run(&["check", "--fix"])
        .exits_with(1)
        .stderr_is_empty();
    run.stdout_contains(
        "checked 2 files, fixed 1 finding: 1 error; 1 fixable with `check --fix --unsafe-fixes`\n",
    )
    .stdout_contains("context-conflict");
    assert_eq!(project.read_file("templates/a.xml"), new());
    assert_eq!(project.read_file("templates/b.xml"), CONFLICT);
    assert_eq!(project.files(), ["templates/a.xml", "templates/b.xml"]);
    let run = project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(0)
        .stderr_is_empty();
    assert_eq!(
        run.stdout,
        "checked 2 files, fixed 1 finding: nothing left\n"
    );
    project
        .run(&["check", "--fix"])
        .exits_with(0)
        .stdout_contains("checked 2 files, fixed 0 findings: nothing found\n");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 2 files: nothing found");
}

/// A fix of a slip in the project file gives no task another setting without the user's consent.
#[test]
fn what_a_mended_project_file_brings_up_is_reported_and_left() {
    let templates = "<task type=\"atomic\" name=\"a\"><description>d</description></task>";
    let toml = "[defaults.atomic]\ninherit_contxt = \"none\"\n";
    let project = Project::new()
        .with_file("templates/a.xml", templates)
        .with_file("ctxc.toml", toml);
    project
        .run(&["check"])
        .stdout_contains("1 error; 1 fixable");
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .stdout_contains("no-context")
        .stdout_contains("fixed 1 finding: ");
    assert_eq!(project.read_file("templates/a.xml"), templates);
    assert_eq!(
        project.read_file("ctxc.toml"),
        toml.replace("contxt", "context")
    );
}

/// Findings that appear through a fix of a template are fixed in the same run, also beside a fixed
/// project file.
#[test]
fn one_run_mends_what_its_own_fixes_uncover() {
    let task = "<task type=\"atomic\" name=\"a\"><description>{{ q|uper }}</description><parameters><parameter name=\"q\"/></parameters></task>";
    for toml in ["", "[defaults.atomic]\nfresh_context = \"enabled\"\n"] {
        let project = Project::new()
            .with_file("templates/a.xml", task)
            .with_file("ctxc.toml", toml);
        project
            .run(&["check", "--fix", "--unsafe-fixes"])
            .exits_with(0);
        let once = project.read_file("templates/a.xml");
        assert!(once.contains("syntax=\"jinja\">{{ q|upper }}"), "{once}");
        project
            .run(&["check", "--fix", "--unsafe-fixes"])
            .exits_with(0);
        assert_eq!(project.read_file("templates/a.xml"), once);
    }
}

/// A key that was not read hides the faults below it.
#[test]
fn a_misspelt_key_is_mended_with_what_stands_below_it() {
    let task = "<task type=\"atomic\" name=\"a\"><description>d</description></task>";
    let project = Project::new().with_file("templates/a.xml", task).with_file(
        "ctxc.toml",
        "[rolez.r]\ntemplate = \"a\"\nprofle = \"plain\"\n",
    );
    project.run(&["check"]).stdout_contains("1 fixable");
    project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(
        project.read_file("ctxc.toml"),
        "[roles.r]\ntemplate = \"a\"\nprofile = \"plain\"\n"
    );
}

/// The scenarios of a task that has errors are checked once it has none.
#[test]
fn what_a_fix_brings_up_in_scenarios_is_reported() {
    let task = "<task type=\"atomic\" name=\"a\"><description>this & that: {{ticket}}</description>\
        <parameters><parameter name=\"ticket\"/></parameters></task>";
    let scenario = "schema: ctxc/scenario/1\nname: s\ntask: a\ncontext:\n  objective: o\n  inputs:\n    tiket: hello\n\
        expect_context:\n  - contains: hello\n";
    let project = Project::new()
        .with_file("templates/a.xml", task)
        .with_file("scenarios/s.yaml", scenario);
    project
        .run(&["check", "--fix"])
        .exits_with(1)
        .stdout_contains("unknown-input")
        .stdout_contains("fixed 1 finding: 1 error");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("1 error");
}

/// One slip, one fix: an example without its element.
#[test]
fn an_input_and_an_output_make_an_example() {
    let task = "<task type=\"atomic\" name=\"a\"><description>d</description>\
        <examples><input>1</input><output>2</output><input>3</input><output>4</output></examples></task>";
    let project = Project::new().with_file("templates/a.xml", task);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("fix: put <input> and <output> into a new <example>")
        .stdout_contains("2 errors; 2 fixable");
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(0)
        .stdout_contains("fixed 2 findings: nothing left");
    let example = |input, output| {
        format!("<example><input>{input}</input><output>{output}</output></example>")
    };
    let fixed = format!("<examples>{}{}</examples>", example(1, 2), example(3, 4));
    assert!(
        project.read_file("templates/a.xml").contains(&fixed),
        "{}",
        project.read_file("templates/a.xml")
    );
}

#[test]
fn the_closing_line_names_the_flag() {
    let project = Project::new().with_file("a.xml", OLD);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("1 warning; 1 fixable with `check --fix`\n");
    project.write_file("b.xml", CONFLICT);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("; 2 fixable, 1 of them with `check --fix`\n");
}

#[test]
fn a_diff_writes_nothing_and_can_be_applied() {
    let project = Project::new().with_file("templates/a.xml", OLD);
    let run = project
        .run(&["check", "--diff"])
        .exits_with(1)
        .stderr_contains("would fix 1 finding in 1 file; 0 would be left");
    insta::assert_snapshot!(run.stdout, @r#"
    --- templates/a.xml
    +++ templates/a.xml
    @@ -2,6 +2,6 @@
       <!-- kept  -->
       <description>Sort — the ticket.</description>
       <context_management>
    -    <inherit_context>true</inherit_context>
    +    <inherit_context>full</inherit_context>
       </context_management>
     </task>
    \ No newline at end of file
    "#);
    assert_eq!(project.read_file("templates/a.xml"), OLD);
    let same = project.run(&["check", "--fix", "--diff"]).exits_with(1);
    assert_eq!(same.stdout, run.stdout);
    project.write_file("templates/a.xml", new());
    project
        .run(&["check", "--diff"])
        .exits_with(0)
        .stdout_is_empty();
}

#[test]
fn encodings_marks_and_line_ends_stay() {
    let utf16 = |text: &str| -> Vec<u8> {
        std::iter::once('\u{feff}')
            .chain(text.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect()
    };
    let windows = |text: &str| text.replace('\n', "\r\n");
    let project = Project::new()
        .with_file("bom.xml", format!("\u{feff}{OLD}"))
        .with_file("windows.xml", windows(&OLD.replace("\"a\"", "\"b\"")))
        .with_file("wide.xml", utf16(&OLD.replace("\"a\"", "\"c\"")));
    project
        .run(&["check", "--fix"])
        .exits_with(0)
        .stdout_contains("fixed 3 findings: nothing left");
    assert_eq!(project.read_file("bom.xml"), format!("\u{feff}{}", new()));
    assert_eq!(
        project.read_file("windows.xml"),
        windows(&new().replace("\"a\"", "\"b\""))
    );
    assert_eq!(
        std::fs::read(project.path("wide.xml")).unwrap(),
        utf16(&new().replace("\"a\"", "\"c\""))
    );
}

#[test]
fn standard_input_comes_back_fixed() {
    let project = Project::new();
    let run = project
        .run_with_input(&["check", "--fix", "-"], OLD.as_bytes())
        .exits_with(0)
        .stderr_contains("fixed 1 finding; 0 left");
    assert_eq!(run.stdout, new());
    // Remaining findings are printed beside it, and the text comes through with any fault in it.
    let run = project
        .run_with_input(
            &["check", "--fix", "-", "--stdin-path", "b.xml"],
            CONFLICT.as_bytes(),
        )
        .exits_with(1);
    assert_eq!(run.stdout, CONFLICT);
    run.stderr_contains("b.xml:5:5: error[context-conflict]");
    let run = project
        .run_with_input(&["check", "--diff", "-"], OLD.as_bytes())
        .exits_with(1);
    assert!(run.stdout.starts_with("--- -\n+++ -\n@@"), "{}", run.stdout);
    assert_eq!(project.files(), [""; 0]);
}

#[test]
fn data_stays_data() {
    let project = Project::new()
        .with_file("a.xml", OLD)
        .with_file("b.xml", CONFLICT);
    let run = project
        .run(&["check", "--fix", "--json"])
        .exits_with(1)
        .stderr_contains("fixed 1 finding in 1 file\n");
    assert_eq!(run.json()["summary"]["error"], 1);
    assert_eq!(run.json()["diagnostics"].as_array().unwrap().len(), 1);
}

#[test]
fn flags_that_say_nothing_are_refused() {
    let project = Project::new().with_file("a.xml", OLD);
    project
        .run(&["check", "--unsafe-fixes"])
        .exits_with(2)
        .stderr_contains("add `--fix` to apply them");
    project
        .run(&["check", "--fix", "--suppress-existing"])
        .exits_with(2);
    assert_eq!(project.read_file("a.xml"), OLD);
    project.run(&["check", "--fix", "none.xml"]).exits_with(2);
    Project::new().run(&["check", "--fix"]).exits_with(5);
}

#[test]
fn suppressed_findings_stay_and_entries_that_no_longer_apply_go() {
    let project = Project::new()
        .with_file("a.xml", OLD)
        .with_file("gone.xml", OLD.replace("\"a\"", "\"g\""));
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    project.write_file("gone.xml", new().replace("\"a\"", "\"g\""));
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("stale-suppression");
    project
        .run(&["check", "--fix"])
        .exits_with(0)
        .stdout_contains("fixed 1 finding: nothing left; 1 suppressed");
    assert_eq!(project.read_file("a.xml"), OLD);
    let recorded = project.read_file("ctxc.suppressions.toml");
    assert!(
        recorded.contains("a.xml") && !recorded.contains("gone.xml"),
        "{recorded}"
    );
}

#[test]
fn the_project_file_is_fixed_first() {
    let project = Project::new()
        .with_file("a.xml", OLD)
        .with_file("ctxc.toml", "[projct]\nname = \"x\"\n");
    project.run(&["check"]).exits_with(2);
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(0)
        .stdout_contains("fixed 2 findings: nothing left");
    assert_eq!(project.read_file("ctxc.toml"), "[project]\nname = \"x\"\n");
}

/// A misspelt name in one file whose nearest name would make a circle of references: not applied.
#[test]
fn a_fix_that_breaks_another_file_is_not_made() {
    let step = |name: &str, to: &str| {
        format!(
            "<task type=\"sequential\" name=\"{name}\">\n  <description>d</description>\n  <steps>\n    <task ref=\"{to}\"/>\n  </steps>\n</task>\n"
        )
    };
    let project = Project::new()
        .with_file("one.xml", step("first-step", "second-step"))
        .with_file("two.xml", step("second-step", "first-stp"));
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("unresolved-reference")
        .stdout_contains("1 fixable");
    let run = project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(1);
    run.stdout_contains("fixed 0 findings: 1 error");
    assert_eq!(
        project.read_file("two.xml"),
        step("second-step", "first-stp")
    );
    // A fix that causes no new finding is made.
    project.write_file(
        "one.xml",
        super::check::CLEAN.replace("\"clean\"", "\"first-step\""),
    );
    project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(0)
        .stdout_contains("fixed 1 finding: nothing left");
    assert_eq!(
        project.read_file("two.xml"),
        step("second-step", "first-step")
    );
}

#[cfg(unix)]
#[test]
fn links_are_written_through_and_rights_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let project = Project::new().with_file("real/a.xml", OLD);
    std::fs::set_permissions(
        project.path("real/a.xml"),
        std::fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    symlink("real/a.xml", project.path("link.xml")).unwrap();
    project.run(&["check", "--fix", "link.xml"]).exits_with(0);
    assert_eq!(project.read_file("real/a.xml"), new());
    assert!(
        std::fs::symlink_metadata(project.path("link.xml"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(
        std::fs::metadata(project.path("real/a.xml"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
}

/// A path outside the project is fixed where it lies, not at the same path beneath the project.
#[test]
fn files_outside_the_project_are_found() {
    let project = Project::new()
        .with_file("work/ctxc.toml", "")
        .with_file("outside.xml", OLD)
        .with_file("work/sub/x.txt", "");
    let mut command = project.command(&["check", "--fix", "../../outside.xml"]);
    let out = command
        .current_dir(project.path("work/sub"))
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    assert_eq!(project.read_file("outside.xml"), new());
}

#[test]
fn a_format_is_never_passed_over() {
    let project = Project::new().with_file(
        "templates/a.xml",
        "<task type=\"atomic\" name=\"a\">\n  <description>d & e</description>\n</task>\n",
    );
    project
        .run(&["check", "--diff", "--format", "sarif"])
        .exits_with(2)
        .stderr_contains("cannot be used with");
    project
        .run(&["check", "--fix", "--format", "json"])
        .exits_with(0)
        .stdout_contains("\"schema\"");
    let text = "<task type=\"atomic\" name=\"y\">\n  <description>d & e</description>\n</task>\n";
    project
        .run_with_input(
            &["check", "-", "--fix", "--format", "json"],
            text.as_bytes(),
        )
        .exits_with(2)
        .stderr_contains("findings in a format for programs have no place there");
    project
        .run_with_input(&["check", "-", "--diff"], text.as_bytes())
        .exits_with(1)
        .stderr_contains("would fix 1 finding; 0 would be left");
}

/// A name in the project file that depends on the templates is fixed once, with everything checked
/// anew.
#[test]
fn a_name_in_the_project_file_that_no_template_has_is_mended_once() {
    for more in ["", "[lints]\nmigration = \"warn\"\n"] {
        let project = Project::new()
            .with_file(
                "ctxc.toml",
                format!("[roles.clerk]\ntemplate = \"triag\"\n{more}"),
            )
            .with_file(
                "templates/triage.xml",
                CLEAN.replace("name=\"clean\"", "name=\"triage\""),
            );
        project
            .run(&["check", "--fix", "--unsafe-fixes"])
            .exits_with(0);
        let fixed = format!(
            "[roles.clerk]\ntemplate = \"triage\"\n{}",
            more.replace("\"warn\"", "\"warning\"")
        );
        assert_eq!(project.read_file("ctxc.toml"), fixed);
        project.run(&["check"]).exits_with(0);
    }
}

#[test]
fn quotes_of_a_word_processor_do_not_stay_in_the_value() {
    let project = Project::new().with_file("ctxc.toml", "").with_file(
        "a.xml",
        "<task type=“atomic” name=“triage”><description>d</description></task>\n",
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("is in curly quotes, which XML does not accept");
    project.run(&["check", "--fix"]).exits_with(0);
    assert_eq!(
        project.read_file("a.xml"),
        "<task type=\"atomic\" name=\"triage\"><description>d</description></task>\n"
    );
}
