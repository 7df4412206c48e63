//! The comparison of each call with the one before it.

use super::load::{Loaded, threads_of};
use crate::eval::request::facts::{Facts, facts};
use crate::project::config::Config;
use crate::request::prompt_cache::{Break, Cause, Reuse, compare, compare_agent};
use crate::request::threads::Thread;
use crate::scenario::date;

/// Seconds after which a cache drops an unused prefix, by default.
const FORGOTTEN: u64 = 300;

/// A call, compared with the one before it.
#[derive(Debug)]
pub(super) struct Compared<'c> {
    pub(super) loaded: &'c Loaded,
    /// Its conversation and agent.
    pub(super) thread: Thread,
    /// The part of it that a cache can reuse.
    pub(super) reuse: Reuse,
    /// The facts about its model.
    pub(super) facts: Facts,
}

/// Compares all calls, in order.
pub(super) fn all<'c>(calls: &'c [Loaded], config: &Config) -> Vec<Compared<'c>> {
    let compared = |(loaded, thread): (&'c Loaded, Thread)| {
        let facts = facts(&loaded.request, &config.models);
        let other = |at: Option<usize>| at.and_then(|at| calls.get(at));
        let reuse = match (other(thread.before), other(thread.agent_before)) {
            (Some(before), _) => expired(
                before,
                loaded,
                compare(&before.segments, &loaded.segments, &*facts.counter),
            ),
            (None, Some(before)) => {
                compare_agent(&before.segments, &loaded.segments, &*facts.counter)
            }
            (None, None) => compare_agent(&[], &loaded.segments, &*facts.counter),
        };
        Compared {
            loaded,
            thread,
            reuse,
            facts,
        }
    };
    calls.iter().zip(threads_of(calls)).map(compared).collect()
}

/// Marks the cache as expired, if a call extends the one before and the provider still reused
/// nothing.
fn expired(before: &Loaded, now: &Loaded, reuse: Reuse) -> Reuse {
    let (Some(old), Some(new)) = (&before.call, &now.call) else {
        return reuse;
    };
    let is_forgotten = reuse.broken_by.is_none()
        && new.usage.cached == Some(0)
        && old.usage.input.is_some_and(|input| input > 0)
        && seconds(old.at.as_deref())
            .zip(seconds(new.at.as_deref()))
            .is_some_and(|(old, new)| new.saturating_sub(old) > FORGOTTEN);
    let Some(first) = now
        .segments
        .first()
        .filter(|_| is_forgotten && reuse.reused > 0)
    else {
        return reuse;
    };
    let broken = Break {
        segment: first.id.clone(),
        offset: 0,
        before: String::new(),
        after: String::new(),
        cause: Cause::Expired,
        pointer: Some(first.pointer.clone()),
    };
    Reuse {
        lost: reuse.reused,
        reused: 0,
        broken_by: Some(broken),
        ..reuse
    }
}

/// Returns the seconds of a time such as `2026-11-23T14:03:11Z`, since a fixed day.
fn seconds(at: Option<&str>) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| at?.get(range)?.parse::<u64>().ok();
    let days = u64::try_from(date::number(date::parse(at?.get(..10)?)?)).ok()?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}
