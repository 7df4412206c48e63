//! What a manifest says of an agent's model, price and policy, in words that text, Markdown and HTML share. Escapes nothing: each
//! form has its own dangers.

use crate::context::manifest::{Cost, Entry};

/// The model, how it came to be it, and what stands behind it.
pub(super) fn model(entry: &Entry) -> Option<(&str, String)> {
    let (name, routing) = entry.model.as_deref().zip(entry.routing.as_ref())?;
    let behind = if routing.fallback.is_empty() { String::new() } else { format!("; then {}", routing.fallback.join(", ")) };
    let id = if routing.id == name { String::new() } else { format!(", {}", routing.id) };
    Some((name, format!("({}, {}{id}): {}{behind}", routing.tier, routing.provider, routing.reason)))
}

/// What a call costs before its answer.
pub(super) fn cost(entry: &Entry) -> Option<String> {
    let Cost { first, again, most } = entry.cost.as_ref()?;
    let cached = if again < first { format!(", {} with the prefix cached", usd(*again)) } else { String::new() };
    let most = most.filter(|most| most > first).map_or_else(String::new, |most| format!(", at most {}", usd(most)));
    let limit = match entry.budget.usd {
        Some(limit) if *first > limit => format!(": over its budget of {}", usd(limit)),
        Some(limit) => format!(", of a budget of {}", usd(limit)),
        None => String::new(),
    };
    Some(format!("US$ {} a call before its answer{cached}{most}{limit}", usd(*first)))
}

/// US$ to a figure that says something.
fn usd(usd: f64) -> String {
    let places = if usd >= 0.1 {
        2
    } else if usd >= 0.001 {
        4
    } else {
        6
    };
    let written = format!("{usd:.places$}");
    let short = if written.contains('.') { written.trim_end_matches('0').trim_end_matches('.') } else { &written };
    short.to_owned()
}

/// What its tools may do, as (word, entries).
pub(super) fn policy(entry: &Entry) -> Vec<(&'static str, &[String])> {
    let mut out: Vec<(&str, &[String])> = Vec::new();
    if let Some(tools) = &entry.tool_policy {
        out.push(("tools", &tools.allowed));
        out.push(("not", &tools.blocked));
    }
    out.push(("protected", &entry.protected_paths));
    out.retain(|(_, entries)| !entries.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::usd;

    #[test]
    fn figures_keep_what_says_something() {
        let shown = [0.0, 0.000_004_2, 0.000_8, 0.001_234_5, 0.05, 0.25, 3.0, 12.345].map(usd);
        assert_eq!(shown, ["0", "0.000004", "0.0008", "0.0012", "0.05", "0.25", "3", "12.35"]);
    }
}
