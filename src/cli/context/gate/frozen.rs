//! The contents of scenarios in a normalized form: paths are replaced by the contents of their
//! files, so that a file that was moved, or moved into the scenario itself, counts as unchanged.

use crate::cli::context::project::ProjectFiles;
use crate::context::request::Files;
use crate::record::json_tree::JsonTree;
use crate::scenario::model::{ScenarioCase, Suite};
use crate::scenario::paths;
use crate::scenario::rubric::Rubric;
use crate::schema::json::names::REQUEST;
use serde::Serialize;
use serde_json::Value;

/// The files beside a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScenarioFiles<'f> {
    /// The file of the scenario.
    pub(super) path: &'f str,
    pub(super) files: &'f ProjectFiles<'f>,
}

impl ScenarioFiles<'_> {
    fn named_text(&self, named: &str) -> Option<String> {
        let (path, call) = named.split_once('#').unwrap_or((named, ""));
        let text = self
            .files
            .text(&paths::resolve_beside(self.path, path)?)
            .ok()?;
        // A checkout may convert line ends; that is no change.
        let text = text.replace("\r\n", "\n");
        let text = normalize_recording(&text).unwrap_or(text);
        Some(if call.is_empty() {
            text
        } else {
            format!("{text}#{call}")
        })
    }

    /// Returns a value with the contents of the files that it names. Fields of objects are sorted.
    pub(super) fn inline_files(&self, written: &impl Serialize) -> Value {
        // Serializing plain data with string keys cannot fail.
        let mut value = serde_json::to_value(written).unwrap_or_default();
        self.inline_value(&mut value, ScenarioPart::Structure);
        value.sort_all_objects();
        value
    }

    fn inline_value(&self, value: &mut Value, part: ScenarioPart) {
        match value {
            Value::Array(items) if part == ScenarioPart::Pairs => {
                items
                    .iter_mut()
                    .filter_map(|pair| pair.get_mut(1))
                    .for_each(|item| self.inline_value(item, ScenarioPart::Content));
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.inline_value(item, ScenarioPart::Structure)),
            Value::Object(fields) => {
                if let Some(content) = part
                    .may_be_content()
                    .then(|| self.content_value(fields))
                    .flatten()
                {
                    *value = parse_content(content);
                    if part == ScenarioPart::AnswerSchema {
                        without_annotations(value);
                    }
                    return;
                }
                if let Some(rubric) = self.rubric_value(fields) {
                    fields.insert("rubric".to_owned(), rubric);
                }
                if let Some(answers) = fields
                    .get_mut("answers")
                    .filter(|answers| answers.is_string())
                    && let Some(text) = answers.as_str().and_then(|path| self.named_text(path))
                {
                    *answers = parse_content(Value::String(text));
                }
                for (key, inner) in fields.iter_mut() {
                    if let Some(inside) = if part == ScenarioPart::Contents {
                        Some(ScenarioPart::Content)
                    } else {
                        ScenarioPart::of_field(key)
                    } {
                        self.inline_value(inner, inside);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns the value of a content, given directly or as a file.
    fn content_value(&self, fields: &serde_json::Map<String, Value>) -> Option<Value> {
        let only = if fields.len() == 1 {
            fields.iter().next()
        } else {
            None
        };
        match only.map(|(key, inner)| (key.as_str(), inner)) {
            Some(("File", Value::String(path))) => self.named_text(path).map(Value::String),
            Some(("Value" | "Text" | "Messages", inner)) => Some(inner.clone()),
            _ => None,
        }
    }

    /// Returns the criteria of an expectation for the judge, if its rubric is a file.
    fn rubric_value(&self, expectation: &serde_json::Map<String, Value>) -> Option<Value> {
        let path = expectation.get("rubric")?.get("File")?.as_str()?;
        let mut rubric = Rubric::read(&self.named_text(path)?).0;
        let asked = expectation.get("criteria")?.as_array()?;
        let is_asked = |id: &String| asked.is_empty() || asked.iter().any(|one| one == id);
        rubric.criteria.retain(|one| is_asked(&one.id));
        serde_json::to_value(rubric).ok()
    }

    /// Returns the frozen situation of a case.
    pub(super) fn situation_value(&self, case: &ScenarioCase, tools: &impl Serialize) -> Value {
        let mut parts =
            self.inline_files(&(&case.subject, &case.node, case.is_run, &case.situation));
        let mut tools = serde_json::to_value(tools).unwrap_or_default();
        tools.sort_all_objects();
        parts
            .as_array_mut()
            .into_iter()
            .for_each(|parts| parts.push(tools.clone()));
        parts
    }

    /// Returns everything that affects the verdict of a case, without its name.
    pub(super) fn content_key(&self, case: &ScenarioCase, suite: &Suite) -> String {
        let ScenarioCase {
            expect_context,
            expectations,
            rule,
            answers,
            ..
        } = case;
        let expected = self.inline_files(&(expect_context, expectations, rule, answers));
        format!("{} {expected}", self.situation_value(case, &suite.tools))
    }
}

/// The part of a scenario that a value represents. Only contents can be in a file: in the author's
/// own data, keys such as `File` or `Text` have no special meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScenarioPart {
    /// Fields of the scenario.
    Structure,
    /// Contents by name.
    Contents,
    /// Pairs of a name and a content.
    Pairs,
    Content,
    /// A schema for answers, which models do not receive.
    AnswerSchema,
}

impl ScenarioPart {
    /// Returns the part in a field; `None` for the author's own data.
    fn of_field(key: &str) -> Option<Self> {
        Some(match key {
            "Exact" | "previous_output" | "extra" | "arguments" | "reply" | "tool_calls" => {
                return None;
            }
            "files" | "inputs" | "results" => Self::Contents,
            "schema_of" => Self::Pairs,
            "Request" | "history" | "text" => Self::Content,
            "Schema" => Self::AnswerSchema,
            _ => Self::Structure,
        })
    }

    fn may_be_content(self) -> bool {
        matches!(self, Self::Content | Self::AnswerSchema)
    }
}

/// Returns a content as a value: parsed if it is a JSON object or list, or lines of these.
fn parse_content(content: Value) -> Value {
    let Some(text) = content.as_str() else {
        return content;
    };
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let lines = || {
        text.lines()
            .map(serde_json::from_str::<Value>)
            .collect::<Result<Vec<_>, _>>()
            .ok()
    };
    let lines = || {
        lines()
            .filter(|lines| lines.iter().all(is_nested) && !lines.is_empty())
            .map(Value::Array)
    };
    let whole = serde_json::from_str(text).ok().filter(is_nested);
    whole.or_else(lines).unwrap_or(content)
}

/// Returns recorded calls without their times and runs, one per line; `None` for any other text.
fn normalize_recording(text: &str) -> Option<String> {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut call: Value = serde_json::from_str(line).ok()?;
        let fields = call
            .as_object_mut()
            .filter(|fields| fields.get("schema").and_then(Value::as_str) == Some(REQUEST))?;
        fields.retain(|key, _| !matches!(&**key, "at" | "run"));
        call.sort_all_objects();
        out += &call.to_string();
        out.push('\n');
    }
    (!out.is_empty()).then_some(out)
}

/// Removes the annotations from a JSON Schema: they reject no value.
fn without_annotations(schema: &mut Value) {
    let is_annotation = |key: &str, value: &Value| match key {
        "title" | "description" | "$comment" => value.is_string(),
        // A reference could point into one of these objects.
        "examples" => value
            .as_array()
            .is_some_and(|all| !all.iter().any(Value::is_object)),
        _ => false,
    };
    match schema {
        Value::Array(items) => items.iter_mut().for_each(without_annotations),
        Value::Object(fields) => {
            fields.retain(|key, value| !is_annotation(key, value));
            for (key, value) in fields {
                match &**key {
                    "const" | "enum" | "default" | "examples" => {}
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas" | "dependencies" => {
                        value
                            .as_object_mut()
                            .into_iter()
                            .flatten()
                            .for_each(|(_, own)| without_annotations(own));
                    }
                    _ => without_annotations(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns a stored request in a normalized layout.
pub(super) fn normalize_layout(text: &str) -> String {
    let mut out = String::new();
    match JsonTree::parse(text) {
        Some(tree) if serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok() => {
            tree.write_normal(&mut out);
        }
        _ => out = text.replace("\r\n", "\n"),
    }
    out
}
