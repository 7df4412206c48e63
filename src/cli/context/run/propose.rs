//! `ctxc new scenario --propose`: the project's role `archivist` proposes a name, a reason and
//! further expectations for a scenario.
//!
//! The proposals are comments in the scenario: text of a model has no effect before a person adopts
//! it.

use super::commands::ProjectCommands;
use crate::cli::context::model_calls::{ModelCalls, redactor};
use crate::cli::context::models::{self, ProjectCounters};
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::{self, TrustHashArgs};
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::record::script;
use crate::cli::render::escape::is_hostile;
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::kernel::pipeline::outcome::ObstacleKind;
use crate::project::roles::Role;
use crate::provider::spending::SpendLimit;
use crate::run::answers::AnswerBackend;
use crate::run::flow::TaskFlow;
use crate::run::runner::{NoSubtasks, RunLimits, Runner, RunnerParts, SubtaskCompiler, TaskFrame};
use crate::run::situation::RunSituation;
use crate::run::tools::NoTools;
use crate::run::trace::{RunJournal, TraceWriter};
use crate::scenario;
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The proposing role.
const ARCHIVIST_ROLE: &str = "archivist";
/// The task of the role for proposals.
const PROPOSAL_TASK: &str = "propose-expectations";
const PROPOSAL_TEMPLATE: &str = r#"<task type="atomic" name="propose-expectations">
<description>Word a scenario that was made of a run: a name for it, the reason why it is worth keeping, and what else must hold.</description>
<parameters><parameter name="scenario" trust="untrusted"/><parameter name="answer" trust="untrusted"/></parameters>
<inputs><input name="scenario" from="scenario"/><input name="answer" from="answer"/></inputs>
<instructions>The scenario is YAML; what was answered in the run stands beside it. Propose at most five expectations that an equally good answer would satisfy too, and that the scenario does not have. Each has one of these keys: `contains` or `absent` with a list of regular expressions, `field_matches` with a JSONPath as `path` and a regular expression as `pattern`, `references_files` with a list of paths, `calls_tool` or `never_calls_tool` with a name. Where the scenario has `run: true`, `node` beside that key names the agent whose answer is meant. An expectation that repeats the answer word for word is useless. Answer with one JSON object: `name` in small letters with hyphens, `reason` in one sentence, `expectations` as a list.</instructions>
<output_format type="json" schema="object"/>
</task>"#;

#[derive(Clone, Debug, Args)]
pub(in crate::cli::context) struct ProposeArgs {
    /// Let the project's role `archivist` propose a name, a reason and further expectations, as comments in the scenario for you to adopt. It asks a model, which `ctxc trust` must allow
    #[arg(long, requires = "from", conflicts_with = "best")]
    propose: bool,
    /// With --propose: take the archivist's answer from this script, and ask no model
    #[arg(long, value_name = "FILE", requires = "propose")]
    script: Option<PathBuf>,
    #[command(flatten)]
    trust: TrustHashArgs,
}

impl ProposeArgs {
    /// Returns true if proposals are requested.
    pub(in crate::cli::context) const fn is_requested(&self) -> bool {
        self.propose
    }
}

/// Returns the proposals for a scenario, as comments; empty if they are not requested.
/// `answer` contains the answers of the run.
///
/// # Errors
/// The project has no such role, the role may not be called, or it gives no answer.
pub(in crate::cli::context) fn propose_expectations(
    args: &ProposeArgs,
    text: &str,
    answer: &str,
    project: &CompiledProject,
) -> Result<String> {
    if !args.propose {
        return Ok(String::new());
    }
    let role = models::find_role(&project.config, ARCHIVIST_ROLE).map_err(|_| {
        CliError::usage(format!(
            "--propose asks the role `{ARCHIVIST_ROLE}`, which ctxc.toml does not have"
        ))
        .with_hint(format!(
            "add `[roles.{ARCHIVIST_ROLE}]` with a `template` and a model of its own"
        ))
    })?;
    let inputs = BTreeMap::from([
        ("scenario".to_owned(), text.into()),
        ("answer".to_owned(), answer.into()),
    ]);
    if let Some(path) = &args.script {
        return proposal_comments(
            &ask_archivist(role, &script::read_script_file(path)?, &inputs, project)?,
            text,
        );
    }
    trust::require_permission(project, &args.trust, "asking a model")?;
    let models = ModelCalls::new(
        &project.config,
        SpendLimit {
            tokens: None,
            usd: role.budget.usd.as_ref().map(|usd| usd.value),
        },
        None,
    );
    proposal_comments(&ask_archivist(role, &models, &inputs, project)?, text)
}

/// Requests the proposals from the role.
fn ask_archivist(
    role: &Role,
    answers: &dyn AnswerBackend,
    inputs: &BTreeMap<String, Value>,
    project: &CompiledProject,
) -> Result<Value> {
    let bug = |why: String| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("the archivist cannot be asked: {why}"),
        )
    };
    let registry = project.config.compile(PROPOSAL_TEMPLATE).map_err(bug)?;
    let graph = TaskGraph::load(&registry, PROPOSAL_TASK)?
        .ok_or_else(|| bug(format!("there is no task `{PROPOSAL_TASK}`")))?;
    // The role only proposes, so it has no tools.
    let mut role = Role {
        tools: None,
        ..role.clone()
    };
    PROPOSAL_TASK.clone_into(&mut role.task.value);
    let situation = RunSituation {
        role: Some(&role),
        ..RunSituation::new(PROPOSAL_TASK, inputs)
    };
    let counters = ProjectCounters::new(&project.config, None)?;
    let models = Some(counters.model_settings(&project.config));
    let options = Options {
        counter: counters.default_counter(),
        models,
        ..Options::default()
    };
    let flow = TaskFlow::new(&graph, situation, &options)?;
    let trace = TraceWriter::new(
        String::new(),
        None,
        redactor(project)?,
        RunJournal::default(),
    );
    let commands = ProjectCommands::new(project, false);
    let runner = Runner::new(RunnerParts {
        options,
        providers: Some(&project.config.providers),
        answers,
        tools: &NoTools,
        commands: &commands,
        subtasks: &NoSubtasks,
        trace: &trace,
        limits: RunLimits::default(),
        clock: || None,
    });
    let outcome = runner.run(&TaskFrame::new(&graph, situation, &flow));
    outcome.result.map(|result| result.content).ok_or_else(|| {
        let why = outcome.obstacle.map_or_else(String::new, |why| {
            let kind = if why.kind == ObstacleKind::Provider {
                "its provider failed: "
            } else {
                ""
            };
            format!("{kind}{}", why.note)
        });
        no_proposal_error(&why)
    })
}

fn no_proposal_error(why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("the archivist proposes nothing: {why}"),
    )
    .with_hint("without --propose the scenario is written as it is")
}

/// Returns a proposal as comments, without invalid expectations.
fn proposal_comments(proposal: &Value, text: &str) -> Result<String> {
    let word = |key: &str| {
        proposal
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let fits = |one: &&Value| {
        let probe = format!(
            "name: p\ntask: p\n{}context:\n  objective: p\nexpectations:\n  - {}\n",
            if is_run_scenario(text) {
                "run: true\n"
            } else {
                ""
            },
            json_line(one)
        );
        scenario::read_suite("p.yaml", &probe).1.is_empty()
    };
    let all = proposal
        .get("expectations")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let good: Vec<&Value> = all.iter().filter(fits).collect();
    if good.is_empty() && word("reason").is_empty() {
        return Err(no_proposal_error(
            "its answer has neither `reason` nor an expectation that scenarios have",
        ));
    }
    let mut out = format!(
        "# Proposed by the role `{ARCHIVIST_ROLE}`; nothing of it holds before somebody takes it over.\n"
    );
    // One line each, regardless of their contents. A write to a string cannot fail.
    for key in ["name", "reason"] {
        let _ = writeln!(out, "# {key}: {}", json_line(&Value::from(word(key))));
    }
    let _ = writeln!(out, "# expectations:");
    for one in &good {
        let _ = writeln!(out, "#   - {}", json_line(one));
    }
    if good.len() < all.len() {
        let _ = writeln!(
            out,
            "# ({} more left out: no expectation that scenarios know)",
            all.len() - good.len()
        );
    }
    Ok(out)
}

/// Returns JSON in one line, without any YAML line break; invisible characters are replaced by
/// spaces too.
fn json_line(json: &Value) -> String {
    json.to_string().replace(
        |c: char| is_hostile(c) || matches!(c, '\u{fffe}' | '\u{ffff}'),
        " ",
    )
}

fn is_run_scenario(text: &str) -> bool {
    text.lines().any(|line| line == "run: true")
}
