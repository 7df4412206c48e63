//! Lowers task bodies: `<task>`, and the children of one in place.

use super::calls::collect_calls;
use super::children::{KnownChild, MAX_SIBLINGS, is_blank, is_foreign};
use super::parts::{for_each_repeat, has_words};
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::{ElementKind, OwnerType};
use crate::template::fault::TemplateFaultKind;
use crate::template::keywords::Trust;
use crate::template::model::{BodySlot, DirectorLoop, Reduce, TaskBody, TaskStep};
use crate::template::parts::{ScriptCommand, ScriptEnv, TaskScript, TextElement};
use crate::template::setting::{SettingName, Word};
use std::borrow::Cow;

/// Types of older dialects: the type as written, the modern type, the subtype that is set with it.
static LEGACY_TYPES: &[(&str, &str, Option<&str>)] = &[
    ("map", "sequential", None),
    ("director", "atomic", Some("director")),
    ("evaluator", "atomic", Some("evaluator")),
];

/// Returns the modern type of an older one, and the subtype that is set with it.
pub fn legacy_type(name: &str) -> Option<(&'static str, Option<&'static str>)> {
    LEGACY_TYPES
        .iter()
        .find(|(old, ..)| *old == name)
        .map(|(_, modern, subtype)| (*modern, *subtype))
}

/// The types of the language.
pub(super) static TASK_TYPES: &[&str] = &[
    "atomic",
    "sequential",
    "reduce",
    "script",
    "director_evaluator_loop",
];

impl<'a> Lower<'a> {
    /// Lowers a task body in its slot.
    pub(super) fn lower_task(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        slot: BodySlot,
    ) -> TaskBody<'a> {
        let foreign = std::mem::take(&mut self.foreign);
        let mut out = TaskBody::new(element, self.bodies, slot);
        self.bodies += 1;
        self.lower_task_attributes(kind, element, &mut out);
        self.lower_children(kind, element, |lower, found| {
            lower.lower_task_child(kind, found, &mut out);
        });
        self.report_unused_result(element);
        if out.reference.is_some() {
            let of_its_own: &[&str] = if slot == BodySlot::Root {
                &["type", "subtype", "profile"]
            } else {
                &["type", "subtype", "name", "version", "profile"]
            };
            for name in of_its_own {
                self.report_idle(
                    element,
                    name,
                    "the task that `ref` names is used as it is registered",
                );
            }
            self.report_reference_body(element);
        }
        out.calls = collect_calls(&out);
        out.extensions = std::mem::replace(&mut self.foreign, foreign);
        out
    }

    fn lower_task_attributes(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        out: &mut TaskBody<'a>,
    ) {
        if kind != ElementKind::Task {
            self.lower_attributes(kind, element, |_, _, _| {});
            if kind == ElementKind::ScriptExecution {
                out.operator = Some(Spanned::new(Cow::Borrowed("script"), element.name_span()));
            }
            return;
        }
        self.lower_attributes(kind, element, |_, name, value| match name {
            "type" => out.operator = Some(value),
            "subtype" => out.subtype = Some(value),
            "name" => out.name = Some(value),
            "version" => out.version = Some(value),
            "ref" => out.reference = Some(value),
            "profile" => out.profile = Profile::parse(&value.value),
            "trust" => out.trust = Trust::parse(&value.value),
            _ => out.result = Some(value),
        });
        let Some(written) = &out.operator else { return };
        let Some((found, modern, subtype)) = LEGACY_TYPES
            .iter()
            .find(|(old, _, _)| *old == written.value)
        else {
            return;
        };
        let span = written.span;
        self.report_fault(
            element,
            span,
            TemplateFaultKind::LegacyType {
                found,
                modern,
                subtype: *subtype,
            },
        );
        out.operator = Some(Spanned::new(Cow::Borrowed(*modern), span));
        if let (None, Some(subtype)) = (&out.subtype, subtype) {
            out.subtype = Some(Spanned::new(Cow::Borrowed(*subtype), span));
        }
    }

    fn lower_task_child(
        &mut self,
        parent: ElementKind,
        found: KnownChild<'a>,
        out: &mut TaskBody<'a>,
    ) {
        let KnownChild {
            kind,
            element,
            child,
        } = found;
        if kind == ElementKind::Task {
            return self.lower_nested_task(parent, element, out);
        }
        if kind.spec().deprecated.is_some() {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::Deprecated { kind },
            );
            return out.deprecated.push((kind, element));
        }
        if let OwnerType::Type(of) = child.owner {
            self.check_task_type(kind, element, of, out);
            return self.lower_typed_child(kind, element, out);
        }
        match kind {
            ElementKind::Description => out.description = Some(self.lower_text(kind, element)),
            ElementKind::Instructions => out.instructions = Some(self.lower_text(kind, element)),
            ElementKind::System => out.system = Some(self.lower_text(kind, element)),
            ElementKind::Criteria => out.criteria = Some(self.lower_text(kind, element)),
            ElementKind::Constraints => {
                self.lower_attributes(kind, element, |_, _, _| {});
                self.lower_children(kind, element, |lower, KnownChild { kind, element, .. }| {
                    out.constraints.push(lower.lower_text(kind, element));
                });
            }
            ElementKind::Provider => out.provider = self.lower_word(kind, element),
            ElementKind::Model => (out.model, out.fallback) = self.lower_model(element),
            ElementKind::Parameters => {
                out.parameters_element = Some(element);
                out.parameters = self.lower_parameters(element);
            }
            ElementKind::Inputs => out.inputs = self.lower_inputs(element),
            // A wrapped task already has settings of its own.
            ElementKind::ContextManagement if out.settings.is_some() => {
                self.report_repeated(kind, out.element, element);
            }
            ElementKind::ContextManagement => out.settings = Some(self.lower_settings(element)),
            ElementKind::ContextRelevance => out.relevance = self.lower_relevance(element),
            ElementKind::FilePaths => out.files = Some(self.lower_file_paths(element)),
            ElementKind::OutputFormat => out.output = Some(self.lower_output_format(element)),
            ElementKind::Sampling => out.sampling = self.lower_sampling(element),
            ElementKind::History => out.history = Some(self.lower_history(element)),
            ElementKind::Examples => {
                (out.examples, out.examples_as_turns) = self.lower_examples(element);
            }
            _ => {}
        }
    }

    /// Handles a task directly in a body: in a part, it is the part's body wrapped once more;
    /// elsewhere it belongs in `steps`.
    fn lower_nested_task(
        &mut self,
        parent: ElementKind,
        element: Element<'a>,
        out: &mut TaskBody<'a>,
    ) {
        let alone = out.description.is_none()
            && out.instructions.is_none()
            && out.inputs.is_empty()
            && out.settings.is_none();
        if parent == ElementKind::Task || !alone {
            return self.report_unknown(parent, out.element, element);
        }
        self.report_fault(
            element,
            element.name_span(),
            TemplateFaultKind::NestedBody { part: parent },
        );
        let number = out.body;
        let inner = self.lower_task(ElementKind::Task, element, out.slot);
        // The wrapped task becomes the body; it retains its own number, which is the later one.
        let slot = out.slot;
        *out = inner;
        out.slot = slot;
        out.body = out.body.max(number);
    }

    fn check_task_type(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        of: &'static str,
        out: &TaskBody<'a>,
    ) {
        let found = out.operator.as_ref().map(|operator| &*operator.value);
        if found.unwrap_or("atomic") == of {
            return;
        }
        // Only the project can resolve the base of a type that is none of the language: the rule
        // decides.
        let found = found.map(|found| {
            TASK_TYPES
                .iter()
                .copied()
                .find(|known| *known == found)
                .unwrap_or("")
        });
        let kind = TemplateFaultKind::WrongType {
            kind,
            of: OwnerType::Type(of),
            found,
        };
        self.report_fault(element, element.name_span(), kind);
    }

    fn lower_typed_child(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        out: &mut TaskBody<'a>,
    ) {
        match kind {
            ElementKind::Steps => {
                out.steps_element = Some(element);
                out.steps = self.lower_steps(element);
            }
            ElementKind::InitialValue => {
                reduce_parts(out).initial = Some(self.lower_input(kind, element, BodySlot::Root));
            }
            ElementKind::InnerTask => {
                reduce_parts(out).inner = Some(self.lower_task(kind, element, BodySlot::InnerTask));
            }
            ElementKind::ReductionTask => {
                reduce_parts(out).reduction =
                    Some(self.lower_task(kind, element, BodySlot::ReductionTask));
            }
            ElementKind::Command => script_parts(out).command = Some(self.lower_command(element)),
            ElementKind::Timeout => script_parts(out).timeout_ms = self.lower_timeout(element),
            ElementKind::Env => script_parts(out).env = Some(self.lower_env(element)),
            ElementKind::Cwd => {
                let cwd = self.lower_word(kind, element);
                if let Some(cwd) = cwd.as_ref().filter(|cwd| cwd.value.starts_with('/')) {
                    self.report_unfit(element, "cwd", cwd, "a folder relative to the project");
                }
                script_parts(out).cwd = cwd;
            }
            ElementKind::Director => {
                director_loop(out).director =
                    Some(self.lower_task(kind, element, BodySlot::Director));
            }
            ElementKind::Evaluator => {
                director_loop(out).evaluator =
                    Some(self.lower_task(kind, element, BodySlot::Evaluator));
            }
            ElementKind::ScriptExecution => {
                director_loop(out).script =
                    Some(self.lower_task(kind, element, BodySlot::ScriptExecution));
            }
            ElementKind::MaxIterations => {
                self.lower_attributes(kind, element, |_, _, _| {});
                let number = self.lower_number::<std::num::NonZeroU32>(
                    kind,
                    element,
                    "a whole number from 1",
                );
                director_loop(out).max_iterations =
                    number.map(|(number, span)| Spanned::new(number.get(), span));
            }
            ElementKind::TerminationCondition => {
                self.lower_attributes(kind, element, |_, _, _| {});
                let slot = director_loop(out);
                self.lower_children(kind, element, |lower, KnownChild { kind, element, .. }| {
                    slot.condition = lower.lower_word(kind, element);
                });
                if !element.elements().any(|child| child.name() == "condition") {
                    self.report_fault(
                        element,
                        element.name_span(),
                        TemplateFaultKind::MissingChild {
                            kind,
                            child: ElementKind::Condition,
                        },
                    );
                }
            }
            _ => {}
        }
    }

    fn lower_steps(&mut self, element: Element<'a>) -> Vec<TaskStep<'a>> {
        let mut out = Vec::new();
        self.lower_attributes(ElementKind::Steps, element, |_, _, _| {});
        self.lower_children(
            ElementKind::Steps,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let slot = BodySlot::Step(out.len() as u32);
                out.push(match kind {
                    ElementKind::Call => TaskStep::Call(Box::new(lower.lower_call(element))),
                    ElementKind::Cond => TaskStep::Cond(Box::new(lower.lower_cond(element))),
                    _ => TaskStep::Task(Box::new(lower.lower_task(kind, element, slot))),
                });
            },
        );
        for_each_repeat(out.iter().map(TaskStep::result), |name, element, first| {
            self.report_repeated_result(name, element, first);
        });
        if out.is_empty() {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::MissingChild {
                    kind: ElementKind::Steps,
                    child: ElementKind::Task,
                },
            );
        }
        out
    }

    fn report_repeated_result(&mut self, name: &str, element: Element<'a>, first: Span) {
        let span = element
            .attribute("as")
            .map_or(element.name_span(), Attribute::value_span);
        self.report_fault(
            element,
            span,
            TemplateFaultKind::RepeatedName {
                kind: ElementKind::Steps,
                name: name.to_owned(),
                first,
            },
        );
    }

    fn lower_command(&mut self, element: Element<'a>) -> ScriptCommand<'a> {
        let mut out = ScriptCommand {
            text: TextElement::new(element),
            shell: None,
            args: Vec::new(),
        };
        self.lower_attributes(ElementKind::Command, element, |_, name, value| match name {
            "shell" => out.shell = Some(value),
            _ => out.text.set_attribute(name, value),
        });
        self.lower_children(
            ElementKind::Command,
            element,
            |lower, KnownChild { kind, element, .. }| {
                out.args.push(lower.lower_text(kind, element));
            },
        );
        let words = element.children().any(has_words);
        if !out.args.is_empty() && (words || out.text.src.is_some()) {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::TwoContents {
                    kind: ElementKind::Command,
                },
            );
        }
        if let Some(program) = out
            .args
            .first()
            .filter(|first| first.src.is_none() && is_blank(first.element))
        {
            self.report_fault(
                program.element,
                program.element.span(),
                TemplateFaultKind::Empty { name: "arg" },
            );
        }
        if out.args.is_empty() && !words && out.text.src.is_none() {
            self.report_fault(
                element,
                element.span(),
                TemplateFaultKind::Empty { name: "command" },
            );
        }
        out
    }

    fn lower_timeout(&mut self, element: Element<'a>) -> Option<Spanned<u64>> {
        let mut factor = 1_000;
        self.lower_attributes(ElementKind::Timeout, element, |_, _, unit| {
            factor = if unit.value == "ms" { 1 } else { 1_000 }
        });
        let (number, span) = self.lower_number::<std::num::NonZeroU32>(
            ElementKind::Timeout,
            element,
            "a whole number from 1",
        )?;
        Some(Spanned::new(u64::from(number.get()) * factor, span))
    }

    fn lower_env(&mut self, element: Element<'a>) -> ScriptEnv<'a> {
        let mut out = ScriptEnv {
            inherit: None,
            vars: Vec::new(),
        };
        self.lower_attributes(ElementKind::Env, element, |_, _, value| {
            out.inherit = Some(value);
        });
        self.lower_children(
            ElementKind::Env,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let mut text = TextElement::new(element);
                let mut name = None;
                lower.lower_attributes(kind, element, |_, attribute, value| match attribute {
                    "name" => name = Some(value),
                    _ => text.set_attribute(attribute, value),
                });
                lower.check_text_content(kind, element, text.src.is_some());
                if let Some(name) = name
                    .as_ref()
                    .filter(|name| name.value.contains(|c: char| c == '=' || c.is_whitespace()))
                {
                    lower.report_unfit(element, "name", name, "a name without `=` and blanks");
                }
                out.vars.push((name, text));
            },
        );
        let names = out
            .vars
            .iter()
            .map(|(name, text)| (name.as_ref(), text.element));
        for_each_repeat(names, |name, element, first| {
            self.report_repeated_name(ElementKind::Var, name, element, first);
        });
        out
    }

    /// Reports a body in `<task ref="…">`, which uses a registered task unchanged.
    fn report_reference_body(&mut self, element: Element<'a>) {
        if let Some(child) = element.elements().find(|child| !is_foreign(*child)) {
            self.report_fault(
                element,
                child.name_span(),
                TemplateFaultKind::RefWithBody { child },
            );
        }
    }

    /// Reports a setting that stands directly in a task.
    pub(super) fn report_misplaced_setting(
        &mut self,
        task: Element<'a>,
        found: Element<'a>,
    ) -> Option<()> {
        let setting = SettingName::parse(found.name())?;
        let block = task
            .elements()
            .take(MAX_SIBLINGS)
            .find(|child| child.namespace().is_none() && child.name() == "context_management");
        self.report_fault(
            found,
            found.name_span(),
            TemplateFaultKind::MisplacedSetting {
                setting,
                block,
                task,
            },
        );
        Some(())
    }
}

fn reduce_parts<'t, 'a>(task: &'t mut TaskBody<'a>) -> &'t mut Reduce<'a> {
    task.reduce.get_or_insert_default()
}

fn script_parts<'t, 'a>(task: &'t mut TaskBody<'a>) -> &'t mut TaskScript<'a> {
    task.script.get_or_insert_default()
}

/// Returns the director loop of a task, created on first use.
fn director_loop<'t, 'a>(task: &'t mut TaskBody<'a>) -> &'t mut DirectorLoop<'a> {
    task.cycle.get_or_insert_default()
}
