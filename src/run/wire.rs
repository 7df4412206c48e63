//! The request of an agent as sent: one code path for `eval`, `run` and all recordings.

use crate::context::TaskGraph;
use crate::context::fault::Fault;
use crate::context::render::call::{CallParams, MODEL_PLACEHOLDER};
use crate::context::render::message::Message;
use crate::context::render::target::RenderTarget;
use crate::context::render::targets::{DEFAULT_TARGET, TARGETS};
use crate::context::request::Request;
use crate::context::role::ModelRoute;
use crate::kernel::provider::{Response, Usage};
use crate::project::models::{ModelConfig, ProviderConfig, ProviderKind};
use crate::provider::read;
use crate::record::comparison::LiveRequest;
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::record::{json_text, recording};
use crate::schema::json::names::REQUEST;
use std::collections::BTreeMap;

/// The request format of an agent.
#[derive(Debug)]
pub struct WireFormat<'c> {
    pub(crate) call: CallParams,
    pub(super) target: &'static RenderTarget,
    /// The model, if the project defines it.
    pub(crate) model: Option<&'c ModelConfig>,
}

/// A request as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingRequest {
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

impl OutgoingRequest {
    /// The request for comparison with recorded ones.
    pub fn to_live(&self) -> LiveRequest<'_> {
        LiveRequest {
            endpoint: &self.endpoint,
            dialect: self.dialect,
            body: &self.body,
            key: &self.key,
            redactor: None,
        }
    }

    /// Converts the call to a recording without an id and a time; without a response if none
    /// arrived. Masks everything that must not be stored.
    pub fn to_recording(
        &self,
        response: Option<&Response>,
        by: AnsweredBy,
        redactor: &Redactor,
    ) -> Recording {
        let mut redacted = Vec::new();
        let mut body = |body: &str, root: &str| {
            json_text::to_raw_json(&redactor.mask_json(
                json_text::to_raw_json(body).get(),
                root,
                &mut redacted,
            ))
        };
        Recording {
            schema: REQUEST.to_owned(),
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

impl<'c> WireFormat<'c> {
    /// Creates the format for the chosen model; without one, that of chat completions.
    ///
    /// # Errors
    /// The agent does not exist, or the schema of its answer cannot be read.
    pub fn for_choice(
        graph: &TaskGraph<'_>,
        request: &Request<'_>,
        routed: &ModelRoute<'c>,
        providers: Option<&BTreeMap<String, ProviderConfig>>,
    ) -> Result<Self, Fault> {
        let model = routed.choice.as_ref().map(|choice| choice.model);
        let call = routed.request_settings(graph, request)?;
        Ok(Self {
            call,
            target: model_target(model, providers),
            model,
        })
    }

    /// Returns the same request for another model, used when the first model's provider fails.
    #[must_use]
    pub fn for_model(
        &self,
        model: &'c ModelConfig,
        providers: Option<&BTreeMap<String, ProviderConfig>>,
    ) -> Self {
        let call = CallParams {
            model: Some(model.id.clone()),
            ..self.call.clone()
        };
        Self {
            call,
            target: model_target(Some(model), providers),
            model: Some(model),
        }
    }

    /// Maximum number of tokens of an answer.
    pub(crate) fn output_limit(&self) -> Option<u64> {
        self.call.limit.map(u64::from)
    }

    /// Builds the request with some messages.
    ///
    /// # Errors
    /// The messages are empty, or the dialect cannot express them, with the reason.
    pub fn build_request(&self, messages: &[Message]) -> Result<OutgoingRequest, String> {
        let body = self
            .target
            .render_body(messages, &self.call)
            .map_err(|none| none.to_string())?;
        let body = json_text::compact_json(&body);
        let dialect = self.target.name;
        let model = self
            .call
            .model
            .clone()
            .unwrap_or_else(|| MODEL_PLACEHOLDER.to_owned());
        let endpoint = read::find_dialect(dialect)
            .map_or_else(String::new, |dialect| (dialect.address)("", &model));
        let key = recording::call_key("POST", &endpoint, &body).to_string();
        Ok(OutgoingRequest {
            dialect,
            model,
            endpoint,
            body,
            key,
        })
    }
}

/// The dialect of a model's requests; chat completions by default.
pub(crate) fn model_target(
    model: Option<&ModelConfig>,
    providers: Option<&BTreeMap<String, ProviderConfig>>,
) -> &'static RenderTarget {
    let kind = model.and_then(|model| {
        let name = &model.provider.value;
        ProviderKind::for_provider(name, providers.and_then(|providers| providers.get(name)))
    });
    let name = kind.unwrap_or(ProviderKind::Openai).dialect();
    TARGETS
        .iter()
        .copied()
        .find(|target| target.name == name)
        .unwrap_or(DEFAULT_TARGET)
}
