//! `init`: missing files are written, existing ones are left alone.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\"><description>d</description></task>\n";

#[test]
fn an_empty_folder_gets_a_project_file_and_a_first_template() {
    let project = Project::new();
    let run = project
        .run(&["init"])
        .exits_with(0)
        .stdout_contains("wrote ctxc.toml (")
        .stdout_contains("wrote templates/summarize-document.xml (");
    run.stderr_contains("next: ctxc check");
    assert_eq!(
        project.files(),
        ["ctxc.toml", "templates/summarize-document.xml"]
    );
    assert!(
        project
            .read_file("ctxc.toml")
            .contains("include = [\"templates\"]")
    );
    assert!(
        project
            .read_file("templates/summarize-document.xml")
            .starts_with("<task type=\"atomic\"")
    );
}

#[test]
fn an_agent_gets_a_project_file_alone_and_the_way_to_its_first_test() {
    let project = Project::new()
        .with_file("requirements.txt", "requests\nopenai>=1\n")
        .with_file("agent.py", "import openai\n");
    let run = project.run(&["init"]).exits_with(0).stdout_contains(
        "found an agent, whose requirements.txt names openai: it needs no template\n",
    );
    run.stderr_contains("next: ctxc record -- python agent.py");
    assert_eq!(
        project.files(),
        ["agent.py", "ctxc.toml", "requirements.txt"]
    );
    project.run(&["defaults"]).exits_with(0);

    let package = r#"{"dependencies": {"@langchain/core": "1"}, "scripts": {"start": "node ."}}"#;
    let project = Project::new()
        .with_file("package.json", package)
        .with_file("node_modules/x/a.prompt", "---\nmodel: m\n---\nHi {{x}}");
    let run = project
        .run(&["init"])
        .exits_with(0)
        .stdout_contains("whose package.json names @langchain/core");
    assert!(
        !run.stdout.contains("dotprompt"),
        "installed packages are not looked through: {}",
        run.stdout
    );
    run.stderr_contains("next: ctxc record -- npm start");
    let project = project.with_file("package.json", r#"{"dependencies": {"openai": "5"}}"#);
    project
        .run(&["init"])
        .exits_with(0)
        .stderr_contains("next: ctxc record -- COMMAND, with the command that starts the agent");

    // Existing templates and prompts come first.
    let project = Project::new()
        .with_file("requirements.txt", "openai\n")
        .with_file("prompts/a.xml", TASK);
    project
        .run(&["init"])
        .exits_with(0)
        .stdout_contains("found 1 task file in prompts/")
        .stderr_contains("next: ctxc check");
}

#[test]
fn what_is_there_is_found_and_not_changed() {
    let project = Project::new()
        .with_file("prompts/a.xml", TASK)
        .with_file("prompts/deep/b.xml", "<task")
        .with_file("prompts/pom.xml", "<project/>");
    let project = project
        .with_file("legacy/c.j2", "{{ x }}")
        .with_file("top.xml", TASK)
        .with_file("hidden/d.xml", TASK)
        .with_file(".gitignore", "hidden/\n");
    let before = project.files();
    let run = project.run(&["init"]).exits_with(0);
    let run = run.stdout_contains(
        "found 3 task files in this folder, prompts/ and 1 Jinja file in legacy/ (see `ctxc import`); changed none of them\n",
    );
    assert!(
        !run.stdout.contains("summarize"),
        "no example beside real templates: {}",
        run.stdout
    );
    assert_eq!(project.files().len(), before.len() + 1);
    assert!(
        project
            .read_file("ctxc.toml")
            .contains("include = [\"*.xml\", \"prompts\"]"),
        "{}",
        project.read_file("ctxc.toml")
    );
    assert_eq!(project.read_file("prompts/a.xml"), TASK);
}

#[test]
fn nothing_is_overwritten() {
    let project = Project::new()
        .with_file("ctxc.toml", "# mine\n")
        .with_file(".github/workflows/ctxc.yml", "# mine\n");
    let run = project.run(&["init", "--ci", "github"]).exits_with(0);
    run.stdout_contains("ctxc.toml already exists; left as it is")
        .stdout_contains(".github/workflows/ctxc.yml already exists; left as it is");
    assert_eq!(
        (
            project.read_file("ctxc.toml"),
            project.read_file(".github/workflows/ctxc.yml")
        ),
        ("# mine\n".into(), "# mine\n".into())
    );
    assert_eq!(project.files().len(), 2);
}

#[test]
fn a_second_time_reports_what_is_there() {
    let project = Project::new();
    project.run(&["init"]).exits_with(0);
    let before: Vec<String> = project
        .files()
        .iter()
        .map(|file| project.read_file(file))
        .collect();
    let run = project
        .run(&["init"])
        .exits_with(0)
        .stderr_contains("next: ctxc check");
    run.stdout_contains("found 1 task file in templates/; changed none of them\nctxc.toml already exists; left as it is\n");
    assert_eq!(
        project
            .files()
            .iter()
            .map(|file| project.read_file(file))
            .collect::<Vec<_>>(),
        before
    );
}

#[test]
fn checks_for_a_forge_are_written_when_asked_for() {
    let project = Project::new();
    let run = project
        .run(&["init", "--ci", "github"])
        .exits_with(0)
        .stdout_contains("wrote .github/workflows/ctxc.yml");
    let run = run.stderr_contains("ctxc is compiled from tools/ctxc, which is not there: add it, `git submodule add ADDRESS tools/ctxc`");
    run.stderr_contains("the variable CTXC_TRUST_HASH of the repository");
    let workflow = project.read_file(".github/workflows/ctxc.yml");
    for part in [
        "run: |\n          cargo install --locked --path tools/ctxc\n",
        "ctxc check --format github --allow-empty\n",
        // The scenarios run even if `check` has findings.
        "if: success() || failure()\n        run: ctxc eval --allow-empty ${CTXC_TRUST_HASH:+",
        "BASE: ${{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || github.event.before }}",
        "ctxc gate --base \"$BASE\" --allow-empty",
        "CTXC_TRUST_HASH: ${{ vars.CTXC_TRUST_HASH }}",
        "fetch-depth: 0",
        "submodules: true",
        "branches: [\"main\"]",
    ] {
        assert!(workflow.contains(part), "{part}\n{workflow}");
    }
    assert!(!workflow.contains("setup-"), "{workflow}");
    // The same before the first scenario exists.
    project.run(&["check", "--format", "github"]).exits_with(0);
    project.run(&["eval", "--allow-empty"]).exits_with(0);
    let printed = Project::new()
        .run(&["init", "--ci", "print", "--quiet"])
        .exits_with(0);
    printed
        .stdout_contains("ctxc check --format concise --allow-empty\nctxc eval --allow-empty ")
        .stdout_contains("ctxc gate --base \"$BASE\"");
}

#[test]
fn a_workflow_has_what_the_project_has() {
    let install = ["--install", "sh ./get.sh: ctxc"];
    let workflow = |files: &[(&str, &str)], args: &[&str]| {
        let project = files.iter().fold(Project::new(), |project, (path, text)| {
            project.with_file(path, text)
        });
        let run = project
            .run(&[&["init", "--ci", "github"], args, &install].concat())
            .exits_with(0);
        assert!(!run.stderr.contains("tools/ctxc"), "{}", run.stderr);
        project.read_file(".github/workflows/ctxc.yml")
    };
    let plain = workflow(&[], &[]);
    assert!(
        plain.contains("          sh ./get.sh: ctxc\n") && !plain.contains("submodules"),
        "{plain}"
    );
    let python = workflow(
        &[
            ("requirements.txt", "openai\n"),
            (".python-version", "3.13\n"),
        ],
        &[],
    );
    assert!(
        python.contains("python-version-file: \".python-version\"")
            && python.contains("pip install -r requirements.txt")
    );
    let node = workflow(&[("package.json", "{}"), ("package-lock.json", "{}")], &[]);
    assert!(
        node.contains("node-version: \"22\"") && node.contains("          npm ci\n"),
        "{node}"
    );
    let both = workflow(
        &[
            ("package.json", "{}"),
            ("pnpm-lock.yaml", ""),
            ("pyproject.toml", "[build-system]\n"),
        ],
        &[],
    );
    assert!(
        both.contains("pip install .\n") && both.contains("pnpm install --frozen-lockfile"),
        "{both}"
    );
    assert!(!workflow(&[("pyproject.toml", "[tool.ruff]\n")], &[]).contains("setup-python"));
    // A forge runs only the workflows at the top of a repository.
    let inner = workflow(
        &[
            (".git/HEAD", "ref: refs/heads/trunk\n"),
            ("agents/requirements.txt", ""),
            ("agents/.python-version", "3.13\n"),
        ],
        &["agents"],
    );
    assert!(
        inner.contains("working-directory: \"agents\"") && inner.contains("branches: [\"trunk\"]"),
        "{inner}"
    );
    assert!(
        inner.contains("python-version-file: \"agents/.python-version\""),
        "{inner}"
    );
    for bad in ["", " ", "a\nb"] {
        Project::new()
            .run(&["init", "--ci", "github", "--install", bad])
            .exits_with(2);
    }
    Project::new()
        .run(&["init", "--install", "x"])
        .exits_with(2);
}

#[test]
fn a_folder_that_is_not_there_is_made() {
    let project = Project::new();
    project
        .run(&["init", "new/agent"])
        .exits_with(0)
        .stderr_contains("next: cd new/agent && ctxc check");
    assert_eq!(
        project.files(),
        [
            "new/agent/ctxc.toml",
            "new/agent/templates/summarize-document.xml"
        ]
    );
}

#[test]
fn odd_folder_names_end_up_as_patterns_that_mean_them() {
    let project = Project::new().with_file("we{ird \"x\"/a.xml", TASK);
    project.run(&["init"]).exits_with(0);
    assert!(
        project
            .read_file("ctxc.toml")
            .contains(r#"include = ["we?ird \"x\""]"#),
        "{}",
        project.read_file("ctxc.toml")
    );
    project.run(&["defaults"]).exits_with(0).stderr_is_empty();
}

#[test]
#[cfg(unix)]
fn a_place_that_takes_no_files_is_reported() {
    let project = Project::new().with_file("plain", "a file");
    let run = project.run(&["init", "plain/below"]).exits_with(3);
    run.stderr_contains("cannot write plain/below/templates/summarize-document.xml: a part of the path is a file, not a folder");
}

#[test]
fn the_lints_that_the_project_file_shows_are_ones_that_it_takes() {
    let project = Project::new().with_file("prompts/a.xml", TASK);
    project.run(&["init"]).exits_with(0);
    let shown = project.read_file("ctxc.toml");
    let uncommented: String = shown
        .lines()
        .map(|line| {
            line.strip_prefix("# no-")
                .map_or(line.to_owned(), |rest| format!("no-{rest}"))
                + "\n"
        })
        .collect();
    assert_ne!(uncommented, shown);
    for level in ["error", "warning", "info", "hint", "off"] {
        assert!(shown.contains(&format!("\"{level}\"")), "{shown}");
        project.write_file(
            "ctxc.toml",
            uncommented.replace(
                "no-context = \"error\"",
                &format!("no-context = \"{level}\""),
            ),
        );
        project.run(&["check"]).exits_with(0);
    }
}

#[test]
fn a_project_file_inside_another_project_is_named_by_check() {
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("templates/a.xml", TASK);
    let project = project
        .with_file("templates/sub/ctxc.toml", "")
        .with_file("templates/sub/templates/a.xml", TASK);
    let run = project
        .run(&["check", "--format", "concise"])
        .exits_with(1)
        .stdout_contains("duplicate-name");
    run.stderr_contains(
        "templates/sub/ctxc.toml is not read: its templates are checked as those of this project.",
    );
    let project = project.with_file("ctxc.toml", "[templates]\nexclude = [\"templates/sub\"]\n");
    let run = project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
    assert_eq!(run.stderr, "");
    project
        .run(&["check", "--project", "templates/sub"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
}

#[test]
fn a_project_inside_another_is_reported() {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("sub/notes.md", "x");
    project.run(&["init", "sub"]).exits_with(0).stderr_contains(
        " is a project too, around this one: in this folder commands take the new one",
    );
    project
        .run(&["init", "new/deep"])
        .exits_with(0)
        .stderr_contains(" is a project too, around this one");
    let again = project.run(&["init", "sub"]).exits_with(0);
    assert!(!again.stderr.contains("around"), "{}", again.stderr);
    let alone = Project::new().run(&["init"]).exits_with(0).stderr;
    assert!(!alone.contains("around"), "{alone}");
}
