//! Command lines that cannot be parsed, and the command lines in the program's own messages.

use super::project::Project;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn a_wrong_word_gets_the_right_one() {
    let project = Project::new();
    for (line, meant) in [
        ("chekc", "`ctxc check`"),
        ("lint", "`ctxc check`"),
        ("fix", "`ctxc check --fix`"),
        ("check --outputformat json", "`--format`"),
        ("check --output-format=json", "`--format`"),
        ("record pytest tests/", "`ctxc record -- pytest …`"),
        ("replay @last pytest", "`ctxc replay RECORDING -- pytest …`"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let run = project
            .run(&args)
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(&format!("tip: did you mean {meant}?"));
        assert_eq!(run.stderr.matches("tip:").count(), 1, "{}", run.stderr);
    }
    project
        .run(&["check", "--fromat", "json"])
        .exits_with(2)
        .stderr_contains("'--format'");
    let run = project
        .run(&["check", "--zzz"])
        .exits_with(2)
        .stderr_contains("unexpected argument '--zzz'");
    assert!(
        !run.stderr.contains("tip:"),
        "no tip is better than a wrong one: {}",
        run.stderr
    );
    project
        .run(&["check", "--threads", "0"])
        .exits_with(2)
        .stderr_contains("expected a number, 1 or more");
    project
        .run(&["--help"])
        .exits_with(0)
        .stdout_contains("130 interrupted");
}

fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else if matches!(
            path.extension().and_then(|name| name.to_str()),
            Some("rs" | "md")
        ) {
            found.push((
                path.display().to_string(),
                std::fs::read_to_string(&path).unwrap(),
            ));
        }
    }
}

/// The long flags in a text.
fn flags(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words
        .filter(|word| word.starts_with("--") && word.len() > 3)
        .collect()
}

/// Every command in a message or page exists.
#[test]
fn no_text_names_a_command_or_a_flag_that_there_is_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    texts(&root.join("src"), &mut all);
    // Comments may refer to future commands.
    for (_, text) in &mut all {
        *text = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
    }
    texts(&root.join("docs/rules"), &mut all);
    let project = Project::new();
    let help = project.run(&["--help"]).exits_with(0).stdout;
    let verbs: Vec<&str> = super::help::verbs(&help);
    let mut known: BTreeMap<&str, String> = verbs
        .iter()
        .map(|verb| (*verb, project.run(&[verb, "--help"]).exits_with(0).stdout))
        .collect();
    let nested: [&[&str]; 11] = [
        &["new", "scenario"],
        &["label", "report"],
        &["compaction", "probe", "make"],
        &["compaction", "probe", "ask"],
        &["compaction", "probe", "grade"],
        &["compaction", "probe", "compare"],
        &["package", "add"],
        &["package", "update"],
        &["package", "remove"],
        &["package", "vendor"],
        &["package", "can-publish"],
    ];
    for words in nested {
        let verb = words[0];
        let help = [words, &["--help"]].concat();
        let help = project.run(&help).exits_with(0).stdout;
        known.entry(verb).or_default().push_str(&help);
    }
    all.extend(
        known
            .iter()
            .map(|(verb, help)| (format!("ctxc {verb} --help"), help.clone())),
    );
    let mut named = 0;
    for (path, text) in &all {
        for part in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|part| !part.contains('\n'))
        {
            let Some(line) = part
                .strip_prefix("ctxc ")
                .or_else(|| part.starts_with("check --").then_some(part))
            else {
                continue;
            };
            let verb = line.split(' ').next().unwrap();
            if !verb.starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            let help = known
                .get(verb)
                .unwrap_or_else(|| panic!("{path}: `{part}`: there is no command `{verb}`"));
            for flag in flags(line) {
                assert!(
                    flags(help).contains(flag),
                    "{path}: `{part}`: `{verb}` has no {flag}"
                );
            }
            named += 1;
        }
    }
    assert!(
        named > 50,
        "only {named} commands were found in {} texts",
        all.len()
    );
}
