//! Writing XML: complete templates, and the smallest edits of existing ones.

mod edit;
mod escape;
mod template;

pub use edit::{
    insert_after, insert_before, insert_child, insert_first_child, remove_attribute,
    remove_element, rename_element, set_attribute, set_content,
};
pub use escape::{escape_attribute, escape_text, replace_illegal};
pub use template::TemplateWriter;
