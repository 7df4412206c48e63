//! The comparison of each call with the one before it.

use super::load::{LoadedRequest, call_threads};
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::project::config::Config;
use crate::request::prompt_cache::{
    BreakCause, PrefixBreak, PrefixReuse, compare_agent, compare_calls,
};
use crate::request::threads::Attribution;
use crate::scenario::date;

/// Seconds after which a cache drops an unused prefix, by default.
const CACHE_SECONDS: u64 = 300;

/// A call, compared with the one before it.
#[derive(Debug)]
pub(super) struct ComparedCall<'c> {
    pub(super) loaded: &'c LoadedRequest,
    /// Its conversation and agent.
    pub(super) thread: Attribution,
    /// The part of it that a cache can reuse.
    pub(super) reuse: PrefixReuse,
    /// The facts about its model.
    pub(super) facts: RequestModelFacts,
}

/// Compares all calls, in order.
pub(super) fn compare_recorded_calls<'c>(
    calls: &'c [LoadedRequest],
    config: &Config,
) -> Vec<ComparedCall<'c>> {
    let compared = |(loaded, thread): (&'c LoadedRequest, Attribution)| {
        let facts = model_facts(&loaded.request, &config.models);
        let other = |at: Option<usize>| at.and_then(|at| calls.get(at));
        let reuse = match (other(thread.before), other(thread.agent_before)) {
            (Some(before), _) => mark_expired(
                before,
                loaded,
                compare_calls(&before.segments, &loaded.segments, &*facts.counter),
            ),
            (None, Some(before)) => {
                compare_agent(&before.segments, &loaded.segments, &*facts.counter)
            }
            (None, None) => compare_agent(&[], &loaded.segments, &*facts.counter),
        };
        ComparedCall {
            loaded,
            thread,
            reuse,
            facts,
        }
    };
    calls
        .iter()
        .zip(call_threads(calls))
        .map(compared)
        .collect()
}

/// Marks the cache as expired, if a call extends the one before and the provider still reused
/// nothing.
fn mark_expired(before: &LoadedRequest, now: &LoadedRequest, reuse: PrefixReuse) -> PrefixReuse {
    let (Some(old), Some(new)) = (&before.call, &now.call) else {
        return reuse;
    };
    let is_forgotten = reuse.broken_by.is_none()
        && new.usage.cached == Some(0)
        && old.usage.input.is_some_and(|input| input > 0)
        && parse_seconds(old.at.as_deref())
            .zip(parse_seconds(new.at.as_deref()))
            .is_some_and(|(old, new)| new.saturating_sub(old) > CACHE_SECONDS);
    let Some(first) = now
        .segments
        .first()
        .filter(|_| is_forgotten && reuse.reused > 0)
    else {
        return reuse;
    };
    let broken = PrefixBreak {
        segment: first.id.clone(),
        offset: 0,
        before: String::new(),
        after: String::new(),
        cause: BreakCause::Expired,
        pointer: Some(first.pointer.clone()),
    };
    PrefixReuse {
        lost: reuse.reused,
        reused: 0,
        broken_by: Some(broken),
        ..reuse
    }
}

/// Returns the seconds of a time such as `2026-11-23T14:03:11Z`, since a fixed day.
fn parse_seconds(at: Option<&str>) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| at?.get(range)?.parse::<u64>().ok();
    let days = u64::try_from(date::day_number(date::parse_date(at?.get(..10)?)?)).ok()?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}
