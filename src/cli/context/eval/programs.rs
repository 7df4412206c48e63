//! Programs of the project that scenarios take their requests from: run behind a double that answers from a recording, until the call
//! that is meant was made.

use super::own_checks::MODULES;
use crate::base::fs;
use crate::cli::context::project::Compiled;
use crate::cli::context::sent_requests::SentRequests;
use crate::cli::record::{Double, double};
use crate::cli::render::summary::plural;
use crate::eval::asked::{ProgramCall, ProgramRequest, RunProgram};
use crate::record::comparison::Comparison;
use crate::record::file::{LinePlace, Recordings};
use crate::record::foreign::Format;
use crate::record::places::Call;
use crate::record::proxy::keeper::SeenCall;
use crate::record::recording::Recording;
use crate::record::turns::{Said, Turn, turns, turns_in};
use crate::run::process::{self, Bounds, Ended};
use crate::scenario::request_source::{RequestSource, SentBy};
use crate::store::trust::program_of;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time without a call after which no other conversation is expected that could be the meant one.
const QUIET: Duration = Duration::from_secs(2);
/// Bytes that a function may write.
const LIMIT: usize = 64 << 20;
/// Calls the function, and writes what it returns.
const SHIM: &str = "\
import importlib, json
out, sys.stdout = sys.stdout, sys.stderr
module, function = sys.argv[1:]
found = getattr(importlib.import_module(module), function)()
out.write(found if isinstance(found, str) else json.dumps(found))
";

/// Runs programs, one at a time: they share the project's folder.
#[derive(Debug)]
pub(super) struct Programs<'p> {
    project: &'p Compiled,
    /// The command lines that are permitted.
    permitted: BTreeSet<String>,
    /// The requests that were sent already.
    sent: SentRequests,
    /// Those of the run that this one is a side of, in place of its own.
    shared: Option<&'p SentRequests>,
}

impl<'p> Programs<'p> {
    /// Those of a project, of which these command lines are permitted.
    pub(super) fn new(project: &'p Compiled, permitted: BTreeSet<String>) -> Self {
        Self { project, permitted, sent: SentRequests::default(), shared: None }
    }

    /// The same as one side of a comparison: a program that both sides run alike is run once.
    pub(super) fn sharing(self, sent: &'p SentRequests) -> Self {
        Self { shared: Some(sent), ..self }
    }

    fn have(&self, source: &RequestSource, answers: Option<&str>) -> std::result::Result<ProgramRequest, String> {
        match source {
            RequestSource::File(path) => Err(format!("{path} is a file, not a program")),
            RequestSource::Command(sent) => self.sent(sent, answers.unwrap_or("")),
            RequestSource::Python { function, timeout_s } => {
                let Some((module, name)) = function.split_once(':') else {
                    return Err(format!("`{function}` names no function: expected `module:function`"));
                };
                let argv = ["python3", "-c", &format!("{MODULES}{SHIM}"), module, name].map(str::to_owned);
                let bounds = Bounds::of(Duration::from_secs(*timeout_s), LIMIT);
                let written = self.run(&argv, &[], &bounds).well(&bounds);
                let written = written.map_err(|why| format!("the function {function} failed: {why}"))?;
                let body = String::from_utf8(written).map_err(|_| format!("what {function} returned is not UTF-8"))?;
                Ok(ProgramRequest { before: None, endpoint: None, body, call: None })
            }
        }
    }

    fn run(&self, argv: &[String], variables: &[(String, String)], bounds: &Bounds<'_>) -> Ended {
        let mut argv = argv.to_vec();
        // From the project's folder, whatever the system takes such a path from.
        if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
            *program = self.project.root.join(&*program).to_string_lossy().into_owned();
        }
        let mut all = fs::env_all();
        all.extend(variables.iter().cloned());
        process::run(&argv, &self.project.root, &all, "", bounds)
    }

    /// Runs a program until it made the call that is meant.
    fn sent(&self, sent: &SentBy, answers: &str) -> std::result::Result<ProgramRequest, String> {
        let recorded = Recordings::read(answers).map_err(|fault| format!("the recorded answers: {fault}"))?;
        let name = sent.answers.clone().unwrap_or_default();
        let named = |(at, call): (usize, Recording)| Call {
            name: format!("{name}#{}", at + 1),
            file: PathBuf::from(&name),
            at: LinePlace { line: at + 1, offset: 0, len: 0 },
            call,
            format: Format::Ctxc,
        };
        let wanted = Wanted::new(&recorded.calls, Turn { conversation: sent.conversation, n: sent.n }, self.project.comparison());
        let answers = recorded.calls.into_iter().enumerate().map(named).collect();
        let (also, made) = mpsc::channel();
        let Double { server, variables } =
            double(&self.project.root, &self.project.config, answers, also).map_err(|error| error.message)?;
        let calls = Mutex::new(Calls { made, all: Vec::new(), said: Vec::new(), found: None, last: Instant::now() });
        let look = |is_over| calls.lock().unwrap_or_else(PoisonError::into_inner).find(&wanted, is_over);
        let is_made = || look(false).is_some();
        let bounds = Bounds { until: Some(&is_made), ..Bounds::of(Duration::from_secs(sent.timeout_s), LIMIT) };
        let ended = self.run(&sent.argv, &variables, &bounds);
        let tally = server.end();
        if let Some(found) = look(true) {
            return Ok(found);
        }
        let shown = sent.argv.join(" ");
        let missed = tally.misses.first().map(|why| format!("; {why}")).unwrap_or_default();
        let was = calls.lock().unwrap_or_else(PoisonError::into_inner).words(&wanted);
        let written = ended.well(&bounds).map_err(|why| format!("`{shown}` failed: {why}; {was}{missed}"));
        written.and_then(|_| Err(format!("`{shown}` ended; {was}{missed}")))
    }
}

/// The call that is meant.
struct Wanted {
    turn: Turn,
    /// The recorded calls, by what they ask.
    recorded: Vec<Option<Said>>,
    /// The recorded call in its place.
    call: Option<Recording>,
    /// How many calls up to it are the same.
    number: usize,
    comparison: Comparison,
}

impl Wanted {
    fn new(calls: &[Recording], turn: Turn, comparison: Comparison) -> Self {
        let recorded: Vec<Option<Said>> = calls.iter().map(Said::of_call).collect();
        let at = turns(&recorded).iter().position(|own| *own == Some(turn));
        let call = at.and_then(|at| calls.get(at)).cloned();
        let same = |other: &&Recording| call.as_ref().is_some_and(|call| call.key == other.key && call.agent == other.agent);
        let number = calls.iter().take(at.map_or(0, |at| at + 1)).filter(same).count();
        Self { turn, recorded, call, number, comparison }
    }

    /// Returns whether a call is the recorded one.
    fn is_same(&self, made: &SeenCall) -> bool {
        let of_one = |call: &Recording| call.agent == made.call.agent && call.conversation == made.call.conversation;
        let own = made.program_call();
        self.call.as_ref().is_some_and(|call| of_one(call) && self.comparison.is_same(call, &own.live()))
    }
}

/// The calls that a program made so far.
#[derive(Debug)]
struct Calls {
    made: Receiver<SeenCall>,
    all: Vec<SeenCall>,
    said: Vec<Option<Said>>,
    /// The one that is meant.
    found: Option<ProgramRequest>,
    /// When the last of them came.
    last: Instant,
}

impl Calls {
    /// The call that is meant: the one that is as recorded, of several the nth; where none is, the one in its place of the conversation that is most
    /// like the recorded one, once no other can come that is more like it.
    fn find(&mut self, wanted: &Wanted, is_over: bool) -> Option<ProgramRequest> {
        let before = self.all.len();
        for call in self.made.try_iter() {
            self.said.push(Said::of_call(&call.call));
            self.all.push(call);
        }
        let has_more = self.all.len() > before;
        if has_more {
            self.last = Instant::now();
        }
        let is_settled = is_over || self.last.elapsed() >= QUIET;
        if self.found.is_some() || !(has_more || is_settled) {
            return self.found.clone();
        }
        let mut same = self.all.iter().enumerate().filter(|(_, made)| wanted.is_same(made)).map(|(at, _)| at);
        let same = same.nth(wanted.number.saturating_sub(1));
        if same.is_none() && !is_settled {
            return None;
        }
        let turns = turns_in(&wanted.recorded, &self.said);
        let place = |wanted: Turn| turns.iter().position(|turn| *turn == Some(wanted));
        // Where it is not there yet, it is looked for again after the same time.
        self.last = Instant::now();
        let at = same.or_else(|| place(wanted.turn))?;
        let own = (*turns.get(at)?)?;
        let call = self.all.get(at)?;
        let before = place(Turn { n: own.n - 1, ..own }).and_then(|at| self.all.get(at));
        self.found = Some(ProgramRequest {
            before: before.map(|seen| seen.call.request.get().to_owned()),
            endpoint: Some(call.call.endpoint.clone()),
            body: call.call.request.get().to_owned(),
            call: Some(call.program_call()),
        });
        self.found.clone()
    }

    /// What was made in place of the call that is meant.
    fn words(&self, wanted: &Wanted) -> String {
        let turns: Vec<Turn> = turns_in(&wanted.recorded, &self.said).into_iter().flatten().collect();
        let wanted = wanted.turn;
        let conversations = turns.iter().map(|turn| turn.conversation).collect::<BTreeSet<_>>().len();
        let own = turns.iter().filter(|turn| turn.conversation == wanted.conversation).count();
        match (turns.len(), own) {
            (0, _) => "the double received no call: the library may read no variable for the address, or its client is mocked"
                .to_owned(),
            (calls, 0) => format!(
                "it made {} in {}, and none of conversation {}",
                plural(calls, "call"),
                plural(conversations, "conversation"),
                wanted.conversation
            ),
            (_, own) => {
                format!("it made {} in conversation {}, but call {} is meant", plural(own, "call"), wanted.conversation, wanted.n)
            }
        }
    }
}

impl SeenCall {
    /// The call as it went over the wire.
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

impl RunProgram for Programs<'_> {
    fn permits(&self, source: &RequestSource) -> bool {
        program_of(source).is_some_and(|line| self.permitted.contains(&line))
    }

    fn request(
        &self,
        path: &str,
        source: &RequestSource,
        answers: Option<&str>,
    ) -> Option<std::result::Result<ProgramRequest, String>> {
        if !self.permits(source) {
            return None;
        }
        let sent = self.shared.unwrap_or(&self.sent);
        Some(sent.get((path, source, answers), || self.have(source, answers)))
    }
}
