//! `--select` and `--ignore`: the rules whose findings are reported. Neither changes the findings
//! of a rule, nor a build.

use super::render::report::CheckReport;
use crate::base::rule_meta::{Code, Severity};
use crate::base::suggest;
use crate::cli::prelude::*;
use crate::rules::list::{self, FAMILIES};
use std::collections::BTreeSet;

/// The rules to report, as written on the command line.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RuleFilterArgs {
    /// Report only findings of these rules and errors of locked ones: names, codes or families, comma-separated
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    select: Vec<String>,
    /// Leave out findings of these rules, except locked ones
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    ignore: Vec<String>,
}

/// The rules whose findings are reported.
#[derive(Debug)]
pub(super) struct RuleFilter {
    /// The selected rules; `None` for all.
    selected: Option<BTreeSet<Code>>,
    ignored: BTreeSet<Code>,
}

impl RuleFilterArgs {
    /// Looks the names up.
    ///
    /// # Errors
    /// A name is not the name of a rule or family, or a rule to ignore is locked.
    pub(super) fn resolve_rules(&self) -> Result<RuleFilter> {
        for name in &self.ignore {
            if let Some(rule) = list::find_rule(name).filter(|rule| rule.meta.locked) {
                let error = CliError::usage(format!(
                    "--ignore {name}: the rule `{}` is locked: it is always reported",
                    rule.meta.name
                ));
                return Err(error.with_hint("fix what it finds"));
            }
        }
        let selected = find_codes("--select", &self.select)?;
        Ok(RuleFilter {
            selected: (!self.select.is_empty()).then_some(selected),
            ignored: find_codes("--ignore", &self.ignore)?,
        })
    }
}

/// Returns the codes of the rules with some names.
fn find_codes(flag: &str, names: &[String]) -> Result<BTreeSet<Code>> {
    let mut codes = BTreeSet::new();
    for name in names {
        let family = FAMILIES.iter().find(|family| {
            family.name == name || name.eq_ignore_ascii_case(&format!("CTX{}xx", family.number))
        });
        match (family, list::find_rule(name)) {
            (Some(family), _) => {
                codes.extend(
                    list::all_rules()
                        .map(|rule| rule.meta.code)
                        .filter(|code| code.family() == family.number),
                );
            }
            (None, Some(rule)) => {
                codes.insert(rule.meta.code);
            }
            (None, None) => {
                let words = list::all_rules()
                    .map(|rule| rule.meta.name)
                    .chain(FAMILIES.iter().map(|family| family.name));
                return Err(CliError::usage(format!(
                    "{flag} {name}: not the name or code of a rule, nor a family"
                ))
                .with_suggestion(suggest::nearest_candidate(name, words))
                .with_hint("`ctxc rules` lists them"));
            }
        }
    }
    Ok(codes)
}

impl RuleFilter {
    /// Removes findings that are not selected, and returns their number.
    pub(super) fn filter_report(&self, report: &mut CheckReport) -> usize {
        let is_selected = |code: Code| {
            self.selected
                .as_ref()
                .is_none_or(|selected| selected.contains(&code))
        };
        let before = report.diagnostics.len();
        report.diagnostics.retain(|finding| {
            // Errors of locked rules stay: a selection must not make a faulty template look sound.
            let is_wanted =
                is_selected(finding.rule.code) && !self.ignored.contains(&finding.rule.code);
            is_wanted
                || finding.locked
                    && (finding.severity == Severity::Error || is_selected(finding.rule.code))
        });
        report.hidden.retain(|tally| {
            is_selected(Code(tally.rule)) && !self.ignored.contains(&Code(tally.rule))
        });
        before - report.diagnostics.len()
    }
}
