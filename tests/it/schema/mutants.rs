//! Templates with one change each: an element renamed, removed, doubled, moved to the end of its
//! parent, an attribute renamed or given another value. All stay well-formed.

use crate::support::examples::RuleExamples as _;
use ctxc::internals::template::element_specs;
use roxmltree::{Document, Node};
use std::path::Path;

/// Mutants of the shipped templates and of the good examples of every rule.
pub(crate) fn mutants() -> Vec<String> {
    let mut tags: Vec<&str> = element_specs::table_rows()
        .iter()
        .map(|spec| spec.tag)
        .collect();
    tags.sort_unstable();
    tags.dedup();
    let mut out = Vec::new();
    for (number, text) in originals().iter().enumerate() {
        let document = Document::parse(text).unwrap();
        for (at, node) in document.descendants().filter(Node::is_element).enumerate() {
            for kind in 0..6 {
                let tag = tags[(at * 7 + number * 3 + kind) % tags.len()];
                out.extend(mutant(text, node, kind, tag));
            }
        }
    }
    out
}

fn originals() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let files = ignore::Walk::new(folder)
        .filter_map(Result::ok)
        .map(ignore::DirEntry::into_path);
    let shipped = files.filter(|path| path.extension().is_some_and(|ending| ending == "xml"));
    let mut out: Vec<String> = shipped
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    out.sort();
    let examples = ctxc::internals::rules::list::all_rules()
        .flat_map(|rule| rule.meta.good_examples())
        .filter(|example| example.project.is_empty());
    out.extend(examples.map(|example| example.template.to_owned()));
    out
}

/// A change of the given kind at a node; `None` if the node does not allow one.
fn mutant(text: &str, node: Node<'_, '_>, kind: usize, tag: &str) -> Option<String> {
    let range = node.range();
    let own = &text[range.clone()];
    let replace = |range: std::ops::Range<usize>, with: &str| {
        Some(format!(
            "{}{with}{}",
            &text[..range.start],
            &text[range.end..]
        ))
    };
    if kind >= 4 {
        let attribute = node.attributes().next()?;
        let (range, value) = (attribute.range(), attribute.value());
        let changed = if kind == 4 {
            format!("{tag}=\"{value}\"")
        } else {
            format!("{}=\"{tag}\"", attribute.name())
        };
        return if node.attribute(tag).is_some() {
            None
        } else {
            replace(range, &changed)
        };
    }
    let parent = node.parent_element()?;
    match kind {
        0 => {
            let name = node.tag_name().name();
            let tail = own.len() - own.rfind(&format!("</{name}")).map_or(0, |at| at + 2);
            let renamed = format!("<{tag}{}", &own[1 + name.len()..]);
            let closed = own.ends_with("/>");
            if closed {
                replace(range, &renamed)
            } else {
                replace(
                    range,
                    &format!(
                        "{}{tag}{}",
                        &renamed[..renamed.len() - tail],
                        &own[own.len() - tail + name.len()..]
                    ),
                )
            }
        }
        1 => replace(range, ""),
        2 => replace(range, &format!("{own}{own}")),
        _ => {
            let end = parent.range().start + text[parent.range()].rfind("</")?;
            Some(format!(
                "{}{}{own}{}",
                &text[..range.start],
                &text[range.end..end],
                &text[end..]
            ))
        }
    }
}
