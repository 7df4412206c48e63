//! Expectations as written. One file has everything about those on a context, one about those on an
//! answer: the keys and their shapes, the values, the referenced names and files, and the wording.
//! `eval` judges them.

pub mod answer;
pub mod context;
pub mod judge;
pub mod model;
pub mod own_check;
pub mod segments;
pub mod survival;
pub mod tools;
pub mod trajectory;
