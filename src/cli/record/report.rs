//! The summary at the end of a run that recorded or replayed.

use crate::cli::prelude::*;
use crate::record::proxy::call_recorder::ProxyTally;
use crate::record::proxy::vendor::VENDORS;
use std::ffi::OsString;

/// The maximum number of calls listed of each kind.
const MAX_LISTED_CALLS: usize = 5;

/// The treatment of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallTreatment {
    Recorded,
    Answered,
}

/// The calls of one run of the proxy.
pub(super) struct ProxyOutcome<'o> {
    pub(super) tally: &'o ProxyTally,
    pub(super) done: CallTreatment,
    /// The program that was run; empty without one.
    pub(super) command: &'o [OsString],
    /// The name of the recording in messages; `None` if calls are not recorded.
    pub(super) shown: Option<&'o str>,
}

/// Prints the summary of the calls. Returns an error if ctxc itself failed.
pub(super) fn print_tally(outcome: &ProxyOutcome<'_>, cx: &mut Cx) -> Result<()> {
    let ProxyOutcome {
        tally,
        done,
        command,
        shown,
    } = *outcome;
    let kinds = [
        ("refused, as its provider would", &tally.refusals),
        ("not checked", &tally.unchecked),
        ("failed", &tally.failures),
        ("not answered", &tally.misses),
        ("not kept", &tally.lost),
    ];
    for (what, all) in kinds {
        for one in all.iter().take(MAX_LISTED_CALLS) {
            cx.print_note(&format!("{what}: {}", escape_line(one)));
        }
        if all.len() > MAX_LISTED_CALLS {
            cx.print_note(&format!("{what}: {} more", all.len() - MAX_LISTED_CALLS));
        }
    }
    cx.print_note(&tally_summary(tally, done, shown));
    // Rejected and unanswered calls are explained above.
    if tally.calls == 0 && kinds.iter().all(|(_, all)| all.is_empty()) {
        explain_no_calls(tally)
            .iter()
            .chain(gemini_cli(command).iter())
            .for_each(|line| cx.print_note(line));
    }
    let mut faults = tally.faults.iter();
    match faults.next() {
        None => Ok(()),
        Some(first) => {
            let error = CliError::new(CliErrorKind::Infrastructure, first.clone());
            Err(faults.fold(error, |error, fault| error.with_message(fault.clone())))
        }
    }
}

fn tally_summary(tally: &ProxyTally, done: CallTreatment, shown: Option<&str>) -> String {
    let verb = if done == CallTreatment::Recorded {
        "recorded"
    } else {
        "answered"
    };
    let mut line = vec![format!(
        "{verb} {}",
        pluralize(usize::try_from(tally.calls).unwrap_or(usize::MAX), "call")
    )];
    if !tally.models.is_empty() {
        line.push(format!(
            " of {} ({})",
            pluralize(tally.models.len(), "model"),
            list_first(tally.models.iter().map(String::as_str))
        ));
    }
    let lost = if tally.lost.is_empty() {
        String::new()
    } else {
        format!(", {} not kept", pluralize(tally.lost.len(), "request"))
    };
    if tally.calls == 0 {
        return line.concat() + &lost;
    }
    match (done, shown) {
        (CallTreatment::Recorded, Some(shown)) => line.push(format!(" as {shown}")),
        (CallTreatment::Answered, Some(shown)) => line.push(format!(", kept as {shown}")),
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
        if kind == "email" && count != 1 {
            format!("{count} e-mail addresses")
        } else {
            pluralize(count, &many)
        }
    };
    let masked: Vec<String> = tally.masked.iter().map(masked).collect();
    if shown.is_some() {
        line.push(if masked.is_empty() {
            ": nothing to mask".to_owned()
        } else {
            format!(": {} masked", masked.join(", "))
        });
    }
    if done == CallTreatment::Recorded {
        let calls = f64::from(u32::try_from(tally.calls).unwrap_or(u32::MAX));
        line.push(format!(
            ", {:.1} ms added a call",
            tally.added.as_secs_f64() * 1_000.0 / calls
        ));
    }
    line.concat() + &lost
}

/// A hint for a command that runs Gemini CLI: with a custom address, it chooses a sign-in method
/// that it then rejects.
fn gemini_cli(command: &[OsString]) -> Option<String> {
    let is_gemini = |word: &OsString| {
        Path::new(word)
            .file_stem()
            .is_some_and(|stem| stem == "gemini")
    };
    command.iter().any(is_gemini).then(|| {
        "  Gemini CLI that ends with “Invalid auth method selected” needs its way of signing in named: \
         {\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}} in ~/.gemini/settings.json or .gemini/settings.json"
            .to_owned()
    })
}

/// Explains the absence of calls, with advice.
fn explain_no_calls(tally: &ProxyTally) -> Vec<String> {
    let came = |count: u64| {
        format!(
            "{} came",
            pluralize(usize::try_from(count).unwrap_or(usize::MAX), "request")
        )
    };
    let seen = match (
        tally.connections,
        tally.other_requests,
        tally.unknown_requests,
    ) {
        (0, ..) => "the proxy received no connection".to_owned(),
        (_, 0, 0) => "the proxy received a connection, but no request".to_owned(),
        (_, others, 0) => format!(
            "{}, but no call to a model: only something like a list of models",
            came(others)
        ),
        (.., unknown_requests) => {
            let why =
                "a client that takes only host and port from its variable needs the whole address";
            return vec![format!(
                "{} without the path that the variables hold: {why}",
                came(unknown_requests)
            )];
        }
    };
    let names = list_first(
        VENDORS
            .iter()
            .filter_map(|vendor| vendor.variables.first())
            .map(|(name, _)| *name),
    );
    vec![
        format!("{seen}. Libraries find the proxy by their variables ({names}, and others that docs/RECORD.md lists)"),
        "  a mocked client sends nothing: run the program without the mock".to_owned(),
        "  a client with an address in its code ignores the variables: leave out `base_url=…`".to_owned(),
        "  a library that reads another variable: name it in ctxc.toml, `[record] env = [\"MY_BASE_URL\"]`".to_owned(),
    ]
}
