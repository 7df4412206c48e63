//! The index that fresh context is looked up in.

mod answers;
mod changes;
mod damage;
mod folder;
mod history;
mod hostile;
mod texts;
