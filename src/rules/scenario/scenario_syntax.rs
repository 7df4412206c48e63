//! CTX601: a scenario file that is not valid YAML.

use super::cx::add_file_fix;
use super::scenario_prelude::*;
use crate::base::number::WHOLE_NUMBER_RANGE;
use crate::syntax::yaml;

/// An invalid file tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        601,
        "scenario-syntax",
        "a scenario file that is not valid YAML"
    )
    .with_fix(Fixable::Suggested),
    Check::Scenario(report),
);

/// True if the line begins in a column that no surrounding block uses, or deeper than any block
/// that it could belong to.
fn is_indented_oddly(text: &str, span: Span) -> bool {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let start = text
        .get(..span.start as usize)
        .unwrap_or("")
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let (before, rest) = text.split_at(start);
    let own = indent(rest);
    let mut columns: Vec<usize> = Vec::new();
    let mut last = "";
    for line in before
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    {
        let at = indent(line);
        columns.retain(|column| *column < at);
        columns.push(at);
        // The first key of a list item begins after its dash.
        if let Some(rest) = line.trim_start().strip_prefix("- ") {
            columns.push(at + 2 + indent(rest));
        }
        last = line.trim_end();
    }
    let is_value =
        last.contains(": ") && !last.ends_with([':', '|', '>', '-', ',', '[', '{', '"', '\'']);
    let deepest = columns.last().copied().unwrap_or(0);
    own < deepest && !columns.contains(&own) || own > deepest && is_value
}

/// Finds the opening quote without a closing one: on this line, or on the last non-empty line
/// before it.
fn find_unclosed_quote(text: &str, span: Span) -> Option<Span> {
    let end = text
        .get(span.start as usize..)?
        .find('\n')
        .map_or(text.len(), |at| span.start as usize + at);
    let mut start = end + 1;
    for line in text.get(..end)?.rsplit('\n').take(20) {
        start -= line.len() + 1;
        if line.trim().is_empty() {
            continue;
        }
        let value = line.find(": ").map_or_else(
            || line.len() - line.trim_start_matches([' ', '-']).len(),
            |at| at + 2,
        );
        let rest = line.get(value..)?;
        let at = start + value + (rest.len() - rest.trim_start().len());
        let quote = rest
            .trim_start()
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''));
        if quote.is_some_and(|quote| rest.matches(quote).count() % 2 == 1) {
            return Some(Span::from_offsets(at, at + 1));
        }
        // A text of several lines ends here.
        if line.matches(['"', '\'']).count() % 2 == 1 {
            return None;
        }
    }
    None
}

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    if let ScenarioFaultKind::UnknownTag(tag) = &fault.kind {
        let finding = cx.finding(
            &RULE.meta,
            fault,
            format!("the tag `!{tag}` is not supported here"),
        );
        return Some(finding.help("`!file PATH` takes the content of a file; a text that begins with `!` goes into quotes"));
    }
    let ScenarioFaultKind::Yaml(kind) = &fault.kind else {
        return None;
    };
    let found = |message: String| cx.finding(&RULE.meta, fault, message);
    Some(match kind {
        yaml::YamlFaultKind::Syntax(_) if is_indented_oddly(cx.text, fault.span) => {
            found("this is not valid YAML: this line is not indented like the lines that it belongs to".to_owned())
                .note("nothing after this place was read")
                .help("begin the keys of a mapping, and the dashes of a list, in one column")
        }
        yaml::YamlFaultKind::Syntax(_) if let Some(open) = find_unclosed_quote(cx.text, fault.span) => {
            let message = "this is not valid YAML: this quote is never closed on its line";
            Diagnostic::new(&RULE.meta, cx.path, open, message)
                .note("nothing after this place was read")
                .help("close it, or leave it out where the text needs no quotes; a text of several lines goes under `|`")
        }
        yaml::YamlFaultKind::Syntax(message) => found(format!("this is not valid YAML: {message}"))
            .note("nothing after this place was read")
            .help("put a text that holds `: ` or ` #`, or begins with one of `[{&*!|>%@` and the like, into quotes"),
        yaml::YamlFaultKind::Tab => {
            let spaces = "  ".repeat(fault.span.len() as usize);
            let finding = found("a tab indents this line; YAML is indented with spaces".to_owned());
            add_file_fix(finding, fault, Fix::suggested("write two spaces for a tab", vec![Edit::replace(fault.span, spaces)]))
        }
        yaml::YamlFaultKind::TooDeep => found(format!("lists and mappings are nested more than {} deep here", yaml::MAX_DEPTH)),
        yaml::YamlFaultKind::TooHeavy => {
            found(format!("the file has more than {} nodes, including those that its aliases repeat", yaml::MAX_WEIGHT))
        }
        yaml::YamlFaultKind::UnknownAlias(name) => {
            found(format!("`*{name}` repeats an anchor `&{name}` that is not defined before it"))
                .help("a text that begins with `*` goes into quotes")
        }
        yaml::YamlFaultKind::KeyWithParts => found("expected the name of a key, found a list or a mapping".to_owned()),
        yaml::YamlFaultKind::Merge => found("`<<` merges a mapping, and this is not one".to_owned()),
        yaml::YamlFaultKind::NumberTooLarge(number) => found(format!("the number `{number}` is beyond 64 bits: {WHOLE_NUMBER_RANGE}"))
            .note("it would be read as the nearest fraction, and shown as that")
            .help("put it into quotes: a text is shown as it is written"),
        yaml::YamlFaultKind::SecondDocument => {
            found("a second document begins here; a file holds one".to_owned()).help("put several cases into a suite: `cases:`")
        }
        yaml::YamlFaultKind::DuplicateKey { .. } => return None,
    })
}
