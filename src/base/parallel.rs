//! The same work for each of many, on some threads. What comes back stands in the order of what went in.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Fewer than these are done by one thread, where nobody says by how many: a thread costs more.
const FEW: usize = 16;

/// Bytes of the stack of a thread that reads templates: enough for the deepest one that a project may allow, in a debug build too.
const STACK: usize = 32 << 20;

/// A thread that may read templates. The system's own stacks are as small as 1 MB.
pub fn spawn_deep<'s, T: Send + 's>(scope: &'s Scope<'s, '_>, work: impl FnOnce() -> T + Send + 's) -> ScopedJoinHandle<'s, T> {
    match Builder::new().stack_size(STACK).spawn_scoped(scope, work) {
        Ok(thread) => thread,
        Err(error) => std::panic::panic_any(format!("the system gives no thread: {error}")),
    }
}

/// Does two pieces of work at once, or one after the other where one thread was asked for.
pub fn join<A: Send, B>(threads: Option<NonZeroUsize>, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if threads.is_some_and(|threads| threads.get() == 1) {
        return (first(), second());
    }
    std::thread::scope(|scope| {
        let first = spawn_deep(scope, first);
        let second = second();
        (first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), second)
    })
}

/// Does the work for each, on as many threads as were asked for, or as the machine has.
pub fn each<I: Sync, T: Send>(items: &[I], threads: Option<NonZeroUsize>, work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let machine = || std::thread::available_parallelism().ok();
    // Counting the machine's threads costs more than little work.
    let threads =
        threads.or_else(|| if items.len() < FEW { None } else { machine() }).map_or(1, NonZeroUsize::get).min(items.len());
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
                done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
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
