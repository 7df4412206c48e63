//! CTX534, CTX535: the tools that a project defines, and the tools that its roles name.

use super::project_prelude::*;
use crate::project::project_fault::ToolFault;
use crate::rules::request::tool_schema;
use crate::scenario::json_schema::JsonSchemaFaultKind;

/// Maximum number of tools listed in full.
const MAX_LISTED_TOOLS: usize = 12;

/// The prompt names the tool, but its definition is missing from the request.
pub(super) static UNKNOWN_TOOL: Rule = Rule::new(
    meta!(
        warning,
        534,
        "unknown-tool",
        "a role names a tool that is not among those that the project defines"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_tool),
);

fn report_unknown_tool(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownTool {
        role,
        key,
        found,
        near,
        valid,
    } = &fault.kind
    else {
        return None;
    };
    let what = match found.strip_suffix('*') {
        Some(prefix) => format!("a tool whose name begins with `{prefix}`"),
        None => format!("a tool `{found}`"),
    };
    let effect = if *key == "blocked_tools" {
        "nothing is blocked by it"
    } else {
        "its agent is given none"
    };
    let message = format!(
        "role `{role}` names {what} in `{key}`, which the project does not define: {effect}"
    );
    let finding = cx.finding(&UNKNOWN_TOOL, fault, message);
    if near.is_some() {
        return Some(suggest_name(
            finding,
            fault.span,
            near.as_deref(),
            NameForm::QuotedText,
        ));
    }
    let finding = if valid.len() > MAX_LISTED_TOOLS {
        finding
    } else {
        finding.note(format!("its tools are {}", name_list(valid)))
    };
    Some(finding.help("define it under `[tools.NAME]`, or in a file that `[tools] from` names; else take it out of the list"))
}

/// A provider would reject such a tool, or it could not be sent at all.
pub(super) static BAD_TOOL: Rule = Rule::new(
    meta!(
        error,
        535,
        "bad-tool",
        "a tool definition that cannot be sent as it is"
    ),
    Check::Config(report_bad_tool),
);

fn report_bad_tool(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::BadTool { tool, place, why } = &fault.kind else {
        return None;
    };
    let place = match place {
        None => String::new(),
        Some((path, 0)) => format!("`{path}`: "),
        Some((path, line)) => format!("`{path}`, line {line}: "),
    };
    let tool = tool.as_ref().map_or_else(
        || "a tool".to_owned(),
        |tool| format!("tool `{}`", tool.escape_debug()),
    );
    let is_evaluated_elsewhere = matches!(why, ToolFault::Pattern(_));
    let (why, help) = describe_tool_fault(&tool, why);
    let found = cx
        .finding(&BAD_TOOL, fault, format!("{place}{why}"))
        .help(help);
    Some(if is_evaluated_elsewhere {
        found.severity(Severity::Warning)
    } else {
        found
    })
}

/// Returns the message and the help for a faulty tool.
fn describe_tool_fault(tool: &str, why: &ToolFault) -> (String, String) {
    let schema = "write a JSON Schema such as `{type = \"object\", properties = {path = {type = \"string\"}}}`";
    let (why, help) = match why {
        ToolFault::Unreadable(why) => (
            why.clone(),
            "name a file of text, of at most 1 MiB; paths are relative to the folder of ctxc.toml",
        ),
        ToolFault::Json(words) => (format!("it is not valid JSON: {words}"), "correct the file"),
        ToolFault::Form => (
            "expected a list of tools, or an object with `tools`, which holds one".to_owned(),
            "write what OpenAI takes, `[{\"type\": \"function\", \"function\": {\"name\": …}}]`, what Anthropic takes, `[{\"name\": …, \"input_schema\": …}]`, or what MCP answers to `tools/list`",
        ),
        ToolFault::Hosted(kind) => (
            format!(
                "a tool of type `{}` is the provider's own; only those of type `function` are read",
                kind.escape_debug()
            ),
            "take it out of the file",
        ),
        ToolFault::NoName => (
            "a tool has no `name`, or one that is not a text".to_owned(),
            "give it a name",
        ),
        ToolFault::NoText => (
            format!("the `description` of {tool} is not a text"),
            "write it as a text",
        ),
        ToolFault::BadName => (
            format!("{tool} has a name that providers refuse"),
            "name it in ASCII letters, digits, `_` and `-`, with at most 64 of them",
        ),
        ToolFault::Twice { path, line } => (
            format!("{tool} is defined twice, first in {path}, line {line}"),
            "take one of the two out, or rename it",
        ),
        ToolFault::NoObject => (
            format!("the parameters of {tool} are not a JSON Schema whose `type` is \"object\""),
            schema,
        ),
        ToolFault::Refused(fault) => tool_schema::describe_fault(fault, tool, "OpenAI"),
        ToolFault::Pattern(at) => (
            format!(
                "in the parameters of {tool}, the pattern `{}` looks around or back, which not every provider evaluates",
                at.escape_debug()
            ),
            "write it without `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)` and `\\1`",
        ),
        ToolFault::BadSchema(fault) => {
            let (what, near) = match &fault.kind {
                JsonSchemaFaultKind::UnknownKeyword { near } => (
                    "is not a JSON Schema keyword".to_owned(),
                    near.map(str::to_owned),
                ),
                JsonSchemaFaultKind::BadValue { expected, near } => (
                    format!("has a value that it cannot have; expected {expected}"),
                    near.clone(),
                ),
            };
            let help = near.map_or_else(
                || "correct the schema".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            return (
                format!(
                    "in the parameters of {tool}, `{}` {what}",
                    fault.path.escape_debug()
                ),
                help,
            );
        }
    };
    (why, help.to_owned())
}
