//! What a task says itself, its settings and the tasks inside it apart: the `body` of a node.
//!
//! One field for each element of the language, in one fixed order, left out where nothing is written: neither layout nor
//! the order of elements and attributes reaches the bytes.

use super::artifact::ReferenceKind;
use super::json::Json;
use super::texts::{self, Sources};
use crate::syntax::tree::Element;
use crate::template::model::{Str, Task};
use crate::template::parts::{Call, Command, Cond, Cycle, Env, FilePaths, Input, Script, Text, Trust, Value};

/// Writes the fields of one body.
pub(super) struct Body<'o, 's> {
    pub(super) out: &'o mut Json,
    pub(super) sources: &'s dyn Sources,
    /// What the body refers to, in the order of its fields.
    pub(super) references: &'o mut Vec<(ReferenceKind, String)>,
}

impl Body<'_, '_> {
    /// `"body":{…}` of a task.
    pub(super) fn task(&mut self, task: &Task<'_>) {
        self.out.raw("{");
        self.reference("ref", ReferenceKind::Ref, task.reference.as_ref());
        self.word("version", task.version.as_ref());
        self.text("description", task.description.as_ref());
        self.text("system", task.system.as_ref());
        self.text("instructions", task.instructions.as_ref());
        self.text("criteria", task.criteria.as_ref());
        self.texts("constraints", &task.constraints);
        self.word("provider", task.provider.as_ref());
        self.word("model", task.model.as_ref());
        self.word("fallback", task.fallback.as_ref());
        self.parameters(task);
        self.inputs("inputs", &task.inputs);
        self.relevance(task);
        if let Some(files) = &task.files {
            self.files(files);
        }
        self.output(task);
        self.history(task);
        self.examples(task);
        if let Some(initial) = task.reduce.as_ref().and_then(|reduce| reduce.initial.as_ref()) {
            self.out.key("initial_value");
            self.input(initial);
        }
        if let Some(script) = &task.script {
            self.script(script);
        }
        if let Some(cycle) = &task.cycle {
            self.cycle(cycle);
        }
        self.elements("deprecated", task.deprecated.iter().map(|(_, element)| *element));
        self.elements("extensions", task.extensions.iter().copied());
        self.out.raw("}");
    }

    /// `"body":{…}` of a call.
    pub(super) fn call(&mut self, call: &Call<'_>) {
        self.out.raw("{");
        self.reference("template", ReferenceKind::Call, call.template.as_ref());
        self.inputs("args", &call.args);
        self.out.raw("}");
    }

    /// `"body":{…}` of a choice: its tests, in the order of its children.
    pub(super) fn cond(&mut self, cond: &Cond<'_>) {
        self.out.raw("{");
        self.out.key("tests");
        self.out.raw("[");
        for case in &cond.cases {
            self.out.item();
            self.out.optional(case.test.as_ref().map(|test| &*test.value));
        }
        self.out.raw("]}");
    }

    fn word(&mut self, key: &str, word: Option<&Str<'_>>) {
        if let Some(word) = word {
            self.out.key(key);
            self.out.str(&word.value);
        }
    }

    fn reference(&mut self, key: &str, kind: ReferenceKind, word: Option<&Str<'_>>) {
        self.word(key, word);
        self.references.extend(word.map(|word| (kind, word.value.to_string())));
    }

    fn text(&mut self, key: &str, text: Option<&Text<'_>>) {
        if let Some(text) = text {
            self.out.key(key);
            texts::write(text, self.sources, self.out, self.references);
        }
    }

    fn texts<'a>(&mut self, key: &str, texts: impl IntoIterator<Item = &'a Text<'a>, IntoIter: ExactSizeIterator>) {
        let texts = texts.into_iter();
        if texts.len() == 0 {
            return;
        }
        self.out.key(key);
        self.out.raw("[");
        for text in texts {
            self.out.item();
            texts::write(text, self.sources, self.out, self.references);
        }
        self.out.raw("]");
    }

    fn parameters(&mut self, task: &Task<'_>) {
        if task.parameters_element.is_none() {
            return;
        }
        self.out.key("parameters");
        self.out.raw("[");
        for parameter in &task.parameters {
            self.out.item();
            self.out.raw("{");
            self.word("name", parameter.name.as_ref());
            self.word("type", parameter.kind.as_ref());
            self.out.key("required");
            self.out.bool(parameter.is_required());
            self.word("default", parameter.default.as_ref());
            self.trust(parameter.trust);
            self.out.raw("}");
        }
        self.out.raw("]");
    }

    fn inputs(&mut self, key: &str, inputs: &[Input<'_>]) {
        if inputs.is_empty() {
            return;
        }
        self.out.key(key);
        self.out.raw("[");
        for input in inputs {
            self.out.item();
            self.input(input);
        }
        self.out.raw("]");
    }

    fn input(&mut self, input: &Input<'_>) {
        self.out.raw("{");
        self.word("name", input.name.as_ref());
        match &input.value {
            Value::Missing => {}
            Value::From(from) => self.reference("from", ReferenceKind::From, Some(from)),
            Value::Text => {
                self.text("value", Some(&input.text));
                self.out.raw("}");
                return;
            }
            // The task or call is a child of the node; its slot has the number of this input.
            Value::Task(_) => self.flag("value", "task"),
            Value::Call(_) => self.flag("value", "call"),
        }
        self.trust(input.text.trust);
        self.out.raw("}");
    }

    fn flag(&mut self, key: &str, word: &str) {
        self.out.key(key);
        self.out.str(word);
    }

    fn trust(&mut self, trust: Trust) {
        if trust == Trust::Untrusted {
            self.flag("trust", "untrusted");
        }
    }

    fn relevance(&mut self, task: &Task<'_>) {
        if task.relevance.is_empty() {
            return;
        }
        self.out.key("context_relevance");
        self.out.raw("[");
        for input in &task.relevance {
            self.out.item();
            self.out.raw("{");
            self.word("name", input.name.as_ref());
            self.out.key("include");
            self.out.bool(input.include);
            self.out.raw("}");
        }
        self.out.raw("]");
    }

    fn files(&mut self, files: &FilePaths<'_>) {
        self.out.key("file_paths");
        self.out.raw("{");
        self.flag("source", files.source.word());
        if !files.paths.is_empty() {
            self.out.key("paths");
            self.out.raw("[");
            for path in &files.paths {
                self.out.item();
                self.out.str(&path.value);
            }
            self.out.raw("]");
        }
        self.word("command", files.command.as_ref());
        self.text("description", files.description.as_ref());
        self.out.raw("}");
    }

    fn output(&mut self, task: &Task<'_>) {
        let Some(output) = &task.output else { return };
        self.out.key("output_format");
        self.out.raw("{");
        self.word("type", output.kind.as_ref());
        self.word("schema", output.schema.as_ref());
        if let Some(content) = output.schema_file().and_then(|file| self.sources.schema(&file.value)) {
            self.out.key("content");
            self.out.raw(content);
        }
        self.out.raw("}");
    }

    fn history(&mut self, task: &Task<'_>) {
        let Some(history) = &task.history else { return };
        self.out.key("history");
        self.out.raw("{");
        for (key, number) in [("turns", history.turns), ("tokens", history.tokens)] {
            if let Some(number) = number {
                self.out.key(key);
                self.out.number(u64::from(number));
            }
        }
        if history.compacted {
            self.out.key("compacted");
            self.out.bool(true);
        }
        self.out.raw("}");
    }

    fn examples(&mut self, task: &Task<'_>) {
        if task.examples.is_empty() {
            return;
        }
        self.out.key("examples");
        self.out.raw("[");
        for example in &task.examples {
            self.out.item();
            self.out.raw("{");
            self.text("input", example.input.as_ref());
            self.text("output", example.output.as_ref());
            self.out.raw("}");
        }
        self.out.raw("]");
    }

    fn script(&mut self, script: &Script<'_>) {
        if let Some(command) = &script.command {
            self.command(command);
        }
        if let Some(timeout) = script.timeout_ms {
            self.out.key("timeout_ms");
            self.out.number(timeout.value);
        }
        if let Some(env) = &script.env {
            self.env(env);
        }
        self.word("cwd", script.cwd.as_ref());
    }

    fn command(&mut self, command: &Command<'_>) {
        self.out.key("command");
        self.out.raw("{");
        if command.args.is_empty() {
            self.text("line", Some(&command.text));
        } else {
            self.texts("args", &command.args);
        }
        self.word("shell", command.shell.as_ref());
        self.out.raw("}");
    }

    fn env(&mut self, env: &Env<'_>) {
        self.out.key("env");
        self.out.raw("{");
        self.flag("inherit", env.inherit.as_ref().map_or("none", |word| &word.value));
        self.out.key("vars");
        self.out.raw("[");
        for (name, value) in &env.vars {
            self.out.item();
            self.out.raw("{");
            self.word("name", name.as_ref());
            self.text("value", Some(value));
            self.out.raw("}");
        }
        self.out.raw("]}");
    }

    fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.out.key("max_iterations");
        // The language's default, so that nothing is left to be resolved at run time.
        self.out.number(u64::from(cycle.max_iterations.map_or(5, |count| count.value)));
        self.word("termination_condition", cycle.condition.as_ref());
    }

    /// Elements that are kept as they are written.
    fn elements<'a>(&mut self, key: &str, elements: impl ExactSizeIterator<Item = Element<'a>>) {
        if elements.len() == 0 {
            return;
        }
        self.out.key(key);
        self.out.raw("[");
        for element in elements {
            self.out.item();
            self.out.raw("{\"element\":");
            self.out.str(element.name());
            self.out.raw(",\"xml\":");
            self.out.str(element.span().slice(element.document().text));
            self.out.raw("}");
        }
        self.out.raw("]");
    }
}
