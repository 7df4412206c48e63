//! CTX705: two tools with one name.

use super::prelude::*;

/// The model calls tools by name, so the vendor requires unique names.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        705,
        "repeated-tool",
        "two tools with the same name in a request",
        case!("repeated-tool"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() && !cx.has_dialect(&[Dialect::Gemini]) {
        return;
    }
    let mut seen = BTreeSet::new();
    let vendor = cx.request.dialect.vendor();
    // Tools of a server have no names in the request.
    for tool in cx
        .request
        .tools
        .iter()
        .filter(|tool| !tool.is_server && !seen.insert(tool.name.as_str()))
    {
        let message = format!(
            "found a second tool with the name `{}`; {vendor} expects each name once",
            shorten(&tool.name)
        );
        let help = "put the name of its server in front, such as `github_search`, or leave one of the tools out";
        out.push(cx.finding(&RULE.meta, &tool.pointer, message).help(help));
    }
}
