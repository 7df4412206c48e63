//! Scenarios as a part of `check`: which of them a run is about, and the tasks that they are held against.

use super::cx::Cx;
use super::error::Result;
use super::project::Project;
use super::render::report::Report;
use super::selection::{Keep, Selection};
use crate::base::diagnostic::Diagnostic;
use crate::base::fs;
use crate::base::rule_meta::Severity;
use crate::registry::Registry;
use crate::registry::scenarios::{self, Mended, Request};
use crate::registry::survey::Goal;
use crate::rules::apply::Which;
use crate::rules::check::Identity;
use crate::rules::scenario::check::Reach;

/// The scenario files that a run is about, and those whose names it has to know.
#[derive(Debug)]
pub(super) struct Scenarios {
    all: Vec<String>,
    reach: Reach,
}

/// A registry of all templates.
enum Made {
    /// It was made, or cannot be: some template has an error.
    Is(Option<Vec<u8>>),
    /// Nobody tried.
    Unknown,
}

impl Scenarios {
    /// The project's own files, and those that were named.
    pub(super) fn new(project: &Project, selection: &Selection) -> Self {
        if selection.stdin().is_some() {
            return Self { all: Vec::new(), reach: Reach::Some };
        }
        let mut all = scenarios::files(&project.root, &project.config);
        all.extend(selection.scenarios().iter().cloned());
        all.sort();
        all.dedup();
        let is_wanted = all.iter().any(|path| selection.holds(path));
        let reach = if selection.is_whole() { Reach::All } else { Reach::Some };
        Self { all: if is_wanted { all } else { Vec::new() }, reach }
    }

    /// Whether there is anything to check: a file, or a section that wants one.
    pub(super) fn is_asked(&self, project: &Project) -> bool {
        !self.all.is_empty() || self.reach == Reach::All && project.config.eval.section.is_some()
    }

    /// What a survey of the templates is for.
    pub(super) fn goal(&self, project: &Project) -> Goal {
        if self.reach == Reach::All && self.is_asked(project) && !project.is_broken() { Goal::Registry } else { Goal::Findings }
    }

    /// Checks the files and adds what is found. `registry` is that of all templates, where it was made.
    pub(super) fn check(
        &self,
        project: &Project,
        selection: &Selection,
        registry: Option<Vec<u8>>,
        report: &mut Report,
        cx: &Cx,
    ) -> Result<()> {
        if !self.is_asked(project) {
            return Ok(());
        }
        let made = if self.goal(project) == Goal::Registry { Made::Is(registry) } else { Made::Unknown };
        let registry = Self::registry(project, made, cx)?;
        let found = scenarios::check(&request(project, registry.as_ref()), &self.all, self.reach, &|path| selection.holds(path));
        report.files += found.paths.len();
        report.paths.extend(found.paths);
        report.paths.sort();
        report.add(&found.diagnostics);
        Ok(())
    }

    /// Fixes the files in memory, and adds what is left as it will be once they are written.
    pub(super) fn mend(
        &self,
        project: &Project,
        selection: &Selection,
        wish: (Which, &dyn Fn(&Diagnostic) -> bool),
        report: &mut Report,
        cx: &Cx,
    ) -> Result<Vec<Mended>> {
        if !self.is_asked(project) {
            return Ok(Vec::new());
        }
        let registry = Self::registry(project, Made::Unknown, cx)?;
        let request = request(project, registry.as_ref());
        let found = scenarios::check(&request, &self.all, self.reach, &|path| selection.holds(path));
        let mended = scenarios::mend(&request, &found.diagnostics, wish.0, wish.1);
        let is_mended = |path: &str| mended.iter().any(|file| file.name == path);
        let mut left: Vec<Diagnostic> = found.diagnostics.into_iter().filter(|finding| !is_mended(&finding.path)).collect();
        left.extend(mended.iter().flat_map(|file| file.left.iter().cloned()));
        report.files += found.paths.len();
        report.add(&left);
        Ok(mended)
    }

    /// The tasks of the project; `None` while they are not known.
    fn registry(project: &Project, made: Made, cx: &Cx) -> Result<Option<Registry>> {
        if project.is_broken() {
            return Ok(None);
        }
        let bytes = match made {
            Made::Is(bytes) => bytes,
            Made::Unknown => {
                let keep = Keep { identity: Identity::Unwanted, least: Severity::Error };
                Selection::whole().check(project, Goal::Registry, keep, cx)?.registry
            }
        };
        Ok(bytes.and_then(|bytes| Registry::read(bytes).ok()))
    }
}

fn request<'r>(project: &'r Project, registry: Option<&'r Registry>) -> Request<'r> {
    Request { root: &project.root, config: &project.config, registry, today: today() }
}

/// Days since 1970, by `SOURCE_DATE_EPOCH` where it is set.
fn today() -> Option<i64> {
    const DAY: i128 = 86_400;
    let given = fs::env("SOURCE_DATE_EPOCH").and_then(|seconds| seconds.trim().parse::<i128>().ok());
    let seconds = given.unwrap_or_else(|| fs::now() / 1_000_000_000);
    i64::try_from(seconds.div_euclid(DAY)).ok()
}
