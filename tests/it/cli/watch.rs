//! `watch` away from a terminal. No step here waits for a fixed time: each waits for the report of
//! the last edit, and fails when the program ends, or is silent for a minute.

use super::check::{CLEAN, CONFLICT};
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(1);

/// A program that watches, and the sum of its lines.
pub(crate) struct Watching {
    child: Child,
    lines: Receiver<String>,
    /// The findings that stand, in no order.
    pub(super) found: Vec<Value>,
    /// The last line.
    pub(super) last: Value,
    pub(super) count: usize,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The identity of a finding, and its place.
fn identity<'v>(finding: &'v Value, start: &'v Value) -> [&'v Value; 4] {
    [
        &finding["path"],
        &finding["name"],
        &finding["fingerprint"],
        start,
    ]
}

impl Watching {
    pub(crate) fn start(project: &Project, args: &[&str]) -> Self {
        let args: Vec<&str> = std::iter::once("watch")
            .chain(args.iter().copied())
            .collect();
        Self::of(project.command(&args))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            lines,
            found: Vec::new(),
            last: Value::Null,
            count: 0,
        }
    }

    /// The next line.
    pub(crate) fn line(&mut self) -> Value {
        assert!(
            self.next_within(PATIENCE),
            "no line, last was {:#}",
            self.last
        );
        self.last.clone()
    }

    /// Takes the next line. Returns true if one came.
    pub(super) fn next_within(&mut self, time: Duration) -> bool {
        let line = match self.lines.recv_timeout(time) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => panic!("it ended: {:?}", self.child.wait()),
        };
        self.last = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.count += 1;
        let now = self.last.clone();
        let all = |key: &str| now[key].as_array().unwrap().clone();
        for gone in all("gone") {
            self.take(&gone, &gone["start"]);
        }
        for moved in all("moved") {
            self.take(&moved["finding"], &moved["from"]);
        }
        let moved = all("moved")
            .into_iter()
            .map(|moved| moved["finding"].clone());
        self.found.extend(moved.chain(all("new")));
        true
    }

    /// Removes a finding that must stand.
    fn take(&mut self, finding: &Value, start: &Value) {
        let at = self
            .found
            .iter()
            .position(|known| identity(known, &known["start"]) == identity(finding, start));
        self.found
            .remove(at.unwrap_or_else(|| panic!("{finding:#} does not stand")));
    }

    /// Reads lines until one fulfils the condition: a file may be seen half written before.
    fn until(&mut self, what: impl Fn(&Self) -> bool) -> Value {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            self.line();
            if what(self) {
                return self.last.clone();
            }
        }
        panic!("that is not told, last was {:#}", self.last);
    }

    /// Reads lines until these rules have findings, in so many files.
    fn finds(&mut self, rules: &[&str], files: u64) -> Value {
        self.until(|watching| {
            let found: Vec<&str> = watching
                .found
                .iter()
                .map(|finding| finding["name"].as_str().unwrap())
                .collect();
            found == rules && watching.last["files"] == files && watching.last["trouble"].is_null()
        })
    }

    fn ends(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it does not end");
    }
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect()
}

#[test]
fn every_change_is_reported_once() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut watching = Watching::start(&project, &[]);
    let first = watching.line();
    assert_eq!(
        (names(&first["changed"]), &first["files"], &first["schema"]),
        (vec![], &1.into(), &"ctxc/watch/1".into())
    );
    project.write_file("templates/a.xml", CONFLICT);
    let line = watching.finds(&["context-conflict"], 1);
    assert_eq!(
        (names(&line["changed"]), &line["summary"]["error"]),
        (vec!["templates/a.xml"], &1.into())
    );
    assert_eq!(
        (
            &line["new"][0]["name"],
            line["gone"].as_array().unwrap().len()
        ),
        (&"context-conflict".into(), 0)
    );
    // A new folder, and a file in it.
    project.write_file(
        "templates/deep/er/b.xml",
        CONFLICT.replace("name=\"", "name=\"b-"),
    );
    watching.finds(&["context-conflict", "context-conflict"], 2);
    // Lines above a finding: it moved.
    project.write_file(
        "templates/a.xml",
        format!("<!-- one -->\n<!-- two -->\n{CONFLICT}"),
    );
    let line = watching.until(|watching| watching.last["moved"] != Value::Array(vec![]));
    let (from, to) = (
        &line["moved"][0]["from"]["line"],
        &line["moved"][0]["finding"]["start"]["line"],
    );
    assert_eq!(from.as_u64().unwrap() + 2, to.as_u64().unwrap());
    assert_eq!(
        (&line["new"], &line["gone"]),
        (&Value::Array(vec![]), &Value::Array(vec![]))
    );
    // Saved as many editors do: another file takes its place.
    project.write_file("templates/.a.xml.swp", CLEAN);
    std::fs::rename(
        project.path("templates/.a.xml.swp"),
        project.path("templates/a.xml"),
    )
    .unwrap();
    let line = watching.finds(&["context-conflict"], 2);
    assert_eq!(names(&line["changed"]), ["templates/a.xml"]);
    // A folder gone with all that is in it, and back.
    std::fs::remove_dir_all(project.path("templates/deep")).unwrap();
    let line = watching.finds(&[], 1);
    assert_eq!(names(&line["changed"]), ["templates/deep/er/b.xml"]);
    assert_eq!(line["gone"][0]["path"], "templates/deep/er/b.xml");
    project.write_file(
        "templates/deep/er/b.xml",
        CONFLICT.replace("name=\"", "name=\"b-"),
    );
    watching.finds(&["context-conflict"], 2);
    std::fs::remove_dir_all(project.path("templates")).unwrap();
    watching.finds(&[], 0);
    project.write_file("templates/a.xml", CONFLICT);
    watching.finds(&["context-conflict"], 1);
    project.write_file("templates/a.xml", CLEAN);
    watching.finds(&[], 1);
}

#[test]
fn the_project_file_counts_and_a_broken_one_ends_nothing() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut watching = Watching::start(&project, &[]);
    watching.line();
    project.write_file("ctxc.toml", "[lints]\nnonsense = \"warning\"\n");
    let line = watching.finds(&["unknown-lint"], 1);
    assert_eq!(names(&line["changed"]), ["ctxc.toml"]);
    project.write_file("ctxc.toml", "[lints\n");
    watching.finds(&["project-syntax"], 1);
    // An unreadable file: the earlier findings stand.
    project.write_file("ctxc.toml", [0xff, 0xfe, 0x00]);
    let line = watching.until(|watching| !watching.last["trouble"].is_null());
    assert!(
        line["trouble"]["message"]
            .as_str()
            .unwrap()
            .contains("ctxc.toml"),
        "{line:#}"
    );
    assert_eq!(
        (&line["summary"]["error"], &line["files"], &line["gone"]),
        (&1.into(), &1.into(), &Value::Array(vec![]))
    );
    std::fs::remove_file(project.path("ctxc.toml")).unwrap();
    let line = watching.finds(&[], 1);
    assert_eq!(names(&line["changed"]), ["ctxc.toml"]);
    project.write_file("ctxc.suppressions.toml", "nonsense");
    watching.until(|watching| !watching.last["trouble"].is_null());
    std::fs::remove_file(project.path("ctxc.suppressions.toml")).unwrap();
    watching.finds(&[], 1);
}

#[test]
fn texts_links_and_ignore_files_count() {
    let template = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <instructions src=\"../texts/guide.md\"/>\n</task>\n";
    let project = Project::new()
        .with_file("templates/a.xml", template)
        .with_file("texts/guide.md", "be kind");
    let mut watching = Watching::start(&project, &["templates"]);
    watching.line();
    std::fs::remove_dir_all(project.path("texts")).unwrap();
    let line = watching.finds(&["missing-source"], 1);
    assert_eq!(names(&line["changed"]), ["texts/guide.md"]);
    project.write_file("texts/guide.md", "be kind");
    watching.finds(&[], 1);
    project.write_file("texts/guide.md", "be kinder");
    let line = watching.line();
    assert_eq!(names(&line["changed"]), ["texts/guide.md"]);
    project.write_file("templates/drafts/b.xml", CONFLICT);
    watching.finds(&["context-conflict"], 2);
    project.write_file("templates/.gitignore", "drafts/\n");
    watching.finds(&[], 1);
    #[cfg(unix)]
    {
        project.write_file("elsewhere/real.xml", CLEAN);
        std::os::unix::fs::symlink(
            project.path("elsewhere/real.xml"),
            project.path("templates/link.xml"),
        )
        .unwrap();
        watching.finds(&[], 2);
        project.write_file("elsewhere/real.xml", CONFLICT);
        let line = watching.finds(&["context-conflict"], 2);
        assert_eq!(names(&line["changed"]), ["templates/link.xml"]);
    }
}

#[test]
fn a_named_file_is_watched_alone_and_may_go_and_come_back() {
    let project = Project::new()
        .with_file("deep/a.xml", CLEAN)
        .with_file("deep/b.xml", CONFLICT);
    let mut watching = Watching::start(&project, &["deep/a.xml"]);
    assert_eq!(watching.line()["files"], 1);
    project.write_file("deep/b.xml", CLEAN.replace("name=\"", "name=\"b-"));
    project.write_file("deep/a.xml", CONFLICT);
    let line = watching.finds(&["context-conflict"], 1);
    assert_eq!(names(&line["changed"]), ["deep/a.xml"]);
    std::fs::rename(project.path("deep"), project.path("deeper")).unwrap();
    let line = watching.until(|watching| !watching.last["trouble"].is_null());
    assert!(
        line["trouble"]["message"]
            .as_str()
            .unwrap()
            .contains("deep/a.xml"),
        "{line:#}"
    );
    std::fs::rename(project.path("deeper"), project.path("deep")).unwrap();
    watching.finds(&["context-conflict"], 1);
    project.write_file("deep/a.xml", CLEAN);
    watching.finds(&[], 1);
}

#[test]
fn it_starts_with_nothing_and_refuses_what_cannot_change() {
    let project = Project::new();
    let mut watching = Watching::start(&project, &[]);
    assert_eq!(watching.line()["files"], 0);
    project.write_file("templates/a.xml", CONFLICT);
    watching.finds(&["context-conflict"], 1);
    project
        .run(&["watch", "-"])
        .exits_with(2)
        .stderr_contains("standard input does not change")
        .stdout_is_empty();
    project
        .run(&["watch", "none.xml"])
        .exits_with(2)
        .stderr_contains("none.xml")
        .stdout_is_empty();
    project
        .run(&["watch", "--project", "none"])
        .exits_with(2)
        .stderr_contains("none")
        .stdout_is_empty();
}

#[test]
fn a_burst_is_one_change_or_few() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut watching = Watching::start(&project, &[]);
    watching.line();
    let started = Instant::now();
    for number in 0..200 {
        project.write_file(
            &format!("templates/{number}.xml"),
            CLEAN.replace("name=\"", &format!("name=\"n{number}-")),
        );
    }
    watching.until(|watching| watching.last["files"] == 201);
    // There is one line at most for every pause that it makes.
    let pauses = started.elapsed().as_millis() as usize / 50 + 1;
    assert!(
        watching.count <= pauses + 1,
        "{} lines in {pauses} pauses",
        watching.count
    );
    // Neither reading a file nor writing it again unchanged is a change.
    project.run(&["check"]);
    project.write_file("templates/0.xml", project.read_file("templates/0.xml"));
    project.write_file("notes.txt", "nothing to do with it");
    project.write_file("templates/a.xml", CONFLICT);
    let line = watching.line();
    assert_eq!(
        (
            names(&line["changed"]),
            line["new"].as_array().unwrap().len()
        ),
        (vec!["templates/a.xml"], 1)
    );
}

#[test]
fn it_polls_if_there_are_no_events() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut watching = Watching::start(&project, &["--poll"]);
    watching.line();
    project.write_file("templates/a.xml", CONFLICT);
    watching.finds(&["context-conflict"], 1);
    project.write_file(
        "templates/deep/b.xml",
        CONFLICT.replace("name=\"", "name=\"b-"),
    );
    watching.finds(&["context-conflict", "context-conflict"], 2);
    std::fs::remove_dir_all(project.path("templates")).unwrap();
    watching.finds(&[], 0);
}

#[cfg(unix)]
#[test]
fn it_ends_when_interrupted_and_when_no_one_reads() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let mut watching = Watching::start(&project, &[]);
    watching.line();
    assert!(
        Command::new("kill")
            .args(["-INT", &watching.child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(watching.ends(), Some(130));
    // A reader that takes one line and goes away. Nothing changes after that.
    let mut child = project
        .command(&["watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let mut watching = Watching {
        child,
        lines: channel().1,
        found: Vec::new(),
        last: Value::Null,
        count: 0,
    };
    drop(out);
    assert_eq!(watching.ends(), Some(0));
    let mut stderr_text = String::new();
    std::io::Read::read_to_string(&mut watching.child.stderr.take().unwrap(), &mut stderr_text)
        .unwrap();
    assert_eq!(stderr_text, "");
}
