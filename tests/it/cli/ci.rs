//! What stands around the program in pipelines: the action's script, completions, manual pages.

use super::check::{CLEAN, CONFLICT};
use super::project::{Project, Run};
use pretty_assertions::assert_eq;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A repository whose runner has the program installed already.
fn runner() -> Project {
    let project = Project::new().file("agents/ctxc.toml", "").file("agents/templates/a b.xml", CONFLICT);
    let program = project.path("program/bin/ctxc");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::hard_link(env!("CARGO_BIN_EXE_ctxc"), &program)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_ctxc"), &program).map(|_| ()))
        .unwrap();
    project.file("clean/c.xml", CLEAN).file(".git/HEAD", "")
}

fn action(project: &Project, variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new("bash");
    command.arg(format!("{ROOT}/.ci/action")).arg("run").current_dir(project.path(""));
    command.env("CTXC_ROOT", project.path("program")).env("GITHUB_OUTPUT", project.path("output"));
    for name in ["CTXC_COMMAND", "CTXC_PROJECT", "CTXC_PATHS", "CTXC_FORMAT", "CTXC_OUTPUT_FILE", "CTXC_ARGS"] {
        command.env(name, variables.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value));
    }
    Run::from(command.output().unwrap())
}

#[test]
#[cfg(unix)]
fn the_action_annotates_and_exits_as_the_program_does() {
    let project = runner();
    action(&project, &[("CTXC_PROJECT", "agents")]).code(1).says("::error file=agents/templates/a b.xml,line=5,");
    assert_eq!(project.read("output"), "exit-code=1\n");
    action(&project, &[("CTXC_PATHS", "\nclean/c.xml\r\n  \n")]).code(0).silent_out();
    let sarif = [("CTXC_PROJECT", "agents"), ("CTXC_FORMAT", "sarif"), ("CTXC_OUTPUT_FILE", "ctxc.sarif")];
    action(&project, &sarif).code(1).silent_out();
    assert!(project.read("ctxc.sarif").contains("agents/templates/a%20b.xml"));
    let built = [("CTXC_COMMAND", "build"), ("CTXC_ARGS", "--check"), ("CTXC_PATHS", "clean")];
    action(&project, &built).code(1).warns("does not exist");
    assert_eq!(project.read("output"), "exit-code=1\nexit-code=0\nexit-code=1\nexit-code=1\n");
}

#[test]
#[cfg(unix)]
fn the_action_runs_scenarios() {
    let project = runner();
    action(&project, &[("CTXC_COMMAND", "eval"), ("CTXC_PROJECT", "agents")]).code(5).warns("no scenario to run");
    let empty = [("CTXC_COMMAND", "eval"), ("CTXC_PROJECT", "agents"), ("CTXC_ARGS", "--allow-empty")];
    action(&project, &empty).code(0);
    action(&project, &[&empty[..], &[("CTXC_FORMAT", "json")]].concat()).code(0);
}

#[test]
#[cfg(unix)]
fn inputs_of_the_action_are_never_run() {
    let project = runner();
    action(&project, &[("CTXC_PATHS", "$(touch hit)\n`touch hit`\n; touch hit")]).code(2);
    action(&project, &[("CTXC_PATHS", "--suppress-existing")]).code(2).warns("there is no such file");
    action(&project, &[("CTXC_COMMAND", "check; touch hit")]).code(2).says("is check, build or eval");
    assert!(!project.path("hit").exists());
}

#[test]
#[cfg(unix)]
fn the_cache_of_the_action_has_a_key_of_the_sources() {
    let key = || Run::from(Command::new("bash").arg(format!("{ROOT}/.ci/action")).arg("key").output().unwrap()).code(0).stdout;
    assert_eq!((key().len(), key()), ("key=".len() + 41, key()));
}

/// The inputs that `action.yml` declares, those that it hands on, and those that the page lists are the same.
#[test]
fn every_input_of_the_action_is_handed_on_and_documented() {
    let text = std::fs::read_to_string(format!("{ROOT}/action.yml")).unwrap();
    let (_, inputs) = text.split_once("\ninputs:\n").unwrap();
    let (inputs, rest) = inputs.split_once("\noutputs:\n").unwrap();
    let declared: Vec<&str> = inputs
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'))
        .filter(|name| !name.starts_with(' '))
        .collect();
    assert_eq!(declared, ["command", "project", "paths", "format", "output-file", "args"]);
    let page = std::fs::read_to_string(format!("{ROOT}/docs/CI.md")).unwrap();
    for name in declared {
        let variable = format!("CTXC_{}: ${{{{ inputs.{name} }}}}", name.replace('-', "_").to_uppercase());
        assert!(rest.contains(&variable), "{variable}");
        assert!(page.contains(&format!("| `{name}` | ")), "{name}");
    }
}

#[test]
fn completions_offer_what_help_lists() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Project::new().run(&["completions", shell]).code(0).silent().stdout;
        for word in ["check", "build", "schema", "completions", "suppress-existing"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The others do not complete values.
        let takes_values = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(script.contains("sarif") && script.contains("rdjson"), takes_values, "{shell}");
        assert!(!script.contains("generate-docs") && !script.contains("debug-panic"), "{shell}");
    }
    Project::new().run(&["completions", "tcsh"]).code(2);
}

#[test]
fn every_verb_has_a_manual_page() {
    let project = Project::new();
    let whole = project.run(&["man"]).code(0).silent().says(".TH ctxc 1").says("ctxc\\-check(1)").stdout;
    assert!(!whole.contains("generate"), "hidden verbs have none");
    for verb in ["init", "check", "build", "diff", "show", "explain", "defaults", "rules", "schema", "completions", "man"] {
        let page =
            project.run(&["man", verb]).code(0).silent().says(&format!(".TH ctxc-{verb} 1  \"ctxc 0.")).says(".SH SYNOPSIS");
        page.says("Examples:");
    }
    project.run(&["man", "chek"]).code(2).warns("did you mean `check`?");
    project.run(&["man", "generate-docs"]).code(2);
}
