//! `ctxc init`: a project file for what is there, or a first template where nothing is.

mod ci;
mod find;
mod run;
mod write;

pub(crate) use run::{InitArgs, run};
