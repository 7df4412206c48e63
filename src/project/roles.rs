//! `[roles.NAME]` as read: the task, system text, tools, model and budget of an agent role. Plain
//! data, each value with its span.

use super::glob::Globs;
use super::tools::ProjectTool;
use crate::base::span::{Span, Spanned};
use crate::base::words::words;
use crate::kernel::context::Kind;
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kinds of segments whose order a role can set; tools and the system text always come first.
pub const ORDERABLE_KINDS: &[&str] = match &Kind::WORDS {
    [_, _, others @ ..] => others,
};

/// An agent role of the project.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name, with the span of its definition.
    pub name: Spanned<String>,
    /// `template`: its task; the task of the role's own name if the key is absent.
    pub task: Spanned<String>,
    /// `extends`: the role of a package whose keys it has unless it has its own.
    pub extends: Option<Spanned<String>>,
    /// `description`: a description for readers.
    pub description: Option<String>,
    /// `system`: the text about the agent that precedes its task's own.
    pub system: Option<SystemPrompt>,
    /// `tools` and `blocked_tools`; `None` if the role has neither key.
    pub tools: Option<RoleTools>,
    /// `protected_paths`: patterns of paths that its tools may not touch, as written.
    pub protected_paths: Vec<Spanned<String>>,
    /// The same patterns, compiled.
    pub protected: Globs,
    /// `budget`.
    pub budget: RoleBudget,
    /// `model`, or the requirements for a model.
    pub model: ModelChoice,
    /// `profile`: the format of its segments, unless its task sets one.
    pub profile: Option<Spanned<Profile>>,
    /// `order`: kinds of segments that precede all others in their message, in this order; each is
    /// one of [`ORDERABLE_KINDS`].
    pub order: Vec<Spanned<&'static str>>,
    /// The sampling parameters, unless its task sets others.
    pub sampling: Sampling,
}

/// The system text of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The span of the key's value.
    pub span: Span,
    /// `file`, relative to the project; `None` if the text is in the project file.
    pub file: Option<String>,
    /// The file that contains the text, relative to the project.
    pub path: String,
    /// The number of lines in that file before the text.
    pub line: u32,
    /// The text, without the white space around it.
    pub text: String,
}

/// The tools of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleTools {
    /// `tools`: names, or prefixes of names if they end in `*`.
    pub allowed: Vec<Spanned<String>>,
    /// True if `tools` is written, even without an entry.
    pub is_explicit: bool,
    /// `blocked_tools`: blocked even if they are allowed.
    pub blocked: Vec<Spanned<String>>,
    /// All tools that the project defines.
    pub defined: Arc<BTreeMap<String, ProjectTool>>,
}

/// The maximum consumption of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleBudget {
    /// Tokens of its context.
    pub tokens: Option<Spanned<u64>>,
    /// US$.
    pub usd: Option<Spanned<f64>>,
}

/// The way in which a role selects its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// `model`: the first of these that answers.
    Named(Vec<Spanned<String>>),
    /// `tier` and `capabilities`: the cheapest model that meets them.
    Cheapest {
        /// The lowest acceptable tier.
        tier: Option<Spanned<Tier>>,
        /// The required capabilities.
        capabilities: Vec<Spanned<String>>,
    },
    /// No requirement: the model of its task, if that names one.
    Open,
}

words! {
    /// The tier of a model, as the project rates it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Tier {
        /// `economy`.
        Economy = "economy",
        /// `standard`.
        Standard = "standard",
        /// `standard_plus`.
        StandardPlus = "standard_plus",
        /// `premium`.
        Premium = "premium",
    }
}

impl Role {
    /// Returns true if its agents may call tools.
    pub fn has_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(RoleTools::permits_some)
    }
}

impl RoleTools {
    /// Returns true if any tool may be used, from the project or from a host.
    fn permits_some(&self) -> bool {
        let is_open = |entry: &Spanned<String>| match entry.value.strip_suffix('*') {
            Some(prefix) => {
                let mut blocked = self
                    .blocked
                    .iter()
                    .filter_map(|blocked| blocked.value.strip_suffix('*'));
                !blocked.any(|blocked| prefix.starts_with(blocked))
            }
            None => self.permits(&entry.value),
        };
        self.allowed.iter().any(is_open)
    }

    /// True if a tool is allowed and not blocked.
    pub fn permits(&self, tool: &str) -> bool {
        let fits = |entries: &[Spanned<String>]| {
            entries.iter().any(|entry| matches_tool(&entry.value, tool))
        };
        fits(&self.allowed) && !fits(&self.blocked)
    }

    /// The definitions passed to its agent: in the order of `tools`, those of a pattern ordered by
    /// name.
    pub fn agent_definitions(&self) -> Vec<&ProjectTool> {
        let mut given: Vec<&ProjectTool> = Vec::new();
        for entry in &self.allowed {
            let fits = |tool: &&ProjectTool| {
                matches_tool(&entry.value, &tool.name) && self.permits(&tool.name)
            };
            let found: Vec<_> = self
                .defined
                .values()
                .filter(fits)
                .filter(|tool| !given.contains(tool))
                .collect();
            given.extend(found);
        }
        given
    }
}

/// True if an entry of `tools` matches a tool, or all tools of another entry: it is the name, or a
/// prefix of it.
pub fn matches_tool(entry: &str, tool: &str) -> bool {
    entry
        .strip_suffix('*')
        .map_or(entry == tool, |prefix| tool.starts_with(prefix))
}
