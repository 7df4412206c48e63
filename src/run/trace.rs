//! The trace of a run: JSON lines, each whole and redacted. Its calls are lines of a recording (`ctxc/request/1`), so that a trace can be replayed,
//! checked and made a scenario of like any other; what happened around them are lines of `ctxc/run/1`.
//!
//! A line is on its way to the disk before what it says is used: a run that is killed goes on from there, and repeats nothing that has a line.

use crate::base::hash::Hasher;
use crate::kernel::context::Trust;
use crate::kernel::pipeline::agent::{AgentOutput, SubtaskRequest};
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::provider::ProviderError;
use crate::record::comparison::Comparison;
use crate::record::recording::Recording;
use crate::record::redact::Redactor;
use crate::record::volatile::Volatile;
use crate::schema::json::names::RUN;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A line of a trace that is no call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TraceLine {
    /// The format.
    pub schema: String,
    /// The run.
    pub run: String,
    /// What happened.
    #[serde(flatten)]
    pub event: TraceEvent,
}

/// What happens in a run, beside its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(transform = described))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceEvent {
    /// It begins.
    Begin(Begin),
    /// An agent is about to be asked: what it is shown.
    Stage {
        /// The node with the rounds that it stands in.
        stage: String,
        /// The node.
        node: String,
        /// The model; null where nobody names one.
        model: Option<String>,
        /// What it is shown, segment by segment.
        segments: Vec<SegmentLine>,
    },
    /// An agent called a tool.
    Tool(ToolLine),
    /// A command ran.
    Command {
        /// The stage that it is of.
        stage: String,
        /// The program and its arguments.
        argv: Vec<String>,
        /// What it came to.
        output: AgentOutput,
    },
    /// An agent asked for a subtask.
    Subtask {
        /// The stage of the agent.
        stage: String,
        /// How deep it is, from 1.
        depth: u32,
        /// What was asked for.
        request: SubtaskRequest,
        /// Why it was not run; null where it was.
        refused: Option<String>,
        /// Trust of the request: that of everything that the agent was shown or given before. Left out where it is trusted.
        #[serde(default, skip_serializing_if = "Trust::is_trusted")]
        trust: Trust,
    },
    /// A stage is done.
    Result {
        /// The stage.
        stage: String,
        /// Its result.
        output: AgentOutput,
        /// Whether the beginning of its content stands for notes that it did not make, where notes are carried along.
        notes_cut: bool,
        /// Its trust, by everything that was seen on the way to it. Left out where it is trusted.
        #[serde(default, skip_serializing_if = "Trust::is_trusted")]
        trust: Trust,
    },
    /// A stage has no result.
    Failed {
        /// The stage.
        stage: String,
        /// Why it has none.
        obstacle: Obstacle,
    },
    /// A choice took a case.
    Case {
        /// The choice.
        stage: String,
        /// Which case, from 0; null for none.
        case: Option<usize>,
        /// Its test; null where it has none.
        test: Option<String>,
    },
    /// A round of a loop is over.
    Round {
        /// The loop.
        stage: String,
        /// Which round, from 1.
        round: u32,
        /// Whether it was the last.
        ends: bool,
    },
    /// It has ended.
    End(End),
}

/// Says in a schema what the key is by which events are told apart.
#[cfg(feature = "cli")]
fn described(schema: &mut schemars::Schema) {
    let events = schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten();
    for key in events.filter_map(|event| event.pointer_mut("/properties/event")?.as_object_mut()) {
        key.insert("description".to_owned(), "What happened.".into());
    }
}

/// How a run begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Begin {
    /// When, in UTC.
    pub at: Option<String>,
    /// The task.
    pub task: String,
    /// The agent role that plays it; null for the task alone.
    pub role: Option<String>,
    /// The values that it is given.
    pub inputs: BTreeMap<String, Value>,
    /// What is asked for in words.
    pub objective: Option<String>,
    /// The conversation or run that its fences are salted with.
    pub session: String,
    /// Where answers come from.
    pub answers: String,
    /// The hash of the registry.
    pub registry: String,
    /// A hash of the values as they were given, before anything in them was replaced.
    pub given: String,
    /// Whether something was replaced in the values, so that they have to be given again.
    pub is_redacted: bool,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct End {
    /// `complete`, `failed` or `blocked`.
    pub status: String,
    /// Why it is not complete.
    pub obstacle: Option<Obstacle>,
    /// The content of its result; null where it has none.
    pub content: Value,
    /// What the stages left that were done, where it is not complete: their notes, and their content where the task carries that along.
    pub partial: Vec<Partial>,
    /// The calls of models that were answered.
    pub calls: u64,
    /// Tokens sent and answered.
    pub tokens: [u64; 2],
    /// What they cost, by the prices in `ctxc.toml`.
    pub usd: f64,
}

/// What a stage left of a run that did not end well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Partial {
    /// The stage.
    pub stage: String,
    /// Its notes, or the beginning of its content.
    pub notes: String,
    /// Its content, where the task carries that along.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub content: Value,
}

/// A segment of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SegmentLine {
    /// Its name in the context.
    pub id: String,
    /// `kept`, `cut` or `dropped`.
    pub state: String,
    /// Tokens of what stayed; null where nothing had to be counted.
    pub tokens: Option<usize>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ToolLine {
    /// The stage of the agent.
    pub stage: String,
    /// Which call of its conversation, from 1.
    pub number: u32,
    /// The tool.
    pub name: String,
    /// What it was given.
    pub arguments: Value,
    /// What it gave back.
    pub result: String,
    /// Whether it failed or was refused.
    pub is_error: bool,
}

/// Something that happens in a run, for whoever wants to know when.
#[derive(Clone, Debug)]
pub enum Moment {
    /// A stage begins.
    Stage {
        /// The stage in the whole run.
        stage: String,
        /// What people call it.
        name: String,
        /// Whether a command runs, and nobody is asked.
        is_script: bool,
    },
    /// A call was answered.
    Call(Box<Recording>),
    /// A provider was asked, as often as helps, and failed.
    FailedCall(Box<Recording>, ProviderError),
    /// Anything else that the trace says.
    Event(Box<TraceEvent>),
}

/// What happens and when, by a clock in nanoseconds.
#[derive(Debug)]
struct Timeline {
    clock: fn() -> i128,
    moments: Arc<Moments>,
}

/// What happened so far, and when.
pub type Moments = Mutex<Vec<(i128, Moment)>>;

/// What ctxc itself writes into a line: a number in it is nobody's, whatever it looks like.
const OWN: [&str; 5] = ["/schema", "/run", "/at", "/registry", "/given"];

/// What an earlier part of a run did already.
#[derive(Debug, Default)]
pub struct Journal {
    /// Answered calls by their names in the trace.
    pub calls: BTreeMap<String, Recording>,
    /// What tools gave back, by the stage and the number of the call.
    pub tools: BTreeMap<(String, u32), ToolLine>,
    /// What commands came to, by their stages.
    pub commands: BTreeMap<String, AgentOutput>,
    /// How it began.
    pub begin: Option<Begin>,
    /// How it ended, where it did.
    pub end: Option<End>,
    /// All lines that are no calls, in order.
    pub events: Vec<TraceEvent>,
}

impl Journal {
    /// Reads the text of a trace. A last line that was cut is left out.
    ///
    /// # Errors
    /// A line is neither a call nor of a run: which one, and why.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut journal = Self::default();
        for (at, line) in text.split_inclusive('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if let Ok(TraceLine { event, .. }) = serde_json::from_str::<TraceLine>(line) {
                journal.add(event);
                continue;
            }
            match Recording::read(line) {
                Ok(call) => drop(journal.calls.insert(call.id.clone(), call)),
                Err(_) if !line.ends_with('\n') => {}
                Err(fault) => return Err(format!("line {}: {fault}", at + 1)),
            }
        }
        Ok(journal)
    }

    /// Whether the run came to its end, and nothing stood in its way.
    pub fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.status == PipelineStatus::Complete.word())
    }

    fn add(&mut self, event: TraceEvent) {
        if let TraceEvent::Begin(begin) = &event {
            self.begin = Some(begin.clone());
        } else if let TraceEvent::End(end) = &event {
            self.end = Some(end.clone());
        } else if let TraceEvent::Tool(tool) = &event {
            self.tools.insert((tool.stage.clone(), tool.number), tool.clone());
        } else if let TraceEvent::Command { stage, output, .. } = &event {
            self.commands.insert(stage.clone(), output.clone());
        }
        self.events.push(event);
    }
}

/// Where the lines of a trace go, each whole or not at all.
pub trait LineSink: Debug + Send + Sync {
    /// Adds a line.
    ///
    /// # Errors
    /// There is no room for it, for one; nothing of it stays then.
    fn add(&self, line: &[u8]) -> io::Result<()>;

    /// Returns when what was added is on the disk.
    ///
    /// # Errors
    /// It cannot be written.
    fn sync(&self) -> io::Result<()>;
}

#[cfg(feature = "fs")]
impl LineSink for crate::base::fs::LineFile {
    fn add(&self, line: &[u8]) -> io::Result<()> {
        Self::add(self, line)
    }

    fn sync(&self) -> io::Result<()> {
        Self::sync(self)
    }
}

/// Writes a trace, and knows what an earlier part of it says.
#[derive(Debug)]
pub struct Trace {
    /// The name of the run.
    pub run: String,
    file: Option<Box<dyn LineSink>>,
    redactor: Redactor,
    /// What requests are compared by with those of an earlier part of the run.
    comparison: Comparison,
    before: Journal,
    /// The first line that could not be written: nothing goes on behind that.
    broken: Mutex<Option<String>>,
    /// What was written, in order, where somebody looks at it afterwards.
    kept: Option<Mutex<Vec<TraceEvent>>>,
    /// What happens and when, where somebody wants to know that.
    timeline: Option<Timeline>,
}

impl Trace {
    /// The trace of a run in a file, or in none.
    pub fn new(run: String, file: Option<Box<dyn LineSink>>, redactor: Redactor, before: Journal) -> Self {
        let comparison = Comparison::new(Volatile::default(), redactor.clone());
        Self { run, file, redactor, comparison, before, broken: Mutex::new(None), kept: None, timeline: None }
    }

    /// The same, which compares requests with earlier ones by this.
    #[must_use]
    pub fn comparing(self, comparison: Comparison) -> Self {
        Self { comparison, ..self }
    }

    /// The same, which keeps what it writes in memory, too.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { kept: Some(Mutex::default()), ..self }
    }

    /// The same, which keeps when everything happened.
    #[must_use]
    pub fn timed(self, clock: fn() -> i128) -> Self {
        Self { timeline: Some(Timeline { clock, moments: Arc::default() }), ..self }
    }

    /// Notes that something happens now.
    pub fn moment(&self, of: impl FnOnce() -> Moment) {
        if let Some(Timeline { clock, moments }) = &self.timeline {
            moments.lock().unwrap_or_else(PoisonError::into_inner).push((clock(), of()));
        }
    }

    /// What happened so far and when, where that is kept.
    pub fn moments(&self) -> Vec<(i128, Moment)> {
        let moments = self.timeline.as_ref().map(|timeline| &timeline.moments);
        moments.map_or_else(Vec::new, |moments| moments.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// The same for another thread, as long as the trace is there.
    pub fn timeline(&self) -> Weak<Moments> {
        self.timeline.as_ref().map_or_else(Weak::new, |timeline| Arc::downgrade(&timeline.moments))
    }

    /// What was written so far, where it is kept.
    pub fn events(&self) -> Vec<TraceEvent> {
        self.kept.as_ref().map_or_else(Vec::new, |kept| kept.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// What an earlier part of the run did already.
    pub const fn before(&self) -> &Journal {
        &self.before
    }

    /// What replaces secrets and personal data.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// What requests are compared by with those of an earlier part of the run.
    pub const fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// Whether an earlier part of the run has something replaced, so that requests made of it are others.
    pub fn is_redacted(&self) -> bool {
        self.before.calls.values().any(|call| !call.redacted.is_empty())
    }

    /// Writes that something happened.
    ///
    /// # Errors
    /// It cannot be written: why. Lines before are as they were.
    pub fn event(&self, event: TraceEvent) -> Result<(), String> {
        self.moment(|| Moment::Event(Box::new(event.clone())));
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(event.clone());
        }
        if self.file.is_none() {
            return Ok(());
        }
        let line = TraceLine { schema: RUN.to_owned(), run: self.run.clone(), event };
        // Plain data with keys of text: writing it cannot fail.
        let line = serde_json::to_string(&line).unwrap_or_default();
        let line = self.redactor.json_except(&line, &OWN);
        self.write(&(line + "\n"))
    }

    /// Writes a call that was answered.
    ///
    /// # Errors
    /// It cannot be written: why. Lines before are as they were.
    pub fn call(&self, call: &Recording) -> Result<(), String> {
        self.moment(|| Moment::Call(Box::new(call.clone())));
        self.write(&call.line())
    }

    /// Returns when what was written is on the disk.
    ///
    /// # Errors
    /// It cannot be written: why.
    pub fn sync(&self) -> Result<(), String> {
        self.file.as_ref().map_or(Ok(()), |file| file.sync().map_err(|why| unwritten(&why)))
    }

    /// Whether anybody wants to know what happens.
    pub const fn wants_events(&self) -> bool {
        self.file.is_some() || self.kept.is_some() || self.timeline.is_some()
    }

    /// Whether anybody wants to know of calls.
    pub const fn wants_calls(&self) -> bool {
        self.file.is_some() || self.timeline.is_some()
    }

    fn write(&self, line: &str) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &*broken {
            return Err(why.clone());
        }
        file.add(line.as_bytes()).map_err(|why| broken.insert(unwritten(&why)).clone())
    }
}

fn unwritten(why: &io::Error) -> String {
    format!("the trace of the run cannot be written: {why}; its earlier lines are as they were")
}

/// A hash of values as they were given, which nobody can try values against who does not have the user's secret.
pub fn hash_of(inputs: &BTreeMap<String, Value>, objective: Option<&str>, redactor: &Redactor) -> String {
    let inputs = serde_json::to_string(inputs).unwrap_or_default();
    let hash = Hasher::new().field(inputs).field(objective.unwrap_or_default()).finish().to_string();
    redactor.placeholder("given", &hash)
}
