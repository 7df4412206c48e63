//! Completion of values and names with their meanings: words of attributes, types, definitions of
//! the project, files, rules. Invalid candidates are omitted or come last.

use super::completion_cx::{CompletionCx, CompletionPlace};
use super::{docs, variable_definition};
use crate::base::span::Span;
use crate::base::{contained_path, fs};
use crate::lsp::place::{self, task_operator};
use crate::lsp::state::project::{PROJECT_FILE, ProjectState};
use crate::project::index::{DefId, NameIndex};
use crate::rules::list;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::ElementKind;
use crate::template::names::{DefinitionKind, Param};
use crate::template::nodes;
use crate::template::parts::SCHEMA_TYPES;
use crate::template::setting::SettingName;
use gen_lsp_types::{CompletionItem, CompletionItemKind};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entries of a folder.
const MAX_ENTRIES: usize = 500;

impl<'c> CompletionCx<'c> {
    /// Returns the completions of an attribute's value; the tag begins at `open`.
    pub(in crate::lsp) fn value_items(
        &self,
        open: usize,
        name: &str,
        typed: &str,
    ) -> Vec<CompletionItem> {
        let Some(element) = self.begun_element(open) else {
            return Vec::new();
        };
        let Some(kind) = place::element_kind(element) else {
            return Vec::new();
        };
        let layers = &self.config().layers;
        match (kind, name) {
            (ElementKind::Task, "type") => {
                let one = |word: &str| {
                    let doc = docs::type_doc(layers, word).unwrap_or_default();
                    self.item(word, CompletionItemKind::Class, &doc, word)
                };
                layers.operator_names().map(one).collect()
            }
            (ElementKind::Task, "subtype") => {
                let operator = task_operator(element).unwrap_or_else(|| "atomic".to_owned());
                let one = |word: &str| {
                    let doc = docs::subtype_doc(layers, &operator, word).unwrap_or_default();
                    self.item(word, CompletionItemKind::EnumMember, &doc, word)
                };
                layers.subtype_names(&operator).map(one).collect()
            }
            (ElementKind::Task, "ref") => self.definition_items(DefinitionKind::Task, ""),
            (ElementKind::Call, "template") => self.definition_items(DefinitionKind::Template, ""),
            (ElementKind::Use, "fragment") => self.definition_items(DefinitionKind::Fragment, ""),
            (ElementKind::CallArg, "name") => self.call_argument_items(element),
            (ElementKind::RelevanceInput, "name") => self.input_items(element),
            (ElementKind::Case, "test") | (_, "from") => self.expression_items(typed),
            (_, "schema") => {
                let is_word = !typed.contains(['.', '/']);
                let words = SCHEMA_TYPES.iter().filter(|_| is_word);
                let words =
                    words.map(|word| self.item(word, CompletionItemKind::EnumMember, "", word));
                words
                    .chain(
                        self.place
                            .file_items(self.project, typed, self.name, ".json"),
                    )
                    .collect()
            }
            (_, "src") => self.place.file_items(self.project, typed, self.name, ""),
            _ => kind.attribute(name).map_or_else(Vec::new, |known| {
                self.word_items(known.allowed_words(), known.meanings)
            }),
        }
    }

    /// Returns items for words and their meanings, in order.
    pub(in crate::lsp) fn word_items(
        &self,
        words: &[&str],
        meanings: &[&str],
    ) -> Vec<CompletionItem> {
        let one = |(word, doc): (&&str, &&str)| {
            self.item(word, CompletionItemKind::EnumMember, doc, word)
        };
        words.iter().zip(meanings).map(one).collect()
    }

    /// Returns the words of a setting; those that conflict with other settings of the task come
    /// last.
    pub(in crate::lsp) fn setting_items(
        &self,
        element: Element<'c>,
        setting: SettingName,
    ) -> Vec<CompletionItem> {
        let holder = element.parent().and_then(Element::parent);
        let mut others = None;
        place::with_resolved_document(self.document, self.config(), |file, bodies| {
            nodes::visit_bodies(file, |task, _| {
                if holder.is_some_and(|holder| task.element.id() == holder.id()) {
                    let word = |name| {
                        bodies
                            .get(task)
                            .map(|body| body.resolved.get(name).value.as_str())
                    };
                    others = word(SettingName::InheritContext).zip(word(SettingName::FreshContext));
                }
            });
        });
        let is_ruled_out = |word: &str| match (setting, others) {
            (SettingName::InheritContext, Some((_, fresh))) => fresh == "enabled" && word != "none",
            (SettingName::FreshContext, Some((inherit, _))) => {
                inherit != "none" && word == "enabled"
            }
            _ => false,
        };
        let mut items = self.word_items(setting.allowed_words(), setting.meanings());
        items.sort_by_key(|item| is_ruled_out(&item.label));
        items
    }

    /// Returns the parameters of the called template that have no argument yet, required ones
    /// first.
    fn call_argument_items(&self, arg: Element<'c>) -> Vec<CompletionItem> {
        let Some(call) = arg.parent() else {
            return Vec::new();
        };
        let index = self.project.index();
        let template = call
            .attribute("template")
            .and_then(|name| index.find_definition(DefinitionKind::Template, name.value().trim()));
        let Some(template) = template.and_then(|id| index.definition(id)) else {
            return Vec::new();
        };
        let others = call.elements().filter(|other| other.id() != arg.id());
        let given: Vec<String> = others
            .filter_map(|other| Some(other.attribute("name")?.value().trim().to_owned()))
            .collect();
        self.free_parameter_items(&template.params, &given, "")
    }

    /// Returns the parameters without an argument, required ones first.
    pub(in crate::lsp) fn free_parameter_items(
        &self,
        params: &[Param],
        given: &[String],
        after: &str,
    ) -> Vec<CompletionItem> {
        let mut free: Vec<&Param> = params
            .iter()
            .filter(|param| !given.iter().any(|name| **name == *param.name))
            .collect();
        free.sort_by_key(|param| !param.required);
        let doc = |param: &Param| {
            if param.required {
                "required"
            } else {
                "optional"
            }
        };
        let one = |param: &Param| {
            let insert = format!("{}{after}", param.name);
            self.item(
                &param.name,
                CompletionItemKind::Variable,
                doc(param),
                &insert,
            )
        };
        free.into_iter().map(one).collect()
    }

    /// Returns the inputs of the surrounding task.
    fn input_items(&self, element: Element<'c>) -> Vec<CompletionItem> {
        let mut around = place::ancestors(element.parent());
        let holder =
            around.find(|element| place::element_kind(*element).is_some_and(ElementKind::is_body));
        let inputs = holder
            .into_iter()
            .flat_map(Element::elements)
            .filter(|child| child.name() == "inputs");
        let names = inputs
            .flat_map(Element::elements)
            .filter_map(|input| Some((input, input.attribute("name")?)));
        let one = |(input, name): (Element<'_>, Attribute<'_>)| {
            let doc = variable_definition::describe_binding(self.project, input);
            self.item(
                name.value().trim(),
                CompletionItemKind::Variable,
                &doc,
                name.value().trim(),
            )
        };
        names.map(one).collect()
    }

    /// Returns the rules whose findings can be suppressed.
    pub(in crate::lsp) fn rule_items(&self) -> Vec<CompletionItem> {
        let rules = list::all_rules()
            .map(|rule| &rule.meta)
            .filter(|meta| !meta.locked);
        rules
            .map(|meta| {
                self.item(
                    meta.name,
                    CompletionItemKind::Value,
                    meta.summary,
                    meta.name,
                )
            })
            .collect()
    }

    /// Returns the usable definitions of the project, each followed by `after`. Omits those that
    /// would cause a cycle of references.
    pub(in crate::lsp) fn definition_items(
        &self,
        kind: DefinitionKind,
        after: &str,
    ) -> Vec<CompletionItem> {
        let index = self.project.index();
        let back = self
            .current_definition(&index)
            .map(|here| referrers(&index, here))
            .unwrap_or_default();
        let packages = &self.project.config.packages;
        let is_private = |name: &str, id: DefId| {
            let file = index.file(id.file);
            let package = file.and_then(|file| packages.of_file(file.path));
            package.is_some_and(|package| !package.exports_definition(kind, name))
        };
        let names: BTreeSet<&str> = index.names_of_kind(kind).collect();
        let usable = names
            .into_iter()
            .filter_map(|name| Some((name, index.find_definition(kind, name)?)))
            .filter(|(name, id)| !back.contains(id) && !is_private(name, *id));
        let one = |(name, id): (&str, DefId)| {
            let (path, about) = docs::definition_doc(self.project, &index, id)?;
            let item = self.item(
                name,
                CompletionItemKind::Reference,
                &about,
                &format!("{name}{after}"),
            );
            Some(CompletionItem {
                detail: Some(path.to_string()),
                ..item
            })
        };
        usable.filter_map(one).collect()
    }

    /// Returns the definition that encloses the place: the root of the file, or a child of its
    /// `<library>`.
    fn current_definition(&self, index: &NameIndex<'_>) -> Option<DefId> {
        let chain: Vec<Element<'_>> = self.ancestors();
        let root = chain.last()?;
        let own = if root.name() == "library" {
            chain.get(chain.len().checked_sub(2)?)?
        } else {
            root
        };
        let file = index
            .files()
            .iter()
            .position(|entry| **entry.path == *self.name)?;
        let definitions = &index.file(file as u32)?.facts.definitions;
        let definition = definitions
            .iter()
            .position(|definition| own.start_tag().encloses(definition.span))?;
        Some(DefId {
            file: file as u32,
            definition: definition as u32,
        })
    }

    /// Returns the elements around the place, the innermost first.
    pub(in crate::lsp) fn ancestors(&self) -> Vec<Element<'c>> {
        let here = self
            .document
            .element_at(self.at.saturating_sub(1))
            .or_else(|| self.document.root());
        place::ancestors(here).collect()
    }
}

impl CompletionPlace<'_> {
    /// Returns the folders, and the files with an ending, that complete a path. The path is
    /// relative to the folder of `base`, which is not offered itself. The project file comes last.
    pub(in crate::lsp) fn file_items(
        &self,
        project: &ProjectState,
        typed: &str,
        base: &str,
        ending: &str,
    ) -> Vec<CompletionItem> {
        let folder = typed
            .rfind('/')
            .map_or("", |end| typed.get(..=end).unwrap_or(""));
        // In a path only the last part is completed.
        let tail = Span::new(self.offset, self.word.end).slice(self.text);
        let tail = tail.split('/').next().unwrap_or("");
        let last = (typed.len() - folder.len()) as u32;
        let word = Span::new(self.offset - last, self.offset + tail.len() as u32);
        let place = CompletionPlace {
            word,
            start: word.start,
            ..*self
        };
        let Some(probe) = contained_path::resolve_beside(base, &format!("{folder}x")) else {
            return Vec::new();
        };
        let folder = project.path(probe.strip_suffix('x').unwrap_or(""));
        let names = fs::list_names(&folder)
            .into_iter()
            .filter(|name| !name.starts_with('.'))
            .take(MAX_ENTRIES);
        let mut found: Vec<(String, bool)> = names
            .map(|name| (name.clone(), fs::is_dir(&folder.join(name))))
            .collect();
        let own = project.path(base);
        found.retain(|(name, is_folder)| {
            *is_folder || name.ends_with(ending) && folder.join(name) != own
        });
        found.sort_by_key(|(name, _)| name == PROJECT_FILE);
        let one = |(name, is_folder): (String, bool)| {
            let kind = if is_folder {
                CompletionItemKind::Folder
            } else {
                CompletionItemKind::File
            };
            let name = if is_folder { format!("{name}/") } else { name };
            place.item(&name, kind, "", &name)
        };
        found.into_iter().map(one).collect()
    }
}

/// Returns all definitions with a direct or indirect reference to one, and that one.
fn referrers(index: &NameIndex<'_>, here: DefId) -> BTreeSet<DefId> {
    let mut users: BTreeMap<DefId, Vec<DefId>> = BTreeMap::new();
    for (id, _, reference) in index.references() {
        if let Some(target) = index.resolve_reference(reference) {
            users.entry(target).or_default().push(DefId {
                file: id.file,
                definition: reference.owner,
            });
        }
    }
    let mut found = BTreeSet::from([here]);
    let mut open = vec![here];
    while let Some(next) = open.pop() {
        let new = users
            .get(&next)
            .into_iter()
            .flatten()
            .filter(|user| found.insert(**user));
        open.extend(new);
    }
    found
}
