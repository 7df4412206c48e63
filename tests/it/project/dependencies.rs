//! `[dependencies]` and `ctxc.lock`.

use super::reading::{found, read, read_with, shown};
use ctxc::internals::project::config::Config;
use ctxc::internals::project::dependencies::{PackageSource, PackageTrust};
use ctxc::internals::project::lock_file::LockFile;
use insta::assert_snapshot;

/// The faults of the text: without those of packages that are not locked.
fn faults_of_text(config: &Config) -> String {
    let is_of_lock = |line: &&str| {
        line.contains("ctxc.lock does not have it") || line.ends_with("run `ctxc package update`")
    };
    let all = shown(config);
    all.lines().filter(|line| !is_of_lock(line)).collect()
}

#[test]
fn packages_are_read_with_source_and_trust() {
    let config = read(
        "[dependencies]\n\"acme/rules\" = \"git+ssh://git@example.org/a/rules.git@rules/v1.2.0\"\n\"acme/base\" = { source = \"path:../base\", trust = \"outside\" }\n",
    );
    assert_eq!(faults_of_text(&config), "");
    let rules = &config.dependencies["acme/rules"];
    assert_eq!(
        rules.source.value,
        PackageSource::Git {
            url: "ssh://git@example.org/a/rules.git".to_owned(),
            tag: "rules/v1.2.0".to_owned()
        }
    );
    assert_eq!(rules.trust, PackageTrust::Author);
    let base = &config.dependencies["acme/base"];
    assert_eq!(base.source.value, PackageSource::Path("../base".to_owned()));
    assert_eq!(base.trust, PackageTrust::Outside);
    for dependency in config.dependencies.values() {
        let text = dependency.source.value.to_string();
        assert_eq!(
            PackageSource::parse(&text).as_ref(),
            Ok(&dependency.source.value)
        );
    }
}

#[test]
fn faults_of_packages_stand_at_their_place() {
    assert_snapshot!(found("[dependencies]\nrules = \"path:a\"\n\"acme/a\" = 1\n\"acme/b\" = {}\n\"acme/c\" = { source = \"path:c\", trsut = \"outside\" }\n\"acme/d\" = { source = \"path:d\", trust = \"all\" }\n"), @r#"
    error CTX504 ctxc.toml:2:1 `rules`: `dependencies` is `rules`; expected the name of a package in quotes, such as "acme/rules": lower-case letters, digits and `-`
    error CTX504 ctxc.toml:3:12 `1`: `dependencies."acme/a"` is a number; expected a source in quotes, or a table with `source`
    error CTX532 ctxc.toml:4:12 `{}`: `dependencies."acme/b"` lacks the required key `source`
      ? add the source: `source = "git+https://example.org/rules.git@v1.2.0"`, or `path:FOLDER`
    error CTX518 ctxc.toml:5:1 `\"acme/c\"`: cannot use package `acme/c`: ctxc.lock does not have it
      ? run `ctxc package update`
    error CTX503 ctxc.toml:5:33 `trsut`: `[dependencies."acme/c"]` has no key `trsut`
      = nothing reads it, so it has no effect; the keys are `source`, `trust`
      ? did you mean `trust`?
      > write `trust` (`trsut` -> `trust`)
    error CTX518 ctxc.toml:6:1 `\"acme/d\"`: cannot use package `acme/d`: ctxc.lock does not have it
      ? run `ctxc package update`
    error CTX504 ctxc.toml:6:41 `\"all\"`: `dependencies."acme/d".trust` is `all`; expected `author` or `outside`
    "#);
}

#[test]
fn sources_that_cannot_be_fetched_safely_are_refused() {
    let refused = |source: &str| found(&format!("[dependencies]\n\"acme/a\" = '{source}'\n"));
    let form = "expected `path:FOLDER` or `git+https://…@TAG`";
    for source in [
        "../a",
        "path",
        "git+http://example.org/a.git@v1",
        "git+ext::sh -c id@v1",
        "git+git://example.org/a.git@v1",
        "git+https://example.org@v1",
        "git+ssh://-oProxyCommand=id/a@v1",
        "git+ssh://git@-oProxyCommand=id/a@v1",
        "git+https://example.org/a b.git@v1",
    ] {
        assert!(refused(source).contains(form), "{source}");
    }
    for source in [
        "git+https://example.org/a.git",
        "git+https://example.org/a.git@",
        "git+https://example.org/a.git@--upload-pack=id",
        "git+https://example.org/a.git@v1:refs/heads/main",
        "git+https://example.org/a.git@a..b",
        "git+https://example.org/a.git@a.lock",
    ] {
        assert!(
            refused(source).contains("expected the tag of a release"),
            "{source}"
        );
    }
    for source in ["path:", "path:/srv/a", "path:C:/a", "path:a\\b"] {
        assert!(
            refused(source).contains("expected a folder relative"),
            "{source}"
        );
    }
    for source in [
        "https://me:hunter2@example.org",
        "https://hunter2@example.org",
        "ssh://git:hunter2@example.org",
    ] {
        let message = refused(&format!("git+{source}/a.git@v1"));
        assert!(message.contains("without a password"), "{message}");
        let line = message
            .lines()
            .map(|line| line.split_once("`: ").map_or(line, |(_, words)| words));
        assert!(!line.collect::<String>().contains("hunter2"), "{message}");
    }
}

#[test]
fn packages_are_taken_over_from_a_workspace() {
    let root = "[workspace]\nmembers = [\"work\"]\n[workspace.dependencies]\n\"acme/a\" = \"path:shared/a\"\n\"acme/b\" = \"path:shared/b\"\n";
    let config = read_with(
        "[dependencies]\nworkspace = true\n\"acme/b\" = \"path:b\"\n",
        &[("../ctxc.toml", root)],
    );
    assert_eq!(faults_of_text(&config), "");
    let sources: Vec<String> = config
        .dependencies
        .values()
        .map(|dependency| dependency.source.value.to_string())
        .collect();
    assert_eq!(sources, ["path:../shared/a", "path:b"]);
}

const LOCK: &str = r#"# Written by `ctxc package`; not edited by hand.
version = 1

[[package]]
name = "acme/base"
version = "0.3.0"
source = "path:../base"
tree = "1111111111111111111111111111111111111111111111111111111111111111"
dependencies = []

[package.files]
"ctxc.toml" = "2222222222222222222222222222222222222222222222222222222222222222"

[[package]]
name = "acme/rules"
version = "1.2.0"
source = "git+https://example.org/rules.git@v1.2.0"
resolved = "3333333333333333333333333333333333333333"
tree = "4444444444444444444444444444444444444444444444444444444444444444"
dependencies = ["acme/base"]

[package.verified]
scorecard = "5555555555555555555555555555555555555555555555555555555555555555"
ctxc = "0.1.0"

[package.files]
"ctxc.toml" = "6666666666666666666666666666666666666666666666666666666666666666"
"templates/triage.xml" = "7777777777777777777777777777777777777777777777777777777777777777"
"#;

#[test]
fn a_lock_is_written_as_it_was_read() {
    let lock = LockFile::read(LOCK).unwrap();
    assert_eq!(lock.to_text(), LOCK);
    assert_eq!(lock.package("acme/rules").unwrap().files.len(), 2);
    assert!(lock.package("acme/other").is_none());
}

#[test]
fn a_damaged_lock_is_refused_with_its_place() {
    let refused = |from: &str, to: &str| {
        assert!(LOCK.contains(from), "{from}");
        let fault = LockFile::read(&LOCK.replacen(from, to, 1)).unwrap_err();
        format!("{}: {}", fault.position.line, fault.reason)
    };
    let found = [
        refused("version = 1\n", "version = 2\n"),
        refused("name = \"acme/base\"", "name = \"base\""),
        refused("name = \"acme/base\"", "name = \"acme/z\""),
        refused("[\"acme/base\"]", "[\"acme/gone\"]"),
        refused("0.3.0", "0.3"),
        refused("path:../base", "../base"),
        refused(
            "resolved = \"3333333333333333333333333333333333333333\"\n",
            "",
        ),
        refused(
            "source = \"path:../base\"",
            "source = \"path:../base\"\nresolved = \"3333333333333333333333333333333333333333\"",
        ),
        refused("4444", "444G"),
        refused("6666", "666"),
        refused("templates/triage.xml", "templates/../../triage.xml"),
        refused("templates/triage.xml", "/etc/passwd"),
        refused("ctxc = \"0.1.0\"", "ctxc = \"0.1.0\"\nmore = 1"),
        refused("version = 1\n", "version = \n"),
    ];
    assert_snapshot!(found.join("\n"), @r"
    1: its format is version 2; this ctxc reads version 1
    4: `base` is not the name of a package
    14: `acme/rules` is not in the order of names
    14: it has no package `acme/gone`, which this one requires
    6: `0.3`: unexpected end of input while parsing minor version number
    7: `../base`: `path:FOLDER` or `git+https://…@TAG` (also `git+ssh`, `git+file`)
    14: `resolved` is missing or is not a commit
    4: `resolved` is missing or is not a commit
    14: `444G444444444444444444444444444444444444444444444444444444444444` is not a SHA-256
    14: `666666666666666666666666666666666666666666666666666666666666666` is not a SHA-256
    14: `templates/../../triage.xml` is not the path of a file in a package
    14: `/etc/passwd` is not the path of a file in a package
    25: unknown field `more`, expected `scorecard` or `ctxc`
    2: string values must be quoted, expected literal string
    ");
}
