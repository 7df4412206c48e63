//! Other validators on our schemas: the RELAX NG schema accepts the settings that the compiler
//! accepts, cell by cell, and refuses no template that the compiler accepts.

use crate::schema::{cells, mutants};
use crate::support::examples::RuleExamples as _;
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A schema of ours.
fn schema(name: &str) -> PathBuf {
    Path::new(ROOT).join("schema").join(name)
}

/// The files that `xmllint` refuses by a schema.
fn by_xmllint(option: &str, schema: &Path, folder: &Path, names: &[String]) -> BTreeSet<String> {
    let mut refused = BTreeSet::new();
    for names in names.chunks(1_000) {
        let output = Command::new("xmllint")
            .args(["--noout", "--nonet", option])
            .arg(schema)
            .args(names)
            .current_dir(folder)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let (mut valid, mut fails) = (0, 0);
        for line in printed.lines() {
            if let Some(name) = line.strip_suffix(" fails to validate") {
                refused.insert(name.to_owned());
                fails += 1;
            }
            valid += usize::from(line.ends_with(" validates"));
        }
        // It reports nothing more on a file that it cannot parse.
        let parsed = names
            .iter()
            .filter(|name| !printed.contains(&format!("{name}:")) || refused.contains(*name))
            .count();
        assert_eq!(
            valid + fails,
            parsed,
            "every file has a verdict: {}",
            printed.lines().take(5).collect::<String>()
        );
    }
    refused
}

/// The files that `jing` refuses by a schema.
fn by_jing(schema: &Path, folder: &Path, names: &[String]) -> BTreeSet<String> {
    let output = Command::new("jing")
        .arg(schema)
        .args(names)
        .current_dir(folder)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(!printed.contains("fatal: "), "{printed}");
    let folder = folder.canonicalize().unwrap();
    printed
        .lines()
        .filter_map(|line| {
            line.split_once(": error:")
                .map(|(place, _)| place.split(".xml:").next().unwrap_or(place))
        })
        .map(|path| {
            let path = Path::new(path);
            format!(
                "{}.xml",
                path.strip_prefix(&folder).unwrap_or(path).display()
            )
        })
        .collect()
}

#[test]
#[ignore = "needs schemas: xmllint and jing"]
fn schemas_accept_the_settings_that_the_compiler_accepts() {
    let (project, names) = cells::table();
    let ours = cells::refused(&project, &["cells", "ways"]);
    assert!(ours.len() > 200 && ours.len() < names.len() / 2);
    let folder = project.path("");
    assert_eq!(by_jing(&schema("ctxc.rng"), &folder, &names), ours, "jing");
    assert_eq!(
        by_xmllint("--relaxng", &schema("ctxc.rng"), &folder, &names),
        ours,
        "xmllint"
    );
    // The other language cannot express it: it accepts every cell.
    assert_eq!(
        by_xmllint("--schema", &schema("ctxc.xsd"), &folder, &names),
        BTreeSet::new(),
        "xmllint, XML Schema"
    );
}

#[test]
#[ignore = "needs schemas: xmllint and jing"]
fn schemas_refuse_nothing_of_the_corpus_that_the_compiler_accepts() {
    let project = cells::empty();
    let corpus = project.path("corpus");
    let made = Command::new("python3")
        .arg(Path::new(ROOT).join("benches/gen_corpus.py"))
        .arg(&corpus)
        .arg("1000")
        .status()
        .unwrap();
    assert!(made.success());
    let broken = cells::refused_by(&project, &["corpus"], &["CTX0"]);
    let names: Vec<String> = project
        .files()
        .into_iter()
        .filter(|name| name.starts_with("corpus/"))
        .collect();
    assert_eq!(names.len(), 1_000);
    // Validators stop at invalid XML; another test shows that the compiler refuses it too.
    let names: Vec<String> = names
        .into_iter()
        .filter(|name| !broken.contains(name))
        .collect();
    assert!(names.len() > 950);
    let ours = cells::refused(&project, &["corpus"]);
    let settings = cells::refused_by(&project, &["corpus"], &["CTX201", "CTX202"]);
    assert!(
        settings.len() > 10,
        "{} files contradict themselves",
        settings.len()
    );
    let folder = project.path("");
    for theirs in [
        by_jing(&schema("ctxc.rng"), &folder, &names),
        by_xmllint("--relaxng", &schema("ctxc.rng"), &folder, &names),
    ] {
        assert_eq!(
            theirs.difference(&ours).collect::<Vec<_>>(),
            Vec::<&String>::new()
        );
        assert_eq!(
            settings.difference(&theirs).collect::<Vec<_>>(),
            Vec::<&String>::new()
        );
    }
    let theirs = by_xmllint("--schema", &schema("ctxc.xsd"), &folder, &names);
    assert_eq!(
        theirs.difference(&ours).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

#[test]
#[ignore = "needs schemas: xmllint and jing"]
fn schemas_accept_the_shipped_templates_and_the_good_examples_of_every_rule() {
    let project = cells::empty();
    let mut names: Vec<String> = Vec::new();
    let mut put = |name: String, text: &str| {
        project.write_file(&name, text);
        names.push(name);
    };
    for entry in ignore::Walk::new(Path::new(ROOT).join("templates")).filter_map(Result::ok) {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "xml") {
            put(
                format!("shipped-{}", path.file_name().unwrap().to_str().unwrap()),
                &std::fs::read_to_string(path).unwrap(),
            );
        }
    }
    for rule in ctxc::internals::rules::list::all_rules() {
        let examples = rule
            .meta
            .good_examples()
            .into_iter()
            .chain(rule.meta.bad_examples())
            .filter(|example| example.project.is_empty());
        for (at, example) in examples.enumerate() {
            put(format!("{}-{at}.xml", rule.meta.name), example.template);
        }
    }
    // Each by name, so that a root that is none of the language is looked at too.
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    // Faults of names and texts, and of a whole project, are beyond any schema.
    let ours = cells::refused_by(&project, &paths, &["CTX1", "CTX2"]);
    let folder = project.path("");
    let broken = cells::refused_by(&project, &paths, &["CTX0"]);
    let parsed: Vec<String> = names
        .iter()
        .filter(|name| !broken.contains(*name))
        .cloned()
        .collect();
    assert!(parsed.len() > 100, "{}", parsed.len());
    for theirs in [
        by_jing(&schema("ctxc.rng"), &folder, &parsed),
        by_xmllint("--relaxng", &schema("ctxc.rng"), &folder, &parsed),
        by_xmllint("--schema", &schema("ctxc.xsd"), &folder, &parsed),
    ] {
        assert_eq!(
            theirs.difference(&ours).collect::<Vec<_>>(),
            Vec::<&String>::new()
        );
        assert!(
            theirs.len() > 20,
            "what is bad is refused: {}",
            theirs.len()
        );
    }
}

#[test]
#[ignore = "needs schemas: xmllint and jing"]
fn schemas_refuse_no_mutant_that_the_compiler_accepts() {
    let project = cells::empty();
    let mutants = mutants::mutants();
    let names: Vec<String> = (0..mutants.len()).map(|at| format!("m{at}.xml")).collect();
    for (name, text) in names.iter().zip(&mutants) {
        project.write_file(name, text);
    }
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    // Names are doubled all over, texts are beyond a schema: neither counts as a reason to refuse.
    let ours = cells::refused_by(&project, &paths, &["CTX0", "CTX1", "CTX2"]);
    assert!(
        names.len() > 1_000 && ours.len() > names.len() / 4,
        "{} of {} refused",
        ours.len(),
        names.len()
    );
    let folder = project.path("");
    for (theirs, least) in [
        (by_jing(&schema("ctxc.rng"), &folder, &names), 8),
        (
            by_xmllint("--relaxng", &schema("ctxc.rng"), &folder, &names),
            8,
        ),
        (
            by_xmllint("--schema", &schema("ctxc.xsd"), &folder, &names),
            4,
        ),
    ] {
        let stricter: Vec<String> = theirs
            .difference(&ours)
            .take(3)
            .map(|name| format!("{name}\n{}", project.read_file(name)))
            .collect();
        assert!(stricter.is_empty(), "{}", stricter.join("\n"));
        assert!(
            theirs.len() * 10 > ours.len() * least,
            "{} of {} seen",
            theirs.len(),
            ours.len()
        );
    }
}
