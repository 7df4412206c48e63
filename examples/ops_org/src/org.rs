//! The team at work: alerts in, what was done about them and what goes wrong too often out.

use crate::Alert;
use crate::context::segments;
use crate::stages::OnCall;
use crate::tools::{Console, Systems, registry};
use ctxc::runtime::{
    AgentContext, AgentOutput, Amounts, Answer, Batch, BatchReport, BudgetAccount, BudgetPolicy,
    FailurePattern, Finding, HistoryBackend, Obstacle, PatternLimit, PatternScope, Pipeline,
    ProviderError, QualityAnalyzer, RestartIntensity, Task, TaskSource, Turn, Visit, tool_loop,
};
use ctxc::{Message, Options, assemble_segments};
use std::time::Duration;

/// What became of a batch: its report, what went wrong more than once, and the tasks that remedy that.
pub type Worked = (BatchReport, Vec<Finding>, Vec<Task<Alert>>);

/// Who answers. It is given the messages, and the calls of tools so far.
pub type Model<'m> = dyn Fn(&Visit, &[Message], &[Turn]) -> Result<Answer, ProviderError> + 'm;

/// The failures that the team knows.
pub fn patterns() -> Vec<FailurePattern> {
    let batch = |name: &str, limit: PatternLimit, remediation: &str| {
        FailurePattern::new(name, limit, PatternScope::Batch, remediation)
    };
    let storm = batch(
        "alert-storm",
        PatternLimit::Sum {
            unit: "alerts".to_owned(),
            from: 5.0,
        },
        "group the alerts of one cause",
    );
    vec![
        FailurePattern {
            within: Some(Duration::from_secs(600)),
            ..storm
        },
        batch(
            "stale-runbook",
            PatternLimit::Count(1),
            "bring the runbook up to date",
        ),
        batch(
            "escalation-cascade",
            PatternLimit::Count(2),
            "give the team a way to mend this itself",
        ),
        batch(
            "false-rollback",
            PatternLimit::Count(1),
            "say in the runbook what a rollback does not mend",
        ),
        batch(
            "context-drift",
            PatternLimit::Count(1),
            "accept the new context or restore the old one",
        ),
    ]
}

/// The team: who answers, what its tools reach, and what its runbooks say.
pub struct Team<'t> {
    /// Who answers.
    pub model: &'t Model<'t>,
    /// What the tools reach.
    pub systems: &'t dyn Systems,
    /// The runbook of a service.
    pub runbook: &'t dyn Fn(&str) -> String,
}

impl Team<'_> {
    /// Answers alerts, ten in an hour at most.
    ///
    /// # Errors
    /// The source or the history cannot be used.
    pub fn work(
        &self,
        source: &mut dyn TaskSource<Alert>,
        history: &mut dyn HistoryBackend,
        clock: &dyn Fn() -> Duration,
    ) -> Result<Worked, Obstacle> {
        let period = Duration::from_secs(3600);
        let max_cost_per_period = Amounts::from([("alerts".to_owned(), 10.0)]);
        let mut budget = BudgetAccount::new(BudgetPolicy::RollingWindow {
            period,
            max_cost_per_period,
        });
        let mut intensity = RestartIntensity::new(5, Duration::from_secs(600));
        let pipeline = Pipeline::new(OnCall);
        let mut batch = Batch {
            pipeline: &pipeline,
            source,
            workspaces: &(),
            history,
            budget: &mut budget,
            intensity: &mut intensity,
            max_attempts: 1,
            clock,
        };
        let report =
            batch.run(&mut |task, context, amounts| self.play(&task.payload, context, amounts))?;
        let propose = |finding: &Finding| Alert {
            service: "on-call".to_owned(),
            says: finding.remediation.clone(),
        };
        let analyzer = QualityAnalyzer::new("ops", patterns(), propose);
        let findings = analyzer.analyze(&report.outcomes);
        let remedies = analyzer.remedies(&findings);
        Ok((report, findings, remedies))
    }

    /// One visit of a stage.
    fn play(
        &self,
        alert: &Alert,
        context: &AgentContext<'_>,
        amounts: &mut Amounts,
    ) -> Result<AgentOutput, Obstacle> {
        let stage = context.visit.stage.as_str();
        let runbook = (self.runbook)(&alert.service);
        let options = Options {
            budget: Some(4_000),
            ..Options::default()
        };
        let assembly = assemble_segments(stage, segments(context, alert, &runbook), &options);
        let assembly = assembly.map_err(|why| Obstacle::new("context", why.to_string()))?;
        let ask = |turns: &[Turn]| (self.model)(context.visit, &assembly.messages, turns);
        let answer = tool_loop(&registry(stage)?, &mut Console(self.systems), 4, ask)?;
        let output = AgentOutput::read(&answer.content());
        let text = output.text();
        // An alert counts once it is dealt with.
        if matches!(stage, "verify" | "page") || text.starts_with("harmless") {
            amounts.insert("alerts".to_owned(), 1.0);
        }
        match stage {
            "verify" if text.starts_with("not") => Err(Obstacle::new("false_rollback", text)),
            "page" if text.starts_with("nobody") => Err(Obstacle::new("escalation_cascade", text)),
            _ if text.contains("runbook is wrong") => Err(Obstacle::new("stale_runbook", text)),
            _ => Ok(output),
        }
    }
}
