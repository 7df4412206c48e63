//! The inputs for judging an answer, for agents of this project and for other programs.

use crate::eval::prepared::{CaseInput, PreparedCase, RunContext};

/// A case whose answer is judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct AnswerJudging<'a> {
    /// The inputs shared by all cases.
    pub(in crate::eval) run: &'a RunContext<'a>,
    /// The case.
    pub(in crate::eval) input: &'a CaseInput<'a>,
    /// The model that answers.
    pub(in crate::eval) model: Option<&'a str>,
    /// The agent of this project that was called; `None` if another program sent the request.
    pub(in crate::eval) prepared: Option<&'a PreparedCase<'a>>,
}

impl<'a> AnswerJudging<'a> {
    /// The inputs for answers of an agent of this project.
    pub(in crate::eval) fn for_agent(prepared: &'a PreparedCase<'a>) -> Self {
        Self {
            run: prepared.run,
            input: prepared.input,
            model: prepared.model(),
            prepared: Some(prepared),
        }
    }
}
