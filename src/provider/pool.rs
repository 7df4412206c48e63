//! Work that mostly waits, on some threads. What comes back stands in the order of what was asked for.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does so many pieces of work, begun in their order. Each is handed to `done` as soon as it ends, in whichever order they end.
pub fn run<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    work: impl Fn(usize) -> T + Sync,
    mut done: impl FnMut(usize, &T),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mut ended: Vec<(usize, T)> = Vec::with_capacity(count);
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads.get().min(count) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody waits for it where the caller gave up.
                    if at >= count || sender.send((at, work(at))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (at, value) in results {
            done(at, &value);
            ended.push((at, value));
        }
    });
    ended.sort_unstable_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, value)| value).collect()
}
