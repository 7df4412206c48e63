//! A call, compared with the one before it: the part that a prompt cache can reuse, and the bill.

use crate::base::number;
use crate::cli::prelude::*;
use crate::eval::request::examined_request::RequestModelFacts;
use crate::request::prompt_cache::PrefixReuse;
use crate::request::threads::Attribution;
use crate::scenario::date;
use crate::session::calls::Shrinkage;

/// Seconds after which a cache drops an unused prefix, by default.
pub(super) const CACHE_SECONDS: u64 = 300;

/// A call, compared with the one before it.
#[derive(Debug)]
pub(super) struct ComparedCall {
    /// Its name.
    pub(super) name: String,
    /// The tokens that the provider reported as read from its cache.
    pub(super) reported_cached: Option<u64>,
    /// Its tokens as they were billed, if it is one of a session.
    pub(super) billed: Option<SessionBill>,
    /// The reason why the history of its session shrank before it, if it did.
    pub(super) shrinkage: Option<Shrinkage>,
    /// Its conversation and agent.
    pub(super) thread: Attribution,
    /// The part of it that a cache can reuse.
    pub(super) reuse: PrefixReuse,
    /// The facts about its model.
    pub(super) facts: RequestModelFacts,
}

/// The tokens of a call as its provider billed them.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(rename = "Bill")]
pub(crate) struct SessionBill {
    /// Everything that was sent.
    pub(super) input: u64,
    /// The tokens that were read from the cache; null if the provider reported none.
    pub(super) cached: Option<u64>,
    /// The tokens that were written to the cache; null if the provider reported none.
    pub(super) written: Option<u64>,
    /// The tokens that the cache had for the call before, and no longer had although the session
    /// only grew; null if it had them.
    pub(super) missed: Option<MissedTokens>,
}

/// Tokens that a cache had, and no longer had.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(rename = "Missed")]
pub(crate) struct MissedTokens {
    /// Their number.
    pub(super) tokens: u64,
    /// The seconds since the call before; null if a time is missing.
    pub(super) seconds: Option<u64>,
    /// The model before, if it was another one; else null.
    pub(super) model_before: Option<String>,
    /// US$ that they cost beyond their price from the cache; null if a price is unknown.
    pub(super) usd: Option<f64>,
}

impl MissedTokens {
    /// Describes them for people; `cached` are the tokens that the cache still had.
    pub(super) fn describe(&self, cached: u64) -> String {
        let tokens = format_thousands(usize::try_from(self.tokens).unwrap_or(usize::MAX));
        let usd = self.usd.map_or_else(String::new, |usd| {
            format!(", US$ {}", number::format_usd(usd))
        });
        let cause = match (&self.model_before, self.seconds) {
            (Some(model), _) => format!("the call before went to {model}"),
            (None, Some(seconds)) if seconds >= CACHE_SECONDS => {
                format!("{} minutes after the call before", seconds / 60)
            }
            (None, seconds) => {
                let after = seconds.map(|seconds| format!("{seconds} s after the call before: "));
                let place = if cached == 0 {
                    "at the beginning, such as system text or tools,".to_owned()
                } else {
                    let cached = usize::try_from(cached).unwrap_or(usize::MAX);
                    format!("behind the first {} tokens", format_thousands(cached))
                };
                format!(
                    "{}something {place} changed that the session does not show",
                    after.unwrap_or_default()
                )
            }
        };
        format!("{tokens} tokens were no longer in the cache, {cause}{usd}")
    }
}

/// Returns the seconds of a time such as `2026-11-23T14:03:11Z`, since a fixed day.
pub(super) fn parse_seconds(at: Option<&str>) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| at?.get(range)?.parse::<u64>().ok();
    let days = u64::try_from(date::day_number(date::parse_date(at?.get(..10)?)?)).ok()?;
    Some(((days * 24 + number(11..13)?) * 60 + number(14..16)?) * 60 + number(17..19)?)
}
