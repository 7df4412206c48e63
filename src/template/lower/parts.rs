//! Lowers inputs, parameters, files, output, examples, calls and choices.

use super::attributes::{parse_boolean, trim_value};
use super::children::{KnownChild, is_blank, is_foreign};
use super::state::{Lower, is_name};
use super::text::trimmed_text;
use crate::base::number;
use crate::base::span::Span;
use crate::kernel::sampling::{Parameter as SamplingParameter, Sampling};
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::ElementKind;
use crate::template::fault::TemplateFaultKind;
use crate::template::keywords::{FileSource, Trust};
use crate::template::model::{
    BodySlot, Cond, CondCase, TaskInput, TaskInputValue, TaskStep, TemplateCall,
};
use crate::template::parts::{
    FilePaths, InputRelevance, Str, TaskExample, TaskHistory, TaskOutputFormat, TaskParameter,
    TextElement,
};
use crate::template::value_type;
use std::collections::HashMap;

/// The accepted numbers: those that are rendered exactly as written.
const NUMBER_RANGE: &str = "whole numbers from -9223372036854775808 to 18446744073709551615, or `type=\"string\"`, which is shown as it is written";

/// The values that a pipeline passes in, by the names of the parameters that receive them.
const PIPELINE_PARAMETERS: [&str; 2] = ["previous_output", "failure_history"];

impl<'a> Lower<'a> {
    pub(super) fn lower_parameters(&mut self, element: Element<'a>) -> Vec<TaskParameter<'a>> {
        let mut out: Vec<TaskParameter<'a>> = Vec::new();
        self.lower_attributes(ElementKind::Parameters, element, |_, _, _| {});
        self.lower_children(
            ElementKind::Parameters,
            element,
            |lower, KnownChild { kind, element, .. }| {
                out.push(lower.lower_parameter(kind, element));
            },
        );
        let names = out
            .iter()
            .map(|parameter| (parameter.name.as_ref(), parameter.element));
        for_each_repeat(names, |name, element, first| {
            self.report_repeated_name(ElementKind::Parameter, name, element, first);
        });
        out
    }

    fn lower_parameter(&mut self, kind: ElementKind, element: Element<'a>) -> TaskParameter<'a> {
        let mut out = TaskParameter {
            element,
            name: None,
            kind: None,
            required: None,
            default: None,
            trust: Trust::Trusted,
        };
        let mut trust = None;
        self.lower_attributes(kind, element, |_, name, value| match name {
            "name" => out.name = Some(value),
            "type" => out.kind = Some(value),
            "required" => out.required = Some(value.map(|word| word == "true")),
            "default" => out.default = Some(value),
            "trust" => trust = Trust::parse(&value.value),
            _ => {}
        });
        // A parameter with one of these names receives answers of agents.
        let is_said = out
            .name
            .as_ref()
            .is_some_and(|name| PIPELINE_PARAMETERS.contains(&&*name.value));
        out.trust = trust.unwrap_or(if is_said {
            Trust::Untrusted
        } else {
            Trust::Trusted
        });
        self.lower_children(kind, element, |_, _| {});
        self.check_name(element, out.name.as_ref());
        self.check_default(&out);
        out
    }

    /// Reports a name that no expression can refer to.
    pub(super) fn check_name(&mut self, element: Element<'a>, name: Option<&Str<'a>>) {
        let Some(name) = name else { return };
        if !is_name(&name.value) {
            self.report_unfit(
                element,
                "name",
                name,
                "a letter or `_`, then letters, digits, `_` and `-`",
            );
        }
        self.check_not_literal(element, "name", name);
    }

    /// Reports a name that is a literal: a condition, an argument or Jinja would never read the
    /// value.
    pub(super) fn check_not_literal(
        &mut self,
        element: Element<'a>,
        attribute: &'static str,
        name: &Str<'a>,
    ) {
        if ["true", "false", "none", "True", "False", "None"].contains(&&*name.value) {
            self.report_unfit(
                element,
                attribute,
                name,
                "a name that is no value of its own, as `true`, `false` and `none` are",
            );
        }
    }

    /// Reports a default that would be rejected as an argument of a run.
    fn check_default(&mut self, parameter: &TaskParameter<'a>) {
        let (Some(kind), Some(default)) = (&parameter.kind, &parameter.default) else {
            return;
        };
        if value_type::is_valid_default(&default.value, &kind.value) {
            return;
        }
        let name = "default";
        let found = default.value.to_string();
        let fault = match &*kind.value {
            "boolean" => parse_boolean(name, default).err(),
            kind if number::find_out_of_range(&found).is_some() && kind != "boolean" => {
                Some(TemplateFaultKind::BadNumber {
                    name,
                    found,
                    expected: NUMBER_RANGE,
                })
            }
            "number" => Some(TemplateFaultKind::BadNumber {
                name,
                found,
                expected: "a number, as JSON writes it",
            }),
            "integer" => Some(TemplateFaultKind::BadNumber {
                name,
                found,
                expected: "a whole number",
            }),
            "object" => Some(TemplateFaultKind::BadText {
                name,
                found,
                expected: "a JSON object, such as `{}`, for its `type`",
            }),
            "string[]" => Some(TemplateFaultKind::BadText {
                name,
                found,
                expected: "a JSON array of strings, such as `[]`, for its `type`",
            }),
            _ => Some(TemplateFaultKind::BadText {
                name,
                found,
                expected: "a JSON array, such as `[]`, for its `type`",
            }),
        };
        if let Some(fault) = fault {
            self.report_tag_fault(parameter.element, default.span, fault);
        }
    }

    pub(super) fn report_repeated_name(
        &mut self,
        kind: ElementKind,
        name: &str,
        element: Element<'a>,
        first: Span,
    ) {
        let span = element
            .attribute("name")
            .map_or(element.name_span(), Attribute::value_span);
        self.report_fault(
            element,
            span,
            TemplateFaultKind::RepeatedName {
                kind,
                name: name.to_owned(),
                first,
            },
        );
    }

    pub(super) fn lower_inputs(&mut self, element: Element<'a>) -> Vec<TaskInput<'a>> {
        let mut out: Vec<TaskInput<'a>> = Vec::new();
        self.lower_attributes(ElementKind::Inputs, element, |_, _, _| {});
        self.lower_children(
            ElementKind::Inputs,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let slot = BodySlot::Input(out.len() as u32);
                out.push(lower.lower_input(kind, element, slot));
            },
        );
        if element.elements().all(is_foreign) {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::MissingChild {
                    kind: ElementKind::Inputs,
                    child: ElementKind::Input,
                },
            );
        }
        let names = out
            .iter()
            .map(|input| (input.name.as_ref(), input.text.element));
        for_each_repeat(names, |name, element, first| {
            self.report_repeated_name(ElementKind::Input, name, element, first);
        });
        out
    }

    /// Lowers an input, a call's argument or an initial value: from a variable, a text, or the
    /// result of a task.
    pub(super) fn lower_input(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        slot: BodySlot,
    ) -> TaskInput<'a> {
        let mut text = TextElement::new(element);
        let mut name = None;
        let mut from = None;
        let mut max_tokens = None;
        let mut trust = None;
        self.lower_attributes(kind, element, |_, attribute, value| match attribute {
            "max_tokens" => max_tokens = value.value.parse().ok(),
            "name" => name = Some(value),
            "from" => from = Some(value),
            _ => {
                if attribute == "trust" {
                    trust = Trust::parse(&value.value);
                }
                text.set_attribute(attribute, value);
            }
        });
        text.trust = text.trust.at_most(self.trust);
        let mut nested = None;
        let mut uses = false;
        self.lower_children(
            kind,
            element,
            |lower, KnownChild { kind, element, .. }| match kind {
                ElementKind::Task => {
                    nested = Some(TaskInputValue::Task(Box::new(
                        lower.lower_task(kind, element, slot),
                    )));
                }
                ElementKind::Call => {
                    nested = Some(TaskInputValue::Call(Box::new(lower.lower_call(element))));
                }
                _ => {
                    uses = true;
                    lower.lower_use(kind, element);
                }
            },
        );
        let has_text = uses || text.src.is_some() || element.children().any(|node| has_words(node));
        let contents =
            usize::from(from.is_some()) + usize::from(nested.is_some()) + usize::from(has_text);
        if contents > 1 {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::TwoContents { kind },
            );
        } else if contents == 0
            && !has_value_attribute(element)
            && element.elements().all(is_foreign)
        {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::NoContent { kind },
            );
        }
        let value = match (from, nested) {
            (Some(from), _) => TaskInputValue::From(from),
            (None, Some(nested)) => nested,
            (None, None) if has_text => TaskInputValue::Text,
            (None, None) => TaskInputValue::Missing,
        };
        TaskInput {
            text,
            trust,
            name,
            value,
            max_tokens,
        }
    }

    pub(super) fn lower_relevance(&mut self, element: Element<'a>) -> Vec<InputRelevance<'a>> {
        let mut out = Vec::new();
        self.lower_attributes(ElementKind::ContextRelevance, element, |_, _, _| {});
        self.lower_children(
            ElementKind::ContextRelevance,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let mut entry = InputRelevance {
                    element,
                    name: None,
                    include: true,
                };
                lower.lower_attributes(kind, element, |_, name, value| match name {
                    "name" => entry.name = Some(value),
                    _ => entry.include = value.value != "false",
                });
                lower.lower_children(kind, element, |_, _| {});
                out.push(entry);
            },
        );
        let names = out.iter().map(|entry| (entry.name.as_ref(), entry.element));
        for_each_repeat(names, |name, element, first| {
            self.report_repeated_name(ElementKind::RelevanceInput, name, element, first);
        });
        out
    }

    pub(super) fn lower_file_paths(&mut self, element: Element<'a>) -> FilePaths<'a> {
        let (source, paths) = (FileSource::Literal, Vec::new());
        let mut out = FilePaths {
            element,
            source,
            paths,
            command: None,
            description: None,
            max_tokens: None,
        };
        self.lower_attributes(ElementKind::FilePaths, element, |_, name, value| {
            if name == "max_tokens" {
                out.max_tokens = value.value.parse().ok();
                return;
            }
            out.source = match &*value.value {
                "command" => FileSource::Command,
                "description" => FileSource::Description,
                _ => FileSource::Literal,
            };
        });
        self.lower_children(
            ElementKind::FilePaths,
            element,
            |lower, KnownChild { kind, element, .. }| match kind {
                ElementKind::Path => out.paths.extend(lower.lower_word(kind, element)),
                ElementKind::FilesCommand => out.command = lower.lower_word(kind, element),
                _ => out.description = Some(lower.lower_text(kind, element)),
            },
        );
        let (missing, child) = match out.source {
            FileSource::Literal => (!has_child(element, "path"), ElementKind::Path),
            FileSource::Command => (!has_child(element, "command"), ElementKind::FilesCommand),
            FileSource::Description => (out.description.is_none(), ElementKind::FilesDescription),
        };
        if missing {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::MissingChild {
                    kind: ElementKind::FilePaths,
                    child,
                },
            );
        } else if element.elements().any(|other| {
            ElementKind::FilePaths
                .child(other.name())
                .is_some_and(|other| other.kind != child)
        }) {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::TwoContents {
                    kind: ElementKind::FilePaths,
                },
            );
        }
        out
    }

    pub(super) fn lower_output_format(&mut self, element: Element<'a>) -> TaskOutputFormat<'a> {
        let mut out = TaskOutputFormat {
            element,
            kind: None,
            schema: None,
        };
        self.lower_attributes(
            ElementKind::OutputFormat,
            element,
            |_, name, value| match name {
                "type" => out.kind = Some(value),
                _ => out.schema = Some(value),
            },
        );
        self.lower_children(ElementKind::OutputFormat, element, |_, _| {});
        if out.schema.is_some() && out.kind.as_ref().is_some_and(|kind| kind.value == "text") {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::TwoContents {
                    kind: ElementKind::OutputFormat,
                },
            );
        }
        out
    }

    pub(super) fn lower_sampling(&mut self, element: Element<'a>) -> Sampling {
        let mut out = Sampling::new();
        self.lower_attributes(ElementKind::Sampling, element, |_, name, value| {
            let parameter = SamplingParameter::parse(name);
            out.extend(
                parameter
                    .and_then(|parameter| Some((parameter, parameter.parse_value(&value.value)?))),
            );
        });
        self.lower_children(ElementKind::Sampling, element, |_, _| {});
        out
    }

    pub(super) fn lower_history(&mut self, element: Element<'a>) -> TaskHistory {
        let mut out = TaskHistory {
            turns: None,
            max_tokens: None,
            compacted: false,
        };
        self.lower_attributes(ElementKind::History, element, |_, name, value| match name {
            "turns" => out.turns = value.value.parse().ok(),
            "max_tokens" => out.max_tokens = value.value.parse().ok(),
            _ => out.compacted = value.value == "true",
        });
        self.lower_children(ElementKind::History, element, |_, _| {});
        out
    }

    /// Lowers the examples; the second value is true if they are rendered as messages.
    pub(super) fn lower_examples(&mut self, element: Element<'a>) -> (Vec<TaskExample<'a>>, bool) {
        let mut out = Vec::new();
        let mut are_turns = false;
        self.lower_attributes(ElementKind::Examples, element, |_, _, value| {
            are_turns = value.value == "turns";
        });
        self.lower_children(
            ElementKind::Examples,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let mut example = TaskExample {
                    input: None,
                    output: None,
                };
                lower.lower_attributes(kind, element, |_, _, _| {});
                lower.lower_children(kind, element, |lower, KnownChild { kind, element, .. }| {
                    let text = Some(lower.lower_text(kind, element));
                    if kind == ElementKind::ExampleInput {
                        example.input = text;
                    } else {
                        example.output = text;
                    }
                });
                for (missing, child) in [
                    (example.input.is_none(), ElementKind::ExampleInput),
                    (example.output.is_none(), ElementKind::ExampleOutput),
                ] {
                    if missing {
                        lower.report_fault(
                            element,
                            element.name_span(),
                            TemplateFaultKind::MissingChild {
                                kind: ElementKind::Example,
                                child,
                            },
                        );
                    }
                }
                out.push(example);
            },
        );
        (out, are_turns)
    }

    pub(super) fn lower_call(&mut self, element: Element<'a>) -> TemplateCall<'a> {
        let mut out = TemplateCall {
            element,
            template: None,
            result: None,
            trust: None,
            args: Vec::new(),
        };
        self.report_unused_result(element);
        self.lower_attributes(ElementKind::Call, element, |_, name, value| match name {
            "template" => out.template = Some(value),
            "trust" => out.trust = Trust::parse(&value.value),
            _ => out.result = Some(value),
        });
        self.lower_children(
            ElementKind::Call,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let slot = BodySlot::Arg(out.args.len() as u32);
                out.args.push(lower.lower_input(kind, element, slot));
            },
        );
        out
    }

    pub(super) fn lower_cond(&mut self, element: Element<'a>) -> Cond<'a> {
        let mut out = Cond {
            element,
            result: None,
            cases: Vec::new(),
        };
        self.lower_attributes(ElementKind::Cond, element, |_, _, value| {
            out.result = Some(value);
        });
        self.lower_children(
            ElementKind::Cond,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let mut case = CondCase {
                    test: None,
                    step: None,
                };
                let slot = BodySlot::Case(out.cases.len() as u32);
                lower.lower_attributes(kind, element, |_, _, value| case.test = Some(value));
                lower.lower_children(kind, element, |lower, KnownChild { kind, element, .. }| {
                    case.step = Some(match kind {
                        ElementKind::Task => {
                            TaskStep::Task(Box::new(lower.lower_task(kind, element, slot)))
                        }
                        _ => TaskStep::Call(Box::new(lower.lower_call(element))),
                    });
                });
                if case.step.is_none() {
                    let kind = TemplateFaultKind::MissingChild {
                        kind: ElementKind::Case,
                        child: ElementKind::Task,
                    };
                    lower.report_fault(element, element.name_span(), kind);
                }
                out.cases.push(case);
            },
        );
        if out.cases.is_empty() {
            self.report_fault(
                element,
                element.name_span(),
                TemplateFaultKind::MissingChild {
                    kind: ElementKind::Cond,
                    child: ElementKind::Case,
                },
            );
        }
        out
    }

    /// Lowers `model`: its text, or `preferred` and `fallback`.
    pub(super) fn lower_model(
        &mut self,
        element: Element<'a>,
    ) -> (Option<Str<'a>>, Option<Str<'a>>) {
        let mut preferred = None;
        let mut fallback = None;
        self.lower_attributes(ElementKind::Model, element, |_, _, _| {});
        self.lower_children(
            ElementKind::Model,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let word = lower.lower_word(kind, element);
                if kind == ElementKind::Preferred {
                    preferred = word;
                } else {
                    fallback = word;
                }
            },
        );
        if preferred.is_some() || fallback.is_some() {
            if element.children().any(has_words) {
                self.report_fault(
                    element,
                    element.name_span(),
                    TemplateFaultKind::TwoContents {
                        kind: ElementKind::Model,
                    },
                );
            }
            return (preferred, fallback);
        }
        if is_blank(element) {
            // Its children, written as attributes, have been reported as such.
            if !["preferred", "fallback"]
                .iter()
                .any(|name| element.attribute(name).is_some())
            {
                self.report_fault(
                    element,
                    element.span(),
                    TemplateFaultKind::Empty { name: "model" },
                );
            }
            return (None, None);
        }
        (
            Some(trimmed_text(element)).filter(|word| !word.value.is_empty()),
            None,
        )
    }

    /// Lowers the number in an element, with its span.
    pub(super) fn lower_number<T: std::str::FromStr>(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        expected: &'static str,
    ) -> Option<(T, Span)> {
        let word = self.lower_word_content(kind, element)?;
        if let Ok(number) = word.value.parse() {
            return Some((number, word.span));
        }
        let found = word.value.into_owned();
        self.report_fault(
            element,
            word.span,
            TemplateFaultKind::BadNumber {
                name: kind.tag(),
                found,
                expected,
            },
        );
        None
    }
}

/// True if an element has an attribute that names the source of its value. An empty attribute is
/// reported separately.
fn has_value_attribute(element: Element<'_>) -> bool {
    ["from", "src"]
        .iter()
        .any(|name| element.attribute(name).is_some())
}

/// True if a node is text that contains more than white space.
pub(super) fn has_words(node: crate::syntax::tree::XmlNode<'_>) -> bool {
    use crate::syntax::tree::NodeKind as Node;
    matches!(node.kind(), Node::Text | Node::Cdata)
        && !node.is_blank()
        && !trim_value(node.text(), node.inner()).value.is_empty()
}

/// The number of names up to which each pair is compared directly.
const MAX_COMPARED_NAMES: usize = 16;

/// Calls `report` for each entry with the name of an earlier one: the name, the data of the later
/// entry, the span of the first name.
pub(super) fn for_each_repeat<'n, 'a: 'n, T>(
    entries: impl Iterator<Item = (Option<&'n Str<'a>>, T)>,
    mut report: impl FnMut(&str, T, Span),
) {
    let mut few: [Option<&Str<'_>>; MAX_COMPARED_NAMES] = [None; MAX_COMPARED_NAMES];
    let mut many: HashMap<&str, Span> = HashMap::new();
    let mut count = 0;
    for (name, with) in entries {
        let Some(name) = name else { continue };
        let known = few
            .iter()
            .take(count.min(MAX_COMPARED_NAMES))
            .flatten()
            .find(|known| known.value == name.value);
        if let Some(first) = known
            .map(|known| known.span)
            .or_else(|| many.get(&*name.value).copied())
        {
            report(&name.value, with, first);
            continue;
        }
        match few.get_mut(count) {
            Some(slot) => *slot = Some(name),
            None => drop(many.insert(&name.value, name.span)),
        }
        count += 1;
    }
}

fn has_child(element: Element<'_>, tag: &str) -> bool {
    element
        .elements()
        .any(|child| child.namespace().is_none() && child.name() == tag)
}
