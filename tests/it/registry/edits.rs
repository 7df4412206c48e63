//! Whatever was edited, in whatever order and on however many threads: the registry is that of a build from nothing.

use super::incremental::{Folder, atomic, library};
use ctxc::Project;
use ctxc::registry::build::{Findings, Goal};
use pretty_assertions::assert_eq;

/// A small generator of the same numbers on every machine.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// One edit of a project: a file written, removed or renamed, a text or the project file changed.
pub(super) fn edit(folder: &mut Folder, numbers: &mut Numbers) {
    let name = format!("n{}", numbers.below(7));
    let path = format!("templates/{}/{name}.xml", ["x", "y/z"][numbers.below(2) as usize]);
    let other = numbers.below(7);
    let text = format!("text {}", numbers.below(5));
    match numbers.below(14) {
        0 => drop(std::fs::remove_file(folder.path(&path))),
        1 => drop(std::fs::rename(folder.path(&path), folder.path(&format!("templates/x/r{other}.xml")))),
        2 => folder.write(&path, &format!("<task name=\"{name}\" type=\"sequential\"><description>{text}</description><steps><task ref=\"n{other}\"/></steps></task>")),
        3 => folder.write(&path, &format!("<task name=\"{name}\" type=\"atomic\"><description>d</description><instructions src=\"../guide.md\"/></task>")),
        4 => folder.write("templates/guide.md", &text),
        5 => folder.write("templates/lib.xml", &library(&format!("<fragment name=\"house\">{text}</fragment><task name=\"inner\"><description>{text}</description></task>"))),
        6 => folder.write(&path, &atomic(&name, &format!("{text} <use fragment=\"house\"/>"))),
        7 => folder.write("ctxc.toml", &format!("[defaults.atomic]\ninherit_context = \"{}\"\n", ["full", "none", "subset"][numbers.below(3) as usize])),
        8 => folder.write("ctxc.toml", &format!("# {text}\n[lints]\nno-context = \"{}\"\n", ["warning", "hint"][numbers.below(2) as usize])),
        9 => folder.write(&path, ["<other/>", "<task", "<task><description>anonymous</description></task>"][numbers.below(3) as usize]),
        10 => drop(std::fs::write(folder.path(".gitignore"), if numbers.below(2) == 0 { "z/\n" } else { "" })),
        11 => folder.write(&path, &format!("<task name=\"{name}\" type=\"atomic\"><description>d</description><output_format type=\"json\" schema=\"../s.json\"/></task>")),
        12 => folder.write("templates/s.json", &["{\"title\": \"TEXT\"}", "{\"title\":\"TEXT\"}", "{\"title\""][numbers.below(3) as usize].replace("TEXT", &text)),
        _ => folder.write(&path, &atomic(&name, &text)),
    }
}

#[test]
fn any_sequence_of_edits_gives_what_a_build_from_nothing_gives() {
    let mut outcomes = [0, 0];
    for seed in 0..8 {
        let mut numbers = Numbers(seed);
        let mut folder = Folder::new(&[
            ("templates/x/n0.xml", &atomic("n0", "start")),
            ("templates/guide.md", "start"),
            ("templates/s.json", "{}"),
            ("templates/lib.xml", &library("<fragment name=\"house\">kind</fragment>")),
        ]);
        let mut last = None;
        for step in 0..25 {
            for _ in 0..=numbers.below(2) {
                edit(&mut folder, &mut numbers);
            }
            if numbers.below(4) == 0 {
                Folder::settle();
            }
            let findings = if numbers.below(4) == 0 { Findings::All } else { Findings::Changed };
            let threads = [1, 4][numbers.below(2) as usize];
            let outcome = folder.build_with(Goal::Write, findings, threads);
            let expected = folder.expected();
            outcomes[usize::from(expected.is_some())] += 1;
            if expected.is_some() {
                last = expected;
            }
            let now = folder.registry();
            assert!(now == last, "seed {seed}, step {step}: {:?}\n{now:?}\n{last:?}", outcome.state);
            let built = Project::load(folder.dir.path()).unwrap().build();
            assert_eq!(outcome.files, built.files, "seed {seed}, step {step}");
            let counted: u32 = outcome.unchanged.iter().map(|tally| tally.count).sum();
            assert_eq!(outcome.diagnostics.len() + counted as usize, built.diagnostics.len(), "seed {seed}, step {step}");
        }
    }
    // Both kinds must have been seen, or the test shows nothing.
    assert!(outcomes.iter().all(|count| *count > 30), "{outcomes:?}");
}

/// The registry does not depend on where the project lies, nor on the order in which threads finish.
#[test]
fn the_same_files_give_the_same_bytes_anywhere() {
    let files: Vec<(String, String)> =
        (0..60).map(|n| (format!("templates/{}/t{n}.xml", n % 5), atomic(&format!("t{n}"), &format!("text {n}")))).collect();
    let build = |threads: usize| {
        let mut folder = Folder::new(&[]);
        for (path, text) in &files {
            folder.write(path, text);
        }
        folder.build_with(Goal::Write, Findings::Changed, threads);
        let text = folder.registry().unwrap();
        assert!(!text.contains(&*folder.dir.path().to_string_lossy()) && text.contains("\"templates/0/t0.xml\""));
        text
    };
    assert_eq!(build(4), build(1));
}
