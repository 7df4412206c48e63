//! The names that every verb imports.

pub(super) use super::cx::Cx;
pub(super) use super::error::{CliError, CliErrorKind, Result};
pub(super) use super::exit::Exit;
pub(super) use super::project::Project;
pub(super) use super::render::escape::escape_line;
pub(super) use super::render::screen::Paint;
pub(super) use super::render::summary::{format_thousands, list_first, pluralize};
pub(super) use super::shared_args::{
    DataFormat, FindingFormat, LimitArgs, OutputArgs, OutputFormat, PathArgs, parse_tokens,
};
pub(super) use clap::Args;
pub(super) use schemars::JsonSchema;
pub(super) use serde::Serialize;
pub(super) use std::path::{Path, PathBuf};
