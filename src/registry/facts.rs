//! What the cache keeps of each compiled file beside its stamp: facts for the index, dependencies, entries, counted findings.
//!
//! Read only when something changed.

use super::cache::{Tally, decode_tally, encode_tally};
use super::codec::{Decoder, Encoder};
use crate::base::hash::Hash;
use crate::template::names::{Arg, Definition, DefinitionKind, FileFacts, Param, Reference, ReferenceKind, Source, SourceKind};

/// An entry as it lies in the registry on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredEntry {
    /// Index of its definition in the file's facts.
    pub(super) definition: u32,
    /// Hash of its own content.
    pub(super) own: Hash,
    /// Hash with all that it refers to, as it stands in the registry.
    pub(super) hash: Hash,
    /// Where it begins in the registry.
    pub(super) at: u64,
    /// Bytes.
    pub(super) len: u32,
    /// Where in them the hash stands.
    pub(super) hash_at: u32,
}

/// One compiled file of the last build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredFile {
    pub(super) facts: FileFacts,
    /// Rows it was resolved with: indexes into the rows of the head's keys.
    pub(super) rows: Vec<u32>,
    /// What it pulls text from: indexes into the head's dependencies.
    pub(super) dependencies: Vec<u32>,
    pub(super) entries: Vec<StoredEntry>,
    pub(super) tallies: Vec<Tally>,
}

/// Writes the facts of all files in the order of the index's ordinals; skipped files are `None`.
pub(super) fn encode<'f>(files: impl IntoIterator<Item = Option<&'f StoredFile>, IntoIter: ExactSizeIterator>) -> Vec<u8> {
    let mut out = Encoder::default();
    out.list(files, |out, file| {
        out.u8(u8::from(file.is_some()));
        if let Some(file) = file {
            encode_file(file, out);
        }
    });
    out.bytes
}

/// Reads what [`encode`] wrote.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Option<StoredFile>>> {
    let mut input = Decoder::new(bytes);
    let files = input.list(|input| match input.u8()? {
        0 => Some(None),
        1 => decode_file(input).map(Some),
        _ => None,
    })?;
    input.is_done().then_some(files)
}

fn encode_file(file: &StoredFile, out: &mut Encoder) {
    out.list(&file.facts.definitions, encode_definition);
    out.list(&file.facts.references, encode_reference);
    out.list(&file.facts.sources, |out, source| {
        out.u8(source.kind as u8);
        out.str(&source.path);
        out.span(source.span);
        out.u32(source.owner);
    });
    out.list(&file.rows, |out, row| out.u32(*row));
    out.list(&file.dependencies, |out, dependency| out.u32(*dependency));
    out.list(&file.entries, |out, entry| {
        out.u32(entry.definition);
        out.hash(entry.own);
        out.hash(entry.hash);
        out.u64(entry.at);
        out.u32(entry.len);
        out.u32(entry.hash_at);
    });
    out.list(&file.tallies, encode_tally);
}

fn decode_file(input: &mut Decoder<'_>) -> Option<StoredFile> {
    let definitions = input.list(decode_definition)?;
    let references = input.list(decode_reference)?;
    let sources = input.list(decode_source)?;
    let facts = FileFacts { definitions, references, sources };
    let rows = input.list(Decoder::u32)?;
    let dependencies = input.list(Decoder::u32)?;
    let entries = input.list(|input| {
        let definition = input.u32()?;
        let (own, hash) = (input.hash()?, input.hash()?);
        Some(StoredEntry { definition, own, hash, at: input.u64()?, len: input.u32()?, hash_at: input.u32()? })
    })?;
    let tallies = input.list(decode_tally)?;
    Some(StoredFile { facts, rows, dependencies, entries, tallies })
}

fn decode_source(input: &mut Decoder<'_>) -> Option<Source> {
    let kind = match input.u8()? {
        0 => SourceKind::Text,
        1 => SourceKind::Schema,
        2 => SourceKind::File,
        _ => return None,
    };
    Some(Source { kind, path: input.str()?.into(), span: input.span()?, owner: input.u32()? })
}

fn encode_definition(out: &mut Encoder, definition: &Definition) {
    out.u8(definition.kind as u8);
    out.str(&definition.name);
    out.span(definition.span);
    out.list(&definition.params, |out, param| {
        out.str(&param.name);
        out.u8(u8::from(param.required));
    });
    out.optional(definition.returns.as_deref());
    out.u8(u8::from(definition.untrusted.is_some()));
    out.span(definition.untrusted.unwrap_or_default());
}

fn decode_definition(input: &mut Decoder<'_>) -> Option<Definition> {
    let kinds = [DefinitionKind::Task, DefinitionKind::Template, DefinitionKind::Fragment];
    let kind = *kinds.get(input.u8()? as usize)?;
    let name = input.str()?.into();
    let span = input.span()?;
    let params = input.list(|input| Some(Param { name: input.str()?.into(), required: input.u8()? == 1 }))?;
    let returns = input.optional()?.map(Box::from);
    let is_untrusted = input.u8()? == 1;
    let untrusted = Some(input.span()?).filter(|_| is_untrusted);
    Some(Definition { kind, name, span, params: params.into(), returns, untrusted })
}

fn encode_reference(out: &mut Encoder, reference: &Reference) {
    out.u8(reference.kind as u8);
    out.str(&reference.name);
    out.span(reference.span);
    out.u32(reference.owner);
    out.str(&reference.node);
    out.list(&reference.args, |out, arg| {
        out.optional(arg.name.as_deref());
        out.span(arg.span);
    });
    out.optional(reference.expects.as_deref());
    out.u8(u8::from(reference.in_system));
}

fn decode_reference(input: &mut Decoder<'_>) -> Option<Reference> {
    let kinds = [ReferenceKind::Ref, ReferenceKind::Call, ReferenceKind::Use];
    let kind = *kinds.get(input.u8()? as usize)?;
    let name = input.str()?.into();
    let span = input.span()?;
    let owner = input.u32()?;
    let node = input.str()?.into();
    let args = input.list(|input| Some(Arg { name: input.optional()?.map(Box::from), span: input.span()? }))?;
    let expects = input.optional()?.map(Box::from);
    let in_system = input.u8()? == 1;
    Some(Reference { kind, name, span, owner, node, args: args.into(), expects, in_system })
}

#[cfg(test)]
mod tests {
    use super::{StoredEntry, StoredFile, decode, encode};
    use crate::base::hash::Hash;
    use crate::base::rule_meta::Severity;
    use crate::base::span::Span;
    use crate::registry::cache::Tally;
    use crate::template::names::{
        Arg, Definition, DefinitionKind, FileFacts, Param, Reference, ReferenceKind, Source, SourceKind,
    };

    fn example() -> Vec<Option<StoredFile>> {
        let definition = Definition {
            kind: DefinitionKind::Template,
            name: "naïve".into(),
            span: Span::new(3, 8),
            params: [Param { name: "a".into(), required: true }].into(),
            returns: Some("string[]".into()),
            untrusted: Some(Span::new(9, 27)),
        };
        let reference = Reference {
            kind: ReferenceKind::Use,
            name: "house".into(),
            span: Span::new(9, 14),
            owner: 0,
            node: "/steps/1".into(),
            args: [Arg { name: None, span: Span::at(4) }].into(),
            expects: None,
            in_system: true,
        };
        let source = Source { kind: SourceKind::Schema, path: "a.md".into(), span: Span::new(20, 24), owner: 0 };
        let facts = FileFacts { definitions: vec![definition], references: vec![reference], sources: vec![source] };
        let entry = StoredEntry { definition: 0, own: Hash([5; 32]), hash: Hash([6; 32]), at: 1 << 33, len: 700, hash_at: 80 };
        let file = StoredFile {
            facts,
            rows: vec![0, 3],
            dependencies: vec![1],
            entries: vec![entry],
            tallies: vec![Tally { rule: 204, severity: Severity::Warning, count: 2, fixable: 2, safe: 1 }],
        };
        vec![Some(file), None, Some(StoredFile::default())]
    }

    #[test]
    fn what_is_written_is_read() {
        let files = example();
        assert_eq!(decode(&encode(files.iter().map(Option::as_ref))).unwrap(), files);
    }

    #[test]
    fn damage_never_panics_and_a_cut_is_noticed() {
        let bytes = encode(example().iter().map(Option::as_ref));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] = 0xff;
            // Digests catch a changed byte; here only a panic or a huge allocation would be wrong.
            drop(decode(&changed));
        }
    }
}
