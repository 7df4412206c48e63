//! A role's policy: the tools of its agent and their parameters, and the paths that these tools
//! must not touch.

use crate::base::span::Spanned;
use crate::base::suggest;
use crate::eval::answer::{first_difference, load_schema, same_json};
use crate::eval::prepared_case::SeenContext;
use crate::eval::verdict::{self, ExpectationOutcome, JudgedOutcome, Presence, Reason};
use crate::project::roles::RoleTools;
use crate::project::tools::ProjectTool;
use crate::scenario::expect::context::backquoted_names;
use crate::scenario::expect::tools::ToolTest;
use crate::scenario::values::FrozenValue;
use std::collections::BTreeSet;

/// Judges each part; the reason is that of the first part that does not hold.
pub(super) fn judge_tools(seen: &SeenContext<'_>, test: &ToolTest) -> JudgedOutcome {
    let receiver = seen.case.receiver;
    let Some(role) = receiver.role else {
        let lists = [Some(&test.has), test.exactly.as_ref()]
            .into_iter()
            .flatten();
        return judge_same_list(
            seen,
            "tools",
            lists.max_by_key(|list| list.len()).unwrap_or(&test.has),
            &[],
        );
    };
    let nothing = RoleTools::default();
    let lists = role.tools.as_ref().unwrap_or(&nothing);
    let given = lists.agent_definitions();
    let names: Vec<String> = given.iter().map(|tool| tool.name.clone()).collect();
    // In a project that defines no tools, the role's lists alone decide the tools that may be
    // called.
    let is_defined = !lists.defined.is_empty();
    let is_given = |name: &str| {
        if is_defined {
            names.iter().any(|other| other == name)
        } else {
            lists.permits(name)
        }
    };
    let is_listed = |name: &str| {
        lists
            .allowed
            .iter()
            .chain(&lists.blocked)
            .any(|entry| entry.value == name)
    };
    let slip = |name: &str| {
        let is_known = lists.defined.contains_key(name) || is_listed(name);
        suggest::nearest_candidate(name, lists.defined.keys().map(String::as_str))
            .filter(|_| !is_known)
    };
    let one = |name: &str, presence: Presence| {
        let words = match presence {
            Presence::Required => format!("a tool `{name}`"),
            Presence::Forbidden => format!("not a tool `{name}`"),
        };
        // A misspelt tool name is never there, and proves nothing.
        if let Some(near) = slip(name) {
            let reason = Reason::new(words, "no tool of that name in the project")
                .with_advice(format!("did you mean `{near}`?"));
            return (ExpectationOutcome::Fail, reason.into_blind());
        }
        if is_given(name) == (presence == Presence::Required) {
            return (ExpectationOutcome::Pass, Reason::new(words, "that"));
        }
        let near = suggest::nearest_candidate(name, names.iter().map(String::as_str))
            .filter(|_| presence == Presence::Required);
        let found = match presence {
            Presence::Required => "none of that name",
            Presence::Forbidden => "it",
        };
        let reason = Reason::new(words, found);
        (
            ExpectationOutcome::Fail,
            near.into_iter().fold(reason, |reason, near| {
                reason.with_advice(format!("did you mean `{near}`?"))
            }),
        )
    };
    let has = test.has.iter();
    let has = has.map(|name| one(&name.value, Presence::Required));
    let mut judged: Vec<JudgedOutcome> = has.collect();
    let lacks = test.lacks.iter();
    judged.extend(lacks.map(|name| one(&name.value, Presence::Forbidden)));
    let all = if is_defined {
        names.clone()
    } else {
        receiver.tools()
    };
    judged.extend(
        test.exactly
            .iter()
            .map(|expected| judge_same_list(seen, "tools", expected, &all)),
    );
    judged.extend(
        test.schema_of
            .iter()
            .map(|(name, wanted)| judge_tool_schema(seen, &given, &name.value, wanted)),
    );
    verdict::all_hold(&judged)
}

/// Judges the parameters of a tool by a schema, independent of the order of keys.
fn judge_tool_schema(
    seen: &SeenContext<'_>,
    given: &[&ProjectTool],
    name: &str,
    wanted: &FrozenValue,
) -> JudgedOutcome {
    let words = match wanted {
        FrozenValue::File(path) => format!("the parameters of `{name}` as in {path}"),
        FrozenValue::Value(_) => format!("the parameters of `{name}` as they stand here"),
    };
    let Some(tool) = given.iter().find(|tool| tool.name == name) else {
        return (
            ExpectationOutcome::Fail,
            Reason::new(words, "no definition of that tool").into_blind(),
        );
    };
    match load_schema(seen.case.input.beside, wanted) {
        Err(why) => (
            ExpectationOutcome::Fail,
            Reason::new(words, why).into_blind(),
        ),
        Ok(wanted) if same_json(&wanted, &tool.parameters) => {
            (ExpectationOutcome::Pass, Reason::new(words, "the same"))
        }
        Ok(wanted) => {
            let at = first_difference(&wanted, &tool.parameters, "$".to_owned());
            (
                ExpectationOutcome::Fail,
                Reason::new(
                    words,
                    format!("others at {at}: {}, line {}", tool.path, tool.line + 1),
                ),
            )
        }
    }
}

/// Judges a list of the role's policy by its exact items.
pub(super) fn judge_same_list(
    seen: &SeenContext<'_>,
    what: &str,
    expected: &[Spanned<String>],
    found: &[String],
) -> JudgedOutcome {
    let words = format!("{what} {}", backquoted_names(expected));
    if seen.case.receiver.role.is_none() {
        let words = if expected.is_empty() {
            format!("the {what} of a role")
        } else {
            words
        };
        // A task without a role has no policy, so its absence proves nothing.
        let advice = format!(
            "`{}` is asked for as a task: name a `role`",
            seen.case.receiver.task
        );
        return (
            ExpectationOutcome::Fail,
            Reason::new(words, format!("no {what}: a task has none"))
                .with_advice(advice)
                .into_blind(),
        );
    }
    let wanted: BTreeSet<&str> = expected.iter().map(|one| one.value.as_str()).collect();
    let there: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let quote = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (missing, more): (Vec<&str>, Vec<&str>) = (
        wanted.difference(&there).copied().collect(),
        there.difference(&wanted).copied().collect(),
    );
    if missing.is_empty() && more.is_empty() {
        return (ExpectationOutcome::Pass, Reason::new(words, "the same"));
    }
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push(format!("no {}", quote(&missing)));
    }
    if !more.is_empty() {
        found.push(format!("{} too", quote(&more)));
    }
    let mut reason = Reason::new(words, found.join(", and "));
    for name in missing {
        if let Some(near) = suggest::nearest_candidate(name, more.iter().copied()) {
            reason = reason.with_advice(format!("did you mean `{near}`?"));
        }
    }
    (ExpectationOutcome::Fail, reason)
}
