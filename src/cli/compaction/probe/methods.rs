//! Methods of compaction that are compared, and the contexts that they leave.

use super::probe_method::{MethodKind, ProbeMethod};
use super::read_probes::{LocatedPoint, LocatedPoints};
use super::role_questions::{
    AskedRole, COMPACT_ANCHORED, COMPACT_REGENERATIVE, QuestionInputs, RoleQuestions,
    question_inputs,
};
use crate::base::fs;
use crate::cli::compaction::find_session::SessionPlace;
use crate::cli::prelude::*;
use crate::run::process::{ProcessLimits, run_program};
use crate::session::method::describe_message;
use std::collections::BTreeMap;
use std::time::Duration;

/// The time limit of a program that compacts.
const PROGRAM_TIME: Duration = Duration::from_mins(10);
/// The maximum output of a program that compacts, in bytes.
const PROGRAM_OUTPUT: usize = 1 << 24;

/// The context that a method leaves at a compaction, or the reason why there is none.
pub(super) type MethodContext = std::result::Result<String, String>;

/// The state of a method that asks a role about the compactions of one session in turn.
#[derive(Default)]
struct SessionState {
    /// The numbers of its compactions, the first of them last.
    open: Vec<usize>,
    /// The last summary.
    summary: String,
    /// All messages that were truncated so far.
    conversation: String,
}

impl ProbeMethod {
    /// Returns the contexts that the method leaves.
    ///
    /// # Errors
    /// Its role cannot be asked.
    pub(super) fn contexts(
        &self,
        located: &LocatedPoints,
        questions: Option<&RoleQuestions<'_>>,
        cx: &mut Cx,
    ) -> Result<Vec<MethodContext>> {
        let (role, template) = match &self.kind {
            MethodKind::AnchoredIterative(role) => (role, &COMPACT_ANCHORED),
            MethodKind::Regenerative(role) => (role, &COMPACT_REGENERATIVE),
            MethodKind::Recorded | MethodKind::Truncate(_) | MethodKind::Command(_) => {
                let points = located.points.iter();
                let context = |point| self.context_without_role(point, &located.place);
                return Ok(points.map(context).collect());
            }
        };
        let Some(questions) = questions else {
            return Ok(Vec::new());
        };
        let to = AskedRole {
            name: role,
            template,
            votes: 1,
        };
        role_contexts(located, to, questions, cx)
    }

    fn context_without_role(&self, point: &LocatedPoint, place: &SessionPlace) -> MethodContext {
        let conversation = &point.material.conversation;
        let after = match &self.kind {
            MethodKind::Truncate(tokens) => conversation.truncated(*tokens),
            MethodKind::Command(argv) => conversation.with_summary(run_method(argv, point, place)?),
            MethodKind::Recorded
            | MethodKind::AnchoredIterative(_)
            | MethodKind::Regenerative(_) => conversation.point.clone(),
        };
        let mask = |text: &str| place.mask(text);
        let context = point.material.context_after(&after, &mask);
        context.ok_or_else(|| "its context is opaque".to_owned())
    }
}

/// Asks a role for the summaries of all sessions, one compaction of each at a time. Later ones build
/// on those of the same method before.
fn role_contexts(
    located: &LocatedPoints,
    to: AskedRole<'_>,
    questions: &RoleQuestions<'_>,
    cx: &mut Cx,
) -> Result<Vec<MethodContext>> {
    let mut sessions: BTreeMap<&str, SessionState> = BTreeMap::new();
    for (at, point) in located.points.iter().enumerate().rev() {
        sessions.entry(&point.session).or_default().open.push(at);
    }
    let mask = |text: &str| located.place.mask(text);
    let missing = || Err("it was not asked".to_owned());
    let mut contexts: Vec<MethodContext> = located.points.iter().map(|_| missing()).collect();
    loop {
        let mut round: Vec<(usize, &mut SessionState)> = sessions
            .values_mut()
            .filter_map(|state| Some((state.open.pop()?, state)))
            .collect();
        if round.is_empty() {
            return Ok(contexts);
        }
        let mut asked: Vec<QuestionInputs> = Vec::new();
        for (at, state) in &mut round {
            let dropped = located
                .points
                .get(*at)
                .map(|point| truncated_text(point, &mask));
            let dropped = dropped.unwrap_or_default();
            state.conversation += &dropped;
            let is_anchored = to.template.task == COMPACT_ANCHORED.task;
            let conversation = if is_anchored {
                dropped
            } else {
                state.conversation.clone()
            };
            asked.push(question_inputs([
                ("conversation", Some(&conversation)),
                ("summary", Some(&state.summary)),
            ]));
        }
        let answers = questions.ask_texts(to, asked, cx)?;
        for ((at, state), summary) in round.into_iter().zip(answers) {
            let (Some(point), Some(context)) = (located.points.get(at), contexts.get_mut(at))
            else {
                continue;
            };
            *context = summary.and_then(|mut summary| {
                let summary = summary.pop().unwrap_or_default();
                state.summary.clone_from(&summary);
                let after = point.material.conversation.with_summary(summary);
                let context = point.material.context_after(&after, &mask);
                context.ok_or_else(|| "it has no context".to_owned())
            });
        }
    }
}

/// Returns the truncated messages of a compaction as a text.
fn truncated_text(point: &LocatedPoint, mask: &dyn Fn(&str) -> String) -> String {
    let messages = point.material.conversation.dropped().map(describe_message);
    let text: String = messages
        .flat_map(|text| [text, "\n\n".to_owned()])
        .collect();
    mask(&text)
}

/// Runs a program of the command line, with the user's environment. Returns its summary.
fn run_method(argv: &[String], point: &LocatedPoint, place: &SessionPlace) -> MethodContext {
    let mut input = point.material.conversation.method_input();
    input.summary = place.mask(&input.summary);
    for message in &mut input.messages {
        message.text = place.mask(&message.text);
    }
    let input = serde_json::to_string(&input).map_err(|why| why.to_string())?;
    let folder = fs::current_dir().map_err(|why| why.to_string())?;
    let bounds = ProcessLimits::new(PROGRAM_TIME, PROGRAM_OUTPUT);
    let end = run_program(argv, &folder, &fs::env_vars(), &input, &bounds);
    let stdout = end.into_stdout(&bounds)?;
    Ok(String::from_utf8_lossy(&stdout).trim().to_owned())
}
