//! Reads `[tools]` of the project file. The files that it refers to are read later, with those of
//! roles.

use super::row::{KeyReader, KeyValue, optional_row, read_rows, row_keys, with_names};
use super::value::{FaultSink, TomlValue, check_name, read_boolean, read_table, read_texts};
use crate::base::span::Spanned;
use crate::project::table::{ConfigShape, ConfigTable, key_table as of, optional_key};
use crate::scenario::table::NamedThingKind;
use serde_json::{Map, Number, Value as Json};
use toml::de::DeValue;

/// `[tools]`.
pub(super) static TOOLS: ConfigTable = ConfigTable {
    others: Some(&ConfigShape::Table(&TOOL)),
    ..of(
        "tools that roles choose from",
        &[optional_key(
            "from",
            ConfigShape::Texts,
            "files that define tools, in the form of OpenAI, Anthropic or MCP",
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
            "what JSON has: a text, a number, `true`, `false`, a list or a table",
        );
    }
    found
}
