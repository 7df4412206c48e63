//! The verb `ctxc watch`: checks, watches, waits, checks again. Errors of the project or the paths
//! may be fixed at any moment, so they are shown and do not end the program.

use super::file_watcher::{FileWatcher, Folders, Reach, WakeReason, WatchMode, Watched};
use super::show::{Seen, Shown, differing};
use crate::base::fs;
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::cli::project;
use crate::cli::render::report::Report;
use crate::cli::scenarios::Scenarios;
use crate::cli::selection::{Selection, no_such_path};
use crate::cli::suppress;
use crate::project::suppressions::FILE as SUPPRESSIONS;
use crate::registry::workspace::check::{CheckOutput, check_project};
use crate::registry::workspace::inputs::Inputs;
use crate::registry::workspace::request::{Overlay, Recording, Request};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of repeated checks while new folders are found.
const CHECKS: usize = 10;

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
pub(crate) fn run(args: &WatchArgs, cx: &mut Cx) -> Result<Exit> {
    if args.paths.iter().any(|path| path == Path::new("-")) {
        return Err(
            CliError::usage("standard input does not change").hint("`ctxc check -` checks it once")
        );
    }
    let (watcher, failed) = FileWatcher::new(if args.poll {
        WatchMode::Poll
    } else {
        WatchMode::Native
    });
    watch_reader(watcher.unread());
    let paths = PathArgs {
        paths: args.paths.clone(),
        ..PathArgs::default()
    };
    let mut watching = Watching {
        limits: &args.limits,
        paths,
        watcher,
        inputs: None,
        folders: Folders::new(),
        scenarios: None,
    };
    if let Some(why) = failed {
        say_polling(&why, cx);
    }
    let mut shown = Shown::default();
    loop {
        match watching.check(cx) {
            Ok(seen) => shown.seen(seen, cx)?,
            // A path that never existed is a mistake in the command line.
            Err(error) if error.kind == Kind::Usage && shown.is_nothing() => return Err(error),
            Err(error) if matches!(error.kind, Kind::Usage | Kind::Project) => {
                shown.failed(&error, cx)?;
            }
            Err(error) => return Err(error),
        }
        if cx.is_unread() || watching.watcher.wait() == WakeReason::Unread {
            return Ok(Exit::Success);
        }
    }
}

fn say_polling(why: &str, cx: &mut Cx) {
    cx.note(&format!(
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
struct Watching<'w> {
    limits: &'w LimitArgs,
    paths: PathArgs,
    watcher: FileWatcher,
    /// The files that the last check read.
    inputs: Option<Inputs>,
    /// The relevant folders of the last complete check.
    folders: Folders,
    /// The scenario files at the last check.
    scenarios: Option<BTreeMap<String, Hash>>,
}

impl Watching<'_> {
    /// Checks, then watches the relevant folders. Checks again if some were not watched before.
    fn check(&mut self, cx: &mut Cx) -> Result<Seen> {
        let mut changed = BTreeSet::new();
        let mut seen = self.check_once(cx);
        for _ in 0..CHECKS {
            let mut wanted = self.folders.clone();
            wanted.extend(above(&self.paths.paths, cx)?);
            match self.watcher.watch(&wanted) {
                Watched::Already => break,
                Watched::Since => {}
                Watched::Failed(why) => say_polling(&why, cx),
            }
            changed.extend(seen.map(|seen| seen.changed).unwrap_or_default());
            seen = self.check_once(cx);
        }
        let mut seen = seen?;
        seen.changed.append(&mut changed);
        Ok(seen)
    }

    fn check_once(&mut self, cx: &Cx) -> Result<Seen> {
        let project = Project::load(&cx.options)?.tested().limited(self.limits);
        let selection = Selection::new(&project.root, &self.paths)?;
        let suppressions = suppress::load(&project.root)?;
        let overlay = Overlay::default();
        let request = Request {
            recording: Recording::On,
            ..selection.request(&project, &overlay, cx)
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
            .map(|folder| (here.join(folder), Reach::Every))
            .collect();
        // The first check has no changes.
        let mut changed = self
            .inputs
            .as_ref()
            .map(|before| inputs.changed(before))
            .unwrap_or_default();
        self.inputs = Some(inputs);
        let mut settings: BTreeMap<String, Hash> = project
            .config
            .files
            .iter()
            .map(|file| (file.path.to_string(), file.hash))
            .collect();
        let mut report = Report {
            diagnostics,
            paths,
            files,
            skipped,
            ..Report::default()
        };
        if selection.is_scenarios() {
            report = Report::default();
        }
        let scenarios = Scenarios::new(&project, &selection);
        scenarios.check(&project, &selection, None, &mut report, cx)?;
        self.folders.extend(
            scenarios
                .folders(&project)
                .into_iter()
                .map(|folder| (here.join(folder), Reach::Every)),
        );
        let texts = scenarios.texts(&project, &selection);
        let before = self.scenarios.replace(texts.clone());
        changed.extend(
            before
                .into_iter()
                .flat_map(|before| differing(&before, &texts)),
        );
        report.add(&project.findings);
        if let Some((text, known)) = &suppressions {
            suppress::apply(&mut report, text, known, |path| selection.holds(path));
            settings.insert(SUPPRESSIONS.to_owned(), Hash::of(text.as_bytes()));
        }
        Ok(Seen {
            report,
            changed,
            settings,
            sources: project.sources(),
        })
    }
}

/// Returns the folders whose changes decide which files exist: the project's, those of the given
/// paths, and those above, which may contain a project file or an ignore file.
fn above(given: &[PathBuf], cx: &Cx) -> Result<Folders> {
    let here = fs::current_dir()
        .map_err(|_| CliError::new(Kind::Infrastructure, "the current folder is gone"))?;
    let named = cx.options.project.as_ref().map(|named| here.join(named));
    let root = project::root(&cx.options)
        .ok()
        .or(named)
        .map_or_else(|| here.clone(), |root| here.join(root));
    let mut folders: Folders = here
        .ancestors()
        .chain(root.ancestors())
        .map(|folder| (folder.to_path_buf(), Reach::Settings))
        .collect();
    folders.insert(root, Reach::Every);
    for path in given {
        let path = here.join(path);
        let real = fs::ReadFs::canonical(&fs::RealFs, &path).ok();
        for path in real.into_iter().chain([path]) {
            // A file may be replaced by renaming another one in its folder.
            let folder = if fs::is_dir(&path) {
                Some(path.as_path())
            } else {
                path.parent()
            };
            folders.extend(folder.map(|folder| (folder.to_path_buf(), Reach::Every)));
        }
    }
    Ok(folders)
}
