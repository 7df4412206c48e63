//! Where the texts of a template stand in its file: so that every line of a render leads back to the one it was written on.
//!
//! Reads the text of a file that was compiled; a definition that is not in it has no lines.

use super::fault::{FaultKind, Place};
use crate::base::source::LineIndex;
use crate::kernel::context::Origin;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::Element;
use crate::template::model::{Definition, Fragment, Task};
use crate::template::nodes::{self, Node};
use crate::template::parts::{Input, Text, Value};
use std::collections::BTreeMap;

/// A definition, a node and a field.
type Key = (String, String, String);

/// The lines of texts, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    texts: BTreeMap<Key, (String, u32)>,
    fragments: BTreeMap<String, (String, u32)>,
    /// The elements of fields, each with its file, where it stands there, and what is inside it.
    fields: BTreeMap<Key, Field>,
}

/// An element as faults are said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    path: String,
    /// Where it begins, from 1: line and column.
    begin: (u32, u32),
    /// Where its text begins, and the text.
    inner: (u32, u32),
    text: String,
}

/// What one text is read from.
struct Page<'p> {
    path: &'p str,
    text: &'p str,
    lines: LineIndex,
}

impl Page<'_> {
    /// The line on which the words of a text begin: blank lines before them are not part of it.
    fn line(&self, text: &Text<'_>) -> u32 {
        let inner = text.element.inner();
        let inside = inner.slice(self.text);
        let blank = inside.len() - inside.trim_start().len();
        self.at(inner.start as usize + blank)
    }

    fn at(&self, offset: usize) -> u32 {
        self.lines.line(offset as u32)
    }

    /// Line and column, from 1.
    fn position(&self, offset: u32) -> (u32, u32) {
        let position = self.lines.position(self.text, offset);
        (position.line, position.column)
    }

    fn field(&self, element: Element<'_>) -> Field {
        let (span, inner) = (element.span(), element.inner());
        Field {
            path: self.path.to_owned(),
            begin: self.position(span.start),
            inner: self.position(inner.start),
            text: inner.slice(self.text).to_owned(),
        }
    }
}

impl Lines {
    /// Adds the definitions of a file. `stem` names a definition that has no name.
    pub fn add(&mut self, path: &str, text: &str, stem: &str, limits: &Limits) {
        let mut reader = Reader::new();
        reader.read(text, limits);
        let file = crate::template::lower(reader.document(text));
        let page = Page { path, text, lines: LineIndex::new(text) };
        for definition in &file.definitions {
            if let Definition::Fragment(fragment) = definition {
                self.fragment(&page, fragment);
            }
            let Some(task) = definition.task() else { continue };
            let named = match definition {
                Definition::Template(template) => template.name.as_ref(),
                Definition::Task(task) => task.name.as_ref(),
                Definition::Fragment(_) => None,
            };
            let name = named.map_or_else(|| stem.to_owned(), |name| name.value.to_string());
            nodes::paths(task, &mut |node, id| self.node(&page, &name, node, id));
        }
    }

    fn fragment(&mut self, page: &Page<'_>, fragment: &Fragment<'_>) {
        if let Some(name) = &fragment.name {
            self.fragments.insert(name.value.to_string(), (page.path.to_owned(), page.line(&fragment.text)));
        }
    }

    fn node(&mut self, page: &Page<'_>, name: &str, node: Node<'_, '_>, id: &str) {
        if let Node::Task(task) = node {
            let files = task.files.as_ref().map(|files| ("file_paths", files.element));
            let output = task.output.as_ref().map(|output| ("output_format", output.element));
            for (field, element) in files.into_iter().chain(output) {
                self.fields.insert((name.to_owned(), id.to_owned(), field.to_owned()), page.field(element));
            }
        }
        let fields = &mut self.fields;
        let mut add = |field: String, text: &Text<'_>| {
            let key = (name.to_owned(), id.to_owned(), field);
            fields.insert(key.clone(), page.field(text.element));
            self.texts.insert(key, (page.path.to_owned(), page.line(text)));
        };
        match node {
            Node::Task(task) => of_task(task, &mut add),
            Node::Call(call) => of_inputs("args", &call.args, &mut add),
            Node::Cond(_) => {}
        }
    }

    /// File, line and column, from 1, of what a fault is about: the variable, the path, the fragment that it names where its field
    /// holds it, else the field's element.
    pub fn fault(&self, place: &Place, kind: &FaultKind) -> Option<(&str, u32, u32)> {
        let key = (place.definition.clone(), place.node.clone(), place.field.clone());
        let field = self.fields.get(&key)?;
        let found = named(kind).and_then(|name| find(&field.text, name));
        let (line, column) = found.map_or(field.begin, |at| {
            let before = field.text.get(..at).unwrap_or("");
            match before.rsplit_once('\n') {
                None => (field.inner.0, field.inner.1 + before.chars().count() as u32),
                Some((above, last)) => (field.inner.0 + 1 + above.matches('\n').count() as u32, 1 + last.chars().count() as u32),
            }
        });
        Some((&field.path, line, column))
    }

    /// The file and line, from 1, that an origin stands on; `None` for what stands in no file.
    pub fn of<'l>(&'l self, origin: &'l Origin) -> Option<(&'l str, u32)> {
        let below = |found: &'l (String, u32), line: u32| (found.0.as_str(), found.1 + line);
        match origin {
            Origin::Template { task, node, field, line } => {
                let key = (task.clone(), node.clone(), field.clone());
                self.texts.get(&key).map(|found| below(found, *line))
            }
            Origin::Fragment { name, line } => self.fragments.get(name).map(|found| below(found, *line)),
            Origin::File { path, line } => Some((path, line + 1)),
            Origin::Schema { .. }
            | Origin::Input { .. }
            | Origin::Result { .. }
            | Origin::Parent { .. }
            | Origin::Match { .. }
            | Origin::History
            | Origin::Conversation
            | Origin::Frame => None,
        }
    }
}

/// The word of a template that a fault is about.
#[allow(clippy::wildcard_enum_match_arm, reason = "all others are about a field as a whole")]
fn named(kind: &FaultKind) -> Option<&str> {
    match kind {
        FaultKind::Missing { name, .. }
        | FaultKind::NoPart { name, .. }
        | FaultKind::Call { name }
        | FaultKind::NoFragment { name }
        | FaultKind::UntrustedInSystem { name } => Some(name),
        FaultKind::File { path, .. } => Some(path),
        _ => None,
    }
}

/// Where a word stands in a text, and not as a part of another one.
fn find(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let (before, behind) = (text.get(..at).unwrap_or(""), text.get(at + word.len()..).unwrap_or(""));
        // A variable stands in a tag; a path and a fragment stand by themselves.
        !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

fn of_task(task: &Task<'_>, add: &mut impl FnMut(String, &Text<'_>)) {
    let texts = [
        ("description", &task.description),
        ("system", &task.system),
        ("instructions", &task.instructions),
        ("criteria", &task.criteria),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            add(field.to_owned(), text);
        }
    }
    for (number, text) in task.constraints.iter().enumerate() {
        add(format!("constraints/{number}"), text);
    }
    for (number, example) in task.examples.iter().enumerate() {
        for (key, text) in [("input", &example.input), ("output", &example.output)] {
            if let Some(text) = text {
                add(format!("examples/{number}/{key}"), text);
            }
        }
    }
    of_inputs("inputs", &task.inputs, add);
}

fn of_inputs(key: &str, inputs: &[Input<'_>], add: &mut impl FnMut(String, &Text<'_>)) {
    for (number, input) in inputs.iter().enumerate() {
        if matches!(input.value, Value::Text) {
            add(format!("{key}/{number}"), &input.text);
        }
    }
}
