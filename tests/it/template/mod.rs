//! Floor 2: what a template says, as written.

mod argv;
mod condition;
mod expression;
mod facts;
mod jinja;
mod json_schema;
mod lower;
mod shape;
mod table;
mod text;
mod value_type;
