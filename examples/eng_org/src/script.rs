//! Answers that were written beforehand: the team works offline.

use ctxc::Message;
use ctxc::runtime::{Answer, Part, ProviderError, Stop, ToolCall, Turn, Usage, Visit};
use serde_json::{Value, json};

fn call(name: &str, arguments: Value) -> Part {
    Part::Call(ToolCall {
        id: "1".to_owned(),
        name: name.to_owned(),
        arguments,
    })
}

/// The script of `tasks.yaml`: the first greeting has a slip, which the tests find.
pub fn answer(
    visit: &Visit,
    messages: &[Message],
    turns: &[Turn],
) -> Result<Answer, ProviderError> {
    let told: String = messages.iter().map(|message| message.as_str()).collect();
    let write = |text: &str| call("write_file", json!({"path": "greet.sh", "text": text}));
    let part = match (visit.stage.as_str(), visit.number, turns.len()) {
        ("plan", ..) if told.contains("Rewrite") => {
            Part::Text("Rewrite greet.sh, and all else.".to_owned())
        }
        ("plan", ..) => Part::Text("Let greet.sh take a name.".to_owned()),
        ("triage", ..) if told.contains("Rewrite") => {
            Part::Text("refused: not one change".to_owned())
        }
        ("triage", ..) => Part::Text("small enough".to_owned()),
        ("implement", _, 0) => write("echo Hello $2\n"),
        // The tests are not the implementer's to change.
        ("implement", _, 2) => call(
            "write_file",
            json!({"path": "./tests.sh", "text": "exit 0\n"}),
        ),
        ("test", _, 0) if told.contains("expected Hello Ada") => write("echo Hello $1\n"),
        ("security", ..) => {
            Part::Text(r#"{"status": "COMPLETE", "content": "nothing found"}"#.to_owned())
        }
        ("release", ..) => Part::Text("Greet by name".to_owned()),
        ("archive", ..) => Part::Text("The first argument is $1.".to_owned()),
        _ => Part::Text("done".to_owned()),
    };
    let usage = Usage {
        input: Some(told.len() as u64 / 4),
        output: Some(20),
        ..Usage::default()
    };
    Ok(Answer::new(vec![part], Stop::End, usage, None))
}
