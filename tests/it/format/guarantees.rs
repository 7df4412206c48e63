//! Invariants of the formatter: hashes of the registry, findings, comments, attributes and texts do
//! not change. And formatting twice is formatting once.

use super::generate::{LIBRARY, template};
use super::scramble::scrambled;
use crate::project::reading::{check_template, read};
use crate::support::examples::RuleExamples as _;
use ctxc::Config;
use ctxc::internals::format::{FormatOptions, Indent, format};
use ctxc::internals::rules::list;
use ctxc::internals::syntax::XmlLimits;
use ctxc::internals::template::element_specs;
use ctxc::internals::template::elements::ElementKind;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ALL: [FormatOptions; 3] = [
    FormatOptions {
        width: 100,
        indent: Indent::Spaces(2),
    },
    FormatOptions {
        width: 30,
        indent: Indent::Spaces(4),
    },
    FormatOptions {
        width: 80,
        indent: Indent::Tab,
    },
];

/// The content hash of each definition; in place of them the errors if no registry is built.
fn hashes(text: &str) -> Vec<(String, String)> {
    hashes_in(text, &Config::default())
}

fn hashes_in(text: &str, config: &Config) -> Vec<(String, String)> {
    let built = ctxc::compile_sources(config, [("lib.xml", LIBRARY), ("t.xml", text)]);
    if let Some(registry) = built.registry {
        let all = registry.tasks().chain(registry.templates());
        let all = all.map(|task| (task.name().to_owned(), task.hash().to_string()));
        let fragments = registry
            .fragments()
            .filter(|fragment| fragment.name() != "house");
        return all
            .chain(fragments.map(|fragment| {
                (
                    format!("fragment {}", fragment.name()),
                    fragment.hash().to_string(),
                )
            }))
            .collect();
    }
    let mut found: Vec<_> = built
        .diagnostics
        .iter()
        .map(|finding| (finding.rule.name.to_owned(), finding.message.clone()))
        .collect();
    // Settings that change places carry their findings along.
    found.sort();
    found
}

/// An element as another reader sees it: its name, its attributes in order, its own text.
type Seen = (String, Vec<(String, String)>, String);

/// A text without empty lines around it, and without the white space that all its lines begin with.
fn canonical(text: &str) -> String {
    let mut lines: Vec<&str> = text
        .split('\n')
        .map(|line| if line.trim().is_empty() { "" } else { line })
        .collect();
    let full = |line: &&str| !line.is_empty();
    lines.drain(..lines.iter().position(full).unwrap_or(lines.len()));
    lines.truncate(lines.iter().rposition(full).map_or(0, |last| last + 1));
    let blanks = |line: &str| {
        line.chars()
            .take_while(|c| [' ', '\t'].contains(c))
            .collect::<String>()
    };
    let mut common = lines.first().map_or(String::new(), |line| blanks(line));
    for line in lines.iter().filter(|line| full(line)) {
        while !line.starts_with(&common) {
            common.pop();
        }
    }
    lines
        .iter()
        .map(|line| line.strip_prefix(&common).unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Elements, and comments with instructions, as another reader sees them, with their numbers.
fn parse_content(text: &str) -> (BTreeMap<Seen, usize>, BTreeMap<String, usize>) {
    let document = roxmltree::Document::parse(text).unwrap();
    let (mut elements, mut others) = (BTreeMap::new(), BTreeMap::new());
    for node in document.descendants() {
        if node.is_element() {
            let attributes = node
                .attributes()
                .map(|a| (a.name().to_owned(), a.value().to_owned()))
                .collect();
            let own: String = node
                .children()
                .filter(roxmltree::Node::is_text)
                .filter_map(|child| child.text())
                .collect();
            let tag = node.tag_name().name();
            // Words, not texts: the name of a model, though it may contain elements instead, and a
            // command that lists files, though that of a script is a text.
            let is_word = tag == "model"
                || tag == "command"
                    && node
                        .parent_element()
                        .is_some_and(|list| list.has_tag_name("file_paths"));
            let is_text = element_specs::table_rows()
                .iter()
                .any(|spec| spec.tag == tag && spec.kind.is_text())
                && !is_word;
            let own = if is_text {
                canonical(&own)
            } else {
                own.trim().to_owned()
            };
            *elements
                .entry((node.tag_name().name().to_owned(), attributes, own))
                .or_default() += 1;
        } else if node.is_comment() || node.is_pi() {
            *others.entry(text[node.range()].to_owned()).or_default() += 1;
        }
    }
    (elements, others)
}

/// Formats under every option; asserts everything that holds for a text without syntax errors.
fn assert_promises(text: &str, about: &str) {
    let before = parse_content(text);
    for options in ALL {
        let once = format(text, &XmlLimits::default(), options).unwrap();
        let twice = format(&once, &XmlLimits::default(), options).unwrap();
        assert_eq!(twice, once, "{about}: not stable for\n{text}");
        assert_eq!(
            parse_content(&once),
            before,
            "{about}: something was lost of\n{text}\nin\n{once}"
        );
        assert!(once.ends_with('\n') && !once.ends_with("\n\n"), "{about}");
    }
}

#[test]
fn examples_of_all_rules_mean_what_they_meant() {
    let mut formatted = 0;
    for rule in list::all_rules() {
        for example in rule
            .meta
            .bad_examples()
            .iter()
            .chain(&rule.meta.good_examples())
        {
            let text = example.template;
            if text.is_empty() || format(text, &XmlLimits::default(), ALL[0]).is_err() {
                continue;
            }
            assert_promises(text, rule.meta.name);
            let config = read(example.project);
            let found = |text: &str| {
                let found = check_template(text, &config);
                let mut found: Vec<_> = found
                    .into_iter()
                    .map(|finding| (finding.rule.name, finding.severity, finding.message.clone()))
                    .collect();
                found.sort();
                found
            };
            for options in ALL {
                let once = format(text, &XmlLimits::default(), options).unwrap();
                assert_eq!(found(&once), found(text), "{}", rule.meta.name);
                assert_eq!(
                    hashes(&once),
                    hashes(text),
                    "{}:\n{text}\n{once}",
                    rule.meta.name
                );
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
        assert_eq!(
            format(&text, &XmlLimits::default(), FormatOptions::default()).unwrap(),
            text,
            "{}",
            path.display()
        );
        assert_promises(&text, &path.display().to_string());
    }
}

/// Attributes, separated by bars.
const ATTRIBUTES: &str = "| name='a'|\n name = \"b\"   type='c'| a='\"' b=\"'\" c='&#10;'| xml:space='preserve'| xml:space=\"default\"| xmlns='urn:x'\
    | long='a long value that takes much room' other=\"another one\nof two lines\"";

/// Text between tags, separated by bars.
const LEAVES: &str = "text| |\n|\n\n   |\r\n|\r|\t|<!-- c -->|<!--\n c\n-->|<?ctxc fmt off?>|<?ctxc fmt on?>|<?ctxc allow x?>|&amp;|&#10;|&#32;x\
    |<![CDATA[ a\n b ]]>|<![CDATA[]]>|a\n   b\n|\n    a\n      b\n   |\n\ta\n  b|\u{e9}\u{1F600}|<use fragment='f'/>";

/// Text outside the root, separated by bars.
const OUTSIDE: &str =
    "|\n|\n\n\n|<!-- o -->|<?ctxc fmt off?>| <!-- p --> <!-- q -->\n|<?ctxc fmt on?>";

fn one_of(list: &'static str, separator: char) -> impl Strategy<Value = &'static str> + Clone {
    prop::sample::select(list.split(separator).collect::<Vec<_>>())
}

/// A node of a document; its element depends on its position.
#[derive(Clone, Debug)]
enum Tree {
    Leaf(&'static str),
    Element {
        pick: usize,
        attributes: &'static str,
        inside: Vec<Tree>,
        empty: bool,
    },
}

/// Appends a node: mostly an element that belongs there.
fn write(tree: &Tree, parent: Option<ElementKind>, out: &mut String) {
    let (pick, attributes, inside, empty) = match tree {
        Tree::Leaf(leaf) => return out.push_str(leaf),
        Tree::Element {
            pick,
            attributes,
            inside,
            empty,
        } => (*pick, attributes, inside, *empty),
    };
    let children = parent.map_or(&[][..], |kind| kind.spec().children);
    let legal = children
        .get(pick / 8 % children.len().max(1))
        .filter(|_| pick % 8 != 0);
    let all = element_specs::table_rows();
    let name = legal.map_or_else(
        || {
            all.get(pick / 8 % (all.len() + 1))
                .map_or("other", |spec| spec.tag)
        },
        |child| child.kind.tag(),
    );
    if empty && inside.is_empty() {
        return out.extend(["<", name, attributes, " />"]);
    }
    out.extend(["<", name, attributes, ">"]);
    for child in inside {
        write(child, legal.map(|child| child.kind), out);
    }
    out.extend(["</", name, " >"]);
}

/// Well-formed documents with elements of the language at allowed and forbidden places.
fn any_document() -> impl Strategy<Value = String> {
    let tree = one_of(LEAVES, '|')
        .prop_map(Tree::Leaf)
        .prop_recursive(5, 60, 6, move |inner| {
            let inside = prop::collection::vec(inner, 0..6);
            (any::<u16>(), one_of(ATTRIBUTES, '|'), inside, any::<bool>()).prop_map(
                |(pick, attributes, inside, empty)| Tree::Element {
                    pick: usize::from(pick),
                    attributes,
                    inside,
                    empty,
                },
            )
        });
    let root = prop::sample::select(vec![
        ElementKind::Task,
        ElementKind::Library,
        ElementKind::Template,
    ]);
    let parts = (
        one_of(OUTSIDE, '|'),
        prop::collection::vec(tree, 0..6),
        one_of(OUTSIDE, '|'),
        root,
    );
    parts.prop_map(|(before, inside, after, root)| {
        let mut out = format!("{before}<{} name='r'>", root.tag());
        for tree in &inside {
            write(tree, Some(root), &mut out);
        }
        out + &format!("</{}>{after}", root.tag())
    })
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
            let once = format(&text, &XmlLimits::default(), options).unwrap();
            prop_assert_eq!(&hashes(&once), &before, "{}\n{}", text, once);
        }
    }

    #[test]
    fn any_tree_keeps_what_it_holds(text in any_document()) {
        assert_promises(&text, "generated");
        for options in ALL {
            let once = format(&text, &XmlLimits::default(), options).unwrap();
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
    let made = std::process::Command::new("python3")
        .arg(script)
        .arg(&out)
        .arg("500")
        .status()
        .unwrap();
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
            if format(&text, &XmlLimits::default(), ALL[0]).is_err() {
                continue;
            }
            files += 1;
            assert_promises(&text, "corpus");
            for options in ALL {
                let once = format(&text, &XmlLimits::default(), options).unwrap();
                assert_eq!(hashes(&once), hashes(&text), "{}", path.display());
            }
        }
    }
    assert!(files > 480, "{files}");
}

/// Texts that the registry keeps byte for byte are kept byte for byte.
#[test]
fn older_elements_keep_their_hash() {
    for kept in [
        "<validation_rules   a = 'b'>\n x</validation_rules >",
        "<validation_rules   a = 'b'> <c/> </validation_rules>",
        "<expected_output  >x</expected_output>",
        "<manual_xml   />",
    ] {
        let text =
            format!("<task type=\"atomic\" name=\"t\"><description>d</description>{kept}</task>");
        let before = hashes(&text);
        assert_eq!(
            before.first().map(|(name, _)| name.as_str()),
            Some("t"),
            "{before:?}"
        );
        for options in ALL {
            let once = format(&text, &XmlLimits::default(), options).unwrap();
            assert!(once.contains(kept), "{once}");
            assert_eq!(hashes(&once), before, "{once}");
        }
    }
}

/// Elements that no other standalone template has.
const RARE: &str = r#"<task type="director_evaluator_loop" name="rare">
  <description>Write it, run it, judge it.</description>
  <max_iterations>3</max_iterations>
  <director>
    <description>Write.</description>
    <provider>house</provider>
    <sampling temperature="0.5" stop=" x "/>
    <history turns="4"/>
    <instructions>
      <use fragment="house"/>
        and
      so on
    </instructions>
    <constraints>
      <constraint>Be brief.</constraint>
      <constraint>
        Be
          kind.
      </constraint>
    </constraints>
    <examples>
      <example>
        <input>a</input>
        <output>
          b
            c
        </output>
      </example>
    </examples>
  </director>
  <script_execution>
    <description>Run.</description>
    <command>
      <arg>cargo</arg>
      <arg>test</arg>
    </command>
    <timeout>60</timeout>
  </script_execution>
  <evaluator>
    <description>Judge.</description>
  </evaluator>
</task>
"#;

/// Every template that is sound in a project of its own, with that project.
fn sound() -> Vec<(String, Config, String)> {
    let shipped = shipped()
        .into_iter()
        .map(|(path, text)| (path.display().to_string(), Config::default(), text));
    let examples = list::all_rules().flat_map(|rule| {
        let texts = rule
            .meta
            .good_examples()
            .into_iter()
            .map(|example| (example.template, example.project));
        texts.map(|(text, project)| (rule.meta.name.to_owned(), read(project), text.to_owned()))
    });
    let built = |config: &Config, text: &str| {
        ctxc::compile_sources(config, [("lib.xml", LIBRARY), ("t.xml", text)])
            .registry
            .is_some()
    };
    // The reader that scrambles them does not report how prefixes were written.
    let usable = |text: &str| !text.is_empty() && !text.contains("xmlns");
    let rare = ("rare".to_owned(), Config::default(), RARE.to_owned());
    assert!(built(&rare.1, &rare.2), "{:?}", hashes(RARE));
    shipped
        .chain(examples)
        .chain([rare])
        .filter(|(_, config, text)| usable(text) && built(config, text))
        .collect()
}

#[test]
fn whatever_shape_a_template_has_its_hash_is_kept() {
    let sound = sound();
    assert!(sound.len() > 100, "{}", sound.len());
    let mut kinds = BTreeSet::new();
    for (seed, (about, config, text)) in sound.iter().enumerate() {
        let before = hashes_in(text, config);
        let other = scrambled(text, seed as u64, &mut kinds);
        assert_eq!(
            hashes_in(&other, config),
            before,
            "{about}: the test changed the meaning:\n{text}\n{other}"
        );
        assert_promises(&other, about);
        for options in ALL {
            let once = format(&other, &XmlLimits::default(), options).unwrap();
            assert_eq!(
                hashes_in(&once, config),
                before,
                "{about}:\n{other}\n{once}"
            );
        }
    }
    // A `use` stands in texts, which keep it as it is written.
    let all = element_specs::table_rows()
        .iter()
        .filter(|spec| spec.deprecated.is_none() && spec.tag != "use");
    let all: BTreeSet<&str> = all.map(|spec| spec.tag).collect();
    let missing: Vec<_> = all.difference(&kinds).collect();
    assert!(missing.is_empty(), "no template has {missing:?}");
}
