//! The manifest as data, in the order in which its keys are written.

use crate::kernel::assembler::Deferred;
use crate::kernel::context::{Kind, Origin, Stability, Trust};
use crate::kernel::sampling::Sampled;
use crate::settings::data::SettingsData;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The value of the key `schema`.
pub const MANIFEST_SCHEMA: &str = "ctxc/manifest/1";

/// The context of every agent of a project, as known before any run: `ctxc manifest --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// The version of the format.
    pub schema: String,
    /// The hash of the registry that it was made from.
    pub registry_hash: String,
    /// One entry for each agent: those of roles by role, then those of tasks that no role plays by
    /// task; in document order within each.
    pub entries: Vec<Entry>,
}

/// The context of one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The agent role; null for a task alone.
    pub role: Option<String>,
    /// The name of the task.
    pub task: String,
    /// The agent inside it, through references if it uses others; `/` is the task itself.
    pub node: String,
    /// The condition under which the agent is called; null if it always is.
    pub condition: Option<String>,
    /// The model, by the project's own name; null if the agent has none.
    pub model: Option<String>,
    /// The choice of the model; null if there is none.
    #[serde(default)]
    pub routing: Option<Routing>,
    /// The sampling parameters of the model, each with its origin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampling: Vec<Sampled>,
    /// The profile that formats the segments.
    #[serde(default = "markdown")]
    #[cfg_attr(feature = "cli", schemars(extend("enum" = crate::kernel::profile::Profile::WORDS)))]
    pub profile: Cow<'static, str>,
    /// The tokenizer that counted the tokens.
    pub tokenizer: Tokenizer,
    /// The segments that the agent would receive, in the order of the sources.
    pub segments: Vec<Part>,
    /// Segments of the context around the agent that are unknown before it has run, and are left
    /// out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<Deferred>,
    /// The defaults of parameters that its segments wait for: their values unless a caller passes
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<DefaultValue>,
    /// Parts of its context that are made of outside data and that the author declares as checked
    /// (`trust="trusted"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// The settings that determined the context.
    pub settings: Option<SettingsData>,
    /// The tools that the agent may use; null if no role declares them.
    pub tool_policy: Option<ToolPolicy>,
    /// Patterns of paths that its tools may not touch.
    pub protected_paths: Vec<String>,
    /// The limits of the agent.
    pub budget: Budget,
    /// US$ for the input of one call; null if no price is known.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// The number of segments at the front that a provider's cache can reuse from call to call.
    #[serde(default)]
    pub prefix_segments: usize,
    /// Tokens of the prefix that a provider's cache can reuse from call to call.
    pub prefix_tokens: usize,
    /// The total of tokens.
    pub total: Total,
}

/// Older manifests do not record their profile and were made with this one.
const fn markdown() -> Cow<'static, str> {
    Cow::Borrowed("markdown")
}

/// The default of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct DefaultValue {
    /// The parameter.
    pub name: String,
    /// The value, as written in the template.
    pub value: String,
}

/// The choice of an agent's model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Routing {
    /// The reason for this model, in words.
    pub reason: String,
    /// The provider's name of the model.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// The capability of the model, in the project's judgement.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = crate::project::roles::Tier::WORDS)))]
    pub tier: String,
    /// The models to fall back to, in order, if its provider fails.
    pub fallback: Vec<String>,
}

/// US$ for the input of one call; the output costs more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Cost {
    /// The known text, with the defaults of parameters, if no call was made before.
    pub first: f64,
    /// The same text, if the provider's cache still has the reusable prefix.
    pub again: f64,
    /// The largest possible context; null if it has no upper bound.
    pub most: Option<f64>,
}

/// The tokenizer that counted the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Tokenizer {
    /// The name of the tokenizer.
    pub name: String,
    /// True if its figures are those of the vendor's own tokenizer.
    pub exact: bool,
}

/// A block of context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Part {
    /// The id within its entry, such as `system` or `file:docs/runbook.md`.
    pub id: String,
    /// The kind of the segment.
    pub kind: Kind,
    /// The order of omission when the budget is exceeded: the greatest number is cut or dropped
    /// first; 0 and 1 never.
    pub priority: u8,
    /// `untrusted` for text that is fenced and gives no orders; absent for trusted text.
    #[serde(default, skip_serializing_if = "Trust::is_trusted")]
    pub trust: Trust,
    /// The position, from 0; null if the segment does not fit into the budget.
    pub position: Option<usize>,
    /// The scope within which the text stays the same from call to call.
    pub stability: Stability,
    /// The sources of its known text, each once.
    pub source: Vec<Source>,
    /// The condition under which the segment is present; null if it always is.
    pub condition: Option<String>,
    /// Values and results that it waits for; none if its text is known.
    pub variable: Vec<String>,
    /// Tokens of its known text, with its heading and fences; for a segment that waits for values,
    /// the fewest tokens that it has uncut.
    pub tokens: usize,
    /// Tokens of this text before the budget cuts or drops it; absent if it does neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncut: Option<usize>,
    /// The fewest tokens in any run: 0 if the segment may be absent, or may be dropped in favour of
    /// text that is still unknown.
    #[serde(default)]
    pub least: usize,
    /// The most tokens in any run; null if there is no upper bound.
    pub bound: Option<usize>,
    /// The hash of its known text.
    pub hash: String,
}

/// A source of text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Source {
    /// The kind of the source.
    pub kind: SourceKind,
    /// The name of the definition, value or step, or the file's path.
    pub name: String,
    /// The file, relative to the project; null for values and results.
    pub path: Option<String>,
    /// The hash of its text in the segment; it shows which of several sources changed.
    pub hash: String,
}

/// Kinds of sources of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A task or function template.
    Template,
    /// A shared text.
    Fragment,
    /// A file.
    File,
    /// The JSON Schema of an answer.
    Schema,
    /// A value of the task.
    Input,
    /// The result of an earlier step.
    Result,
    /// The parent's context, as passed in.
    Parent,
    /// A passage that was looked up.
    Match,
    /// Earlier turns or attempts.
    History,
}

/// The tools that an agent may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ToolPolicy {
    /// Tools that it may use: names, or prefixes of names followed by `*`.
    pub allowed: Vec<String>,
    /// Tools that it may not use although they are allowed.
    pub blocked: Vec<String>,
}

/// The limits of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Budget {
    /// Tokens of its context; null for no limit.
    pub tokens: Option<usize>,
    /// US$ per call; null for no limit.
    pub usd: Option<f64>,
}

/// The total of tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Total {
    /// The fewest tokens in any run.
    #[serde(default)]
    pub least: usize,
    /// Tokens of the known text, if none of it is dropped in favour of unknown text.
    pub fixed: usize,
    /// Tokens of the known text as the request is sent: with the defaults of parameters, which a
    /// caller can replace, and with the values of a first round. Absent if the number is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<usize>,
    /// The most tokens in any run; null if there is no upper bound.
    pub bound: Option<usize>,
}

impl Total {
    /// Returns the tokens of the request as it is sent, which budgets and prices apply to.
    pub fn expected_tokens(&self) -> usize {
        self.estimate.unwrap_or(self.fixed)
    }
}

impl SourceKind {
    /// Returns the kind and the name of a stretch's source; `None` for text of ctxc itself.
    pub(super) fn from_origin(origin: &Origin) -> Option<(Self, &str)> {
        match origin {
            Origin::Template { task, .. } => Some((Self::Template, task)),
            Origin::Fragment { name, .. } => Some((Self::Fragment, name)),
            Origin::File { path, .. } => Some((Self::File, path)),
            Origin::Schema { path } => Some((Self::Schema, path)),
            Origin::Input { name } => Some((Self::Input, name)),
            Origin::Result { name } => Some((Self::Result, name)),
            Origin::Parent { id } => Some((Self::Parent, id)),
            Origin::Match { id } => Some((Self::Match, id)),
            Origin::History | Origin::Conversation => Some((Self::History, "history")),
            Origin::Generated => None,
        }
    }
}

impl Part {
    /// Returns true if a part of its text is known only in a run.
    pub const fn is_variable(&self) -> bool {
        !self.variable.is_empty()
    }
}

impl Entry {
    /// Returns the segments that stay, in their order.
    pub fn segments_in_order(&self) -> Vec<&Part> {
        let mut parts: Vec<&Part> = self
            .segments
            .iter()
            .filter(|part| part.position.is_some())
            .collect();
        parts.sort_by_key(|part| part.position);
        parts
    }

    /// Returns a label for people: the role that plays it, the task, and the node unless that is
    /// the task itself.
    pub fn title(&self) -> String {
        let node = if self.node == "/" { "" } else { &self.node };
        match &self.role {
            Some(role) => format!("{role}: {}{node}", self.task),
            None => format!("{}{node}", self.task),
        }
    }
}
