//! Responses in the forms that the vendors document, written for these tests. Each comment names
//! the page that shows the form.

/// A response and its answer text.
pub(super) struct Sample {
    pub(super) dialect: &'static str,
    pub(super) body: &'static str,
    pub(super) says: &'static str,
}

const fn sample(dialect: &'static str, body: &'static str, says: &'static str) -> Sample {
    Sample {
        dialect,
        body,
        says,
    }
}

pub(super) const SAMPLES: &[Sample] = &[
    // platform.openai.com/docs/api-reference/chat/object
    sample(
        "openai-chat",
        r#"{
  "id": "chatcmpl-1", "object": "chat.completion", "created": 1741570283, "model": "gpt-4o-2024-08-06",
  "choices": [{"index": 0, "message": {"role": "assistant", "content": "A bridge over a river.", "refusal": null, "annotations": []},
    "logprobs": null, "finish_reason": "stop"}],
  "usage": {"prompt_tokens": 1117, "completion_tokens": 46, "total_tokens": 1163,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 20, "audio_tokens": 0}},
  "service_tier": "default"
}"#,
        "text `A bridge over a river.`; End; in 1117 (1024) out 46 (20); gpt-4o-2024-08-06",
    ),
    // platform.openai.com/docs/guides/function-calling; the reasoning as vLLM and DeepSeek send it
    sample(
        "openai-chat",
        r#"{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning_content":"It asks for two.","tool_calls":[
{"id":"call_a","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Oslo\", \"days\": 2}"}},
{"id":"call_b","type":"function","function":{"name":"now","arguments":""}}]},"finish_reason":"tool_calls"}],"usage":null}"#,
        "reasoning `It asks for two.`; call call_a get_weather {\"city\":\"Oslo\",\"days\":2}; call call_b now {}; Tool; in - (-) out - (-); m",
    ),
    // platform.openai.com/docs/api-reference/chat-streaming
    sample(
        "openai-chat",
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüß \"},\"finish_reason\":null}],\"usage\":null}\n\n\
         : keep-alive\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gott\"},\"finish_reason\":null}],\"usage\":null}\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_x\",\"type\":\"function\",\"function\":{\"name\":\"find\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"q\\\":\"}}]},\"finish_reason\":null}]}\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]},\"finish_reason\":null}]}\n\n\
         data: {\"model\":\"gpt-4o-mini\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n\
         data: [DONE]\n\n",
        "text `Grüß Gott`; call call_x find {\"q\":1}; Tool; in 9 (-) out 4 (-); gpt-4o-mini",
    ),
    // platform.openai.com/docs/guides/structured-outputs#refusals
    sample(
        "openai-chat",
        r#"{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I cannot help with that."},"finish_reason":"stop"}]}"#,
        "text `I cannot help with that.`; Filter; in - (-) out - (-); -",
    ),
    // platform.openai.com/docs/api-reference/responses/object
    sample(
        "openai-responses",
        r#"{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-5-2025-08-07","output":[
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look it up."}],"encrypted_content":"gAAA"},
{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"One moment. ","annotations":[]},{"type":"output_text","text":"I look.","annotations":[]}]},
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"lookup","arguments":"{\"id\":7}","status":"completed"}],
"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":12},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}}"#,
        "reasoning `Look it up.` signed gAAA; text `One moment. I look.`; call call_1 lookup {\"id\":7}; Tool; in 36 (12) out 87 (64); gpt-5-2025-08-07",
    ),
    // platform.openai.com/docs/api-reference/responses-streaming
    sample(
        "openai-responses",
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\",\"error\":null,\"output\":[]}}\n\n\
         event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hi\"}\n\n\
         event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}}\n\n\
         event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"error\":null,\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"model\":\"gpt-5\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
        "text `Hi`; Length; in 3 (-) out 1 (-); gpt-5",
    ),
    // platform.claude.com/docs/en/api/messages
    sample(
        "anthropic",
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[
{"type":"thinking","thinking":"Greet.","signature":"EqQB"},{"type":"redacted_thinking","data":"Emwk"},
{"type":"text","text":"Hello!"},{"type":"tool_use","id":"toolu_1","name":"wave","input":{"hand":"left"}}],
"stop_reason":"tool_use","stop_sequence":null,
"usage":{"input_tokens":21,"cache_creation_input_tokens":188,"cache_read_input_tokens":2000,"output_tokens":393}}"#,
        "reasoning `Greet.` signed EqQB; reasoning `` hidden Emwk; text `Hello!`; call toolu_1 wave {\"hand\":\"left\"}; Tool; in 2209 (2000) out 393 (-); claude-sonnet-4-5",
    ),
    // platform.claude.com/docs/en/build-with-claude/streaming: text, tool use and thinking
    sample(
        "anthropic",
        "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_2\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"claude-opus-4-6\",\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":472,\"cache_read_input_tokens\":0,\"output_tokens\":2}}}\r\n\r\n\
         event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Ask \"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"first\"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQB\"}}\r\n\r\n\
         event: content_block_stop\r\ndata: {\"type\":\"content_block_stop\",\"index\":0}\r\n\r\n\
         event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n\
         event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Let me see ☂\"}}\r\n\r\n\
         event: content_block_stop\r\ndata: {\"type\":\"content_block_stop\",\"index\":1}\r\n\r\n\
         event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01\",\"name\":\"get_weather\",\"input\":{}}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"location\\\":\"}}\r\n\r\n\
         event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\" \\\"San Francisco\\\"}\"}}\r\n\r\n\
         event: content_block_stop\r\ndata: {\"type\":\"content_block_stop\",\"index\":2}\r\n\r\n\
         event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89}}\r\n\r\n\
         event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
        "reasoning `Ask first` signed EqQB; text `Let me see ☂`; call toolu_01 get_weather {\"location\":\"San Francisco\"}; Tool; in 472 (0) out 89 (-); claude-opus-4-6",
    ),
    // ai.google.dev/api/generate-content#v1beta.GenerateContentResponse and
    // ai.google.dev/gemini-api/docs/thinking
    sample(
        "gemini",
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Count.","thought":true},{"text":"There are "},{"text":"three."}]},"finishReason":"STOP","index":0}],
"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":64,"candidatesTokenCount":5,"thoughtsTokenCount":30,"totalTokenCount":135},
"modelVersion":"gemini-2.5-flash","responseId":"x"}"#,
        "reasoning `Count.`; text `There are three.`; End; in 100 (64) out 35 (30); gemini-2.5-flash",
    ),
    // ai.google.dev/gemini-api/docs/function-calling: calls have no id where one is not needed
    sample(
        "gemini",
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"Ct"},{"functionCall":{"name":"b"}}],"role":"model"},"finishReason":"STOP"}],"modelVersion":"g"}"#,
        "call call_1 a {\"x\":1}; call call_2 b {}; Tool; in - (-) out - (-); g",
    ),
    // ai.google.dev/gemini-api/docs/text-generation#streaming-responses, with `alt=sse`
    sample(
        "gemini",
        "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"Once \"}],\"role\": \"model\"}}],\"usageMetadata\": {\"promptTokenCount\": 8,\"totalTokenCount\": 8},\"modelVersion\": \"g\"}\r\n\r\n\
         data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"upon a time\"}],\"role\": \"model\"},\"finishReason\": \"MAX_TOKENS\"}],\"usageMetadata\": {\"promptTokenCount\": 8,\"candidatesTokenCount\": 4,\"totalTokenCount\": 12},\"modelVersion\": \"g\"}\r\n\r\n",
        "text `Once upon a time`; Length; in 8 (-) out 4 (-); g",
    ),
    // The same without `alt=sse`: a list.
    sample(
        "gemini",
        r#"[{"candidates":[{"content":{"parts":[{"text":"Once "}]}}]}
,
{"candidates":[{"content":{"parts":[{"text":"more"}]},"finishReason":"STOP"}]}
]"#,
        "text `Once more`; End; in - (-) out - (-); -",
    ),
    // ai.google.dev/gemini-api/docs/safety-settings#safety-feedback
    sample(
        "gemini",
        r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":8}}"#,
        "Filter; in 8 (-) out - (-); -",
    ),
    // github.com/ollama/ollama, docs/api.md: a chat without a stream
    sample(
        "ollama",
        r#"{"model":"llama3.2","created_at":"2023-12-12T14:13:43.416799Z","message":{"role":"assistant","content":"Hello! How are you today?"},
"done_reason":"stop","done":true,"total_duration":5191566416,"prompt_eval_count":26,"eval_count":298}"#,
        "text `Hello! How are you today?`; End; in 26 (-) out 298 (-); llama3.2",
    ),
    // The same page: a stream with tools, and with the thoughts of the model.
    sample(
        "ollama",
        "{\"model\":\"qwen3\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Two \"},\"done\":false}\n\
         {\"model\":\"qwen3\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"cities\"},\"done\":false}\n\
         {\"model\":\"qwen3\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"w\",\"arguments\":{\"city\":\"Łódź\"}}}]},\"done\":false}\n\
         {\"model\":\"qwen3\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"w\",\"arguments\":{\"city\":\"Oslo\"}}}]},\"done\":false}\n\
         {\"model\":\"qwen3\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done_reason\":\"stop\",\"done\":true,\"prompt_eval_count\":5,\"eval_count\":9}\n",
        "reasoning `Two cities`; call call_1 w {\"city\":\"Łódź\"}; call call_2 w {\"city\":\"Oslo\"}; Tool; in 5 (-) out 9 (-); qwen3",
    ),
];
