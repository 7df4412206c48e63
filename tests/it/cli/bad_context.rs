//! Faults that keep `render` and `manifest` from a context: each reported at its place, with the
//! exit code of the documentation.

use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"t\">
  <system>You sort {{kind}}.</system>
  <description>Sort
    the {{ticket}}.</description>
  <parameters>
    <parameter name=\"ticket\" required=\"true\"/>
    <parameter name=\"kind\" required=\"true\"/>
  </parameters>
  <file_paths source=\"literal\">
    <path>docs/a.md</path>
  </file_paths>
</task>
";
const RENDER: [&str; 6] = ["render", "t", "--input", "ticket=x", "--input", "kind=y"];

/// A project whose files may come later: a fault that `check` would report is reported by the call.
fn sample() -> Project {
    let project = Project::new().with_file("ctxc.toml", "[lints]\nunreadable-path = \"off\"\n");
    project
        .with_file("templates/t.xml", TASK)
        .with_file("docs/a.md", "access: logins\n")
}

/// Both verbs end with findings, and print this text.
fn both(project: &Project, said: &str) {
    project
        .run(&RENDER)
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains(said);
    project
        .run(&["manifest"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains(said);
}

#[test]
fn a_variable_without_a_value_is_a_fault_of_the_command_line() {
    let run = sample()
        .run(&["render", "t"])
        .exits_with(2)
        .stdout_is_empty();
    let run = run
        .stderr_contains("templates/t.xml:4:11: `ticket` has no value")
        .stderr_contains("templates/t.xml:2:22: `kind` has no value");
    run.stderr_contains("give them: --input kind=VALUE --input ticket=VALUE; use @FILE for VALUE");
    // Before a run no value is required.
    sample().run(&["manifest"]).exits_with(0);
}

#[test]
fn a_file_that_vanished() {
    let project = sample();
    std::fs::remove_file(project.path("docs/a.md")).unwrap();
    both(
        &project,
        "templates/t.xml:10:11: docs/a.md cannot be read: it does not exist",
    );
}

#[test]
fn a_file_that_is_no_text() {
    let project = sample().with_file("docs/a.md", b"a\xff");
    both(
        &project,
        "templates/t.xml:10:11: docs/a.md cannot be read: byte 1 is not UTF-8",
    );
}

#[test]
fn a_file_of_fifty_megabytes_is_refused_unread() {
    let project = sample();
    std::fs::File::create(project.path("docs/a.md"))
        .unwrap()
        .set_len(50_000_000)
        .unwrap();
    let started = std::time::Instant::now();
    both(
        &project,
        "templates/t.xml:10:11: docs/a.md cannot be read: it is larger than 10 MiB",
    );
    assert!(
        started.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_out_of_the_project() {
    let outside = Project::new().with_file("secret.md", "secret");
    let project = sample();
    std::fs::remove_file(project.path("docs/a.md")).unwrap();
    std::os::unix::fs::symlink(outside.path("secret.md"), project.path("docs/a.md")).unwrap();
    both(
        &project,
        "templates/t.xml:10:11: docs/a.md cannot be read: it lies outside the project's folder",
    );
}

#[test]
fn a_system_prompt_over_the_budget_is_never_cut() {
    let project = sample();
    let run = project
        .run(&[&RENDER[..], &["--budget", "3"]].concat())
        .exits_with(1)
        .stdout_is_empty();
    run.stderr_contains(
        "templates/t.xml:3:3: `system` (4), `description` (8) need 12 tokens in all, which may not be cut; the budget is 3",
    );
    project
        .run(&["manifest", "--budget", "3"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("may not be cut; the budget is 3");
}

#[test]
#[cfg(unix)]
fn texts_from_outside_and_fragments_in_a_circle_have_no_context() {
    let outside = Project::new().with_file("secret.md", "secret");
    let wrong = "<library>\n<fragment name=\"a\"><use fragment=\"b\"/></fragment>\n<fragment name=\"b\"><use fragment=\"a\"/></fragment>\n\
         <task type=\"atomic\" name=\"u\"><description src=\"link.md\"/><criteria src=\"../../x.md\"/><instructions><use fragment=\"a\"/></instructions></task>\n\
         </library>\n";
    let project = sample().with_file("templates/u.xml", wrong);
    std::os::unix::fs::symlink(outside.path("secret.md"), project.path("templates/link.md"))
        .unwrap();
    project.run(&RENDER).exits_with(0).stderr_is_empty();
    for verb in ["render", "manifest"] {
        let run = project.run(&[verb, "u"]).exits_with(1).stdout_is_empty();
        run.stderr_contains("templates/u.xml has 3 errors")
            .stderr_contains("`ctxc check` shows them");
    }
    project
        .run(&["manifest"])
        .exits_with(1)
        .stdout_contains("t\n")
        .stderr_contains("this is not all, since the project has 3 errors: left out are `u`");
    let run = project.run(&["check"]).exits_with(1);
    let run = run.stdout_contains("error[reference-cycle] templates/u.xml:2:35: the fragment `a` contains itself by way of others");
    let run = run.stdout_contains(
        "error[missing-source] templates/u.xml:4:48: the text in `link.md` cannot be read: it lies outside the project's folder",
    );
    run.stdout_contains(
        "the text in `../../x.md` cannot be read: it lies outside the project's folder",
    );
}

#[test]
fn a_jinja_text_without_end_is_a_finding_at_its_text() {
    let task = "<task type=\"atomic\" name=\"t\">\n  <description syntax=\"jinja\">{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}</description>\n</task>\n";
    let project = Project::new().with_file("templates/t.xml", task);
    let run = project
        .run(&["render", "t"])
        .exits_with(1)
        .stdout_is_empty();
    run.stderr_contains(
        "templates/t.xml:2:31: the Jinja text handles more than 8388608 bytes in all",
    );
}

#[test]
fn a_path_that_ends_in_a_slash_is_that_of_a_folder() {
    let task = "<task type=\"atomic\" name=\"t\">\n  <description src=\"d.md/\"/>\n  <file_paths source=\"literal\"><path>docs/a.md/</path></file_paths>\n</task>\n";
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("templates/d.md", "Do it.\n")
        .with_file("docs/a.md", "a\n");
    let run = project.run(&["check"]).exits_with(1);
    let run = run.stdout_contains(
        "the text in `d.md/` cannot be read: its path ends in `/`, as that of a folder does",
    );
    run.stdout_contains("the file `docs/a.md/` cannot be shown to the agent: its path ends in `/`, as that of a folder does")
        .stdout_contains("docs/a.md`?");
}
