//! `ctxc check @NAME|FILE`: what providers would refuse of requests that were sent, and what misleads.

use super::load;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::Severity;
use crate::cli::args::{FindingFormat, OutputArgs};
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::exit::Exit;
use crate::cli::findings;
use crate::cli::project::Project;
use crate::cli::render::report::Report;
use crate::cli::render::summary::plural;
use crate::cli::rule_filter::RuleFilter;
use crate::eval::request::facts::facts;
use crate::kernel::tokens::TokenCounter;
use crate::project::config::Config;
use crate::record::recording::AnsweredBy;
use crate::request::model::{NoRequest, Request};
use crate::request::prompt_cache::{Reuse, compare, compare_agent};
use crate::request::segments::{Segment, segments};
use crate::request::threads::{Sent, threads};
use crate::rules::request::check;
use crate::rules::request::cx::RequestCx;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Checks requests and prints what was found.
pub(crate) fn run(subjects: &[String], filter: &RuleFilter, output: &OutputArgs<FindingFormat>, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let mut bodies = Vec::new();
    let mut skipped = 0;
    for subject in subjects {
        let (found, others) = load::bodies(subject, &project.root)?;
        bodies.extend(found);
        skipped += others;
    }
    let (mut report, texts) = found(&bodies, &project.config);
    report.add(&project.findings);
    diagnostic::sort(&mut report.diagnostics);
    let left_out = filter.apply(&mut report);
    let mut sources = project.sources().with_texts(&texts);
    cx.emit(output, |format, cx| findings::print(cx, &report, format, &project.root, &mut sources))?;
    if skipped > 0 {
        cx.note(&format!("{} of other servers skipped", plural(skipped, "recorded call")));
    }
    if bodies.iter().any(|body| body.is_rebuilt) {
        cx.note("a trace does not hold the bodies as they were sent: they were put together again, and errors in them count as warnings");
    }
    if left_out > 0 {
        cx.note(&format!("{} of other rules not reported", plural(left_out, "finding")));
    }
    Ok(findings::verdict(&report))
}

/// What is found in some requests, and the texts of those in which something is.
pub(super) fn found(bodies: &[load::Body], config: &Config) -> (Report, BTreeMap<String, String>) {
    let read: Vec<Read> = bodies.iter().map(Read::of).collect();
    let before = before(bodies, &read);
    let mut report = Report { unit: Some("request"), ..Report::default() };
    let mut texts = BTreeMap::new();
    for ((body, own), before) in bodies.iter().zip(&read).zip(before) {
        report.files += 1;
        let before = before.and_then(|(at, is_agents)| Some((read.get(at)?, is_agents)));
        let (text, found) = of_one(body, own, before, config);
        if !found.is_empty() {
            report.diagnostics.extend(found);
            texts.insert(body.name.clone(), text);
        }
    }
    (report, texts)
}

/// A body as it is read.
struct Read {
    request: std::result::Result<Request, NoRequest>,
    /// Its segments, where it is of a recording.
    segments: Vec<Segment>,
}

impl Read {
    fn of(body: &load::Body) -> Self {
        let request = Request::read(&body.text, body.call.as_ref().map(|call| call.endpoint.as_str()));
        let segments = match &request {
            Ok(request) if body.call.is_some() => segments(request),
            _ => Vec::new(),
        };
        Self { request, segments }
    }
}

/// For each body the call before it, and whether that is one of its agent in another conversation.
fn before(bodies: &[load::Body], read: &[Read]) -> Vec<Option<(usize, bool)>> {
    let mut places = Vec::new();
    let mut sent = Vec::new();
    for (at, (body, own)) in bodies.iter().zip(read).enumerate() {
        if let (Some(call), Ok(request)) = (&body.call, &own.request) {
            places.push(at);
            sent.push(Sent {
                segments: &own.segments,
                dialect: request.dialect,
                agent: call.agent.as_deref(),
                conversation: call.conversation.as_deref(),
            });
        }
    }
    let mut out = vec![None; bodies.len()];
    for (thread, at) in threads(&sent).into_iter().zip(&places) {
        let other = thread.before.map(|before| (before, false)).or(thread.agent_before.map(|before| (before, true)));
        if let (Some(slot), Some((before, is_agents))) = (out.get_mut(*at), other) {
            *slot = places.get(before).map(|before| (*before, is_agents));
        }
    }
    out
}

/// What a cache reuses of a call, where its front is not that of the call before.
fn reuse(before: &Read, now: &Read, is_agents: bool, config: &Config) -> Option<Reuse> {
    let compare = if is_agents { compare_agent } else { compare };
    // Most calls keep the front, and nobody has to count.
    compare(&before.segments, &now.segments, &Uncounted).broken_by?;
    let facts = facts(now.request.as_ref().ok()?, &config.models);
    Some(compare(&before.segments, &now.segments, &*facts.counter))
}

/// Counts nothing.
#[derive(Debug)]
struct Uncounted;

impl TokenCounter for Uncounted {
    fn name(&self) -> &'static str {
        "none"
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn count(&self, _: &str) -> usize {
        0
    }
}

/// The findings of one request, and the text that they stand in: of a recorded one the body with its line breaks.
fn of_one(body: &load::Body, own: &Read, before: Option<(&Read, bool)>, config: &Config) -> (String, Vec<Diagnostic>) {
    let (name, text) = (Arc::from(body.name.as_str()), body.text.clone());
    let request = match &own.request {
        Ok(request) => request,
        Err(why) => {
            let found = check::unreadable(&name, (&text, 0), why, config);
            return (text, found);
        }
    };
    let reuse = before.and_then(|(before, is_agents)| reuse(before, own, is_agents, config));
    let call = body.call.as_ref();
    let found = |text: &str| {
        let cx = RequestCx {
            before: before.filter(|(_, is_agents)| !is_agents).and_then(|(before, _)| before.request.as_ref().ok()),
            reuse: reuse.as_ref(),
            input_tokens: call.and_then(|call| call.usage.input),
            was_answered: !body.is_rebuilt && call.is_some_and(|call| call.answered_by == AnsweredBy::Upstream && call.is_answered()),
            ..RequestCx::new(&name, text, request, config)
        };
        let mut found = check::request(&cx, config);
        for finding in found.iter_mut().filter(|finding| body.is_rebuilt && finding.severity == Severity::Error) {
            finding.severity = Severity::Warning;
        }
        found
    };
    let first = found(&text);
    if call.is_none() || first.is_empty() {
        return (text, first);
    }
    let shown = serde_json::from_str::<Value>(&text).and_then(|body| serde_json::to_string_pretty(&body)).unwrap_or(text);
    let found = found(&shown);
    (shown, found)
}
