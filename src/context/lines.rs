//! Where the texts of a template stand in its file: so that every line of a render leads back to the one it was written on.
//!
//! Reads the text of a file that was compiled; a definition that is not in it has no lines.

use crate::kernel::context::Origin;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
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
}

/// What one text is read from.
struct Page<'p> {
    path: &'p str,
    text: &'p str,
    /// Where each line ends.
    ends: Vec<usize>,
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
        1 + self.ends.partition_point(|end| *end < offset) as u32
    }
}

impl Lines {
    /// Adds the definitions of a file. `stem` names a definition that has no name.
    pub fn add(&mut self, path: &str, text: &str, stem: &str, limits: &Limits) {
        let mut reader = Reader::new();
        reader.read(text, limits);
        let file = crate::template::lower(reader.document(text));
        let page = Page { path, text, ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() };
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
        let mut add = |field: String, text: &Text<'_>| {
            self.texts.insert((name.to_owned(), id.to_owned(), field), (page.path.to_owned(), page.line(text)));
        };
        match node {
            Node::Task(task) => of_task(task, &mut add),
            Node::Call(call) => of_inputs("args", &call.args, &mut add),
            Node::Cond(_) => {}
        }
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
            | Origin::Frame => None,
        }
    }
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
