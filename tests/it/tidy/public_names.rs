//! The public names of the library: `public_names.txt` lists each re-export of `src/lib.rs` and
//! `src/runtime.rs` with its public fields, variants and functions, so that a review sees a renamed
//! one. `CTXC_UPDATE=1` rewrites the list.
//!
//! Reads the sources alone: names that a macro generates are absent, and so are the implementations
//! of traits.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "syntax trees have many kinds of items, of which few have names here"
)]

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const LISTING: &str = "tests/it/tidy/public_names.txt";
/// The limit of re-exports that pass on one name.
const MAX_HOPS: usize = 8;

type ModulePath = Vec<String>;

/// An item with the module that defines it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DefinedItem {
    module: ModulePath,
    name: String,
}

/// A name that a module imports or passes on.
struct Import {
    local: String,
    path: Vec<String>,
    is_public: bool,
    features: String,
}

struct ModuleSource {
    file: syn::File,
    imports: Vec<Import>,
}

/// All modules by their path from the crate's root.
struct Modules(BTreeMap<ModulePath, ModuleSource>);

/// Returns the condition of a `#[cfg]` attribute as written, without spaces.
fn condition(attributes: &[syn::Attribute]) -> String {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .filter_map(|attribute| attribute.meta.require_list().ok())
        .map(|list| list.tokens.to_string().replace(' ', ""))
        .collect::<Vec<_>>()
        .join(" ")
}

const fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

fn collect_imports(
    tree: &syn::UseTree,
    prefix: &[String],
    item: &syn::ItemUse,
    out: &mut Vec<Import>,
) {
    let mut add = |last: &syn::Ident, local: &syn::Ident| {
        let mut path = prefix.to_vec();
        if last != "self" {
            path.push(last.to_string());
        }
        let local = if local == "self" {
            path.last().cloned().unwrap_or_default()
        } else {
            local.to_string()
        };
        out.push(Import {
            local,
            path,
            is_public: is_public(&item.vis),
            features: condition(&item.attrs),
        });
    };
    match tree {
        syn::UseTree::Path(part) => {
            let mut longer = prefix.to_vec();
            longer.push(part.ident.to_string());
            collect_imports(&part.tree, &longer, item, out);
        }
        syn::UseTree::Name(name) => add(&name.ident, &name.ident),
        syn::UseTree::Rename(name) => add(&name.ident, &name.rename),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                collect_imports(tree, prefix, item, out);
            }
        }
        syn::UseTree::Glob(_) => {}
    }
}

fn item_name(item: &syn::Item) -> Option<&syn::Ident> {
    Some(match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        _ => return None,
    })
}

const fn item_kind(item: &syn::Item) -> &'static str {
    match item {
        syn::Item::Const(_) => "const",
        syn::Item::Enum(_) => "enum",
        syn::Item::Fn(_) => "fn",
        syn::Item::Struct(_) => "struct",
        syn::Item::Trait(_) => "trait",
        syn::Item::Type(_) => "type",
        _ => "item",
    }
}

/// Returns the public fields, the variants or the functions of a definition.
fn members(item: &syn::Item) -> Vec<String> {
    match item {
        syn::Item::Struct(item) => item
            .fields
            .iter()
            .filter(|field| is_public(&field.vis))
            .map(|field| {
                let name = field.ident.as_ref();
                format!("field {}", name.map_or("0".to_owned(), ToString::to_string))
            })
            .collect(),
        syn::Item::Enum(item) => item
            .variants
            .iter()
            .map(|variant| format!("variant {}", variant.ident))
            .collect(),
        syn::Item::Trait(item) => item
            .items
            .iter()
            .filter_map(|item| match item {
                syn::TraitItem::Fn(function) => Some(format!("fn {}", function.sig.ident)),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

impl Modules {
    fn read_sources(sources: &[SourceText]) -> Self {
        let module = |source: &SourceText| {
            let file = source.parse();
            let mut imports = Vec::new();
            for item in &file.items {
                if let syn::Item::Use(item) = item {
                    collect_imports(&item.tree, &[], item, &mut imports);
                }
            }
            let path = source
                .module_path()
                .iter()
                .map(ToString::to_string)
                .collect();
            (path, ModuleSource { file, imports })
        };
        // `main.rs` is a crate of its own.
        let library = sources.iter().filter(|source| source.path != "src/main.rs");
        Self(library.map(module).collect())
    }

    fn definition(&self, item: &DefinedItem) -> Option<&syn::Item> {
        let module = self.0.get(&item.module)?;
        let is_it = |other: &&syn::Item| item_name(other).is_some_and(|name| *name == item.name);
        module.file.items.iter().find(is_it)
    }

    /// Returns the definition that a name in a module stands for, through imports and re-exports.
    fn resolve(&self, module: &[String], name: &str, hops: usize) -> Option<DefinedItem> {
        let item = DefinedItem {
            module: module.to_vec(),
            name: name.to_owned(),
        };
        if self.definition(&item).is_some() {
            return Some(item);
        }
        let hops = hops.checked_sub(1)?;
        let imports = &self.0.get(module)?.imports;
        let import = imports.iter().find(|import| import.local == name)?;
        let (last, path) = import.path.split_last()?;
        self.resolve(&Self::absolute_path(module, path), last, hops)
    }

    /// Returns the path from the crate's root of a path in a module.
    fn absolute_path(module: &[String], path: &[String]) -> ModulePath {
        let mut base = module.to_vec();
        let mut rest = path;
        while let [first, tail @ ..] = rest {
            match first.as_str() {
                "crate" => base.clear(),
                "self" => {}
                "super" => drop(base.pop()),
                _ => break,
            }
            rest = tail;
        }
        base.extend_from_slice(rest);
        base
    }

    /// Returns the public functions of every type, from all of its `impl` blocks.
    fn functions(&self) -> BTreeMap<DefinedItem, BTreeSet<String>> {
        let mut out: BTreeMap<DefinedItem, BTreeSet<String>> = BTreeMap::new();
        for (path, module) in &self.0 {
            for item in &module.file.items {
                let syn::Item::Impl(block) = item else {
                    continue;
                };
                let syn::Type::Path(own) = &*block.self_ty else {
                    continue;
                };
                let owner = own
                    .path
                    .segments
                    .last()
                    .filter(|_| block.trait_.is_none())
                    .and_then(|part| self.resolve(path, &part.ident.to_string(), MAX_HOPS));
                let Some(owner) = owner else { continue };
                for item in &block.items {
                    match item {
                        syn::ImplItem::Fn(item) if is_public(&item.vis) => {
                            out.entry(owner.clone())
                                .or_default()
                                .insert(format!("fn {}", item.sig.ident));
                        }
                        syn::ImplItem::Const(item) if is_public(&item.vis) => {
                            out.entry(owner.clone())
                                .or_default()
                                .insert(format!("const {}", item.ident));
                        }
                        _ => {}
                    }
                }
            }
        }
        out
    }
}

/// Returns the public names of the given modules of a crate, one a line, each followed by those of
/// its members.
fn listing(sources: &[SourceText], public_modules: &[&[&str]]) -> String {
    let modules = Modules::read_sources(sources);
    let functions = modules.functions();
    let mut blocks: BTreeSet<(String, String)> = BTreeSet::new();
    for path in public_modules {
        let path: ModulePath = path.iter().map(ToString::to_string).collect();
        let prefix = path
            .iter()
            .fold(String::new(), |prefix, part| prefix + part + "::");
        let Some(module) = modules.0.get(&path) else {
            panic!("no module {path:?}");
        };
        for import in module.imports.iter().filter(|import| import.is_public) {
            let name = format!("ctxc::{prefix}{}", import.local);
            let Some(item) = modules.resolve(&path, &import.local, MAX_HOPS) else {
                blocks.insert((name, "module".to_owned()));
                continue;
            };
            let Some(definition) = modules.definition(&item) else {
                continue;
            };
            let mut block = item_kind(definition).to_owned();
            if !import.features.is_empty() {
                let _ = write!(block, " ({})", import.features);
            }
            let own = members(definition);
            for member in own.iter().chain(functions.get(&item).into_iter().flatten()) {
                let _ = write!(block, "\n    {member}");
            }
            blocks.insert((name, block));
        }
    }
    let mut out = String::new();
    for (name, block) in blocks {
        let _ = writeln!(out, "{name}: {block}");
    }
    out
}

#[test]
fn the_public_names_are_those_of_the_list() {
    let found = listing(&source::rust_sources(&["src/"]), &[&[], &["runtime"]]);
    if std::env::var_os("CTXC_UPDATE").is_some() {
        std::fs::write(LISTING, &found).unwrap();
    }
    let recorded = std::fs::read_to_string(LISTING).unwrap_or_default();
    assert_eq!(found, recorded, "CTXC_UPDATE=1 rewrites {LISTING}");
}

#[test]
fn a_renamed_public_name_is_seen() {
    let found = |definition: &str| {
        let sources = [
            SourceText::new(
                "src/lib.rs",
                "mod a;\n#[cfg(feature = \"x\")]\npub use a::Thing;",
            ),
            SourceText::new("src/a/mod.rs", "mod b;\nmod c;\npub use b::Thing;"),
            SourceText::new("src/a/b.rs", definition),
            SourceText::new(
                "src/a/c.rs",
                "use super::Thing;\nimpl Thing { pub fn run(&self) {} fn walk(&self) {} }",
            ),
        ];
        listing(&sources, &[&[]])
    };
    assert_eq!(
        found("pub struct Thing { pub id: u8, own: u8 }"),
        "ctxc::Thing: struct (feature=\"x\")\n    field id\n    fn run\n"
    );
    assert_eq!(
        found("pub enum Thing { One, Two }"),
        "ctxc::Thing: enum (feature=\"x\")\n    variant One\n    variant Two\n    fn run\n"
    );
}
