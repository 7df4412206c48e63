//! Files outside the project's folder, and files reached by an indirect path: shown, fixed and
//! recorded like any other, from every working directory, and never mistaken for the file of that
//! name inside.

use super::check::{CONFLICT, WARNING};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;

/// A file whose only slip has a safe fix.
const OLD: &str =
    "<task type=\"atomic\" name=\"old\">\n  <description>this & that</description>\n</task>\n";

/// A project, and beside it a folder with a file that has a namesake inside.
fn beside() -> Project {
    let project = Project::new()
        .with_file("work/ctxc.toml", "")
        .with_file("work/sub/x.txt", "")
        .with_file("work/else/a.xml", OLD);
    project.with_file("else/a.xml", CONFLICT)
}

fn run_in(project: &Project, folder: &str, args: &[&str]) -> ProgramRun {
    ProgramRun::from(
        project
            .command(args)
            .current_dir(project.path(folder))
            .output()
            .unwrap(),
    )
}

#[test]
fn lines_of_files_outside_are_shown_from_everywhere() {
    let project = beside();
    let whole = project.path("else/a.xml").to_str().unwrap().to_owned();
    let ways: [(&str, &[&str], &str); 5] = [
        ("work", &["check", "../else/a.xml"], "../else/a.xml:5:5"),
        (
            "work/sub",
            &["check", "../../else/a.xml"],
            "../else/a.xml:5:5",
        ),
        (
            "",
            &["check", "--project", "work", "else/a.xml"],
            "../else/a.xml:5:5",
        ),
        (
            "",
            &["check", "--project", "work", "else"],
            "../else/a.xml:5:5",
        ),
        ("work", &["check", &whole], &whole),
    ];
    for (folder, args, place) in ways {
        let run = run_in(&project, folder, args).exits_with(1);
        let run = run
            .stdout_contains(&format!("error[context-conflict] {place}"))
            .stdout_contains("5 │     <fresh_context>enabled</fresh_context>");
        assert!(
            !run.stdout.contains("this & that"),
            "lines of another file: {}",
            run.stdout
        );
    }
}

#[test]
fn standard_input_is_shown_under_any_name() {
    for name in ["-", "else/a.xml", "../outside.xml", "/nowhere/z.xml"] {
        let run = beside()
            .run_with_input(
                &["check", "-", "--stdin-path", name, "--project", "work"],
                CONFLICT.as_bytes(),
            )
            .exits_with(1);
        run.stdout_contains("5 │     <fresh_context>enabled</fresh_context>");
    }
}

#[test]
fn a_fix_changes_the_file_that_was_named_and_no_namesake() {
    let project = beside();
    project.write_file("else/a.xml", OLD);
    project
        .run(&["check", "--fix", "--project", "work", "else/a.xml"])
        .exits_with(0)
        .stdout_contains("fixed 1 finding");
    assert_eq!(project.read_file("else/a.xml"), OLD.replace('&', "&amp;"));
    assert_eq!(project.read_file("work/else/a.xml"), OLD);
}

#[test]
fn what_is_recorded_of_a_file_outside_holds_from_another_folder() {
    let project = beside();
    project.write_file("else/a.xml", WARNING);
    let record = ["check", "--suppress-existing", "../../else/a.xml"];
    run_in(&project, "work/sub", &record)
        .exits_with(0)
        .stdout_contains("recorded 1 finding");
    run_in(&project, "work", &["check", "../else/a.xml"])
        .exits_with(0)
        .stdout_contains("1 suppressed");
    project
        .run(&["check", "--project", "work", "else/a.xml"])
        .exits_with(0)
        .stdout_contains("1 suppressed");
}

/// By its text `link/../a.xml` is `a.xml`; the system goes to the folder above the link's target.
#[test]
#[cfg(unix)]
fn a_way_through_a_link_leads_to_what_the_system_opens() {
    let project = Project::new()
        .with_file("work/ctxc.toml", "")
        .with_file("work/a.xml", OLD)
        .with_file("far/deep/x.txt", "")
        .with_file("far/a.xml", OLD);
    std::os::unix::fs::symlink("../far/deep", project.path("work/link")).unwrap();
    run_in(&project, "work", &["check", "--fix", "link/../a.xml"])
        .exits_with(0)
        .stdout_contains("fixed 1 finding");
    assert_eq!(project.read_file("far/a.xml"), OLD.replace('&', "&amp;"));
    assert_eq!(project.read_file("work/a.xml"), OLD);
    // The project itself behind a link.
    std::os::unix::fs::symlink("work/sub/deep", project.path("here")).unwrap();
    std::fs::create_dir_all(project.path("work/sub/deep")).unwrap();
    project.write_file("out.xml", OLD);
    project
        .run(&["check", "--fix", "--project", "here", "out.xml"])
        .exits_with(0)
        .stdout_contains("fixed 1 finding");
    assert_eq!(project.read_file("out.xml"), OLD.replace('&', "&amp;"));
}

const FORMATS: [&str; 10] = [
    "full",
    "concise",
    "json",
    "jsonl",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "checkstyle",
    "rdjson",
];

/// A file named by `extends` may be any file: its faults have a name, a line and a column, and no
/// line is shown, of a pinned one either.
#[test]
fn no_format_shows_a_line_of_what_extends_names() {
    let shared = "# hunter2\n[lints]\nno-contxt = \"error\" # hunter2\n# hunter2\n";
    let pinned = ctxc::internals::base::hash::Hash::digest(shared.as_bytes()).to_string();
    let zeros = format!("b3:{}", "0".repeat(64));
    for (hash, place) in [(&pinned, "../house.toml:3:1: "), (&zeros, "ctxc.toml:1:")] {
        let config = format!("extends = {{ path = \"../house.toml\", hash = \"{hash}\" }}\n");
        let project = Project::new()
            .with_file("house.toml", shared)
            .with_file("work/ctxc.toml", config)
            .with_file("work/templates/t.xml", OLD);
        run_in(&project, "work", &["check"]).stdout_contains(place);
        for format in FORMATS {
            let run = run_in(&project, "work", &["check", "--format", format]);
            assert!(
                run.code != Some(0) && !run.stdout.is_empty(),
                "{format}: {run:#?}"
            );
            assert!(
                !run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"),
                "{format}: {run:#?}"
            );
        }
    }
    // The place of a setting is one of those that are reported.
    let shared = "[defaults.atomic]\ninherit_context = \"none\" # hunter2\n";
    let hash = ctxc::internals::base::hash::Hash::digest(shared.as_bytes());
    let config = format!("extends = {{ path = \"../house.toml\", hash = \"{hash}\" }}\n");
    let project = Project::new()
        .with_file("house.toml", shared)
        .with_file("work/ctxc.toml", config);
    run_in(&project, "work", &["defaults"])
        .exits_with(0)
        .stdout_contains("../house.toml:2:19");
}

/// A link of the project reveals nothing of its target, for any caller.
#[test]
#[cfg(unix)]
fn a_named_link_out_of_the_project_has_places_and_no_lines() {
    let project = beside();
    std::os::unix::fs::symlink("../else/a.xml", project.path("work/link.xml")).unwrap();
    let run = run_in(&project, "work", &["check", "link.xml"])
        .exits_with(1)
        .stdout_contains("link.xml:5:5");
    assert!(!run.stdout.contains("<fresh_context>"), "{}", run.stdout);
}

/// The first commands on a cloned project, and those with the widest effect.
#[cfg(unix)]
const LOOKS: &str = "check|check --json|check --fix --unsafe-fixes|check --suppress-existing|fmt|build|list|show a|render a -i x=1|render s|render r -i x=1 --as openai-chat|\
    manifest|manifest --check|manifest diff HEAD|eval|eval --json|eval --accept|eval --record|eval --answers live|eval --since HEAD|eval --affected|eval --mutate|eval --coverage|\
    eval --plan|gate|drift|history|trust|search secret|new scenario a -i x=1|import docs|init --ci github|gc|explain a.fresh_context|defaults";

/// A hostile cloned project on a machine with a secret: nothing of it runs, reads or writes
/// outside, shows the secret, or waits.
#[cfg(unix)]
#[test]
fn nothing_of_a_hostile_project_runs_or_reaches_out() {
    use std::os::unix::fs::symlink;
    let (project, out) = (Project::new(), tempfile::tempdir().unwrap());
    let (outside, ran) = (out.path().display().to_string(), out.path().join("ran"));
    std::fs::write(out.path().join("secret.txt"), "hunter2\n").unwrap();
    let touch = format!("touch {}", ran.display());
    let toml = format!(
        "edition = \"2026\"\n[history]\npath = \"{outside}/history.db\"\n[context]\ninclude = [\"../**\", \"docs/**\", \"{outside}/**\"]\n\
         [providers.p]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/$SECRET_TOKEN\"\napi_key_env = \"SECRET_TOKEN\"\n\
         [models.m]\nprovider = \"p\"\nid = \"x\"\ntier = \"standard\"\ncontext_window = 1000\n[roles.r]\ntemplate = \"a\"\nmodel = [\"m\"]\n"
    );
    project.write_file("ctxc.toml", &toml);
    let task = |name: &str, kind: &str, inside: &str| {
        project.write_file(
            &format!("templates/{name}.xml"),
            format!(
                "<task type=\"{kind}\" name=\"{name}\"><description>d</description>{inside}</task>"
            ),
        );
    };
    task(
        "a",
        "atomic",
        "<instructions>do {{x}}</instructions><parameters><parameter name=\"x\"/></parameters>",
    );
    task(
        "s",
        "script",
        &format!("<command shell=\"sh\">{touch}; echo $SECRET_TOKEN</command>"),
    );
    task(
        "c",
        "atomic",
        &format!("<file_paths source=\"command\"><command>{touch}</command></file_paths>"),
    );
    task(
        "d",
        "atomic",
        "<instructions src=\"lib/secret.txt\"/><file_paths><path>docs/l.md</path></file_paths>",
    );
    let scenario = |name: &str, rest: &str| {
        project.write_file(
            &format!("scenarios/{name}.yaml"),
            format!("name: {name}\n{rest}"),
        );
    };
    let own = format!(
        "expectations:\n  - command: [sh, -c, \"{touch}\"]\n  - python: \"evil:check\"\nanswers: [{{reply: hi}}]\n"
    );
    scenario(
        "e",
        &format!(
            "task: a\ncontext: {{objective: o, inputs: {{x: {{file: ../docs/l.md}}}}}}\nexpect_context: [{{snapshot: true}}]\n{own}"
        ),
    );
    scenario(
        "q",
        &format!(
            "request: {{command: [sh, -c, \"{touch}\"]}}\nexpect_context: [{{contains: x}}]\n"
        ),
    );
    for name in ["evil.py", "sitecustomize.py", "conftest.py"] {
        project.write_file(name, format!("import os\nos.system('{touch}')\n"));
    }
    project.write_file("docs/a.md", "nothing secret\n");
    let link = |to: &str, at: &str| symlink(to, project.path(at)).unwrap();
    for (to, at) in [
        (&*format!("{outside}/secret.txt"), "docs/l.md"),
        (&outside, ".ctxc"),
        (&outside, "templates/lib"),
        (&outside, "scenarios/snapshots"),
        (&outside, "scenarios/recordings"),
    ] {
        link(to, at);
    }
    link("/dev/zero", "docs/zero.md");
    link(&format!("{outside}/made"), "registry.json");
    for pipe in ["templates/p.xml", "docs/p.md", "scenarios/p.yaml"] {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(project.path(pipe))
                .status()
                .unwrap()
                .success()
        );
    }
    std::fs::File::create(project.path("docs/huge.md"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    let listed = || {
        std::fs::read_dir(out.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    for extends in [
        "",
        "extends = { path = \"../../../../../../../../proc/self/environ\", hash = \"b3:00\" }\n",
    ] {
        project.write_file("ctxc.toml", format!("{extends}{toml}"));
        for look in LOOKS.split('|') {
            let mut command = project.command(&look.split_whitespace().collect::<Vec<_>>());
            let run = ProgramRun::from(command.env("SECRET_TOKEN", "hunter2").output().unwrap());
            assert!(matches!(run.code, Some(0..=7)), "{look}: {run:#?}");
            assert!(
                !format!("{}{}", run.stdout, run.stderr).contains("hunter2"),
                "{look}: {run:#?}"
            );
            assert_eq!(listed(), ["secret.txt"], "{look}: {run:#?}");
        }
    }
}
