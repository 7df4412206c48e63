//! Any change of files while `watch` runs: its lines add up to the findings of a fresh `check`.

use super::check::{CLEAN, CONFLICT};
use super::project::Project;
use super::watch::Watching;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// A small generator of the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one<'o>(&mut self, of: &[&'o str]) -> &'o str {
        of[self.below(of.len() as u64) as usize]
    }
}

const FOLDERS: [&str; 4] = ["templates", "templates/x", "templates/x/y", "templates/z"];

fn template(numbers: &mut Numbers, name: &str) -> String {
    let other = format!("n{}", numbers.below(6));
    match numbers.below(7) {
        0 => CONFLICT.replace("name=\"", &format!("name=\"{name}-")),
        1 => format!(
            "<!-- {other} -->\n{}",
            CONFLICT.replace("name=\"", &format!("name=\"{name}-"))
        ),
        2 => format!(
            "<task name=\"{name}\" type=\"sequential\"><description>d</description><steps><task ref=\"{other}\"/></steps></task>"
        ),
        3 => {
            format!(
                "<task name=\"{name}\" type=\"atomic\"><description>d</description><instructions src=\"{other}.md\"/></task>"
            )
        }
        4 => "<task".to_owned(),
        5 => "<project/>".to_owned(),
        _ => CLEAN.replace("name=\"", &format!("name=\"{name}-")),
    }
}

/// An edit that people and their programs make to files. One that cannot be made is skipped.
fn edit(project: &Project, numbers: &mut Numbers) {
    let (folder, other) = (numbers.one(&FOLDERS), numbers.one(&FOLDERS));
    let name = format!("n{}", numbers.below(6));
    let path = format!("{folder}/{name}.xml");
    let text = template(numbers, &name);
    let rename = |from: &str, to: &str| drop(std::fs::rename(project.path(from), project.path(to)));
    match numbers.below(15) {
        0 => drop(std::fs::remove_file(project.path(&path))),
        1 => rename(&path, &format!("{other}/{name}.xml")),
        // An editor that writes beside and renames, and one that keeps the old file.
        2 => {
            project.write_file(&format!("{folder}/.{name}.tmp"), &text);
            rename(&format!("{folder}/.{name}.tmp"), &path);
        }
        3 => {
            rename(&path, &format!("{path}~"));
            project.write_file(&path, &text);
        }
        4 => drop(std::fs::remove_dir_all(project.path(folder))),
        5 => {
            drop(std::fs::remove_dir_all(project.path(folder)));
            project.write_file(&path, &text);
        }
        6 => rename(folder, "away"),
        7 => rename("away", folder),
        8 => project.write_file(&format!("{folder}/n{}.md", numbers.below(6)), &name),
        9 => project.write_file(
            "ctxc.toml",
            numbers.one(&[
                "",
                "[lints]\nnonsense = 1\n",
                "[lints\n",
                "[templates]\nexclude = [\"templates/x/**\"]\n",
                "[templates]\ninclude = [\"templates/z/**\"]\n",
                "\u{0}",
            ]),
        ),
        10 => drop(std::fs::remove_file(project.path("ctxc.toml"))),
        11 => project.write_file(".gitignore", numbers.one(&["", "z/\n", "n1.xml\n"])),
        _ => project.write_file(&path, &text),
    }
}

/// The findings of a fresh check, sorted, and the number of files.
fn fresh(project: &Project, given: &[&str]) -> (Vec<String>, Value) {
    let args: Vec<&str> = ["check", "--allow-empty", "--json"]
        .iter()
        .chain(given)
        .copied()
        .collect();
    let json = project.run(&args).json();
    (
        sorted(json["diagnostics"].as_array().unwrap()),
        json["files"].clone(),
    )
}

fn sorted(findings: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = findings.iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

/// Edits for a while. Returns the number of different states of the project.
fn run(seed: u64, given: &[&str]) -> usize {
    let mut numbers = Numbers(seed);
    let project = Project::new()
        .with_file("templates/n0.xml", CLEAN)
        .with_file("templates/x/n1.xml", CONFLICT);
    let mut watching = Watching::start(&project, given);
    watching.line();
    let mut states = std::collections::BTreeSet::new();
    for step in 0..40 {
        let edits = 1 + numbers.below(4);
        for _ in 0..edits {
            edit(&project, &mut numbers);
            if numbers.below(4) == 0 {
                // Into the middle of a check, now and then.
                std::thread::sleep(Duration::from_millis(numbers.below(70)));
            }
        }
        for path in given
            .iter()
            .filter(|path| !Path::new(&project.path(path)).exists())
        {
            project.write_file(&format!("{path}/n2.xml"), CLEAN);
        }
        let expected = fresh(&project, given);
        let started = Instant::now();
        loop {
            let is_told = watching.last["trouble"].is_null();
            let now = (sorted(&watching.found), watching.last["files"].clone());
            if is_told && now == expected {
                break;
            }
            assert!(
                started.elapsed() < Duration::from_mins(1),
                "seed {seed}, step {step}: {now:#?}, not {expected:#?}"
            );
            watching.next_within(Duration::from_secs(5));
        }
        states.insert(expected.0);
    }
    states.len()
}

#[test]
fn lines_add_up_to_what_a_fresh_check_finds() {
    let states: usize = (0..3).map(|seed| run(seed, &[])).sum();
    // Without changes the test shows nothing.
    assert!(states > 40, "{states}");
}

#[test]
fn so_they_do_for_a_part_of_the_project() {
    let states: usize = (10..12).map(|seed| run(seed, &["templates/x"])).sum();
    assert!(states > 10, "{states}");
}
