//! Applies the same work to each of many items on several threads. Results keep the order of the
//! items.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Below this number of items, one thread does all the work unless a number of threads was
/// requested: starting a thread costs more.
const MIN_PARALLEL_ITEMS: usize = 16;

/// Stack size of a thread that reads templates: enough for the deepest template that a project may
/// allow, in a debug build too.
const DEEP_STACK_BYTES: usize = 32 << 20;

/// Starts a thread that may read templates. The system's default stacks are as small as 1 MB.
pub fn spawn_deep<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> ScopedJoinHandle<'s, T> {
    match Builder::new()
        .stack_size(DEEP_STACK_BYTES)
        .spawn_scoped(scope, work)
    {
        Ok(thread) => thread,
        Err(error) => std::panic::panic_any(format!("the system gives no thread: {error}")),
    }
}

/// Runs two pieces of work at once, or one after the other if only one thread was requested.
pub fn join_work<A: Send, B>(
    threads: Option<NonZeroUsize>,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if threads.is_some_and(|threads| threads.get() == 1) {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = spawn_deep(scope, first);
        let second = second();
        (
            first
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            second,
        )
    })
}

/// Applies the work to each item, on the requested number of threads or as many as the machine has.
pub fn map_items<I: Sync, T: Send>(
    items: &[I],
    threads: Option<NonZeroUsize>,
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let machine = || std::thread::available_parallelism().ok();
    // Counting the machine's threads costs more than a little work.
    let threads = threads
        .or_else(|| {
            if items.len() < MIN_PARALLEL_ITEMS {
                None
            } else {
                machine()
            }
        })
        .map_or(1, NonZeroUsize::get)
        .min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            spawn_deep(scope, || {
                let mut own = Vec::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    own.push((at, work(item)));
                }
                done.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .append(&mut own);
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/base/parallel.rs"]
mod tests;
