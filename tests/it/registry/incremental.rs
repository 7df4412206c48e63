//! An incremental build gives what a build from nothing gives, byte for byte, whatever was edited in between.

use ctxc::project::config::Config;
use ctxc::registry::build::{self, Empty, Findings, Goal, Outcome, Request, State};
use ctxc::rules::check::Identity;
use ctxc::{Project, Severity};
use pretty_assertions::assert_eq;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// A project in a folder of its own.
pub(super) struct Folder {
    pub(super) dir: tempfile::TempDir,
    /// Every write gets a time of its own, long ago: so that no stamp is too fresh to be trusted.
    clock: u64,
}

impl Folder {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let mut folder = Self { dir: tempfile::tempdir().unwrap(), clock: 1_000_000 };
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn output(&self) -> PathBuf {
        self.path("registry.json")
    }

    pub(super) fn write(&mut self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.clock += 1;
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(self.clock, 5)).unwrap();
    }

    /// Waits until nothing that was written could be written again within one tick of the file system's clock.
    pub(super) fn settle() {
        std::thread::sleep(Duration::from_millis(60));
    }

    fn config(&self) -> Config {
        Project::load(self.dir.path()).unwrap().config().clone()
    }

    pub(super) fn build_with(&self, goal: Goal, findings: Findings, threads: usize) -> Outcome {
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
            identity: Identity::Wanted,
            tick: &|| {},
        };
        build::build(&request).unwrap()
    }

    fn build(&self) -> Outcome {
        self.build_with(Goal::Write, Findings::Changed, 2)
    }

    pub(super) fn registry(&self) -> Option<String> {
        std::fs::read_to_string(self.output()).ok()
    }

    /// What a build from nothing gives; `None` when something is an error.
    pub(super) fn expected(&self) -> Option<String> {
        let built = Project::load(self.dir.path()).unwrap().build();
        built.registry.map(|registry| String::from_utf8(registry.as_bytes().to_vec()).unwrap())
    }

    fn cache(&self, name: &str) -> PathBuf {
        let mut folders = std::fs::read_dir(self.path(".ctxc/cache")).unwrap();
        folders.next().unwrap().unwrap().path().join(name)
    }
}

pub(super) fn atomic(name: &str, text: &str) -> String {
    format!("<task name=\"{name}\" type=\"atomic\"><description>d</description><instructions>{text}</instructions></task>")
}

pub(super) fn library(inside: &str) -> String {
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
    Folder::settle();
    assert_eq!(shape(&folder.build()), (3, "written"));
    let again = folder.build();
    assert_eq!((shape(&again), again.files, again.skipped), ((0, "current"), 2, 1));
    folder.write("templates/a.xml", &atomic("a", "three"));
    Folder::settle();
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
    Folder::settle();
    folder.build();
    let before = std::fs::metadata(folder.output()).unwrap().modified().unwrap();
    folder.write("templates/a.xml", &format!("{}<!-- kind -->", atomic("a", "one")));
    Folder::settle();
    assert_eq!(shape(&folder.build()), (1, "current"));
    assert_eq!(shape(&folder.build()), (0, "current"));
    assert_eq!(std::fs::metadata(folder.output()).unwrap().modified().unwrap(), before);
}

#[test]
fn a_moved_default_opens_the_files_under_it_alone() {
    let subtask = atomic("s", "one").replace("type=\"atomic\"", "type=\"atomic\" subtype=\"subtask\"");
    let files = [("templates/a.xml", atomic("a", "x")), ("templates/s.xml", subtask)];
    let mut folder = Folder::new(&[]);
    for (path, text) in &files {
        folder.write(path, text);
    }
    folder.write("ctxc.toml", "[defaults.atomic.subtask]\nfresh_context = \"enabled\"\n");
    Folder::settle();
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
    Folder::settle();
    folder.build();
    assert_eq!(shape(&folder.build()), (0, "current"));
    let before = folder.registry();
    folder.write("templates/guide.md", "by date");
    Folder::settle();
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert_ne!(folder.registry(), before);
    assert_eq!(folder.registry(), folder.expected());
    std::fs::remove_file(folder.path("templates/guide.md")).unwrap();
    let gone = folder.build();
    assert_eq!((shape(&gone), gone.diagnostics[0].rule.name), ((1, "untouched"), "missing-source"));
}

/// The JSON Schema of an answer counts as a text does: in the hash, in what is watched, in what must be there.
#[test]
fn the_schema_of_an_answer_is_watched() {
    let task =
        "<task name=\"t\" type=\"atomic\"><description>d</description><output_format type=\"json\" schema=\"s.json\"/></task>";
    let mut folder = Folder::new(&[
        ("templates/t.xml", task),
        ("templates/s.json", "{\"type\": \"object\"}"),
        ("templates/a.xml", &atomic("a", "x")),
    ]);
    let hash = |folder: &Folder| ctxc::Registry::read(folder.registry().unwrap()).unwrap().task("t").unwrap().hash();
    Folder::settle();
    folder.build();
    assert_eq!(shape(&folder.build()), (0, "current"));
    let before = hash(&folder);
    // Other layout is no other schema.
    folder.write("templates/s.json", "{\n  \"type\": \"object\"\n}\n");
    Folder::settle();
    assert_eq!(shape(&folder.build_with(Goal::Compare, Findings::Changed, 1)), (1, "current"));
    assert_eq!(shape(&folder.build()), (1, "current"));
    folder.write("templates/s.json", "{\"type\": \"array\"}");
    Folder::settle();
    assert_eq!(shape(&folder.build_with(Goal::Compare, Findings::Changed, 1)), (1, "stale"));
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert!(hash(&folder) != before && folder.registry() == folder.expected());
    assert!(folder.registry().unwrap().contains("\"schema\":\"s.json\",\"content\":{\"type\":\"array\"}}"));
    folder.write("templates/s.json", "{\n  \"type\": \"object\" \"title\"\n}\n");
    Folder::settle();
    let broken = folder.build();
    let found = &broken.diagnostics[0];
    assert_eq!((shape(&broken), found.rule.name, found.span.slice(task)), ((1, "untouched"), "bad-schema", "s.json"));
    assert_eq!(found.message, "`s.json` is no JSON Schema: expected `,` or `}` at line 2, column 20");
    std::fs::remove_file(folder.path("templates/s.json")).unwrap();
    let gone = folder.build();
    assert_eq!((shape(&gone), gone.diagnostics[0].rule.name), ((1, "untouched"), "missing-source"));
    // Nor does it come from outside of the project.
    folder.write("templates/t.xml", &task.replace("s.json", "../../s.json"));
    assert!(folder.build().diagnostics[0].message.ends_with("it lies outside the project's folder"));
}

#[test]
fn a_changed_fragment_moves_the_hash_of_its_users_unread() {
    let user =
        "<task name=\"u\" type=\"atomic\"><description>d</description><instructions><use fragment=\"f\"/></instructions></task>";
    let top = "<task name=\"top\" type=\"sequential\"><description>d</description><steps><task ref=\"u\"/></steps></task>";
    let fragment = |text: &str| library(&format!("<fragment name=\"f\">{text}</fragment>"));
    let mut folder =
        Folder::new(&[("templates/u.xml", user), ("templates/top.xml", top), ("templates/f.xml", &fragment("be kind"))]);
    Folder::settle();
    folder.build();
    let hash = |folder: &Folder, name: &str| ctxc::Registry::read(folder.registry().unwrap()).unwrap().task(name).unwrap().hash();
    let before = (hash(&folder, "u"), hash(&folder, "top"));
    folder.write("templates/f.xml", &fragment("be brief"));
    Folder::settle();
    assert_eq!(shape(&folder.build()), (1, "written"));
    assert!(hash(&folder, "u") != before.0 && hash(&folder, "top") != before.1);
    assert_eq!(folder.registry(), folder.expected());
}

#[test]
fn errors_leave_everything_as_it_was() {
    let mut folder = Folder::new(&[("templates/a.xml", &atomic("a", "one")), ("templates/b.xml", &atomic("b", "two"))]);
    Folder::settle();
    folder.build();
    let before = folder.registry();
    folder.write("templates/a.xml", "<task name=\"a\"><descripton/></task>");
    Folder::settle();
    assert_eq!(shape(&folder.build()), (1, "untouched"));
    // It is reported again, although it did not change since.
    let again = folder.build();
    assert!(shape(&again) == (1, "untouched") && again.diagnostics.iter().any(|finding| finding.severity == Severity::Error));
    assert_eq!(folder.registry(), before);
    // An error that no file shows alone.
    folder.write("templates/a.xml", &atomic("b", "the same name"));
    Folder::settle();
    assert_eq!(folder.build().diagnostics[0].rule.name, "duplicate-name");
    assert_eq!(folder.registry(), before);
    folder.write("templates/a.xml", &atomic("a", "mended"));
    Folder::settle();
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
    Folder::settle();
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
    Folder::settle();
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
    Folder::settle();
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
    Folder::settle();
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
        Folder::settle();
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
    Folder::settle();
    folder.build();
    assert_eq!(shape(&folder.build()), (0, "current"));
}

#[test]
fn the_cache_keeps_itself_out_of_repositories() {
    let folder = Folder::new(&[("templates/a.xml", &atomic("a", "one"))]);
    folder.build();
    assert!(std::fs::read_to_string(folder.path(".ctxc/.gitignore")).unwrap().ends_with("*\n"));
}
