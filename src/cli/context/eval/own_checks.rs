//! Runs the custom checks of a project: only commands that the user permitted, each in the
//! project's folder, without the API keys, for a limited time.

use crate::base::fs;
use crate::base::secrets::names::is_withheld;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::sent_requests::SentRequests;
use crate::eval::answer_source::RunCheck;
use crate::eval::judge::JudgeTrust;
use crate::run::process::{self, ProcessLimits};
use crate::scenario::expect::own_check::{CheckProgram, OwnCheck};
use crate::store::trust::check_command;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// The maximum number of bytes of a check's output.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// Inserts the project's folder after the standard library, so that its `json` folder does not
/// replace the standard `json`.
pub(super) const PYTHON_PATH_SETUP: &str = "\
import os, sys
sys.path = [place for place in sys.path if place]
lib = os.path.dirname(os.__file__)
own = [n for n, place in enumerate(sys.path) if place.startswith(lib) and not place.endswith('-packages')]
sys.path.insert(max(own, default=-1) + 1, '')
";
/// Calls a function with a trial. Its own prints are not part of the verdict.
const PYTHON_SHIM: &str = "\
import importlib, json
out, sys.stdout = sys.stdout, sys.stderr
module, function = sys.argv[1:]
found = getattr(importlib.import_module(module), function)(json.load(sys.stdin.buffer))
json.dump({'pass': found} if isinstance(found, bool) else found, out)
";

/// The verdict of a check from the change if no code of the change may run: the base has run its
/// own checks.
const UNTRUSTED_CHECK: &str =
    r#"{"pass": true, "reason": "not run in this job, as the change may have written it"}"#;

/// The checks that ran for one side of a comparison, kept for the other side.
#[derive(Debug, Default)]
pub(in crate::cli::context) struct CheckRuns {
    /// The files of the other version, if they differ in anything that a check may read.
    folder: Option<CheckFolder>,
    /// True if both versions have the same checks, since all readable files are equal.
    are_equal: bool,
    /// Outputs of checks, in the order of their completion.
    written: Mutex<BTreeMap<CheckRunKey, VecDeque<OwnCheckOutput>>>,
    /// The scenarios with a check of the other version that failed to end, each with the reason.
    failed: Mutex<BTreeMap<String, String>>,
    /// The requests of programs, which both sides share.
    pub(in crate::cli::context) requests: SentRequests,
    /// The trust in the judge at the base, without which its scores inform; `None` if nothing is
    /// compared.
    pub(super) judge_trust: Option<JudgeTrust>,
}

/// A check of a trial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CheckRunKey {
    /// The command line of the check.
    command: String,
    /// The trial, as JSON.
    trial: String,
}

/// The output of a check, or the reason why it did not end.
type OwnCheckOutput = std::result::Result<String, String>;

/// The files of another version of a project.
#[derive(Debug)]
pub(in crate::cli::context) struct CheckFolder {
    /// The root of its repository; removed with this value.
    pub(in crate::cli::context) top: TempDir,
    /// The project in it.
    pub(in crate::cli::context) root: PathBuf,
    /// The root of the current repository, which `top` replaces in variables.
    pub(in crate::cli::context) instead_of: PathBuf,
}

impl CheckRuns {
    /// Creates the runs of a comparison whose other version has its checks in a folder.
    pub(in crate::cli::context) fn in_folder(folder: CheckFolder) -> Self {
        Self {
            folder: Some(folder),
            ..Self::default()
        }
    }

    /// Creates the runs of a comparison whose versions have the same checks.
    pub(in crate::cli::context) fn with_equal_checks() -> Self {
        Self {
            are_equal: true,
            ..Self::default()
        }
    }

    /// Adds requests that programs sent in an earlier run.
    pub(in crate::cli::context) fn with_requests(self, requests: SentRequests) -> Self {
        Self { requests, ..self }
    }

    /// Adds the trust in the judge at the base.
    pub(in crate::cli::context) fn with_judge_trust(self, trust: JudgeTrust) -> Self {
        Self {
            judge_trust: Some(trust),
            ..self
        }
    }

    /// Returns true if the checks of the other version have a folder of their own.
    pub(in crate::cli::context) const fn is_in_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Returns the scenarios with a check of the other version that failed to end, each with the
    /// reason.
    pub(in crate::cli::context) fn failed_checks(&self) -> BTreeMap<String, String> {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The version of a project whose checks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckSide {
    /// The version whose tasks are tried.
    Own,
    /// The other version.
    Other,
}

/// Runs the custom checks of a project.
#[derive(Debug)]
pub(super) struct OwnChecks<'p> {
    root: &'p Path,
    side: CheckSide,
    runs: Option<&'p CheckRuns>,
    /// The permitted commands.
    permitted: BTreeSet<String>,
    /// The variables that checks receive: the own ones without secrets.
    variables: Vec<(String, String)>,
}

impl<'p> OwnChecks<'p> {
    /// Creates the runner of a project with the permitted command lines.
    pub(super) fn new(project: &'p CompiledProject, permitted: BTreeSet<String>) -> Self {
        let named = project
            .config
            .providers
            .values()
            .filter_map(|provider| provider.api_key_env.clone());
        Self {
            root: &project.root,
            side: CheckSide::Own,
            runs: None,
            permitted,
            variables: visible_variables(&named.collect()),
        }
    }

    /// Sets the side in a comparison. If both sides have the same files, the other side reuses the
    /// outputs of the first.
    pub(super) fn on_side(mut self, side: CheckSide, runs: &'p CheckRuns) -> Self {
        if let Some(folder) = runs.folder.as_ref().filter(|_| side == CheckSide::Other) {
            self.root = &folder.root;
            let (from, to) = (
                folder.instead_of.to_string_lossy(),
                folder.top.path().to_string_lossy(),
            );
            for (_, value) in &mut self.variables {
                *value = value.replace(&*from, &to);
            }
        }
        Self {
            side,
            runs: Some(runs),
            ..self
        }
    }

    /// Returns the output that the first side had for this trial, on the other side.
    fn earlier_output(&self, key: &CheckRunKey) -> Option<OwnCheckOutput> {
        let runs = self
            .runs
            .filter(|runs| self.side == CheckSide::Other && runs.folder.is_none())?;
        runs.written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_mut(key)?
            .pop_front()
    }

    fn keep_output(&self, key: CheckRunKey, written: &OwnCheckOutput) {
        let Some(runs) = self.runs else { return };
        match (self.side, written) {
            (CheckSide::Own, _) => {
                let mut all = runs.written.lock().unwrap_or_else(PoisonError::into_inner);
                all.entry(key).or_default().push_back(written.clone());
            }
            (CheckSide::Other, Err(why)) => {
                let trial: serde_json::Value = serde_json::from_str(&key.trial).unwrap_or_default();
                let scenario = trial
                    .get("scenario")
                    .and_then(serde_json::Value::as_str)
                    .unwrap_or_default()
                    .to_owned();
                runs.failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(scenario, why.clone());
            }
            (CheckSide::Other, Ok(_)) => {}
        }
    }

    fn command_line(&self, check: &OwnCheck) -> std::result::Result<Vec<String>, String> {
        match &check.what {
            CheckProgram::Command(argv) => {
                let argv: Vec<String> = argv.iter().map(|word| word.value.clone()).collect();
                Ok(process::resolve_program(&argv, self.root))
            }
            CheckProgram::Python(function) => match function.value.split_once(':') {
                Some((module, name)) => Ok([
                    "python3",
                    "-c",
                    &format!("{PYTHON_PATH_SETUP}{PYTHON_SHIM}"),
                    module,
                    name,
                ]
                .map(str::to_owned)
                .to_vec()),
                None => Err(format!(
                    "`{}` names no function: expected `module:function`",
                    function.value
                )),
            },
        }
    }
}

impl RunCheck for OwnChecks<'_> {
    fn run(&self, check: &OwnCheck, trial: &str) -> Option<std::result::Result<String, String>> {
        if !self.permitted.contains(&check_command(check)) {
            return None;
        }
        let argv = match self.command_line(check) {
            Ok(argv) => argv,
            Err(why) => return Some(Err(why)),
        };
        if self.side == CheckSide::Own
            && self
                .runs
                .is_some_and(|runs| runs.requests.is_from_file() && !runs.are_equal)
        {
            return Some(Ok(UNTRUSTED_CHECK.to_owned()));
        }
        Some(self.run_once(&argv, check, trial))
    }

    fn run_method(&self, method: &OwnCheck, input: &str) -> Option<OwnCheckOutput> {
        let is_untrusted = |runs: &CheckRuns| runs.requests.is_from_file() && !runs.are_equal;
        let is_permitted = self.permitted.contains(&check_command(method))
            && !(self.side == CheckSide::Own && self.runs.is_some_and(is_untrusted));
        is_permitted.then(|| {
            let argv = self.command_line(method)?;
            self.run_once(&argv, method, input)
        })
    }
}

impl OwnChecks<'_> {
    /// Runs a program, unless the first side of a comparison had the same input.
    fn run_once(&self, argv: &[String], check: &OwnCheck, input: &str) -> OwnCheckOutput {
        let key = CheckRunKey {
            command: check_command(check),
            trial: input.to_owned(),
        };
        if let Some(written) = self.earlier_output(&key) {
            return written;
        }
        let seconds = check.timeout_s;
        let bounds = ProcessLimits::new(Duration::from_secs(seconds), MAX_OUTPUT_BYTES);
        let stdout = process::run_program(argv, self.root, &self.variables, input, &bounds)
            .into_stdout(&bounds);
        let written = stdout.and_then(|stdout| {
            String::from_utf8(stdout).map_err(|_| "what it wrote is not UTF-8".to_owned())
        });
        self.keep_output(key, &written);
        written
    }
}

/// Returns the own variables without those whose names mark them as secrets, and without `hidden`.
pub(super) fn visible_variables(hidden: &BTreeSet<String>) -> Vec<(String, String)> {
    let is_secret = |name: &str| is_withheld(name) || hidden.contains(name);
    fs::env_vars()
        .into_iter()
        .filter(|(name, _)| !is_secret(name))
        .collect()
}
