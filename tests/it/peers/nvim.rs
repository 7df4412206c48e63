//! Neovim without a screen.

use super::editors::{command, expected, project, report, script, snippets};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[test]
#[ignore = "needs nvim: headless Neovim, by the set-up of docs/EDITORS.md"]
fn nvim_shows_the_finding_and_mends_it() {
    let project = project();
    // The page has a set-up for new versions and one for old ones: the version at hand takes its
    // own.
    let [new, old] = &snippets("Neovim", "lua")[..] else {
        panic!("two set-ups")
    };
    let say = |name: &str| format!("vim.env.CTXC_TAKEN = '{name}'\n");
    project.write_file(
        "init.lua",
        format!(
            "if vim.lsp.config then\n{}{new}else\n{}{old}end\n",
            say("new"),
            say("old")
        ),
    );
    let mut nvim = command(&project, "nvim");
    nvim.args([
        "--headless",
        "-n",
        "-u",
        "init.lua",
        "project/templates/broken.xml",
        "-c",
    ])
    .arg(format!("luafile {}", script("nvim.lua")));
    let mut report = report(&project, &mut nvim);
    let taken = report.as_object_mut().unwrap().remove("taken").unwrap();
    assert_eq!(report, expected());
    // A caller that brings a certain version requires that its set-up is the one that is tried.
    if let Ok(wanted) = std::env::var("CTXC_NVIM_SETUP") {
        assert_eq!(taken, wanted);
    }
}

#[test]
#[ignore = "needs nvim: headless Neovim, the lens and the render of docs/EDITORS.md"]
fn nvim_shows_figures_and_opens_the_render() {
    let project = project().with_file(
        "project/ctxc.toml",
        "[defaults.atomic]\ninherit_context = \"none\"\n",
    );
    project.write_file(
        "project/templates/t.xml",
        "<task type=\"atomic\" name=\"t\">\n  <description>Do {{x}} now.</description>\n</task>\n",
    );
    let [new, old] = &snippets("Neovim", "lua")[..] else {
        panic!("two set-ups")
    };
    let [render] = &snippets("What agents receive", "lua")[..] else {
        panic!("one snippet")
    };
    project.write_file(
        "init.lua",
        format!("if vim.lsp.config then\n{new}else\n{old}end\n{render}"),
    );
    let mut nvim = command(&project, "nvim");
    nvim.args([
        "--headless",
        "-n",
        "-u",
        "init.lua",
        "project/templates/t.xml",
        "-c",
    ])
    .arg(format!("luafile {}", script("nvim_render.lua")));
    let report = report(&project, &mut nvim);
    // Older versions show no hints.
    if std::env::var("CTXC_NVIM_SETUP").is_ok_and(|set_up| set_up == "new") {
        assert_eq!(report["hints"], json!(1));
    }
    assert_eq!(
        report["lens"],
        json!("7 tokens · waits for x · reusable prefix 0")
    );
    assert_eq!(
        report["text"],
        json!("[user]\n## Task\n\nDo ⟨input x⟩ now.\n")
    );
}

/// A set-up for the file types that the page names.
fn all_file_types() -> String {
    let [new, old] = &snippets("Neovim", "lua")[..] else {
        panic!("two set-ups")
    };
    let types = "{ 'xml', 'yaml', 'toml' }";
    let page = std::fs::read_to_string("docs/EDITORS.md").unwrap();
    assert!(page.contains(&format!("`filetypes = {types}`")));
    let new = new.replace("filetypes = { 'xml' }", &format!("filetypes = {types}"));
    let old = old.replace("pattern = 'xml'", &format!("pattern = {types}"));
    format!("if vim.lsp.config then\n{new}else\n{old}end\n")
}

/// Runs a script in a Neovim with a file open and returns its report.
fn drive(project: &Project, file: &str, name: &str) -> Value {
    let mut nvim = command(project, "nvim");
    nvim.args(["--headless", "-n", "-u", "init.lua", file, "-c"])
        .arg(format!("luafile {}", script(name)));
    report(project, &mut nvim)
}

#[test]
#[ignore = "needs nvim: headless Neovim, with the file types of docs/EDITORS.md"]
fn nvim_renames_a_role_from_a_scenario() {
    let config = "[roles.clerk]\ndescription = \"clerk\"\n";
    let scenario =
        "name: one\nrole: clerk\ncontext: {objective: o}\nexpect_context:\n  - nothing_cut: true\n";
    let project = project()
        .with_file("init.lua", all_file_types())
        .with_file("project/ctxc.toml", config)
        .with_file(
            "project/templates/clerk.xml",
            "<task type=\"atomic\" name=\"clerk\">\n  <description>Sort letters.</description>\n</task>\n",
        )
        .with_file("project/scenarios/one.yaml", scenario);
    let report = drive(&project, "project/scenarios/one.yaml", "nvim_names.lua");
    assert_eq!(report["definition"], json!(["ctxc.toml", 0]));
    assert_eq!(report["offered"], json!(["clerk"]));
    let hover = report["hover"].as_str().unwrap();
    assert!(
        hover.contains("the agent role of the project file"),
        "{hover}"
    );
    assert_eq!(
        project.read_file("project/ctxc.toml"),
        "[roles.scribe]\ntemplate = \"clerk\"\ndescription = \"clerk\"\n"
    );
    assert_eq!(
        project.read_file("project/scenarios/one.yaml"),
        scenario.replace("clerk", "scribe")
    );
}

#[test]
#[ignore = "needs nvim: headless Neovim, by the set-up of docs/EDITORS.md"]
fn nvim_shows_a_project_file_that_is_broken_at_the_start() {
    let [new, old] = &snippets("Neovim", "lua")[..] else {
        panic!("two set-ups")
    };
    let project = project()
        .with_file(
            "init.lua",
            format!("if vim.lsp.config then\n{new}else\n{old}end\n"),
        )
        .with_file("project/ctxc.toml", "[lints]\n[lints\n");
    let report = drive(&project, "project/templates/broken.xml", "nvim_broken.lua");
    assert_eq!(report, json!({"lines": [1]}));
}
