//! Adds a run to the history while it goes on: each case as soon as it is finished.

use super::load::Chosen;
use crate::base::fs;
use crate::base::hash::{Hash, Hasher};
use crate::cli::context::project::Compiled;
use crate::cli::error::{CliError, Result};
use crate::cli::history::Place;
use crate::eval::asked::AnswersFrom;
use crate::eval::finished::{Answered, Finished};
use crate::eval::locate::Locator;
use crate::eval::prepared::CaseInput;
use crate::eval::receiver::receiver;
use crate::eval::scorecard::{CaseRow, Of, TrialRow};
use crate::eval::trials::Rows;
use crate::scenario::date;
use crate::store::SqliteHistory;
use crate::store::history::{CaseRecord, HistoryBackend, RunRecord, TrialRecord};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The history of a run that is under way.
pub(super) struct Journal<'j> {
    project: &'j Compiled,
    chosen: BTreeMap<(&'j str, &'j str), &'j Chosen<'j>>,
    state: Mutex<State<'j>>,
}

/// What is written to, one case after the other.
struct State<'j> {
    locator: Locator<'j>,
    /// The history, and the place of the run in it; `None` once it cannot be written any more.
    open: Option<(Place, SqliteHistory, i64)>,
    trouble: Option<CliError>,
}

impl std::fmt::Debug for Journal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

/// What was chosen to run, and how: runs of which this is equal are one run that was broken off.
pub(super) fn selection(project: &Compiled, chosen: &[Chosen<'_>], from: AnswersFrom, rows: Rows) -> Hash {
    let mut hasher = Hasher::new();
    hasher.field("ctxc selection 1").field(env!("CARGO_PKG_VERSION")).field(project.registry.hash().0);
    hasher.field(from.word()).number(u64::from(rows == Rows::Full));
    for Chosen { path, case, .. } in chosen {
        hasher.field(path).field(&case.name.value);
    }
    hasher.finish()
}

impl<'j> Journal<'j> {
    /// Begins a run. Where the history cannot be used, the run goes on without it.
    pub(super) fn begin(
        project: &'j Compiled,
        chosen: &'j [Chosen<'j>],
        (from, rows, count): (AnswersFrom, Rows, usize),
        locator: Locator<'j>,
    ) -> Self {
        let begun = Place::of(&project.root, &project.config).and_then(|place| {
            let mut history = place.make()?;
            let run = RunRecord { planned: count as u64, ..head(project, chosen, from, rows) };
            let run = history.begin(&run).map_err(|error| place.unusable(&error))?;
            Ok((place, history, run))
        });
        let (open, trouble) = match begun {
            Ok(open) => (Some(open), None),
            Err(error) => (None, Some(error)),
        };
        let chosen = chosen.iter().map(|one| ((one.path, one.case.name.value.as_str()), one)).collect();
        Self { project, chosen, state: Mutex::new(State { locator, open, trouble }) }
    }

    /// Adds a case that is finished.
    pub(super) fn finished(&self, input: &CaseInput<'_>, done: &Finished) {
        let Some(Chosen { path, suite, case }) = self.chosen.get(&(input.path, input.case.name.value.as_str())) else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { locator, open, trouble } = &mut *state;
        let Some((place, history, run)) = open else { return };
        let receiver = receiver(case, &self.project.config.roles).ok();
        let row = CaseRow::of(Of { path, suite, case, receiver }, done, locator);
        if let Err(error) = history.case(*run, &record(&row, done)) {
            *trouble = Some(place.unusable(&error));
            *open = None;
        }
    }

    /// Ends the run.
    ///
    /// # Errors
    /// It is not kept, or not all of it.
    pub(super) fn end(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trouble) = state.trouble.take() {
            return Err(trouble);
        }
        let Some((place, history, run)) = &mut state.open else { return Ok(()) };
        history.end(*run).map_err(|error| place.unusable(&error))
    }
}

fn head(project: &Compiled, chosen: &[Chosen<'_>], from: AnswersFrom, rows: Rows) -> RunRecord {
    let seconds = fs::seconds();
    let at = date::time(seconds);
    let random = Hash(fs::random()).to_string();
    // `20261121-084509-1f0a9c`
    let digits: String = at.chars().filter(|c| c.is_ascii_digit() || *c == 'T').map(|c| if c == 'T' { '-' } else { c }).collect();
    RunRecord {
        id: format!("{digits}-{}", random.get(3..9).unwrap_or_default()),
        order: seconds.saturating_mul(1_000_000),
        at,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        mode: if from.asks() { "real" } else { "deterministic" }.to_owned(),
        registry_hash: project.registry.hash().to_string(),
        selection: selection(project, chosen, from, rows).to_string(),
        ..RunRecord::default()
    }
}

/// A case as it is kept.
fn record(row: &CaseRow, done: &Finished) -> CaseRecord {
    let placed = || {
        let mut hasher = Hasher::new();
        hasher.field("ctxc case without a key").field(&row.path).field(&row.id);
        hasher.finish().to_string()
    };
    let trial = |trial: &TrialRow| TrialRecord {
        index: trial.index as u32,
        verdict: trial.verdict.clone(),
        tokens_in: trial.tokens.input,
        tokens_out: trial.tokens.output,
        cost_usd: trial.cost_usd,
        latency_ms: trial.latency_ms,
        decomposes: trial.features.decomposes,
    };
    CaseRecord {
        id: row.id.clone(),
        key: row.key.clone().unwrap_or_else(placed),
        context_hash: row.context_hash.clone(),
        provider: row.trials.first().map(|trial| trial.provider.clone()),
        model: row.model.clone(),
        live: done.answered == Answered::Asked,
        verdict: row.verdict.clone(),
        trials: row.trials.iter().map(trial).collect(),
        result: serde_json::value::to_raw_value(row).ok(),
    }
}
