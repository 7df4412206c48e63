//! `[[require]]`: conditions as read, and tasks compared with them.

use super::reading::{found, found_in};
use insta::assert_snapshot;

#[test]
fn conditions_that_cannot_be_read() {
    assert_snapshot!(found("[[require]]\nmust = ''\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'\'`: the condition `` cannot be read: a condition needs at least two words
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'owner'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'owner\'`: the condition `owner` cannot be read: `owner` is not compared with anything
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'has'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'has\'`: the condition `has` cannot be read: `has` and `lacks` take one of `description`, `version`, `owner`, `model`, `provider`, `instructions`, `system`, `criteria`, `constraints`, `parameters`, `inputs`, `file_paths`, `context_relevance`, `output_format`, `examples`, `context_management`, `scenario`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'has ownr'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'has ownr\'`: the condition `has ownr` cannot be read: the thing `ownr` is not one of `description`, `version`, `owner`, `model`, `provider`, `instructions`, `system`, `criteria`, `constraints`, `parameters`, `inputs`, `file_paths`, `context_relevance`, `output_format`, `examples`, `context_management`, `scenario`
      ? did you mean `owner`?
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model ~ x'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model ~ x\'`: the condition `model ~ x` cannot be read: the comparison `~` is not one of `<=`, `<`, `>=`, `>`, `==`, `!=`, `in`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model <= 3'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model <= 3\'`: the condition `model <= 3` cannot be read: `model` is a word: compare it with `==`, `!=` or `in`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'manifest_tokens <= many'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'manifest_tokens <= many\'`: the condition `manifest_tokens <= many` cannot be read: `manifest_tokens` is compared with a whole number, not with `many`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'manifest_tokens in [1]'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'manifest_tokens in [1]\'`: the condition `manifest_tokens in [1]` cannot be read: `manifest_tokens` is a number: compare it with `<=`, `>=` or `==`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
}

#[test]
fn values_that_a_condition_cannot_have() {
    assert_snapshot!(found("[[require]]\nmust = 'fresh_context == off'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'fresh_context == off\'`: the condition `fresh_context == off` cannot be read: the value of `fresh_context` `off` is not one of `enabled`, `disabled`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'modl == x'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'modl == x\'`: the condition `modl == x` cannot be read: the fact `modl` is not one of `manifest_tokens`, `parameters`, `inputs`, `steps`, `max_iterations`, `inherit_context`, `accumulate_data`, `accumulation_format`, `fresh_context`, `model`, `provider`, `version`, `owner`, `output_format`
      ? did you mean `model`?
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model in a'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model in a\'`: the condition `model in a` cannot be read: `in` takes a list: `model in ["a", "b"]`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model in []'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model in []\'`: the condition `model in []` cannot be read: an empty list never matches
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model in [a b]'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model in [a b]\'`: the condition `model in [a b]` cannot be read: the values of a list are separated by one comma
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'model == \"a'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'model == \"a\'`: the condition `model == "a` cannot be read: the value after " has no closing "
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
    assert_snapshot!(found("[[require]]\nmust = 'a b c d'\n"), @r#"
    error CTX512 ctxc.toml:2:8 `\'a b c d\'`: the condition `a b c d` cannot be read: expected `has THING`, `FACT == VALUE`, `FACT <= NUMBER` or `FACT in [VALUE, …]`
      ? conditions look like `has owner`, `manifest_tokens <= 4000`, `model in ["a", "b"]`
    "#);
}

#[test]
fn requirements_about_nothing() {
    assert_snapshot!(found("[[require]]\npath = \"x\"\n[[require]]\nmust = []\n[[require]]\npath = \"/x\"\nmust = \"has version\"\n"), @r#"
    error CTX512 ctxc.toml:1:1 `[[require]]`: requires nothing: `must` is missing
      ? add `must = "has description"`, or another condition, or a list of them
    error CTX504 ctxc.toml:6:8 `\"/x\"`: the pattern `/x` cannot be read: a pattern is relative to the project and stays inside it
      ? `*` stands for a name, `**` for any folders: `templates/**/*.xml`
    "#);
}

#[test]
fn selectors_of_what_no_one_knows() {
    assert_snapshot!(found("[[require]]\noperator = \"atomc\"\nsubtype = [\"subtsk\"]\nrole = \"planer\"\nlevel = \"off\"\nmust = \"has version\"\n[roles.planner]\n"), @r#"
    error CTX506 ctxc.toml:2:12 `\"atomc\"`: there is no type `atomc`
      = the types are `atomic`, `sequential`, `reduce`, `script`, `director_evaluator_loop`
      ? did you mean `atomic`?
      > write `atomic` (`\"atomc\"` -> `\"atomic\"`)
    error CTX506 ctxc.toml:3:12 `\"subtsk\"`: no type has a subtype `subtsk`
      = known are `director`, `evaluator`, `inner_task`, `reduction_task`, `standard`, `subtask`
      ? did you mean `subtask`?
      > write `subtask` (`\"subtsk\"` -> `\"subtask\"`)
    error CTX513 ctxc.toml:4:8 `\"planer\"`: the project has no agent role `planer`
      ? did you mean `planner`?
      > write `planner` (`\"planer\"` -> `\"planner\"`)
    error CTX504 ctxc.toml:5:9 `\"off\"`: `require.level` is `off`; expected `hint`, `info`, `warning` or `error`
    "#);
}

#[test]
fn unchecked_facts_are_not_assumed() {
    assert_snapshot!(found("[[require]]\nmust = [\"has scenario\", \"manifest_tokens <= 4_000\", \"lacks scenario\"]\n"), @r#"
    info CTX515 ctxc.toml:2:9 `\"has scenario\"`: not checked here: `has scenario` needs the project's scenarios
      ? `ctxc check` and `ctxc build` read them, and say which tasks do not meet it
    info CTX515 ctxc.toml:2:25 `\"manifest_tokens <= 4_000\"`: not checked here: `manifest_tokens <= 4_000` needs the tokens of the manifest
      ? `ctxc manifest` checks it for every agent, and exits with 1 where one does not meet it
    info CTX515 ctxc.toml:2:53 `\"lacks scenario\"`: not checked here: `lacks scenario` needs the project's scenarios
      ? `ctxc check` and `ctxc build` read them, and say which tasks do not meet it
    "#);
}

const TASK: &str = r#"<task type="sequential" name="triage">
  <description>sort the tickets</description>
  <model>large</model>
  <steps>
    <task type="atomic" as="read">
      <description>read a ticket</description>
      <context_management>
        <inherit_context>none</inherit_context>
        <fresh_context>enabled</fresh_context>
      </context_management>
    </task>
    <task type="reduce">
      <description>fold them</description><inputs><input name="one">x</input></inputs>
      <inner_task>
        <description>one of them</description>
      </inner_task>
      <reduction_task>
        <description>two of them</description>
      </reduction_task>
    </task>
  </steps>
</task>
"#;

fn requirement_findings(project: &str) -> String {
    found_in(TASK, project, "requirement-not-met")
}

#[test]
fn settings_are_required_of_every_task_inside() {
    assert_snapshot!(requirement_findings("[[require]]\nmust = \"fresh_context == disabled\"\nreason = \"answers must not depend on a search\"\n"), @r#"
    error CTX514 templates/triage.xml:9:9 `<fresh_context>enabled</fresh_context>`: fresh_context is `enabled`, and the project requires `fresh_context == disabled`
      at ctxc.toml:2: required here
      = the project's reason: answers must not depend on a search
      > set fresh_context to disabled: what the project requires (`enabled` -> `disabled`)
    error CTX514 templates/triage.xml:12:6 `task`: fresh_context is `enabled`, and the project requires `fresh_context == disabled`
      at ctxc.toml:2: required here
      = the project's reason: answers must not depend on a search
      > add <fresh_context>disabled</fresh_context> in a <context_management>: what the project requires (`` -> `\n      <context_management>\n        <fresh_context>disabled</fresh_context>\n      </context_management>`)
    "#);
}

#[test]
fn everything_else_is_required_of_the_named_task() {
    assert_snapshot!(requirement_findings("[[require]]\nmust = [\"has version\", \"has description\", \"model in ['small']\", \"steps <= 1\", \"provider == x\", \"lacks model\", \"max_iterations > 1\"]\nlevel = \"info\"\n"), @r#"
    info CTX514 templates/triage.xml:1:2 `task`: has model, which the project does not want
      at ctxc.toml:2: required here
    info CTX514 templates/triage.xml:1:2 `task`: has no max_iterations, and the project requires `max_iterations > 1`
      at ctxc.toml:2: required here
    info CTX514 templates/triage.xml:1:2 `task`: has no provider, and the project requires `provider == x`
      at ctxc.toml:2: required here
    info CTX514 templates/triage.xml:1:2 `task`: has no version, which the project requires
      at ctxc.toml:2: required here
    info CTX514 templates/triage.xml:1:2 `task`: model is `large`, and the project requires `model in ['small']`
      at ctxc.toml:2: required here
    info CTX514 templates/triage.xml:1:2 `task`: steps is 2, and the project requires `steps <= 1`
      at ctxc.toml:2: required here
    "#);
}

#[test]
fn a_type_selects_tasks_wherever_they_stand() {
    assert_snapshot!(requirement_findings("[[require]]\noperator = \"atomic\"\nsubtype = \"standard\"\nmust = \"has model\"\n"), @r#"
    error CTX514 templates/triage.xml:5:6 `task`: has no model, which the project requires
      at ctxc.toml:4: required here
    "#);
    assert_snapshot!(requirement_findings("[[require]]\noperator = \"reduce\"\nmust = \"has model\"\n"), @r#"
    error CTX514 templates/triage.xml:12:6 `task`: has no model, which the project requires
      at ctxc.toml:3: required here
    "#);
    assert_snapshot!(requirement_findings("[[require]]\nsubtype = \"inner_task\"\nmust = \"has model\"\n"), @r#"
    error CTX514 templates/triage.xml:14:8 `inner_task`: has no model, which the project requires
      at ctxc.toml:3: required here
    "#);
}

#[test]
fn path_name_role_and_owner_select() {
    let version = |selector: &str| {
        requirement_findings(&format!(
            "[[require]]\n{selector}\nmust = \"has version\"\n"
        ))
        .lines()
        .count()
    };
    assert!(version("path = \"templates/**\"") > 0);
    assert_eq!(version("path = \"other/**\""), 0);
    assert!(version("name = [\"x\", \"tri*\"]") > 0);
    assert_eq!(version("name = \"x\""), 0);
    let role = |task: &str| {
        requirement_findings(&format!(
            "[[require]]\nrole = \"sorter\"\nmust = \"has version\"\n[roles.sorter]\ntemplate = \"{task}\"\n"
        ))
    };
    assert_ne!(role("triage"), "");
    assert_eq!(role("other"), "");
    let owner = |pattern: &str| {
        requirement_findings(&format!(
            "[[require]]\nmust = [\"has owner\", \"owner == team\"]\n[owners]\n\"{pattern}\" = \"team\"\n"
        ))
    };
    assert_eq!(owner("templates/**"), "");
    assert_ne!(owner("prompts/**"), "");
}

/// The findings about requirements that match nothing in a project of two tasks, `triage` and
/// `agents/plan`.
fn idle(project: &str) -> Vec<String> {
    let task = |name: &str| {
        format!("<task type=\"atomic\" name=\"{name}\">\n  <description>d</description>\n</task>\n")
    };
    let (one, two) = (task("triage"), task("plan"));
    let config = crate::project::reading::read(project);
    let built = ctxc::compile_sources(&config, [("triage.xml", &*one), ("agents/plan.xml", &*two)]);
    let found = built
        .diagnostics
        .iter()
        .filter(|finding| finding.rule.name == "requirement-matches-nothing");
    found
        .map(|finding| {
            format!(
                "{}:{}: {}",
                finding.path, finding.start.line, finding.message
            )
        })
        .collect()
}

#[test]
fn a_requirement_that_is_about_no_task_is_reported() {
    let with = |selector: &str| {
        format!(
            "[[require]]\nmust = \"has description\"\n\n[[require]]\n{selector}\nmust = \"has description\"\n\n[roles.lead]\ntemplate = \"plan\"\n\n[roles.idle]\n"
        )
    };
    for fits in [
        "name = \"tri*\"",
        "path = \"agents/*.xml\"",
        "role = \"lead\"",
        "path = \"agents/**\"\nname = \"plan\"",
        "operator = \"reduce\"",
    ] {
        assert_eq!(idle(&with(fits)), [""; 0], "{fits}");
    }
    for (selector, words) in [
        ("name = \"trai*\"", "its `name` fits"),
        ("path = \"agent/*.xml\"", "its `path` fits"),
        ("role = \"idle\"", "its `role` fits"),
        (
            "path = \"agents/**\"\nname = \"triage\"",
            "its `path` and `name` together fit",
        ),
    ] {
        let words = format!(
            "ctxc.toml:4: this requirement applies to no task: {words} none of the project"
        );
        assert_eq!(idle(&with(selector)), [words], "{selector}");
    }
}
