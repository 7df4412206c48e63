//! The general parts of a run: pipelines, tools, tasks, budgets, failures.

mod hosts;
mod pipeline;
mod segments;
mod tools;
mod work;
