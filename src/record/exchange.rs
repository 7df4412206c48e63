//! A call that was made here, as a line: everything that must not be kept is replaced on the way.

use super::json_text;
use super::recording::{AnsweredBy, Recording};
use super::redact::Redactor;
use crate::kernel::provider::Usage;
use crate::schema::json::names::REQUEST;

/// A request that was sent, and what came back.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'e> {
    /// The form of the bodies.
    pub dialect: &'e str,
    /// The path of the request, without the host.
    pub endpoint: &'e str,
    /// What the provider calls the model.
    pub model: &'e str,
    /// What finds the call again.
    pub key: &'e str,
    /// The body of the request.
    pub request: &'e str,
    /// The body of the response.
    pub response: &'e str,
    /// The status of HTTP.
    pub status: u16,
    /// The tokens that were counted.
    pub usage: Usage,
    /// From the request to the end of the response, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Who answered.
    pub by: AnsweredBy,
}

impl Recording {
    /// A call with the name that its file has for it, and the time at which it was made.
    pub fn of(exchange: &Exchange<'_>, (id, at): (String, Option<String>), redactor: &Redactor) -> Self {
        let Exchange { dialect, endpoint, model, key, request, response, status, usage, latency_ms, by } = *exchange;
        let mut redacted = Vec::new();
        let mut body = |body: &str, root: &str| json_text::raw(&redactor.json(json_text::raw(body).get(), root, &mut redacted));
        let (request, response) = (body(request, "/request"), body(response, "/response"));
        Self {
            schema: REQUEST.to_owned(),
            id,
            at,
            answered_by: by,
            dialect: dialect.to_owned(),
            endpoint: endpoint.to_owned(),
            model: model.to_owned(),
            request,
            response: Some(response),
            status: Some(status),
            usage,
            latency_ms,
            key: key.to_owned(),
            redacted,
            ..Self::default()
        }
    }
}
