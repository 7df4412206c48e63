//! The body of a node from the model of its task, call or choice.

use super::canonical::{Sources, canonical};
use crate::registry::artifact::ReferenceKind;
use crate::registry::body::{
    Body, Command, Content, Env, Example, Files, History, Input, Inside, Kept, OutputFormat,
    Parameter, Relevance, Text, Value, Var, Word,
};
use crate::syntax::tree::Element;
use crate::template::keywords::Trust;
use crate::template::model::{self, Call, Cond, Task};
use crate::template::parts::{self, Str};
use std::borrow::Cow;

/// The language's default for the rounds of a loop, written out so that nothing is resolved at run
/// time.
const ROUNDS: u32 = 5;

/// Builds bodies and collects their references.
pub(super) struct Bodies<'s, 'r> {
    pub(super) sources: &'s dyn Sources,
    /// The references of the body, in the order of its fields.
    pub(super) references: &'r mut Vec<(ReferenceKind, String)>,
}

impl<'s> Bodies<'s, '_> {
    /// The body of a task.
    pub(super) fn task(&mut self, task: &'s Task<'_>) -> Body<'s> {
        let script = task.script.as_ref();
        Body {
            reference: self.reference(ReferenceKind::Ref, task.reference.as_ref()),
            trust: task.trust,
            version: word(task.version.as_ref()),
            description: self.text(task.description.as_ref()),
            system: self.text(task.system.as_ref()),
            instructions: self.text(task.instructions.as_ref()),
            criteria: self.text(task.criteria.as_ref()),
            constraints: self.texts(&task.constraints),
            provider: word(task.provider.as_ref()),
            model: word(task.model.as_ref()),
            fallback: word(task.fallback.as_ref()),
            parameters: task
                .parameters_element
                .map(|_| task.parameters.iter().map(parameter).collect()),
            inputs: self.inputs(&task.inputs),
            context_relevance: task
                .relevance
                .iter()
                .map(|input| Relevance {
                    name: word(input.name.as_ref()),
                    include: input.include,
                })
                .collect(),
            file_paths: task.files.as_ref().map(|files| self.files(files)),
            output_format: task.output.as_ref().map(|output| self.output(output)),
            sampling: task.sampling.clone(),
            history: task.history.as_ref().map(|history| History {
                turns: history.turns,
                max_tokens: history.max_tokens,
                compacted: history.compacted,
            }),
            profile: task.profile,
            examples: task
                .examples
                .iter()
                .map(|example| Example {
                    input: self.text(example.input.as_ref()),
                    output: self.text(example.output.as_ref()),
                })
                .collect(),
            examples_as_turns: task.examples_as_turns,
            inherit_max_tokens: task
                .settings
                .as_ref()
                .and_then(|settings| settings.inherit_max_tokens),
            fresh_max_tokens: task
                .settings
                .as_ref()
                .and_then(|settings| settings.fresh_max_tokens),
            initial_value: task
                .reduce
                .as_ref()
                .and_then(|reduce| reduce.initial.as_ref())
                .map(|initial| self.input(initial)),
            command: script
                .and_then(|script| script.command.as_ref())
                .map(|command| self.command(command)),
            timeout_ms: script
                .and_then(|script| script.timeout_ms)
                .map(|timeout| timeout.value),
            env: script
                .and_then(|script| script.env.as_ref())
                .map(|env| self.env(env)),
            cwd: script.and_then(|script| word(script.cwd.as_ref())),
            max_iterations: task
                .cycle
                .as_ref()
                .map(|cycle| cycle.max_iterations.map_or(ROUNDS, |count| count.value)),
            termination_condition: task
                .cycle
                .as_ref()
                .and_then(|cycle| word(cycle.condition.as_ref())),
            deprecated: task
                .deprecated
                .iter()
                .map(|(_, element)| kept(*element))
                .collect(),
            extensions: task.extensions.iter().copied().map(kept).collect(),
            ..Body::default()
        }
    }

    /// The body of a call.
    pub(super) fn call(&mut self, call: &'s Call<'_>) -> Body<'s> {
        let template = self.reference(ReferenceKind::Call, call.template.as_ref());
        Body {
            template,
            trust: call.trust,
            args: self.inputs(&call.args),
            ..Body::default()
        }
    }

    /// The body of a choice: its tests, in the order of its children.
    pub(super) fn cond(cond: &'s Cond<'_>) -> Body<'s> {
        Body {
            tests: Some(
                cond.cases
                    .iter()
                    .map(|case| word(case.test.as_ref()))
                    .collect(),
            ),
            ..Body::default()
        }
    }

    fn reference(&mut self, kind: ReferenceKind, written: Option<&'s Str<'_>>) -> Option<Word<'s>> {
        self.references
            .extend(written.map(|word| (kind, word.value.to_string())));
        word(written)
    }

    fn text(&mut self, text: Option<&'s parts::Text<'_>>) -> Option<Text<'s>> {
        text.map(|text| canonical(text, self.sources, self.references))
    }

    fn texts(&mut self, texts: &'s [parts::Text<'_>]) -> Vec<Text<'s>> {
        texts
            .iter()
            .map(|text| canonical(text, self.sources, self.references))
            .collect()
    }

    fn inputs(&mut self, inputs: &'s [model::Input<'_>]) -> Vec<Input<'s>> {
        inputs.iter().map(|input| self.input(input)).collect()
    }

    fn input(&mut self, input: &'s model::Input<'_>) -> Input<'s> {
        let name = word(input.name.as_ref());
        let (trust, max_tokens) = (input.trust, input.max_tokens);
        let value = match &input.value {
            model::Value::Missing => Input {
                name,
                trust,
                ..Input::default()
            },
            model::Value::From(from) => Input {
                name,
                from: self.reference(ReferenceKind::From, Some(from)),
                trust,
                ..Input::default()
            },
            model::Value::Text => {
                // The text itself carries the mark `untrusted`.
                let trust = trust.filter(|trust| *trust == Trust::Trusted);
                Input {
                    name,
                    value: self.text(Some(&input.text)).map(Value::Text),
                    trust,
                    ..Input::default()
                }
            }
            model::Value::Literal(words) => {
                let text = Text {
                    text: word(Some(words)),
                    verbatim: true,
                    ..Text::default()
                };
                Input {
                    name,
                    value: Some(Value::Text(text)),
                    ..Input::default()
                }
            }
            // The task or call is a child of the node; its slot has the number of this input.
            model::Value::Task(_) => Input {
                name,
                value: Some(Value::Inside(Inside::Task)),
                trust,
                ..Input::default()
            },
            model::Value::Call(_) => Input {
                name,
                value: Some(Value::Inside(Inside::Call)),
                trust,
                ..Input::default()
            },
        };
        Input {
            max_tokens,
            ..value
        }
    }

    fn files(&mut self, files: &'s parts::FilePaths<'_>) -> Files<'s> {
        Files {
            source: files.source,
            paths: files
                .paths
                .iter()
                .map(|path| Cow::Borrowed(&*path.value))
                .collect(),
            command: word(files.command.as_ref()),
            description: self.text(files.description.as_ref()),
            max_tokens: files.max_tokens,
        }
    }

    fn output(&self, output: &'s parts::OutputFormat<'_>) -> OutputFormat<'s> {
        let content = output
            .schema_file()
            .and_then(|file| self.sources.schema(&file.value))
            .and_then(Content::of);
        OutputFormat {
            kind: word(output.kind.as_ref()),
            schema: word(output.schema.as_ref()),
            content,
        }
    }

    fn command(&mut self, command: &'s parts::Command<'_>) -> Command<'s> {
        let line = if command.args.is_empty() {
            self.text(Some(&command.text))
        } else {
            None
        };
        Command {
            line,
            args: self.texts(&command.args),
            shell: word(command.shell.as_ref()),
        }
    }

    fn env(&mut self, env: &'s parts::Env<'_>) -> Env<'s> {
        let inherit = word(env.inherit.as_ref()).unwrap_or(Cow::Borrowed("none"));
        let var = |(name, value): &'s (Option<Str<'_>>, parts::Text<'_>)| Var {
            name: word(name.as_ref()),
            value: canonical(value, self.sources, self.references),
        };
        Env {
            inherit,
            vars: env.vars.iter().map(var).collect(),
        }
    }
}

fn word<'s>(word: Option<&'s Str<'_>>) -> Option<Word<'s>> {
    word.map(|word| Cow::Borrowed(&*word.value))
}

fn parameter<'s>(parameter: &'s parts::Parameter<'_>) -> Parameter<'s> {
    Parameter {
        name: word(parameter.name.as_ref()),
        kind: word(parameter.kind.as_ref()),
        required: parameter.is_required(),
        default: word(parameter.default.as_ref()),
        trust: parameter.trust,
    }
}

fn kept(element: Element<'_>) -> Kept<'_> {
    Kept {
        element: Cow::Borrowed(element.name()),
        xml: Cow::Borrowed(element.span().slice(element.document().text)),
    }
}
