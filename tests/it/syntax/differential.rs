//! The reader against two others, on thousands of damaged templates: both accept every text that it
//! calls well-formed, roxmltree with the same tree and the same ranges; the texts that it refuses
//! and roxmltree accepts are in a known list.

use super::recovery::TEMPLATES;
use ctxc::internals::syntax::fault::XmlFaultKind;
use ctxc::internals::syntax::tree::{Element, NodeKind, XmlDocument, XmlNode};
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Faults that roxmltree does not look for.
const ONLY_OURS: &[XmlFaultKind] = &[
    XmlFaultKind::BadCharReference,
    XmlFaultKind::BadColon,
    XmlFaultKind::BadDeclaration,
    XmlFaultKind::BadTarget,
    XmlFaultKind::EmptyPrefix,
    XmlFaultKind::MisplacedDeclaration,
    XmlFaultKind::ReservedPrefix,
    XmlFaultKind::UnsupportedEncoding,
];

/// True if roxmltree is known to accept a text with these faults.
fn is_known(kinds: &[XmlFaultKind], text: &str) -> bool {
    // It ignores a colon at the start of the name in an end tag.
    kinds.iter().any(|kind| ONLY_OURS.contains(kind)) || text.contains("</:")
}

/// Pieces that a slip or an attacker puts into a text.
const PIECES: &[&str] = &[
    "<",
    ">",
    "/",
    "\"",
    "'",
    "=",
    "&",
    ";",
    " ",
    "\n",
    "\r\n",
    "\t",
    "<a>",
    "</a>",
    "<a/>",
    "&amp;",
    "&#10;",
    "&#x0;",
    "&#xD;",
    "&nbsp;",
    "<!--",
    "-->",
    "--",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<?x y?>",
    "<?xml version=\"1.0\"?>",
    "<?XML?>",
    "xmlns=\"u\"",
    " xmlns:p=\"u\"",
    " xmlns:p=\"\"",
    " p:q=\"r\"",
    "<p:a/>",
    "a:b:c",
    "é",
    "𝒳",
    "\u{1}",
    "\u{FFFE}",
    "\u{300}",
    ":",
    "<!DOCTYPE a>",
    " a=\"\" a='x'",
    "]]",
    " x=\"&lt;\n&#9;\"",
    "<!",
    "</",
    "<task",
    "1",
    "-",
    ".",
];

/// A small generator of numbers: the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).expect("small")
    }
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One to three changes: a piece put in, a stretch taken out or repeated.
fn mutant(numbers: &mut Numbers, text: &str) -> String {
    let mut out = text.to_owned();
    for _ in 0..=numbers.below(3) {
        let at = boundary(&out, numbers.below(out.len() + 1));
        let end = boundary(&out, (at + numbers.below(12)).min(out.len()));
        match numbers.below(4) {
            0 => out.insert_str(at, PIECES[numbers.below(PIECES.len())]),
            1 => out.replace_range(at..end, ""),
            2 => out.replace_range(at..end, PIECES[numbers.below(PIECES.len())]),
            _ => {
                let again = out[at..end].to_owned();
                out.insert_str(at, &again);
            }
        }
    }
    out
}

fn start(span: ctxc::internals::base::span::Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

/// One node in a form that both trees can give.
#[derive(Debug, PartialEq)]
enum Seen {
    Element(String, Option<String>, std::ops::Range<usize>),
    Attribute(
        String,
        Option<String>,
        String,
        std::ops::Range<usize>,
        std::ops::Range<usize>,
    ),
    Text(String),
    Comment(String, std::ops::Range<usize>),
    Instruction(String, String, std::ops::Range<usize>),
    End,
}

fn ours(document: XmlDocument<'_>) -> Vec<Seen> {
    let mut seen = Vec::new();
    document.nodes().for_each(|node| our_node(node, &mut seen));
    seen
}

fn our_node(node: XmlNode<'_>, seen: &mut Vec<Seen>) {
    match node.kind() {
        NodeKind::Element => our_element(node.as_element().expect("an element"), seen),
        NodeKind::Text | NodeKind::Cdata => match seen.last_mut() {
            // The other tree joins text and CDATA sections that touch.
            Some(Seen::Text(before)) => before.push_str(&node.text()),
            _ => seen.push(Seen::Text(node.text().into_owned())),
        },
        NodeKind::Comment => seen.push(Seen::Comment(node.text().into_owned(), start(node.span()))),
        NodeKind::Instruction => {
            let (target, rest) = node.instruction().expect("an instruction");
            seen.push(Seen::Instruction(
                target.to_owned(),
                rest.to_owned(),
                start(node.span()),
            ));
        }
    }
}

fn our_element(element: Element<'_>, seen: &mut Vec<Seen>) {
    let namespace = element.namespace().map(str::to_owned);
    seen.push(Seen::Element(
        element.local_name().to_owned(),
        namespace,
        start(element.span()),
    ));
    for attribute in element.attributes() {
        let name = attribute.name();
        if name == "xmlns" || name.starts_with("xmlns:") {
            continue;
        }
        let local = name.split_once(':').map_or(name, |(_, local)| local);
        let namespace = attribute.namespace().map(str::to_owned);
        let value = attribute.value().into_owned();
        seen.push(Seen::Attribute(
            local.to_owned(),
            namespace,
            value,
            start(attribute.span()),
            start(attribute.value_span()),
        ));
    }
    element.children().for_each(|node| our_node(node, seen));
    seen.push(Seen::End);
}

fn theirs(node: roxmltree::Node<'_, '_>, seen: &mut Vec<Seen>) {
    for child in node.children() {
        if let Some(pi) = child.pi() {
            seen.push(Seen::Instruction(
                pi.target.to_owned(),
                pi.value.unwrap_or("").to_owned(),
                child.range(),
            ));
        } else if child.is_comment() {
            seen.push(Seen::Comment(
                child.text().unwrap_or("").to_owned(),
                child.range(),
            ));
        } else if child.is_text() {
            match seen.last_mut() {
                Some(Seen::Text(before)) => before.push_str(child.text().unwrap_or("")),
                _ => seen.push(Seen::Text(child.text().unwrap_or("").to_owned())),
            }
        } else {
            let name = child.tag_name();
            seen.push(Seen::Element(
                name.name().to_owned(),
                name.namespace().map(str::to_owned),
                child.range(),
            ));
            for attribute in child.attributes() {
                let namespace = attribute.namespace().map(str::to_owned);
                let (name, value) = (attribute.name().to_owned(), attribute.value().to_owned());
                seen.push(Seen::Attribute(
                    name,
                    namespace,
                    value,
                    attribute.range(),
                    attribute.range_value(),
                ));
            }
            theirs(child, seen);
            seen.push(Seen::End);
        }
    }
}

/// True if quick-xml reads the text to its end with every check on.
fn tokens_are_fine(text: &str) -> bool {
    let mut reader = quick_xml::Reader::from_str(text);
    let config = reader.config_mut();
    config.check_comments = true;
    config.check_end_names = true;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return true,
            Ok(quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag)) => {
                if tag
                    .attributes()
                    .with_checks(true)
                    .any(|attribute| attribute.is_err())
                {
                    return false;
                }
            }
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Compares the three on one text; returns the faults that only our reader found, and if the text
/// was well-formed.
fn compare(reader: &mut XmlReader, text: &str) -> (bool, Vec<XmlFaultKind>) {
    reader.read(text, &XmlLimits::default());
    let other = roxmltree::Document::parse(text);
    if !reader.faults().is_empty() {
        let kinds: Vec<XmlFaultKind> = reader.faults().iter().map(|fault| fault.kind).collect();
        return (false, if other.is_ok() { kinds } else { Vec::new() });
    }
    let other = other.unwrap_or_else(|error| panic!("roxmltree refuses: {error}\n{text}"));
    assert!(tokens_are_fine(text), "quick-xml refuses\n{text}");
    let mut seen = Vec::new();
    theirs(other.root(), &mut seen);
    assert_eq!(ours(reader.document(text)), seen, "in {text:?}");
    (true, Vec::new())
}

#[test]
fn mutants_are_read_as_others_read_them() {
    let mut reader = XmlReader::new();
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    let (mut well_formed, mut known) = (0, BTreeMap::<XmlFaultKind, usize>::new());
    for (_, text) in TEMPLATES {
        for _ in 0..4_000 {
            let mutant = mutant(&mut numbers, text);
            let (fine, kinds) = compare(&mut reader, &mutant);
            well_formed += usize::from(fine);
            if !kinds.is_empty() {
                assert!(
                    is_known(&kinds, &mutant),
                    "roxmltree accepts, we see {kinds:?} in {mutant:?}"
                );
                for kind in kinds {
                    *known.entry(kind).or_default() += 1;
                }
            }
        }
    }
    // Both outcomes must have occurred.
    assert!(well_formed > 1_500, "{well_formed}");
    assert!(known.len() > 3, "{known:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_is_read_as_others_read_it(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12), inside in any::<bool>()) {
        let mixture = pieces.concat();
        let text = if inside { format!("<r xmlns:p=\"v\">{mixture}</r>") } else { mixture };
        let (_, kinds) = compare(&mut XmlReader::new(), &text);
        prop_assert!(kinds.is_empty() || is_known(&kinds, &text), "{:?} in {:?}", kinds, text);
    }

    #[test]
    fn any_text_gives_a_tree(text in "[ <>/a-c\"'=&;!\\[\\]?:\\-\n\u{1}é]{0,120}") {
        let mut reader = XmlReader::new();
        reader.read(&text, &XmlLimits::default());
        super::shape::check(reader.document(&text), reader.faults());
    }
}
