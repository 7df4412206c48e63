//! CTX010: a reference that stands for nothing.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::suggest::nearest;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// HTML has two thousand named characters, XML five.
pub(crate) static RULE: Rule = Rule {
    meta: meta(10, "broken-reference", "a reference stands for no character", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
XML knows five names: `&lt;` `&gt;` `&amp;` `&quot;` `&apos;`. All other characters are written as themselves, since templates are UTF-8,
or by their number: `&#160;`, `&#xA0;`. Names of HTML such as `&nbsp;` would have to be declared in a document type, which is refused.
Every reference ends in `;`, and its number must be that of a character which XML allows.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort&nbsp;the ticket</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>a &lt b</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>a bell: &#7;</description>\n</task>\n"),
];

/// The names of HTML that turn up in prose, and what they stand for.
const HTML: &[(&str, char)] = &[
    ("nbsp", '\u{A0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("bull", '•'),
    ("middot", '·'),
    ("sect", '§'),
    ("para", '¶'),
    ("deg", '°'),
    ("plusmn", '±'),
    ("times", '×'),
    ("rarr", '→'),
    ("larr", '←'),
    ("le", '≤'),
    ("ge", '≥'),
    ("ne", '≠'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::UnclosedReference => Some(unclosed(cx, fault)),
        FaultKind::UnknownEntity => Some(unknown(cx, fault)),
        FaultKind::BadCharReference => Some(bad_number(cx, fault)),
        _ => None,
    }
}

fn unclosed(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let written = shown(cx, fault.span);
    finding(&RULE.meta, cx, fault.span, format!("the reference `{written}` lacks its `;`"))
        .here(format!("expected `{written};`"))
        .fix(Fix::safe("add `;`", vec![Edit::insert(fault.span.end, ";")]))
}

fn unknown(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let written = shown(cx, fault.span);
    let name = written.trim_matches(['&', ';']);
    let finding = finding(&RULE.meta, cx, fault.span, format!("XML knows no entity `{written}`"))
        .note("the five that it knows are &lt; &gt; &amp; &quot; &apos;");
    let literal = Edit::insert(fault.span.start + 1, "amp;");
    if let Some((_, character)) = HTML.iter().find(|(known, _)| *known == name) {
        let number = format!("&#{};", u32::from(*character));
        let (shown, insert) =
            if *character == '\u{A0}' { (number.clone(), number) } else { (character.to_string(), character.to_string()) };
        return finding
            .help("it is a name of HTML; write the character itself, or its number")
            .fix(Fix::safe(format!("write {shown}"), vec![Edit::replace(fault.span, insert)]));
    }
    let near = nearest(name, ["lt", "gt", "amp", "quot", "apos"]);
    let finding = match near {
        Some(near) => finding
            .help(format!("did you mean `&{near};`?"))
            .fix(Fix::suggested(format!("write &{near};"), vec![Edit::replace(fault.span, format!("&{near};"))])),
        None => finding,
    };
    finding.fix(Fix::suggested(format!("write the text `{written}`"), vec![literal]))
}

fn bad_number(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    finding(&RULE.meta, cx, fault.span, format!("`{}` is the number of no character that XML allows", shown(cx, fault.span)))
        .help("control characters cannot stand in XML at all; remove the reference or name another character")
        .fix(Fix::suggested("remove it", vec![Edit::delete(fault.span)]))
}
