//! The specification: its generated parts are fresh, and its vectors are what the compiler says.

mod pages;
mod vectors;
