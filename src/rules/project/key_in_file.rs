//! CTX529: a key's value in the project file.
//!
//! The finding never stands on a line that holds the value, and says nothing of it.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A file that is shared is no place for it.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(529, "key-in-project-file", "a provider's key stands in the project file", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
The project file is committed, copied and printed. A provider names the environment variable that holds its key: `api_key_env =
\"ANTHROPIC_API_KEY\"`. The key itself never stands in a file, and no output of ctxc shows one: the finding stands at the provider's name. What
was committed once has to be taken for known: replace that key at the provider.

The name of a variable is written in capitals, digits and `_`. An address (`base_url`) takes no user, password or query.";

const BAD: &[Example] = &[
    project("[providers.main]\nkind = \"openai\"\napi_key_env = \"sk-proj-not-a-real-key\"\n"),
    project("[providers.main]\nkind = \"openai\"\napi_key = \"not-a-real-key\"\n"),
    project("[providers.main]\nkind = \"openai\"\nbase_url = \"https://me:pass@models.example/v1\"\n"),
];

const GOOD: &[Example] = &[project("[providers.main]\nkind = \"openai\"\napi_key_env = \"OPENAI_API_KEY\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::KeyInFile { provider, key, at } = &fault.kind else { return None };
    let line = |span: Span| cx.config.position(fault.file, span.start).map(|(_, position)| position.line);
    // Written on one line, the value would be shown with the provider's name: the finding goes to the head of the file.
    let span = if line(fault.span) == line(*at) { Span::at(0) } else { fault.span };
    let message = match *key {
        "api_key_env" => format!("`api_key_env` of provider `{provider}` is no name of a variable: a key itself?"),
        "base_url" => format!("`base_url` of provider `{provider}` carries a user, a password or a query"),
        _ => format!("provider `{provider}` has `{key}`, and a key never stands in a project file"),
    };
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), span, message);
    let finding = finding.note("the value is not shown here; if it was ever committed, replace it at the provider");
    Some(match *key {
        "base_url" => finding.help("write the address alone: `https://host/path`"),
        _ => finding.help("name the variable that holds it, in capitals: `api_key_env = \"OPENAI_API_KEY\"`"),
    })
}
