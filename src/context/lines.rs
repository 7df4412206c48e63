//! The positions of a template's texts in its files: maps every rendered line and every fault to
//! its source line.
//!
//! Reads the files that were compiled; a definition from elsewhere has no lines.

use super::answer_format::path_beside_template;
use super::fault::{Fault, FaultKind, FaultPlace};
use super::request::Files;
use super::text_lines::TextLines;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::kernel::context::Origin;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::template::model::{Definition, Fragment, TaskBody, TaskInput, TaskInputValue};
use crate::template::nodes::{self, TaskNode};
use crate::template::parts::TextElement;
use std::collections::BTreeMap;

/// A definition, a node and a field.
type FieldKey = (String, String, String);

/// The line numbers of texts, from 1.
#[derive(Debug, Default)]
pub struct Lines {
    pages: BTreeMap<String, SourcePage>,
    /// The texts of fields and of fragments, each with the path of its page.
    texts: BTreeMap<FieldKey, (String, TextLines)>,
    fragments: BTreeMap<String, (String, TextLines)>,
    /// The lines of files that are the text of an element.
    sources: BTreeMap<String, TextLines>,
    /// The elements of fields.
    fields: BTreeMap<FieldKey, FieldElement>,
}

/// The position of an element, for faults that concern it.
#[derive(Debug)]
struct FieldElement {
    path: String,
    /// The offset of its start.
    begin: u32,
    /// The span that names its subject.
    inside: Span,
}

/// The text of a file with its line index.
#[derive(Debug)]
struct SourcePage {
    text: String,
    lines: LineIndex,
}

impl SourcePage {
    fn new(text: String) -> Self {
        Self {
            lines: LineIndex::new(&text),
            text,
        }
    }

    /// Returns the line and column, both from 1.
    fn position(&self, offset: u32) -> (u32, u32) {
        let position = self.lines.position(&self.text, offset);
        (position.line, position.column)
    }

    /// Returns the offset of a word in a part of the page, skipping longer words that contain it.
    fn find_word(&self, inside: Span, word: &str) -> Option<u32> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let text = inside.slice(&self.text);
        let found = text.match_indices(word).map(|(at, _)| at).find(|&at| {
            let before = text.get(..at).unwrap_or("");
            let behind = text.get(at + word.len()..).unwrap_or("");
            // A variable stands in a tag; a path and a fragment stand by themselves.
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        });
        found.map(|at| inside.start + at as u32)
    }
}

/// Collects the lines of one file.
struct LineSource<'l> {
    lines: &'l mut Lines,
    files: &'l dyn Files,
    path: &'l str,
    page: &'l SourcePage,
}

impl LineSource<'_> {
    fn add_definition(&mut self, definition: &Definition<'_>, stem: &str) {
        if let Definition::Fragment(Fragment {
            name: Some(name),
            text,
            ..
        }) = definition
        {
            let lines = self.text_lines(text);
            self.lines
                .fragments
                .insert(name.value.to_string(), (self.path.to_owned(), lines));
        }
        let Some(task) = definition.task() else {
            return;
        };
        let named = match definition {
            Definition::Template(template) => template.name.as_ref(),
            Definition::Task(task) => task.name.as_ref(),
            Definition::Fragment(_) => None,
        };
        let name = named.map_or_else(|| stem.to_owned(), |name| name.value.to_string());
        nodes::visit_nodes(task, &mut |node, id| {
            let key = |field: String| (name.clone(), id.to_owned(), field);
            match node {
                TaskNode::Task(task) => self.add_task(task, &key),
                TaskNode::Call(call) => self.add_inputs("args", &call.args, &key),
                TaskNode::Cond(_) => {}
            }
        });
    }

    fn text_lines(&mut self, text: &TextElement<'_>) -> TextLines {
        let source = text
            .src
            .as_ref()
            .map(|src| path_beside_template(self.path, &src.value));
        if let Some(path) = source.filter(|path| !self.lines.sources.contains_key(path))
            && let Ok(words) = self.files.text(&path)
        {
            self.lines
                .sources
                .insert(path.clone(), TextLines::from_file(text.element, &words));
            self.lines
                .pages
                .entry(path)
                .or_insert_with(|| SourcePage::new(words));
        }
        TextLines::from_element(text.element, text.syntax, &self.page.text, &self.page.lines)
    }

    fn add_text(&mut self, key: FieldKey, text: &TextElement<'_>) {
        self.add_field(key.clone(), text.element.span().start, text.element.inner());
        let lines = self.text_lines(text);
        self.lines.texts.insert(key, (self.path.to_owned(), lines));
    }

    fn add_field(&mut self, key: FieldKey, begin: u32, inside: Span) {
        self.lines.fields.insert(
            key,
            FieldElement {
                path: self.path.to_owned(),
                begin,
                inside,
            },
        );
    }

    fn add_task(&mut self, task: &TaskBody<'_>, key: &impl Fn(String) -> FieldKey) {
        let texts = [
            ("description", &task.description),
            ("system", &task.system),
            ("instructions", &task.instructions),
            ("criteria", &task.criteria),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                self.add_text(key(field.to_owned()), text);
            }
        }
        for (number, text) in task.constraints.iter().enumerate() {
            self.add_text(key(format!("constraints/{number}")), text);
        }
        for (number, example) in task.examples.iter().enumerate() {
            for (name, text) in [("input", &example.input), ("output", &example.output)] {
                if let Some(text) = text {
                    self.add_text(key(format!("examples/{number}/{name}")), text);
                }
            }
        }
        self.add_inputs("inputs", &task.inputs, key);
        if let Some(initial) = task
            .reduce
            .as_ref()
            .and_then(|reduce| reduce.initial.as_ref())
        {
            self.add_input(key("initial_value".to_owned()), initial);
        }
        if let Some(files) = &task.files {
            self.add_field(
                key("file_paths".to_owned()),
                files.element.span().start,
                files.element.inner(),
            );
            if let Some(text) = &files.description {
                self.add_text(key("file_paths/description".to_owned()), text);
            }
        }
        if let Some(output) = &task.output {
            self.add_field(
                key("output_format".to_owned()),
                output.element.span().start,
                output.element.inner(),
            );
        }
        for parameter in &task.parameters {
            if let Some(name) = &parameter.name {
                let element = parameter.element.span();
                self.add_field(
                    key(format!("parameters/{}", name.value)),
                    element.start,
                    element,
                );
            }
            if let (Some(name), Some(default)) = (&parameter.name, &parameter.default) {
                let line = self.page.lines.line_number(default.span.start);
                let lines = (self.path.to_owned(), TextLines::consecutive(line));
                self.lines
                    .texts
                    .insert(key(format!("parameters/{}", name.value)), lines);
            }
        }
    }

    fn add_inputs(
        &mut self,
        list: &str,
        inputs: &[TaskInput<'_>],
        key: &impl Fn(String) -> FieldKey,
    ) {
        for (number, input) in inputs.iter().enumerate() {
            self.add_input(key(format!("{list}/{number}")), input);
        }
    }

    fn add_input(&mut self, key: FieldKey, input: &TaskInput<'_>) {
        match &input.value {
            TaskInputValue::Text => self.add_text(key, &input.text),
            TaskInputValue::From(from) => {
                self.add_field(key, input.text.element.span().start, from.span);
            }
            TaskInputValue::Missing
            | TaskInputValue::Literal(_)
            | TaskInputValue::Task(_)
            | TaskInputValue::Call(_) => {}
        }
    }
}

impl Lines {
    /// Adds the definitions of a file, and the files that their texts come from. `stem` is the name
    /// of a definition without a name.
    pub fn add_file(&mut self, files: &dyn Files, path: &str, stem: &str, limits: &XmlLimits) {
        let Ok(text) = files.text(path) else { return };
        let page = SourcePage::new(text);
        let mut reader = XmlReader::new();
        reader.read(&page.text, limits);
        let file = crate::template::lower_document(reader.document(&page.text));
        let mut taking = LineSource {
            lines: self,
            files,
            path,
            page: &page,
        };
        for definition in &file.definitions {
            taking.add_definition(definition, stem);
        }
        drop(file);
        self.pages.insert(path.to_owned(), page);
    }

    /// Returns the file, line and column, from 1, of a fault: of the variable, path or fragment
    /// that it names if that is found, else of the line of the text, else of the field's element.
    pub fn locate_fault<'l>(&'l self, fault: &'l Fault) -> Option<(&'l str, u32, u32)> {
        let word = subject_word(&fault.kind);
        if let Some((path, first, line)) = fault.at.as_ref().and_then(|at| self.origin_lines(at)) {
            let Some((page, mut span)) = self.line_span(path, first) else {
                return Some((path, first, 1));
            };
            // Other elements may stand on the line where the element begins.
            let field = fault
                .place
                .as_ref()
                .and_then(|place| self.find_field(place))
                .filter(|field| field.path == path);
            span.start = field
                .map(|field| field.inside.start)
                .filter(|at| (span.start..span.end).contains(at))
                .unwrap_or(span.start);
            let words = span.slice(&page.text);
            let begin = span.start + (words.len() - words.trim_start().len()) as u32;
            // Behind a Jinja statement or comment, a word of the text's line may stand on a later
            // line of the file.
            span.end = self
                .line_span(path, line.max(first))
                .map_or(span.end, |(_, last)| last.end);
            let (line, column) = page.position(
                word.and_then(|word| page.find_word(span, word))
                    .unwrap_or(begin),
            );
            return Some((path, line, column));
        }
        let field = self.find_field(fault.place.as_ref()?)?;
        let page = self.pages.get(&field.path)?;
        let (line, column) = page.position(
            word.and_then(|word| page.find_word(field.inside, word))
                .unwrap_or(field.begin),
        );
        Some((&field.path, line, column))
    }

    fn find_field(&self, place: &FaultPlace) -> Option<&FieldElement> {
        self.fields.get(&(
            place.definition.clone(),
            place.node.clone(),
            place.field.clone(),
        ))
    }

    fn line_span(&self, path: &str, line: u32) -> Option<(&SourcePage, Span)> {
        let page = self.pages.get(path)?;
        Some((page, page.lines.line_span(&page.text, line)?))
    }

    /// Returns the file and line, from 1, of an origin; `None` for an origin without a file.
    pub fn locate_origin<'l>(&'l self, origin: &'l Origin) -> Option<(&'l str, u32)> {
        self.origin_lines(origin)
            .map(|(path, _, line)| (path, line))
    }

    /// Returns the file, the line where the origin's line begins, and the line of its first words.
    fn origin_lines<'l>(&'l self, origin: &'l Origin) -> Option<(&'l str, u32, u32)> {
        let below = |found: &'l (String, TextLines), line: u32| {
            (
                found.0.as_str(),
                found.1.first_line(line),
                found.1.line(line),
            )
        };
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other text stands in a file"
        )]
        match origin {
            Origin::Template {
                task,
                node,
                field,
                line,
            } => {
                let key = (task.clone(), node.clone(), field.clone());
                self.texts.get(&key).map(|found| below(found, *line))
            }
            Origin::Fragment { name, line } => {
                self.fragments.get(name).map(|found| below(found, *line))
            }
            // A file that is the text of an element has lost its leading blank lines.
            Origin::File { path, line } => {
                let line = self
                    .sources
                    .get(path)
                    .map_or(line + 1, |lines| lines.line(*line));
                Some((path, line, line))
            }
            _ => None,
        }
    }
}

/// Returns the word of a template that a fault is about.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "all others are about a field as a whole"
)]
fn subject_word(kind: &FaultKind) -> Option<&str> {
    match kind {
        FaultKind::Missing { name, .. }
        | FaultKind::NoPart { name, .. }
        | FaultKind::NoFragment { name }
        | FaultKind::UntrustedInSystem { name }
        | FaultKind::UntrustedInShell { name }
        | FaultKind::UntrustedInBare { name } => Some(name),
        FaultKind::File { path, .. } => Some(path),
        FaultKind::Jinja { words, .. } => words.as_deref(),
        _ => None,
    }
}
