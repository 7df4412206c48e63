//! No secret of a project gets into a file that ctxc writes: text is masked before it is written,
//! or refused with the place.

use super::project::Project;
use pretty_assertions::assert_eq;

const ANSWER: &str = r#"<task name="answer" type="atomic" subtype="subtask">
  <description>Answer the question about deploys: {{question}}</description>
  <inputs><input name="question" from="question"/></inputs>
  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>
</task>
"#;
/// A task that reads a file by its name.
const READ: &str = r#"<task name="read" type="atomic" subtype="standard">
  <description>Say what the settings are.</description>
  <file_paths source="literal"><path>config/prod.yaml</path></file_paths>
</task>
"#;
/// The value of no service's form.
const PLANTED: &str = "q7Zp2Lx9Vt4Kc8Rw1Nb6Yd3Hs5Jf0GmA";
/// `ann:` and this value in base64, which no mask knows.
const PACKED: &str = "YW5uOnE3WnAyTHg5VnQ0S2M4UncxTmI2WWQzSHM1SmYwR21B";
/// A key of a known form.
const KEY: &str = concat!("sk-", "proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0");
/// A value that only the name before it marks as a secret, so that a document with it is looked up.
const OPAQUE: &str = "a8f3k2m9q1z7";
const QUESTION: &str = "question=how do I roll back?";

/// A project with keys in the usual places.
fn project() -> Project {
    Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/answer.xml", ANSWER)
        .with_file("templates/read.xml", READ)
        .with_file(".env", format!("SHOP_TOKEN={PLANTED}\nDEBUG=true\n"))
        .with_file("id_rsa", format!("roll back with {PLANTED}\n"))
        .with_file(
            "docs/deploys.md",
            format!("# Deploys\n\nRoll back with `rollbackDeploy`, as ann@example.com says.\napiKey: {OPAQUE}\n"),
        )
        .with_file("config/prod.yaml", format!("# roll back\napiKey: {KEY}\nowner: ann@example.com\n"))
}

/// The files of a project that contain a text, except the planted ones.
fn holding(project: &Project, text: &str) -> Vec<String> {
    let planted = [
        ".env",
        ".config/app.env",
        "id_rsa",
        "docs/deploys.md",
        "config/prod.yaml",
    ];
    let files = project
        .files()
        .into_iter()
        .filter(|file| !planted.contains(&file.as_str()));
    files
        .filter(|file| {
            String::from_utf8_lossy(&std::fs::read(project.path(file)).unwrap()).contains(text)
        })
        .collect()
}

#[test]
fn a_new_scenario_and_its_stored_request_are_masked_and_pass_on_every_machine() {
    let project = project();
    let run = project
        .run(&[
            "new", "scenario", "answer", "--input", QUESTION, "--name", "t1",
        ])
        .exits_with(0);
    run.stdout_contains("masked)");
    let scenario = project.read_file("scenarios/t1.yaml");
    assert!(
        scenario.contains("apiKey: ⟦secret:") && scenario.contains("⟦email:"),
        "{scenario}"
    );
    project
        .run(&["new", "scenario", "read", "--name", "t2"])
        .exits_with(0);
    let stored = project.read_file("scenarios/snapshots/t2.json");
    assert!(
        stored.contains("apiKey: ⟦secret⟧") && stored.contains("owner: ⟦email⟧"),
        "{stored}"
    );
    for text in [KEY, OPAQUE, PLANTED, "ann@example.com"] {
        assert_eq!(holding(&project, text), [""; 0], "{text}");
    }
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("2 passed");
    // Another user has another secret behind the placeholders.
    let elsewhere = tempfile::tempdir().unwrap();
    let run = project
        .command(&["eval"])
        .env("XDG_STATE_HOME", elsewhere.path())
        .output()
        .unwrap();
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
    // The value counts for nothing, and every word around it does.
    project.write_file(
        "config/prod.yaml",
        format!(
            "# roll back\napiKey: {}\nowner: bob@example.com\n",
            KEY.replace('1', "7")
        ),
    );
    project.run(&["eval"]).exits_with(0);
    project.write_file(
        "config/prod.yaml",
        format!("# roll forward\napiKey: {KEY}\nowner: ann@example.com\n"),
    );
    let run = project.run(&["eval"]).exits_with(1);
    run.stdout_contains("roll forward")
        .output_lacks("ann@example.com")
        .output_lacks(KEY);
    // A newly stored answer is masked, too.
    project.run(&["eval", "--accept"]).exits_with(0);
    assert!(
        project
            .read_file("scenarios/snapshots/t2.json")
            .contains("roll forward")
    );
    for text in [KEY, "ann@example.com"] {
        assert_eq!(holding(&project, text), [""; 0], "{text}");
    }
    project.run(&["eval"]).exits_with(0);
}

#[test]
fn values_that_no_mask_knows_are_refused_with_their_place() {
    let project = project();
    let input = format!("question=roll back with {PACKED}");
    let args = [
        "new", "scenario", "answer", "--input", &*input, "--name", "t1",
    ];
    let run = project.run(&args).exits_with(2);
    let run = run
        .stderr_contains("was not written: its line")
        .stderr_contains("would hold the value of `SHOP_TOKEN` in .env")
        .stderr_contains("--allow-secrets");
    assert!(!run.stderr.contains(PACKED) && !run.stdout.contains(PACKED));
    assert_eq!(holding(&project, PACKED), [""; 0]);
    assert!(
        !project.path("scenarios").exists(),
        "none of several files is written"
    );
    project
        .run(&[&args[..], &["--allow-secrets"]].concat())
        .exits_with(0);
    assert!(!holding(&project, PACKED).is_empty());
}

/// A value of an environment file is masked at every place, in hidden folders too; a short one is
/// refused.
#[test]
fn values_of_environment_files_are_masked_in_what_is_written() {
    let project = project().with_file(
        ".config/app.env",
        "DB_PASSWORD='first horse 1\n second battery 2'\nOLD_PASS=sword!\n",
    );
    let input = format!("question=roll back with {PLANTED} and second battery 2");
    project
        .run(&[
            "new", "scenario", "answer", "--input", &input, "--name", "t1",
        ])
        .exits_with(0)
        .stdout_contains("masked)");
    for text in [PLANTED, "second battery 2"] {
        assert_eq!(holding(&project, text), [""; 0], "{text}");
    }
    let run = project
        .run(&[
            "new",
            "scenario",
            "answer",
            "--input",
            "question=why sword! then",
            "--name",
            "t2",
        ])
        .exits_with(2);
    run.stderr_contains("would hold the value of `OLD_PASS` in .config/app.env");
}

#[test]
fn a_rendered_file_is_never_altered_and_refused_if_it_holds_a_secret() {
    let project = project();
    let shown = project
        .run(&["render", "read", "--raw"])
        .exits_with(0)
        .stdout;
    assert!(
        shown.contains(KEY) && shown.contains("ann@example.com"),
        "{shown}"
    );
    let run = project
        .run(&["render", "read", "--raw", "-o", "out.txt"])
        .exits_with(2);
    let run = run
        .stderr_contains("out.txt was not written: its line")
        .stderr_contains("what looks like a secret, under the name `apiKey`");
    assert!(!run.stderr.contains(KEY) && !project.path("out.txt").exists());
    project
        .run(&[
            "render",
            "read",
            "--raw",
            "-o",
            "out.txt",
            "--allow-secrets",
        ])
        .exits_with(0);
    assert_eq!(project.read_file("out.txt"), shown);
    // An existing file stays as it is.
    project.write_file("out.txt", "before\n");
    project
        .run(&["render", "read", "--raw", "-o", "out.txt"])
        .exits_with(2);
    assert_eq!(project.read_file("out.txt"), "before\n");
    project.write_file("config/prod.yaml", "owner: ann@example.com\n");
    project
        .run(&["render", "read", "--raw", "-o", "out.txt"])
        .exits_with(0);
    assert!(
        project.read_file("out.txt").contains("ann@example.com"),
        "personal data alone refuse no file"
    );
}

#[test]
fn of_several_files_none_is_written_if_one_is_refused() {
    let project = project().with_file("scenarios/t.yaml", format!("name: t\ntask: answer\ncontext:\n  objective: go\n  inputs: {{question: why}}\nexpect_context:\n  - contains: \"x {PACKED}\"\n"));
    let reports = [
        "eval",
        "--report",
        "junit=a.xml",
        "--report",
        "json=b.json",
        "--report",
        "markdown=c.md",
        "--report",
        "html=d.html",
    ];
    let run = project.run(&reports).exits_with(2);
    run.stderr_contains("would hold the value of `SHOP_TOKEN` in .env");
    assert!(
        ["a.xml", "b.json", "c.md", "d.html"]
            .iter()
            .all(|file| !project.path(file).exists())
    );
    project
        .run(&[&reports[..], &["--allow-secrets"]].concat())
        .exits_with(1);
    assert!(
        ["a.xml", "b.json", "c.md", "d.html"]
            .iter()
            .all(|file| project.path(file).exists())
    );
}

#[test]
fn nothing_is_stored_if_its_report_is_refused() {
    let project = project().with_file(
        "scenarios/t.yaml",
        format!("name: t\ntask: answer\ncontext:\n  objective: go\n  inputs: {{question: why}}\nexpect_context:\n  - contains: \"x {PACKED}\"\n  - snapshot: true\n"),
    );
    let accept = ["eval", "--accept", "--report", "json=b.json"];
    project
        .run(&accept)
        .exits_with(2)
        .stderr_contains("would hold the value of `SHOP_TOKEN` in .env");
    assert!(!project.path("scenarios/snapshots").exists() && !project.path("b.json").exists());
    project
        .run(&[&accept[..], &["--allow-secrets"]].concat())
        .exits_with(1)
        .stderr_contains("stored: scenarios/snapshots/t.json");
    assert!(project.path("scenarios/snapshots/t.json").exists() && project.path("b.json").exists());
}

#[test]
fn an_input_is_masked_by_its_name_and_by_the_keys_in_it() {
    let task = r#"<task name="login" type="atomic"><description>Log in with {{password}} and {{more}}.</description>
        <parameters><parameter name="password" type="string" required="true"/><parameter name="more" type="object" required="true"/></parameters></task>"#;
    let project = project().with_file("templates/login.xml", task);
    let more = format!(
        "more={{\"db_password\": \"{0}\", \"user\": \"joe\"}}",
        "Tr0ub4dor-zx"
    );
    let args = [
        "new",
        "scenario",
        "login",
        "--name",
        "t",
        "--input",
        "password=B4ttery-staple",
        "--input",
        &*more,
    ];
    project
        .run(&args)
        .exits_with(0)
        .stdout_contains("2 secrets masked");
    for text in ["B4ttery-staple", "Tr0ub4dor-zx"] {
        assert_eq!(holding(&project, text), [""; 0], "{text}");
    }
    assert!(
        project.read_file("scenarios/t.yaml").contains("joe"),
        "{}",
        project.read_file("scenarios/t.yaml")
    );
    project.run(&["eval"]).exits_with(0);
}

#[test]
fn reports_and_manifests_hold_no_value() {
    let scenario = "name: t\ntask: read\ncontext: {objective: go}\nexpect_context:\n  - absent: \"owner: ann@example.com\"\n  - absent: apiKey\n  - snapshot: true\n";
    let project = project()
        .with_file("scenarios/t.yaml", scenario)
        .with_file("scenarios/snapshots/t.json", "{}\n");
    let reports = [
        "eval",
        "--diff",
        "--report",
        "junit=a.xml",
        "--report",
        "json=b.json",
        "--report",
        "markdown=c.md",
        "--report",
        "html=d.html",
    ];
    project.run(&reports).exits_with(1);
    for file in ["a.xml", "b.json", "c.md", "d.html"] {
        assert!(!project.read_file(file).contains(KEY), "{file}");
    }
    assert!(project.read_file("b.json").contains("⟦secret⟧"));
    project.run(&["manifest", "-o", "m.txt"]).exits_with(0);
    project
        .run(&["manifest", "--format", "html", "-o", "m.html"])
        .exits_with(0);
    project.run(&["build"]).exits_with(0);
    assert_eq!(holding(&project, KEY), [""; 0]);
}

#[test]
fn an_imported_prompt_with_a_key_is_refused_before_anything_is_written() {
    let project = project().with_file("prompts/a.j2", "Say hello to {{ name }}.\n").with_file(
        "prompts/b.prompty",
        format!("---\nname: b\nmodel:\n  api: chat\n---\nsystem:\nUse api_key: {PLANTED}\n\nuser:\nHello {{{{name}}}}\n"),
    );
    project
        .run(&["import", "prompts"])
        .exits_with(2)
        .stderr_contains("would hold the value of `SHOP_TOKEN`");
    assert_eq!(
        project
            .files()
            .iter()
            .filter(|file| file.starts_with("templates/"))
            .count(),
        2
    );
}

#[test]
fn nothing_that_is_shipped_looks_like_a_secret() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let scan = ctxc::internals::record::secret_scan::SecretScan::default();
    let mut found = Vec::new();
    let mut count = 0;
    for folder in [
        "templates",
        "scenarios",
        "examples",
        "docs",
        "schema",
        "editors",
        "python",
        "tests/cases",
        "tests/compat",
        "tests/import",
    ] {
        for entry in ignore::WalkBuilder::new(root.join(folder))
            .build()
            .flatten()
        {
            let Ok(text) = std::fs::read_to_string(entry.path()) else {
                continue;
            };
            count += 1;
            let lines = text
                .lines()
                .zip(1..)
                .filter_map(|(line, number)| Some((number, scan.find_secret(line)?)));
            found.extend(
                lines.map(|(number, secret)| {
                    format!("{}:{number}: {secret}", entry.path().display())
                }),
            );
        }
    }
    assert!(count > 500, "{count}");
    assert_eq!(found, [""; 0], "of {count} files");
}

/// Environment files deep below a project, beside it in its repository, and under each name that
/// tools read.
#[test]
fn environment_files_are_found_wherever_the_repository_has_them() {
    for (number, name) in [
        "a/b/c/d/.env",
        "../backend/.env",
        "../.env-prod",
        ".ENV",
        ".env~",
        ".flaskenv",
        ".dev.vars",
        ".env.defaults",
        "x/prod.env",
        "utf16/.env",
    ]
    .into_iter()
    .enumerate()
    {
        let value = format!("sw0rdfish-{number}");
        let text = format!("DB_PASSWORD={value}\n");
        let text = match name {
            "utf16/.env" => "\u{feff}"
                .encode_utf16()
                .chain(text.encode_utf16())
                .flat_map(u16::to_le_bytes)
                .collect(),
            _ => text.into_bytes(),
        };
        let outer = Project::new().with_file(".git/HEAD", "");
        let files = environment_files_of(&outer, name, &text);
        assert_eq!(files, [name], "{name}");
    }
    for name in [
        ".env.example",
        ".env.sample",
        ".env-template",
        "node_modules/x/.env",
        "environment.ts",
    ] {
        let outer = Project::new().with_file(".git/HEAD", "");
        assert_eq!(
            environment_files_of(&outer, name, b"DB_PASSWORD=sw0rdfish-1\n"),
            [""; 0],
            "{name}"
        );
    }
}

/// The environment files of the project `agents` in a repository that has one file more, each with
/// its value.
fn environment_files_of(repository: &Project, name: &str, text: &[u8]) -> Vec<String> {
    let root = repository.path("agents");
    let path = root.join(name);
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let files = ctxc::internals::record::environment_files::environment_files(&root);
    assert!(
        files
            .iter()
            .all(|file| file.text.contains("DB_PASSWORD=sw0rdfish")),
        "{files:?}"
    );
    files.into_iter().map(|file| file.path).collect()
}
