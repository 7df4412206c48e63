//! Forwards requests to the providers unchanged, except for the headers of a single connection.

use super::request::OWN_HEADERS;
use crate::base::contained_path::error_fragment;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue,
};
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

/// The time limits of a call.
#[derive(Clone, Copy, Debug)]
pub struct ForwardLimits {
    /// Until the connection is established.
    pub connect: Duration,
    /// Without a byte of the answer.
    pub idle: Duration,
}

impl Default for ForwardLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(10),
        }
    }
}

type RequestBody = http_body_util::Full<Bytes>;
pub(super) type HttpClient = Client<HttpsConnector<HttpConnector>, RequestBody>;

/// The reason why no response arrived.
#[derive(Debug)]
pub(super) enum ForwardError {
    /// The provider is unreachable; a lower-case fragment.
    Unreachable(String),
    /// The time limit was exceeded.
    Timeout(Duration),
}

/// Headers that apply to a single connection.
const HOP_HEADERS: [&str; 8] = [
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Creates a client with the system's certificates, or with Mozilla's if the system has none.
pub(super) fn http_client(limits: ForwardLimits) -> HttpClient {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(limits.connect));
    let native = HttpsConnectorBuilder::new().with_native_roots();
    let builder = native.unwrap_or_else(|_| HttpsConnectorBuilder::new().with_webpki_roots());
    let connector = builder.https_or_http().enable_http1().wrap_connector(http);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .build(connector)
}

/// Removes the headers that apply to a single connection.
pub(super) fn remove_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in named
        .iter()
        .map(String::as_str)
        .chain(HOP_HEADERS)
        .chain(["connection"])
    {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
            headers.remove(name);
        }
    }
}

/// Sends a request to its provider.
pub(super) async fn send_request(
    client: &HttpClient,
    parts: &Parts,
    address: &str,
    body: Bytes,
    limits: ForwardLimits,
) -> Result<Response<Incoming>, ForwardError> {
    let uri: Uri = address
        .parse()
        .map_err(|_| ForwardError::Unreachable(format!("`{address}` is no address")))?;
    let mut headers = parts.headers.clone();
    remove_hop_headers(&mut headers);
    for name in OWN_HEADERS {
        headers.remove(name);
    }
    headers.remove(HOST);
    headers.remove(CONTENT_LENGTH);
    // Only encodings that the recording can read are accepted.
    if let Some(wanted) = headers.remove(ACCEPT_ENCODING) {
        let takes_gzip = wanted.to_str().is_ok_and(|wanted| wanted.contains("gzip"));
        headers.insert(
            ACCEPT_ENCODING,
            HeaderValue::from_static(if takes_gzip { "gzip" } else { "identity" }),
        );
    }
    let mut request = Request::new(RequestBody::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    match timeout(limits.idle, client.request(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(ForwardError::Unreachable(innermost_reason(&error))),
        Err(_) => Err(ForwardError::Timeout(limits.idle)),
    }
}

/// Returns the message of the innermost error.
pub(super) fn innermost_reason(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    error_fragment(&inner.to_string())
}
