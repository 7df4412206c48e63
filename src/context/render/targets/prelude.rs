//! The imports that all targets share.

pub(super) use crate::context::answer_format::Answer;
pub(super) use crate::context::render::call::{
    Call, LIMIT, Said, ToolChoice, address, apart, called, file_name, returned, role, texts,
    written,
};
pub(super) use crate::context::render::message::Message;
pub(super) use crate::context::render::schema;
pub(super) use crate::context::render::target::{OPENAI_IMAGES, Target};
pub(super) use crate::context::render::tools::{Function, Tool, nested};
pub(super) use crate::kernel::conversation::{Media, MediaSource, Part, Reasoning, Speaker};
pub(super) use crate::kernel::sampling::Parameter as P;
pub(super) use crate::project::tools::ToolDefinition;
pub(super) use serde::Serialize;
pub(super) use serde_json::{Map, Value, json};
pub(super) use std::collections::BTreeMap;
