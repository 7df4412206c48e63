//! `ctxc package add | update | remove | list | vendor`, with repositories on this machine.

use super::gate::git;
use super::project::{ProgramRun, Project};
use ctxc::internals::project::lock_file::LockFile;
use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use std::path::Path;
use std::time::{Duration, Instant};

/// The text of the project file of a package.
fn package_text(name: &str, version: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nexports = [\"tasks/triage\"]\n\n[dependencies]\n{dependencies}"
    )
}

const TRIAGE: &str =
    "<task type=\"atomic\" name=\"triage\"><objective>Sort the ticket.</objective></task>\n";

/// Commits a release of a package and its tag.
fn release(repository: &Project, version: &str, text: &str) {
    if !repository.path(".git").exists() {
        git(repository, &["init", "-q", "-b", "main"]);
    }
    repository.write_file("ctxc.toml", text);
    repository.write_file("templates/triage.xml", TRIAGE.replace("ticket", version));
    repository.write_file("notes.txt", "not part of the package");
    git(repository, &["add", "-A"]);
    git(repository, &["commit", "-qm", version]);
    git(repository, &["tag", &format!("v{version}")]);
}

fn source(repository: &Project, tag: &str) -> String {
    format!("git+file://{}@{tag}", repository.path("").display()).replace("/@", "@")
}

/// A package that requires another one, in a repository each.
struct World {
    rules: Project,
    base: Project,
    work: Project,
}

impl World {
    fn new() -> Self {
        let (rules, base) = (Project::new(), Project::new());
        for version in ["0.3.0", "0.3.1"] {
            release(&base, version, &package_text("acme/base", version, ""));
        }
        for (version, of_base) in [
            ("1.2.0", "v0.3.0"),
            ("1.3.0", "v0.3.1"),
            ("2.0.0", "v0.3.1"),
        ] {
            let line = format!("\"acme/base\" = \"{}\"\n", source(&base, of_base));
            release(&rules, version, &package_text("acme/rules", version, &line));
        }
        let work = Project::new().with_file(
            "ctxc.toml",
            "edition = \"2026\" # ours\n\n# what others share\n[dependencies]\n",
        );
        Self { rules, base, work }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.work.command(&[&["package"], args].concat());
        // What killed runs leave goes with the folder.
        std::fs::create_dir_all(self.work.path("tmp")).unwrap();
        command
            .env("CTXC_CACHE_DIR", self.work.path("cache"))
            .env("TMPDIR", self.work.path("tmp"));
        command
    }

    fn run(&self, args: &[&str]) -> ProgramRun {
        ProgramRun::from(self.command(args).output().unwrap())
    }

    /// The text with names in place of folders.
    fn named(&self, text: &str) -> String {
        let place = |project: &Project| {
            project
                .path("")
                .display()
                .to_string()
                .trim_end_matches('/')
                .to_owned()
        };
        text.replace(&place(&self.rules), "/rules")
            .replace(&place(&self.base), "/base")
    }

    fn lock(&self) -> LockFile {
        LockFile::read(&self.work.read_file("ctxc.lock")).unwrap()
    }

    fn versions(&self) -> Vec<String> {
        let lock = self.lock();
        let line = |own: &ctxc::internals::project::lock_file::LockedPackage| {
            format!("{} {}", own.name, own.version)
        };
        lock.packages.iter().map(line).collect()
    }
}

#[test]
fn packages_come_change_and_go() {
    let world = World::new();
    let added = world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    assert_snapshot!(world.named(&added.stdout), @r"
    + acme/base 0.3.0  git+file:///base@v0.3.0
    + acme/rules 1.2.0  git+file:///rules@v1.2.0
    ");
    let text = world.named(&world.work.read_file("ctxc.toml"));
    assert_eq!(
        text,
        "edition = \"2026\" # ours\n\n# what others share\n[dependencies]\n\"acme/rules\" = \"git+file:///rules@v1.2.0\"\n"
    );
    let lock = world.lock();
    let rules = lock.package("acme/rules").unwrap();
    assert_eq!(
        rules.files.keys().collect::<Vec<_>>(),
        ["ctxc.toml", "templates/triage.xml"]
    );
    assert_eq!(rules.dependencies, ["acme/base"]);
    assert!(
        world
            .work
            .path(&format!(
                "cache/packages/{}/templates/triage.xml",
                rules.tree
            ))
            .exists()
    );

    let listed = world.run(&["list"]).exits_with(0);
    assert_snapshot!(world.named(&listed.stdout), @r"
    acme/rules 1.2.0  git+file:///rules@v1.2.0  not verified here
      acme/base 0.3.0  git+file:///base@v0.3.0  not verified here
    ");
    world
        .run(&["update"])
        .exits_with(0)
        .stderr_contains("ctxc.lock is up to date");
    let updated = world.run(&["update", "--all"]).exits_with(0);
    assert_snapshot!(world.named(&updated.stdout), @r"
    ~ acme/base 0.3.0 → 0.3.1  git+file:///base@v0.3.1
    ~ acme/rules 1.2.0 → 1.3.0  git+file:///rules@v1.3.0
    ");
    assert!(world.work.read_file("ctxc.toml").contains("@v1.3.0\"\n"));
    world
        .run(&["update", "acme/rlues"])
        .exits_with(2)
        .stderr_contains("did you mean `acme/rules`?");
    // Without a tag, the newest release.
    world
        .run(&["add", &source(&world.rules, "").replace('@', "")])
        .exits_with(0)
        .stdout_contains("1.3.0 → 2.0.0");
    let other = source(&world.base, "v0.3.0");
    world.run(&["add", &other]).exits_with(0);
    // The highest of all requirements.
    assert_eq!(world.versions(), ["acme/base 0.3.1", "acme/rules 2.0.0"]);
    world
        .run(&["remove", "acme/base"])
        .exits_with(0)
        .stderr_contains("acme/base stays in use");
    world
        .run(&["remove", "acme/rules"])
        .exits_with(0)
        .stdout_contains("- acme/base 0.3.1\n- acme/rules 2.0.0\n");
    assert_eq!(world.versions(), [""; 0]);
    assert_eq!(
        world.work.read_file("ctxc.toml"),
        "edition = \"2026\" # ours\n\n# what others share\n[dependencies]\n"
    );
}

#[test]
fn a_moved_tag_is_taken_only_when_it_is_named() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.3.0")])
        .exits_with(0);
    let before = (
        world.work.read_file("ctxc.toml"),
        world.work.read_file("ctxc.lock"),
    );
    git(&world.rules, &["checkout", "-q", "v1.3.0"]);
    world
        .rules
        .write_file("templates/triage.xml", TRIAGE.replace("Sort", "Leak"));
    git(&world.rules, &["commit", "-qam", "again"]);
    git(&world.rules, &["tag", "-f", "v1.3.0"]);
    world
        .run(&["update", "--all"])
        .exits_with(3)
        .stderr_contains("acme/rules: the tag `v1.3.0` was moved: it was commit");
    // A colleague without the package fetches it, and receives other content.
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    let refused = world.run(&["update"]).exits_with(3);
    assert!(
        refused.stderr.contains("the tag was moved")
            && refused.stderr.contains("--accept-moved acme/rules"),
        "{refused:?}"
    );
    assert_eq!(
        before,
        (
            world.work.read_file("ctxc.toml"),
            world.work.read_file("ctxc.lock")
        )
    );
    world
        .run(&["update", "acme/rules", "--accept-moved", "acme/rules"])
        .exits_with(0)
        .stdout_contains("~ acme/rules 1.3.0  changed: templates/triage.xml");
    // A tag that is gone.
    git(&world.rules, &["tag", "-d", "v1.3.0"]);
    world
        .run(&["update", "--all"])
        .exits_with(3)
        .stderr_contains("and is gone");
}

#[test]
fn a_lock_that_would_change_is_drift() {
    let world = World::new();
    world
        .work
        .write_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""));
    world.work.write_file("shared/templates/a.xml", TRIAGE);
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    world
        .run(&["add", "path:shared"])
        .exits_with(0)
        .stdout_contains("+ acme/shared 1.0.0  path:shared");
    let (text, lock) = (
        world.work.read_file("ctxc.toml"),
        world.work.read_file("ctxc.lock"),
    );
    world.run(&["update", "--locked"]).exits_with(0);
    world.run(&["update", "--frozen"]).exits_with(0);
    // The order of lines changes nothing.
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.len() - 1;
    lines.swap(last, last - 1);
    world.work.write_file("ctxc.toml", lines.join("\n"));
    world.run(&["update", "--locked"]).exits_with(0);
    std::fs::remove_file(world.work.path("ctxc.lock")).unwrap();
    world
        .run(&["update", "--locked"])
        .exits_with(1)
        .stderr_contains("+ acme/base 0.3.0");
    world.run(&["update"]).exits_with(0);
    assert_eq!(world.work.read_file("ctxc.lock"), lock);

    let drift = |change: &dyn Fn(), line: &str| {
        change();
        for flag in ["--locked", "--frozen"] {
            world
                .run(&["update", flag])
                .exits_with(1)
                .stderr_contains(line);
        }
        assert_eq!(world.work.read_file("ctxc.lock"), lock);
        world.work.write_file("ctxc.toml", &text);
        drop(std::fs::remove_file(
            world.work.path("shared/templates/b.xml"),
        ));
        world.work.write_file("shared/templates/a.xml", TRIAGE);
        world
            .work
            .write_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""));
        world.run(&["update", "--locked"]).exits_with(0);
    };
    drift(
        &|| {
            world
                .work
                .write_file("shared/templates/a.xml", TRIAGE.replace("Sort", "Read"));
        },
        "~ acme/shared 1.0.0  changed: templates/a.xml",
    );
    drift(
        &|| world.work.write_file("shared/templates/b.xml", TRIAGE),
        "changed: templates/b.xml",
    );
    drift(
        &|| {
            world
                .work
                .write_file("shared/ctxc.toml", package_text("acme/shared", "1.1.0", ""));
        },
        "~ acme/shared 1.0.0 → 1.1.0",
    );
    let without: String = text
        .split_inclusive('\n')
        .filter(|line| !line.contains("acme/rules"))
        .collect();
    drift(
        &|| world.work.write_file("ctxc.toml", &without),
        "- acme/rules 1.2.0",
    );
    let damaged = lock.replacen("dependencies = [\"acme/base\"]", "dependencies = []", 1);
    world.work.write_file("ctxc.lock", damaged);
    world
        .run(&["update", "--locked"])
        .exits_with(1)
        .stderr_contains("acme/rules 1.2.0");
}

#[test]
fn a_locked_run_refuses_packages_that_differ_from_the_lock() {
    let world = World::new();
    let shared = |text: &str| {
        world
            .work
            .write_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""));
        world.work.write_file("shared/templates/a.xml", text);
    };
    shared(TRIAGE);
    let own = "<task type=\"sequential\" name=\"all\"><description>Sort.</description><steps><task ref=\"acme/rules/triage\"/></steps></task>\n";
    world.work.write_file("templates/all.xml", own);
    world
        .run(&["add", &source(&world.rules, "v1.3.0")])
        .exits_with(0);
    world.run(&["add", "path:shared"]).exits_with(0);
    let (text, lock) = (
        world.work.read_file("ctxc.toml"),
        world.work.read_file("ctxc.lock"),
    );
    let run = |args: &[&str]| {
        let mut command = world.work.command(args);
        command.env("CTXC_CACHE_DIR", world.work.path("cache"));
        ProgramRun::from(command.output().unwrap())
    };
    let drift = |change: &dyn Fn(), line: &str| {
        change();
        for verb in [
            &["check"][..],
            &["build", "-o", "registry.json"],
            &["eval"],
            &["gate"],
            &["manifest"],
            &["package", "list"],
        ] {
            run(&[verb, &["--locked"]].concat())
                .exits_with(1)
                .stderr_contains("ctxc.lock does not fit ctxc.toml and the packages")
                .stderr_contains(line)
                .stderr_contains("`ctxc package update` brings it up to date");
        }
        run(&["package", "update", "--locked"]).exits_with(1);
        assert!(!world.work.path("registry.json").exists());
        world.work.write_file("ctxc.toml", &text);
        world.work.write_file("ctxc.lock", &lock);
        shared(TRIAGE);
        run(&["check", "--locked"]).output_lacks("does not fit");
        run(&["package", "list", "--locked"]).exits_with(0);
        run(&["--locked", "package", "update"]).exits_with(0);
    };
    drift(
        &|| shared(&TRIAGE.replace("Sort", "Read")),
        "~ acme/shared 1.0.0  changed: templates/a.xml",
    );
    drift(
        &|| std::fs::remove_file(world.work.path("ctxc.lock")).unwrap(),
        "+ acme/shared 1.0.0",
    );
    let replaced = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        world.work.write_file("ctxc.toml", text.replace(from, to));
    };
    drift(
        &|| replaced("@v1.3.0", "@v2.0.0"),
        "~ acme/rules 1.3.0 → 2.0.0",
    );
    drift(
        &|| replaced("@v1.3.0", "@v1.2.0"),
        "~ acme/rules 1.3.0 → 1.2.0",
    );
    drift(
        &|| replaced("\"acme/shared\" = \"path:shared\"\n", ""),
        "- acme/shared 1.0.0",
    );
    let edited = |from: &str, to: &str| {
        assert!(lock.contains(from), "{lock}");
        world
            .work
            .write_file("ctxc.lock", lock.replacen(from, to, 1));
    };
    drift(
        &|| edited("version = \"1.3.0\"", "version = \"1.2.9\""),
        "~ acme/rules 1.2.9 → 1.3.0",
    );
    // An edit counts only for a run that is not locked.
    shared(&TRIAGE.replace("Sort", "Read"));
    run(&["check"]).output_lacks("does not fit");
    for verb in [
        &["add", "path:shared"][..],
        &["remove", "acme/shared", "--locked"],
    ] {
        run(&[&["--locked", "package"], verb].concat())
            .exits_with(2)
            .stderr_contains("`--locked` changes no ctxc.lock");
    }
    assert_eq!(world.work.read_file("ctxc.lock"), lock);
    // What is vendored needs nothing else.
    shared(TRIAGE);
    run(&["package", "vendor"]).exits_with(0);
    let extra = "vendor/ctxc/acme/rules/templates/extra.xml";
    world.work.write_file(extra, TRIAGE);
    for verb in ["check", "manifest"] {
        run(&[verb, "--locked"])
            .exits_with(1)
            .stderr_contains("~ vendor/ctxc/acme/rules 1.3.0  changed: templates/extra.xml");
    }
    run(&["package", "vendor", "--locked"]).exits_with(0);
    assert!(!world.work.path(extra).exists());
    let lock = world.lock();
    let commit = lock.package("acme/rules").unwrap().resolved.clone();
    edited(&commit.unwrap(), &"deadbeef".repeat(5));
    run(&["check", "--locked"])
        .exits_with(1)
        .stderr_contains("~ acme/rules 1.3.0  restored in ctxc.lock: `resolved`");
    world.work.write_file("ctxc.lock", lock.to_text());
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    run(&["check", "--locked"]).output_lacks("does not fit");
    edited("version = \"1.3.0\"", "version = \"1.2.9\"");
    run(&["check", "--locked"])
        .exits_with(1)
        .stderr_contains("~ acme/rules 1.2.9 → 1.3.0");
}

#[test]
fn a_locked_run_holds_each_member_of_a_workspace_to_its_lock() {
    let member = "[dependencies]\nworkspace = true\n";
    let task = "<task type=\"atomic\" name=\"own\"><description>Sort it.</description></task>\n";
    let project = Project::new()
        .with_file("ctxc.toml", "[workspace]\nmembers = [\"teams/*\"]\n[workspace.dependencies]\n\"acme/shared\" = \"path:shared\"\n")
        .with_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""))
        .with_file("shared/templates/a.xml", task.replace("own", "triage"));
    for name in ["one", "two"] {
        project.write_file(&format!("teams/{name}/ctxc.toml"), member);
        project.write_file(&format!("teams/{name}/templates/own.xml"), task);
        project
            .run(&["package", "update", "--member", name])
            .exits_with(0);
    }
    project.run(&["check", "--locked"]).exits_with(0);
    std::fs::remove_file(project.path("teams/two/ctxc.lock")).unwrap();
    let message = "ctxc.lock does not fit ctxc.toml and the packages: + acme/shared 1.0.0";
    for verb in [&["check"][..], &["manifest"]] {
        let run = project.run(&[verb, &["--locked"]].concat()).exits_with(1);
        run.stderr_contains(&format!("teams/two: {message}"))
            .output_lacks("teams/one: ");
    }
    project
        .run(&["check", "--locked", "--member", "one"])
        .exits_with(0);
    for args in [
        ["check", "--locked", "teams/two"].as_slice(),
        &["check", "--locked", "teams/one", "teams/two"],
    ] {
        project.run(args).exits_with(1).stderr_contains(message);
    }
}

#[test]
fn an_edited_lock_is_restored_and_named() {
    let world = World::new();
    world
        .run(&["add", &source(&world.base, "v0.3.1")])
        .exits_with(0);
    let text = world.work.read_file("ctxc.lock");
    let lock = world.lock();
    let base = lock.package("acme/base").unwrap();
    let forged = "deadbeef".repeat(8);
    for (part, line) in [
        (
            &base.files["templates/triage.xml"],
            "restored in ctxc.lock: the hash of templates/triage.xml",
        ),
        (&base.tree, "restored in ctxc.lock: `tree`"),
    ] {
        let edited = text.replace(part.as_str(), &forged);
        world.work.write_file("ctxc.lock", &edited);
        world
            .run(&["update", "--locked"])
            .exits_with(1)
            .stderr_contains(line);
        world.run(&["list"]).exits_with(1);
        world.run(&["update"]).exits_with(0).stdout_contains(line);
        assert_eq!(world.work.read_file("ctxc.lock"), text);
    }
    let commit = base.resolved.clone().unwrap();
    world
        .work
        .write_file("ctxc.lock", text.replace(&commit, &"deadbeef".repeat(5)));
    for flag in ["--locked", "--frozen"] {
        world
            .run(&["update", flag])
            .exits_with(3)
            .stderr_contains("it was commit deadbeef")
            .stderr_contains("unless ctxc.lock was edited by hand");
    }
}

#[test]
fn a_release_for_another_program_is_passed_over() {
    let world = World::new();
    let text = package_text("acme/base", "0.9.0", "");
    let text = format!("required-version = \">=99\"\n{text}");
    release(&world.base, "0.9.0", &text);
    git(&world.base, &["tag", "v0.9.1"]);
    world
        .run(&["add", &source(&world.base, "v0.9.0")])
        .exits_with(3)
        .stderr_contains("it is for ctxc >=99, and this is");
    assert!(!world.work.path("ctxc.lock").exists());
    let address = source(&world.base, "").replace('@', "");
    world
        .run(&["add", &address])
        .exits_with(0)
        .stderr_contains("@v0.9.0: it is for ctxc >=99")
        .stdout_contains("+ acme/base 0.3.1");
}

#[test]
fn two_major_versions_are_refused_until_the_project_decides() {
    let world = World::new();
    let mid = Project::new();
    let line = format!("\"acme/rules\" = \"{}\"\n", source(&world.rules, "v2.0.0"));
    release(&mid, "0.1.0", &package_text("acme/mid", "0.1.0", &line));
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    let before = world.work.read_file("ctxc.lock");
    world
        .run(&["add", &source(&mid, "v0.1.0")])
        .exits_with(2)
        .stderr_contains("`acme/rules` is required in two major versions: ctxc.toml → acme/rules requires 1.2.0, ctxc.toml → acme/mid → acme/rules requires 2.0.0")
        .stderr_contains("require acme/rules 2.0.0 yourself");
    assert_eq!(world.work.read_file("ctxc.lock"), before);
    world
        .run(&["add", &source(&world.rules, "v2.0.0")])
        .exits_with(0);
    world.run(&["add", &source(&mid, "v0.1.0")]).exits_with(0);
}

#[test]
fn a_wrong_tag_is_named_with_the_right_ones() {
    let world = World::new();
    let address = source(&world.rules, "");
    for (tag, advice) in [
        (
            "1.2.0",
            "it has no tag or branch `1.2.0`; did you mean `v1.2.0`?",
        ),
        (
            "release",
            "it has no tag or branch `release`; its newest releases are v2.0.0, v1.3.0, v1.2.0",
        ),
        ("main", "it is a branch, whose content changes"),
    ] {
        let refused = world
            .run(&["add", &format!("{address}{tag}")])
            .exits_with(3)
            .stderr_contains(advice);
        let address = address.trim_start_matches("git+").trim_end_matches('@');
        assert_eq!(refused.stderr.matches(address).count(), 1, "{refused:?}");
    }
}

#[test]
fn what_remains_in_use_is_named() {
    let world = World::new();
    world
        .run(&["add", &source(&world.base, "v0.3.1")])
        .exits_with(0);
    let lock = world.work.read_file("ctxc.lock");
    world.work.write_file(
        "all.xml",
        "<task name=\"all\" type=\"sequential\"><description>d</description><steps><task ref=\"acme/base/triage\"/></steps></task>\n",
    );
    world
        .run(&["remove", "acme/base"])
        .exits_with(0)
        .stderr_contains("`ctxc check` shows what still names it");
    let conflict = format!("<<<<<<< HEAD\n{lock}=======\n{lock}>>>>>>> other\n");
    world.work.write_file("ctxc.lock", conflict);
    world
        .run(&["update"])
        .exits_with(2)
        .stderr_contains("ctxc.lock:1: it has a merge conflict: take one side of it");
}

#[test]
fn the_packages_of_a_workspace_are_listed_in_each_member() {
    let world = World::new();
    world.work.write_file(
        "ctxc.toml",
        format!(
            "[workspace]\nmembers = [\"teams/*\"]\n[workspace.dependencies]\n\"acme/base\" = \"{}\"\n",
            source(&world.base, "v0.3.0")
        ),
    );
    for team in ["billing", "support"] {
        world.work.write_file(
            &format!("teams/{team}/ctxc.toml"),
            "[dependencies]\nworkspace = true\n",
        );
        world
            .work
            .write_file(&format!("teams/{team}/templates/a.xml"), TRIAGE);
    }
    world.run(&["update"]).exits_with(0);
    let listed = world.run(&["list"]).exits_with(0);
    assert_eq!(
        listed.stdout.matches("acme/base 0.3.0").count(),
        2,
        "{listed:?}"
    );
    // Their line is that of the workspace.
    world.run(&["update", "--all"]).exits_with(0);
    let root = world.work.read_file("ctxc.toml");
    assert!(root.contains("@v0.3.1\""), "{root}");
    for team in ["billing", "support"] {
        assert_eq!(
            world.work.read_file(&format!("teams/{team}/ctxc.toml")),
            "[dependencies]\nworkspace = true\n"
        );
    }
    let listed = world.run(&["list"]).exits_with(0);
    assert_eq!(listed.stdout.matches("acme/base 0.3.1").count(), 2);
    world.run(&["update", "--locked"]).exits_with(0);
    // A member with a line of its own keeps it.
    let own = format!(
        "[dependencies]\nworkspace = true\n\"acme/rules\" = \"{}\"\n",
        source(&world.rules, "v1.2.0")
    );
    world.work.write_file("teams/billing/ctxc.toml", &own);
    world.run(&["update", "--all"]).exits_with(0);
    assert_eq!(world.work.read_file("ctxc.toml"), root);
    assert_eq!(
        world.work.read_file("teams/billing/ctxc.toml"),
        own.replace("v1.2.0", "v1.3.0")
    );
}

#[test]
fn a_package_does_not_depend_on_itself() {
    let world = World::new();
    let message = "acme/rules depends on itself: ctxc.toml requires it from";
    let text = package_text("acme/rules", "1.4.0", "");
    world.work.write_file("templates/triage.xml", TRIAGE);
    for from in [source(&world.rules, "v1.3.0"), "path:.".to_owned()] {
        world.work.write_file("ctxc.toml", &text);
        world
            .run(&["add", &from])
            .exits_with(2)
            .stderr_contains(message);
        assert_eq!(world.work.read_file("ctxc.toml"), text);
        let line = format!("\"acme/rules\" = \"{from}\"\n");
        world
            .work
            .write_file("ctxc.toml", package_text("acme/rules", "1.4.0", &line));
        world
            .run(&["update"])
            .exits_with(2)
            .stderr_contains(message);
        world
            .work
            .run(&["check"])
            .exits_with(2)
            .stdout_contains("cannot use package `acme/rules`: it is this package itself");
    }
    // A member takes over all packages of its workspace but itself.
    world.work.write_file(
        "ctxc.toml",
        "[workspace]\nmembers = [\"rules\", \"shop\"]\n[workspace.dependencies]\n\"acme/rules\" = \"path:rules\"\n",
    );
    let text = package_text("acme/rules", "1.4.0", "workspace = true\n");
    for (member, text) in [
        ("rules", text.as_str()),
        ("shop", "[dependencies]\nworkspace = true\n"),
    ] {
        world.work.write_file(&format!("{member}/ctxc.toml"), text);
        world.work.write_file(
            &format!("{member}/templates/a.xml"),
            "<task type=\"atomic\" name=\"triage\"><description>Sort it.</description></task>\n",
        );
    }
    world.run(&["update"]).exits_with(0);
    world.work.run(&["check"]).exits_with(0);
}

#[test]
fn packages_that_are_not_there_are_marked() {
    let world = World::new();
    world
        .run(&["add", "path:../nope"])
        .exits_with(3)
        .stderr_contains("path:../nope: there is no such folder");
    world
        .run(&["verify", "acme/base"])
        .exits_with(2)
        .stderr_contains("`ctxc package add SOURCE` adds one");
    world.work.write_file("shared/notes.txt", "");
    world
        .run(&["add", "path:shared"])
        .exits_with(3)
        .stderr_contains("path:shared: it has no ctxc.toml at its top");
    world
        .work
        .write_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""));
    world.work.write_file("shared/templates/a.xml", TRIAGE);
    world.run(&["add", "path:shared"]).exits_with(0);
    world
        .run(&["add", &source(&world.base, "v0.3.0")])
        .exits_with(0);
    world.run(&["list"]).exits_with(0);
    std::fs::rename(world.work.path("shared"), world.work.path(".moved")).unwrap();
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    let listed = world.run(&["list"]).exits_with(1);
    assert_snapshot!(world.named(&listed.stdout), @r"
    acme/base 0.3.0  git+file:///base@v0.3.0  not installed: `ctxc package update` fetches it
    acme/shared 1.0.0  path:shared  its folder is not there
    ");
    world
        .work
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("the folder shared has no ctxc.toml");
    std::fs::rename(world.work.path(".moved"), world.work.path("shared")).unwrap();
    world.run(&["vendor"]).exits_with(0);
    world
        .work
        .write_file("vendor/ctxc/acme/base/templates/triage.xml", "<task/>");
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    world
        .run(&["list"])
        .exits_with(1)
        .stdout_contains("its copy in vendor/ctxc was changed: `ctxc package vendor` restores it");
}

#[test]
fn nothing_is_fetched_twice_nor_without_being_asked_for() {
    let world = World::new();
    world
        .run(&["add", "--offline", &source(&world.rules, "v1.2.0")])
        .exits_with(3)
        .stderr_contains("was not fetched yet");
    assert!(!world.work.path("ctxc.lock").exists());
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    let lock = world.work.read_file("ctxc.lock");
    // The servers are gone.
    for repository in [&world.rules, &world.base] {
        std::fs::rename(repository.path(".git"), repository.path("gone")).unwrap();
    }
    world.run(&["update", "--frozen"]).exits_with(0);
    world.run(&["remove", "acme/rules"]).exits_with(0);
    world
        .run(&["add", "--offline", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    assert_eq!(world.work.read_file("ctxc.lock"), lock);
    world
        .run(&["update", "--all"])
        .exits_with(3)
        .stderr_contains("git reports");

    world
        .run(&["vendor", "--offline"])
        .exits_with(0)
        .stderr_contains("vendor/ctxc: 2 packages");
    assert!(
        world
            .work
            .path("vendor/ctxc/acme/rules/templates/triage.xml")
            .exists()
    );
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    world.run(&["update", "--frozen"]).exits_with(0);
    // A damaged file is not used.
    std::fs::remove_file(
        world
            .work
            .path("vendor/ctxc/acme/rules/templates/triage.xml"),
    )
    .unwrap();
    world
        .run(&["update", "--frozen"])
        .exits_with(3)
        .stderr_contains("was not fetched yet");

    // Other commands start no program at all.
    let program = "#!/bin/sh\ntouch \"$MARKER\"\n";
    world.work.write_file("bin/git", program);
    #[cfg(unix)]
    std::fs::set_permissions(
        world.work.path("bin/git"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    for verb in [&["check"][..], &["build"], &["list"], &["eval"]] {
        let mut command = world.work.command(verb);
        command
            .env("CTXC_CACHE_DIR", world.work.path("cache"))
            .env("PATH", world.work.path("bin"))
            .env("MARKER", world.work.path("marker"));
        command.output().unwrap();
        assert!(!world.work.path("marker").exists(), "{verb:?}");
    }
}

#[test]
fn vendored_packages_follow_the_lock() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    world.run(&["vendor"]).exits_with(0);
    world.run(&["update", "--all"]).exits_with(0);
    let vendored = world
        .work
        .read_file("vendor/ctxc/acme/rules/templates/triage.xml");
    assert_eq!(vendored, TRIAGE.replace("ticket", "1.3.0"));
    world.run(&["remove", "acme/rules"]).exits_with(0);
    assert!(!world.work.path("vendor/ctxc/acme").exists());
}

#[cfg(unix)]
#[test]
fn links_in_place_of_vendored_packages_are_refused() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    let lock = world.work.read_file("ctxc.lock");
    let other = Project::new().with_file("ctxc/acme/evil/own.txt", "of another project");
    let vendor = world.work.path("vendor");
    for (link, target) in [
        ("vendor", ""),
        ("vendor/ctxc", "ctxc"),
        ("vendor/ctxc/acme", "ctxc/acme"),
        ("vendor/ctxc/acme/evil", "ctxc/acme/evil"),
    ] {
        if std::fs::remove_file(&vendor).is_err() {
            drop(std::fs::remove_dir_all(&vendor));
        }
        let place = world.work.path(link);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(other.path(target), &place).unwrap();
        for args in [
            &["update"][..],
            &["update", "--all"],
            &["update", "--locked"],
            &["remove", "acme/rules"],
            &["vendor"],
        ] {
            world
                .run(args)
                .exits_with(2)
                .stderr_contains(&format!("{link} is a link"));
        }
        assert!(place.is_symlink(), "{link}");
        assert_eq!(world.work.read_file("ctxc.lock"), lock);
        assert_eq!(
            other.read_file("ctxc/acme/evil/own.txt"),
            "of another project"
        );
        assert!(!other.path("ctxc/acme/rules").exists(), "{link}");
    }
}

#[test]
fn a_locked_update_leaves_vendored_packages_alone() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    world.run(&["vendor"]).exits_with(0);
    for flag in ["--locked", "--frozen"] {
        world.run(&["update", flag]).exits_with(0);
    }
    let (changed, unused) = (
        "vendor/ctxc/acme/rules/templates/triage.xml",
        "vendor/ctxc/acme/old/ctxc.toml",
    );
    std::fs::remove_file(world.work.path(changed)).unwrap();
    world.work.write_file(changed, "changed");
    world.work.write_file(unused, "");
    for flag in ["--locked", "--frozen"] {
        world
            .run(&["update", flag])
            .exits_with(1)
            .stderr_contains("~ vendor/ctxc/acme/rules 1.2.0")
            .stderr_contains("- vendor/ctxc/acme/old");
        assert_eq!(world.work.read_file(changed), "changed");
        assert!(world.work.path(unused).exists());
    }
    world
        .run(&["update", "--accept-moved", "acme/rlues"])
        .exits_with(2)
        .stderr_contains("did you mean `acme/rules`?");
    assert_eq!(world.work.read_file(changed), "changed");
    world.run(&["update"]).exits_with(0);
    assert_eq!(
        world.work.read_file(changed),
        TRIAGE.replace("ticket", "1.2.0")
    );
    assert!(!world.work.path(unused).exists());
}

#[test]
fn vendored_files_that_a_killed_run_left_are_not_used() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    world.run(&["vendor"]).exits_with(0);
    let paths =
        ["ctxc.toml", "templates/triage.xml"].map(|path| format!("vendor/ctxc/acme/rules/{path}"));
    let old = paths.each_ref().map(|path| world.work.read_file(path));
    let check = || {
        let mut command = world.work.command(&["check"]);
        command.env("CTXC_CACHE_DIR", world.work.path("cache"));
        let run = ProgramRun::from(command.output().unwrap());
        run.stdout.contains("differs from ctxc.lock")
    };
    world.run(&["update", "--all"]).exits_with(0);
    assert!(!check());
    for (path, text) in paths.iter().zip(&old) {
        std::fs::remove_file(world.work.path(path)).unwrap();
        world.work.write_file(path, text);
    }
    assert!(!check());
    // Without another copy, the difference is a finding.
    std::fs::remove_dir_all(world.work.path("cache")).unwrap();
    assert!(check());
}

#[cfg(unix)]
#[test]
fn the_users_own_program_for_ssh_is_used() {
    let world = World::new();
    let (program, marker) = (world.work.path("ssh.sh"), world.work.path("marker"));
    world
        .work
        .write_file("ssh.sh", format!("touch '{}'\nexit 1\n", marker.display()));
    world.work.write_file(
        "gitconfig",
        format!("[core]\n\tsshCommand = sh '{}'\n", program.display()),
    );
    let output = world
        .command(&["add", "git+ssh://git@example.invalid/a.git@v1"])
        .env("GIT_CONFIG_GLOBAL", world.work.path("gitconfig"))
        .env_remove("GIT_SSH")
        .env_remove("GIT_SSH_COMMAND")
        .output()
        .unwrap();
    ProgramRun::from(output).exits_with(3);
    assert!(marker.exists());
}

#[cfg(unix)]
#[test]
fn settings_of_the_machine_give_access_and_run_nothing_else() {
    let world = World::new();
    let marker = world.work.path("marker");
    let program = format!("#!/bin/sh\ntouch '{}'\n", marker.display());
    for name in ["hooks/reference-transaction", "hooks/post-checkout"] {
        world.work.write_file(name, &program);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.work.path(name), mode).unwrap();
    }
    let hooks = world.work.path("hooks").display().to_string();
    let address = source(&world.base, "v0.3.1");
    let place = address.trim_start_matches("git+").replace("@v0.3.1", "");
    world.work.write_file(
        "machine",
        format!(
            "[core]\n\thooksPath = {hooks}\n\tfsmonitor = {hooks}/post-checkout\n[url \"{place}\"]\n\tinsteadOf = https://example.invalid/base.git\n"
        ),
    );
    let output = world
        .command(&["add", "git+https://example.invalid/base.git@v0.3.1"])
        .env("GIT_CONFIG_SYSTEM", world.work.path("machine"))
        .env("GIT_CONFIG_NOSYSTEM", "0")
        .output()
        .unwrap();
    ProgramRun::from(output)
        .exits_with(0)
        .stdout_contains("+ acme/base 0.3.1");
    assert!(!marker.exists());
}

#[test]
fn sources_that_do_not_fit_are_refused_and_nothing_is_lost() {
    let world = World::new();
    world
        .run(&["add", &source(&world.rules, "v1.2.0")])
        .exits_with(0);
    let before = (
        world.work.read_file("ctxc.toml"),
        world.work.read_file("ctxc.lock"),
    );
    let fork = Project::new();
    release(&fork, "1.0.0", &package_text("acme/base", "1.0.0", ""));
    let folder = Project::new();
    release(
        &folder,
        "1.0.0",
        &package_text("acme/folder", "1.0.0", "\"acme/b\" = \"path:../b\"\n"),
    );
    let none = Project::new();
    release(&none, "1.0.0", "edition = \"2026\"\n");
    let linked = Project::new();
    release(&linked, "1.0.0", &package_text("acme/linked", "1.0.0", ""));
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", linked.path("templates/passwd.xml")).unwrap();
    git(&linked, &["add", "-A"]);
    git(&linked, &["commit", "-qm", "link"]);
    git(&linked, &["tag", "v1.0.1"]);
    let (hidden, reserved) = (Project::new(), Project::new());
    for (project, path, text) in [
        (&hidden, "templates/notes.md", "Sort.\u{E0041}\u{E0042}\n"),
        (&reserved, "templates/aux.xml", TRIAGE),
    ] {
        release(project, "1.0.0", &package_text("acme/odd", "1.0.0", ""));
        project.write_file(path, text);
        git(project, &["add", "-A"]);
        git(project, &["commit", "-qm", "odd"]);
        git(project, &["tag", "v1.0.1"]);
    }
    for (source, code, message) in [
        (
            source(&hidden, "v1.0.1"),
            3,
            "templates/notes.md:1: U+E0041: models read this character",
        ),
        (
            source(&reserved, "v1.0.1"),
            3,
            "templates/aux.xml: Windows reserves the name",
        ),
        (
            source(&fork, "v1.0.0"),
            2,
            "`acme/base` has two sources: ctxc.toml → acme/base requires",
        ),
        (
            source(&folder, "v1.0.0"),
            2,
            "ctxc.toml → acme/folder → acme/b requires a folder",
        ),
        (
            source(&none, "v1.0.0"),
            3,
            "no `[package]` with a name and a version",
        ),
        (
            source(&linked, "v1.0.1"),
            3,
            "templates/passwd.xml is a link; a package consists of plain files",
        ),
        (source(&fork, "v9"), 3, "has no tag or branch `v9`"),
        (
            "git+https://me:hunter2@example.org/a.git@v1".to_owned(),
            2,
            "without a password",
        ),
        ("../rules".to_owned(), 2, "expected `path:FOLDER`"),
        ("path:nowhere".to_owned(), 3, "path:nowhere"),
    ] {
        let refused = world
            .run(&["add", &source])
            .exits_with(code)
            .stderr_contains(message);
        assert!(!refused.stderr.contains("hunter2"));
        assert_eq!(
            before,
            (
                world.work.read_file("ctxc.toml"),
                world.work.read_file("ctxc.lock")
            )
        );
    }
}

#[test]
fn one_folder_has_one_form() {
    let world = World::new();
    let sound = TRIAGE.replace("objective", "description");
    world
        .work
        .write_file("shared/ctxc.toml", package_text("acme/shared", "1.0.0", ""));
    world.work.write_file("shared/templates/a.xml", &sound);
    world.work.write_file("templates/a.xml", &sound);
    world.run(&["add", "path:./shared/"]).exits_with(0);
    let text = world.work.read_file("ctxc.toml");
    assert!(text.contains("\"acme/shared\" = \"path:shared\""), "{text}");
    let lock = world.work.read_file("ctxc.lock");
    for form in [
        "./shared",
        "shared/",
        "other/../shared",
        "./other/./../shared//",
    ] {
        let written = text.replace("path:shared", &format!("path:{form}"));
        world.work.write_file("ctxc.toml", written);
        world.work.run(&["check"]).exits_with(0);
        world.run(&["update", "--locked"]).exits_with(0);
        assert_eq!(world.work.read_file("ctxc.lock"), lock, "{form}");
    }
}

#[test]
fn a_tag_that_names_another_version_is_refused() {
    let world = World::new();
    let package = Project::new();
    release(&package, "1.2.0", &package_text("acme/late", "1.0.0", ""));
    let before = world.work.read_file("ctxc.toml");
    let late = source(&package, "v1.2.0");
    let message = "its [package] has version 1.0.0, expected 1.2.0 as in the tag";
    world
        .run(&["add", &late])
        .exits_with(3)
        .stderr_contains(message);
    assert_eq!(world.work.read_file("ctxc.toml"), before);
    world
        .work
        .write_file("ctxc.toml", format!("{before}\"acme/late\" = \"{late}\"\n"));
    world
        .run(&["update"])
        .exits_with(3)
        .stderr_contains(message);
    assert!(!world.work.path("ctxc.lock").exists());
}

#[test]
fn no_report_displays_a_token_in_an_address() {
    let world = World::new();
    let own = package_text("acme/own", "1.0.0", "");
    world.work.write_file(
        "templates/a.xml",
        TRIAGE.replace("objective", "description"),
    );
    for address in [
        "git+https://me:hunter2@example.org/a.git@v1",
        "git+http://me:hunter2@example.org/a.git@v1",
        "git+https://hunter2@example.org@v1",
    ] {
        for text in [
            format!("{own}\"acme/a\" = \"{address}\"\n"),
            format!("{own}[[package.consumers]]\nsource = \"{address}\"\n"),
        ] {
            world.work.write_file("ctxc.toml", text);
            let reported = world.work.run(&["check"]);
            reported.stdout_contains("CTX504").output_lacks("hunter2");
            world.run(&["can-publish"]).output_lacks("hunter2");
        }
    }
    let lock = format!(
        "version = 1\n[[package]]\nname = \"acme/a\"\nversion = \"1.0.0\"\nsource = \"git+http://me:hunter2@example.org/a.git@v1\"\ntree = \"{}\"\ndependencies = []\n[package.files]\n",
        "a".repeat(64)
    );
    world.work.write_file("ctxc.lock", lock);
    let line = "\"acme/a\" = \"git+https://example.org/a.git@v1.0.0\"\n";
    world.work.write_file("ctxc.toml", format!("{own}{line}"));
    let reported = world.work.run(&["check"]);
    reported
        .stdout_contains("take ctxc.lock from the repository again")
        .output_lacks("hunter2");
    world.run(&["update"]).output_lacks("hunter2");
}

/// Kills runs at random moments. Each leaves the old files or the new ones, and at worst a lock
/// that holds more than the project file asks for; and the next run completes it.
fn kill_runs(rounds: u32) {
    let world = World::new();
    let names = ["ctxc.toml", "ctxc.lock"];
    let state =
        || names.map(|name| std::fs::read_to_string(world.work.path(name)).unwrap_or_default());
    let restore = |state: &[String; 2]| {
        for (name, text) in names.iter().zip(state) {
            world.work.write_file(name, text);
        }
    };
    let (first, newer) = (
        source(&world.rules, "v1.2.0"),
        source(&world.rules, "v1.3.0"),
    );
    world.work.write_file("ctxc.lock", "version = 1\n");
    let empty = state();
    world.run(&["add", &first]).exits_with(0);
    let old = state();
    let (mut unchanged, mut between, mut done) = (0, 0, 0);
    for (before, args) in [
        (&empty, ["add", &first]),
        (&old, ["update", "--all"]),
        (&old, ["add", &newer]),
    ] {
        let clear = || drop(std::fs::remove_dir_all(world.work.path("cache")));
        clear();
        restore(before);
        let begun = Instant::now();
        world.run(&args).exits_with(0);
        let (whole, after) = (begun.elapsed(), state());
        for round in 0..rounds {
            clear();
            restore(before);
            let mut child = world
                .command(&args)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            // The last moments of a run, when it writes, more often than the others.
            let share = f64::from(round * 7919 % rounds) / f64::from(rounds);
            std::thread::sleep(whole.mul_f64(0.3 + share.sqrt()));
            child.kill().unwrap();
            child.wait().unwrap();
            let found = state();
            let is_lock_first = found[0] == before[0] && found[1] == after[1];
            assert!(
                found == *before || found == after || is_lock_first,
                "{args:?} {round}: {found:#?}"
            );
            LockFile::read(&found[1]).unwrap();
            unchanged += u32::from(found == *before);
            between += u32::from(is_lock_first && before[0] != after[0]);
            done += u32::from(found == after);
            assert_store_is_whole(&world.work.path("cache/packages"));
            world.run(&args).exits_with(0);
            assert_eq!(state(), after);
        }
    }
    assert!(
        unchanged > 0 && done > 0,
        "{unchanged} old, {between} with the new lock only, {done} new"
    );
}

/// Every folder with the name of a tree has its files.
fn assert_store_is_whole(store: &Path) {
    for entry in std::fs::read_dir(store).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.len() == 64 {
            let stored = ctxc::internals::package::store::read_package(store, &name);
            assert!(stored.is_some(), "{name} is not whole");
        }
    }
}

#[test]
fn killed_runs_leave_the_old_packages_or_the_new_ones() {
    kill_runs(5);
}

#[test]
#[ignore = "needs kills: minutes"]
fn two_hundred_kills_leave_the_old_packages_or_the_new_ones() {
    kill_runs(67);
}

#[test]
fn a_server_that_hangs_is_left_after_the_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let world = World::new();
    let begun = Instant::now();
    world
        .run(&[
            "add",
            "--timeout",
            "1",
            &format!("git+https://127.0.0.1:{port}/a.git@v1"),
        ])
        .exits_with(3)
        .stderr_contains("no answer within 1 s");
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(!world.work.path("ctxc.lock").exists());
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let world = World::new();
    let (one, two) = (
        source(&world.rules, "v1.2.0"),
        source(&world.base, "v0.3.0"),
    );
    let mut children = [&one, &two].map(|source| world.command(&["add", source]).spawn().unwrap());
    let codes: Vec<Option<i32>> = children
        .iter_mut()
        .map(|child| child.wait().unwrap().code())
        .collect();
    assert!(
        codes.iter().all(|code| matches!(code, Some(0 | 3))) && codes.contains(&Some(0)),
        "{codes:?}"
    );
    for source in [&one, &two] {
        world.run(&["add", source]).exits_with(0);
    }
    assert_eq!(world.versions(), ["acme/base 0.3.0", "acme/rules 1.2.0"]);
}

#[test]
fn an_unfit_release_does_not_stop_an_update() {
    let world = World::new();
    world
        .run(&["add", &source(&world.base, "v0.3.0")])
        .exits_with(0);
    let text = package_text("acme/base", "0.3.2", "");
    release(
        &world.base,
        "0.3.2",
        &format!("required-version = \">=99\"\n{text}"),
    );
    git(&world.base, &["tag", "v0.3.3"]);
    world
        .run(&["update", "--all"])
        .exits_with(0)
        .stderr_contains("passed over git+file://")
        .stderr_contains("@v0.3.2: it is for ctxc >=99")
        .stdout_contains("~ acme/base 0.3.0 → 0.3.1");
    world.run(&["update", "--all"]).exits_with(0);
    assert_eq!(world.versions(), ["acme/base 0.3.1"]);
}

#[cfg(unix)]
#[test]
fn a_link_that_is_no_part_of_a_package_does_no_harm() {
    let world = World::new();
    let shared = "[lints]\nno-context = \"warning\"\n";
    let hash = ctxc::internals::base::hash::Hash::digest(shared.as_bytes());
    let text = package_text("acme/odd", "1.0.0", "");
    let text = format!("extends = {{ path = \"./shared.toml\", hash = \"{hash}\" }}\n{text}");
    let odd = Project::new().with_file("shared.toml", shared);
    std::fs::create_dir_all(odd.path("docs")).unwrap();
    std::os::unix::fs::symlink("../ctxc.toml", odd.path("docs/site.toml")).unwrap();
    release(&odd, "1.0.0", &text);
    world.run(&["add", &source(&odd, "v1.0.0")]).exits_with(0);
    let lock = world.lock();
    let files = &lock.package("acme/odd").unwrap().files;
    assert!(files.contains_key("shared.toml") && !files.contains_key("docs/site.toml"));
    std::fs::remove_file(odd.path("shared.toml")).unwrap();
    std::os::unix::fs::symlink("docs/site.toml", odd.path("shared.toml")).unwrap();
    release(&odd, "1.0.1", &text.replace("1.0.0", "1.0.1"));
    world
        .run(&["add", &source(&odd, "v1.0.1")])
        .exits_with(3)
        .stderr_contains("shared.toml is a link; a package consists of plain files");
}

#[cfg(unix)]
#[test]
fn a_lock_is_not_written_for_a_project_file_that_was_edited_meanwhile() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let (programs, config) = (world.work.path("programs"), world.work.path("ctxc.toml"));
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" fetch \"*) echo '# by hand' >> '{}';; esac\nPATH='{path}'; export PATH\nexec git \"$@\"\n",
        config.display()
    );
    world.work.write_file("programs/git", script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.join("git"), mode).unwrap();
    let output = world
        .command(&["add", &source(&world.base, "v0.3.0")])
        .env("PATH", format!("{}:{path}", programs.display()))
        .output()
        .unwrap();
    ProgramRun::from(output)
        .exits_with(3)
        .stderr_contains("ctxc.toml was changed meanwhile");
    assert!(world.work.read_file("ctxc.toml").ends_with("# by hand\n"));
    assert!(!world.work.path("ctxc.lock").exists());
}

#[test]
fn a_locked_vendor_does_not_restore_an_edited_lock() {
    let world = World::new();
    world
        .run(&["add", &source(&world.base, "v0.3.1")])
        .exits_with(0);
    let lock = world.lock();
    let hash = &lock.package("acme/base").unwrap().files["templates/triage.xml"];
    let text = world.work.read_file("ctxc.lock");
    let edited = text.replace(hash.as_str(), &"deadbeef".repeat(8));
    world.work.write_file("ctxc.lock", &edited);
    world
        .run(&["vendor", "--locked"])
        .exits_with(1)
        .stderr_contains("restored in ctxc.lock: the hash of templates/triage.xml");
    assert_eq!(world.work.read_file("ctxc.lock"), edited);
    assert!(!world.work.path("vendor").exists());
    world.work.write_file("ctxc.lock", &text);
    world.run(&["vendor", "--locked"]).exits_with(0);
}
