//! Keys, types and small sections of the project file.

use super::reading::{found, read};
use insta::assert_snapshot;

#[test]
fn a_file_of_every_section_has_no_findings() {
    let config = read(FULL);
    assert_eq!(super::reading::shown(&config), "");
    assert_eq!(
        config.name.as_ref().map(|name| name.value.as_str()),
        Some("support")
    );
    assert_eq!(config.limits.depth, 300);
    assert!(config.templates.exclude.matches("templates/drafts/a.xml"));
    assert_eq!(config.owner("templates/billing/a.xml"), Some("billing"));
    assert_eq!(config.owner("templates/a.xml"), Some("platform"));
    assert_eq!(config.roles["planner"].task.value, "plan");
}

#[test]
fn the_layout_is_read_with_its_faults() {
    use ctxc::internals::format::{FormatOptions, Indent};
    assert_eq!(
        read("[fmt]\nwidth = 90\nindent = 4").format,
        FormatOptions {
            width: 90,
            indent: Indent::Spaces(4)
        }
    );
    assert_eq!(
        read("[fmt]\nindent = \"tab\"").format,
        FormatOptions {
            indent: Indent::Tab,
            ..FormatOptions::default()
        }
    );
    let context = read("[context]\ninclude = \"docs\"\nexclude = [\"docs/old/**\"]\ndocuments = [\"build/api.md\"]\n").context;
    assert!(
        context
            .include
            .is_some_and(|globs| globs.matches("docs/a.md"))
    );
    assert!(context.exclude.matches("docs/old/a.md") && context.documents.matches("build/api.md"));
    assert!(found("[context]\ninlcude = \"docs\"\n").contains("`[context]` has no key `inlcude`"));
    assert!(found("[context]\ndocuments = [\"../a.md\"]\n").contains("ctxc.toml:2:14"));
    assert_snapshot!(found("[fmt]\nwidht = 80\nwidth = 5\nindent = \"tabs\"\n"), @r#"
    error CTX503 ctxc.toml:2:1 `widht`: `[fmt]` has no key `widht`
      = nothing reads it, so it has no effect; the keys are `width`, `indent`
      ? did you mean `width`?
      > write `width` (`widht` -> `width`)
    error CTX504 ctxc.toml:3:9 `5`: `fmt.width` is `5`; expected a number from 20 to 1000
    error CTX504 ctxc.toml:4:10 `\"tabs\"`: `fmt.indent` is `tabs`; expected a number of spaces from 1 to 16, or "tab"
      ? did you mean `tab`?
      > write `tab` (`\"tabs\"` -> `\"tab\"`)
    "#);
    assert!(
        found("[fmt]\nindent = 0\n")
            .contains("`fmt.indent` is `0`; expected a number from 1 to 16")
    );
    assert!(found("[fmt]\nindent = true\n").contains("`fmt.indent`"));
}

#[test]
fn an_empty_file_is_the_default() {
    let config = read("");
    assert!(config.faults.is_empty());
    let rows = |config: &ctxc::internals::project::config::Config| {
        format!("{:?}", config.layers.rows().collect::<Vec<_>>())
    };
    assert_eq!(
        rows(&config),
        rows(&ctxc::internals::project::config::Config::default())
    );
}

#[test]
fn unknown_keys_are_found_at_every_level() {
    assert_snapshot!(found("titel = \"x\"\n[project]\nnane = \"x\"\n[templates]\nincludes = []\n[limits]\nwidth = 1\n[defaults.atomic]\nfresh = \"enabled\"\n[defaults.atomic.subtask]\nx = 1\n[[require]]\npaths = \"x\"\nmust = \"has owner\"\n[allow]\nlosen = []\n"), @r#"
    error CTX503 ctxc.toml:1:1 `titel`: ctxc.toml has no key `titel`
      = nothing reads it, so it has no effect; the keys are `edition`, `required-version`, `extends`, `workspace`, `project`, `templates`, `context`, `defaults`, `operators`, `lints`, `require`, `owners`, `limits`, `allow`, `roles`, `tools`, `models`, `policy`, `mcp`, `providers`, `eval`, `history`, `record`, `requests`, `dependencies`, `package`, `fmt`
    error CTX503 ctxc.toml:3:1 `nane`: `[project]` has no key `nane`
      = nothing reads it, so it has no effect; the keys are `name`, `version`, `description`
      ? did you mean `name`?
      > write `name` (`nane` -> `name`)
    error CTX503 ctxc.toml:5:1 `includes`: `[templates]` has no key `includes`
      = nothing reads it, so it has no effect; the keys are `include`, `exclude`
      ? did you mean `include`?
      > write `include` (`includes` -> `include`)
    error CTX503 ctxc.toml:7:1 `width`: `[limits]` has no key `width`
      = nothing reads it, so it has no effect; the keys are `depth`, `attributes`, `namespaces`, `file`, `text`, `name`, `nodes`, `diagnostics`
    error CTX503 ctxc.toml:9:1 `fresh`: `[defaults.atomic]` has no key `fresh`
      = nothing reads it, so it has no effect; the keys are `inherit_context`, `accumulate_data`, `accumulation_format`, `fresh_context`
    error CTX503 ctxc.toml:11:1 `x`: `[defaults.atomic.subtask]` has no key `x`
      = nothing reads it, so it has no effect; the keys are `inherit_context`, `accumulate_data`, `accumulation_format`, `fresh_context`
    error CTX503 ctxc.toml:13:1 `paths`: `[[require]]` has no key `paths`
      = nothing reads it, so it has no effect; the keys are `path`, `name`, `operator`, `subtype`, `role`, `must`, `level`, `reason`
      ? did you mean `path`?
      > write `path` (`paths` -> `path`)
    error CTX503 ctxc.toml:16:1 `losen`: `[allow]` has no key `losen`
      = nothing reads it, so it has no effect; its only key is `loosen`
      ? did you mean `loosen`?
      > write `loosen` (`losen` -> `loosen`)
    "#);
}

#[test]
fn values_of_a_wrong_type_name_what_was_expected() {
    assert_snapshot!(found("edition = 2026\nproject = 1\nowners = []\nroles = \"x\"\n[templates]\ninclude = 3\nexclude = [\"a\", 4]\n[limits]\ndepth = \"300\"\nfile = 1.5\n[defaults]\natomic = true\n[defaults.sequential]\naccumulate_data = \"true\"\nfresh_context = true\n[lints]\nno-context = 1\n"), @r#"
    error CTX504 ctxc.toml:1:11 `2026`: `edition` is a number; expected a text in quotes
      > put it in quotes (`2026` -> `\"2026\"`)
    error CTX504 ctxc.toml:2:11 `1`: `project` is a number; expected a table
    error CTX504 ctxc.toml:3:10 `[]`: `owners` is a list; expected a table
    error CTX504 ctxc.toml:4:9 `\"x\"`: `roles` is a text; expected a table
    error CTX504 ctxc.toml:6:11 `3`: `templates.include` is a number; expected a text or a list of texts
    error CTX504 ctxc.toml:7:17 `4`: `templates.exclude` is a number; expected a text in quotes
    error CTX504 ctxc.toml:9:9 `\"300\"`: `limits.depth` is a text; expected a whole number
      > take the quotes off (`\"300\"` -> `300`)
    error CTX504 ctxc.toml:10:8 `1.5`: `limits.file` is a number; expected a whole number
    error CTX504 ctxc.toml:12:10 `true`: `defaults.atomic` is `true` or `false` without quotes; expected a table
    error CTX504 ctxc.toml:14:19 `\"true\"`: `defaults.sequential.accumulate_data` is a text; expected `true` or `false` without quotes
      > take the quotes off (`\"true\"` -> `true`)
    error CTX504 ctxc.toml:15:17 `true`: `defaults.sequential.fresh_context` is `true`; expected `enabled` or `disabled`
      ? did you mean `enabled`?
      > write `enabled` (`true` -> `\"enabled\"`)
    error CTX504 ctxc.toml:17:14 `1`: `lints.no-context` is a number; expected a text in quotes
    "#);
}

#[test]
fn another_version_is_the_only_finding() {
    assert_snapshot!(found("required-version = \">=99\"\nedition = \"2031\"\n[later]\nkey = 1\nx = [\n"), @r#"
    error CTX537 ctxc.toml:1:20 `\">=99\"`: this is ctxc 0.1.0; the project is for ctxc >=99
      ? install one of these versions, or change `required-version` after a check
    "#);
    assert_snapshot!(found("required-version = \"new\"\n[lints]\nno-context = \"off\"\n"), @r#"error CTX504 ctxc.toml:1:20 `\"new\"`: `required-version` is `new`; expected versions, such as `>=0.2, <0.4`"#);
    assert_eq!(
        found("required-version = \"0.1\"\nedition = \"2026\"\n"),
        ""
    );
}

#[test]
fn values_outside_their_set_name_the_nearest() {
    assert_snapshot!(found("edition = \"2031\"\n[project]\nname = \" \"\n[templates]\nexclude = [\"../x\", \"a[b\"]\n[limits]\ndepth = 0\nnodes = 999999999999\n[defaults.atomic]\nfresh_context = \"enable\"\ninherit_context = \"Full\"\n[lints]\nno-context = \"warn\"\n"), @r#"
    error CTX505 ctxc.toml:1:11 `\"2031\"`: edition `2031` is not known; this release reads `2026`
      ? a newer edition needs a newer ctxc
      > write "2026" (`\"2031\"` -> `\"2026\"`)
    error CTX504 ctxc.toml:3:8 `\" \"`: `project.name` is ` `; expected a name with at least one character
    error CTX504 ctxc.toml:5:12 `\"../x\"`: the pattern `../x` cannot be read: a pattern is relative to the project and stays inside it
      ? `*` stands for a name, `**` for any folders: `templates/**/*.xml`
    error CTX504 ctxc.toml:5:20 `\"a[b\"`: the pattern `a[b` cannot be read: unclosed character class; missing ']'
      ? `*` stands for a name, `**` for any folders: `templates/**/*.xml`
    error CTX504 ctxc.toml:7:9 `0`: `limits.depth` is `0`; expected a number from 1 to 512
    error CTX504 ctxc.toml:8:9 `999999999999`: `limits.nodes` is `999999999999`; expected a number from 1 to 100000000
    error CTX504 ctxc.toml:10:17 `\"enable\"`: `defaults.atomic.fresh_context` is `enable`; expected `enabled` or `disabled`
      ? did you mean `enabled`?
      > write `enabled` (`\"enable\"` -> `\"enabled\"`)
    error CTX504 ctxc.toml:11:19 `\"Full\"`: `defaults.atomic.inherit_context` is `Full`; expected `full`, `none` or `subset`
      ? did you mean `full`?
      > write `full` (`\"Full\"` -> `\"full\"`)
    error CTX504 ctxc.toml:13:14 `\"warn\"`: `lints.no-context` is `warn`; expected `off`, `hint`, `info`, `warning` or `error`
      ? did you mean `warning`?
      > write `warning` (`\"warn\"` -> `\"warning\"`)
    "#);
}

#[test]
fn a_table_in_the_place_of_a_list_is_reported_with_its_correct_form() {
    assert_snapshot!(found("[require]\nmust = \"has owner\"\n"), @r#"error CTX504 ctxc.toml:1:1 `[require]`: `require` is a table; expected a list of tables, each under its own `[[require]]`"#);
}

#[test]
fn one_syntax_fault_is_found_and_no_consequence() {
    assert_snapshot!(found("edition = 2026-\n[limits]\ndepth = 300\ndepth = 301\n[lints\nno-context = off\n[defaults.atomic]\nfresh_contxt = \"disabled\"\n"), @r#"
    error CTX502 ctxc.toml:5:6 `s`: not TOML: unclosed table, expected `]`
      ? correct this line; whatever else is wrong in this file is reported then
    "#);
}

#[test]
fn an_unclosed_text_is_one_finding() {
    assert_snapshot!(found("[project]\nname = \"x\nversion = \"1\"\n"), @r#"
    error CTX502 ctxc.toml:2:9 `x`: not TOML: invalid basic string, expected `"`
      ? correct this line; whatever else is wrong in this file is reported then
    "#);
}

const FULL: &str = r#"
edition = "2026"

[project]
name = "support"
version = "1.0"
description = "support agents"

[templates]
include = ["templates", "prompts/**/*.xml"]
exclude = "**/drafts"

[owners]
"**" = "platform"
"templates/billing/**" = "billing"

[limits]
depth = 300
diagnostics = 100

[operators.research]
base = "sequential"
fresh_context = "disabled"

[operators.atomic.scout]
inherit_context = "none"
fresh_context = "enabled"

[defaults.atomic]
inherit_context = "subset"

[defaults.atomic.subtask]
fresh_context = "disabled"

[defaults.atomic.standard]
fresh_context = "disabled"

[defaults.reduce.inner_task]
inherit_context = "none"

[defaults.research.subtask]
accumulate_data = false

[lints]
all = "warning"
migration = "hint"
CTX3xx = "error"
no-context = "off"
ctx205 = "info"

[[require]]
path = ["templates/**"]
name = "triage-*"
operator = "atomic"
subtype = ["standard", "scout"]
role = "planner"
must = ["has owner", "model in ['a', 'b']", "parameters < 8"]
level = "warning"
reason = "house rule"

[roles.planner]
template = "plan"

[models.small]
provider = "x"
tier = "economy"
context_window = 8192

[policy]
[providers.x]
kind = "ollama"
[eval]
[history]
[package]
name = "acme/support"
version = "1.0.0"
[fmt]
"#;

#[test]
fn a_line_that_cannot_be_read_is_the_cause_of_a_conflict_in_its_table() {
    let codes = |text: &str| {
        found(text)
            .lines()
            .filter(|line| line.contains("CTX"))
            .map(|line| line[..13].to_owned())
            .collect::<Vec<_>>()
    };
    let fresh = "[defaults.atomic]\nfresh_context = \"enabled\"\n";
    assert_eq!(codes(fresh), ["error CTX501 "]);
    assert_eq!(
        codes(&format!("{fresh}inherit_contxt = \"none\"\n")),
        ["error CTX503 "]
    );
    assert_eq!(
        codes(&format!("{fresh}inherit_context = \"nothing\"\n")),
        ["error CTX504 "]
    );
    assert_eq!(
        codes(
            "[operators.scout]\nbase = \"reduce\"\ninherit_context = \"full\"\nfresh = \"disabled\"\n"
        ),
        ["error CTX503 "]
    );
    // Another table is not concerned, and no slip of a default can be allowed.
    assert_eq!(
        codes(&format!(
            "{fresh}[defaults.script]\nfresh_contxt = \"enabled\"\n"
        )),
        ["error CTX501 ", "error CTX503 "]
    );
    let lowered = format!("{fresh}inherit_contxt = \"none\"\n[lints]\nunknown-key = \"off\"\n");
    assert_eq!(codes(&lowered), ["error CTX503 "]);
    let values = "[defaults.atomic]\nfresh_context = \"Enabled\"\n[templates]\nexclude = 3\n[lints]\nproject = \"off\"\n";
    assert_eq!(codes(values), ["error CTX504 "]);
}

#[test]
fn a_type_of_an_older_dialect_cannot_be_declared() {
    for name in ["map", "director", "evaluator"] {
        let text = format!(
            "[operators.{name}]\nbase = \"atomic\"\n[operators.{name}.wide]\nfresh_context = \"disabled\"\n"
        );
        let found = found(&text);
        let words = format!(
            "CTX507 ctxc.toml:1:12 `{name}`: `{name}` is a type of an older dialect and cannot be declared"
        );
        assert!(found.contains(&words), "{found}");
        assert_eq!(found.matches("CTX").count(), 1, "{found}");
    }
    // Below a type of the language the words are free, as far as the language has no such row
    // itself.
    assert_eq!(
        found("[operators.sequential.map]\nfresh_context = \"disabled\"\n"),
        ""
    );
}
