//! The templates of a run: the paths on the command line, standard input, or the templates of the
//! project.

use super::project::PROJECT_FILE;
use super::render::report::CheckReport;
use super::render::sources::SourceTexts;
use crate::base::fs::{self, ReadFs};
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::registry::workspace::fix::{FixFilter, FixOutcome, apply_fixes};
use crate::registry::workspace::partial::ExcludedDefinition;
use crate::registry::workspace::project_check::{CheckOutput, check_project};
use crate::registry::workspace::request::{
    CheckGoal, CheckRequest, FileOverlay, InputRecording, StdinFile, name_in,
};
use crate::rules::check::Fingerprints;
use crate::rules::input::read_fault::{self, describe_io_error};
use crate::scenario::load;
use std::io::{self, Read};
use std::sync::Arc;

/// The selected files.
#[derive(Clone, Debug)]
pub(super) struct TemplateSelection {
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
pub(super) struct SelectionResult {
    pub(super) report: CheckReport,
    /// The source texts of the findings.
    pub(super) sources: SourceTexts,
    /// The registry if it was requested, as far as errors allow.
    pub(super) registry: Option<Vec<u8>>,
    /// The definitions that the registry lacks.
    pub(super) excluded: Vec<ExcludedDefinition>,
}

/// The findings that a check keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct FindingRetention {
    /// Decides if findings get fingerprints.
    pub(super) identity: Fingerprints,
    /// Findings of a lower severity are only counted.
    pub(super) min_severity: Severity,
}

impl FindingRetention {
    /// Keeps all findings, with fingerprints.
    pub(super) const ALL: Self = Self {
        identity: Fingerprints::Computed,
        min_severity: Severity::Hint,
    };
}

impl TemplateSelection {
    /// Resolves the arguments. `-` cannot be combined with other paths.
    pub(super) fn new(root: &Path, args: &PathArgs) -> Result<Self> {
        let dash = Path::new("-");
        if args.paths.iter().any(|path| path == dash) {
            if args.paths.len() > 1 {
                return Err(CliError::usage(
                    "`-` (standard input) cannot be combined with other paths",
                )
                .with_hint("check standard input by itself: `ctxc check -`"));
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
        if let Some(request) = scenarios.iter().find(|path| load::is_request_file(path)) {
            return Err(not_a_scenario(request));
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
    pub(super) fn all_templates() -> Self {
        Self {
            given: Vec::new(),
            names: Vec::new(),
            stdin: None,
            scenarios: Vec::new(),
        }
    }

    /// Returns true if no path was given.
    pub(super) fn is_all(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the named scenario files.
    pub(super) fn scenarios(&self) -> &[String] {
        &self.scenarios
    }

    /// Returns true if only scenario files were named.
    pub(super) fn is_scenarios_only(&self) -> bool {
        self.given.is_empty() && !self.scenarios.is_empty()
    }

    /// Returns true if a path, as findings print it, is part of the selection. The file need not
    /// exist.
    pub(super) fn contains(&self, path: &str) -> bool {
        let inside = |name: &String| {
            name.is_empty()
                || path
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.names.is_empty() || self.names.iter().any(inside)
    }

    /// Prints a note if a folder without a project is searched completely.
    pub(super) fn note_missing_project(&self, project: &Project, cx: &mut Cx) {
        if self.is_all()
            && !fs::exists(&project.root.join(PROJECT_FILE))
            && !fs::is_dir(&project.root.join("templates"))
        {
            cx.print_note(&format!(
                "there is no {PROJECT_FILE} here or above, and no folder templates: looking at all XML files below; `ctxc init` starts a project"
            ));
        }
    }

    /// Describes the searched places.
    pub(super) fn describe_places(&self, project: &Project) -> String {
        if self.given.is_empty() {
            return project.config.templates.include.as_ref().map_or_else(
                || "this project".to_owned(),
                |globs| {
                    format!(
                        "what `[templates] include` names: {}",
                        describe_patterns(&project.root, globs.patterns())
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
    pub(super) fn check_templates(
        &self,
        project: &Project,
        goal: CheckGoal,
        keep: FindingRetention,
        cx: &Cx,
    ) -> Result<SelectionResult> {
        let limit = project.config.limits.file;
        let mut input = Vec::new();
        let stdin = match &self.stdin {
            None => None,
            Some(name) => {
                if read_stdin(limit, &mut input)? == InputLength::TooLong {
                    return Ok(SelectionResult {
                        report: stdin_too_long(name, limit),
                        sources: project.sources(),
                        registry: None,
                        excluded: Vec::new(),
                    });
                }
                Some(StdinFile {
                    name,
                    bytes: &input,
                })
            }
        };
        let overlay = FileOverlay::default();
        let request = CheckRequest {
            stdin,
            goal,
            identity: keep.identity,
            min_severity: keep.min_severity,
            ..self.check_request(project, &overlay, cx)
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
        Ok(SelectionResult {
            report: CheckReport {
                diagnostics,
                hidden: counted,
                paths,
                files,
                skipped,
                ..CheckReport::default()
            },
            sources,
            registry,
            excluded,
        })
    }

    /// Returns the request that checks the selection and keeps all findings.
    pub(super) fn check_request<'r>(
        &'r self,
        project: &'r Project,
        overlay: &'r FileOverlay,
        cx: &Cx,
    ) -> CheckRequest<'r> {
        CheckRequest {
            root: &project.root,
            config: &project.config,
            given: &self.given,
            stdin: None,
            overlay,
            threads: cx.options.threads,
            goal: CheckGoal::Findings,
            recording: InputRecording::Off,
            identity: Fingerprints::Computed,
            min_severity: Severity::Hint,
        }
    }

    /// Fixes the selection in memory. Also returns the bytes of standard input, if it is the
    /// selection.
    pub(super) fn fix_templates(
        &self,
        project: &Project,
        filter: FixFilter<'_>,
        cx: &Cx,
    ) -> Result<(FixOutcome, Vec<u8>)> {
        let mut input = Vec::new();
        let mut stdin = None;
        if let Some(name) = &self.stdin {
            input = read_all_stdin(project)?;
            stdin = Some(StdinFile {
                name,
                bytes: &input,
            });
        }
        let overlay = FileOverlay::default();
        let request = CheckRequest {
            stdin,
            ..self.check_request(project, &overlay, cx)
        };
        let outcome = apply_fixes(&request, filter).map_err(|missing| no_such_path(&missing.0))?;
        Ok((outcome, input))
    }

    /// Returns the name of standard input if it is a scenario.
    pub(super) fn stdin_scenario(&self) -> Option<&str> {
        self.stdin()
            .filter(|name| has_scenario_extension(Path::new(name)))
    }

    /// Returns the name of standard input if it is selected.
    pub(super) fn stdin(&self) -> Option<&str> {
        self.stdin.as_deref()
    }
}

/// Returns true if the path is a scenario file. No template has such an extension.
fn is_scenario(path: &Path) -> bool {
    has_scenario_extension(path) && fs::is_file(path)
}

fn has_scenario_extension(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("");
    ["yaml", "yml", "json"]
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
}

/// Creates the error for a request to a model in place of a scenario.
pub(super) fn not_a_scenario(path: &Path) -> CliError {
    CliError::usage(format!(
        "{} is a request to a model, not a scenario",
        path.display()
    ))
    .with_hint("a scenario names its `task` or `role`, and what it expects")
}

/// Creates the error for a path that does not exist, with a similar name.
pub(super) fn no_such_path(path: &Path) -> CliError {
    if fs::is_link(path) {
        let Err(err) = fs::RealFs.canonicalize(path) else {
            return CliError::usage(format!("{} changed while it was read", path.display()));
        };
        if err.kind() == io::ErrorKind::NotFound {
            return CliError::usage(format!("{}: the link leads to nothing", path.display()))
                .with_hint("restore what it points to, or remove it");
        }
        return CliError::usage(format!(
            "{}: the link cannot be followed: {}",
            path.display(),
            describe_io_error(&err)
        ))
        .with_hint("point it to the file itself, or remove it");
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
    let existing = fs::list_names(folder);
    let near = crate::base::suggest::nearest_candidate(wanted, existing.iter().map(String::as_str));
    let near = near.map(|near| path.with_file_name(near).display().to_string());
    error
        .with_suggestion(near.as_deref())
        .with_hint("paths are relative to the current folder")
}

/// Lists the patterns of `include`, and marks those whose folder or file does not exist.
pub(super) fn describe_patterns(root: &Path, patterns: &[String]) -> String {
    let one = |pattern: &String| {
        format!(
            "`{pattern}`{}",
            if pattern_root_exists(root, pattern) {
                ""
            } else {
                ", which does not exist"
            }
        )
    };
    patterns.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns true if the folder or file at the start of a pattern exists.
pub(super) fn pattern_root_exists(root: &Path, pattern: &str) -> bool {
    let fixed = pattern
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{']));
    fs::exists(&fixed.fold(root.to_path_buf(), |path, part| path.join(part)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputLength {
    Fits,
    TooLong,
}

/// Reads standard input, at most one byte past the limit.
fn read_stdin(limit: u64, bytes: &mut Vec<u8>) -> Result<InputLength> {
    let stdin = std::io::stdin().lock();
    stdin
        .take(limit.saturating_add(1))
        .read_to_end(bytes)
        .map_err(|err| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!("standard input cannot be read: {}", describe_io_error(&err)),
            )
        })?;
    Ok(if bytes.len() as u64 > limit {
        InputLength::TooLong
    } else {
        InputLength::Fits
    })
}

/// Reads all of standard input. An input over the limit is an error.
pub(super) fn read_all_stdin(project: &Project) -> Result<Vec<u8>> {
    let limit = project.config.limits.file;
    let mut input = Vec::new();
    match read_stdin(limit, &mut input)? {
        InputLength::Fits => Ok(input),
        InputLength::TooLong => Err(CliError::new(
            CliErrorKind::Infrastructure,
            format!("standard input is larger than {limit} bytes"),
        )
        .with_hint("`--max-file-size` raises the limit")),
    }
}

fn stdin_too_long(name: &str, limit: u64) -> CheckReport {
    let finding = read_fault::report(
        &Arc::from(name),
        &std::io::ErrorKind::FileTooLarge.into(),
        limit,
    );
    CheckReport {
        diagnostics: vec![finding],
        files: 1,
        ..CheckReport::default()
    }
}
