//! Secrets found by name: positions in texts, the notations of a name and its value, and the
//! criteria of secret values.

mod commands;
mod environment_lines;
mod headers;
mod joining_words;
pub(in crate::record) mod notations;
mod owners;
mod pair;
mod place;
pub(in crate::record) mod scanner;
pub(in crate::record) mod string_names;
mod values;
