//! The templates of a run: the paths on the command line, standard input, or the templates of the
//! project.

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

/// The selected files.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    given: Vec<PathBuf>,
    /// The given paths, as findings print them.
    names: Vec<String>,
    /// The name of standard input, if it is checked.
    stdin: Option<String>,
    /// The named scenario files, as findings print them.
    scenarios: Vec<String>,
}

/// The result of a check.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) report: Report,
    /// The source texts of the findings.
    pub(super) sources: Sources,
    /// The registry if it was requested, as far as errors allow.
    pub(super) registry: Option<Vec<u8>>,
    /// The definitions that the registry lacks.
    pub(super) excluded: Vec<Excluded>,
}

/// The findings that a check keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// Decides if findings get fingerprints.
    pub(super) identity: Identity,
    /// Findings of a lower severity are only counted.
    pub(super) least: Severity,
}

impl Keep {
    /// Keeps all findings, with fingerprints.
    pub(super) const ALL: Self = Self {
        identity: Identity::Wanted,
        least: Severity::Hint,
    };
}

impl Selection {
    /// Resolves the arguments. `-` cannot be combined with other paths.
    pub(super) fn new(root: &Path, args: &PathArgs) -> Result<Self> {
        let dash = Path::new("-");
        if args.paths.iter().any(|path| path == dash) {
            if args.paths.len() > 1 {
                return Err(CliError::usage(
                    "`-` (standard input) cannot be combined with other paths",
                )
                .hint("check standard input by itself: `ctxc check -`"));
            }
            let name = if args.stdin_path == "-" {
                "-".to_owned()
            } else {
                name_in(root, Path::new(&args.stdin_path))
            };
            return Ok(Self {
                given: Vec::new(),
                names: vec![name.clone()],
                stdin: Some(name),
                scenarios: Vec::new(),
            });
        }
        let names = args.paths.iter().map(|path| name_in(root, path)).collect();
        let (scenarios, given): (Vec<&PathBuf>, Vec<&PathBuf>) =
            args.paths.iter().partition(|path| is_scenario(path));
        if let Some(request) = scenarios.iter().find(|path| load::is_request(path)) {
            return Err(no_scenario(request));
        }
        let scenarios = scenarios
            .into_iter()
            .map(|path| name_in(root, path))
            .collect();
        Ok(Self {
            given: given.into_iter().cloned().collect(),
            names,
            stdin: None,
            scenarios,
        })
    }

    /// Selects all templates of the project.
    pub(super) fn whole() -> Self {
        Self {
            given: Vec::new(),
            names: Vec::new(),
            stdin: None,
            scenarios: Vec::new(),
        }
    }

    /// Returns true if no path was given.
    pub(super) fn is_whole(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the named scenario files.
    pub(super) fn scenarios(&self) -> &[String] {
        &self.scenarios
    }

    /// Returns true if only scenario files were named.
    pub(super) fn is_scenarios(&self) -> bool {
        self.given.is_empty() && !self.scenarios.is_empty()
    }

    /// Returns true if a path, as findings print it, is part of the selection. The file need not
    /// exist.
    pub(super) fn holds(&self, path: &str) -> bool {
        let inside = |name: &String| {
            name.is_empty()
                || path
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.names.is_empty() || self.names.iter().any(inside)
    }

    /// Prints a note if a folder without a project is searched completely.
    pub(super) fn note(&self, project: &Project, cx: &mut Cx) {
        if self.is_whole()
            && !fs::exists(&project.root.join(FILE))
            && !fs::is_dir(&project.root.join("templates"))
        {
            cx.note(&format!(
                "there is no {FILE} here or above, and no folder templates: looking at all XML files below; `ctxc init` starts a project"
            ));
        }
    }

    /// Describes the searched places.
    pub(super) fn whereabouts(&self, project: &Project) -> String {
        if self.given.is_empty() {
            return project.config.templates.include.as_ref().map_or_else(
                || "this project".to_owned(),
                |globs| {
                    format!(
                        "what `[templates] include` names: {}",
                        included(&project.root, globs.written())
                    )
                },
            );
        }
        let shown: Vec<String> = self
            .given
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        shown.join(", ")
    }

    /// Checks the selection.
    pub(super) fn check(
        &self,
        project: &Project,
        goal: Goal,
        keep: Keep,
        cx: &Cx,
    ) -> Result<Checked> {
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
                Some(StdinText {
                    name,
                    bytes: &input,
                })
            }
        };
        let overlay = Overlay::default();
        let request = Request {
            stdin,
            goal,
            identity: keep.identity,
            least: keep.least,
            ..self.request(project, &overlay, cx)
        };
        let output = check_project(&request).map_err(|missing| no_such_path(&missing.0))?;
        let CheckOutput {
            diagnostics,
            counted,
            files,
            paths,
            skipped,
            registry,
            excluded,
            ..
        } = output;
        let sources = match &self.stdin {
            Some(name) => project.sources().with_stdin(name, &input),
            None => project.sources(),
        };
        Ok(Checked {
            report: Report {
                diagnostics,
                hidden: counted,
                paths,
                files,
                skipped,
                ..Report::default()
            },
            sources,
            registry,
            excluded,
        })
    }

    /// Returns the request that checks the selection and keeps all findings.
    pub(super) fn request<'r>(
        &'r self,
        project: &'r Project,
        overlay: &'r Overlay,
        cx: &Cx,
    ) -> Request<'r> {
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

    /// Fixes the selection in memory. Also returns the bytes of standard input, if it is the
    /// selection.
    pub(super) fn fix(
        &self,
        project: &Project,
        filter: FixFilter<'_>,
        cx: &Cx,
    ) -> Result<(FixOutcome, Vec<u8>)> {
        let mut input = Vec::new();
        let mut stdin = None;
        if let Some(name) = &self.stdin {
            input = stdin_of(project)?;
            stdin = Some(StdinText {
                name,
                bytes: &input,
            });
        }
        let overlay = Overlay::default();
        let request = Request {
            stdin,
            ..self.request(project, &overlay, cx)
        };
        let outcome = apply_fixes(&request, filter).map_err(|missing| no_such_path(&missing.0))?;
        Ok((outcome, input))
    }

    /// Returns the name of standard input if it is a scenario.
    pub(super) fn stdin_scenario(&self) -> Option<&str> {
        self.stdin().filter(|name| has_ending(Path::new(name)))
    }

    /// Returns the name of standard input if it is selected.
    pub(super) fn stdin(&self) -> Option<&str> {
        self.stdin.as_deref()
    }
}

/// Returns true if the path is a scenario file. No template has such an extension.
fn is_scenario(path: &Path) -> bool {
    has_ending(path) && fs::is_file(path)
}

fn has_ending(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("");
    ["yaml", "yml", "json"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Creates the error for a request to a model in place of a scenario.
pub(super) fn no_scenario(path: &Path) -> CliError {
    CliError::usage(format!(
        "{} is a request to a model, not a scenario",
        path.display()
    ))
    .hint("a scenario names its `task` or `role`, and what it expects")
}

/// Creates the error for a path that does not exist, with a similar name.
pub(super) fn no_such_path(path: &Path) -> CliError {
    if fs::is_link(path) {
        let shown = path.display();
        let Err(err) = fs::RealFs.canonical(path) else {
            return CliError::usage(format!("{shown} changed while it was read"));
        };
        if err.kind() == io::ErrorKind::NotFound {
            return CliError::usage(format!("{shown}: the link leads to nothing"))
                .hint("restore what it points to, or remove it");
        }
        return CliError::usage(format!(
            "{shown}: the link cannot be followed: {}",
            reason(&err)
        ))
        .hint("point it to the file itself, or remove it");
    }
    let error = CliError::usage(format!(
        "{}: there is no such file or folder",
        path.display()
    ));
    let Some(wanted) = path.file_name().and_then(|name| name.to_str()) else {
        return error;
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let there = fs::names_in(folder);
    let near = crate::base::suggest::nearest(wanted, there.iter().map(String::as_str));
    let near = near.map(|near| path.with_file_name(near).display().to_string());
    error
        .did_you_mean(near.as_deref())
        .hint("paths are relative to the current folder")
}

/// Lists the patterns of `include`, and marks those whose folder or file does not exist.
pub(super) fn included(root: &Path, patterns: &[String]) -> String {
    let one = |pattern: &String| {
        format!(
            "`{pattern}`{}",
            if leads_somewhere(root, pattern) {
                ""
            } else {
                ", which does not exist"
            }
        )
    };
    patterns.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns true if the folder or file at the start of a pattern exists.
pub(super) fn leads_somewhere(root: &Path, pattern: &str) -> bool {
    let fixed = pattern
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{']));
    fs::exists(&fixed.fold(root.to_path_buf(), |path, part| path.join(part)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Fits,
    TooLong,
}

/// Reads standard input, at most one byte past the limit.
fn read_stdin(limit: u64, bytes: &mut Vec<u8>) -> Result<Length> {
    let stdin = std::io::stdin().lock();
    stdin
        .take(limit.saturating_add(1))
        .read_to_end(bytes)
        .map_err(|err| {
            CliError::new(
                Kind::Infrastructure,
                format!("standard input cannot be read: {}", reason(&err)),
            )
        })?;
    Ok(if bytes.len() as u64 > limit {
        Length::TooLong
    } else {
        Length::Fits
    })
}

/// Reads all of standard input. An input over the limit is an error.
pub(super) fn stdin_of(project: &Project) -> Result<Vec<u8>> {
    let limit = project.config.limits.file;
    let mut input = Vec::new();
    match read_stdin(limit, &mut input)? {
        Length::Fits => Ok(input),
        Length::TooLong => Err(CliError::new(
            Kind::Infrastructure,
            format!("standard input is larger than {limit} bytes"),
        )
        .hint("`--max-file-size` raises the limit")),
    }
}

fn too_long(name: &str, limit: u64) -> Report {
    let finding = read_fault::word(
        &Arc::from(name),
        &std::io::ErrorKind::FileTooLarge.into(),
        limit,
    );
    Report {
        diagnostics: vec![finding],
        files: 1,
        ..Report::default()
    }
}
