//! The verb `ctxc watch`: checks, watches, waits, checks again. Errors of the project or the paths
//! may be fixed at any moment, so they are shown and do not end the program.

use super::file_watcher::{
    FileWatcher, WakeReason, WatchMode, WatchOutcome, WatchedFolders, WatchedNames,
};
use super::show::{WatchCheck, WatchOutput, changed_names};
use crate::base::fs;
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::cli::render::report::CheckReport;
use crate::cli::scenarios::ScenarioCheck;
use crate::cli::selection::{TemplateSelection, no_such_path};
use crate::cli::{project, suppress};
use crate::project::lock_file::LOCK_FILE;
use crate::project::suppressions::SUPPRESSIONS_FILE as SUPPRESSIONS;
use crate::registry::workspace::inputs::CheckInputs;
use crate::registry::workspace::project_check::{CheckOutput, check_project};
use crate::registry::workspace::request::{CheckRequest, FileOverlay, InputRecording};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of repeated checks while new folders are found.
const MAX_CHECKS: usize = 10;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc watch\n  ctxc watch templates/triage.xml\n\n\
    On a terminal the screen is redrawn after each change. Otherwise each check whose input changed prints one line of JSON: the \
    files that changed, the totals, and which findings are new, moved or gone since the previous line. `ctxc schema json watch` \
    describes it. Ctrl-C ends it, and so does closing the pipe that reads its output."
)]
pub(crate) struct WatchArgs {
    /// Files and folders [default: the project's templates, else templates/, else this folder]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Check every second instead of waiting for change events: for network folders and others that send none
    #[arg(long)]
    poll: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Watches until the program is ended.
pub(crate) fn run_watch(args: &WatchArgs, cx: &mut Cx) -> Result<Exit> {
    if args.paths.iter().any(|path| path == Path::new("-")) {
        return Err(CliError::usage("standard input does not change")
            .with_hint("`ctxc check -` checks it once"));
    }
    // The file may be mended while it is watched.
    if args.paths.is_empty()
        && let Ok(project) = Project::load(&cx.options)
    {
        project.require_project()?;
    }
    let (watcher, failed) = FileWatcher::new(if args.poll {
        WatchMode::Poll
    } else {
        WatchMode::Native
    });
    watch_reader(watcher.closed_notifier());
    let paths = PathArgs {
        paths: args.paths.clone(),
        ..PathArgs::default()
    };
    let mut watching = WatchState {
        limits: &args.limits,
        paths,
        watcher,
        inputs: None,
        folders: WatchedFolders::new(),
        scenarios: None,
    };
    if let Some(why) = failed {
        note_polling(&why, cx);
    }
    let mut shown = WatchOutput::default();
    loop {
        match watching.check_and_watch(cx) {
            Ok(seen) => shown.show_check(seen, cx)?,
            // A path that never existed is a mistake in the command line.
            Err(error) if error.kind == CliErrorKind::Usage && shown.is_empty() => {
                return Err(error);
            }
            Err(error) if matches!(error.kind, CliErrorKind::Usage | CliErrorKind::Project) => {
                shown.show_error(&error, cx)?;
            }
            Err(error) => return Err(error),
        }
        if cx.is_output_closed() || watching.watcher.wait_for_change() == WakeReason::OutputClosed {
            return Ok(Exit::Success);
        }
    }
}

fn note_polling(why: &str, cx: &mut Cx) {
    cx.print_note(&format!(
        "the system does not report changes ({why}): checking every second instead"
    ));
}

/// Reports when the reader of standard output closes it. A program that writes nothing would not
/// notice.
fn watch_reader(unread: impl FnOnce() + Send + 'static) {
    #[cfg(unix)]
    std::thread::spawn(move || {
        use rustix::event::{PollFd, PollFlags, poll};
        let out = std::io::stdout();
        // No event is requested: hang-ups and errors are always reported. An interrupted call is
        // repeated.
        loop {
            match poll(&mut [PollFd::new(&out, PollFlags::empty())], None) {
                Ok(_) => return unread(),
                Err(rustix::io::Errno::INTR) => {}
                // The next write reports the error.
                Err(_) => return,
            }
        }
    });
    #[cfg(not(unix))]
    drop(unread);
}

/// The state between checks.
struct WatchState<'w> {
    limits: &'w LimitArgs,
    paths: PathArgs,
    watcher: FileWatcher,
    /// The files that the last check read.
    inputs: Option<CheckInputs>,
    /// The relevant folders of the last complete check.
    folders: WatchedFolders,
    /// The scenario files at the last check.
    scenarios: Option<BTreeMap<String, Hash>>,
}

impl WatchState<'_> {
    /// Checks, then watches the relevant folders. Checks again if some were not watched before.
    fn check_and_watch(&mut self, cx: &mut Cx) -> Result<WatchCheck> {
        let mut changed = BTreeSet::new();
        let mut seen = self.check_once(cx);
        for _ in 0..MAX_CHECKS {
            let mut wanted = self.folders.clone();
            wanted.extend(base_folders(&self.paths.paths, cx)?);
            match self.watcher.watch_folders(&wanted) {
                WatchOutcome::Already => break,
                WatchOutcome::Added => {}
                WatchOutcome::Failed(why) => note_polling(&why, cx),
            }
            changed.extend(seen.map(|seen| seen.changed).unwrap_or_default());
            seen = self.check_once(cx);
        }
        let mut seen = seen?;
        seen.changed.append(&mut changed);
        Ok(seen)
    }

    fn check_once(&mut self, cx: &Cx) -> Result<WatchCheck> {
        let project = Project::load(&cx.options)?
            .with_tested_agents()
            .with_limits(self.limits);
        let selection = TemplateSelection::new(&project.root, &self.paths)?;
        let suppressions = suppress::load_suppressions(&project.root)?;
        let overlay = FileOverlay::default();
        let request = CheckRequest {
            recording: InputRecording::On,
            ..selection.check_request(&project, &overlay, cx)
        };
        let output = check_project(&request).map_err(|missing| no_such_path(&missing.0))?;
        let CheckOutput {
            diagnostics,
            files,
            paths,
            skipped,
            inputs,
            ..
        } = output;
        let shared = project
            .config
            .files
            .iter()
            .filter_map(|file| Some(project.root.join(&*file.path).parent()?.to_path_buf()));
        let here = fs::current_dir().unwrap_or_default();
        let folders = inputs.folders.iter().cloned().chain(shared);
        self.folders = folders
            .map(|folder| (here.join(folder), WatchedNames::Every))
            .collect();
        // The first check has no changes.
        let mut changed = self
            .inputs
            .as_ref()
            .map(|before| inputs.changed_files(before))
            .unwrap_or_default();
        self.inputs = Some(inputs);
        let mut settings: BTreeMap<String, Hash> = project
            .config
            .files
            .iter()
            .map(|file| (file.path.to_string(), file.hash))
            .collect();
        let lock = fs::ReadFs::read(&fs::RealFs, &project.root.join(LOCK_FILE), u64::MAX);
        settings.extend(lock.map(|bytes| (LOCK_FILE.to_owned(), Hash::digest(&bytes))));
        let mut report = CheckReport {
            diagnostics,
            paths,
            files,
            skipped,
            ..CheckReport::default()
        };
        if selection.is_scenarios_only() {
            report = CheckReport::default();
        }
        let scenarios = ScenarioCheck::new(&project, &selection);
        scenarios.check_files(&project, &selection, None, &mut report, cx)?;
        self.folders.extend(
            scenarios
                .search_folders(&project)
                .into_iter()
                .map(|folder| (here.join(folder), WatchedNames::Every)),
        );
        let texts = scenarios.text_hashes(&project, &selection);
        let before = self.scenarios.replace(texts.clone());
        changed.extend(
            before
                .into_iter()
                .flat_map(|before| changed_names(&before, &texts)),
        );
        report.add_findings(&project.findings);
        if let Some((text, known)) = &suppressions {
            suppress::apply_suppressions(&mut report, text, known, |path| selection.contains(path));
            settings.insert(SUPPRESSIONS.to_owned(), Hash::digest(text.as_bytes()));
        }
        Ok(WatchCheck {
            report,
            changed,
            settings,
            sources: project.sources(),
        })
    }
}

/// Returns the folders whose changes decide which files exist: the project's, those of the given
/// paths, and those above, which may contain a project file or an ignore file.
fn base_folders(given: &[PathBuf], cx: &Cx) -> Result<WatchedFolders> {
    let here = fs::current_dir()
        .map_err(|_| CliError::new(CliErrorKind::Infrastructure, "the current folder is gone"))?;
    let named = cx.options.project.as_ref().map(|named| here.join(named));
    let root = project::find_root(&cx.options)
        .ok()
        .or(named)
        .map_or_else(|| here.clone(), |root| here.join(root));
    let mut folders: WatchedFolders = here
        .ancestors()
        .chain(root.ancestors())
        .map(|folder| (folder.to_path_buf(), WatchedNames::Settings))
        .collect();
    folders.insert(root, WatchedNames::Every);
    for path in given {
        let path = here.join(path);
        let real = fs::ReadFs::canonicalize(&fs::RealFs, &path).ok();
        for path in real.into_iter().chain([path]) {
            // A file may be replaced by renaming another one in its folder.
            let folder = if fs::is_dir(&path) {
                Some(path.as_path())
            } else {
                path.parent()
            };
            folders.extend(folder.map(|folder| (folder.to_path_buf(), WatchedNames::Every)));
        }
    }
    Ok(folders)
}
