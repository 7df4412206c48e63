//! Probes as data: `ctxc/compaction-probes/1`.

use crate::base::words::words;
use crate::scenario::rubric::ProbeKind;
use crate::session::facts::fact::{Fact, FactClass, FactSource, FileUse};
use serde::{Deserialize, Serialize};

words! {
    /// The type of the work of a session.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum TaskKind {
        /// A fault is looked for or mended.
        Debugging = "debugging",
        /// Something is built or changed.
        Feature = "feature",
        /// Work of others is looked at.
        Review = "review",
    }
}

/// Probes for some compactions: `ctxc compaction probe make --json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ProbeDocument {
    /// The version of the format.
    pub schema: String,
    /// The compactions, in the order of the sessions.
    pub points: Vec<ProbePoint>,
}

/// A compaction with the questions about what it truncated.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ProbePoint {
    /// The name of the session.
    pub session: String,
    /// The number of the compaction in the session, from 1.
    pub number: usize,
    /// The type of the work, by the first text of the user.
    pub task: TaskKind,
    /// The messages of the conversation before it.
    pub messages: usize,
    /// The messages that it truncated.
    pub truncated: usize,
    /// The tokens before it, by the tokenizer `o200k`.
    pub tokens_before: usize,
    /// The tokens of the compacted context; null if it cannot be read.
    pub tokens_after: Option<usize>,
    /// The context that is left; null if it is opaque.
    pub compacted_context: Option<String>,
    /// The questions.
    pub probes: Vec<Probe>,
}

/// A question about what a compaction truncated.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Probe {
    /// Its name, unique among the probes of a compaction: `artifact_files`.
    pub id: String,
    /// Its type.
    pub kind: ProbeKind,
    /// The question.
    pub probe_question: String,
    /// The expected facts.
    pub facts: Vec<ProbeFact>,
    /// The numbers of the first and the last message with these facts.
    pub messages: [usize; 2],
    /// The ids of the criteria that apply.
    pub criteria: Vec<String>,
    /// The answer from the compacted context; null before `ask`.
    pub model_response: Option<String>,
}

/// A fact of the ground truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ProbeFact {
    /// Its class.
    pub class: FactClass,
    /// The use of a file; null for other classes.
    pub file_use: Option<FileUse>,
    /// Its identity among the facts of its class.
    pub key: String,
    /// Its text, masked.
    pub text: String,
    /// The thing that a value belongs to; empty for other classes.
    pub slot: String,
    /// The last change of a file; empty if there is none.
    pub detail: String,
    /// True if the same command succeeded after an error; null for other classes.
    pub is_resolved: Option<bool>,
    /// The line of the session's file.
    pub line: usize,
}

impl Probe {
    /// Returns the expected facts as a text for a judge, one a line.
    pub fn ground_truth(&self) -> String {
        let lines = self.facts.iter().map(ProbeFact::describe);
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl ProbeFact {
    /// Returns the fact for comparison with a text.
    pub fn to_fact(&self) -> Fact {
        Fact {
            class: self.class,
            file_use: self.file_use,
            key: self.key.clone(),
            text: self.text.clone(),
            slot: self.slot.clone(),
            source: FactSource::Prose,
            line: self.line,
            message: 0,
            is_standing: false,
        }
    }

    /// Describes the fact: `file created: src/a.rs (let a = 1;)`.
    pub fn describe(&self) -> String {
        let class = self.class.word();
        let state = match (self.file_use, self.is_resolved) {
            (Some(file_use), _) => format!(" {}", file_use.word()),
            (None, Some(true)) => " (resolved)".to_owned(),
            (None, Some(false)) => " (open)".to_owned(),
            (None, None) => String::new(),
        };
        let detail = if self.detail.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.detail)
        };
        format!("- {class}{state}: {}{detail}", self.text)
    }
}
