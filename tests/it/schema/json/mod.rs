//! JSON Schemas of the artifacts: fresh, fitting, and no wider than the written artifacts.

mod artifacts;
mod fresh;
mod imports;
mod labels;
mod roles;
mod scorecards;
mod shape;
mod strict;
mod survey;
mod tasks;
