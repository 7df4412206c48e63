//! Floor 2: what a template says, as written.

mod argv;
mod condition;
mod expression;
mod facts;
mod jinja;
mod lower;
mod table;
mod text;
