//! CTX516–CTX520 except CTX518: the shared file that `extends` names, and the changes that a project may make to
//! it.

use super::project_prelude::*;
use crate::base::hash::Hash;

/// A policy that can change unnoticed is no policy.
pub(super) static SHARED_HASH: Rule = Rule::new(
    meta!(
        locked_error,
        516,
        "unpinned-shared-file",
        "the file that `extends` names does not match its pinned hash"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_hash),
);

fn report_hash(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::SharedHash {
        path,
        pinned,
        actual,
        edit,
    } = &fault.kind
    else {
        return None;
    };
    let message = match pinned {
        None => format!("{path} is not pinned: expected the hash of its text beside its path"),
        Some(pinned) if Hash::parse(pinned).is_none() => {
            format!("`{pinned}` is not a hash: expected `b3:` and 64 hexadecimal digits")
        }
        Some(_) => format!("{path} is not the file that is pinned: its text changed"),
    };
    let finding = cx
        .finding(&SHARED_HASH, fault, message)
        .note(format!("its hash is {actual}"));
    let finding = finding.help("review the file, then pin it by its hash");
    Some(match edit {
        Some((span, insert)) => finding.fix(Fix::suggested(
            "pin the file as it is now",
            vec![Edit::replace(*span, insert)],
        )),
        None => finding,
    })
}

/// Without the file, the policies in force are unknown.
pub(super) static SHARED_UNREADABLE: Rule = Rule::new(
    meta!(
        locked_error,
        517,
        "unreadable-shared-file",
        "the file that `extends` names cannot be read"
    ),
    Check::Config(report_unreadable),
);

fn report_unreadable(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::SharedUnreadable { path, reason } = &fault.kind else {
        return None;
    };
    let message = format!("cannot read the shared file {path}: {reason}");
    let finding = cx.finding(&SHARED_UNREADABLE, fault, message);
    Some(finding.help("the path is relative to the folder of the project file; without the file none of its policies apply"))
}

/// Keys that belong to one project cannot be shared.
pub(super) static NOT_SHAREABLE: Rule = Rule::new(
    meta!(
        error,
        519,
        "not-shareable",
        "a shared file has a key that belongs to a project"
    ),
    Check::Config(report_not_shareable),
);

fn report_not_shareable(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::NotShared { key } = &fault.kind else {
        return None;
    };
    let message =
        format!("a shared file cannot have `{key}`; expected lints, defaults and requirements");
    let finding = cx.finding(&NOT_SHAREABLE, fault, message);
    Some(finding.help("move it to the project's own file"))
}

/// A project may tighten a shared policy, not loosen it.
pub(super) static LOOSENED_POLICY: Rule = Rule::new(
    meta!(
        locked_error,
        520,
        "loosened-policy",
        "the project loosens what the shared file says"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_loosened_policy),
);

fn report_loosened_policy(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::Loosened {
        what,
        here,
        shared,
        at: (file, span),
        entry,
    } = &fault.kind
    else {
        return None;
    };
    let is_member = !cx.config.inherited.is_empty();
    let shared_file = cx.config.files.get(*file as usize);
    let package = shared_file.and_then(|file| cx.config.packages.of_file(&file.path));
    let (owner, remedy) = if let Some(package) = package {
        let name = package.names.package.as_str();
        (name, format!("take {name} out of `extends`"))
    } else if is_member {
        ("the workspace", "change the workspace".to_owned())
    } else {
        let permission = format!("let the shared file permit it: `[allow] loosen = [\"{entry}\"]`");
        ("the shared file", permission)
    };
    let message = format!("`{what}` is `{here}`, looser than the `{shared}` of {owner}");
    let finding = cx.finding(&LOOSENED_POLICY, fault, message);
    let finding = cx.add_label(finding, *file, *span, &format!("{owner} says this"));
    let finding = finding.note(format!(
        "a project may tighten a shared policy, not loosen it; `{shared}` applies"
    ));
    let fix = Fix::suggested("remove the line", vec![Edit::delete(fault_line(cx, fault))]);
    Some(
        finding
            .help(format!("remove the line, or {remedy}"))
            .fix(fix),
    )
}
