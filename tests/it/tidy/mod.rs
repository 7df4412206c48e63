//! The rules of the house, held by tests: each check is a pure function over texts, so that each also has a test
//! that feeds it something bad and sees it fail.

mod attributes;
mod circles;
mod dependencies;
mod doors;
mod floors;
mod forgotten;
mod ignored;
mod kernel_names;
mod merged;
mod places;
mod rooms;
mod shape;
mod source;
mod writers;
