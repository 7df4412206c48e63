//! Family 0xx: every kind of fault is worded by one rule, every offered fix removes its finding.

use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::diagnostic::Diagnostic;
use ctxc::internals::base::fix::{self, Applicability};
use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::project::config::Config;
use ctxc::internals::registry::compile::{CompileBuffers, CompileOutcome, CompileReason, Compiler};
use ctxc::internals::rules::check::ActiveRules;
use ctxc::internals::rules::list;
use ctxc::internals::syntax::fault::XmlFaultKind;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::scope::LinkDetail;
use pretty_assertions::assert_eq;
use std::path::Path;
use std::sync::Arc;

fn check_with(text: &str, limits: &XmlLimits) -> Vec<Diagnostic> {
    let mut config = Config::default();
    config.limits = limits.clone();
    let active = ActiveRules::new(&config);
    let files = MemoryFs::default();
    let compiler = Compiler {
        config: &config,
        active: &active,
        root: Path::new("."),
        files: &files,
        purpose: LinkDetail::Findings,
        package: None,
    };
    match compiler.compile(
        &Arc::from("template.xml"),
        text.as_bytes(),
        CompileReason::Named,
        &mut CompileBuffers::new(),
    ) {
        CompileOutcome::Taken(file) => file.diagnostics,
        CompileOutcome::Skipped => panic!("a named file is taken"),
    }
}

/// The findings of family 0xx.
fn syntax(text: &str) -> Vec<Diagnostic> {
    check_with(text, &XmlLimits::default())
        .into_iter()
        .filter(|finding| finding.rule.code.family() == 0)
        .collect()
}

#[test]
fn bad_examples_give_their_finding_alone() {
    let rules: Vec<_> = list::all_rules()
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
        for example in &meta.bad_examples() {
            let errors = check_with(example.template, &XmlLimits::default());
            let errors: Vec<_> = errors
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .collect();
            let names: Vec<_> = errors.iter().map(|finding| finding.rule.name).collect();
            assert_eq!(names, [meta.name], "in {}", example.template);
        }
        assert!(!meta.good_examples().is_empty());
        for example in &meta.good_examples() {
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
    let examples = list::all_rules()
        .filter(|rule| rule.meta.code.family() == 0)
        .flat_map(|rule| rule.meta.bad_examples());
    for text in examples
        .map(|example| example.template)
        .chain(KINDS.iter().map(|(_, text)| *text))
    {
        for finding in syntax(text) {
            for way in &finding.fixes {
                let mended = fix::apply_edits(text, &way.edits).expect("the edits fit");
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
const KINDS: &[(XmlFaultKind, &str)] = &[
    (XmlFaultKind::NoRoot, ""),
    (XmlFaultKind::SecondRoot, "<a/><b/>"),
    (XmlFaultKind::TextOutsideRoot, "<a/>b"),
    (XmlFaultKind::MissingEnd, "<a>\n  <b>\n  <c/>\n</a>"),
    (XmlFaultKind::MissingEnd, "<a>\r\n  <b>\r\n    <c>x\r\n"),
    (XmlFaultKind::StrayEnd, "<a>\n  <b/>\n  </c>\n</a>"),
    (XmlFaultKind::MissingStart, "<a>\n    <b/>\n  </c>\n</a>"),
    (
        XmlFaultKind::ClosedTwice,
        "<a>\n  <c/>\n    <b/>\n  </c>\n</a>",
    ),
    (XmlFaultKind::MismatchedEnd, "<ab>c</ba>"),
    (XmlFaultKind::MismatchedEnd, "<a>c</>"),
    (XmlFaultKind::EndWithoutSlash, "<r><a>b<a></r>"),
    (XmlFaultKind::EndWithoutBracket, "<r><a>b/a></r>"),
    (XmlFaultKind::StartWithoutBracket, "<r>a>b</a></r>"),
    (XmlFaultKind::JunkInEnd, "<a></a b=\"c\">"),
    (XmlFaultKind::JunkInEnd, "<a></ a>"),
    (XmlFaultKind::UnclosedStart, "<a><b text</b></a>"),
    (XmlFaultKind::UnclosedStart, "<a><b/<c/></a>"),
    (XmlFaultKind::UnclosedEnd, "<a><b></b<c/></a>"),
    (XmlFaultKind::JunkInTag, "<a b=\"c\", d=\"e\"/>"),
    (XmlFaultKind::MissingSpace, "<a b=\"c\"d=\"e\"/>"),
    (XmlFaultKind::MissingEquals, "<a b\"c\"/>"),
    (XmlFaultKind::MissingValue, "<a b/>"),
    (XmlFaultKind::MissingValue, "<a b= />"),
    (XmlFaultKind::UnquotedValue, "<a b=c d='e'/>"),
    (XmlFaultKind::UnquotedValue, "<a b=c'/>"),
    (XmlFaultKind::UnclosedValue, "<a b='c>\n<d/></a>"),
    (XmlFaultKind::UnclosedValue, "<a b='c d='e'/>"),
    (XmlFaultKind::LessInValue, "<a b=\"c < d\"/>"),
    (XmlFaultKind::DuplicateAttribute, "<a b=\"c\" b=\"d\"/>"),
    (XmlFaultKind::DuplicateAttribute, "<a b=\"c\" b='c'/>"),
    (XmlFaultKind::BareAmpersand, "<a b=\"&\">c</a>"),
    (XmlFaultKind::UnclosedReference, "<a>&amp b</a>"),
    (XmlFaultKind::UnknownEntity, "<a>&nbsp;</a>"),
    (XmlFaultKind::UnknownEntity, "<a>&ampx;</a>"),
    (XmlFaultKind::BadCharReference, "<a>&#1;</a>"),
    (XmlFaultKind::LessInText, "<a>b << c</a>"),
    (XmlFaultKind::CdataEndInText, "<a>]]></a>"),
    (XmlFaultKind::IllegalCharacter, "<a>\u{1}\u{FFFF}</a>"),
    (XmlFaultKind::UnclosedComment, "<a><!-- b\n<c/></a>"),
    (XmlFaultKind::DashesInComment, "<a><!-- b --- c ---></a>"),
    (XmlFaultKind::UnclosedCdata, "<a><![CDATA[b</a>"),
    (XmlFaultKind::MisspeltCdata, "<a><![CDATA b]]></a>"),
    (XmlFaultKind::UnclosedInstruction, "<a><?b c></a>"),
    (XmlFaultKind::BadTarget, "<a><? b?></a>"),
    (XmlFaultKind::BadTarget, "<a><b c?></a>"),
    (
        XmlFaultKind::MisplacedDeclaration,
        " <?xml version='1.0'?><a/>",
    ),
    (
        XmlFaultKind::MisplacedDeclaration,
        "<a><?XML version='1.0'?></a>",
    ),
    (XmlFaultKind::BadDeclaration, "<?xml version='2.0'?><a/>"),
    (XmlFaultKind::BadDeclaration, "<xml version='1.0'?><a/>"),
    (
        XmlFaultKind::UnsupportedEncoding,
        "<?xml version='1.0' encoding='KOI8-R'?><a/>",
    ),
    (XmlFaultKind::UnknownMarkup, "<a><!ELEMENT b></a>"),
    (XmlFaultKind::Doctype, "<!DOCTYPE a><a/>"),
    (
        XmlFaultKind::MergeConflict,
        "<a>\n<<<<<<< b\n<c/>\n||||||| d\n<e/>\n=======\n<f/>\n>>>>>>> g\n</a>",
    ),
    (XmlFaultKind::UndeclaredPrefix, "<a b:c=\"d\"/>"),
    (XmlFaultKind::ReservedPrefix, "<a xmlns:xmlns=\"b\"/>"),
    (XmlFaultKind::EmptyPrefix, "<a xmlns:b=\"\"/>"),
    (XmlFaultKind::BadColon, "<a b:c:d=\"\" xmlns:b=\"e\"/>"),
];

#[test]
fn every_kind_is_worded() {
    for (kind, text) in KINDS {
        let mut reader = XmlReader::new();
        reader.read(text, &XmlLimits::default());
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
    let limits = XmlLimits {
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
            &XmlLimits {
                diagnostics: 3,
                ..limits.clone()
            },
        );
        let own_finding = found
            .iter()
            .find(|finding| finding.rule.name == name)
            .unwrap_or_else(|| panic!("{name}: {found:#?}"));
        assert!(
            own_finding
                .help
                .as_deref()
                .is_some_and(|help| help.contains(flag)),
            "{name}: {:?}",
            own_finding.help
        );
    }
}
