//! The specification: its generated parts are fresh, and its vectors equal the compiler's output.

mod bodies;
mod pages;
mod rendering;
mod scenes;
mod vectors;
