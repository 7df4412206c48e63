//! One file from bytes to what the rest of a build needs: findings, facts for the index, registry entries.
//!
//! Independent of all other files, so files are compiled in any order on any thread. Reads nothing but the texts
//! that the file pulls in by `src`, through the door it is handed.

use super::entry::Entry;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::ReadFs;
use crate::project::config::Config;
use crate::rules::check::{self, Active};
use crate::rules::rule::FileCx;
use crate::rules::syntax::undecodable;
use crate::settings::bodies::Bodies;
use crate::syntax::decode;
use crate::syntax::reader::Reader;
use crate::template;
use crate::template::names::FileFacts;
use std::path::Path;
use std::sync::Arc;

/// What is the same for all files of a build.
pub struct Compiler<'p> {
    /// The project.
    pub config: &'p Config,
    /// Its rules that are on.
    pub active: &'p Active,
    /// The project root, which `src` paths must not leave.
    pub root: &'p Path,
    /// Where `src` files are read from.
    pub files: &'p dyn ReadFs,
    /// What is wanted beside the findings.
    pub output: Output,
}

/// What a compilation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Findings and facts.
    Check,
    /// Registry entries too.
    Entries,
}

/// Why a file is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// It was named: always taken.
    Named,
    /// It was found in a folder: taken when its root is of the language, or cannot be made out.
    Found,
}

/// Buffers that are reused from file to file, one set a thread.
#[derive(Debug, Default)]
pub struct Scratch {
    reader: Reader,
    bodies: Bodies,
}

/// What became of a file.
#[derive(Debug)]
pub enum Outcome {
    /// Its root is none of the language.
    Skipped,
    /// It was compiled.
    Taken(Box<Compiled>),
}

/// What a file gives.
#[derive(Debug, Default)]
pub struct Compiled {
    /// Located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// For the index of all files.
    pub facts: FileFacts,
    /// One for each definition, when entries were asked for and nothing is wrong with the file.
    pub entries: Vec<Entry>,
    /// Rows that its tasks were resolved with, sorted.
    pub rows: Vec<crate::settings::layers::RowId>,
}

impl Scratch {
    /// Empty buffers.
    pub fn new() -> Self {
        Self { reader: Reader::new(), bodies: Bodies::default() }
    }
}

impl Compiler<'_> {
    /// Compiles one file. Never fails: what is wrong is in the findings.
    pub fn compile(&self, path: &Arc<str>, bytes: &[u8], chosen: Chosen, scratch: &mut Scratch) -> Outcome {
        match decode::decode(bytes) {
            Ok(text) => self.compile_text(path, &text, chosen, scratch),
            Err(fault) => {
                let finding = check::weigh(self.config, undecodable::word(path, &fault));
                Outcome::Taken(Box::new(Compiled { diagnostics: finding.into_iter().collect(), ..Compiled::default() }))
            }
        }
    }

    /// Compiles a decoded text.
    pub fn compile_text(&self, path: &Arc<str>, text: &str, chosen: Chosen, scratch: &mut Scratch) -> Outcome {
        let Scratch { reader, bodies } = scratch;
        reader.read(text, &self.config.limits);
        let document = reader.document(text);
        if chosen == Chosen::Found && is_foreign(document) {
            return Outcome::Skipped;
        }
        let file = template::lower(document);
        bodies.resolve(&file, &self.config.layers);
        let facts = template::facts::collect(&file, check::stem(path));
        let scopes = template::scope::resolve(&file, &|_| None);
        let cx = FileCx { path, document, file: &file, bodies, scopes: &scopes, config: self.config };
        let diagnostics = check::file(self.active, &cx, reader.faults());
        let mut rows: Vec<_> = bodies.iter().map(|body| body.resolved.row).collect();
        rows.sort_unstable();
        rows.dedup();
        Outcome::Taken(Box::new(Compiled { diagnostics, facts, entries: Vec::new(), rows }))
    }
}

/// Whether the root is to be seen and is none of the language.
fn is_foreign(document: crate::syntax::tree::Document<'_>) -> bool {
    document.root().is_some_and(|root| root.namespace().is_some() || !matches!(root.name(), "task" | "template" | "library"))
}
