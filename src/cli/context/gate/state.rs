//! The safeguards of a project, collected from its files in one revision.

use super::check_files::{CheckFiles, FileContent, FileNames};
use super::frozen::{ScenarioFiles, normalize_layout};
use super::renames::Renames;
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::read_recordings;
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::context::request::Files;
use crate::eval::compile_masks;
use crate::eval::gate::{
    ANSWER_PREFIX, CHECK_PREFIX, JUDGEMENT_PREFIX, PART_SEPARATOR, REQUEST_PREFIX, SHARE_LABEL,
    SITUATION_LABEL, Safeguard, SafeguardKind, Safeguards,
};
use crate::project::config::Config;
use crate::project::lints::LintLevel;
use crate::project::packages::contract_package;
use crate::project::suppressions::{self, Suppressions};
use crate::record::recording::MaskedCount;
use crate::record::redact::{PatternFinder, Redactor};
use crate::record::remask::without_all_hashes;
use crate::rules::{allow, list};
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::load::LoadedScenario;
use crate::scenario::model::{AnswerExpectation, ScenarioCase, Suite, SuiteThresholds, TrialRule};
use crate::scenario::paths;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The project file, by its name in reports.
pub(super) const FILE: &str = crate::cli::project::PROJECT_FILE;

/// The options for reading one side of a comparison: its names, and the scenarios whose texts are
/// shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideReading<'r> {
    pub(super) names: &'r Renames,
    pub(super) files: &'r FileNames,
    pub(super) shown: &'r BTreeSet<String>,
}

/// Returns all safeguards of a project.
pub(super) fn collect_safeguards(
    project: &CompiledProject,
    scenarios: &[&Scenarios],
    reading: SideReading<'_>,
) -> Safeguards {
    let SideReading { names, shown, .. } = reading;
    let mut safeguards = Safeguards::default();
    add_lints(project, &mut safeguards);
    let (files, own) = (project.files(), compile_masks(&project.config.record.mask));
    add_suppressions(&files, names, &mut safeguards);
    for path in project.definition_paths() {
        add_allows(
            &path,
            &files.text(&path).unwrap_or_default(),
            names,
            &mut safeguards,
        );
    }
    let of_checks = CheckFiles::new(reading.files, &files);
    let owner = ScenarioNames {
        names,
        config: &project.config,
    };
    for file in scenarios.iter().flat_map(|some| &some.files) {
        if let Some(suite) = &file.suite {
            add_thresholds(file, suite, owner, &mut safeguards);
        }
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let tools = file.suite.as_ref().map(|suite| &suite.tools);
            let name = &*owner.name(file, case);
            let redactor = shown
                .contains(name)
                .then(|| Redactor::new([0; 32], []).with_patterns(own.clone()));
            let long = LongValues {
                redactor,
                masks: &own,
                beside: ScenarioFiles {
                    path: &file.path,
                    files: &files,
                },
            };
            let mut target = SafeguardTarget {
                long: &long,
                safeguards: &mut safeguards,
            };
            add_scenario(name, case, &tools, &mut target);
            add_checks(name, of_checks.files_of_case(case), &mut target);
            add_stored(name, case, &mut target);
        }
    }
    safeguards
}

/// The names of scenarios, and of contracts that are no scenarios of the project.
#[derive(Clone, Copy)]
struct ScenarioNames<'n> {
    names: &'n Renames,
    config: &'n Config,
}

impl<'n> ScenarioNames<'n> {
    /// Each package may have a contract of the same name.
    fn name(self, file: &LoadedScenario, case: &'n ScenarioCase) -> Cow<'n, str> {
        let name = self.names.current_scenario(&case.name.value);
        match contract_package(&file.path) {
            Some(package) if !self.config.eval.contains_scenario(&file.path) => {
                Cow::Owned(format!("{name} of {package}"))
            }
            _ => Cow::Borrowed(name),
        }
    }
}

/// Adds the minimum score of a suite, and the share of scenarios that must pass to each of them.
fn add_thresholds(
    file: &LoadedScenario,
    suite: &Suite,
    owner: ScenarioNames<'_>,
    safeguards: &mut Safeguards,
) {
    let path = &*file.path;
    let SuiteThresholds {
        min_score,
        pass_rate,
    } = suite.thresholds;
    let safeguard = |limit: f64| Safeguard::new(path, limit.to_string(), Some(limit));
    if let Some(limit) = min_score {
        let (of, what) = (&suite.id.value, "thresholds.min_score");
        safeguards.add(SafeguardKind::Threshold, of, what, safeguard(limit));
    }
    for case in &suite.cases {
        let safeguard = safeguard(pass_rate.unwrap_or(1.0));
        let of = owner.name(file, case);
        safeguards.add(SafeguardKind::Expectation, &of, SHARE_LABEL, safeguard);
    }
}

fn add_lints(project: &CompiledProject, safeguards: &mut Safeguards) {
    let config = &project.config;
    for rule in list::all_rules() {
        let level = rule.meta.severity.map_or_else(
            || {
                config
                    .lints
                    .severity_for(&rule.meta, Severity::Error)
                    .filter(|_| config.lints.level(rule.meta.code).is_some())
            },
            |given| config.lints.severity_for(&rule.meta, given),
        );
        let level = level.map_or(LintLevel::Off, LintLevel::At);
        let safeguard = Safeguard::new(FILE, level.as_str(), Some(level.strictness().into()));
        safeguards.add(SafeguardKind::Lint, rule.meta.name, "level", safeguard);
    }
}

fn add_suppressions(files: &ProjectFiles<'_>, names: &Renames, safeguards: &mut Safeguards) {
    let Ok(text) = files.text(suppressions::SUPPRESSIONS_FILE) else {
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
            SafeguardKind::Suppression,
            path,
            what,
            Safeguard::new(
                suppressions::SUPPRESSIONS_FILE,
                count.to_string(),
                Some(-f64::from(count)),
            ),
        );
    }
}

/// Adds the instructions of a template that allow findings, counted for each definition regardless
/// of its file: more of them are weaker, and so is one further outside.
fn add_allows(path: &str, text: &str, names: &Renames, safeguards: &mut Safeguards) {
    for allow::AllowCount {
        definition,
        part,
        rule,
        count,
        depth,
    } in allow::count_allowed_rules(text)
    {
        let of = match &definition {
            Some(name) => names.tasks.get(name).unwrap_or(name),
            None => names.files.get(path).map_or(path, String::as_str),
        };
        let what = part.map_or_else(
            || rule.clone(),
            |part| format!("{rule}{PART_SEPARATOR}`{part}`"),
        );
        let safeguard = Safeguard::new(path, count.to_string(), Some(-f64::from(count)));
        let limits = vec![-f64::from(count), f64::from(depth)];
        let value = format!(
            "{}{}",
            safeguard.value,
            if depth == 0 { "" } else { ", further inside" }
        );
        safeguards.add(
            SafeguardKind::Allow,
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

pub(super) fn short_hash(value: &impl Serialize) -> String {
    // Serializing plain data with string keys cannot fail.
    let hash = Hash::digest(&serde_json::to_vec(value).unwrap_or_default()).to_string();
    hash.get(..SHORT_HASH_LENGTH).unwrap_or(&hash).to_owned()
}

/// The number of characters of a hash that distinguish two contents of one place.
const SHORT_HASH_LENGTH: usize = 19;

/// Creates safeguards of long values: the hash, and the text if it is shown.
struct LongValues<'f> {
    redactor: Option<Redactor>,
    /// The project's own masks, applied before requests are compared.
    masks: &'f [Arc<dyn PatternFinder>],
    beside: ScenarioFiles<'f>,
}

impl LongValues<'_> {
    /// Returns the safeguard of a value in the scenario, with the contents of named files.
    fn scenario_value(&self, value: &impl Serialize) -> Safeguard {
        self.file_value(self.beside.path, &self.beside.inline_files(value))
    }

    /// Returns the safeguard of a value, with a note after its hash.
    fn value_with_note(&self, path: &str, value: &impl Serialize, words: &str) -> Safeguard {
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
            without_all_hashes(&redactor.mask_text(&text).0)
        });
        Safeguard {
            text,
            ..Safeguard::new(path, format!("{}{words}", short_hash(value)), None)
        }
    }

    /// Returns the safeguard of a file's text, independent of line ends.
    fn file_text(&self, path: &str, text: &str) -> Safeguard {
        self.file_value(path, &text.replace("\r\n", "\n"))
    }

    fn file_value(&self, path: &str, value: &impl Serialize) -> Safeguard {
        self.value_with_note(path, value, "")
    }

    /// Returns a stored request with the masks applied: a masked part is not compared.
    fn masked_request(&self, text: &str) -> String {
        let mut text = normalize_layout(text);
        for mask in self.masks {
            for range in mask.find_all(&text).into_iter().rev() {
                text.replace_range(range, "⟦own⟧");
            }
        }
        text
    }
}

/// Limits of expectations, by their keys in the serialized form: upper and lower ones.
const UPPER_LIMITS: [&[&str]; 4] = [
    &["Tokens", "max"],
    &["MaxTokens"],
    &["MaxLatency"],
    &["MaxCost"],
];
const LOWER_LIMITS: [&[&str]; 3] = [
    &["Tokens", "min"],
    &["PromptCache", "min_reused"],
    &["Judge", "min_score"],
];
/// The lists of patterns, each of which must hold.
const PATTERN_LISTS: [&[&str]; 4] = [
    &["Contains"],
    &["Absent"],
    &["Contains", "patterns"],
    &["Absent", "patterns"],
];
/// The keys that lead to the expectation on one agent of a whole run.
const AGENT_TEST: [&str; 2] = ["OfAgent", "test"];

/// Returns the value at a path of keys.
fn value_at<'v>(value: &'v mut Value, place: &[&str]) -> Option<&'v mut Value> {
    place
        .iter()
        .try_fold(value, |value, key| value.get_mut(*key))
}

/// Splits an expectation into its limits, its patterns and the rest.
fn split_limits(safeguard: Safeguard, written: Value) -> Safeguard {
    let mut rest = written;
    let tested = if rest.get(AGENT_TEST[0]).is_some() {
        value_at(&mut rest, &AGENT_TEST)
    } else {
        Some(&mut rest)
    };
    let (mut limits, mut patterns) = (Vec::new(), Vec::new());
    if let Some(tested) = tested {
        for place in PATTERN_LISTS {
            let found = value_at(tested, place).and_then(Value::as_array_mut);
            patterns.extend(
                found
                    .into_iter()
                    .flat_map(std::mem::take)
                    .map(|pattern| pattern.to_string()),
            );
        }
        let mut take = |place: &&[&str]| value_at(tested, place)?.take().as_f64();
        limits.extend(
            UPPER_LIMITS
                .iter()
                .map(|place| -take(place).unwrap_or(f64::MAX)),
        );
        limits.extend(LOWER_LIMITS.iter().map(|place| take(place).unwrap_or(0.0)));
    }
    Safeguard {
        limits,
        patterns,
        besides: short_hash(&rest),
        ..safeguard
    }
}

/// The values of a scenario, and the collection to which its safeguards are added.
struct SafeguardTarget<'a> {
    long: &'a LongValues<'a>,
    safeguards: &'a mut Safeguards,
}

fn add_scenario(
    name: &str,
    case: &ScenarioCase,
    tools: &impl Serialize,
    target: &mut SafeguardTarget<'_>,
) {
    let SafeguardTarget { long, safeguards } = target;
    let path = long.beside.path;
    let mut add = |what: String, safeguard: Safeguard| {
        safeguards.add(SafeguardKind::Expectation, name, what, safeguard);
    };
    for one in &case.expect_context {
        let written = long.beside.inline_files(&one.value);
        add(
            format!("context: {}", one.value.describe()),
            split_limits(long.file_value(path, &written), written),
        );
    }
    for one in case.expectations.iter().map(|one| &one.value) {
        let AnswerExpectation { test, gate, weight } = one;
        let written = long.beside.inline_files(test);
        let note = match weight {
            _ if !gate => ", only informs".to_owned(),
            Some(weight) => format!(", weight {weight}"),
            None => String::new(),
        };
        let mut safeguard = split_limits(long.value_with_note(path, &written, &note), written);
        safeguard.limits.push(one.score_weight());
        add(format!("answer: {}", test.describe()), safeguard);
    }
    add(
        SITUATION_LABEL.to_owned(),
        long.file_value(path, &long.beside.situation_value(case, tools)),
    );
    if !case.answers.is_empty() {
        add(
            "scripted answers".to_owned(),
            long.scenario_value(&case.answers),
        );
    }
    let TrialRule {
        runs,
        pass,
        min_score,
        ..
    } = case.rule;
    add(
        "trials that must pass".to_owned(),
        Safeguard::new(path, pass.to_string(), Some(f64::from(pass))),
    );
    let may_fail = runs.saturating_sub(pass);
    add(
        "trials that may fail".to_owned(),
        Safeguard::new(path, may_fail.to_string(), Some(-f64::from(may_fail))),
    );
    let mut safeguard = long.scenario_value(&TrialRule {
        runs: 0,
        pass: 0,
        min_score: None,
        ..case.rule
    });
    if let Some(min) = min_score {
        // Equal expectations are as strict if no more weight may be lost.
        let all = case.score_weight();
        safeguard.besides = format!("{}, scored", safeguard.value);
        safeguard.limits = vec![((min - 1.0) * all * 1e9).round()];
        safeguard.value = format!(
            "{}, a score of {min} with weights of {all}",
            safeguard.value
        );
    }
    add("how trials decide".to_owned(), safeguard);
}

/// Adds the files of a scenario's custom checks.
fn add_checks(name: &str, files: BTreeMap<String, FileContent>, target: &mut SafeguardTarget<'_>) {
    let SafeguardTarget { long, safeguards } = target;
    for (place, content) in files {
        let safeguard = match content.map(String::from_utf8) {
            Ok(Ok(text)) => long.file_text(&place, &text),
            Ok(Err(bytes)) => Safeguard::new(
                &place,
                short_hash(&Hash::digest(bytes.as_bytes()).to_string()),
                None,
            ),
            Err(why) => Safeguard::new(&place, why, None),
        };
        safeguards.add(
            SafeguardKind::Expectation,
            name,
            format!("{CHECK_PREFIX}{place}"),
            safeguard,
        );
    }
}

/// Adds the stored request and the recorded answers of a scenario.
fn add_stored(name: &str, case: &ScenarioCase, target: &mut SafeguardTarget<'_>) {
    let SafeguardTarget { long, safeguards } = target;
    let ScenarioFiles { path, files } = long.beside;
    let snapshot = paths::snapshot_path(path, &case.name.value);
    if case.uses_snapshot()
        && let Ok(text) = files.text(&snapshot)
    {
        safeguards.add(
            SafeguardKind::Snapshot,
            name,
            "stored request",
            long.file_value(&snapshot, &long.masked_request(&text)),
        );
    }
    let judgements = paths::judgement_path(path, &case.name.value);
    if case.answers.iter().any(|one| {
        let node = one.value.node.as_ref();
        node.is_some_and(|node| node.value == JUDGE_ROLE)
    }) {
        let value = match files.text(&judgements) {
            Ok(_) => "the recording",
            Err(_) => "the script",
        };
        safeguards.add(
            SafeguardKind::Recording,
            name,
            "who judges",
            Safeguard::new(path, value, None),
        );
    }
    if let Ok(Some(known)) = read_recordings(files, &judgements) {
        for call in known.calls.iter().filter(|call| call.is_answered()) {
            let key = call.key.get(..SHORT_HASH_LENGTH).unwrap_or(&call.key);
            safeguards.add(
                SafeguardKind::Recording,
                name,
                format!("{JUDGEMENT_PREFIX}{key}"),
                long.file_value(&judgements, &call.response),
            );
        }
    }
    let recording = paths::recording_path(path, &case.name.value);
    if !case.answers.is_empty() {
        let is_recorded = files.text(&recording).is_ok();
        let (value, place) = if is_recorded {
            ("the recording", &*recording)
        } else {
            ("the script", path)
        };
        safeguards.add(
            SafeguardKind::Recording,
            name,
            "who answers",
            Safeguard::new(place, value, None),
        );
    }
    let Ok(Some(known)) = read_recordings(files, &recording) else {
        return;
    };
    for call in known.calls.iter().filter(|call| call.is_answered()) {
        let key = call.key.get(..SHORT_HASH_LENGTH).unwrap_or(&call.key);
        safeguards.add(
            SafeguardKind::Recording,
            name,
            format!("{ANSWER_PREFIX}{key}"),
            long.file_value(&recording, &call.response),
        );
        // The key represents the request; its masked parts are only in the line itself.
        let is_masked = |one: &&MaskedCount| one.pointer.starts_with("/request");
        let masked: Vec<&MaskedCount> = call.redacted.iter().filter(is_masked).collect();
        let request = (
            long.masked_request(call.request.get()),
            masked,
            &call.endpoint,
        );
        safeguards.add(
            SafeguardKind::Recording,
            name,
            format!("{REQUEST_PREFIX}{key}"),
            long.file_value(&recording, &request),
        );
    }
}
