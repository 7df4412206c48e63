//! The tool gate: the calls it approves, and the words with which it refuses others.

use ctxc::runtime::{
    Answer, ApprovedAction, Obstacle, ObstacleKind, Part, ProviderError, Stop, ToolCall,
    ToolDefinition, ToolPolicy, ToolRegistry, ToolResult, ToolRunner, Usage, tool_loop,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn tools(allowed: &[&str]) -> ToolRegistry {
    let policy = ToolPolicy::allowing(allowed.iter().copied())
        .blocking(["--force", "curl*|"])
        .protecting([".github", "deploy/**/*.yaml"]);
    let mut tools = ToolRegistry::new(policy);
    for name in ["get_metrics", "get_logs", "write_file"] {
        tools.register(ToolDefinition::new(name, "")).unwrap();
    }
    tools
        .register(
            ToolDefinition::new("shell", "runs")
                .with_parameters(json!({"type": "object"}))
                .with_command_argument("command"),
        )
        .unwrap();
    tools
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: "7".to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

fn refusal(tools: &ToolRegistry, name: &str, arguments: Value) -> Option<String> {
    tools.approve(call(name, arguments)).err().map(|obstacle| {
        assert_eq!(obstacle.kind, ObstacleKind::Tool);
        obstacle.note
    })
}

#[test]
fn only_what_is_allowed_is_approved() {
    let tools = tools(&["get_*", "shell cargo test*"]);
    assert_eq!(refusal(&tools, "get_metrics", json!({})), None);
    assert_eq!(
        refusal(&tools, "shell", json!({"command": "cargo test --lib"})),
        None
    );
    assert_eq!(
        refusal(
            &tools,
            "shell",
            json!({"command": ["cargo", "test", "a;b"]})
        ),
        None
    );
    let refused = |name: &str, arguments: Value| refusal(&tools, name, arguments).unwrap();
    assert_eq!(
        refused("write_file", json!({})),
        "`write_file` is not allowed; allowed: get_*, shell cargo test*"
    );
    assert_eq!(
        refused("get_metric", json!({})),
        "there is no tool `get_metric`; did you mean `get_metrics`?"
    );
    assert_eq!(
        refused("shell", json!({"command": "cargo build"})),
        "`shell cargo build` is not allowed; allowed: get_*, shell cargo test*"
    );
    for (command, sign) in [
        ("cargo test; rm x", ";"),
        ("cargo test $(x)", "$"),
        ("cargo test\nrm x", "\\n"),
        ("cargo test > x", ">"),
    ] {
        let note = refused("shell", json!({"command": command}));
        assert!(
            note.ends_with(&format!(
                "`{sign}` would let a shell do more than `shell cargo test*` covers"
            )),
            "{note}"
        );
    }
    assert_eq!(
        refusal(&ToolRegistry::default(), "get_metrics", json!({})).unwrap(),
        "there is no tool `get_metrics`"
    );
    let none = self::tools(&[]);
    assert_eq!(
        refusal(&none, "get_logs", json!({})).unwrap(),
        "`get_logs` is not allowed; allowed: nothing is"
    );
}

#[test]
fn what_is_blocked_or_protected_is_refused_although_it_is_allowed() {
    let tools = tools(&["*"]);
    let refused =
        |name: &str, arguments: Value| refusal(&tools, name, arguments).unwrap_or_default();
    assert_eq!(
        refused("shell", json!({"command": ["git", "push", "--force"]})),
        "`shell git push --force` is blocked by the pattern `--force`"
    );
    assert!(refused("shell", json!({"command": "curl x | sh"})).contains("`curl*|`"));
    assert_eq!(refused("shell", json!({"command": "ls | sort"})), "");
    assert!(refused("get_logs", json!({"deep": [{"--force": 1}]})).contains("`--force`"));
    for path in [
        ".github",
        ".github/workflows/a.yml",
        "./.github/a",
        "x/../.github/a",
        "/.github/a",
        "deploy/eu/prod.yaml",
        ".github\\a",
    ] {
        assert!(
            refused("write_file", json!({"path": path})).ends_with("is a protected path"),
            "{path}"
        );
    }
    assert!(
        refused("shell", json!({"command": "cp a deploy/prod.yaml"}))
            .ends_with("deploy/prod.yaml is a protected path")
    );
    assert!(
        refused("shell", json!({"command": "x --out=.github/a"}))
            .ends_with(".github/a is a protected path")
    );
    // Words within a text are no path.
    assert_eq!(
        refused(
            "write_file",
            json!({"path": "a.md", "text": "see .github/workflows for more"})
        ),
        ""
    );
}

#[test]
fn a_line_that_is_allowed_as_a_whole_may_name_a_protected_path() {
    let tools = tools(&["shell sh deploy/check.yaml"]);
    assert_eq!(
        refusal(
            &tools,
            "shell",
            json!({"command": ["sh", "deploy/check.yaml"]})
        ),
        None
    );
    assert!(
        refusal(
            &tools,
            "shell",
            json!({"command": ["sh", "deploy/check.yaml"], "cwd": ".github"})
        )
        .is_some()
    );
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let mut tools = tools(&[]);
    assert_eq!(
        tools
            .register(ToolDefinition::new("shell", ""))
            .unwrap_err()
            .note,
        "two tools are called `shell`"
    );
    assert_eq!(
        tools
            .definitions()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>(),
        ["get_logs", "get_metrics", "shell", "write_file"]
    );
}

struct Counter(u32);

impl ToolRunner for Counter {
    fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult {
        self.0 += 1;
        ToolResult::new(&action.action().id, format!("ran {}", self.0))
    }
}

#[test]
fn refusals_are_results_and_a_loop_of_calls_has_an_end() {
    let tools = tools(&["get_*"]);
    let mut runner = Counter(0);
    let answer = |parts: Vec<Part>| Answer::new(parts, Stop::Tool, Usage::default(), None);
    let both = || {
        vec![
            Part::Call(call("get_logs", json!({}))),
            Part::Call(call("write_file", json!({}))),
        ]
    };
    let last = tool_loop(&tools, &mut runner, 2, |turns| {
        let texts: Vec<String> = turns.iter().map(|turn| turn.text_form().text).collect();
        Ok(if texts.is_empty() {
            answer(both())
        } else {
            answer(vec![Part::Text(texts.join("; "))])
        })
    });
    let content = last.unwrap().content();
    assert!(
        content.contains("[result 7] ran 1; [error 7] `write_file` is not allowed"),
        "{content}"
    );
    let endless = tool_loop(&tools, &mut runner, 3, |_| Ok(answer(both()))).unwrap_err();
    assert_eq!(
        (endless.note.as_str(), runner.0),
        (
            "it still called tools in answer 3, the last that it may give",
            4
        )
    );
    let dead = tool_loop(&tools, &mut runner, 3, |_| {
        Err(ProviderError::CutStream { bytes: 3 })
    })
    .unwrap_err();
    assert_eq!(
        dead,
        Obstacle::new(
            ObstacleKind::Provider,
            "the answer ended before it was complete, after 3 bytes"
        )
    );
    assert_eq!(
        tools
            .approve(call("get_logs", json!({})))
            .unwrap()
            .into_inner()
            .name,
        "get_logs"
    );
}
