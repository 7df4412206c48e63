//! CTX516–CTX520: the shared file that `extends` names, and what a project may do with it.

use super::words::line;
use crate::base::hash::Hash;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A policy that may change unseen is none.
pub(super) static SHARED_HASH: Rule = Rule {
    meta: RuleMeta::promise(
        516,
        "unpinned-shared-file",
        "the file that `extends` names is not the one that is pinned by its hash",
        "\
`extends` takes policies from a file that somebody else may edit. Its hash stands in the project file, so that a change of policy is a
change of the project, seen in review. When the file has moved on, look at what changed, then take the new hash with the fix.",
    )
    .fixed(Fixable::Suggested)
    .examples(
        &[
            project("extends = \"shared.toml\"\n# file: shared.toml\n[lints]\nno-context = \"error\"\n"),
            project("extends = { path = \"shared.toml\", hash = \"b3:0000000000000000000000000000000000000000000000000000000000000000\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n"),
        ],
        &[project("extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n")],
    ),
    check: Check::Config(shared_hash),
};

fn shared_hash(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedHash { path, pinned, actual, edit } = &fault.kind else { return None };
    let message = match pinned {
        None => format!("{path} is not pinned: expected the hash of its bytes beside its path"),
        Some(pinned) if Hash::parse(pinned).is_none() => {
            format!("`{pinned}` is no hash: expected `b3:` and 64 hexadecimal digits")
        }
        Some(_) => format!("{path} is not the file that is pinned: its bytes changed"),
    };
    let finding = cx.finding(&SHARED_HASH, fault, message).note(format!("its hash is {actual}"));
    let finding = finding.help("look at what the file says, then pin it by its hash");
    Some(match edit {
        Some((span, insert)) => finding.fix(Fix::suggested("pin the file as it is now", vec![Edit::replace(*span, insert)])),
        None => finding,
    })
}

/// Without it nobody knows which policies hold.
pub(super) static SHARED_UNREADABLE: Rule = Rule {
    meta: RuleMeta::promise(517, "unreadable-shared-file", "the file that `extends` names cannot be read", "\
`extends` takes lints, defaults and requirements from a file that several projects share. Its path is relative to the folder of the
project file. While it cannot be read, none of its policies hold, so this is an error that cannot be lowered.")
        .examples(
            &[project("extends = { path = \"../policies/strict.toml\", hash = \"b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262\" }\n")],
            &[project("")],
        ),
    check: Check::Config(shared_unreadable),
};

fn shared_unreadable(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedUnreadable { path, reason } = &fault.kind else { return None };
    let message = format!("cannot read the shared file {path}: {reason}");
    let finding = cx.finding(&SHARED_UNREADABLE, fault, message);
    Some(finding.help("the path is relative to the folder of the project file; without the file none of its policies hold"))
}

/// Packages come with a later release.
pub(super) static SHARED_PACKAGE: Rule = Rule {
    meta: RuleMeta::promise(
        518,
        "package-not-available",
        "`extends` names a package, and there are none yet",
        "\
A later release shares policies as packages. This one takes them from a file: `extends = { path = \"…\", hash = \"b3:…\" }`.",
    )
    .examples(&[project("extends = \"package:acme/strict\"\n")], &[project("")]),
    check: Check::Config(shared_package),
};

fn shared_package(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedPackage { name } = &fault.kind else { return None };
    let message = format!("cannot extend package `{name}`: packages are not available in this release");
    let finding = cx.finding(&SHARED_PACKAGE, fault, message);
    Some(finding.help("copy its file beside the project and extend that: `extends = \"policies/strict.toml\"`"))
}

/// What belongs to one project is not shared.
pub(super) static NOT_SHAREABLE: Rule = Rule {
    meta: RuleMeta::error(519, "not-shareable", "a shared file has a key that belongs to a project", "\
A shared file holds what several projects have in common: `[lints]`, `[defaults]`, `[[require]]`, and `[allow] loosen` for what a project may
loosen. Everything else (its name, its folders, its types, its limits) belongs to each project's own file.")
        .examples(
            &[project("extends = { path = \"shared.toml\", hash = \"b3:55b01ebec718e40f7d772ce26cbe74bf57150853433524a60980c97e2ec04dd1\" }\n# file: shared.toml\n[templates]\nexclude = \"drafts\"\n")],
            &[project("extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n")],
        ),
    check: Check::Config(not_shareable),
};

fn not_shareable(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NotShared { key } = &fault.kind else { return None };
    let message = format!("a shared file cannot have `{key}`; expected lints, defaults and requirements");
    let finding = cx.finding(&NOT_SHAREABLE, fault, message);
    Some(finding.help("move it to the project's own file"))
}

/// A project may tighten a shared policy, not loosen it.
pub(super) static LOOSENED_POLICY: Rule = Rule {
    meta: RuleMeta::promise(520, "loosened-policy", "the project loosens what the shared file says", "\
A project may tighten what its shared file says: a higher level for a rule, less context by default. It may not loosen it, unless the
shared file permits that with `[allow] loosen = [\"no-context\", \"defaults.atomic\"]` (or `lints`, `defaults`, `all`). Until then the shared
file's value holds.")
        .fixed(Fixable::Suggested)
        .examples(
            &[project("extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n\n[lints]\nno-context = \"info\"\n# file: shared.toml\n[lints]\nno-context = \"error\"\n")],
            &[project("extends = { path = \"shared.toml\", hash = \"b3:2149ce35676ecd0c0c88f38a596ad1f53b19cfd32519e6d71d316da7139d99ae\" }\n\n[lints]\nno-context = \"info\"\n# file: shared.toml\n[allow]\nloosen = [\"no-context\"]\n\n[lints]\nno-context = \"error\"\n")],
        ),
    check: Check::Config(loosened_policy),
};

fn loosened_policy(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Loosened { what, here, shared, at: (file, span), entry } = &fault.kind else { return None };
    let message = format!("`{what}` is `{here}`, looser than the `{shared}` of the shared file");
    let finding = cx.finding(&LOOSENED_POLICY, fault, message);
    let finding = cx.label(finding, *file, *span, "the shared file says this");
    let finding = finding.note(format!("a project may tighten a shared policy, not loosen it; `{shared}` holds"));
    let fix = Fix::suggested("remove the line", vec![Edit::delete(line(cx, fault))]);
    Some(finding.help(format!("remove the line, or let the shared file permit it: `[allow] loosen = [\"{entry}\"]`")).fix(fix))
}
