//! A mistake in a JSON Schema, as data: its place and kind. The caller writes the message.

/// One mistake in a JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonSchemaFault {
    /// The JSON Pointer to the mistake.
    pub path: String,
    /// Its kind.
    pub kind: JsonSchemaFaultKind,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonSchemaFaultKind {
    /// The last key of the path is not a keyword.
    UnknownKeyword {
        /// The keyword that was probably meant.
        near: Option<&'static str>,
    },
    /// The value at the path is not valid for its keyword.
    BadValue {
        /// The valid values.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
}

/// Appends a key or an index to a pointer.
pub(super) fn child_pointer(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The keys and indices of a pointer.
pub fn pointer_steps(path: &str) -> impl Iterator<Item = String> {
    path.split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
}
