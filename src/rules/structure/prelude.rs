//! Imports of the rules on the structure of templates.

pub(super) use super::family::{
    file_finding, list_tags, name_choice, short_excerpt, suggested_children, text_spans, trim_span,
};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::syntax::tree::Element;
pub(super) use crate::template::elements::ElementKind;
pub(super) use crate::template::fault::{TemplateFault, TemplateFaultKind};
