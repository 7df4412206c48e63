//! RELAX NG in its compact syntax.

use super::pattern::{Define, Grammar, MOST, Pattern};
use std::fmt::Write as _;

const HEAD: &str = "\
namespace local = \"\"
default namespace = \"\"
datatypes xsd = \"http://www.w3.org/2001/XMLSchema-datatypes\"
";

const TAIL: &str = "
Foreign = element * - local:* { Anything }

Anything =
  (attribute * { text }
   | text
   | element * { Anything })*
";

/// Columns after which a list goes over several lines.
const WIDTH: usize = 100;

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar) -> String {
    let mut out = String::new();
    comment(&mut out, "#", &grammar.doc);
    out.push_str(HEAD);
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(out, "\nstart = {}", pattern(&grammar.start, 0));
    for Define { name, doc, pattern: inside } in &grammar.defines {
        out.push('\n');
        comment(&mut out, "##", doc);
        let _ = writeln!(out, "{name} =\n  {}", pattern(inside, 1));
    }
    out + TAIL
}

fn comment(out: &mut String, sign: &str, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "{}", format!("{sign} {line}").trim_end());
    }
}

fn pattern(of: &Pattern, depth: usize) -> String {
    match of {
        Pattern::Ref(name) => name.clone(),
        Pattern::Element(tag, inside) => braced(&format!("element {tag}"), inside, depth),
        Pattern::Attribute(name, inside) => braced(&format!("attribute {name}"), std::slice::from_ref(inside), depth),
        Pattern::ForeignAttributes => "attribute * - local:* { text }*".to_owned(),
        Pattern::ForeignElements => "Foreign*".to_owned(),
        Pattern::Anything => "Anything".to_owned(),
        Pattern::Text => "text".to_owned(),
        Pattern::Empty => "empty".to_owned(),
        Pattern::Word(word) => format!("\"{word}\""),
        Pattern::Name => "xsd:token { minLength = \"1\" }".to_owned(),
        Pattern::Number => format!("xsd:positiveInteger {{ maxInclusive = \"{MOST}\" }}"),
        Pattern::Choice(list) => joined(list, " |", depth),
        Pattern::Group(list) => joined(list, ",", depth),
        Pattern::Interleave(list) => joined(list, " &", depth),
        Pattern::Optional(inside) => pattern(inside, depth) + "?",
        Pattern::ZeroOrMore(inside) => pattern(inside, depth) + "*",
        Pattern::OneOrMore(inside) => pattern(inside, depth) + "+",
    }
}

fn braced(head: &str, inside: &[impl std::borrow::Borrow<Pattern>], depth: usize) -> String {
    let body: Vec<String> = inside.iter().map(|each| pattern(each.borrow(), depth + 1)).collect();
    let flat = format!("{head} {{ {} }}", body.join(", "));
    if flat.len() <= WIDTH && !flat.contains('\n') {
        return flat;
    }
    let inner = indent(depth + 1);
    let outer = indent(depth);
    format!("{head} {{\n{inner}{}\n{outer}}}", body.join(&format!(",\n{inner}")))
}

/// A list in parentheses: the compact syntax has no precedence between its signs.
fn joined(list: &[Pattern], sign: &str, depth: usize) -> String {
    let parts: Vec<String> = list.iter().map(|each| pattern(each, depth + 1)).collect();
    let flat = format!("({})", parts.join(&format!("{sign} ")));
    if flat.len() <= WIDTH && !flat.contains('\n') {
        return flat;
    }
    let inner = indent(depth + 1);
    let outer = indent(depth);
    format!("(\n{inner}{}\n{outer})", parts.join(&format!("{sign}\n{inner}")))
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}
