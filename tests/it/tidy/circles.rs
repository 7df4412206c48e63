//! Files inside a room form no circle: following imports from a file never leads back to it. A
//! contents page that passes a name on (`pub use`) is not a stop; only the lists that it defines
//! itself belong to it.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use syn::visit::{self, Visit};

type PathParts = Vec<String>;

/// The items of one file, and the names in it.
#[derive(Default)]
struct ModuleNames {
    path: String,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Local name → the absolute path that a `use` gives it. A `pub use` counts as a name of this
    /// file, too.
    aliases: BTreeMap<String, PathParts>,
    /// Modules imported by a glob (`use a::*`).
    globs: Vec<PathParts>,
    /// Every path in the file, made absolute if it starts at the crate, at `super` or at `self`.
    named: BTreeSet<PathParts>,
}

/// All files, by their path from the crate's root.
struct CrateModules(BTreeMap<PathParts, ModuleNames>);

struct ModuleReader {
    /// The visitor's current module; the last `depth` names are inline modules.
    here: PathParts,
    depth: usize,
    module: ModuleNames,
}

impl ModuleReader {
    /// Resolves `super` and `self` in a path, so that it starts at `crate`. Other paths stay as
    /// written.
    fn absolute_path(&self, parts: &[String]) -> PathParts {
        if !parts
            .first()
            .is_some_and(|first| first == "self" || first == "super")
        {
            return parts.to_vec();
        }
        let (mut base, mut rest) = (self.here.clone(), parts);
        while let [first, tail @ ..] = rest {
            match first.as_str() {
                "self" => {}
                "super" => drop(base.pop()),
                _ => break,
            }
            rest = tail;
        }
        base.insert(0, "crate".to_owned());
        base.extend_from_slice(rest);
        base
    }

    fn add_name(&mut self, parts: &[String]) {
        let absolute = self.absolute_path(parts);
        self.module.named.insert(absolute);
    }

    fn add_path(&mut self, path: &syn::Path) {
        self.add_name(
            &path
                .segments
                .iter()
                .map(|part| part.ident.to_string())
                .collect::<PathParts>(),
        );
    }

    fn add_import(&mut self, tree: &syn::UseTree, path: &mut PathParts, public: bool) {
        match tree {
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.add_import(&part.tree, path, public);
                path.pop();
            }
            syn::UseTree::Name(name) => self.add_alias(&name.ident, &name.ident, path, public),
            syn::UseTree::Rename(name) => self.add_alias(&name.ident, &name.rename, path, public),
            syn::UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|item| self.add_import(item, path, public)),
            syn::UseTree::Glob(_) => {
                let full = self.absolute_path(path);
                self.module.globs.push(full);
            }
        }
    }

    fn add_alias(&mut self, ident: &syn::Ident, local: &syn::Ident, path: &[String], public: bool) {
        let mut full = path.to_vec();
        if ident != "self" {
            full.push(ident.to_string());
        }
        let local = if local == "self" {
            full.last().cloned().unwrap_or_default()
        } else {
            local.to_string()
        };
        let absolute = self.absolute_path(&full);
        if !public {
            self.module.named.insert(absolute.clone());
        }
        if local != "_" {
            self.module.aliases.insert(local, absolute);
        }
    }

    /// Adds the paths in a macro's arguments, which `syn` does not parse: words joined by `::`.
    fn add_token_paths(&mut self, tokens: &TokenStream) {
        let mut path: PathParts = Vec::new();
        let mut colons = 0;
        for token in tokens.clone() {
            match token {
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Ident(word) => {
                    if colons != 2 && !path.is_empty() {
                        self.add_name(&std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.add_token_paths(&group.stream());
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => colons = 0,
            }
        }
        if !path.is_empty() {
            self.add_name(&path);
        }
    }
}

impl<'ast> Visit<'ast> for ModuleReader {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "an open enum: other items have no name of their own"
    )]
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let ident = match item {
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            syn::Item::Macro(item) => item.ident.as_ref(),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            _ => None,
        };
        if self.depth == 0 {
            self.module.items.extend(ident.map(ToString::to_string));
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_none() {
            self.module.children.insert(item.ident.to_string());
            return;
        }
        self.here.push(item.ident.to_string());
        self.depth += 1;
        visit::visit_item_mod(self, item);
        self.depth -= 1;
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_import(&item.tree, &mut Vec::new(), public);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.add_token_paths(&item.tokens);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let serde = attribute
            .path()
            .is_ident("serde")
            .then(|| attribute.parse_args_with(serde_paths).ok())
            .flatten();
        for path in serde.into_iter().flatten() {
            self.add_path(&path);
        }
        visit::visit_attribute(self, attribute);
    }
}

/// Returns the functions and modules named in strings of `#[serde(with = "…")]` and similar
/// attributes.
fn serde_paths(input: syn::parse::ParseStream<'_>) -> syn::Result<Vec<syn::Path>> {
    let mut paths = Vec::new();
    while !input.is_empty() {
        if let Ok(text) = input.parse::<syn::LitStr>() {
            paths.extend(text.parse::<syn::Path>());
        } else {
            input.parse::<TokenTree>()?;
        }
    }
    Ok(paths)
}

impl CrateModules {
    fn read_sources(sources: &[SourceText]) -> Self {
        let mut modules = BTreeMap::new();
        for source in sources {
            let here: PathParts = source
                .module_path()
                .iter()
                .map(ToString::to_string)
                .collect();
            let module = ModuleNames {
                path: source.path.clone(),
                ..ModuleNames::default()
            };
            let mut reader = ModuleReader {
                here: here.clone(),
                depth: 0,
                module,
            };
            reader.visit_file(&source.parse());
            // `main.rs` is a separate crate, which no file imports.
            let key = if source.path == "src/main.rs" {
                vec!["main.rs".to_owned()]
            } else {
                here
            };
            modules.insert(key, reader.module);
        }
        Self(modules)
    }

    /// Returns the file that defines the target of a path from the crate's root: through folders,
    /// and through the names that contents pages pass on. A path that ends at a folder leads to no
    /// file.
    fn find_file(&self, path: &[String], hops: usize) -> Option<&ModuleNames> {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| self.0.contains_key(path.get(..*depth).unwrap_or_default()))?;
        let module = self.0.get(path.get(..depth)?)?;
        let rest = path.get(depth..)?;
        let Some(name) = rest.first() else {
            return module.children.is_empty().then_some(module);
        };
        if hops == 0 || module.items.contains(name) {
            return Some(module);
        }
        if let Some(target) = module.aliases.get(name) {
            let onward: PathParts = target.iter().chain(rest.iter().skip(1)).cloned().collect();
            return self.find_file_from(path.get(..depth)?, &onward, hops - 1);
        }
        let taken = module.globs.iter().find_map(|glob| {
            let onward: PathParts = glob.iter().chain(rest).cloned().collect();
            self.find_file_from(path.get(..depth)?, &onward, hops - 1)
                .filter(|found| found.items.contains(name))
        });
        taken.or(Some(module))
    }

    /// Like `find_file`, for a path as written in a file: it starts at `crate`, at a child of that
    /// file, or at an alias in it.
    fn find_file_from(
        &self,
        here: &[String],
        path: &[String],
        hops: usize,
    ) -> Option<&ModuleNames> {
        let module = self.0.get(here)?;
        let (first, rest) = path.split_first()?;
        if first == "crate" {
            return self.find_file(rest, hops);
        }
        if module.children.contains(first) {
            let full: PathParts = here.iter().chain(path).cloned().collect();
            return self.find_file(&full, hops);
        }
        let target = module
            .aliases
            .get(first)
            .filter(|target| hops > 0 && target.first() != Some(first))?;
        let full: PathParts = target.iter().chain(rest).cloned().collect();
        self.find_file_from(here, &full, hops - 1)
    }

    /// Returns for each file the files that it imports from.
    fn import_graph(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut graph = BTreeMap::new();
        for (here, module) in &self.0 {
            let own = module.path.as_str();
            let globs = module
                .globs
                .iter()
                .filter_map(|glob| self.find_file_from(here, glob, 9));
            let named = module
                .named
                .iter()
                .filter_map(|path| self.find_file_from(here, path, 9));
            let found: BTreeSet<&str> = globs
                .chain(named)
                .map(|found| found.path.as_str())
                .filter(|path| *path != own)
                .collect();
            graph.insert(own, found);
        }
        graph
    }
}

/// Returns the shortest path of imports from a file back to itself.
fn shortest_circle<'a>(
    graph: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    start: &'a str,
) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in graph.get(file).into_iter().flatten().copied() {
            if next == start {
                let mut way = vec![start, file];
                while let Some(previous) = before.get(way[way.len() - 1]) {
                    way.push(previous);
                }
                way.reverse();
                return Some(way);
            }
            if !before.contains_key(next) {
                before.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Returns the shortest circle of each file that is part of one.
fn find_circles(sources: &[SourceText]) -> Vec<String> {
    let read = CrateModules::read_sources(sources);
    let graph = read.import_graph();
    graph
        .keys()
        .filter_map(|file| Some(shortest_circle(&graph, file)?.join(" → ")))
        .collect()
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    assert_eq!(find_circles(&source::rust_sources(&["src/"])), [""; 0]);
}

#[test]
fn a_circle_is_found() {
    let text = |files: &[(&str, &str)]| {
        let sources: Vec<SourceText> = files
            .iter()
            .map(|(path, text)| SourceText::new(path, text))
            .collect();
        let mut found = find_circles(&sources);
        found.truncate(1);
        found
    };
    let there_and_back = ["src/a/b.rs → src/a/c.rs → src/a/b.rs"];
    let page = (
        "src/a/mod.rs",
        "mod b; mod c; pub use b::B; pub(crate) use c::run;",
    );
    let root = ("src/lib.rs", "mod a;");
    assert_eq!(
        text(&[
            root,
            page,
            ("src/a/b.rs", "use super::c::C;"),
            ("src/a/c.rs", "use crate::a::b;")
        ]),
        there_and_back
    );
    // Through the names that the contents page passes on, in a path within an expression, and in a
    // macro
    let back = ("src/a/c.rs", "use crate::a::B; pub fn run() {}");
    assert_eq!(
        text(&[
            root,
            page,
            ("src/a/b.rs", "struct B; fn f() { crate::a::run() }"),
            back
        ]),
        there_and_back
    );
    assert_eq!(
        text(&[
            root,
            page,
            (
                "src/a/b.rs",
                "struct B; fn f() { println!(\"{}\", super::run()) }"
            ),
            back
        ]),
        there_and_back
    );
    // Through a module's name
    assert_eq!(
        text(&[
            root,
            page,
            (
                "src/a/b.rs",
                "use crate::a; struct B; fn f() { a::c::run() }"
            ),
            back
        ]),
        there_and_back
    );
    assert_eq!(
        text(&[
            root,
            page,
            ("src/a/b.rs", "use super::c::*; struct B;"),
            back
        ]),
        there_and_back
    );
    let inline = (
        "src/a/b.rs",
        "struct B; mod tests { use super::super::run; }",
    );
    assert_eq!(text(&[root, page, inline, back]), there_and_back);
    // A list that a contents page defines itself is a stop
    let list = (
        "src/a/mod.rs",
        "mod b; mod c; pub use b::B; static ALL: &[B] = &[c::ITEM];",
    );
    assert_eq!(
        text(&[
            root,
            list,
            ("src/a/b.rs", "struct B;"),
            ("src/a/c.rs", "use super::B;")
        ]),
        [""; 0]
    );
    let circle = ["src/a/b.rs → src/a/mod.rs → src/a/b.rs"];
    assert_eq!(
        text(&[
            root,
            list,
            ("src/a/b.rs", "use super::ALL; struct B;"),
            ("src/a/c.rs", "")
        ]),
        circle
    );
    // Passing a name on is not a stop, and importing downwards is not a circle
    assert_eq!(
        text(&[
            root,
            page,
            ("src/a/b.rs", "struct B; use super::run;"),
            ("src/a/c.rs", "pub fn run() {}")
        ]),
        [""; 0]
    );
}
