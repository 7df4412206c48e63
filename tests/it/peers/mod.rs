//! Other programs as oracles. `.ci/peers` installs them and runs these.

mod conformance;
mod jing;
mod sarif;
mod schemas;
mod xmllint;
