//! Other programs as oracles. `.ci/peers` installs them and runs these.

mod agreement;
mod bodies;
mod conformance;
mod editors;
mod emacs;
mod importers;
mod javascript;
mod jing;
mod langgraph;
mod npmclient;
mod nvim;
mod pipelines;
mod pytestlsp;
mod python;
mod sarif;
mod schemas;
mod tiktoken;
mod vscode;
mod xmllint;
