//! `[requests] volatile` with its patterns compiled.

use super::search::CompiledPattern;
use crate::project::config::{Config, VolatilePart};
use crate::record::volatile::{PatternSearch, VolatileMatcher, VolatileParts};
use std::sync::Arc;

/// The parts of requests that a project ignores in comparisons with recorded ones. A text too
/// complex for a pattern is compared whole.
pub fn compile_volatile(config: &Config) -> VolatileParts {
    let part = |VolatilePart { place, pattern }: &VolatilePart| {
        let find = match pattern {
            None => None,
            // An invalid pattern was reported when the project was loaded.
            Some(pattern) => {
                let pattern = CompiledPattern::new(pattern).ok()?;
                let find: PatternSearch =
                    Arc::new(move |text: &str| pattern.find(text).ok().flatten());
                Some(find)
            }
        };
        let words = pattern.as_ref().map_or_else(
            || format!("`{place}`"),
            |pattern| format!("/{pattern}/ in `{place}`"),
        );
        Some(VolatileMatcher {
            place: place.clone(),
            find,
            source_text: words,
            seen: Arc::default(),
        })
    };
    VolatileParts(config.requests.volatile.iter().filter_map(part).collect())
}
