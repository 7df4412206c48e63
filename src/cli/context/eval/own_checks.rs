//! Runs the checks of a project's own: those commands alone that its user permitted, each in the project's folder, without the keys of
//! providers, for a limited time.

use crate::base::fs;
use crate::base::secret_names::is_withheld;
use crate::cli::context::project::Compiled;
use crate::eval::asked::RunCheck;
use crate::run::process::{self, Bounds};
use crate::scenario::expect::own_check::{OwnCheck, Runs};
use crate::store::trust::line_of;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Bytes that a check may write.
const LIMIT: usize = 1 << 20;
/// Puts the project's folder behind the standard library: a folder `json` in it is no other `json`.
pub(super) const MODULES: &str = "\
import os, sys
sys.path = [place for place in sys.path if place]
lib = os.path.dirname(os.__file__)
own = [n for n, place in enumerate(sys.path) if place.startswith(lib) and not place.endswith('-packages')]
sys.path.insert(max(own, default=-1) + 1, '')
";
/// Calls a function with a trial. What it prints is no verdict.
const SHIM: &str = "\
import importlib, json
out, sys.stdout = sys.stdout, sys.stderr
module, function = sys.argv[1:]
found = getattr(importlib.import_module(module), function)(json.load(sys.stdin.buffer))
json.dump({'pass': found} if isinstance(found, bool) else found, out)
";

/// Runs checks of a project's own.
#[derive(Debug)]
pub(super) struct OwnChecks<'p> {
    root: &'p Path,
    /// The commands that are permitted.
    permitted: BTreeSet<String>,
    /// Variables that checks see: ours, but for secrets.
    variables: Vec<(String, String)>,
}

impl<'p> OwnChecks<'p> {
    /// Those of a project, of which these command lines are permitted.
    pub(super) fn new(project: &'p Compiled, permitted: BTreeSet<String>) -> Self {
        let named = project.config.providers.values().filter_map(|provider| provider.api_key_env.clone());
        Self { root: &project.root, permitted, variables: variables(&named.collect()) }
    }

    fn argv(&self, check: &OwnCheck) -> std::result::Result<Vec<String>, String> {
        match &check.what {
            Runs::Command(argv) => {
                let mut argv: Vec<String> = argv.iter().map(|word| word.value.clone()).collect();
                // From the project's folder, whatever the system takes such a path from.
                if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
                    *program = self.root.join(&*program).to_string_lossy().into_owned();
                }
                Ok(argv)
            }
            Runs::Python(function) => match function.value.split_once(':') {
                Some((module, name)) => {
                    Ok(["python3", "-c", &format!("{MODULES}{SHIM}"), module, name].map(str::to_owned).to_vec())
                }
                None => Err(format!("`{}` names no function: expected `module:function`", function.value)),
            },
        }
    }
}

impl RunCheck for OwnChecks<'_> {
    fn run(&self, check: &OwnCheck, trial: &str) -> Option<std::result::Result<String, String>> {
        if !self.permitted.contains(&line_of(check)) {
            return None;
        }
        let argv = match self.argv(check) {
            Ok(argv) => argv,
            Err(why) => return Some(Err(why)),
        };
        let seconds = check.timeout_s;
        let bounds = Bounds::of(Duration::from_secs(seconds), LIMIT);
        let said = process::run(&argv, self.root, &self.variables, trial, &bounds).well(&bounds);
        Some(said.and_then(|said| String::from_utf8(said).map_err(|_| "what it wrote is not UTF-8".to_owned())))
    }
}

/// Our own variables, but for those that hold secrets by their names, and for some.
pub(super) fn variables(hidden: &BTreeSet<String>) -> Vec<(String, String)> {
    let is_secret = |name: &str| is_withheld(name) || hidden.contains(name);
    fs::env_all().into_iter().filter(|(name, _)| !is_secret(name)).collect()
}
