//! What an answer is judged with, whoever was asked for it.

use crate::eval::prepared::{CaseInput, PreparedCase, RunContext};

/// A case whose answer is judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct Judging<'a> {
    /// What all cases share.
    pub(in crate::eval) run: &'a RunContext<'a>,
    /// The case.
    pub(in crate::eval) input: &'a CaseInput<'a>,
    /// The model that answers.
    pub(in crate::eval) model: Option<&'a str>,
    /// The agent of this project that was asked; `None` where another program asked.
    pub(in crate::eval) prepared: Option<&'a PreparedCase<'a>>,
}

impl<'a> Judging<'a> {
    /// The answers of an agent of this project.
    pub(in crate::eval) fn of(prepared: &'a PreparedCase<'a>) -> Self {
        Self { run: prepared.run, input: prepared.input, model: prepared.model(), prepared: Some(prepared) }
    }
}
