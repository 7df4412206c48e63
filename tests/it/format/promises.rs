//! What the formatter never changes: what the registry hashes, what is found, comments, attributes, texts. And that
//! formatting twice is formatting once.

use super::generate::{LIBRARY, template};
use crate::project::reading::{check_template, read};
use ctxc::Config;
use ctxc::format::{Indent, Options, format};
use ctxc::rules::list;
use ctxc::syntax::Limits;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ALL: [Options; 3] = [
    Options { width: 100, indent: Indent::Spaces(2) },
    Options { width: 30, indent: Indent::Spaces(4) },
    Options { width: 80, indent: Indent::Tab },
];

/// The content hash of each definition; the errors in their place where there is no registry.
fn hashes(text: &str) -> Vec<(String, String)> {
    let built = ctxc::compile_sources(&Config::default(), [("lib.xml", LIBRARY), ("t.xml", text)]);
    match built.registry {
        Some(registry) => {
            let all = registry.tasks().chain(registry.templates());
            all.map(|task| (task.name().to_owned(), task.hash().to_string())).collect()
        }
        None => built.diagnostics.iter().map(|finding| (finding.rule.name.to_owned(), finding.message.clone())).collect(),
    }
}

/// An element as another reader sees it: its name, its attributes in order, its own text without white space.
type Seen = (String, Vec<(String, String)>, String);

/// Elements, and comments with instructions, as another reader sees them; how often each.
fn seen(text: &str) -> (BTreeMap<Seen, usize>, BTreeMap<String, usize>) {
    let document = roxmltree::Document::parse(text).unwrap();
    let (mut elements, mut others) = (BTreeMap::new(), BTreeMap::new());
    for node in document.descendants() {
        if node.is_element() {
            let attributes = node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect();
            let own: String = node.children().filter(roxmltree::Node::is_text).filter_map(|child| child.text()).collect();
            let own = own.split_whitespace().collect();
            *elements.entry((node.tag_name().name().to_owned(), attributes, own)).or_default() += 1;
        } else if node.is_comment() || node.is_pi() {
            *others.entry(text[node.range()].to_owned()).or_default() += 1;
        }
    }
    (elements, others)
}

/// Formats under every option; asserts everything that holds for a text without syntax errors.
fn assert_promises(text: &str, about: &str) {
    let before = seen(text);
    for options in ALL {
        let once = format(text, &Limits::default(), options).unwrap();
        let twice = format(&once, &Limits::default(), options).unwrap();
        assert_eq!(twice, once, "{about}: not stable for\n{text}");
        assert_eq!(seen(&once), before, "{about}: something was lost of\n{text}\nin\n{once}");
        assert!(once.ends_with('\n') && !once.ends_with("\n\n"), "{about}");
    }
}

#[test]
fn examples_of_all_rules_mean_what_they_meant() {
    let mut formatted = 0;
    for rule in list::all() {
        for example in rule.meta.bad.iter().chain(rule.meta.good) {
            let text = example.template;
            if text.is_empty() || format(text, &Limits::default(), ALL[0]).is_err() {
                continue;
            }
            assert_promises(text, rule.meta.name);
            let config = read(example.project);
            let found = |text: &str| {
                let found = check_template(text, &config);
                let mut found: Vec<_> =
                    found.into_iter().map(|finding| (finding.rule.name, finding.severity, finding.message.clone())).collect();
                found.sort();
                found
            };
            for options in ALL {
                let once = format(text, &Limits::default(), options).unwrap();
                assert_eq!(found(&once), found(text), "{}", rule.meta.name);
                assert_eq!(hashes(&once), hashes(text), "{}:\n{text}\n{once}", rule.meta.name);
            }
            formatted += 1;
        }
    }
    assert!(formatted > 150, "{formatted}");
}

/// Shipped templates, and those of the documents.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")];
    folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/build_step/templates"));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "xml") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

#[test]
fn shipped_templates_are_laid_out() {
    let shipped = shipped();
    assert!(shipped.len() > 15);
    for (path, text) in shipped {
        assert_eq!(format(&text, &Limits::default(), Options::default()).unwrap(), text, "{}", path.display());
        assert_promises(&text, &path.display().to_string());
    }
}

/// Elements of the language, and one that is none.
const NAMES: &str = "task steps description inputs input context_management inherit_context fresh_context use model preferred command arg \
    parameter output_format validation_rules fragment other constraint library";

/// Attributes, separated by bars.
const ATTRIBUTES: &str = "| name='a'|\n name = \"b\"   type='c'| a='\"' b=\"'\" c='&#10;'| xml:space='preserve'| xml:space=\"default\"| xmlns='urn:x'\
    | long='a long value that takes much room' other=\"another one\nof two lines\"";

/// What stands between tags, separated by bars.
const LEAVES: &str = "text| |\n|\n\n   |\r\n|\r|\t|<!-- c -->|<!--\n c\n-->|<?ctxc fmt off?>|<?ctxc fmt on?>|<?ctxc allow x?>|&amp;|&#10;|&#32;x\
    |<![CDATA[ a\n b ]]>|<![CDATA[]]>|a\n   b\n|\n    a\n      b\n   |\n\ta\n  b|\u{e9}\u{1F600}|<use fragment='f'/>";

/// What stands outside the root, separated by bars.
const OUTSIDE: &str = "|\n|\n\n\n|<!-- o -->|<?ctxc fmt off?>| <!-- p --> <!-- q -->\n|<?ctxc fmt on?>";

fn one_of(list: &'static str, separator: char) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(list.split(separator).collect::<Vec<_>>())
}

/// Well-formed documents with elements of the language where they belong and where they do not.
fn any_document() -> impl Strategy<Value = String> {
    let element = |(name, attributes, inside, empty): (&str, &str, Vec<String>, bool)| {
        if empty && inside.is_empty() {
            return format!("<{name}{attributes} />");
        }
        format!("<{name}{attributes}>{}</{name} >", inside.concat())
    };
    let tree = one_of(LEAVES, '|').prop_map(str::to_owned).prop_recursive(5, 60, 6, move |inner| {
        let inside = prop::collection::vec(inner, 0..6);
        (one_of(NAMES, ' '), one_of(ATTRIBUTES, '|'), inside, any::<bool>()).prop_map(element)
    });
    let root = one_of("task library template", ' ');
    (one_of(OUTSIDE, '|'), prop::collection::vec(tree, 0..6), one_of(OUTSIDE, '|'), root)
        .prop_map(|(before, inside, after, root)| format!("{before}<{root} name='r'>{}</{root}>{after}", inside.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sound_templates_keep_their_hash(seed in any::<u64>()) {
        let text = template(seed);
        let before = hashes(&text);
        prop_assert_eq!(before.first().map(|(name, _)| name.as_str()), Some("t"), "not sound: {:?}\n{}", before, text);
        assert_promises(&text, "generated");
        for options in ALL {
            let once = format(&text, &Limits::default(), options).unwrap();
            prop_assert_eq!(&hashes(&once), &before, "{}\n{}", text, once);
        }
    }

    #[test]
    fn any_tree_keeps_what_it_holds(text in any_document()) {
        assert_promises(&text, "generated");
        for options in ALL {
            let once = format(&text, &Limits::default(), options).unwrap();
            prop_assert_eq!(hashes(&once), hashes(&text), "{}\n{}", text, once);
        }
    }
}

/// The corpus of the benchmarks: every file that is well-formed.
#[test]
#[ignore = "needs corpus: python3 makes it"]
fn the_corpus_keeps_its_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("corpus");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gen_corpus.py");
    let made = std::process::Command::new("python3").arg(script).arg(&out).arg("500").status().unwrap();
    assert!(made.success());
    let mut files = 0;
    let mut folders = vec![out];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            if format(&text, &Limits::default(), ALL[0]).is_err() {
                continue;
            }
            files += 1;
            assert_promises(&text, "corpus");
            for options in ALL {
                let once = format(&text, &Limits::default(), options).unwrap();
                assert_eq!(hashes(&once), hashes(&text), "{}", path.display());
            }
        }
    }
    assert!(files > 480, "{files}");
}

/// What the registry keeps to the letter is kept to the letter.
#[test]
fn older_elements_keep_their_hash() {
    for kept in [
        "<validation_rules   a = 'b'>\n x</validation_rules >",
        "<validation_rules   a = 'b'> <c/> </validation_rules>",
        "<expected_output  >x</expected_output>",
        "<manual_xml   />",
    ] {
        let text = format!("<task type=\"atomic\" name=\"t\"><description>d</description>{kept}</task>");
        let before = hashes(&text);
        assert_eq!(before.first().map(|(name, _)| name.as_str()), Some("t"), "{before:?}");
        for options in ALL {
            let once = format(&text, &Limits::default(), options).unwrap();
            assert!(once.contains(kept), "{once}");
            assert_eq!(hashes(&once), before, "{once}");
        }
    }
}
