//! Other programs as oracles. `.ci/peers` installs them and runs these.

mod conformance;
mod editors;
mod jing;
mod nvim;
mod pipelines;
mod sarif;
mod schemas;
mod vscode;
mod xmllint;
