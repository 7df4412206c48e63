//! The five forms of requests, each with every kind of content.

use ctxc::internals::kernel::conversation::{Part, Speaker};
use ctxc::internals::request::dialect::Dialect;
use ctxc::internals::request::model::{ModelRequest, NoRequest};
use ctxc::internals::request::segments::build_segments;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn read(body: &Value, path: &str) -> ModelRequest {
    ModelRequest::parse(
        &body.to_string(),
        Some(path).filter(|path| !path.is_empty()),
    )
    .unwrap()
}

fn ids(request: &ModelRequest) -> Vec<String> {
    build_segments(request)
        .into_iter()
        .map(|segment| segment.id)
        .collect()
}

#[test]
fn chat_completions() {
    let body = json!({
        "model": "gpt-4.1",
        "stream": true,
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"q\": 1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "none"},
            {"role": "system", "content": "Late."}
        ],
        "tools": [{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object"}, "strict": true}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    });
    let request = read(&body, "/v1/chat/completions?x=1");
    assert_eq!(Dialect::of_body(&body), Some(Dialect::OpenaiChat));
    assert!(request.is_stream && request.tools[0].is_strict);
    assert_eq!(
        request.tools[0].schema_pointer,
        "/tools/0/function/parameters"
    );
    assert_eq!(
        ids(&request),
        [
            "tool:find",
            "response_format",
            "system:1",
            "message:2/text:1",
            "message:2/image:1",
            "message:3/tool_call:c1",
            "message:4/tool_result:c1",
            "message:5/text:1"
        ]
    );
    let Some(Part::Call(call)) = &request.messages[2].parts[0].part else {
        panic!("no call")
    };
    assert_eq!(call.arguments, json!({"q": 1}));
    assert_eq!(request.messages[4].speaker, Speaker::System);
    for (_, placed) in request.message_parts() {
        assert!(
            request.value_at(&placed.pointer).is_some(),
            "{}",
            placed.pointer
        );
    }
}

#[test]
fn responses() {
    let body = json!({
        "model": "gpt-5",
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": "Look"},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
            {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{no"},
            {"type": "function_call_output", "call_id": "c1", "output": "none"},
            {"type": "web_search_call", "id": "ws_1"}
        ],
        "tools": [{"type": "function", "name": "find", "parameters": {}}, {"type": "web_search"}],
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}}}
    });
    let request = read(&body, "");
    assert_eq!(request.dialect, Dialect::OpenaiResponses);
    assert_eq!(
        ids(&request),
        [
            "tool:find",
            "tool:web_search",
            "response_format",
            "system:1",
            "message:1/text:1",
            "message:2/reasoning:1",
            "message:3/tool_call:c1",
            "message:4/tool_result:c1",
            "message:5/other:1"
        ]
    );
    let Some(Part::Call(call)) = &request.messages[3].parts[0].part else {
        panic!("no call")
    };
    assert_eq!(call.arguments, json!("{no"));
    assert_eq!(
        ids(&read(
            &json!({"model": "gpt-5", "input": "Hi"}),
            "/v1/responses"
        )),
        ["message:1/text:1"]
    );
}

#[test]
fn messages_of_anthropic() {
    let body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"type": "text", "text": "More."}],
        "tools": [{"name": "find", "input_schema": {"type": "object"}}, {"type": "web_search_20250305", "name": "web_search"}],
        "messages": [
            {"role": "user", "content": "Look"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "t1", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "none"}]}, {"type": "text", "text": "And?"}]}
        ]
    });
    let request = read(&body, "/v1/messages");
    assert_eq!(Dialect::of_body(&body), Some(Dialect::Anthropic));
    assert!(request.tools[1].is_server && !request.tools[0].is_server);
    let found = build_segments(&request);
    assert!(found[2].is_breakpoint && !found[3].is_breakpoint);
    assert_eq!(
        ids(&request),
        [
            "tool:find",
            "tool:web_search",
            "system:1",
            "system:2",
            "message:1/text:1",
            "message:2/reasoning:1",
            "message:2/tool_call:t1",
            "message:3/tool_result:t1",
            "message:3/text:1"
        ]
    );
    let Some(Part::Result(result)) = &request.messages[3].parts[0].part else {
        panic!("no result")
    };
    assert!(result.is_error);
}

#[test]
fn contents_of_gemini_in_either_case() {
    for (system, tools, declared, call, response) in [
        (
            "systemInstruction",
            "tools",
            "functionDeclarations",
            "functionCall",
            "functionResponse",
        ),
        (
            "system_instruction",
            "tools",
            "function_declarations",
            "function_call",
            "function_response",
        ),
    ] {
        let body = json!({
            system: {"parts": [{"text": "Be kind."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Look"}]},
                {"role": "model", "parts": [{call: {"name": "find", "args": {"q": 1}}}, {call: {"name": "find", "args": {"q": 2}}}]},
                {"role": "user", "parts": [{response: {"name": "find", "response": {"output": "a"}}}, {response: {"name": "find", "response": {"error": "b"}}}]}
            ],
            tools: [{declared: [{"name": "find", "parameters": {"type": "OBJECT"}}]}, {"googleSearch": {}}]
        });
        let request = read(
            &body,
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        );
        assert_eq!(request.model.as_deref(), Some("gemini-2.5-pro"));
        assert!(request.is_stream && request.tools[1].is_server);
        assert_eq!(
            ids(&request),
            [
                "tool:find",
                "tool:googleSearch",
                "system:1",
                "message:1/text:1",
                "message:2/tool_call:find",
                "message:2/tool_call:find:2",
                "message:3/tool_result:find",
                "message:3/tool_result:find:2"
            ]
        );
    }
}

#[test]
fn chat_of_ollama() {
    let body = json!({
        "model": "llama3.2",
        "options": {"num_ctx": 8192},
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Look", "images": ["QUJD"]},
            {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [{"function": {"name": "find", "arguments": {"q": 1}}}, {"function": {"name": "find", "arguments": {}}}]},
            {"role": "tool", "content": "a", "tool_name": "find"},
            {"role": "tool", "content": "b", "tool_name": "find"}
        ]
    });
    let request = read(&body, "/api/chat");
    assert_eq!(Dialect::of_body(&body), Some(Dialect::Ollama));
    assert!(request.is_stream, "Ollama streams where nobody says");
    assert_eq!(
        ids(&request),
        [
            "system:1",
            "message:2/text:1",
            "message:2/image:1",
            "message:3/reasoning:1",
            "message:3/tool_call:call_1",
            "message:3/tool_call:call_2",
            "message:4/tool_result:call_1",
            "message:5/tool_result:call_2"
        ]
    );
}

#[test]
fn what_is_no_request_gives_the_reason() {
    let fault = |text: &str| ModelRequest::parse(text, None).unwrap_err();
    assert!(matches!(fault("{"), NoRequest::NoJson(_)));
    assert_eq!(
        fault(r#"{"name": 1}"#).to_string(),
        "it is not a request to a model: expected an object with `messages`, `input` or `contents`, found an object with `name`"
    );
    for text in ["[]", "1", "null", "\"x\"", "{}"] {
        assert!(matches!(fault(text), NoRequest::Other(_)), "{text}");
    }
    // No part of an unexpected form is lost, and nothing fails.
    let odd = json!({"messages": [1, null, {"role": 7, "content": {"a": 1}}, {"role": "user", "content": [1, {"type": 2}]}], "tools": [3, {}], "model": 4});
    for path in ["/chat/completions", "/v1/messages", "/api/chat", ""] {
        assert!(!build_segments(&read(&odd, path)).is_empty());
    }
}
