//! `ctxc explain`: the page of a rule, or the origin of one setting of a task.

use super::explain_setting;
use crate::base::rule_meta::RuleMeta;
use crate::base::suggest;
use crate::cli::manual_page;
use crate::cli::prelude::*;
use crate::registry::inspect;
use crate::rules::list;
use crate::schema::json::names;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc explain context-conflict\n  ctxc explain CTX203\n  ctxc explain triage.fresh_context\n  ctxc explain triage.fresh_context --json"
)]
pub(crate) struct ExplainArgs {
    /// A rule's name or code, or TASK[/NODE].SETTING
    #[arg(value_name = "WHAT")]
    what: String,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The page of a rule: `ctxc explain RULE --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RulePage<'r> {
    /// The version of the format.
    schema: &'static str,
    /// The rule's number, an alias of its name.
    code: String,
    /// The name by which it is set, suppressed and explained.
    name: &'r str,
    /// The severity if the project sets none; null: off by default.
    severity: Option<crate::base::rule_meta::Severity>,
    /// True if the rule is a promise of the language, which can be neither silenced nor lowered.
    locked: bool,
    /// A summary of the findings, in one line.
    summary: &'r str,
    /// The mistake, its reason and its remedy, in Markdown.
    page: &'r str,
}

/// Prints the page.
pub(crate) fn run_explain(args: &ExplainArgs, cx: &mut Cx) -> Result<Exit> {
    if let Some(rule) = list::find_rule(&args.what) {
        print_rule_page(&rule.meta, args, cx)?;
        return Ok(Exit::Success);
    }
    let Some(question) = explain_setting::parse_query(&args.what) else {
        return Err(task_error(&args.what, cx).unwrap_or_else(|| unknown_error(&args.what)));
    };
    let question = question?;
    let project = Project::load(&cx.options)?
        .require_no_errors()?
        .with_limits(&args.limits);
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Text => explain_setting::print_text(question, &project, cx),
        DataFormat::Json => explain_setting::print_json(question, &project, cx),
    })?;
    Ok(Exit::Success)
}

fn print_rule_page(rule: &'static RuleMeta, args: &ExplainArgs, cx: &mut Cx) -> Result<()> {
    if rule.renamed_from.contains(&args.what.as_str()) {
        cx.print_note(&format!("`{}` is now called `{}`", args.what, rule.name));
    }
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Text => {
            let page = manual_page::terminal_page(rule, cx.options.screen);
            cx.print(|out| out.write_all(page.as_bytes()))
        }
        DataFormat::Json => cx.print_json(&RulePage {
            schema: names::RULE,
            code: rule.code.to_string(),
            name: rule.name,
            severity: rule.severity,
            locked: rule.locked,
            summary: rule.summary,
            page: rule.page(),
        }),
    })
}

/// Returns the error for the name of a task, with a hint to `show`; `None` if there is no such
/// task.
fn task_error(what: &str, cx: &Cx) -> Option<CliError> {
    let project = Project::load(&cx.options)
        .and_then(Project::require_no_errors)
        .ok()?;
    let places =
        inspect::find_definitions(&project.root, &project.config, cx.options.threads).ok()?;
    places.iter().find(|place| *place.name == *what)?;
    let error = CliError::usage(format!(
        "`{what}` is a task; what can be explained is a rule, or one setting of a task"
    ));
    Some(
        error
            .with_hint(format!("`ctxc show {what}` shows all of its settings"))
            .with_hint(format!(
                "`ctxc explain {what}.fresh_context` says how one of them came about"
            )),
    )
}

fn unknown_error(what: &str) -> CliError {
    let is_code = what.len() > 3
        && what
            .get(..3)
            .is_some_and(|prefix| prefix.eq_ignore_ascii_case("ctx"));
    if is_code && what.bytes().skip(3).all(|byte| byte.is_ascii_digit()) {
        return CliError::usage(format!("there is no rule `{what}`"))
            .with_hint("`ctxc rules` lists them with their codes");
    }
    let names = list::all_rules().flat_map(|rule| {
        std::iter::once(rule.meta.name).chain(rule.meta.renamed_from.iter().copied())
    });
    CliError::usage(format!("`{what}` is neither a rule nor a setting of a task"))
        .with_suggestion(suggest::nearest_candidate(what, names))
        .with_hint("`ctxc rules` lists the rules; a setting is named TASK.SETTING, for example triage.fresh_context")
}
