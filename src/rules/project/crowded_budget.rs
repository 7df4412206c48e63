//! CTX536: an agent's own texts that its budget cuts in every call.

use super::project_prelude::*;
use crate::base::number::format_thousands;
use crate::project::config::Config;

/// The agent never sees the end of a rule on which its author relies.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        536,
        "crowded-budget",
        "a budget that cuts an agent's own texts in every call"
    ),
    Check::Edge,
);

/// An agent whose own texts do not fit into its budget.
#[derive(Clone, Copy, Debug)]
pub struct CrowdedAgent<'a> {
    /// The role that plays the task.
    pub role: Option<&'a str>,
    /// A readable name of the agent: the role, the task, and the node if it is not the task itself.
    pub agent: &'a str,
    /// The model of the agent, by its name in the project.
    pub model: Option<&'a str>,
    /// The budget in tokens.
    pub budget: usize,
    /// Tokens of the budget that are reserved for untrusted text.
    pub untrusted_reserve: usize,
    /// Each text: the id of its segment, its tokens, and the tokens that remain after the cut.
    pub texts: &'a [(String, usize, usize)],
}

/// Maximum number of texts that a message names.
const MAX_NAMED_TEXTS: usize = 3;

/// Returns the finding at the place that sets the budget; `None` if the project turns the rule off.
pub fn report(config: &Config, crowded: &CrowdedAgent<'_>) -> Option<Diagnostic> {
    let CrowdedAgent {
        role,
        agent,
        model,
        budget,
        untrusted_reserve,
        texts,
    } = *crowded;
    let role = role.and_then(|name| config.roles.get(name));
    let of_role = role.map(|role| {
        role.budget
            .tokens
            .as_ref()
            .map_or(role.name.span, |tokens| tokens.span)
    });
    let span = of_role.or_else(|| Some(config.models.get(model?)?.name.span))?;
    let file = config.files.first()?;
    let named = |(id, full, kept): &(String, usize, usize)| match kept {
        0 => format!("`{id}` ({} tokens) is dropped", format_thousands(*full)),
        _ => format!(
            "of `{id}` {} of {} tokens stay",
            format_thousands(*kept),
            format_thousands(*full)
        ),
    };
    let mut found: Vec<String> = texts.iter().take(MAX_NAMED_TEXTS).map(named).collect();
    if texts.len() > MAX_NAMED_TEXTS {
        found.push(format!(
            "and {} more do not fit",
            texts.len() - MAX_NAMED_TEXTS
        ));
    }
    let message = format!(
        "{agent}: the texts of its author do not fit into {} tokens: {}",
        format_thousands(budget),
        found.join(", ")
    );
    let mut finding = Diagnostic::new(&RULE.meta, &file.path, span, message);
    if untrusted_reserve > 0 {
        finding = finding.note(format!(
            "up to {} tokens are kept for what others write: the `max_tokens` of untrusted inputs, and a quarter of the budget for all that has no limit",
            format_thousands(untrusted_reserve)
        ));
    }
    finding = finding
        .help("allow more tokens, shorten the texts, or set `max_tokens` on the untrusted inputs");
    finding.severity = config.lints.severity_for(&RULE.meta, finding.severity)?;
    finding.locate(&file.text, &file.lines);
    Some(finding)
}
