//! Compiles one file from bytes to the parts that a build needs: findings, facts for the index,
//! registry entries.
//!
//! Independent of all other files, so that files are compiled in any order on any thread. Reads
//! only the texts and schemas that the file includes, through the given file access.

use super::entry::{self, DefinitionInput, DefinitionVariable, FileInput, RegistryEntry};
use super::paths;
use super::sources::{self, FileAccess, LoadedTexts};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::ReadFs;
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::project::packages::PackageNames;
use crate::rules::check::{self, ActiveRules};
use crate::rules::file_stem;
use crate::rules::rule::FileCx;
use crate::rules::syntax::undecodable;
use crate::settings::bodies::ResolvedBodies;
use crate::syntax::decode;
use crate::syntax::reader::XmlReader;
use crate::template;
use crate::template::elements::ElementKind;
use crate::template::keywords::Trust;
use crate::template::model::Definition;
use crate::template::names::FileFacts;
use crate::template::parts::TaskParameter;
use crate::template::scope::LinkDetail;
use std::path::Path;
use std::sync::Arc;

/// The inputs common to all files of a build.
#[derive(Clone, Copy)]
pub struct Compiler<'p> {
    /// The project.
    pub config: &'p Config,
    /// The enabled rules.
    pub active: &'p ActiveRules,
    /// The project root; paths of included files must not leave it.
    pub root: &'p Path,
    /// The access to included files.
    pub files: &'p dyn ReadFs,
    /// The required results: findings only, or registry entries too.
    pub purpose: LinkDetail,
    /// The package that the files belong to; `None` for those of the project.
    pub package: Option<CompiledPackage<'p>>,
}

/// The package that files belong to, in the project that uses it.
#[derive(Clone, Copy)]
pub struct CompiledPackage<'p> {
    /// Its names.
    pub names: &'p Arc<PackageNames>,
    /// The folder of the project. Its files are shown to agents, and are no part of a template.
    pub root: &'p Path,
    /// The files of the project.
    pub files: &'p dyn ReadFs,
}

/// The reason why a file is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileReason {
    /// Named by the caller: always compiled.
    Named,
    /// Found in a folder: compiled if its root belongs to the language, was meant to, or cannot be
    /// determined.
    Found,
}

/// Buffers reused from file to file, one set per thread.
#[derive(Debug, Default)]
pub struct CompileBuffers {
    reader: XmlReader,
    bodies: ResolvedBodies,
}

/// The outcome for a file.
#[derive(Debug)]
pub enum CompileOutcome {
    /// Skipped, since its root does not belong to the language.
    Skipped,
    /// Compiled.
    Taken(Box<CompiledFile>),
}

/// The results of compiling a file.
#[derive(Debug, Default)]
pub struct CompiledFile {
    /// The findings, located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// The names and references for the index of all files.
    pub facts: FileFacts,
    /// One entry for each definition, if entries were requested and the file has no errors.
    pub entries: Vec<RegistryEntry>,
}

impl CompileBuffers {
    /// Empty buffers.
    pub fn new() -> Self {
        Self {
            reader: XmlReader::new(),
            bodies: ResolvedBodies::default(),
        }
    }
}

impl Compiler<'_> {
    /// Compiles one file. Never fails: errors are findings.
    pub fn compile(
        &self,
        path: &Arc<str>,
        bytes: &[u8],
        chosen: CompileReason,
        scratch: &mut CompileBuffers,
    ) -> CompileOutcome {
        match decode::decode(bytes) {
            Ok(text) => self.compile_text(path, &text, chosen, scratch),
            Err(fault) => {
                let finding = check::apply_levels(self.config, undecodable::report(path, &fault));
                CompileOutcome::Taken(Box::new(CompiledFile {
                    diagnostics: finding.into_iter().collect(),
                    ..CompiledFile::default()
                }))
            }
        }
    }

    /// Compiles a decoded text.
    pub fn compile_text(
        &self,
        path: &Arc<str>,
        text: &str,
        chosen: CompileReason,
        scratch: &mut CompileBuffers,
    ) -> CompileOutcome {
        let CompileBuffers { reader, bodies } = scratch;
        reader.read(text, &self.config.limits);
        let document = reader.document(text);
        if chosen == CompileReason::Found && is_foreign(document) {
            return CompileOutcome::Skipped;
        }
        let names = self.package.map(|package| package.names);
        let trust = names.map_or(Trust::Trusted, |names| names.trust);
        let file = template::lower_with_trust(document, trust);
        bodies.resolve(&file, &self.config.layers);
        let mut facts = template::facts::collect(&file, file_stem::default_task_name(path));
        if let Some(names) = names {
            facts.rename(|name| names.own_name(name), |name| names.full_name(name));
        }
        let mut unread = Vec::new();
        let mut texts = self.read_texts(path, text, &facts, &mut unread);
        texts.set_package(names);
        texts.apply_to_facts(&mut facts);
        let mut scopes = template::scope::resolve_names(
            &file,
            &|written| texts.shared_text(written),
            &|body| bodies.context_reach(body),
            self.purpose,
        );
        scopes.store_in_facts(&mut facts);
        let unseen = paths::find_unreadable(self.shown_access(), path, &facts);
        let cx = FileCx {
            path,
            document,
            file: &file,
            bodies,
            scopes: &scopes,
            unread: &unseen,
            included: &texts.hidden,
            config: self.config,
        };
        let mut diagnostics = check::file_findings(self.active, &cx, reader.faults());
        if !unread.is_empty() {
            let unread = unread.into_iter();
            diagnostics.extend(unread.filter_map(|found| check::apply_levels(self.config, found)));
            diagnostic::sort_diagnostics(&mut diagnostics);
        }
        let is_written = self.purpose == LinkDetail::Registry
            && !diagnostics.iter().any(check::invalidates_definition);
        let entries = if is_written {
            write_entries(&cx, &facts, &texts, &diagnostics)
        } else {
            Vec::new()
        };
        CompileOutcome::Taken(Box::new(CompiledFile {
            diagnostics,
            facts,
            entries,
        }))
    }

    const fn file_access(&self) -> FileAccess<'_> {
        FileAccess {
            root: self.root,
            files: self.files,
            limit: self.config.limits.file,
        }
    }

    /// The access to the files that agents are shown: always those of the project.
    fn shown_access(&self) -> FileAccess<'_> {
        let own = self.file_access();
        self.package.map_or(own, |package| FileAccess {
            root: package.root,
            files: package.files,
            ..own
        })
    }

    /// Reads the texts that the file includes; unreadable ones are added to the findings.
    fn read_texts(
        &self,
        path: &Arc<str>,
        text: &str,
        facts: &FileFacts,
        found: &mut Vec<Diagnostic>,
    ) -> LoadedTexts {
        if facts.sources.is_empty() {
            return LoadedTexts::default();
        }
        let texts = sources::read_sources(self.file_access(), path, facts, found);
        if !found.is_empty() {
            let index = LineIndex::new(text);
            for finding in found {
                finding.locate(text, &index);
            }
        }
        texts
    }
}

/// One entry for each definition of a file without errors.
fn write_entries(
    cx: &FileCx<'_>,
    facts: &FileFacts,
    texts: &LoadedTexts,
    found: &[Diagnostic],
) -> Vec<RegistryEntry> {
    let resolved = cx.bodies.resolved_settings();
    let file = FileInput {
        path: cx.path,
        layers: &cx.config.layers,
        resolved: &resolved,
        sources: texts,
    };
    let definitions = cx
        .file
        .definitions
        .iter()
        .zip(&facts.definitions)
        .enumerate();
    let lines = definitions.filter_map(|(at, (definition, fact))| {
        let span = definition.element().span();
        let warnings: Vec<&Diagnostic> = found
            .iter()
            .filter(|finding| span.encloses(finding.span))
            .collect();
        let mut parameters = definition_variables(definition);
        let implicit = cx
            .scopes
            .implicit
            .iter()
            .filter(|implicit| implicit.owner as usize == at);
        parameters.extend(implicit.map(|implicit| DefinitionVariable {
            name: &implicit.name.value,
            kind: implicit.kind.as_deref(),
            required: true,
            default: None,
            implicit: true,
        }));
        let input = DefinitionInput {
            index: at as u32,
            definition,
            name: &fact.name,
            parameters: &parameters,
            warnings: &warnings,
        };
        entry::write_entry(&file, &input)
    });
    lines.collect()
}

/// The variables that a definition takes, in order.
fn definition_variables<'m>(definition: &'m Definition<'_>) -> Vec<DefinitionVariable<'m>> {
    let declared = definition.task().map_or(&[][..], |task| &task.parameters);
    let of = |parameter: &'m TaskParameter<'_>| {
        Some(DefinitionVariable {
            name: &parameter.name.as_ref()?.value,
            kind: parameter.kind.as_ref().map(|kind| &*kind.value),
            required: parameter.is_required(),
            default: parameter.default.as_ref().map(|default| &*default.value),
            implicit: false,
        })
    };
    if let Definition::Template(template) = definition {
        let one = |param: &'m crate::template::parts::Str<'_>| {
            let named = declared.iter().find(|own| {
                own.name
                    .as_ref()
                    .is_some_and(|name| name.value == param.value)
            });
            let bare = DefinitionVariable {
                name: &param.value,
                kind: None,
                required: true,
                default: None,
                implicit: false,
            };
            named.and_then(of).unwrap_or(bare)
        };
        return template.params.iter().map(one).collect();
    }
    declared.iter().filter_map(of).collect()
}

/// Returns true if the root can be read and neither belongs to the language nor was meant to.
pub(in crate::registry) fn is_foreign(document: crate::syntax::tree::XmlDocument<'_>) -> bool {
    document.root().is_some_and(|root| {
        // If the root is an inner element of the language and the file contains the end tag of a
        // root element, its beginning was lost.
        let is_part = || {
            root.namespace().is_none()
                && ElementKind::parents_of_tag(root.local_name())
                    .next()
                    .is_some()
        };
        let ends = || {
            ["</task>", "</template>", "</library>"]
                .iter()
                .any(|end| document.text.contains(end))
        };
        template::root_kind(root).is_none() && !(is_part() && ends())
    })
}
