//! `[roles.NAME]` as read: what an agent role plays, says, may use and may spend. Plain data, each value with its place.

use super::glob::Globs;
use super::tools::ToolDefinition;
use crate::base::span::{Span, Spanned};
use crate::base::words::words;
use crate::kernel::context::Kind;
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kinds of segments whose place a role can fix: tools and what the system says always stand first.
pub const KINDS: &[&str] = match &Kind::WORDS {
    [_, _, others @ ..] => others,
};

/// An agent role of the project.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name, where it is defined.
    pub name: Spanned<String>,
    /// `template`: the task that it plays; the one of the role's own name where the key is absent.
    pub task: Spanned<String>,
    /// `description`: what it is for, for people.
    pub description: Option<String>,
    /// `system`: who the agent is, before what its task says of that.
    pub system: Option<SystemPrompt>,
    /// `tools` and `blocked_tools`; `None` where the role says nothing of tools.
    pub tools: Option<Tools>,
    /// `protected_paths`: patterns of paths that its tools may not touch, as written.
    pub protected_paths: Vec<Spanned<String>>,
    /// The same patterns, to ask of a path.
    pub protected: Globs,
    /// `budget`.
    pub budget: Budget,
    /// `model`, or what a model has to be.
    pub model: ModelChoice,
    /// `profile`: how its segments look, where its task does not say.
    pub profile: Option<Spanned<Profile>>,
    /// `order`: kinds of segments that stand before all others in their message, in this order; each one of [`KINDS`].
    pub order: Vec<Spanned<&'static str>>,
    /// How its model is asked to answer, where its task does not say otherwise.
    pub sampling: Sampling,
}

/// What a role says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPrompt {
    /// Where the key says it.
    pub span: Span,
    /// `file`, relative to the project; `None` where the text stands in the project file.
    pub file: Option<String>,
    /// The file that the text stands in, relative to the project.
    pub path: String,
    /// Lines of that file before the text.
    pub line: u32,
    /// The text, without the white space around it.
    pub text: String,
}

/// Which tools a role may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// `tools`: names, or how names begin where they end in `*`.
    pub allowed: Vec<Spanned<String>>,
    /// `blocked_tools`: refused even where they are allowed.
    pub blocked: Vec<Spanned<String>>,
    /// All tools that the project defines.
    pub defined: Arc<BTreeMap<String, ToolDefinition>>,
}

/// What a role may use up in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens of its context.
    pub tokens: Option<Spanned<u64>>,
    /// US$.
    pub usd: Option<Spanned<f64>>,
}

/// How a role comes to its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// `model`: these, the first that answers.
    Named(Vec<Spanned<String>>),
    /// `tier` and `capabilities`: the cheapest that has them.
    Least {
        /// The lowest tier that will do.
        tier: Option<Spanned<Tier>>,
        /// What it has to be able to do.
        capabilities: Vec<Spanned<String>>,
    },
    /// Nothing: what its task names, if anything.
    Open,
}

words! {
    /// How able a model is, in the project's own judgement.
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
    /// Returns whether its agents may call tools.
    pub fn has_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(Tools::permits_some)
    }
}

impl Tools {
    /// Returns whether some tool may be used, be it defined in the project or handed in by a host.
    fn permits_some(&self) -> bool {
        let is_open = |entry: &Spanned<String>| match entry.value.strip_suffix('*') {
            Some(prefix) => {
                let mut blocked = self.blocked.iter().filter_map(|blocked| blocked.value.strip_suffix('*'));
                !blocked.any(|blocked| prefix.starts_with(blocked))
            }
            None => self.permits(&entry.value),
        };
        self.allowed.iter().any(is_open)
    }

    /// Whether a tool may be used: it is allowed, and nothing blocks it.
    pub fn permits(&self, tool: &str) -> bool {
        let fits = |entries: &[Spanned<String>]| entries.iter().any(|entry| covers(&entry.value, tool));
        fits(&self.allowed) && !fits(&self.blocked)
    }

    /// The definitions that its agent is given: in the order of `tools`, those of a pattern in the order of their names.
    pub fn given(&self) -> Vec<&ToolDefinition> {
        let mut given: Vec<&ToolDefinition> = Vec::new();
        for entry in &self.allowed {
            let fits = |tool: &&ToolDefinition| covers(&entry.value, &tool.name) && self.permits(&tool.name);
            let found: Vec<_> = self.defined.values().filter(fits).filter(|tool| !given.contains(tool)).collect();
            given.extend(found);
        }
        given
    }
}

/// True if an entry of `tools` is about a tool, or about each of another entry: it is its name, or how its name begins.
pub fn covers(entry: &str, tool: &str) -> bool {
    entry.strip_suffix('*').map_or(entry == tool, |prefix| tool.starts_with(prefix))
}
