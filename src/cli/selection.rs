//! Which files a run is about: the paths on the command line, standard input, or what the project says.

use super::project::FILE;
use super::render::report::Report;
use super::render::sources::Sources;
use crate::base::fs::{self, ReadFs};
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::registry::workspace::check::{CheckOutput, check_project};
use crate::registry::workspace::fix::{FixFilter, FixOutcome, apply_fixes};
use crate::registry::workspace::partial::Excluded;
use crate::registry::workspace::request::{Goal, Overlay, Recording, Request, StdinText, name_in};
use crate::rules::check::Identity;
use crate::rules::input::read_fault::{self, reason};
use crate::scenario::load;
use std::io::{self, Read};
use std::sync::Arc;

/// What was selected.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    given: Vec<PathBuf>,
    /// The given paths as findings name them.
    names: Vec<String>,
    /// The name of standard input, when that is what is checked.
    stdin: Option<String>,
    /// Scenario files that were named, as findings name them.
    scenarios: Vec<String>,
}

/// What a run found.
#[derive(Debug)]
pub(super) struct Checked {
    /// Findings and counts.
    pub(super) report: Report,
    /// The texts behind them.
    pub(super) sources: Sources,
    /// The registry, when it was asked for, as far as errors allow.
    pub(super) registry: Option<Vec<u8>>,
    /// The definitions that it does not have.
    pub(super) excluded: Vec<Excluded>,
}

/// What is kept of findings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// Whether they get their fingerprints.
    pub(super) identity: Identity,
    /// Those less grave are counted.
    pub(super) least: Severity,
}

impl Keep {
    /// Everything.
    pub(super) const ALL: Self = Self { identity: Identity::Wanted, least: Severity::Hint };
}

impl Selection {
    /// Reads the arguments. `-` stands alone.
    pub(super) fn new(root: &Path, args: &PathArgs) -> Result<Self> {
        let dash = Path::new("-");
        if args.paths.iter().any(|path| path == dash) {
            if args.paths.len() > 1 {
                return Err(CliError::usage("`-` (standard input) cannot be combined with other paths")
                    .hint("check standard input by itself: `ctxc check -`"));
            }
            let name = if args.stdin_path == "-" { "-".to_owned() } else { name_in(root, Path::new(&args.stdin_path)) };
            return Ok(Self { given: Vec::new(), names: vec![name.clone()], stdin: Some(name), scenarios: Vec::new() });
        }
        let names = args.paths.iter().map(|path| name_in(root, path)).collect();
        let (scenarios, given): (Vec<&PathBuf>, Vec<&PathBuf>) = args.paths.iter().partition(|path| is_scenario(path));
        if let Some(request) = scenarios.iter().find(|path| load::is_request(path)) {
            return Err(no_scenario(request));
        }
        let scenarios = scenarios.into_iter().map(|path| name_in(root, path)).collect();
        Ok(Self { given: given.into_iter().cloned().collect(), names, stdin: None, scenarios })
    }

    /// All templates of the project.
    pub(super) fn whole() -> Self {
        Self { given: Vec::new(), names: Vec::new(), stdin: None, scenarios: Vec::new() }
    }

    /// Whether nothing was named.
    pub(super) fn is_whole(&self) -> bool {
        self.names.is_empty()
    }

    /// Scenario files that were named.
    pub(super) fn scenarios(&self) -> &[String] {
        &self.scenarios
    }

    /// Whether scenario files were named, and nothing that could hold a template.
    pub(super) fn is_scenarios(&self) -> bool {
        self.given.is_empty() && !self.scenarios.is_empty()
    }

    /// Whether a file, by its name in findings, is part of the selection. Files that are gone count: they were looked for.
    pub(super) fn holds(&self, path: &str) -> bool {
        let inside = |name: &String| {
            name.is_empty() || path.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.names.is_empty() || self.names.iter().any(inside)
    }

    /// Says that a whole folder is looked through, where nothing says that it is a project.
    pub(super) fn note(&self, project: &Project, cx: &mut Cx) {
        if self.is_whole() && !fs::exists(&project.root.join(FILE)) && !fs::is_dir(&project.root.join("templates")) {
            cx.note(&format!(
                "there is no {FILE} here or above, and no folder templates: looking at all XML files below; `ctxc init` starts a project"
            ));
        }
    }

    /// Where was looked, in words.
    pub(super) fn whereabouts(&self, project: &Project) -> String {
        if self.given.is_empty() {
            return project.config.templates.include.as_ref().map_or_else(
                || "this project".to_owned(),
                |globs| format!("what `[templates] include` names: {}", included(&project.root, globs.written())),
            );
        }
        let shown: Vec<String> = self.given.iter().map(|path| path.display().to_string()).collect();
        shown.join(", ")
    }

    /// Checks the selection. Returns what was found and the texts behind it.
    pub(super) fn check(&self, project: &Project, goal: Goal, keep: Keep, cx: &Cx) -> Result<Checked> {
        let limit = project.config.limits.file;
        let mut input = Vec::new();
        let stdin = match &self.stdin {
            None => None,
            Some(name) => {
                if read_stdin(limit, &mut input)? == Length::TooLong {
                    return Ok(Checked {
                        report: too_long(name, limit),
                        sources: project.sources(),
                        registry: None,
                        excluded: Vec::new(),
                    });
                }
                Some(StdinText { name, bytes: &input })
            }
        };
        let overlay = Overlay::default();
        let request = Request { stdin, goal, identity: keep.identity, least: keep.least, ..self.request(project, &overlay, cx) };
        let output = check_project(&request).map_err(|missing| no_such_path(&missing.0))?;
        let CheckOutput { diagnostics, counted, files, paths, skipped, registry, excluded, .. } = output;
        let sources = match &self.stdin {
            Some(name) => project.sources().with_stdin(name, &input),
            None => project.sources(),
        };
        Ok(Checked {
            report: Report { diagnostics, hidden: counted, paths, files, skipped, ..Report::default() },
            sources,
            registry,
            excluded,
        })
    }

    /// What checks the selection, all findings of it.
    pub(super) fn request<'r>(&'r self, project: &'r Project, overlay: &'r Overlay, cx: &Cx) -> Request<'r> {
        Request {
            root: &project.root,
            config: &project.config,
            given: &self.given,
            stdin: None,
            overlay,
            threads: cx.options.threads,
            goal: Goal::Findings,
            recording: Recording::Off,
            identity: Identity::Wanted,
            least: Severity::Hint,
        }
    }

    /// Fixes the selection in memory. Gives what was on standard input too, where that is what is fixed.
    pub(super) fn fix(&self, project: &Project, filter: FixFilter<'_>, cx: &Cx) -> Result<(FixOutcome, Vec<u8>)> {
        let mut input = Vec::new();
        let mut stdin = None;
        if let Some(name) = &self.stdin {
            input = stdin_of(project)?;
            stdin = Some(StdinText { name, bytes: &input });
        }
        let overlay = Overlay::default();
        let request = Request { stdin, ..self.request(project, &overlay, cx) };
        let outcome = apply_fixes(&request, filter).map_err(|missing| no_such_path(&missing.0))?;
        Ok((outcome, input))
    }

    /// The name of standard input, where it is a scenario.
    pub(super) fn stdin_scenario(&self) -> Option<&str> {
        self.stdin().filter(|name| has_ending(Path::new(name)))
    }

    /// The name of standard input, when that is what was selected.
    pub(super) fn stdin(&self) -> Option<&str> {
        self.stdin.as_deref()
    }
}

/// Whether a path names a file of scenarios: no template has such a name.
fn is_scenario(path: &Path) -> bool {
    has_ending(path) && fs::is_file(path)
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    ["yaml", "yml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The error for a request to a model in place of a scenario.
pub(super) fn no_scenario(path: &Path) -> CliError {
    CliError::usage(format!("{} is a request to a model, not a scenario", path.display()))
        .hint("a scenario names its `task` or `role`, and what it expects")
}

/// The error for a path that is not there, with what is there instead.
pub(super) fn no_such_path(path: &Path) -> CliError {
    if fs::is_link(path) {
        let shown = path.display();
        let Err(err) = fs::RealFs.canonical(path) else { return CliError::usage(format!("{shown} changed while it was read")) };
        if err.kind() == io::ErrorKind::NotFound {
            return CliError::usage(format!("{shown}: the link leads to nothing"))
                .hint("restore what it points to, or remove it");
        }
        return CliError::usage(format!("{shown}: the link cannot be followed: {}", reason(&err)))
            .hint("point it to the file itself, or remove it");
    }
    let error = CliError::usage(format!("{}: there is no such file or folder", path.display()));
    let Some(wanted) = path.file_name().and_then(|name| name.to_str()) else { return error };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = fs::names_in(folder);
    let near = crate::base::suggest::nearest(wanted, there.iter().map(String::as_str));
    let near = near.map(|near| path.with_file_name(near).display().to_string());
    error.did_you_mean(near.as_deref()).hint("paths are relative to the current folder")
}

/// The patterns of `include`, with a word on those whose folder or file is not there.
pub(super) fn included(root: &Path, patterns: &[String]) -> String {
    let one =
        |pattern: &String| format!("`{pattern}`{}", if leads_somewhere(root, pattern) { "" } else { ", which does not exist" });
    patterns.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Whether the folder or file that a pattern begins with is there.
pub(super) fn leads_somewhere(root: &Path, pattern: &str) -> bool {
    let fixed = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{']));
    fs::exists(&fixed.fold(root.to_path_buf(), |path, part| path.join(part)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Fits,
    TooLong,
}

/// Reads standard input, one byte past the limit at most.
fn read_stdin(limit: u64, bytes: &mut Vec<u8>) -> Result<Length> {
    let stdin = std::io::stdin().lock();
    stdin
        .take(limit.saturating_add(1))
        .read_to_end(bytes)
        .map_err(|err| CliError::new(Kind::Infrastructure, format!("standard input cannot be read: {}", reason(&err))))?;
    Ok(if bytes.len() as u64 > limit { Length::TooLong } else { Length::Fits })
}

/// All of standard input, for a verb that gives it back.
pub(super) fn stdin_of(project: &Project) -> Result<Vec<u8>> {
    let limit = project.config.limits.file;
    let mut input = Vec::new();
    match read_stdin(limit, &mut input)? {
        Length::Fits => Ok(input),
        Length::TooLong => Err(CliError::new(Kind::Infrastructure, format!("standard input is larger than {limit} bytes"))
            .hint("`--max-file-size` raises the limit")),
    }
}

fn too_long(name: &str, limit: u64) -> Report {
    let finding = read_fault::word(&Arc::from(name), &std::io::ErrorKind::FileTooLarge.into(), limit);
    Report { diagnostics: vec![finding], files: 1, ..Report::default() }
}
