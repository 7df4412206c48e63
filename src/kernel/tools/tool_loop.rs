//! The loop of calls and tool calls: each tool result becomes part of the next request.
//!
//! Independent of the source of answers and of the tools. Every call passes the gate.

use super::tool_registry::{ToolRegistry, ToolRunner};
use crate::kernel::conversation::{Part, Speaker, Turn};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{Answer, ProviderError};

/// Runs the loop with at most `most` calls. `ask` receives the messages since the first request:
/// tool calls and their results. A refused call, or one of an unknown tool, yields a result with
/// the reason, which the agent reads.
///
/// ```
/// use ctxc::runtime::{Answer, ApprovedAction, Part, Stop, ToolCall, ToolPolicy, ToolRegistry, ToolResult, ToolRunner, Usage, tool_loop};
///
/// struct Nothing;
///
/// impl ToolRunner for Nothing {
///     fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult {
///         ToolResult::new(&action.action().id, "")
///     }
/// }
///
/// let call = ToolCall { id: "1".into(), name: "rm".into(), arguments: serde_json::json!({}) };
/// let answer = |part: Part| Answer::new(vec![part], Stop::End, Usage::default(), None);
/// let tools = ToolRegistry::new(ToolPolicy::default());
/// let last = tool_loop(&tools, &mut Nothing, 2, |turns| {
///     Ok(if turns.is_empty() { answer(Part::Call(call.clone())) } else { answer(Part::Text(turns[1].text_form().text)) })
/// })?;
/// assert_eq!(last.content(), "[error 1] there is no tool `rm`");
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// # Errors
/// No answer is available, or the last one still contains tool calls.
pub fn tool_loop(
    tools: &ToolRegistry,
    runner: &mut impl ToolRunner,
    most: u32,
    mut ask: impl FnMut(&[Turn]) -> Result<Answer, ProviderError>,
) -> Result<Answer, Obstacle> {
    let mut turns = Vec::new();
    for _ in 0..most {
        let answer = ask(&turns)?;
        let results: Vec<Part> = answer
            .tool_calls()
            .map(|call| Part::Result(tools.run(call.clone(), runner)))
            .collect();
        if results.is_empty() {
            return Ok(answer);
        }
        turns.push(answer.turn);
        turns.extend(results.into_iter().map(|result| Turn {
            speaker: Speaker::Tool,
            parts: vec![result],
        }));
    }
    let note = format!("it still called tools in answer {most}, the last that it may give");
    Err(Obstacle {
        kind: ObstacleKind::Tool,
        note,
    })
}

/// Converts a failed call of a provider.
impl From<ProviderError> for Obstacle {
    fn from(error: ProviderError) -> Self {
        let kind = if matches!(error, ProviderError::OverBudget { .. }) {
            ObstacleKind::Budget
        } else {
            ObstacleKind::Provider
        };
        Self {
            kind,
            note: error.to_string(),
        }
    }
}
