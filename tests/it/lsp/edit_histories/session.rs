//! The session of an editor, and the project as it should be after each step.

use super::super::client::{Client, applied, pulling};
use super::project::{FILES, FOLDERS, WORDS};
use crate::run::support::Random;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The expected state of the project.
struct Model {
    random: Random,
    names: BTreeMap<&'static str, String>,
    /// Files and folders by their words; a folder's word is its first path.
    paths: BTreeMap<&'static str, String>,
    open: BTreeSet<&'static str>,
    /// The steps so far, for a failure.
    log: Vec<String>,
}

/// A place of a mark in a rendered text.
struct Place {
    file: &'static str,
    offset: usize,
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        for _ in 0..8 {
            random.below(2);
        }
        let files = FILES
            .iter()
            .map(|(word, path, _)| (*word, (*path).to_owned()));
        let paths = files
            .chain(FOLDERS.iter().map(|folder| (*folder, (*folder).to_owned())))
            .collect();
        let marks = FILES
            .iter()
            .flat_map(|(_, _, text)| text.split("⟦n:").skip(1))
            .map(|rest| rest.split('⟧').next().unwrap());
        let names = marks.map(|word| (word, word.to_owned())).collect();
        Self {
            random,
            names,
            paths,
            open: BTreeSet::new(),
            log: vec![format!("seed {seed}")],
        }
    }

    fn written(&self, file: &str, mark: &str) -> String {
        let (kind, word) = mark.split_once(':').unwrap();
        let path = |word: &str| self.paths[word].clone();
        match kind {
            "n" => self.names[word].clone(),
            "p" => path(word),
            "s" => Path::new(&path(word))
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
            _ => {
                let (from, to) = (path(file), path(word));
                let (from, to): (Vec<&str>, Vec<&str>) =
                    (from.split('/').collect(), to.split('/').collect());
                let shared = from
                    .iter()
                    .zip(&to)
                    .take_while(|(from, to)| from == to)
                    .count();
                let up = std::iter::repeat_n("..", from.len() - 1 - shared);
                up.chain(to[shared..].iter().copied())
                    .collect::<Vec<_>>()
                    .join("/")
            }
        }
    }

    /// The text of a file, with the places of the marks for a name in it.
    fn text(&self, file: &'static str, name: &str) -> (String, Vec<Place>) {
        let (_, _, text) = FILES.iter().find(|(word, ..)| *word == file).unwrap();
        let mut parts = text.split('⟦');
        let mut out = parts.next().unwrap().to_owned();
        let mut places = Vec::new();
        for part in parts {
            let (mark, rest) = part.split_once('⟧').unwrap();
            if mark == format!("n:{name}") {
                places.push(Place {
                    file,
                    offset: out.len(),
                });
            }
            out += &self.written(file, mark);
            out += rest;
        }
        (out, places)
    }

    /// The words of what lies at a path or below it.
    fn below(&self, path: &str) -> Vec<&'static str> {
        let is_below = |own: &str| {
            own.strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.paths
            .iter()
            .filter(|(_, own)| is_below(own))
            .map(|(word, _)| *word)
            .collect()
    }

    fn fresh_word(&mut self, taken: &BTreeSet<String>) -> String {
        let free: Vec<&str> = WORDS
            .iter()
            .copied()
            .filter(|word| !taken.contains(*word))
            .collect();
        if free.is_empty() || self.random.once_in(4) {
            return format!("other_{}", self.log.len());
        }
        (*self.random.pick(&free)).to_owned()
    }
}

/// The words of all files.
fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(word, ..)| *word)
}

/// A session of an editor.
struct Session {
    model: Model,
    client: Client,
}

impl Session {
    fn new(seed: u64) -> Self {
        let model = Model::new(seed);
        let texts: Vec<(String, String)> = files()
            .map(|word| (model.paths[word].clone(), model.text(word, "").0))
            .collect();
        let files: Vec<(&str, &str)> = texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        Self {
            client: Client::new(&files, &watching()),
            model,
        }
    }

    fn read(&self, word: &str) -> String {
        std::fs::read_to_string(self.client.path(&self.model.paths[word])).unwrap()
    }

    /// Writes the edits of an answer, as an editor does: into open documents, and onto the disk.
    fn apply(&self, changes: &Value) {
        let edited = changes.as_object().into_iter().flatten();
        for (uri, edits) in edited {
            let word = files().find(|word| self.client.uri(&self.model.paths[word]) == *uri);
            let word = word
                .unwrap_or_else(|| panic!("{uri} is no file of the project: {:?}", self.model.log));
            let text = applied(&self.read(word), edits);
            let path = &self.model.paths[word];
            std::fs::write(self.client.path(path), &text).unwrap();
            if self.model.open.contains(word) {
                self.client.replace(
                    path,
                    i32::try_from(self.model.log.len()).unwrap() + 1,
                    &text,
                );
            }
            self.report(&[(path.clone(), 2)]);
        }
    }

    /// Reports events of files on disk: 1 created, 2 changed, 3 deleted.
    fn report(&self, events: &[(String, u8)]) {
        let events: Vec<Value> = events
            .iter()
            .map(|(path, kind)| json!({"uri": self.client.uri(path), "type": kind}))
            .collect();
        self.client.tell(
            "workspace/didChangeWatchedFiles",
            &json!({"changes": events}),
        );
    }

    fn toggle(&mut self) {
        let words: Vec<&str> = files().collect();
        let word = *self.model.random.pick(&words);
        self.model
            .log
            .push(format!("open or close {}", self.model.paths[word]));
        if self.model.open.remove(word) {
            self.client.close(&self.model.paths[word]);
        } else {
            self.open(word);
        }
    }

    fn open(&mut self, word: &'static str) {
        if self.model.open.insert(word) {
            self.client.open(&self.model.paths[word], &self.read(word));
        }
    }

    fn rename(&mut self) {
        let names: Vec<&str> = self.model.names.keys().copied().collect();
        let name = *self.model.random.pick(&names);
        let files: Vec<&str> = files().collect();
        let places: Vec<Place> = files
            .iter()
            .flat_map(|file| self.model.text(file, name).1)
            .collect();
        let Place { file, offset } = *self.model.random.pick(&places.iter().collect::<Vec<_>>());
        let stem = self.model.written(file, "s:letter");
        let taken: BTreeSet<String> = self.model.names.values().cloned().chain([stem]).collect();
        let new = self.model.fresh_word(&taken);
        let log = format!(
            "rename {} to {new} in {}",
            self.model.names[name], self.model.paths[file]
        );
        self.model.log.push(log);
        self.open(file);
        let head = &self.read(file)[..*offset];
        let place = json!({"line": head.matches('\n').count(), "character": head.rsplit('\n').next().unwrap().len()});
        let uri = self.client.uri(&self.model.paths[file]);
        let params = json!({"textDocument": {"uri": uri}, "position": place, "newName": new});
        let answer = self.client.try_ask("textDocument/rename", &params);
        let answer = answer.unwrap_or_else(|(_, why)| panic!("{why}: {:?}", self.model.log));
        self.apply(&answer["changes"]);
        self.model.names.insert(name, new);
    }

    fn move_path(&mut self) {
        let words: Vec<&str> = self
            .model
            .paths
            .keys()
            .copied()
            .filter(|word| *word != "config")
            .collect();
        let word = *self.model.random.pick(&words);
        let old = self.model.paths[word].clone();
        let parts: BTreeSet<String> = self
            .model
            .paths
            .values()
            .flat_map(|path| path.split(['/', '.']))
            .map(str::to_owned)
            .collect();
        let taken = self.model.names.values().cloned().chain(parts).collect();
        let base = self.model.fresh_word(&taken);
        let (folder, name) = old
            .rsplit_once('/')
            .map_or(("", old.as_str()), |(folder, name)| (folder, name));
        let ending = name
            .rsplit_once('.')
            .map_or(String::new(), |(_, ending)| format!(".{ending}"));
        let deeper = if self.model.random.once_in(3) {
            "deeper/"
        } else {
            ""
        };
        let new = format!(
            "{folder}{}{deeper}{base}{ending}",
            if folder.is_empty() { "" } else { "/" }
        );
        self.model.log.push(format!("move {old} to {new}"));
        let files = json!([{"oldUri": self.client.uri(&old), "newUri": self.client.uri(&new)}]);
        let answer = self
            .client
            .ask("workspace/willRenameFiles", &json!({"files": files}));
        self.apply(&answer["changes"]);
        let moved = self.model.below(&old);
        for word in moved.iter().filter(|word| self.model.open.contains(*word)) {
            self.client.close(&self.model.paths[word]);
        }
        std::fs::create_dir_all(self.client.path(&new).parent().unwrap()).unwrap();
        std::fs::rename(self.client.path(&old), self.client.path(&new)).unwrap();
        for word in &moved {
            let path = format!("{new}{}", &self.model.paths[word][old.len()..]);
            self.model.paths.insert(word, path);
        }
        for word in moved.iter().filter(|word| self.model.open.contains(*word)) {
            self.client.open(&self.model.paths[word], &self.read(word));
        }
        let came = moved
            .iter()
            .filter(|word| !FOLDERS.contains(word))
            .map(|word| (self.model.paths[word].clone(), 1));
        self.report(&[(old, 3)].into_iter().chain(came).collect::<Vec<_>>());
    }

    /// Deletes a file or a folder behind the editor, compares, and restores it.
    fn delete(&mut self) {
        // Without templates `check` has no input.
        let words: Vec<&str> = self
            .model
            .paths
            .keys()
            .copied()
            .filter(|word| *word != "templates")
            .collect();
        let word = *self.model.random.pick(&words);
        let path = self.model.paths[word].clone();
        self.model.log.push(format!("delete {path}"));
        for word in std::mem::take(&mut self.model.open) {
            self.client.close(&self.model.paths[word]);
        }
        let away = tempfile::tempdir().unwrap();
        std::fs::rename(self.client.path(&path), away.path().join("away")).unwrap();
        self.report(&[(path.clone(), 3)]);
        self.agree();
        std::fs::rename(away.path().join("away"), self.client.path(&path)).unwrap();
        let came = self
            .model
            .below(&path)
            .into_iter()
            .filter(|word| !FOLDERS.contains(word));
        let came: Vec<(String, u8)> = came
            .map(|word| (self.model.paths[word].clone(), 1))
            .collect();
        self.report(&came);
        assert_eq!(self.shown(), [""; 0], "{:?}", self.model.log);
    }

    /// The findings that the editor shows.
    fn shown(&mut self) -> Vec<String> {
        let answer = self
            .client
            .ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        let folder = self.client.uri("");
        let mut found = Vec::new();
        for file in answer["items"].as_array().unwrap() {
            let name = file["uri"].as_str().unwrap().trim_start_matches(&folder);
            found.extend(
                file["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| format!("{name} {}", one["code"])),
            );
        }
        found.sort();
        found
    }

    /// Compares the findings in the editor with those of the command line.
    fn agree(&mut self) {
        let report: Value =
            serde_json::from_str(&run(self.client.folder(), &["check", "--format", "json"]))
                .unwrap();
        let found = report["diagnostics"].as_array().unwrap().iter();
        let mut found: Vec<String> = found
            .map(|one| format!("{} {}", one["path"].as_str().unwrap(), one["code"]))
            .collect();
        found.sort();
        assert_eq!(self.shown(), found, "{:?}", self.model.log);
    }

    /// Compares the texts with the expected ones.
    fn look(&self) {
        for word in files() {
            assert_eq!(
                self.read(word),
                self.model.text(word, "").0,
                "{:?}",
                self.model.log
            );
        }
    }
}

/// A client that asks for findings and watches files.
fn watching() -> Value {
    let mut able = pulling();
    able["workspace"]["didChangeWatchedFiles"] =
        json!({"dynamicRegistration": true, "relativePatternSupport": true});
    able
}

/// The standard output of a command in a folder.
fn run(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ctxc"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn live(seed: u64) {
    let mut session = Session::new(seed);
    for _ in 0..4 + seed % 5 {
        match session.model.random.below(10) {
            0..2 => session.toggle(),
            2..6 => session.rename(),
            6..9 => session.move_path(),
            _ => session.delete(),
        }
        session.look();
    }
    session.agree();
    assert_eq!(session.shown(), [""; 0], "{:?}", session.model.log);
    let verdict = run(session.client.folder(), &["eval"]);
    let last = "7 scenarios: 7 passed, 0 failed, 0 errored; 0 carried, 0 calls, US$ 0";
    assert_eq!(
        verdict.lines().last(),
        Some(last),
        "{:?}\n{verdict}",
        session.model.log
    );
}

/// `CTXC_HISTORIES` is the number of histories.
#[test]
fn a_history_of_edits_damages_nothing() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let first = number("CTXC_SEED", 1);
    let broken: Vec<String> = (first..first + number("CTXC_HISTORIES", 12))
        .filter_map(|seed| {
            let why = std::panic::catch_unwind(|| live(seed)).err()?;
            Some(format!(
                "{seed}: {}",
                why.downcast_ref::<String>().map_or("", String::as_str)
            ))
        })
        .collect();
    assert!(
        broken.is_empty(),
        "{} broken, such as\n{}",
        broken.len(),
        broken[..broken.len().min(5)].join("\n\n")
    );
}
