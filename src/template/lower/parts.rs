//! Lowers inputs, parameters, files, output, examples, calls and choices.

use super::attributes::{boolean, trimmed};
use super::children::{Found, is_blank, is_foreign};
use super::state::{Lower, is_name};
use super::text::word_of;
use crate::base::number;
use crate::base::span::Span;
use crate::kernel::sampling::{Parameter as SamplingParameter, Sampling};
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::Kind;
use crate::template::fault::FaultKind;
use crate::template::keywords::{FileSource, Trust};
use crate::template::model::Slot;
use crate::template::model::{Call, Case, Cond, Input, Step, Value};
use crate::template::parts::{
    Example, FilePaths, History, OutputFormat, Parameter, Relevance, Str, Text,
};
use crate::template::value_type;
use std::collections::HashMap;

/// The accepted numbers: those that are rendered exactly as written.
const BEYOND: &str = "whole numbers from -9223372036854775808 to 18446744073709551615, or `type=\"string\"`, which is shown as it is written";

/// The values that a pipeline passes in, by the names of the parameters that receive them.
const HANDED_IN: [&str; 2] = ["previous_output", "failure_history"];

impl<'a> Lower<'a> {
    pub(super) fn parameters(&mut self, element: Element<'a>) -> Vec<Parameter<'a>> {
        let mut out: Vec<Parameter<'a>> = Vec::new();
        self.attributes(Kind::Parameters, element, |_, _, _| {});
        self.children(
            Kind::Parameters,
            element,
            |lower, Found { kind, element, .. }| out.push(lower.parameter(kind, element)),
        );
        let names = out
            .iter()
            .map(|parameter| (parameter.name.as_ref(), parameter.element));
        repeats(names, |name, element, first| {
            self.repeated_name(Kind::Parameter, name, element, first);
        });
        out
    }

    fn parameter(&mut self, kind: Kind, element: Element<'a>) -> Parameter<'a> {
        let mut out = Parameter {
            element,
            name: None,
            kind: None,
            required: None,
            default: None,
            trust: Trust::Trusted,
        };
        let mut trust = None;
        self.attributes(kind, element, |_, name, value| match name {
            "name" => out.name = Some(value),
            "type" => out.kind = Some(value),
            "required" => out.required = Some(value.map(|word| word == "true")),
            "default" => out.default = Some(value),
            "trust" => trust = Trust::of(&value.value),
            _ => {}
        });
        // A parameter with one of these names receives answers of agents.
        let is_said = out
            .name
            .as_ref()
            .is_some_and(|name| HANDED_IN.contains(&&*name.value));
        out.trust = trust.unwrap_or(if is_said {
            Trust::Untrusted
        } else {
            Trust::Trusted
        });
        self.children(kind, element, |_, _| {});
        self.can_be_named(element, out.name.as_ref());
        self.default_of_type(&out);
        out
    }

    /// Reports a name that no expression can refer to.
    pub(super) fn can_be_named(&mut self, element: Element<'a>, name: Option<&Str<'a>>) {
        let Some(name) = name else { return };
        if !is_name(&name.value) {
            self.unfit(
                element,
                "name",
                name,
                "a letter or `_`, then letters, digits, `_` and `-`",
            );
        }
        self.is_no_value(element, "name", name);
    }

    /// Reports a name that is a literal: a condition, an argument or Jinja would never read the
    /// value.
    pub(super) fn is_no_value(
        &mut self,
        element: Element<'a>,
        attribute: &'static str,
        name: &Str<'a>,
    ) {
        if ["true", "false", "none", "True", "False", "None"].contains(&&*name.value) {
            self.unfit(
                element,
                attribute,
                name,
                "a name that is no value of its own, as `true`, `false` and `none` are",
            );
        }
    }

    /// Reports a default that would be rejected as an argument of a run.
    fn default_of_type(&mut self, parameter: &Parameter<'a>) {
        let (Some(kind), Some(default)) = (&parameter.kind, &parameter.default) else {
            return;
        };
        if value_type::is_default_of(&default.value, &kind.value) {
            return;
        }
        let name = "default";
        let found = default.value.to_string();
        let fault = match &*kind.value {
            "boolean" => boolean(name, default).err(),
            kind if number::beyond(&found).is_some() && kind != "boolean" => {
                Some(FaultKind::BadNumber {
                    name,
                    found,
                    expected: BEYOND,
                })
            }
            "number" => Some(FaultKind::BadNumber {
                name,
                found,
                expected: "a number, as JSON writes it",
            }),
            "integer" => Some(FaultKind::BadNumber {
                name,
                found,
                expected: "a whole number",
            }),
            "object" => Some(FaultKind::Unfit {
                name,
                found,
                expected: "a JSON object, such as `{}`, for its `type`",
            }),
            "string[]" => Some(FaultKind::Unfit {
                name,
                found,
                expected: "a JSON array of strings, such as `[]`, for its `type`",
            }),
            _ => Some(FaultKind::Unfit {
                name,
                found,
                expected: "a JSON array, such as `[]`, for its `type`",
            }),
        };
        if let Some(fault) = fault {
            self.fault_of_tag(parameter.element, default.span, fault);
        }
    }

    pub(super) fn repeated_name(
        &mut self,
        kind: Kind,
        name: &str,
        element: Element<'a>,
        first: Span,
    ) {
        let span = element
            .attribute("name")
            .map_or(element.name_span(), Attribute::value_span);
        self.fault(
            element,
            span,
            FaultKind::RepeatedName {
                kind,
                name: name.to_owned(),
                first,
            },
        );
    }

    pub(super) fn inputs(&mut self, element: Element<'a>) -> Vec<Input<'a>> {
        let mut out: Vec<Input<'a>> = Vec::new();
        self.attributes(Kind::Inputs, element, |_, _, _| {});
        self.children(
            Kind::Inputs,
            element,
            |lower, Found { kind, element, .. }| {
                let slot = Slot::Input(out.len() as u32);
                out.push(lower.input(kind, element, slot));
            },
        );
        if element.elements().all(is_foreign) {
            self.fault(
                element,
                element.name_span(),
                FaultKind::MissingChild {
                    kind: Kind::Inputs,
                    child: Kind::Input,
                },
            );
        }
        let names = out
            .iter()
            .map(|input| (input.name.as_ref(), input.text.element));
        repeats(names, |name, element, first| {
            self.repeated_name(Kind::Input, name, element, first);
        });
        out
    }

    /// Lowers an input, a call's argument or an initial value: from a variable, a text, or the
    /// result of a task.
    pub(super) fn input(&mut self, kind: Kind, element: Element<'a>, slot: Slot) -> Input<'a> {
        let mut text = Text::new(element);
        let mut name = None;
        let mut from = None;
        let mut max_tokens = None;
        let mut trust = None;
        self.attributes(kind, element, |_, attribute, value| match attribute {
            "max_tokens" => max_tokens = value.value.parse().ok(),
            "name" => name = Some(value),
            "from" => from = Some(value),
            _ => {
                if attribute == "trust" {
                    trust = Trust::of(&value.value);
                }
                text.set(attribute, value);
            }
        });
        let mut nested = None;
        let mut uses = false;
        self.children(
            kind,
            element,
            |lower, Found { kind, element, .. }| match kind {
                Kind::Task => nested = Some(Value::Task(Box::new(lower.task(kind, element, slot)))),
                Kind::Call => nested = Some(Value::Call(Box::new(lower.call(element)))),
                _ => {
                    uses = true;
                    lower.uses(kind, element);
                }
            },
        );
        let has_text = uses || text.src.is_some() || element.children().any(|node| has_words(node));
        let contents =
            usize::from(from.is_some()) + usize::from(nested.is_some()) + usize::from(has_text);
        if contents > 1 {
            self.fault(
                element,
                element.name_span(),
                FaultKind::TwoContents { kind },
            );
        } else if contents == 0 && !names_a_value(element) && element.elements().all(is_foreign) {
            self.fault(element, element.name_span(), FaultKind::NoContent { kind });
        }
        let value = match (from, nested) {
            (Some(from), _) => Value::From(from),
            (None, Some(nested)) => nested,
            (None, None) if has_text => Value::Text,
            (None, None) => Value::Missing,
        };
        Input {
            text,
            trust,
            name,
            value,
            max_tokens,
        }
    }

    pub(super) fn relevance(&mut self, element: Element<'a>) -> Vec<Relevance<'a>> {
        let mut out = Vec::new();
        self.attributes(Kind::ContextRelevance, element, |_, _, _| {});
        self.children(
            Kind::ContextRelevance,
            element,
            |lower, Found { kind, element, .. }| {
                let mut entry = Relevance {
                    element,
                    name: None,
                    include: true,
                };
                lower.attributes(kind, element, |_, name, value| match name {
                    "name" => entry.name = Some(value),
                    _ => entry.include = value.value != "false",
                });
                lower.children(kind, element, |_, _| {});
                out.push(entry);
            },
        );
        let names = out.iter().map(|entry| (entry.name.as_ref(), entry.element));
        repeats(names, |name, element, first| {
            self.repeated_name(Kind::RelevanceInput, name, element, first);
        });
        out
    }

    pub(super) fn file_paths(&mut self, element: Element<'a>) -> FilePaths<'a> {
        let (source, paths) = (FileSource::Literal, Vec::new());
        let mut out = FilePaths {
            element,
            source,
            paths,
            command: None,
            description: None,
            max_tokens: None,
        };
        self.attributes(Kind::FilePaths, element, |_, name, value| {
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
        self.children(
            Kind::FilePaths,
            element,
            |lower, Found { kind, element, .. }| match kind {
                Kind::Path => out.paths.extend(lower.word(kind, element)),
                Kind::FilesCommand => out.command = lower.word(kind, element),
                _ => out.description = Some(lower.text(kind, element)),
            },
        );
        let (missing, child) = match out.source {
            FileSource::Literal => (!has_child(element, "path"), Kind::Path),
            FileSource::Command => (!has_child(element, "command"), Kind::FilesCommand),
            FileSource::Description => (out.description.is_none(), Kind::FilesDescription),
        };
        if missing {
            self.fault(
                element,
                element.name_span(),
                FaultKind::MissingChild {
                    kind: Kind::FilePaths,
                    child,
                },
            );
        } else if element.elements().any(|other| {
            Kind::FilePaths
                .child(other.name())
                .is_some_and(|other| other.kind != child)
        }) {
            self.fault(
                element,
                element.name_span(),
                FaultKind::TwoContents {
                    kind: Kind::FilePaths,
                },
            );
        }
        out
    }

    pub(super) fn output_format(&mut self, element: Element<'a>) -> OutputFormat<'a> {
        let mut out = OutputFormat {
            element,
            kind: None,
            schema: None,
        };
        self.attributes(Kind::OutputFormat, element, |_, name, value| match name {
            "type" => out.kind = Some(value),
            _ => out.schema = Some(value),
        });
        self.children(Kind::OutputFormat, element, |_, _| {});
        if out.schema.is_some() && out.kind.as_ref().is_some_and(|kind| kind.value == "text") {
            self.fault(
                element,
                element.name_span(),
                FaultKind::TwoContents {
                    kind: Kind::OutputFormat,
                },
            );
        }
        out
    }

    pub(super) fn sampling(&mut self, element: Element<'a>) -> Sampling {
        let mut out = Sampling::new();
        self.attributes(Kind::Sampling, element, |_, name, value| {
            let parameter = SamplingParameter::parse(name);
            out.extend(
                parameter.and_then(|parameter| Some((parameter, parameter.value(&value.value)?))),
            );
        });
        self.children(Kind::Sampling, element, |_, _| {});
        out
    }

    pub(super) fn history(&mut self, element: Element<'a>) -> History {
        let mut out = History {
            turns: None,
            max_tokens: None,
            compacted: false,
        };
        self.attributes(Kind::History, element, |_, name, value| match name {
            "turns" => out.turns = value.value.parse().ok(),
            "max_tokens" => out.max_tokens = value.value.parse().ok(),
            _ => out.compacted = value.value == "true",
        });
        self.children(Kind::History, element, |_, _| {});
        out
    }

    /// Lowers the examples; the second value is true if they are rendered as messages.
    pub(super) fn examples(&mut self, element: Element<'a>) -> (Vec<Example<'a>>, bool) {
        let mut out = Vec::new();
        let mut are_turns = false;
        self.attributes(Kind::Examples, element, |_, _, value| {
            are_turns = value.value == "turns";
        });
        self.children(
            Kind::Examples,
            element,
            |lower, Found { kind, element, .. }| {
                let mut example = Example {
                    input: None,
                    output: None,
                };
                lower.attributes(kind, element, |_, _, _| {});
                lower.children(kind, element, |lower, Found { kind, element, .. }| {
                    let text = Some(lower.text(kind, element));
                    if kind == Kind::ExampleInput {
                        example.input = text;
                    } else {
                        example.output = text;
                    }
                });
                for (missing, child) in [
                    (example.input.is_none(), Kind::ExampleInput),
                    (example.output.is_none(), Kind::ExampleOutput),
                ] {
                    if missing {
                        lower.fault(
                            element,
                            element.name_span(),
                            FaultKind::MissingChild {
                                kind: Kind::Example,
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

    pub(super) fn call(&mut self, element: Element<'a>) -> Call<'a> {
        let mut out = Call {
            element,
            template: None,
            result: None,
            trust: None,
            args: Vec::new(),
        };
        self.unused_result(element);
        self.attributes(Kind::Call, element, |_, name, value| match name {
            "template" => out.template = Some(value),
            "trust" => out.trust = Trust::of(&value.value),
            _ => out.result = Some(value),
        });
        self.children(Kind::Call, element, |lower, Found { kind, element, .. }| {
            let slot = Slot::Arg(out.args.len() as u32);
            out.args.push(lower.input(kind, element, slot));
        });
        out
    }

    pub(super) fn cond(&mut self, element: Element<'a>) -> Cond<'a> {
        let mut out = Cond {
            element,
            result: None,
            cases: Vec::new(),
        };
        self.attributes(Kind::Cond, element, |_, _, value| out.result = Some(value));
        self.children(Kind::Cond, element, |lower, Found { kind, element, .. }| {
            let mut case = Case {
                test: None,
                step: None,
            };
            let slot = Slot::Case(out.cases.len() as u32);
            lower.attributes(kind, element, |_, _, value| case.test = Some(value));
            lower.children(kind, element, |lower, Found { kind, element, .. }| {
                case.step = Some(match kind {
                    Kind::Task => Step::Task(Box::new(lower.task(kind, element, slot))),
                    _ => Step::Call(Box::new(lower.call(element))),
                });
            });
            if case.step.is_none() {
                let kind = FaultKind::MissingChild {
                    kind: Kind::Case,
                    child: Kind::Task,
                };
                lower.fault(element, element.name_span(), kind);
            }
            out.cases.push(case);
        });
        if out.cases.is_empty() {
            self.fault(
                element,
                element.name_span(),
                FaultKind::MissingChild {
                    kind: Kind::Cond,
                    child: Kind::Case,
                },
            );
        }
        out
    }

    /// Lowers `model`: its text, or `preferred` and `fallback`.
    pub(super) fn model(&mut self, element: Element<'a>) -> (Option<Str<'a>>, Option<Str<'a>>) {
        let mut preferred = None;
        let mut fallback = None;
        self.attributes(Kind::Model, element, |_, _, _| {});
        self.children(
            Kind::Model,
            element,
            |lower, Found { kind, element, .. }| {
                let word = lower.word(kind, element);
                if kind == Kind::Preferred {
                    preferred = word;
                } else {
                    fallback = word;
                }
            },
        );
        if preferred.is_some() || fallback.is_some() {
            if element.children().any(has_words) {
                self.fault(
                    element,
                    element.name_span(),
                    FaultKind::TwoContents { kind: Kind::Model },
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
                self.fault(element, element.span(), FaultKind::Empty { name: "model" });
            }
            return (None, None);
        }
        (
            Some(word_of(element)).filter(|word| !word.value.is_empty()),
            None,
        )
    }

    /// Lowers the number in an element, with its span.
    pub(super) fn number<T: std::str::FromStr>(
        &mut self,
        kind: Kind,
        element: Element<'a>,
        expected: &'static str,
    ) -> Option<(T, Span)> {
        let word = self.word_content(kind, element)?;
        if let Ok(number) = word.value.parse() {
            return Some((number, word.span));
        }
        let found = word.value.into_owned();
        self.fault(
            element,
            word.span,
            FaultKind::BadNumber {
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
fn names_a_value(element: Element<'_>) -> bool {
    ["from", "src"]
        .iter()
        .any(|name| element.attribute(name).is_some())
}

/// True if a node is text that contains more than white space.
pub(super) fn has_words(node: crate::syntax::tree::Node<'_>) -> bool {
    use crate::syntax::tree::Kind as Node;
    matches!(node.kind(), Node::Text | Node::Cdata)
        && !node.is_blank()
        && !trimmed(node.text(), node.inner()).value.is_empty()
}

/// The number of names up to which each pair is compared directly.
const FEW: usize = 16;

/// Calls `tell` for each entry with the name of an earlier one: the name, the data of the later
/// entry, the span of the first name.
pub(super) fn repeats<'n, 'a: 'n, T>(
    entries: impl Iterator<Item = (Option<&'n Str<'a>>, T)>,
    mut tell: impl FnMut(&str, T, Span),
) {
    let mut few: [Option<&Str<'_>>; FEW] = [None; FEW];
    let mut many: HashMap<&str, Span> = HashMap::new();
    let mut count = 0;
    for (name, with) in entries {
        let Some(name) = name else { continue };
        let known = few
            .iter()
            .take(count.min(FEW))
            .flatten()
            .find(|known| known.value == name.value);
        if let Some(first) = known
            .map(|known| known.span)
            .or_else(|| many.get(&*name.value).copied())
        {
            tell(&name.value, with, first);
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
