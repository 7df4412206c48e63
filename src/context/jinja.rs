//! Renders `syntax="jinja"` texts: strictly, with the values handed in and nothing else, within a limit of steps, of bytes, and of
//! what the steps may cost (`jinja_meter`).
//!
//! The second door to minijinja. No template loads another, no function reaches outside; an undefined variable is a fault.

use super::fault::FaultKind;
use super::jinja_fence::{Known, Numbered, numbered};
use super::jinja_meter::{self, Meter};
use super::jinja_trace::{Now, Sink, Writes};
use super::jinja_weigh::weigh;
use crate::template::jinja as compiled;
use minijinja::{ErrorKind, UndefinedBehavior};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Steps of minijinja's machine that a text may take: far under 100 ms.
pub(super) const MAX_STEPS: u64 = 200_000;
/// Bytes that a text may become.
pub(super) const MAX_BYTES: usize = 1_000_000;

/// The variables that a text reads.
pub(super) fn variables(text: &str) -> Result<BTreeSet<String>, FaultKind> {
    let parsed = compiled::parse(text);
    match parsed.faults.first() {
        None => Ok(parsed.variables),
        // A compiled text has none; one that was handed in otherwise may.
        Some(fault) => Err(FaultKind::Jinja {
            line: 1 + text.get(..fault.span.start as usize).map_or(0, |before| before.matches('\n').count()),
            detail: format!("{:?}", fault.kind),
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

/// Renders a text that reads these names, as [`variables`] gives them; what untrusted ones reach stands in fences of this mark.
pub(super) fn render(
    text: &str,
    values: &Value,
    names: &BTreeSet<String>,
    untrusted: &BTreeSet<String>,
    nonce: &str,
) -> Result<Rendered, FaultKind> {
    let mut environment = compiled::bare();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let Numbered { text, outputs } = numbered(text, names, untrusted, nonce);
    let weighed = weigh(&text);
    environment.set_fuel(Some(weighed.steps(MAX_STEPS)));
    let (outputs, now): (Arc<[Known]>, _) = (outputs.into(), Now::default());
    jinja_meter::attach(&mut environment, &Meter::new(), &outputs, &now);
    let mut out = Sink::new(&weighed.text, MAX_BYTES, now);
    let fault = |error: &minijinja::Error| FaultKind::Jinja {
        line: error.line().unwrap_or(1),
        detail: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    };
    let template = environment.template_from_str(&weighed.text).map_err(|error| fault(&error))?;
    match template.render_captured_to(native(values), &mut out) {
        Ok(_) => {}
        Err(_) if out.is_full => return Err(FaultKind::TooLarge { limit: MAX_BYTES }),
        Err(error) if jinja_meter::is_spent(&error) => return Err(FaultKind::TooCostly { limit: jinja_meter::ALLOWANCE }),
        Err(error) if error.kind() == ErrorKind::OutOfFuel => return Err(FaultKind::TooLong { limit: MAX_STEPS }),
        Err(error) => return Err(fault(&error)),
    }
    let Sink { bytes, wrote, .. } = out;
    let stretches = wrote.into_iter().map(|wrote| Stretch { range: wrote.range, says: says(wrote.what, wrote.line, &outputs) });
    let text = String::from_utf8(bytes).map_err(|_| FaultKind::TooLarge { limit: MAX_BYTES })?;
    Ok(Rendered { text, stretches: stretches.collect() })
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
