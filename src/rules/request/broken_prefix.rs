//! CTX736: a changed prefix, so that the prompt cache of the previous call is lost.

use super::prelude::*;
use crate::base::number;
use crate::request::prompt_cache::BreakCause;

/// Caused by a time, an id or a reordered list at the beginning of every request.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        736,
        "broken-prefix",
        "a request whose front changed since the last call",
        case!("broken-prefix"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((reuse, broken)) = cx
        .reuse
        .and_then(|reuse| Some((reuse, reuse.broken_by.as_ref()?)))
    else {
        return;
    };
    let floor = cx
        .model
        .public
        .map_or(DEFAULT_CACHE_FLOOR, |public| public.cache_floor);
    // Caches do not store shorter prefixes.
    if reuse.lost == 0 || u64::try_from(reuse.tokens).is_ok_and(|tokens| tokens < floor) {
        return;
    }
    let segment = &broken.segment;
    let what = match broken.cause {
        BreakCause::Changed => format!(
            "`{segment}` reads `{}` where it read `{}`",
            shorten(&broken.after),
            shorten(&broken.before)
        ),
        BreakCause::Moved => format!("`{segment}` is at another place"),
        BreakCause::Removed => format!("`{segment}` is gone"),
        BreakCause::Added => format!("`{segment}` is new in front of what was there"),
        BreakCause::Expired => return,
    };
    let price = cx
        .model
        .public
        .and_then(|public| Some(public.usd_input? - public.usd_cached?));
    #[allow(clippy::cast_precision_loss, reason = "tokens of a request")]
    let cost = price.map(|usd| usd * reuse.lost as f64 / 1e6);
    let cost = cost.map_or_else(String::new, |usd| {
        format!(", US$ {}", number::format_usd(usd))
    });
    let message = format!(
        "{what}: about {} tokens are not read from the cache of the previous call{cost}",
        number::format_thousands(reuse.lost)
    );
    let help = "put what changes after what stays the same; `ctxc prompt-cache` shows each call";
    out.push(
        cx.finding(
            &RULE.meta,
            broken.pointer.as_deref().unwrap_or_default(),
            message,
        )
        .help(help),
    );
}
