//! `search`, and the lookups of `render` and `manifest`: one index, one answer.

use super::project::Project;
use pretty_assertions::assert_eq;

const ANSWER: &str = r#"<task name="answer" type="atomic" subtype="subtask">
  <description>Answer the question about deploys: {{question}}</description>
  <inputs><input name="question" from="question"/></inputs>
  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>
</task>
"#;
const PLAIN: &str = r#"<task name="plain" type="atomic" subtype="standard">
  <description>Say hello to the deploy</description>
  <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>
</task>
"#;

/// A project with something to look up.
fn sample() -> Project {
    let mut project = Project::new()
        .with_file("templates/answer.xml", ANSWER)
        .with_file("templates/plain.xml", PLAIN)
        .with_file(
            "docs/deploys.md",
            "# Deploys\n\nRoll back a deploy with `rollbackDeploy`.\n",
        )
        .with_file("docs/pager.md", "# The pager\n\nIt rings.\n")
        .with_file("data/picture.html", b"\0\x01\x02");
    for at in 0..8 {
        project = project.with_file(&format!("docs/other{at}.md"), "nothing of the kind\n");
    }
    project
}

const GIVEN: [&str; 3] = ["answer", "--input", "question=how do I roll back?"];

fn with<'a>(verb: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [verb]
        .into_iter()
        .chain(GIVEN)
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn a_search_reports_what_is_found_and_why() {
    let project = sample();
    let run = project
        .run(&["search", "how do I", "roll back a deploy?"])
        .exits_with(0);
    assert_eq!(
        run.stdout,
        "docs/deploys.md  100 %: roll, back, deploy\n    # Deploys\n    Roll back a deploy with `rollbackDeploy`.\n\
         1 of 10 passages in 10 files, by roll, back, deploy\n"
    );
    assert_eq!(run.stderr, "");
    let json = project
        .run(&["search", "--json", "--limit", "1", "deploys pager"])
        .exits_with(0)
        .json();
    assert_eq!(
        (json["matches"].as_array().unwrap().len(), &json["files"]),
        (1, &10.into())
    );
    assert_eq!(json["skipped"][0]["path"], "data/picture.html");
    let none = project.run(&["search", "zebra \" OR * ("]).exits_with(0);
    assert_eq!(
        none.stdout,
        "no match: none of zebra occurs in any of 10 passages in 10 files\n"
    );
    let empty = project.run(&["search", "how", "do I"]).exits_with(0);
    assert_eq!(
        empty.stdout,
        "no match: the query has only stop words, such as `the` and `how`\n"
    );
    let all = project.run(&["search"]).exits_with(0);
    assert_eq!(
        all.stdout,
        "10 passages in 10 files can be looked up\nleft out: data/picture.html: it holds no text\n"
    );
    assert_eq!(
        project.run(&["search", "-q", "zebra"]).exits_with(0).stdout,
        ""
    );
}

#[test]
fn templates_and_what_ctxc_writes_are_no_context() {
    let project = sample();
    project.run(&["build"]).exits_with(0);
    project
        .run(&["manifest", "--output", "context-manifest.json"])
        .exits_with(0);
    let found = project
        .run(&[
            "search",
            "--json",
            "answer question deploys subtask fresh_context",
        ])
        .exits_with(0)
        .json();
    let ids: Vec<&str> = found["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["docs/deploys.md"]);
}

#[test]
fn the_project_file_selects_the_examined_files() {
    let project = sample()
        .with_file(".gitignore", "build/\n")
        .with_file("build/deploys.md", "deploys, made by a tool\n");
    let ids = |project: &Project| {
        let found = project
            .run(&["search", "--json", "deploys"])
            .exits_with(0)
            .json();
        found["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&project), ["docs/deploys.md"]);
    project.write_file(
        "ctxc.toml",
        "[context]\ninclude = [\"docs\"]\nexclude = [\"docs/deploys.md\"]\ndocuments = [\"build/*.md\", \"gone.md\"]\n",
    );
    assert_eq!(ids(&project), ["build/deploys.md"]);
    let run = project.run(&["search", "deploys"]).exits_with(0);
    assert!(
        run.stdout
            .contains("left out: gone.md: there is no such file"),
        "{}",
        run.stdout
    );
    project.write_file("ctxc.toml", "[context]\ndocuments = [\"../handbook.md\"]\n");
    project
        .run(&["search", "deploys"])
        .exits_with(2)
        .stderr_contains("ctxc.toml:2:14: ");
}

#[test]
fn render_manifest_and_search_agree() {
    let project = sample();
    let rendered = project
        .run(&with("render", &["--explain"]))
        .exits_with(0)
        .stdout;
    assert!(rendered.contains("fresh:docs/deploys.md"), "{rendered}");
    assert!(
        rendered.contains("looked up: docs/deploys.md"),
        "{rendered}"
    );
    let manifest = project
        .run(&with("manifest", &["--json"]))
        .exits_with(0)
        .json();
    let segments = manifest["entries"][0]["segments"].as_array().unwrap();
    let parts: Vec<(&str, u64)> = segments
        .iter()
        .map(|part| {
            (
                part["id"].as_str().unwrap(),
                part["tokens"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        parts.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["description", "fresh:docs/deploys.md"]
    );
    assert!(
        segments
            .iter()
            .all(|part| part["variable"].as_array().unwrap().is_empty()),
        "all of it is known"
    );
    for (id, tokens) in parts {
        let line = rendered
            .lines()
            .find(|line| line.starts_with(&format!("{id} ")))
            .unwrap();
        let shown_tokens = line[id.len()..].trim_start().split(' ').next().unwrap();
        assert_eq!(shown_tokens, tokens.to_string(), "{line}");
    }
    // Without the value no lookup is possible, and the manifest of everything stays the same for
    // any content of the files.
    let open = project
        .run(&["manifest", "answer", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(open["entries"][0]["segments"][1]["id"], "fresh");
    assert_eq!(open["entries"][0]["segments"][1]["variable"][0], "matches");
    let whole = project.run(&["manifest", "--json"]).exits_with(0).stdout;
    project.write_file("docs/more.md", "more about deploys and how to roll back\n");
    assert_eq!(
        project.run(&["manifest", "--json"]).exits_with(0).stdout,
        whole
    );
    assert!(
        project
            .run(&with("render", &[]))
            .exits_with(0)
            .stdout
            .contains("more about deploys"),
        "an edit is seen at once"
    );
}

#[test]
fn a_lookup_can_be_switched_off() {
    let project = sample();
    let rendered = project
        .run(&with(
            "render",
            &["--no-index", "--explain", "--cache-dir", "kept"],
        ))
        .exits_with(0)
        .stdout;
    assert!(!rendered.contains("fresh:"), "{rendered}");
    let manifest = project
        .run(&with(
            "manifest",
            &["--no-index", "--json", "--cache-dir", "kept"],
        ))
        .exits_with(0)
        .json();
    assert_eq!(
        manifest["entries"][0]["segments"][1]["variable"][0],
        "matches"
    );
    assert!(!project.path("kept").exists());
}

#[test]
fn what_looks_nothing_up_opens_no_index() {
    let project = sample();
    project
        .run(&["render", "plain", "--cache-dir", "kept"])
        .exits_with(0);
    project
        .run(&["manifest", "--cache-dir", "kept"])
        .exits_with(0);
    project
        .run(&["manifest", "plain", "--cache-dir", "kept"])
        .exits_with(0);
    assert!(!project.path("kept").exists());
    project
        .run(&with("render", &["--cache-dir", "kept"]))
        .exits_with(0)
        .stderr_is_empty();
    let kept = std::fs::read_dir(project.path("kept"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert!(kept.join("search.db").exists() && !project.path(".ctxc").exists());
}

#[test]
fn a_broken_template_keeps_no_one_from_searching() {
    let project = sample().with_file("templates/bad.xml", "<task name=\"bad\"");
    assert!(
        project
            .run(&["search", "deploys"])
            .exits_with(0)
            .stdout
            .contains("docs/deploys.md")
    );
    let empty = Project::new().with_file("notes.md", "zebra\n");
    assert!(
        empty
            .run(&["search", "zebra"])
            .exits_with(0)
            .stdout
            .starts_with("notes.md  100 %: zebra\n")
    );
}

#[test]
fn programs_that_ask_at_once_agree() {
    let project = sample();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            let run = project
                .run(&["search", "--json", "roll back deploys pager"])
                .exits_with(0);
            assert_eq!(run.stderr, "");
            run.stdout
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
}

#[test]
fn a_search_leaves_nothing_in_the_folder_that_it_looks_at() {
    let project = Project::new().with_file("a.md", "a zebra\n");
    project
        .run(&["search", "zebra"])
        .exits_with(0)
        .stdout_contains("a.md")
        .stderr_is_empty();
    assert_eq!(project.files(), ["a.md"]);
    // Without a home nothing is kept, and the answer is the same.
    let mut command = project.command(&["search", "zebra"]);
    command
        .env("XDG_CACHE_HOME", "here")
        .env_remove("LOCALAPPDATA")
        .env_remove("HOME");
    let run = super::project::ProgramRun::from(command.output().unwrap()).exits_with(0);
    run.stdout_contains("a.md")
        .stderr_contains("looked up in memory")
        .stderr_contains(
            "no folder for caches is known; `--cache-dir` or CTXC_CACHE_DIR names one",
        );
    assert_eq!(project.files(), ["a.md"]);
}

#[test]
fn a_role_keeps_its_protected_files_from_its_own_lookups() {
    let words = "how do I roll back a deploy";
    let role = |name: &str, path: &str| {
        format!("[roles.{name}]\ntemplate = \"answer\"\nprotected_paths = [\"{path}\"]\n")
    };
    let config = role("clerk", "billing/**") + &role("reader", "**");
    let project = sample()
        .with_file("ctxc.toml", config)
        .with_file("billing/notes.md", format!("{words} planted"));
    for (role, is_there, is_planted) in [
        (None, true, false),
        (Some("clerk"), true, false),
        (Some("reader"), false, false),
    ] {
        let subject = role.map_or(vec!["answer"], |role| vec!["--role", role]);
        let args = [
            &["render"],
            &*subject,
            &["--input", "question=how do I roll back a deploy?"],
        ]
        .concat();
        let rendered = project.run(&args).exits_with(0).stdout;
        assert_eq!(
            (
                rendered.contains("rollbackDeploy"),
                rendered.contains("planted")
            ),
            (is_there, is_planted),
            "{role:?}"
        );
    }
    // A file that one role protects, another one looks up.
    project.write_file(
        "ctxc.toml",
        role("clerk", "billing/**") + &role("writer", "src/**"),
    );
    let rendered = project
        .run(&[
            "render",
            "--role",
            "writer",
            "--input",
            "question=how do I roll back a deploy?",
        ])
        .exits_with(0)
        .stdout;
    assert!(rendered.contains("planted"), "{rendered}");
    assert!(
        !project
            .run(&["search", words])
            .exits_with(0)
            .stdout
            .contains("planted")
    );
}

#[test]
fn no_key_and_no_environment_file_reaches_an_agent() {
    let marks = [
        "planted-one",
        "planted-two",
        "planted-three",
        "planted-four",
        "planted-five",
        "planted-six",
    ];
    let words = "how do I roll back a deploy";
    let project = sample()
        .with_file(
            "ctxc.toml",
            "[roles.clerk]\ntemplate = \"answer\"\nprotected_paths = [\"billing/**\"]\n",
        )
        .with_file(".gitignore", "private/\n")
        .with_file("id_rsa", format!("{words} {}", marks[0]))
        .with_file(".env", format!("DEPLOY_KEY={} # {words}\n", marks[1]))
        .with_file(
            "config/prod.yaml",
            format!("# {words}\napiKey: {}\n", marks[2]),
        )
        .with_file("private/notes.md", format!("{words} {}", marks[3]))
        .with_file("billing/notes.md", format!("{words} {}", marks[4]))
        .with_file(
            "deploy/Prod.ENV",
            format!("DEPLOY_KEY={} # {words}\n", marks[5]),
        );
    let held = |text: &str| {
        marks
            .into_iter()
            .filter(|mark| text.contains(mark))
            .collect::<Vec<_>>()
    };
    for role in [&[][..], &["--role", "clerk"]] {
        let task = if role.is_empty() {
            &["answer"][..]
        } else {
            &[]
        };
        let args = [
            &["render"],
            task,
            role,
            &["--input", "question=how do I roll back a deploy?"],
        ]
        .concat();
        let rendered = project.run(&args).exits_with(0).stdout;
        assert!(rendered.contains("rollbackDeploy"), "{rendered}");
        assert_eq!(held(&rendered), [""; 0], "{rendered}");
    }
    let found = project.run(&["search", "--json", words]).exits_with(0);
    assert_eq!(held(&found.stdout), [""; 0], "{}", found.stdout);
    let skipped = found.json()["skipped"].clone();
    let why = |path: &str| {
        let all = skipped.as_array().unwrap();
        all.iter()
            .find(|one| one["path"] == path)
            .map(|one| one["why"].as_str().unwrap().to_owned())
    };
    let named = "its name is that of a key, a credential or an environment file";
    assert_eq!(why("id_rsa").as_deref(), Some(named));
    assert_eq!(why("deploy/Prod.ENV").as_deref(), Some(named));
    assert_eq!(
        why("billing/notes.md").as_deref(),
        Some("role `clerk` protects it")
    );
    assert_eq!(
        why("config/prod.yaml").as_deref(),
        Some("its type is not looked up unless `[context] include` names it")
    );
    let shown = project.run(&["search", words]).exits_with(0).stdout;
    assert!(
        shown.contains(&format!("left out: deploy/Prod.ENV: {named}")),
        "{shown}"
    );
    let all = project.run(&["search"]).exits_with(0).stdout;
    let types = "left out: 1 file of other types (1 yaml): `[context] include` takes any type, and `--verbose` names them\n";
    assert!(all.ends_with(types), "{all}");
    assert!(
        project
            .run(&["search", "-v"])
            .exits_with(0)
            .stdout
            .contains("left out: config/prod.yaml: its type")
    );
    // A pattern brings in other types, and no key.
    project.write_file(
        "ctxc.toml",
        "[context]\ninclude = [\"**\", \"private\"]\n[roles.clerk]\ntemplate = \"answer\"\nprotected_paths = [\"billing/**\"]\n",
    );
    let found = project
        .run(&["search", "--json", "--limit", "50", words])
        .exits_with(0)
        .stdout;
    assert_eq!(held(&found), [marks[2]], "{found}");
}
