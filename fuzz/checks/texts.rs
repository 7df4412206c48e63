//! Any text of a task, filled with any value, plain or as Jinja: a text or a fault, within a second and a megabyte; no panic.

use ctxc::internals::context::{Inputs, Request, assemble};
use std::time::{Duration, Instant};

/// Bytes of the text of a Jinja template, and then some for its heading.
const LIMIT: usize = 1_001_000;

/// Compiles and fills what the bytes say: the value before the first line end, the text after it.
pub(crate) fn check(data: &[u8]) {
    let Ok(data) = std::str::from_utf8(data) else {
        return;
    };
    let (value, text) = data.split_once('\n').unwrap_or(("", data));
    let words = text.replace('&', "&amp;").replace('<', "&lt;");
    for syntax in ["", " syntax=\"jinja\""] {
        let task = format!(
            "<task type=\"atomic\" name=\"t\"><description{syntax}>{words}</description>\
             <parameters><parameter name=\"v\"/><parameter name=\"o\" type=\"object\"/><parameter name=\"u\" trust=\"untrusted\"/></parameters></task>"
        );
        let built = ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task.as_str())]);
        let Some(registry) = built.registry else {
            assert!(
                !built.diagnostics.is_empty(),
                "refused, and nobody says why"
            );
            continue;
        };
        let object = serde_json::from_str(value).unwrap_or(serde_json::Value::Null);
        let inputs = Inputs::new()
            .with("v", value)
            .with("o", object)
            .with("u", value);
        let started = Instant::now();
        let assembled = assemble(
            &registry,
            &Request {
                inputs: &inputs,
                ..Request::new("t")
            },
            &ctxc::internals::context::Options::default(),
        );
        assert!(
            started.elapsed() < Duration::from_secs(2),
            "{:?}",
            started.elapsed()
        );
        match assembled {
            Ok(assembly) => {
                let made: usize = assembly
                    .messages
                    .iter()
                    .map(|message| message.as_str().len())
                    .sum();
                let plain = syntax.is_empty();
                assert!(
                    made <= if plain {
                        4 * data.len() * (data.len() + 100) + 1_000
                    } else {
                        LIMIT
                    },
                    "{made} bytes"
                );
            }
            Err(refused) => assert!(!refused.is_empty() && !refused.to_string().is_empty()),
        }
    }
}
