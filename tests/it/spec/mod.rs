//! The specification: its generated parts are fresh, and its vectors are what the compiler says.

mod bodies;
mod pages;
mod rendering;
mod scenes;
mod vectors;
