//! The contents of scenarios in one form: files that they name stand in place of their paths, so that a file that moved, or that now
//! stands in the scenario itself, is the same content.

use crate::cli::context::project::Inside;
use crate::context::request::Files;
use crate::record::json_tree::Json;
use crate::scenario::model::{Case, Suite};
use crate::scenario::paths;
use serde::Serialize;
use serde_json::Value;

/// Files beside a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'f> {
    /// The file of the scenario.
    pub(super) path: &'f str,
    pub(super) files: &'f Inside<'f>,
}

impl Beside<'_> {
    fn text(&self, named: &str) -> Option<String> {
        let (path, call) = named.split_once('#').unwrap_or((named, ""));
        let text = self.files.text(&paths::beside(self.path, path)?).ok()?;
        // What a checkout does to line ends is no change.
        let text = text.replace("\r\n", "\n");
        Some(if call.is_empty() { text } else { format!("{text}#{call}") })
    }

    /// The value as written, with the contents of the files that it names. Objects have their fields in one order.
    pub(super) fn inlined(&self, written: &impl Serialize) -> Value {
        // Plain data with string keys: writing it cannot fail.
        let mut value = serde_json::to_value(written).unwrap_or_default();
        self.inline(&mut value, Part::Structure);
        value.sort_all_objects();
        value
    }

    fn inline(&self, value: &mut Value, part: Part) {
        match value {
            Value::Array(items) if part == Part::Pairs => {
                items.iter_mut().filter_map(|pair| pair.get_mut(1)).for_each(|item| self.inline(item, Part::Content));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.inline(item, Part::Structure)),
            Value::Object(fields) => {
                if let Some(content) = (part == Part::Content).then(|| self.content(fields)).flatten() {
                    *value = plain(content);
                    return;
                }
                if let Some(answers) = fields.get_mut("answers").filter(|answers| answers.is_string())
                    && let Some(text) = answers.as_str().and_then(|path| self.text(path))
                {
                    *answers = Value::String(text);
                }
                for (key, inner) in fields.iter_mut() {
                    if let Some(inside) = if part == Part::Contents { Some(Part::Content) } else { Part::behind(key) } {
                        self.inline(inner, inside);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The value of a content, in place or in a file.
    fn content(&self, fields: &serde_json::Map<String, Value>) -> Option<Value> {
        let only = if fields.len() == 1 { fields.iter().next() } else { None };
        match only.map(|(key, inner)| (key.as_str(), inner)) {
            Some(("File", Value::String(path))) => self.text(path).map(Value::String),
            Some(("Value" | "Text" | "Messages", inner)) => Some(inner.clone()),
            _ => None,
        }
    }

    /// The situation of a case that is frozen.
    pub(super) fn frozen(&self, case: &Case, tools: &impl Serialize) -> Value {
        let mut parts = self.inlined(&(&case.subject, &case.node, case.is_run, &case.situation));
        let mut tools = serde_json::to_value(tools).unwrap_or_default();
        tools.sort_all_objects();
        parts.as_array_mut().into_iter().for_each(|parts| parts.push(tools.clone()));
        parts
    }

    /// Everything that a case holds a project to, but for its name.
    pub(super) fn nameless(&self, case: &Case, suite: &Suite) -> String {
        let Case { expect_context, expectations, rule, answers, .. } = case;
        let expected = self.inlined(&(expect_context, expectations, rule, answers));
        format!("{} {expected}", self.frozen(case, &suite.tools))
    }
}

/// The part of a scenario that a value is, as it is written. Only contents may be in a file: in what the author's own data hold, a key
/// such as `File` or `Text` is a word like any other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Fields of the scenario.
    Structure,
    /// Contents by their names.
    Contents,
    /// Names with contents.
    Pairs,
    Content,
}

impl Part {
    /// The part behind a field; `None` for the author's own data.
    fn behind(key: &str) -> Option<Self> {
        Some(match key {
            "Exact" | "previous_output" | "extra" | "arguments" | "reply" | "tool_calls" => return None,
            "files" | "inputs" | "results" => Self::Contents,
            "schema_of" => Self::Pairs,
            "Request" | "Schema" | "history" | "text" => Self::Content,
            _ => Self::Structure,
        })
    }
}

/// A content as a value: JSON where it is an object or a list, as a text of a file or one in place may be.
fn plain(content: Value) -> Value {
    let Some(text) = content.as_str() else { return content };
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let lines = || text.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>().ok();
    let lines = || lines().filter(|lines| lines.iter().all(is_nested) && !lines.is_empty()).map(Value::Array);
    let whole = serde_json::from_str(text).ok().filter(is_nested);
    whole.or_else(lines).unwrap_or(content)
}

/// A stored request without what only its layout is.
pub(super) fn laid_out(text: &str) -> String {
    let mut out = String::new();
    match Json::read(text) {
        Some(tree) if serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok() => tree.normal(&mut out),
        _ => out = text.replace("\r\n", "\n"),
    }
    out
}
