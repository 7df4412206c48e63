//! Renders `syntax="jinja"` texts: strictly, with the values handed in and nothing else, within a limit of steps, of bytes, and of
//! what the steps may cost (`jinja_meter`).
//!
//! The second door to minijinja. No template loads another, no function reaches outside; an undefined variable is a fault.

use super::fault::FaultKind;
use super::jinja_fence::{Fenced, fenced};
use super::jinja_meter::{self, Meter};
use super::jinja_weigh::weigh;
use crate::template::jinja as compiled;
use minijinja::{ErrorKind, UndefinedBehavior};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;

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

/// Writes no more than it may.
struct Limited {
    bytes: Vec<u8>,
    is_full: bool,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > MAX_BYTES {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Renders a text that [`variables`] has let through; what untrusted names reach stands in fences of this mark.
pub(super) fn render(text: &str, values: &Value, untrusted: &BTreeSet<String>, nonce: &str) -> Result<String, FaultKind> {
    let mut environment = compiled::bare();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let (text, fences) = if untrusted.is_empty() {
        (Cow::Borrowed(text), Vec::new())
    } else {
        let Fenced { text, fences } = fenced(text, untrusted, nonce);
        (Cow::Owned(text), fences)
    };
    let weighed = weigh(&text);
    environment.set_fuel(Some(weighed.steps(MAX_STEPS)));
    jinja_meter::attach(&mut environment, &Meter::new(), fences);
    let mut out = Limited { bytes: Vec::new(), is_full: false };
    let fault = |error: &minijinja::Error| FaultKind::Jinja {
        line: error.line().unwrap_or(1),
        detail: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
    };
    let template = environment.template_from_str(&weighed.text).map_err(|error| fault(&error))?;
    match template.render_captured_to(native(values), &mut out) {
        Ok(_) => String::from_utf8(out.bytes).map_err(|_| FaultKind::TooLarge { limit: MAX_BYTES }),
        Err(_) if out.is_full => Err(FaultKind::TooLarge { limit: MAX_BYTES }),
        Err(error) if jinja_meter::is_spent(&error) => Err(FaultKind::TooCostly { limit: jinja_meter::ALLOWANCE }),
        Err(error) if error.kind() == ErrorKind::OutOfFuel => Err(FaultKind::TooLong { limit: MAX_STEPS }),
        Err(error) => Err(fault(&error)),
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
