//! `ctxc check @NAME|FILE`: finds mistakes in recorded requests that a provider rejects, and
//! misleading parts.

use super::load::{self, BodySource};
use super::session_calls::{SubjectReader, add_missing, missing_parts_line};
use super::session_rows::SessionRows;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::Severity;
use crate::cli::findings;
use crate::cli::prelude::*;
use crate::cli::render::report::CheckReport;
use crate::cli::rule_filter::RuleFilter;
use crate::eval::request::examined_request::{min_tokens, model_facts};
use crate::kernel::tokens::ByteCounter;
use crate::project::config::Config;
use crate::record::file::{self, RecordingLine};
use crate::record::recording::Recording;
use crate::request::model::{ModelRequest, NoRequest};
use crate::request::places::JsonPlaces;
use crate::request::prompt_cache::{PrefixReuse, compare_agent, compare_calls};
use crate::request::segments::{RequestSegment, build_segments};
use crate::request::threads::{ConversationTracker, SentRequest, is_shared};
use crate::rules::request::cx::RequestCx;
use crate::rules::request::{broken_prefix, check};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// The maximum size in bytes of requests that stay in memory for comparison with later ones; the
/// others are read again.
const MAX_HELD_BYTES: usize = 8 << 20;
/// Requests that are read ahead.
const READ_AHEAD: usize = 8;
/// The maximum size in bytes of requests with findings that stay in memory for the report.
const MAX_SHOWN_BYTES: usize = 32 << 20;

/// Checks requests and prints the findings.
pub(crate) fn run_request_check(
    subjects: &[String],
    filter: &RuleFilter,
    output: &OutputArgs<FindingFormat>,
    cx: &mut Cx,
) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let reader = SubjectReader::new(&project, cx);
    let mut checker = RequestChecker::new(&project.config);
    let mut skipped = load::SkippedCalls::default();
    for subject in subjects {
        let more = read_in_thread(subject, &reader, |body| checker.check_request(body))?;
        for (endpoint, count) in more.others {
            *skipped.others.entry(endpoint).or_default() += count;
        }
        skipped.notes.extend(more.notes);
        add_missing(&mut skipped.missing_parts, more.missing_parts);
    }
    let RequestChecker {
        mut report,
        texts,
        has_rebuilt,
        ..
    } = checker;
    if report.files == 0 && skipped.others.is_empty() && report.diagnostics.is_empty() {
        let names = subjects.join(", ");
        return Err(CliError::new(
            CliErrorKind::NothingSelected,
            format!("{} holds no request", escape_line(&names)),
        ));
    }
    report.missing_parts.clone_from(&skipped.missing_parts);
    report.add_findings(&project.findings);
    diagnostic::sort_diagnostics(&mut report.diagnostics);
    let left_out = filter.filter_report(&mut report);
    let mut sources = project.sources().with_texts(&texts);
    cx.emit_result(output, |format, cx| {
        findings::print_report(cx, &report, format, &project.root, &mut sources)
    })?;
    skipped.notes.iter().for_each(|line| cx.print_note(line));
    for (endpoint, count) in &skipped.others {
        let calls = pluralize(*count, "recorded call");
        cx.print_note(&format!(
            "{calls} to {} skipped: not of a chat API that ctxc reads",
            escape_line(endpoint)
        ));
    }
    if let Some(line) = missing_parts_line(&skipped.missing_parts) {
        cx.print_note(&line);
    } else if has_rebuilt {
        cx.print_note("a trace does not hold the bodies as they were sent: they were put together again, and errors in them count as warnings");
    }
    if left_out > 0 {
        cx.print_note(&format!(
            "{} of other rules not reported",
            pluralize(left_out, "finding")
        ));
    }
    Ok(findings::report_verdict(&report))
}

/// Passes on the bodies of a subject while a second thread reads the next ones. Returns the skipped
/// calls.
fn read_in_thread(
    subject: &str,
    subjects: &SubjectReader<'_>,
    mut take: impl FnMut(RequestWithBody),
) -> Result<load::SkippedCalls> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(READ_AHEAD);
        // The receiver is not dropped before the end.
        let reader = scope.spawn(move || {
            subjects.each_body(subject, |body| {
                drop(sender.send(RequestWithBody::parse(body)));
            })
        });
        receiver.into_iter().for_each(&mut take);
        reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Checks requests one by one, each compared with the one before.
pub(super) struct RequestChecker<'c> {
    config: &'c Config,
    pub(super) report: CheckReport,
    /// The texts of requests with findings.
    pub(super) texts: BTreeMap<String, String>,
    /// The total size of `texts` in bytes.
    shown: usize,
    threads: ConversationTracker,
    /// The requests with which later ones may be compared.
    ready: BTreeMap<usize, HeldRequest>,
    /// The size in bytes of the requests in memory.
    size: usize,
    /// The number of recorded requests so far.
    count: usize,
    /// The findings of each agent's calls: the index in the report, and the number of later calls
    /// that repeat the finding.
    known: BTreeMap<RepeatedFindingKey, (usize, usize)>,
    has_rebuilt: bool,
}

/// The rule, the severity, the agent, the message, and the number of equal findings so far in the
/// same call.
type RepeatedFindingKey = (&'static str, Severity, String, String, usize);

/// A request with which later ones may be compared.
enum HeldRequest {
    Read(Box<ParsedRequest>, Option<(Arc<Path>, RecordingLine)>),
    /// The place from which the request can be read again.
    Place(Arc<Path>, RecordingLine),
}

impl<'c> RequestChecker<'c> {
    pub(super) fn new(config: &'c Config) -> Self {
        Self {
            config,
            report: CheckReport {
                unit: Some("request"),
                ..CheckReport::default()
            },
            texts: BTreeMap::new(),
            shown: 0,
            threads: ConversationTracker::default(),
            ready: BTreeMap::new(),
            size: 0,
            count: 0,
            known: BTreeMap::new(),
            has_rebuilt: false,
        }
    }

    /// Checks one more request.
    pub(super) fn check_request(&mut self, RequestWithBody { body, request }: RequestWithBody) {
        let own = ParsedRequest::with_segments(request, body.text().len(), body.call().is_some());
        self.has_rebuilt |= body.source == BodySource::Trace;
        let (mut before, mut agent) = (None, None);
        let recorded = match (body.call(), &own.request) {
            // A compaction, which ends a request of a session, is no broken prefix.
            (Some(call), Ok(_)) if body.source == BodySource::Session => {
                agent.clone_from(&call.agent);
                false
            }
            (Some(call), Ok(request)) => {
                let thread = self.threads.attribute(&SentRequest {
                    segments: &own.segments,
                    dialect: request.dialect,
                    agent: call.agent.as_deref(),
                    conversation: call.conversation.as_deref(),
                });
                before = thread
                    .before
                    .map(|before| (before, RequestRelation::SameConversation))
                    .or(thread
                        .agent_before
                        .map(|before| (before, RequestRelation::SameAgent)));
                agent = Some(thread.agent);
                true
            }
            _ => false,
        };
        let before = before
            .and_then(|(at, relation)| Some((self.ready.get(&at)?.load_request()?, relation)));
        let before = before.as_ref().map(|(read, relation)| EarlierRequest {
            request: read,
            relation: *relation,
        });
        self.report.files += 1;
        let reuse = before.and_then(|before| prefix_reuse(before, &own, self.config));
        if let Some((text, found)) =
            request_findings(&body, &own, before, reuse.as_ref(), self.config)
        {
            let so_far = self.report.diagnostics.len();
            let segment = reuse
                .and_then(|reuse| reuse.broken_by)
                .map(|broken| broken.segment);
            let mut times = BTreeMap::new();
            for finding in found {
                self.add_finding(finding, agent.as_deref(), segment.as_deref(), &mut times);
            }
            if self.report.diagnostics.len() > so_far && self.shown + text.len() <= MAX_SHOWN_BYTES
            {
                self.shown += text.len();
                self.texts.insert(body.name.clone(), text.into_owned());
            }
        }
        if recorded {
            self.hold_request(own, body.place);
        }
    }

    /// Adds a finding. If an earlier call of the agent has the same finding, adds a note to that
    /// instead. Findings of a broken prefix are the same if the same segment breaks it. `times`
    /// counts equal findings of this call.
    fn add_finding(
        &mut self,
        finding: Diagnostic,
        agent: Option<&str>,
        segment: Option<&str>,
        times: &mut BTreeMap<(&'static str, String), usize>,
    ) {
        let what = segment
            .filter(|_| finding.rule.code == broken_prefix::RULE.meta.code)
            .unwrap_or(&finding.message)
            .to_owned();
        let time = times.entry((finding.rule.name, what.clone())).or_default();
        *time += 1;
        let new = (self.report.diagnostics.len(), 0);
        let key = agent.map(|agent| {
            (
                finding.rule.name,
                finding.severity,
                agent.to_owned(),
                what,
                *time,
            )
        });
        if let Some((at, later)) = key.map(|key| self.known.entry(key).or_insert(new))
            && let Some(first) = self.report.diagnostics.get_mut(*at)
        {
            if *later > 0 {
                first.notes.pop();
            }
            *later += 1;
            let calls = pluralize(*later, "later call");
            first
                .notes
                .push(format!("the same in {calls}, the last of them {}", finding.path).into());
            return;
        }
        self.report.diagnostics.push(finding);
    }

    fn hold_request(&mut self, read: ParsedRequest, place: Option<(Arc<Path>, RecordingLine)>) {
        self.size += read.size;
        self.ready
            .insert(self.count, HeldRequest::Read(Box::new(read), place));
        self.count += 1;
        if self.size <= MAX_HELD_BYTES {
            return;
        }
        let last: BTreeSet<usize> = self.threads.latest_requests().collect();
        self.ready.retain(|at, _| last.contains(at));
        self.size = 0;
        // The newest requests stay in memory.
        for held in self.ready.values_mut().rev() {
            let HeldRequest::Read(read, place) = held else {
                continue;
            };
            match place
                .clone()
                .filter(|_| self.size + read.size > MAX_HELD_BYTES / 2)
            {
                Some((file, line)) => *held = HeldRequest::Place(file, line),
                None => self.size += read.size,
            }
        }
    }
}

impl HeldRequest {
    /// Returns the request from memory or from its file; `None` if the file has changed.
    fn load_request(&self) -> Option<Cow<'_, ParsedRequest>> {
        match self {
            Self::Read(read, _) => Some(Cow::Borrowed(read)),
            Self::Place(file, line) => {
                let call = file::read_call(file, *line)?;
                let text = call.request.get();
                Some(Cow::Owned(ParsedRequest::with_segments(
                    ModelRequest::parse(text, Some(&call.endpoint)),
                    text.len(),
                    true,
                )))
            }
        }
    }
}

/// A body and the request parsed from it.
pub(super) struct RequestWithBody {
    body: load::CallBody,
    request: std::result::Result<ModelRequest, NoRequest>,
}

impl RequestWithBody {
    /// Parses a body.
    pub(super) fn parse(body: load::CallBody) -> Self {
        let endpoint = body.call().map(|call| call.endpoint.as_str());
        Self {
            request: ModelRequest::parse(body.text(), endpoint),
            body,
        }
    }
}

/// A parsed request with its segments.
#[derive(Clone)]
struct ParsedRequest {
    request: std::result::Result<ModelRequest, NoRequest>,
    /// Its segments, if it is recorded.
    segments: Vec<RequestSegment>,
    /// The size of its text in bytes.
    size: usize,
}

/// An earlier request with which a request is compared.
#[derive(Clone, Copy)]
struct EarlierRequest<'r> {
    request: &'r ParsedRequest,
    relation: RequestRelation,
}

/// The relation of a request to an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestRelation {
    /// It continues the conversation of the earlier one.
    SameConversation,
    /// It begins another conversation of the same agent.
    SameAgent,
}

impl ParsedRequest {
    fn with_segments(
        request: std::result::Result<ModelRequest, NoRequest>,
        size: usize,
        is_recorded: bool,
    ) -> Self {
        let segments = match &request {
            Ok(request) if is_recorded => build_segments(request),
            _ => Vec::new(),
        };
        Self {
            request,
            segments,
            size,
        }
    }
}

/// Returns the part of a call that a cache can reuse, if its prefix differs from the call before.
fn prefix_reuse(
    before: EarlierRequest<'_>,
    current: &ParsedRequest,
    config: &Config,
) -> Option<PrefixReuse> {
    let compare = match before.relation {
        RequestRelation::SameAgent => compare_agent,
        RequestRelation::SameConversation => compare_calls,
    };
    let before = before.request;
    // Most calls keep the prefix, so tokens need not be counted.
    compare(&before.segments, &current.segments, &ByteCounter).broken_by?;
    let facts = model_facts(current.request.as_ref().ok()?, &config.models);
    Some(compare(
        &before.segments,
        &current.segments,
        &*facts.counter,
    ))
}

/// Returns the tokens of tools and system text, if a cache breakpoint of Anthropic follows them.
fn shared_tokens(request: &ModelRequest, own: &ParsedRequest, config: &Config) -> Option<u64> {
    own.segments
        .iter()
        .find(|segment| segment.is_breakpoint)
        .filter(|first| !is_shared(first))?;
    let counter = model_facts(request, &config.models).counter;
    let tokens: usize = own
        .segments
        .iter()
        .filter(|segment| is_shared(segment))
        .map(|segment| segment.tokens(&*counter))
        .sum();
    Some(tokens as u64)
}

/// Returns the findings of one request, and the text to which they refer: for a recorded request,
/// the body with line breaks. `None` without findings.
fn request_findings<'b>(
    body: &'b load::CallBody,
    own: &ParsedRequest,
    before: Option<EarlierRequest<'_>>,
    reuse: Option<&PrefixReuse>,
    config: &Config,
) -> Option<(Cow<'b, str>, Vec<Diagnostic>)> {
    let (name, text) = (Arc::from(body.name.as_str()), body.text());
    let request = match &own.request {
        Ok(request) => request,
        Err(why) => {
            let found = check::unreadable_body_findings(&name, text, why, config);
            return (!found.is_empty()).then_some((Cow::Borrowed(text), found));
        }
    };
    let call = body.call();
    let shared_front = before
        .filter(|before| before.relation == RequestRelation::SameAgent && reuse.is_none())
        .and_then(|_| shared_tokens(request, own, config));
    let is_trace = body.source == BodySource::Trace;
    let found = |text: &str| {
        let cx = RequestCx {
            shared_front,
            before: before
                .filter(|before| before.relation == RequestRelation::SameConversation)
                .and_then(|before| before.request.request.as_ref().ok()),
            reuse,
            // If the vendor runs tools itself, it reports the tokens of several internal requests
            // as one.
            input_tokens: call
                .and_then(|call| call.usage.input)
                .filter(|_| !request.tools.iter().any(|tool| tool.is_server))
                .or_else(|| min_tokens(request, own.size, config)),
            was_answered: match body.source {
                BodySource::Sent => call.is_some_and(Recording::is_vendor_success),
                BodySource::Trace => false,
                BodySource::Session => true,
            },
            ..RequestCx::new(&name, text, request, config)
        };
        let mut found = check::request_findings(&cx, config);
        for finding in found
            .iter_mut()
            .filter(|finding| is_trace && finding.severity == Severity::Error)
        {
            finding.severity = Severity::Warning;
        }
        found
    };
    let first = found(text);
    let Some(call) = call.filter(|_| !first.is_empty()) else {
        return (!first.is_empty()).then_some((Cow::Borrowed(text), first));
    };
    let shown =
        serde_json::from_str::<Value>(text).and_then(|body| serde_json::to_string_pretty(&body));
    let shown = shown.map_or(Cow::Borrowed(text), Cow::Owned);
    let mut found = found(&shown);
    if let Some(rows) = &body.rows {
        note_rows(&mut found, rows, &shown, request);
    }
    if let Some(caller) = &call.caller {
        found = found
            .into_iter()
            .map(|one| one.note(format!("sent from {caller}")))
            .collect();
    }
    Some((shown, found))
}

/// Adds the rows of the session to findings in its messages.
fn note_rows(found: &mut [Diagnostic], rows: &SessionRows, text: &str, request: &ModelRequest) {
    let places = JsonPlaces::new(text, 0);
    let rows = rows.places(request).into_iter();
    let rows: Vec<_> = rows
        .map(|(pointer, row)| (places.range_of(&pointer), row))
        .collect();
    for finding in found {
        let start = finding.span.start as usize;
        if let Some((_, row)) = rows.iter().find(|(range, _)| range.contains(&start)) {
            finding.notes.insert(0, row.clone().into());
        }
    }
}
