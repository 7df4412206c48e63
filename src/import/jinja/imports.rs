//! `import "x" as m` and `from "x" import a`: the top-level definitions of the file in a scope of
//! their own, with its names as fields of a `namespace`, so that none of them is confused with an
//! input or a name of another file.

use super::flatten::TemplateFlattener;
use super::page::{JinjaImport, JinjaPage, computed_name_note};
use super::pieces::{TrimPair, WhitespaceTrim};
use crate::import::note::{ImportNote, ImportNoteKind};
use crate::import::prompt_names::kebab_case;
use crate::jinja::parse::{analyze, find_first_reads};
use std::collections::BTreeSet;

impl<'t> TemplateFlattener<'_, 't> {
    /// Writes an imported file at the place of the import.
    pub(super) fn write_import(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        import: &JinjaImport<'t>,
        out: &mut String,
    ) {
        let Some(file) = &import.file else {
            return self.note_at(page, at, computed_name_note("import"));
        };
        let Some(inner) = self.load_page(page, at, file) else {
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
        let namespace = format!(
            "_{}{}",
            kebab_case(stem).replace('-', "_"),
            self.stack.len()
        );
        self.report_missing_names(page, at, import, inner);
        self.stack.push(inner.path);
        let mut text = String::new();
        self.write_definitions(inner, &mut text);
        self.stack.pop();
        if !import.is_with_context {
            self.report_hidden_inputs(inner, &text);
        }
        let TrimPair { left, right } = TrimPair::of_piece(page.pieces.get(at));
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
        if right != WhitespaceTrim::Default {
            out.extend(["{# ", right.sign(), "#}"]);
        }
    }

    /// Reports names that the file does not define: Jinja2 outputs nothing for them.
    fn report_missing_names(
        &mut self,
        page: &JinjaPage<'t>,
        at: usize,
        import: &JinjaImport<'t>,
        inner: &JinjaPage<'t>,
    ) {
        let has = |name: &str| inner.exports.contains(name) && !name.starts_with('_');
        let kind = |name: String| {
            let why = format!(
                "{} does not set this name in every case outside of loops; set it there, or drop it",
                inner.path
            );
            ImportNoteKind::Unsupported {
                what: format!("`{name}`"),
                why,
            }
        };
        for (name, _) in import.chosen.iter().filter(|(name, _)| !has(name)) {
            self.note_at(page, at, kind((*name).to_owned()));
        }
        for (module, name, place) in &page.fields {
            if import.module == Some(*module) && !has(name) {
                let line = page.lines.line_number(*place as u32);
                self.add_note(ImportNote {
                    path: page.path.to_owned(),
                    line,
                    kind: kind(format!("{module}.{name}")),
                });
            }
        }
    }

    /// Reports the inputs that a file reads although it is imported without context: Jinja2 hides
    /// them.
    fn report_hidden_inputs(&mut self, page: &JinjaPage<'t>, text: &str) {
        if !self.reported.insert(page.path) {
            return;
        }
        let reads = find_first_reads(page.text);
        for name in analyze(text).variables {
            let Some(place) = reads.get(name.as_str()) else {
                continue;
            };
            let difference = "Jinja2 shows a file that is imported no inputs, so that it puts nothing but a global of the \
                              environment; here it is an input: hand it to the macro, or write `import … with context`";
            let kind = ImportNoteKind::Differs {
                what: format!("`{name}`"),
                difference: difference.to_owned(),
            };
            self.add_note(ImportNote {
                path: page.path.to_owned(),
                line: page.lines.line_number(*place as u32),
                kind,
            });
        }
    }

    /// Writes the top-level definitions of a page, without its output.
    pub(super) fn write_definitions(&mut self, page: &JinjaPage<'t>, out: &mut String) {
        for definition in &page.definitions {
            let mut text = String::new();
            self.write_pieces(page, definition.pieces.clone(), None, &mut text);
            if definition.is_silenced {
                out.extend(["{% set _ %}", &text, "{% endset %}"]);
            } else {
                out.push_str(&text);
            }
        }
    }
}
