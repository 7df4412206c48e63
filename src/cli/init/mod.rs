//! `ctxc init`: writes a project file for existing templates, prompts or an agent, or a first
//! template if the folder has none of these.

mod agent;
mod ci;
mod judge;
mod verb;
mod write;

pub(crate) use judge::{JudgeArgs, new_judge};
pub(crate) use verb::{InitArgs, run_init};
