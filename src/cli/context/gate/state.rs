//! The safeguards of a project, collected from its files in one revision.

use super::check_files::{CheckFiles, Content, FileNames};
use super::frozen::{Beside, laid_out};
use super::names::Names;
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::recordings;
use crate::cli::context::project::{Compiled, Inside};
use crate::context::request::Files;
use crate::eval::gate::{ANSWER, CHECK, Kind, PART, REQUEST, SITUATION, Safeguard, Safeguards};
use crate::eval::masks;
use crate::project::lints::Level;
use crate::project::suppressions::{self, Suppressions};
use crate::record::recording::Redacted;
use crate::record::redact::{Find, Redactor};
use crate::record::remask::without_all_hashes;
use crate::rules::{allow, list};
use crate::scenario::model::{Case, Expectation, Rule};
use crate::scenario::paths;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The project file, by its name in reports.
pub(super) const FILE: &str = crate::cli::project::FILE;

/// The options for reading one side of a comparison: its names, and the scenarios whose texts are
/// shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'r> {
    pub(super) names: &'r Names,
    pub(super) files: &'r FileNames,
    pub(super) shown: &'r BTreeSet<String>,
}

/// Returns all safeguards of a project.
pub(super) fn safeguards(
    project: &Compiled,
    scenarios: &Scenarios,
    reading: Reading<'_>,
) -> Safeguards {
    let Reading { names, shown, .. } = reading;
    let mut safeguards = Safeguards::default();
    lints(project, &mut safeguards);
    let (files, own) = (project.files(), masks(&project.config.record.mask));
    suppressed(&files, names, &mut safeguards);
    for path in project.paths() {
        allows(
            &path,
            &files.text(&path).unwrap_or_default(),
            names,
            &mut safeguards,
        );
    }
    let of_checks = CheckFiles::new(reading.files, &files);
    for file in &scenarios.files {
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let tools = file.suite.as_ref().map(|suite| &suite.tools);
            let name = names.scenario(&case.name.value);
            let redactor = shown
                .contains(name)
                .then(|| Redactor::new([0; 32], []).replacing(own.clone()));
            let long = Long {
                redactor,
                masks: &own,
                beside: Beside {
                    path: &file.path,
                    files: &files,
                },
            };
            scenario(name, case, &tools, (&long, &mut safeguards));
            checks(name, of_checks.of(case), (&long, &mut safeguards));
            stored(name, case, (&long, &mut safeguards));
        }
    }
    safeguards
}

fn lints(project: &Compiled, safeguards: &mut Safeguards) {
    let config = &project.config;
    for rule in list::all() {
        let level = rule.meta.severity.map_or_else(
            || {
                config
                    .lints
                    .apply(&rule.meta, Severity::Error)
                    .filter(|_| config.lints.level(rule.meta.code).is_some())
            },
            |given| config.lints.apply(&rule.meta, given),
        );
        let level = level.map_or(Level::Off, Level::At);
        let safeguard = Safeguard::new(FILE, level.as_str(), Some(level.strictness().into()));
        safeguards.add(Kind::Lint, rule.meta.name, "level", safeguard);
    }
}

fn suppressed(files: &Inside<'_>, names: &Names, safeguards: &mut Safeguards) {
    let Ok(text) = files.text(suppressions::FILE) else {
        return;
    };
    let Ok(known) = Suppressions::parse(&text) else {
        return;
    };
    let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
    for (key, entry) in known.entries() {
        // The fingerprint of a finding includes its path, so for a moved file only the number
        // counts.
        let (path, what) = match names.files.get(&key.path) {
            Some(now) => (now, key.rule.clone()),
            None => (&key.path, format!("{} {}", key.rule, key.fingerprint)),
        };
        *counts.entry((path, what)).or_default() += entry.count;
    }
    for ((path, what), count) in counts {
        safeguards.add(
            Kind::Suppression,
            path,
            what,
            Safeguard::new(
                suppressions::FILE,
                count.to_string(),
                Some(-f64::from(count)),
            ),
        );
    }
}

/// Adds the instructions of a template that allow findings, counted for each definition regardless
/// of its file: more of them are weaker, and so is one further outside.
fn allows(path: &str, text: &str, names: &Names, safeguards: &mut Safeguards) {
    for allow::Counted {
        definition,
        part,
        rule,
        count,
        depth,
    } in allow::counted(text)
    {
        let of = match &definition {
            Some(name) => names.tasks.get(name).unwrap_or(name),
            None => names.files.get(path).map_or(path, String::as_str),
        };
        let what = part.map_or_else(|| rule.clone(), |part| format!("{rule}{PART}`{part}`"));
        let safeguard = Safeguard::new(path, count.to_string(), Some(-f64::from(count)));
        let limits = vec![-f64::from(count), f64::from(depth)];
        let value = format!(
            "{}{}",
            safeguard.value,
            if depth == 0 { "" } else { ", further inside" }
        );
        safeguards.add(
            Kind::Allow,
            of,
            what,
            Safeguard {
                value,
                limits,
                ..safeguard
            },
        );
    }
}

pub(super) fn hash(value: &impl Serialize) -> String {
    // Serializing plain data with string keys cannot fail.
    let hash = Hash::of(&serde_json::to_vec(value).unwrap_or_default()).to_string();
    hash.get(..SHOWN).unwrap_or(&hash).to_owned()
}

/// The number of characters of a hash that distinguish two contents of one place.
const SHOWN: usize = 19;

/// Creates safeguards of long values: the hash, and the text if it is shown.
struct Long<'f> {
    redactor: Option<Redactor>,
    /// The project's own masks, applied before requests are compared.
    masks: &'f [Arc<dyn Find>],
    beside: Beside<'f>,
}

impl Long<'_> {
    /// Returns the safeguard of a value in the scenario, with the contents of named files.
    fn own(&self, value: &impl Serialize) -> Safeguard {
        self.of(self.beside.path, &self.beside.inlined(value))
    }

    /// Returns the safeguard of a value, with a note after its hash.
    fn with(&self, path: &str, value: &impl Serialize, words: &str) -> Safeguard {
        let text = self.redactor.as_ref().map(|redactor| {
            let value = serde_json::to_value(value).unwrap_or_default();
            // A text that is JSON, such as a stored request, is shown in lines.
            let value = value
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or(value);
            let text = value
                .as_str()
                .map_or_else(|| format!("{value:#}"), str::to_owned);
            without_all_hashes(&redactor.text(&text).0)
        });
        Safeguard {
            text,
            ..Safeguard::new(path, format!("{}{words}", hash(value)), None)
        }
    }

    /// Returns the safeguard of a file's text, independent of line ends.
    fn text(&self, path: &str, text: &str) -> Safeguard {
        self.of(path, &text.replace("\r\n", "\n"))
    }

    fn of(&self, path: &str, value: &impl Serialize) -> Safeguard {
        self.with(path, value, "")
    }

    /// Returns a stored request with the masks applied: a masked part is not compared.
    fn request(&self, text: &str) -> String {
        let mut text = laid_out(text);
        for mask in self.masks {
            for range in mask.all(&text).into_iter().rev() {
                text.replace_range(range, "⟦own⟧");
            }
        }
        text
    }
}

/// Limits of expectations, by their keys in the serialized form: upper and lower ones.
const MOST: [&[&str]; 4] = [
    &["Tokens", "max"],
    &["MaxTokens"],
    &["MaxLatency"],
    &["MaxCost"],
];
const LEAST: [&[&str]; 3] = [
    &["Tokens", "min"],
    &["PromptCache", "min_reused"],
    &["Judge", "min_score"],
];
/// The lists of patterns, each of which must hold.
const PATTERNS: [&[&str]; 4] = [
    &["Contains"],
    &["Absent"],
    &["Contains", "patterns"],
    &["Absent", "patterns"],
];
/// The keys that lead to the expectation on one agent of a whole run.
const OF_AGENT: [&str; 2] = ["OfAgent", "test"];

/// Returns the value at a path of keys.
fn value_at<'v>(value: &'v mut Value, place: &[&str]) -> Option<&'v mut Value> {
    place
        .iter()
        .try_fold(value, |value, key| value.get_mut(*key))
}

/// Splits an expectation into its limits, its patterns and the rest.
fn limited(safeguard: Safeguard, written: Value) -> Safeguard {
    let mut rest = written;
    let tested = if rest.get(OF_AGENT[0]).is_some() {
        value_at(&mut rest, &OF_AGENT)
    } else {
        Some(&mut rest)
    };
    let (mut limits, mut patterns) = (Vec::new(), Vec::new());
    if let Some(tested) = tested {
        for place in PATTERNS {
            let found = value_at(tested, place).and_then(Value::as_array_mut);
            patterns.extend(
                found
                    .into_iter()
                    .flat_map(std::mem::take)
                    .map(|pattern| pattern.to_string()),
            );
        }
        let mut take = |place: &&[&str]| value_at(tested, place)?.take().as_f64();
        limits.extend(MOST.iter().map(|place| -take(place).unwrap_or(f64::MAX)));
        limits.extend(LEAST.iter().map(|place| take(place).unwrap_or(0.0)));
    }
    Safeguard {
        limits,
        patterns,
        besides: hash(&rest),
        ..safeguard
    }
}

/// The target of a scenario's safeguards.
type Put<'a> = (&'a Long<'a>, &'a mut Safeguards);

fn scenario(name: &str, case: &Case, tools: &impl Serialize, (long, safeguards): Put<'_>) {
    let path = long.beside.path;
    let mut add = |what: String, safeguard: Safeguard| {
        safeguards.add(Kind::Expectation, name, what, safeguard);
    };
    for one in &case.expect_context {
        let written = long.beside.inlined(&one.value);
        add(
            format!("context: {}", one.value.words()),
            limited(long.of(path, &written), written),
        );
    }
    for Expectation { test, gate } in case.expectations.iter().map(|one| &one.value) {
        let written = long.beside.inlined(test);
        let mut safeguard = limited(
            long.with(path, &written, if *gate { "" } else { ", only informs" }),
            written,
        );
        safeguard.limits.push(f64::from(u8::from(*gate)));
        add(format!("answer: {}", test.words()), safeguard);
    }
    add(
        SITUATION.to_owned(),
        long.of(path, &long.beside.frozen(case, tools)),
    );
    if !case.answers.is_empty() {
        add("scripted answers".to_owned(), long.own(&case.answers));
    }
    let Rule { runs, pass, .. } = case.rule;
    add(
        "trials that must pass".to_owned(),
        Safeguard::new(path, pass.to_string(), Some(f64::from(pass))),
    );
    let may_fail = runs.saturating_sub(pass);
    add(
        "trials that may fail".to_owned(),
        Safeguard::new(path, may_fail.to_string(), Some(-f64::from(may_fail))),
    );
    add(
        "how trials decide".to_owned(),
        long.own(&Rule {
            runs: 0,
            pass: 0,
            ..case.rule
        }),
    );
}

/// Adds the files of a scenario's custom checks.
fn checks(name: &str, files: BTreeMap<String, Content>, (long, safeguards): Put<'_>) {
    for (place, content) in files {
        let safeguard = match content.map(String::from_utf8) {
            Ok(Ok(text)) => long.text(&place, &text),
            Ok(Err(bytes)) => {
                Safeguard::new(&place, hash(&Hash::of(bytes.as_bytes()).to_string()), None)
            }
            Err(why) => Safeguard::new(&place, why, None),
        };
        safeguards.add(
            Kind::Expectation,
            name,
            format!("{CHECK}{place}"),
            safeguard,
        );
    }
}

/// Adds the stored request and the recorded answers of a scenario.
fn stored(name: &str, case: &Case, (long, safeguards): Put<'_>) {
    let Beside { path, files } = long.beside;
    let snapshot = paths::snapshot(path, &case.name.value);
    if case.wants_snapshot()
        && let Ok(text) = files.text(&snapshot)
    {
        safeguards.add(
            Kind::Snapshot,
            name,
            "stored request",
            long.of(&snapshot, &long.request(&text)),
        );
    }
    let recording = paths::recording(path, &case.name.value);
    if !case.answers.is_empty() {
        let is_recorded = files.text(&recording).is_ok();
        let (value, place) = if is_recorded {
            ("the recording", &*recording)
        } else {
            ("the script", path)
        };
        safeguards.add(
            Kind::Recording,
            name,
            "who answers",
            Safeguard::new(place, value, None),
        );
    }
    let Ok(Some(known)) = recordings(files, &recording) else {
        return;
    };
    for call in known.calls.iter().filter(|call| call.is_answered()) {
        let key = call.key.get(..SHOWN).unwrap_or(&call.key);
        safeguards.add(
            Kind::Recording,
            name,
            format!("{ANSWER}{key}"),
            long.of(&recording, &call.response),
        );
        // The key represents the request; its masked parts are only in the line itself.
        let is_masked = |one: &&Redacted| one.pointer.starts_with("/request");
        let masked: Vec<&Redacted> = call.redacted.iter().filter(is_masked).collect();
        let request = (long.request(call.request.get()), masked, &call.endpoint);
        safeguards.add(
            Kind::Recording,
            name,
            format!("{REQUEST}{key}"),
            long.of(&recording, &request),
        );
    }
}
