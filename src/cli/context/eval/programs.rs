//! Programs of the project that scenarios take their requests from: run behind a double that answers from a recording, until the call
//! that is meant was made.

use super::own_checks::MODULES;
use crate::base::fs;
use crate::cli::context::project::Compiled;
use crate::cli::context::sent_requests::SentRequests;
use crate::cli::record::{Double, double};
use crate::cli::render::summary::plural;
use crate::eval::asked::{ProgramCall, ProgramRequest, RunProgram};
use crate::record::file::{LinePlace, Recordings};
use crate::record::foreign::Format;
use crate::record::places::Call;
use crate::record::proxy::keeper::SeenCall;
use crate::record::recording::Recording;
use crate::record::turns::{Said, Turn, turns};
use crate::run::process::{self, Bounds, Ended};
use crate::scenario::request_source::{RequestSource, SentBy};
use crate::store::trust::program_of;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
        let answers = recorded.calls.into_iter().enumerate().map(named).collect();
        let (also, made) = mpsc::channel();
        let Double { server, variables } =
            double(&self.project.root, &self.project.config, answers, also).map_err(|error| error.message)?;
        let calls = Mutex::new(Calls { made, all: Vec::new(), said: Vec::new(), found: None });
        let wanted = Turn { conversation: sent.conversation, n: sent.n };
        let look = || calls.lock().unwrap_or_else(PoisonError::into_inner).find(wanted);
        let is_made = || look().is_some();
        let bounds = Bounds { until: Some(&is_made), ..Bounds::of(Duration::from_secs(sent.timeout_s), LIMIT) };
        let ended = self.run(&sent.argv, &variables, &bounds);
        let tally = server.end();
        if let Some(found) = look() {
            return Ok(found);
        }
        let shown = sent.argv.join(" ");
        let missed = tally.misses.first().map(|why| format!("; {why}")).unwrap_or_default();
        let was = calls.lock().unwrap_or_else(PoisonError::into_inner).words(wanted);
        let written = ended.well(&bounds).map_err(|why| format!("`{shown}` failed: {why}; {was}{missed}"));
        written.and_then(|_| Err(format!("`{shown}` ended; {was}{missed}")))
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
}

impl Calls {
    fn find(&mut self, wanted: Turn) -> Option<ProgramRequest> {
        let before = self.all.len();
        for call in self.made.try_iter() {
            self.said.push(Said::of_call(&call.call));
            self.all.push(call);
        }
        if self.all.len() == before {
            return self.found.clone();
        }
        let turns = turns(&self.said);
        let at = |wanted: Turn| turns.iter().position(|turn| *turn == Some(wanted));
        let call = self.all.get(at(wanted)?)?;
        let before = at(Turn { n: wanted.n - 1, ..wanted }).and_then(|at| self.all.get(at));
        let before = before.map(|seen| seen.call.request.get().to_owned());
        let SeenCall { call, endpoint, body, redactor } = call;
        let own = ProgramCall {
            endpoint: endpoint.clone(),
            dialect: call.dialect.clone(),
            body: body.clone(),
            key: call.key.clone(),
            redactor: Some(redactor.clone()),
        };
        self.found = Some(ProgramRequest {
            before,
            endpoint: Some(call.endpoint.clone()),
            body: call.request.get().to_owned(),
            call: Some(own),
        });
        self.found.clone()
    }

    /// What was made in place of the call that is meant.
    fn words(&self, wanted: Turn) -> String {
        let turns: Vec<Turn> = turns(&self.said).into_iter().flatten().collect();
        let conversations = turns.iter().map(|turn| turn.conversation).max().unwrap_or(0);
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
