//! What an agent receives: budget, substitution, settings, rendering.

mod fit;
mod manifest;
mod settings;
mod texts;
mod tokens;
