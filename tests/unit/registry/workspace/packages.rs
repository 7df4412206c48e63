//! Tests of packages that a project uses: `src/registry/workspace/packages.rs` and the readers in
//! `src/project/read/`.

use crate::base::diagnostic::Diagnostic;
use crate::base::fs::MemoryFs;
use crate::base::rule_meta::RuleMeta;
use crate::base::sha256::sha256_hex;
use crate::project::config::{Config, ConfigInput};
use crate::registry::artifact::Task;
use crate::registry::library::{Built, VirtualProject, compile_files};
use crate::registry::workspace::request::CheckGoal;
use crate::rules::list;
use crate::rules::rule::CheckScope;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The project file of a package.
const RULES: &str = r#"
extends = []
[package]
name = "acme/rules"
version = "1.2.0"
exports = ["tasks/triage", "fragments/tone", "roles/planner", "tools/search", "rules"]

[defaults.atomic]
inherit_context = "none"
fresh_context = "enabled"

[lints]
implicit-parameter = "error"

[roles.planner]
template = "private"
system = "You plan."
tools = ["search"]
blocked_tools = ["rm"]

[tools.search]
description = "searches"
command = ["python3", "search.py"]

[tools.rm]
description = "removes"
"#;

/// Its templates.
const TRIAGE: &str = r#"<library>
  <fragment name="tone">be kind</fragment>
  <fragment name="hidden">be <use fragment="tone"/></fragment>
  <task name="triage"><description>sorts</description><instructions><use fragment="hidden"/></instructions></task>
  <task name="private"><description>plans</description></task>
  <task name="unused"><description>is never used</description></task>
</library>"#;

const TASK: &str = r#"<task name="triage" type="sequential"><description>ours</description><steps>
  <task ref="acme/rules/triage"/>
</steps></task>"#;

struct Files(BTreeMap<String, String>);

impl Files {
    /// A project with the package, of which it has a copy.
    fn new(task: &str) -> Self {
        let mut files = Self(BTreeMap::new());
        files.add(
            "ctxc.toml",
            "[dependencies]\n\"acme/rules\" = \"git+https://example.org/rules.git@v1.2.0\"\n",
        );
        files.add("templates/own.xml", task);
        files.add("vendor/ctxc/acme/rules/ctxc.toml", RULES);
        files.add("vendor/ctxc/acme/rules/templates/triage.xml", TRIAGE);
        files.lock(&[("acme/rules", "1.2.0", &[])]);
        files
    }

    fn add(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.to_owned());
    }

    /// Writes the lock file for the copies as they are.
    fn lock(&mut self, packages: &[(&str, &str, &[&str])]) {
        let mut text = "version = 1\n".to_owned();
        for (name, version, dependencies) in packages {
            let repository = name.split('/').next_back().unwrap();
            text += &*format!(
                "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"git+https://example.org/{repository}.git@v{version}\"\nresolved = \"{}\"\ntree = \"{}\"\ndependencies = {dependencies:?}\n[package.files]\n",
                "a".repeat(40),
                "b".repeat(64),
            );
            let folder = format!("vendor/ctxc/{name}/");
            for (path, bytes) in &self.0 {
                if let Some(inside) = path.strip_prefix(&folder) {
                    let hash = sha256_hex(bytes.as_bytes());
                    text += &*format!("\"{inside}\" = \"{hash}\"\n");
                }
            }
        }
        self.add("ctxc.lock", &text);
    }

    fn build(&self) -> (Config, Built) {
        let mut files = MemoryFs::new();
        for (path, text) in &self.0 {
            files.insert(path, text.as_str());
        }
        let rules: Vec<&'static RuleMeta> = list::all_rules().map(|rule| &rule.meta).collect();
        let config = Config::read(&ConfigInput {
            path: "ctxc.toml",
            text: &self.0["ctxc.toml"],
            root: Path::new(""),
            files: &files,
            rules: &rules,
        });
        let source = VirtualProject {
            root: Path::new(""),
            files: &files,
            scope: CheckScope::WholeProject,
            goal: CheckGoal::Registry,
        };
        let own = self
            .0
            .iter()
            .filter(|(path, _)| path.starts_with("templates/"));
        let own = own.map(|(path, text)| {
            let bytes = Cow::Borrowed(text.as_bytes());
            (Arc::from(path.as_str()), Ok(bytes))
        });
        let built = compile_files(&config, source, own);
        (config, built)
    }

    /// The findings that are errors.
    fn errors(&self) -> Vec<Diagnostic> {
        let errors = self.build().1.diagnostics.into_iter();
        errors.filter(crate::rules::check::is_error).collect()
    }

    fn error_texts(&self) -> Vec<String> {
        let errors = self.errors().into_iter();
        errors
            .map(|found| format!("{}: {}", found.path, found.message))
            .collect()
    }
}

#[test]
fn a_task_of_a_package_has_the_defaults_of_the_package() {
    let built = Files::new(TASK).build().1;
    let registry = built.registry.expect("no errors");
    let found = registry.task("acme/rules/triage").unwrap();
    assert_eq!(
        found.source().unwrap().path,
        "acme/rules@1.2.0/templates/triage.xml"
    );
    let root = serde_json::to_string(&found.root().unwrap()).unwrap();
    assert!(root.contains(r#""value":"enabled""#), "{root}");
    assert!(root.contains("acme/rules@1.2.0/ctxc.toml"), "{root}");
    assert!(root.contains("acme/rules/hidden"), "{root}");
    let own = registry.task("triage").unwrap().root().unwrap();
    let own = serde_json::to_string(&own).unwrap();
    assert!(!own.contains(r#""value":"enabled""#), "{own}");
    let names: Vec<&str> = registry.tasks().map(Task::name).collect();
    // A contract can be about an exported role, whose task is private.
    assert_eq!(names, ["acme/rules/private", "acme/rules/triage", "triage"]);
    let own: Vec<&str> = registry.own_tasks().map(Task::name).collect();
    assert_eq!(own, ["triage"]);
    assert_eq!(built.files, 1);
}

#[test]
fn a_change_of_a_private_part_moves_the_hash_of_its_users() {
    let hash = |files: &Files| {
        let registry = files.build().1.registry.unwrap();
        registry.task("triage").unwrap().hash()
    };
    let mut files = Files::new(TASK);
    let before = hash(&files);
    let text = TRIAGE.replace(">be <", ">always be <");
    files.add("vendor/ctxc/acme/rules/templates/triage.xml", &text);
    files.lock(&[("acme/rules", "1.2.0", &[])]);
    assert_ne!(hash(&files), before);
}

#[test]
fn a_private_name_is_refused_with_the_exports() {
    let files = Files::new(&TASK.replace("rules/triage", "rules/private"));
    let found = files.errors();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].message,
        "`acme/rules/private` is not among the exports of acme/rules 1.2.0"
    );
    assert_eq!(
        found[0].help.as_deref(),
        Some("it exports `acme/rules/triage`")
    );
    assert_eq!(&*found[0].path, "templates/own.xml");
}

#[test]
fn errors_of_a_package_are_one_finding_at_its_dependency() {
    let mut files = Files::new(TASK);
    let folder = "vendor/ctxc/acme/rules";
    let text = TRIAGE.replace("fragment=\"tone\"", "fragment=\"tune\"");
    files.add(&format!("{folder}/templates/triage.xml"), &text);
    assert_eq!(
        files.error_texts(),
        [
            "ctxc.toml: cannot use package `acme/rules`: it has an error, first: acme/rules@1.2.0/templates/triage.xml:1: cannot be read: it differs from ctxc.lock"
        ]
    );
    files.lock(&[("acme/rules", "1.2.0", &[])]);
    assert_eq!(
        files.error_texts(),
        [
            "ctxc.toml: cannot use package `acme/rules`: it has an error, first: acme/rules@1.2.0/templates/triage.xml:3: uses the fragment `acme/rules/tune`, which no file defines"
        ]
    );
    let found = files.errors();
    assert_eq!(
        (found[0].start.line, found[0].rule.name),
        (2, "package-not-available")
    );
}

#[test]
fn a_package_that_is_not_there_says_what_to_do() {
    let mut files = Files::new(TASK);
    let locked = files.0["ctxc.lock"].clone();
    files.add("ctxc.lock", "version = 1\n");
    let unlocked = "ctxc.toml: cannot use package `acme/rules`: ctxc.lock does not have it";
    assert_eq!(files.error_texts(), [unlocked]);
    let older = locked.replace("v1.2.0", "v1.1.0").replace("1.2.0", "1.1.0");
    files.add("ctxc.lock", &older);
    let other = "ctxc.toml: cannot use package `acme/rules`: ctxc.lock has it from git+https://example.org/rules.git@v1.1.0";
    assert_eq!(files.error_texts(), [other]);
    files.add("ctxc.lock", &locked);
    let folder = "vendor/ctxc/acme/rules/ctxc.toml";
    files.0.remove(folder);
    let missing = "ctxc.toml: cannot use package `acme/rules`: it is not installed";
    assert_eq!(files.error_texts(), [missing]);
    files.add(folder, &RULES.replace("acme/rules", "acme/other"));
    files.lock(&[("acme/rules", "1.2.0", &[])]);
    let named = "ctxc.toml: cannot use package `acme/rules`: acme/rules@1.2.0/ctxc.toml is that of acme/other";
    assert_eq!(files.error_texts(), [named]);
}

#[test]
fn texts_from_outside_reach_no_system_text() {
    let use_in = |element: &str| {
        format!(
            "<task name=\"own\"><description>ours</description><{element}><use fragment=\"acme/rules/tone\"/></{element}><instructions>go</instructions></task>"
        )
    };
    let mut files = Files::new(&use_in("system"));
    assert_eq!(files.error_texts(), [""; 0]);
    let source = r#"{ source = "git+https://example.org/rules.git@v1.2.0", trust = "outside" }"#;
    files.add(
        "ctxc.toml",
        &format!("[dependencies]\n\"acme/rules\" = {source}\n"),
    );
    let found = files.errors();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].path, found[0].rule.name),
        ("templates/own.xml", "untrusted-in-system")
    );
    files.add("templates/own.xml", &use_in("criteria"));
    let registry = files.build().1.registry.unwrap();
    let fragment = registry.fragment("acme/rules/tone").unwrap();
    let text = serde_json::to_string(&registry.fragment_text(fragment).unwrap()).unwrap();
    assert!(text.contains("untrusted"), "{text}");
    files.add(
        "ctxc.toml",
        &format!("[dependencies]\n\"acme/rules\" = {source}\n[roles.a]\nextends = \"acme/rules/planner\"\n"),
    );
    let refused = "ctxc.toml: cannot use package `acme/rules`: its texts come from outside, and a role's text is trusted";
    assert!(files.error_texts().contains(&refused.to_owned()));
}

#[test]
fn a_role_takes_over_the_keys_that_it_does_not_have() {
    let mut files = Files::new(TASK);
    let own = files.0["ctxc.toml"].clone();
    files.add(
        "ctxc.toml",
        &format!("{own}[roles.planner]\nextends = \"acme/rules/planner\"\nblocked_tools = [\"x\"]\ndescription = \"ours\"\n"),
    );
    let (config, built) = files.build();
    assert_eq!(files.error_texts(), [""; 0]);
    let role = &config.roles["planner"];
    assert_eq!(role.task.value, "acme/rules/private");
    assert_eq!(role.system.as_ref().unwrap().text, "You plan.");
    assert_eq!(role.description.as_deref(), Some("ours"));
    let tools = role.tools.as_ref().unwrap();
    assert!(tools.permits("search") && !tools.permits("rm"));
    let given: Vec<_> = tools
        .agent_definitions()
        .iter()
        .map(|tool| &*tool.path)
        .collect();
    assert_eq!(given, ["acme/rules@1.2.0/ctxc.toml"]);
    // The role brings its private task, and nothing else that is private.
    let registry = built.registry.unwrap();
    assert!(registry.find("acme/rules/private").is_some());
    assert!(registry.find("acme/rules/unused").is_none());
}

#[test]
fn tools_and_rules_of_a_package_apply_where_they_are_named() {
    let mut files = Files::new(
        "<task name=\"own\"><description>ours</description><instructions>{{x}}</instructions></task>",
    );
    let own = files.0["ctxc.toml"].clone();
    let named = format!("{own}[roles.own]\ntools = [\"*\"]\n[tools]\nfrom = [\"acme/rules\"]\n");
    files.add("ctxc.toml", &named);
    let (config, _) = files.build();
    let tools: Vec<&String> = config.tools.keys().collect();
    assert_eq!(tools, ["search"]);
    assert_eq!(files.error_texts(), [""; 0]);
    files.add("ctxc.toml", &format!("extends = [\"acme/rules\"]\n{named}"));
    let found = files.errors();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule.name, "implicit-parameter");
    files.add(
        "ctxc.toml",
        &format!("extends = [\"acme/others\"]\n{named}"),
    );
    let unknown = "ctxc.toml: cannot use package `acme/others`: it is not among the [dependencies]";
    assert_eq!(files.error_texts(), [unknown]);
}

#[test]
fn a_package_uses_its_own_packages_and_the_project_does_not() {
    let mut files = Files::new(TASK);
    let folder = "vendor/ctxc/acme/rules";
    files.add(
        &format!("{folder}/ctxc.toml"),
        &format!(
            "{RULES}[dependencies]\n\"acme/base\" = \"git+https://example.org/base.git@v2.0.0\"\n"
        ),
    );
    files.add(
        &format!("{folder}/templates/triage.xml"),
        &TRIAGE.replace("fragment=\"tone\"", "fragment=\"acme/base/tone\""),
    );
    files.add(
        "vendor/ctxc/acme/base/ctxc.toml",
        "[package]\nname = \"acme/base\"\nversion = \"2.0.0\"\nexports = [\"fragments/tone\"]\n",
    );
    files.add(
        "vendor/ctxc/acme/base/templates/tone.xml",
        "<library><fragment name=\"tone\">calm</fragment></library>",
    );
    files.lock(&[
        ("acme/base", "2.0.0", &[]),
        ("acme/rules", "1.2.0", &["acme/base"]),
    ]);
    assert_eq!(files.error_texts(), [""; 0]);
    let registry = files.build().1.registry.unwrap();
    assert!(registry.fragment("acme/base/tone").is_some());
    files.add(
        "templates/own.xml",
        "<task name=\"own\"><description>ours</description><instructions><use fragment=\"acme/base/tone\"/></instructions></task>",
    );
    assert_eq!(
        files.error_texts(),
        [
            "templates/own.xml: `acme/base/tone` is of the package acme/base, which is not among the [dependencies]"
        ]
    );
}

#[test]
fn a_locked_package_includes_no_file_of_the_project() {
    let mut files = Files::new(TASK);
    files.add("secret.txt", "key-of-the-consumer");
    let text = TRIAGE.replace(
        "<instructions><use fragment=\"hidden\"/></instructions>",
        "<instructions src=\"../../../secret.txt\"/>",
    );
    files.add("vendor/ctxc/acme/rules/templates/triage.xml", &text);
    files.lock(&[("acme/rules", "1.2.0", &[])]);
    let errors = files.error_texts();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].contains("it lies outside the package's folder"),
        "{errors:?}"
    );
    let built = files.build().1;
    assert!(built.registry.is_none());
    assert!(!format!("{:?}", built.diagnostics).contains("key-of-the-consumer"));
}

#[test]
fn a_changed_project_file_of_a_package_is_restored_by_an_update() {
    let mut files = Files::new(TASK);
    let folder = "vendor/ctxc/acme/rules/ctxc.toml";
    files.add(folder, &format!("{RULES}# changed\n"));
    let found = files.errors();
    assert_eq!(
        found[0].help.as_deref(),
        Some("`ctxc package update` restores it"),
        "{found:?}"
    );
}

#[test]
fn a_role_with_no_tools_takes_none_over() {
    let mut files = Files::new(TASK);
    let own = files.0["ctxc.toml"].clone();
    let role = "[roles.planner]\nextends = \"acme/rules/planner\"\n";
    files.add("ctxc.toml", &format!("{own}{role}tools = []\n"));
    let (config, _) = files.build();
    let tools = config.roles["planner"].tools.as_ref().unwrap();
    assert!(!tools.permits("search"));
    files.add("ctxc.toml", &format!("{own}{role}"));
    let (config, _) = files.build();
    let tools = config.roles["planner"].tools.as_ref().unwrap();
    assert!(tools.permits("search"));
}
