//! The manifest as data, in the order in which its keys are written.

use crate::kernel::assembler::Deferred;
use crate::kernel::context::{Kind, Origin, Stability, Trust};
use crate::kernel::sampling::Sampled;
use crate::settings::data::SettingsData;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The value of the key `schema`.
pub const MANIFEST_SCHEMA: &str = "ctxc/manifest/1";

/// What every agent of a project would receive, known before any run: `ctxc manifest --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// The format.
    pub schema: String,
    /// The hash of the registry that it was made from.
    pub registry_hash: String,
    /// One for each agent: those of roles by role, then those of tasks that no role plays by task; in document order within each.
    pub entries: Vec<Entry>,
}

/// What one agent would receive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The agent role; null for a task alone.
    pub role: Option<String>,
    /// The name of the task.
    pub task: String,
    /// The agent inside it, through references where it uses others; `/` is the task itself.
    pub node: String,
    /// When the agent is called at all; null where that depends on nothing.
    pub condition: Option<String>,
    /// The model, by the project's own name; null where it has none for this agent.
    pub model: Option<String>,
    /// How it came to the model; null where there is none.
    #[serde(default)]
    pub routing: Option<Routing>,
    /// How the model is asked to answer, and who says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampling: Vec<Sampled>,
    /// How its segments look.
    #[serde(default = "markdown")]
    #[cfg_attr(feature = "cli", schemars(extend("enum" = crate::kernel::profile::Profile::WORDS)))]
    pub profile: Cow<'static, str>,
    /// Who counted the tokens.
    pub tokenizer: Tokenizer,
    /// What the agent would receive, in the order of the sources.
    pub segments: Vec<Part>,
    /// What of the context around it cannot be known before it has run, and is no segment of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<Deferred>,
    /// The defaults of parameters that its segments wait for: their values where a caller hands in no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<DefaultValue>,
    /// What it may be shown that is made of something from outside and that the author says was checked (`trust="trusted"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// The settings that decided it.
    pub settings: Option<SettingsData>,
    /// Which tools it may use; null where no role says.
    pub tool_policy: Option<ToolPolicy>,
    /// Patterns of paths that its tools may not touch.
    pub protected_paths: Vec<String>,
    /// What it may use up.
    pub budget: Budget,
    /// US$ for what is sent in one call; null where no price is known.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// How many of the segments, as they stand, are in front that a provider's cache can reuse from call to call.
    #[serde(default)]
    pub prefix_segments: usize,
    /// Tokens in front that a provider's cache can reuse from call to call.
    pub prefix_tokens: usize,
    /// Tokens in all.
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
    /// Its value, as the template has it.
    pub value: String,
}

/// How an agent came to its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Routing {
    /// Why it is this model, in words.
    pub reason: String,
    /// What its provider calls it.
    pub id: String,
    /// The provider.
    pub provider: String,
    /// How able it is, in the project's judgement.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = crate::project::roles::Tier::WORDS)))]
    pub tier: String,
    /// The models behind it, in order, for when its provider fails.
    pub fallback: Vec<String>,
}

/// US$ for what is sent in one call; what is answered costs more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Cost {
    /// For what is known, with the defaults of parameters, when nothing was sent before.
    pub first: f64,
    /// For the same, when the provider's cache still has the reusable prefix.
    pub again: f64,
    /// At the most that the context can have; null where nothing bounds it.
    pub most: Option<f64>,
}

/// Who counted the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Tokenizer {
    /// Its name.
    pub name: String,
    /// Whether its figures are those of the vendor's own tokenizer.
    pub exact: bool,
}

/// A block of context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Part {
    /// Names it within its entry, such as `system` or `file:docs/runbook.md`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Whose turn it is when room runs out: the greatest is cut or dropped first; 0 and 1 never.
    pub priority: u8,
    /// `untrusted` where it is fenced and gives no orders; left out where it is trusted.
    #[serde(default, skip_serializing_if = "Trust::is_trusted")]
    pub trust: Trust,
    /// Where it stands, from 0; null where the budget leaves no room for it.
    pub position: Option<usize>,
    /// How long it stays the same from call to call.
    pub stability: Stability,
    /// Where what is known of its text comes from, each source once.
    pub source: Vec<Source>,
    /// When it is there at all; null where that depends on nothing.
    pub condition: Option<String>,
    /// Values and results that it waits for; none where its text is known.
    pub variable: Vec<String>,
    /// Tokens of what is known of it, its heading and fences included; where it waits for something, the least that it has when it is there whole.
    pub tokens: usize,
    /// Tokens that this would have if the budget did not cut or drop it; not there where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncut: Option<usize>,
    /// The least tokens of any run: none where it may not be there, or may have to go for what is not known.
    #[serde(default)]
    pub least: usize,
    /// The most tokens of any run; null where nothing bounds it.
    pub bound: Option<usize>,
    /// The hash of what is known of its text.
    pub hash: String,
}

/// Where text comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// The name of the definition, value or step, or the file's path.
    pub name: String,
    /// The file, relative to the project; null for values and results.
    pub path: Option<String>,
    /// The hash of what is of it in the segment: which of several sources moved.
    pub hash: String,
}

/// What text comes from.
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
    /// The parent's context, as handed in.
    Parent,
    /// Something looked up.
    Match,
    /// Earlier turns or attempts.
    History,
}

/// Which tools an agent may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ToolPolicy {
    /// Tools that it may use: names, or how names begin with `*` behind.
    pub allowed: Vec<String>,
    /// Tools that it may not use although they are allowed.
    pub blocked: Vec<String>,
}

/// What an agent may use up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Budget {
    /// Tokens of its context; null for no limit.
    pub tokens: Option<usize>,
    /// US$ a call; null for no limit.
    pub usd: Option<f64>,
}

/// Tokens in all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Total {
    /// The least tokens of any run.
    #[serde(default)]
    pub least: usize,
    /// Tokens of what is known, where nothing has to go for what is not.
    pub fixed: usize,
    /// The same as the request goes out: with the defaults of parameters, for which a caller may hand in other values, and with the values of
    /// a first round. Absent where that is no other number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<usize>,
    /// The most tokens of any run; null where nothing bounds them.
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
            Origin::Frame => None,
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
