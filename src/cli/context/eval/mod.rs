//! `ctxc eval`: what scenarios say of contexts and answers, run, shown, kept for the next run.

mod accept;
mod args;
mod choose;
pub(super) mod drafting;
mod junit;
mod load;
mod mutate;
mod results;
mod run;
mod text;

pub(crate) use args::EvalArgs;
pub(super) use load::names;
pub(crate) use run::run;
