//! VCR cassettes (YAML and JSON of vcrpy, and those of Ruby): each interaction is a request with
//! its response.
//!
//! A body is a text, an object (as some serializers unpack it), or base64, possibly gzipped.
//! Unreadable responses are left out. No header is copied; secrets in headers are collected, so
//! that they are masked in bodies too.

use super::super::addresses::{header_secrets, split_secrets};
use super::super::recording::Recording;
use super::foreign_call::{
    ForeignFault, add_response, new_call, other_call, read_head, recorded_endpoint,
};
use crate::base::base64;
use crate::base::source::LineIndex;
use crate::request::dialect::Dialect;
use crate::syntax::yaml;
use serde_json::Value;

/// Reads the calls of a cassette.
pub(super) fn read_calls(text: &str) -> Result<Vec<Recording>, ForeignFault> {
    let cassette = parse_cassette(text)?;
    let list = ["interactions", "http_interactions"]
        .iter()
        .find_map(|key| cassette.get(key));
    let list = list.and_then(Value::as_array).ok_or(ForeignFault::NoList)?;
    let secrets: Vec<String> = list
        .iter()
        .filter_map(|interaction| interaction.get("request"))
        .flat_map(request_secrets)
        .collect();
    let call = |(at, interaction)| Recording {
        secrets: secrets.clone(),
        ..read_call(at + 1, interaction).unwrap_or_else(|| other_call(at + 1))
    };
    Ok(list.iter().enumerate().map(call).collect())
}

/// Returns the keys in the headers and the URL of a request: a body may repeat them.
fn request_secrets(request: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, values) in request
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let values = values
            .as_array()
            .map_or(std::slice::from_ref(values), Vec::as_slice)
            .iter();
        found.extend(
            values
                .filter_map(|value| value.as_str())
                .flat_map(|value| header_secrets(name, value))
                .map(str::to_owned),
        );
    }
    let uri = request
        .get("uri")
        .or_else(|| request.get("url"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    found.extend(split_secrets(uri.split_once('?').map_or("", |(_, query)| query)).1);
    found
}

/// Parses a cassette to JSON.
fn parse_cassette(text: &str) -> Result<Value, ForeignFault> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|fault| ForeignFault::Unreadable {
            what: "a VCR cassette",
            line: fault.line(),
            why: fault.to_string(),
        });
    }
    let (node, faults) = yaml::parse_tree(text);
    match faults.into_iter().find(|fault| fault.kind.stops_reading()) {
        None => Ok(node.to_json()),
        Some(fault) => Err(ForeignFault::Unreadable {
            what: "a VCR cassette",
            line: LineIndex::new(text).line_number(fault.span.start) as usize,
            why: fault.kind.to_string(),
        }),
    }
}

/// Converts an interaction to a call; `None` if it is not a request to a model.
fn read_call(number: usize, interaction: &Value) -> Option<Recording> {
    let request = interaction.get("request")?;
    let endpoint = recorded_endpoint(
        request
            .get("uri")
            .or_else(|| request.get("url"))?
            .as_str()?,
    );
    let dialect = Dialect::of_path(&endpoint)?;
    if !request
        .get("method")
        .and_then(Value::as_str)
        .is_none_or(|method| method.eq_ignore_ascii_case("post"))
    {
        return None;
    }
    let mut own = new_call(number, Some(dialect), &endpoint, &body_text(request)?);
    if !read_head(&mut own) {
        return None;
    }
    if let Some(response) = interaction
        .get("response")
        .filter(|response| response.is_object())
    {
        let status = response
            .pointer("/status/code")
            .or_else(|| response.get("status_code"))
            .or_else(|| response.get("status"));
        let status = status
            .and_then(Value::as_u64)
            .and_then(|status| u16::try_from(status).ok());
        add_response(
            &mut own,
            dialect,
            status,
            &body_text(response).unwrap_or_default(),
        );
    }
    Some(own)
}

/// Returns the text of a body; `None` if it is absent or unreadable.
fn body_text(of: &Value) -> Option<String> {
    if let Some(parsed) = of.get("parsed_body").filter(|parsed| !parsed.is_null()) {
        return Some(
            parsed
                .as_str()
                .map_or_else(|| parsed.to_string(), str::to_owned),
        );
    }
    let body = of.get("body").or_else(|| of.get("content"))?;
    let text = match body {
        Value::String(text) => text,
        Value::Object(object) => match ["string", "base64_string", "base64"]
            .iter()
            .find_map(|key| object.get(*key))
        {
            Some(text) => text.as_str()?,
            None => return Some(body.to_string()),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    // YAML marks bytes with `!!binary`; other serializers mark nothing.
    let first = text.trim_start().bytes().next();
    if text.is_empty()
        || first.is_some_and(|first| matches!(first, b'{' | b'['))
        || text.contains(": ")
    {
        return Some(text.to_owned());
    }
    match base64::decode(text) {
        Some(bytes) => unpack_text(bytes),
        None => Some(text.to_owned()),
    }
}

/// Decodes bytes, gzipped or not, to text.
fn unpack_text(bytes: Vec<u8>) -> Option<String> {
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        gunzip(&bytes)?
    } else {
        bytes
    };
    String::from_utf8(bytes).ok()
}

#[cfg(feature = "serve")]
fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    use std::io::Read;
    /// The maximum number of unpacked bytes, more than any body has.
    const MAX_UNPACKED_BYTES: u64 = 256 << 20;
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes)
        .take(MAX_UNPACKED_BYTES + 1)
        .read_to_end(&mut out)
        .ok()?;
    (out.len() as u64 <= MAX_UNPACKED_BYTES).then_some(out)
}

#[cfg(not(feature = "serve"))]
fn gunzip(_: &[u8]) -> Option<Vec<u8>> {
    None
}
