//! The imports that all targets share.

pub(super) use crate::context::answer_format::AnswerForm;
pub(super) use crate::context::render::call::{
    CallParams, DEFAULT_OUTPUT_LIMIT, ToolChoice, WireMessage, called_tools, file_name, media_url,
    nonblank_texts, role_name, split_system, to_json, tool_result_text,
};
pub(super) use crate::context::render::message::Message;
pub(super) use crate::context::render::schema;
pub(super) use crate::context::render::target::{OPENAI_IMAGES, RenderTarget};
pub(super) use crate::context::render::tools::{FunctionDefinition, FunctionTool, nested_tools};
pub(super) use crate::kernel::conversation::{Media, MediaSource, Part, Reasoning, Speaker};
pub(super) use crate::kernel::sampling::Parameter as P;
pub(super) use crate::project::tools::ProjectTool;
pub(super) use serde::Serialize;
pub(super) use serde_json::{Map, Value, json};
pub(super) use std::collections::BTreeMap;
