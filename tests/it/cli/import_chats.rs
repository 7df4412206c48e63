//! `import` of chats: messages, conversations and few-shot turns give the very request that is sent
//! today; `--verify` compares whole requests.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A chat of `LangChain` with these messages.
fn chat(messages: &Value) -> String {
    json!({"_type": "chat", "input_variables": ["input", "name", "chat_history"], "messages": messages}).to_string()
}

/// The messages of the request of a template.
fn messages(project: &Project, args: &[&str]) -> Value {
    let args: Vec<&str> = ["render", "t", "--as", "openai-chat"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    project.run(&args).exits_with(0).json()["messages"].clone()
}

#[test]
fn an_imported_prompt_is_the_very_request() {
    let project =
        Project::new().with_file("p/t.j2", "\n  Reply to {{ name }}:\n\n{{ message }}  \n");
    project.run(&["import", "p"]).exits_with(0);
    let sent = messages(&project, &["-i", "name=Ann", "-i", "message=Hi"]);
    assert_eq!(
        sent,
        json!([{"role": "user", "content": "\n  Reply to Ann:\n\nHi  "}])
    );
}

#[test]
fn a_placeholder_for_messages_is_the_conversation() {
    let asked = json!([
        ["system", "You help {name}."],
        ["placeholder", "{chat_history}"],
        ["human", "{input}"]
    ]);
    let project = Project::new().with_file("p/t.json", chat(&asked));
    let run = project.run(&["import", "p"]).exits_with(0);
    // A variable that holds messages is no input of the task.
    assert!(!run.stdout.contains("warning"), "{}", run.stdout);
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project.run(&["fmt", "--check"]).exits_with(0);
    project.write_file("h.jsonl", "{\"role\": \"user\", \"content\": \"Hi\"}\n{\"role\": \"assistant\", \"content\": \"Hello\"}\n");
    let sent = messages(
        &project,
        &[
            "-i",
            "name=Ann",
            "-i",
            "input=And now?",
            "--history",
            "h.jsonl",
        ],
    );
    let expected = json!([
        {"role": "system", "content": "You help Ann."}, {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And now?"},
    ]);
    assert_eq!(sent, expected);
    let sample = json!({
        "template": "p/t.json", "inputs": {"name": "Ann", "input": "And now?"}, "expected": expected,
        "history": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
    });
    project.write_file("s.jsonl", sample.to_string());
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("1 sample: every message equal, byte for byte\n");
}

#[test]
fn every_format_has_its_own_word_for_the_conversation() {
    let dumped = json!({
        "lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"],
        "kwargs": {"input_variables": ["q", "h"], "messages": [
            {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", "MessagesPlaceholder"], "kwargs": {"variable_name": "h", "optional": true}},
            {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", "HumanMessagePromptTemplate"], "kwargs": {"prompt":
                {"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "prompt", "PromptTemplate"], "kwargs": {"template": "Ask {q}", "template_format": "f-string"}}}},
        ]},
    });
    let project = Project::new()
        .with_file("p/dumped.json", dumped.to_string())
        .with_file("p/dot.prompt", "---\ninput:\n  schema:\n    q: string\n---\n{{role \"system\"}}Be kind.\n{{history}}\n{{role \"user\"}}Ask {{q}}")
        .with_file("p/thread.prompty", "---\nname: thread\ninputs:\n  h:\n    kind: thread\n  q:\n    kind: string\n---\nsystem:\nBe kind.\n{{h}}\nuser:\nAsk {{q}}\n");
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("wrote 3 templates");
    project.write_file("h.jsonl", "{\"role\": \"user\", \"content\": \"Hi\"}\n");
    // dotprompt keeps the line end before the conversation.
    for (task, system) in [
        ("dumped", None),
        ("dot", Some("Be kind.\n")),
        ("thread", Some("Be kind.")),
    ] {
        let args = [
            "render",
            task,
            "--as",
            "openai-chat",
            "-i",
            "q=me",
            "--history",
            "h.jsonl",
        ];
        let mut sent = project.run(&args).exits_with(0).json()["messages"]
            .as_array()
            .unwrap()
            .clone();
        if let Some(system) = system {
            assert_eq!(
                sent.remove(0),
                json!({"role": "system", "content": system}),
                "{task}"
            );
        }
        assert_eq!(
            json!(sent),
            json!([{"role": "user", "content": "Hi"}, {"role": "user", "content": "Ask me"}]),
            "{task}"
        );
    }
}

#[test]
fn questions_with_answers_are_messages_of_the_request() {
    let asked = json!([
        ["system", "Antonyms."],
        ["human", "hot"],
        ["ai", "cold"],
        ["human", "{input}"]
    ]);
    let project = Project::new().with_file("p/t.json", chat(&asked));
    let run = project.run(&["import", "p"]).exits_with(0);
    assert!(
        !run.stdout.contains("no messages of their own"),
        "{}",
        run.stdout
    );
    project.run(&["fmt", "--check"]).exits_with(0);
    let sent = messages(&project, &["-i", "input=big"]);
    let expected = json!([
        {"role": "system", "content": "Antonyms."}, {"role": "user", "content": "hot"},
        {"role": "assistant", "content": "cold"}, {"role": "user", "content": "big"},
    ]);
    assert_eq!(sent, expected);
}

#[test]
fn an_agent_hands_in_its_question_with_what_came_of_it() {
    let asked = json!([
        ["system", "Help."],
        ["placeholder", "{chat_history}"],
        ["human", "{input}"],
        ["placeholder", "{agent_scratchpad}"]
    ]);
    let alone = json!([["system", "Help."], ["placeholder", "{messages}"]]);
    for (asked, message) in [(&asked, "no `input`"), (&alone, "t.xml")] {
        let project = Project::new().with_file("p/t.json", chat(asked));
        project
            .run(&["import", "p"])
            .exits_with(0)
            .stdout_contains(message);
        project.write_file(
            "h.jsonl",
            "{\"role\": \"user\", \"content\": \"Weather?\"}\n{\"role\": \"assistant\", \"content\": \"Rain.\"}\n",
        );
        let expected = json!([
            {"role": "system", "content": "Help."}, {"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "Rain."},
        ]);
        assert_eq!(messages(&project, &["--history", "h.jsonl"]), expected);
    }
}

#[test]
fn an_order_that_no_task_has_is_refused_with_a_reason() {
    for (asked, why) in [
        (
            json!([["system", "a"], ["system", "b"], ["human", "c"]]),
            "several system messages cannot be carried over: a task has one",
        ),
        (
            json!([["human", "a"], ["ai", "b"]]),
            "the order of its messages cannot be carried over",
        ),
        (
            json!([["human", "a"], ["human", "b"]]),
            "the order of its messages cannot be carried over",
        ),
        (
            json!([
                ["placeholder", "{h}"],
                ["human", "a"],
                ["ai", "b"],
                ["human", "c"]
            ]),
            "the place of the conversation cannot be carried over",
        ),
        (
            json!([["placeholder", "{h}"], ["system", "a"]]),
            "the place of the conversation cannot be carried over",
        ),
        (
            json!([["human", "Ask {input}"], ["placeholder", "{h}"]]),
            "a conversation after the question cannot be carried over",
        ),
        (
            json!([{"id": ["x", "MessagesPlaceholder"], "kwargs": {"variable_name": "h", "n_messages": 4}}, ["human", "a"]]),
            "`n_messages` of a placeholder cannot be carried over",
        ),
    ] {
        let project = Project::new().with_file("p/t.json", chat(&asked));
        project
            .run(&["import", "p"])
            .exits_with(1)
            .stdout_contains(why);
    }
}

/// A prompt whose answer has a schema, imported.
fn answering() -> Project {
    let project = Project::new().with_file(
        "p/t.prompt",
        "---\ninput:\n  schema:\n    q: string\noutput:\n  schema:\n    a: string\n---\n{{role \"system\"}}Be brief.{{role \"user\"}}{{q}}",
    );
    project.run(&["import", "p"]).exits_with(0);
    project
}

#[test]
fn whole_requests_are_compared_and_what_is_not_is_named() {
    let project = answering();
    let mut bodies = Vec::new();
    for target in [
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "ollama",
    ] {
        let mut body = project
            .run(&["render", "t", "-i", "q=Why?", "--as", target])
            .exits_with(0)
            .json();
        body["temperature"] = json!(0.5);
        bodies.push(
            json!({"template": "t", "inputs": {"q": "Why?"}, "as": target, "expected": body})
                .to_string(),
        );
    }
    // Contents in one piece, as most programs write them.
    let plain = json!({
        "model": "claude", "max_tokens": 10, "system": "Be brief.", "messages": [{"role": "user", "content": "Why?"}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}}},
    });
    bodies.push(
        json!({"template": "t", "inputs": {"q": "Why?"}, "as": "anthropic", "expected": plain})
            .to_string(),
    );
    project.write_file("s.jsonl", bodies.join("\n"));
    let run = project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0);
    run.stdout_contains("6 samples: every message, and `format`, `generationConfig.responseJsonSchema`, `generationConfig.responseMimeType`, `output_config.format`, `response_format`, `text.format` equal, byte for byte; not compared: `max_tokens`, `model`, ");
    let json = project
        .run(&["import", "--verify", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(json["samples"]["compared"][0], "format");
    assert!(
        json["samples"]["not_compared"]
            .as_array()
            .unwrap()
            .contains(&json!("temperature")),
        "{json}"
    );
}

#[test]
fn the_order_of_properties_is_compared_and_what_is_null_is_not() {
    let two = "{\"type\": \"object\", \"properties\": {\"z\": {\"type\": \"string\"}, \"a\": {\"type\": \"string\"}}}";
    let task = "<task name=\"t\" profile=\"bare\"><description>Why?</description><output_format type=\"json\" schema=\"two.json\"/></task>";
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("templates/two.json", two);
    let mut body = project
        .run(&["render", "t", "--as", "openai-chat"])
        .exits_with(0)
        .json();
    body["tool_choice"] = json!(null);
    let sample = |body: &Value| json!({"template": "t", "expected": body}).to_string();
    project.write_file("s.jsonl", sample(&body));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0);
    let free = Project::new().with_file(
        "templates/t.xml",
        "<task name=\"t\" profile=\"bare\"><description>Why?</description></task>",
    );
    let text = json!({"messages": [{"role": "user", "content": "Why?"}], "response_format": {"type": "text"}});
    free.write_file("s.jsonl", sample(&text));
    free.run(&["import", "--verify", "s.jsonl"]).exits_with(0);
    let schema = &mut body["response_format"]["json_schema"]["schema"];
    schema["properties"] = json!({"a": {"type": "string"}, "z": {"type": "string"}});
    project.write_file("s.jsonl", sample(&body));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("t: response_format differs");
}

#[test]
fn a_request_that_differs_is_shown_as_a_diff() {
    let project = answering();
    let mut body = project
        .run(&["render", "t", "-i", "q=Why?", "--as", "openai-chat"])
        .exits_with(0)
        .json();
    body["response_format"]["json_schema"]["schema"]["properties"]["a"]["type"] = json!("integer");
    body["response_format"]["json_schema"]["name"] = json!("a label, which changes nothing");
    let sample = |body: &Value| {
        json!({"template": "t", "inputs": {"q": "Why?"}, "expected": body}).to_string()
    };
    project.write_file("s.jsonl", sample(&body));
    let run = project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1);
    run.stdout_contains("s.jsonl:1: error: t: response_format differs\n")
        .stdout_contains("  -          \"type\": \"integer\"\n")
        .stdout_contains("  +          \"type\": \"string\"\n")
        .stdout_contains("1 sample: 0 equal byte for byte, 1 not; not compared: `model`");
    body["messages"][1]["content"] = json!("Why not?");
    project.write_file("s.jsonl", sample(&body));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("t: the user message differs from byte 3 on");
    // A key that today's request lacks is a difference, too.
    body.as_object_mut().unwrap().remove("response_format");
    body["messages"][1]["content"] = json!("Why?");
    project.write_file("s.jsonl", sample(&body));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("t: response_format differs");
}

#[test]
fn a_role_is_compared_with_its_tools() {
    let project = Project::new()
        .with_file("ctxc.toml", "[tools.read]\ndescription = \"Read it.\"\n[tools.read.parameters]\ntype = \"object\"\n[roles.reader]\ntemplate = \"t\"\ntools = [\"read\"]\n")
        .with_file("templates/t.xml", "<task type=\"atomic\" name=\"t\" profile=\"bare\"><description>Go.</description></task>");
    let body = project
        .run(&["render", "--role", "reader", "--as", "openai-chat"])
        .exits_with(0)
        .json();
    let sample = |name: &str| json!({"template": name, "expected": body}).to_string();
    project.write_file("s.jsonl", sample("reader"));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("every message, and `tools` equal");
    project.write_file("s.jsonl", sample("t"));
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("t: tools differs");
}

#[test]
fn headings_in_a_template_are_reported() {
    let project = Project::new().with_file(
        "templates/t.xml",
        "<task type=\"atomic\" name=\"t\"><description>Go.</description></task>",
    );
    project.write_file(
        "s.jsonl",
        json!({"template": "t", "expected": "Go."}).to_string(),
    );
    let run = project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1);
    run.stdout_contains(
        "  rendered: ## Task\\n\n  its profile `markdown` writes headings: `profile=\"bare\"` on the task leaves them out\n",
    );
}

#[test]
fn a_text_for_several_messages_suggests_a_text() {
    let project = Project::new().with_file("p/critic/system.md", "You criticise {{ work }}.");
    project.run(&["import", "p"]).exits_with(0);
    project.write_file(
        "s.jsonl",
        json!({"template": "system", "inputs": {"work": "it", "request": "Go"}, "expected": "You criticise it."}).to_string(),
    );
    let run = project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1);
    run.stdout_contains("system is system, user; expected one message")
        .stdout_contains(
            "`expected` may be a list of {\"role\", \"content\"}, one for each message",
        );
}

#[test]
fn a_message_that_is_no_template_stays_as_it_is() {
    let dumped = |class: &str, kwargs: Value| json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": kwargs});
    let template = |class: &str, text: &str| {
        let prompt = json!({"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "prompt", "PromptTemplate"],
            "kwargs": {"template": text, "input_variables": ["q"], "template_format": "f-string"}});
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", class], "kwargs": {"prompt": prompt}})
    };
    let chat = |messages: Vec<Value>| {
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"],
            "kwargs": {"input_variables": ["q"], "messages": messages}})
        .to_string()
    };
    let texts = [
        "Answer {\"name\": {name}} and {{q}}, {% if %}.",
        "Ask {q}",
        "{}",
    ];
    let project = Project::new().with_file(
        "p/a.json",
        chat(vec![
            dumped(
                "SystemMessage",
                json!({"content": texts[0], "type": "system"}),
            ),
            dumped(
                "HumanMessage",
                json!({"content": texts[1], "type": "human"}),
            ),
            dumped(
                "AIMessage",
                json!({"content": texts[2], "type": "ai", "tool_calls": []}),
            ),
            template("HumanMessagePromptTemplate", "Now {q}"),
        ]),
    );
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("inputs: q (any)")
        .output_lacks("name (any)");
    let body = project
        .run(&["render", "a", "--as", "openai-chat", "-i", "q=me"])
        .exits_with(0)
        .json();
    let rendered: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["content"].as_str().unwrap())
        .collect();
    assert_eq!(rendered, [texts[0], texts[1], texts[2], "Now me"]);
    // A value that is no text is named by its kind.
    let calls = dumped(
        "AIMessage",
        json!({"content": "", "tool_calls": [{"name": "a", "args": {}, "id": "1"}]}),
    );
    let parts = dumped(
        "HumanMessage",
        json!({"content": [{"type": "text", "text": "a"}]}),
    );
    let project = Project::new()
        .with_file("p/a.json", chat(vec![calls]))
        .with_file("p/b.json", chat(vec![parts]));
    project
        .run(&["import", "p"])
        .exits_with(1)
        .stdout_contains("a message that calls tools")
        .stdout_contains("a message whose `content` is no text");
}
