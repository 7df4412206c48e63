//! The team at work: what happens in each stage, and a batch of tasks with its analysis.

use crate::context::segments;
use crate::stages::Team;
use crate::tools::{Workbench, git, registry, run_tests};
use ctxc::runtime::{
    AgentContext, AgentOutput, Amounts, Answer, Batch, BatchReport, BudgetAccount, BudgetPolicy,
    FailurePattern, Finding, HistoryBackend, Obstacle, Pipeline, ProviderError, QualityAnalyzer,
    RestartIntensity, Status, Task, TaskSource, ToolRegistry, Turn, Visit, WorkspaceProvider,
    tool_loop,
};
use ctxc::{Message, Options, assemble_segments};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Who answers: a client of some provider, a recording, a script. It is given the messages, and the calls of tools so far.
pub type Model<'m> = dyn Fn(&Visit, &[Message], &[Turn]) -> Result<Answer, ProviderError> + 'm;
/// Tokens that a context may have.
const CONTEXT: usize = 8_000;
/// Answers that a role may give before it has to be done.
const ANSWERS: u32 = 8;

/// The patterns of the team.
///
/// # Errors
/// The file is not what it should be.
pub fn patterns() -> Result<Vec<FailurePattern>, Obstacle> {
    serde_json::from_str(include_str!("../patterns.json"))
        .map_err(|why| Obstacle::new("source", why.to_string()))
}

/// What became of a batch: its report, what went wrong more than once, and the tasks that remedy that.
pub type Worked = (BatchReport, Vec<Finding>, Vec<Task<Value>>);

/// Works tasks off, and says what went wrong more than once: the findings, and the tasks that remedy them.
///
/// # Errors
/// The source, the history or a workspace cannot be used.
pub fn work(
    source: &mut dyn TaskSource<Value>,
    workspaces: &dyn WorkspaceProvider,
    history: &mut dyn HistoryBackend,
    clock: &dyn Fn() -> Duration,
    model: &Model<'_>,
) -> Result<Worked, Obstacle> {
    let max_cost = Amounts::from([("tokens".to_owned(), 200_000.0), ("usd".to_owned(), 5.0)]);
    let mut budget = BudgetAccount::new(BudgetPolicy::BatchWindow {
        max_tasks: Some(20),
        max_cost,
    });
    let mut intensity = RestartIntensity::new(3, Duration::from_secs(600));
    let tools = registry()?;
    let pipeline = Pipeline::new(Team);
    let mut batch = Batch {
        pipeline: &pipeline,
        source,
        workspaces,
        history,
        budget: &mut budget,
        intensity: &mut intensity,
        max_attempts: 2,
        clock,
    };
    let report = batch.run(&mut |task, context, amounts| {
        Stage {
            task,
            context,
            tools: &tools,
            model,
        }
        .play(amounts)
    })?;
    let propose = |finding: &Finding| Value::from(finding.remediation.as_str());
    let analyzer = QualityAnalyzer::new("eng", patterns()?, propose);
    let findings = analyzer.analyze(&report.outcomes);
    let remedies = analyzer.remedies(&findings);
    Ok((report, findings, remedies))
}

/// One visit of a stage.
struct Stage<'s> {
    task: &'s Task<Value>,
    context: &'s AgentContext<'s>,
    tools: &'s ToolRegistry,
    model: &'s Model<'s>,
}

impl Stage<'_> {
    fn play(&self, amounts: &mut Amounts) -> Result<AgentOutput, Obstacle> {
        let visit = self.context.visit;
        let folder = self
            .context
            .workspace
            .ok_or_else(|| Obstacle::new("workspace", "the team works in a worktree"))?;
        match visit.stage.as_str() {
            "index" => Ok(AgentOutput::complete(git(folder, &["ls-files"])?)),
            "test" if visit.number == 1 => tested(folder),
            "test" => {
                self.ask(folder, amounts)?;
                tested(folder)
            }
            "release" => {
                let said = self.ask(folder, amounts)?;
                git(folder, &["add", "--all"])?;
                let author = [
                    "-c",
                    "user.name=release",
                    "-c",
                    "user.email=release@example.com",
                ];
                git(
                    folder,
                    &[
                        &author[..],
                        &["commit", "--quiet", "--message", &said.text()],
                    ]
                    .concat(),
                )?;
                Ok(said)
            }
            "triage" => Ok(rejected(self.ask(folder, amounts)?)),
            _ => self.ask(folder, amounts),
        }
    }

    /// Asks the role of the stage until it calls no tools.
    fn ask(&self, folder: &Path, amounts: &mut Amounts) -> Result<AgentOutput, Obstacle> {
        let segments = segments(self.context, self.task.payload.as_str().unwrap_or_default())?;
        let options = Options {
            budget: Some(CONTEXT),
            ..Options::default()
        };
        let assembly = assemble_segments(&self.context.visit.stage, segments, &options);
        let assembly = assembly.map_err(|why| Obstacle::new("context", why.to_string()))?;
        let answer = tool_loop(self.tools, &mut Workbench(folder), ANSWERS, |turns| {
            let answer = (self.model)(self.context.visit, &assembly.messages, turns)?;
            let tokens = answer.usage.input.unwrap_or(0) + answer.usage.output.unwrap_or(0);
            *amounts.entry("tokens".to_owned()).or_insert(0.0) += tokens as f64;
            Ok(answer)
        })?;
        Ok(AgentOutput::read(&answer.content()))
    }
}

/// What the tests say: those that do not compile and those that fail now and then are other obstacles than those that fail.
fn tested(folder: &Path) -> Result<AgentOutput, Obstacle> {
    run_tests(folder)
        .map(AgentOutput::complete)
        .map_err(|(code, said)| match code {
            2 => Obstacle::new("compilation", said),
            75 => Obstacle::new("flaky_test", said),
            _ => Obstacle::new("test_failure", said),
        })
}

/// What the architect refuses has failed.
fn rejected(output: AgentOutput) -> AgentOutput {
    let is_refused = output.text().starts_with("refused");
    if is_refused {
        AgentOutput {
            status: Status::Failed,
            ..output
        }
    } else {
        output
    }
}
