//! Reads a body into a request, by its dialect.

use super::dialect::{Dialect, has_kept_input};
use super::model::{NoRequest, Request};
use super::read::{anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::base::json::{kind, why_not};
use serde_json::Value;

impl Request {
    /// Reads the text of a body. A known path determines the dialect, and the model if the body
    /// does not contain it.
    ///
    /// # Errors
    /// The text is not valid JSON, or not a request.
    pub fn read(text: &str, path: Option<&str>) -> Result<Self, NoRequest> {
        let body =
            serde_json::from_str(text).map_err(|error| NoRequest::NoJson(why_not(&error)))?;
        Self::of(body, path)
    }

    /// Reads a parsed body.
    ///
    /// # Errors
    /// The body is not a request.
    pub fn of(body: Value, path: Option<&str>) -> Result<Self, NoRequest> {
        let has_list = ["messages", "input", "contents"]
            .iter()
            .any(|key| body.get(key).is_some())
            || has_kept_input(&body);
        let dialect = path
            .and_then(Dialect::of_path)
            .filter(|_| has_list)
            .or_else(|| Dialect::of_body(&body));
        let dialect = dialect.ok_or_else(|| NoRequest::Other(kind(&body)))?;
        let mut request = request(dialect, body);
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
        let mut request = Self::of(body, Some(self.dialect.path()))?;
        if request.model.is_none() && self.body.get("model").is_none() {
            request.model.clone_from(&self.model);
        }
        (request.is_vertex, request.is_stream) =
            (self.is_vertex, request.is_stream || self.is_stream);
        Ok(request)
    }
}

/// Reads a body of a dialect.
fn request(dialect: Dialect, body: Value) -> Request {
    let mut request = Request {
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
        Dialect::OpenaiChat => openai_chat::read(&body, &mut request),
        Dialect::OpenaiResponses => openai_responses::read(&body, &mut request),
        Dialect::Anthropic => anthropic::read(&body, &mut request),
        Dialect::Gemini => gemini::read(&body, &mut request),
        Dialect::Ollama => ollama::read(&body, &mut request),
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
