//! YAML as a tree with positions: accepted texts, refused ones, and termination.

use ctxc::internals::base::span::Span;
use ctxc::internals::syntax::yaml::{self, MAX_DEPTH, YamlFaultKind, YamlNode, YamlValue};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

/// The tree as JSON, and each fault with the text at its place.
fn read(text: &str) -> (serde_json::Value, Vec<(&str, YamlFaultKind)>) {
    let (tree, faults) = yaml::parse_tree(text);
    (
        tree.to_json(),
        faults
            .into_iter()
            .map(|fault| (fault.span.slice(text), fault.kind))
            .collect(),
    )
}

fn sound(text: &str) -> serde_json::Value {
    let (value, faults) = read(text);
    assert_eq!(faults, [], "{text}");
    value
}

/// Every node's text by its path, so that places can be seen.
fn places(text: &str) -> Vec<String> {
    fn walk(text: &str, path: &str, node: &YamlNode<'_>, out: &mut Vec<String>) {
        out.push(format!("{path} {:?}", node.span.slice(text)));
        for (at, item) in node.items().unwrap_or_default().iter().enumerate() {
            walk(text, &format!("{path}/{at}"), item, out);
        }
        for entry in node.entries().unwrap_or_default() {
            assert_eq!(
                entry.key.span.slice(text).trim_matches(['"', '\'']),
                entry.key.value,
                "{path}"
            );
            walk(
                text,
                &format!("{path}/{}", entry.key.value),
                &entry.value,
                out,
            );
        }
    }
    let mut out = Vec::new();
    walk(text, "", &yaml::parse_tree(text).0, &mut out);
    out
}

#[test]
fn scalars_follow_the_core_schema_of_yaml_1_2() {
    let text = "a: yes\nb: true\nc: ~\nd:\ne: 0x1F\nf: 0o17\ng: -3\nh: 2.50\ni: 2026-11-21\nj: '5'\nk: !!str 5\nl: 1e3\nm: .inf\nn: 1.2.3\n";
    let expected = serde_json::json!({
        "a": "yes", "b": true, "c": null, "d": null, "e": 31, "f": 15, "g": -3, "h": 2.5, "i": "2026-11-21", "j": "5", "k": "5",
        "l": 1000.0, "m": ".inf", "n": "1.2.3",
    });
    assert_eq!(sound(text), expected);
}

#[test]
fn json_is_read_as_it_is() {
    let text = "{\n\t\"a\": \"\\ud83d\\ude00 \\/ x\",\r\n\t\"b\": [1, -2.5, null, true,\n\t{}]}\n";
    assert_eq!(
        sound(text),
        serde_json::from_str::<serde_json::Value>(text).unwrap()
    );
}

#[test]
fn every_node_has_its_place() {
    let text = "é: 'ü'\nlist:\n  - x: 1\n    y: [a, \"b\"]\n  - |\n    two\n    lines\n\nlast: !file é.txt # why\n";
    let expected = [
        " \"é: 'ü'\\nlist:\\n  - x: 1\\n    y: [a, \\\"b\\\"]\\n  - |\\n    two\\n    lines\\n\\nlast: !file é.txt\"",
        "/é \"'ü'\"",
        "/list \"- x: 1\\n    y: [a, \\\"b\\\"]\\n  - |\\n    two\\n    lines\"",
        "/list/0 \"x: 1\\n    y: [a, \\\"b\\\"]\"",
        "/list/0/x \"1\"",
        "/list/0/y \"[a, \\\"b\\\"]\"",
        "/list/0/y/0 \"a\"",
        "/list/0/y/1 \"\\\"b\\\"\"",
        "/list/1 \"two\\n    lines\"",
        "/last \"é.txt\"",
    ];
    assert_eq!(places(text), expected);
    let (tree, _) = yaml::parse_tree(text);
    let tag = tree.get("last").unwrap().tag.as_deref().unwrap();
    assert_eq!(
        (tag.value.as_str(), tag.span.slice(text)),
        ("file", "!file")
    );
}

#[test]
fn aliases_and_merges_are_put_in_place() {
    let text = "base: &base {a: 1, b: 2}\nuse: *base\nmore:\n  b: 3\n  <<: [*base, {c: 4, a: 5}]\n  d: 6\n";
    let base = serde_json::json!({"a": 1, "b": 2});
    assert_eq!(
        sound(text),
        serde_json::json!({"base": base, "use": base, "more": {"a": 1, "b": 3, "c": 4, "d": 6}})
    );
    // A written key overrides one from `<<`, in either order.
    assert_eq!(sound("<<: {a: 1}\na: 2\n"), serde_json::json!({"a": 2}));
}

#[test]
fn faults_have_their_places_and_what_stands_before_them_is_read() {
    let duplicate = |start, end| YamlFaultKind::DuplicateKey {
        key: "a".into(),
        first: Span::new(start, end),
    };
    assert_eq!(
        read("a: 1\nb: {a: 2, a: 3}\na: 4\n").1,
        [("a", duplicate(9, 10)), ("a", duplicate(0, 1))]
    );
    let (value, faults) = read("a:\n  b: 1\n\tc: 2\n");
    assert_eq!(
        (value, faults),
        (
            serde_json::json!({"a": {}}),
            vec![("\t", YamlFaultKind::Tab)]
        )
    );
    assert_eq!(
        read("a: *x\nb: *y\n").1,
        [
            ("*x", YamlFaultKind::UnknownAlias("x".into())),
            ("*y", YamlFaultKind::UnknownAlias("y".into()))
        ]
    );
    assert_eq!(
        read("a: &a [*a]\n").1,
        [("*a", YamlFaultKind::UnknownAlias("a".into()))]
    );
    assert_eq!(
        read("? [a]\n: b\nc: d\n"),
        (
            serde_json::json!({"c": "d"}),
            vec![("[a]", YamlFaultKind::KeyWithParts)]
        )
    );
    assert_eq!(
        read("<<: 5\nc: d\n"),
        (
            serde_json::json!({"c": "d"}),
            vec![("<<", YamlFaultKind::Merge)]
        )
    );
    assert_eq!(
        read("a: 1\n---\nb: 2\n"),
        (
            serde_json::json!({"a": 1}),
            vec![("---", YamlFaultKind::SecondDocument)]
        )
    );
    let (value, faults) = read("a: 1\nb: [2, 3\nc: 4\n");
    assert_eq!(value, serde_json::json!({"a": 1, "b": [2]}));
    assert!(
        matches!(&faults[..], [(_, YamlFaultKind::Syntax(_))]),
        "{faults:?}"
    );
    assert_eq!(sound(""), serde_json::Value::Null);
    assert_eq!(sound("# nothing\n"), serde_json::Value::Null);
}

#[test]
fn depth_and_weight_have_an_end() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(read(&nested(MAX_DEPTH)).1, []);
    assert_eq!(read(&nested(MAX_DEPTH + 1)).1.len(), 1);
    for text in [
        nested(MAX_DEPTH + 1),
        nested(100_000),
        "[".repeat(1_000_000),
        "- ".repeat(1_000_000),
    ] {
        let faults = yaml::parse_tree(&text).1;
        assert!(
            matches!(
                faults[..],
                [yaml::YamlFault {
                    kind: YamlFaultKind::TooDeep,
                    ..
                }]
            ),
            "{faults:?}"
        );
    }
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for pair in ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"] {
        let (from, to) = pair.split_at(1);
        bomb.extend([
            &format!("{to}: &{to} ["),
            &*format!("*{from}, ").repeat(9),
            "]\n",
        ]);
    }
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1 << 20),
        vec!["*a"; 1000].join(", ")
    );
    for text in [bomb, text] {
        let begun = std::time::Instant::now();
        let faults = yaml::parse_tree(&text).1;
        assert!(
            matches!(
                faults[..],
                [yaml::YamlFault {
                    kind: YamlFaultKind::TooHeavy,
                    ..
                }]
            ),
            "{faults:?}"
        );
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}

fn inside(text: &str, node: &YamlNode<'_>) {
    let is_place = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    assert!(is_place(node.span), "{node:?} in {text:?}");
    match &node.value {
        YamlValue::List(items) => items.iter().for_each(|item| inside(text, item)),
        YamlValue::Map(entries) => entries.iter().for_each(|entry| {
            assert!(is_place(entry.key.span), "{entry:?} in {text:?}");
            inside(text, &entry.value);
        }),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {}
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_every_place_lies_in_it(parts in prop::collection::vec(
        prop::sample::select(&["a", "é", ": ", "- ", "\n", "  ", "\t", "{", "}", "[", "]", ",", "&a ", "*a", "'", "\"", "|\n", ">-\n", "#", "!file ",
            "<<", "? ", "---\n", "...\n", "1", "\r\n", "\u{85}", "\u{feff}", "\0", "%", "@", "`", "\\u00e9"][..]), 0..40)) {
        let text = parts.concat();
        let (tree, faults) = yaml::parse_tree(&text);
        inside(&text, &tree);
        for fault in faults {
            prop_assert!(text.get(fault.span.start as usize..fault.span.end as usize).is_some(), "{fault:?} in {text:?}");
        }
    }
}
