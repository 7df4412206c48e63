//! `init`: what is missing is written, what is there is left alone.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\"><description>d</description></task>\n";

#[test]
fn an_empty_folder_gets_a_project_file_and_a_first_template() {
    let project = Project::new();
    let run = project
        .run(&["init"])
        .code(0)
        .says("wrote ctxc.toml (")
        .says("wrote templates/summarize-document.xml (");
    run.warns("next: ctxc check");
    assert_eq!(
        project.files(),
        ["ctxc.toml", "templates/summarize-document.xml"]
    );
    assert!(
        project
            .read("ctxc.toml")
            .contains("include = [\"templates\"]")
    );
    assert!(
        project
            .read("templates/summarize-document.xml")
            .starts_with("<task type=\"atomic\"")
    );
}

#[test]
fn an_agent_gets_a_project_file_alone_and_the_way_to_its_first_test() {
    let project = Project::new()
        .file("requirements.txt", "requests\nopenai>=1\n")
        .file("agent.py", "import openai\n");
    let run = project
        .run(&["init"])
        .code(0)
        .says("found an agent, whose requirements.txt names openai: it needs no template\n");
    run.warns("next: ctxc record -- python agent.py");
    assert_eq!(
        project.files(),
        ["agent.py", "ctxc.toml", "requirements.txt"]
    );
    project.run(&["defaults"]).code(0);

    let package = r#"{"dependencies": {"@langchain/core": "1"}, "scripts": {"start": "node ."}}"#;
    let project = Project::new()
        .file("package.json", package)
        .file("node_modules/x/a.prompt", "---\nmodel: m\n---\nHi {{x}}");
    let run = project
        .run(&["init"])
        .code(0)
        .says("whose package.json names @langchain/core");
    assert!(
        !run.stdout.contains("dotprompt"),
        "installed packages are not looked through: {}",
        run.stdout
    );
    run.warns("next: ctxc record -- npm start");
    let project = project.file("package.json", r#"{"dependencies": {"openai": "5"}}"#);
    project
        .run(&["init"])
        .code(0)
        .warns("next: ctxc record -- COMMAND, with the command that starts the agent");

    // Templates and prompts that are there come first.
    let project = Project::new()
        .file("requirements.txt", "openai\n")
        .file("prompts/a.xml", TASK);
    project
        .run(&["init"])
        .code(0)
        .says("found 1 task file in prompts/")
        .warns("next: ctxc check");
}

#[test]
fn what_is_there_is_found_and_not_changed() {
    let project = Project::new()
        .file("prompts/a.xml", TASK)
        .file("prompts/deep/b.xml", "<task")
        .file("prompts/pom.xml", "<project/>");
    let project = project
        .file("legacy/c.j2", "{{ x }}")
        .file("top.xml", TASK)
        .file("hidden/d.xml", TASK)
        .file(".gitignore", "hidden/\n");
    let before = project.files();
    let run = project.run(&["init"]).code(0);
    let run = run.says(
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
            .read("ctxc.toml")
            .contains("include = [\"*.xml\", \"prompts\"]"),
        "{}",
        project.read("ctxc.toml")
    );
    assert_eq!(project.read("prompts/a.xml"), TASK);
}

#[test]
fn nothing_is_overwritten() {
    let project = Project::new()
        .file("ctxc.toml", "# mine\n")
        .file(".github/workflows/ctxc.yml", "# mine\n");
    let run = project.run(&["init", "--ci", "github"]).code(0);
    run.says("ctxc.toml already exists; left as it is")
        .says(".github/workflows/ctxc.yml already exists; left as it is");
    assert_eq!(
        (
            project.read("ctxc.toml"),
            project.read(".github/workflows/ctxc.yml")
        ),
        ("# mine\n".into(), "# mine\n".into())
    );
    assert_eq!(project.files().len(), 2);
}

#[test]
fn a_second_time_says_what_is_there() {
    let project = Project::new();
    project.run(&["init"]).code(0);
    let before: Vec<String> = project
        .files()
        .iter()
        .map(|file| project.read(file))
        .collect();
    let run = project.run(&["init"]).code(0).warns("next: ctxc check");
    run.says("found 1 task file in templates/; changed none of them\nctxc.toml already exists; left as it is\n");
    assert_eq!(
        project
            .files()
            .iter()
            .map(|file| project.read(file))
            .collect::<Vec<_>>(),
        before
    );
}

#[test]
fn checks_for_a_forge_are_written_when_asked_for() {
    let project = Project::new();
    let run = project
        .run(&["init", "--ci", "github"])
        .code(0)
        .says("wrote .github/workflows/ctxc.yml");
    let run = run.warns("ctxc is compiled from tools/ctxc, which is not there: add it, `git submodule add ADDRESS tools/ctxc`");
    run.warns("the variable CTXC_TRUST_HASH of the repository");
    let workflow = project.read(".github/workflows/ctxc.yml");
    for part in [
        "run: |\n          cargo install --locked --path tools/ctxc\n",
        "ctxc check --format github --allow-empty\n",
        // What scenarios say is wanted also where `check` finds something.
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
    // Before there is any scenario, too.
    project.run(&["check", "--format", "github"]).code(0);
    project.run(&["eval", "--allow-empty"]).code(0);
    let printed = Project::new()
        .run(&["init", "--ci", "print", "--quiet"])
        .code(0);
    printed
        .says("ctxc check --format concise --allow-empty\nctxc eval --allow-empty ")
        .says("ctxc gate --base \"$BASE\"");
}

#[test]
fn a_workflow_has_what_the_project_has() {
    let install = ["--install", "sh ./get.sh: ctxc"];
    let workflow = |files: &[(&str, &str)], args: &[&str]| {
        let project = files.iter().fold(Project::new(), |project, (path, text)| {
            project.file(path, text)
        });
        let run = project
            .run(&[&["init", "--ci", "github"], args, &install].concat())
            .code(0);
        assert!(!run.stderr.contains("tools/ctxc"), "{}", run.stderr);
        project.read(".github/workflows/ctxc.yml")
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
    // A forge takes workflows from the top of a repository alone.
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
            .code(2);
    }
    Project::new().run(&["init", "--install", "x"]).code(2);
}

#[test]
fn a_folder_that_is_not_there_is_made() {
    let project = Project::new();
    project
        .run(&["init", "new/agent"])
        .code(0)
        .warns("next: cd new/agent && ctxc check");
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
    let project = Project::new().file("we{ird \"x\"/a.xml", TASK);
    project.run(&["init"]).code(0);
    assert!(
        project
            .read("ctxc.toml")
            .contains(r#"include = ["we?ird \"x\""]"#),
        "{}",
        project.read("ctxc.toml")
    );
    project.run(&["defaults"]).code(0).silent();
}

#[test]
#[cfg(unix)]
fn a_place_that_takes_no_files_is_said() {
    let project = Project::new().file("plain", "a file");
    let run = project.run(&["init", "plain/below"]).code(3);
    run.warns("cannot write plain/below/templates/summarize-document.xml: a part of the path is a file, not a folder");
}

#[test]
fn the_lints_that_the_project_file_shows_are_ones_that_it_takes() {
    let project = Project::new().file("prompts/a.xml", TASK);
    project.run(&["init"]).code(0);
    let shown = project.read("ctxc.toml");
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
        project.write(
            "ctxc.toml",
            uncommented.replace(
                "no-context = \"error\"",
                &format!("no-context = \"{level}\""),
            ),
        );
        project.run(&["check"]).code(0);
    }
}

#[test]
fn a_project_file_inside_another_project_is_named_by_check() {
    let project = Project::new()
        .file("ctxc.toml", "")
        .file("templates/a.xml", TASK);
    let project = project
        .file("templates/sub/ctxc.toml", "")
        .file("templates/sub/templates/a.xml", TASK);
    let run = project
        .run(&["check", "--format", "concise"])
        .code(1)
        .says("duplicate-name");
    run.warns(
        "templates/sub/ctxc.toml is not read: its templates are checked as those of this project.",
    );
    let project = project.file("ctxc.toml", "[templates]\nexclude = [\"templates/sub\"]\n");
    let run = project
        .run(&["check"])
        .code(0)
        .says("checked 1 file: nothing found");
    assert_eq!(run.stderr, "");
    project
        .run(&["check", "--project", "templates/sub"])
        .code(0)
        .says("checked 1 file: nothing found");
}

#[test]
fn a_project_inside_another_is_said() {
    let project = Project::new()
        .file("ctxc.toml", "edition = \"2026\"\n")
        .file("sub/notes.md", "x");
    project
        .run(&["init", "sub"])
        .code(0)
        .warns(" is a project too, around this one: in this folder commands take the new one");
    project
        .run(&["init", "new/deep"])
        .code(0)
        .warns(" is a project too, around this one");
    let again = project.run(&["init", "sub"]).code(0);
    assert!(!again.stderr.contains("around"), "{}", again.stderr);
    let alone = Project::new().run(&["init"]).code(0).stderr;
    assert!(!alone.contains("around"), "{alone}");
}
