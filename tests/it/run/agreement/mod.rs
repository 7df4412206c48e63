//! A clean `check` means: every agent builds, can be shown, is in the manifest and runs to its end with the request that was shown.

mod contexts;
mod generator;
mod kinds;
mod probe;
mod projects;
mod schemas;
mod surroundings;
mod texts;
