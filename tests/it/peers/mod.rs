//! Other programs as oracles. `.ci/peers` installs them and runs these.

mod jing;
mod xmllint;
