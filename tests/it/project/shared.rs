//! `extends`: pinned by hash; the project may tighten, not relax.

use super::reading::{read_with, shown};
use ctxc::internals::base::hash::Hash;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::project::config::Config;
use ctxc::internals::rules::list;
use ctxc::internals::template::setting::{Fresh, Inherit};
use insta::assert_snapshot;

/// A project over a shared file that is pinned as it is.
fn over(shared: &str, own: &str) -> Config {
    let hash = Hash::digest(shared.as_bytes());
    let text = format!("extends = {{ path = \"house/rules.toml\", hash = \"{hash}\" }}\n{own}");
    read_with(&text, &[("house/rules.toml", shared)])
}

#[test]
fn line_ends_move_no_pin() {
    let hash = Hash::digest(SHARED.as_bytes());
    let text = format!("extends = {{ path = \"rules.toml\", hash = \"{hash}\" }}\n");
    let config = read_with(&text, &[("rules.toml", &SHARED.replace('\n', "\r\n"))]);
    assert_eq!(shown(&config), "");
    assert_eq!(severity(&config, "no-context"), Some(Severity::Error));
}

const SHARED: &str = "[lints]\nno-context = \"error\"\n[defaults.atomic]\nfresh_context = \"disabled\"\n[[require]]\nmust = \"has version\"\n";

fn severity(config: &Config, name: &str) -> Option<Severity> {
    let rule = &list::find_rule(name).unwrap().meta;
    config
        .lints
        .severity_for(rule, rule.severity.unwrap_or(rule.when_enabled))
}

#[test]
fn lints_defaults_and_requirements_are_taken_over_with_their_places() {
    let config = over(SHARED, "");
    assert_eq!(shown(&config), "");
    assert_eq!(severity(&config, "no-context"), Some(Severity::Error));
    assert_eq!(config.requirements.len(), 1);
    let origin = config
        .layers
        .defaults(config.layers.resolve_row("atomic", None).unwrap())
        .fresh_context
        .origin;
    let (path, span, position) = config.origin(&origin).unwrap();
    assert_eq!(
        (&*path, span.slice(SHARED), position.line),
        ("house/rules.toml", "\"disabled\"", 4)
    );
}

#[test]
fn a_project_may_tighten() {
    let own = "[lints]\nno-context = \"error\"\nmigration = \"error\"\n[defaults.atomic]\ninherit_context = \"subset\"\n";
    assert_eq!(shown(&over(SHARED, own)), "");
}

#[test]
fn a_project_may_not_loosen_and_the_shared_value_holds() {
    let config = over(
        SHARED,
        "[lints]\nno-context = \"info\"\n[defaults.atomic.director]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n",
    );
    assert_snapshot!(shown(&config), @r#"
    error CTX520 ctxc.toml:3:14 `\"info\"`: `no-context` is `info`, looser than the `error` of the shared file
      at house/rules.toml:2: the shared file says this
      = a project may tighten a shared policy, not loosen it; `error` applies
      ? remove the line, or let the shared file permit it: `[allow] loosen = ["no-context"]`
      > remove the line (`no-context = \"info\"\n` -> ``)
    error CTX520 ctxc.toml:6:17 `\"enabled\"`: `defaults.atomic.director.fresh_context` is `enabled`, looser than the `disabled` of the shared file
      at house/rules.toml:4: the shared file says this
      = a project may tighten a shared policy, not loosen it; `disabled` applies
      ? remove the line, or let the shared file permit it: `[allow] loosen = ["defaults.atomic.director"]`
      > remove the line (`fresh_context = \"enabled\"\n` -> ``)
    "#);
    assert_eq!(severity(&config, "no-context"), Some(Severity::Error));
    let row = config
        .layers
        .resolve_row("atomic", Some("director"))
        .unwrap();
    assert_eq!(
        config.layers.defaults(row).fresh_context.value,
        Fresh::Disabled
    );
}

/// A row below a row of the shared file has its own layer above it.
#[test]
fn no_row_of_the_project_goes_around_the_house() {
    const HOUSE: &str =
        "[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"disabled\"\n";
    for (own, what) in [
        (
            "[defaults.atomic.subtask]\ninherit_context = \"full\"\nfresh_context = \"disabled\"\n",
            "`defaults.atomic.subtask.inherit_context` is `full`",
        ),
        (
            "[operators.atomic.scout]\nfresh_context = \"enabled\"\n",
            "`operators.atomic.scout.fresh_context` is `enabled`",
        ),
    ] {
        let config = over(HOUSE, own);
        assert!(shown(&config).contains(what), "{}", shown(&config));
        let row = config
            .layers
            .resolve_row(
                "atomic",
                Some(if own.contains("scout") {
                    "scout"
                } else {
                    "subtask"
                }),
            )
            .unwrap();
        assert_eq!(
            config.layers.defaults(row).inherit_context.value,
            Inherit::None
        );
        let allowed = format!("[allow]\nloosen = [\"defaults.atomic\"]\n{HOUSE}");
        assert_eq!(shown(&over(&allowed, own)), "");
    }
    // The language's own subtype is as open without the project; a stricter row is no relaxation.
    assert_eq!(
        shown(&over(
            HOUSE,
            "[defaults.atomic.subtask]\nfresh_context = \"enabled\"\n"
        )),
        ""
    );
    assert_eq!(
        shown(&over(
            "[defaults.atomic]\ninherit_context = \"subset\"\n",
            "[operators.atomic.scout]\ninherit_context = \"none\"\n"
        )),
        ""
    );
}

#[test]
fn a_family_leaves_what_is_stricter_as_it_is() {
    let config = over(SHARED, "[lints]\ncontext = \"hint\"\n");
    assert_eq!(shown(&config), "");
    assert_eq!(severity(&config, "no-context"), Some(Severity::Error));
    assert_eq!(
        severity(&config, "setting-without-effect"),
        Some(Severity::Hint)
    );
}

#[test]
fn what_the_shared_file_allows_may_be_loosened() {
    for allowed in [
        "no-context\", \"defaults.atomic",
        "all",
        "CTX2xx\", \"defaults",
        "lints\", \"defaults.atomic.director",
    ] {
        let shared = format!("[allow]\nloosen = [\"{allowed}\"]\n{SHARED}");
        let config = over(
            &shared,
            "[lints]\nno-context = \"info\"\n[defaults.atomic.director]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n",
        );
        assert_eq!(shown(&config), "", "{allowed}");
        assert_eq!(severity(&config, "no-context"), Some(Severity::Info));
    }
}

#[test]
fn faults_of_the_shared_file_stand_in_the_shared_file() {
    assert_snapshot!(shown(&over("extends = \"x\"\n[lint]\n[templates]\n[allow]\nloosen = [\"no-contxt\"]\n[defaults.atomic]\nfresh_context = \"enabled\"\n", "")), @r#"
    error CTX519 house/rules.toml:1:1 `extends`: a shared file cannot have `extends`; expected lints, defaults and requirements
      ? move it to the project's own file
    error CTX503 house/rules.toml:2:2 `lint`: house/rules.toml has no key `lint`
      = nothing reads it, so it has no effect; the keys are `edition`, `required-version`, `lints`, `defaults`, `require`, `allow`
      ? did you mean `lints`?
    error CTX519 house/rules.toml:3:2 `templates`: a shared file cannot have `templates`; expected lints, defaults and requirements
      ? move it to the project's own file
    error CTX504 house/rules.toml:5:11 `\"no-contxt\"`: `allow.loosen` is `no-contxt`; expected `all`, `lints`, `defaults`, `defaults.TYPE`, or the name, code or family of a rule
      ? did you mean `no-context`?
    error CTX501 house/rules.toml:7:17 `\"enabled\"`: every task of type atomic would look up fresh context, but also inherit all of its parent's
      = inherit_context is `full`: the default of type atomic
      = the same two values hold for type atomic with subtype director, type atomic with subtype evaluator
      ? add inherit_context = "none": tasks receive only looked-up context; or set fresh_context to "disabled": tasks receive only their parent's context
    "#);
}

#[test]
fn a_file_that_is_not_pinned_or_moved_is_pinned_by_the_fix() {
    let found = |own: &str| shown(&read_with(own, &[("a.toml", "[lints]\n")]));
    assert_snapshot!(found("extends = \"a.toml\"\n"), @r#"
    error CTX516 ctxc.toml:1:11 `\"a.toml\"`: a.toml is not pinned: expected the hash of its text beside its path
      = its hash is b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390
      ? review the file, then pin it by its hash
      > pin the file as it is now (`\"a.toml\"` -> `{ path = \"a.toml\", hash = \"b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390\" }`)
    "#);
    assert_snapshot!(found("extends = { path = \"a.toml\" }\n"), @r#"
    error CTX516 ctxc.toml:1:20 `\"a.toml\"`: a.toml is not pinned: expected the hash of its text beside its path
      = its hash is b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390
      ? review the file, then pin it by its hash
      > pin the file as it is now (`` -> `, hash = \"b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390\"`)
    "#);
    assert_snapshot!(found("[extends]\npath = \"a.toml\"\n"), @r#"
    error CTX516 ctxc.toml:2:8 `\"a.toml\"`: a.toml is not pinned: expected the hash of its text beside its path
      = its hash is b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390
      ? review the file, then pin it by its hash
      > pin the file as it is now (`` -> `\nhash = \"b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390\"`)
    "#);
    assert_snapshot!(found("extends = { path = \"a.toml\", hash = \"b3:12\" }\n"), @r#"
    error CTX516 ctxc.toml:1:37 `\"b3:12\"`: `b3:12` is not a hash: expected `b3:` and 64 hexadecimal digits
      = its hash is b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390
      ? review the file, then pin it by its hash
      > pin the file as it is now (`\"b3:12\"` -> `\"b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390\"`)
    "#);
    assert_snapshot!(found("[extends]\npath = \"a.toml\"\nhash = \"b3:0000000000000000000000000000000000000000000000000000000000000000\"\n"), @r#"
    error CTX516 ctxc.toml:3:8 `\"b3:0000000000000000000000000000000000000000000000000000000000000000\"`: a.toml is not the file that is pinned: its text changed
      = its hash is b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390
      ? review the file, then pin it by its hash
      > pin the file as it is now (`\"b3:0000000000000000000000000000000000000000000000000000000000000000\"` -> `\"b3:c8543871c43ddc387a06f067d3bda145a9cde1b0c00ab603cceeb65584707390\"`)
    "#);
}

#[test]
fn a_file_that_is_not_the_pinned_one_is_neither_parsed_nor_kept() {
    let zeros = format!("b3:{}", "0".repeat(64));
    for written in [
        "\"a.toml\"",
        "{ path = \"a.toml\", hash = \"b3:12\" }",
        &format!("{{ path = \"a.toml\", hash = \"{zeros}\" }}"),
    ] {
        for shared in [
            "TOKEN=hunter2\0PATH=hunter2",
            "[lints]\nhunter2 = \"error\"\n",
            "[lints]\nno-context = \"error\"\n[hunter2]\n",
        ] {
            let config = read_with(&format!("extends = {written}\n"), &[("a.toml", shared)]);
            let findings = shown(&config);
            let errors: Vec<&str> = findings
                .lines()
                .filter(|line| line.starts_with("error"))
                .collect();
            assert!(
                errors.len() == 1 && errors[0].starts_with("error CTX516 ctxc.toml:"),
                "{findings}"
            );
            assert!(
                !findings.contains("hunter2") && !format!("{config:?}").contains("hunter2"),
                "{findings}"
            );
            assert_ne!(severity(&config, "no-context"), Some(Severity::Error));
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_gives_the_reason() {
    let found = |own: &str| shown(&read_with(own, &[]));
    assert_snapshot!(found("extends = \"none.toml\"\n"), @r#"
    error CTX517 ctxc.toml:1:11 `\"none.toml\"`: cannot read the shared file none.toml: it does not exist
      ? the path is relative to the folder of the project file; without the file none of its policies apply
    "#);
    assert_snapshot!(found("extends = \"package:acme/strict@1\"\n"), @r#"
    error CTX517 ctxc.toml:1:11 `\"package:acme/strict@1\"`: cannot read the shared file package:acme/strict@1: it does not exist
      ? the path is relative to the folder of the project file; without the file none of its policies apply
    "#);
    assert_snapshot!(found("extends = { package = \"acme/strict\" }\n"), @r#"
    error CTX504 ctxc.toml:1:11 `{ package = \"acme/strict\" }`: `extends` is a table without `path`; expected a table with `path`
    error CTX503 ctxc.toml:1:13 `package`: `[extends]` has no key `package`
      = nothing reads it, so it has no effect; the keys are `path`, `hash`
    "#);
    assert_snapshot!(found("extends = \"/srv/rules.toml\"\n"), @r#"error CTX504 ctxc.toml:1:11 `\"/srv/rules.toml\"`: `extends` is `/srv/rules.toml`; expected a path relative to the project"#);
    assert_snapshot!(found("extends = 1\n"), @r#"error CTX504 ctxc.toml:1:11 `1`: `extends` is a number; expected a path in quotes, `{ path = "…", hash = "b3:…" }`, or packages: `["acme/rules"]`"#);
    assert_snapshot!(found("extends = { hash = \"b3:1\", pth = \"x\" }\n"), @r#"
    error CTX504 ctxc.toml:1:11 `{ hash = \"b3:1\", pth = \"x\" }`: `extends` is a table without `path`; expected a table with `path`
    error CTX503 ctxc.toml:1:28 `pth`: `[extends]` has no key `pth`
      = nothing reads it, so it has no effect; the keys are `path`, `hash`
      ? did you mean `path`?
      > write `path` (`pth` -> `path`)
    "#);
}
