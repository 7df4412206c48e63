//! The context of one request under check, with facts from its caller.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::RuleMeta;
use crate::base::span::Span;
use crate::kernel::conversation::Part;
use crate::project::config::Config;
use crate::request::dialect::Dialect;
use crate::request::model::{ModelRequest, RequestPart};
use crate::request::places::JsonPlaces;
use crate::request::prompt_cache::PrefixReuse;
use crate::request::public_models::{PublicModel, find_model};
use std::ops::Range;
use std::sync::Arc;

/// One request under check.
#[derive(Clone, Copy, Debug)]
pub struct RequestCx<'a> {
    /// The file that contains it.
    pub path: &'a Arc<str>,
    /// The text that spans refer to.
    pub text: &'a str,
    /// The offset of the body in that text.
    pub offset: usize,
    /// The places of its values, computed on first use.
    pub places: Option<&'a JsonPlaces<'a>>,
    /// The request.
    pub request: &'a ModelRequest,
    /// The previous request of its conversation.
    pub before: Option<&'a ModelRequest>,
    /// The part that a prompt cache reuses, if a call precedes it.
    pub reuse: Option<&'a PrefixReuse>,
    /// Tokens of tools and system text that another conversation of its agent shares as a prefix;
    /// `None` if no other does, or they were not counted.
    pub shared_front: Option<u64>,
    /// Facts of its model; empty for an unknown model.
    pub model: ModelFacts,
    /// Its number of tokens, if the vendor reported it or a counter computes it exactly.
    pub input_tokens: Option<u64>,
    /// True if its vendor answered it successfully. Scripted and replayed answers do not count.
    pub was_answered: bool,
}

/// The known facts of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Maximum number of tokens that it accepts.
    pub window: Option<u64>,
    /// Facts of a public model.
    pub public: Option<&'static PublicModel>,
}

impl ModelFacts {
    /// Looks up a model by its vendor's name: first in the project, then among public models.
    pub fn look_up(config: &Config, model: Option<&str>) -> Self {
        let Some(model) = model else {
            return Self::default();
        };
        let public = find_model(model);
        let own = config.models.values().find(|own| own.id == model);
        Self {
            window: own
                .map(|own| own.window)
                .or_else(|| public.map(|public| public.window)),
            public,
        }
    }
}

impl<'a> RequestCx<'a> {
    /// Creates the context of a request that is a text of its own, without other facts.
    pub fn new(
        path: &'a Arc<str>,
        text: &'a str,
        request: &'a ModelRequest,
        config: &Config,
    ) -> Self {
        Self {
            path,
            text,
            offset: 0,
            places: None,
            request,
            before: None,
            reuse: None,
            shared_front: None,
            model: ModelFacts::look_up(config, request.model.as_deref()),
            input_tokens: None,
            was_answered: false,
        }
    }

    /// Creates a finding at a JSON pointer of the body.
    pub fn finding(
        &self,
        rule: &'static RuleMeta,
        pointer: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let at = self.value_range(pointer);
        Diagnostic::new(
            rule,
            self.path,
            Span::from_offsets(at.start, at.end),
            message,
        )
    }

    /// The span of the value at a JSON pointer of the body.
    pub fn span(&self, pointer: &str) -> Span {
        let at = self.value_range(pointer);
        Span::from_offsets(at.start, at.end)
    }

    fn value_range(&self, pointer: &str) -> Range<usize> {
        self.places.map_or_else(
            || JsonPlaces::new(self.text, self.offset).range_of(pointer),
            |places| places.range_of(pointer),
        )
    }

    /// True if its dialect is one of these.
    pub fn has_dialect(&self, dialects: &[Dialect]) -> bool {
        dialects.contains(&self.request.dialect)
    }

    /// The name of its model, unless it goes through a router. A router may correct a request that
    /// its vendor rejects.
    pub fn direct_model(&self) -> Option<&'a str> {
        self.request
            .model
            .as_deref()
            .filter(|name| !name.contains('/'))
    }

    /// True if it goes to a Claude model. Many other servers use Anthropic's dialect and reject
    /// less. Bodies for cloud platforms name no model.
    pub fn is_claude(&self) -> bool {
        self.request.dialect == Dialect::Anthropic
            && (self.request.model.is_none()
                || self
                    .direct_model()
                    .is_some_and(|name| name.split(['.', ':']).any(is_claude_name)))
    }

    /// The version of the Claude model.
    pub fn claude_version(&self) -> Option<(u32, u32)> {
        let name = self.direct_model().filter(|_| self.is_claude())?;
        let (_, name) = name.split_once("claude-")?;
        let name = name.split('@').next().unwrap_or(name);
        let mut numbers = name
            .split('-')
            .filter(|part| part.len() <= 2)
            .filter_map(|part| part.parse().ok());
        Some((numbers.next()?, numbers.next().unwrap_or(0)))
    }

    /// The name of the `OpenAI` model that it goes to, in one of these dialects. Hundreds of
    /// servers use `OpenAI`'s dialects and reject other things.
    pub fn openai_model(&self, dialects: &[Dialect]) -> Option<&'a str> {
        let name = self.direct_model().filter(|_| self.has_dialect(dialects))?;
        // After the version, only words that `OpenAI` uses, and dates, may follow: any server may
        // call a model `gpt-4o-mine`.
        let mut words = name.split('-');
        let is_own = match words.next() {
            Some("gpt") => words.next().is_some_and(|version| {
                version.starts_with(|c: char| c.is_ascii_digit())
                    && version
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || b".o".contains(&byte))
            }),
            first => matches!(first, Some("o1" | "o3" | "o4")),
        };
        let is_named = is_own
            && words.all(|word| {
                OPENAI_NAME_WORDS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
            });
        let is_public = name.starts_with(['g', 'o'])
            && !name.starts_with("gemini")
            && self.model.public.is_some();
        (is_named || is_public || name.starts_with("ft:gpt-")).then_some(name)
    }
}

/// Words in the names of `OpenAI`'s models.
const OPENAI_NAME_WORDS: [&str; 20] = [
    "mini", "nano", "pro", "turbo", "preview", "latest", "chat", "codex", "max", "audio",
    "realtime", "search", "api", "deep", "research", "instruct", "16k", "32k", "vision", "spark",
];

/// True if a part of a name begins a Claude model's name. Cloud platforms add their own names and
/// versions around it.
fn is_claude_name(part: &str) -> bool {
    part.starts_with("claude-")
}

/// Returns the texts of a part, including those of a tool result.
pub(super) fn part_texts(placed: &RequestPart) -> Vec<&str> {
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

/// Shortens a text for messages.
pub(super) fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default())
            .escape_debug()
            .to_string(),
        None => text.escape_debug().to_string(),
    }
}
