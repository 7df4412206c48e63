//! The result of `ctxc compaction` as data: `ctxc/compaction/1`.

use super::prompt_line::{PromptLine, prompt_line};
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::session::analysis::{JudgedCompaction, JudgedFact, JudgedSession};
use crate::session::refetch::Refetch;
use crate::session::session_event::{CompactionKind, RowCounts, SessionFormat};
use crate::session::summary_index::OVERLAP_THRESHOLD;

/// The facts that the compactions of sessions dropped: `ctxc compaction --json`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct CompactionReport {
    /// The version of the format.
    schema: &'static str,
    /// The share of a sentence's words that must stand together in a summary to count as kept.
    overlap_threshold: f64,
    /// The sessions, in the order of the command line.
    pub(super) sessions: Vec<ReadSession>,
    /// The line for the compaction prompt that would have kept what was needed again; null if
    /// nothing was.
    pub(super) prompt_line: Option<String>,
    /// Losses of these sessions, as examples of the line.
    pub(super) prompt_examples: Vec<String>,
}

/// A session.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Session")]
pub(super) struct ReadSession {
    /// The name of the session.
    pub(super) name: String,
    /// The program that wrote it.
    pub(super) format: SessionFormat,
    /// The rows that could not be used.
    #[serde(flatten)]
    pub(super) rows: RowCounts,
    /// The compactions.
    #[serde(flatten)]
    pub(super) judged: JudgedSession,
}

impl ReadSession {
    /// Returns the results that were fetched again.
    pub(super) fn refetches(&self) -> impl Iterator<Item = &Refetch> {
        let compactions = self.judged.compactions.iter();
        compactions.flat_map(|own| &own.later.refetches)
    }
}

impl CompactionReport {
    /// Creates the report of some sessions.
    pub(super) fn new(sessions: Vec<ReadSession>) -> Self {
        let mut own = Self {
            schema: names::COMPACTION,
            overlap_threshold: OVERLAP_THRESHOLD,
            sessions,
            prompt_line: None,
            prompt_examples: Vec::new(),
        };
        if let Some(PromptLine { text, examples }) = prompt_line(own.compactions()) {
            own.prompt_line = Some(text);
            own.prompt_examples = examples;
        }
        own
    }

    /// Returns all compactions.
    pub(super) fn compactions(&self) -> impl Iterator<Item = &JudgedCompaction> {
        self.sessions
            .iter()
            .flat_map(|session| &session.judged.compactions)
    }

    /// Returns the number of facts of a kind.
    pub(super) fn count(&self, is_counted: impl Fn(&JudgedFact) -> bool) -> usize {
        let facts = self.compactions().flat_map(|compaction| &compaction.facts);
        facts.filter(|fact| is_counted(fact)).count()
    }

    /// Returns the results that were fetched again.
    pub(super) fn refetches(&self) -> impl Iterator<Item = &Refetch> {
        self.sessions.iter().flat_map(ReadSession::refetches)
    }

    /// Returns the number of compactions whose summaries cannot be read.
    pub(super) fn opaque(&self) -> usize {
        self.compactions()
            .filter(|compaction| compaction.point.kind == CompactionKind::Opaque)
            .count()
    }
}
