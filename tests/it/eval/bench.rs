//! Cases made by hand, and a project in memory to run them in.

use ctxc::Registry;
use ctxc::internals::base::span::{Span, Spanned};
use ctxc::internals::context::options::ModelSettings;
use ctxc::internals::context::request::Files;
use ctxc::internals::eval::answer_source::{AnswerOptions, CaseAnswers};
use ctxc::internals::eval::case_result::CaseResult;
use ctxc::internals::eval::compiled_patterns::CompiledPatterns;
use ctxc::internals::eval::prepared_case::{CaseInput, RunContext};
use ctxc::internals::eval::receiver::Roles;
use ctxc::internals::eval::run::run_cases;
use ctxc::internals::eval::trials::TrialPolicy;
use ctxc::internals::kernel::tokens::ByteEstimate;
use ctxc::internals::project::config::Config;
use ctxc::internals::scenario::model::{
    AnswerExpectation, AnswerTest, CaseSubject, ContextExpectation, FrozenText, FrozenValue,
    PatternTest, ScenarioCase, ScriptedAnswer, SegmentSelector, SegmentState, Situation, TrialRule,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn at<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::empty_at(0))
}

pub(super) fn word(text: &str) -> Spanned<String> {
    at(text.to_owned())
}

pub(super) fn words(texts: &[&str]) -> Vec<Spanned<String>> {
    texts.iter().map(|text| word(text)).collect()
}

pub(super) fn id(text: &str) -> SegmentSelector {
    SegmentSelector::Id(word(text))
}

pub(super) fn segment(which: SegmentSelector, state: SegmentState) -> ContextExpectation {
    ContextExpectation::Segment {
        selector: which,
        state,
    }
}

pub(super) fn patterns(within: Option<SegmentSelector>, texts: &[&str]) -> PatternTest {
    PatternTest {
        within,
        patterns: words(texts),
    }
}

/// A case of the task `triage`, with a ticket.
pub(super) fn case() -> ScenarioCase {
    let inputs = BTreeMap::from([(
        "ticket".to_owned(),
        Box::new(at(FrozenValue::Value("No invoice came.".into()))),
    )]);
    ScenarioCase {
        name: word("triage-1"),
        row: None,
        span: Span::empty_at(0),
        subject: at(CaseSubject::Task("triage".to_owned())),
        is_run: false,
        node: None,
        situation: Situation {
            inputs,
            ..Situation::default()
        },
        expect_context: Vec::new(),
        expectations: Vec::new(),
        replaces: Vec::new(),
        rule: TrialRule::default(),
        answers: Vec::new(),
        tags: Vec::new(),
        baseline_config_hash: None,
        reviewed: None,
        is_scored: false,
    }
}

pub(super) fn expecting(context: Vec<ContextExpectation>) -> ScenarioCase {
    ScenarioCase {
        expect_context: context.into_iter().map(at).collect(),
        ..case()
    }
}

/// A case with one scripted answer for every request.
pub(super) fn answering(reply: Value, tests: Vec<AnswerTest>) -> ScenarioCase {
    let scripted = ScriptedAnswer {
        node: None,
        has: Vec::new(),
        lacks: Vec::new(),
        reply,
        tool_calls: Vec::new(),
        usage: Some((100, 20)),
        end: None,
    };
    let expectations = tests
        .into_iter()
        .map(|test| {
            at(AnswerExpectation {
                test,
                gate: true,
                weight: None,
            })
        })
        .collect();
    ScenarioCase {
        expectations,
        answers: vec![at(scripted)],
        ..case()
    }
}

pub(super) const TRIAGE: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort {{ticket}}.</description>
  <parameters>
    <parameter name=\"ticket\" required=\"true\"/>
  </parameters>
  <system>You triage support tickets.
Never promise a refund.</system>
  <file_paths source=\"literal\">
    <path>docs/runbook.md</path>
  </file_paths>
  <context_management>
    <inherit_context>none</inherit_context>
    <fresh_context>disabled</fresh_context>
  </context_management>
</task>
";

pub(super) fn registry(text: &str) -> Registry {
    let built = ctxc::compile_sources(&ctxc::Config::default(), [("templates/triage.xml", text)]);
    built
        .registry
        .unwrap_or_else(|| panic!("{:#?}", built.diagnostics))
}

/// The files of the project that templates name.
pub(super) fn live() -> BTreeMap<String, String> {
    [("docs/runbook.md", "# Runbook\nRestart it.\nThen wait.\n")]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into()
}

pub(super) struct Setting<'a> {
    pub(super) registry: &'a Registry,
    /// The project's roles and models.
    pub(super) config: Option<Config>,
    pub(super) beside: BTreeMap<String, String>,
    pub(super) snapshot: Option<&'a str>,
    pub(super) rows: TrialPolicy,
}

impl<'a> Setting<'a> {
    pub(super) fn of(registry: &'a Registry) -> Self {
        Self {
            registry,
            config: None,
            beside: BTreeMap::new(),
            snapshot: None,
            rows: TrialPolicy::StopWhenDecided,
        }
    }

    /// The same with a project file.
    pub(super) fn with(self, project: &str) -> Self {
        Self {
            config: Some(crate::project::reading::read(project)),
            ..self
        }
    }

    pub(super) fn finish(&self, case: &ScenarioCase) -> CaseResult {
        let patterns = CompiledPatterns::compile_for([case], "$.subtasks");
        let counter = ByteEstimate::new("estimate", 4.0);
        let live = live();
        let files: &(dyn Files + Sync) = &live;
        let none = Roles::new();
        let context = RunContext {
            registry: self.registry,
            roles: self.config.as_ref().map_or(&none, |config| &config.roles),
            live: files,
            index: None,
            counter: &counter,
            models: self.config.as_ref().map(|config| ModelSettings {
                models: &config.models,
                roles: &config.roles,
                counters: &(),
                objective_tokens: None,
                task_model: None,
                profile: None,
            }),
            plan: "$.subtasks",
            rows: self.rows,
            patterns: &patterns,
            answers: AnswerOptions::default(),
            session: "",
        };
        let input = CaseInput {
            path: "scenarios/triage.yaml",
            case,
            beside: &self.beside,
            snapshot: self.snapshot,
            rejection: None,
            answers: CaseAnswers::default(),
        };
        run_cases(&context, &[input], None).remove(0)
    }
}

/// Runs a case in the project of `TRIAGE`.
pub(super) fn finish(case: &ScenarioCase) -> CaseResult {
    Setting::of(&registry(TRIAGE)).finish(case)
}

/// The failure of the first expectation on the context: expected, found, advice.
pub(super) fn said(expectation: ContextExpectation) -> String {
    let done = finish(&expecting(vec![expectation]));
    let verdict = done.context.first().unwrap_or_else(|| panic!("{done:?}"));
    let reason = &verdict.reason;
    let mut out = format!(
        "{}: expected {}, found {}",
        verdict.outcome.word(),
        reason.expected,
        reason.found
    );
    for advice in &reason.advice {
        out.push_str("; ");
        out.push_str(advice);
    }
    out
}

pub(super) fn text(text: &str) -> Spanned<FrozenText> {
    at(FrozenText::Text(text.to_owned()))
}
