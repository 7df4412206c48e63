//! Programs of the project that scenarios take their requests from. Each runs behind a double that
//! answers from a recording, until it has made the expected calls. One run serves all scenarios
//! whose recordings are the beginning of the same recording.

use super::own_checks::PYTHON_PATH_SETUP;
use crate::base::fs;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::sent_requests::{RequestOutcome, SentRequests};
use crate::cli::record::{ReplayDouble, start_double};
use crate::cli::render::summary::pluralize;
use crate::context::request::Files as _;
use crate::eval::answer_source::{ProgramCall, ProgramRequest, RunProgram};
use crate::record::comparison::RequestComparison;
use crate::record::file::{RecordingFile, RecordingLine};
use crate::record::foreign::RecordingFormat;
use crate::record::places::LocatedCall;
use crate::record::proxy::call_recorder::ObservedCall;
use crate::record::recording::Recording;
use crate::record::turns::{CallContent, CallPosition, call_positions, matched_positions};
use crate::run::process::{self, ProcessEnd, ProcessLimits};
use crate::scenario::paths;
use crate::scenario::request_source::{RequestProgram, RequestSource};
use crate::store::trust::request_command;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time without a call after which no further conversation is expected.
const QUIET_TIME: Duration = Duration::from_secs(2);
/// The maximum size of a function's output in bytes.
const MAX_OUTPUT_BYTES: usize = 64 << 20;
/// Calls the function, and writes its result.
const PYTHON_SHIM: &str = "\
import importlib, json
out, sys.stdout = sys.stdout, sys.stderr
module, function = sys.argv[1:]
found = getattr(importlib.import_module(module), function)()
out.write(found if isinstance(found, str) else json.dumps(found))
";

/// Runs programs one at a time, since they share the project's folder.
#[derive(Debug)]
pub(super) struct ProgramRunner<'p> {
    project: &'p CompiledProject,
    /// The permitted command lines.
    permitted: BTreeSet<String>,
    /// The requests of programs that have already run.
    sent: SentRequests,
    /// The requests of a comparison, which replace `sent` for both of its sides.
    shared: Option<&'p SentRequests>,
    /// The calls that the scenarios of this run refer to.
    planned: Vec<PlannedCall>,
    /// The results of runs for other scenarios, by call.
    found: Mutex<Vec<(PlannedCall, RequestOutcome)>>,
}

/// A call that a scenario refers to, with the text of the recording that answers its program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannedCall {
    sent: RequestProgram,
    answers: String,
}

impl<'p> ProgramRunner<'p> {
    /// Creates a runner of the programs of a project: only of the permitted command lines, for
    /// scenarios given by their paths with the sources of their requests.
    pub(super) fn new<'c>(
        project: &'p CompiledProject,
        permitted: BTreeSet<String>,
        sources: impl Iterator<Item = (&'c str, &'c RequestSource)>,
    ) -> Self {
        let files = project.files();
        let planned = |(path, source): (&str, &RequestSource)| {
            let RequestSource::Command(sent) = source else {
                return None;
            };
            let text = |file: &String| files.text(&paths::resolve_beside(path, file)?).ok();
            let answers = sent
                .answers
                .as_ref()
                .map_or_else(|| Some(String::new()), text)?;
            Some(PlannedCall {
                sent: sent.clone(),
                answers,
            })
        };
        let planned = sources.filter_map(planned).collect();
        Self {
            project,
            permitted,
            sent: SentRequests::default(),
            shared: None,
            planned,
            found: Mutex::default(),
        }
    }

    /// Shares the requests of a comparison: a program that both sides run in the same way is run
    /// once.
    pub(super) fn with_shared_requests(self, sent: &'p SentRequests) -> Self {
        Self {
            shared: Some(sent),
            ..self
        }
    }

    fn obtain_request(&self, source: &RequestSource, answers: Option<&str>) -> RequestOutcome {
        match source {
            RequestSource::File(path) => Err(format!("{path} is a file, not a program")),
            RequestSource::Command(sent) => self.run_until_call(sent, answers.unwrap_or("")),
            RequestSource::Python {
                function,
                timeout_s,
            } => {
                let Some((module, name)) = function.split_once(':') else {
                    return Err(format!(
                        "`{function}` names no function: expected `module:function`"
                    ));
                };
                let argv = [
                    "python3",
                    "-c",
                    &format!("{PYTHON_PATH_SETUP}{PYTHON_SHIM}"),
                    module,
                    name,
                ]
                .map(str::to_owned);
                let bounds = ProcessLimits::new(Duration::from_secs(*timeout_s), MAX_OUTPUT_BYTES);
                let written = self.run_program(&argv, &[], &bounds).into_stdout(&bounds);
                let written =
                    written.map_err(|why| format!("the function {function} failed: {why}"))?;
                let body = String::from_utf8(written)
                    .map_err(|_| format!("what {function} returned is not UTF-8"))?;
                Ok(ProgramRequest {
                    before: None,
                    endpoint: None,
                    body,
                    call: None,
                })
            }
        }
    }

    fn run_program(
        &self,
        argv: &[String],
        variables: &[(String, String)],
        bounds: &ProcessLimits<'_>,
    ) -> ProcessEnd {
        let argv = process::resolve_program(argv, &self.project.root);
        let mut all = fs::env_vars();
        all.extend(variables.iter().cloned());
        process::run_program(&argv, &self.project.root, &all, "", bounds)
    }

    /// Returns the request of a planned call: from an earlier run for another scenario, otherwise
    /// from a new run that looks for all planned calls that it can serve.
    fn run_until_call(&self, sent: &RequestProgram, answers: &str) -> RequestOutcome {
        let own = PlannedCall {
            sent: sent.clone(),
            answers: answers.to_owned(),
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, outcome)) = found.iter().find(|(call, _)| *call == own) {
            return outcome.clone();
        }
        let calls = self.served_with(&own)?;
        let outcomes = self.run_for(&calls)?;
        found.extend(calls.into_iter().map(|call| call.planned).zip(outcomes));
        let outcome = found
            .iter()
            .find(|(call, _)| *call == own)
            .map(|(_, outcome)| outcome.clone());
        outcome.unwrap_or_else(|| {
            Err(format!(
                "`{}` was not run for this call",
                sent.argv.join(" ")
            ))
        })
    }

    /// The planned calls that one run can serve together with `own`, which comes first: the calls
    /// of the same program whose recordings are the beginning of the longest one.
    fn served_with(&self, own: &PlannedCall) -> Result<Vec<ServedCall>, String> {
        let is_of_program = |other: &&PlannedCall| other.sent.argv == own.sent.argv;
        let extends = |other: &&PlannedCall| other.answers.starts_with(&own.answers);
        let longest = self
            .planned
            .iter()
            .filter(is_of_program)
            .filter(extends)
            .max_by_key(|other| other.answers.len());
        let answers = longest.map_or(&own.answers, |longest| &longest.answers);
        let recorded = |text: &str| {
            RecordingFile::parse(text).map_err(|fault| format!("the recorded answers: {fault}"))
        };
        let all = recorded(answers)?.calls;
        let contents: Vec<Option<CallContent>> = all.iter().map(CallContent::from_call).collect();
        let places = call_positions(&contents);
        // A conversation has the same number in both.
        let is_served = |planned: &PlannedCall| {
            let count = RecordingFile::parse(&planned.answers)
                .map_or(usize::MAX, |recorded| recorded.calls.len());
            answers.starts_with(&planned.answers)
                && contents
                    .get(..count)
                    .is_some_and(|contents| places.get(..count) == Some(&*call_positions(contents)))
        };
        if !is_served(own) {
            let calls = recorded(&own.answers)?.calls.into();
            return Ok(vec![ServedCall {
                planned: own.clone(),
                recorded: calls,
            }]);
        }
        let others = self
            .planned
            .iter()
            .filter(is_of_program)
            .filter(|other| *other != own && is_served(other));
        let calls: Arc<[Recording]> = all.into();
        let served = |planned: &PlannedCall| ServedCall {
            planned: planned.clone(),
            recorded: Arc::clone(&calls),
        };
        let mut all: Vec<ServedCall> = Vec::new();
        for planned in std::iter::once(own).chain(others) {
            if all.iter().all(|one| one.planned != *planned) {
                all.push(served(planned));
            }
        }
        Ok(all)
    }

    /// Runs a program until it has made all expected calls.
    fn run_for(&self, served: &[ServedCall]) -> Result<Vec<RequestOutcome>, String> {
        let Some(first) = served.first() else {
            return Ok(Vec::new());
        };
        let RequestProgram { argv, answers, .. } = &first.planned.sent;
        let name = answers.clone().unwrap_or_default();
        let named = |(at, call): (usize, &Recording)| LocatedCall {
            name: format!("{name}#{}", at + 1),
            file: PathBuf::from(&name),
            at: RecordingLine {
                line: at + 1,
                offset: 0,
                len: 0,
            },
            call: call.clone(),
            format: RecordingFormat::Ctxc,
        };
        let (also, made) = mpsc::channel();
        let recorded = first.recorded.iter().enumerate().map(named).collect();
        let ReplayDouble { server, variables } =
            start_double(&self.project.root, &self.project.config, recorded, also)
                .map_err(|error| error.message)?;
        let comparison = || self.project.comparison();
        let wanted = served
            .iter()
            .map(|one| WantedCall::new(&one.recorded, one.turn(), comparison()))
            .collect();
        let calls = Mutex::new(ProgramCalls {
            made,
            all: Vec::new(),
            contents: Vec::new(),
            wanted,
            last: Instant::now(),
        });
        let look = |state| {
            calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .look(state)
        };
        let is_made = || look(ProgramState::Running);
        let seconds = served
            .iter()
            .map(|one| one.planned.sent.timeout_s)
            .max()
            .unwrap_or_default();
        let bounds = ProcessLimits {
            is_done: Some(&is_made),
            ..ProcessLimits::new(Duration::from_secs(seconds), MAX_OUTPUT_BYTES)
        };
        let ended = self.run_program(argv, &variables, &bounds);
        let tally = server.shut_down();
        look(ProgramState::Ended);
        let shown = argv.join(" ");
        let missed = tally
            .misses
            .first()
            .map(|why| format!("; {why}"))
            .unwrap_or_default();
        let ended = ended.into_stdout(&bounds);
        let calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = |wanted: &WantedCall| {
            let Some(found) = &wanted.found else {
                let was = calls.describe(wanted);
                return Err(match &ended {
                    Ok(_) => format!("`{shown}` ended; {was}{missed}"),
                    Err(why) => format!("`{shown}` failed: {why}; {was}{missed}"),
                });
            };
            Ok(found.clone())
        };
        Ok(calls.wanted.iter().map(outcome).collect())
    }
}

/// A call that a run looks for, with the recording that answers it.
#[derive(Clone, Debug)]
struct ServedCall {
    planned: PlannedCall,
    recorded: Arc<[Recording]>,
}

impl ServedCall {
    const fn turn(&self) -> CallPosition {
        CallPosition {
            conversation: self.planned.sent.conversation,
            n: self.planned.sent.n,
        }
    }
}

/// A recorded call that a program is expected to make.
#[derive(Debug)]
struct WantedCall {
    turn: CallPosition,
    /// The parsed request of each recorded call.
    recorded: Vec<Option<CallContent>>,
    /// The recorded call at this turn.
    call: Option<Recording>,
    /// The number of equal calls up to and including this one.
    number: usize,
    comparison: RequestComparison,
    /// Its request, once the program sent it.
    found: Option<ProgramRequest>,
}

impl WantedCall {
    fn new(calls: &[Recording], turn: CallPosition, comparison: RequestComparison) -> Self {
        let recorded: Vec<Option<CallContent>> = calls.iter().map(CallContent::from_call).collect();
        let at = call_positions(&recorded)
            .iter()
            .position(|own| *own == Some(turn));
        let call = at.and_then(|at| calls.get(at)).cloned();
        let same = |other: &&Recording| {
            call.as_ref()
                .is_some_and(|call| call.key == other.key && call.agent == other.agent)
        };
        let number = calls
            .iter()
            .take(at.map_or(0, |at| at + 1))
            .filter(same)
            .count();
        Self {
            turn,
            recorded,
            call,
            number,
            comparison,
            found: None,
        }
    }

    /// Returns true if a call is equal to the recorded one.
    fn is_same(&self, made: &ObservedCall) -> bool {
        let of_one = |call: &Recording| {
            call.agent == made.call.agent && call.conversation == made.call.conversation
        };
        let own = made.program_call();
        self.call.as_ref().is_some_and(|call| {
            of_one(call) && self.comparison.is_same(call, &own.as_live_request())
        })
    }
}

/// The state of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramState {
    /// It may make more calls.
    Running,
    /// It makes no more calls.
    Ended,
}

/// The calls that a program made so far.
#[derive(Debug)]
struct ProgramCalls {
    made: Receiver<ObservedCall>,
    all: Vec<ObservedCall>,
    contents: Vec<Option<CallContent>>,
    /// The expected calls.
    wanted: Vec<WantedCall>,
    /// The time of the last call.
    last: Instant,
}

impl ProgramCalls {
    /// Looks for the expected calls, and returns true if all are found.
    fn look(&mut self, state: ProgramState) -> bool {
        let before = self.all.len();
        for call in self.made.try_iter() {
            self.contents.push(CallContent::from_call(&call.call));
            self.all.push(call);
        }
        let has_more = self.all.len() > before;
        if has_more {
            self.last = Instant::now();
        }
        let is_settled = state == ProgramState::Ended || self.last.elapsed() >= QUIET_TIME;
        if has_more || is_settled {
            // The missing calls are looked for again after the same time.
            self.last = Instant::now();
            let found: Vec<_> = self
                .wanted
                .iter()
                .map(|wanted| self.find_wanted(wanted, is_settled))
                .collect();
            self.wanted
                .iter_mut()
                .zip(found)
                .for_each(|(wanted, found)| wanted.found = found);
        }
        self.wanted.iter().all(|wanted| wanted.found.is_some())
    }

    /// Returns the expected call. This is the call that equals the recorded one, or the nth of
    /// several equal ones. If none is equal, it is the most similar call at the same place of the
    /// conversation, once no call can follow that is more similar.
    fn find_wanted(&self, wanted: &WantedCall, is_settled: bool) -> Option<ProgramRequest> {
        if wanted.found.is_some() {
            return wanted.found.clone();
        }
        let mut same = self
            .all
            .iter()
            .enumerate()
            .filter(|(_, made)| wanted.is_same(made))
            .map(|(at, _)| at);
        let same = same.nth(wanted.number.saturating_sub(1));
        if same.is_none() && !is_settled {
            return None;
        }
        let turns = matched_positions(&wanted.recorded, &self.contents);
        let place = |wanted: CallPosition| turns.iter().position(|turn| *turn == Some(wanted));
        let at = same.or_else(|| place(wanted.turn))?;
        let own = (*turns.get(at)?)?;
        let call = self.all.get(at)?;
        let before = place(CallPosition {
            n: own.n - 1,
            ..own
        })
        .and_then(|at| self.all.get(at));
        Some(ProgramRequest {
            before: before.map(|seen| seen.call.request.get().to_owned()),
            endpoint: Some(call.call.endpoint.clone()),
            body: call.call.request.get().to_owned(),
            call: Some(call.program_call()),
        })
    }

    /// Describes the calls that were made instead of the expected one.
    fn describe(&self, wanted: &WantedCall) -> String {
        let turns: Vec<CallPosition> = matched_positions(&wanted.recorded, &self.contents)
            .into_iter()
            .flatten()
            .collect();
        let wanted = wanted.turn;
        let conversations = turns
            .iter()
            .map(|turn| turn.conversation)
            .collect::<BTreeSet<_>>()
            .len();
        let own = turns
            .iter()
            .filter(|turn| turn.conversation == wanted.conversation)
            .count();
        match (turns.len(), own) {
            (0, _) => "the double received no call: the library may read no variable for the address, or its client is mocked"
                .to_owned(),
            (calls, 0) => format!(
                "it made {} in {}, and none of conversation {}",
                pluralize(calls, "call"),
                pluralize(conversations, "conversation"),
                wanted.conversation
            ),
            (_, own) => {
                format!("it made {} in conversation {}, but call {} is meant", pluralize(own, "call"), wanted.conversation, wanted.n)
            }
        }
    }
}

impl ObservedCall {
    /// Returns the call as it went over the wire.
    fn program_call(&self) -> ProgramCall {
        ProgramCall {
            endpoint: self.endpoint.clone(),
            dialect: self.call.dialect.clone(),
            body: self.body.clone(),
            key: self.call.key.clone(),
            redactor: Some(self.redactor.clone()),
        }
    }
}

impl RunProgram for ProgramRunner<'_> {
    fn permits(&self, source: &RequestSource) -> bool {
        request_command(source).is_some_and(|line| self.permitted.contains(&line))
    }

    fn request(
        &self,
        path: &str,
        source: &RequestSource,
        answers: Option<&str>,
    ) -> Option<Result<ProgramRequest, String>> {
        if !self.permits(source) {
            return None;
        }
        let sent = self.shared.unwrap_or(&self.sent);
        Some(sent.get_or_request(path, source, answers, || {
            self.obtain_request(source, answers)
        }))
    }
}
