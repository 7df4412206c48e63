//! Validates a value, such as an agent's answer, against a JSON Schema.

use super::draft::last_line;
use super::{cost, draft};
use serde_json::Value;

/// Returns the violations of a JSON Schema by a value, each with its place. The draft is that of
/// `$schema`, by default 2020-12. References lead nowhere outside the schema.
///
/// # Errors
/// The reason, if the schema is invalid or too expensive for the value.
pub(crate) fn find_violations(schema: &Value, value: &Value) -> Result<Vec<String>, String> {
    if cost::count_visits(schema, value).is_none() {
        return Err(format!(
            "the schema is too much for this value: more than {} visits of its parts",
            cost::MAX_VISITS
        ));
    }
    let validator = draft::compile_schema(schema).map_err(|error| {
        format!(
            "it is not a valid JSON Schema: {}",
            last_line(&error.to_string())
        )
    })?;
    let errors = validator.iter_errors(value).take(8);
    let said = errors.map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() {
            "the whole".to_owned()
        } else {
            at
        };
        format!("{at}: {}", last_line(&error.to_string()))
    });
    Ok(said.collect())
}
