//! A change and what it is held against: the project as it is, and as it was where the change left its base.

use super::state::safeguards;
use crate::base::fs;
use crate::cli::context::eval::judge;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::manifest::growth;
use crate::cli::context::project::Compiled;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::revision;
use crate::context::request::Files;
use crate::eval::gate::{Approvals, Baseline, Kind as SafeguardKind, Limits, Safeguard, Safeguards, Weakened, grown};
use crate::eval::scorecard::{CaseRow, SCHEMA as SCORECARD, Scorecard};
use crate::project::config::Config;
use crate::project::eval::Stale;
use crate::rules::input::read_fault::reason;
use crate::scenario::paths::{self, BASELINES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// More than any scorecard.
const LIMIT: u64 = 1 << 28;
/// The log of what was accepted.
pub(super) const LOG: &str = "baselines/LOG.jsonl";

/// A change and its base.
#[derive(Debug)]
pub(super) struct Compared {
    /// The project as it is.
    pub(super) project: Compiled,
    pub(super) scenarios: Scenarios,
    /// What it is held against.
    pub(super) base: Base,
    /// The accepted results as they are, by their paths.
    pub(super) baselines: BTreeMap<String, Baseline>,
    /// What the change loosens, each with its file.
    pub(super) weakened: Vec<(Weakened, String)>,
    /// What was accepted since the base.
    pub(super) approvals: Approvals,
}

/// The project where the change left its base.
#[derive(Debug)]
pub(super) struct Base {
    /// The revision as it was asked for.
    pub(super) name: String,
    /// The commit.
    pub(super) commit: String,
    /// What it holds; `None` where this project was not there yet.
    pub(super) then: Option<(Compiled, Scenarios)>,
    /// The accepted results by then, by their paths.
    pub(super) baselines: BTreeMap<String, Baseline>,
}

impl Compared {
    /// Compares the files as they are with where they left `base`.
    pub(super) fn new(base: Option<&str>, cx: &mut Cx) -> Result<Self> {
        let project = Scenarios::project(cx)?;
        project.broken.ensure_none("this project")?;
        let (name, commit) = revision::left(&project.root, base)?;
        let scenarios = Scenarios::read(&project, &[])?;
        if let Some((file, why)) = scenarios.broken(&project).into_iter().next() {
            return Err(CliError::new(Kind::Findings, format!("{}: {why}", file.path)));
        }
        let then = match project.load_beside(&commit) {
            Ok(then) => Some(then),
            // The commit is there: what lacks is the project in it.
            Err(error) if error.kind == Kind::Usage => {
                cx.note(&format!("{name} has no such project yet, so that nothing is compared with it"));
                None
            }
            Err(error) => return Err(error),
        };
        let baselines = baselines(&project)?;
        let baselines_then = then.as_ref().map_or(Ok(BTreeMap::new()), baselines_of)?;
        let read = |project: &Compiled| project.files().text(LOG).unwrap_or_default();
        let approvals = Approvals::between(&then.as_ref().map_or_else(String::new, read), &read(&project));
        let approvals = approvals.map_err(|why| CliError::new(Kind::Infrastructure, format!("{LOG}: {why}")))?;
        let then = then.map(|then| {
            let scenarios = Scenarios::of_revision(&then);
            (then, scenarios)
        });
        let base = Base { name, commit, then, baselines: baselines_then };
        let mut compared = Self { project, scenarios, base, baselines, weakened: Vec::new(), approvals };
        compared.weakened = compared.loosened(cx)?;
        Ok(compared)
    }

    fn loosened(&self, cx: &Cx) -> Result<Vec<(Weakened, String)>> {
        let Some((then, scenarios)) = &self.base.then else { return Ok(Vec::new()) };
        let mut before = safeguards(then, scenarios);
        let mut after = safeguards(&self.project, &self.scenarios);
        accepted(&self.base.baselines, &mut before);
        accepted(&self.baselines, &mut after);
        let mut weakened = before.weakened(&after);
        let limit = self.limits().manifest_tokens;
        weakened.extend(grown(growth(then, &self.project, cx.options.threads)?, limit));
        weakened.extend(self.approvals.rewritten().map(|weakened| (weakened, LOG.to_owned())));
        Ok(weakened)
    }

    /// What the change is held to: what keeps the limits of both.
    pub(super) fn limits(&self) -> Limits {
        let own = limits(&self.project.config);
        self.base.then.as_ref().map_or(own, |(then, _)| own.and(limits(&then.config)))
    }

    /// The results in a file: those of all scenarios of this very project, as they are.
    pub(super) fn scorecard(&self, path: &Path, trust: &TrustHashArgs, cx: &Cx) -> Result<Scorecard> {
        let card = scorecard(path, &self.project)?;
        let own = judge(&self.project, &self.scenarios, &self.project, trust, cx)?;
        let what = |row: &CaseRow| {
            let expected: Vec<&str> = row.context.iter().map(|one| one.what.as_str()).collect();
            (row.id.clone(), row.context_hash.clone(), expected.join("\n"))
        };
        let (given, known): (BTreeSet<_>, BTreeSet<_>) =
            (card.cases.iter().map(what).collect(), own.cases.iter().map(what).collect());
        match known.symmetric_difference(&given).next() {
            None => Ok(card),
            Some((id, ..)) => {
                let message = format!("{} is of another state of this project: it lacks `{id}` as that is now", path.display());
                Err(CliError::usage(message).hint("run all scenarios again: `ctxc eval --out FILE`"))
            }
        }
    }

    /// Who may accept, by the base.
    pub(super) fn accepters(&self) -> Vec<String> {
        self.base.then.iter().flat_map(|(then, _)| then.config.eval.accepters()).map(str::to_owned).collect()
    }
}

fn limits(config: &Config) -> Limits {
    let gate = &config.eval.gate;
    Limits {
        manifest_tokens: gate.manifest_tokens,
        pass_rate: gate.pass_rate,
        tokens: gate.tokens,
        cost_usd: gate.cost_usd,
        refuses_stale: config.eval.stale == Stale::Error,
    }
}

fn accepted(baselines: &BTreeMap<String, Baseline>, safeguards: &mut Safeguards) {
    for (path, baseline) in baselines {
        let safeguard = Safeguard { path: path.clone(), value: baseline.hash.clone(), strictness: None };
        safeguards.add(SafeguardKind::Baseline, &baseline.suite, "accepted results", safeguard);
    }
}

/// The accepted results of a project as its files are.
pub(super) fn baselines(project: &Compiled) -> Result<BTreeMap<String, Baseline>> {
    let names = fs::names_in(&project.root.join(BASELINES)).into_iter();
    read(project, names.map(|name| format!("{BASELINES}/{name}")))
}

fn baselines_of(then: &Compiled) -> Result<BTreeMap<String, Baseline>> {
    let names = then.names().unwrap_or_default();
    read(then, names.into_iter().filter(|name| name.starts_with("baselines/")).map(str::to_owned))
}

fn read(project: &Compiled, paths: impl Iterator<Item = String>) -> Result<BTreeMap<String, Baseline>> {
    let one = |path: String| {
        let refused = |why: String| {
            CliError::new(Kind::Infrastructure, format!("{path} cannot be compared with: {why}"))
                .hint("`git checkout` it again, or remove it and accept anew: `ctxc baseline accept --reason WHY`")
        };
        let baseline = Baseline::read(&project.files().text(&path).map_err(refused)?).map_err(|why| refused(why.to_string()))?;
        if paths::baseline(&baseline.suite) != path {
            return Err(refused(format!("it is that of the suite `{}`", baseline.suite)));
        }
        Ok((path, baseline))
    };
    paths.filter(|path| path.strip_suffix(".json").is_some()).map(one).collect()
}

/// The results in a file, of this registry.
fn scorecard(path: &Path, project: &Compiled) -> Result<Scorecard> {
    let shown = path.display();
    let mut bytes = Vec::new();
    fs::read_into(path, LIMIT, &mut bytes).map_err(|err| CliError::usage(format!("{shown} cannot be read: {}", reason(&err))))?;
    let card: Scorecard = serde_json::from_slice::<Scorecard>(&bytes)
        .ok()
        .filter(|card| card.schema == SCORECARD)
        .ok_or_else(|| CliError::usage(format!("{shown} is no scorecard: expected the schema `{SCORECARD}`")))?;
    if card.registry_hash != project.registry.hash().to_string() {
        return Err(CliError::usage(format!(
            "{shown} is of another state of this project: its registry is {}",
            card.registry_hash
        ))
        .hint("run `ctxc eval --out FILE` again"));
    }
    if card.mode == "real" && project.config.eval.stability.is_none() {
        return Err(CliError::usage(format!("{shown} holds answers that a model gave just then, which differ from run to run"))
            .hint("record them (`ctxc eval --record`), or say in `[eval.stability]` of ctxc.toml how much they may differ"));
    }
    Ok(card)
}
