//! A mistake in a JSON Schema as data: where it is, and what. The caller writes the message.

/// One slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The JSON Pointer to it.
    pub path: String,
    /// What it is.
    pub kind: SlipKind,
}

/// The kinds of slips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlipKind {
    /// The last key of the path is no keyword.
    Unknown {
        /// The keyword that was probably meant.
        near: Option<&'static str>,
    },
    /// The value at the path is none that its keyword takes.
    Bad {
        /// What may stand there.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
}

/// The pointer to a key or an item of what a pointer leads to.
pub(super) fn under(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The keys and numbers of a pointer.
pub fn steps(path: &str) -> impl Iterator<Item = String> {
    path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}
