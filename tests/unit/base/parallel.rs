//! Tests of the private items of `src/base/parallel.rs`.

use super::{join_work, map_items};
use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn a_small_batch_is_parallel_if_requested() {
    let begun = std::sync::atomic::AtomicUsize::new(0);
    let both_begin = |_: &u8| {
        begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let waited = std::time::Instant::now();
        while waited.elapsed().as_secs() < 20 && begun.load(std::sync::atomic::Ordering::SeqCst) < 2
        {
            std::thread::yield_now();
        }
        begun.load(std::sync::atomic::Ordering::SeqCst) == 2
    };
    assert_eq!(
        map_items(&[1, 2], NonZeroUsize::new(2), both_begin),
        [true, true]
    );
}

#[test]
fn the_order_is_that_of_the_work_on_any_number_of_threads() {
    for threads in [1, 2, 7] {
        let numbers: Vec<usize> = (0..1_000).collect();
        let squares = map_items(&numbers, NonZeroUsize::new(threads), |at| at * at);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(at, square)| *square == at * at),
            "{threads}"
        );
        assert_eq!(squares.len(), 1_000);
    }
}

#[test]
fn two_pieces_of_work_run_at_once_but_not_on_one_thread() {
    let (send, receive) = channel();
    let received = join_work(
        None,
        move || receive.recv_timeout(Duration::from_secs(20)).ok(),
        move || send.send(7).is_ok(),
    );
    assert_eq!(received, (Some(7), true));

    let order = std::sync::Mutex::new(Vec::new());
    let note = |number: u8| {
        if let Ok(mut order) = order.lock() {
            order.push(number);
        }
    };
    join_work(NonZeroUsize::new(1), || note(1), || note(2));
    assert_eq!(order.into_inner().ok(), Some(vec![1, 2]));
}
