//! The body of a node from the model of its task, call or choice.

use super::canonical::{IncludedTexts, canonical_text};
use crate::registry::artifact::ReferenceKind;
use crate::registry::body::{
    AgentFiles, AuthorText, BodyCommand, CommandEnv, DeclaredParameter, EnvVariable, Example,
    HistoryLimit, Input, InputContent, NodeBody, OutputFormat, Relevance, ResultOrigin,
    SchemaContent, Text, VerbatimElement,
};
use crate::syntax::tree::Element;
use crate::template::keywords::Trust;
use crate::template::model::{self, Cond, TaskBody, TemplateCall};
use crate::template::parts::{self, Str};
use std::borrow::Cow;

/// The language's default for the rounds of a loop, written out so that nothing is resolved at run
/// time.
const DEFAULT_ROUNDS: u32 = 5;

/// Builds bodies and collects their references.
pub(super) struct BodyBuilder<'s, 'r> {
    pub(super) sources: &'s dyn IncludedTexts,
    /// The references of the body, in the order of its fields.
    pub(super) references: &'r mut Vec<(ReferenceKind, String)>,
}

impl<'s> BodyBuilder<'s, '_> {
    /// The body of a task.
    pub(super) fn build_task_body(&mut self, task: &'s TaskBody<'_>) -> NodeBody<'s> {
        let script = task.script.as_ref();
        NodeBody {
            reference: self.add_reference(ReferenceKind::Ref, task.reference.as_ref()),
            trust: task.trust,
            version: author_text(task.version.as_ref()),
            description: self.build_text(task.description.as_ref()),
            system: self.build_text(task.system.as_ref()),
            instructions: self.build_text(task.instructions.as_ref()),
            criteria: self.build_text(task.criteria.as_ref()),
            constraints: self.build_texts(&task.constraints),
            provider: author_text(task.provider.as_ref()),
            model: author_text(task.model.as_ref()),
            fallback: author_text(task.fallback.as_ref()),
            parameters: task
                .parameters_element
                .map(|_| task.parameters.iter().map(declared_parameter).collect()),
            inputs: self.build_inputs(&task.inputs),
            context_relevance: task
                .relevance
                .iter()
                .map(|input| Relevance {
                    name: author_text(input.name.as_ref()),
                    include: input.include,
                })
                .collect(),
            file_paths: task.files.as_ref().map(|files| self.build_files(files)),
            output_format: task
                .output
                .as_ref()
                .map(|output| self.build_output_format(output)),
            sampling: task.sampling.clone(),
            history: task.history.as_ref().map(|history| HistoryLimit {
                turns: history.turns,
                max_tokens: history.max_tokens,
                compacted: history.compacted,
            }),
            profile: task.profile,
            examples: task
                .examples
                .iter()
                .map(|example| Example {
                    input: self.build_text(example.input.as_ref()),
                    output: self.build_text(example.output.as_ref()),
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
                .map(|initial| self.build_input(initial)),
            command: script
                .and_then(|script| script.command.as_ref())
                .map(|command| self.build_command(command)),
            timeout_ms: script
                .and_then(|script| script.timeout_ms)
                .map(|timeout| timeout.value),
            env: script
                .and_then(|script| script.env.as_ref())
                .map(|env| self.build_env(env)),
            cwd: script.and_then(|script| author_text(script.cwd.as_ref())),
            max_iterations: task.cycle.as_ref().map(|cycle| {
                cycle
                    .max_iterations
                    .map_or(DEFAULT_ROUNDS, |count| count.value)
            }),
            termination_condition: task
                .cycle
                .as_ref()
                .and_then(|cycle| author_text(cycle.condition.as_ref())),
            deprecated: task
                .deprecated
                .iter()
                .map(|(_, element)| verbatim_element(*element))
                .collect(),
            extensions: task
                .extensions
                .iter()
                .copied()
                .map(verbatim_element)
                .collect(),
            ..NodeBody::default()
        }
    }

    /// The body of a call.
    pub(super) fn build_call_body(&mut self, call: &'s TemplateCall<'_>) -> NodeBody<'s> {
        let template = self.add_reference(ReferenceKind::Call, call.template.as_ref());
        NodeBody {
            template,
            trust: call.trust,
            args: self.build_inputs(&call.args),
            ..NodeBody::default()
        }
    }

    /// The body of a choice: its tests, in the order of its children.
    pub(super) fn build_choice_body(cond: &'s Cond<'_>) -> NodeBody<'s> {
        NodeBody {
            tests: Some(
                cond.cases
                    .iter()
                    .map(|case| author_text(case.test.as_ref()))
                    .collect(),
            ),
            ..NodeBody::default()
        }
    }

    fn add_reference(
        &mut self,
        kind: ReferenceKind,
        written: Option<&'s Str<'_>>,
    ) -> Option<AuthorText<'s>> {
        // `from` names a value of the task.
        let name = if kind == ReferenceKind::From {
            author_text(written)
        } else {
            written.map(|word| self.sources.full_name(&word.value))
        }?;
        self.references.push((kind, name.to_string()));
        Some(name)
    }

    fn build_text(&mut self, text: Option<&'s parts::TextElement<'_>>) -> Option<Text<'s>> {
        text.map(|text| canonical_text(text, self.sources, self.references))
    }

    fn build_texts(&mut self, texts: &'s [parts::TextElement<'_>]) -> Vec<Text<'s>> {
        texts
            .iter()
            .map(|text| canonical_text(text, self.sources, self.references))
            .collect()
    }

    fn build_inputs(&mut self, inputs: &'s [model::TaskInput<'_>]) -> Vec<Input<'s>> {
        inputs.iter().map(|input| self.build_input(input)).collect()
    }

    fn build_input(&mut self, input: &'s model::TaskInput<'_>) -> Input<'s> {
        let name = author_text(input.name.as_ref());
        let (trust, max_tokens) = (input.trust, input.max_tokens);
        let value = match &input.value {
            model::TaskInputValue::Missing => Input {
                name,
                trust,
                ..Input::default()
            },
            model::TaskInputValue::From(from) => Input {
                name,
                from: self.add_reference(ReferenceKind::From, Some(from)),
                trust,
                ..Input::default()
            },
            model::TaskInputValue::Text => {
                // The text itself carries the mark `untrusted`.
                let trust = trust.filter(|trust| *trust == Trust::Trusted);
                Input {
                    name,
                    value: self.build_text(Some(&input.text)).map(InputContent::Text),
                    trust,
                    ..Input::default()
                }
            }
            model::TaskInputValue::Literal(words) => {
                let text = Text {
                    text: author_text(Some(words)),
                    verbatim: true,
                    ..Text::default()
                };
                Input {
                    name,
                    value: Some(InputContent::Text(text)),
                    ..Input::default()
                }
            }
            // The task or call is a child of the node; its slot has the number of this input.
            model::TaskInputValue::Task(_) => Input {
                name,
                value: Some(InputContent::Inside(ResultOrigin::Task)),
                trust,
                ..Input::default()
            },
            model::TaskInputValue::Call(_) => Input {
                name,
                value: Some(InputContent::Inside(ResultOrigin::Call)),
                trust,
                ..Input::default()
            },
        };
        Input {
            max_tokens,
            ..value
        }
    }

    fn build_files(&mut self, files: &'s parts::FilePaths<'_>) -> AgentFiles<'s> {
        AgentFiles {
            source: files.source,
            paths: files
                .paths
                .iter()
                .map(|path| Cow::Borrowed(&*path.value))
                .collect(),
            command: author_text(files.command.as_ref()),
            description: self.build_text(files.description.as_ref()),
            max_tokens: files.max_tokens,
        }
    }

    fn build_output_format(&self, output: &'s parts::TaskOutputFormat<'_>) -> OutputFormat<'s> {
        let content = output
            .schema_file()
            .and_then(|file| self.sources.schema(&file.value))
            .and_then(SchemaContent::parse);
        OutputFormat {
            kind: author_text(output.kind.as_ref()),
            schema: author_text(output.schema.as_ref()),
            content,
        }
    }

    fn build_command(&mut self, command: &'s parts::ScriptCommand<'_>) -> BodyCommand<'s> {
        let line = if command.args.is_empty() {
            self.build_text(Some(&command.text))
        } else {
            None
        };
        BodyCommand {
            line,
            args: self.build_texts(&command.args),
            shell: author_text(command.shell.as_ref()),
        }
    }

    fn build_env(&mut self, env: &'s parts::ScriptEnv<'_>) -> CommandEnv<'s> {
        let inherit = author_text(env.inherit.as_ref()).unwrap_or(Cow::Borrowed("none"));
        let var = |(name, value): &'s (Option<Str<'_>>, parts::TextElement<'_>)| EnvVariable {
            name: author_text(name.as_ref()),
            value: canonical_text(value, self.sources, self.references),
        };
        CommandEnv {
            inherit,
            vars: env.vars.iter().map(var).collect(),
        }
    }
}

fn author_text<'s>(word: Option<&'s Str<'_>>) -> Option<AuthorText<'s>> {
    word.map(|word| Cow::Borrowed(&*word.value))
}

fn declared_parameter<'s>(parameter: &'s parts::TaskParameter<'_>) -> DeclaredParameter<'s> {
    DeclaredParameter {
        name: author_text(parameter.name.as_ref()),
        kind: author_text(parameter.kind.as_ref()),
        required: parameter.is_required(),
        default: author_text(parameter.default.as_ref()),
        trust: parameter.trust,
    }
}

fn verbatim_element(element: Element<'_>) -> VerbatimElement<'_> {
    VerbatimElement {
        element: Cow::Borrowed(element.name()),
        xml: Cow::Borrowed(element.span().slice(element.document().text)),
    }
}
