//! The positions of a template's texts in its files: maps every rendered line and every fault to
//! its source line.
//!
//! Reads the files that were compiled; a definition from elsewhere has no lines.

use super::answer_format::beside;
use super::fault::{Fault, FaultKind, Place};
use super::request::Files;
use super::text_lines::TextLines;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::kernel::context::Origin;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::template::model::{Definition, Fragment, Task};
use crate::template::model::{Input, Value};
use crate::template::nodes::{self, Node};
use crate::template::parts::Text;
use std::collections::BTreeMap;

/// A definition, a node and a field.
type Key = (String, String, String);

/// The line numbers of texts, from 1.
#[derive(Debug, Default)]
pub struct Lines {
    pages: BTreeMap<String, Page>,
    /// The texts of fields and of fragments, each with the path of its page.
    texts: BTreeMap<Key, (String, TextLines)>,
    fragments: BTreeMap<String, (String, TextLines)>,
    /// The lines of files that are the text of an element.
    sources: BTreeMap<String, TextLines>,
    /// The elements of fields.
    fields: BTreeMap<Key, Field>,
}

/// The position of an element, for faults that concern it.
#[derive(Debug)]
struct Field {
    path: String,
    /// The offset of its start.
    begin: u32,
    /// The span that names its subject.
    inside: Span,
}

/// The text of a file with its line index.
#[derive(Debug)]
struct Page {
    text: String,
    lines: LineIndex,
}

impl Page {
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
    fn find(&self, inside: Span, word: &str) -> Option<u32> {
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
    page: &'l Page,
}

impl LineSource<'_> {
    fn definition(&mut self, definition: &Definition<'_>, stem: &str) {
        if let Definition::Fragment(Fragment {
            name: Some(name),
            text,
            ..
        }) = definition
        {
            let lines = self.text(text);
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
        nodes::paths(task, &mut |node, id| {
            let key = |field: String| (name.clone(), id.to_owned(), field);
            match node {
                Node::Task(task) => self.task(task, &key),
                Node::Call(call) => self.inputs("args", &call.args, &key),
                Node::Cond(_) => {}
            }
        });
    }

    fn text(&mut self, text: &Text<'_>) -> TextLines {
        let source = text.src.as_ref().map(|src| beside(self.path, &src.value));
        if let Some(path) = source.filter(|path| !self.lines.sources.contains_key(path))
            && let Ok(words) = self.files.text(&path)
        {
            self.lines
                .sources
                .insert(path.clone(), TextLines::of_file(text.element, &words));
            self.lines
                .pages
                .entry(path)
                .or_insert_with(|| Page::new(words));
        }
        TextLines::of_element(text.element, text.syntax, &self.page.text, &self.page.lines)
    }

    fn add(&mut self, key: Key, text: &Text<'_>) {
        self.field(key.clone(), text.element.span().start, text.element.inner());
        let lines = self.text(text);
        self.lines.texts.insert(key, (self.path.to_owned(), lines));
    }

    fn field(&mut self, key: Key, begin: u32, inside: Span) {
        self.lines.fields.insert(
            key,
            Field {
                path: self.path.to_owned(),
                begin,
                inside,
            },
        );
    }

    fn task(&mut self, task: &Task<'_>, key: &impl Fn(String) -> Key) {
        let texts = [
            ("description", &task.description),
            ("system", &task.system),
            ("instructions", &task.instructions),
            ("criteria", &task.criteria),
        ];
        for (field, text) in texts {
            if let Some(text) = text {
                self.add(key(field.to_owned()), text);
            }
        }
        for (number, text) in task.constraints.iter().enumerate() {
            self.add(key(format!("constraints/{number}")), text);
        }
        for (number, example) in task.examples.iter().enumerate() {
            for (name, text) in [("input", &example.input), ("output", &example.output)] {
                if let Some(text) = text {
                    self.add(key(format!("examples/{number}/{name}")), text);
                }
            }
        }
        self.inputs("inputs", &task.inputs, key);
        if let Some(initial) = task
            .reduce
            .as_ref()
            .and_then(|reduce| reduce.initial.as_ref())
        {
            self.input(key("initial_value".to_owned()), initial);
        }
        if let Some(files) = &task.files {
            self.field(
                key("file_paths".to_owned()),
                files.element.span().start,
                files.element.inner(),
            );
            if let Some(text) = &files.description {
                self.add(key("file_paths/description".to_owned()), text);
            }
        }
        if let Some(output) = &task.output {
            self.field(
                key("output_format".to_owned()),
                output.element.span().start,
                output.element.inner(),
            );
        }
        for parameter in &task.parameters {
            if let Some(name) = &parameter.name {
                let element = parameter.element.span();
                self.field(
                    key(format!("parameters/{}", name.value)),
                    element.start,
                    element,
                );
            }
            if let (Some(name), Some(default)) = (&parameter.name, &parameter.default) {
                let line = self.page.lines.line(default.span.start);
                let lines = (self.path.to_owned(), TextLines::straight(line));
                self.lines
                    .texts
                    .insert(key(format!("parameters/{}", name.value)), lines);
            }
        }
    }

    fn inputs(&mut self, list: &str, inputs: &[Input<'_>], key: &impl Fn(String) -> Key) {
        for (number, input) in inputs.iter().enumerate() {
            self.input(key(format!("{list}/{number}")), input);
        }
    }

    fn input(&mut self, key: Key, input: &Input<'_>) {
        match &input.value {
            Value::Text => self.add(key, &input.text),
            Value::From(from) => self.field(key, input.text.element.span().start, from.span),
            Value::Missing | Value::Literal(_) | Value::Task(_) | Value::Call(_) => {}
        }
    }
}

impl Lines {
    /// Adds the definitions of a file, and the files that their texts come from. `stem` is the name
    /// of a definition without a name.
    pub fn add(&mut self, files: &dyn Files, path: &str, stem: &str, limits: &Limits) {
        let Ok(text) = files.text(path) else { return };
        let page = Page::new(text);
        let mut reader = Reader::new();
        reader.read(&page.text, limits);
        let file = crate::template::lower(reader.document(&page.text));
        let mut taking = LineSource {
            lines: self,
            files,
            path,
            page: &page,
        };
        for definition in &file.definitions {
            taking.definition(definition, stem);
        }
        drop(file);
        self.pages.insert(path.to_owned(), page);
    }

    /// Returns the file, line and column, from 1, of a fault: of the variable, path or fragment
    /// that it names if that is found, else of the line of the text, else of the field's element.
    pub fn fault<'l>(&'l self, fault: &'l Fault) -> Option<(&'l str, u32, u32)> {
        let word = named(&fault.kind);
        if let Some((path, first, line)) = fault.at.as_ref().and_then(|at| self.both(at)) {
            let Some((page, mut span)) = self.line(path, first) else {
                return Some((path, first, 1));
            };
            // Other elements may stand on the line where the element begins.
            let field = fault
                .place
                .as_ref()
                .and_then(|place| self.field(place))
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
                .line(path, line.max(first))
                .map_or(span.end, |(_, last)| last.end);
            let (line, column) =
                page.position(word.and_then(|word| page.find(span, word)).unwrap_or(begin));
            return Some((path, line, column));
        }
        let field = self.field(fault.place.as_ref()?)?;
        let page = self.pages.get(&field.path)?;
        let (line, column) = page.position(
            word.and_then(|word| page.find(field.inside, word))
                .unwrap_or(field.begin),
        );
        Some((&field.path, line, column))
    }

    fn field(&self, place: &Place) -> Option<&Field> {
        self.fields.get(&(
            place.definition.clone(),
            place.node.clone(),
            place.field.clone(),
        ))
    }

    fn line(&self, path: &str, line: u32) -> Option<(&Page, Span)> {
        let page = self.pages.get(path)?;
        Some((page, page.lines.line_span(&page.text, line)?))
    }

    /// Returns the file and line, from 1, of an origin; `None` for an origin without a file.
    pub fn of<'l>(&'l self, origin: &'l Origin) -> Option<(&'l str, u32)> {
        self.both(origin).map(|(path, _, line)| (path, line))
    }

    /// Returns the file, the line where the origin's line begins, and the line of its first words.
    fn both<'l>(&'l self, origin: &'l Origin) -> Option<(&'l str, u32, u32)> {
        let below = |found: &'l (String, TextLines), line: u32| {
            (found.0.as_str(), found.1.first(line), found.1.line(line))
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
fn named(kind: &FaultKind) -> Option<&str> {
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
