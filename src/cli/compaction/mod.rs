//! `ctxc compaction`: the facts that the compactions of a coding agent's session dropped.

mod compaction_verb;
mod find_session;
mod page;
mod probe;
mod prompt_line;
mod report;
mod report_text;
mod stored_session;

pub(crate) use compaction_verb::{CompactionArgs, run_compaction};
pub(in crate::cli) use find_session::{
    SESSION_TEXT_NOTE, SelectedSessions, SessionChoice, SessionFile, find_sessions,
};
pub(crate) use probe::{GradeReport, ProbeComparison};
pub(in crate::cli) use probe::{RubricArgs, document_path, read_probe_answers};
pub(crate) use report::CompactionReport;
pub(crate) use stored_session::{SessionDraft, UserSessions, names_session};
