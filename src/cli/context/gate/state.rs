//! What a project holds itself to, collected from its files, as one revision has them.

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

/// The project file, as reports name it.
pub(super) const FILE: &str = crate::cli::project::FILE;

/// The names by which one side of a comparison is read, and the scenarios whose texts are to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'r> {
    pub(super) names: &'r Names,
    pub(super) files: &'r FileNames,
    pub(super) shown: &'r BTreeSet<String>,
}

/// Everything that a project holds itself to.
pub(super) fn safeguards(project: &Compiled, scenarios: &Scenarios, reading: Reading<'_>) -> Safeguards {
    let Reading { names, shown, .. } = reading;
    let mut safeguards = Safeguards::default();
    lints(project, &mut safeguards);
    let (files, own) = (project.files(), masks(&project.config.record.mask));
    suppressed(&files, names, &mut safeguards);
    for path in project.paths() {
        allows(&path, &files.text(&path).unwrap_or_default(), names, &mut safeguards);
    }
    let of_checks = CheckFiles::new(reading.files, &files);
    for file in &scenarios.files {
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let tools = file.suite.as_ref().map(|suite| &suite.tools);
            let name = names.scenario(&case.name.value);
            let redactor = shown.contains(name).then(|| Redactor::new([0; 32], []).replacing(own.clone()));
            let long = Long { redactor, masks: &own, beside: Beside { path: &file.path, files: &files } };
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
            || config.lints.apply(&rule.meta, Severity::Error).filter(|_| config.lints.level(rule.meta.code).is_some()),
            |given| config.lints.apply(&rule.meta, given),
        );
        let level = level.map_or(Level::Off, Level::At);
        let safeguard = Safeguard::new(FILE, level.as_str(), Some(level.strictness().into()));
        safeguards.add(Kind::Lint, rule.meta.name, "level", safeguard);
    }
}

fn suppressed(files: &Inside<'_>, names: &Names, safeguards: &mut Safeguards) {
    let Ok(text) = files.text(suppressions::FILE) else { return };
    let Ok(known) = Suppressions::parse(&text) else { return };
    let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
    for (key, entry) in known.entries() {
        // The place of a finding is part of its fingerprint: of a file that moved there is only the number.
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
            Safeguard::new(suppressions::FILE, count.to_string(), Some(-f64::from(count))),
        );
    }
}

/// The instructions of a template that silence rules, counted in each definition, whatever file it is in: more of them are looser, and so
/// is one that stands further outside.
fn allows(path: &str, text: &str, names: &Names, safeguards: &mut Safeguards) {
    for allow::Counted { definition, part, rule, count, depth } in allow::counted(text) {
        let of = match &definition {
            Some(name) => names.tasks.get(name).unwrap_or(name),
            None => names.files.get(path).map_or(path, String::as_str),
        };
        let what = part.map_or_else(|| rule.clone(), |part| format!("{rule}{PART}`{part}`"));
        let safeguard = Safeguard::new(path, count.to_string(), Some(-f64::from(count)));
        let limits = vec![-f64::from(count), f64::from(depth)];
        let value = format!("{}{}", safeguard.value, if depth == 0 { "" } else { ", further inside" });
        safeguards.add(Kind::Allow, of, what, Safeguard { value, limits, ..safeguard });
    }
}

pub(super) fn hash(value: &impl Serialize) -> String {
    // Plain data with string keys: writing it cannot fail.
    let hash = Hash::of(&serde_json::to_vec(value).unwrap_or_default()).to_string();
    hash.get(..SHOWN).unwrap_or(&hash).to_owned()
}

/// Characters of a hash that tell two contents of one place apart.
const SHOWN: usize = 19;

/// What is long: its hash, and its lines where they are to be shown.
struct Long<'f> {
    redactor: Option<Redactor>,
    /// The project's own patterns of what is replaced before requests are compared.
    masks: &'f [Arc<dyn Find>],
    beside: Beside<'f>,
}

impl Long<'_> {
    /// A value of the scenario, with the files that it names.
    fn own(&self, value: &impl Serialize) -> Safeguard {
        self.of(self.beside.path, &self.beside.inlined(value))
    }

    /// A value with some words behind its hash.
    fn with(&self, path: &str, value: &impl Serialize, words: &str) -> Safeguard {
        let text = self.redactor.as_ref().map(|redactor| {
            let value = serde_json::to_value(value).unwrap_or_default();
            // A text that is JSON, as a stored request is, has its lines once it is laid out.
            let value = value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value);
            let text = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
            without_all_hashes(&redactor.text(&text).0)
        });
        Safeguard { text, ..Safeguard::new(path, format!("{}{words}", hash(value)), None) }
    }

    /// A text of a file; what a checkout does to line ends is no change.
    fn text(&self, path: &str, text: &str) -> Safeguard {
        self.of(path, &text.replace("\r\n", "\n"))
    }

    fn of(&self, path: &str, value: &impl Serialize) -> Safeguard {
        self.with(path, value, "")
    }

    /// A stored request as it is compared: a pattern that replaces a part of it lets go of that part.
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

/// Limits of expectations, by their places in what is written of them: at most, and at least.
const MOST: [&[&str]; 4] = [&["Tokens", "max"], &["MaxTokens"], &["MaxLatency"], &["MaxCost"]];
const LEAST: [&[&str]; 3] = [&["Tokens", "min"], &["PromptCache", "min_reused"], &["Judge", "min_score"]];
/// The patterns of which each has to hold.
const PATTERNS: [&[&str]; 4] = [&["Contains"], &["Absent"], &["Contains", "patterns"], &["Absent", "patterns"]];
/// The expectation inside one of an agent of a whole run.
const OF_AGENT: [&str; 2] = ["OfAgent", "test"];

/// The value at a place inside another.
fn value_at<'v>(value: &'v mut Value, place: &[&str]) -> Option<&'v mut Value> {
    place.iter().try_fold(value, |value, key| value.get_mut(*key))
}

/// Takes the limits and patterns of an expectation apart from the rest of it.
fn limited(safeguard: Safeguard, written: Value) -> Safeguard {
    let mut rest = written;
    let tested = if rest.get(OF_AGENT[0]).is_some() { value_at(&mut rest, &OF_AGENT) } else { Some(&mut rest) };
    let (mut limits, mut patterns) = (Vec::new(), Vec::new());
    if let Some(tested) = tested {
        for place in PATTERNS {
            let found = value_at(tested, place).and_then(Value::as_array_mut);
            patterns.extend(found.into_iter().flat_map(std::mem::take).map(|pattern| pattern.to_string()));
        }
        let mut take = |place: &&[&str]| value_at(tested, place)?.take().as_f64();
        limits.extend(MOST.iter().map(|place| -take(place).unwrap_or(f64::MAX)));
        limits.extend(LEAST.iter().map(|place| take(place).unwrap_or(0.0)));
    }
    Safeguard { limits, patterns, besides: hash(&rest), ..safeguard }
}

/// Where what a scenario holds itself to is put.
type Put<'a> = (&'a Long<'a>, &'a mut Safeguards);

fn scenario(name: &str, case: &Case, tools: &impl Serialize, (long, safeguards): Put<'_>) {
    let path = long.beside.path;
    let mut add = |what: String, safeguard: Safeguard| safeguards.add(Kind::Expectation, name, what, safeguard);
    for one in &case.expect_context {
        let written = long.beside.inlined(&one.value);
        add(format!("context: {}", one.value.words()), limited(long.of(path, &written), written));
    }
    for Expectation { test, gate } in case.expectations.iter().map(|one| &one.value) {
        let written = long.beside.inlined(test);
        let mut safeguard = limited(long.with(path, &written, if *gate { "" } else { ", only informs" }), written);
        safeguard.limits.push(f64::from(u8::from(*gate)));
        add(format!("answer: {}", test.words()), safeguard);
    }
    add(SITUATION.to_owned(), long.of(path, &long.beside.frozen(case, tools)));
    if !case.answers.is_empty() {
        add("scripted answers".to_owned(), long.own(&case.answers));
    }
    let Rule { runs, pass, .. } = case.rule;
    add("trials that must pass".to_owned(), Safeguard::new(path, pass.to_string(), Some(f64::from(pass))));
    let may_fail = runs.saturating_sub(pass);
    add("trials that may fail".to_owned(), Safeguard::new(path, may_fail.to_string(), Some(-f64::from(may_fail))));
    add("how trials decide".to_owned(), long.own(&Rule { runs: 0, pass: 0, ..case.rule }));
}

/// The files of a scenario's own checks.
fn checks(name: &str, files: BTreeMap<String, Content>, (long, safeguards): Put<'_>) {
    for (place, content) in files {
        let safeguard = match content.map(String::from_utf8) {
            Ok(Ok(text)) => long.text(&place, &text),
            Ok(Err(bytes)) => Safeguard::new(&place, hash(&Hash::of(bytes.as_bytes()).to_string()), None),
            Err(why) => Safeguard::new(&place, why, None),
        };
        safeguards.add(Kind::Expectation, name, format!("{CHECK}{place}"), safeguard);
    }
}

/// The stored request and the recorded answers of a scenario.
fn stored(name: &str, case: &Case, (long, safeguards): Put<'_>) {
    let Beside { path, files } = long.beside;
    let snapshot = paths::snapshot(path, &case.name.value);
    if case.wants_snapshot()
        && let Ok(text) = files.text(&snapshot)
    {
        safeguards.add(Kind::Snapshot, name, "stored request", long.of(&snapshot, &long.request(&text)));
    }
    let recording = paths::recording(path, &case.name.value);
    if !case.answers.is_empty() {
        let is_recorded = files.text(&recording).is_ok();
        let (value, place) = if is_recorded { ("the recording", &*recording) } else { ("the script", path) };
        safeguards.add(Kind::Recording, name, "who answers", Safeguard::new(place, value, None));
    }
    let Ok(Some(known)) = recordings(files, &recording) else { return };
    for call in known.calls.iter().filter(|call| call.is_answered()) {
        let key = call.key.get(..SHOWN).unwrap_or(&call.key);
        safeguards.add(Kind::Recording, name, format!("{ANSWER}{key}"), long.of(&recording, &call.response));
        // The key stands for the request; what was masked in it is only known from the line itself.
        let is_masked = |one: &&Redacted| one.pointer.starts_with("/request");
        let masked: Vec<&Redacted> = call.redacted.iter().filter(is_masked).collect();
        let request = (long.request(call.request.get()), masked, &call.endpoint);
        safeguards.add(Kind::Recording, name, format!("{REQUEST}{key}"), long.of(&recording, &request));
    }
}
