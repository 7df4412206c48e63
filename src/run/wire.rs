//! The request of an agent as sent: one code path for `eval`, `run` and all recordings.

use crate::context::TaskGraph;
use crate::context::fault::Fault;
use crate::context::render::call::{Call, MODEL};
use crate::context::render::message::Message;
use crate::context::render::target::Target;
use crate::context::render::targets::{DEFAULT, TARGETS};
use crate::context::request::Request;
use crate::context::role::Routed;
use crate::kernel::provider::{Response, Usage};
use crate::project::models::{Model, Provider, ProviderKind};
use crate::provider::read;
use crate::record::comparison::LiveRequest;
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::record::{json_text, key};
use crate::schema::json::names::REQUEST;
use std::collections::BTreeMap;

/// The request format of an agent.
#[derive(Debug)]
pub struct Wire<'c> {
    pub(crate) call: Call,
    pub(super) target: &'static Target,
    /// The model, if the project defines it.
    pub(crate) model: Option<&'c Model>,
}

/// A request as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The dialect of the body.
    pub dialect: &'static str,
    /// The provider's name of the model.
    pub model: String,
    /// The path, without the host.
    pub endpoint: String,
    /// The body.
    pub body: String,
    /// The key that identifies the call in recordings.
    pub key: String,
}

impl Sent {
    /// The request for comparison with recorded ones.
    pub fn live(&self) -> LiveRequest<'_> {
        LiveRequest {
            endpoint: &self.endpoint,
            dialect: self.dialect,
            body: &self.body,
            key: &self.key,
            redactor: None,
        }
    }

    /// Converts the call to a recording, with its id in the file and its time; without a response
    /// if none arrived. Masks everything that must not be stored.
    pub fn recording(
        &self,
        response: Option<&Response>,
        by: AnsweredBy,
        (id, at): (String, Option<String>),
        redactor: &Redactor,
    ) -> Recording {
        let mut redacted = Vec::new();
        let mut body = |body: &str, root: &str| {
            json_text::raw(&redactor.json(json_text::raw(body).get(), root, &mut redacted))
        };
        Recording {
            schema: REQUEST.to_owned(),
            id,
            at,
            answered_by: by,
            dialect: self.dialect.to_owned(),
            endpoint: self.endpoint.clone(),
            model: self.model.clone(),
            request: body(&self.body, "/request"),
            response: response.map(|response| body(&response.body, "/response")),
            status: response.map(|response| response.status),
            usage: response.map_or_else(Usage::default, |response| response.answer.usage),
            latency_ms: response
                .and_then(|response| u64::try_from(response.latency.as_millis()).ok()),
            key: self.key.clone(),
            redacted,
            ..Recording::default()
        }
    }
}

impl<'c> Wire<'c> {
    /// Creates the format for the chosen model; without one, that of chat completions.
    ///
    /// # Errors
    /// The agent does not exist, or the schema of its answer cannot be read.
    pub fn of(
        graph: &TaskGraph<'_>,
        request: &Request<'_>,
        routed: &Routed<'c>,
        providers: Option<&BTreeMap<String, Provider>>,
    ) -> Result<Self, Fault> {
        let model = routed.choice.as_ref().map(|choice| choice.model);
        let call = routed.call(graph, request)?;
        Ok(Self {
            call,
            target: target_of(model, providers),
            model,
        })
    }

    /// Returns the same request for another model, used when the first model's provider fails.
    #[must_use]
    pub fn of_model(
        &self,
        model: &'c Model,
        providers: Option<&BTreeMap<String, Provider>>,
    ) -> Self {
        let call = Call {
            model: Some(model.id.clone()),
            ..self.call.clone()
        };
        Self {
            call,
            target: target_of(Some(model), providers),
            model: Some(model),
        }
    }

    /// Maximum number of tokens of an answer.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.call.limit.map(u64::from)
    }

    /// Builds the request with some messages.
    ///
    /// # Errors
    /// The messages are empty, or the dialect cannot express them, with the reason.
    pub fn sent(&self, messages: &[Message]) -> Result<Sent, String> {
        let body = self
            .target
            .body(messages, &self.call)
            .map_err(|none| none.to_string())?;
        let body = json_text::compact(&body);
        let dialect = self.target.name;
        let model = self.call.model.clone().unwrap_or_else(|| MODEL.to_owned());
        let endpoint = read::dialect(dialect)
            .map_or_else(String::new, |dialect| (dialect.address)("", &model));
        let key = key::key("POST", &endpoint, &body).to_string();
        Ok(Sent {
            dialect,
            model,
            endpoint,
            body,
            key,
        })
    }
}

/// The dialect of a model's requests; chat completions by default.
pub(crate) fn target_of(
    model: Option<&Model>,
    providers: Option<&BTreeMap<String, Provider>>,
) -> &'static Target {
    let kind = model.and_then(|model| {
        let name = &model.provider.value;
        ProviderKind::of(name, providers.and_then(|providers| providers.get(name)))
    });
    let name = kind.unwrap_or(ProviderKind::Openai).dialect();
    TARGETS
        .iter()
        .copied()
        .find(|target| target.name == name)
        .unwrap_or(DEFAULT)
}
