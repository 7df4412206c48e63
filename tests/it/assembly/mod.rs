//! What an agent receives: budget, substitution, settings, rendering.

mod fit;
mod settings;
mod texts;
