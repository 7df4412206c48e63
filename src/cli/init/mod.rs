//! `ctxc init`: a project file for the templates, prompts or agent that are there, or a first template where nothing is.

mod agent;
mod ci;
mod find;
mod run;
mod write;

pub(crate) use run::{InitArgs, run};
