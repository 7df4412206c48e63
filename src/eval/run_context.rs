//! The inputs of cases: those shared by all cases, and those of one case.

use super::answer_source::{AnswerOptions, CaseAnswers};
use super::compiled_patterns::CompiledPatterns;
use super::receiver::Roles;
use super::trials::TrialPolicy;
use crate::context::context_source::ContextSource;
use crate::context::options::{ModelSettings, Options};
use crate::context::request::Files;
use crate::kernel::budget::Counting;
use crate::kernel::tokens::TokenCounter;
use crate::registry::Registry;
use crate::scenario::model::ScenarioCase;

/// The inputs shared by all cases.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// The tasks.
    pub registry: &'a Registry,
    /// The agent roles.
    pub roles: &'a Roles,
    /// Files of the project that templates name and no case freezes.
    pub live: &'a (dyn Files + Sync),
    /// The index for `lookup`; `None` if there is none, as for an earlier revision.
    pub index: Option<&'a (dyn ContextSource + Sync)>,
    /// Counts tokens if no model defines its own counter.
    pub counter: &'a dyn TokenCounter,
    /// The project's roles and models; `None` if it has none.
    pub models: Option<ModelSettings<'a>>,
    /// The path of the parts of a decomposed task.
    pub plan: &'a str,
    /// The policy on trials once the verdict is certain.
    pub rows: TrialPolicy,
    /// Patterns and paths, compiled.
    pub patterns: &'a CompiledPatterns,
    /// The sources of answers.
    pub answers: AnswerOptions<'a>,
    /// The run or conversation that the requests belong to, from which fence markers are derived;
    /// empty if unknown.
    pub session: &'a str,
}

impl<'a> RunContext<'a> {
    /// The options of assembly, as for rendering.
    pub(super) fn assembly_options(&self) -> Options<'a> {
        Options {
            counter: self.counter,
            models: self.models,
            counting: Counting::Always,
            ..Options::default()
        }
    }
}

/// One case with its inputs.
#[derive(Clone, Copy, Debug)]
pub struct CaseInput<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The case.
    pub case: &'a ScenarioCase,
    /// Files beside the scenario.
    pub beside: &'a (dyn Files + Sync),
    /// The stored request, if any.
    pub snapshot: Option<&'a str>,
    /// The reason why the case cannot run as written, as reported by `check`; `None` if nothing is
    /// wrong with it.
    pub rejection: Option<&'a str>,
    /// The available answers.
    pub answers: CaseAnswers<'a>,
}
