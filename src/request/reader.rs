//! Reads a body into a request, by its dialect.

use super::dialect::{Dialect, has_kept_input};
use super::model::{ModelRequest, NoRequest};
use super::read::{anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::base::json::{describe_kind, describe_syntax_error};
use serde_json::Value;

impl ModelRequest {
    /// Reads the text of a body. A known path determines the dialect, and the model if the body
    /// does not contain it.
    ///
    /// # Errors
    /// The text is not valid JSON, or not a request.
    pub fn parse(text: &str, path: Option<&str>) -> Result<Self, NoRequest> {
        let body = serde_json::from_str(text)
            .map_err(|error| NoRequest::NoJson(describe_syntax_error(&error)))?;
        Self::from_body(body, path)
    }

    /// Reads a parsed body.
    ///
    /// # Errors
    /// The body is not a request.
    pub fn from_body(body: Value, path: Option<&str>) -> Result<Self, NoRequest> {
        let has_list = ["messages", "input", "contents"]
            .iter()
            .any(|key| body.get(key).is_some())
            || has_kept_input(&body);
        let dialect = path
            .and_then(Dialect::of_path)
            .filter(|_| has_list)
            .or_else(|| Dialect::of_body(&body));
        let dialect = dialect.ok_or_else(|| NoRequest::Other(describe_kind(&body)))?;
        let mut request = read_body(dialect, body);
        if request.model.is_none() {
            request.model = path.and_then(model_of_path);
        }
        request.is_vertex = path.is_some_and(|path| path.contains("/publishers/google/models/"));
        request.is_stream |= path.is_some_and(|path| path.contains(":streamGenerateContent"));
        Ok(request)
    }

    /// Reads another body for the destination of this request, and takes over the facts from its
    /// path, such as Gemini's model.
    ///
    /// # Errors
    /// The body is not a request.
    pub fn with_body(&self, body: Value) -> Result<Self, NoRequest> {
        let mut request = Self::from_body(body, Some(self.dialect.path_suffix()))?;
        if request.model.is_none() && self.body.get("model").is_none() {
            request.model.clone_from(&self.model);
        }
        (request.is_vertex, request.is_stream) =
            (self.is_vertex, request.is_stream || self.is_stream);
        Ok(request)
    }
}

/// Reads a body of a dialect.
fn read_body(dialect: Dialect, body: Value) -> ModelRequest {
    let mut request = ModelRequest {
        dialect,
        model: body
            .get("model")
            .and_then(Value::as_str)
            .filter(|model| !model.is_empty())
            .map(str::to_owned),
        is_stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
        is_vertex: false,
        body: Value::Null,
        tools: Vec::new(),
        format: None,
        messages: Vec::new(),
    };
    match dialect {
        Dialect::OpenaiChat => openai_chat::read_body(&body, &mut request),
        Dialect::OpenaiResponses => openai_responses::read_body(&body, &mut request),
        Dialect::Anthropic => anthropic::read_body(&body, &mut request),
        Dialect::Gemini => gemini::read_body(&body, &mut request),
        Dialect::Ollama => ollama::read_body(&body, &mut request),
    }
    request.body = body;
    request
}

/// Returns the model in the URL of Gemini.
fn model_of_path(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/models/")?;
    rest.split(':')
        .next()
        .filter(|model| !model.is_empty())
        .map(str::to_owned)
}
