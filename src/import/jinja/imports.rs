//! `import "x" as m` and `from "x" import a`: the top-level definitions of the file in a scope of
//! their own, with its names as fields of a `namespace`, so that none of them is confused with an
//! input or a name of another file.

use super::flatten::Flattener;
use super::page::{Import, Page, chosen_later};
use super::pieces::Trim;
use crate::import::names::kebab;
use crate::import::note::{Note, NoteKind};
use crate::jinja::parse::{first_reads, parse};
use std::collections::BTreeSet;

impl<'t> Flattener<'_, 't> {
    /// Writes an imported file at the place of the import.
    pub(super) fn import(
        &mut self,
        page: &Page<'t>,
        at: usize,
        import: &Import<'t>,
        out: &mut String,
    ) {
        let Some(file) = &import.file else {
            return self.note(page, at, chosen_later("import"));
        };
        let Some(inner) = self.load(page, at, file) else {
            return;
        };
        let stem = inner
            .path
            .rsplit('/')
            .next()
            .unwrap_or(inner.path)
            .split('.')
            .next()
            .unwrap_or("");
        let namespace = format!("_{}{}", kebab(stem).replace('-', "_"), self.stack.len());
        self.missing(page, at, import, inner);
        self.stack.push(inner.path);
        let mut text = String::new();
        self.define(inner, &mut text);
        self.stack.pop();
        if !import.is_with_context {
            self.context(inner, &text);
        }
        let (left, right) = page
            .pieces
            .get(at)
            .map_or((Trim::Default, Trim::Default), |piece| {
                (piece.left, piece.right)
            });
        out.extend([
            "{%",
            left.sign(),
            " set ",
            &namespace,
            " = namespace() %}{% with %}",
            &text,
        ]);
        let fields: BTreeSet<&str> = self
            .pages
            .values()
            .flat_map(|page| &page.fields)
            .map(|(_, field, _)| *field)
            .collect();
        let wanted = |name: &str| match import.module {
            Some(_) => fields.contains(name) && !name.starts_with('_'),
            None => import.chosen.iter().any(|(chosen, _)| *chosen == name),
        };
        for name in inner.exports.iter().filter(|name| wanted(name)) {
            out.extend(["{% set ", &namespace, ".", name, " = ", name, " %}"]);
        }
        out.push_str("{% endwith %}");
        if let Some(name) = import.module {
            out.extend(["{% set ", name, " = ", &namespace, " %}"]);
        }
        for (chosen, called) in &import.chosen {
            out.extend(["{% set ", called, " = ", &namespace, ".", chosen, " %}"]);
        }
        if right != Trim::Default {
            out.extend(["{# ", right.sign(), "#}"]);
        }
    }

    /// Reports names that the file does not define: Jinja2 outputs nothing for them.
    fn missing(&mut self, page: &Page<'t>, at: usize, import: &Import<'t>, inner: &Page<'t>) {
        let has = |name: &str| inner.exports.contains(name) && !name.starts_with('_');
        let kind = |name: String| {
            let why = format!(
                "{} does not set this name in every case outside of loops; set it there, or drop it",
                inner.path
            );
            NoteKind::Unsupported {
                what: format!("`{name}`"),
                why,
            }
        };
        for (name, _) in import.chosen.iter().filter(|(name, _)| !has(name)) {
            self.note(page, at, kind((*name).to_owned()));
        }
        for (module, name, place) in &page.fields {
            if import.module == Some(*module) && !has(name) {
                let line = page.lines.line(*place as u32);
                self.add(Note {
                    path: page.path.to_owned(),
                    line,
                    kind: kind(format!("{module}.{name}")),
                });
            }
        }
    }

    /// Reports the inputs that a file reads although it is imported without context: Jinja2 hides
    /// them.
    fn context(&mut self, page: &Page<'t>, text: &str) {
        if !self.reported.insert(page.path) {
            return;
        }
        let reads = first_reads(page.text);
        for name in parse(text).variables {
            let Some(place) = reads.get(name.as_str()) else {
                continue;
            };
            let difference = "Jinja2 shows a file that is imported no inputs, so that it puts nothing but a global of the \
                              environment; here it is an input: hand it to the macro, or write `import … with context`";
            let kind = NoteKind::Differs {
                what: format!("`{name}`"),
                difference: difference.to_owned(),
            };
            self.add(Note {
                path: page.path.to_owned(),
                line: page.lines.line(*place as u32),
                kind,
            });
        }
    }

    /// Writes the top-level definitions of a page, without its output.
    pub(super) fn define(&mut self, page: &Page<'t>, out: &mut String) {
        for definition in &page.definitions {
            let mut text = String::new();
            self.emit(page, definition.pieces.clone(), None, &mut text);
            if definition.is_silenced {
                out.extend(["{% set _ %}", &text, "{% endset %}"]);
            } else {
                out.push_str(&text);
            }
        }
    }
}
