//! A clean `check` guarantees that every agent compiles, can be rendered, is in the manifest, and
//! runs to its end with the rendered request.

mod contexts;
mod generator;
mod kinds;
mod probe;
mod projects;
mod schemas;
mod surroundings;
mod texts;
