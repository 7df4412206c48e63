//! Family 0xx: every kind of fault is worded by one rule, every fix that is offered mends what it
//! is offered for.

use crate::support::examples::Examples as _;
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::{self, Applicability};
use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::project::config::Config;
use ctxc::internals::registry::compile::{Chosen, Compiler, Outcome, Scratch};
use ctxc::internals::rules::check::Active;
use ctxc::internals::rules::list;
use ctxc::internals::syntax::fault::FaultKind;
use ctxc::internals::syntax::{Limits, Reader};
use ctxc::internals::template::scope::Purpose;
use pretty_assertions::assert_eq;
use std::path::Path;
use std::sync::Arc;

fn check_with(text: &str, limits: &Limits) -> Vec<Diagnostic> {
    let mut config = Config::default();
    config.limits = limits.clone();
    let active = Active::new(&config);
    let files = MemoryFs::default();
    let compiler = Compiler {
        config: &config,
        active: &active,
        root: Path::new("."),
        files: &files,
        purpose: Purpose::Findings,
    };
    match compiler.compile(
        &Arc::from("template.xml"),
        text.as_bytes(),
        Chosen::Named,
        &mut Scratch::new(),
    ) {
        Outcome::Taken(file) => file.diagnostics,
        Outcome::Skipped => panic!("a named file is taken"),
    }
}

/// The findings of family 0xx.
fn syntax(text: &str) -> Vec<Diagnostic> {
    check_with(text, &Limits::default())
        .into_iter()
        .filter(|finding| finding.rule.code.family() == 0)
        .collect()
}

#[test]
fn bad_examples_give_their_finding_alone() {
    let rules: Vec<_> = list::all()
        .filter(|rule| rule.meta.code.family() == 0)
        .collect();
    assert!(rules.len() >= 28);
    for rule in rules {
        let meta = &rule.meta;
        assert!(
            meta.locked && meta.severity == Some(Severity::Error),
            "{} is no promise",
            meta.name
        );
        for example in &meta.bad() {
            let errors = check_with(example.template, &Limits::default());
            let errors: Vec<_> = errors
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .collect();
            let names: Vec<_> = errors.iter().map(|finding| finding.rule.name).collect();
            assert_eq!(names, [meta.name], "in {}", example.template);
        }
        assert!(!meta.good().is_empty());
        for example in &meta.good() {
            let found: Vec<_> = syntax(example.template)
                .iter()
                .map(|finding| finding.message.clone())
                .collect();
            assert_eq!(found, [""; 0], "in {}", example.template);
        }
    }
}

#[test]
fn every_fix_mends_what_it_is_for() {
    let mut safe = 0;
    let examples = list::all()
        .filter(|rule| rule.meta.code.family() == 0)
        .flat_map(|rule| rule.meta.bad());
    for text in examples
        .map(|example| example.template)
        .chain(KINDS.iter().map(|(_, text)| *text))
    {
        for finding in syntax(text) {
            for way in &finding.fixes {
                let mended = fix::apply(text, &way.edits).expect("the edits fit");
                let left: Vec<_> = syntax(&mended)
                    .into_iter()
                    .filter(|left| left.rule.code == finding.rule.code)
                    .collect();
                let before = syntax(text)
                    .iter()
                    .filter(|other| other.rule.code == finding.rule.code)
                    .count();
                assert!(
                    left.len() < before,
                    "{:?} by {:?}:\n{text}\n{mended}\n{left:#?}",
                    finding.message,
                    way.title
                );
                if way.applicability == Applicability::Safe {
                    safe += 1;
                    assert!(
                        syntax(&mended).len() < syntax(text).len(),
                        "{:?} by {:?}: {mended}",
                        finding.message,
                        way.title
                    );
                }
            }
        }
    }
    assert!(safe > 40, "{safe}");
}

/// A text for each kind of fault that needs no limit.
const KINDS: &[(FaultKind, &str)] = &[
    (FaultKind::NoRoot, ""),
    (FaultKind::SecondRoot, "<a/><b/>"),
    (FaultKind::TextOutsideRoot, "<a/>b"),
    (FaultKind::MissingEnd, "<a>\n  <b>\n  <c/>\n</a>"),
    (FaultKind::MissingEnd, "<a>\r\n  <b>\r\n    <c>x\r\n"),
    (FaultKind::StrayEnd, "<a>\n  <b/>\n  </c>\n</a>"),
    (FaultKind::MissingStart, "<a>\n    <b/>\n  </c>\n</a>"),
    (
        FaultKind::ClosedTwice,
        "<a>\n  <c/>\n    <b/>\n  </c>\n</a>",
    ),
    (FaultKind::MismatchedEnd, "<ab>c</ba>"),
    (FaultKind::MismatchedEnd, "<a>c</>"),
    (FaultKind::EndWithoutSlash, "<r><a>b<a></r>"),
    (FaultKind::EndWithoutBracket, "<r><a>b/a></r>"),
    (FaultKind::StartWithoutBracket, "<r>a>b</a></r>"),
    (FaultKind::JunkInEnd, "<a></a b=\"c\">"),
    (FaultKind::JunkInEnd, "<a></ a>"),
    (FaultKind::UnclosedStart, "<a><b text</b></a>"),
    (FaultKind::UnclosedStart, "<a><b/<c/></a>"),
    (FaultKind::UnclosedEnd, "<a><b></b<c/></a>"),
    (FaultKind::JunkInTag, "<a b=\"c\", d=\"e\"/>"),
    (FaultKind::MissingSpace, "<a b=\"c\"d=\"e\"/>"),
    (FaultKind::MissingEquals, "<a b\"c\"/>"),
    (FaultKind::MissingValue, "<a b/>"),
    (FaultKind::MissingValue, "<a b= />"),
    (FaultKind::UnquotedValue, "<a b=c d='e'/>"),
    (FaultKind::UnquotedValue, "<a b=c'/>"),
    (FaultKind::UnclosedValue, "<a b='c>\n<d/></a>"),
    (FaultKind::UnclosedValue, "<a b='c d='e'/>"),
    (FaultKind::LessInValue, "<a b=\"c < d\"/>"),
    (FaultKind::DuplicateAttribute, "<a b=\"c\" b=\"d\"/>"),
    (FaultKind::DuplicateAttribute, "<a b=\"c\" b='c'/>"),
    (FaultKind::BareAmpersand, "<a b=\"&\">c</a>"),
    (FaultKind::UnclosedReference, "<a>&amp b</a>"),
    (FaultKind::UnknownEntity, "<a>&nbsp;</a>"),
    (FaultKind::UnknownEntity, "<a>&ampx;</a>"),
    (FaultKind::BadCharReference, "<a>&#1;</a>"),
    (FaultKind::LessInText, "<a>b << c</a>"),
    (FaultKind::CdataEndInText, "<a>]]></a>"),
    (FaultKind::IllegalCharacter, "<a>\u{1}\u{FFFF}</a>"),
    (FaultKind::UnclosedComment, "<a><!-- b\n<c/></a>"),
    (FaultKind::DashesInComment, "<a><!-- b --- c ---></a>"),
    (FaultKind::UnclosedCdata, "<a><![CDATA[b</a>"),
    (FaultKind::MisspeltCdata, "<a><![CDATA b]]></a>"),
    (FaultKind::UnclosedInstruction, "<a><?b c></a>"),
    (FaultKind::BadTarget, "<a><? b?></a>"),
    (FaultKind::BadTarget, "<a><b c?></a>"),
    (
        FaultKind::MisplacedDeclaration,
        " <?xml version='1.0'?><a/>",
    ),
    (
        FaultKind::MisplacedDeclaration,
        "<a><?XML version='1.0'?></a>",
    ),
    (FaultKind::BadDeclaration, "<?xml version='2.0'?><a/>"),
    (FaultKind::BadDeclaration, "<xml version='1.0'?><a/>"),
    (
        FaultKind::UnsupportedEncoding,
        "<?xml version='1.0' encoding='KOI8-R'?><a/>",
    ),
    (FaultKind::UnknownMarkup, "<a><!ELEMENT b></a>"),
    (FaultKind::Doctype, "<!DOCTYPE a><a/>"),
    (
        FaultKind::MergeConflict,
        "<a>\n<<<<<<< b\n<c/>\n||||||| d\n<e/>\n=======\n<f/>\n>>>>>>> g\n</a>",
    ),
    (FaultKind::UndeclaredPrefix, "<a b:c=\"d\"/>"),
    (FaultKind::ReservedPrefix, "<a xmlns:xmlns=\"b\"/>"),
    (FaultKind::EmptyPrefix, "<a xmlns:b=\"\"/>"),
    (FaultKind::BadColon, "<a b:c:d=\"\" xmlns:b=\"e\"/>"),
];

#[test]
fn every_kind_is_worded() {
    for (kind, text) in KINDS {
        let mut reader = Reader::new();
        reader.read(text, &Limits::default());
        let kinds: Vec<_> = reader.faults().iter().map(|fault| fault.kind).collect();
        assert!(kinds.contains(kind), "{kind:?}: {text} gives {kinds:?}");
        let worded: Vec<_> = syntax(text)
            .iter()
            .map(|finding| finding.message.clone())
            .collect();
        assert_eq!(worded.len(), kinds.len(), "{text}: {kinds:?} {worded:?}");
    }
}

#[test]
fn every_limit_is_worded_with_its_flag() {
    let deep = format!("{}{}", "<a>".repeat(9), "</a>".repeat(9));
    let limits = Limits {
        depth: 8,
        attributes: 2,
        namespaces: 2,
        file: 200,
        text: 40,
        name: 10,
        nodes: 10,
        diagnostics: 3,
    };
    for (text, name, flag) in [
        (deep.as_str(), "too-deep", "--max-depth"),
        (
            "<a b='' c='' d=''/>",
            "too-many-attributes",
            "--max-attributes",
        ),
        (
            "<a xmlns:b='b' xmlns:c='c'><d xmlns:e='e'/></a>",
            "too-many-namespaces",
            "--max-namespaces",
        ),
        (
            "<a>this is text of more than forty bytes, is it not?</a>",
            "text-too-long",
            "--max-text-size",
        ),
        ("<abcdefghijk/>", "name-too-long", "--max-name"),
        (
            "<a><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/></a>",
            "too-many-nodes",
            "--max-nodes",
        ),
        ("<a>& & & &</a>", "too-many-findings", "--max-diagnostics"),
        (&"<a/>".repeat(51), "file-too-large", "--max-file-size"),
    ] {
        let found = check_with(
            text,
            &Limits {
                diagnostics: 3,
                ..limits.clone()
            },
        );
        let said = found
            .iter()
            .find(|finding| finding.rule.name == name)
            .unwrap_or_else(|| panic!("{name}: {found:#?}"));
        assert!(
            said.help.as_deref().is_some_and(|help| help.contains(flag)),
            "{name}: {:?}",
            said.help
        );
    }
}
