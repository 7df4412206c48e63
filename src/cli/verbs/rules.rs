//! `ctxc rules`: every rule with its family, its severity and its kind of fix.

use crate::base::rule_meta::{Fixable, RuleMeta, Severity};
use crate::cli::manual_page;
use crate::cli::prelude::*;
use crate::cli::render::summary;
use crate::rules::list::{self, FAMILIES};
use crate::schema::json::names;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc rules\n  ctxc rules --format json\n\n`ctxc explain NAME` shows a rule's page."
)]
pub(crate) struct RulesArgs {
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// Every rule: `ctxc rules --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct RulesDocument<'r> {
    /// The version of the format.
    schema: &'static str,
    /// Every rule, by code.
    rules: Vec<RuleListRow<'r>>,
}

/// One rule.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Row")]
pub(crate) struct RuleListRow<'r> {
    /// The rule's number, an alias of its name.
    code: String,
    /// The name by which it is set, suppressed and explained.
    name: &'r str,
    /// Former names of the rule; all of them are still accepted.
    renamed_from: &'r [&'r str],
    /// The family of the rule; a family can be set as a whole in `[lints]`.
    family: &'r str,
    /// The severity if the project sets none; null: off by default.
    severity: Option<Severity>,
    /// True if the rule is a promise of the language, which can be neither silenced nor lowered.
    locked: bool,
    /// The best fix that its findings offer.
    fix: Fixable,
    /// A summary of the findings, in one line.
    summary: &'r str,
}

/// Prints the list.
pub(crate) fn run_rules(args: &RulesArgs, cx: &mut Cx) -> Result<Exit> {
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => {
            let rules = list::all_rules().map(|rule| rule_row(&rule.meta)).collect();
            cx.print_json(&RulesDocument {
                schema: names::RULES,
                rules,
            })
        }
        DataFormat::Text => print_rules(cx),
    })?;
    Ok(Exit::Success)
}

fn rule_row(rule: &'static RuleMeta) -> RuleListRow<'static> {
    RuleListRow {
        code: rule.code.to_string(),
        name: rule.name,
        renamed_from: rule.renamed_from,
        family: manual_page::family_name(rule),
        severity: rule.severity,
        locked: rule.locked,
        fix: rule.fix,
        summary: rule.summary,
    }
}

/// On a screen with fewer columns, the summary of a rule is on a second line.
const WIDE_COLUMNS: usize = 110;

fn print_rules(cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let widest = list::all_rules()
        .map(|rule| rule.meta.name.len())
        .max()
        .unwrap_or(0);
    let is_narrow = screen.width.is_some_and(|width| width < WIDE_COLUMNS);
    for family in FAMILIES {
        let title = format!("{} (CTX{}xx): {}", family.name, family.number, family.about);
        cx.print_line(&screen.paint(Paint::Strong, &title))?;
        for rule in list::all_rules()
            .map(|rule| &rule.meta)
            .filter(|rule| rule.code.family() == family.number)
        {
            let severity = rule.severity.map_or("off", Severity::as_str);
            let lock = if rule.locked { "locked" } else { "" };
            let fix = if rule.fix == Fixable::None {
                ""
            } else {
                rule.fix.as_str()
            };
            let paint = rule.severity.map_or(Paint::Dim, summary::severity_paint);
            let severity = screen.paint(paint, &format!("{severity:<7}"));
            let line = format!("  {} {severity} {lock:<6} {fix:<9}", rule.code);
            if is_narrow {
                cx.print_line(&format!("{line} {}", rule.name))?;
                cx.print_line(&format!("         {}", rule.summary))?;
            } else {
                cx.print_hanging(
                    &format!("{line} {:<widest$}  {}", rule.name, rule.summary),
                    36 + widest,
                )?;
            }
        }
    }
    cx.print_line(&screen.paint(Paint::Dim, "locked: cannot be silenced or lowered; safe, suggested, choice: the kind of its best fix; `ctxc explain NAME` shows the page of a rule"))
}
