//! Projects as git revisions have them: read by `git`, compiled in memory, equal to a checkout.

use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::path::Path;
use std::process::Command;

const TRIAGE: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort {{ticket}}.</description>
  <parameters>
    <parameter name=\"ticket\" required=\"true\"/>
  </parameters>
  <system src=\"system.txt\"/>
  <file_paths source=\"literal\">
    <path>docs/runbook.md</path>
  </file_paths>
</task>
";

/// Runs git in a folder, with nothing of the tester's own settings.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args);
    command
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .env_remove("GIT_DIR");
    let output = command.output().expect("git is on the path");
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn commit(project: &Project, message: &str) {
    git(&project.path(""), &["add", "-A", "-f"]);
    git(
        &project.path(""),
        &["commit", "-q", "--allow-empty", "-m", message],
    );
}

/// A repository whose first commit, tagged `v1`, holds a project.
fn repository() -> Project {
    let project = sample(Project::new(), "");
    git(&project.path(""), &["init", "-q", "-b", "main"]);
    commit(&project, "one");
    git(&project.path(""), &["tag", "v1"]);
    project
}

fn sample(project: Project, folder: &str) -> Project {
    project
        .with_file(&format!("{folder}ctxc.toml"), "edition = \"2026\"\n")
        .with_file(&format!("{folder}templates/triage.xml"), TRIAGE)
        .with_file(
            &format!("{folder}templates/system.txt"),
            "You triage support tickets.\n",
        )
        .with_file(&format!("{folder}docs/runbook.md"), "Restart it.\n")
}

fn diff(project: &Project, args: &[&str]) -> ProgramRun {
    project.run(&[&["manifest", "diff"], args].concat())
}

/// The same and nothing else: registries of equal hashes.
const SAME: &str = "every agent receives the same\n";

#[test]
fn a_revision_is_compared_with_the_work_tree_without_touching_it() {
    let project = repository();
    for revision in [
        "v1",
        "main",
        "HEAD",
        "HEAD^{commit}",
        "@",
        "refs/heads/main",
    ] {
        assert_eq!(
            diff(&project, &[revision])
                .exits_with(0)
                .stderr_is_empty()
                .stdout,
            SAME,
            "{revision}"
        );
    }
    project.write_file(
        "templates/system.txt",
        "You triage all support tickets of the house.\n",
    );
    project.write_file("docs/runbook.md", "Restart it.\n".repeat(3));
    let before = (
        project.files(),
        std::fs::read(project.path(".git/index")).unwrap(),
    );
    let found = diff(&project, &["main"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout;
    assert!(
        found.contains("~ system 6 → 10")
            && found.contains("~ file:docs/runbook.md ")
            && found.ends_with("before a run\n")
    );
    assert_eq!(
        (
            project.files(),
            std::fs::read(project.path(".git/index")).unwrap()
        ),
        before,
        "nothing is touched"
    );
    commit(&project, "two");
    assert_eq!(diff(&project, &["v1", "main"]).exits_with(0).stdout, found);
    for range in ["v1..", "v1..main", "v1...", "HEAD~..HEAD"] {
        assert_eq!(
            diff(&project, &[range]).exits_with(0).stdout,
            found,
            "{range}"
        );
    }
    // A folder and a manifest are sides too.
    project
        .run(&["manifest", "--output", "now.json"])
        .exits_with(0);
    assert_eq!(
        diff(&project, &["v1", "now.json"]).exits_with(0).stdout,
        found
    );
    assert_eq!(diff(&project, &["v1", "."]).exits_with(0).stdout, found);
    assert_eq!(diff(&project, &["main", "."]).exits_with(0).stdout, SAME);
}

#[test]
fn what_moved_is_reported_with_its_layer_and_line() {
    let project = repository();
    let fragment = "<library><fragment name=\"rules\">Be kind.</fragment></library>\n";
    let task = TRIAGE.replace(
        "Sort {{ticket}}.",
        "Sort {{ticket}}. <use fragment=\"rules\"/>",
    );
    project.write_file("templates/rules.xml", fragment);
    project.write_file("templates/triage.xml", &task);
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n\n[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"disabled\"\n",
    );
    commit(&project, "two");
    // White space between elements reaches no agent.
    project.write_file(
        "templates/triage.xml",
        task.replace("\n  <", "\n\n\t <")
            .replace("=\"triage\">", "=\"triage\"\n  >"),
    );
    assert_eq!(
        diff(&project, &["HEAD"])
            .exits_with(0)
            .stderr_is_empty()
            .stdout,
        SAME
    );
    project.write_file("templates/triage.xml", &task);
    project.write_file(
        "templates/rules.xml",
        fragment.replace("kind", "kind and brief"),
    );
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n\n# Look things up.\n[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n",
    );
    let found = diff(&project, &["HEAD"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout;
    let trimmed_lines: Vec<&str> = found.lines().map(str::trim).collect();
    assert_eq!(
        trimmed_lines[1], "fresh_context disabled → enabled (ctxc.toml:6)",
        "{found}"
    );
    assert!(
        trimmed_lines[2].starts_with("~ description ")
            && trimmed_lines[2].ends_with(": fragment rules (templates/rules.xml)"),
        "{found}"
    );
    assert!(
        trimmed_lines[3].starts_with("+ fresh") && trimmed_lines[3].ends_with(": fresh_context"),
        "{found}"
    );
    // In the other direction the line is that of the revision, which now contains the setting.
    let back = diff(&project, &[".", "HEAD"]).exits_with(0).stdout;
    assert!(
        back.contains("fresh_context enabled → disabled (ctxc.toml:5)"),
        "{back}"
    );
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    let gone = diff(&project, &["HEAD"]).exits_with(0).stdout;
    assert!(
        gone.contains(
            "inherit_context none → full (the default of atomic; was set in ctxc.toml:4)"
        ),
        "{gone}"
    );
    let json = diff(&project, &["HEAD", "--json"]).exits_with(0).json();
    let setting = &json["changed"][0]["settings"][0];
    assert_eq!(
        (&json["old"]["name"], &setting["origin_before"]["line"]),
        (&"HEAD".into(), &4.into()),
        "{json}"
    );
    assert_eq!(setting["origin"]["path"], serde_json::Value::Null);
}

#[test]
fn a_comment_on_a_pull_request_holds_a_table_and_no_name_breaks_it() {
    let project = repository();
    git(&project.path(""), &["branch", "x|`<b>"]);
    project.write_file("docs/runbook.md", "Restart it.\n".repeat(9));
    let hostile = "<img src=x onerror=alert(1)>|`*&";
    let escaped = hostile
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    project.write_file(
        "templates/new.xml",
        format!("<task type=\"atomic\" name=\"a{escaped}\"><description>d</description></task>\n"),
    );
    let page = diff(&project, &["x|`<b>", "--format", "markdown"]);
    let page = if page.code == Some(0) {
        page.stdout
    } else {
        panic!("{page:#?}")
    };
    assert!(!page.contains("<img") && !page.contains("<b>"), "{page}");
    assert!(
        page.starts_with("<!-- ctxc/manifest-diff/1 -->\n### What agents receive: <code>x\\|"),
        "{page}"
    );
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| <code>"))
        .count();
    assert_eq!(
        (
            rows,
            page.matches("<details>").count(),
            page.matches("</details>").count()
        ),
        (2, 1, 1),
        "{page}"
    );
    assert!(
        page.contains("- <code>file:docs/runbook.md</code> ") && page.contains("; file\n"),
        "{page}"
    );
    diff(&project, &["main", "main", "--format", "markdown"])
        .exits_with(0)
        .stdout_contains("Every agent receives the same.\n");
}

#[test]
fn three_dots_begin_where_a_branch_left() {
    let project = repository();
    git(&project.path(""), &["switch", "-q", "-c", "topic"]);
    commit(&project, "nothing");
    git(&project.path(""), &["switch", "-q", "main"]);
    project.write_file("docs/runbook.md", "Restart everything.\n");
    commit(&project, "main moves on");
    assert_eq!(diff(&project, &["main...topic"]).exits_with(0).stdout, SAME);
    diff(&project, &["main..topic"])
        .exits_with(0)
        .stdout_contains("file:docs/runbook.md");
}

#[test]
fn a_revision_holds_the_templates_that_a_walk_would_find() {
    let task = |name: &str| {
        format!("<task type=\"atomic\" name=\"{name}\"><description>{name}</description></task>\n")
    };
    let paths = [
        "a.xml",
        "x/b.xml",
        "x/y/c.xml",
        ".hidden/d.xml",
        "drafts/e.xml",
        "x/drafts/f.xml",
        "x/keep/g.xml",
        "x/.h.xml",
        "i.XML",
        "j.txt",
        "gen/k.xml",
        "gen/kept.xml",
        "l.xml.bak",
    ];
    for (file, place) in [
        ("", ""),
        (
            "[templates]\ninclude = [\"x/**\", \".hidden/*.xml\", \"gen/kept.xml\"]\n",
            "",
        ),
        ("[templates]\nexclude = [\"**/b.xml\"]\n", "templates/"),
    ] {
        let pinned = |shared: &str| {
            let hash = ctxc::internals::base::hash::Hash::digest(shared.as_bytes());
            format!("extends = {{ path = \"../shared.toml\", hash = \"{hash}\" }}\n{file}")
        };
        let shared =
            "[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"disabled\"\n";
        let mut project = Project::new().with_file("sub/ctxc.toml", pinned(shared));
        for path in paths {
            let name = path.replace(['/', '.'], "_").to_lowercase();
            project = project.with_file(&format!("sub/{place}{path}"), task(&name));
        }
        project.write_file("shared.toml", shared);
        project.write_file(".gitignore", "drafts/\n/sub/gen/*\n");
        project.write_file("sub/.gitignore", "!drafts\n[bad\n");
        project.write_file(
            &format!("sub/{place}x/.ignore"),
            "drafts\nkeep/*.xml\n!keep/g.xml\n",
        );
        project.write_file("sub/.ignore", "**/c.xml\n!gen/kept.xml\n");
        git(&project.path(""), &["init", "-q"]);
        commit(&project, "all of it");
        let here = ["--project", "sub"];
        let built = project
            .run(&[&here[..], &["manifest", "--json"]].concat())
            .exits_with(0)
            .json();
        assert!(built["entries"].as_array().unwrap().len() > 1, "{built}");
        let run = project
            .run(&[&here[..], &["manifest", "diff", "HEAD"]].concat())
            .exits_with(0);
        assert_eq!(run.stdout, SAME, "{file}");
        // The shared file counts as it was committed.
        let moved = shared.replace("disabled", "enabled");
        project.write_file("sub/ctxc.toml", pinned(&moved));
        project.write_file("shared.toml", moved);
        let run = project.run(&[&here[..], &["manifest", "diff", "HEAD"]].concat());
        run.exits_with(0)
            .stdout_contains("fresh_context disabled → enabled");
    }
}

#[test]
#[cfg(unix)]
fn links_are_followed_inside_a_revision_and_never_out_of_it() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "secret\n").unwrap();
    let project =
        sample(Project::new(), "").with_file("texts/real.txt", "You triage support tickets.\n");
    std::fs::remove_file(project.path("templates/system.txt")).unwrap();
    symlink("../texts/real.txt", project.path("templates/system.txt")).unwrap();
    symlink("texts", project.path("more")).unwrap();
    symlink("../docs", project.path("templates/folder.xml")).unwrap();
    git(&project.path(""), &["init", "-q"]);
    commit(&project, "links");
    assert_eq!(
        diff(&project, &["HEAD"])
            .exits_with(0)
            .stderr_is_empty()
            .stdout,
        SAME
    );
    for target in [
        &*outside.path().join("secret.txt").to_string_lossy(),
        "../../../../../../etc/hostname",
        "system.txt",
    ] {
        std::fs::remove_file(project.path("templates/system.txt")).unwrap();
        symlink(target, project.path("templates/system.txt")).unwrap();
        commit(&project, "away");
        let run = diff(&project, &["HEAD", "."])
            .exits_with(1)
            .stdout_is_empty();
        assert!(
            run.stderr.contains("templates/triage.xml:6:"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("secret\n"), "{}", run.stderr);
    }
}

#[test]
fn what_is_no_revision_is_refused_with_a_way_out() {
    let project = repository();
    for hostile in [
        "--output=x",
        "-x",
        "--upload-pack=touch x",
        "--git-dir=/tmp",
    ] {
        let run = project
            .run(&["manifest", "diff", "--", hostile])
            .exits_with(2)
            .stdout_is_empty();
        run.stderr_contains("is not a git revision: it begins with `-`");
    }
    for hostile in [
        "$(touch x)",
        "main;touch x",
        "a b",
        "main:ctxc.toml",
        "",
        "main^{tree}",
    ] {
        diff(&project, &[hostile]).exits_with(2).stdout_is_empty();
    }
    for range in ["--output=x..main", "main...--output=x", "main..--output=x"] {
        project
            .run(&["manifest", "diff", "--", range])
            .exits_with(2)
            .stdout_is_empty();
    }
    assert!(!project.path("x").exists());
    diff(&project, &["mian"])
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("did you mean `main`?");
    diff(&project, &["gone.json"])
        .exits_with(2)
        .stderr_contains("there is no file or folder gone.json either");
    let bare = sample(Project::new(), "");
    diff(&bare, &["main"])
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("lies in no git repository");
    let none = project
        .command(&["manifest", "diff", "main"])
        .env("PATH", "")
        .output()
        .unwrap();
    ProgramRun::from(none)
        .exits_with(3)
        .stdout_is_empty()
        .stderr_contains("there is no program `git` on the path");
}

#[test]
fn what_a_revision_lacks_or_has_wrong_is_reported() {
    let project = repository();
    project.write_file("ctxc.toml", "edition = 3\n");
    commit(&project, "bad project file");
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    diff(&project, &["HEAD"])
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("ctxc.toml has errors in `HEAD`");
    project.write_file(
        "templates/triage.xml",
        TRIAGE
            .replace("</system>", "")
            .replace("<description>", "<descripton>"),
    );
    commit(&project, "bad template");
    project.write_file("templates/triage.xml", TRIAGE);
    diff(&project, &["HEAD"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("`HEAD` has ")
        .stderr_contains("templates/triage.xml:2:");
    std::fs::remove_file(project.path("docs/runbook.md")).unwrap();
    commit(&project, "no file");
    project.write_file("docs/runbook.md", "Restart it.\n");
    diff(&project, &["HEAD"])
        .exits_with(1)
        .stdout_is_empty()
        .stderr_contains("docs/runbook.md cannot be read");
    let later = sample(project, "later/");
    let run = later.run(&["--project", "later", "manifest", "diff", "v1"]);
    run.exits_with(2)
        .stdout_is_empty()
        .stderr_contains("`v1` has no folder later");
    git(&later.path(""), &["rm", "-rq", "--cached", "templates"]);
    git(&later.path(""), &["commit", "-qm", "no templates"]);
    diff(&later, &["HEAD"])
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("there is no template in `HEAD`");
}

#[test]
fn a_shallow_clone_reports_that_it_lacks_commits() {
    let project = repository();
    commit(&project, "two");
    let clone = Project::new();
    let from = format!("file://{}", project.path("").display());
    git(
        &clone.path(""),
        &["clone", "-q", "--depth", "1", "--no-tags", &from, "copy"],
    );
    let here = |revision| clone.run(&["--project", "copy", "manifest", "diff", revision]);
    assert_eq!(here("HEAD").exits_with(0).stdout, SAME);
    here("HEAD~1")
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("the clone is shallow")
        .stderr_contains("fetch-depth: 0");
    here("v1")
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("the clone is shallow");
}

#[test]
fn no_setting_of_a_repository_runs_a_program() {
    let project = repository();
    let touch = format!("touch {}", project.path("ran").display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.ls-tree",
        "filter.x.smudge",
        "filter.x.process",
        "diff.external",
        "core.editor",
    ] {
        git(&project.path(""), &["config", key, &touch]);
    }
    git(
        &project.path(""),
        &["config", "alias.cat-file", &format!("!{touch}")],
    );
    project.write_file(".git/info/attributes", "* filter=x\n");
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
    ] {
        project.write_file(
            &format!(".git/hooks/{hook}"),
            format!("#!/bin/sh\n{touch}\n"),
        );
        #[cfg(unix)]
        std::fs::set_permissions(
            project.path(&format!(".git/hooks/{hook}")),
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )
        .unwrap();
    }
    assert_eq!(
        diff(&project, &["HEAD", "v1"])
            .exits_with(0)
            .stderr_is_empty()
            .stdout,
        SAME
    );
    assert!(!project.path("ran").exists());
}

#[test]
fn the_repository_is_the_one_around_the_project_even_inside_a_hook() {
    let (project, other) = (repository(), repository());
    other.write_file("docs/runbook.md", "Another one.\n");
    commit(&other, "another");
    let mut command = project.command(&["manifest", "diff", "HEAD"]);
    command
        .env("GIT_DIR", other.path(".git"))
        .env("GIT_WORK_TREE", other.path(""))
        .env("GIT_INDEX_FILE", "index");
    assert_eq!(
        ProgramRun::from(command.output().unwrap())
            .exits_with(0)
            .stdout,
        SAME
    );
}

#[test]
fn a_broken_revision_names_which_file_of_which_revision() {
    let project = repository();
    project.write_file(
        "templates/triage.xml",
        TRIAGE
            .replace("</system>", "")
            .replace("<system src", "<sistem src"),
    );
    commit(&project, "broken template");
    git(&project.path(""), &["tag", "v2"]);
    project.write_file("templates/triage.xml", TRIAGE);
    project.write_file("ctxc.toml", "edition = \"2026\"\nlimit = 1\n");
    commit(&project, "broken project file");
    git(&project.path(""), &["tag", "v3"]);
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    let case = "name: c\ntask: triage\ncontext:\n  objective: go\n  inputs: {ticket: late}\nexpect_context:\n  - nothing_cut: true\n";
    project.write_file("scenarios/c.yaml", case);
    project.run(&["check"]).exits_with(0);
    for (revision, place) in [
        ("v2", "in `v2`: templates/triage.xml:6:4: "),
        ("v3", "in `v3`: ctxc.toml:2:1: "),
    ] {
        for verb in [&["eval", "--since"][..], &["manifest", "diff"]] {
            let run = project.run(&[verb, &[revision]].concat()).stdout_is_empty();
            assert!(
                run.code != Some(0) && !run.stderr.contains("there is no file"),
                "{run:#?}"
            );
            assert!(!run.stderr.contains("shows where"), "{run:#?}");
            run.stderr_contains(place).stderr_contains("the files here are not the cause: name a revision in which `ctxc check` finds no error");
        }
    }
    project.run(&["eval", "--since", "v1"]).exits_with(0);
}

#[test]
#[cfg(unix)]
fn a_revision_runs_no_program_that_the_repository_names() {
    use std::os::unix::fs::PermissionsExt;
    let project = repository();
    let script = |name: &str, text: String| {
        project.write_file(name, text);
        std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(0o755))
            .unwrap();
    };
    let ran = project.path(".git/ran");
    script(
        ".git/evil",
        format!("#!/bin/sh\ntouch '{}'\n", ran.display()),
    );
    // A program that knows of no GIT_NO_LAZY_FETCH, as those before 2.45.
    let path = std::env::var("PATH").unwrap();
    script(
        ".git/old/git",
        format!("#!/bin/sh\nexport GIT_NO_LAZY_FETCH=0 PATH='{path}'\nexec git \"$@\"\n"),
    );
    let lost = git(&project.path(""), &["rev-parse", "v1:templates/triage.xml"]);
    let lost = lost.trim();
    std::fs::remove_file(project.path(&format!(".git/objects/{}/{}", &lost[..2], &lost[2..])))
        .unwrap();
    let evil = project.path(".git/evil");
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://x/y"),
        ("protocol.ssh.allow", "always"),
        ("core.sshCommand", evil.to_str().unwrap()),
    ] {
        git(&project.path(""), &["config", name, value]);
    }
    let mut command = project.command(&["manifest", "diff", "v1"]);
    command.env(
        "PATH",
        format!("{}:{path}", project.path(".git/old").display()),
    );
    let run = ProgramRun::from(command.output().unwrap());
    assert_ne!(run.code, Some(0), "{run:#?}");
    assert!(!ran.exists(), "{run:#?}");
}

/// A named pipe in `.git` keeps git waiting, and no command with it.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_repository_is_never_waited_for() {
    let places = [
        ".git/HEAD",
        ".git/config",
        ".git/packed-refs",
        ".git/refs/heads/main",
        "OBJECT",
    ];
    let waits = |place: &&str| {
        let project = repository();
        let blob = git(
            &project.path(""),
            &["rev-parse", "HEAD:templates/system.txt"],
        );
        let (folder, rest) = blob.trim().split_at(2);
        let place = place.replace("OBJECT", &format!(".git/objects/{folder}/{rest}"));
        let path = project.path(&place);
        let _ = std::fs::remove_file(&path);
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let run = diff(&project, &["main"]);
        assert!(matches!(run.code, Some(0 | 1 | 3)), "{place}: {run:?}");
        assert!(
            run.code == Some(0) || run.stderr.contains("git gave no answer within 20 s"),
            "{place}: {}",
            run.stderr
        );
    };
    std::thread::scope(|scope| {
        for place in &places {
            scope.spawn(move || waits(place));
        }
    });
}
