//! The policy for actions, and the gate. An action that is not allowed is refused; so is an allowed
//! one that is blocked or touches a protected path.
//!
//! Looks only at the words of an action. It is not a sandbox: a tool that is allowed to run
//! programs can do anything that those can.
//!
//! Proof that an action passed the gate.
//!
//! Only the gate creates one: it has no other constructor, no conversion, and cannot be
//! deserialised.

use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};

/// An action that requires approval.
pub trait Action {
    /// A one-line form: the name of the tool and, for a tool that runs programs, the command line
    /// after it, such as `shell cargo test`.
    fn line(&self) -> String;

    /// Returns true if a shell reads the line, so that one line can contain several commands.
    fn is_shell(&self) -> bool;

    /// Every text in it that is matched against blocked patterns.
    fn texts(&self) -> Vec<&str>;

    /// Every text in it that may be a path, except the words of its command line.
    fn paths(&self) -> Vec<&str>;

    /// The words of its command line.
    fn words(&self) -> Vec<&str>;
}

/// The rules for approving actions. By default nothing is allowed.
///
/// ```
/// use ctxc::runtime::ToolPolicy;
///
/// let policy = ToolPolicy::allowing(["read_file", "shell cargo test*"]);
/// let policy = policy.blocking(["--no-verify"]).protecting(["deploy/**/*.yaml", ".github"]);
/// assert_eq!(policy.protected.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    /// Allowed lines of actions: complete ones, or prefixes if the entry ends in `*`. See
    /// [`Action::line`].
    pub allowed: Vec<String>,
    /// Texts that no part of an action may contain; `*` matches any text.
    pub blocked: Vec<String>,
    /// Paths that no action may name, except in a command line that is allowed as a whole: relative
    /// to the workspace, each including its contents; `*` matches any text within a name, `**` any
    /// folders.
    pub protected: Vec<String>,
}

/// Characters by which a shell runs more than one command, or writes into a file.
const SHELL_CONTROL_CHARS: [char; 10] = [';', '&', '|', '<', '>', '`', '$', '\n', '\r', '\0'];

impl ToolPolicy {
    /// Allows lines of actions: complete ones, or prefixes if the entry ends in `*`.
    pub fn allowing<'p>(lines: impl IntoIterator<Item = &'p str>) -> Self {
        Self {
            allowed: lines.into_iter().map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Adds blocked patterns.
    #[must_use]
    pub fn blocking<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        self.blocked.extend(patterns.into_iter().map(str::to_owned));
        self
    }

    /// Adds protected paths.
    #[must_use]
    pub fn protecting<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        self.protected
            .extend(patterns.into_iter().map(str::to_owned));
        self
    }

    /// The gate: approves or refuses an action.
    ///
    /// # Errors
    /// The action is refused: the note names the entry that decided, as feedback for the agent.
    pub fn approve<A: Action>(&self, action: A) -> Result<ApprovedAction<A>, Obstacle> {
        self.check_action(&action)?;
        Ok(ApprovedAction::new(action))
    }

    /// The checks of the gate.
    pub(super) fn check_action(&self, action: &impl Action) -> Result<(), Obstacle> {
        let line = action.line();
        let Some(entry) = self.allowed.iter().find(|entry| entry_covers(entry, &line)) else {
            let allowed = if self.allowed.is_empty() {
                "nothing is".to_owned()
            } else {
                self.allowed.join(", ")
            };
            return Err(refusal(format!(
                "`{}` is not allowed; allowed: {allowed}",
                shorten(&line)
            )));
        };
        // An allowed prefix does not extend to a second command after it.
        let is_bounded = entry.contains(' ') && entry != &line;
        if let Some(sign) = line
            .chars()
            .find(|c| SHELL_CONTROL_CHARS.contains(c))
            .filter(|_| action.is_shell() && is_bounded)
        {
            let note = format!(
                "`{}` is not allowed: `{}` would let a shell do more than `{entry}` covers",
                shorten(&line),
                sign.escape_debug()
            );
            return Err(refusal(note));
        }
        let texts = action.texts();
        let found = |pattern: &&String| {
            std::iter::once(line.as_str())
                .chain(texts.iter().copied())
                .any(|text| contains_in_order(text, pattern))
        };
        if let Some(pattern) = self.blocked.iter().find(found) {
            return Err(refusal(format!(
                "`{}` is blocked by the pattern `{pattern}`",
                shorten(&line)
            )));
        }
        let is_protected = |path: &&str| {
            self.protected
                .iter()
                .any(|pattern| covers_path(&path_names(pattern), &path_names(path)))
        };
        let words = if *entry == line {
            Vec::new()
        } else {
            action.words()
        };
        if let Some(path) = action.paths().into_iter().chain(words).find(is_protected) {
            return Err(refusal(format!(
                "`{}` is refused: {} is a protected path",
                shorten(&line),
                shorten(path)
            )));
        }
        Ok(())
    }
}

pub(super) const fn refusal(note: String) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Tool,
        note,
    }
}

/// Returns true if an entry covers a line: completely, or its beginning if the entry ends in `*`.
fn entry_covers(entry: &str, line: &str) -> bool {
    entry
        .strip_suffix('*')
        .map_or(entry == line, |beginning| line.starts_with(beginning))
}

/// Returns true if a text contains the parts of a pattern between its `*`, in their order.
fn contains_in_order(text: &str, pattern: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|part| {
        let found = rest.find(part);
        rest = found
            .and_then(|at| rest.get(at + part.len()..))
            .unwrap_or("");
        found.is_some()
    })
}

/// The names in a path, without `.` and `..`. A path that leads out of the workspace is taken
/// relative to its root.
fn path_names(path: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names
}

/// Returns true if a pattern covers a path, or a folder above it.
fn covers_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), Some((_, below))) => {
            covers_path(rest, path) || covers_path(pattern, below)
        }
        (Some((name, rest)), Some((found, below))) => {
            name_matches(found, name) && covers_path(rest, below)
        }
        (Some(_), None) => false,
    }
}

/// Returns true if a complete name matches a pattern.
fn name_matches(name: &str, pattern: &str) -> bool {
    let Some((beginning, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inside = name
        .strip_prefix(beginning)
        .and_then(|name| name.strip_suffix(end));
    inside.is_some_and(|inside| contains_in_order(inside, middle))
}

/// A text shortened to one line of a message.
fn shorten(text: &str) -> String {
    const MAX_BYTES: usize = 120;
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let end = line.floor_char_boundary(MAX_BYTES);
    if end < line.len() {
        format!("{}…", line.get(..end).unwrap_or(""))
    } else {
        line
    }
}

/// An action that the gate has approved. Code that runs actions accepts only this type, so that
/// none bypasses the policy.
///
/// ```
/// use ctxc::runtime::{ApprovedAction, ToolCall, ToolDefinition, ToolPolicy, ToolRegistry};
///
/// fn run(action: &ApprovedAction<ToolCall>) -> String {
///     format!("ran {}", action.action().name)
/// }
///
/// let mut tools = ToolRegistry::new(ToolPolicy::allowing(["get_*"]));
/// tools.register(ToolDefinition::new("get_metrics", "the metrics of a service"))?;
/// let call = ToolCall { id: "1".into(), name: "get_metrics".into(), arguments: serde_json::json!({}) };
/// let action = tools.approve(call)?;
/// assert_eq!(run(&action), "ran get_metrics");
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// No other code can create one:
///
/// ```compile_fail,E0423
/// use ctxc::runtime::{ApprovedAction, ToolCall};
///
/// let call = ToolCall { id: "1".into(), name: "get_metrics".into(), arguments: serde_json::json!({}) };
/// let action = ApprovedAction(call);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedAction<T>(T);

impl<T> ApprovedAction<T> {
    /// For the gate only.
    pub(super) const fn new(action: T) -> Self {
        Self(action)
    }

    /// The approved action. It cannot be changed.
    pub const fn action(&self) -> &T {
        &self.0
    }

    /// The action by value, without its approval.
    pub fn into_inner(self) -> T {
        self.0
    }
}
