//! The context of an agent: budget, substitution, settings, rendering.

mod bare;
mod bodies;
mod bounds;
mod conversation;
mod fences;
mod fit;
mod growth;
mod history;
mod hostile;
mod jinja_lines;
mod lookup;
mod made;
mod manifest;
mod order;
mod priorities;
mod properties;
mod roles;
mod sections;
mod settings;
pub(crate) mod shipped;
mod texts;
mod tokens;
mod tool_results;
mod trust;
mod untrusted_text;
