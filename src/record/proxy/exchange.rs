//! One call: answered by its provider, by an earlier recording or by a script, and recorded.

use super::super::mask::CallMask;
use super::super::recording::AnsweredBy;
use super::super::response_body::{self, ResponseDraft};
use super::body::{self, BodyError, ResponseStream, full_body};
use super::call_recorder::{CallRecorder, MaskedRequest, ReceivedAnswer};
use super::forward::{
    self, ForwardError, ForwardLimits, HttpClient, innermost_reason, remove_hop_headers,
};
use super::replay::Replay;
use super::request::{self, IncomingCall, StrictMode};
use super::streams::stream_parts;
use super::vendor::{self, ProxyVendor};
use crate::kernel::provider::Answer;
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, LengthLimitError};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// Returns a script's answer to the texts of a request; `None` if it has none.
pub type ScriptFn = Arc<dyn Fn(&str) -> Option<Answer> + Send + Sync>;

/// The source of answers.
#[derive(Clone)]
pub enum ProxySource {
    /// The providers.
    Upstream,
    /// An earlier recording.
    Replay(Arc<Replay>),
    /// A script.
    Script(ScriptFn),
}

/// A route through the proxy.
#[derive(Clone, Debug)]
pub struct ProxyRoute {
    /// The path segment that selects it.
    pub name: String,
    /// The vendor.
    pub vendor: &'static ProxyVendor,
    /// The upstream URL.
    pub upstream: String,
}

/// The state of a proxy that answers and records calls.
pub(super) struct Proxy {
    /// The path prefix of this run.
    pub(super) token: String,
    pub(super) routes: Vec<ProxyRoute>,
    pub(super) source: ProxySource,
    pub(super) strict: StrictMode,
    pub(super) limits: ForwardLimits,
    pub(super) client: HttpClient,
    pub(super) recorder: CallRecorder,
    pub(super) calls: AtomicU64,
    /// The number of calls that are not recorded yet.
    pub(super) open: AtomicUsize,
    /// Turns `true` when the run ends.
    pub(super) run_end: watch::Receiver<bool>,
}

/// A call that is being answered. If the program disconnects meanwhile, that is recorded.
struct PendingCall {
    proxy: Arc<Proxy>,
    incoming: Arc<IncomingCall>,
    masking: Option<JoinHandle<MaskedRequest>>,
    started: Instant,
    /// The time that the proxy itself took.
    proxy_time: Duration,
}

fn build_response(
    status: u16,
    content_type: &str,
    body: ResponseStream,
) -> Response<ResponseStream> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

/// The maximum size in bytes of a request that is checked like a vendor does, when `ctxc` stands in
/// for one; a check takes a multiple of it in memory.
const MAX_CHECKED_BYTES: usize = 32 << 20;
const JSON_TYPE: &str = "application/json";
/// The message to a program that uses a wrong path.
const UNKNOWN_REQUEST_MESSAGE: &str = "this is the proxy of `ctxc`: it answers the program that it runs alone, at the addresses in the variables that it sets\n";

impl Proxy {
    /// Answers a request.
    pub(super) async fn answer_request(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Response<ResponseStream> {
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned();
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let reject_unknown = |status| {
            self.recorder.lock_tally().unknown_requests += 1;
            build_response(status, "text/plain", full_body(UNKNOWN_REQUEST_MESSAGE))
        };
        if parts.next() != Some(self.token.as_str()) {
            return reject_unknown(403);
        }
        let name = parts.next().unwrap_or_default();
        let Some(route) = self.routes.iter().find(|route| route.name == name).cloned() else {
            return reject_unknown(404);
        };
        let rest = format!("/{}", parts.next().unwrap_or_default());
        let (endpoint, keys) = request::split_endpoint(route.vendor, &rest);
        let (head, body) = request.into_parts();
        if is_web_socket(&head.headers) {
            let path = endpoint.split('?').next().unwrap_or(&endpoint);
            self.recorder
                .lock_tally()
                .lost
                .push(format!("{path}: a WebSocket, which cannot be recorded"));
            return refuse_web_socket(route.vendor.name);
        }
        let begun = Instant::now();
        let bytes = match request::read_body(body).await {
            Ok(bytes) => bytes,
            Err(why) if why.is::<LengthLimitError>() => {
                let message = format!(
                    "ctxc: the request has more than {} bytes",
                    request::MAX_BODY_BYTES
                );
                self.recorder.lock_tally().faults.push(message.clone());
                return build_response(
                    413,
                    JSON_TYPE,
                    full_body(body::error_body(
                        route.vendor.name,
                        413,
                        "request_too_large",
                        &message,
                    )),
                );
            }
            Err(_) => {
                self.recorder
                    .lock_tally()
                    .lost
                    .push("the program broke off before it had sent the whole body".to_owned());
                return build_response(
                    400,
                    "text/plain",
                    full_body("ctxc: the request ended early\n"),
                );
            }
        };
        let start = Instant::now();
        let mut secrets = request::header_secret_values(&head.headers);
        secrets.extend(keys);
        let mask = self.recorder.mask_with(secrets);
        let address = route
            .vendor
            .call_url(&route.upstream, &route.vendor.recorded_path(&rest));
        let incoming = if head.method == Method::POST {
            IncomingCall::parse(route.vendor, &head, endpoint.clone(), bytes)
        } else {
            Err(bytes)
        };
        let incoming = match incoming {
            Ok(incoming) => incoming,
            Err(bytes) => {
                return self
                    .pass_through(
                        OtherRequest {
                            head: &head,
                            endpoint: &endpoint,
                            vendor: route.vendor,
                            address: &address,
                            bytes: bytes.into(),
                        },
                        &mask,
                    )
                    .await;
            }
        };
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let incoming = Arc::new(IncomingCall {
            id: number.to_string(),
            ..incoming
        });
        self.open.fetch_add(1, Ordering::AcqRel);
        let (of, with) = (Arc::clone(&incoming), mask.clone());
        let masking_task = Some(spawn_blocking(move || {
            CallRecorder::mask_request(&of, with)
        }));
        let call = PendingCall {
            proxy: Arc::clone(&self),
            incoming,
            masking: masking_task,
            started: begun,
            proxy_time: start.elapsed(),
        };
        match &self.source {
            // An answer that cannot be recorded would be paid for again.
            ProxySource::Upstream if self.recorder.recording_failure().is_some() => call.refused(),
            ProxySource::Upstream => {
                let bytes = Bytes::from_owner(call.incoming.body.clone());
                let sent =
                    forward::send_request(&self.client, &head, &address, bytes, self.limits).await;
                match sent {
                    Ok(response) => call.forward_response(response),
                    Err(failed) => call.answer_failure(&failed, &route.upstream).await,
                }
            }
            ProxySource::Replay(_) | ProxySource::Script(_) => call.answer_locally(&mask).await,
        }
    }

    /// Forwards a request that is not a call, without recording it.
    async fn pass_through(
        &self,
        request: OtherRequest<'_>,
        mask: &CallMask,
    ) -> Response<ResponseStream> {
        let OtherRequest {
            head,
            endpoint,
            vendor,
            address,
            bytes,
        } = request;
        self.recorder.lock_tally().other_requests += 1;
        let error = |status, message: &str| {
            let mut response = build_response(
                status,
                JSON_TYPE,
                full_body(body::error_body(vendor.name, status, "ctxc", message)),
            );
            response
                .headers_mut()
                .insert("x-should-retry", HeaderValue::from_static("false"));
            response
        };
        if !matches!(self.source, ProxySource::Upstream) {
            if head.method != Method::POST {
                return error(
                    404,
                    "ctxc: a recording or a script answers calls to a model, and nothing else",
                );
            }
            // Invalid JSON gets the error that its vendor would return.
            let refusal = vendor::endpoint_dialect(endpoint).and_then(|spoken| {
                let hook = self
                    .strict
                    .hook
                    .as_ref()
                    .filter(|_| !self.strict.is_lenient)?;
                Some((spoken, hook(endpoint, &String::from_utf8_lossy(&bytes))?))
            });
            if let Some((spoken, refusal)) = refusal {
                let words = mask.mask_text(&refusal.error_message());
                self.recorder.lock_tally().refusals.push(words.clone());
                return build_response(
                    refusal.status,
                    JSON_TYPE,
                    full_body(body::error_body(
                        spoken,
                        refusal.status,
                        &refusal.rule,
                        &words,
                    )),
                );
            }
            let miss = "a request whose body is not valid JSON has no recorded answer";
            self.recorder.lock_tally().misses.push(miss.to_owned());
            return error(422, &format!("ctxc: {miss}"));
        }
        if head.method == Method::POST && !bytes.is_empty() {
            let header = |name| {
                head.headers
                    .get(name)
                    .and_then(|value| value.to_str().ok()?.split(';').next())
            };
            let kind = header(CONTENT_ENCODING)
                .or_else(|| header(CONTENT_TYPE))
                .unwrap_or("of no type");
            let path = endpoint.split('?').next().unwrap_or(endpoint);
            self.recorder
                .lock_tally()
                .lost
                .push(mask.mask_text(&format!("{path}: its body is not valid JSON ({kind})")));
        }
        match forward::send_request(&self.client, head, address, bytes, self.limits).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                remove_hop_headers(&mut head.headers);
                Response::from_parts(head, body.map_err(Into::into).boxed())
            }
            Err(failed) => error(502, &format!("ctxc: {}", failed.describe(address))),
        }
    }
}

/// A request that is not a call of a model.
struct OtherRequest<'r> {
    head: &'r Parts,
    endpoint: &'r str,
    vendor: &'r ProxyVendor,
    /// The URL to which it is forwarded.
    address: &'r str,
    bytes: Bytes,
}

impl ForwardError {
    fn describe(&self, address: &str) -> String {
        // The query may contain secrets, and so may the text before the host.
        let address = address.split('?').next().unwrap_or(address);
        let address = address.rsplit_once('@').map_or(address, |(_, host)| host);
        match self {
            Self::Unreachable(why) => format!("{address} could not be reached: {why}"),
            Self::Timeout(after) => format!(
                "no answer from {address} within {} s (`--timeout`)",
                after.as_secs_f64()
            ),
        }
    }
}

/// Returns the headers of a response as text.
fn header_map(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
        .collect()
}

/// True if a request would turn its connection into a WebSocket.
fn is_web_socket(headers: &HeaderMap) -> bool {
    headers.get_all(UPGRADE).iter().any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.to_ascii_lowercase().contains("websocket"))
    })
}

/// Refuses a WebSocket with the status after which clients that also speak HTTP use that (RFC 9110,
/// 15.5.22).
fn refuse_web_socket(vendor: &str) -> Response<ResponseStream> {
    let message = "ctxc: a WebSocket cannot be recorded or replayed; use the same API over HTTP";
    let mut response = build_response(
        426,
        JSON_TYPE,
        full_body(body::error_body(vendor, 426, "ctxc", message)),
    );
    response
        .headers_mut()
        .insert("x-should-retry", HeaderValue::from_static("false"));
    response
        .headers_mut()
        .insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
    response
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    kind.contains("event-stream") || kind.contains("ndjson")
}

impl PendingCall {
    /// Records the call with the received answer.
    async fn record(&mut self, got: ReceivedAnswer) {
        let Some(kept) = self.masking.take() else {
            return;
        };
        let start = Instant::now();
        if let Ok(kept) = kept.await {
            let (proxy, incoming) = (Arc::clone(&self.proxy), Arc::clone(&self.incoming));
            // If the recording thread panics, the call is answered all the same.
            let _ = spawn_blocking(move || proxy.recorder.record_call(&incoming, kept, got)).await;
        }
        self.proxy.recorder.lock_tally().added += self.proxy_time + start.elapsed();
        self.proxy.open.fetch_sub(1, Ordering::AcqRel);
    }

    fn empty_answer(&self, by: AnsweredBy) -> ReceivedAnswer {
        ReceivedAnswer {
            by,
            latency: self.started.elapsed(),
            ..ReceivedAnswer::default()
        }
    }

    /// The call is not made, since an earlier one could not be kept.
    fn refused(mut self) -> Response<ResponseStream> {
        self.masking = None;
        let why = self.proxy.recorder.recording_failure().unwrap_or_default();
        let message = format!(
            "ctxc: the call is not made, since its answer would be lost as an earlier one was: {why}"
        );
        self.proxy.recorder.lock_tally().misses.push(format!(
            "call {}: not made, since an earlier call could not be kept",
            self.incoming.id
        ));
        self.proxy.open.fetch_sub(1, Ordering::AcqRel);
        let mut response = build_response(
            MISS_STATUS,
            JSON_TYPE,
            full_body(body::error_body(
                self.incoming.vendor.name,
                MISS_STATUS,
                "ctxc",
                &message,
            )),
        );
        response.headers_mut().insert(
            "x-should-retry",
            hyper::header::HeaderValue::from_static("false"),
        );
        response
    }

    /// Answers the program after the upstream could not be reached.
    async fn answer_failure(
        mut self,
        failed: &ForwardError,
        upstream: &str,
    ) -> Response<ResponseStream> {
        let words = failed.describe(upstream);
        let status = if matches!(failed, ForwardError::Timeout(_)) {
            504
        } else {
            502
        };
        let got = ReceivedAnswer {
            error: Some(words.clone()),
            ..self.empty_answer(AnsweredBy::Upstream)
        };
        self.record(got).await;
        build_response(
            status,
            JSON_TYPE,
            full_body(body::error_body(
                self.incoming.vendor.name,
                status,
                "ctxc",
                &format!("ctxc: {words}"),
            )),
        )
    }

    /// Forwards a response part by part as it arrives, and records it.
    fn forward_response(self, response: Response<Incoming>) -> Response<ResponseStream> {
        let (mut head, body) = response.into_parts();
        remove_hop_headers(&mut head.headers);
        let text = |name| {
            head.headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let got = ReceivedAnswer {
            status: Some(head.status.as_u16()),
            headers: header_map(&head.headers),
            encoding: text(CONTENT_ENCODING),
            is_stream: is_stream(&head.headers)
                || self.incoming.is_stream && head.status.is_success(),
            ..self.empty_answer(AnsweredBy::Upstream)
        };
        let length = text(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let (sender, channel) = Channel::new(4);
        tokio::spawn(self.forward_parts(body, sender, got, length));
        Response::from_parts(head, channel.boxed())
    }

    /// The last part is forwarded after the call is recorded: no program sees the end of an
    /// unrecorded call.
    async fn forward_parts(
        mut self,
        mut body: Incoming,
        mut sender: Sender<Bytes, BodyError>,
        mut got: ReceivedAnswer,
        length: Option<u64>,
    ) {
        let mut run_end = self.proxy.run_end.clone();
        let mut seen = 0;
        let fault = loop {
            let next = race(
                timeout(self.proxy.limits.idle, body.frame()),
                run_end.wait_for(|has_ended| *has_ended),
            )
            .await;
            let Some(next) = next else {
                got.is_unwanted = true;
                break Some("the run ended before the answer did".to_owned());
            };
            let part = match next {
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(part) => part,
                    Err(_) => continue,
                },
                Ok(None) => break None,
                Ok(Some(Err(error))) => {
                    break Some(format!("the answer was cut: {}", innermost_reason(&error)));
                }
                Err(_) => {
                    break Some(format!(
                        "no byte of the answer within {} s",
                        self.proxy.limits.idle.as_secs_f64()
                    ));
                }
            };
            seen += part.len() as u64;
            got.parts.push((
                u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
                part.clone(),
            ));
            if length == Some(seen) {
                got.latency = self.started.elapsed();
                self.record(got).await;
                // A program that has disconnected needs no end.
                let _ = sender.send_data(part).await;
                return;
            }
            if sender.send_data(part).await.is_err() {
                got.is_unwanted = true;
                break Some("the program closed the connection before the answer ended".to_owned());
            }
        };
        got.latency = self.started.elapsed();
        got.is_cut = fault.is_some();
        got.error.clone_from(&fault);
        self.record(got).await;
        if let Some(fault) = fault {
            // The program sees the cut as well.
            sender.abort(fault.into());
        }
    }

    /// Answers from a recording or a script.
    async fn answer_locally(mut self, mask: &CallMask) -> Response<ResponseStream> {
        let by = if matches!(self.proxy.source, ProxySource::Script(_)) {
            AnsweredBy::Script
        } else {
            AnsweredBy::Replay
        };
        let (status, kind, parts, is_stream) = self.find_answer(mask);
        let mut got = self.empty_answer(by);
        got.status = Some(status);
        got.headers.insert("content-type".to_owned(), kind.clone());
        got.parts = parts
            .iter()
            .map(|part| (0, Bytes::from(part.clone())))
            .collect();
        got.is_stream = is_stream;
        self.record(got).await;
        let mut response = build_response(
            status,
            &kind,
            if is_stream {
                body::body_of_parts(parts)
            } else {
                full_body(parts.concat())
            },
        );
        if status == MISS_STATUS {
            response
                .headers_mut()
                .insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }

    /// Returns the status, content type and parts of an answer, and true if it is a stream.
    fn find_answer(&self, mask: &CallMask) -> (u16, String, Vec<String>, bool) {
        let incoming = &*self.incoming;
        let vendor = if incoming.dialect == request::OTHER_DIALECT {
            incoming.vendor.name
        } else {
            incoming.dialect
        };
        let error = |status, kind: &str, message: &str| {
            (
                status,
                JSON_TYPE.to_owned(),
                vec![body::error_body(vendor, status, kind, message)],
                false,
            )
        };
        let StrictMode { hook, is_lenient } = &self.proxy.strict;
        let hook = hook
            .as_ref()
            .filter(|_| incoming.dialect != request::OTHER_DIALECT);
        let is_small = incoming.body.len() <= MAX_CHECKED_BYTES;
        if hook.is_some() && !is_small {
            let size = incoming.body.len();
            let words = format!(
                "call {}: it has {size} bytes, and the rules look at requests of up to {MAX_CHECKED_BYTES}",
                incoming.id
            );
            self.proxy.recorder.lock_tally().unchecked.push(words);
        }
        let refusal = hook
            .filter(|_| is_small)
            .and_then(|hook| hook(&incoming.endpoint, &incoming.body));
        // A request that its vendor answered with success is not rejected, whatever a rule expects.
        let is_disproved = || matches!(&self.proxy.source, ProxySource::Replay(replay) if replay.is_vendor_success(incoming, mask));
        if let Some(refusal) = refusal.filter(|_| !is_disproved()) {
            let from = incoming.caller.as_ref().map_or_else(String::new, |caller| {
                format!(", sent from {}", mask.mask_text(caller))
            });
            self.proxy.recorder.lock_tally().refusals.push(format!(
                "call {}{from}: {}",
                incoming.id,
                mask.mask_text(&refusal.error_message())
            ));
            if !is_lenient {
                return error(refusal.status, &refusal.rule, &refusal.error_message());
            }
        }
        let found = match &self.proxy.source {
            ProxySource::Replay(replay) => replay.next_answer(incoming, mask).map(|call| {
                let kind = call
                    .headers
                    .get("content-type")
                    .cloned()
                    .unwrap_or_else(|| JSON_TYPE.to_owned());
                let status = call.status.unwrap_or(200);
                match &call.chunks {
                    Some(chunks) => (
                        status,
                        kind,
                        chunks.iter().map(|(_, part)| part.clone()).collect(),
                        true,
                    ),
                    None => (
                        status,
                        kind,
                        vec![call.response_text().unwrap_or_default()],
                        false,
                    ),
                }
            }),
            ProxySource::Script(_) if incoming.dialect == request::OTHER_DIALECT => Err(format!(
                "a script answers calls to a chat model, and this one went to {}: `ctxc record` without `--script` keeps what its \
                 provider answers, and `ctxc replay` gives that",
                incoming.endpoint
            )),
            ProxySource::Script(script) => {
                let answer = script(&incoming.joined_texts())
                    .ok_or_else(|| "no answer of the script is for this request".to_owned());
                answer.map(|scripted| scripted_response(incoming, &scripted))
            }
            ProxySource::Upstream => Err("nobody answers".to_owned()),
        };
        found.unwrap_or_else(|why| {
            let why = mask.mask_text(&why);
            self.proxy
                .recorder
                .lock_tally()
                .misses
                .push(format!("call {}: {why}", incoming.id));
            error(MISS_STATUS, "ctxc", &format!("ctxc: {why}"))
        })
    }
}

/// Returns the output of `next`, or `None` if `end` completes first.
async fn race<T, E>(next: impl Future<Output = T>, end: impl Future<Output = E>) -> Option<T> {
    let (mut next, mut end) = (pin!(next), pin!(end));
    poll_fn(|cx| match next.as_mut().poll(cx) {
        Poll::Ready(next) => Poll::Ready(Some(next)),
        Poll::Pending => end.as_mut().poll(cx).map(|_| None),
    })
    .await
}

/// The status for a call without a recorded answer. Client libraries retry after a status of 500 or
/// more.
const MISS_STATUS: u16 = 422;

fn scripted_response(incoming: &IncomingCall, answer: &Answer) -> (u16, String, Vec<String>, bool) {
    let draft = ResponseDraft {
        answer,
        id: format!("ctxc_{}", incoming.id),
        model: &incoming.model,
        wants_usage: incoming.wants_usage,
        is_sse: incoming.endpoint.contains("alt=sse"),
    };
    if !incoming.is_stream {
        return (
            200,
            JSON_TYPE.to_owned(),
            vec![response_body::complete_body(incoming.dialect, &draft)],
            false,
        );
    }
    let kind = match incoming.dialect {
        "ollama" => "application/x-ndjson",
        "gemini" if !draft.is_sse => JSON_TYPE,
        _ => "text/event-stream",
    };
    (
        200,
        kind.to_owned(),
        stream_parts(incoming.dialect, &draft),
        true,
    )
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if self.masking.is_none() {
            return;
        }
        // The program closed the connection before the answer.
        let mut call = Self {
            proxy: Arc::clone(&self.proxy),
            incoming: Arc::clone(&self.incoming),
            masking: self.masking.take(),
            started: self.started,
            proxy_time: self.proxy_time,
        };
        let error = Some("the program closed the connection before there was an answer".to_owned());
        let got = ReceivedAnswer {
            error,
            is_unwanted: true,
            ..call.empty_answer(AnsweredBy::Upstream)
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { call.record(got).await });
        }
    }
}
