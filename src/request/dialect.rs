//! The dialects of requests that can be read, and their detection.

use crate::base::words::words;
use serde_json::Value;

words! {
    /// A dialect of requests, by the values of `ctxc render --as`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Dialect {
        /// Chat completions of `OpenAI` and compatible servers.
        OpenaiChat = "openai-chat",
        /// Responses of `OpenAI`.
        OpenaiResponses = "openai-responses",
        /// Messages of Anthropic.
        Anthropic = "anthropic",
        /// `generateContent` of Gemini.
        Gemini = "gemini",
        /// Chat of Ollama.
        Ollama = "ollama",
    }
}

impl Dialect {
    /// The vendor's name, for messages.
    pub const fn vendor(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Ollama => "Ollama",
        }
    }

    /// The tokenizer of the models that the dialect usually leads to.
    pub const fn tokenizer(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => "o200k",
            Self::Anthropic => "claude",
            Self::Gemini => "gemini",
            Self::Ollama => "llama",
        }
    }

    /// The key of the list of messages.
    pub const fn list_key(self) -> &'static str {
        match self {
            Self::Gemini => "contents",
            Self::OpenaiResponses => "input",
            Self::OpenaiChat | Self::Anthropic | Self::Ollama => "messages",
        }
    }

    /// The end of the path that its requests go to.
    pub const fn path_suffix(self) -> &'static str {
        match self {
            Self::OpenaiChat => "/chat/completions",
            Self::OpenaiResponses => "/responses",
            Self::Anthropic => "/messages",
            Self::Gemini => ":generateContent",
            Self::Ollama => "/api/chat",
        }
    }

    /// Returns the dialect with a name.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.word() == word)
    }

    /// Returns the dialect of the path that a request goes to. A query behind the path is ignored.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path
            .split(['?', '#'])
            .next()
            .unwrap_or(path)
            .trim_end_matches('/');
        // Messages of OpenAI's assistants are stored on the server.
        if path.contains("/threads/") {
            return None;
        }
        let found = Self::ALL
            .into_iter()
            .find(|dialect| path.ends_with(dialect.path_suffix()));
        found.or_else(|| {
            path.ends_with(":streamGenerateContent")
                .then_some(Self::Gemini)
        })
    }

    /// Returns the most likely dialect of a body; `None` if the body is not a request.
    pub fn of_body(body: &Value) -> Option<Self> {
        let has = |key: &str| body.get(key).is_some();
        if body
            .get("contents")
            .is_some_and(|contents| contents.is_array() || contents.get("parts").is_some())
        {
            return Some(Self::Gemini);
        }
        let Some(messages) = body.get("messages").and_then(Value::as_array) else {
            if has("model") && has("messages") {
                return Some(Self::OpenaiChat);
            }
            let is_asked = ["model", "instructions", "prompt", "previous_response_id"]
                .iter()
                .any(|key| has(key));
            return (is_asked && (has("input") || has_kept_input(body)))
                .then_some(Self::OpenaiResponses);
        };
        if ["options", "keep_alive", "num_ctx", "think"]
            .iter()
            .any(|key| has(key))
        {
            return Some(Self::Ollama);
        }
        let tools = body.get("tools").and_then(Value::as_array);
        let is_nested = tools
            .and_then(|tools| tools.first())
            .is_some_and(|tool| tool.get("function").is_some());
        let of_anthropic = |block: &Value| {
            let kind = block
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            matches!(
                kind,
                "tool_use"
                    | "tool_result"
                    | "thinking"
                    | "redacted_thinking"
                    | "document"
                    | "server_tool_use"
            ) || block.get("cache_control").is_some()
                || block.get("source").is_some()
        };
        let blocks = || {
            messages
                .iter()
                .filter_map(|message| message.get("content")?.as_array())
                .flatten()
        };
        let says_system = messages
            .iter()
            .any(|message| message.get("role").and_then(Value::as_str) == Some("system"));
        let is_claude = body
            .get("model")
            .and_then(Value::as_str)
            .is_some_and(|model| model.starts_with("claude"));
        let is_anthropic = ["system", "thinking", "stop_sequences", "anthropic_version"]
            .iter()
            .any(|key| has(key))
            || tools
                .is_some_and(|tools| tools.iter().any(|tool| tool.get("input_schema").is_some()))
            || blocks().any(of_anthropic)
            || is_claude && has("max_tokens") && !says_system;
        Some(if is_anthropic && !is_nested {
            Self::Anthropic
        } else {
            Self::OpenaiChat
        })
    }
}

/// Returns true if a request to `OpenAI`'s responses may omit `input`, because the vendor stores a
/// prompt or an earlier conversation.
pub(super) fn has_kept_input(body: &Value) -> bool {
    let names = |value: &Value| value.is_string() || value.get("id").is_some_and(Value::is_string);
    body.pointer("/prompt/id").is_some_and(Value::is_string)
        || ["previous_response_id", "conversation"]
            .iter()
            .any(|key| body.get(key).is_some_and(names))
}
