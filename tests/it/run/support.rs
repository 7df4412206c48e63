//! Helpers for tests of runs: projects, scripted runs, and their traces.

use crate::cli::project::{ProgramRun, Project};
use serde_json::Value;

/// Creates a project with some templates.
pub(crate) fn project_with_templates(templates: &[(&str, &str)]) -> Project {
    let mut project = Project::new().with_file("ctxc.toml", "edition = \"2026\"\n");
    for (name, text) in templates {
        project = project.with_file(&format!("templates/{name}.xml"), text);
    }
    project
}

/// Runs a task with a script of answers.
pub(crate) fn run_scripted(project: &Project, task: &[&str], answers: &str) -> ProgramRun {
    project.write_file("answers.yaml", format!("answers:\n{answers}"));
    let state = state_folder(project);
    let args: Vec<&str> = ["run"]
        .iter()
        .chain(task)
        .copied()
        .chain(["--no-index", "--script", "answers.yaml"])
        .collect();
    ProgramRun::from(
        project
            .command(&args)
            .env("XDG_STATE_HOME", state)
            .output()
            .unwrap(),
    )
}

/// Returns the folder of the traces of a project that `run_scripted` runs.
pub(crate) fn state_folder(project: &Project) -> String {
    format!(
        "{}/state-of-runs/{}",
        env!("CARGO_TARGET_TMPDIR"),
        project
            .path("")
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
    )
}

/// Returns the newest trace below a state folder, as JSON lines.
pub(crate) fn newest_trace(state: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(newest_trace_file(state)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the file of the newest trace.
pub(crate) fn newest_trace_file(state: &str) -> std::path::PathBuf {
    let projects = std::fs::read_dir(std::path::Path::new(state).join("ctxc")).unwrap();
    let runs = projects.flat_map(|project| {
        std::fs::read_dir(project.unwrap().path().join("runs"))
            .into_iter()
            .flatten()
    });
    let mut files: Vec<_> = runs
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    files.pop().unwrap()
}

/// Returns the events of a kind in a trace.
pub(crate) fn events_of_kind<'t>(trace: &'t [Value], event: &str) -> Vec<&'t Value> {
    trace.iter().filter(|line| line["event"] == event).collect()
}

/// Returns the calls in a trace.
pub(crate) fn trace_calls(trace: &[Value]) -> Vec<&Value> {
    trace
        .iter()
        .filter(|line| line["schema"] == "ctxc/request/1")
        .collect()
}

/// Reproducible random numbers from a seed.
#[derive(Debug, Default)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    /// Returns true once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'p, T>(&mut self, from: &'p [T]) -> &'p T {
        &from[self.below(from.len())]
    }
}
