//! Neovim without a screen.

use super::editors::{command, expected, project, report, script, snippets};
use pretty_assertions::assert_eq;
use serde_json::json;

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
    let project = project();
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
    assert_eq!(
        report["lens"],
        json!("7 tokens · waits for x · reusable prefix 0")
    );
    assert_eq!(
        report["text"],
        json!("[user]\n## Task\n\nDo ⟨input x⟩ now.\n")
    );
}
