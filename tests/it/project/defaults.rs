//! `[operators]` and `[defaults]`: rows that exist, take effect and do not conflict.

use super::reading::found;
use insta::assert_snapshot;

#[test]
fn defaults_of_unknown_types() {
    assert_snapshot!(found("[defaults.atomc]\nfresh_context = \"disabled\"\n[defaults.atomc.subtask]\nfresh_context = \"disabled\"\n[defaults.reduce.inner]\ninherit_context = \"none\"\n[defaults.script.director]\ninherit_context = \"none\"\n[defaults.\"director_evaluator-loop\"]\nfresh_context = \"disabled\"\n"), @r#"
    error CTX506 ctxc.toml:1:11 `atomc`: there is no type `atomc`
      = the types are `atomic`, `sequential`, `reduce`, `script`, `director_evaluator_loop`
      ? did you mean `atomic`?
      > write `atomic` (`atomc` -> `atomic`)
    error CTX506 ctxc.toml:5:18 `inner`: type `reduce` has no subtype or part `inner`
      = known are `subtask`, `inner_task`, `reduction_task`
    error CTX506 ctxc.toml:7:18 `director`: type `script` has no subtype or part `director`
      = known are `subtask`
    error CTX506 ctxc.toml:9:11 `\"director_evaluator-loop\"`: there is no type `director_evaluator-loop`
      = the types are `atomic`, `sequential`, `reduce`, `script`, `director_evaluator_loop`
      ? did you mean `director_evaluator_loop`?
      > write `director_evaluator_loop` (`\"director_evaluator-loop\"` -> `\"director_evaluator_loop\"`)
    "#);
}

#[test]
fn a_setting_without_a_type() {
    assert_snapshot!(found("[defaults]\ninherit_context = \"none\"\n"), @r#"
    error CTX506 ctxc.toml:2:1 `inherit_context`: `inherit_context` is directly under `[defaults]`; expected a type in between
      ? write it under the type that it is for: `[defaults.atomic]`, then `inherit_context = …`
    "#);
}

#[test]
fn declarations_that_cannot_be() {
    assert_snapshot!(found("[operators.scout]\nfresh_context = \"disabled\"\n[operators.x]\nbase = \"atomc\"\n[operators.atomic]\nfresh_context = \"disabled\"\n[operators.reduce.inner_task]\nfresh_context = \"disabled\"\n[operators.sequential.subtask]\n[operators.\"a b\"]\nbase = \"atomic\"\n[operators.nobody.deep]\n"), @r#"
    error CTX507 ctxc.toml:1:12 `scout`: type `scout` has no `base`; expected one of the types of the language
      = the base says which children a task of the new type may have
      ? add `base = "atomic"` (or `sequential`, `reduce`, `script`, `director_evaluator_loop`)
    error CTX504 ctxc.toml:4:8 `\"atomc\"`: `operators.x.base` is `atomc`; expected `atomic`, `sequential`, `reduce`, `script` or `director_evaluator_loop`
      ? did you mean `atomic`?
      > write `atomic` (`\"atomc\"` -> `\"atomic\"`)
    error CTX507 ctxc.toml:6:1 `fresh_context`: `atomic` is part of the language and cannot be declared again
      ? to change what it starts from, write the settings under `[defaults.atomic]`
    error CTX507 ctxc.toml:7:19 `inner_task`: `reduce.inner_task` is part of the language and cannot be declared again
      ? to change what it starts from, write the settings under `[defaults.reduce.inner_task]`
    error CTX507 ctxc.toml:9:23 `subtask`: `sequential.subtask` is part of the language and cannot be declared again
      ? to change what it starts from, write the settings under `[defaults.sequential.subtask]`
    error CTX507 ctxc.toml:10:12 `\"a b\"`: `a b` cannot be a name; expected letters, digits, `_` and `-`, beginning with a letter
    error CTX507 ctxc.toml:12:12 `nobody`: type `nobody` has no `base`; expected one of the types of the language
      = the base says which children a task of the new type may have
      ? add `base = "atomic"` (or `sequential`, `reduce`, `script`, `director_evaluator_loop`)
    "#);
}

#[test]
fn defaults_that_can_have_no_effect() {
    assert_snapshot!(found("[defaults.atomic]\naccumulate_data = true\n[defaults.reduce.inner_task]\naccumulation_format = \"notes_only\"\n[operators.scout]\nbase = \"script\"\naccumulate_data = true\n[defaults.sequential]\naccumulate_data = false\n[defaults.atomic.subtask]\naccumulate_data = false\n"), @r#"
    warning CTX508 ctxc.toml:2:19 `true`: `accumulate_data` has no effect for `atomic`: it has no steps whose results could be carried
      ? remove the line; `sequential` and `director_evaluator_loop` are the types that carry results
    warning CTX508 ctxc.toml:4:23 `\"notes_only\"`: `accumulation_format` has no effect for `reduce.inner_task`: it has no steps whose results could be carried
      = `reduce.inner_task` is built on `reduce`
      ? remove the line; `sequential` and `director_evaluator_loop` are the types that carry results
    warning CTX508 ctxc.toml:7:19 `true`: `accumulate_data` has no effect for `scout`: it has no steps whose results could be carried
      = `scout` is built on `script`
      ? remove the line; `sequential` and `director_evaluator_loop` are the types that carry results
    "#);
}

#[test]
fn a_conflict_of_defaults_is_reported_once_for_all_its_rows() {
    assert_snapshot!(found("[defaults.atomic]\nfresh_context = \"enabled\"\n"), @r#"
    error CTX501 ctxc.toml:2:17 `\"enabled\"`: every task of type atomic would look up fresh context, but also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic
      = the same two values hold for type atomic with subtype director, type atomic with subtype evaluator
      > add inherit_context = "none": tasks receive only looked-up context (`` -> `inherit_context = \"none\"\n`)
      > set fresh_context to "disabled": tasks receive only their parent's context (`\"enabled\"` -> `\"disabled\"`)
    "#);
}

#[test]
fn a_conflict_of_two_written_defaults_labels_both() {
    assert_snapshot!(found("[defaults.reduce]\ninherit_context = \"subset\"\nfresh_context = \"enabled\"\n"), @r#"
    error CTX501 ctxc.toml:3:17 `\"enabled\"`: every task of type reduce would look up fresh context, but also inherit part of its parent's
      at ctxc.toml:2: the other value
      = the same two values hold for type reduce with subtype subtask
      > set inherit_context to "none": tasks receive only looked-up context (`\"subset\"` -> `\"none\"`)
      > set fresh_context to "disabled": tasks receive only their parent's context (`\"enabled\"` -> `\"disabled\"`)
    "#);
}

#[test]
fn a_conflict_on_the_later_layer() {
    assert_snapshot!(found("[defaults.atomic.subtask]\ninherit_context = \"full\"\n"), @r#"
    error CTX501 ctxc.toml:2:19 `\"full\"`: every task of type atomic with subtype subtask would look up fresh context, but also inherit all of its parent's
      = fresh_context is `enabled`: the default of type atomic with subtype subtask
      > add fresh_context = "disabled": tasks receive only their parent's context (`` -> `fresh_context = \"disabled\"\n`)
      > set inherit_context to "none": tasks receive only looked-up context (`\"full\"` -> `\"none\"`)
    "#);
}

#[test]
fn a_conflict_of_a_declared_row() {
    assert_snapshot!(found("[operators.scout]\nbase = \"atomic\"\nfresh_context = \"enabled\"\n[operators.atomic.deep]\nfresh_context = \"enabled\"\n"), @r#"
    error CTX501 ctxc.toml:3:17 `\"enabled\"`: every task of type scout would look up fresh context, but also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic
      = the same two values hold for type scout with subtype subtask
      > add inherit_context = "none": tasks receive only looked-up context (`` -> `inherit_context = \"none\"\n`)
      > set fresh_context to "disabled": tasks receive only their parent's context (`\"enabled\"` -> `\"disabled\"`)
    error CTX501 ctxc.toml:5:17 `\"enabled\"`: every task of type atomic with subtype deep would look up fresh context, but also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic
      > add inherit_context = "none": tasks receive only looked-up context (`` -> `inherit_context = \"none\"\n`)
      > set fresh_context to "disabled": tasks receive only their parent's context (`\"enabled\"` -> `\"disabled\"`)
    "#);
}

#[test]
fn a_conflict_in_a_line_that_cannot_be_added_to() {
    assert_snapshot!(found("defaults.atomic = { fresh_context = \"enabled\" }\n"), @r#"
    error CTX501 ctxc.toml:1:37 `\"enabled\"`: every task of type atomic would look up fresh context, but also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic
      = the same two values hold for type atomic with subtype director, type atomic with subtype evaluator
      > set fresh_context to "disabled": tasks receive only their parent's context (`\"enabled\"` -> `\"disabled\"`)
    "#);
}
