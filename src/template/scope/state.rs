//! What a walk over a file has found so far, and what is bound where it stands.

use super::env::Env;
use super::fault::{Fault, FaultKind, Origin};
use super::flow::{self, Learned, Recorder};
use super::trace::Trace;
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Attribute, Element};
use crate::template::argv;
use crate::template::fault;
use crate::template::model::{Definition, File, MOST_FAULTS, Task};
use crate::template::names::FileFacts;
use crate::template::parts::{Command, Script};
use crate::template::round_names::RoundName;
use crate::template::texts::Role;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The text of a `src`, by the path as written; `None` where it is not at hand.
pub type Sources<'s> = dyn Fn(&str) -> Option<Arc<str>> + 's;

/// What reaches an agent of the context around it, by its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Its parent's context, or a part of it.
    pub inherits: bool,
    /// Whether its steps see what those before them left; nothing where its type is not known.
    pub accumulates: Option<bool>,
    /// What is looked up.
    pub looks_up: bool,
}

/// The variables of a file.
#[derive(Clone, Debug, Default)]
pub struct Scopes<'a> {
    /// Variables that nothing binds in definitions that declare no parameters, by definition and then by place.
    pub implicit: Vec<Implicit<'a>>,
    /// Where texts name a file that holds no words, each with what it is to its task.
    pub blank: Vec<(Role, Span)>,
    /// Where texts come to many bytes by what they are made of, each with how many: some of them, in order.
    pub grown: Vec<(Span, u64)>,
    /// What is wrong, in no order.
    pub faults: Vec<Fault<'a>>,
    /// Faults beyond [`MOST_FAULTS`]: counted, not kept.
    pub left_out: u32,
    /// Unused parameters so far; they are no errors, and counted apart.
    unused: u32,
    /// What linking needs of each definition.
    pub(super) learned: Vec<Learned>,
}

impl<'a> Scopes<'a> {
    /// Hands over what linking needs of each definition.
    pub fn learn(&mut self, facts: &mut FileFacts) {
        flow::learn(std::mem::take(&mut self.learned), facts);
    }

    pub(super) fn fault(&mut self, fault: Fault<'a>) {
        let accepted = matches!(fault.kind, FaultKind::Unused { .. });
        self.unused += u32::from(accepted);
        let count = if accepted { self.unused } else { self.faults.len() as u32 + 1 - self.unused.min(MOST_FAULTS) };
        if count <= MOST_FAULTS { self.faults.push(fault) } else { self.left_out += 1 }
    }
}

/// A variable that a run must give a value, though nothing declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implicit<'a> {
    /// Which definition of the file uses it.
    pub owner: u32,
    /// Its name, and where it is used first.
    pub name: Spanned<Cow<'a, str>>,
    /// Its type, where a body inside declares it.
    pub kind: Option<Box<str>>,
    /// What it is called in the flow of names.
    pub(super) id: u32,
}

/// Who reads the texts of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reader {
    /// An agent.
    #[default]
    Agent,
    /// A program, which is given its arguments and its environment.
    Program,
    /// A shell, which is given a line to act on, and its environment.
    Shell,
}

/// Whether a shell reads the text of a command: it is asked for one, or starts one and gives it a line, as `sh -c` does.
fn is_for_shell(command: &Command<'_>) -> bool {
    if command.shell.is_some() && command.args.is_empty() {
        return true;
    }
    let words: Vec<String> = if command.args.is_empty() {
        let split = argv::split(&command.text.element.text(), 0);
        split.map(|argv| argv.arguments.into_iter().map(|word| word.value).collect()).unwrap_or_default()
    } else {
        command.args.iter().map(|arg| arg.element.text().trim().to_owned()).collect()
    };
    argv::shell_line(&words).and_then(|at| words.get(at)).is_some_and(|line| line.contains("{{"))
}

impl Reader {
    pub(super) fn of(task: &Task<'_>) -> Self {
        let command = |script: &Script<'_>| script.command.as_ref().is_some_and(is_for_shell);
        match task.script.as_deref() {
            None => Self::Agent,
            Some(script) if command(script) => Self::Shell,
            Some(_) => Self::Program,
        }
    }

    /// Whether it is given the texts of a role.
    pub(super) const fn is_given(self, role: Role) -> bool {
        match self {
            Self::Agent => !matches!(role, Role::Input | Role::Arg | Role::InitialValue),
            Self::Program | Self::Shell => matches!(role, Role::Command | Role::Env),
        }
    }
}

pub(super) struct Walk<'m, 'a, 'w> {
    pub(super) file: &'m File<'a>,
    /// Names that stand in what was left unread.
    pub(super) hidden: HashSet<Cow<'a, str>>,
    pub(super) env: Env<'m, 'a>,
    /// The results of steps around here that have not run, and of tasks that make inputs: those of each list from the one on that
    /// is walked, which is the innermost.
    pub(super) later: Env<'m, 'a>,
    /// What declares parameters around here, the innermost last. Empty: free variables are implicit parameters.
    pub(super) origins: Vec<Origin<'a>>,
    pub(super) owner: u32,
    /// Places in `scopes.implicit` by name.
    pub(super) implicit: HashMap<String, usize>,
    pub(super) scopes: &'w mut Scopes<'a>,
    pub(super) sources: &'w Sources<'w>,
    /// What reaches each body, by its number.
    pub(super) reach: &'w dyn Fn(u32) -> Reach,
    /// The path of the node that is walked, `/` as nothing.
    pub(super) path: String,
    /// What it could inherit.
    pub(super) around: u32,
    /// The results of the tools that it may call.
    pub(super) tools: u32,
    /// What the steps before it left that it sees.
    pub(super) before: Option<u32>,
    /// False where it is certain that the parts of the body that is walked see nothing of those before them.
    pub(super) carries: bool,
    /// Texts and tasks met so far whose variables are not to be seen from here.
    pub(super) unknown: u32,
    /// Lists of parameters around here that are damaged: nobody knows what they declare.
    pub(super) damaged: u32,
    pub(super) nearest: usize,
    /// The names that the tasks around here would bind for their rounds, had they what those are made of; the innermost last.
    pub(super) absent: Vec<(&'static RoundName, Element<'a>)>,
    /// How the agents around here are shown what they are, where somebody says it.
    pub(super) profile: Option<Profile>,
    /// Whether the texts that are walked are shown without fences.
    pub(super) is_bare: bool,
    /// The bytes that the text which was walked last comes to at least.
    pub(super) size: u64,
    /// Who reads them.
    pub(super) reader: Reader,
    pub(super) flow: Recorder<'m>,
    /// Where all names are written down, and the name that is wanted wherever others take theirs from: see [`trace`].
    pub(super) traced: Option<(&'w mut Trace, &'w str)>,
}

/// The names that elements of a definition would bind if they had not been left unread, which has been reported.
pub(super) fn hidden<'a>(file: &File<'a>, definition: &Definition<'a>) -> HashSet<Cow<'a, str>> {
    let mut names = HashSet::new();
    let mut open = file.unread_in(definition.element()).to_vec();
    while let Some(element) = open.pop() {
        // One of them may be the name, whatever the attribute is called.
        names.extend(element.attributes().map(Attribute::value));
        open.extend(element.elements());
    }
    names
}

/// Whether a name in a definition is empty, which has been reported: it may be any that is used.
pub(super) fn has_nameless_step(file: &File<'_>, definition: &Definition<'_>) -> bool {
    let whole = definition.element().span();
    file.faults
        .iter()
        .any(|fault| matches!(fault.kind, fault::FaultKind::Empty { name: "as" | "name" }) && whole.encloses(fault.span))
}
