//! Finds, reads and compiles files in parallel. Links nothing.

use super::documents::CompiledFiles;
use super::inputs::{CheckInputs, RecordingFs};
use super::request::{self, CheckRequest, InputRecording, NoSuchPath};
use super::walk::{FileVisitor, FoundFile, MissingPath, SelectedBy, WalkPlan};
use crate::base::fs::{ReadFs, RealFs};
use crate::base::hash::Hash;
use crate::registry::compile::{
    CompileBuffers, CompileOutcome, CompileReason, CompiledFile, Compiler,
};
use crate::registry::finding_counts::{self, FindingTally};
use crate::rules::input::read_fault;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The loaded files.
#[derive(Debug, Default)]
pub(super) struct LoadedFiles {
    pub(super) documents: CompiledFiles,
    /// Findings that were counted instead of retained.
    pub(super) counted: Vec<FindingTally>,
    /// The number of `*.xml` files in folders that are not templates.
    pub(super) skipped: usize,
    /// The inputs that were read, if they are recorded.
    pub(super) inputs: CheckInputs,
}

/// Loads the files of a request.
pub(super) struct Loader<'r> {
    pub(super) request: &'r CheckRequest<'r>,
    pub(super) compiler: &'r Compiler<'r>,
}

/// The results of all threads, in no order.
#[derive(Default)]
struct LoadBatch {
    files: Vec<(Arc<str>, CompiledFile)>,
    counted: Vec<FindingTally>,
    skipped: usize,
    inputs: CheckInputs,
}

impl Loader<'_> {
    /// Loads the requested files: the text from standard input, or the given paths.
    pub(super) fn load_requested(&self) -> Result<LoadedFiles, NoSuchPath> {
        let Some(stdin) = self.request.stdin else {
            return self.load_paths(self.request.given);
        };
        let all = Mutex::new(LoadBatch::default());
        self.new_worker(&all, Path::new("")).compile_file(
            &Arc::from(stdin.name),
            stdin.bytes,
            CompileReason::Named,
        );
        Ok(sort_loaded(all))
    }

    /// Loads the files at some paths; if none is given, those that the project configures.
    pub(super) fn load_paths(&self, given: &[PathBuf]) -> Result<LoadedFiles, NoSuchPath> {
        let CheckRequest {
            root,
            config,
            threads,
            recording,
            ..
        } = *self.request;
        let plan = WalkPlan::new(root, given, &config.templates)
            .map_err(|MissingPath(path)| NoSuchPath(path))?;
        let real_root = if recording == InputRecording::On {
            RealFs.canonicalize(root).unwrap_or_default()
        } else {
            PathBuf::new()
        };
        let all = Mutex::new(LoadBatch::default());
        plan.run(plan.thread_count(threads), || {
            self.new_worker(&all, &real_root)
        });
        let mut loaded = sort_loaded(all);
        loaded.inputs.folders.extend(plan.absent);
        Ok(loaded)
    }

    fn new_worker<'w>(&'w self, all: &'w Mutex<LoadBatch>, real_root: &'w Path) -> LoadWorker<'w> {
        let recorder = (self.request.recording == InputRecording::On).then(RecordingFs::default);
        let scratch = CompileBuffers::new();
        let bytes = Vec::new();
        let done = LoadBatch::default();
        LoadWorker {
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

fn sort_loaded(all: Mutex<LoadBatch>) -> LoadedFiles {
    let LoadBatch {
        mut files,
        counted,
        skipped,
        inputs,
    } = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    // A file reached in two ways was compiled twice.
    files.dedup_by(|(a, _), (b, _)| a == b);
    LoadedFiles {
        documents: files.into_iter().collect(),
        counted: finding_counts::merge_tallies(&counted),
        skipped,
        inputs,
    }
}

/// One thread's buffers and results; adds the results to the common ones when dropped.
struct LoadWorker<'w> {
    loader: &'w Loader<'w>,
    scratch: CompileBuffers,
    bytes: Vec<u8>,
    done: LoadBatch,
    recorder: Option<RecordingFs>,
    /// The project's folder with links resolved, to name the files that were read.
    real_root: &'w Path,
    all: &'w Mutex<LoadBatch>,
}

impl LoadWorker<'_> {
    fn compile_file(&mut self, path: &Arc<str>, bytes: &[u8], chosen: CompileReason) {
        let compiler = match &self.recorder {
            Some(files) => Compiler {
                files,
                ..*self.loader.compiler
            },
            None => *self.loader.compiler,
        };
        match compiler.compile(path, bytes, chosen, &mut self.scratch) {
            CompileOutcome::Skipped => self.done.skipped += 1,
            CompileOutcome::Taken(file) => {
                let mut file = *file;
                let min = self.loader.request.min_severity;
                let counted = finding_counts::count_findings(
                    file.diagnostics
                        .iter()
                        .filter(|finding| finding.severity > min),
                );
                if !counted.is_empty() {
                    file.diagnostics.retain(|finding| finding.severity <= min);
                    self.done.counted.extend(counted);
                }
                // The findings of all files are in memory at the same time.
                file.diagnostics.shrink_to_fit();
                self.done.files.push((Arc::clone(path), file));
                self.record_inputs(path, bytes);
            }
        }
    }

    /// Records a template and the texts that it includes.
    fn record_inputs(&mut self, path: &Arc<str>, bytes: &[u8]) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let inputs = &mut self.done.inputs;
        inputs
            .templates
            .insert(path.to_string(), Hash::digest(bytes));
        for (text, hash) in recorder.take_reads() {
            inputs.folders.extend(text.parent().map(Path::to_path_buf));
            let root = self.loader.request.root;
            let inside = text
                .strip_prefix(self.real_root)
                .or_else(|_| text.strip_prefix(root))
                .unwrap_or(&text);
            inputs.others.insert(request::with_slashes(inside), hash);
        }
    }
}

impl FileVisitor for LoadWorker<'_> {
    fn visit_file(&mut self, found: &FoundFile<'_>) {
        let chosen = if found.by == SelectedBy::Name {
            CompileReason::Named
        } else {
            CompileReason::Found
        };
        let request = self.loader.request;
        if let Some(bytes) = request.overlay.get(found.name) {
            self.compile_file(&Arc::from(found.name), bytes, chosen);
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        match found.read(request.config.limits.file, &mut bytes) {
            Ok(()) => self.compile_file(&Arc::from(found.name), &bytes, chosen),
            Err(error) => self.report_unreadable(found.name, error),
        }
        self.bytes = bytes;
    }

    fn report_unreadable(&mut self, name: &str, error: io::Error) {
        let path: Arc<str> = Arc::from(name);
        let finding = read_fault::report(&path, &error, self.loader.request.config.limits.file);
        if self.recorder.is_some() {
            self.done
                .inputs
                .templates
                .insert(name.to_owned(), Hash::digest(finding.message.as_bytes()));
        }
        self.done.files.push((
            path,
            CompiledFile {
                diagnostics: vec![finding],
                ..CompiledFile::default()
            },
        ));
    }

    fn enter_folder(&mut self, path: &Path) {
        if self.recorder.is_some() {
            self.done.inputs.folders.insert(path.to_path_buf());
        }
    }

    fn visit_link(&mut self, path: &Path) {
        // The target of the link changes in another folder.
        if self.recorder.is_some()
            && let Ok(real) = RealFs.canonicalize(path)
        {
            self.done
                .inputs
                .folders
                .extend(real.parent().map(Path::to_path_buf));
        }
    }
}

impl Drop for LoadWorker<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.done.files);
        all.counted.append(&mut self.done.counted);
        all.skipped += self.done.skipped;
        all.inputs.merge(std::mem::take(&mut self.done.inputs));
    }
}
