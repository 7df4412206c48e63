//! One node of a compiled task as plain data, with the four resolved settings and their provenance.
//!
//! Built without recursion, so that no input can exhaust the stack; never more than [`MAX_DEPTH`]
//! levels deep.

use super::body::NodeBody;
use super::raw::{RawJson, ReadError};
use crate::settings::data::SettingsData;
#[cfg(feature = "assemble")]
use crate::template::setting::SettingName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The maximum depth of nodes; templates cannot nest deeper.
pub const MAX_DEPTH: usize = 256;

/// A task, call or choice with everything inside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Node {
    /// The path inside the definition, such as `/steps/1`; `/` is the definition itself.
    pub id: String,
    /// The element that it is written as.
    pub element: String,
    /// The type; null for calls and choices, and for a reference to another task.
    pub operator: Option<String>,
    /// The subtype or part; null if it has none.
    pub subtype: Option<String>,
    /// The four settings; null if it has no context of its own.
    pub settings: Option<SettingsData>,
    /// The content of the node itself: texts, inputs, files, formats, by their names in the
    /// language.
    pub body: NodeBody<'static>,
    /// The nodes inside it, in document order.
    pub children: Vec<Child>,
}

/// A node inside of another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Child {
    /// The slot that it fills: `steps`, `inner_task`, `inputs`, `calls` (those in its texts) and so on.
    pub slot: String,
    /// The name of its result, for a call in a text the text of the call; null if it has none.
    #[serde(rename = "as")]
    pub name: Option<String>,
    /// The node itself.
    pub node: Node,
}

/// The form in which a node runs.
#[cfg(any(feature = "compile", feature = "assemble"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeForm {
    /// Runs the definition that it refers to.
    Reference,
    /// Runs the first case whose condition holds.
    Choice,
    /// Runs its steps one after the other.
    Sequence,
    /// Runs one part for each input, and another that merges the results.
    Fold,
    /// Runs its parts in rounds.
    Loop,
    /// Runs a command.
    Script,
    /// Calls an agent.
    Agent,
}

/// The definition that a node refers to.
#[cfg(any(feature = "compile", feature = "assemble"))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeTarget<'n> {
    /// A task.
    Task(&'n str),
    /// A function template.
    Template(&'n str),
}

#[cfg(any(feature = "compile", feature = "assemble"))]
impl Child {
    /// Its number in a slot with several children, from 0.
    pub(crate) fn slot_number(&self) -> Option<usize> {
        self.node.id.rsplit('/').next()?.parse().ok()
    }
}

#[cfg(any(feature = "compile", feature = "assemble"))]
impl Node {
    /// The child whose path is equal to, or a prefix of, a path in the definition.
    #[cfg(feature = "assemble")]
    pub(crate) fn child_towards(&self, path: &str) -> Option<&Child> {
        let leads = |child: &&Child| {
            path.strip_prefix(&*child.node.id)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        // In a slot with several children, the number in the path is usually the index of the
        // child.
        let inside = path.strip_prefix(self.id.trim_end_matches('/'));
        let number = inside.and_then(|inside| inside.split('/').nth(2)?.parse::<usize>().ok());
        let pointed = number
            .and_then(|number| self.children.get(number))
            .filter(leads);
        pointed.or_else(|| self.children.iter().find(leads))
    }

    /// The definition that it refers to.
    pub(crate) fn target(&self) -> Option<NodeTarget<'_>> {
        match self.element.as_str() {
            "call" => self.body.template.as_deref().map(NodeTarget::Template),
            _ => self.body.reference.as_deref().map(NodeTarget::Task),
        }
    }

    /// The value of a setting, as the keyword of the language; empty if the node has none.
    #[cfg(feature = "assemble")]
    pub(crate) fn setting(&self, name: SettingName) -> &'static str {
        let setting = self
            .settings
            .as_ref()
            .map(|settings| settings.get(name))
            .filter(|setting| setting.applies);
        setting.map_or("", |setting| setting.value.as_str())
    }

    /// The form in which it runs, decided by its slots and body, since a part can have any form
    /// whatever its element or type.
    pub(crate) fn form(&self) -> NodeForm {
        let holds = |slot: &str| self.children.iter().any(|child| child.slot == slot);
        match () {
            () if self.target().is_some() => NodeForm::Reference,
            () if self.body.tests.is_some() => NodeForm::Choice,
            () if holds("steps") => NodeForm::Sequence,
            () if holds("inner_task") => NodeForm::Fold,
            () if holds("director") => NodeForm::Loop,
            () if self.body.command.is_some() => NodeForm::Script,
            () => NodeForm::Agent,
        }
    }

    /// Returns true if an agent is called for the node itself, and not for nodes inside it.
    pub(crate) fn is_agent(&self) -> bool {
        self.form() == NodeForm::Agent
    }

    /// Returns true if a command runs for it.
    #[cfg(feature = "compile")]
    pub(crate) fn is_script(&self) -> bool {
        self.form() == NodeForm::Script
    }

    /// The slot that it fills in its parent; empty for a definition.
    #[cfg(feature = "eval")]
    pub(crate) fn slot(&self) -> &str {
        let is_word = |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit());
        self.id.rsplit('/').find(is_word).unwrap_or_default()
    }
}

/// A node whose children are not parsed yet.
#[derive(Deserialize)]
struct UnparsedNode<'a> {
    id: String,
    element: String,
    operator: Option<String>,
    subtype: Option<String>,
    settings: Option<SettingsData>,
    body: NodeBody<'static>,
    #[serde(borrow)]
    children: Vec<UnparsedChild<'a>>,
}

#[derive(Deserialize)]
struct UnparsedChild<'a> {
    #[serde(borrow)]
    slot: Cow<'a, str>,
    #[serde(rename = "as")]
    name: Option<String>,
    #[serde(borrow)]
    node: &'a RawValue,
}

/// A node under construction: its children are added one by one from the stack.
struct OpenNode<'a> {
    node: Node,
    slot: String,
    name: Option<String>,
    rest: std::vec::IntoIter<UnparsedChild<'a>>,
}

impl<'a> OpenNode<'a> {
    fn parse_shallow(
        raw: RawJson<'a>,
        text: &str,
        slot: String,
        name: Option<String>,
    ) -> Result<Self, ReadError> {
        let shallow: UnparsedNode<'a> = raw.parse(text)?;
        let node = Node {
            id: shallow.id,
            element: shallow.element,
            operator: shallow.operator,
            subtype: shallow.subtype,
            settings: shallow.settings,
            body: shallow.body,
            children: Vec::with_capacity(shallow.children.len()),
        };
        Ok(Self {
            node,
            slot,
            name,
            rest: shallow.children.into_iter(),
        })
    }
}

/// Parses a node and everything below it. Each level skips the levels below once, so the cost is at
/// most size × depth.
pub(super) fn parse_tree(raw: RawJson<'_>, text: &str) -> Result<Node, ReadError> {
    let mut stack = vec![OpenNode::parse_shallow(raw, text, String::new(), None)?];
    loop {
        let depth = stack.len();
        let Some(top) = stack.last_mut() else {
            return Err(ReadError::TooDeep { limit: MAX_DEPTH });
        };
        if let Some(child) = top.rest.next() {
            if depth >= MAX_DEPTH {
                return Err(ReadError::TooDeep { limit: MAX_DEPTH });
            }
            let open = OpenNode::parse_shallow(
                RawJson::borrowed_value(child.node, text),
                text,
                child.slot.into_owned(),
                child.name,
            )?;
            stack.push(open);
            continue;
        }
        let Some(done) = stack.pop() else {
            return Err(ReadError::TooDeep { limit: MAX_DEPTH });
        };
        let Some(parent) = stack.last_mut() else {
            return Ok(done.node);
        };
        parent.node.children.push(Child {
            slot: done.slot,
            name: done.name,
            node: done.node,
        });
    }
}
