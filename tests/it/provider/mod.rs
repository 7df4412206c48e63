//! Who is asked for answers.

mod errors;
