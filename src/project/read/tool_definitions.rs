//! Reads `[tools]` of the project file, and definitions of tools in it and in files in the formats
//! of OpenAI and others. The files that it refers to are read later, with those of roles.

use super::package_parts::exported_tools;
use super::routes::read_text_file;
use super::row::{KeyReader, KeyValue, optional_row, read_rows, row_keys, with_names};
use super::sections::nearest_name;
use super::value::{FaultSink, TomlValue, check_name, read_boolean, read_table, read_texts};
use crate::base::json::UniqueKeys;
use crate::base::lines::count_line_ends;
use crate::base::span::{Span, Spanned};
use crate::kernel::sampling::{Parameter, TOOL_CHOICE_WORDS};
use crate::project::config::ConfigInput;
use crate::project::config::Packages;
use crate::project::package_section::is_package_name;
use crate::project::project_fault::{ProjectFaultKind, ToolFault};
use crate::project::roles::{Role, RoleTools, matches_tool};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of, optional_key};
use crate::project::tools::ProjectTool;
use crate::request::dialect::Dialect;
use crate::request::schema_fault::{SchemaUse, ToolSchemaFault, find_fault};
use crate::scenario::json_schema::{self, JsonSchemaFault, JsonSchemaFaultKind};
use crate::scenario::table::NamedThingKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::de::DeValue;

/// `[tools]`.
pub(super) static TOOLS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&TOOL)),
    ..of(
        "tools that roles choose from",
        &[optional_key(
            "from",
            ConfigShape::Texts,
            "files that define tools, in the form of OpenAI, Anthropic or MCP, and packages that export some",
        )
        .with_names(NamedThingKind::Path)],
    )
};

/// `[tools.NAME]`.
static TOOL: ConfigTable = of("a tool", &row_keys::<_, { TOOL_ROWS.len() }>(TOOL_ROWS));

const TOOL_ROWS: &[KeyReader<WrittenTool>] = &[
    optional_row(
        "description",
        ConfigShape::Text,
        "its purpose, as the agent reads it",
        |at, tool| tool.description = at.read_plain_string(),
    ),
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "parameters",
            ConfigShape::NameOr(&PARAMETERS),
            "the JSON Schema of its arguments, or the file that contains it",
            |at, tool| {
                tool.parameters = read_parameters(at);
            },
        ),
    ),
    with_names(
        NamedThingKind::Argument,
        &optional_row(
            "command",
            ConfigShape::Texts,
            "the program that runs it, and its arguments: it reads the arguments of the call, as JSON",
            |at, tool| {
                tool.command = at.read_texts().into_iter().map(|one| one.value).collect();
            },
        ),
    ),
    optional_row(
        "strict",
        ConfigShape::Bool,
        "`true`: OpenAI enforces the schema in calls",
        |at, tool| {
            tool.strict = read_boolean(at.sink, &at.path, at.value).map(|found| found.value);
        },
    ),
];

/// A JSON Schema in TOML.
static PARAMETERS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Any),
    ..of("a JSON Schema of type `object`", &[])
};

/// The whole content of `[tools]`.
#[derive(Debug, Default)]
pub(super) struct WrittenTools {
    /// `from`.
    pub(super) from: Vec<Spanned<String>>,
    /// `[tools.NAME]`.
    pub(super) own: Vec<(Spanned<String>, WrittenTool)>,
    /// The tools of packages in `from`.
    exported: Vec<LocatedTool>,
    /// True if one of these packages cannot be used, which is reported.
    lacks_package: bool,
}

impl WrittenTools {
    /// Replaces the packages in `from` by the tools that they export.
    pub(super) fn take_exports(&mut self, sink: &mut FaultSink, packages: &Packages) {
        let names = self
            .from
            .extract_if(.., |name| is_package_name(&name.value));
        let before = sink.faults.len();
        for name in names {
            let tools = exported_tools(sink, packages, &name).into_iter();
            self.exported.extend(tools.map(|tool| (name.span, tool)));
        }
        self.lacks_package = sink.faults.len() > before;
    }
}

/// A tool as written.
#[derive(Debug, Default)]
pub(super) struct WrittenTool {
    pub(super) description: Option<String>,
    pub(super) parameters: Option<Spanned<ToolParameters>>,
    pub(super) strict: Option<bool>,
    pub(super) command: Vec<String>,
}

/// The location of a tool's schema.
#[derive(Debug)]
pub(super) enum ToolParameters {
    Inline(Json),
    File(String),
}

pub(super) fn read_tools(sink: &mut FaultSink, value: &TomlValue<'_>) -> WrittenTools {
    let mut out = WrittenTools::default();
    for (key, value) in read_table(sink, "tools", value).into_iter().flatten() {
        if key.get_ref() == "from" {
            out.from = read_texts(sink, "tools.from", value)
                .into_iter()
                .map(|path| path.map(str::to_owned))
                .collect();
        } else if let Some(name) = check_name(sink, "tools", key) {
            let mut tool = WrittenTool::default();
            read_rows(
                sink,
                &format!("tools.{}", name.value),
                value,
                TOOL_ROWS,
                &mut tool,
            );
            out.own.push((name, tool));
        }
    }
    out
}

/// Reads the value of `parameters`: a schema as a table, or the path of its file.
fn read_parameters(at: &mut KeyValue<'_, '_>) -> Option<Spanned<ToolParameters>> {
    if let DeValue::Table(_) = at.value.get_ref() {
        let schema = toml_to_json(at.sink, &at.path, at.value)?;
        return Some(Spanned::new(ToolParameters::Inline(schema), at.span()));
    }
    if !matches!(at.value.get_ref(), DeValue::String(_)) {
        at.sink.wrong_type(
            &at.path,
            at.value,
            "a JSON Schema as a table, or in quotes the path of a file that holds one",
        );
        return None;
    }
    let path = at.read_string()?;
    if path.value.trim().is_empty() {
        at.report_bad_value(
            &path,
            "a JSON Schema as a table, or the path of a file that holds one",
        );
        return None;
    }
    Some(path.map(ToolParameters::File))
}

/// Converts a value of TOML to JSON.
fn toml_to_json(sink: &mut FaultSink, path: &str, value: &TomlValue<'_>) -> Option<Json> {
    let found = match value.get_ref() {
        DeValue::String(text) => Some(Json::from(text.as_ref())),
        DeValue::Boolean(boolean) => Some(Json::from(*boolean)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(Json::from),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map(Json::Number),
        DeValue::Array(items) => {
            return items
                .iter()
                .map(|item| toml_to_json(sink, path, item))
                .collect();
        }
        DeValue::Table(members) => {
            let member = |(key, value): (&super::value::TomlKey<'_>, &TomlValue<'_>)| {
                let name = key.get_ref().as_ref();
                Some((
                    name.to_owned(),
                    toml_to_json(sink, &format!("{path}.{name}"), value)?,
                ))
            };
            return members
                .iter()
                .map(member)
                .collect::<Option<Map<_, _>>>()
                .map(Json::Object);
        }
        DeValue::Datetime(_) => None,
    };
    if found.is_none() {
        sink.wrong_type(
            path,
            value,
            "a value that JSON has: a text, a number, `true`, `false`, a list or a table",
        );
    }
    found
}

/// A definition with the span for its findings: its name in the project file, or the reference to
/// the file that contains it.
type LocatedTool = (Span, ProjectTool);

/// Sets the project's definitions in every role, and reports unknown names.
pub(super) fn define_tools(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    written: WrittenTools,
    roles: &mut BTreeMap<String, Role>,
) -> Arc<BTreeMap<String, ProjectTool>> {
    let before = sink.faults.len();
    let mut found: Vec<LocatedTool> = written.exported;
    for path in &written.from {
        read_tool_file(sink, input, path, &mut found);
    }
    for (name, tool) in written.own {
        read_own_tool(sink, input, name, tool, &mut found);
    }
    let mut defined: BTreeMap<String, ProjectTool> = BTreeMap::new();
    for (at, tool) in found {
        let place = Some((tool.path.clone(), tool.line + 1)).filter(|(path, _)| path != input.path);
        let fault = match defined.get(&tool.name) {
            Some(first) => Some(ToolFault::Twice {
                path: first.path.clone(),
                line: first.line + 1,
            }),
            None => tool_fault(&tool),
        };
        match fault {
            Some(why) => sink.report(
                at,
                ProjectFaultKind::BadTool {
                    tool: Some(tool.name),
                    place,
                    why,
                },
            ),
            None => drop(defined.insert(tool.name.clone(), tool)),
        }
    }
    // The name of an unreadable definition is unknown.
    let is_known = sink.faults.len() == before && !written.lacks_package;
    let defined = Arc::new(defined);
    for role in roles.values_mut() {
        if let Some(tools) = &mut role.tools {
            tools.defined = join_tools(tools, &defined);
        }
        match &role.tools {
            Some(tools) if is_known && !tools.defined.is_empty() => {
                report_unknown_tools(sink, role, &tools.defined);
            }
            None if is_known && !defined.is_empty() => report_unknown_tools(sink, role, &defined),
            Some(_) | None => {}
        }
    }
    defined
}

/// Returns the project's tools, with those of a package that a role takes over.
fn join_tools(
    tools: &RoleTools,
    defined: &Arc<BTreeMap<String, ProjectTool>>,
) -> Arc<BTreeMap<String, ProjectTool>> {
    if tools.defined.is_empty() {
        return Arc::clone(defined);
    }
    let mut all = (*tools.defined).clone();
    all.retain(|name, _| tools.permits(name));
    all.extend(
        defined
            .iter()
            .map(|(name, tool)| (name.clone(), tool.clone())),
    );
    Arc::new(all)
}

/// Reads a tool of the project file.
fn read_own_tool(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    name: Spanned<String>,
    tool: WrittenTool,
    out: &mut Vec<LocatedTool>,
) {
    let parameters = match tool.parameters.map(|found| (found.value, found.span)) {
        None => empty_parameters(),
        Some((ToolParameters::Inline(schema), _)) => schema,
        Some((ToolParameters::File(path), at)) => match read_json_file(input, &path) {
            Ok((schema, _)) => schema,
            Err((line, why)) => {
                let place = Some((path, line));
                return sink.report(
                    at,
                    ProjectFaultKind::BadTool {
                        tool: Some(name.value),
                        place,
                        why,
                    },
                );
            }
        },
    };
    let line = count_line_ends(input.text.get(..name.span.start as usize).unwrap_or(""));
    let description = tool.description.unwrap_or_default();
    let path = input.path.to_owned();
    out.push((
        name.span,
        ProjectTool {
            name: name.value,
            description,
            parameters,
            strict: tool.strict,
            command: tool.command,
            path,
            line,
        },
    ));
}

/// The schema of a tool without arguments.
fn empty_parameters() -> Json {
    json!({"type": "object", "properties": {}})
}

/// Reads a JSON file of the project, as a value and as text; on failure returns the line and the
/// fault.
fn read_json_file(input: &ConfigInput<'_>, path: &str) -> Result<(Json, String), (u32, ToolFault)> {
    let text = read_text_file(input, path).map_err(|why| (0, ToolFault::Unreadable(why)))?;
    match serde_json::from_str::<UniqueKeys>(&text) {
        Ok(UniqueKeys(value)) => Ok((value, text)),
        Err(error) => {
            let words = error.to_string();
            let words = words
                .rsplit_once(" at line ")
                .map_or(words.as_str(), |(words, _)| words);
            Err((
                u32::try_from(error.line()).unwrap_or(u32::MAX),
                ToolFault::Json(words.to_owned()),
            ))
        }
    }
}

/// The list in an MCP response to `tools/list`.
#[derive(Deserialize)]
struct ToolList<'t> {
    #[serde(borrow)]
    tools: Vec<&'t RawValue>,
}

/// Reads the tools of a file.
fn read_tool_file(
    sink: &mut FaultSink,
    input: &ConfigInput<'_>,
    path: &Spanned<String>,
    out: &mut Vec<LocatedTool>,
) {
    let mut report = |tool: Option<&str>, line: u32, why: ToolFault| {
        let place = Some((path.value.clone(), line));
        sink.report(
            path.span,
            ProjectFaultKind::BadTool {
                tool: tool.map(str::to_owned),
                place,
                why,
            },
        );
    };
    let (value, text) = match read_json_file(input, &path.value) {
        Ok(found) => found,
        Err((line, why)) => return report(None, line, why),
    };
    let entries = value.as_array().or_else(|| value.get("tools")?.as_array());
    let listed: Option<Vec<&RawValue>> = serde_json::from_str(&text).ok();
    let listed = listed.or_else(|| {
        serde_json::from_str::<ToolList<'_>>(&text)
            .ok()
            .map(|listed| listed.tools)
    });
    let (Some(entries), Some(listed)) = (entries, listed) else {
        return report(None, 1, ToolFault::Form);
    };
    for (entry, raw) in entries.iter().zip(listed) {
        // The text of an entry is a slice of the file's text.
        let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let line = count_line_ends(text.get(..start).unwrap_or(""));
        match parse_entry(entry) {
            Ok(tool) => {
                let path_of = path.value.trim_start_matches("./").to_owned();
                out.push((
                    path.span,
                    ProjectTool {
                        path: path_of,
                        line,
                        ..tool
                    },
                ));
            }
            Err((name, why)) => report(name, line + 1, why),
        }
    }
}

/// Parses an entry of a file, in OpenAI's nested or flat format or in MCP's.
fn parse_entry(entry: &Json) -> Result<ProjectTool, (Option<&str>, ToolFault)> {
    if let Some(kind) = entry
        .get("type")
        .and_then(Json::as_str)
        .filter(|kind| *kind != "function")
    {
        return Err((None, ToolFault::Hosted(kind.to_owned())));
    }
    let own = entry.get("function").unwrap_or(entry);
    let name = own
        .get("name")
        .and_then(Json::as_str)
        .ok_or((None, ToolFault::NoName))?;
    let description = match own.get("description") {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(_) => return Err((Some(name), ToolFault::NoText)),
    };
    let schema = ["parameters", "inputSchema", "input_schema"]
        .iter()
        .find_map(|key| own.get(key));
    let parameters = schema
        .filter(|schema| !schema.is_null())
        .cloned()
        .unwrap_or_else(empty_parameters);
    let strict = own.get("strict").and_then(Json::as_bool);
    Ok(ProjectTool {
        name: name.to_owned(),
        description,
        parameters,
        strict,
        command: Vec::new(),
        path: String::new(),
        line: 0,
    })
}

/// Returns the fault of a definition that providers would reject or ignore.
fn tool_fault(tool: &ProjectTool) -> Option<ToolFault> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if tool.name.is_empty() || tool.name.len() > 64 || !tool.name.chars().all(is_word) {
        return Some(ToolFault::BadName);
    }
    if tool.parameters.get("type") != Some(&json!("object")) {
        return Some(ToolFault::NoObject);
    }
    let is_sure = |fault: &JsonSchemaFault| {
        !matches!(
            fault.kind,
            JsonSchemaFaultKind::UnknownKeyword { near: None }
        )
    };
    let looks =
        |fault: &JsonSchemaFault| json_schema::uses_look_around(&tool.parameters, &fault.path);
    let (patterns, schema_faults): (Vec<_>, Vec<_>) = json_schema::schema_faults(&tool.parameters)
        .into_iter()
        .filter(is_sure)
        .partition(looks);
    let schema_fault = schema_faults.into_iter().next().map(ToolFault::BadSchema);
    let pattern = patterns
        .into_iter()
        .next()
        .map(|fault| ToolFault::Pattern(fault.path));
    schema_fault.or(pattern).or_else(|| {
        let is_strict = tool.strict == Some(true);
        let schema_use = SchemaUse {
            is_strict,
            is_own: false,
        };
        let (_, fault) = find_fault(&tool.parameters, Dialect::OpenaiChat, schema_use)?;
        // Restrictions of OpenAI alone are checked only if a tool is for it, or when a request is
        // sent to it.
        let is_sure =
            is_strict || matches!(fault, ToolSchemaFault::Top("oneOf" | "anyOf" | "allOf"));
        is_sure.then_some(ToolFault::Refused(fault))
    })
}

/// The key that selects one tool.
const TOOL_CHOICE_KEY: &str = Parameter::ToolChoice.word();

/// Reports names and patterns of a role that match no definition.
fn report_unknown_tools(
    sink: &mut FaultSink,
    role: &Role,
    defined: &BTreeMap<String, ProjectTool>,
) {
    let mut report = |span, key, found: &str| {
        let is_pattern = found.ends_with('*');
        let near = nearest_name(found, defined.keys().map(String::as_str))
            .filter(|_| !is_pattern && key != TOOL_CHOICE_KEY);
        let (role, found, valid) = (
            role.name.value.clone(),
            found.to_owned(),
            defined.keys().cloned().collect(),
        );
        sink.report(
            span,
            ProjectFaultKind::UnknownTool {
                role,
                key,
                found,
                near,
                valid,
            },
        );
    };
    let choice = role
        .sampling
        .get(&Parameter::ToolChoice)
        .and_then(Json::as_str);
    if let Some(choice) = choice
        .filter(|choice| !TOOL_CHOICE_WORDS.contains(choice) && !defined.contains_key(*choice))
    {
        report(role.name.span, TOOL_CHOICE_KEY, choice);
    }
    let Some(tools) = &role.tools else { return };
    for (key, entries) in [("tools", &tools.allowed), ("blocked_tools", &tools.blocked)] {
        for entry in entries
            .iter()
            .filter(|entry| !defined.keys().any(|name| matches_tool(&entry.value, name)))
        {
            report(entry.span, key, &entry.value);
        }
    }
}
