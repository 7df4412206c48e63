//! Floor 2: the content of a template, as written.

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
