//! Finds, reads and compiles files in parallel. Links nothing.

use super::documents::Documents;
use super::inputs::{Inputs, RecordingFs};
use super::names;
use super::request::{NoSuchPath, Recording, Request};
use super::walk::{By, Found, Missing, Plan, Visit};
use crate::base::fs::{ReadFs, RealFs};
use crate::base::hash::Hash;
use crate::registry::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use crate::registry::finding_counts::{self, Tally};
use crate::rules::input::read_fault;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The loaded files.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) documents: Documents,
    /// Findings that were counted instead of retained.
    pub(super) counted: Vec<Tally>,
    /// The number of `*.xml` files in folders that are not templates.
    pub(super) skipped: usize,
    /// The inputs that were read, if they are recorded.
    pub(super) inputs: Inputs,
}

/// Loads the files of a request.
pub(super) struct Loader<'r> {
    pub(super) request: &'r Request<'r>,
    pub(super) compiler: &'r Compiler<'r>,
}

/// The results of all threads, in no order.
#[derive(Default)]
struct Batch {
    files: Vec<(Arc<str>, Compiled)>,
    counted: Vec<Tally>,
    skipped: usize,
    inputs: Inputs,
}

impl Loader<'_> {
    /// Loads the requested files: the text from standard input, or the given paths.
    pub(super) fn asked(&self) -> Result<Loaded, NoSuchPath> {
        let Some(stdin) = self.request.stdin else {
            return self.paths(self.request.given);
        };
        let all = Mutex::new(Batch::default());
        self.worker(&all, Path::new(""))
            .take(&Arc::from(stdin.name), stdin.bytes, Chosen::Named);
        Ok(loaded(all))
    }

    /// Loads the files at some paths; if none is given, those that the project configures.
    pub(super) fn paths(&self, given: &[PathBuf]) -> Result<Loaded, NoSuchPath> {
        let Request {
            root,
            config,
            threads,
            recording,
            ..
        } = *self.request;
        let plan =
            Plan::new(root, given, &config.templates).map_err(|Missing(path)| NoSuchPath(path))?;
        let real_root = if recording == Recording::On {
            RealFs.canonical(root).unwrap_or_default()
        } else {
            PathBuf::new()
        };
        let all = Mutex::new(Batch::default());
        plan.run(plan.threads(threads), || self.worker(&all, &real_root));
        let mut loaded = loaded(all);
        loaded.inputs.folders.extend(plan.absent);
        Ok(loaded)
    }

    fn worker<'w>(&'w self, all: &'w Mutex<Batch>, real_root: &'w Path) -> Worker<'w> {
        let recorder = (self.request.recording == Recording::On).then(RecordingFs::default);
        let scratch = Scratch::new();
        let bytes = Vec::new();
        let done = Batch::default();
        Worker {
            loader: self,
            scratch,
            bytes,
            done,
            recorder,
            real_root,
            all,
        }
    }
}

fn loaded(all: Mutex<Batch>) -> Loaded {
    let Batch {
        mut files,
        counted,
        skipped,
        inputs,
    } = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    // A file reached in two ways was compiled twice.
    files.dedup_by(|(a, _), (b, _)| a == b);
    Loaded {
        documents: files.into_iter().collect(),
        counted: finding_counts::sum(&counted),
        skipped,
        inputs,
    }
}

/// One thread's buffers and results; adds the results to the common ones when dropped.
struct Worker<'w> {
    loader: &'w Loader<'w>,
    scratch: Scratch,
    bytes: Vec<u8>,
    done: Batch,
    recorder: Option<RecordingFs>,
    /// The project's folder with links resolved, to name the files that were read.
    real_root: &'w Path,
    all: &'w Mutex<Batch>,
}

impl Worker<'_> {
    fn take(&mut self, path: &Arc<str>, bytes: &[u8], chosen: Chosen) {
        let compiler = match &self.recorder {
            Some(files) => Compiler {
                files,
                ..*self.loader.compiler
            },
            None => *self.loader.compiler,
        };
        match compiler.compile(path, bytes, chosen, &mut self.scratch) {
            Outcome::Skipped => self.done.skipped += 1,
            Outcome::Taken(file) => {
                let mut file = *file;
                let least = self.loader.request.least;
                let counted = finding_counts::count(
                    file.diagnostics
                        .iter()
                        .filter(|finding| finding.severity > least),
                );
                if !counted.is_empty() {
                    file.diagnostics.retain(|finding| finding.severity <= least);
                    self.done.counted.extend(counted);
                }
                // The findings of all files are in memory at the same time.
                file.diagnostics.shrink_to_fit();
                self.done.files.push((Arc::clone(path), file));
                self.record(path, bytes);
            }
        }
    }

    /// Records a template and the texts that it includes.
    fn record(&mut self, path: &Arc<str>, bytes: &[u8]) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let inputs = &mut self.done.inputs;
        inputs.templates.insert(path.to_string(), Hash::of(bytes));
        for (text, hash) in recorder.take() {
            inputs.folders.extend(text.parent().map(Path::to_path_buf));
            let root = self.loader.request.root;
            let inside = text
                .strip_prefix(self.real_root)
                .or_else(|_| text.strip_prefix(root))
                .unwrap_or(&text);
            inputs.others.insert(names::slashed(inside), hash);
        }
    }
}

impl Visit for Worker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        let chosen = if found.by == By::Name {
            Chosen::Named
        } else {
            Chosen::Found
        };
        let request = self.loader.request;
        if let Some(bytes) = request.overlay.get(found.name) {
            self.take(&Arc::from(found.name), bytes, chosen);
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        match found.read(request.config.limits.file, &mut bytes) {
            Ok(()) => self.take(&Arc::from(found.name), &bytes, chosen),
            Err(error) => self.unreadable(found.name, error),
        }
        self.bytes = bytes;
    }

    fn unreadable(&mut self, name: &str, error: io::Error) {
        let path: Arc<str> = Arc::from(name);
        let finding = read_fault::word(&path, &error, self.loader.request.config.limits.file);
        if self.recorder.is_some() {
            self.done
                .inputs
                .templates
                .insert(name.to_owned(), Hash::of(finding.message.as_bytes()));
        }
        self.done.files.push((
            path,
            Compiled {
                diagnostics: vec![finding],
                ..Compiled::default()
            },
        ));
    }

    fn folder(&mut self, path: &Path) {
        if self.recorder.is_some() {
            self.done.inputs.folders.insert(path.to_path_buf());
        }
    }

    fn link(&mut self, path: &Path) {
        // The target of the link changes in another folder.
        if self.recorder.is_some()
            && let Ok(real) = RealFs.canonical(path)
        {
            self.done
                .inputs
                .folders
                .extend(real.parent().map(Path::to_path_buf));
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.done.files);
        all.counted.append(&mut self.done.counted);
        all.skipped += self.done.skipped;
        all.inputs.add(std::mem::take(&mut self.done.inputs));
    }
}
