//! Random projects with every construct of the language: operators, parts in both forms, inputs of
//! every source, functions, references, fragments, loops, choices, Jinja in every position. Most of
//! them pass `check`.
#![allow(
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "a generator of templates is one long list of texts"
)]

use super::super::support::Random;
use super::surroundings::Surroundings;
use std::collections::BTreeMap;

/// The type of a value, as far as an author can determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawnType {
    Text,
    Number,
    Boolean,
    List,
    Object,
    /// An answer in the form of `s.json`.
    Record,
    /// The answer of an agent, a text.
    Answer,
}

/// A name in scope.
pub(super) type ScopeName = (String, DrawnType);

/// A project, and the context of its run.
#[derive(Debug, Default)]
pub(super) struct DrawnProject {
    pub(super) templates: String,
    pub(super) files: BTreeMap<String, String>,
    pub(super) around: Surroundings,
}

/// Definitions for references.
const DEFINITIONS: &str = r#"
<fragment name="g0">Be brief.</fragment>
<fragment name="g1">Mind {{a0}}.</fragment>
<template name="f0" params="x"><task><description>Look.</description><instructions>At {{x}}</instructions></task></template>
<template name="f1" params="x, y" returns="object"><task><description>Compare {{x}}.</description>
  <inputs><input name="k" from="y"/></inputs><output_format type="json" schema="object"/></task></template>
<template name="f2" params="x"><task type="sequential"><description>Twice.</description>
  <steps><task as="z"><description>Once {{x}}</description></task><task><description>Again {{z}}</description></task></steps></task></template>
<template name="f3" params="x"><task type="reduce"><description>Fold.</description><inputs><input name="k" from="x"/></inputs>
  <inner_task><description>Of {{current_input}}</description></inner_task>
  <reduction_task><description>Into {{current_result}}</description></reduction_task></task></template>
<task name="q0"><description>Answer {{a0}}.</description></task>
<task name="q1"><description>Count.</description><parameters><parameter name="n1" type="number" required="true"/>
  <parameter name="w" default="few"/></parameters><instructions syntax="jinja">{{ n1 + 1 }} {{ w }}</instructions></task>
<task type="sequential" name="q2"><description>Chain.</description><steps><task as="e0"><description>One.</description></task>
  <task><description>Two {{e0}}</description></task></steps></task>
<task type="director_evaluator_loop" name="q3"><description>Until it is good.</description><director><description>Make.</description>
  </director><evaluator><description>Judge {{director_result}}</description></evaluator></task>
"#;

#[derive(Debug)]
pub(super) struct ProjectGenerator<'r> {
    pub(super) random: &'r mut Random,
    next: usize,
}

/// Draws a project.
pub(super) fn draw_project(random: &mut Random) -> DrawnProject {
    let mut generator = ProjectGenerator { random, next: 0 };
    let (parameters, scope) = generator.root_parameters();
    let root = generator.task_element("name=\"t\"", &parameters, &scope, 0);
    let files = [
        ("guide.md", "Be kind."),
        ("text.md", "Mind {{a0}}."),
        ("text.jinja", "{% if a0 %}Mind {{ a0 }}.{% endif %}"),
        (
            "d7.json",
            r##"{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "string"}}, "type": "object",
                "properties": {"v": {"$ref": "#/definitions/n"}, "n": {"type": "integer", "minimum": 2}}, "required": ["v"]}"##,
        ),
        (
            "s.json",
            r#"{"type": "object", "properties": {"v": {"type": "string"}, "k": {"enum": ["a", "b"]}}, "required": ["v", "k"]}"#,
        ),
    ];
    let files = files
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .into();
    let around = Surroundings::draw(generator.random);
    DrawnProject {
        templates: format!("<library>{root}{DEFINITIONS}</library>"),
        files,
        around,
    }
}

impl ProjectGenerator<'_> {
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.random.once_in(times)
    }

    pub(super) fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.random.below(from.len())]
    }

    fn fresh_name(&mut self, letter: &str) -> String {
        self.next += 1;
        format!("{letter}{}", self.next)
    }

    /// Returns the parameters of the root: declared ones, or none, so that free names become
    /// implicit parameters.
    fn root_parameters(&mut self) -> (String, Vec<ScopeName>) {
        let names = [
            ("a0", DrawnType::Text),
            ("b1", DrawnType::Text),
            ("n1", DrawnType::Number),
            ("c1", DrawnType::Boolean),
            ("l1", DrawnType::List),
            ("o1", DrawnType::Object),
        ];
        let owned = |kind: &dyn Fn(DrawnType) -> bool| -> Vec<ScopeName> {
            names
                .iter()
                .filter(|(_, own)| kind(*own))
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect()
        };
        if self.once_in(4) {
            let texts = owned(&|kind| kind == DrawnType::Text);
            return (String::new(), texts);
        }
        let mut out = String::from("<parameters>");
        for (name, kind) in names {
            let (word, default) = match kind {
                DrawnType::Number => ("number", "3"),
                DrawnType::Boolean => ("boolean", "true"),
                DrawnType::List => ("string[]", "[\"one\", \"two\"]"),
                DrawnType::Object => (
                    "object",
                    if self.once_in(4) {
                        "{}"
                    } else {
                        "{\"v\": \"word\", \"k\": 2}"
                    },
                ),
                DrawnType::Text | DrawnType::Answer | DrawnType::Record => ("string", "some words"),
            };
            let trust = if self.once_in(6) {
                " trust=\"untrusted\""
            } else {
                ""
            };
            if self.once_in(3) {
                out +=
                    &format!("<parameter name='{name}' type='{word}' default='{default}'{trust}/>");
            } else {
                out += &format!("<parameter name='{name}' type='{word}' required='true'{trust}/>");
            }
        }
        let mut scope = owned(&|_| true);
        for name in ["previous_output", "failure_history", "objective"] {
            if self.once_in(8) {
                out += &format!("<parameter name='{name}' default='none'/>");
                scope.push((name.to_owned(), DrawnType::Text));
            }
        }
        (out + "</parameters>", scope)
    }

    /// Returns a task with its own attributes.
    fn task_element(
        &mut self,
        attributes: &str,
        head: &str,
        scope: &[ScopeName],
        depth: usize,
    ) -> String {
        let kind = match self.random.below(if depth > 2 { 3 } else { 10 }) {
            0..=2 => "atomic",
            3..=5 => "sequential",
            6 | 7 => "reduce",
            8 => "director_evaluator_loop",
            _ => "script",
        };
        let is_plain = kind == "atomic" && self.once_in(2);
        let subtype = if kind == "atomic" && depth > 0 && self.once_in(8) {
            " subtype=\"subtask\""
        } else {
            ""
        };
        let kind_attribute = if is_plain {
            String::new()
        } else {
            format!(" type=\"{kind}\"")
        };
        let inside = self.task_children(kind, head, scope, depth);
        let profile = if self.once_in(16) {
            format!(
                " profile=\"{}\"",
                self.pick(&["markdown", "xml", "plain", "sections", "bare"])
            )
        } else {
            String::new()
        };
        format!("<task {attributes}{kind_attribute}{subtype}{profile}>{inside}</task>")
    }

    /// Returns the children of a task of a type.
    fn task_children(
        &mut self,
        kind: &str,
        head: &str,
        scope: &[ScopeName],
        depth: usize,
    ) -> String {
        let mut scope = scope.to_vec();
        let mut out = head.to_owned();
        if head.is_empty() && depth > 0 && self.once_in(8) {
            let (name, own) = self.random.pick(&scope).clone();
            let word = match own {
                DrawnType::Number => "number",
                DrawnType::Boolean => "boolean",
                DrawnType::List => "string[]",
                DrawnType::Object | DrawnType::Record => "object",
                DrawnType::Text | DrawnType::Answer => "string",
            };
            out += &format!(
                "<parameters><parameter name=\"{name}\" type=\"{word}\" required=\"true\"/></parameters>"
            );
        }
        let is_reduce = kind == "reduce";
        let inputs = if is_reduce {
            1 + self.random.below(3)
        } else {
            self.random.below(8).saturating_sub(4)
        };
        if inputs > 0 && kind != "script" || is_reduce {
            out += &self.inputs_element(inputs, &mut scope, depth);
        }
        let description = self.text_element("description", "", &scope);
        out += &description;
        if kind != "script" {
            out += &self.settings_element(kind);
        }
        match kind {
            "sequential" => out += &self.steps_element(&scope, depth),
            "reduce" => out += &self.reduce_parts(&scope, depth),
            "director_evaluator_loop" => out += &self.loop_parts(&scope, depth),
            "script" => out += &self.command_element(&scope),
            _ => out += &self.agent_elements(&scope),
        }
        out
    }

    fn settings_element(&mut self, kind: &str) -> String {
        if !self.once_in(3) {
            return String::new();
        }
        let (inherit, fresh) = match self.random.below(4) {
            0 => ("none", "enabled"),
            1 => ("none", "disabled"),
            2 => ("subset", "disabled"),
            _ => ("full", "disabled"),
        };
        let format = if matches!(kind, "sequential" | "director_evaluator_loop") && self.once_in(2)
        {
            "<accumulation_format>full_output</accumulation_format><accumulate_data>true</accumulate_data>"
        } else {
            ""
        };
        format!(
            "<context_management><inherit_context>{inherit}</inherit_context>{format}<fresh_context>{fresh}</fresh_context></context_management>"
        )
    }

    /// Returns the elements that only agents have.
    fn agent_elements(&mut self, scope: &[ScopeName]) -> String {
        let mut out = String::new();
        for (element, times) in [("instructions", 2), ("criteria", 5), ("system", 6)] {
            if self.once_in(times) {
                out += &self.text_element(element, "", scope);
            }
        }
        if self.once_in(5) {
            out += &format!(
                "<constraints>{}{}</constraints>",
                self.text_element("constraint", "", scope),
                self.text_element("constraint", "", scope)
            );
        }
        if self.once_in(8) {
            let attributes = self.pick(&["", " as=\"turns\""]);
            let (input, output) = (
                self.text_element("input", "", scope),
                self.text_element("output", "", scope),
            );
            out += &format!("<examples{attributes}><example>{input}{output}</example></examples>");
        }
        if self.once_in(8) {
            out += self.pick(&[
                "<file_paths source=\"literal\"><path>guide.md</path></file_paths>",
                "<file_paths source=\"description\"><description>some words of a guide</description></file_paths>",
            ]);
        }
        if self.once_in(6) {
            out += self.pick(&[
                "<history/>",
                "<history max_tokens=\"2000\"/>",
                "<history turns=\"1\"/>",
                "<history compacted=\"true\"/>",
            ]);
        }
        if self.once_in(8) {
            out += self.pick(&[
                "<model>m0</model>",
                "<model><preferred>m1</preferred><fallback>m0</fallback></model>",
                "<model>elsewhere</model>",
                "<sampling temperature=\"0\" stop=\"END\"/>",
                "<sampling seed=\"7\" max_output_tokens=\"500\"/>",
            ]);
        }
        if self.once_in(4) {
            let schema = self.pick(&[
                "object", "array", "string[]", "number", "boolean", "s.json", "d7.json",
            ]);
            out += &format!("<output_format type=\"json\" schema=\"{schema}\"/>");
        }
        out
    }

    fn inputs_element(&mut self, count: usize, scope: &mut Vec<ScopeName>, depth: usize) -> String {
        let mut out = String::from("<inputs>");
        for _ in 0..count {
            let name = self.fresh_name("i");
            let (element, kind) = match self.random.below(if depth > 2 { 4 } else { 8 }) {
                0 => (
                    self.text_element("input", &format!(" name=\"{name}\""), scope),
                    DrawnType::Text,
                ),
                1 | 2 => {
                    let (from, kind) = self.random.pick(scope).clone();
                    let trust = if self.once_in(6) {
                        " trust=\"untrusted\""
                    } else {
                        ""
                    };
                    let (field, kind) = if kind == DrawnType::Record && self.once_in(2) {
                        (".k", DrawnType::Text)
                    } else {
                        ("", kind)
                    };
                    (
                        format!("<input name=\"{name}\" from=\"{from}{field}\"{trust}/>"),
                        kind,
                    )
                }
                3 | 4 => (
                    format!(
                        "<input name=\"{name}\">{}</input>",
                        self.call_element("", scope)
                    ),
                    DrawnType::Answer,
                ),
                _ => (
                    format!(
                        "<input name=\"{name}\">{}</input>",
                        self.task_element("", "", scope, depth + 1)
                    ),
                    DrawnType::Answer,
                ),
            };
            out += &element;
            scope.push((name, kind));
        }
        out += "</inputs>";
        if self.once_in(6) {
            let name = &scope[scope.len() - 1].0;
            let include = self.pick(&["true", "false"]);
            out += &format!(
                "<context_relevance><input name=\"{name}\" include=\"{include}\"/></context_relevance>"
            );
        }
        out
    }

    /// Returns a call or a reference.
    fn call_element(&mut self, attributes: &str, scope: &[ScopeName]) -> String {
        let from = self.random.pick(scope).0.clone();
        match self.random.below(9) {
            0 => format!("<call template=\"f0\" {attributes}><arg from=\"{from}\"/></call>"),
            1 => format!(
                "<call template=\"f1\" {attributes}><arg name=\"y\" from=\"{from}\"/>{}</call>",
                self.text_element("arg", " name=\"x\"", scope)
            ),
            2 => format!(
                "<call template=\"f2\" {attributes}><arg name=\"x\" from=\"{from}\"/></call>"
            ),
            3 => format!("<task ref=\"q0\" {attributes}/>"),
            4 => format!("<task ref=\"q1\" {attributes}/>"),
            5 => format!("<task ref=\"q3\" {attributes}/>"),
            6 => format!(
                "<call template=\"f3\" {attributes}>{}</call>",
                self.text_element("arg", " name=\"x\"", scope)
            ),
            7 => format!(
                "<call template=\"f0\" {attributes}><arg name=\"x\"><task>{}</task></arg></call>",
                self.text_element("description", "", scope)
            ),
            _ => format!("<task ref=\"q2\" {attributes}/>"),
        }
    }

    fn steps_element(&mut self, scope: &[ScopeName], depth: usize) -> String {
        let mut scope = scope.to_vec();
        let mut out = String::from("<steps>");
        for _ in 0..=self.random.below(3) {
            let name = self.fresh_name("s");
            let trust = if self.once_in(8) {
                self.pick(&[" trust=\"trusted\"", " trust=\"untrusted\""])
            } else {
                ""
            };
            let attributes = format!("as=\"{name}\"{trust}");
            let mut kind = DrawnType::Answer;
            out += &match self.random.below(9) {
                0 | 1 => self.call_element(&attributes, &scope),
                2 => {
                    let test = self.condition(&scope);
                    let other = if self.once_in(4) {
                        self.call_element("", &scope)
                    } else {
                        self.task_element("", "", &scope, depth + 1)
                    };
                    let cases = [self.task_element("", "", &scope, depth + 1), other];
                    let other = self.condition(&scope);
                    format!(
                        "<cond as=\"{name}\"><case test=\"{test}\">{}</case><case test=\"{other}\">{}</case></cond>",
                        cases[0], cases[1]
                    )
                }
                3 => {
                    kind = DrawnType::Record;
                    let description = self.text_element("description", "", &scope);
                    format!(
                        "<task {attributes}>{description}<output_format type=\"json\" schema=\"s.json\"/></task>"
                    )
                }
                _ => self.task_element(&attributes, "", &scope, depth + 1),
            };
            scope.push((name, kind));
        }
        out + "</steps>"
    }

    /// Returns a part, written directly or as a wrapped task.
    fn part_element(&mut self, element: &str, scope: &[ScopeName], depth: usize) -> String {
        if depth < 3 && self.once_in(4) {
            return format!(
                "<{element}>{}</{element}>",
                self.task_element("", "", scope, depth + 1)
            );
        }
        let inside = self.task_children("atomic", "", scope, depth + 1);
        format!("<{element}>{inside}</{element}>")
    }

    fn reduce_parts(&mut self, scope: &[ScopeName], depth: usize) -> String {
        let mut scope = scope.to_vec();
        let mut out = match self.random.below(6) {
            0 => String::new(),
            1 => format!("<initial_value from=\"{}\"/>", self.random.pick(&scope).0),
            _ => self.text_element("initial_value", "", &scope),
        };
        scope.push(("current_input".to_owned(), DrawnType::Answer));
        out += &self.part_element("inner_task", &scope, depth);
        scope.extend(
            ["current_result", "accumulator"].map(|name| (name.to_owned(), DrawnType::Answer)),
        );
        out + &self.part_element("reduction_task", &scope, depth)
    }

    fn loop_parts(&mut self, scope: &[ScopeName], depth: usize) -> String {
        let mut scope = scope.to_vec();
        scope.extend([
            ("current_iteration".to_owned(), DrawnType::Number),
            ("evaluation_feedback".to_owned(), DrawnType::Answer),
        ]);
        let mut out = String::from("<max_iterations>2</max_iterations>")
            + &self.part_element("director", &scope, depth);
        scope.push(("director_result".to_owned(), DrawnType::Answer));
        if self.once_in(2) {
            out += &format!(
                "<script_execution>{}</script_execution>",
                self.command_element(&scope)
            );
            scope.push(("script_result".to_owned(), DrawnType::Answer));
        }
        let inside = self.task_children("atomic", "", &scope, depth + 1);
        out += &format!("<evaluator>{inside}</evaluator>");
        scope.push(("evaluation".to_owned(), DrawnType::Answer));
        let test = if self.once_in(2) {
            "evaluation.success == true".to_owned()
        } else {
            self.condition(&scope)
        };
        out + &format!(
            "<termination_condition><condition>{test}</condition></termination_condition>"
        )
    }

    fn command_element(&mut self, scope: &[ScopeName]) -> String {
        let name = self.random.pick(scope).0.clone();
        match self.random.below(4) {
            3 => format!(
                "<command><arg>echo</arg>{}</command>",
                self.text_element("arg", "", scope)
            ),
            0 => format!("<command shell=\"sh\">echo {{{{{name}}}}}</command>"),
            1 => format!(
                "<command>echo {{{{{name}}}}}</command><env><var name=\"WHO\">{{{{{name}}}}}</var></env>"
            ),
            _ => "<command><arg>echo</arg><arg>x</arg></command>".to_owned(),
        }
    }
}
