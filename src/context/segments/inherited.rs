//! The segments that a node inherits from its parent's context: all, or a subset, without
//! duplicates.
//!
//! Untrusted text never influences trusted segments: it neither replaces nor ranks them.
//!
//! Before a run, a segment is doubtful if it may turn out to be a duplicate or to match better or
//! worse.

use super::draft_segment::DraftSegment;
use crate::context::context_source::{self, MAX_MATCHES, Match};
use crate::context::fill::UnknownHandling;
use crate::context::lookup_query::{
    QuerySource, deferred_inputs, full_query, is_query_known, relevant_inputs, trusted_query,
};
use crate::context::segments::task_segments::token_cap;
use crate::kernel::context::{Kind, Origin, Segment, Stability, TracedText, Trust};
use crate::registry::Node;
use crate::template::setting::SettingName;
use std::collections::BTreeSet;

/// Returns the segments that a node inherits from its parent by a value of `inherit_context`.
pub(in crate::context) fn inherit_segments(
    value: &str,
    source: QuerySource<'_>,
    parent: &[DraftSegment],
    unknown: UnknownHandling,
) -> Vec<DraftSegment> {
    let QuerySource { node, own, .. } = source;
    let why = format!("inherit_context {value}");
    let (chosen, is_ranked) = match value {
        "full" => (parent.iter().collect(), false),
        "subset" => select_subset(source, parent),
        _ => (Vec::new(), false),
    };
    let late = if is_ranked {
        deferred_inputs(source)
    } else {
        BTreeSet::new()
    };
    if !late.is_empty() {
        return vec![DraftSegment::defer(Kind::Inherited, &why, late)];
    }
    // Other segments may match better once all text is known.
    let are_known =
        || is_query_known(source) && parent.iter().all(|drafted| drafted.unknown.is_empty());
    let is_guess = is_ranked && unknown.is_dry_run() && !are_known();
    let cap = token_cap(node.body.inherit_max_tokens);
    // A conversation of its own is already the whole conversation.
    let chosen = chosen
        .into_iter()
        .filter(|drafted| !(drafted.segment.is_turn() && node.body.history.is_some()));
    let new = chosen.filter_map(|drafted| {
        if drafted.segment.is_turn() {
            return Some(drafted.clone());
        }
        // A text that the task itself contains is not repeated. Two texts with missing values count
        // as different.
        let is_whole = |other: &&DraftSegment| other.faults.is_empty() && drafted.faults.is_empty();
        let own = own
            .iter()
            .filter(|other| other.is_trusted() || !drafted.is_trusted())
            .filter(is_whole);
        let likeness = own
            .map(|other| compare_texts(&drafted.segment.text, &other.segment.text))
            .max();
        let is_part = value == "subset" && drafted.merged.is_some();
        let is_doubtful =
            is_guess || is_part || drafted.is_doubtful || likeness == Some(TextEquality::Possible);
        (likeness != Some(TextEquality::Same)).then(|| DraftSegment {
            is_doubtful,
            ..inherit_segment(drafted, &why, cap)
        })
    });
    new.chain(is_guess.then(|| further_matches(&why))).collect()
}

/// True for a node that inherits its parent's conversation.
pub(in crate::context) fn inherits_conversation(node: &Node) -> bool {
    match node.setting(SettingName::InheritContext) {
        "full" => true,
        "subset" => relevant_inputs(node)
            .iter()
            .any(|name| name == Kind::History.as_str()),
        _ => false,
    }
}

/// Returns the segment for further matches of the parent's context, once all text is known.
fn further_matches(why: &str) -> DraftSegment {
    let segment =
        Segment::from_template(Kind::Inherited, TracedText::default(), why).stable(Stability::Call);
    let unknown = BTreeSet::from(["matches".to_owned()]);
    let condition = Some("more of it matches");
    DraftSegment {
        unknown,
        condition,
        ..DraftSegment::known(segment)
    }
}

/// Returns a parent's segment as its child receives it.
fn inherit_segment(drafted: &DraftSegment, why: &str, cap: Option<usize>) -> DraftSegment {
    let mut inherited = drafted.clone();
    let segment = &mut inherited.segment;
    // A host's own kind keeps its place, its priority and its heading.
    if !matches!(segment.kind, Kind::Inherited | Kind::Custom(_)) {
        if segment.title.is_empty() {
            segment.title = segment.kind.as_str().replace('_', " ");
        }
        segment.id = format!("inherited:{}", segment.id);
        let is_rule = matches!(
            segment.kind,
            Kind::System | Kind::Instructions | Kind::Criteria | Kind::Constraints
        );
        segment.priority = (is_rule && segment.trust == Trust::Trusted).then(|| segment.priority());
        segment.kind = Kind::Inherited;
    }
    segment.max_tokens = cap.or(segment.max_tokens);
    why.clone_into(&mut segment.why);
    inherited
}

/// The result of comparing two texts that may have unknown parts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TextEquality {
    /// The texts differ, for all unknown values.
    None,
    /// The texts may be equal, depending on unknown values.
    Possible,
    /// The texts are equal.
    Same,
}

/// Compares a text of the parent with one of the task; an empty text equals none.
fn compare_texts(parents: &TracedText, own: &TracedText) -> TextEquality {
    let text = parents.text();
    let other = own.text();
    if parents.open_positions().is_empty() && own.open_positions().is_empty() {
        return if !text.is_empty() && text == other {
            TextEquality::Same
        } else {
            TextEquality::None
        };
    }
    let head = |text: &TracedText| {
        text.open_positions()
            .first()
            .copied()
            .unwrap_or(text.text().len())
    };
    let tail = |text: &TracedText| text.open_positions().last().copied().unwrap_or(0);
    let begins = text.get(..head(parents)).unwrap_or("");
    let others = other.get(..head(own)).unwrap_or("");
    let is_begun = begins.starts_with(others) || others.starts_with(begins);
    let ends = text.get(tail(parents)..).unwrap_or("");
    let others = other.get(tail(own)..).unwrap_or("");
    if is_begun && (ends.ends_with(others) || others.ends_with(ends)) {
        TextEquality::Possible
    } else {
        TextEquality::None
    }
}

/// Returns the part of the parent's context that a task selects: its files; else the segments that
/// its inputs name; else the best matches. The flag is true for ranked matches.
fn select_subset<'p>(
    source: QuerySource<'_>,
    parent: &'p [DraftSegment],
) -> (Vec<&'p DraftSegment>, bool) {
    let node = source.node;
    let files: BTreeSet<&str> = node
        .body
        .file_paths
        .iter()
        .flat_map(|files| &files.paths)
        .map(|path| &**path)
        .collect();
    let is_file = |drafted: &&DraftSegment| {
        let of_file = |origin: &Origin| matches!(origin, Origin::File { path, .. } if files.contains(path.as_str()));
        let comes = drafted
            .segment
            .text
            .stretches()
            .iter()
            .any(|stretch| of_file(&stretch.origin));
        comes || files.contains(drafted.segment.title.as_str())
    };
    let relevant = relevant_inputs(node);
    let is_named = |drafted: &&DraftSegment| {
        if drafted.segment.is_turn() {
            return relevant.iter().any(|name| name == Kind::History.as_str());
        }
        let of_input = drafted
            .segment
            .id
            .rsplit_once("input:")
            .map(|(_, name)| name);
        relevant
            .iter()
            .any(|name| of_input == Some(name.as_str()) || drafted.segment.title == *name)
    };
    // A segment with merged steps may contain one that is named.
    let is_several = |drafted: &&DraftSegment| drafted.merged.is_some();
    let is_chosen =
        |drafted: &&DraftSegment| is_file(drafted) || is_named(drafted) || is_several(drafted);
    let chosen: Vec<&DraftSegment> = parent.iter().filter(is_chosen).collect();
    if !chosen.iter().all(is_several) || !files.is_empty() {
        return (chosen, false);
    }
    let documents: Vec<Match> = parent
        .iter()
        .enumerate()
        // A conversation is never split.
        .filter(|(_, drafted)| drafted.deferred.is_empty() && !drafted.segment.is_turn())
        .map(|(at, drafted)| Match {
            id: format!("{at:08}"),
            text: ranked_text(drafted),
            trust: drafted.segment.trust,
        })
        .collect();
    let best = |query: &str, trust: Trust| {
        let documents = documents.iter().filter(|document| document.trust == trust);
        context_source::rank_matches(query, documents, MAX_MATCHES)
    };
    let (all, trusted) = (full_query(source), trusted_query(source));
    let best = best(&trusted, Trust::Trusted)
        .into_iter()
        .chain(best(&all, Trust::Untrusted));
    let best: BTreeSet<usize> = best.filter_map(|found| found.id.parse().ok()).collect();
    // A segment that lacks a value is included, because its rank is unknown.
    let is_chosen =
        |(at, drafted): &(usize, &DraftSegment)| best.contains(at) || !drafted.faults.is_empty();
    (
        parent
            .iter()
            .enumerate()
            .filter(is_chosen)
            .map(|(_, drafted)| drafted)
            .collect(),
        true,
    )
}

/// Returns the text by which a segment is ranked: without untrusted parts for a trusted segment.
fn ranked_text(drafted: &DraftSegment) -> String {
    let Segment {
        title, text, trust, ..
    } = &drafted.segment;
    if *trust == Trust::Untrusted || text.untrusted().is_empty() {
        return format!("{title} {}", text.text());
    }
    format!("{title} {}", text.without_untrusted().text())
}
