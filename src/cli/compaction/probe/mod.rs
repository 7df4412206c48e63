//! `ctxc compaction probe`: questions about what compactions truncated, answers from the compacted
//! context alone, their grades, and the comparison of methods.

mod answer_probes;
mod command_line;
mod compare_methods;
mod comparison_report;
mod dispatch;
mod grade_agreement;
mod grade_answers;
mod grade_points;
mod grade_report;
mod labelled_answers;
mod make_probes;
mod methods;
mod probe_method;
mod read_probes;
mod role_questions;

pub(super) use command_line::ProbeArgs;
pub(in crate::cli) use command_line::RubricArgs;
pub(crate) use comparison_report::ProbeComparison;
pub(super) use dispatch::run_probe;
pub(crate) use grade_report::GradeReport;
pub(in crate::cli) use labelled_answers::read_probe_answers;
pub(in crate::cli) use read_probes::document_path;
