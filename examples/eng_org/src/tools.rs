//! The tools of the implementer, within a worktree.

use ctxc::runtime::{
    ApprovedAction, Obstacle, ToolCall, ToolDefinition, ToolPolicy, ToolRegistry, ToolResult,
    ToolRunner,
};
use serde_json::json;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// What may be called: files are read and written, and the tests are run, but not changed.
pub fn registry() -> Result<ToolRegistry, Obstacle> {
    let policy = ToolPolicy::allowing(["read_file", "write_file", "run sh tests.sh"]);
    let mut tools = ToolRegistry::new(
        policy
            .blocking(["rm -rf"])
            .protecting(["tests.sh", ".git", ".github"]),
    );
    let text = json!({"type": "string"});
    let path = json!({"type": "object", "properties": {"path": text}, "required": ["path"]});
    let write = json!({"type": "object", "properties": {"path": text, "text": text}, "required": ["path", "text"]});
    let run = json!({"type": "object", "properties": {"command": {"type": "array", "items": text}}, "required": ["command"]});
    tools.register(ToolDefinition::new("read_file", "the text of a file").with_parameters(path))?;
    tools.register(ToolDefinition::new("write_file", "writes a file").with_parameters(write))?;
    tools.register(
        ToolDefinition::new("run", "runs a program")
            .with_parameters(run)
            .with_command_argument("command"),
    )?;
    Ok(tools)
}

/// Runs approved calls in a folder.
#[derive(Clone, Copy, Debug)]
pub struct Workbench<'w>(pub &'w Path);

impl Workbench<'_> {
    /// A file in the folder; `None` of what leads out of it.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let is_inside = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        is_inside.then(|| self.0.join(path))
    }

    fn call(&self, call: &ToolCall) -> Result<String, String> {
        let argument = |name: &str| {
            call.arguments[name]
                .as_str()
                .ok_or_else(|| format!("`{}` needs `{name}`", call.name))
        };
        let file = || {
            self.file(argument("path")?)
                .ok_or_else(|| "a path leads into the repository".to_owned())
        };
        match call.name.as_str() {
            "read_file" => fs::read_to_string(file()?).map_err(|why| why.to_string()),
            "write_file" => fs::write(file()?, argument("text")?)
                .map(|()| "written".to_owned())
                .map_err(|why| why.to_string()),
            _ => run_tests(self.0).map_err(|(_, said)| said),
        }
    }
}

impl ToolRunner for Workbench<'_> {
    fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult {
        let call = action.action();
        match self.call(call) {
            Ok(text) => ToolResult::new(&call.id, text),
            Err(why) => ToolResult::failed(&call.id, why),
        }
    }
}

/// Runs the tests of a worktree: what they wrote, or the exit code with it.
pub fn run_tests(folder: &Path) -> Result<String, (i32, String)> {
    let done = Command::new("sh")
        .arg("tests.sh")
        .current_dir(folder)
        .output();
    let done = done.map_err(|why| (-1, why.to_string()))?;
    let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    if done.status.success() {
        Ok(said)
    } else {
        Err((done.status.code().unwrap_or(-1), said))
    }
}

/// Asks git in a worktree.
pub fn git(folder: &Path, arguments: &[&str]) -> Result<String, Obstacle> {
    let done = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .output();
    let done = done.map_err(|why| Obstacle::new("workspace", why.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() {
        Ok(text(&done.stdout))
    } else {
        Err(Obstacle::new("workspace", text(&done.stderr)))
    }
}
