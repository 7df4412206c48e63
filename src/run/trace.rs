//! The trace of a run: JSON lines, each complete and masked. Calls are lines of a recording
//! (`ctxc/request/1`), so that a trace can be replayed, checked and turned into a scenario like any
//! recording. All other events are lines of `ctxc/run/1`.
//!
//! A line is written before its content is used, so that a run that was killed resumes there and
//! repeats nothing that has a line.

use crate::base::hash::Hasher;
use crate::kernel::context::Trust;
use crate::kernel::pipeline::agent::{AgentOutput, SubtaskRequest};
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::provider::ProviderError;
use crate::record::comparison::RequestComparison;
use crate::record::recording::Recording;
use crate::record::redact::Redactor;
use crate::record::volatile::VolatileParts;
use crate::schema::json::names::RUN;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A line of a trace, other than a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TraceLine {
    /// The version of the format.
    pub schema: String,
    /// The run.
    pub run: String,
    /// The event.
    #[serde(flatten)]
    pub event: TraceEvent,
}

/// Events of a run, beside its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(transform = describe_event_key))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceEvent {
    /// The run begins.
    Begin(Begin),
    /// An agent is about to be asked, with this context.
    Stage {
        /// The node with the rounds around it.
        stage: String,
        /// The node.
        node: String,
        /// The model; null if none is configured.
        model: Option<String>,
        /// The context, segment by segment.
        segments: Vec<SegmentLine>,
    },
    /// An agent called a tool.
    Tool(ToolLine),
    /// A command ran.
    Command {
        /// The stage that ran the command.
        stage: String,
        /// The program and its arguments.
        argv: Vec<String>,
        /// The output of the command.
        output: AgentOutput,
    },
    /// An agent asked for a subtask.
    Subtask {
        /// The stage of the agent.
        stage: String,
        /// The depth of the subtask, from 1.
        depth: u32,
        /// The request.
        request: SubtaskRequest,
        /// The reason that it was not run; null if it was.
        refused: Option<String>,
        /// The trust of the request: that of everything that the agent was shown or given before.
        /// Absent if it is trusted.
        #[serde(default, skip_serializing_if = "Trust::is_trusted")]
        trust: Trust,
    },
    /// A stage is done.
    Result {
        /// The stage.
        stage: String,
        /// The result of the stage.
        output: AgentOutput,
        /// True if the beginning of its content replaces notes that it did not make, in a task that
        /// carries notes along.
        notes_cut: bool,
        /// The trust of the result, by everything that was seen on the way to it. Absent if it is
        /// trusted.
        #[serde(default, skip_serializing_if = "Trust::is_trusted")]
        trust: Trust,
    },
    /// A stage has no result.
    Failed {
        /// The stage.
        stage: String,
        /// The reason that it has none.
        obstacle: Obstacle,
    },
    /// A choice took a case.
    Case {
        /// The choice.
        stage: String,
        /// The number of the case, from 0; null for none.
        case: Option<usize>,
        /// The condition of the case; null if it has none.
        test: Option<String>,
    },
    /// A round of a loop is over.
    Round {
        /// The loop.
        stage: String,
        /// The number of the round, from 1.
        round: u32,
        /// True if it was the last.
        ends: bool,
    },
    /// The run has ended.
    End(End),
}

/// Describes in the schema the key that distinguishes events.
#[cfg(feature = "cli")]
fn describe_event_key(schema: &mut schemars::Schema) {
    let events = schema
        .get_mut("oneOf")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for key in events.filter_map(|event| event.pointer_mut("/properties/event")?.as_object_mut()) {
        key.insert("description".to_owned(), "What happened.".into());
    }
}

/// The beginning of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Begin {
    /// The time, in UTC.
    pub at: Option<String>,
    /// The task.
    pub task: String,
    /// The agent role that plays it; null for the task alone.
    pub role: Option<String>,
    /// The values of the task.
    pub inputs: BTreeMap<String, Value>,
    /// The request in words.
    pub objective: Option<String>,
    /// The conversation or run that salts its fences.
    pub session: String,
    /// The source of answers.
    pub answers: String,
    /// The hash of the registry.
    pub registry: String,
    /// A hash of the values as given, before any of them was masked.
    pub given: String,
    /// True if a part of the values was masked, so that they have to be given again.
    pub is_redacted: bool,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct End {
    /// `complete`, `failed` or `blocked`.
    pub status: String,
    /// The reason that it is not complete.
    pub obstacle: Option<Obstacle>,
    /// The content of its result; null if it has none.
    pub content: Value,
    /// The results of the completed stages, if the run is not complete: their notes, and their
    /// content if the task carries that along.
    pub partial: Vec<Partial>,
    /// The number of answered calls of models.
    pub calls: u64,
    /// Tokens sent and answered.
    pub tokens: [u64; 2],
    /// The cost of the calls, by the prices in `ctxc.toml`.
    pub usd: f64,
}

/// The result of a stage in a run that is not complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Partial {
    /// The stage.
    pub stage: String,
    /// The notes of the stage, or the beginning of its content.
    pub notes: String,
    /// The content of the stage, if the task carries that along.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub content: Value,
}

/// A segment of a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct SegmentLine {
    /// The id of the segment in the context.
    pub id: String,
    /// `kept`, `cut` or `dropped`.
    pub state: String,
    /// Tokens of the part that stayed; null if nothing had to be counted.
    pub tokens: Option<usize>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ToolLine {
    /// The stage of the agent.
    pub stage: String,
    /// The number of the call in its conversation, from 1.
    pub number: u32,
    /// The tool.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The result of the call.
    pub result: String,
    /// True if it failed or was refused.
    pub is_error: bool,
}

/// An event of a run, for consumers that need its time.
#[derive(Clone, Debug)]
pub enum Moment {
    /// A stage begins.
    Stage {
        /// The name of the stage in the whole run.
        stage: String,
        /// Its display name.
        name: String,
        /// True if a command runs and no model is called.
        is_script: bool,
    },
    /// A call was answered.
    Call(Box<Recording>),
    /// A provider failed, after all useful retries.
    FailedCall(Box<Recording>, ProviderError),
    /// Any other event of the trace.
    Event(Box<TraceEvent>),
}

/// The moments of a run, with a clock in nanoseconds.
#[derive(Debug)]
struct Timeline {
    clock: fn() -> i128,
    moments: Arc<Moments>,
}

/// The moments so far, with their times.
pub type Moments = Mutex<Vec<(i128, Moment)>>;

/// Pointers to values that ctxc itself writes. Numbers in them are not personal data, even if they
/// look like it.
const UNMASKED_POINTERS: [&str; 5] = ["/schema", "/run", "/at", "/registry", "/given"];

/// The records of an earlier part of a run.
#[derive(Debug, Default)]
pub struct RunJournal {
    /// Answered calls, by their ids in the trace.
    pub calls: BTreeMap<String, Recording>,
    /// Tool calls, by stage and number.
    pub tools: BTreeMap<(String, u32), ToolLine>,
    /// Outputs of commands, by stage.
    pub commands: BTreeMap<String, AgentOutput>,
    /// The beginning of the run.
    pub begin: Option<Begin>,
    /// The end of the run, if it has ended.
    pub end: Option<End>,
    /// All lines that are not calls, in order.
    pub events: Vec<TraceEvent>,
}

impl RunJournal {
    /// Reads the text of a trace. An incomplete last line is left out.
    ///
    /// # Errors
    /// The first line that is neither a call nor an event, with the reason.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut journal = Self::default();
        for (at, line) in text
            .split_inclusive('\n')
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            if let Ok(TraceLine { event, .. }) = serde_json::from_str::<TraceLine>(line) {
                journal.add_event(event);
                continue;
            }
            match Recording::parse_line(line) {
                Ok(call) => drop(journal.calls.insert(call.id.clone(), call)),
                Err(_) if !line.ends_with('\n') => {}
                Err(fault) => return Err(format!("line {}: {fault}", at + 1)),
            }
        }
        Ok(journal)
    }

    /// True if the run completed without an obstacle.
    pub fn is_complete(&self) -> bool {
        self.end
            .as_ref()
            .is_some_and(|end| end.status == PipelineStatus::Complete.word())
    }

    fn add_event(&mut self, event: TraceEvent) {
        if let TraceEvent::Begin(begin) = &event {
            self.begin = Some(begin.clone());
        } else if let TraceEvent::End(end) = &event {
            self.end = Some(end.clone());
        } else if let TraceEvent::Tool(tool) = &event {
            self.tools
                .insert((tool.stage.clone(), tool.number), tool.clone());
        } else if let TraceEvent::Command { stage, output, .. } = &event {
            self.commands.insert(stage.clone(), output.clone());
        }
        self.events.push(event);
    }
}

/// A destination of trace lines. Each line is written completely or not at all.
pub trait LineSink: Debug + Send + Sync {
    /// Adds a line.
    ///
    /// # Errors
    /// The line cannot be written, for example because the disk is full. No part of it remains
    /// then.
    fn add_line(&self, line: &[u8]) -> io::Result<()>;

    /// Returns once all added lines are on disk.
    ///
    /// # Errors
    /// A line cannot be written.
    fn sync(&self) -> io::Result<()>;
}

#[cfg(feature = "fs")]
impl LineSink for crate::base::fs::LineFile {
    fn add_line(&self, line: &[u8]) -> io::Result<()> {
        Self::append(self, line)
    }

    fn sync(&self) -> io::Result<()> {
        Self::sync(self)
    }
}

/// Writes a trace, and holds the records of an earlier part of it.
#[derive(Debug)]
pub struct TraceWriter {
    /// The name of the run.
    pub run: String,
    file: Option<Box<dyn LineSink>>,
    redactor: Redactor,
    /// The comparison of requests with those of an earlier part of the run.
    comparison: RequestComparison,
    before: RunJournal,
    /// The first line that could not be written. No line is written after it.
    broken: Mutex<Option<String>>,
    /// The written events, in order, if they are kept.
    kept: Option<Mutex<Vec<TraceEvent>>>,
    /// The times of all moments, if they are kept.
    timeline: Option<Timeline>,
}

impl TraceWriter {
    /// Creates the trace of a run, in a file or without one.
    pub fn new(
        run: String,
        file: Option<Box<dyn LineSink>>,
        redactor: Redactor,
        before: RunJournal,
    ) -> Self {
        let comparison = RequestComparison::new(VolatileParts::default(), redactor.clone());
        Self {
            run,
            file,
            redactor,
            comparison,
            before,
            broken: Mutex::new(None),
            kept: None,
            timeline: None,
        }
    }

    /// Sets the comparison of requests with earlier ones.
    #[must_use]
    pub fn with_comparison(self, comparison: RequestComparison) -> Self {
        Self { comparison, ..self }
    }

    /// Keeps written events in memory too.
    #[must_use]
    pub fn with_kept_events(self) -> Self {
        Self {
            kept: Some(Mutex::default()),
            ..self
        }
    }

    /// Keeps the time of each moment.
    #[must_use]
    pub fn with_timeline(self, clock: fn() -> i128) -> Self {
        Self {
            timeline: Some(Timeline {
                clock,
                moments: Arc::default(),
            }),
            ..self
        }
    }

    /// Records a moment with the current time.
    pub fn record_moment(&self, of: impl FnOnce() -> Moment) {
        if let Some(Timeline { clock, moments }) = &self.timeline {
            moments
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((clock(), of()));
        }
    }

    /// The moments so far with their times, if they are kept.
    pub fn moments(&self) -> Vec<(i128, Moment)> {
        let moments = self.timeline.as_ref().map(|timeline| &timeline.moments);
        moments.map_or_else(Vec::new, |moments| {
            moments
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        })
    }

    /// A weak reference to the moments, for another thread.
    pub fn timeline(&self) -> Weak<Moments> {
        self.timeline
            .as_ref()
            .map_or_else(Weak::new, |timeline| Arc::downgrade(&timeline.moments))
    }

    /// The events so far, if they are kept.
    pub fn events(&self) -> Vec<TraceEvent> {
        self.kept.as_ref().map_or_else(Vec::new, |kept| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
        })
    }

    /// The records of an earlier part of the run.
    pub const fn earlier_run(&self) -> &RunJournal {
        &self.before
    }

    /// The redactor of secrets and personal data.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The comparison of requests with those of an earlier part of the run.
    pub const fn comparison(&self) -> &RequestComparison {
        &self.comparison
    }

    /// True if values of an earlier part of the run are masked, so that new requests differ from
    /// the recorded ones.
    pub fn is_redacted(&self) -> bool {
        self.before
            .calls
            .values()
            .any(|call| !call.redacted.is_empty())
    }

    /// Writes an event.
    ///
    /// # Errors
    /// The reason why it cannot be written. Earlier lines stay unchanged.
    pub fn write_event(&self, event: TraceEvent) -> Result<(), String> {
        self.record_moment(|| Moment::Event(Box::new(event.clone())));
        if let Some(kept) = &self.kept {
            kept.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(event.clone());
        }
        if self.file.is_none() {
            return Ok(());
        }
        let line = TraceLine {
            schema: RUN.to_owned(),
            run: self.run.clone(),
            event,
        };
        // Plain data with string keys always serialises.
        let line = serde_json::to_string(&line).unwrap_or_default();
        let line = self.redactor.mask_json_except(&line, &UNMASKED_POINTERS);
        self.write_line(&(line + "\n"))
    }

    /// Writes an answered call.
    ///
    /// # Errors
    /// The reason why it cannot be written. Earlier lines stay unchanged.
    pub fn write_call(&self, call: &Recording) -> Result<(), String> {
        self.record_moment(|| Moment::Call(Box::new(call.clone())));
        self.write_line(&call.to_line())
    }

    /// Returns once all written lines are on disk.
    ///
    /// # Errors
    /// The reason why they cannot be written.
    pub fn sync(&self) -> Result<(), String> {
        self.file
            .as_ref()
            .map_or(Ok(()), |file| file.sync().map_err(|why| write_error(&why)))
    }

    /// True if any consumer needs events.
    pub const fn wants_events(&self) -> bool {
        self.file.is_some() || self.kept.is_some() || self.timeline.is_some()
    }

    /// True if any consumer needs calls.
    pub const fn wants_calls(&self) -> bool {
        self.file.is_some() || self.timeline.is_some()
    }

    fn write_line(&self, line: &str) -> Result<(), String> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &*broken {
            return Err(why.clone());
        }
        file.add_line(line.as_bytes())
            .map_err(|why| broken.insert(write_error(&why)).clone())
    }
}

fn write_error(why: &io::Error) -> String {
    format!("the trace of the run cannot be written: {why}; its earlier lines are as they were")
}

/// Hashes the original values with the user's secret, so that values cannot be guessed from the
/// hash without it.
pub fn hash_inputs(
    inputs: &BTreeMap<String, Value>,
    objective: Option<&str>,
    redactor: &Redactor,
) -> String {
    let inputs = serde_json::to_string(inputs).unwrap_or_default();
    let hash = Hasher::new()
        .add_field(inputs)
        .add_field(objective.unwrap_or_default())
        .finish()
        .to_string();
    redactor.placeholder("given", &hash)
}
