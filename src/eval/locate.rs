//! Maps the origin of a text to a file and line, and an offset to its line. Reads a file only when
//! a place in it is needed.

use super::verdict::ResultPlace;
use crate::base::source::LineIndex;
use crate::context::fault::{Fault, FaultKind, MissingFrom};
use crate::context::lines::Lines;
use crate::context::request::Files;
use crate::kernel::context::Origin;
use serde::{Deserialize, Serialize};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

/// A fault that prevents a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct FaultRow {
    /// The description of the fault.
    pub message: String,
    /// The file; null if the fault concerns no file.
    pub path: Option<String>,
    /// The line, from 1; null if unknown.
    pub line: Option<u32>,
}

/// A file, and a line in it if known.
type FileLine = (String, Option<u32>);

/// Maps origins and offsets to lines.
pub struct Locator<'a> {
    files: &'a (dyn Files + Sync),
    read: &'a (dyn Fn() -> Lines + Sync),
    lines: OnceCell<Lines>,
    texts: RefCell<BTreeMap<String, Option<(String, LineIndex)>>>,
}

impl<'a> Locator<'a> {
    /// Creates a locator for files of the project. `read` returns the lines of template texts; it
    /// is called at most once.
    pub fn new(files: &'a (dyn Files + Sync), read: &'a (dyn Fn() -> Lines + Sync)) -> Self {
        Self {
            files,
            read,
            lines: OnceCell::new(),
            texts: RefCell::default(),
        }
    }

    /// Adds a text that is already in memory.
    pub fn add_text(&self, path: &str, text: &str) {
        self.texts.borrow_mut().insert(
            path.to_owned(),
            Some((text.to_owned(), LineIndex::new(text))),
        );
    }

    /// The line, from 1, of an offset; `None` if the file cannot be read.
    pub fn line_of(&self, path: &str, offset: u32) -> Option<u32> {
        let mut texts = self.texts.borrow_mut();
        let known = texts.entry(path.to_owned()).or_insert_with(|| {
            let text = self.files.text(path).ok()?;
            let index = LineIndex::new(&text);
            Some((text, index))
        });
        known
            .as_ref()
            .map(|(text, index)| index.position(text, offset).line)
    }

    /// The description of a place that is not in a file, or the file and line of one that is.
    pub(super) fn locate_place(&self, place: &ResultPlace) -> (Option<String>, Option<FileLine>) {
        if let Some((path, span)) = &place.file {
            let line = span.and_then(|span| self.line_of(path, span.start));
            return (None, Some((path.clone(), line)));
        }
        place
            .origin
            .as_ref()
            .map_or((None, None), |origin| self.locate_origin(origin))
    }

    fn locate_origin(&self, origin: &Origin) -> (Option<String>, Option<FileLine>) {
        let lines = self.lines.get_or_init(self.read);
        if let Some((path, line)) = lines.locate_origin(origin) {
            return (None, Some((path.to_owned(), Some(line))));
        }
        if let Origin::File { path, .. } | Origin::Schema { path } = origin {
            return (None, Some((path.clone(), None)));
        }
        (describe_origin(origin), None)
    }

    /// Converts a fault of the context, with its place.
    pub(super) fn locate_fault(&self, fault: &Fault) -> FaultRow {
        let mut given = String::new();
        if let FaultKind::Missing { name, origin } = &*fault.kind {
            let key = if *origin == MissingFrom::Result {
                "results"
            } else {
                "inputs"
            };
            given = format!("; `context.{key}` gives it, as `{name}`");
        }
        let message = fault.to_string() + &given;
        if let Some((path, line, _)) = self.lines.get_or_init(self.read).locate_fault(fault) {
            return FaultRow {
                message,
                path: Some(path.to_owned()),
                line: Some(line),
            };
        }
        let source = fault
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!(" ({place})"));
        FaultRow {
            message: message + &source,
            path: None,
            line: None,
        }
    }
}

/// Describes the origin of a text; `None` for a file, which is named by its path, and for text that
/// ctxc itself writes.
pub fn describe_origin(origin: &Origin) -> Option<String> {
    Some(match origin {
        Origin::Template { task, field, .. } => format!("{task}, {field}"),
        Origin::Fragment { name, .. } => format!("fragment {name}"),
        Origin::Input { name } => format!("input `{name}`"),
        Origin::Result { name } => format!("result of {name}"),
        Origin::Parent { id } => format!("parent's {id}"),
        Origin::Match { id } => format!("looked up: {id}"),
        Origin::History => "earlier attempts".to_owned(),
        Origin::Conversation => "conversation".to_owned(),
        Origin::File { .. } | Origin::Schema { .. } | Origin::Generated => return None,
    })
}
