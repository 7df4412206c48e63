//! Conversations, and their prefixes that a prompt cache reuses: 200 conversations with one planted
//! break each, 50 without.

use ctxc::internals::kernel::tokens::ByteCounter;
use ctxc::internals::request::dialect::Dialect;
use ctxc::internals::request::model::ModelRequest;
use ctxc::internals::request::prompt_cache::{
    BreakCause, PrefixBreak, compare_agent, compare_calls,
};
use ctxc::internals::request::segments::{RequestSegment, build_segments};
use ctxc::internals::request::threads::{SentRequest, attribute_requests};
use serde_json::{Value, json};

/// A conversation of so many calls, which differ by a seed.
fn conversation(seed: usize, calls: usize) -> Vec<Value> {
    let rules: Vec<String> = (0..20)
        .map(|at| {
            format!(
                "Rule {at}: never promise {} to customer {seed}.",
                at * 7 + 1
            )
        })
        .collect();
    let tools: Vec<Value> = (0..3)
        .map(|at| json!({"type": "function", "function": {"name": format!("tool_{at}"), "description": format!("Finds orders of kind {at}."), "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}}))
        .collect();
    let mut messages = vec![
        json!({"role": "system", "content": format!("You are support agent {seed}.\n{}", rules.join("\n"))}),
        json!({"role": "user", "content": format!("Order {seed} is late.")}),
    ];
    let mut out = Vec::new();
    for call in 0..calls {
        out.push(json!({"model": "gpt-4.1", "tools": tools, "messages": messages}));
        let id = format!("call_{call}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": "tool_1", "arguments": format!("{{\"id\":\"{call}\"}}")}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("order {call} of {seed} was sent")}));
    }
    out
}

fn breaks(bodies: &[Value]) -> Vec<(usize, PrefixBreak)> {
    let all: Vec<Vec<RequestSegment>> = bodies
        .iter()
        .map(|body| {
            build_segments(
                &ModelRequest::from_body(body.clone(), Some("/v1/chat/completions")).unwrap(),
            )
        })
        .collect();
    let sent: Vec<SentRequest<'_>> = all
        .iter()
        .map(|segments| SentRequest {
            segments,
            dialect: Dialect::OpenaiChat,
            agent: None,
            conversation: None,
        })
        .collect();
    let mut out = Vec::new();
    for (at, thread) in attribute_requests(&sent).iter().enumerate() {
        let reuse = match (thread.before, thread.agent_before) {
            (Some(before), _) => compare_calls(&all[before], &all[at], &ByteCounter),
            (None, Some(before)) => compare_agent(&all[before], &all[at], &ByteCounter),
            (None, None) => continue,
        };
        assert!(reuse.reused <= reuse.tokens);
        out.extend(reuse.broken_by.map(|found| (at, found)));
    }
    out
}

#[test]
fn a_planted_break_is_named_with_its_segment_and_its_bytes() {
    for seed in 0..200 {
        let mut bodies = conversation(seed, 6);
        let at = 2 + seed % 3;
        let (segment, cause, after) = match seed % 5 {
            0 => {
                for (number, body) in bodies.iter_mut().enumerate() {
                    let text = body["messages"][0]["content"].as_str().unwrap().to_owned();
                    let (head, rest) = text.split_at(seed % 20);
                    body["messages"][0]["content"] =
                        format!("{head}Now: 12:0{number}.{rest}").into();
                }
                let found = breaks(&bodies);
                assert_eq!(found.len(), 5, "{seed}");
                assert!(
                    found
                        .iter()
                        .all(|(_, one)| one.segment == "system:1" && one.offset == seed % 20 + 9),
                    "{seed} {found:?}"
                );
                continue;
            }
            1 => {
                bodies[at]["tools"].as_array_mut().unwrap().swap(0, 2);
                ("tool:tool_2", BreakCause::Moved, "")
            }
            2 => {
                bodies[at]["tools"][1]["function"]["description"] =
                    format!("Looks up {seed}.").into();
                ("tool:tool_1", BreakCause::Changed, "Looks up")
            }
            3 => {
                bodies[at]["messages"].as_array_mut().unwrap().drain(2..4);
                ("message:3/tool_call:call_0", BreakCause::Removed, "")
            }
            _ => {
                bodies[at]["messages"][1]["content"] = format!("Order {seed} was lost.").into();
                ("message:2/text:1", BreakCause::Changed, "was lost.")
            }
        };
        let found = breaks(&bodies);
        let Some((number, first)) = found.first() else {
            panic!("{seed}: no break")
        };
        assert_eq!(
            (*number, first.segment.as_str(), first.cause),
            (at, segment, cause),
            "{seed} {found:?}"
        );
        assert!(
            after.is_empty() || first.after.starts_with(after),
            "{seed} {found:?}"
        );
    }
}

#[test]
fn nothing_is_named_where_nothing_broke() {
    for seed in 0..50 {
        // Two conversations of one agent, mixed.
        let mut other = conversation(seed, 5);
        for body in &mut other {
            body["messages"][1]["content"] = "Where is my parcel?".into();
        }
        let bodies: Vec<Value> = conversation(seed, 5)
            .into_iter()
            .zip(other)
            .flat_map(|(a, b)| [a, b])
            .collect();
        assert_eq!(breaks(&bodies), [], "{seed}");
    }
}
