//! Tests of the private items of `src/session/method.rs`.

use super::ConversationReplay;
use crate::kernel::conversation::{Speaker, Turn};
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, SessionEvent, SessionMessage,
};

#[test]
fn a_step_back_behind_a_compaction_restores_its_messages() {
    let message = |line| {
        let turn = Turn::new(Speaker::User, "x".to_owned());
        SessionEvent::Message(SessionMessage::new(turn, MessageOrigin::Conversation, line))
    };
    let compaction = |summary: &str, retained: &[usize]| {
        SessionEvent::Compaction(Box::new(CompactionPoint {
            summary: summary.to_owned(),
            retained: retained.to_vec(),
            ..CompactionPoint::new(CompactionKind::Summary, 9)
        }))
    };
    let mut replay = ConversationReplay::default();
    let events = [
        message(1),
        message(2),
        message(3),
        compaction("first", &[1]),
        message(4),
        SessionEvent::UndoCompaction,
        SessionEvent::Rewind(2),
        message(5),
        compaction("second", &[]),
    ];
    let mut points = events
        .into_iter()
        .filter_map(|event| replay.add_event(event));
    points.next().unwrap();
    let point = points.next().unwrap();
    let numbers: Vec<usize> = point.messages.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [0, 1, 4]);
    assert_eq!(point.summary, "");
}
