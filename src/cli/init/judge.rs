//! `ctxc new judge`: the role, the prompt and a first rubric of the project's judge. Never
//! overwrites a file.

use super::verb::write_file;
use crate::base::fs;
use crate::cli::overwrite;
use crate::cli::prelude::*;
use crate::cli::project::{PROJECT_FILE, Project};
use crate::project::glob::Globs;
use crate::scenario::expect::judge::JUDGE_ROLE;

/// The prompt of a judge.
const TEMPLATE: &str = include_str!("judge-answer.xml");
/// The name of its task.
const TASK: &str = "judge-answer";
/// The maximum size of ctxc.toml in bytes.
const MAX_FILE_BYTES: u64 = 1 << 24;
/// A first rubric.
const RUBRIC: &str = include_str!("judge-rubric.yaml");

/// Write the role, the prompt and a first rubric of a judge, which scores answers by criteria in words
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:\n  ctxc new judge --model large\n\n\
    Writes the role `judge` into ctxc.toml, its task into the first folder of templates, and a rubric beside the scenarios. All three are \
    yours to change; `ctxc render --role judge` shows what the judge receives. An existing file is never changed, except that the role is \
    added to ctxc.toml.")]
pub(crate) struct JudgeArgs {
    /// The model that judges, by its name in `[models]`
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

/// Writes the missing parts of a judge.
pub(crate) fn new_judge(args: &JudgeArgs, cx: &mut Cx) -> Result<Exit> {
    let Project { root, config, .. } = Project::load(&cx.options)?;
    if config.roles.contains_key(JUDGE_ROLE) {
        return Err(
            CliError::usage(format!("ctxc.toml has a role `{JUDGE_ROLE}` already"))
                .with_hint("`ctxc render --role judge` shows what it receives"),
        );
    }
    if let Some(model) = &args.model
        && !config.models.contains_key(model)
    {
        let names: Vec<&str> = config.models.keys().map(String::as_str).collect();
        return Err(
            CliError::usage(format!("`[models]` has no model `{model}`")).with_hint(
                if names.is_empty() {
                    "define it there first: docs/PROJECT.md".to_owned()
                } else {
                    format!("it has {}", names.join(", "))
                },
            ),
        );
    }
    let path = root.join(PROJECT_FILE);
    overwrite::reject_links(&root, PROJECT_FILE)?;
    let unreadable = |why: &std::io::Error| CliError::write_failed(&path, why);
    let mut bytes = Vec::new();
    if fs::exists(&path) {
        fs::read_into(&path, MAX_FILE_BYTES, &mut bytes).map_err(|why| unreadable(&why))?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let folder = config
        .templates
        .include
        .iter()
        .flat_map(Globs::patterns)
        .map(String::as_str)
        .find(|pattern| !pattern.contains(['*', '?', '[', '{']))
        .unwrap_or("templates");
    let folder = folder.trim_end_matches('/');
    write_file(&root, &format!("{folder}/{TASK}.xml"), TEMPLATE, cx)?;
    let scenarios = config.eval.scenario_roots();
    let scenarios = scenarios.first().map_or("scenarios", String::as_str);
    write_file(
        &root,
        &format!("{scenarios}/rubrics/answer.yaml"),
        RUBRIC,
        cx,
    )?;
    let model = args.model.as_ref().map_or_else(
        || "# model = \"NAME\"  # a name of [models]\n".to_owned(),
        |model| format!("model = {}\n", serde_json::Value::from(model.as_str())),
    );
    let role = format!(
        "{}\n\n# Scores answers by the criteria of rubrics and scenarios.\n\
         [roles.{JUDGE_ROLE}]\ntemplate = \"{TASK}\"\n{model}",
        text.trim_end()
    );
    fs::write_atomic(&path, role.trim_start().as_bytes()).map_err(|why| unreadable(&why))?;
    cx.print_line(&format!("added the role `{JUDGE_ROLE}` to {PROJECT_FILE}"))?;
    Ok(Exit::Success)
}
