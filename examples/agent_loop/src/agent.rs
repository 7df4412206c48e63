//! The loop: what the model is told in each turn comes from the template `answer`, compiled with this program.

use crate::model::{Model, Said};
use ctxc::Registry;
use ctxc::{Disposition, Files, Inputs, Kind, Options, Request, Segment, assemble};
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;

/// What `build.rs` compiled.
static REGISTRY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/registry.json"));
/// Turns that the agent may take.
const TURNS: usize = 5;

/// How a ticket ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the customer reads.
    pub answer: String,
    /// Turns that it took.
    pub turns: usize,
    /// What the model did not see whole, and why: for the log.
    pub missing: Vec<String>,
}

/// The documents that the agent may read.
#[derive(Clone, Debug, Default)]
pub struct Library(pub BTreeMap<String, String>);

impl Files for Library {
    fn text(&self, path: &str) -> Result<String, String> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| "the library has no such document".to_owned())
    }
}

/// Answers one ticket within a budget of tokens a turn.
///
/// # Errors
/// The model fails, or what must be said does not fit into the budget.
pub fn answer(
    model: &mut dyn Model,
    library: &Library,
    ticket: &str,
    budget: usize,
) -> Result<Outcome, Box<dyn Error>> {
    let registry = Registry::read(REGISTRY)?;
    let inputs = Inputs::from([("ticket", ticket)]);
    // What the agent has read so far: its context in the next turn.
    let mut read: Vec<Segment> = Vec::new();
    for turn in 1..=TURNS {
        let request = Request {
            inputs: &inputs,
            parent: &read,
            files: library,
            ..Request::new("answer")
        };
        let assembly = assemble(
            &registry,
            &request,
            &Options {
                budget: Some(budget),
                ..Options::default()
            },
        )?;
        let messages: Vec<Said> = assembly
            .messages
            .iter()
            .map(|message| Said {
                role: message.speaker.word(),
                text: message.as_str().to_owned(),
            })
            .collect();

        let reply: Value = serde_json::from_str(&model.reply(&messages)?)?;
        if let Some(answer) = reply["answer"].as_str() {
            let lost = assembly
                .report
                .segments
                .iter()
                .filter(|account| account.disposition != Disposition::Kept);
            let missing = lost
                .map(|account| format!("{}: {}", account.segment.id, account.reason))
                .collect();
            return Ok(Outcome {
                answer: answer.to_owned(),
                turns: turn,
                missing,
            });
        }
        let path = reply["read"]
            .as_str()
            .ok_or("the model neither reads nor answers")?;
        read.push(Segment::new(Kind::File, path, library.text(path)?));
    }
    Err(format!("no answer in {TURNS} turns").into())
}
