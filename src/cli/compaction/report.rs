//! The result of `ctxc compaction` as data: `ctxc/compaction/1`.

use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::session::analysis::{JudgedCompaction, JudgedFact};
use crate::session::facts::fact::{Fact, FactClass, FileUse};
use crate::session::session_event::{RowCounts, SessionFormat};
use crate::session::verdict::{FactVerdict, OVERLAP_THRESHOLD};

/// The facts that a report lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListedFacts {
    /// Those that were dropped.
    Dropped,
    /// All of them.
    All,
}

/// The facts that the compactions of sessions dropped: `ctxc compaction --json`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct CompactionReport {
    /// The version of the format.
    schema: &'static str,
    /// The share of a sentence's content words that must stand together in a summary to count as
    /// kept.
    overlap_threshold: f64,
    /// The sessions, in the order of the command line.
    pub(super) sessions: Vec<SessionRow>,
    /// The line for the compaction prompt that would have kept what was needed again; null if
    /// nothing was.
    pub(super) prompt_line: Option<String>,
}

/// A session.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct SessionRow {
    /// The name of the session.
    pub(super) name: String,
    /// The program that wrote it.
    #[schemars(extend("enum" = SessionFormat::WORDS))]
    pub(super) format: &'static str,
    /// The number of messages.
    pub(super) messages: usize,
    /// The rows of kinds that ctxc does not know.
    pub(super) unknown_rows: Vec<UnknownRow>,
    /// The lines that are not JSON.
    pub(super) unreadable_lines: Vec<usize>,
    /// True if the last line is cut.
    pub(super) is_cut: bool,
    /// The compactions, in order.
    pub(super) compactions: Vec<CompactionRow>,
}

/// The rows of a kind that ctxc does not know.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UnknownRow {
    /// The kind, as written.
    pub(super) kind: String,
    /// The number of rows.
    pub(super) rows: usize,
}

/// A compaction.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct CompactionRow {
    /// Its number in the session, from 1.
    pub(super) number: usize,
    /// Its kind: `opaque` if its summary cannot be read, so that nothing but the kept messages is
    /// compared.
    #[schemars(extend("enum" = ["summary", "cleared-results", "opaque"]))]
    pub(super) kind: &'static str,
    /// The line of the file.
    pub(super) line: usize,
    /// The time, as written.
    pub(super) at: Option<String>,
    /// The cause, as written: `auto`, `manual`.
    pub(super) trigger: Option<String>,
    /// The tokens of the last request before it.
    pub(super) tokens_before: Option<u64>,
    /// The tokens of the history after it, or of the first request.
    pub(super) tokens_after: Option<u64>,
    /// The messages that it dropped.
    pub(super) messages_dropped: usize,
    /// The messages that it kept.
    pub(super) messages_kept: usize,
    /// The bytes of the summary.
    pub(super) summary_bytes: usize,
    /// The bytes by which it is longer than the summary before; null for the first.
    pub(super) summary_growth: Option<i64>,
    /// Files that were known before and read again later.
    pub(super) files_read_again: usize,
    /// Answers of the model until the next change of a file; null if there was none.
    pub(super) answers_to_edit: Option<usize>,
    /// The counts of each class of facts that occurs.
    pub(super) classes: Vec<ClassRow>,
    /// The facts that were dropped, the most important first; with `--all`, all of them.
    pub(super) facts: Vec<FactRow>,
}

/// The counts of a class of facts.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ClassRow {
    /// The class; files are counted by their uses.
    pub(super) class: String,
    /// The number of facts.
    pub(super) facts: usize,
    /// The verdicts that occur.
    pub(super) verdicts: Vec<VerdictCount>,
    /// The number of dropped facts that were used later.
    pub(super) needed_again: usize,
}

/// The number of facts with a verdict.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct VerdictCount {
    /// The verdict.
    #[schemars(extend("enum" = FactVerdict::WORDS))]
    pub(super) verdict: &'static str,
    /// The number of facts.
    pub(super) facts: usize,
}

impl ClassRow {
    /// Returns the number of facts with a verdict.
    pub(super) fn count(&self, verdict: FactVerdict) -> usize {
        let own = self
            .verdicts
            .iter()
            .find(|count| count.verdict == verdict.word());
        own.map_or(0, |count| count.facts)
    }

    /// Returns the number of facts that the conversation still contains.
    pub(super) fn surviving(&self) -> usize {
        self.count(FactVerdict::Kept) + self.count(FactVerdict::Reloaded)
    }
}

/// A fact.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct FactRow {
    /// The class; files by their uses.
    pub(super) class: String,
    /// The fact, with secrets and personal data masked.
    pub(super) text: String,
    /// The line of the file where it first occurs.
    pub(super) line: usize,
    /// The verdict.
    #[schemars(extend("enum" = FactVerdict::WORDS))]
    pub(super) verdict: &'static str,
    /// The value that the summary has instead; null if it has none.
    pub(super) summary_value: Option<String>,
    /// The first later use of a dropped fact; null if there was none.
    pub(super) needed_again: Option<LaterUseRow>,
}

/// The later use of a dropped fact.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LaterUseRow {
    /// The line of the file.
    pub(super) line: usize,
    /// The kind of use, such as `read again`.
    pub(super) kind: &'static str,
}

/// The compactions of a session, as read.
pub(super) struct ReadSession {
    pub(super) name: String,
    pub(super) format: SessionFormat,
    pub(super) messages: usize,
    pub(super) rows: RowCounts,
    pub(super) compactions: Vec<JudgedCompaction>,
    /// The number of the only compaction to report.
    pub(super) number: Option<usize>,
}

impl CompactionReport {
    /// Creates the report of some sessions.
    pub(super) fn new(sessions: Vec<ReadSession>, listed: ListedFacts) -> Self {
        let sessions: Vec<SessionRow> = sessions
            .into_iter()
            .map(|session| session_row(session, listed))
            .collect();
        let prompt_line = prompt_line(&sessions);
        Self {
            schema: names::COMPACTION,
            overlap_threshold: OVERLAP_THRESHOLD,
            sessions,
            prompt_line,
        }
    }

    /// Returns all facts that are listed.
    pub(super) fn facts(&self) -> impl Iterator<Item = &FactRow> {
        self.compactions().flat_map(|compaction| &compaction.facts)
    }

    /// Returns all compactions.
    pub(super) fn compactions(&self) -> impl Iterator<Item = &CompactionRow> {
        self.sessions
            .iter()
            .flat_map(|session| &session.compactions)
    }
}

impl CompactionRow {
    /// Returns the facts that matter: needed again, with another value, or instructions that are
    /// gone.
    pub(super) fn missed_facts(&self) -> impl Iterator<Item = &FactRow> {
        self.facts.iter().filter(|fact| fact.is_missed())
    }
}

impl FactRow {
    /// Returns true if the loss of the fact matters.
    pub(super) fn is_missed(&self) -> bool {
        self.needed_again.is_some() || self.summary_value.is_some() || self.is_dropped_instruction()
    }

    /// Returns true for an instruction that the conversation no longer contains.
    pub(super) fn is_dropped_instruction(&self) -> bool {
        self.class == FactClass::Instruction.word() && self.is_dropped()
    }

    /// Returns true if the conversation no longer contains the fact.
    pub(super) fn is_dropped(&self) -> bool {
        FactVerdict::parse(self.verdict).is_some_and(FactVerdict::is_dropped)
    }
}

fn session_row(session: ReadSession, listed: ListedFacts) -> SessionRow {
    let is_selected = |number: usize| session.number.is_none_or(|own| own == number);
    SessionRow {
        name: session.name,
        format: session.format.word(),
        messages: session.messages,
        unknown_rows: session
            .rows
            .unknown
            .into_iter()
            .map(|(kind, rows)| UnknownRow { kind, rows })
            .collect(),
        unreadable_lines: session.rows.unreadable,
        is_cut: session.rows.is_cut,
        compactions: session
            .compactions
            .into_iter()
            .zip(1..)
            .filter(|(_, number)| is_selected(*number))
            .map(|(compaction, number)| compaction_row(compaction, number, listed))
            .collect(),
    }
}

fn compaction_row(
    compaction: JudgedCompaction,
    number: usize,
    listed: ListedFacts,
) -> CompactionRow {
    let JudgedCompaction { point, facts, .. } = compaction;
    let mut facts = facts;
    // Within a class, files that were created or changed come first, and what was needed again.
    facts.sort_by_key(|judged| {
        let weight = judged.fact.file_use.unwrap_or(FileUse::Seen);
        (
            judged.fact.class,
            !judged.is_needed_again(),
            std::cmp::Reverse(weight),
            judged.fact.line,
        )
    });
    CompactionRow {
        number,
        kind: point.kind.word(),
        line: point.line,
        at: point.at,
        trigger: point.trigger,
        tokens_before: point.tokens_before,
        tokens_after: point.tokens_after,
        messages_dropped: compaction.dropped,
        messages_kept: compaction.retained,
        summary_bytes: point.summary.len(),
        summary_growth: compaction.growth,
        files_read_again: compaction.files_read_again.len(),
        answers_to_edit: compaction.answers_to_edit,
        classes: class_rows(&facts),
        facts: facts
            .into_iter()
            .filter(|judged| listed == ListedFacts::All || judged.verdict.is_dropped())
            .map(fact_row)
            .collect(),
    }
}

/// Returns the name of a fact's class: `file.created`, `error`.
fn class_name(fact: &Fact) -> String {
    let class = fact.class.word();
    fact.file_use.map_or_else(
        || class.to_owned(),
        |file_use| format!("{class}.{}", file_use.word()),
    )
}

fn class_rows(facts: &[JudgedFact]) -> Vec<ClassRow> {
    let mut rows: Vec<ClassRow> = Vec::new();
    let mut ordered: Vec<&JudgedFact> = facts.iter().collect();
    ordered.sort_by_key(|judged| (judged.fact.class, std::cmp::Reverse(judged.fact.file_use)));
    for judged in ordered {
        let class = class_name(&judged.fact);
        if rows.last().is_none_or(|row| row.class != class) {
            rows.push(ClassRow {
                class,
                facts: 0,
                verdicts: Vec::new(),
                needed_again: 0,
            });
        }
        if let Some(row) = rows.last_mut() {
            row.facts += 1;
            row.needed_again += usize::from(judged.is_needed_again());
            let verdict = judged.verdict.word();
            match row
                .verdicts
                .iter_mut()
                .find(|count| count.verdict == verdict)
            {
                Some(count) => count.facts += 1,
                None => row.verdicts.push(VerdictCount { verdict, facts: 1 }),
            }
        }
    }
    rows
}

fn fact_row(judged: JudgedFact) -> FactRow {
    let needed = judged.later_use.filter(|_| judged.verdict.is_dropped());
    FactRow {
        class: class_name(&judged.fact),
        text: judged.fact.text,
        line: judged.fact.line,
        verdict: judged.verdict.word(),
        summary_value: judged.other_value,
        needed_again: needed.map(|later| LaterUseRow {
            line: later.line,
            kind: later.kind,
        }),
    }
}

/// Returns the line for a compaction prompt that asks for the classes of facts that were needed
/// again, and for instructions that were dropped.
fn prompt_line(sessions: &[SessionRow]) -> Option<String> {
    let all = || {
        sessions
            .iter()
            .flat_map(|session| &session.compactions)
            .flat_map(|one| &one.facts)
    };
    let is_missed = |class: FactClass| {
        all().any(|fact| {
            fact.class.split('.').next() == Some(class.word())
                && (fact.needed_again.is_some()
                    || fact.is_dropped_instruction()
                    || fact.summary_value.is_some())
        })
    };
    let wanted: Vec<&str> = FactClass::ALL
        .into_iter()
        .filter(|class| is_missed(*class))
        .map(|class| match class {
            FactClass::Instruction => "every rule that the user or a file gave, in its own words",
            FactClass::File => "the path of every file that was created, changed or read",
            FactClass::Error => "the name and first line of every error, and what resolved it",
            FactClass::Todo => "every task that is not done",
            FactClass::Decision => "every decision with its reason and the alternative",
            FactClass::Command => "the exact commands that build, test and run the project",
            FactClass::Value => "every version, commit, address, port and limit that was used",
        })
        .collect();
    (!wanted.is_empty())
        .then(|| format!("In the summary, keep word for word: {}.", wanted.join("; ")))
}
