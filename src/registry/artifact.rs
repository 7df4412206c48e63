//! The registry in memory: entries as ranges of the text that they were read from.
//!
//! Never resolves a setting and never reads a file. Lookups scan nothing; a body is parsed on
//! request.

use super::body::Text;
use super::node::{self, Node};
use super::raw::{RawJson, ReadError};
use crate::base::hash::Hash;
use crate::base::span::Span;
use crate::base::suggest::nearest_candidate;
use crate::base::words::words;
#[cfg(feature = "assemble")]
use crate::template::trust::TrustNode;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The edition of the language that this program compiles.
pub const EDITION: &str = "2026";

/// A compiled registry.
#[derive(Clone, Debug)]
pub struct Registry {
    pub(super) edition: String,
    pub(super) compiler: String,
    pub(super) hash: Hash,
    pub(super) tasks: Vec<IndexedDefinition>,
    pub(super) templates: Vec<IndexedDefinition>,
    pub(super) fragments: Vec<Fragment>,
    pub(super) lookup: NameLookup,
    pub(super) text: String,
}

/// One task or template; the ranges refer to the text of the registry.
#[derive(Clone, Debug)]
pub(super) struct IndexedDefinition {
    pub(super) name: Box<str>,
    pub(super) version: Option<Box<str>>,
    pub(super) operator: Box<str>,
    pub(super) subtype: Option<Box<str>>,
    pub(super) returns: Option<Box<str>>,
    pub(super) hash: Hash,
    pub(super) source: Range<usize>,
    pub(super) parameters: Range<usize>,
    #[cfg_attr(
        not(feature = "assemble"),
        allow(dead_code, reason = "only contexts are assembled by it")
    )]
    pub(super) trust: Range<usize>,
    pub(super) references: Range<usize>,
    pub(super) warnings: Range<usize>,
    pub(super) root: Range<usize>,
}

/// The place of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Source"))]
pub struct DefinitionSource {
    /// The file, relative to the project.
    pub path: String,
    /// The element in that file.
    pub span: Span,
}

/// A variable that a task or function template takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Parameter"))]
pub struct RegistryParameter {
    /// The name of the variable.
    pub name: String,
    /// The type of its value; null if none is declared.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// True if a run without a value fails.
    pub required: bool,
    /// The value that is used if none is given; null if there is none.
    pub default: Option<String>,
    /// True if it was found in the texts rather than declared.
    pub implicit: bool,
}

words! {
    /// Kinds of references.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ReferenceKind {
        /// `ref` to a task.
        Ref = "ref",
        /// A call of a function template.
        Call = "call",
        /// `from` of a value.
        From = "from",
        /// `use` of a fragment.
        Use = "use",
    }
}

/// A reference from a node to a definition outside of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Reference {
    /// The kind of the reference.
    pub kind: ReferenceKind,
    /// The name of the definition.
    pub name: String,
    /// The id of the node that contains the reference.
    pub node: String,
}

/// A finding that did not fail the build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The number of the rule, such as `CTX203`: an alias of its name.
    pub code: String,
    /// The name of the rule.
    pub name: String,
    /// The place, in the file of the definition.
    pub span: Span,
}

/// The error of a lookup by a name that no task has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no task `{name}` in this registry{}", suggestion_suffix(near.as_deref()))]
pub struct NoTask {
    /// The requested name.
    pub name: String,
    /// The most similar name of a task, if any.
    pub near: Option<String>,
}

fn suggestion_suffix(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Text shared by tasks.
#[derive(Clone, Debug)]
pub struct Fragment {
    pub(super) name: String,
    pub(super) hash: Hash,
    pub(super) source: DefinitionSource,
    pub(super) text: Range<usize>,
}

impl Fragment {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content hash, which covers every fragment that it uses.
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// The file and span of its definition.
    pub const fn source(&self) -> &DefinitionSource {
        &self.source
    }
}

/// The tasks of one operator by their subtype.
type TasksBySubtype = BTreeMap<Option<Box<str>>, Vec<u32>>;

/// Indexes by name and by type, so that a lookup scans nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct NameLookup {
    tasks: HashMap<Box<str>, u32>,
    templates: HashMap<Box<str>, u32>,
    fragments: HashMap<Box<str>, u32>,
    types: BTreeMap<Box<str>, TasksBySubtype>,
}

impl NameLookup {
    pub(super) fn new(
        tasks: &[IndexedDefinition],
        templates: &[IndexedDefinition],
        fragments: &[Fragment],
    ) -> Result<Self, ReadError> {
        let mut types: BTreeMap<Box<str>, TasksBySubtype> = BTreeMap::new();
        for (at, task) in tasks.iter().enumerate() {
            let subtypes = match types.get_mut(&*task.operator) {
                Some(subtypes) => subtypes,
                None => types.entry(task.operator.clone()).or_default(),
            };
            match subtypes.get_mut(&task.subtype) {
                Some(list) => list.push(at as u32),
                None => drop(subtypes.insert(task.subtype.clone(), vec![at as u32])),
            }
        }
        Ok(Self {
            tasks: index_by_name("task", tasks.iter().map(|entry| &*entry.name))?,
            templates: index_by_name("template", templates.iter().map(|entry| &*entry.name))?,
            fragments: index_by_name(
                "fragment",
                fragments.iter().map(|fragment| fragment.name.as_str()),
            )?,
            types,
        })
    }
}

fn index_by_name<'a>(
    kind: &'static str,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> Result<HashMap<Box<str>, u32>, ReadError> {
    let mut map = HashMap::with_capacity(names.len());
    for (at, name) in names.enumerate() {
        if map.insert(Box::from(name), at as u32).is_some() {
            return Err(ReadError::Twice {
                kind,
                name: name.to_owned(),
            });
        }
    }
    Ok(map)
}

impl Registry {
    /// The bytes of `registry.json`, as they were read.
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The edition of the language.
    pub fn edition(&self) -> &str {
        &self.edition
    }

    /// The version of the compiler that wrote it.
    pub fn compiler(&self) -> &str {
        &self.compiler
    }

    /// The hash over all names and content hashes: equal exactly when every task, template and fragment is.
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// The task with a name. If there is no such task, the error suggests the most similar name.
    ///
    /// # Errors
    /// The registry has no such task. Use [`Registry::find`] if that is not a mistake.
    pub fn task(&self, name: &str) -> Result<Task<'_>, NoTask> {
        self.find(name).ok_or_else(|| {
            let near = nearest_candidate(name, self.tasks.iter().map(|entry| &*entry.name))
                .map(str::to_owned);
            NoTask {
                name: name.to_owned(),
                near,
            }
        })
    }

    /// The task with a name, if the registry has one.
    pub fn find(&self, name: &str) -> Option<Task<'_>> {
        self.task_at(&self.tasks, *self.lookup.tasks.get(name)?)
    }

    /// The template (a function over tasks) with a name.
    pub fn template(&self, name: &str) -> Option<Task<'_>> {
        self.task_at(&self.templates, *self.lookup.templates.get(name)?)
    }

    /// The fragment with a name.
    pub fn fragment(&self, name: &str) -> Option<&Fragment> {
        self.fragments
            .get(*self.lookup.fragments.get(name)? as usize)
    }

    /// All tasks, by name.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = Task<'_>> {
        self.tasks.iter().map(|entry| Task {
            entry,
            registry: self,
        })
    }

    /// The tasks of the project itself, by name: all but those of packages.
    pub fn own_tasks(&self) -> impl Iterator<Item = Task<'_>> {
        self.tasks().filter(|task| !task.is_of_package())
    }

    /// All templates, by name.
    pub fn templates(&self) -> impl ExactSizeIterator<Item = Task<'_>> {
        self.templates.iter().map(|entry| Task {
            entry,
            registry: self,
        })
    }

    /// All fragments, by name.
    pub fn fragments(&self) -> impl ExactSizeIterator<Item = &Fragment> {
        self.fragments.iter()
    }

    /// The tasks of one operator and subtype, by name. Scans no other task.
    pub fn of_type<'r>(
        &'r self,
        operator: &str,
        subtype: Option<&str>,
    ) -> impl Iterator<Item = Task<'r>> {
        // `standard` is the default subtype of `atomic` and is stored as no subtype.
        let key = subtype
            .filter(|subtype| (operator, *subtype) != ("atomic", "standard"))
            .map(Box::from);
        let found = self
            .lookup
            .types
            .get(operator)
            .and_then(|subtypes| subtypes.get(&key));
        found
            .into_iter()
            .flatten()
            .filter_map(|&at| self.task_at(&self.tasks, at))
    }

    /// The text of a fragment, as stored in the registry.
    pub fn fragment_text(&self, fragment: &Fragment) -> Result<Text<'static>, ReadError> {
        RawJson::in_range(&self.text, &fragment.text).parse(&self.text)
    }

    fn task_at<'r>(&'r self, entries: &'r [IndexedDefinition], at: u32) -> Option<Task<'r>> {
        entries.get(at as usize).map(|entry| Task {
            entry,
            registry: self,
        })
    }
}

/// A task or template of a registry.
#[derive(Clone, Copy, Debug)]
pub struct Task<'r> {
    entry: &'r IndexedDefinition,
    registry: &'r Registry,
}

impl<'r> Task<'r> {
    /// The registry that it belongs to.
    pub const fn registry(self) -> &'r Registry {
        self.registry
    }

    /// The name, unique in the registry.
    pub fn name(self) -> &'r str {
        &self.entry.name
    }

    /// The version, as the author wrote it.
    pub fn version(self) -> Option<&'r str> {
        self.entry.version.as_deref()
    }

    /// The operator.
    pub fn operator(self) -> &'r str {
        &self.entry.operator
    }

    /// The subtype.
    pub fn subtype(self) -> Option<&'r str> {
        self.entry.subtype.as_deref()
    }

    /// The type that a template returns.
    pub fn returns(self) -> Option<&'r str> {
        self.entry.returns.as_deref()
    }

    /// The content hash, which covers everything that the task refers to.
    pub const fn hash(self) -> Hash {
        self.entry.hash
    }

    /// The file and span of its definition.
    pub fn source(self) -> Result<DefinitionSource, ReadError> {
        self.parse_range(&self.entry.source)
    }

    /// Returns true if it belongs to a package that the project uses. Its file then begins with the
    /// package and its version: `acme/rules@1.2.0/`.
    pub fn is_of_package(self) -> bool {
        let slash = self.name().match_indices('/').nth(1);
        let package = slash.and_then(|(end, _)| self.name().get(..end));
        package.is_some_and(|package| {
            let file = self.source().ok();
            file.is_some_and(|file| {
                let rest = file.path.strip_prefix(package);
                rest.is_some_and(|rest| rest.starts_with('@'))
            })
        })
    }

    /// The variables that it takes, declared or found in its texts.
    pub fn parameters(self) -> Result<Vec<RegistryParameter>, ReadError> {
        if self.entry.parameters.is_empty() {
            return Ok(Vec::new());
        }
        self.parse_range(&self.entry.parameters)
    }

    /// The nodes that its values are derived from, if that decides which of them are trusted.
    #[cfg(feature = "assemble")]
    pub(crate) fn trust(self) -> Result<Vec<TrustNode>, ReadError> {
        if self.entry.trust.is_empty() {
            Ok(Vec::new())
        } else {
            self.parse_range(&self.entry.trust)
        }
    }

    /// Its references.
    pub fn references(self) -> Result<Vec<Reference>, ReadError> {
        self.parse_range(&self.entry.references)
    }

    /// Findings that did not fail the build.
    pub fn warnings(self) -> Result<Vec<Warning>, ReadError> {
        self.parse_range(&self.entry.warnings)
    }

    /// Its tree: every node with its resolved settings.
    pub fn root(self) -> Result<Node, ReadError> {
        node::parse_tree(
            RawJson::in_range(&self.registry.text, &self.entry.root),
            &self.registry.text,
        )
    }

    fn parse_range<T: Deserialize<'r>>(self, range: &Range<usize>) -> Result<T, ReadError> {
        RawJson::in_range(&self.registry.text, range).parse(&self.registry.text)
    }
}
