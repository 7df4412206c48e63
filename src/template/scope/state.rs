//! The state of a walk over a file: the results so far, and the bindings at the current place.

use super::env::BindingStack;
use super::fault::{ParameterOrigin, ScopeFault, ScopeFaultKind};
use super::flow::{self, DefinitionSummary, FlowRecorder};
use super::trace::NameTrace;
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Attribute, Element};
use crate::template::model::{Definition, MAX_FAULTS, TaskBody, TemplateFile};
use crate::template::names::FileFacts;
use crate::template::parts::{ScriptCommand, TaskScript};
use crate::template::round_names::RoundName;
use crate::template::texts::TextRole;
use crate::template::{argv, fault};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Returns the text of a `src` by its path as written; `None` if it is not available.
pub type TextSources<'s> = dyn Fn(&str) -> Option<Arc<str>> + 's;

/// The context that reaches an agent, according to its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextReach {
    /// True if it receives its parent's context or a part of it.
    pub inherits: bool,
    /// True if its steps receive the results of earlier ones; `None` if its type is unknown.
    pub accumulates: Option<bool>,
    /// True if context is looked up for it.
    pub looks_up: bool,
}

/// The results of resolving the variables of a file.
#[derive(Clone, Debug, Default)]
pub struct Scopes<'a> {
    /// Unbound variables in definitions that declare no parameters, by definition and then by
    /// position.
    pub implicit: Vec<ImplicitParameter<'a>>,
    /// The `src` of blank text files, each with the role of the text.
    pub blank: Vec<(TextRole, Span)>,
    /// The spans of texts that expand to many bytes, each with the size; a limited number, in
    /// order.
    pub grown: Vec<(Span, u64)>,
    /// The faults, in no particular order.
    pub faults: Vec<ScopeFault<'a>>,
    /// The number of faults beyond [`MAX_FAULTS`], which are not stored.
    pub left_out: u32,
    /// The number of unused parameters so far; they are not errors, and are counted separately.
    unused: u32,
    /// The recorded facts of each definition, for linking.
    pub(super) summaries: Vec<DefinitionSummary>,
}

impl<'a> Scopes<'a> {
    /// Moves the recorded facts of each definition to `facts`.
    pub fn store_in_facts(&mut self, facts: &mut FileFacts) {
        flow::store_summaries(std::mem::take(&mut self.summaries), facts);
    }

    pub(super) fn record_fault(&mut self, fault: ScopeFault<'a>) {
        let accepted = matches!(fault.kind, ScopeFaultKind::Unused { .. });
        self.unused += u32::from(accepted);
        let count = if accepted {
            self.unused
        } else {
            self.faults.len() as u32 + 1 - self.unused.min(MAX_FAULTS)
        };
        if count <= MAX_FAULTS {
            self.faults.push(fault);
        } else {
            self.left_out += 1;
        }
    }
}

/// A variable that a run must pass although it is not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplicitParameter<'a> {
    /// The index of the definition that uses it.
    pub owner: u32,
    /// Its name, with the span of its first use.
    pub name: Spanned<Cow<'a, str>>,
    /// Its type, if an inner body declares it.
    pub kind: Option<Box<str>>,
    /// Its number in the flow of names.
    pub(super) id: u32,
}

/// The reader of a body's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextReader {
    /// An agent.
    #[default]
    Agent,
    /// A program, which receives its arguments and its environment.
    Program,
    /// A shell, which receives a command line and its environment.
    Shell,
}

/// True if a shell reads the text of a command: `shell` is set, or the command starts a shell with
/// a command line, as `sh -c` does.
fn is_read_by_shell(command: &ScriptCommand<'_>) -> bool {
    if command.shell.is_some() && command.args.is_empty() {
        return true;
    }
    let words: Vec<String> = if command.args.is_empty() {
        let split = argv::split_command(&command.text.element.text(), 0);
        split
            .map(|argv| argv.arguments.into_iter().map(|word| word.value).collect())
            .unwrap_or_default()
    } else {
        command
            .args
            .iter()
            .map(|arg| arg.element.text().trim().to_owned())
            .collect()
    };
    argv::shell_line_index(&words)
        .and_then(|at| words.get(at))
        .is_some_and(|line| line.contains("{{"))
}

impl TextReader {
    pub(super) fn for_task(task: &TaskBody<'_>) -> Self {
        let command =
            |script: &TaskScript<'_>| script.command.as_ref().is_some_and(is_read_by_shell);
        match task.script.as_deref() {
            None => Self::Agent,
            Some(script) if command(script) => Self::Shell,
            Some(_) => Self::Program,
        }
    }

    /// True if it receives texts of the given role.
    pub(super) const fn receives_role(self, role: TextRole) -> bool {
        match self {
            Self::Agent => !matches!(
                role,
                TextRole::Input | TextRole::Arg | TextRole::InitialValue
            ),
            Self::Program | Self::Shell => matches!(role, TextRole::Command | TextRole::Env),
        }
    }
}

pub(super) struct ScopeWalk<'m, 'a, 'w> {
    pub(super) file: &'m TemplateFile<'a>,
    /// Names in elements that were left unread.
    pub(super) hidden: HashSet<Cow<'a, str>>,
    pub(super) env: BindingStack<'m, 'a>,
    /// The results of surrounding steps that have not run, and of tasks that make inputs: of each
    /// list the current entry and later ones, the innermost last.
    pub(super) later: BindingStack<'m, 'a>,
    /// The elements that declare parameters around here, the innermost last. If empty, unbound
    /// variables are implicit parameters.
    pub(super) origins: Vec<ParameterOrigin<'a>>,
    pub(super) owner: u32,
    /// Indices in `scopes.implicit` by name.
    pub(super) implicit: HashMap<String, usize>,
    pub(super) scopes: &'w mut Scopes<'a>,
    pub(super) sources: &'w TextSources<'w>,
    /// The context that reaches each body, by its number.
    pub(super) reach: &'w dyn Fn(u32) -> ContextReach,
    /// The path of the current node; empty for `/`.
    pub(super) path: String,
    /// The context that it could inherit.
    pub(super) around: u32,
    /// The results of the tools that it may call.
    pub(super) tools: u32,
    /// The results of earlier steps that it receives.
    pub(super) before: Option<u32>,
    /// False if the parts of the current body certainly receive nothing from earlier parts.
    pub(super) carries: bool,
    /// The number of texts and tasks so far with variables that are not visible here.
    pub(super) unknown: u32,
    /// The number of damaged parameter lists around here, with unknown declarations.
    pub(super) damaged: u32,
    pub(super) nearest: usize,
    /// The round names of surrounding tasks that lack the child that the name requires; the
    /// innermost last.
    pub(super) absent: Vec<(&'static RoundName, Element<'a>)>,
    /// The profile of the agents around here, if one is set.
    pub(super) profile: Option<Profile>,
    /// True if the current texts are rendered without fences.
    pub(super) is_bare: bool,
    /// The minimum size in bytes of the last text.
    pub(super) size: u64,
    /// The reader of the current texts.
    pub(super) reader: TextReader,
    pub(super) flow: FlowRecorder<'m>,
    /// The trace to record all names in, and the name that references are assumed to take: see
    /// [`trace`].
    pub(super) traced: Option<(&'w mut NameTrace, &'w str)>,
}

/// Returns the names that unread elements of a definition might bind; faults of these elements have
/// been reported.
pub(super) fn hidden_names<'a>(
    file: &TemplateFile<'a>,
    definition: &Definition<'a>,
) -> HashSet<Cow<'a, str>> {
    let mut names = HashSet::new();
    let mut open = file.unread_elements_in(definition.element()).to_vec();
    while let Some(element) = open.pop() {
        // Any attribute may hold the name.
        names.extend(element.attributes().map(Attribute::value));
        open.extend(element.elements());
    }
    names
}

/// True if a name in a definition is empty, which has been reported: it may stand for any used
/// name.
pub(super) fn has_nameless_step(file: &TemplateFile<'_>, definition: &Definition<'_>) -> bool {
    let whole = definition.element().span();
    file.faults.iter().any(|fault| {
        matches!(
            fault.kind,
            fault::TemplateFaultKind::Empty {
                name: "as" | "name"
            }
        ) && whole.encloses(fault.span)
    })
}
