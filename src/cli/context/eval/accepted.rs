//! `ctxc eval --baseline PATH`: accepted results, for a comparison with those of a run.

use super::choose::{MAX_FILE_BYTES, read_scorecard};
use crate::base::fs;
use crate::cli::error::{CliError, Result};
use crate::eval::gate::{Baseline, BaselineCase, BaselineComparison, ComparedModels};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::registry::SCHEMA as REGISTRY;
use crate::rules::input::read_fault::describe_io_error;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The scenarios that a run covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunCoverage {
    /// All scenarios of the project.
    All,
    /// Some of them.
    Some,
}

/// The accepted results of one or more suites.
#[derive(Debug)]
pub(super) struct AcceptedResults {
    path: String,
    /// The suite of a baseline; `None` if the results cover all suites.
    suite: Option<String>,
    cases: BTreeMap<String, BaselineCase>,
}

impl AcceptedResults {
    /// Reads a baseline, a folder of baselines, or a scorecard.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let mut accepted = Self {
            path: path.display().to_string(),
            suite: None,
            cases: BTreeMap::new(),
        };
        let names = fs::list_names(path).into_iter().filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "json")
        });
        let files: Vec<PathBuf> = if path.is_dir() {
            names.map(|name| path.join(name)).collect()
        } else {
            vec![path.to_owned()]
        };
        for file in &files {
            accepted.add_file(file)?;
        }
        accepted.suite = accepted.suite.filter(|_| !path.is_dir());
        if files.is_empty() {
            return Err(CliError::usage(format!("{} holds no baseline", path.display()))
                .with_hint("`ctxc baseline accept --reason WHY` writes the results of each suite to baselines/SUITE.json"));
        }
        Ok(accepted)
    }

    fn add_file(&mut self, file: &Path) -> Result<()> {
        let refused = |why: String| {
            let whence =
                "`ctxc baseline accept` writes baselines, `ctxc eval --out FILE` a scorecard";
            CliError::usage(format!("{} cannot be compared with: {why}", file.display()))
                .with_hint(whence)
        };
        if let Ok(card) = read_scorecard(file) {
            for row in card.cases.iter().filter(|row| row.is_decided()) {
                self.cases
                    .insert(row.id.clone(), BaselineCase::from_row(row));
            }
            return Ok(());
        }
        let mut bytes = Vec::new();
        fs::read_into(file, MAX_FILE_BYTES, &mut bytes)
            .map_err(|why| refused(describe_io_error(&why)))?;
        let text = String::from_utf8(bytes).map_err(|why| refused(why.to_string()))?;
        let baseline = Baseline::read(&text).map_err(|why| refused(why.to_string()))?;
        if baseline.registry_schema != REGISTRY {
            return Err(refused(format!(
                "it was made with {}, and this program makes {REGISTRY}",
                baseline.registry_schema
            )));
        }
        self.suite = Some(baseline.suite);
        self.cases.extend(
            baseline
                .cases
                .into_iter()
                .map(|case| (case.id.clone(), case)),
        );
        Ok(())
    }

    /// Returns the scorecard with the differences. After a run of only some scenarios, or with an
    /// unreadable file, no case counts as missing.
    pub(super) fn compare_scorecard(mut self, card: Scorecard, coverage: RunCoverage) -> Scorecard {
        let mut compared = BaselineComparison {
            path: self.path,
            ..BaselineComparison::compare(&card, self.cases.values(), ComparedModels::Same)
        };
        if coverage == RunCoverage::Some || card.cases.iter().any(|row| row.id == row.path) {
            compared.missing.clear();
        }
        if let Some(suite) = &self.suite {
            let of_suite: BTreeSet<&str> = card
                .cases
                .iter()
                .filter(|row| row.suite == *suite)
                .map(|row| row.id.as_str())
                .collect();
            compared.new.retain(|id| of_suite.contains(id.as_str()));
        }
        let with = |row: CaseRow| CaseRow {
            baseline: self.cases.remove(&row.id).map(Box::new),
            ..row
        };
        Scorecard {
            cases: card.cases.into_iter().map(with).collect(),
            baseline: Some(compared),
            ..card
        }
    }
}
