//! An incremental build gives what a build from nothing gives, byte for byte, whatever was edited in between.

use ctxc::project::config::Config;
use ctxc::registry::build::{self, Empty, Findings, Goal, Outcome, Request, State};
use ctxc::{Project, Severity};
use pretty_assertions::assert_eq;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A project in a folder of its own.
struct Folder {
    dir: tempfile::TempDir,
    /// Every write gets a time of its own, long ago: so that no stamp is too fresh to be trusted.
    clock: u64,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let mut folder = Self { dir: tempfile::tempdir().unwrap(), clock: 1_000_000 };
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn output(&self) -> PathBuf {
        self.path("registry.json")
    }

    fn write(&mut self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.clock += 1;
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(self.clock, 5)).unwrap();
    }

    /// Waits until nothing that was written could be written again within one tick of the file system's clock.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(60));
    }

    fn config(&self) -> Config {
        Project::load(self.dir.path()).unwrap().config().clone()
    }

    fn build_with(&self, goal: Goal, findings: Findings, threads: usize) -> Outcome {
        let config = self.config();
        let output = self.output();
        let request = Request {
            root: self.dir.path(),
            config: &config,
            given: &[],
            output: &output,
            threads: NonZeroUsize::new(threads),
            goal,
            empty: Empty::Refuse,
            findings,
            tick: &|| {},
        };
        build::build(&request).unwrap()
    }

    fn build(&self) -> Outcome {
        self.build_with(Goal::Write, Findings::Changed, 2)
    }

    fn registry(&self) -> Option<String> {
        std::fs::read_to_string(self.output()).ok()
    }

    /// What a build from nothing gives; `None` when something is an error.
    fn expected(&self) -> Option<String> {
        let built = Project::load(self.dir.path()).unwrap().build();
        built.registry.map(|registry| String::from_utf8(registry.as_bytes().to_vec()).unwrap())
    }

    fn cache(&self, name: &str) -> PathBuf {
        let mut folders = std::fs::read_dir(self.path(".ctxc/cache")).unwrap();
        folders.next().unwrap().unwrap().path().join(name)
    }
}

fn atomic(name: &str, text: &str) -> String {
    format!("<task name=\"{name}\" type=\"atomic\"><description>d</description><instructions>{text}</instructions></task>")
}

fn library(inside: &str) -> String {
    format!("<library>{inside}</library>")
}

/// Opened, and what became of the registry, in a word.
fn shape(outcome: &Outcome) -> (usize, &'static str) {
    let state = match &outcome.state {
        State::Untouched => "untouched",
        State::Current => "current",
        State::Stale => "stale",
        State::Written(_) => "written",
        State::Failed(_) => "failed",
    };
    (outcome.opened, state)
}

#[test]
fn unchanged_files_are_not_opened() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one")), ("templates/b.xml", &atomic("b", "two"))]);
    folder.write("templates/other.xml", "<project/>");
    folder.settle();
    assert_eq!(shape(&folder.build()), (3, "written"));
    let again = folder.build();
    assert_eq!((shape(&again), again.files, again.skipped), ((0, "current"), 2, 1));
    folder.write("templates/a.xml", &atomic("a", "three"));
    folder.settle();
    let changed = folder.build();
    assert_eq!((shape(&changed), changed.files, changed.skipped), ((1, "written"), 2, 1));
    assert_eq!(folder.registry(), folder.expected());
    std::fs::remove_file(folder.path("templates/b.xml")).unwrap();
    let less = folder.build();
    assert_eq!((shape(&less), less.files), ((0, "written"), 1));
    assert_eq!(folder.registry(), folder.expected());
}

#[test]
fn a_change_of_no_consequence_writes_nothing() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one"))]);
    folder.settle();
    folder.build();
    let before = std::fs::metadata(folder.output()).unwrap().modified().unwrap();
    folder.write("templates/a.xml", &format!("{}<!-- kind -->", atomic("a", "one")));
    folder.settle();
    assert_eq!(shape(&folder.build()), (1, "current"));
    assert_eq!(shape(&folder.build()), (0, "current"));
    assert_eq!(std::fs::metadata(folder.output()).unwrap().modified().unwrap(), before);
}

#[test]
fn a_moved_default_opens_the_files_under_it_alone() {
    let subtask = atomic("s", "one").replace("type=\"atomic\"", "type=\"atomic\" subtype=\"subtask\"");
    let files = [("templates/a.xml", atomic("a", "x")), ("templates/s.xml", subtask)];
    let mut folder = Folder::new(&[]);
    files.iter().for_each(|(path, text)| folder.write(path, text));
    folder.write("ctxc.toml", "[defaults.atomic.subtask]\nfresh_context = \"enabled\"\n");
    folder.settle();
    folder.build();
    folder.write("ctxc.toml", "[defaults.atomic.subtask]\nfresh_context = \"disabled\"\n");
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert_eq!(folder.registry(), folder.expected());
    folder.write("ctxc.toml", "[defaults.atomic.subtask]\nfresh_context = \"disabled\"\n\n[lints]\nno-context = \"hint\"\n");
    assert_eq!(shape(&folder.build()), (2, "current"));
    assert_eq!(folder.registry(), folder.expected());
}

#[test]
fn what_is_pulled_in_is_watched() {
    let task = "<task name=\"t\" type=\"atomic\"><description>d</description><instructions src=\"guide.md\"/></task>";
    let mut folder =
        Folder::new(&[("templates/t.xml", task), ("templates/guide.md", "by urgency"), ("templates/a.xml", &atomic("a", "x"))]);
    folder.settle();
    folder.build();
    assert_eq!(shape(&folder.build()), (0, "current"));
    let before = folder.registry();
    folder.write("templates/guide.md", "by date");
    folder.settle();
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert_ne!(folder.registry(), before);
    assert_eq!(folder.registry(), folder.expected());
    std::fs::remove_file(folder.path("templates/guide.md")).unwrap();
    let gone = folder.build();
    assert_eq!((shape(&gone), gone.diagnostics[0].rule.name), ((1, "untouched"), "missing-source"));
}

#[test]
fn a_changed_fragment_moves_the_hash_of_its_users_unread() {
    let user =
        "<task name=\"u\" type=\"atomic\"><description>d</description><instructions><use fragment=\"f\"/></instructions></task>";
    let top = "<task name=\"top\" type=\"sequential\"><description>d</description><steps><task ref=\"u\"/></steps></task>";
    let fragment = |text: &str| library(&format!("<fragment name=\"f\">{text}</fragment>"));
    let mut folder =
        Folder::new(&[("templates/u.xml", user), ("templates/top.xml", top), ("templates/f.xml", &fragment("be kind"))]);
    folder.settle();
    folder.build();
    let hash = |folder: &Folder, name: &str| ctxc::Registry::read(folder.registry().unwrap()).unwrap().task(name).unwrap().hash();
    let before = (hash(&folder, "u"), hash(&folder, "top"));
    folder.write("templates/f.xml", &fragment("be brief"));
    folder.settle();
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert!(hash(&folder, "u") != before.0 && hash(&folder, "top") != before.1);
    assert_eq!(folder.registry(), folder.expected());
}

#[test]
fn errors_leave_everything_as_it_was() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one")), ("templates/b.xml", &atomic("b", "two"))]);
    folder.settle();
    folder.build();
    let before = folder.registry();
    folder.write("templates/a.xml", "<task name=\"a\"><descripton/></task>");
    folder.settle();
    assert_eq!(shape(&folder.build()), (1, "untouched"));
    // It is reported again, although it did not change since.
    let again = folder.build();
    assert!(shape(&again) == (1, "untouched") && again.diagnostics.iter().any(|finding| finding.severity == Severity::Error));
    assert_eq!(folder.registry(), before);
    // An error that no file shows alone.
    folder.write("templates/a.xml", &atomic("b", "the same name"));
    folder.settle();
    assert_eq!(folder.build().diagnostics[0].rule.name, "duplicate-name");
    assert_eq!(folder.registry(), before);
    folder.write("templates/a.xml", &atomic("a", "mended"));
    folder.settle();
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert_eq!(folder.registry(), folder.expected());
}

#[test]
fn findings_of_unchanged_files_are_counted_or_found_again() {
    let warned = atomic("w", "x").replace(
        "<instructions>",
        "<context_management><accumulation_format>notes_only</accumulation_format></context_management><instructions>",
    );
    let folder = Folder::new(&[("templates/w.xml", &warned), ("templates/a.xml", &atomic("a", "one"))]);
    folder.settle();
    let first = folder.build();
    let again = folder.build();
    let counted: u32 = again.unchanged.iter().map(|tally| tally.count).sum();
    assert!(!first.diagnostics.is_empty() && first.unchanged.is_empty());
    assert_eq!((shape(&again), again.diagnostics.len(), counted as usize), ((0, "current"), 0, first.diagnostics.len()));
    let all = folder.build_with(Goal::Write, Findings::All, 2);
    assert_eq!((shape(&all), all.unchanged.len()), ((1, "current"), 0));
    assert_eq!(format!("{:?}", all.diagnostics), format!("{:?}", first.diagnostics));
}

#[test]
fn comparing_writes_nothing() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one"))]);
    folder.settle();
    let compare = |folder: &Folder| shape(&folder.build_with(Goal::Compare, Findings::Changed, 2));
    assert_eq!(compare(&folder), (1, "stale"));
    assert!(!folder.path(".ctxc").exists() && folder.registry().is_none());
    folder.build();
    assert_eq!(compare(&folder), (0, "current"));
    folder.write("templates/a.xml", &atomic("a", "two"));
    let (cache, registry) = (std::fs::read(folder.cache("index")).unwrap(), folder.registry());
    assert_eq!(compare(&folder), (1, "stale"));
    assert!(std::fs::read(folder.cache("index")).unwrap() == cache && folder.registry() == registry);
}

#[test]
fn a_registry_that_somebody_else_wrote_is_mended() {
    let folder = Folder::new(&[("templates/a.xml", &atomic("a", "one")), ("templates/b.xml", &atomic("b", "two"))]);
    folder.settle();
    folder.build();
    let good = folder.registry();
    for text in ["", "{}", &good.clone().unwrap().replace("one", "eno")] {
        std::fs::write(folder.output(), text).unwrap();
        assert_eq!(shape(&folder.build_with(Goal::Compare, Findings::Changed, 1)), (2, "stale"));
        assert_eq!(shape(&folder.build()), (2, "written"));
        assert_eq!(folder.registry(), good);
    }
    std::fs::remove_file(folder.output()).unwrap();
    assert_eq!(shape(&folder.build()), (2, "written"));
    assert_eq!(folder.registry(), good);
}

#[test]
fn a_damaged_cache_costs_time_and_nothing_else() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one")), ("templates/b.xml", &atomic("b", "two"))]);
    folder.settle();
    for (round, name) in ["index", "facts"].into_iter().cycle().take(8).enumerate() {
        folder.build();
        let path = folder.cache(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.len() * (round + 1) / 10;
        bytes[at] ^= 0xff;
        if round > 5 {
            bytes.truncate(at);
        }
        std::fs::write(&path, bytes).unwrap();
        folder.write("templates/a.xml", &atomic("a", &format!("round {round}")));
        folder.settle();
        assert_eq!(folder.build().opened, 2, "{name} {round}");
        assert_eq!(folder.registry(), folder.expected());
    }
}

#[test]
fn a_file_too_fresh_to_be_trusted_is_opened_again() {
    let folder = Folder::new(&[]);
    std::fs::create_dir_all(folder.path("templates")).unwrap();
    std::fs::write(folder.path("templates/a.xml"), atomic("a", "one")).unwrap();
    folder.build();
    // The same length, and quite possibly the same tick of the clock.
    std::fs::write(folder.path("templates/a.xml"), atomic("a", "two")).unwrap();
    folder.build();
    assert_eq!(folder.registry(), folder.expected());
    folder.settle();
    folder.build();
    assert_eq!(shape(&folder.build()), (0, "current"));
}

#[test]
fn the_cache_keeps_itself_out_of_repositories() {
    let folder = Folder::new(&[("templates/a.xml", &atomic("a", "one"))]);
    folder.build();
    assert!(std::fs::read_to_string(folder.path(".ctxc/.gitignore")).unwrap().ends_with("*\n"));
}

/// A small generator of the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// One edit of a project: a file written, removed or renamed, a text or the project file changed.
fn edit(folder: &mut Folder, numbers: &mut Numbers) {
    let name = format!("n{}", numbers.below(7));
    let path = format!("templates/{}/{name}.xml", ["x", "y/z"][numbers.below(2) as usize]);
    let other = numbers.below(7);
    let text = format!("text {}", numbers.below(5));
    match numbers.below(12) {
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
            ("templates/lib.xml", &library("<fragment name=\"house\">kind</fragment>")),
        ]);
        let mut last = None;
        for step in 0..25 {
            for _ in 0..=numbers.below(2) {
                edit(&mut folder, &mut numbers);
            }
            if numbers.below(4) == 0 {
                folder.settle();
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
        files.iter().for_each(|(path, text)| folder.write(path, text));
        folder.build_with(Goal::Write, Findings::Changed, threads);
        let text = folder.registry().unwrap();
        assert!(!text.contains(&*folder.dir.path().to_string_lossy()) && text.contains("\"templates/0/t0.xml\""));
        text
    };
    assert_eq!(build(4), build(1));
}
