//! Links of a project that lead out of it: the files behind them are not the project's, and are
//! neither read nor written.

use super::project::{ProgramRun, Project};
use std::os::unix::fs::symlink;

const SECRET: &str = "secret-words";

/// A project, and invalid files outside of it: a finding in one would show its lines.
fn sample() -> (Project, Project) {
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>Do it.</description>\n</task>\n";
    let far = "<task type=\"atomic\" name=\"secret-words\"><description>secret-words</description><secret-words/></task>\n";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/t.xml", task)
        .with_file("sub/deep/x", "");
    let outside = Project::new()
        .with_file("far/far.xml", far)
        .with_file(
            "lib.xml",
            "<library><fragment id=\"secret-words\"><secret-words/></fragment></library>\n",
        )
        .with_file("secret.toml", "edition = \"2026\"\nsecret-words = 1\n")
        .with_file("secret.yaml", "secret-words: 1\n")
        .with_file("secret.md", "secret-words\n");
    (project, outside)
}

fn link(project: &Project, outside: &Project, (place, target): (&str, &str)) {
    let path = project.path(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&path);
    symlink(outside.path(target), path).unwrap();
}

fn all_output(run: &ProgramRun) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

/// A checkout in a pipeline may leave a key in the settings of git, and a report of a scenario is
/// shown to others.
#[test]
fn no_agent_is_shown_what_belongs_to_git() {
    const WHY: &str = "it lies in `.git`, where keys may stand: no agent is shown it";
    let task = "<task type=\"atomic\" name=\"t\"><description>Do {{x}}.</description><parameters><parameter name=\"x\"/></parameters>\
        <file_paths><path>.git/config</path></file_paths></task>\n";
    let case = "name: c\ntask: t\ncontext:\n  objective: go\n  inputs: {x: !file ../.git/config}\nexpect_context:\n  - nothing_cut: true\n";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file(".git/config", "secret-words\n");
    project.write_file("templates/t.xml", task);
    let run = project.run(&["render", "t", "-i", "x=y", "--objective", "o"]);
    assert!(
        !all_output(&run).contains("secret-words") && all_output(&run).contains(WHY),
        "{}",
        all_output(&run)
    );
    project.write_file("scenarios/c.yaml", case);
    let run = project.run(&["eval"]);
    assert!(
        !all_output(&run).contains("secret-words"),
        "{}",
        all_output(&run)
    );
    project.run(&["check"]).exits_with(1).stdout_contains(WHY);
}

#[test]
fn links_that_lead_out_of_the_project_are_reported_and_not_followed() {
    const OUTSIDE: &str = "it lies outside the project's folder";
    const OUT: &str = "is a link that leads out of the project's folder, and was not read";
    let role =
        "edition = \"2026\"\n[roles.r]\ntemplate = \"t\"\nsystem = { file = \"prompts/p.md\" }\n";
    let case = "name: c\ntask: t\ncontext:\n  objective: go\n  file_context: {a.md: !file data.md}\nexpect_context:\n  - nothing_cut: true\n";
    for (from, to, at, why) in [
        ("ctxc.toml", "secret.toml", "ctxc.toml", OUT),
        (
            "ctxc.suppressions.toml",
            "secret.toml",
            "ctxc.suppressions.toml",
            OUT,
        ),
        (
            "templates/far.xml",
            "far/far.xml",
            "error[unreadable-file] templates/far.xml:1:1: cannot be read: ",
            OUTSIDE,
        ),
        (
            "templates/lib.xml",
            "lib.xml",
            "error[unreadable-file] templates/lib.xml:1:1: cannot be read: ",
            OUTSIDE,
        ),
        (
            "scenarios/s.yaml",
            "secret.yaml",
            "scenarios/s.yaml:1:1",
            OUTSIDE,
        ),
        ("prompts/p.md", "secret.md", "ctxc.toml:4:", "outside"),
        (
            "scenarios/data.md",
            "secret.md",
            "scenarios/c.yaml:5:",
            "`scenarios/data.md` is behind a link that leads out of the project",
        ),
    ] {
        let (project, outside) = sample();
        match from {
            "prompts/p.md" => project.write_file("ctxc.toml", role),
            "scenarios/data.md" => project.write_file("scenarios/c.yaml", case),
            _ => {}
        }
        link(&project, &outside, (from, to));
        for verb in ["check", "build", "fmt", "eval", "show", "manifest"] {
            let run = project.run(&[verb]);
            assert!(
                !all_output(&run).contains(SECRET),
                "{from} {verb}: {}",
                all_output(&run)
            );
        }
        let run = project.run(&["check"]);
        assert!(
            run.code != Some(0) && all_output(&run).contains(at) && all_output(&run).contains(why),
            "{from}: {}",
            all_output(&run)
        );
        // Nor is anything written through one.
        for verb in [
            &["fmt"][..],
            &["check", "--fix", "--unsafe-fixes"],
            &["check", "--suppress-existing"],
        ] {
            let before = outside.read_file(to);
            let run = project.run(verb);
            assert!(
                !all_output(&run).contains(SECRET),
                "{from} {verb:?}: {}",
                all_output(&run)
            );
            assert_eq!(outside.read_file(to), before);
        }
    }
}

#[test]
fn what_is_looked_up_does_not_lead_out_of_the_project() {
    for (place, target, include) in [
        ("m.txt", "secret.md", "m.txt"),
        ("l", "far", "l"),
        ("l", "", "l/secret.md"),
        ("sub/l", "", "sub/l/**/*.md"),
    ] {
        let (project, outside) = sample();
        outside.write_file("secret.md", "refunds: hidden-orders\n");
        outside.write_file("far/told.md", "refunds: hidden-orders\n");
        let task = "<task type=\"atomic\" subtype=\"subtask\" name=\"a\"><description>all about refunds</description></task>";
        project.write_file("templates/a.xml", task);
        project.write_file(
            "ctxc.toml",
            format!("edition = \"2026\"\n[context]\ninclude = [\"{include}\"]\n"),
        );
        link(&project, &outside, (place, target));
        for verb in [
            &["search", "refunds"][..],
            &["render", "a", "--json"],
            &["new", "scenario", "a", "--name", "n"],
        ] {
            let run = project.run(verb);
            assert!(
                !all_output(&run).contains("hidden-orders"),
                "{include} {verb:?}: {}",
                all_output(&run)
            );
        }
        assert!(
            !project
                .read_file("scenarios/n.yaml")
                .contains("hidden-orders"),
            "{include}"
        );
        let run = project.run(&["search", "refunds"]);
        assert!(
            all_output(&run).contains("it lies outside the project's folder"),
            "{include}: {}",
            all_output(&run)
        );
    }
}

#[test]
fn a_project_file_found_from_below_is_a_file_of_its_folder() {
    let (project, outside) = sample();
    link(&project, &outside, ("ctxc.toml", "secret.toml"));
    let mut command = project.command(&["check"]);
    let run = ProgramRun::from(
        command
            .current_dir(project.path("sub/deep"))
            .output()
            .unwrap(),
    )
    .exits_with(2);
    assert!(
        run.stderr.contains("leads out of the project's folder")
            && !all_output(&run).contains(SECRET),
        "{}",
        all_output(&run)
    );
    // One that stays inside is followed.
    std::fs::remove_file(project.path("ctxc.toml")).unwrap();
    project.write_file("config/ctxc.toml", "edition = \"2026\"\n");
    symlink("config/ctxc.toml", project.path("ctxc.toml")).unwrap();
    project.run(&["check"]).exits_with(0);
}

#[test]
fn a_folder_of_templates_is_one_of_the_project() {
    let (project, outside) = sample();
    std::fs::remove_dir_all(project.path("templates")).unwrap();
    link(&project, &outside, ("templates", "far"));
    let run = project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("error[unreadable-file] templates:1:1: cannot be read: it lies outside");
    assert!(!all_output(&run).contains(SECRET), "{}", all_output(&run));
    // A link that is named is followed, and links within it are its own.
    symlink("far.xml", outside.path("far/near.xml")).unwrap();
    let run = project.run(&["check", "templates"]).exits_with(1);
    assert!(
        all_output(&run).contains(SECRET) && !all_output(&run).contains("lies outside"),
        "{}",
        all_output(&run)
    );
}

#[test]
fn a_folder_elsewhere_is_reported_among_the_templates_alone() {
    let (project, outside) = sample();
    link(&project, &outside, ("templates/more", "far"));
    let run = project.run(&["check"]).exits_with(1).stdout_contains(
        "error[unreadable-file] templates/more:1:1: cannot be read: it lies outside",
    );
    assert!(!all_output(&run).contains(SECRET), "{}", all_output(&run));
    // Found by a file walk, it is a foreign file.
    let (project, outside) = sample();
    project.write_file("t.xml", project.read_file("templates/t.xml"));
    std::fs::remove_dir_all(project.path("templates")).unwrap();
    link(&project, &outside, ("packages", "far"));
    let run = project.run(&["check"]).exits_with(0);
    assert!(!all_output(&run).contains(SECRET), "{}", all_output(&run));
}

#[test]
fn a_file_with_two_names_is_not_written_through_one_of_them() {
    let (project, outside) = sample();
    project.run(&["build"]).exits_with(0);
    outside.write_file("mine", project.read_file("registry.json"));
    let before = outside.read_file("mine");
    std::fs::remove_file(project.path("registry.json")).unwrap();
    std::fs::hard_link(outside.path("mine"), project.path("registry.json")).unwrap();
    project.write_file(
        "templates/u.xml",
        "<task type=\"atomic\" name=\"u\"><description>Do more.</description></task>\n",
    );
    std::fs::hard_link(project.path("templates/u.xml"), outside.path("u")).unwrap();
    let unformatted = outside.read_file("u");
    project.run(&["build"]).exits_with(0);
    project.run(&["fmt"]).exits_with(0);
    assert_eq!(
        (outside.read_file("mine"), outside.read_file("u")),
        (before.clone(), unformatted.clone())
    );
    assert!(
        project.read_file("registry.json") != before
            && project.read_file("templates/u.xml") != unformatted
    );
}

#[test]
fn nothing_is_made_through_a_linked_folder() {
    let outside = Project::new().with_file("out/x", "");
    for args in [
        &["import", "legacy"][..],
        &["import", "legacy", "--dry-run"],
        &["init", "--ci", "github"],
    ] {
        let project = if args[0] == "init" {
            Project::new()
        } else {
            Project::new().with_file("legacy/e.j2", "hi {{x}}\n")
        };
        link(&project, &outside, ("templates", "out"));
        link(&project, &outside, (".github", "out"));
        project
            .run(args)
            .exits_with(2)
            .stderr_contains("templates is a link, and templates/")
            .stderr_contains("would be written through it");
        assert_eq!(outside.files(), ["out/x"], "{args:?}");
    }
    // Nor a cache, in any configured cache folder.
    let project = Project::new()
        .with_file("notes.md", "zebra\n")
        .with_file("caches/x", "");
    project
        .run(&["search", "zebra", "--cache-dir", "caches"])
        .exits_with(0);
    let made = project
        .files()
        .into_iter()
        .find(|name| name.ends_with("search.lock"))
        .expect("a lock");
    let folder = made.trim_end_matches("/search.lock");
    for name in ["search.lock", "search.db"] {
        std::fs::remove_dir_all(project.path(folder)).unwrap();
        link(
            &project,
            &outside,
            (&format!("{folder}/{name}"), "out/created"),
        );
        project
            .run(&["search", "zebra", "--cache-dir", "caches"])
            .exits_with(0)
            .stdout_contains("notes.md");
        assert_eq!(outside.files(), ["out/x"], "{name}");
    }
    std::fs::remove_dir_all(project.path(folder)).unwrap();
    link(&project, &outside, (folder, "out"));
    project
        .run(&["search", "zebra", "--cache-dir", "caches"])
        .exits_with(0)
        .stdout_contains("notes.md")
        .stderr_contains("is a link");
    assert_eq!(outside.files(), ["out/x"]);
    // A folder in which an earlier version kept caches is no cache any more.
    let project = Project::new()
        .with_file("notes.md", "zebra\n")
        .with_file("templates/t.xml", sample().0.read_file("templates/t.xml"));
    link(&project, &outside, (".ctxc", "out"));
    for args in [
        &["build"][..],
        &["search", "zebra"],
        &["manifest"],
        &["eval", "--allow-empty"],
    ] {
        project.run(args).exits_with(0);
        assert_eq!(outside.files(), ["out/x"], "{args:?}");
    }
}
