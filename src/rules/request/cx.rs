//! One request under check, with what its caller knows of it.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::RuleMeta;
use crate::base::span::Span;
use crate::kernel::conversation::Part;
use crate::project::config::Config;
use crate::request::dialect::Dialect;
use crate::request::model::{Placed, Request};
use crate::request::places::Places;
use crate::request::prompt_cache::Reuse;
use crate::request::public_models::{PublicModel, public_model};
use std::ops::Range;
use std::sync::Arc;

/// One request under check.
#[derive(Clone, Copy, Debug)]
pub struct RequestCx<'a> {
    /// The file that it stands in.
    pub path: &'a Arc<str>,
    /// The text that spans are in.
    pub text: &'a str,
    /// Where the body begins in it.
    pub offset: usize,
    /// Where its values stand, once somebody asked.
    pub places: Option<&'a Places<'a>>,
    /// The request.
    pub request: &'a Request,
    /// The call before it in its conversation.
    pub before: Option<&'a Request>,
    /// What a prompt cache reuses of it, where a call is before it.
    pub reuse: Option<&'a Reuse>,
    /// Tokens of tools and system text that another conversation of its agent began with as well; `None` where none did, or nobody counted.
    pub shared_front: Option<u64>,
    /// What is known of its model; nothing of one that nobody knows.
    pub model: ModelFacts,
    /// Tokens of it, as its vendor reported them or a counter knows them exactly.
    pub input_tokens: Option<u64>,
    /// Whether its vendor answered it with success. Scripted and replayed answers do not count.
    pub was_answered: bool,
}

/// What is known of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Tokens that it takes.
    pub window: Option<u64>,
    /// Facts of a public model.
    pub public: Option<&'static PublicModel>,
}

impl ModelFacts {
    /// Those of a model by its vendor's name: what the project says, else what is public.
    pub fn of(config: &Config, model: Option<&str>) -> Self {
        let Some(model) = model else { return Self::default() };
        let public = public_model(model);
        let own = config.models.values().find(|own| own.id == model);
        Self { window: own.map(|own| own.window).or_else(|| public.map(|public| public.window)), public }
    }
}

impl<'a> RequestCx<'a> {
    /// A request in a text of its own, of which nothing else is known.
    pub fn new(path: &'a Arc<str>, text: &'a str, request: &'a Request, config: &Config) -> Self {
        Self {
            path,
            text,
            offset: 0,
            places: None,
            request,
            before: None,
            reuse: None,
            shared_front: None,
            model: ModelFacts::of(config, request.model.as_deref()),
            input_tokens: None,
            was_answered: false,
        }
    }

    /// A finding about what stands at a place of the body.
    pub fn found(&self, rule: &'static RuleMeta, pointer: &str, message: impl Into<String>) -> Diagnostic {
        let at = self.place(pointer);
        Diagnostic::new(rule, self.path, Span::of(at.start, at.end), message)
    }

    /// The place of what stands at a place of the body.
    pub fn span(&self, pointer: &str) -> Span {
        let at = self.place(pointer);
        Span::of(at.start, at.end)
    }

    fn place(&self, pointer: &str) -> Range<usize> {
        self.places.map_or_else(|| Places::new(self.text, self.offset).place(pointer), |places| places.place(pointer))
    }

    /// Whether it has one of these forms.
    pub fn is(&self, dialects: &[Dialect]) -> bool {
        dialects.contains(&self.request.dialect)
    }

    /// The name of its model, where no router stands in front of it: a router may mend what its vendor refuses.
    pub fn direct(&self) -> Option<&'a str> {
        self.request.model.as_deref().filter(|name| !name.contains('/'))
    }

    /// Whether it goes to a Claude: many other servers speak like Anthropic, and refuse less. Bodies for clouds name no model.
    pub fn is_claude(&self) -> bool {
        self.request.dialect == Dialect::Anthropic
            && (self.request.model.is_none() || self.direct().is_some_and(|name| name.split(['.', ':']).any(is_claude)))
    }

    /// The version of the Claude that it goes to.
    pub fn claude(&self) -> Option<(u32, u32)> {
        let name = self.direct().filter(|_| self.is_claude())?;
        let (_, name) = name.split_once("claude-")?;
        let name = name.split('@').next().unwrap_or(name);
        let mut numbers = name.split('-').filter(|part| part.len() <= 2).filter_map(|part| part.parse().ok());
        Some((numbers.next()?, numbers.next().unwrap_or(0)))
    }

    /// The model of `OpenAI` that it goes to, in one of these forms: hundreds of servers speak like `OpenAI`, and refuse other things.
    pub fn openai(&self, dialects: &[Dialect]) -> Option<&'a str> {
        let name = self.direct().filter(|_| self.is(dialects))?;
        // Behind the version stand words that `OpenAI` uses, dates and no others: anybody may call a model `gpt-4o-mine`.
        let mut words = name.split('-');
        let is_own = match words.next() {
            Some("gpt") => words.next().is_some_and(|version| {
                version.starts_with(|c: char| c.is_ascii_digit())
                    && version.bytes().all(|byte| byte.is_ascii_digit() || b".o".contains(&byte))
            }),
            first => matches!(first, Some("o1" | "o3" | "o4")),
        };
        let is_named = is_own && words.all(|word| WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit()));
        let is_public = name.starts_with(['g', 'o']) && !name.starts_with("gemini") && self.model.public.is_some();
        (is_named || is_public || name.starts_with("ft:gpt-")).then_some(name)
    }
}

/// Words in the names of `OpenAI`'s models.
const WORDS: [&str; 20] = [
    "mini", "nano", "pro", "turbo", "preview", "latest", "chat", "codex", "max", "audio", "realtime", "search", "api", "deep",
    "research", "instruct", "16k", "32k", "vision", "spark",
];

/// Whether a part of a name is that of a Claude: clouds put their own names and versions around it.
fn is_claude(part: &str) -> bool {
    part.starts_with("claude-")
}

/// The texts of a part, those of a result included.
pub(super) fn texts(placed: &Placed) -> Vec<&str> {
    fn text(part: &Part) -> Option<&str> {
        match part {
            Part::Text(text) => Some(text),
            Part::Reasoning(_) | Part::Call(_) | Part::Result(_) | Part::Media(_) => None,
        }
    }
    match &placed.part {
        Some(Part::Result(result)) => result.parts.iter().filter_map(text).collect(),
        Some(part) => text(part).into_iter().collect(),
        None => Vec::new(),
    }
}

/// What stands at a place, for messages: cut where nobody would read on.
pub(super) fn short(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).escape_debug().to_string(),
        None => text.escape_debug().to_string(),
    }
}
