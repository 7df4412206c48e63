//! Thousands of random projects, each tested for agreement between `check` and its run.

use super::super::support::Random;
use super::generator::{DrawnProject, draw_project};
use super::probe::{ProjectVerdict, probe_project};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Draws the project of a seed.
fn draw_seeded_project(seed: u64) -> DrawnProject {
    let mut random = Random::from_seed(seed);
    for _ in 0..8 {
        random.below(2);
    }
    draw_project(&mut random)
}

/// Returns a message without numbers and paths, to group equal messages of different projects.
fn message_kind(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let is_place = |word: &&str| word.trim_start_matches('`').starts_with('/');
    let words = line
        .split(' ')
        .map(|word| if is_place(&word) { "PATH" } else { word });
    words
        .map(|word| word.replace(|c: char| c.is_ascii_digit(), "#"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Tests random projects until this many passed `check`.
fn check_projects(wanted: usize, first: u64) {
    let mut passed = 0;
    let mut compared = 0;
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut broken: BTreeMap<String, (usize, u64, String)> = BTreeMap::new();
    let mut seed = first;
    while passed < wanted && seed < first + 20 * wanted as u64 {
        match probe_project(&draw_seeded_project(seed)) {
            ProjectVerdict::Refused(errors) => {
                for error in errors.iter().take(1) {
                    *refused.entry(message_kind(error)).or_default() += 1;
                }
            }
            ProjectVerdict::Sound(requests) => {
                passed += 1;
                compared += requests;
            }
            ProjectVerdict::Broken(how) => {
                passed += 1;
                broken.entry(message_kind(&how)).or_insert((0, seed, how)).0 += 1;
            }
        }
        seed += 1;
    }
    let mut report = String::new();
    for (kind, (count, seed, how)) in &broken {
        let DrawnProject {
            templates, around, ..
        } = draw_seeded_project(*seed);
        let _ = writeln!(
            report,
            "{count} x {kind}\n  seed {seed}: {how}\n{templates}\n{around:#?}\n"
        );
    }
    assert!(report.is_empty(), "{report}");
    assert_eq!(
        passed, wanted,
        "most projects do not pass `check`: {refused:#?}"
    );
    assert!(compared > wanted, "{compared}");
}

/// `CTXC_PROJECTS` is the number of projects.
#[test]
fn a_project_that_passes_check_runs_as_it_is_shown() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    check_projects(
        number("CTXC_PROJECTS", 200) as usize,
        number("CTXC_SEED", 1),
    );
}
