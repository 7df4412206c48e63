//! Detects the agent of a repository: a program with a library for models as a dependency. Only
//! reads dependency files; starts nothing.

use crate::base::fs;
use std::path::Path;

/// The maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 18;
/// Libraries of vendors and for agents, by their package names.
const LIBRARIES: [&str; 34] = [
    "@anthropic-ai/claude-agent-sdk",
    "@anthropic-ai/sdk",
    "@google/genai",
    "@google/generative-ai",
    "@mastra/core",
    "@mistralai/mistralai",
    "@openai/agents",
    "ag2",
    "agno",
    "ai",
    "anthropic",
    "autogen-agentchat",
    "claude-agent-sdk",
    "cohere",
    "cohere-ai",
    "crewai",
    "dspy",
    "google-adk",
    "google-genai",
    "google-generativeai",
    "groq",
    "groq-sdk",
    "haystack-ai",
    "instructor",
    "langchain",
    "langgraph",
    "litellm",
    "llama-index",
    "llamaindex",
    "mistralai",
    "openai",
    "openai-agents",
    "pydantic-ai",
    "smolagents",
];
/// Prefixes of the names of libraries that consist of several packages.
const LIBRARY_PREFIXES: [&str; 7] = [
    "@ai-sdk/",
    "@langchain/",
    "langchain-",
    "llama-index-",
    "strands-agents",
    "pydantic-ai-",
    "semantic-kernel",
];
/// Files of Python packages at the top of a repository.
const PYTHON_FILES: [&str; 3] = ["pyproject.toml", "requirements.txt", "requirements.in"];
/// Common names of the main file of a Python program.
const MAIN_FILES: [&str; 5] = ["agent.py", "main.py", "app.py", "bot.py", "run.py"];

/// A program that calls models.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepositoryAgent {
    /// The file that names a library for models, and the library.
    pub(super) named_in: &'static str,
    pub(super) library: String,
    /// The command that starts the program; `None` if the files do not show it.
    pub(super) command: Option<String>,
}

impl RepositoryAgent {
    /// Returns the agent of a folder, if its dependencies include a library for models.
    pub(super) fn detect(folder: &Path) -> Option<Self> {
        let text = |name: &str| {
            String::from_utf8(fs::read_head(&folder.join(name), MAX_FILE_BYTES).ok()??).ok()
        };
        let python = PYTHON_FILES
            .into_iter()
            .find_map(|file| Some((file, text(file)?.lines().find_map(python_library)?)));
        if let Some((named_in, library)) = python {
            let program = MAIN_FILES
                .into_iter()
                .find(|name| fs::is_file(&folder.join(name)));
            return Some(Self {
                named_in,
                library,
                command: program.map(|name| format!("python {name}")),
            });
        }
        let package: serde_json::Value = serde_json::from_str(&text("package.json")?).ok()?;
        let groups = ["dependencies", "devDependencies"]
            .into_iter()
            .filter_map(|key| package.get(key)?.as_object());
        let library = groups
            .flat_map(serde_json::Map::keys)
            .find(|name| is_library(name))?
            .clone();
        let has_start = package
            .pointer("/scripts/start")
            .is_some_and(serde_json::Value::is_string);
        Some(Self {
            named_in: "package.json",
            library,
            command: has_start.then(|| "npm start".to_owned()),
        })
    }
}

/// Returns the library that a line of a requirements or project file names: the first word of the
/// line, or of a quoted text in it.
fn python_library(line: &str) -> Option<String> {
    let quoted = line.split(['"', '\'']).skip(1).step_by(2);
    let name = |text: &str| -> String {
        let text = text.trim_start();
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
            .unwrap_or(text.len());
        text.get(..end)
            .unwrap_or_default()
            .to_ascii_lowercase()
            .replace(['_', '.'], "-")
    };
    std::iter::once(line)
        .chain(quoted)
        .map(name)
        .find(|name| is_library(name))
}

fn is_library(name: &str) -> bool {
    LIBRARIES.contains(&name)
        || LIBRARY_PREFIXES
            .iter()
            .any(|family| name.starts_with(family))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/init/agent.rs"]
mod tests;
