//! One call: answered by its provider, by an earlier recording or by a script, and recorded.

use super::super::mask::Mask;
use super::super::recording::AnsweredBy;
use super::super::response_body::{self, Made};
use super::body::{self, Fault, Outgoing, full};
use super::errors;
use super::forward::{self, Failed, HttpClient, Limits, plain, reason};
use super::keeper::{Got, Keeper, Kept};
use super::replay::Replay;
use super::request::{self, Asked};
use super::streams::stream;
use super::strict::Strict;
use super::vendor::{self, Vendor};
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
pub type Script = Arc<dyn Fn(&str) -> Option<Answer> + Send + Sync>;

/// The source of answers.
#[derive(Clone)]
pub enum Source {
    /// The providers.
    Upstream,
    /// An earlier recording.
    Replay(Arc<Replay>),
    /// A script.
    Script(Script),
}

/// A route through the proxy.
#[derive(Clone, Debug)]
pub struct Route {
    /// The path segment that selects it.
    pub name: String,
    /// The vendor.
    pub vendor: &'static Vendor,
    /// The upstream URL.
    pub upstream: String,
}

/// The state of a proxy that answers and records calls.
pub(super) struct Proxy {
    /// The path prefix of this run.
    pub(super) token: String,
    pub(super) routes: Vec<Route>,
    pub(super) source: Source,
    pub(super) strict: Strict,
    pub(super) limits: Limits,
    pub(super) client: HttpClient,
    pub(super) keeper: Keeper,
    pub(super) calls: AtomicU64,
    /// The number of calls that are not recorded yet.
    pub(super) open: AtomicUsize,
    /// Turns `true` when the run ends.
    pub(super) over: watch::Receiver<bool>,
}

/// A call that is being answered. If the program disconnects meanwhile, that is recorded.
struct Call {
    proxy: Arc<Proxy>,
    asked: Arc<Asked>,
    kept: Option<JoinHandle<Kept>>,
    begun: Instant,
    /// The time that the proxy itself took.
    own: Duration,
}

fn answer(status: u16, content_type: &str, body: Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(CONTENT_TYPE, value);
    }
    response
}

/// The maximum size in bytes of a request that a double checks; a check takes a multiple of it in
/// memory.
const CHECKED: usize = 32 << 20;
const JSON: &str = "application/json";
/// The message to a program that uses a wrong path.
const STRANGER: &str = "this is the proxy of `ctxc`: it answers the program that it runs alone, at the addresses in the variables that it sets\n";

impl Proxy {
    /// Answers a request.
    pub(super) async fn serve(self: Arc<Self>, request: Request<Incoming>) -> Response<Outgoing> {
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned();
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let stranger = |status| {
            self.keeper.tally().strangers += 1;
            answer(status, "text/plain", full(STRANGER))
        };
        if parts.next() != Some(self.token.as_str()) {
            return stranger(403);
        }
        let name = parts.next().unwrap_or_default();
        let Some(route) = self.routes.iter().find(|route| route.name == name).cloned() else {
            return stranger(404);
        };
        let rest = format!("/{}", parts.next().unwrap_or_default());
        let (endpoint, keys) = request::endpoint(route.vendor, &rest);
        let (head, body) = request.into_parts();
        if is_web_socket(&head.headers) {
            let path = endpoint.split('?').next().unwrap_or(&endpoint);
            self.keeper
                .tally()
                .lost
                .push(format!("{path}: a WebSocket, which cannot be recorded"));
            return refuse_web_socket(route.vendor.name);
        }
        let begun = Instant::now();
        let bytes = match request::whole(body).await {
            Ok(bytes) => bytes,
            Err(why) if why.is::<LengthLimitError>() => {
                let message = format!("ctxc: the request has more than {} bytes", request::LARGEST);
                self.keeper.tally().faults.push(message.clone());
                return answer(
                    413,
                    JSON,
                    full(errors::body(
                        route.vendor.name,
                        413,
                        "request_too_large",
                        &message,
                    )),
                );
            }
            Err(_) => {
                self.keeper
                    .tally()
                    .lost
                    .push("the program broke off before it had sent the whole body".to_owned());
                return answer(400, "text/plain", full("ctxc: the request ended early\n"));
            }
        };
        let start = Instant::now();
        let mut secrets = request::secrets(&head.headers);
        secrets.extend(keys);
        let mask = self.keeper.mask(secrets);
        let address = route
            .vendor
            .address(&route.upstream, &route.vendor.endpoint(&rest));
        let asked = if head.method == Method::POST {
            Asked::read(route.vendor, &head, endpoint.clone(), bytes)
        } else {
            Err(bytes)
        };
        let asked = match asked {
            Ok(asked) => asked,
            Err(bytes) => {
                return self
                    .pass(
                        (&head, &endpoint),
                        route.vendor,
                        &address,
                        bytes.into(),
                        &mask,
                    )
                    .await;
            }
        };
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let asked = Arc::new(Asked {
            id: number.to_string(),
            ..asked
        });
        self.open.fetch_add(1, Ordering::AcqRel);
        let (of, with) = (Arc::clone(&asked), mask.clone());
        let kept = Some(spawn_blocking(move || Keeper::request(&of, with)));
        let call = Call {
            proxy: Arc::clone(&self),
            asked,
            kept,
            begun,
            own: start.elapsed(),
        };
        match &self.source {
            // What is paid for and lost must be paid for again.
            Source::Upstream if self.keeper.unkept().is_some() => call.refused(),
            Source::Upstream => {
                let bytes = Bytes::from_owner(call.asked.body.clone());
                let sent = forward::send(&self.client, &head, &address, bytes, self.limits).await;
                match sent {
                    Ok(response) => call.pass_on(response),
                    Err(failed) => call.failed(&failed, &route.upstream).await,
                }
            }
            Source::Replay(_) | Source::Script(_) => call.local(&mask).await,
        }
    }

    /// Forwards a request that is not a call, without recording it.
    async fn pass(
        &self,
        (head, endpoint): (&Parts, &str),
        vendor: &Vendor,
        address: &str,
        bytes: Bytes,
        mask: &Mask,
    ) -> Response<Outgoing> {
        self.keeper.tally().passed += 1;
        let error = |status, message: &str| {
            let mut response = answer(
                status,
                JSON,
                full(errors::body(vendor.name, status, "ctxc", message)),
            );
            response
                .headers_mut()
                .insert("x-should-retry", HeaderValue::from_static("false"));
            response
        };
        if !matches!(self.source, Source::Upstream) {
            if head.method != Method::POST {
                return error(
                    404,
                    "ctxc: a recording or a script answers calls to a model, and nothing else",
                );
            }
            // Invalid JSON gets the error that its vendor would return.
            let refusal = vendor::dialect(endpoint).and_then(|spoken| {
                let hook = self
                    .strict
                    .hook
                    .as_ref()
                    .filter(|_| !self.strict.is_lenient)?;
                Some((spoken, hook(endpoint, &String::from_utf8_lossy(&bytes))?))
            });
            if let Some((spoken, refusal)) = refusal {
                let words = mask.text(&refusal.words());
                self.keeper.tally().refusals.push(words.clone());
                return answer(
                    refusal.status,
                    JSON,
                    full(errors::body(spoken, refusal.status, &refusal.rule, &words)),
                );
            }
            let miss = "a request whose body is not valid JSON has no recorded answer";
            self.keeper.tally().misses.push(miss.to_owned());
            return error(422, &format!("ctxc: {miss}"));
        }
        if head.method == Method::POST && !bytes.is_empty() {
            let said = |name| {
                head.headers
                    .get(name)
                    .and_then(|value| value.to_str().ok()?.split(';').next())
            };
            let kind = said(CONTENT_ENCODING)
                .or_else(|| said(CONTENT_TYPE))
                .unwrap_or("of no type");
            let path = endpoint.split('?').next().unwrap_or(endpoint);
            self.keeper
                .tally()
                .lost
                .push(mask.text(&format!("{path}: its body is not valid JSON ({kind})")));
        }
        match forward::send(&self.client, head, address, bytes, self.limits).await {
            Ok(response) => {
                let (mut head, body) = response.into_parts();
                plain(&mut head.headers);
                Response::from_parts(head, body.map_err(Into::into).boxed())
            }
            Err(failed) => error(502, &format!("ctxc: {}", failed.words(address))),
        }
    }
}

impl Failed {
    fn words(&self, address: &str) -> String {
        // The query may contain secrets, and so may the text before the host.
        let address = address.split('?').next().unwrap_or(address);
        let address = address.rsplit_once('@').map_or(address, |(_, host)| host);
        match self {
            Self::Unreachable(why) => format!("{address} could not be reached: {why}"),
            Self::Late(after) => format!(
                "no answer from {address} within {} s (`--timeout`)",
                after.as_secs_f64()
            ),
        }
    }
}

/// Returns the headers of a response as text.
fn said(headers: &HeaderMap) -> BTreeMap<String, String> {
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
fn refuse_web_socket(vendor: &str) -> Response<Outgoing> {
    let message = "ctxc: a WebSocket cannot be recorded or replayed; use the same API over HTTP";
    let mut response = answer(426, JSON, full(errors::body(vendor, 426, "ctxc", message)));
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

impl Call {
    /// Records the call with the received answer.
    async fn finish(&mut self, got: Got) {
        let Some(kept) = self.kept.take() else { return };
        let start = Instant::now();
        if let Ok(kept) = kept.await {
            let (proxy, asked) = (Arc::clone(&self.proxy), Arc::clone(&self.asked));
            // If the recording thread panics, the call is answered all the same.
            let _ = spawn_blocking(move || proxy.keeper.finish(&asked, kept, got)).await;
        }
        self.proxy.keeper.tally().added += self.own + start.elapsed();
        self.proxy.open.fetch_sub(1, Ordering::AcqRel);
    }

    fn got(&self, by: AnsweredBy) -> Got {
        Got {
            by,
            latency: self.begun.elapsed(),
            ..Got::default()
        }
    }

    /// The call is not made, since an earlier one could not be kept.
    fn refused(mut self) -> Response<Outgoing> {
        self.kept = None;
        let why = self.proxy.keeper.unkept().unwrap_or_default();
        let message = format!(
            "ctxc: the call is not made, since its answer would be lost as an earlier one was: {why}"
        );
        self.proxy.keeper.tally().misses.push(format!(
            "call {}: not made, since an earlier call could not be kept",
            self.asked.id
        ));
        self.proxy.open.fetch_sub(1, Ordering::AcqRel);
        let mut response = answer(
            MISS,
            JSON,
            full(errors::body(self.asked.vendor.name, MISS, "ctxc", &message)),
        );
        response.headers_mut().insert(
            "x-should-retry",
            hyper::header::HeaderValue::from_static("false"),
        );
        response
    }

    /// Nobody answered.
    async fn failed(mut self, failed: &Failed, upstream: &str) -> Response<Outgoing> {
        let words = failed.words(upstream);
        let status = if matches!(failed, Failed::Late(_)) {
            504
        } else {
            502
        };
        let got = Got {
            error: Some(words.clone()),
            ..self.got(AnsweredBy::Upstream)
        };
        self.finish(got).await;
        answer(
            status,
            JSON,
            full(errors::body(
                self.asked.vendor.name,
                status,
                "ctxc",
                &format!("ctxc: {words}"),
            )),
        )
    }

    /// Forwards a response part by part as it arrives, and records it.
    fn pass_on(self, response: Response<Incoming>) -> Response<Outgoing> {
        let (mut head, body) = response.into_parts();
        plain(&mut head.headers);
        let text = |name| {
            head.headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let got = Got {
            status: Some(head.status.as_u16()),
            headers: said(&head.headers),
            encoding: text(CONTENT_ENCODING),
            is_stream: is_stream(&head.headers) || self.asked.is_stream && head.status.is_success(),
            ..self.got(AnsweredBy::Upstream)
        };
        let length = text(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let (sender, channel) = Channel::new(4);
        tokio::spawn(self.pump(body, sender, got, length));
        Response::from_parts(head, channel.boxed())
    }

    /// The last part is forwarded after the call is recorded: no program sees the end of an
    /// unrecorded call.
    async fn pump(
        mut self,
        mut body: Incoming,
        mut sender: Sender<Bytes, Fault>,
        mut got: Got,
        length: Option<u64>,
    ) {
        let mut over = self.proxy.over.clone();
        let mut seen = 0;
        let fault = loop {
            let next = first(
                timeout(self.proxy.limits.idle, body.frame()),
                over.wait_for(|is_over| *is_over),
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
                    break Some(format!("the answer was cut: {}", reason(&error)));
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
                u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
                part.clone(),
            ));
            if length == Some(seen) {
                got.latency = self.begun.elapsed();
                self.finish(got).await;
                // A program that has disconnected needs no end.
                let _ = sender.send_data(part).await;
                return;
            }
            if sender.send_data(part).await.is_err() {
                got.is_unwanted = true;
                break Some("the program closed the connection before the answer ended".to_owned());
            }
        };
        got.latency = self.begun.elapsed();
        got.is_cut = fault.is_some();
        got.error.clone_from(&fault);
        self.finish(got).await;
        if let Some(fault) = fault {
            // The program sees the cut as well.
            sender.abort(fault.into());
        }
    }

    /// Answers from a recording or a script.
    async fn local(mut self, mask: &Mask) -> Response<Outgoing> {
        let by = if matches!(self.proxy.source, Source::Script(_)) {
            AnsweredBy::Script
        } else {
            AnsweredBy::Replay
        };
        let (status, kind, parts, is_stream) = self.answer(mask);
        let mut got = self.got(by);
        got.status = Some(status);
        got.headers.insert("content-type".to_owned(), kind.clone());
        got.parts = parts
            .iter()
            .map(|part| (0, Bytes::from(part.clone())))
            .collect();
        got.is_stream = is_stream;
        self.finish(got).await;
        let mut response = answer(
            status,
            &kind,
            if is_stream {
                body::parts(parts)
            } else {
                full(parts.concat())
            },
        );
        if status == MISS {
            response
                .headers_mut()
                .insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }

    /// Returns the status, content type and parts of an answer, and true if it is a stream.
    fn answer(&self, mask: &Mask) -> (u16, String, Vec<String>, bool) {
        let asked = &*self.asked;
        let vendor = if asked.dialect == request::OTHER {
            asked.vendor.name
        } else {
            asked.dialect
        };
        let error = |status, kind: &str, message: &str| {
            (
                status,
                JSON.to_owned(),
                vec![errors::body(vendor, status, kind, message)],
                false,
            )
        };
        let Strict { hook, is_lenient } = &self.proxy.strict;
        let hook = hook.as_ref().filter(|_| asked.dialect != request::OTHER);
        let is_small = asked.body.len() <= CHECKED;
        if hook.is_some() && !is_small {
            let size = asked.body.len();
            let words = format!(
                "call {}: it has {size} bytes, and the rules look at requests of up to {CHECKED}",
                asked.id
            );
            self.proxy.keeper.tally().unchecked.push(words);
        }
        let refusal = hook
            .filter(|_| is_small)
            .and_then(|hook| hook(&asked.endpoint, &asked.body));
        // A request that its vendor answered with success is not rejected, whatever a rule expects.
        let is_disproved = || matches!(&self.proxy.source, Source::Replay(replay) if replay.is_vendor_success(asked, mask));
        if let Some(refusal) = refusal.filter(|_| !is_disproved()) {
            let from = asked.caller.as_ref().map_or_else(String::new, |caller| {
                format!(", sent from {}", mask.text(caller))
            });
            self.proxy.keeper.tally().refusals.push(format!(
                "call {}{from}: {}",
                asked.id,
                mask.text(&refusal.words())
            ));
            if !is_lenient {
                return error(refusal.status, &refusal.rule, &refusal.words());
            }
        }
        let found = match &self.proxy.source {
            Source::Replay(replay) => replay.next(asked, mask).map(|call| {
                let kind = call
                    .headers
                    .get("content-type")
                    .cloned()
                    .unwrap_or_else(|| JSON.to_owned());
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
            Source::Script(_) if asked.dialect == request::OTHER => Err(format!(
                "a script answers calls to a chat model, and this one went to {}: `ctxc record` without `--script` keeps what its \
                 provider answers, and `ctxc replay` gives that",
                asked.endpoint
            )),
            Source::Script(script) => {
                let said = script(&asked.texts())
                    .ok_or_else(|| "no answer of the script is for this request".to_owned());
                said.map(|said| scripted(asked, &said))
            }
            Source::Upstream => Err("nobody answers".to_owned()),
        };
        found.unwrap_or_else(|why| {
            let why = mask.text(&why);
            self.proxy
                .keeper
                .tally()
                .misses
                .push(format!("call {}: {why}", asked.id));
            error(MISS, "ctxc", &format!("ctxc: {why}"))
        })
    }
}

/// Returns the output of `next`, or `None` if `end` completes first.
async fn first<T, E>(next: impl Future<Output = T>, end: impl Future<Output = E>) -> Option<T> {
    let (mut next, mut end) = (pin!(next), pin!(end));
    poll_fn(|cx| match next.as_mut().poll(cx) {
        Poll::Ready(next) => Poll::Ready(Some(next)),
        Poll::Pending => end.as_mut().poll(cx).map(|_| None),
    })
    .await
}

/// The status for a call without a recorded answer. Client libraries retry after a status of 500 or
/// more.
const MISS: u16 = 422;

fn scripted(asked: &Asked, said: &Answer) -> (u16, String, Vec<String>, bool) {
    let made = Made {
        answer: said,
        id: format!("ctxc_{}", asked.id),
        model: &asked.model,
        wants_usage: asked.wants_usage,
        is_sse: asked.endpoint.contains("alt=sse"),
    };
    if !asked.is_stream {
        return (
            200,
            JSON.to_owned(),
            vec![response_body::whole(asked.dialect, &made)],
            false,
        );
    }
    let kind = match asked.dialect {
        "ollama" => "application/x-ndjson",
        "gemini" if !made.is_sse => JSON,
        _ => "text/event-stream",
    };
    (200, kind.to_owned(), stream(asked.dialect, &made), true)
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.kept.is_none() {
            return;
        }
        // The program closed the connection before the answer.
        let mut call = Self {
            proxy: Arc::clone(&self.proxy),
            asked: Arc::clone(&self.asked),
            kept: self.kept.take(),
            begun: self.begun,
            own: self.own,
        };
        let error = Some("the program closed the connection before there was an answer".to_owned());
        let got = Got {
            error,
            is_unwanted: true,
            ..call.got(AnsweredBy::Upstream)
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { call.finish(got).await });
        }
    }
}
