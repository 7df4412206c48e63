//! A value held against a JSON Schema: the answer of an agent, for one.

use super::draft::one_line;
use super::{cost, draft};
use serde_json::Value;

/// Whether a value satisfies a JSON Schema (of the draft that `$schema` names, 2020-12 where it names none): what is wrong with it, each with its place.
/// References lead nowhere outside the schema.
///
/// # Errors
/// Why the schema is none.
pub(crate) fn violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    if cost::visits(schema, value).is_none() {
        return Err(format!("the schema is too much for this value: more than {} visits of its parts", cost::MOST));
    }
    let validator =
        draft::validator(schema).map_err(|error| format!("it is not a valid JSON Schema: {}", one_line(&error.to_string())))?;
    let errors = validator.iter_errors(value).take(8);
    let said = errors.map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { "the whole".to_owned() } else { at };
        format!("{at}: {}", one_line(&error.to_string()))
    });
    Ok(said.collect())
}
