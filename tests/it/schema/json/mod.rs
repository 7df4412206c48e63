//! JSON Schemas of the artifacts: fresh, fitting, and no wider than what is written.

mod artifacts;
mod fresh;
mod imports;
mod roles;
mod scorecards;
mod shape;
mod strict;
mod survey;
mod tasks;
