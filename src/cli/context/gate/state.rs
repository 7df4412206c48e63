//! What a project holds itself to, collected from its files, as one revision has them.

use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::project::{Compiled, Inside};
use crate::context::request::Files;
use crate::eval::case_keys;
use crate::eval::gate::{ANSWER, Kind, Safeguard, Safeguards};
use crate::project::config::VolatilePart;
use crate::project::require::Requirement;
use crate::project::suppressions::{self, Suppressions};
use crate::record::file::Recordings;
use crate::rules::{allow, list};
use crate::scenario::model::{Case, Rule};
use crate::scenario::paths;
use serde::Serialize;

/// The project file, as reports name it.
const FILE: &str = crate::cli::project::FILE;

/// Everything that a project holds itself to.
pub(super) fn safeguards(project: &Compiled, scenarios: &Scenarios) -> Safeguards {
    let mut safeguards = Safeguards::default();
    lints(project, &mut safeguards);
    limits(project, &mut safeguards);
    let files = project.files();
    suppressed(&files, &mut safeguards);
    for path in project.paths() {
        allows(&path, &files.text(&path).unwrap_or_default(), &mut safeguards);
    }
    for file in &scenarios.files {
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let tools = file.suite.as_ref().map(|suite| &suite.tools);
            scenario(&file.path, case, &tools, &mut safeguards);
            beside(&file.path, case, &files, &mut safeguards);
            stored(&file.path, case, &files, &mut safeguards);
        }
    }
    safeguards
}

const fn rank(severity: Option<Severity>) -> f64 {
    match severity {
        None => 0.0,
        Some(Severity::Hint) => 1.0,
        Some(Severity::Info) => 2.0,
        Some(Severity::Warning) => 3.0,
        Some(Severity::Error) => 4.0,
    }
}

fn lints(project: &Compiled, safeguards: &mut Safeguards) {
    let config = &project.config;
    for rule in list::all() {
        let level = rule.meta.severity.map_or_else(
            || config.lints.apply(&rule.meta, Severity::Error).filter(|_| config.lints.level(rule.meta.code).is_some()),
            |given| config.lints.apply(&rule.meta, given),
        );
        let value = level.map_or("off", Severity::as_str).to_owned();
        let safeguard = Safeguard { path: FILE.to_owned(), value, strictness: Some(rank(level)) };
        safeguards.add(Kind::Lint, rule.meta.name, "level", safeguard);
    }
    for required in &config.requirements {
        let path = config.files.get(usize::from(required.file)).map_or(FILE, |file| &*file.path).to_owned();
        let level = Some(required.level);
        let safeguard = Safeguard { path, value: required.level.as_str().to_owned(), strictness: Some(rank(level)) };
        safeguards.add(Kind::Lint, "[[require]]", words(required), safeguard);
    }
}

/// What a `[[require]]` asks of whom.
fn words(required: &Requirement) -> String {
    let selector = &required.selector;
    let globs = |globs: &Option<crate::project::glob::Globs>| globs.as_ref().map(|globs| globs.written().join(" "));
    let names = |names: &[crate::base::span::Spanned<String>]| {
        let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        Some(names.join(" ")).filter(|names| !names.is_empty())
    };
    let parts = [
        ("path", globs(&selector.path)),
        ("name", globs(&selector.name)),
        ("type", names(&selector.operator)),
        ("subtype", names(&selector.subtype)),
        ("role", names(&selector.role)),
    ];
    let of: Vec<String> = parts.into_iter().filter_map(|(key, value)| Some(format!("{key} {}", value?))).collect();
    let must: Vec<&str> = required.conditions.iter().map(|condition| condition.value.text.as_str()).collect();
    format!("{}: {}", if of.is_empty() { "every task".to_owned() } else { of.join(", ") }, must.join(", "))
}

fn limits(project: &Compiled, safeguards: &mut Safeguards) {
    for VolatilePart { place, pattern } in &project.config.requests.volatile {
        let what = pattern.as_ref().map_or_else(String::new, |pattern| format!(": /{pattern}/"));
        let safeguard = Safeguard { path: FILE.to_owned(), value: "left out".to_owned(), strictness: None };
        safeguards.add(Kind::Volatile, "[requests]", format!("{place}{what}"), safeguard);
    }
    let eval = &project.config.eval;
    let mut add = |of: &str, value: String, strictness: Option<f64>| {
        safeguards.add(Kind::Threshold, of, "value", Safeguard { path: FILE.to_owned(), value, strictness });
    };
    // Where nothing is said nothing is kept; a limit from above is the stricter the lower it is.
    let most = |limit: Option<f64>| (limit.map_or("none".to_owned(), |limit| limit.to_string()), -limit.unwrap_or(f64::MAX));
    let gate = &eval.gate;
    let above = [("manifest_tokens", Some(gate.manifest_tokens)), ("tokens", gate.tokens), ("cost_usd", gate.cost_usd)];
    for (name, limit) in above {
        let (value, strictness) = most(limit);
        add(&format!("[eval.gate] {name}"), value, Some(strictness));
    }
    let rate = gate.pass_rate;
    add("[eval.gate] pass_rate", rate.map_or("none".to_owned(), |rate| rate.to_string()), Some(rate.unwrap_or(0.0)));
    let is_strict = eval.stale == crate::project::eval::Stale::Error;
    let word = if is_strict { "error" } else { "warn" };
    add("[eval] stale", word.to_owned(), Some(f64::from(u8::from(is_strict))));
    let places: Vec<&str> = eval.scenarios.iter().map(|place| place.value.as_str()).collect();
    add("[eval] scenarios", places.join(" "), None);
    add("[eval] plan_path", eval.plan_path.as_ref().map_or_else(String::new, |path| path.value.clone()), None);
    let drift = &eval.drift;
    let later = [("token_inflation", drift.token_inflation), ("latency_regression", drift.latency_regression)];
    for (name, limit) in later.into_iter().chain([("batches", f64::from(drift.batches)), ("window", f64::from(drift.window))]) {
        let (value, strictness) = most(Some(limit));
        add(&format!("[eval.drift] {name}"), value, Some(strictness));
    }
    let globs = |globs: &crate::project::glob::Globs| globs.written().join(" ");
    let templates = &project.config.templates;
    add("[templates] include", templates.include.as_ref().map_or_else(String::new, globs), None);
    add("[templates] exclude", globs(&templates.exclude), None);
    let informs = if eval.stability.is_some() { "answers of live models gate" } else { "answers of live models inform" };
    add("[eval.stability]", informs.to_owned(), Some(f64::from(u8::from(eval.stability.is_none()))));
    let accepters: Vec<&str> = eval.accepters().collect();
    if !accepters.is_empty() {
        add("accepters", accepters.join(" "), None);
    }
    if let Some(policy) = &eval.stability {
        add("[eval.stability] reruns", policy.reruns.to_string(), Some(f64::from(policy.reruns)));
        for (name, limit) in [("variance", policy.variance), ("cost_usd", policy.cost_usd)] {
            let (value, strictness) = most(Some(limit));
            add(&format!("[eval.stability] {name}"), value, Some(strictness));
        }
    }
}

fn suppressed(files: &Inside<'_>, safeguards: &mut Safeguards) {
    let Ok(text) = files.text(suppressions::FILE) else { return };
    let Ok(known) = Suppressions::parse(&text) else { return };
    for (key, entry) in known.entries() {
        let safeguard = counted(suppressions::FILE, entry.count);
        safeguards.add(Kind::Suppression, &key.path, format!("{} {}", key.rule, key.fingerprint), safeguard);
    }
}

fn counted(path: &str, count: u32) -> Safeguard {
    Safeguard { path: path.to_owned(), value: count.to_string(), strictness: Some(-f64::from(count)) }
}

/// The instructions of a template that silence rules, counted.
fn allows(path: &str, text: &str, safeguards: &mut Safeguards) {
    for (rule, count) in allow::counted(text) {
        safeguards.add(Kind::Allow, path, rule, counted(path, count));
    }
}

fn hash(value: &impl Serialize) -> String {
    // Plain data with string keys: writing it cannot fail.
    let hash = Hash::of(&serde_json::to_vec(value).unwrap_or_default()).to_string();
    hash.get(..SHOWN).unwrap_or(&hash).to_owned()
}

/// Characters of a hash that tell two contents of one place apart.
const SHOWN: usize = 19;

fn scenario(path: &str, case: &Case, tools: &impl Serialize, safeguards: &mut Safeguards) {
    let name = &case.name.value;
    let mut add = |what: String, value: String, strictness: Option<f64>| {
        safeguards.add(Kind::Expectation, name, what, Safeguard { path: path.to_owned(), value, strictness });
    };
    for one in &case.expect_context {
        add(format!("context: {}", one.value.words()), hash(&one.value), None);
    }
    for one in &case.expectations {
        let gates = if one.value.gate { "" } else { ", only informs" };
        add(format!("answer: {}", one.value.test.words()), format!("{}{gates}", hash(&one.value.test)), None);
    }
    let frozen = (&case.subject, &case.node, case.is_run, &case.situation, tools);
    add("frozen situation".to_owned(), hash(&frozen), None);
    if !case.answers.is_empty() {
        add("scripted answers".to_owned(), hash(&case.answers), None);
    }
    let Rule { runs, pass, .. } = case.rule;
    add("trials that must pass".to_owned(), pass.to_string(), Some(f64::from(pass)));
    let may_fail = runs.saturating_sub(pass);
    add("trials that may fail".to_owned(), may_fail.to_string(), Some(-f64::from(may_fail)));
    add("how trials decide".to_owned(), hash(&Rule { runs: 0, pass: 0, ..case.rule }), None);
}

/// The files that a scenario names.
fn beside(path: &str, case: &Case, files: &Inside<'_>, safeguards: &mut Safeguards) {
    for named in case_keys::files(case) {
        let Some(place) = paths::beside(path, named) else { continue };
        let value = files.text(&place).map_or_else(|why| why, |text| hash(&text));
        let safeguard = Safeguard { path: place, value, strictness: None };
        safeguards.add(Kind::Expectation, &case.name.value, format!("file {named}"), safeguard);
    }
    for place in case_keys::own_files(case) {
        let Ok(text) = files.text(&place) else { continue };
        let safeguard = Safeguard { path: place.clone(), value: hash(&text), strictness: None };
        safeguards.add(Kind::Expectation, &case.name.value, format!("check {place}"), safeguard);
    }
}

/// The stored request and the recorded answers of a scenario.
fn stored(path: &str, case: &Case, files: &Inside<'_>, safeguards: &mut Safeguards) {
    let name = &case.name.value;
    let snapshot = paths::snapshot(path, name);
    if case.wants_snapshot()
        && let Ok(text) = files.text(&snapshot)
    {
        let value = hash(&text);
        safeguards.add(Kind::Snapshot, name, "stored request", Safeguard { path: snapshot, value, strictness: None });
    }
    let recording = paths::recording(path, name);
    if !case.answers.is_empty() {
        let value = if files.text(&recording).is_ok() { "the recording" } else { "the script" }.to_owned();
        let safeguard = Safeguard { path: recording.clone(), value, strictness: None };
        safeguards.add(Kind::Recording, name, "who answers", safeguard);
    }
    let Ok(Ok(known)) = files.text(&recording).map(|text| Recordings::read(&text)) else { return };
    for call in known.calls.iter().filter(|call| call.is_answered()) {
        let value = hash(&call.response);
        let safeguard = Safeguard { path: recording.clone(), value, strictness: None };
        safeguards.add(Kind::Recording, name, format!("{ANSWER}{}", call.key.get(..SHOWN).unwrap_or(&call.key)), safeguard);
    }
}
