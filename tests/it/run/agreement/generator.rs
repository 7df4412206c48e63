//! Random projects of every construct of the language: operators, parts in both forms, inputs of every source, functions, references, fragments,
//! loops, choices, Jinja in every position. Most of them pass `check`.
#![allow(clippy::format_push_string, clippy::too_many_lines, reason = "a generator of templates is one long list of texts")]

use super::super::support::Random;
use std::collections::BTreeMap;

/// The type of a value, as far as an author knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Boolean,
    List,
    Object,
    /// The answer of an agent, which is a text.
    Answer,
}

/// A name in scope.
type Name = (String, Type);

/// A project, and what a run of it is given.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) templates: String,
    pub(super) files: BTreeMap<String, String>,
}

/// Definitions that others refer to.
const DEFINITIONS: &str = r#"
<fragment name="g0">Be brief.</fragment>
<fragment name="g1">Mind {{a0}}.</fragment>
<template name="f0" params="x"><task><description>Look.</description><instructions>At {{x}}</instructions></task></template>
<template name="f1" params="x, y" returns="object"><task><description>Compare {{x}}.</description>
  <inputs><input name="k" from="y"/></inputs><output_format type="json" schema="object"/></task></template>
<template name="f2" params="x"><task type="sequential"><description>Twice.</description>
  <steps><task as="z"><description>Once {{x}}</description></task><task><description>Again {{z}}</description></task></steps></task></template>
<task name="q0"><description>Answer {{a0}}.</description></task>
<task name="q1"><description>Count.</description><parameters><parameter name="n1" type="number" required="true"/>
  <parameter name="w" default="few"/></parameters><instructions syntax="jinja">{{ n1 + 1 }} {{ w }}</instructions></task>
<task type="sequential" name="q2"><description>Chain.</description><steps><task as="e0"><description>One.</description></task>
  <task><description>Two {{e0}}</description></task></steps></task>
"#;

#[derive(Debug)]
struct Generator<'r> {
    random: &'r mut Random,
    next: usize,
}

/// Draws a project.
pub(super) fn draw(random: &mut Random) -> Drawn {
    let mut generator = Generator { random, next: 0 };
    let (parameters, scope) = generator.parameters();
    let root = generator.body("name=\"t\"", &parameters, &scope, 0);
    let files = [
        ("guide.md", "Be kind."),
        (
            "s.json",
            r#"{"type": "object", "properties": {"v": {"type": "string"}, "k": {"enum": ["a", "b"]}}, "required": ["v", "k"]}"#,
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
    Drawn { templates: format!("<library>{root}{DEFINITIONS}</library>"), files }
}

impl Generator<'_> {
    fn once_in(&mut self, times: usize) -> bool {
        self.random.once_in(times)
    }

    fn pick<'p>(&mut self, from: &[&'p str]) -> &'p str {
        from[self.random.below(from.len())]
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.next += 1;
        format!("{letter}{}", self.next)
    }

    /// The parameters of the root: declared ones, or none, so that free names are implicit parameters.
    fn parameters(&mut self) -> (String, Vec<Name>) {
        let names = [
            ("a0", Type::Text),
            ("b1", Type::Text),
            ("n1", Type::Number),
            ("c1", Type::Boolean),
            ("l1", Type::List),
            ("o1", Type::Object),
        ];
        let owned = |kind: &dyn Fn(Type) -> bool| -> Vec<Name> {
            names.iter().filter(|(_, own)| kind(*own)).map(|(name, kind)| ((*name).to_owned(), *kind)).collect()
        };
        if self.once_in(4) {
            let texts = owned(&|kind| kind == Type::Text);
            return (String::new(), texts);
        }
        let mut out = String::from("<parameters>");
        for (name, kind) in names {
            let (word, default) = match kind {
                Type::Number => ("number", "3"),
                Type::Boolean => ("boolean", "true"),
                Type::List => ("string[]", "[\"one\", \"two\"]"),
                Type::Object => ("object", if self.once_in(4) { "{}" } else { "{\"v\": \"word\", \"k\": 2}" }),
                Type::Text | Type::Answer => ("string", "some words"),
            };
            let trust = if self.once_in(6) { " trust=\"untrusted\"" } else { "" };
            if self.once_in(3) {
                out += &format!("<parameter name='{name}' type='{word}' default='{default}'{trust}/>");
            } else {
                out += &format!("<parameter name='{name}' type='{word}' required='true'{trust}/>");
            }
        }
        (out + "</parameters>", owned(&|_| true))
    }

    /// A task with attributes of its own.
    fn body(&mut self, attributes: &str, head: &str, scope: &[Name], depth: usize) -> String {
        let kind = match self.random.below(if depth > 2 { 3 } else { 10 }) {
            0..=2 => "atomic",
            3..=5 => "sequential",
            6 | 7 => "reduce",
            8 => "director_evaluator_loop",
            _ => "script",
        };
        let is_plain = kind == "atomic" && self.once_in(2);
        let subtype = if kind == "atomic" && depth > 0 && self.once_in(8) { " subtype=\"subtask\"" } else { "" };
        let kind_attribute = if is_plain { String::new() } else { format!(" type=\"{kind}\"") };
        let inside = self.inside(kind, head, scope, depth);
        format!("<task {attributes}{kind_attribute}{subtype}>{inside}</task>")
    }

    /// The children of a body of a type.
    fn inside(&mut self, kind: &str, head: &str, scope: &[Name], depth: usize) -> String {
        let mut scope = scope.to_vec();
        let mut out = head.to_owned();
        if head.is_empty() && depth > 0 && self.once_in(8) {
            let (name, own) = self.random.pick(&scope).clone();
            let word = match own {
                Type::Number => "number",
                Type::Boolean => "boolean",
                Type::List => "string[]",
                Type::Object => "object",
                Type::Text | Type::Answer => "string",
            };
            out += &format!("<parameters><parameter name=\"{name}\" type=\"{word}\" required=\"true\"/></parameters>");
        }
        let is_reduce = kind == "reduce";
        let inputs = if is_reduce { 1 + self.random.below(3) } else { self.random.below(8).saturating_sub(4) };
        if inputs > 0 && kind != "script" || is_reduce {
            out += &self.inputs(inputs, &mut scope, depth);
        }
        let description = self.text("description", "", &scope);
        out += &description;
        if kind != "script" {
            out += &self.settings(kind);
        }
        match kind {
            "sequential" => out += &self.steps(&scope, depth),
            "reduce" => out += &self.fold(&scope, depth),
            "director_evaluator_loop" => out += &self.cycle(&scope, depth),
            "script" => out += &self.command(&scope),
            _ => out += &self.agent(&scope),
        }
        out
    }

    fn settings(&mut self, kind: &str) -> String {
        if !self.once_in(3) {
            return String::new();
        }
        let (inherit, fresh) = match self.random.below(4) {
            0 => ("none", "enabled"),
            1 => ("none", "disabled"),
            2 => ("subset", "disabled"),
            _ => ("full", "disabled"),
        };
        let format = if matches!(kind, "sequential" | "director_evaluator_loop") && self.once_in(2) {
            "<accumulation_format>full_output</accumulation_format><accumulate_data>true</accumulate_data>"
        } else {
            ""
        };
        format!(
            "<context_management><inherit_context>{inherit}</inherit_context>{format}<fresh_context>{fresh}</fresh_context></context_management>"
        )
    }

    /// What only an agent has.
    fn agent(&mut self, scope: &[Name]) -> String {
        let mut out = String::new();
        for (element, times) in [("instructions", 2), ("criteria", 5), ("system", 6)] {
            if self.once_in(times) {
                out += &self.text(element, "", scope);
            }
        }
        if self.once_in(5) {
            out += &format!(
                "<constraints>{}{}</constraints>",
                self.text("constraint", "", scope),
                self.text("constraint", "", scope)
            );
        }
        if self.once_in(8) {
            out += &format!("<examples><example>{}<output>yes</output></example></examples>", self.text("input", "", scope));
        }
        if self.once_in(8) {
            out += "<file_paths source=\"literal\"><path>guide.md</path></file_paths>";
        }
        if self.once_in(4) {
            let schema = self.pick(&["object", "array", "string[]", "number", "boolean", "s.json"]);
            out += &format!("<output_format type=\"json\" schema=\"{schema}\"/>");
        }
        out
    }

    fn inputs(&mut self, count: usize, scope: &mut Vec<Name>, depth: usize) -> String {
        let mut out = String::from("<inputs>");
        for _ in 0..count {
            let name = self.fresh("i");
            let (element, kind) = match self.random.below(if depth > 2 { 4 } else { 8 }) {
                0 => (self.text("input", &format!(" name=\"{name}\""), scope), Type::Text),
                1 | 2 => {
                    let (from, kind) = self.random.pick(scope).clone();
                    let trust = if self.once_in(6) { " trust=\"untrusted\"" } else { "" };
                    (format!("<input name=\"{name}\" from=\"{from}\"{trust}/>"), kind)
                }
                3 | 4 => (format!("<input name=\"{name}\">{}</input>", self.call("", scope)), Type::Answer),
                _ => (format!("<input name=\"{name}\">{}</input>", self.body("", "", scope, depth + 1)), Type::Answer),
            };
            out += &element;
            scope.push((name, kind));
        }
        out + "</inputs>"
    }

    /// A call or a reference.
    fn call(&mut self, attributes: &str, scope: &[Name]) -> String {
        let from = self.random.pick(scope).0.clone();
        match self.random.below(6) {
            0 => format!("<call template=\"f0\" {attributes}><arg from=\"{from}\"/></call>"),
            1 => format!(
                "<call template=\"f1\" {attributes}><arg name=\"y\" from=\"{from}\"/>{}</call>",
                self.text("arg", " name=\"x\"", scope)
            ),
            2 => format!("<call template=\"f2\" {attributes}><arg name=\"x\" from=\"{from}\"/></call>"),
            3 => format!("<task ref=\"q0\" {attributes}/>"),
            4 => format!("<task ref=\"q1\" {attributes}/>"),
            _ => format!("<task ref=\"q2\" {attributes}/>"),
        }
    }

    fn steps(&mut self, scope: &[Name], depth: usize) -> String {
        let mut scope = scope.to_vec();
        let mut out = String::from("<steps>");
        for _ in 0..=self.random.below(3) {
            let name = self.fresh("s");
            let attributes = format!("as=\"{name}\"");
            out += &match self.random.below(8) {
                0 | 1 => self.call(&attributes, &scope),
                2 => {
                    let test = self.condition(&scope);
                    let cases = [self.body("", "", &scope, depth + 1), self.body("", "", &scope, depth + 1)];
                    let other = self.condition(&scope);
                    format!(
                        "<cond {attributes}><case test=\"{test}\">{}</case><case test=\"{other}\">{}</case></cond>",
                        cases[0], cases[1]
                    )
                }
                _ => self.body(&attributes, "", &scope, depth + 1),
            };
            scope.push((name, Type::Answer));
        }
        out + "</steps>"
    }

    /// A part in place, or with a task in it.
    fn part(&mut self, element: &str, scope: &[Name], depth: usize) -> String {
        if depth < 3 && self.once_in(4) {
            return format!("<{element}>{}</{element}>", self.body("", "", scope, depth + 1));
        }
        let inside = self.inside("atomic", "", scope, depth + 1);
        format!("<{element}>{inside}</{element}>")
    }

    fn fold(&mut self, scope: &[Name], depth: usize) -> String {
        let mut scope = scope.to_vec();
        let mut out = match self.random.below(6) {
            0 => String::new(),
            1 => format!("<initial_value from=\"{}\"/>", self.random.pick(&scope).0),
            _ => self.text("initial_value", "", &scope),
        };
        scope.push(("current_input".to_owned(), Type::Answer));
        out += &self.part("inner_task", &scope, depth);
        scope.extend(["current_result", "accumulator"].map(|name| (name.to_owned(), Type::Answer)));
        out + &self.part("reduction_task", &scope, depth)
    }

    fn cycle(&mut self, scope: &[Name], depth: usize) -> String {
        let mut scope = scope.to_vec();
        scope.extend([("current_iteration".to_owned(), Type::Number), ("evaluation_feedback".to_owned(), Type::Answer)]);
        let mut out = String::from("<max_iterations>2</max_iterations>") + &self.part("director", &scope, depth);
        scope.push(("director_result".to_owned(), Type::Answer));
        if self.once_in(2) {
            out += &format!("<script_execution>{}</script_execution>", self.command(&scope));
            scope.push(("script_result".to_owned(), Type::Answer));
        }
        let inside = self.inside("atomic", "", &scope, depth + 1);
        out += &format!("<evaluator>{inside}</evaluator>");
        scope.push(("evaluation".to_owned(), Type::Answer));
        let test = if self.once_in(2) { "evaluation.success == true".to_owned() } else { self.condition(&scope) };
        out + &format!("<termination_condition><condition>{test}</condition></termination_condition>")
    }

    fn command(&mut self, scope: &[Name]) -> String {
        let name = self.random.pick(scope).0.clone();
        match self.random.below(3) {
            0 => format!("<command shell=\"sh\">echo {{{{{name}}}}}</command>"),
            1 => format!("<command>echo {{{{{name}}}}}</command><env><var name=\"WHO\">{{{{{name}}}}}</var></env>"),
            _ => "<command><arg>echo</arg><arg>x</arg></command>".to_owned(),
        }
    }

    fn condition(&mut self, scope: &[Name]) -> String {
        let (name, kind) = self.random.pick(scope).clone();
        let one = match kind {
            Type::Number => format!("{name} {} {}", self.pick(&["lt", "ge", "=="]), self.random.below(5)),
            Type::Boolean => self.pick(&["c1", "not c1", "c1 == true"]).replace("c1", &name),
            Type::Text | Type::List | Type::Object | Type::Answer => {
                format!("{name} {} '{}'", self.pick(&["==", "!="]), self.pick(&["x", "words"]))
            }
        };
        let (other, _) = self.random.pick(scope).clone();
        match self.random.below(4) {
            0 => format!("{one} or {other} != 'y'"),
            1 => format!("({one}) and {other} != 'y'"),
            _ => one,
        }
    }

    /// A text that may name values, in one of the ways in which the language has it.
    fn text(&mut self, element: &str, attributes: &str, scope: &[Name]) -> String {
        let (name, kind) = self.random.pick(scope).clone();
        let may_call = matches!(element, "description" | "instructions" | "criteria" | "constraint");
        let (syntax, words) = match self.random.below(9) {
            0 | 1 => ("", "Some words.".to_owned()),
            2 | 3 => ("", format!("See {{{{{name}}}}}.")),
            4 if kind == Type::Object => ("", format!("See {{{{{name}.v}}}}.")),
            4 => ("", "Keep to this: <use fragment=\"g0\"/>".to_owned()),
            5 if may_call => ("", format!("Of {{{{f0({name})}}}}.")),
            6 => (" syntax=\"jinja\"", format!("{} <use fragment=\"g1\"/>", self.jinja(&name, kind))),
            _ => (" syntax=\"jinja\"", format!("It is {}", self.jinja(&name, kind))),
        };
        format!("<{element}{attributes}{syntax}>{words}</{element}>")
    }

    /// A form in which Jinja reads a value.
    fn jinja(&mut self, name: &str, kind: Type) -> String {
        let any = [
            "{% if x %}so{% endif %}",
            "{% if false %}a{% elif x %}b{% else %}c{% endif %}",
            "{{ 'a' if x else 'b' }}",
            "{{ x is defined }}",
            "{% if x == 'a' %}one{% endif %}",
            "{% set v = x %}{{ v }}",
            "{% with v = x %}{{ v }}{% endwith %}",
            "{% macro m(p) %}{{ p }}{% endmacro %}{{ m(x) }}",
            "{% for v in [x] %}{{ v }}{% endfor %}",
            "{{ x|default('d') }}",
            "{% if x is string and x %}s{% endif %}",
            "{% set v %}{{ x }}{% endset %}{{ v|upper }}",
            "{{ x }}",
        ];
        let more: &[&str] = match kind {
            Type::Text | Type::Answer => &["{{ x|string|upper }}", "{{ x|string|length }}", "{{ 'p' ~ x }}"],
            Type::Number => &["{{ x + 1 }}", "{% if x > 2 %}many{% endif %}", "{{ x|round }}"],
            Type::Boolean => &["{{ not x }}"],
            Type::List => &["{% for v in x %}- {{ v }}\n{% endfor %}", "{{ x|join(', ') }}", "{{ x|length }}"],
            Type::Object => &["{{ x.v }}", "{% if x.v %}{{ x.v }}{% endif %}", "{% for k, v in x|items %}{{ k }}{% endfor %}"],
        };
        let at = self.random.below(any.len() + 2 * more.len());
        let form = any.get(at).or_else(|| more.get((at - any.len()) / 2)).copied().unwrap_or("{{ x }}");
        // The letter alone stands for the name.
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut out = String::new();
        let mut before = ' ';
        let letters: Vec<char> = form.chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            let next = letters.get(at + 1).copied().unwrap_or(' ');
            if *letter == 'x' && !is_word(before) && !is_word(next) {
                out += name;
            } else {
                out.push(*letter);
            }
            before = *letter;
        }
        out.replace('>', "&gt;")
    }
}
