//! Pairs tool calls with their results, by the rules of each vendor.

use super::cx::RequestCx;
use crate::kernel::conversation::{Part, Speaker};
use crate::request::dialect::Dialect;
use crate::request::model::{ModelRequest, RequestMessage, RequestPart};
use std::collections::BTreeMap;

/// A faulty tool call or result.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairingFault<'r> {
    /// The tool call or result.
    pub placed: &'r RequestPart,
    /// Its id.
    pub id: &'r str,
    /// The fault.
    pub why: PairingFaultKind,
}

/// The fault of a tool call or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairingFaultKind {
    /// A call without a result at the required place.
    Unanswered,
    /// A result without a preceding call.
    Uncalled,
    /// A second result of one call.
    Repeated,
    /// A result after a text of its turn.
    Late,
}

/// Returns the calls and results that the vendor rejects. Empty for servers that do not check them.
pub(super) fn find_unpaired<'a>(cx: &RequestCx<'a>) -> Vec<PairingFault<'a>> {
    let request = cx.request;
    match request.dialect {
        Dialect::Anthropic if cx.is_claude() => pair_by_turns(request, false),
        Dialect::Gemini => pair_by_turns(request, true),
        Dialect::OpenaiChat if cx.openai_model(&[Dialect::OpenaiChat]).is_some() => {
            pair_by_runs(request)
        }
        Dialect::OpenaiResponses if cx.openai_model(&[Dialect::OpenaiResponses]).is_some() => {
            pair_by_list(request)
        }
        Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Anthropic | Dialect::Ollama => {
            Vec::new()
        }
    }
}

fn pairing_id(placed: &RequestPart) -> Option<(&str, bool)> {
    match &placed.part {
        Some(Part::Call(call)) => Some((&call.id, true)),
        Some(Part::Result(result)) => Some((&result.call, false)),
        _ => None,
    }
}

/// Pairs results in the turn right after the calls; consecutive messages of one side form one turn.
/// Gemini only counts them and ignores their ids.
fn pair_by_turns(request: &ModelRequest, is_counted: bool) -> Vec<PairingFault<'_>> {
    let mut turns: Vec<(bool, Vec<&RequestMessage>)> = Vec::new();
    for message in request
        .messages
        .iter()
        .filter(|message| message.speaker != Speaker::System)
    {
        let is_agents = message.speaker == Speaker::Assistant;
        match turns.last_mut() {
            Some((last, messages)) if *last == is_agents => messages.push(message),
            _ => turns.push((is_agents, vec![message])),
        }
    }
    let mut out = Vec::new();
    let mut calls: Vec<(&str, &RequestPart)> = Vec::new();
    // Messages in Gemini's cached content precede the first turn.
    let mut is_known = !request.has_cached_contents();
    for (is_agents, messages) in turns {
        let own = messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(|placed| Some((pairing_id(placed)?, placed)));
        if is_agents {
            calls = own
                .filter(|((_, is_call), _)| *is_call)
                .map(|((id, _), placed)| (id, placed))
                .collect();
            is_known = true;
            continue;
        }
        let results: Vec<(&str, &RequestPart)> = own
            .filter(|((_, is_call), _)| !is_call)
            .map(|((id, _), placed)| (id, placed))
            .collect();
        if !is_known {
            continue;
        }
        if is_counted {
            let fault = match calls.len().cmp(&results.len()) {
                std::cmp::Ordering::Less => results
                    .get(calls.len())
                    .map(|one| (one, PairingFaultKind::Uncalled)),
                std::cmp::Ordering::Greater => calls
                    .get(results.len())
                    .map(|one| (one, PairingFaultKind::Unanswered)),
                std::cmp::Ordering::Equal => None,
            };
            out.extend(fault.map(|((id, placed), why)| PairingFault { placed, id, why }));
        } else {
            pair_by_id(&calls, &results, &mut out);
            let parts = messages.iter().flat_map(|message| &message.parts);
            let behind = parts.skip_while(|placed| !matches!(placed.part, Some(Part::Text(_))));
            let late = behind
                .filter_map(|placed| Some((pairing_id(placed)?.0, placed)))
                .find(|(id, _)| calls.iter().any(|(own, _)| own == id));
            out.extend(late.map(|(id, placed)| PairingFault {
                placed,
                id,
                why: PairingFaultKind::Late,
            }));
        }
        calls.clear();
    }
    out
}

/// Pairs results that follow as messages of their own, before any other message.
fn pair_by_runs(request: &ModelRequest) -> Vec<PairingFault<'_>> {
    let of = |message: &'_ RequestMessage, kind: &str| {
        message.parts.iter().any(|placed| placed.kind == kind)
    };
    let mut out = Vec::new();
    let mut messages = request.messages.iter().peekable();
    while let Some(message) = messages.next() {
        let own = |message| {
            paired_parts(message)
                .filter(|(_, placed)| matches!(placed.kind.as_str(), "tool_call" | "tool"))
        };
        let calls: Vec<(&str, &RequestPart)> = if of(message, "tool_call") {
            own(message).collect()
        } else {
            Vec::new()
        };
        let mut results: Vec<(&str, &RequestPart)> = if message.role == "tool" {
            own(message).collect()
        } else {
            Vec::new()
        };
        while let Some(next) = messages.next_if(|next| next.role == "tool") {
            results.extend(own(next));
        }
        pair_by_id(&calls, &results, &mut out);
    }
    out
}

fn paired_parts(message: &RequestMessage) -> impl Iterator<Item = (&str, &RequestPart)> {
    message
        .parts
        .iter()
        .filter_map(|placed| Some((pairing_id(placed)?.0, placed)))
}

/// Pairs results anywhere after the calls, some of which the vendor may store itself.
fn pair_by_list(request: &ModelRequest) -> Vec<PairingFault<'_>> {
    let is_kept = |key: &str| request.body.get(key).is_some_and(|value| !value.is_null());
    let refers = request
        .message_parts()
        .any(|(_, placed)| matches!(placed.kind.as_str(), "item_reference" | "compaction"));
    if refers || is_kept("previous_response_id") || is_kept("conversation") {
        return Vec::new();
    }
    let all = || request.messages.iter().flat_map(paired_parts);
    let is_call = |placed: &RequestPart| matches!(placed.part, Some(Part::Call(_)));
    let calls: Vec<_> = all().filter(|(_, placed)| is_call(placed)).collect();
    let results: Vec<_> = all().filter(|(_, placed)| !is_call(placed)).collect();
    let mut out = Vec::new();
    pair_by_id(&calls, &results, &mut out);
    // A tool search is called by an item of its own kind, but answered like a function.
    let is_other = |id: &str| {
        let others = request
            .message_parts()
            .filter(|(_, placed)| placed.part.is_none());
        others.into_iter().any(|(_, placed)| {
            request
                .value_at(&format!("{}/call_id", placed.pointer))
                .is_some_and(|own| own == id)
        })
    };
    out.retain(|one| {
        one.why == PairingFaultKind::Unanswered
            || one.why == PairingFaultKind::Uncalled && !is_other(one.id)
    });
    out
}

fn pair_by_id<'r>(
    calls: &[(&'r str, &'r RequestPart)],
    results: &[(&'r str, &'r RequestPart)],
    out: &mut Vec<PairingFault<'r>>,
) {
    let mut open: BTreeMap<&str, usize> = calls.iter().map(|(id, _)| (*id, 0)).collect();
    let mut fault_count = 0_usize;
    for (id, placed) in results {
        match open.get_mut(id) {
            None => {
                fault_count += 1;
                out.push(PairingFault {
                    placed,
                    id,
                    why: PairingFaultKind::Uncalled,
                });
            }
            Some(count) => {
                *count += 1;
                if *count == 2 {
                    out.push(PairingFault {
                        placed,
                        id,
                        why: PairingFaultKind::Repeated,
                    });
                }
            }
        }
    }
    // A result with a wrong id also leaves its call without a result; that is one mistake.
    let unanswered = calls
        .iter()
        .filter(|(id, _)| open.get(id) == Some(&0))
        .skip(fault_count);
    out.extend(unanswered.map(|(id, placed)| PairingFault {
        placed,
        id,
        why: PairingFaultKind::Unanswered,
    }));
}

/// The name of the called tool.
pub(super) fn called_tool(placed: &RequestPart) -> &str {
    if let Some(Part::Call(call)) = &placed.part {
        &call.name
    } else {
        ""
    }
}
