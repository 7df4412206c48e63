//! What a project holds itself to, collected from its files, as one revision has them.

use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::project::{Compiled, Inside};
use crate::context::request::Files;
use crate::eval::case_keys;
use crate::eval::gate::{ANSWER, CHECK, Kind, Safeguard, Safeguards};
use crate::eval::masks;
use crate::project::config::Config;
use crate::project::lints::Level;
use crate::project::said::said;
use crate::project::suppressions::{self, Suppressions};
use crate::record::file::Recordings;
use crate::record::redact::{Redactor, without_hashes};
use crate::rules::{allow, list};
use crate::scenario::model::{Case, Expectation, Rule};
use crate::scenario::paths;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The project file, as reports name it.
pub(super) const FILE: &str = crate::cli::project::FILE;

/// Everything that a project holds itself to, with the texts of those scenarios that are to be shown.
pub(super) fn safeguards(project: &Compiled, scenarios: &Scenarios, shown: &BTreeSet<String>) -> Safeguards {
    let mut safeguards = Safeguards::default();
    lints(project, &mut safeguards);
    let files = project.files();
    suppressed(&files, &mut safeguards);
    for path in project.paths() {
        allows(&path, &files.text(&path).unwrap_or_default(), &mut safeguards);
    }
    for file in &scenarios.files {
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let tools = file.suite.as_ref().map(|suite| &suite.tools);
            let redactor = shown.contains(&case.name.value).then(|| masks(&project.config.record.mask));
            let redactor = redactor.map(|own| Redactor::new([0; 32], []).replacing(own));
            let long = Long { redactor };
            scenario(&file.path, case, &tools, (&long, &mut safeguards));
            beside(&file.path, case, &files, (&long, &mut safeguards));
            stored(&file.path, case, &files, (&long, &mut safeguards));
        }
    }
    safeguards
}

/// Keys and sections of the project file whose effect both sides judge by their expectations, that no verdict reads, or, the last ones,
/// that are compared below. Every other key decides a verdict, those that a later release adds among them.
const JUDGED: &str = "extends project context defaults operators owners roles tools mcp providers history record fmt \
    models.*.provider models.*.id models.*.tier models.*.capabilities models.*.context_window models.*.output_reserve \
    models.*.temperature models.*.top_p models.*.seed models.*.effort models.*.stop models.*.tool_choice models.*.max_output_tokens \
    eval.runs eval.pass eval.gate.accepters eval.stability.accepters lints";
/// What the project file says where a key of another kind is not there.
const DEFAULTS: &str = "
edition = \"2026\"
limits = { depth = 256, attributes = 256, namespaces = 128, file = 10485760, text = 10000000, name = 1000, nodes = 1000000, diagnostics = 10000 }
[eval]
scenarios = [\"scenarios\"]
plan_path = \"$.subtasks\"
stale_after_days = 90
stale = \"error\"
gate = { manifest_tokens = 0.1 }
drift = { token_inflation = 0.3, window = 5, latency_regression = 0.5, batches = 3 }
";

/// Compares two project files key by key, but for the keys of [`JUDGED`].
pub(super) fn configured(then: &Config, now: &Config, before: &mut Safeguards, after: &mut Safeguards) {
    let (old, new) = (said_of(then), said_of(now));
    let keys: BTreeSet<&Vec<String>> = old.keys().chain(new.keys()).filter(|key| !is_judged(key)).collect();
    for key in keys {
        // A model that one side does not have is none whose measure changed.
        let is_model = |name: &String| then.models.contains_key(name) && now.models.contains_key(name);
        let is_compared = key.first().is_some_and(|top| top != "models") || key.get(1).is_some_and(is_model);
        let Some((last, of)) = key.split_last().filter(|_| is_compared) else { continue };
        let is_required = of == ["require"];
        if is_required && !old.contains_key(key) {
            continue;
        }
        let name = if of.is_empty() { format!("[{last}]") } else { format!("[{}] {last}", of.join(".")) };
        for (said, side) in [(&old, &mut *before), (&new, &mut *after)] {
            let value = said.get(key).map_or("not set", String::as_str);
            let number = value.parse::<f64>().ok();
            let limit = match (&*name, &**last) {
                ("[eval.gate] tokens" | "[eval.gate] cost_usd", _) => Some(-number.unwrap_or(f64::MAX)),
                ("[eval.gate] pass_rate", _) => Some(number.unwrap_or(0.0)),
                ("[eval] stale", _) => Some(f64::from(u8::from(value != "\"warn\""))),
                ("[eval.stability] reruns", _) => number,
                // Runs that are compared, and findings that are shown: fewer are not stricter.
                (_, "window" | "diagnostics") => None,
                _ if ["eval", "limits"].iter().any(|top| of.first().is_some_and(|own| own == top)) => number.map(|most| -most),
                _ => None,
            };
            let kind = if is_required { Kind::Lint } else { Kind::Threshold };
            side.add(kind, &name, "value", Safeguard::new(FILE, value, limit));
        }
    }
    let may = |config: &Config| config.eval.accepters().map(str::to_owned).collect::<BTreeSet<_>>();
    let (may, may_now) = (may(then), may(now));
    // Where nobody is named, anybody may.
    if !may.is_empty() && (may_now.is_empty() || !may_now.is_subset(&may)) {
        for (may, side) in [(may, before), (may_now, after)] {
            side.add(Kind::Threshold, "[eval.gate] accepters", "value", Safeguard::new(FILE, format!("{may:?}"), None));
        }
    }
}

/// What a project file says, and what it means where it says nothing.
fn said_of(config: &Config) -> BTreeMap<Vec<String>, String> {
    // Of a shared file, which counts where this one says nothing, all that is not about levels is in lists.
    let texts = config.files.iter().rev().map(|file| &*file.text);
    let mut said: BTreeMap<_, _> = std::iter::once(DEFAULTS).chain(texts).flat_map(said).collect();
    let key = |key: [&str; 3]| key.map(str::to_owned).to_vec();
    let counters = config.models.iter().map(|(name, model)| (key(["models", name, "tokenizer"]), model.tokenizer.to_owned()));
    said.extend(counters);
    said
}

fn is_judged(key: &[String]) -> bool {
    let is_of =
        |known: &str| known.split('.').enumerate().all(|(at, name)| key.get(at).is_some_and(|own| name == "*" || own == name));
    JUDGED.split_ascii_whitespace().any(is_of)
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

fn suppressed(files: &Inside<'_>, safeguards: &mut Safeguards) {
    let Ok(text) = files.text(suppressions::FILE) else { return };
    let Ok(known) = Suppressions::parse(&text) else { return };
    for (key, entry) in known.entries() {
        let safeguard = counted(suppressions::FILE, entry.count);
        safeguards.add(Kind::Suppression, &key.path, format!("{} {}", key.rule, key.fingerprint), safeguard);
    }
}

fn counted(path: &str, count: u32) -> Safeguard {
    Safeguard::new(path, count.to_string(), Some(-f64::from(count)))
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

/// What is long: its hash, and its lines where they are to be shown.
struct Long {
    redactor: Option<Redactor>,
}

impl Long {
    /// A value with some words behind its hash.
    fn with(&self, path: &str, value: &impl Serialize, words: &str) -> Safeguard {
        let text = self.redactor.as_ref().map(|redactor| {
            let value = serde_json::to_value(value).unwrap_or_default();
            // A text that is JSON, as a stored request is, has its lines once it is laid out.
            let value = value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value);
            let text = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
            without_hashes(&redactor.text(&text).0)
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
}

/// Limits of expectations, by their places in what is written of them: at most, and at least.
const MOST: [&str; 4] = ["/Tokens/max", "/MaxTokens", "/MaxLatency", "/MaxCost"];
const LEAST: [&str; 3] = ["/Tokens/min", "/PromptCache/min_reused", "/Judge/min_score"];
/// The patterns of which each has to hold.
const PATTERNS: [&str; 4] = ["/Contains", "/Absent", "/Contains/patterns", "/Absent/patterns"];

/// Takes the limits and patterns of an expectation apart from the rest of it.
fn limited(safeguard: Safeguard, expectation: &impl Serialize) -> Safeguard {
    let mut rest = serde_json::to_value(expectation).unwrap_or_default();
    let is_of_agent = rest.get("OfAgent").is_some();
    let mut patterns = Vec::new();
    // One of an agent of a whole run is inside another.
    let at = |place: &str| format!("{}{place}", if is_of_agent { "/OfAgent/test" } else { "" });
    for place in PATTERNS {
        let found = rest.pointer_mut(&at(place)).and_then(Value::as_array_mut);
        patterns.extend(found.into_iter().flat_map(std::mem::take).map(|pattern| pattern.to_string()));
    }
    let mut take = |place: &&str| rest.pointer_mut(&at(place))?.take().as_f64();
    let mut limits: Vec<f64> = MOST.iter().map(|place| -take(place).unwrap_or(f64::MAX)).collect();
    limits.extend(LEAST.iter().map(|place| take(place).unwrap_or(0.0)));
    Safeguard { limits, patterns, besides: hash(&rest), ..safeguard }
}

/// Where what a scenario holds itself to is put.
type Put<'a> = (&'a Long, &'a mut Safeguards);

fn scenario(path: &str, case: &Case, tools: &impl Serialize, (long, safeguards): Put<'_>) {
    let name = &case.name.value;
    let mut add = |what: String, safeguard: Safeguard| safeguards.add(Kind::Expectation, name, what, safeguard);
    for one in &case.expect_context {
        add(format!("context: {}", one.value.words()), limited(long.of(path, &one.value), &one.value));
    }
    for Expectation { test, gate } in case.expectations.iter().map(|one| &one.value) {
        let mut safeguard = limited(long.with(path, test, if *gate { "" } else { ", only informs" }), test);
        safeguard.limits.push(f64::from(u8::from(*gate)));
        add(format!("answer: {}", test.words()), safeguard);
    }
    let frozen = (&case.subject, &case.node, case.is_run, &case.situation, tools);
    add("frozen situation".to_owned(), long.of(path, &frozen));
    if !case.answers.is_empty() {
        add("scripted answers".to_owned(), long.of(path, &case.answers));
    }
    let Rule { runs, pass, .. } = case.rule;
    add("trials that must pass".to_owned(), Safeguard::new(path, pass.to_string(), Some(f64::from(pass))));
    let may_fail = runs.saturating_sub(pass);
    add("trials that may fail".to_owned(), Safeguard::new(path, may_fail.to_string(), Some(-f64::from(may_fail))));
    add("how trials decide".to_owned(), long.of(path, &Rule { runs: 0, pass: 0, ..case.rule }));
}

/// The files that a scenario names.
fn beside(path: &str, case: &Case, files: &Inside<'_>, (long, safeguards): Put<'_>) {
    let mut add = |what: String, safeguard| safeguards.add(Kind::Expectation, &case.name.value, what, safeguard);
    for named in case_keys::files(case) {
        let Some(place) = paths::beside(path, named) else { continue };
        let safeguard = files.text(&place).map_or_else(|why| Safeguard::new(&place, why, None), |text| long.text(&place, &text));
        add(format!("file {named}"), safeguard);
    }
    for (place, text) in case_keys::own_files(case, files) {
        let safeguard = text.map_or_else(|why| Safeguard::new(&place, why, None), |text| long.text(&place, &text));
        add(format!("{CHECK}{place}"), safeguard);
    }
}

/// The stored request and the recorded answers of a scenario.
fn stored(path: &str, case: &Case, files: &Inside<'_>, (long, safeguards): Put<'_>) {
    let name = &case.name.value;
    let snapshot = paths::snapshot(path, name);
    if case.wants_snapshot()
        && let Ok(text) = files.text(&snapshot)
    {
        safeguards.add(Kind::Snapshot, name, "stored request", long.text(&snapshot, &text));
    }
    let recording = paths::recording(path, name);
    if !case.answers.is_empty() {
        let value = if files.text(&recording).is_ok() { "the recording" } else { "the script" };
        safeguards.add(Kind::Recording, name, "who answers", Safeguard::new(&recording, value, None));
    }
    let Ok(Ok(known)) = files.text(&recording).map(|text| Recordings::read(&text)) else { return };
    for call in known.calls.iter().filter(|call| call.is_answered()) {
        let what = format!("{ANSWER}{}", call.key.get(..SHOWN).unwrap_or(&call.key));
        safeguards.add(Kind::Recording, name, what, long.of(&recording, &call.response));
    }
}
