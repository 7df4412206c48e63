//! The output of an agent, and the subtask that it may request.
//!
//! Output is never trusted: a subtask in it is only a request.

use super::outcome::{Obstacle, ObstacleKind, Visit};
use crate::kernel::context::Trust;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// How an agent ended its stage.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Status {
    /// The task is done.
    #[default]
    Complete,
    /// The agent needs the result of a subtask first.
    Continuation,
    /// The agent waits for a person or system outside the pipeline.
    Waiting,
    /// The agent could not do the task.
    Failed,
}

/// The output of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(extend("additionalProperties" = true)))]
#[serde(deny_unknown_fields)]
pub struct AgentOutput {
    /// The status at the end.
    pub status: Status,
    /// The result: JSON if it was JSON, else text.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub content: Value,
    /// Notes for later stages, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// With the status `CONTINUATION`: the subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_request: Option<SubtaskRequest>,
    /// The trust of the output, by everything that the agent was shown or given while it ran.
    /// Neither read from an answer nor written.
    #[serde(skip)]
    pub trust: Trust,
}

/// A subtask that an agent requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(extend("additionalProperties" = true)))]
#[serde(deny_unknown_fields)]
pub struct SubtaskRequest {
    /// The operator or kind, such as `atomic`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The task to be done.
    pub description: String,
    /// Values of the inputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Value>,
    /// Definitions that may suit, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template_hints: Vec<String>,
    /// Context settings of its own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context_management: BTreeMap<String, Value>,
    /// The maximum depth of subtasks below this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// The subtype of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// Files that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_paths: Vec<String>,
}

impl AgentOutput {
    /// A successful result.
    pub fn complete(content: impl Into<Value>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }

    /// A failed result; the content gives the reason.
    pub fn failed(content: impl Into<Value>) -> Self {
        Self {
            status: Status::Failed,
            ..Self::complete(content)
        }
    }

    /// The same output with notes for later stages.
    #[must_use]
    pub fn with_notes(self, notes: impl Into<String>) -> Self {
        Self {
            notes: Some(notes.into()),
            ..self
        }
    }

    /// Parses an answer. A JSON object with a valid [`Status`], in upper or lower case, and only
    /// the keys of this type is taken as such a result; any other JSON or text is the content of a
    /// successful result. An incomplete request for a subtask yields a failed result.
    ///
    /// ```
    /// use ctxc::runtime::{AgentOutput, Status};
    ///
    /// let failed = AgentOutput::read(r#"{"status": "failed", "content": "no such host"}"#);
    /// assert_eq!((failed.status, failed.text().as_ref()), (Status::Failed, "no such host"));
    /// assert_eq!(AgentOutput::read("plain words"), AgentOutput::complete("plain words"));
    /// ```
    pub fn read(answer: &str) -> Self {
        Self::parse(answer).unwrap_or_else(Self::failed)
    }

    /// Parses an answer as [`read`](Self::read) does.
    ///
    /// # Errors
    /// The answer has the keys of a result but an invalid value for one of them, or requests a
    /// subtask incompletely: a lower-case fragment.
    pub fn parse(answer: &str) -> Result<Self, String> {
        let is_json = matches!(
            answer.trim_start().bytes().next(),
            Some(b'{' | b'[' | b'"' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n')
        );
        let Some(value) = is_json
            .then(|| serde_json::from_str::<Value>(answer).ok())
            .flatten()
        else {
            return Ok(Self::complete(answer));
        };
        let Some(status) = value.as_object().and_then(status_of_result) else {
            return Ok(Self::complete(value));
        };
        let mut result = value.clone();
        if let Some(own) = result.get_mut("status") {
            *own = Value::String(status.clone());
        }
        let result: Self = match serde_json::from_value(result) {
            Ok(result) => result,
            Err(_) if status == "COMPLETE" => return Ok(Self::complete(value)),
            Err(why) => return Err(format!("a result with the status {status}: {why}")),
        };
        if result.status == Status::Continuation && result.subtask_request.is_none() {
            return Err("the status CONTINUATION without a `subtask_request`".to_owned());
        }
        Ok(result)
    }

    /// The agent's own reason for not finishing: its notes, else its content.
    pub(crate) fn obstacle(&self, kind: ObstacleKind, visit: &Visit) -> Obstacle {
        let words = self
            .notes
            .as_deref()
            .map_or_else(|| self.text(), Into::into);
        let note = if words.is_empty() {
            format!("`{}` gave no reason", visit.stage)
        } else {
            words.into_owned()
        };
        Obstacle { kind, note }
    }

    /// The content as text: a string as it is, other JSON in its JSON form.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.content {
            Value::String(text) => text.as_str().into(),
            Value::Null => "".into(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string().into()
            }
        }
    }
}

/// Keys of a result.
const RESULT_KEYS: [&str; 4] = ["status", "content", "notes", "subtask_request"];

/// The status of a result object in capitals: the object has no other keys, and its status is
/// valid.
fn status_of_result(object: &serde_json::Map<String, Value>) -> Option<String> {
    let is_result = object.keys().all(|key| RESULT_KEYS.contains(&key.as_str()));
    let status = object
        .get("status")
        .filter(|_| is_result)?
        .as_str()?
        .to_ascii_uppercase();
    serde_json::from_value::<Status>(status.as_str().into())
        .is_ok()
        .then_some(status)
}
