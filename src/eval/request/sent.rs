//! The request of a scenario, read from the file that it names.

use super::facts::facts;
use crate::eval::case_keys::call_of;
use crate::eval::prepared::{CaseInput, RunContext};
use crate::kernel::tokens::TokenCounter;
use crate::record::file::Recordings;
use crate::record::recording::Recording;
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request with everything about it that can be asked.
#[derive(Debug)]
pub struct Sent {
    /// The request.
    pub request: Request,
    /// Its segments.
    pub segments: Vec<Segment>,
    /// Who counts its tokens.
    pub counter: Arc<dyn TokenCounter>,
}

impl Sent {
    /// The request of a case.
    ///
    /// # Errors
    /// Why it cannot be had, in words.
    pub(super) fn of(context: &RunContext<'_>, input: &CaseInput<'_>, file: &str) -> Result<Self, String> {
        let (path, number) = call_of(file);
        let text = input.beside.text(path).map_err(|why| format!("the request in {path} cannot be read: {why}"))?;
        let request = read(&text, number).map_err(|why| format!("{file}: {why}"))?;
        let nothing = BTreeMap::new();
        let counter = facts(&request, context.models.map_or(&nothing, |models| models.models)).counter;
        Ok(Self { segments: segments(&request), request, counter })
    }
}

/// The request in a text: a body, one recorded call, or one of several.
fn read(text: &str, number: Option<usize>) -> Result<Request, String> {
    let of_call = |call: &Recording| Request::read(call.request.get(), Some(&call.endpoint)).map_err(|fault| fault.to_string());
    if let Ok(recorded) = Recordings::read(text)
        && !recorded.calls.is_empty()
    {
        let count = recorded.calls.len();
        return match (recorded.calls.get(number.unwrap_or(1) - 1), number) {
            (Some(_), None) if count > 1 => Err(format!("it holds {count} calls: say which, such as `#1`")),
            (Some(call), _) => of_call(call),
            (None, _) => Err(format!("it holds {count} calls")),
        };
    }
    if number.is_some() {
        return Err("it is no recording, so that its calls have no numbers".to_owned());
    }
    Request::read(text, None).map_err(|fault| fault.to_string())
}
