//! Descriptions of an agent's model, price and policy that text, Markdown and HTML share. Escapes
//! nothing, since each format requires its own escaping.

use crate::base::number::format_usd;
use crate::cli::render::summary::{format_thousands, pluralize};
use crate::context::manifest::{Cost, CostChange, DefaultValue, Entry, Part};
use crate::kernel::sampling::Sampled;

/// The maximum number of characters of a printed default.
const MAX_DEFAULT_CHARS: usize = 40;

/// Returns the known tokens of a segment; with those of the whole segment if the budget cuts it.
pub(super) fn known_tokens(part: &Part) -> String {
    let fitted = format_thousands(part.tokens);
    part.uncut.map_or_else(
        || fitted.clone(),
        |whole| format!("{fitted} of {}", format_thousands(whole)),
    )
}

/// Describes the defaults of parameters that a caller may replace, with the total tokens if these
/// are counted.
pub(in crate::cli::context) fn describe_defaults(
    defaults: &[DefaultValue],
    tokens: Option<usize>,
) -> Option<String> {
    let one = |own: &DefaultValue| {
        let mut first = own.value.chars();
        let short: String = first.by_ref().take(MAX_DEFAULT_CHARS).collect();
        format!(
            "{} {short}{}",
            own.name,
            if first.next().is_some() { "…" } else { "" }
        )
    };
    let all: Vec<String> = defaults.iter().map(one).collect();
    let counted = tokens.map_or_else(String::new, |tokens| {
        format!(" ({} with them)", pluralize(tokens, "token"))
    });
    (!all.is_empty()).then(|| {
        format!(
            "defaults, if a caller hands in nothing else{counted}: {}",
            all.join(", ")
        )
    })
}

/// Returns the model and a description of its choice, with its fallbacks.
pub(super) fn describe_model(entry: &Entry) -> Option<(&str, String)> {
    let (name, routing) = entry.model.as_deref().zip(entry.routing.as_ref())?;
    let behind = if routing.fallback.is_empty() {
        String::new()
    } else {
        format!("; then {}", routing.fallback.join(", "))
    };
    let id = if routing.id == name {
        String::new()
    } else {
        format!(", {}", routing.id)
    };
    Some((
        name,
        format!(
            "({}, {}{id}): {}{behind}",
            routing.tier, routing.provider, routing.reason
        ),
    ))
}

/// Describes the cost of a call before its answer.
pub(super) fn describe_cost(entry: &Entry) -> Option<String> {
    let Cost { first, again, most } = entry.cost.as_ref()?;
    let cached = if again < first {
        format!(", {} with the prefix cached", format_usd(*again))
    } else {
        String::new()
    };
    let most = most
        .filter(|most| most > first)
        .map_or_else(String::new, |most| {
            format!(", at most {}", format_usd(most))
        });
    let limit = match entry.budget.usd {
        Some(limit) if *first > limit => format!(": over its budget of {}", format_usd(limit)),
        Some(limit) => format!(", of a budget of {}", format_usd(limit)),
        None => String::new(),
    };
    Some(format!(
        "US$ {} a call before its answer{cached}{most}{limit}",
        format_usd(*first)
    ))
}

/// Describes the costs of a call before and after, if a price is known, such as “US$ 0.0002 →
/// 0.0001 (−50 %)”.
pub(super) fn describe_cost_change(paid: &CostChange) -> Option<String> {
    let (from, to) = match (&paid.from, &paid.to) {
        (None, None) => return None,
        (None, Some(to)) => {
            return Some(format!(
                "US$ {} a call, before of no known price",
                format_usd(to.first)
            ));
        }
        (Some(from), None) => {
            return Some(format!(
                "of no known price a call, before US$ {}",
                format_usd(from.first)
            ));
        }
        (Some(from), Some(to)) => (from, to),
    };
    let cached = |cost: &Cost| {
        if cost.again < cost.first {
            format_usd(cost.again)
        } else {
            format_usd(cost.first)
        }
    };
    let again = if cached(from) == cached(to) || (from.again, to.again) == (from.first, to.first) {
        String::new()
    } else {
        format!(
            ", with the prefix cached {}",
            format_change(from.again, to.again)
        )
    };
    Some(format!(
        "US$ {} a call{again}",
        format_change(from.first, to.first)
    ))
}

/// Returns a text such as “0.0002 → 0.0001 (−50 %)”; one figure if both are equal.
fn format_change(from: f64, to: f64) -> String {
    if format_usd(from) == format_usd(to) {
        return format_usd(to);
    }
    let share = (to - from) / from * 100.0;
    let share = if share.is_finite() {
        format!(
            " ({}{:.0} %)",
            if share < 0.0 { "−" } else { "+" },
            share.abs()
        )
    } else {
        String::new()
    };
    format!("{} → {}{share}", format_usd(from), format_usd(to))
}

/// Returns the sampling of the model and the policy of its tools, as pairs of a word and its
/// entries.
pub(super) fn policy_lists(entry: &Entry) -> Vec<(&'static str, Vec<String>)> {
    let mut out: Vec<(&str, Vec<String>)> = vec![(
        "sampling",
        entry.sampling.iter().map(Sampled::describe).collect(),
    )];
    if let Some(tools) = &entry.tool_policy {
        out.push(("tools", tools.allowed.clone()));
        out.push(("not", tools.blocked.clone()));
    }
    out.push(("protected", entry.protected_paths.clone()));
    out.retain(|(_, entries)| !entries.is_empty());
    out
}

#[cfg(test)]
#[path = "../../../../tests/unit/cli/context/manifest/agent_facts.rs"]
mod tests;
