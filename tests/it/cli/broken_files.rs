//! Files with errors: their errors are reported for every template that depends on them, and for no
//! other.

use super::project::Project;
use pretty_assertions::assert_eq;

fn task(name: &str, words: &str) -> String {
    format!(
        "<task type=\"atomic\" name=\"{name}\">\n  <description>Do {name}. {words}</description>\n</task>\n"
    )
}

fn scenario(subject: &str) -> String {
    let name = subject.split_once(": ").unwrap().1;
    format!(
        "schema: ctxc/scenario/1\nname: {name}\n{subject}\ncontext: {{objective: x}}\nexpect_context:\n  - nothing_cut: true\n"
    )
}

/// `sub` uses a fragment of a file with errors and `top` uses `sub`, `lost` stands in an invalid
/// file, two files define `twin`.
fn sample() -> Project {
    let roles = "[roles.clerk]\ntemplate = \"broken\"\n[roles.finder]\ntemplate = \"lost\"\n[roles.reader]\ntemplate = \"good\"\n";
    let top = "<task type=\"sequential\" name=\"top\">\n  <description>Do all.</description>\n  <steps><task ref=\"sub\"/></steps>\n</task>\n";
    let library = "<library>\n<fragment name=\"fr\">be <b>brief</fragment>\n<fragment name=\"own\">be kind</fragment></library>\n";
    Project::new()
        .with_file(
            "ctxc.toml",
            format!("edition = \"2026\"\n[project]\nname = \"p\"\n{roles}"),
        )
        .with_file(
            "templates/good.xml",
            task("good", "<use fragment=\"sound\"/>"),
        )
        .with_file(
            "templates/sound.xml",
            "<library>\n<fragment name=\"sound\">be calm</fragment></library>\n",
        )
        .with_file("templates/broken.xml", task("broken", "a & b"))
        .with_file("templates/fr.xml", library)
        .with_file("templates/sub.xml", task("sub", "<use fragment=\"fr\"/>"))
        .with_file(
            "templates/kind.xml",
            task("kind", "<use fragment=\"own\"/>"),
        )
        .with_file("templates/top.xml", top)
        .with_file("templates/lost.xml", "<")
        .with_file("templates/twin1.xml", task("twin", ""))
        .with_file("templates/twin2.xml", task("twin", "else"))
        .with_file("scenarios/good.yaml", scenario("role: reader"))
        .with_file("scenarios/sub.yaml", scenario("task: top"))
        .with_file("scenarios/clerk.yaml", scenario("role: clerk"))
        .with_file("scenarios/finder.yaml", scenario("role: finder"))
}

#[test]
fn a_render_is_refused_where_it_rests_on_an_error() {
    let project = sample();
    let sound = project
        .run(&["render", "good", "--raw"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout;
    assert_eq!(sound, "[user]\n## Task\n\nDo good. be calm\n");
    project
        .run(&["render", "--role", "reader", "--raw"])
        .exits_with(0)
        .stdout_contains("Do good.");
    project
        .run(&["render", "templates/good.xml", "--raw"])
        .exits_with(0)
        .stdout_contains("Do good.");
    let fragment = "hint: templates/fr.xml:2:25: `<b>` is never closed";
    for (named, why, place) in [
        (
            &["broken"][..],
            "templates/broken.xml has 1 error",
            "hint: templates/broken.xml:2:29: `&` on its own",
        ),
        (
            &["templates/broken.xml"],
            "templates/broken.xml has 1 error",
            "hint: templates/broken.xml:2:29: `&` on its own",
        ),
        (
            &["--role", "clerk"],
            "templates/broken.xml has 1 error",
            "hint: templates/broken.xml:2:29: `&` on its own",
        ),
        (
            &["sub"],
            "templates/fr.xml, which `sub` rests on, has 2 errors",
            fragment,
        ),
        (
            &["kind"],
            "templates/fr.xml, which `kind` rests on, has 2 errors",
            fragment,
        ),
        (
            &["top"],
            "templates/fr.xml, which `top` rests on, has 2 errors",
            fragment,
        ),
        (&["twin"], "templates/twin1.xml has 1 error", "`twin`"),
        (
            &["templates/lost.xml"],
            "templates/lost.xml has ",
            "hint: templates/lost.xml:1:1: ",
        ),
    ] {
        let run = project
            .run(&[&["render"], named].concat())
            .exits_with(1)
            .stdout_is_empty();
        run.stderr_contains(&format!("error: {why}"))
            .stderr_contains(place)
            .stderr_contains("what an agent would receive is not certain");
        project
            .run(&[&["manifest"], named].concat())
            .exits_with(1)
            .stdout_is_empty()
            .stderr_contains(why);
        if named.len() == 1 {
            project
                .run(&[&["new", "scenario"], named].concat())
                .exits_with(1)
                .stdout_is_empty()
                .stderr_contains(why);
        }
    }
}

#[test]
fn a_name_that_nothing_has_is_reported_with_the_files_that_may_hold_it() {
    let project = sample();
    let run = project
        .run(&["render", "brokn"])
        .exits_with(2)
        .stdout_is_empty();
    let run = run
        .stderr_contains("there is no task `brokn` in this project")
        .stderr_contains("did you mean `broken`?");
    run.stderr_contains("it is not known what templates/lost.xml would define");
    let role = project
        .run(&["render", "--role", "finder"])
        .exits_with(2)
        .stderr_contains("there is no task `lost`");
    role.stderr_contains("it is not known what templates/lost.xml would define");
    let sound = Project::new().with_file("templates/good.xml", task("good", ""));
    let run = sound.run(&["render", "goood"]).exits_with(2);
    assert!(!run.stderr.contains("would define"), "{}", run.stderr);
}

#[test]
fn a_manifest_of_all_agents_names_who_is_not_in_it() {
    let project = sample();
    let run = project
        .run(&["manifest"])
        .exits_with(1)
        .stdout_contains("reader: good");
    assert!(
        !run.stdout.contains("broken") && !run.stdout.contains("sub"),
        "{}",
        run.stdout
    );
    let run = run.stderr_contains(
        "left out are role `clerk`, role `finder`, `broken`, `kind`, `sub`, `top`, `twin`\n",
    );
    run.stderr_contains("hint: ctxc.toml:");
    let json = project.run(&["manifest", "--json"]).exits_with(1).json();
    assert_eq!(json["entries"].as_array().unwrap().len(), 1);
    project
        .run(&["manifest", "good"])
        .exits_with(0)
        .stderr_is_empty();
    // Only whole manifests are written and compared.
    project
        .run(&["manifest", "--output", "m.json"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("if it has all agents");
    assert!(!project.path("m.json").exists());
    project
        .run(&["manifest", "diff", ".", "."])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("errors");
    // The same if a fault that no rule finds keeps one agent from its context.
    let long = format!(
        "<task type=\"atomic\" name=\"long\"><description>Do it.</description><system>{}</system></task>",
        "word ".repeat(90)
    );
    let project = Project::new()
        .with_file("templates/good.xml", task("good", ""))
        .with_file("templates/long.xml", long);
    let run = project
        .run(&["manifest", "--budget", "40"])
        .exits_with(1)
        .stdout_contains("good\n");
    run.stderr_contains("templates/long.xml:1:")
        .stderr_contains("the budget is 40");
}

#[test]
fn cases_of_tasks_with_errors_are_errors_and_others_run() {
    let project = sample();
    let run = project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("reader  context 1/1")
        .stdout_contains("PASS");
    let run = run.stdout_contains("scenarios/clerk.yaml:1: bare-ampersand (CTX006): templates/broken.xml:2:29: `&` on its own");
    let run = run.stdout_contains("scenarios/sub.yaml:1: unclosed-element (CTX001): templates/fr.xml:2:25: `<b>` is never closed");
    let run = run
        .stdout_contains("scenarios/finder.yaml:1: unknown-task (")
        .stdout_contains("4 scenarios: 1 passed, 0 failed, 3 errored");
    run.stderr_is_empty();
    project
        .run(&["eval", "reader"])
        .exits_with(0)
        .stdout_contains("1 passed");
}

#[test]
fn what_is_broken_just_now_is_no_context_of_others() {
    let asking = task("good", "")
        .replace("</description>", "</description><context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>");
    let asked = "<task type=\"atomic\" name=\"told\"><description src=\"told.md\"/></task>";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n[project]\nname = \"p\"\n")
        .with_file("templates/good.xml", asking)
        .with_file("templates/told.xml", asked)
        .with_file("templates/told.md", "Do good, and do it well.");
    let sound = project
        .run(&["render", "good", "--raw"])
        .exits_with(0)
        .stdout;
    project.write_file("templates/told.xml", asked.replace("</task>", "&</task>"));
    assert_eq!(
        project
            .run(&["render", "good", "--raw"])
            .exits_with(0)
            .stdout,
        sound
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_no_text_is_reported_once() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new().with_file("templates/t.xml", super::check::CLEAN);
    for name in [&b"templates/a\xff.xml"[..], b"templates/a\xfe.xml"] {
        let path = project.path("").join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(
            path,
            "<task type='atomic' name='a'><description>d</description></task>",
        )
        .unwrap();
    }
    let finding = "templates/a\u{fffd}.xml:1:1: error[unreadable-file]: cannot be read: its name is not UTF-8; give it another name";
    for args in [
        &["check", "--format", "concise"][..],
        &["check", "--fix", "--format", "concise"],
    ] {
        let run = project.run(args).exits_with(1).stdout_contains(finding);
        assert_eq!(
            run.stdout.matches("a\u{fffd}.xml").count(),
            1,
            "{}",
            run.stdout
        );
    }
    project
        .run(&["fmt", "--check"])
        .exits_with(1)
        .stderr_contains("its name is not UTF-8");
}

#[test]
#[cfg(target_os = "linux")]
fn a_scenario_whose_name_is_no_text_is_reported() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new()
        .with_file("templates/t.xml", super::check::CLEAN)
        .with_file("scenarios/files/x.txt", "x");
    let at = |name: &[u8]| {
        project
            .path("scenarios")
            .join(std::ffi::OsStr::from_bytes(name))
    };
    std::fs::write(at(b"a\xff.yaml"), "name: a\n").unwrap();
    std::fs::create_dir(at(b"more\xff")).unwrap();
    std::fs::write(at(b"notes\xff.txt"), "no scenario").unwrap();
    let why = "cannot be read: its name is not UTF-8; give it another name";
    let run = project
        .run(&["check", "--format", "concise"])
        .exits_with(1)
        .stdout_contains(&format!(
            "scenarios/a\u{fffd}.yaml:1:1: error[unreadable-file]: {why}"
        ));
    let run = run.stdout_contains(&format!(
        "scenarios/more\u{fffd}:1:1: error[unreadable-file]: {why}"
    ));
    assert!(!run.stdout.contains("notes"), "{}", run.stdout);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("its name is not UTF-8");
}
