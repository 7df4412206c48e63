//! CTX516: a shared file that is not pinned, or moved.

use crate::base::hash::Hash;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A policy that may change unseen is none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(
        516,
        "unpinned-shared-file",
        "the file that `extends` names is not the one that is pinned by its hash",
        PAGE,
    )
    .fixed(Fixable::Suggested)
    .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`extends` takes policies from a file that somebody else may edit. Its hash stands in the project file, so that a change of policy is a
change of the project, seen in review. When the file has moved on, look at what changed, then take the new hash with the fix.";

const BAD: &[Example] = &[
    project("extends = \"shared.toml\"\n# file: shared.toml\n[lints]\nno-context = \"error\"\n"),
    project(
        "extends = { path = \"shared.toml\", hash = \"b3:0000000000000000000000000000000000000000000000000000000000000000\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n",
    ),
];

const GOOD: &[Example] = &[project(
    "extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedHash { path, pinned, actual, edit } = &fault.kind else { return None };
    let message = match pinned {
        None => format!("{path} is not pinned: expected the hash of its bytes beside its path"),
        Some(pinned) if Hash::parse(pinned).is_none() => {
            format!("`{pinned}` is no hash: expected `b3:` and 64 hexadecimal digits")
        }
        Some(_) => format!("{path} is not the file that is pinned: its bytes changed"),
    };
    let finding = cx.finding(&RULE, fault, message).note(format!("its hash is {actual}"));
    let finding = finding.help("look at what the file says, then pin it by its hash");
    Some(match edit {
        Some((span, insert)) => finding.fix(Fix::suggested("pin the file as it is now", vec![Edit::replace(*span, insert)])),
        None => finding,
    })
}
