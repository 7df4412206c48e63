//! Reads `[tools]` of the project file. The files that it refers to are read later, with those of
//! roles.

use super::row::{At, Row, keys, naming, row, rows};
use super::value::{Sink, Value, boolean, named, table, texts};
use crate::base::span::Spanned;
use crate::project::table::{Shape, Table, key, table as of};
use crate::scenario::table::Thing;
use serde_json::{Map, Number, Value as Json};
use toml::de::DeValue;

/// `[tools]`.
pub(super) static TOOLS: Table = Table {
    others: Some(&Shape::Table(&TOOL)),
    ..of(
        "tools that roles choose from",
        &[key(
            "from",
            Shape::Texts,
            "files that define tools, in the form of OpenAI, Anthropic or MCP",
        )
        .names(Thing::Path)],
    )
};

/// `[tools.NAME]`.
static TOOL: Table = of("a tool", &keys::<_, { TOOL_ROWS.len() }>(TOOL_ROWS));

const TOOL_ROWS: &[Row<WrittenTool>] = &[
    row(
        "description",
        Shape::Text,
        "what it is for, as the agent reads it",
        |at, tool| tool.description = at.string(),
    ),
    naming(
        Thing::Path,
        &row(
            "parameters",
            Shape::NameOr(&PARAMETERS),
            "the JSON Schema of its arguments, or the file that holds it",
            |at, tool| {
                tool.parameters = parameters(at);
            },
        ),
    ),
    naming(
        Thing::Argument,
        &row(
            "command",
            Shape::Texts,
            "the program that runs it, and its arguments: it reads what the tool is given, as JSON",
            |at, tool| {
                tool.command = at.texts().into_iter().map(|one| one.value).collect();
            },
        ),
    ),
    row(
        "strict",
        Shape::Bool,
        "whether OpenAI is to hold calls to the schema",
        |at, tool| {
            tool.strict = boolean(at.sink, &at.path, at.value).map(|found| found.value);
        },
    ),
];

/// A JSON Schema in TOML.
static PARAMETERS: Table = Table {
    others: Some(&Shape::Any),
    ..of("a JSON Schema of type `object`", &[])
};

/// The whole content of `[tools]`.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// `from`.
    pub(super) from: Vec<Spanned<String>>,
    /// `[tools.NAME]`.
    pub(super) own: Vec<(Spanned<String>, WrittenTool)>,
}

/// A tool as written.
#[derive(Debug, Default)]
pub(super) struct WrittenTool {
    pub(super) description: Option<String>,
    pub(super) parameters: Option<Spanned<Parameters>>,
    pub(super) strict: Option<bool>,
    pub(super) command: Vec<String>,
}

/// The location of a tool's schema.
#[derive(Debug)]
pub(super) enum Parameters {
    Inline(Json),
    File(String),
}

pub(super) fn tools(sink: &mut Sink, value: &Value<'_>) -> Tools {
    let mut out = Tools::default();
    for (key, value) in table(sink, "tools", value).into_iter().flatten() {
        if key.get_ref() == "from" {
            out.from = texts(sink, "tools.from", value)
                .into_iter()
                .map(|path| path.map(str::to_owned))
                .collect();
        } else if let Some(name) = named(sink, "tools", key) {
            let mut tool = WrittenTool::default();
            rows(
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

fn parameters(at: &mut At<'_, '_>) -> Option<Spanned<Parameters>> {
    if let DeValue::Table(_) = at.value.get_ref() {
        let schema = json_of(at.sink, &at.path, at.value)?;
        return Some(Spanned::new(Parameters::Inline(schema), at.span()));
    }
    if !matches!(at.value.get_ref(), DeValue::String(_)) {
        at.sink.wrong_type(
            &at.path,
            at.value,
            "a JSON Schema as a table, or in quotes the path of a file that holds one",
        );
        return None;
    }
    let path = at.spanned()?;
    if path.value.trim().is_empty() {
        at.bad(
            &path,
            "a JSON Schema as a table, or the path of a file that holds one",
        );
        return None;
    }
    Some(path.map(Parameters::File))
}

/// Converts a value of TOML to JSON.
fn json_of(sink: &mut Sink, path: &str, value: &Value<'_>) -> Option<Json> {
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
            return items.iter().map(|item| json_of(sink, path, item)).collect();
        }
        DeValue::Table(members) => {
            let member = |(key, value): (&super::value::Key<'_>, &Value<'_>)| {
                let name = key.get_ref().as_ref();
                Some((
                    name.to_owned(),
                    json_of(sink, &format!("{path}.{name}"), value)?,
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
