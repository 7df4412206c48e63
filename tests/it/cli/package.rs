//! Packages: what is packed, what is refused, and the proof that is repeated elsewhere.

use super::eval_answers::recorded_once;
use super::project::{ProgramRun, Project};
use ctxc::internals::base::hash::Hash;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::process::Command;

const PACKAGE: &str =
    "[package]\nname = \"acme/rules\"\nversion = \"1.0.0\"\nexports = [\"tasks/triage\"]\n";
const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}</description>\n  <parameters>\n    \
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";

/// A package whose scenario has a scripted answer.
fn scripted() -> Project {
    Project::new()
        .with_file("ctxc.toml", PACKAGE)
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/billing.yaml",
            "name: billing\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpectations:\n  - contains: [billing]\nanswers:\n  - reply: billing\n",
        )
}

/// A package with a recorded answer.
fn recorded() -> Project {
    let project = recorded_once();
    let scenario = project.read_file("scenarios/billing.yaml");
    project.write_file(
        "scenarios/billing.yaml",
        format!("{scenario}runs: 1\npass_threshold: 1\n"),
    );
    project.write_file("ctxc.toml", format!("{PACKAGE}recordings = true\n"));
    project
}

fn pack(project: &Project, more: &[&str]) -> ProgramRun {
    project.run(&[&["package", "pack", "-o", "p.tar.zst"], more].concat())
}

fn archive(project: &Project) -> Vec<u8> {
    std::fs::read(project.path("p.tar.zst")).unwrap()
}

/// The description in an archive, and its other files.
fn unpacked(project: &Project) -> (Value, Vec<String>) {
    let tar = zstd::decode_all(archive(project).as_slice()).unwrap();
    let mut tar = tar::Archive::new(tar.as_slice());
    let (mut document, mut names) = (Value::Null, Vec::new());
    for entry in tar.entries().unwrap() {
        let entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        if name == "ctxc-package.json" {
            document = serde_json::from_reader(entry).unwrap();
        } else {
            names.push(name);
        }
    }
    (document, names)
}

/// Descriptions of packages, for the tests of their schema.
pub(crate) fn documents() -> Vec<Value> {
    let all_kinds = super::package_changes::package();
    let library = all_kinds.read_file("templates/house.xml");
    let untrusted = library.replace("\"house\"", "\"house\" trust=\"untrusted\"");
    let variable = untrusted.replace("in English", "in {{tone}} English");
    all_kinds.write_file("templates/house.xml", variable);
    let settings = all_kinds.read_file("ctxc.toml").replace(
        "budget =",
        "protected_paths = [\".env\"]\ntemperature = 0\nmodel = \"small\"\nbudget =",
    );
    let rest = "[[require]]\nmust = [\"has description\"]\n[models.small]\nid = \"small\"\nprovider = \"house\"\n\
        tier = \"economy\"\ncontext_window = 8000\n[providers.house]\nkind = \"openai\"\nbase_url = \"http://localhost:1\"\n";
    all_kinds.write_file("ctxc.toml", settings + rest);
    pack(&all_kinds, &[]).exits_with(0);
    let tested = scripted();
    tested.write_file("ctxc.toml", format!("{PACKAGE}license = \"MIT\"\n"));
    pack(&tested, &["--allow-hidden", "none yet"]).exits_with(0);
    vec![unpacked(&all_kinds).0, unpacked(&tested).0]
}

/// An empty environment: no home, no state, no program on its path.
fn verify_elsewhere(project: &Project) -> ProgramRun {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("p.tar.zst");
    std::fs::write(&place, archive(project)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxc"));
    command
        .args(["package", "verify", "p.tar.zst"])
        .current_dir(folder.path())
        .env_clear();
    let run = ProgramRun::from(command.output().unwrap());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    run
}

#[test]
fn a_package_has_the_same_bytes_in_every_folder() {
    let (first, second) = (recorded(), recorded());
    pack(&first, &["--yes"]).exits_with(0);
    let stamp = std::time::UNIX_EPOCH + std::time::Duration::from_hours(272_544);
    for file in second.files() {
        let file = std::fs::File::options()
            .write(true)
            .open(second.path(&file))
            .unwrap();
        file.set_modified(stamp).unwrap();
    }
    pack(&second, &["--yes"])
        .exits_with(0)
        .stdout_contains("acme/rules 1.0.0, 5 files, 1 of 1 scenario passes here");
    assert_eq!(archive(&first), archive(&second));
    let (document, names) = unpacked(&first);
    assert_eq!(
        names,
        [
            "ctxc.toml",
            "scenarios/billing.yaml",
            "scenarios/recordings/billing.jsonl",
            "templates/triage.xml"
        ]
    );
    assert_eq!(document["schema"], "ctxc/package/1");
    assert_eq!(document["files"].as_object().unwrap().len(), 4);
    assert_eq!(document["scorecard"]["summary"]["passed"], 1);
    assert_eq!(document["manifest"]["entries"][0]["task"], "triage");
    assert_eq!(document["registry"]["tasks"][0]["name"], "triage");
    let inputs = &document["exports"]["tasks/triage"]["inputs"];
    assert_eq!(inputs["ticket"]["required"], true, "{document}");
}

#[test]
fn the_proof_is_repeated_without_anything_of_the_author() {
    let project = recorded();
    pack(&project, &["--yes"]).exits_with(0);
    verify_elsewhere(&project)
        .exits_with(0)
        .stdout_contains("acme/rules 1.0.0: 1 of 1 scenario passes here");
    // Without recordings, only contexts are judged.
    project.write_file("ctxc.toml", PACKAGE);
    pack(&project, &[]).exits_with(0);
    verify_elsewhere(&project)
        .exits_with(7)
        .stdout_contains("0 of 0 scenarios pass here; the answers of 1 not run");
    let scenario = project.read_file("scenarios/billing.yaml");
    project.write_file(
        "scenarios/billing.yaml",
        format!("{scenario}expect_context:\n  - tokens: {{max: 200}}\n"),
    );
    pack(&project, &[])
        .exits_with(0)
        .stdout_contains("the answers of 1 not run");
    verify_elsewhere(&project).exits_with(0).stdout_contains(
        "1 of 1 scenario passes here; the answers of 1 not run: the package has none",
    );
}

#[test]
fn commands_of_a_package_are_not_run_where_it_is_verified() {
    let project = scripted();
    let mark = project.path("ran");
    let scenario = project.read_file("scenarios/billing.yaml");
    project.write_file(
        "scenarios/billing.yaml",
        scenario.replace(
            "expectations:\n",
            &format!("expectations:\n  - command: [touch, {}]\n", mark.display()),
        ),
    );
    pack(&project, &[]).exits_with(0);
    verify_elsewhere(&project)
        .exits_with(7)
        .stdout_contains("0 of 0 scenarios pass here; 1 not run");
    assert!(!mark.exists());
}

#[test]
fn recorded_answers_are_packed_after_they_were_listed() {
    let project = recorded();
    let refused = pack(&project, &[])
        .exits_with(2)
        .stderr_contains("scenarios/recordings/billing.jsonl  1 call of")
        .stderr_contains("the recorded answers were not permitted");
    refused.stdout_is_empty();
    assert!(!project.path("p.tar.zst").exists());
    project
        .run_with_input(&["package", "pack", "-o", "p.tar.zst"], b"y\n")
        .exits_with(0);
    pack(&project, &["--yes"])
        .exits_with(0)
        .stderr_contains("1 call of");
}

#[test]
fn a_recording_with_a_value_that_masks_replace_is_not_packed() {
    let project = recorded();
    let path = "scenarios/recordings/billing.jsonl";
    let answer = project.read_file(path);
    project.write_file(
        path,
        answer.replace("\"billing\"", "\"billing, for ada.lovelace@example.org\""),
    );
    pack(&project, &["--yes"])
        .exits_with(1)
        .stderr_contains("scenarios/recordings/billing.jsonl:1: the masks of this project would replace a value here")
        .output_lacks("lovelace");
}

#[test]
fn a_package_that_does_not_work_is_not_packed() {
    let refused = |change: &dyn Fn(&Project), code: i32, expected: &str| {
        let project = scripted();
        change(&project);
        pack(&project, &[])
            .exits_with(code)
            .stderr_contains(expected);
        assert!(!project.path("p.tar.zst").exists(), "{expected}");
    };
    refused(
        &|project| project.write_file("ctxc.toml", "[project]\nname = \"x\"\n"),
        2,
        "ctxc.toml has no `[package]`",
    );
    refused(
        &|project| {
            project.write_file(
                "templates/more.xml",
                "<task name=\"more\" type=\"atomc\"/>\n",
            );
        },
        1,
        "error",
    );
    refused(
        &|project| {
            let scenario = project.read_file("scenarios/billing.yaml");
            project.write_file(
                "scenarios/billing.yaml",
                scenario.replace("reply: billing", "reply: access"),
            );
        },
        1,
        "scenarios/billing.yaml:1: `billing` is fail",
    );
    refused(
        &|project| project.write_file("ctxc.toml", PACKAGE.replace("tasks/triage", "roles/clerk")),
        1,
        "the package exports `roles/clerk`, and does not define it",
    );
    refused(
        &|project| {
            project.write_file("notes/house.md", "Be kind.\n");
            project.write_file(
                "templates/triage.xml",
                TASK.replace(
                    "  <parameters>",
                    "  <instructions src=\"../notes/house.md\"/>\n  <parameters>",
                ),
            );
        },
        1,
        "notes/house.md",
    );
    refused(
        &|project| project.write_file("templates/notes.md", "Sort.\u{E0041}\u{E0042}\n"),
        1,
        "templates/notes.md:1: U+E0041: models read this character",
    );
    refused(
        &|project| {
            project.write_file("templates/notes.md", "key: AKIAIOSFODNN7EXAMPLQ\naws_secret_access_key = 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\n");
        },
        2,
        "templates/notes.md was not written",
    );
}

#[test]
fn check_reports_what_a_package_would_lack() {
    let project = scripted();
    let expect = |settings: &str, expected: &str| {
        project.write_file("ctxc.toml", PACKAGE.replace("[\"tasks/triage\"]", settings));
        for verb in [
            &["check"][..],
            &["package", "pack", "-o", "p.tar.zst"],
            &["package", "can-publish", "--consumer", "."],
        ] {
            let run = project.run(verb);
            let printed = format!("{}{}", run.stdout, run.stderr);
            assert!(
                run.code != Some(0) && printed.contains(expected),
                "{printed}"
            );
        }
    };
    expect(
        "[\"tasks/triaje\"]",
        "the package exports `tasks/triaje`, and does not define it",
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("did you mean `tasks/triage`?");
    expect(
        "[\"tools/search\"]",
        "the package exports `tools/search`, and does not define it",
    );
    expect(
        "[\"tasks/triage\"]\nfiles = [\"scenarios/**\"]",
        "the package exports `tasks/triage`, and its `files` leave out templates/triage.xml",
    );
    project.write_file(
        "ctxc.toml",
        PACKAGE.replace(
            "[\"tasks/triage\"]",
            "[\"tasks/triage\"]\nfiles = [\"templates/*.xml\", \"scen*\", \"ctxc.toml\"]",
        ),
    );
    project.run(&["check"]).exits_with(0);
    pack(&project, &[]).exits_with(0);
}

#[test]
fn hidden_characters_are_packed_with_a_reason() {
    let project = scripted().with_file("templates/notes.md", "Sort.\u{E0041}\u{E0042}\n");
    pack(&project, &["--allow-hidden", " "]).exits_with(2);
    pack(&project, &["--allow-hidden", "samples of an attack"]).exits_with(0);
    assert_eq!(unpacked(&project).0["hidden_text"], "samples of an attack");
    verify_elsewhere(&project)
        .exits_with(0)
        .stderr_contains("templates/notes.md:1: U+E0041: models read this character")
        .stderr_contains("the reason of the package: samples of an attack");
    // A text that `check` reads is permitted there as well.
    project.write_file(
        "templates/triage.xml",
        TASK.replace("Sort", "Sort\u{E0041}\u{E0042}"),
    );
    pack(&project, &["--allow-hidden", "samples of an attack"])
        .exits_with(1)
        .stderr_contains("`hidden-text = \"off\"` in `[lints]`");
    project.write_file(
        "ctxc.toml",
        format!("{PACKAGE}[lints]\nhidden-text = \"off\"\n"),
    );
    pack(&project, &[])
        .exits_with(1)
        .stderr_contains("`--allow-hidden REASON`, which the package states");
    pack(&project, &["--allow-hidden", "samples of an attack"]).exits_with(0);
    verify_elsewhere(&project).exits_with(0);
}

#[test]
fn settings_of_the_authors_machine_are_not_packed() {
    let config = format!(
        "{PACKAGE}[[package.consumers]]\nsource = \"git+ssh://git.example.org/shop.git@main\"\n[providers.own]\nkind = \"openai\"\nbase_url = \"https://models.example.org\"\n"
    );
    let project = scripted().with_file("ctxc.toml", config);
    pack(&project, &[]).exits_with(0);
    let tar = zstd::decode_all(archive(&project).as_slice()).unwrap();
    let text = String::from_utf8_lossy(&tar);
    assert!(!text.contains("models.example.org") && !text.contains("shop.git"));
    verify_elsewhere(&project).exits_with(0);
}

#[test]
fn private_settings_of_the_shared_file_are_not_packed() {
    let shared =
        "[history]\npath = \"https-of-the-author.db\"\n[lints]\nimplicit-parameter = \"warning\"\n";
    let hash = Hash::digest(shared.as_bytes());
    let own = format!(
        "extends = {{ path = \"shared.toml\", hash = \"{hash}\" }}\n{PACKAGE}[lints]\nnot-shareable = \"off\"\n"
    );
    let project = scripted()
        .with_file("ctxc.toml", own)
        .with_file("shared.toml", shared);
    pack(&project, &[]).exits_with(0);
    let tar = zstd::decode_all(archive(&project).as_slice()).unwrap();
    let text = String::from_utf8_lossy(&tar);
    assert!(text.contains("implicit-parameter") && !text.contains("of-the-author"));
    verify_elsewhere(&project).exits_with(0);
}

#[test]
fn a_changed_archive_is_refused_and_leaves_nothing() {
    let project = scripted();
    pack(&project, &[]).exits_with(0);
    let tar = zstd::decode_all(archive(&project).as_slice()).unwrap();
    let at = String::from_utf8_lossy(&tar).find("my invoice").unwrap();
    let mut changed = tar.clone();
    changed[at..at + 2].copy_from_slice(b"an");
    project.write_file(
        "p.tar.zst",
        zstd::encode_all(changed.as_slice(), 3).unwrap(),
    );
    verify_elsewhere(&project)
        .exits_with(1)
        .stderr_contains("p.tar.zst: `scenarios/billing.yaml` was changed")
        .stdout_is_empty();
    project.write_file("p.tar.zst", "no archive");
    verify_elsewhere(&project)
        .exits_with(1)
        .stderr_contains("it is no archive of a package");
}

#[test]
fn a_result_that_differs_from_the_authors_is_reported() {
    let project = scripted();
    pack(&project, &[]).exits_with(0);
    let (mut document, _) = unpacked(&project);
    document["scorecard"]["cases"][0]["verdict"] = "fail".into();
    repack(&project, &document);
    verify_elsewhere(&project)
        .exits_with(1)
        .stderr_contains("`billing` was fail where the package was packed, and is pass here");
}

#[test]
fn a_description_that_differs_from_the_files_is_reported() {
    let project = scripted();
    pack(&project, &[]).exits_with(0);
    verify_elsewhere(&project).exits_with(0);
    let (document, _) = unpacked(&project);
    for (place, line) in [
        (
            "/exports/tasks~1triage/inputs/ticket/required",
            "exports → tasks/triage → inputs → ticket → required is false there, and true by ctxc",
        ),
        (
            "/manifest/entries/0/segments/0/tokens",
            "manifest → entries → triage / → segments → description → tokens is 77 there, and 8 by",
        ),
        (
            "/scorecard/cases/0/line",
            "scorecard → cases → billing triage / → line is 77 there, and 1 by ctxc",
        ),
        ("/registry/schema", "registry → schema is \"x\" there"),
    ] {
        let mut edited = document.clone();
        let value = edited
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("{place}: {document:#}"));
        *value = if value.is_number() {
            77.into()
        } else if value.is_string() {
            "x".into()
        } else {
            false.into()
        };
        repack(&project, &edited);
        verify_elsewhere(&project)
            .exits_with(1)
            .stderr_contains("ctxc-package.json does not fit the files: ")
            .stderr_contains(line);
    }
    // Another version of ctxc counts otherwise, and has the same exports.
    let mut edited = document;
    edited["tool"] = "0.0.1".into();
    edited["scorecard"]["cases"][0]["line"] = 77.into();
    repack(&project, &edited);
    verify_elsewhere(&project).exits_with(0);
    edited["exports"]["tasks/other"] = edited["exports"]["tasks/triage"].clone();
    repack(&project, &edited);
    verify_elsewhere(&project)
        .exits_with(1)
        .stderr_contains("exports is [\"tasks/other\",\"tasks/triage\"] there");
}

#[test]
fn a_package_in_use_is_verified_by_its_name() {
    let shared = scripted();
    let place = shared.path("");
    let folder = place.to_string_lossy();
    let folder = format!(
        "../{}",
        folder.trim_end_matches('/').rsplit('/').next().unwrap()
    );
    let project = Project::new().with_file(
        "ctxc.toml",
        format!("[dependencies]\n\"acme/rules\" = \"path:{folder}\"\n"),
    );
    project.run(&["package", "update"]).exits_with(0);
    project
        .run(&["package", "verify", "acme/rules"])
        .exits_with(0)
        .stdout_contains("acme/rules 1.0.0: 1 of 1 scenario passes here");
    let lock = project.read_file("ctxc.lock");
    assert!(lock.contains("verified"), "{lock}");
    project
        .run(&["package", "verify", "acme/rules"])
        .exits_with(0);
    assert_eq!(project.read_file("ctxc.lock"), lock);
    project
        .run(&["package", "verify", "acme/other"])
        .exits_with(2)
        .stderr_contains("ctxc.lock has no package `acme/other`")
        .stderr_contains("packages there: acme/rules");
    let scenario = shared.read_file("scenarios/billing.yaml");
    shared.write_file(
        "scenarios/billing.yaml",
        scenario.replace("[billing]", "[access]"),
    );
    project
        .run(&["package", "verify", "acme/rules"])
        .exits_with(1)
        .stdout_contains("0 of 1 scenario passes here")
        .stderr_contains("`billing` is fail");
}

/// Writes an archive with another description.
fn repack(project: &Project, document: &Value) {
    use ctxc::internals::package::{PackedFile, write_archive};
    let tar = zstd::decode_all(archive(project).as_slice()).unwrap();
    let mut tar = tar::Archive::new(tar.as_slice());
    let mut files = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        if path == "ctxc-package.json" {
            bytes = document.to_string().into_bytes();
        }
        files.push(PackedFile { path, bytes });
    }
    project.write_file("p.tar.zst", write_archive(&files).unwrap());
}

#[test]
fn an_archive_that_would_be_refused_is_not_written() {
    for (path, text, message) in [
        (
            "templates/aux.md",
            "Sort.\n".to_owned(),
            "Windows reserves the name",
        ),
        (
            "templates/long.md",
            "a".repeat(8 << 20),
            "times its own size",
        ),
    ] {
        let project = scripted().with_file(path, &text);
        pack(&project, &[]).exits_with(1).stderr_contains(message);
        assert!(!project.path("p.tar.zst").exists());
    }
}

#[test]
fn a_proof_is_noted_for_the_locked_files_only() {
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "[dependencies]\n\"acme/rules\" = \"path:rules\"\n",
        )
        .with_file("rules/ctxc.toml", PACKAGE)
        .with_file("rules/templates/triage.xml", TASK)
        .with_file(
            "rules/scenarios/billing.yaml",
            scripted().read_file("scenarios/billing.yaml"),
        );
    project.run(&["package", "update"]).exits_with(0);
    let lock = project.read_file("ctxc.lock");
    project.write_file("rules/templates/triage.xml", TASK.replace("Sort", "Order"));
    let verify = ["package", "verify", "acme/rules"];
    project
        .run(&verify)
        .exits_with(0)
        .stderr_contains("run `ctxc package update` first");
    assert_eq!(project.read_file("ctxc.lock"), lock);
    let list = || project.run(&["package", "list"]).exits_with(0);
    list().stdout_contains("changed since it was locked");
    project.run(&["package", "update"]).exits_with(0);
    list().stdout_contains("not verified here");
}

#[test]
fn a_proof_reads_no_folder_outside_of_the_package() {
    let project = Project::new()
        .with_file(
            "rules/ctxc.toml",
            format!("{PACKAGE}[dependencies]\n\"acme/base\" = \"path:../base\"\n"),
        )
        .with_file("rules/templates/triage.xml", TASK)
        .with_file("base/ctxc.toml", PACKAGE.replace("acme/rules", "acme/base"))
        .with_file("base/templates/triage.xml", TASK);
    let run = |args: &[&str]| project.run(&[&["--project", "rules"], args].concat());
    run(&["package", "update"]).exits_with(0);
    run(&["package", "pack"])
        .exits_with(1)
        .stderr_contains("acme/base is read from path:../base, which lies outside of the package");
}
