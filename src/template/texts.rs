//! Visits every text of a task body that an agent (or a command) receives, with its role. Texts of
//! nested bodies are excluded.

use super::model::{TaskBody, TaskInput, TaskInputValue};
use super::parts::TextElement;

/// The role of a text in its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextRole {
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
pub fn visit_task_texts<'m, 'a>(
    task: &'m TaskBody<'a>,
    visit: &mut impl FnMut(TextRole, &'m TextElement<'a>),
) {
    let singles = [
        (TextRole::Description, &task.description),
        (TextRole::Instructions, &task.instructions),
        (TextRole::System, &task.system),
        (TextRole::Criteria, &task.criteria),
    ];
    for (role, text) in singles {
        if let Some(text) = text {
            visit(role, text);
        }
    }
    for text in &task.constraints {
        visit(TextRole::Constraint, text);
    }
    for input in &task.inputs {
        visit_input_text(TextRole::Input, input, visit);
    }
    if let Some(text) = task
        .files
        .as_ref()
        .and_then(|files| files.description.as_ref())
    {
        visit(TextRole::Files, text);
    }
    for example in &task.examples {
        for text in [&example.input, &example.output].into_iter().flatten() {
            visit(TextRole::Example, text);
        }
    }
    if let Some(initial) = task
        .reduce
        .as_ref()
        .and_then(|reduce| reduce.initial.as_ref())
    {
        visit_input_text(TextRole::InitialValue, initial, visit);
    }
    let Some(script) = &task.script else { return };
    if let Some(command) = &script.command {
        if command.args.is_empty() {
            visit(TextRole::Command, &command.text);
        }
        for text in &command.args {
            visit(TextRole::Command, text);
        }
    }
    for (_, text) in script.env.iter().flat_map(|env| &env.vars) {
        visit(TextRole::Env, text);
    }
}

/// Visits the text of an input, an argument or an initial value, if its value is a text.
pub fn visit_input_text<'m, 'a>(
    role: TextRole,
    input: &'m TaskInput<'a>,
    visit: &mut impl FnMut(TextRole, &'m TextElement<'a>),
) {
    if matches!(input.value, TaskInputValue::Text) {
        visit(role, &input.text);
    }
}
