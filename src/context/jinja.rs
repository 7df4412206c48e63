//! Renders `syntax="jinja"` texts: strictly, with the values handed in and nothing else, within a limit of steps, of bytes, and of
//! what the steps may cost (`jinja_meter`).
//!
//! The second door to minijinja. No template loads another, no function reaches outside; an undefined variable is a fault.

use super::fault::FaultKind;
use super::jinja_fence::{self, Known, Numbered, numbered};
use super::jinja_marks;
use super::jinja_meter::{self, Meter};
use super::jinja_trace::{Now, Sink, Writes, Wrote};
use super::jinja_weigh::weigh;
use crate::template::jinja as compiled;
use crate::template::jinja_tags::{Piece, pieces};
use minijinja::ErrorKind;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Steps of minijinja's machine that a text may take: far under 100 ms.
pub(super) const MAX_STEPS: u64 = 200_000;
/// Bytes that a text may become.
pub(super) const MAX_BYTES: usize = 1_000_000;

/// The variables that a text reads; functions that it calls are those that have their names, where some have.
pub(super) fn variables(text: &str, is_bound: impl Fn(&str) -> bool) -> Result<BTreeSet<String>, FaultKind> {
    let parsed = compiled::parse(text);
    match parsed.faults.first() {
        None => {
            let hidden = parsed.functions.into_iter().filter(|name| is_bound(name));
            Ok(parsed.variables.into_iter().chain(hidden).collect())
        }
        // A compiled text has none; one that was handed in otherwise may.
        Some(fault) => Err(FaultKind::Jinja {
            line: 1 + text.get(..fault.span.start as usize).map_or(0, |before| before.matches('\n').count()),
            detail: format!("{:?}", fault.kind),
            words: None,
        }),
    }
}

/// What a text became.
#[derive(Debug)]
pub(super) struct Rendered {
    /// The whole.
    pub(super) text: String,
    /// Its stretches, in order.
    pub(super) stretches: Vec<Stretch>,
}

/// A stretch of what a text became.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// Who says it.
    pub(super) says: Says,
}

/// Who says a stretch.
#[derive(Debug)]
pub(super) enum Says {
    /// The author, so many lines below the first.
    Author(u32),
    /// The value of a name, and nothing else.
    Value(String),
    /// An output or a statement so many lines below the first line, whatever it took it from.
    Output(u32),
    /// A fence.
    Fence,
}

/// What a text is rendered with.
#[derive(Clone, Copy, Debug)]
pub(super) struct With<'a> {
    /// The values of all names.
    pub(super) values: &'a Value,
    /// The names that it reads, as [`variables`] gives them.
    pub(super) names: &'a BTreeSet<String>,
    /// Those of them that are untrusted: what they reach stands in fences.
    pub(super) untrusted: &'a BTreeSet<String>,
    /// The mark of the fences.
    pub(super) nonce: &'a str,
}

/// Renders a text.
pub(super) fn render(text: &str, with: With<'_>) -> Result<Rendered, FaultKind> {
    let safe = compiled::meant(text);
    let done = once(text, &safe, with)?;
    let mut stretches = Vec::with_capacity(done.wrote.len());
    // For the lines of what it captures alone; what is said is what it says without marks.
    let marked =
        if done.captured.is_empty() { None } else { once(text, &jinja_marks::written(&safe, &done.captured), with).ok() };
    let marked = marked.filter(|marked| marked.wrote.len() == done.wrote.len());
    for (at, Wrote { range, what, line }) in done.wrote.iter().enumerate() {
        let says = says(*what, *line, &done.outputs);
        let tag = match *what {
            Writes::Plain | Writes::Fence => None,
            Writes::Something => Some(*line),
            Writes::Output(number) => Some(done.outputs.get(number).map_or(*line, |known| known.line)),
        };
        let other = marked.as_ref().and_then(|marked| Some((marked, marked.wrote.get(at)?)));
        let other =
            other.filter(|(_, wrote)| wrote.what == *what).and_then(|(marked, wrote)| marked.text.get(wrote.range.clone()));
        let words = done.text.get(range.clone()).unwrap_or("");
        match tag.and_then(|tag| jinja_marks::stretches(words, other?, range.start, tag)) {
            Some(lines) => stretches.extend(lines),
            None => stretches.push(Stretch { range: range.clone(), says }),
        }
    }
    Ok(Rendered { text: done.text, stretches })
}

/// What rendering a text has written.
struct Done {
    text: String,
    wrote: Vec<Wrote>,
    outputs: Arc<[Known]>,
    captured: Vec<Range<usize>>,
}

/// Renders what a text means.
fn once(text: &str, safe: &str, with: With<'_>) -> Result<Done, FaultKind> {
    let mut environment = compiled::bare();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    // So that an error names what is undefined, and where, however ctxc was built.
    environment.set_debug(true);
    let Numbered { text: safe, outputs, captured } = numbered(safe, with.names, with.untrusted, with.nonce);
    let weighed = weigh(&safe);
    environment.set_fuel(Some(weighed.steps(MAX_STEPS)));
    let (outputs, now): (Arc<[Known]>, _) = (outputs.into(), Now::default());
    jinja_meter::attach(&mut environment, &Meter::new(), &outputs, &now);
    let mut out = Sink::new(&weighed.text, MAX_BYTES, now);
    let fault = |error: &minijinja::Error| {
        let line = error.line().unwrap_or(1);
        let words = error.range().and_then(|range| tag_at(text, &weighed.text, range.start, line));
        FaultKind::Jinja { line, detail: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned), words }
    };
    let template = environment.template_from_str(&weighed.text).map_err(|error| fault(&error))?;
    match template.render_captured_to(native(with.values), &mut out) {
        Ok(_) => {}
        Err(_) if out.is_full => return Err(FaultKind::TooLarge { limit: MAX_BYTES }),
        Err(error) if jinja_meter::is_spent(&error) => return Err(FaultKind::TooCostly { limit: jinja_meter::ALLOWANCE }),
        Err(error) if error.kind() == ErrorKind::OutOfFuel => return Err(FaultKind::TooLong { limit: MAX_STEPS }),
        Err(error) => return Err(fault(&error)),
    }
    let Sink { bytes, wrote, .. } = out;
    let text = String::from_utf8(bytes).map_err(|_| FaultKind::TooLarge { limit: MAX_BYTES })?;
    Ok(Done { text, wrote, outputs, captured })
}

/// What a tag of the text has on a line: the one that became what stands at a place of the weighed text.
fn tag_at(text: &str, weighed: &str, at: usize, line: usize) -> Option<String> {
    let before = pieces(weighed).take_while(|placed| placed.open <= at);
    let number = before
        .filter(|placed| !matches!(&placed.piece, Piece::Tag(tag) if jinja_fence::is_side(tag) || compiled::is_put_in(tag)))
        .count();
    let Piece::Tag(tag) = pieces(text).nth(number.checked_sub(1)?)?.piece else { return None };
    let (first, last) = (tag.tokens.first()?, tag.tokens.last()?);
    let above = text.get(..first.start)?.matches('\n').count();
    let words = text.get(first.start..last.end)?.split('\n').nth(line.checked_sub(above + 1)?)?.trim();
    // In the file, signs of XML are written otherwise.
    words.split(['<', '>', '&']).next().map(|words| words.trim().to_owned()).filter(|words| !words.is_empty())
}

fn says(what: Writes, line: u32, outputs: &[Known]) -> Says {
    match what {
        Writes::Plain => Says::Author(line),
        Writes::Fence => Says::Fence,
        Writes::Something => Says::Output(line),
        Writes::Output(number) => match outputs.get(number) {
            Some(Known { name: Some(name), .. }) => Says::Value(name.clone()),
            known => Says::Output(known.map_or(line, |known| known.line)),
        },
    }
}

/// A value as minijinja holds it. JSON nests no deeper than its reader allows.
fn native(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(value) => minijinja::Value::from(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => minijinja::Value::from(whole),
            (None, Some(whole)) => minijinja::Value::from(whole),
            (None, None) => minijinja::Value::from(number.as_f64().unwrap_or(0.0)),
        },
        Value::String(text) => minijinja::Value::from(text.as_str()),
        Value::Array(items) => minijinja::Value::from(items.iter().map(native).collect::<Vec<_>>()),
        Value::Object(fields) => minijinja::Value::from_pairs(fields.iter().map(|(name, value)| (name.as_str(), native(value)))),
    }
}
