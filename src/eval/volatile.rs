//! `[requests] volatile` with its patterns compiled.

use super::search::Pattern;
use crate::project::config::{Config, VolatilePart};
use crate::record::volatile::{Part, Search, Volatile};
use std::sync::Arc;

/// The parts of requests that a project ignores in comparisons with recorded ones. A text too
/// complex for a pattern is compared whole.
pub fn volatile(config: &Config) -> Volatile {
    let part = |VolatilePart { place, pattern }: &VolatilePart| {
        let find = match pattern {
            None => None,
            // An invalid pattern was reported when the project was loaded.
            Some(pattern) => {
                let pattern = Pattern::new(pattern).ok()?;
                let find: Search = Arc::new(move |text: &str| pattern.find(text).ok().flatten());
                Some(find)
            }
        };
        let words = pattern.as_ref().map_or_else(
            || format!("`{place}`"),
            |pattern| format!("/{pattern}/ in `{place}`"),
        );
        Some(Part {
            place: place.clone(),
            find,
            words,
            seen: Arc::default(),
        })
    };
    Volatile(config.requests.volatile.iter().filter_map(part).collect())
}
