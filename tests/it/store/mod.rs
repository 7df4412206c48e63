//! The index for lookups of fresh context.

mod answers;
mod changes;
mod damage;
mod folder;
mod history;
mod hostile;
mod texts;
