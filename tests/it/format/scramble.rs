//! Sound templates of every kind of element, in a scrambled layout with the same meaning.

use super::generate::Numbers;
use ctxc::internals::template::elements::{ElementContent, ElementKind};
use roxmltree::Node;
use std::collections::BTreeSet;

/// A template in another shape: white space in tags, between elements, around words and before the
/// lines of texts; quotes, empty elements, and settings in another order.
pub(crate) fn scrambled(text: &str, seed: u64, kinds: &mut BTreeSet<&'static str>) -> String {
    let document = roxmltree::Document::parse(text).unwrap();
    let root = document.root_element();
    let mut writer = Writer {
        text,
        numbers: Numbers::new(seed),
        out: String::new(),
        kinds,
    };
    let kind = [
        ElementKind::Task,
        ElementKind::Template,
        ElementKind::Library,
    ]
    .into_iter()
    .find(|kind| kind.tag() == root.tag_name().name());
    writer.out.push_str(&text[..root.range().start]);
    writer.element(root, kind);
    writer.out.push_str(&text[root.range().end..]);
    writer.out
}

struct Writer<'t> {
    text: &'t str,
    numbers: Numbers,
    out: String,
    kinds: &'t mut BTreeSet<&'static str>,
}

impl Writer<'_> {
    fn pick(&mut self, of: &[&str]) {
        let part = of[self.numbers.below(of.len())];
        self.out.push_str(part);
    }

    fn element(&mut self, node: Node<'_, '_>, kind: Option<ElementKind>) {
        let kept = node.tag_name().namespace().is_some()
            || node
                .attributes()
                .any(|attribute| attribute.name() == "space");
        let Some(kind) = kind.filter(|kind| !kept && kind.spec().content != ElementContent::Opaque)
        else {
            self.out.push_str(&self.text[node.range()]);
            return;
        };
        self.kinds.insert(kind.tag());
        let is_child = |inside: Node<'_, '_>| {
            kind.child(inside.tag_name().name())
                .is_some_and(|child| child.kind != ElementKind::Use)
        };
        let as_list = match kind.spec().content {
            ElementContent::Elements => true,
            ElementContent::TextOrElements => {
                node.children().filter(Node::is_element).any(is_child)
            }
            ElementContent::Text
            | ElementContent::Word
            | ElementContent::Empty
            | ElementContent::Opaque => false,
        };
        if !node
            .children()
            .any(|child| !child.is_text() || !child.text().unwrap_or("").trim().is_empty())
        {
            return self.empty(node, kind);
        }
        self.start_tag(node);
        if as_list {
            self.list(node, kind);
        } else if kind.spec().content == ElementContent::Word {
            self.pick(&["", " ", "\n   ", "\t"]);
            self.inner(node);
            self.pick(&["", " ", "\n   ", "\t"]);
        } else {
            self.of_text(node);
        }
        self.end_tag(node);
    }

    fn empty(&mut self, node: Node<'_, '_>, kind: ElementKind) {
        self.start_tag(node);
        // An empty text differs from an absent one.
        if kind.is_text() {
            self.inner(node);
            self.end_tag(node);
        } else if self.numbers.below(2) == 0 {
            self.out.pop();
            self.pick(&["/>", " />", "\n/>"]);
        } else {
            self.pick(&["", " ", "\n\n"]);
            self.end_tag(node);
        }
    }

    fn start_tag(&mut self, node: Node<'_, '_>) {
        self.out.push('<');
        self.out.push_str(node.tag_name().name());
        for attribute in node.attributes() {
            self.pick(&[" ", "\n", "   ", "\t "]);
            self.out.push_str(attribute.name());
            self.pick(&["=", " = ", "=\n"]);
            let value = &self.text[attribute.range_value()];
            let quote = match (
                value.contains('"'),
                value.contains('\''),
                self.numbers.below(2),
            ) {
                (true, _, _) | (_, false, 0) => '\'',
                _ => '"',
            };
            self.out.push(quote);
            self.out.push_str(value);
            self.out.push(quote);
        }
        self.pick(&["", " ", "\n"]);
        self.out.push('>');
    }

    fn end_tag(&mut self, node: Node<'_, '_>) {
        self.out.push_str("</");
        self.out.push_str(node.tag_name().name());
        self.pick(&["", " ", "\n"]);
        self.out.push('>');
    }

    /// Copies the text between the tags.
    fn inner(&mut self, node: Node<'_, '_>) {
        for child in node.children() {
            self.out.push_str(&self.text[child.range()]);
        }
    }

    fn list(&mut self, node: Node<'_, '_>, kind: ElementKind) {
        let mut children: Vec<Node<'_, '_>> =
            node.children().filter(|child| !child.is_text()).collect();
        if kind == ElementKind::ContextManagement && children.iter().all(Node::is_element) {
            for at in 1..children.len() {
                children.swap(at, self.numbers.below(at + 1));
            }
        }
        for child in children {
            self.pick(&[
                "",
                " ",
                "\n",
                "\n\n\n\n",
                "\t",
                "<!-- c -->",
                "\n <!-- a\n  b -->",
            ]);
            if child.is_element() {
                self.element(
                    child,
                    kind.child(child.tag_name().name()).map(|child| child.kind),
                );
            } else {
                self.out.push_str(&self.text[child.range()]);
            }
        }
        self.pick(&["", " ", "\n", "\n\n\n\n", "\t"]);
    }

    /// The lines of a text that begins on a line of its own are indented alike, if nothing else is
    /// in it.
    fn of_text(&mut self, node: Node<'_, '_>) {
        let lone = node.children().count() == 1 && node.children().all(|child| child.is_text());
        let raw = lone.then(|| &self.text[node.first_child().unwrap().range()]);
        let Some(raw) = raw.filter(|raw| raw.starts_with('\n') && !raw.contains("<![CDATA["))
        else {
            return self.inner(node);
        };
        let deep = ["", " ", "      ", "\t"][self.numbers.below(4)].to_owned();
        self.pick(&["", " ", "\n"]);
        for line in raw.trim_end_matches([' ', '\n']).split_inclusive('\n') {
            self.out
                .push_str(if line.trim().is_empty() { "" } else { &deep });
            self.out.push_str(line);
        }
        self.pick(&["\n", "\n\n", "\n     "]);
    }
}
