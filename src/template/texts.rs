//! Visits every text of a task body that an agent (or a command) receives, with its role. Texts of
//! nested bodies are excluded.

use super::model::Task;
use super::model::{Input, Value};
use super::parts::Text;

/// The role of a text in its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `description`.
    Description,
    /// `instructions`.
    Instructions,
    /// `system`.
    System,
    /// `criteria`.
    Criteria,
    /// `constraints/constraint`.
    Constraint,
    /// `inputs/input`.
    Input,
    /// `file_paths/description`.
    Files,
    /// `examples/example/input` and `output`.
    Example,
    /// `initial_value`.
    InitialValue,
    /// `command` or one of its `arg`s.
    Command,
    /// `env/var`.
    Env,
    /// `call/arg`.
    Arg,
    /// The text of a `fragment`.
    Fragment,
}

/// Visits the texts of a body, in the order of the table of elements.
pub fn of_task<'m, 'a>(task: &'m Task<'a>, visit: &mut impl FnMut(Role, &'m Text<'a>)) {
    let singles = [
        (Role::Description, &task.description),
        (Role::Instructions, &task.instructions),
        (Role::System, &task.system),
        (Role::Criteria, &task.criteria),
    ];
    for (role, text) in singles {
        if let Some(text) = text {
            visit(role, text);
        }
    }
    for text in &task.constraints {
        visit(Role::Constraint, text);
    }
    for input in &task.inputs {
        of_input(Role::Input, input, visit);
    }
    if let Some(text) = task
        .files
        .as_ref()
        .and_then(|files| files.description.as_ref())
    {
        visit(Role::Files, text);
    }
    for example in &task.examples {
        for text in [&example.input, &example.output].into_iter().flatten() {
            visit(Role::Example, text);
        }
    }
    if let Some(initial) = task
        .reduce
        .as_ref()
        .and_then(|reduce| reduce.initial.as_ref())
    {
        of_input(Role::InitialValue, initial, visit);
    }
    let Some(script) = &task.script else { return };
    if let Some(command) = &script.command {
        if command.args.is_empty() {
            visit(Role::Command, &command.text);
        }
        for text in &command.args {
            visit(Role::Command, text);
        }
    }
    for (_, text) in script.env.iter().flat_map(|env| &env.vars) {
        visit(Role::Env, text);
    }
}

/// Visits the text of an input, an argument or an initial value, if its value is a text.
pub fn of_input<'m, 'a>(
    role: Role,
    input: &'m Input<'a>,
    visit: &mut impl FnMut(Role, &'m Text<'a>),
) {
    if matches!(input.value, Value::Text) {
        visit(role, &input.text);
    }
}
