//! Calls are repeated if that helps, by no more callers at once than a provider accepts, and within
//! a budget. No test waits: the clock jumps.

use ctxc::internals::base::parallel;
use ctxc::internals::kernel::conversation::Part;
use ctxc::internals::kernel::provider::{
    Answer, Provider, ProviderError as E, Response, Stop, Usage, WireRequest,
};
use ctxc::internals::provider::limiter::Limiter;
use ctxc::internals::provider::retry::RetryPolicy;
use ctxc::internals::provider::spending::{Spend, SpendLimit, Spending};
use ctxc::internals::provider::throttle::{Clock, Throttle, ThrottleLimits};
use pretty_assertions::assert_eq;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn limits<'a>(limiter: &'a Limiter, budget: &'a Spending) -> ThrottleLimits<'a> {
    ThrottleLimits {
        limiter,
        budget,
        retry: RetryPolicy::default(),
    }
}

/// A clock whose time passes when a caller waits.
#[derive(Default)]
struct Jumping(Mutex<(Duration, Vec<Duration>)>);

impl Jumping {
    fn waits(&self) -> Vec<Duration> {
        self.0.lock().unwrap().1.clone()
    }
}

impl Clock for Jumping {
    fn now(&self) -> Duration {
        self.0.lock().unwrap().0
    }

    fn sleep(&self, time: Duration) {
        let mut state = self.0.lock().unwrap();
        state.0 += time;
        state.1.push(time);
    }
}

/// A provider played by a function, by the number of the call.
struct Played<F>(F, AtomicUsize);

impl<F: Fn(usize, Duration) -> Result<Usage, E> + Sync> Played<F> {
    fn calls(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

/// With the time of a clock.
struct At<'a, F>(&'a Played<F>, &'a Jumping);

impl<F: Fn(usize, Duration) -> Result<Usage, E> + Sync> Provider for At<'_, F> {
    fn answer(&self, _: &WireRequest<'_>) -> Result<Response, E> {
        let number = self.0.1.fetch_add(1, Ordering::SeqCst);
        let usage = (self.0.0)(number, self.1.now())?;
        let answer = Answer::new(vec![Part::Text("four".to_owned())], Stop::End, usage, None);
        Ok(Response {
            answer,
            body: String::new(),
            status: 200,
            latency: Duration::ZERO,
        })
    }
}

const fn used(input: u64, output: u64) -> Usage {
    Usage {
        input: Some(input),
        cached: None,
        output: Some(output),
        reasoning: None,
    }
}

fn limited(seconds: Option<u64>) -> E {
    E::RateLimited {
        message: String::new(),
        retry_after: seconds.map(Duration::from_secs),
    }
}

fn failed(status: u16) -> E {
    E::Refused {
        status,
        message: String::new(),
        retry_after: None,
    }
}

/// A request of 40 bytes: ten tokens.
const BODY: &str = "0123456789012345678901234567890123456789";
const REQUEST: WireRequest<'static> = WireRequest {
    dialect: "ollama",
    model: "m",
    body: BODY,
};

/// One call of a played provider: its result, the waits, the calls made.
fn once(
    play: impl Fn(usize, Duration) -> Result<Usage, E> + Sync,
) -> (Result<Response, E>, Vec<Duration>, usize) {
    let (clock, provider) = (Jumping::default(), Played(play, AtomicUsize::new(0)));
    let (limiter, spending) = (Limiter::new(None), Spending::default());
    let played = At(&provider, &clock);
    let throttle = Throttle::new(&played, limits(&limiter, &spending), &clock, &|_, _| 0.0, 7);
    let result = throttle.answer(&REQUEST);
    (result, clock.waits(), provider.calls())
}

#[test]
fn a_call_that_failed_is_made_again_twice_and_with_growing_waits() {
    let (result, waits, calls) = once(|number, _| {
        if number < 2 {
            Err(failed(500))
        } else {
            Ok(used(10, 1))
        }
    });
    assert!(
        result.is_ok() && calls == 3 && waits.len() == 2,
        "{waits:?}"
    );
    for (wait, most) in waits.iter().zip([500, 1_000]) {
        assert!((most / 2..=most).contains(&wait.as_millis()), "{wait:?}");
    }
    let (result, _, calls) = once(|_, _| Err(E::CutStream { bytes: 3 }));
    assert_eq!((result, calls), (Err(E::CutStream { bytes: 3 }), 3));
    for error in [
        failed(400),
        E::TooLarge { limit: 1 },
        E::NotUnderstood { why: String::new() },
    ] {
        let (result, waits, calls) = once(|_, _| Err(error.clone()));
        assert_eq!((result, waits, calls), (Err(error), vec![], 1));
    }
}

#[test]
fn the_wait_that_a_provider_asks_for_is_kept() {
    let (_, waits, _) = once(|number, _| {
        if number == 0 {
            Err(limited(Some(7)))
        } else {
            Ok(used(1, 1))
        }
    });
    assert!(
        waits.len() == 1 && (7_000..=7_500).contains(&waits[0].as_millis()),
        "{waits:?}"
    );
    // A wait of an hour is refused.
    let (result, waits, calls) = once(|_, _| Err(limited(Some(3_600))));
    assert_eq!(
        (result, waits, calls),
        (Err(limited(Some(3_600))), vec![], 1)
    );
}

#[test]
fn a_minute_of_limits_is_sat_out_and_an_endless_one_is_not() {
    let minute = Duration::from_mins(1);
    let (result, waits, _) = once(|_, now| {
        if now < minute {
            Err(limited(None))
        } else {
            Ok(used(1, 1))
        }
    });
    assert!(result.is_ok() && waits.len() > 3, "{waits:?}");
    let (result, waits, _) = once(|_, _| Err(limited(None)));
    let waited: Duration = waits.iter().sum();
    assert!(
        result == Err(limited(None))
            && waited <= RetryPolicy::default().patience
            && waited > minute * 4,
        "{waited:?}"
    );
}

#[test]
fn calls_at_once_grow_and_are_halved_once_in_a_wave() {
    let limiter = Limiter::new(None);
    assert_eq!(limiter.limit(), 10);
    (0..5).for_each(|_| limiter.record_answer());
    assert_eq!(limiter.limit(), 15);
    (0..500).for_each(|_| limiter.record_answer());
    assert_eq!(limiter.limit(), 100);
    let at = Duration::from_secs;
    for (second, limit) in [(0, 50), (1, 50), (14, 50), (15, 25), (40, 12)] {
        limiter.record_rate_limit(at(second));
        assert_eq!(limiter.limit(), limit, "at {second} s");
    }
    // From here on it grows slowly.
    (0..12).for_each(|_| limiter.record_answer());
    assert_eq!(limiter.limit(), 13);
    (0..200).for_each(|number| limiter.record_rate_limit(at(100 + number * 15)));
    assert_eq!(limiter.limit(), 1);
    assert_eq!(Limiter::new(NonZeroUsize::new(3)).limit(), 3);
}

#[test]
fn no_more_calls_are_under_way_than_may_be() {
    let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let provider = Played(
        |_, _| {
            most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            busy.fetch_sub(1, Ordering::SeqCst);
            Ok(used(1, 1))
        },
        AtomicUsize::new(0),
    );
    let (clock, limiter, spending) = (
        Jumping::default(),
        Limiter::new(NonZeroUsize::new(4)),
        Spending::default(),
    );
    let played = At(&provider, &clock);
    let throttle = Throttle::new(&played, limits(&limiter, &spending), &clock, &|_, _| 0.0, 7);
    let results = parallel::map_items(&[(); 200], NonZeroUsize::new(16), |()| {
        throttle.answer(&REQUEST)
    });
    assert!(results.iter().all(Result::is_ok) && results.len() == 200);
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

/// A request fails always or never.
struct ByBody;
impl Provider for ByBody {
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, E> {
        let number: usize = request.body.parse().unwrap();
        if number % 10 < 3 {
            return Err(failed(503));
        }
        let answer = Answer::new(
            vec![Part::Text(request.body.to_owned())],
            Stop::End,
            used(1, 1),
            None,
        );
        Ok(Response {
            answer,
            body: String::new(),
            status: 200,
            latency: Duration::ZERO,
        })
    }
}

#[test]
fn a_third_of_calls_that_fail_leaves_the_rest_as_it_was() {
    for jobs in [1, 7, 64] {
        let clock = Jumping::default();
        let (limiter, spending) = (Limiter::new(NonZeroUsize::new(jobs)), Spending::default());
        let throttle = Throttle::new(&ByBody, limits(&limiter, &spending), &clock, &|_, _| 0.0, 7);
        let bodies: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let call = |body: &String| throttle.answer(&WireRequest { body, ..REQUEST });
        let results = parallel::map_items(&bodies, NonZeroUsize::new(jobs), call);
        for (number, result) in results.iter().enumerate() {
            match result {
                Ok(response) => assert_eq!(response.answer.content(), number.to_string()),
                Err(error) => assert!(number % 10 < 3 && *error == failed(503)),
            }
        }
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 70);
    }
}

/// Makes calls one after the other, or all at once, until none begins any more; returns the calls
/// that were made, and their usage.
fn spend(
    most: SpendLimit,
    jobs: usize,
    play: impl Fn(usize, Duration) -> Result<Usage, E> + Sync,
) -> (usize, Spend, Vec<String>) {
    let (clock, provider) = (Jumping::default(), Played(play, AtomicUsize::new(0)));
    let (limiter, spending) = (Limiter::new(NonZeroUsize::new(jobs)), Spending::new(most));
    let played = At(&provider, &clock);
    // A dollar for a hundred tokens.
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let price = |_: &str, usage: &Usage| {
        (usage.input.unwrap_or(0) + usage.output.unwrap_or(0)) as f64 / 100.0
    };
    let throttle = Throttle::new(&played, limits(&limiter, &spending), &clock, &price, 7);
    let results = parallel::map_items(&[(); 50], NonZeroUsize::new(jobs), |()| {
        throttle.answer(&REQUEST)
    });
    let errors = results
        .into_iter()
        .filter_map(Result::err)
        .map(|error| error.to_string())
        .collect();
    (provider.calls(), spending.total_spend(), errors)
}

#[test]
fn a_budget_stops_before_the_call_that_could_exceed_it() {
    let tokens = SpendLimit {
        tokens: Some(1_000),
        usd: None,
    };
    let (calls, spent, errors) = spend(tokens, 1, |_, _| Ok(used(60, 40)));
    assert_eq!(
        (calls, spent, errors.len()),
        (
            10,
            Spend {
                tokens: 1_000,
                usd: 10.0
            },
            40
        )
    );
    assert_eq!(
        errors[0],
        "the call was not made: the budget of 1,000 tokens has 1,000 used, and this call may use 100"
    );
    let usd = SpendLimit {
        tokens: None,
        usd: Some(2.5),
    };
    let (calls, spent, errors) = spend(usd, 1, |_, _| Ok(used(60, 40)));
    assert_eq!((calls, spent.tokens), (2, 200));
    assert_eq!(
        errors[0],
        "the call was not made: the budget of US$ 2.5 has US$ 2 used, and this call may use US$ 1"
    );
    // Not even one.
    let (calls, spent, _) = spend(
        SpendLimit {
            tokens: Some(9),
            usd: None,
        },
        4,
        |_, _| Ok(used(10, 1)),
    );
    assert_eq!((calls, spent), (0, Spend::default()));
}

#[test]
fn calls_under_way_count_against_the_budget() {
    // The first ones cannot be known; those after them use the whole rest, and never more.
    let (calls, spent, _) = spend(
        SpendLimit {
            tokens: Some(2_000),
            usd: None,
        },
        10,
        |number, _| {
            if number > 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            Ok(used(10, 90))
        },
    );
    assert_eq!((calls, spent.tokens), (20, 2_000));
}

#[test]
fn a_provider_that_counts_nothing_or_what_cannot_be_is_charged_by_the_bytes() {
    let most = SpendLimit {
        tokens: Some(33),
        usd: None,
    };
    for usage in [
        Usage::default(),
        used(0, 0),
        Usage {
            cached: Some(9),
            ..used(1, 0)
        },
    ] {
        // Ten tokens were sent and one came back.
        let (calls, spent, _) = spend(most, 1, move |_, _| Ok(usage));
        assert_eq!((calls, spent.tokens), (3, 33), "{usage:?}");
    }
    // A request that was cut off may have been processed.
    let (calls, spent, _) = spend(most, 1, |_, _| Err(E::CutStream { bytes: 0 }));
    assert_eq!((calls, spent.tokens), (3, 30));
}

/// A budget uses no count that is far from that of the request.
#[test]
fn a_count_that_is_far_off_is_replaced_by_the_one_made_here() {
    let (limiter, spending, clock) = (
        Limiter::new(None),
        Spending::new(SpendLimit::default()),
        Jumping::default(),
    );
    for (counted, spent) in [(1, 401), (10_001, 401), (300, 301), (900, 901)] {
        let provider = Played(move |_, _| Ok(used(counted, 1)), AtomicUsize::new(0));
        let played = At(&provider, &clock);
        let throttle = Throttle::new(&played, limits(&limiter, &spending), &clock, &|_, _| 0.0, 7);
        let before = spending.total_spend().tokens;
        throttle
            .with_context_tokens(Some(400))
            .answer(&REQUEST)
            .unwrap();
        assert_eq!(spending.total_spend().tokens - before, spent, "{counted}");
    }
}

#[test]
fn a_count_that_contradicts_itself_is_reported() {
    let contradiction_of = |usage: Usage| {
        Answer::new(vec![Part::Text("Hi".to_owned())], Stop::End, usage, None).contradiction()
    };
    assert_eq!(contradiction_of(Usage::default()), None);
    assert_eq!(
        contradiction_of(Usage {
            cached: Some(10),
            reasoning: Some(1),
            ..used(10, 1)
        }),
        None
    );
    assert_eq!(
        contradiction_of(Usage {
            cached: Some(11),
            ..used(10, 1)
        }),
        Some("more tokens were read from the cache than were sent")
    );
    assert_eq!(
        contradiction_of(Usage {
            reasoning: Some(2),
            ..used(10, 1)
        }),
        Some("more tokens were thought than were written")
    );
    assert_eq!(
        contradiction_of(used(0, 1)),
        Some("no token was counted for the request")
    );
    assert_eq!(
        contradiction_of(used(1, 0)),
        Some("no token was counted for an answer that says something")
    );
}
