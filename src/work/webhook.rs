//! A webhook: a task source that receives deliveries over HTTP. A delivery is on the disk before it
//! is acknowledged, so that none is lost, and a repeated delivery is the same task.
//!
//! Accepts only JSON, which no browser page sends to another address without permission. The sender
//! is checked before the body is used.

use super::task_journal::TaskJournal;
use crate::base::hash::Hash;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::work::task::{Task, TaskSource};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::hmac;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// The header of a signature: `sha256=` and the HMAC of the body in hex digits.
pub const SIGNATURE_HEADER: &str = "x-hub-signature-256";
/// Headers that name a delivery; the first one present counts. A delivery without any is named by
/// the hash of its body.
pub const ID_HEADERS: [&str; 3] = ["idempotency-key", "webhook-id", "x-github-delivery"];
/// Maximum number of characters of a delivery's name.
const MAX_ID_CHARS: usize = 256;
/// Maximum number of simultaneous connections.
const MAX_CONNECTIONS: usize = 256;
/// Time limit for the head of a delivery, and for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The address of a webhook, and the requirements for its senders.
#[derive(Clone)]
pub struct WebhookOptions {
    /// The address to listen on: loopback and any free port by default.
    pub address: SocketAddr,
    /// The path of the deliveries.
    pub path: String,
    /// The proof of a sender: `Authorization: Bearer TOKEN`, or the last part of the path.
    pub token: Option<String>,
    /// The key of the required signature: see [`SIGNATURE_HEADER`].
    pub secret: Option<String>,
    /// Maximum size of a body in bytes.
    pub max_body: usize,
    /// The organisation of the tasks.
    pub org: String,
    /// The priority of the tasks.
    pub priority: u8,
}

impl Default for WebhookOptions {
    fn default() -> Self {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let org = String::new();
        Self {
            address,
            path: "/tasks".to_owned(),
            token: None,
            secret: None,
            max_body: 1 << 20,
            org,
            priority: 0,
        }
    }
}

/// Omits the token and the secret.
impl fmt::Debug for WebhookOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookOptions")
            .field("address", &self.address)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A webhook that receives deliveries, as a task source.
#[derive(Debug)]
pub struct Webhook {
    _runtime: Runtime,
    address: SocketAddr,
    inbox: Arc<WebhookInbox>,
}

#[derive(Debug)]
struct WebhookInbox {
    options: WebhookOptions,
    journal: Mutex<TaskJournal<Value>>,
    arrived: Condvar,
}

impl Webhook {
    /// Starts to listen, and stores deliveries in a journal.
    ///
    /// # Errors
    /// The address is not available, or anybody could deliver: an address that other machines reach
    /// requires a token and a secret.
    pub fn start(journal: TaskJournal<Value>, options: WebhookOptions) -> Result<Self, Obstacle> {
        let address = options.address;
        let proofs = [&options.token, &options.secret];
        let is_proven = proofs
            .into_iter()
            .all(|proof| proof.as_ref().is_some_and(|proof| !proof.is_empty()));
        if !is_proven && !address.ip().is_loopback() {
            return Err(source_obstacle(format!(
                "other machines reach {address}: a webhook there needs a token and a secret for signatures"
            )));
        }
        let unheard = |why: std::io::Error| {
            source_obstacle(format!("the webhook cannot listen on {address}: {why}"))
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_io()
            .enable_time()
            .build()
            .map_err(unheard)?;
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(unheard)?;
        let address = listener.local_addr().map_err(unheard)?;
        let inbox = Arc::new(WebhookInbox {
            options,
            journal: Mutex::new(journal),
            arrived: Condvar::new(),
        });
        runtime.spawn(accept_connections(listener, Arc::clone(&inbox)));
        Ok(Self {
            _runtime: runtime,
            address,
            inbox,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until an unclaimed task is available, or the time is over.
    pub fn wait(&self, max: Duration) {
        let is_empty = |journal: &mut TaskJournal<Value>| journal.waiting().next().is_none();
        // A poisoned lock is still a lock.
        drop(
            self.inbox
                .arrived
                .wait_timeout_while(self.inbox.lock_journal(), max, is_empty),
        );
    }
}

impl TaskSource<Value> for Webhook {
    fn claim(&mut self) -> Result<Option<Task<Value>>, Obstacle> {
        self.inbox.lock_journal().claim()
    }

    fn complete(&mut self, id: &str) -> Result<(), Obstacle> {
        self.inbox.lock_journal().complete(id)
    }

    fn release(&mut self, id: &str) -> Result<(), Obstacle> {
        self.inbox.lock_journal().release(id)
    }
}

impl WebhookInbox {
    fn lock_journal(&self) -> MutexGuard<'_, TaskJournal<Value>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if senders need no proof. A web page whose host name resolves to this machine
    /// could then deliver tasks.
    const fn accepts_anyone(&self) -> bool {
        self.options.token.is_none() && self.options.secret.is_none()
    }

    /// Checks that a sender may deliver here, by the path and the head of its request.
    fn check_sender(
        &self,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<(), (StatusCode, &'static str)> {
        let Some(rest) = path.strip_prefix(self.options.path.trim_end_matches('/')) else {
            return Err((
                StatusCode::NOT_FOUND,
                "no deliveries are taken at this path",
            ));
        };
        if self.accepts_anyone() && !header_text(headers, HOST.as_str()).is_some_and(is_loopback) {
            return Err((
                StatusCode::FORBIDDEN,
                "without a token or a secret, deliveries are taken for this machine's own address alone",
            ));
        }
        let rest = rest.trim_matches('/');
        let Some(token) = &self.options.token else {
            return if rest.is_empty() {
                Ok(())
            } else {
                Err((
                    StatusCode::NOT_FOUND,
                    "no deliveries are taken at this path",
                ))
            };
        };
        let bearer = header_text(headers, AUTHORIZATION.as_str())
            .and_then(|value| value.strip_prefix("Bearer "));
        let presented = bearer.unwrap_or(rest);
        // Comparing hashes reveals nothing about the token through timing.
        let is_token = Hash::digest(presented.as_bytes()) == Hash::digest(token.as_bytes());
        if is_token {
            Ok(())
        } else {
            Err((StatusCode::UNAUTHORIZED, "the token is missing or wrong"))
        }
    }

    /// Returns true if the signature matches the body.
    fn has_valid_signature(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let Some(secret) = &self.options.secret else {
            return true;
        };
        let given =
            header_text(headers, SIGNATURE_HEADER).and_then(|value| value.strip_prefix("sha256="));
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        given
            .and_then(decode_hex)
            .is_some_and(|signature| hmac::verify(&key, body, &signature).is_ok())
    }

    /// Stores a delivery; returns true if it is new.
    fn store_delivery(&self, id: String, payload: Value) -> Result<bool, Obstacle> {
        let task = Task {
            priority: self.options.priority,
            ..Task::new(&self.options.org, id, payload)
        };
        let is_new = self.lock_journal().add(task)?;
        self.arrived.notify_one();
        Ok(is_new)
    }
}

async fn accept_connections(listener: TcpListener, inbox: Arc<WebhookInbox>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many files are open; wait until some are closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let inbox = Arc::clone(&inbox);
        tokio::spawn(async move {
            let _place = place;
            let service = service_fn(move |request: Request<Incoming>| {
                let inbox = Arc::clone(&inbox);
                async move { Ok::<_, Infallible>(serve_request(request, inbox).await) }
            });
            let mut server = http1::Builder::new();
            server
                .timer(TokioTimer::new())
                .header_read_timeout(READ_TIMEOUT);
            // A broken connection needs no handling: the sender repeats unacknowledged deliveries.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn serve_request(
    request: Request<Incoming>,
    inbox: Arc<WebhookInbox>,
) -> Response<Full<Bytes>> {
    match accept_delivery(request, inbox).await {
        Ok((id, true)) => json_response(StatusCode::ACCEPTED, &json!({"id": id, "known": false})),
        Ok((id, false)) => json_response(StatusCode::OK, &json!({"id": id, "known": true})),
        Err((status, why)) => json_response(status, &json!({"error": why})),
    }
}

/// Processes a delivery; returns its id, and true if it is new.
async fn accept_delivery(
    request: Request<Incoming>,
    inbox: Arc<WebhookInbox>,
) -> Result<(String, bool), (StatusCode, String)> {
    let refused = |(status, why): (StatusCode, &str)| (status, why.to_owned());
    inbox
        .check_sender(request.uri().path(), request.headers())
        .map_err(refused)?;
    if request.method() != Method::POST {
        return Err(refused((
            StatusCode::METHOD_NOT_ALLOWED,
            "a delivery is a POST",
        )));
    }
    let media = header_text(request.headers(), CONTENT_TYPE.as_str())
        .unwrap_or("")
        .split(';')
        .next()
        .unwrap_or("")
        .trim();
    if !(media.eq_ignore_ascii_case("application/json") || media.ends_with("+json")) {
        return Err(refused((
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "a delivery is JSON: its content type is application/json",
        )));
    }
    let (head, body) = request.into_parts();
    let read = tokio::time::timeout(
        READ_TIMEOUT,
        Limited::new(body, inbox.options.max_body).collect(),
    )
    .await;
    let body = match read {
        Err(_) => {
            return Err(refused((
                StatusCode::REQUEST_TIMEOUT,
                "the body did not arrive in time",
            )));
        }
        Ok(Err(why)) if why.is::<LengthLimitError>() => {
            return Err((
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("a body has at most {} bytes", inbox.options.max_body),
            ));
        }
        Ok(Err(why)) => {
            return Err((
                StatusCode::BAD_REQUEST,
                format!("the body could not be read: {why}"),
            ));
        }
        Ok(Ok(body)) => body.to_bytes(),
    };
    if !inbox.has_valid_signature(&head.headers, &body) {
        return Err(refused((
            StatusCode::UNAUTHORIZED,
            "the signature is missing or does not fit the body",
        )));
    }
    let payload: Value = serde_json::from_slice(&body).map_err(|why| {
        (
            StatusCode::BAD_REQUEST,
            format!("the body is not JSON: {why}"),
        )
    })?;
    let named = ID_HEADERS
        .iter()
        .find_map(|name| header_text(&head.headers, name))
        .filter(|id| !id.is_empty());
    if named.is_some_and(|id| id.len() > MAX_ID_CHARS) {
        return Err((
            StatusCode::BAD_REQUEST,
            format!("the id of a delivery has at most {MAX_ID_CHARS} characters"),
        ));
    }
    let id = named.map_or_else(|| Hash::digest(&body).to_string(), str::to_owned);
    let name = id.clone();
    // A blocking task, so that other work of the runtime does not wait for the disk.
    let outcome = tokio::task::spawn_blocking(move || inbox.store_delivery(name, payload)).await;
    match outcome {
        Ok(Ok(is_new)) => Ok((id, is_new)),
        Ok(Err(_)) | Err(_) => Err(refused((
            StatusCode::SERVICE_UNAVAILABLE,
            "the delivery could not be kept; try again",
        ))),
    }
}

/// Returns true for a host that names this machine, with any port.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn json_response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json"),
    );
    response
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let pairs = digits
        .as_deref()
        .filter(|digits| digits.len().is_multiple_of(2))?
        .chunks_exact(2);
    Some(
        pairs
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect(),
    )
}

const fn source_obstacle(note: String) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Source,
        note,
    }
}
