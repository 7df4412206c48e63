//! Secrets behind their names: places in texts, the notations of a name and its value, and which values are secrets.

pub(in crate::record) mod commands;
mod headers;
pub(in crate::record) mod notations;
mod owners;
mod place;
pub(in crate::record) mod scanner;
pub(in crate::record) mod string_names;
mod values;
pub(in crate::record) mod words;
