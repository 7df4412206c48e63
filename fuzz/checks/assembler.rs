//! Any segments in any budget give a context or an error: no panic, no more tokens than there are, every segment accounted for,
//! and what is untrusted behind a fence that it cannot close.

use ctxc::Registry;
use ctxc::internals::context::{
    Counting, Disposition, Kind, Options, Profile, Request, Segment, Stability, assemble,
};
use ctxc::internals::kernel::context::CutPolicy;
use ctxc::internals::kernel::tokens::{ByteCounter, ByteEstimate, TokenCounter};
use std::sync::OnceLock;

const TASK: &str = "<task type=\"atomic\" name=\"t\"><system>You sort.</system><description>Sort.</description>\
    <constraints><constraint>One team.</constraint></constraints></task>";

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", TASK)]);
        let Some(registry) = built.registry else {
            panic!("the task is sound: {:?}", built.diagnostics)
        };
        registry
    })
}

/// A segment from a line: its first bytes say what it is, the rest is its text.
fn segment(line: &[u8]) -> Segment {
    let at = |index: usize| usize::from(line.get(index).copied().unwrap_or_default());
    let text = String::from_utf8_lossy(line.get(4..).unwrap_or_default()).into_owned();
    let kind = Kind::ALL[at(0) % Kind::ALL.len()];
    let stability = [
        Stability::Fixed,
        Stability::Project,
        Stability::Session,
        Stability::Call,
    ][at(1) % 4];
    let borders = || vec![at(3), text.len() / 2, text.len(), 7, at(3) * 3];
    let cut = [
        CutPolicy::Tail,
        CutPolicy::TailAt(borders()),
        CutPolicy::HeadAt(borders()),
    ][at(2) % 3]
        .clone();
    let segment = Segment {
        cut,
        ..Segment::new(kind, text.get(..6).unwrap_or_default().to_owned(), text).stable(stability)
    };
    if at(2) % 2 == 0 {
        segment.untrusted()
    } else {
        segment
    }
}

/// Assembles what the bytes say.
pub(crate) fn check(data: &[u8]) {
    let (head, rest) = data.split_at(data.len().min(3));
    let at = |index: usize| usize::from(head.get(index).copied().unwrap_or_default());
    let parent: Vec<Segment> = rest.split(|byte| *byte == b'\n').map(segment).collect();
    let budget = (at(0) * 256 + at(1)) % 4_096;
    let estimate = ByteEstimate::new("estimate", 3.5);
    let counters: [&dyn TokenCounter; 2] = [&ByteCounter, &estimate];
    let (profile, counter) = (Profile::ALL[at(2) % 4], counters[at(2) / 4 % 2]);
    let options = Options {
        profile,
        budget: Some(budget),
        counter,
        counting: Counting::Always,
        ..Options::default()
    };
    let request = Request {
        parent: &parent,
        ..Request::new("t")
    };
    let assembled = assemble(registry(), &request, &options);
    assert_eq!(
        assembled,
        assemble(registry(), &request, &options),
        "the same input gives the same bytes"
    );
    let Ok(assembly) = assembled else { return };
    let sum: usize = assembly
        .messages
        .iter()
        .map(|message| counter.count(message.as_str()))
        .sum();
    assert!(sum <= budget, "{sum} tokens in a budget of {budget}");
    let report = &assembly.report;
    assert_eq!(
        report
            .segments
            .iter()
            .map(|account| account.kept_tokens.unwrap_or_default())
            .sum::<usize>(),
        report.tokens.unwrap_or(0)
    );
    for account in &report.segments {
        assert_eq!(
            account.position.is_none(),
            account.disposition == Disposition::Dropped
        );
        assert!(
            account.segment.kind.priority() > 1 || account.disposition == Disposition::Kept,
            "{}",
            account.segment.id
        );
    }
    for message in &assembly.messages {
        let (open, close) = (
            format!("<untrusted-{} ", report.nonce),
            format!("</untrusted-{}>", report.nonce),
        );
        assert_eq!(
            message.as_str().matches(&open).count(),
            message.as_str().matches(&close).count(),
            "a fence is left open"
        );
    }
}
