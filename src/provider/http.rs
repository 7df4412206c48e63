//! A provider over HTTP, one call for each request: the only use of ureq.
//!
//! Follows no redirect, so that neither key nor request goes to an address outside the
//! configuration. Proxies are those of the environment.

use super::endpoint::Endpoint;
use super::retry::parse_retry_after;
use super::{read, refusal};
use crate::base::fs;
use crate::kernel::provider::{Provider, ProviderError, Response, WireRequest};
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};
use ureq::{Agent, Timeout, http};

/// The limits of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Time to establish a connection.
    pub connect: Duration,
    /// Time without a byte of the answer. An answer that is not streamed arrives at once, after a
    /// silence.
    pub idle: Duration,
    /// Time from the start to the last byte.
    pub whole: Duration,
    /// The maximum size of an answer in bytes.
    pub bytes: u64,
}

impl Default for CallLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connect: seconds(10),
            idle: seconds(300),
            whole: seconds(600),
            bytes: 50_000_000,
        }
    }
}

impl CallLimits {
    /// Returns the limits for a provider with a time limit in seconds; `None` for the default
    /// limits.
    pub fn within_seconds(seconds: Option<u64>) -> Self {
        let usual = Self::default();
        seconds.map(Duration::from_secs).map_or(usual, |time| Self {
            connect: usual.connect.min(time),
            idle: time,
            whole: time,
            ..usual
        })
    }
}

/// Posts JSON to a URL, and returns the beginning of the response. Follows no redirect.
///
/// # Errors
/// The reason why the request was not accepted, without the URL and the values of the headers.
pub fn post_json(
    url: &str,
    headers: &[(String, String)],
    body: &str,
    time: Duration,
) -> Result<String, String> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(time))
        .user_agent(USER_AGENT);
    let mut call = Agent::from(config.build())
        .post(url)
        .content_type("application/json");
    for (name, value) in headers {
        call = call.header(name, value);
    }
    match call.send(body) {
        Ok(response) if response.status().is_success() => {
            let mut body = Vec::new();
            // The status is a success, even if the body cannot be read.
            let _ = response
                .into_body()
                .into_reader()
                .take(MAX_ERROR_BYTES)
                .read_to_end(&mut body);
            Ok(String::from_utf8_lossy(&body).into_owned())
        }
        Ok(response) => Err(format!(
            "it answered with status {}",
            response.status().as_u16()
        )),
        Err(ureq::Error::Timeout(_)) => {
            Err(format!("it gave no answer within {} s", time.as_secs_f64()))
        }
        Err(ureq::Error::Io(why)) => Err(why.kind().to_string()),
        Err(ureq::Error::HostNotFound) => Err("there is no host of this name".to_owned()),
        Err(ureq::Error::BadUri(_) | ureq::Error::Http(_)) => {
            Err("its address, or a header for it, cannot be read".to_owned())
        }
        Err(why) => Err(why.to_string()),
    }
}

/// The maximum number of bytes that are read of an error response.
const MAX_ERROR_BYTES: u64 = 1 << 16;
/// The user agent of all requests.
const USER_AGENT: &str = concat!("ctxc/", env!("CARGO_PKG_VERSION"));
/// The maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 100;

/// A provider that is called over HTTP.
#[derive(Debug)]
pub struct HttpProvider {
    endpoint: Endpoint,
    limits: CallLimits,
    agent: Agent,
}

impl HttpProvider {
    /// Creates a provider for an endpoint.
    pub fn new(endpoint: Endpoint, limits: CallLimits) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_per_read(Some(limits.idle))
            .timeout_global(Some(limits.whole))
            .max_idle_connections(MAX_IDLE_CONNECTIONS)
            .max_idle_connections_per_host(MAX_IDLE_CONNECTIONS)
            .user_agent(USER_AGENT);
        Self {
            endpoint,
            limits,
            agent: config.build().into(),
        }
    }

    /// Sends the request, and returns the status and the body.
    fn send_request(&self, request: &WireRequest<'_>) -> Result<(u16, String), ProviderError> {
        let Endpoint {
            dialect,
            base_url,
            key,
        } = &self.endpoint;
        let mut call = self
            .agent
            .post((dialect.address)(base_url, request.model))
            .content_type("application/json");
        for (name, value) in dialect.headers {
            call = call.header(*name, *value);
        }
        if let Some(key) = key {
            let (name, before) = dialect.key_header;
            call = call.header(name, [before, key.reveal()].concat());
        }
        let response = call
            .send(request.body)
            .map_err(|error| self.transport_error(error, 0))?;
        let status = response.status().as_u16();
        if response.status().is_redirection() {
            return Err(self.redirect_error(&response));
        }
        if !response.status().is_success() {
            let wait = requested_wait(response.headers());
            let mut body = Vec::new();
            // The body is optional: the status is sufficient.
            let _ = response
                .into_body()
                .into_reader()
                .take(MAX_ERROR_BYTES)
                .read_to_end(&mut body);
            return Err(refusal::error_of_status(
                status,
                &self.without_key(&String::from_utf8_lossy(&body)),
                wait,
            ));
        }
        let length = header_text(response.headers(), "content-length")
            .and_then(|length| length.parse::<u64>().ok());
        if length.is_some_and(|length| length > self.limits.bytes) {
            return Err(ProviderError::TooLarge {
                limit: self.limits.bytes,
            });
        }
        let mut body = Vec::new();
        // One byte beyond the limit, to detect larger answers.
        let read = response
            .into_body()
            .into_reader()
            .take(self.limits.bytes + 1)
            .read_to_end(&mut body);
        read.map_err(|error| self.transport_error(error.into(), body.len()))?;
        if body.len() as u64 > self.limits.bytes {
            return Err(ProviderError::TooLarge {
                limit: self.limits.bytes,
            });
        }
        Ok((status, self.without_key(&decode_body(body)?)))
    }

    /// Removes the key from a vendor's text, which may repeat it. Later code never sees the key.
    fn without_key(&self, text: &str) -> String {
        self.endpoint
            .key
            .as_ref()
            .map_or_else(|| text.to_owned(), |key| key.hide_in(text))
    }

    fn redirect_error(&self, response: &http::Response<ureq::Body>) -> ProviderError {
        let to = header_text(response.headers(), "location")
            .unwrap_or("an address that it does not name");
        // The query may contain a secret.
        let to = self.without_key(to.split(['?', '#']).next().unwrap_or(to));
        ProviderError::Redirected {
            host: self.endpoint.host().to_owned(),
            to,
        }
    }

    /// Converts a transport error; `bytes` is the number of bytes received before it.
    fn transport_error(&self, error: ureq::Error, bytes: usize) -> ProviderError {
        use ureq::Error as E;
        let unreachable = |why: String| ProviderError::Unreachable {
            host: self.endpoint.host().to_owned(),
            why,
        };
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "the rest is said in the words that it has"
        )]
        match error {
            E::Timeout(Timeout::Connect | Timeout::Resolve) => ProviderError::TimeLimit {
                limit: "connecting",
                after: self.limits.connect,
            },
            E::Timeout(Timeout::PerRead) => ProviderError::TimeLimit {
                limit: "the next part of the answer",
                after: self.limits.idle,
            },
            E::Timeout(_) => ProviderError::TimeLimit {
                limit: "the whole call",
                after: self.limits.whole,
            },
            E::Io(error) => match error.kind() {
                ErrorKind::UnexpectedEof
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe => ProviderError::CutStream { bytes },
                ErrorKind::Other => unreachable(error.to_string()),
                kind => unreachable(kind.to_string()),
            },
            E::HostNotFound => unreachable("there is no host of this name".to_owned()),
            E::Protocol(_) | E::LargeResponseHeader(..) => ProviderError::NotUnderstood {
                why: format!("it is not what HTTP has: {error}"),
            },
            error => unreachable(error.to_string()),
        }
    }
}

impl Provider for HttpProvider {
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, ProviderError> {
        let start = Instant::now();
        let (status, body) = self.send_request(request)?;
        let latency = start.elapsed();
        Ok(Response {
            answer: read::answer(self.endpoint.dialect, &body)?,
            body,
            status,
            latency,
        })
    }
}

fn header_text<'h>(headers: &'h http::HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the wait that the vendor requests.
fn requested_wait(headers: &http::HeaderMap) -> Option<Duration> {
    let exact = header_text(headers, "retry-after-ms")
        .and_then(|value| value.trim().parse().ok())
        .map(Duration::from_millis);
    let now = u64::try_from(fs::now_nanos() / 1_000_000_000).unwrap_or(0);
    exact.or_else(|| parse_retry_after(header_text(headers, "retry-after")?, now))
}

/// Decodes a body as UTF-8. A body that ends inside a character is truncated.
fn decode_body(body: Vec<u8>) -> Result<String, ProviderError> {
    let bytes = body.len();
    String::from_utf8(body).map_err(|error| match error.utf8_error() {
        fault if fault.error_len().is_none() => ProviderError::CutStream { bytes },
        fault => ProviderError::NotUnderstood {
            why: format!("it is not UTF-8 from byte {} on", fault.valid_up_to()),
        },
    })
}
