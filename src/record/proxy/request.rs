//! Requests to the proxy: their vendor, endpoint, dialect, model, and stream flag.

use super::body::BodyError;
use super::vendor::{ProxyVendor, endpoint_dialect};
use crate::record::addresses::{header_secrets, split_secrets};
use crate::record::json_text::string_edits;
use crate::record::recording::call_key;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use hyper::header::HeaderMap;
use hyper::http::request::Parts;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Deref;
use std::string::FromUtf8Error;
use std::sync::Arc;

/// The maximum size in bytes of a request: more than any vendor accepts.
pub(super) const MAX_BODY_BYTES: usize = 128 << 20;
/// The headers with the agent, the conversation, and the calling line of the program: for the
/// recording, not for the vendor.
pub(super) const OWN_HEADERS: [&str; 3] = ["x-ctxc-agent", "x-ctxc-conversation", "x-ctxc-caller"];
/// The minimum length of a run of base64 characters that is an image or a file.
const MIN_DATA_LENGTH: usize = 4096;

/// A text that is shared, not copied, between uses.
#[derive(Clone, Debug)]
pub(super) struct SharedText(Arc<String>);

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// A call as received.
#[derive(Debug)]
pub(super) struct IncomingCall {
    /// Its id in the recording.
    pub(super) id: String,
    pub(super) vendor: &'static ProxyVendor,
    /// The path of the request, without host and keys.
    pub(super) endpoint: String,
    /// The dialect of the request; `other` for calls of another kind.
    pub(super) dialect: &'static str,
    pub(super) model: String,
    pub(super) is_stream: bool,
    /// True if a stream of chat completions should end with the token counts.
    pub(super) wants_usage: bool,
    pub(super) agent: Option<String>,
    pub(super) conversation: Option<String>,
    /// The file and line of the program that sent it.
    pub(super) caller: Option<String>,
    /// The body as it was sent.
    pub(super) body: SharedText,
    pub(super) key: String,
}

/// The dialect of calls of another kind, such as those for embeddings.
pub(super) const OTHER_DIALECT: &str = "other";

#[derive(Default, Deserialize)]
struct IncomingHead {
    #[serde(default)]
    model: Value,
    #[serde(default)]
    stream: Value,
    #[serde(default)]
    stream_options: Value,
}

/// Reads a body to its end.
///
/// # Errors
/// The body is larger than the maximum, or ends early.
pub(super) async fn read_body<B: Body<Data = Bytes> + Send>(body: B) -> Result<Vec<u8>, BodyError>
where
    B::Error: Into<BodyError>,
{
    // Reads frames into one buffer of the declared size, so that the body is in memory once.
    let declared = usize::try_from(body.size_hint().exact().unwrap_or(0)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(declared.min(MAX_BODY_BYTES));
    let mut body = std::pin::pin!(http_body_util::Limited::new(body, MAX_BODY_BYTES));
    while let Some(frame) = body.frame().await {
        if let Ok(part) = frame?.into_data() {
            bytes.extend_from_slice(&part);
        }
    }
    Ok(bytes)
}

/// Returns the endpoint of a path without the secrets in its query, and these secrets.
pub(super) fn split_endpoint(vendor: &ProxyVendor, path: &str) -> (String, Vec<String>) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (query, secrets) = split_secrets(query);
    (vendor.recorded_path(path) + &query, secrets)
}

/// Returns the secret values in headers.
pub(super) fn header_secret_values(headers: &HeaderMap) -> Vec<String> {
    let values = headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    values
        .flat_map(|(name, value)| header_secrets(name, value))
        .map(str::to_owned)
        .collect()
}

impl IncomingCall {
    /// Parses a request.
    ///
    /// # Errors
    /// Returns the body if it is not valid JSON.
    pub(super) fn parse(
        vendor: &'static ProxyVendor,
        parts: &Parts,
        endpoint: String,
        body: Vec<u8>,
    ) -> Result<Self, Vec<u8>> {
        let body = String::from_utf8(body).map_err(FromUtf8Error::into_bytes)?;
        if serde_json::from_str::<&RawValue>(&body).is_err() {
            return Err(body.into_bytes());
        }
        let head: IncomingHead = serde_json::from_str(&body).unwrap_or_default();
        let spoken = endpoint_dialect(&endpoint);
        let path = endpoint.split('?').next().unwrap_or(&endpoint);
        let in_path = || {
            path.rsplit('/')
                .next()
                .and_then(|last| last.split_once(':'))
                .map(|(model, _)| model.to_owned())
        };
        let is_stream = match spoken {
            Some("gemini") => path.ends_with(":streamGenerateContent"),
            Some("ollama") => head.stream != Value::Bool(false),
            _ => head.stream == Value::Bool(true),
        };
        let header = |name: &str| {
            parts
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        Ok(Self {
            id: String::new(),
            vendor,
            key: call_key(parts.method.as_str(), &endpoint, &body).to_string(),
            dialect: spoken.unwrap_or(OTHER_DIALECT),
            model: head
                .model
                .as_str()
                .map(str::to_owned)
                .or_else(in_path)
                .unwrap_or_default(),
            is_stream,
            wants_usage: head.stream_options.get("include_usage") == Some(&Value::Bool(true)),
            agent: header(OWN_HEADERS[0]),
            conversation: header(OWN_HEADERS[1]),
            caller: header(OWN_HEADERS[2]),
            endpoint,
            body: SharedText(Arc::new(body)),
        })
    }

    /// Returns the texts in the body, one per line, without the data of images and files: the input
    /// of a script.
    pub(super) fn joined_texts(&self) -> String {
        let mut out = String::new();
        string_edits(&self.body, |_, _, text| {
            let data = text.rsplit_once(";base64,").map_or(text, |(_, data)| data);
            let is_packed = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
            let is_file = data.len() >= MIN_DATA_LENGTH && data.bytes().all(is_packed);
            out.extend([if is_file { "" } else { text }, "\n"]);
            None
        });
        out
    }
}

/// The error with which a provider would reject a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorRefusal {
    /// The status of the vendor's response.
    pub status: u16,
    /// The name of the rule that found the fault.
    pub rule: String,
    /// The fault of the request, and its place.
    pub message: String,
    /// The documentation page of the rule.
    pub page: String,
}

/// Checks the body of a request to a path, and returns the provider's rejection, if any. Called
/// from several threads.
pub type RefusalHook = Arc<dyn Fn(&str, &str) -> Option<VendorRefusal> + Send + Sync>;

/// The handling of requests that the provider would reject.
#[derive(Clone, Default)]
pub struct StrictMode {
    /// The check; `None` for no check.
    pub hook: Option<RefusalHook>,
    /// True to answer rejected requests all the same, and only note the rejection.
    pub is_lenient: bool,
}

impl std::fmt::Debug for StrictMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Strict")
            .field("is_lenient", &self.is_lenient)
            .finish_non_exhaustive()
    }
}

impl VendorRefusal {
    /// The message of the vendor's error body.
    pub fn error_message(&self) -> String {
        format!("{} [{}: {}]", self.message, self.rule, self.page)
    }
}
