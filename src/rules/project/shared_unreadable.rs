//! CTX517: a shared file that cannot be read.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Without it nobody knows which policies hold.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(517, "unreadable-shared-file", "the file that `extends` names cannot be read", PAGE)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`extends` takes lints, defaults and requirements from a file that several projects share. Its path is relative to the folder of the
project file. While it cannot be read, none of its policies hold, so this is an error that cannot be lowered.";

const BAD: &[Example] = &[project(
    "extends = { path = \"../policies/strict.toml\", hash = \"b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\" }\n",
)];

const GOOD: &[Example] = &[project("")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedUnreadable { path, reason } = &fault.kind else { return None };
    let message = format!("cannot read the shared file {path}: {reason}");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help("the path is relative to the folder of the project file; without the file none of its policies hold"))
}
