//! Tests of the private items of `src/registry/compile/merkle.rs`.

use super::compute_hashes;
use crate::base::hash::Hash;
use crate::base::span::Span;
use crate::project::index::{DefId, NameIndex, ProjectFileFacts};
use crate::template::names::{
    DefinitionFacts, DefinitionKind, FileFacts, ReferenceFacts, ReferenceKind,
};
use std::sync::Arc;

fn file(kind: DefinitionKind, name: &str, uses: &[(ReferenceKind, &str)]) -> FileFacts {
    let (name, params) = (name.into(), Box::default());
    let definition = DefinitionFacts {
        kind,
        name,
        span: Span::empty_at(0),
        params,
        returns: None,
        untrusted: None,
        inherits: false,
        has_untrusted_result: false,
        has_tool_result: false,
        open_tool_result: None,
        bytes: 0,
        agents: 0,
        context: None,
        open: None,
    };
    let reference = |(kind, name): &(ReferenceKind, &str)| ReferenceFacts {
        kind: *kind,
        name: (*name).into(),
        span: Span::empty_at(0),
        owner: 0,
        node: "/".into(),
        args: Box::default(),
        expects: None,
    };
    FileFacts {
        definitions: vec![definition],
        references: uses.iter().map(reference).collect(),
        ..FileFacts::default()
    }
}

#[test]
fn a_hash_moves_with_everything_it_rests_on() {
    let files = [
        file(
            DefinitionKind::Task,
            "top",
            &[(ReferenceKind::Ref, "middle")],
        ),
        file(
            DefinitionKind::Task,
            "middle",
            &[(ReferenceKind::Use, "house"), (ReferenceKind::Call, "ask")],
        ),
        file(DefinitionKind::Fragment, "house", &[]),
        file(DefinitionKind::Template, "ask", &[]),
        file(DefinitionKind::Task, "other", &[]),
    ];
    let path: Arc<str> = Arc::from("a.xml");
    let index = NameIndex::new(
        files
            .iter()
            .map(|facts| ProjectFileFacts { path: &path, facts }),
    );
    let (order, cycles) = index.dependency_order();
    assert!(cycles.is_empty());
    let run = |changed: u32| {
        let own = |id: DefId| {
            Some(Hash(
                [id.file as u8 + if id.file == changed { 100 } else { 0 }; 32],
            ))
        };
        let all = compute_hashes(&index, &order, own);
        (0..5)
            .map(|file| {
                all.get(DefId {
                    file,
                    definition: 0,
                })
                .unwrap()
            })
            .collect::<Vec<_>>()
    };
    let base = run(99);
    let moved = |changed: u32| -> Vec<usize> {
        let now = run(changed);
        (0..5).filter(|at| now[*at] != base[*at]).collect()
    };
    assert_eq!(
        (moved(2), moved(3), moved(1)),
        (vec![0, 1, 2], vec![0, 1, 3], vec![0, 1])
    );
    assert_eq!((moved(0), moved(4)), (vec![0], vec![4]));
}
