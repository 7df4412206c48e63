//! `[lints]`: names, families, levels, and rules that cannot be lowered.

use super::reading::{found, read};
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::project::config::Config;
use ctxc::internals::rules::list;
use insta::assert_snapshot;

#[test]
fn names_that_no_rule_has() {
    assert_snapshot!(found("[lints]\nno-contxt = \"off\"\nCTX999 = \"off\"\nCTX8xx = \"off\"\nmigraton = \"off\"\n"), @r#"
    error CTX509 ctxc.toml:2:1 `no-contxt`: no rule, code or family is called `no-contxt`
      ? did you mean `no-context`?
      > write `no-context` (`no-contxt` -> `no-context`)
    error CTX509 ctxc.toml:3:1 `CTX999`: no rule, code or family is called `CTX999`
      ? `ctxc rules` lists the names of all rules
    error CTX509 ctxc.toml:4:1 `CTX8xx`: no rule, code or family is called `CTX8xx`
      ? `ctxc rules` lists the names of all rules
    error CTX509 ctxc.toml:5:1 `migraton`: no rule, code or family is called `migraton`
      ? did you mean `migration`?
      > write `migration` (`migraton` -> `migration`)
    "#);
}

#[test]
fn promises_cannot_be_lowered() {
    assert_snapshot!(found("[lints]\ncontext-conflict = \"warning\"\nCTX202 = \"off\"\nconflicting-defaults = \"error\"\n"), @r#"
    error CTX510 ctxc.toml:2:20 `\"warning\"`: `context-conflict` cannot be `warning`: it is a promise of the language, and stays `error`
      ? correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside
      > remove the line (`context-conflict = \"warning\"\n` -> ``)
    error CTX510 ctxc.toml:3:10 `\"off\"`: `CTX202` cannot be `off`: it is a promise of the language, and stays `error`
      ? correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside
      > remove the line (`CTX202 = \"off\"\n` -> ``)
    "#);
}

#[test]
fn one_rule_under_two_names() {
    assert_snapshot!(found("[lints]\nno-context = \"off\"\nCTX203 = \"error\"\n"), @r#"
    error CTX511 ctxc.toml:3:1 `CTX203`: sets `no-context` a second time; only the first line applies
      at ctxc.toml:2: set here
      > remove the second line (`CTX203 = \"error\"\n` -> ``)
    "#);
}

fn severity(config: &Config, name: &str) -> Option<Severity> {
    let rule = &list::find_rule(name).unwrap().meta;
    config
        .lints
        .severity_for(rule, rule.severity.unwrap_or(rule.when_enabled))
}

#[test]
fn a_rule_beats_its_family_and_that_beats_all_whatever_the_order() {
    let config = read("[lints]\nno-context = \"error\"\ncontext = \"info\"\nall = \"hint\"\n");
    assert_eq!(severity(&config, "no-context"), Some(Severity::Error));
    assert_eq!(
        severity(&config, "setting-without-effect"),
        Some(Severity::Info)
    );
    assert_eq!(
        severity(&config, "default-without-effect"),
        Some(Severity::Hint)
    );
    // `all` turns on the rules that are off by default, and lowers no promise.
    assert_eq!(
        severity(&config, "redundant-override"),
        Some(Severity::Info)
    );
    assert_eq!(severity(&config, "context-conflict"), Some(Severity::Error));
}

#[test]
fn what_is_off_by_default_stays_off_until_it_is_named() {
    assert_eq!(severity(&Config::default(), "redundant-override"), None);
    assert_eq!(
        severity(
            &read("[lints]\nredundant-override = \"warning\"\n"),
            "redundant-override"
        ),
        Some(Severity::Warning)
    );
    assert_eq!(
        severity(&read("[lints]\nno-context = \"off\"\n"), "no-context"),
        None
    );
}
