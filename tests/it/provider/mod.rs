//! Who is asked for answers.

mod errors;
mod read;
mod samples;
