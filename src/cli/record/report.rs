//! What is said at the end of a run that recorded or replayed.

use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::render::escape::escape;
use crate::cli::render::summary::{few, plural};
use crate::record::proxy::keeper::Tally;
use crate::record::proxy::vendor::VENDORS;

/// Calls that are listed.
const LISTED: usize = 5;

/// What was done with calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Recorded,
    Answered,
}

/// Says what was seen. An error is what ctxc could not do.
pub(super) fn report(tally: &Tally, done: Done, shown: Option<&str>, cx: &mut Cx) -> Result<()> {
    for (what, all) in [("refused, as its provider would", &tally.refusals), ("not answered", &tally.misses)] {
        for one in all.iter().take(LISTED) {
            cx.note(&format!("{what}: {}", escape(one)));
        }
        if all.len() > LISTED {
            cx.note(&format!("{what}: {} more", all.len() - LISTED));
        }
    }
    cx.note(&summary(tally, done, shown));
    if tally.calls == 0 {
        cx.note(&nothing(tally));
    }
    let mut faults = tally.faults.iter();
    match faults.next() {
        None => Ok(()),
        Some(first) => {
            let error = CliError::new(Kind::Infrastructure, first.clone());
            Err(faults.fold(error, |error, fault| error.and(fault.clone())))
        }
    }
}

fn summary(tally: &Tally, done: Done, shown: Option<&str>) -> String {
    let verb = if done == Done::Recorded { "recorded" } else { "answered" };
    let mut line = vec![format!("{verb} {}", plural(usize::try_from(tally.calls).unwrap_or(usize::MAX), "call"))];
    if !tally.models.is_empty() {
        line.push(format!(" of {} ({})", plural(tally.models.len(), "model"), few(tally.models.iter().map(String::as_str))));
    }
    if tally.calls == 0 {
        return line.concat();
    }
    match (done, shown) {
        (Done::Recorded, Some(shown)) => line.push(format!(" as {shown}")),
        (Done::Answered, Some(shown)) => line.push(format!(", kept as {shown}")),
        (_, None) => {}
    }
    let word = |kind: &str| match kind {
        "email" => "e-mail address".to_owned(),
        "phone" => "phone number".to_owned(),
        "card" => "card number".to_owned(),
        "iban" => "IBAN".to_owned(),
        "own" => "own value".to_owned(),
        other => other.to_owned(),
    };
    let masked = |(kind, count): (&String, &u64)| {
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        let many = word(kind);
        if kind == "email" && count != 1 { format!("{count} e-mail addresses") } else { plural(count, &many) }
    };
    let masked: Vec<String> = tally.masked.iter().map(masked).collect();
    if shown.is_some() {
        line.push(if masked.is_empty() { ": nothing to mask".to_owned() } else { format!(": {} masked", masked.join(", ")) });
    }
    if done == Done::Recorded {
        let calls = f64::from(u32::try_from(tally.calls).unwrap_or(u32::MAX));
        line.push(format!(", {:.1} ms added a call", tally.added.as_secs_f64() * 1_000.0 / calls));
    }
    line.concat()
}

/// Why there may be no call.
fn nothing(tally: &Tally) -> String {
    let names = few(VENDORS.iter().filter_map(|vendor| vendor.variables.first()).map(|(name, _)| *name));
    let seen = match (tally.connections, tally.passed, tally.strangers) {
        (0, ..) => "no connection came to the proxy".to_owned(),
        (_, 0, 0) => "a connection came to the proxy, and no request".to_owned(),
        (_, passed, 0) => format!(
            "{} came that are no calls, such as one for a list of models",
            plural(usize::try_from(passed).unwrap_or(usize::MAX), "request")
        ),
        (.., strangers) => format!(
            "{} came without the path that the variables hold",
            plural(usize::try_from(strangers).unwrap_or(usize::MAX), "request")
        ),
    };
    format!(
        "{seen}. Libraries find the proxy by their variables ({names}, and others that docs/RECORD.md lists): a client with an address in its code does \
         not read them, a mocked client sends nothing, and `[record] env` in ctxc.toml names variables of your own"
    )
}
