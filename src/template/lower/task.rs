//! Lowers task bodies: `<task>`, and the children of one in place.

use super::calls::calls;
use super::children::{FEW, Found, is_blank, is_foreign};
use super::parts::{has_words, repeats};
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::{Kind, Of};
use crate::template::fault::FaultKind;
use crate::template::keywords::Trust;
use crate::template::model::{Cycle, Reduce, Step};
use crate::template::model::{Slot, Task};
use crate::template::parts::{Command, Env, Script, Text};
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
pub(super) static TYPES: &[&str] = &[
    "atomic",
    "sequential",
    "reduce",
    "script",
    "director_evaluator_loop",
];

impl<'a> Lower<'a> {
    /// Lowers a task body in its slot.
    pub(super) fn task(&mut self, kind: Kind, element: Element<'a>, slot: Slot) -> Task<'a> {
        let foreign = std::mem::take(&mut self.foreign);
        let mut out = Task::new(element, self.bodies, slot);
        self.bodies += 1;
        self.task_attributes(kind, element, &mut out);
        self.children(kind, element, |lower, found| {
            lower.task_child(kind, found, &mut out);
        });
        self.unused_result(element);
        if out.reference.is_some() {
            let of_its_own: &[&str] = if slot == Slot::Root {
                &["type", "subtype", "profile"]
            } else {
                &["type", "subtype", "name", "version", "profile"]
            };
            for name in of_its_own {
                self.idle(
                    element,
                    name,
                    "the task that `ref` names is used as it is registered",
                );
            }
            self.reference_alone(element);
        }
        out.calls = calls(&out);
        out.extensions = std::mem::replace(&mut self.foreign, foreign);
        out
    }

    fn task_attributes(&mut self, kind: Kind, element: Element<'a>, out: &mut Task<'a>) {
        if kind != Kind::Task {
            self.attributes(kind, element, |_, _, _| {});
            if kind == Kind::ScriptExecution {
                out.operator = Some(Spanned::new(Cow::Borrowed("script"), element.name_span()));
            }
            return;
        }
        self.attributes(kind, element, |_, name, value| match name {
            "type" => out.operator = Some(value),
            "subtype" => out.subtype = Some(value),
            "name" => out.name = Some(value),
            "version" => out.version = Some(value),
            "ref" => out.reference = Some(value),
            "profile" => out.profile = Profile::parse(&value.value),
            "trust" => out.trust = Trust::of(&value.value),
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
        self.fault(
            element,
            span,
            FaultKind::LegacyType {
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

    fn task_child(&mut self, parent: Kind, found: Found<'a>, out: &mut Task<'a>) {
        let Found {
            kind,
            element,
            child,
        } = found;
        if kind == Kind::Task {
            return self.nested(parent, element, out);
        }
        if kind.spec().deprecated.is_some() {
            self.fault(element, element.name_span(), FaultKind::Deprecated { kind });
            return out.deprecated.push((kind, element));
        }
        if let Of::Type(of) = child.of {
            self.belongs(kind, element, of, out);
            return self.typed_child(kind, element, out);
        }
        match kind {
            Kind::Description => out.description = Some(self.text(kind, element)),
            Kind::Instructions => out.instructions = Some(self.text(kind, element)),
            Kind::System => out.system = Some(self.text(kind, element)),
            Kind::Criteria => out.criteria = Some(self.text(kind, element)),
            Kind::Constraints => {
                self.attributes(kind, element, |_, _, _| {});
                self.children(kind, element, |lower, Found { kind, element, .. }| {
                    out.constraints.push(lower.text(kind, element));
                });
            }
            Kind::Provider => out.provider = self.word(kind, element),
            Kind::Model => (out.model, out.fallback) = self.model(element),
            Kind::Parameters => {
                out.parameters_element = Some(element);
                out.parameters = self.parameters(element);
            }
            Kind::Inputs => out.inputs = self.inputs(element),
            // A wrapped task already has settings of its own.
            Kind::ContextManagement if out.settings.is_some() => {
                self.repeated(kind, out.element, element);
            }
            Kind::ContextManagement => out.settings = Some(self.settings(element)),
            Kind::ContextRelevance => out.relevance = self.relevance(element),
            Kind::FilePaths => out.files = Some(self.file_paths(element)),
            Kind::OutputFormat => out.output = Some(self.output_format(element)),
            Kind::Sampling => out.sampling = self.sampling(element),
            Kind::History => out.history = Some(self.history(element)),
            Kind::Examples => (out.examples, out.examples_as_turns) = self.examples(element),
            _ => {}
        }
    }

    /// Handles a task directly in a body: in a part, it is the part's body wrapped once more;
    /// elsewhere it belongs in `steps`.
    fn nested(&mut self, parent: Kind, element: Element<'a>, out: &mut Task<'a>) {
        let alone = out.description.is_none()
            && out.instructions.is_none()
            && out.inputs.is_empty()
            && out.settings.is_none();
        if parent == Kind::Task || !alone {
            return self.unknown(parent, out.element, element);
        }
        self.fault(
            element,
            element.name_span(),
            FaultKind::NestedBody { part: parent },
        );
        let number = out.body;
        let inner = self.task(Kind::Task, element, out.slot);
        // The wrapped task becomes the body; it retains its own number, which is the later one.
        let slot = out.slot;
        *out = inner;
        out.slot = slot;
        out.body = out.body.max(number);
    }

    fn belongs(&mut self, kind: Kind, element: Element<'a>, of: &'static str, out: &Task<'a>) {
        let found = out.operator.as_ref().map(|operator| &*operator.value);
        if found.unwrap_or("atomic") == of {
            return;
        }
        // Only the project can resolve the base of a type that is none of the language: the rule
        // decides.
        let found = found.map(|found| {
            TYPES
                .iter()
                .copied()
                .find(|known| *known == found)
                .unwrap_or("")
        });
        let kind = FaultKind::WrongType {
            kind,
            of: Of::Type(of),
            found,
        };
        self.fault(element, element.name_span(), kind);
    }

    fn typed_child(&mut self, kind: Kind, element: Element<'a>, out: &mut Task<'a>) {
        match kind {
            Kind::Steps => {
                out.steps_element = Some(element);
                out.steps = self.steps(element);
            }
            Kind::InitialValue => reduce(out).initial = Some(self.input(kind, element, Slot::Root)),
            Kind::InnerTask => reduce(out).inner = Some(self.task(kind, element, Slot::InnerTask)),
            Kind::ReductionTask => {
                reduce(out).reduction = Some(self.task(kind, element, Slot::ReductionTask));
            }
            Kind::Command => script(out).command = Some(self.command(element)),
            Kind::Timeout => script(out).timeout_ms = self.timeout(element),
            Kind::Env => script(out).env = Some(self.env(element)),
            Kind::Cwd => {
                let cwd = self.word(kind, element);
                if let Some(cwd) = cwd.as_ref().filter(|cwd| cwd.value.starts_with('/')) {
                    self.unfit(element, "cwd", cwd, "a folder relative to the project");
                }
                script(out).cwd = cwd;
            }
            Kind::Director => cycle(out).director = Some(self.task(kind, element, Slot::Director)),
            Kind::Evaluator => {
                cycle(out).evaluator = Some(self.task(kind, element, Slot::Evaluator));
            }
            Kind::ScriptExecution => {
                cycle(out).script = Some(self.task(kind, element, Slot::ScriptExecution));
            }
            Kind::MaxIterations => {
                self.attributes(kind, element, |_, _, _| {});
                let number =
                    self.number::<std::num::NonZeroU32>(kind, element, "a whole number from 1");
                cycle(out).max_iterations =
                    number.map(|(number, span)| Spanned::new(number.get(), span));
            }
            Kind::TerminationCondition => {
                self.attributes(kind, element, |_, _, _| {});
                let slot = cycle(out);
                self.children(kind, element, |lower, Found { kind, element, .. }| {
                    slot.condition = lower.word(kind, element);
                });
                if !element.elements().any(|child| child.name() == "condition") {
                    self.fault(
                        element,
                        element.name_span(),
                        FaultKind::MissingChild {
                            kind,
                            child: Kind::Condition,
                        },
                    );
                }
            }
            _ => {}
        }
    }

    fn steps(&mut self, element: Element<'a>) -> Vec<Step<'a>> {
        let mut out = Vec::new();
        self.attributes(Kind::Steps, element, |_, _, _| {});
        self.children(
            Kind::Steps,
            element,
            |lower, Found { kind, element, .. }| {
                let slot = Slot::Step(out.len() as u32);
                out.push(match kind {
                    Kind::Call => Step::Call(Box::new(lower.call(element))),
                    Kind::Cond => Step::Cond(Box::new(lower.cond(element))),
                    _ => Step::Task(Box::new(lower.task(kind, element, slot))),
                });
            },
        );
        repeats(out.iter().map(Step::result), |name, element, first| {
            self.repeated_result(name, element, first);
        });
        if out.is_empty() {
            self.fault(
                element,
                element.name_span(),
                FaultKind::MissingChild {
                    kind: Kind::Steps,
                    child: Kind::Task,
                },
            );
        }
        out
    }

    fn repeated_result(&mut self, name: &str, element: Element<'a>, first: Span) {
        let span = element
            .attribute("as")
            .map_or(element.name_span(), Attribute::value_span);
        self.fault(
            element,
            span,
            FaultKind::RepeatedName {
                kind: Kind::Steps,
                name: name.to_owned(),
                first,
            },
        );
    }

    fn command(&mut self, element: Element<'a>) -> Command<'a> {
        let mut out = Command {
            text: Text::new(element),
            shell: None,
            args: Vec::new(),
        };
        self.attributes(Kind::Command, element, |_, name, value| match name {
            "shell" => out.shell = Some(value),
            _ => out.text.set(name, value),
        });
        self.children(
            Kind::Command,
            element,
            |lower, Found { kind, element, .. }| out.args.push(lower.text(kind, element)),
        );
        let words = element.children().any(has_words);
        if !out.args.is_empty() && (words || out.text.src.is_some()) {
            self.fault(
                element,
                element.name_span(),
                FaultKind::TwoContents {
                    kind: Kind::Command,
                },
            );
        }
        if let Some(program) = out
            .args
            .first()
            .filter(|first| first.src.is_none() && is_blank(first.element))
        {
            self.fault(
                program.element,
                program.element.span(),
                FaultKind::Empty { name: "arg" },
            );
        }
        if out.args.is_empty() && !words && out.text.src.is_none() {
            self.fault(
                element,
                element.span(),
                FaultKind::Empty { name: "command" },
            );
        }
        out
    }

    fn timeout(&mut self, element: Element<'a>) -> Option<Spanned<u64>> {
        let mut factor = 1_000;
        self.attributes(Kind::Timeout, element, |_, _, unit| {
            factor = if unit.value == "ms" { 1 } else { 1_000 }
        });
        let (number, span) =
            self.number::<std::num::NonZeroU32>(Kind::Timeout, element, "a whole number from 1")?;
        Some(Spanned::new(u64::from(number.get()) * factor, span))
    }

    fn env(&mut self, element: Element<'a>) -> Env<'a> {
        let mut out = Env {
            inherit: None,
            vars: Vec::new(),
        };
        self.attributes(Kind::Env, element, |_, _, value| out.inherit = Some(value));
        self.children(Kind::Env, element, |lower, Found { kind, element, .. }| {
            let mut text = Text::new(element);
            let mut name = None;
            lower.attributes(kind, element, |_, attribute, value| match attribute {
                "name" => name = Some(value),
                _ => text.set(attribute, value),
            });
            lower.text_content(kind, element, text.src.is_some());
            if let Some(name) = name
                .as_ref()
                .filter(|name| name.value.contains(|c: char| c == '=' || c.is_whitespace()))
            {
                lower.unfit(element, "name", name, "a name without `=` and blanks");
            }
            out.vars.push((name, text));
        });
        let names = out
            .vars
            .iter()
            .map(|(name, text)| (name.as_ref(), text.element));
        repeats(names, |name, element, first| {
            self.repeated_name(Kind::Var, name, element, first);
        });
        out
    }

    /// Reports a body in `<task ref="…">`, which uses a registered task unchanged.
    fn reference_alone(&mut self, element: Element<'a>) {
        if let Some(child) = element.elements().find(|child| !is_foreign(*child)) {
            self.fault(element, child.name_span(), FaultKind::RefWithBody { child });
        }
    }

    /// Reports a setting that stands directly in a task.
    pub(super) fn misplaced_setting(
        &mut self,
        task: Element<'a>,
        found: Element<'a>,
    ) -> Option<()> {
        let setting = SettingName::parse(found.name())?;
        let block = task
            .elements()
            .take(FEW)
            .find(|child| child.namespace().is_none() && child.name() == "context_management");
        self.fault(
            found,
            found.name_span(),
            FaultKind::MisplacedSetting {
                setting,
                block,
                task,
            },
        );
        Some(())
    }
}

fn reduce<'t, 'a>(task: &'t mut Task<'a>) -> &'t mut Reduce<'a> {
    task.reduce.get_or_insert_default()
}

fn script<'t, 'a>(task: &'t mut Task<'a>) -> &'t mut Script<'a> {
    task.script.get_or_insert_default()
}

fn cycle<'t, 'a>(task: &'t mut Task<'a>) -> &'t mut Cycle<'a> {
    task.cycle.get_or_insert_default()
}
