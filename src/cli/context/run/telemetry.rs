//! The export of spans: to the collector in the variables of OpenTelemetry, by OTLP over HTTP in
//! JSON.
//!
//! The variables belong to the user; no file of a project can name a collector. A collector that
//! fails leads to one warning, and never fails a run.

use crate::base::fs;
use crate::base::hash::Hash;
use crate::base::percent::decode;
use crate::cli::cx::Cx;
use crate::cli::interrupt;
use crate::cli::render::escape::escape_line;
use crate::provider::http::post_json;
use crate::record::redact::Redactor;
use crate::run::spans::{SpanOptions, build_document};
use crate::run::trace::TraceWriter;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

/// The default time limit of a collector.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit of a collector after an interrupt.
const INTERRUPT_TIMEOUT: Duration = Duration::from_secs(2);

/// A collector of spans.
#[derive(Clone, Debug)]
pub(super) struct SpanCollector {
    url: String,
    headers: Vec<(String, String)>,
    time: Duration,
    resource: BTreeMap<String, String>,
    with_content: bool,
    has_failed: Cell<bool>,
}

/// Returns the value of a variable that is set and not blank.
fn env_value(name: &str) -> Option<String> {
    fs::env_var(name)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}

/// Returns the variable for traces, or the one for all exports, with its name.
fn trace_variable(name: &str) -> Option<(String, String)> {
    let names =
        ["OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"].map(|head| format!("{head}{name}"));
    names
        .into_iter()
        .find_map(|name| Some((env_value(&name)?, name)))
}

fn is_true(name: &str) -> bool {
    env_value(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

/// Parses names with percent-encoded values, separated by commas; `None` if a pair is invalid.
fn parse_pairs(text: &str) -> Option<Vec<(String, String)>> {
    let pair = |pair: &str| {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty())?;
        Some((decode(name.trim())?, decode(value.trim())?))
    };
    text.split(',')
        .filter(|part| !part.trim().is_empty())
        .map(pair)
        .collect()
}

impl SpanCollector {
    /// Returns the collector of the environment; `None` if it configures none, or if the export is
    /// disabled.
    pub(super) fn from_env(cx: &mut Cx) -> Option<Self> {
        let all = || {
            Some(format!(
                "{}/v1/traces",
                env_value("OTEL_EXPORTER_OTLP_ENDPOINT")?.trim_end_matches('/')
            ))
        };
        let url = env_value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(all)?;
        let is_otlp = |exporters: String| {
            exporters
                .split(',')
                .any(|exporter| exporter.trim() == "otlp")
        };
        if is_true("OTEL_SDK_DISABLED") || !env_value("OTEL_TRACES_EXPORTER").is_none_or(is_otlp) {
            return None;
        }
        if let Some((_, name)) =
            trace_variable("PROTOCOL").filter(|(protocol, _)| protocol == "grpc")
        {
            cx.print_note(&format!("warning: no spans are sent: {name} is `grpc`, and ctxc sends OTLP over HTTP in JSON (`http/json`, port 4318 of most collectors)"));
            return None;
        }
        let mut listed = |variable: Option<(String, String)>| {
            let (value, name) = variable.unwrap_or_default();
            parse_pairs(&value).unwrap_or_else(|| {
                cx.print_note(&format!(
                    "warning: {name} is ignored: expected `name=value` pairs separated by commas, with percent-encoded values"
                ));
                Vec::new()
            })
        };
        let headers = listed(trace_variable("HEADERS"));
        let mut resource = BTreeMap::from(
            [
                ("service.name", "ctxc"),
                ("service.version", env!("CARGO_PKG_VERSION")),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        resource.extend(listed(
            env_value("OTEL_RESOURCE_ATTRIBUTES")
                .map(|value| (value, "OTEL_RESOURCE_ATTRIBUTES".to_owned())),
        ));
        resource
            .extend(env_value("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name)));
        Some(Self {
            url,
            headers,
            time: trace_variable("TIMEOUT")
                .and_then(|(ms, _)| ms.parse().ok())
                .filter(|ms| *ms > 0)
                .map_or(DEFAULT_TIMEOUT, Duration::from_millis),
            resource,
            with_content: is_true("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
            has_failed: Cell::new(false),
        })
    }

    /// Returns the spans of a run.
    pub(super) fn build_spans(
        &self,
        trace: &TraceWriter,
        task: &str,
        redactor: &Redactor,
    ) -> Value {
        let random = || Hash::digest(&fs::random_bytes()).to_string();
        let run = if trace.run.is_empty() {
            random()
        } else {
            trace.run.clone()
        };
        let (begin, with_content) = (trace.earlier_run().begin.as_ref(), self.with_content);
        let options = SpanOptions {
            run: &run,
            task,
            begin,
            resource: &self.resource,
            with_content,
            redactor,
        };
        build_document(trace.moments(), &options)
    }

    /// Sends the spans so far if an interrupt ends the program before the run ends.
    pub(super) fn send_if_interrupted(&self, trace: &TraceWriter, task: &str, redactor: &Redactor) {
        let (collector, moments) = (self.clone(), trace.timeline());
        let (run, begin) = (trace.run.clone(), trace.earlier_run().begin.clone());
        let (task, redactor) = (task.to_owned(), redactor.clone());
        interrupt::add_exit_handler(move || {
            let Some(moments) = moments.upgrade() else {
                return;
            };
            let moments = moments
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let Self {
                resource,
                with_content,
                ..
            } = &collector;
            let (begin, with_content) = (begin.as_ref(), *with_content);
            let options = SpanOptions {
                run: &run,
                task: &task,
                begin,
                resource,
                with_content,
                redactor: &redactor,
            };
            let spans = build_document(moments, &options).to_string();
            // A failure cannot be reported any more.
            drop(post_json(
                &collector.url,
                &collector.headers,
                &spans,
                collector.time.min(INTERRUPT_TIMEOUT),
            ));
        });
    }

    /// Sends spans. After a failure, nothing more is sent.
    pub(super) fn send_spans(&self, spans: &Value, cx: &mut Cx) {
        if self.has_failed.get() {
            return;
        }
        let sent = post_json(&self.url, &self.headers, &spans.to_string(), self.time);
        if let Err(why) = sent.and_then(|body| rejection_reason(&body).map_or(Ok(()), Err)) {
            self.has_failed.set(true);
            // The query string and the part before an at sign may contain secrets.
            let shown = self.url.split(['?', '#']).next().unwrap_or_default();
            let shown = shown.rsplit_once('@').map_or(shown, |(_, host)| host);
            cx.print_note(&escape_line(&format!(
                "warning: the spans of this run were not accepted by {shown}: {why}"
            )));
        }
    }
}

/// Returns the error of a collector that rejected some of the spans; a count may be a number or a
/// text.
fn rejection_reason(body: &str) -> Option<String> {
    let response: Value = serde_json::from_str(body).ok()?;
    let part = response.get("partialSuccess")?;
    part.get("rejectedSpans")
        .filter(|count| **count != 0 && *count != "0")?;
    Some(format!("it rejected some of them: {part}"))
}
