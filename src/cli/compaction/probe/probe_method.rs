//! Methods of compaction as the command line names them.

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProbeMethod {
    /// Its name, as given.
    pub(super) name: String,
    pub(super) kind: MethodKind,
}

/// The kind of a method, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MethodKind {
    Recorded,
    Truncate(u64),
    Command(Vec<String>),
    AnchoredIterative(String),
    Regenerative(String),
}

impl ProbeMethod {
    /// Reads a method of the command line.
    pub(super) fn parse(text: &str) -> std::result::Result<Self, String> {
        let (word, value) = text.split_once('=').unwrap_or((text, ""));
        let argv: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
        let kind = match word {
            "recorded" if value.is_empty() => Some(MethodKind::Recorded),
            "truncate" => value.parse().ok().map(MethodKind::Truncate),
            "command" if !argv.is_empty() => Some(MethodKind::Command(argv)),
            "anchored-iterative" if !value.is_empty() => {
                Some(MethodKind::AnchoredIterative(value.to_owned()))
            }
            "regenerative" if !value.is_empty() => Some(MethodKind::Regenerative(value.to_owned())),
            _ => None,
        };
        let expected = "expected `recorded`, `truncate=TOKENS`, `command=PROGRAM ARGUMENTS`, `anchored-iterative=ROLE` or `regenerative=ROLE`";
        Ok(Self {
            name: text.to_owned(),
            kind: kind.ok_or(expected)?,
        })
    }

    /// True if it asks a role.
    pub(super) const fn asks_role(&self) -> bool {
        matches!(
            self.kind,
            MethodKind::AnchoredIterative(_) | MethodKind::Regenerative(_)
        )
    }
}
