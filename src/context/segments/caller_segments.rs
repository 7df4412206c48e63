//! Segments for the caller's own goals. They come after the task's segments because they change
//! with each call, which keeps the prefix that a provider's cache can reuse.

use crate::context::objective;
use crate::context::request::CallerGoals;
use crate::context::segments::joined_texts::append_hanging;
use crate::kernel::context::{CutPolicy, Kind, Origin, Segment, Stability, TracedText};

/// Returns the segments of the caller's goals.
pub(in crate::context) fn build_segments(asked: &CallerGoals<'_>) -> Vec<Segment> {
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
    if let Some(objective) = asked.objective.filter(|objective| !objective.is_empty()) {
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
        ("criteria", Kind::Criteria, asked.criteria),
        ("constraints", Kind::Constraints, asked.constraints),
    ];
    for (name, kind, texts) in lists.into_iter().filter(|(_, _, texts)| !texts.is_empty()) {
        let mut all = TracedText::default();
        let mut borders = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            borders.push(all.text().len());
            all.push(if number > 0 { "\n- " } else { "- " }, Origin::Frame);
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
