//! A mistake in a JSON Schema as data: where it is, and what. The caller writes the message.

/// One slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// The keys and numbers that lead to it.
    pub path: Vec<Step>,
    /// What it is.
    pub kind: SlipKind,
}

/// A step into a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
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

/// A path as a JSON Pointer.
pub fn pointer(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Item(number) => format!("/{number}"),
    };
    path.iter().map(step).collect()
}
