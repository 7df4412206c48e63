//! Contracts: scenarios of a consumer on what a package exports, held to the package's surface.
//!
//! A contract is data of another organisation: it never names a program. Its judgement here needs
//! no model and no recorded answer.

use super::surface::{AgentSurface, ExportSurface, Surface};
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::context::request::Files;
use crate::eval::compiled_patterns::NameSelector;
use crate::project::roles::matches_tool;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::expect::context::trust_word;
use crate::scenario::json_schema::containment::{SchemaField, SchemaGap, find_field, find_gaps};
use crate::scenario::model::{
    AnswerTest, CaseSubject, ContextExpectation, CountedTokens, FrozenValue, ScenarioCase,
    SegmentSelector, SegmentState,
};
use crate::template::value_type::{ParameterType, describe_type};
use serde_json::Value;

/// A reason why a contract cannot hold, at its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractFault {
    /// The place.
    pub span: Span,
    /// The export that the fault is about; empty if the contract itself is wrong.
    pub export: String,
    /// The fault.
    pub message: String,
}

/// The judgement of a contract by a surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SurfaceJudgement {
    /// The reasons why it cannot hold.
    pub faults: Vec<ContractFault>,
    /// True if the surface settles every expectation on answers, so that no answer is needed.
    pub is_settled: bool,
}

/// A contract, with the package that it is about and the files beside it.
#[derive(Clone, Copy)]
pub struct Contract<'c> {
    /// The scenario.
    pub case: &'c ScenarioCase,
    /// The name of the package: `acme/rules`.
    pub package: &'c str,
    /// The files beside it, with its schemas.
    pub beside: &'c dyn Files,
}

impl Contract<'_> {
    /// Returns the programs that the contract names, and a subject that is no export.
    pub fn find_own_faults(&self) -> Vec<ContractFault> {
        let fault = |span, message: String| ContractFault {
            span,
            export: String::new(),
            message,
        };
        let programs = all_tests(&self.case.expectations).filter_map(|(test, span)| {
            let program = test.own_check()?.describe();
            let message =
                format!("a contract is data: found {program}, which would run a program here");
            Some(fault(span, message))
        });
        let mut faults: Vec<_> = programs.collect();
        if self.export().is_none() {
            let package = self.package;
            faults.push(fault(
                self.case.subject.span,
                format!("a contract is about an export of `{package}`: expected `task: {package}/NAME` or `role: {package}/NAME`"),
            ));
        }
        faults
    }

    /// Returns the export that the contract is about, by kind and name.
    pub fn export(&self) -> Option<String> {
        let (kind, name) = match &self.case.subject.value {
            CaseSubject::Task(name) => ("tasks", name),
            CaseSubject::Role(name) => ("roles", name),
            CaseSubject::Request(_) | CaseSubject::Compaction(_) => return None,
        };
        let name = name.strip_prefix(self.package)?.strip_prefix('/')?;
        Some(format!("{kind}/{name}"))
    }

    /// Holds the contract to a surface.
    pub fn judge(&self, surface: &Surface) -> SurfaceJudgement {
        let mut judgement = SurfaceJudgement {
            faults: self.find_own_faults(),
            is_settled: false,
        };
        let Some(export) = self.export().filter(|_| judgement.faults.is_empty()) else {
            return judgement;
        };
        let mut faults = FaultList {
            export: &export,
            found: Vec::new(),
        };
        if let Some(found) = surface.get(&export) {
            judgement.is_settled = self.judge_export(found, &mut faults);
        } else {
            let near = suggest_name(&export, surface.keys());
            let package = self.package;
            faults.add(
                self.case.subject.span,
                format!("`{package}` does not export {export}{near}"),
            );
        }
        judgement.faults = faults.found;
        judgement
    }

    /// Returns true if the surface settles all that is expected of the answer.
    fn judge_export(&self, export: &ExportSurface, faults: &mut FaultList<'_>) -> bool {
        let situation = &self.case.situation;
        for (name, value) in &situation.inputs {
            let Some(input) = export.inputs.get(name) else {
                let near = suggest_name(name, export.inputs.keys());
                faults.add(value.span, format!("it takes no input `{name}`{near}"));
                continue;
            };
            let FrozenValue::Value(given) = &value.value else {
                continue;
            };
            let wanted = ParameterType {
                kind: input.kind.as_deref(),
                required: input.required,
            };
            if let Some(kind) = wanted.mismatched_type(given) {
                let found = describe_type(given);
                let message =
                    format!("its input `{name}` is of type `{kind}`, and is given {found}");
                faults.add(value.span, message);
            }
        }
        let lacking = export.inputs.iter().find(|(name, input)| {
            input.required
                && !situation.inputs.contains_key(*name)
                && !situation.sets_parameter(name)
        });
        if let Some((name, _)) = lacking {
            faults.add(
                self.case.subject.span,
                format!("it requires the input `{name}`, which the contract does not give"),
            );
        }
        let wanted = self.case.node.as_ref().map(|node| node.value.as_str());
        let mut meant = export.agents.iter().filter(|agent| {
            wanted.is_none_or(|node| agent.node == node || agent.name.as_deref() == Some(node))
        });
        let Some(agent) = meant.next().filter(|_| !self.case.is_run) else {
            if let (Some(node), false) = (&self.case.node, self.case.is_run) {
                faults.add(node.span, format!("it has no agent `{}`", node.value));
            }
            return self.case.expectations.is_empty() && !self.case.is_run;
        };
        if let Some(other) = meant.next() {
            let message = format!(
                "it has several agents, as `{}` and `{}`, and `node` names none of them alone",
                agent.node, other.node
            );
            faults.add(self.case.subject.span, message);
            return false;
        }
        for expectation in &self.case.expect_context {
            judge_context(agent, expectation, faults);
        }
        if self.case.is_scored {
            // Other expectations can make up for one that fails.
            return false;
        }
        let mut is_settled = true;
        for expectation in self.case.expectations.iter().filter(|one| one.value.gate) {
            let test = Spanned::new(expectation.value.test.clone(), expectation.span);
            is_settled &= self.judge_answer(agent, &test, faults);
        }
        is_settled
    }

    /// Returns true if an expectation holds for every answer that the agent's schema accepts. Adds
    /// a fault if it can hold for none.
    fn judge_answer(
        &self,
        agent: &AgentSurface,
        test: &Spanned<AnswerTest>,
        faults: &mut FaultList<'_>,
    ) -> bool {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "all others depend on the answer"
        )]
        match (&test.value, &agent.output) {
            (AnswerTest::AllOf(all), _) => all
                .iter()
                .map(|one| self.judge_answer(agent, one, faults))
                .fold(true, std::ops::BitAnd::bitand),
            (AnswerTest::Schema(expected), Some(output)) => {
                let Some(expected) = self.schema(expected) else {
                    return false;
                };
                let gaps = find_gaps(output, &expected);
                for SchemaGap { path, reason } in &gaps {
                    let message = format!("its answer may break the schema: {path}: {reason}");
                    faults.add(test.span, message);
                }
                gaps.is_empty()
            }
            (AnswerTest::FieldMatches { path, pattern }, Some(output)) => {
                match find_field(output, &path.value) {
                    SchemaField::Missing(place) => {
                        faults.add(path.span, format!("its answer has no field {place}"));
                        false
                    }
                    SchemaField::Listed {
                        is_required,
                        values: Some(values),
                    } => {
                        let Ok(matcher) = NameSelector::new(&pattern.value) else {
                            return false;
                        };
                        let is_match = |one: &Value| {
                            let word = one.as_str().map_or_else(|| one.to_string(), str::to_owned);
                            matcher.matches(&word)
                        };
                        if !values.iter().any(is_match) {
                            let listed = Value::Array(values.clone());
                            faults.add(
                                pattern.span,
                                format!("{} is one of {listed}, and none matches", path.value),
                            );
                        }
                        is_required && values.iter().all(is_match)
                    }
                    SchemaField::Listed { values: None, .. } | SchemaField::Open => false,
                }
            }
            _ => false,
        }
    }

    /// The schema of an expectation; `None` if it cannot be read, which the run reports.
    fn schema(&self, expected: &FrozenValue) -> Option<Value> {
        match expected {
            FrozenValue::Value(schema) => Some(schema.clone()),
            FrozenValue::File(path) => serde_json::from_str(&self.beside.text(path).ok()?).ok(),
        }
    }
}

/// The end of a message about an unknown name: the nearest known one, if there is one.
fn suggest_name<'n>(name: &str, known: impl Iterator<Item = &'n String>) -> String {
    let near = nearest_candidate(name, known.map(String::as_str));
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The faults of one export.
struct FaultList<'e> {
    export: &'e str,
    found: Vec<ContractFault>,
}

impl FaultList<'_> {
    fn add(&mut self, span: Span, message: String) {
        self.found.push(ContractFault {
            span,
            export: self.export.to_owned(),
            message,
        });
    }
}

/// Adds a fault if an expectation can hold for no context of an agent.
fn judge_context(
    agent: &AgentSurface,
    expectation: &Spanned<ContextExpectation>,
    faults: &mut FaultList<'_>,
) {
    let span = expectation.span;
    let (allowed, blocked) = agent.tools.as_ref().map_or((&[][..], &[][..]), |tools| {
        (tools.allowed.as_slice(), tools.blocked.as_slice())
    });
    let is_in = |all: &[String], name: &str| all.iter().any(|entry| matches_tool(entry, name));
    let has = |name: &str| is_in(allowed, name) && !is_in(blocked, name);
    let check_exactly = |names: &[Spanned<String>], faults: &mut FaultList<'_>| {
        for name in names {
            let is_there = name.value.strip_prefix('!').map_or_else(
                || allowed.contains(&name.value),
                |blocked_name| blocked.iter().any(|one| one == blocked_name),
            );
            if !is_there {
                faults.add(name.span, format!("it has no tool `{}`", name.value));
            }
        }
        let further = allowed
            .iter()
            .find(|tool| names.iter().all(|name| name.value != **tool));
        if let Some(tool) = further {
            faults.add(span, format!("it has the tool `{tool}`, too"));
        }
    };
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "all others depend on the assembled context"
    )]
    match &expectation.value {
        ContextExpectation::AllOf(all) => {
            for one in all {
                judge_context(agent, one, faults);
            }
        }
        ContextExpectation::Tools(names) => check_exactly(names, faults),
        ContextExpectation::ToolsOf(test) => {
            for name in test.has.iter().filter(|name| !has(&name.value)) {
                faults.add(name.span, format!("it has no tool `{}`", name.value));
            }
            for name in test.lacks.iter().filter(|name| has(&name.value)) {
                faults.add(name.span, format!("it has the tool `{}`", name.value));
            }
        }
        ContextExpectation::Tokens {
            counted: CountedTokens::Total,
            max: Some(max),
            ..
        } if max.value < agent.least_tokens as u64 => {
            faults.add(
                max.span,
                format!("its context has at least {} tokens", agent.least_tokens),
            );
        }
        ContextExpectation::Segment {
            selector: SegmentSelector::Id(id),
            state: SegmentState::Kept | SegmentState::Cut | SegmentState::Dropped,
        } if is_own_segment(&id.value) && !agent.segments.contains_key(&id.value) => {
            faults.add(id.span, format!("it has no segment `{}`", id.value));
        }
        ContextExpectation::Model(name) => {
            let found = agent.model.as_ref();
            if let Some(found) = found.filter(|found| **found != name.value) {
                faults.add(name.span, format!("its model is `{found}`"));
            }
        }
        ContextExpectation::Trust {
            segment,
            is_trusted,
        } => {
            let found = agent.segments.get(&segment.value);
            if found.is_some_and(|found| found.trust.is_trusted() != *is_trusted) {
                let (name, word) = (&segment.value, trust_word(!is_trusted));
                faults.add(segment.span, format!("its segment `{name}` is {word}"));
            }
        }
        _ => {}
    }
}

/// True if a segment with this id can only be the task's own: no situation adds it.
fn is_own_segment(id: &str) -> bool {
    const OWN: [&str; 5] = [
        "system",
        "description",
        "instructions",
        "output_format",
        "tool",
    ];
    OWN.contains(&id.split(':').next().unwrap_or(id))
}
