//! Values and names that can be written at a place, each with what it means: words of attributes, types, definitions of the project,
//! variables. What would be wrong there is not offered.

use super::completion_cx::Cx;
use super::docs;
use super::implicit_names;
use super::variable_definition;
use crate::lsp::place::{self, operator};
use crate::project::index::{DefId, Index};
use crate::syntax::tree::Element;
use crate::template::elements::Kind;
use crate::template::names::DefinitionKind;
use gen_lsp_types::{CompletionItem, CompletionItemKind};
use std::collections::{BTreeMap, BTreeSet};

impl<'c> Cx<'c> {
    /// What an attribute of the element begun at `open` can say.
    pub(in crate::lsp) fn values(&self, open: usize, name: &str, typed: &str) -> Vec<CompletionItem> {
        let Some(element) = self.own(open) else { return Vec::new() };
        let Some(kind) = place::kind(element) else { return Vec::new() };
        let layers = &self.config().layers;
        match (kind, name) {
            (Kind::Task, "type") => {
                let one = |word: &str| {
                    let doc = docs::of_type(layers, word).unwrap_or_default();
                    self.item(word, CompletionItemKind::Class, &doc, word.to_owned(), typed)
                };
                layers.operators().map(one).collect()
            }
            (Kind::Task, "subtype") => {
                let operator = operator(element).unwrap_or_else(|| "atomic".to_owned());
                let one = |word: &str| {
                    let doc = docs::of_subtype(layers, &operator, word).unwrap_or_default();
                    self.item(word, CompletionItemKind::EnumMember, &doc, word.to_owned(), typed)
                };
                layers.subtypes_of(&operator).map(one).collect()
            }
            (Kind::Task, "ref") => self.definitions(DefinitionKind::Task, typed),
            (Kind::Call, "template") => self.definitions(DefinitionKind::Template, typed),
            (Kind::Use, "fragment") => self.definitions(DefinitionKind::Fragment, typed),
            (_, "from") => self.variables(typed),
            _ => kind.attribute(name).map_or_else(Vec::new, |known| self.words(known.words(), known.meanings, typed)),
        }
    }

    /// Words with what they mean, in the order of both.
    pub(in crate::lsp) fn words(&self, words: &[&str], meanings: &[&str], typed: &str) -> Vec<CompletionItem> {
        let one = |(word, doc): (&&str, &&str)| self.item(word, CompletionItemKind::EnumMember, doc, (*word).to_owned(), typed);
        words.iter().zip(meanings).map(one).collect()
    }

    /// Names of the project that may be used here: not those that would lead back to where they are used.
    fn definitions(&self, kind: DefinitionKind, typed: &str) -> Vec<CompletionItem> {
        let index = self.project.index();
        let back = self.here(&index).map(|here| back(&index, here)).unwrap_or_default();
        let names: BTreeSet<&str> = index.names(kind).collect();
        let usable =
            names.into_iter().filter_map(|name| Some((name, index.find(kind, name)?))).filter(|(_, id)| !back.contains(id));
        let one = |(name, id): (&str, DefId)| {
            let (path, about) = docs::of(self.project, &index, id)?;
            let item = self.item(name, CompletionItemKind::Reference, &about, name.to_owned(), typed);
            Some(CompletionItem { detail: Some(path.to_string()), ..item })
        };
        usable.filter_map(one).collect()
    }

    /// The definition that the place is in.
    fn here(&self, index: &Index<'_>) -> Option<DefId> {
        let chain: Vec<Element<'_>> = self.around();
        let root = chain.last()?;
        let own = if root.name() == "library" { chain.get(chain.len().checked_sub(2)?)? } else { root };
        let file = index.files().iter().position(|entry| **entry.path == *self.name)?;
        let definitions = &index.file(file as u32)?.facts.definitions;
        let definition = definitions.iter().position(|definition| own.start_tag().encloses(definition.span))?;
        Some(DefId { file: file as u32, definition: definition as u32 })
    }

    /// The elements around the place, the innermost first.
    fn around(&self) -> Vec<Element<'c>> {
        let here = self.document.element_at(self.offset.saturating_sub(1)).or_else(|| self.document.root());
        std::iter::successors(here, |element| element.parent()).collect()
    }

    /// Names that have a value at the place.
    pub(in crate::lsp) fn variables(&self, typed: &str) -> Vec<CompletionItem> {
        let chain = self.around();
        let holder = chain.iter().rev().find(|element| matches!(element.name(), "task" | "template"));
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut stack: Vec<Element<'_>> = holder.copied().into_iter().collect();
        while let Some(element) = stack.pop() {
            for name in self.binds(element, &chain) {
                names.entry(name).or_insert_with(|| variable_definition::of(self.project, element));
            }
            stack.extend(element.elements());
        }
        for name in chain.iter().flat_map(|element| implicit_names::given(element.name())) {
            names.entry((*name).to_owned()).or_insert_with(|| implicit_names::meaning(name).unwrap_or_default().to_owned());
        }
        let one = |(name, doc): (&String, &String)| self.item(name, CompletionItemKind::Variable, doc, name.clone(), typed);
        names.iter().map(one).collect()
    }

    /// The names that an element gives to values at a place inside of `chain`.
    fn binds(&self, element: Element<'_>, chain: &[Element<'_>]) -> Vec<String> {
        let is_around = |element: &Element<'_>| chain.iter().any(|own| own.id() == element.id());
        let parent = |tag: &str| element.parent().filter(|parent| parent.name() == tag).and_then(Element::parent);
        let (attribute, home) = match element.name() {
            "parameter" => ("name", parent("parameters")),
            // An input has no value of its own while it is made.
            "input" if !is_around(&element) => ("name", parent("inputs")),
            // Nor has a step a result before it has run.
            "task" | "call" | "cond" if !is_around(&element) && element.span().start < self.offset => {
                let mut around = std::iter::successors(element.parent(), |element| element.parent());
                ("as", around.find(|element| place::kind(*element).is_some_and(Kind::is_body)))
            }
            "template" => ("params", Some(element)),
            _ => return Vec::new(),
        };
        let Some(value) = element.attribute(attribute).filter(|_| home.as_ref().is_some_and(is_around)) else {
            return Vec::new();
        };
        let value = value.value();
        let names = value.split(|c: char| attribute == "params" && (c.is_ascii_whitespace() || c == ',')).map(str::trim);
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }
}

/// The definitions from which references lead to one, itself among them.
fn back(index: &Index<'_>, here: DefId) -> BTreeSet<DefId> {
    let mut users: BTreeMap<DefId, Vec<DefId>> = BTreeMap::new();
    for (id, _, reference) in index.references() {
        if let Some(target) = index.target(reference) {
            users.entry(target).or_default().push(DefId { file: id.file, definition: reference.owner });
        }
    }
    let mut found = BTreeSet::from([here]);
    let mut open = vec![here];
    while let Some(next) = open.pop() {
        let new = users.get(&next).into_iter().flatten().filter(|user| found.insert(**user));
        open.extend(new);
    }
    found
}
