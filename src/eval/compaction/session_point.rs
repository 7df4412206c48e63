//! A session at the compaction that a case is about, and its facts after another summary.
//!
//! The session lies beside the scenario or in the user's folder for state, and is found by its hash.
//! Without it, a case is undecided, never passed.

use crate::base::hash::Hash;
use crate::base::span::Spanned;
use crate::eval::answer_source::AnswersFrom;
use crate::eval::case_result::{CaseResult, CaseVerdict};
use crate::eval::run_context::{CaseInput, RunContext};
use crate::scenario::compaction::CONVERSATION_PARAMETER;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::{CompactionMethod, CompactionSubject, FrozenValue, Situation};
use crate::session::analysis::{AnalysisInput, JudgedFact, SessionAnalysis};
use crate::session::method::{ConversationAtPoint, ConversationReplay};
use crate::session::read::session_reader::{detect_format, read_session};
use crate::session::session_event::{CompactionPoint, SessionEvent, SessionFormat};
use serde_json::Value;
use std::collections::HashMap;
use std::io;

/// A session at one of its compactions.
#[derive(Clone, Debug)]
pub struct SessionPoint {
    text: String,
    format: SessionFormat,
    /// The name of the conversation in the session; empty if it has only one.
    conversation: String,
    number: usize,
    method: CompactionMethod,
    /// The conversation before the compaction.
    pub conversation_at: ConversationAtPoint,
}

/// Returns the path of a session beside its scenario.
pub fn session_path(hash: &str) -> String {
    format!("sessions/{}.jsonl", hash.trim_start_matches("b3:"))
}

impl SessionPoint {
    /// Finds the compaction of a session by its number.
    ///
    /// # Errors
    /// The session has no such compaction; the reason is in the text.
    pub fn find(text: String, subject: &CompactionSubject) -> Result<Self, String> {
        let format = detect_format(text.as_bytes()).ok().flatten();
        let format = format.ok_or("the session has no known format")?;
        let mut replays: HashMap<String, (ConversationReplay, usize)> = HashMap::new();
        let (mut found, mut most) = (None, 0);
        for_each_event(&text, format, |name, event| {
            let (replay, count) = replays.entry(name.to_owned()).or_default();
            if let Some(at) = replay.add_event(event) {
                *count += 1;
                most = most.max(*count);
                if *count == subject.number && found.is_none() {
                    found = Some((name.to_owned(), at));
                }
            }
        })
        .map_err(|error| format!("the session cannot be read: {error}"))?;
        let (conversation, conversation_at) = found.ok_or_else(|| {
            format!(
                "the session has no compaction {}; the number of its compactions is {most}",
                subject.number
            )
        })?;
        Ok(Self {
            text,
            format,
            conversation,
            number: subject.number,
            method: subject.method.clone(),
            conversation_at,
        })
    }

    /// Reads the session of a case; `None` if the case is about none.
    ///
    /// # Errors
    /// It is missing, or must not be recorded: the result of the case.
    pub(in crate::eval) fn read_case(
        run: &RunContext<'_>,
        input: &CaseInput<'_>,
    ) -> Result<Option<Self>, Box<CaseResult>> {
        let Some(subject) = input.case.subject.value.compaction() else {
            return Ok(None);
        };
        let failed = |verdict, why: String| {
            Box::new(CaseResult {
                verdict,
                ..CaseResult::failed_case("/", why)
            })
        };
        let hash = &subject.session.value;
        let embedded = input.beside.text(&session_path(hash)).ok();
        let is_embedded = embedded.is_some();
        let stored = || run.answers.sessions?.session_text(hash);
        let Some(text) = embedded.or_else(stored) else {
            let why = format!(
                "undecided: the session {hash} is neither in {} beside the scenario nor in your folder for state; \
                 `ctxc new scenario --from SESSION#{} --embed` puts it into the project",
                session_path(hash),
                subject.number
            );
            return Err(failed(CaseVerdict::Inconclusive, why));
        };
        if Hash::parse(hash) != Some(Hash::digest(text.as_bytes())) {
            let why = format!("the session {hash} has another content than its hash says");
            return Err(failed(CaseVerdict::Error, why));
        }
        let from = run.answers.from;
        let is_recorded = from.calls_models() && from != AnswersFrom::Live;
        let mut tests = all_tests(&input.case.expectations);
        let asks = subject.role().is_some() || tests.any(|(test, _)| test.needs_judge());
        if is_recorded && asks && !is_embedded {
            let why = "a recording would put text of the session into the project, which does not contain the session: \
                 `--answers live` keeps nothing, and `ctxc new scenario --embed` puts the session there first";
            return Err(failed(CaseVerdict::Error, why.to_owned()));
        }
        Self::find(text, subject)
            .map(Some)
            .map_err(|why| failed(CaseVerdict::Error, why))
    }

    /// Returns the situation of a role that compacts: with the conversation as its input.
    pub(in crate::eval) fn fill_situation(&self, situation: &Situation) -> Situation {
        let mut filled = situation.clone();
        let text = Value::String(self.conversation_at.prompt_text());
        if let Some(input) = filled.inputs.get_mut(CONVERSATION_PARAMETER) {
            **input = Spanned::new(FrozenValue::Value(text), input.span);
        }
        filled
    }

    /// Returns the facts at the compaction with another summary, as the method of the case leaves
    /// the messages.
    pub fn facts_after(&self, summary: &str) -> Vec<JudgedFact> {
        let at = &self.conversation_at;
        self.facts_with(match self.method {
            CompactionMethod::Recorded => CompactionPoint {
                summary: summary.to_owned(),
                ..at.point.clone()
            },
            CompactionMethod::Truncate { tokens } => at.truncated(tokens),
            CompactionMethod::Program(_) | CompactionMethod::Role(_) => {
                at.with_summary(summary.to_owned())
            }
        })
    }

    fn facts_with(&self, point: CompactionPoint) -> Vec<JudgedFact> {
        let point = Box::new(point);
        // The session is masked already.
        let mask = |text: &str| text.to_owned();
        // A verdict must not depend on the files of a machine.
        let mut analysis = SessionAnalysis::new(AnalysisInput::new(&mask, self.format));
        let mut count = 0;
        // It was read before, so that reading cannot fail.
        _ = for_each_event(&self.text, self.format, |name, mut event| {
            if name != self.conversation {
                return;
            }
            if let SessionEvent::Compaction(recorded) = &mut event {
                count += 1;
                if count == self.number {
                    recorded.clone_from(&point);
                }
            }
            analysis.add_event(event);
        });
        let compactions = analysis.finish().compactions;
        let found = compactions.into_iter().nth(self.number - 1);
        found.map(|found| found.facts).unwrap_or_default()
    }
}

/// Passes on the events of a session, each with the name of its conversation.
fn for_each_event(
    text: &str,
    format: SessionFormat,
    mut take: impl FnMut(&str, SessionEvent),
) -> io::Result<()> {
    let mut name = String::new();
    let read = read_session(text.as_bytes(), format, |event| {
        if let SessionEvent::Conversation(own) = event {
            name = own;
        } else {
            take(&name, event);
        }
    });
    read.map(drop)
}
