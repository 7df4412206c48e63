//! The program as its users meet it: real processes in real folders.

mod defaults;
mod diff;
mod init;
mod output;
mod project;
mod rules;
mod suppressions;
