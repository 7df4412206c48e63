//! Expectations as written. One file has everything about those on a context, one about those on an answer: the keys and what
//! they take, the values that are read, what they name, and how they are worded. Whether one holds is judged in `eval`.

pub mod answer;
pub mod context;
pub mod lookup;
pub mod model;
pub mod own_check;
pub mod python_modules;
pub mod segments;
pub mod tools;
pub mod trajectory;
