//! Segments for the caller's own goals and for a conversation. Goals come after the task's segments
//! because they change with each call, which keeps the prefix that a provider's cache can reuse. A
//! conversation is one segment for each message, numbered by its position; `kernel::fold` cuts it
//! once the available budget is known.

use super::draft_segment::DraftSegment;
use super::task_segments::append_hanging;
use crate::context::objective;
use crate::context::request::CallerGoals;
use crate::kernel::context::{CutPolicy, Kind, Origin, Segment, Stability, TracedText};
use crate::kernel::conversation::{Speaker, Turn};
use crate::kernel::fold::HistoryLimits;
use crate::registry::body::HistoryLimit;
use std::collections::BTreeSet;

/// Returns the segments of the caller's goals.
pub(in crate::context) fn build_segments(goals: &CallerGoals<'_>) -> Vec<Segment> {
    let segment = |id: &str, kind: Kind, title: &str, text: TracedText, cut: CutPolicy| {
        let segment = Segment::from_template(kind, text, "asked for by the caller")
            .named(id, title)
            .stable(Stability::Call);
        Segment { cut, ..segment }
    };
    let from = |name: &str| Origin::Input {
        name: name.to_owned(),
    };
    let mut segments = Vec::new();
    if let Some(objective) = goals.objective.filter(|objective| !objective.is_empty()) {
        let text = TracedText::new(objective, from(objective::NAME));
        segments.push(
            segment(
                objective::NAME,
                Kind::Input,
                objective::NAME,
                text,
                CutPolicy::Tail,
            )
            .prior(objective::PRIORITY),
        );
    }
    let lists = [
        ("criteria", Kind::Criteria, goals.criteria),
        ("constraints", Kind::Constraints, goals.constraints),
    ];
    for (name, kind, texts) in lists.into_iter().filter(|(_, _, texts)| !texts.is_empty()) {
        let mut all = TracedText::default();
        let mut borders = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            borders.push(all.text().len());
            all.push(if number > 0 { "\n- " } else { "- " }, Origin::Generated);
            append_hanging(&mut all, &TracedText::new(text.as_str(), from(name)));
        }
        segments.push(segment(
            &format!("{name}:request"),
            kind,
            "",
            all,
            CutPolicy::TailAt(borders),
        ));
    }
    segments
}

/// Returns the limits of a `<history>` element.
pub(in crate::context) fn history_limits(element: HistoryLimit) -> HistoryLimits {
    let number = |number: Option<u32>| number.map(|number| number as usize);
    HistoryLimits {
        turns: number(element.turns),
        max_tokens: number(element.max_tokens),
        compacted: element.compacted,
    }
}

/// Describes the conversation that a dry run waits for, with its limits.
fn describe_conversation(element: HistoryLimit) -> String {
    let number = |what: &str, number: Option<u32>| number.map(|number| format!("{what} {number}"));
    let compacted = element.compacted.then(|| "compacted".to_owned());
    let questions: Vec<String> = [
        number("turns", element.turns),
        number("max_tokens", element.max_tokens),
        compacted,
    ]
    .into_iter()
    .flatten()
    .collect();
    if questions.is_empty() {
        "conversation".to_owned()
    } else {
        format!("conversation ({})", questions.join(", "))
    }
}

/// Returns the messages of a conversation as segments. They come from users and are untrusted.
pub(in crate::context) fn message_segments(turns: &[Turn]) -> impl Iterator<Item = DraftSegment> {
    turns
        .iter()
        .enumerate()
        .map(|(at, turn)| message_segment(format!("history:{}", at + 1), turn.clone()))
}

fn message_segment(id: String, turn: Turn) -> DraftSegment {
    let segment = Segment::from_turns(
        Kind::History,
        id,
        vec![turn],
        Origin::Conversation,
        "<history>",
    );
    DraftSegment::known(segment.untrusted().stable(Stability::Session))
}

/// Returns the segment of an unknown conversation. Its limits are part of its description.
pub(in crate::context) fn open_conversation(element: HistoryLimit) -> DraftSegment {
    DraftSegment {
        unknown: BTreeSet::from([describe_conversation(element)]),
        condition: Some("something was said before"),
        ..message_segment(
            Kind::History.as_str().to_owned(),
            Turn::new(Speaker::User, ""),
        )
    }
}
