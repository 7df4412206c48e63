//! Other programs as oracles. `.ci/peers` installs them and runs these.

mod conformance;
mod jing;
mod pipelines;
mod sarif;
mod schemas;
mod xmllint;
