//! Renders Jinja texts: strictly, with only the values passed in, within limits of steps, bytes and
//! cost.
//!
//! No template loads another, no function accesses anything outside; an undefined variable is an
//! error.

use super::environment::environment;
use super::fault::JinjaFaultKind;
use super::instrument::{BEGIN, END, Instrumented, OUTPUT, PLAIN, instrument};
use super::meter::{self, Meter};
use super::outputs::outputs;
use super::parse::parse;
use super::reads::flow;
use super::tags::tag_at;
use super::trace::Trace;
pub(crate) use super::trace::{ByteOrigin, Fence, Written};
use super::tree::{each_stmt, place, tree};
use crate::base::source::LineIndex;
use minijinja::machinery::ast::Stmt;
use minijinja::machinery::{CodeGenerator, eval, make_string_output};
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, escape_formatter};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Maximum number of minijinja's steps for a text: far below 100 ms.
pub(crate) const MAX_STEPS: u64 = 200_000;
/// Maximum number of steps including instrumentation for each of them.
const MEASURING: u64 = 2;
/// Maximum size of a rendered text in bytes.
pub(crate) const MAX_BYTES: usize = 1_000_000;
/// The detail of an error that ends a render because of its length.
const FULL: &str = "\0full";

/// The reason why a text could not be rendered.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
    /// The result is too large.
    TooLarge { limit: usize },
    /// It took too many steps.
    TooLong { limit: u64 },
    /// It copied, compared or kept too much.
    TooCostly { limit: u64 },
    /// minijinja failed; its message, the line, from 1, and the part of that line that the message
    /// is about.
    Jinja {
        detail: String,
        line: usize,
        words: Option<String>,
    },
}

/// The variables that a text reads, including called functions whose names are bound to a value.
pub(crate) fn variables(
    text: &str,
    is_bound: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, Failed> {
    let parsed = parse(text);
    match parsed.faults.first() {
        None => {
            let hidden = parsed.functions.into_iter().filter(|name| is_bound(name));
            Ok(parsed.variables.into_iter().chain(hidden).collect())
        }
        // A compiled text has no faults; a text from another source may have some.
        Some(fault) => Err(Failed::Jinja {
            line: 1 + text
                .get(..fault.span.start as usize)
                .map_or(0, |before| before.matches('\n').count()),
            detail: match &fault.kind {
                JinjaFaultKind::Syntax(words) => words.clone(),
                kind => format!("{kind:?}"),
            },
            words: None,
        }),
    }
}

/// The inputs of a render.
pub(crate) struct RenderInputs<'a> {
    /// The values of all names.
    pub(crate) values: &'a Value,
    /// The names that it reads, as returned by [`variables`].
    pub(crate) names: &'a BTreeSet<String>,
    /// The untrusted names among them: text that they reach is fenced.
    pub(crate) untrusted: &'a BTreeSet<String>,
    /// Builds the fences.
    pub(crate) fence: Fence,
    /// Maximum number of steps: [`MAX_STEPS`] in a run.
    pub(crate) steps: u64,
}

/// Renders a text that [`variables`] has accepted.
pub(crate) fn render(text: &str, with: RenderInputs<'_>) -> Result<Written, Failed> {
    let tree = tree(text).map_err(|error| failed(text, &error))?;
    let flow = flow(&tree);
    let mut code = CodeGenerator::new("text", text);
    code.compile_stmt(&tree);
    let (code, blocks) = code.finish();
    let Instrumented {
        code,
        plain,
        outputs: count,
    } = instrument(&code);
    let outputs = outputs(text, &flow, with.names, with.untrusted);
    debug_assert_eq!(
        outputs.len(),
        count,
        "each output of the instructions is one of the tree"
    );
    let lines = LineIndex::new(text);
    let plain: Vec<(String, u32)> = plain
        .iter()
        .map(|words| {
            (
                (*words).to_owned(),
                lines.line(place(text, words) as u32) - 1,
            )
        })
        .collect();
    let meter = Meter::new();
    let trace = Arc::new(Mutex::new(Trace::default()));
    let mut environment = environment();
    environment.set_fuel(Some(with.steps * MEASURING));
    meter::attach(&mut environment, &meter);
    note(&mut environment, &meter, &trace, plain);
    let by = Arc::clone(&meter);
    let written = Arc::clone(&trace);
    let fence = with.fence;
    environment.set_formatter(move |out, state, value| {
        let value = by.pass(value.clone())?;
        let mut words = String::new();
        escape_formatter(&mut make_string_output(&mut words), state, &value)?;
        let says_nothing = matches!(
            value.kind(),
            ValueKind::None | ValueKind::Bool | ValueKind::Number
        );
        let mut trace = written
            .lock()
            .map_err(|_| Error::from(ErrorKind::InvalidOperation))?;
        trace.value(&words, &outputs, says_nothing, &fence);
        full(&trace)?;
        out.write_str(&words).map_err(Error::from)
    });
    let mut unread = String::new();
    let ended = eval(
        &environment,
        &code,
        native(with.values),
        &blocks,
        &mut make_string_output(&mut unread),
        AutoEscape::None,
    );
    match ended {
        Ok(_) => {}
        Err(error) if meter::says(&error, FULL) => {
            return Err(Failed::TooLarge { limit: MAX_BYTES });
        }
        Err(error) if meter::is_spent(&error) => {
            return Err(Failed::TooCostly {
                limit: meter::ALLOWANCE,
            });
        }
        Err(error) if error.kind() == ErrorKind::OutOfFuel => {
            return Err(Failed::TooLong { limit: MAX_STEPS });
        }
        Err(error) => return Err(failed(text, &error)),
    }
    drop(environment);
    let trace = Arc::into_inner(trace).and_then(|trace| trace.into_inner().ok());
    trace
        .map(|trace| trace.whole)
        .ok_or(Failed::TooLarge { limit: MAX_BYTES })
}

/// Processes a number that the instructions pass.
type Noted = Box<dyn Fn(&mut Trace, usize) -> Result<(), Error> + Send + Sync>;

/// Makes an environment record the announcements of the instructions.
fn note(
    environment: &mut Environment<'_>,
    meter: &Arc<Meter>,
    trace: &Arc<Mutex<Trace>>,
    plain: Vec<(String, u32)>,
) {
    let mut add = |name: &'static str, noted: Noted| {
        let trace = Arc::clone(trace);
        environment.add_filter(name, move |number: usize| {
            let mut trace = trace
                .lock()
                .map_err(|_| Error::from(ErrorKind::InvalidOperation))?;
            noted(&mut trace, number).map(|()| number)
        });
    };
    add(
        BEGIN,
        Box::new(|trace, _| {
            trace.begin();
            Ok(())
        }),
    );
    add(
        END,
        Box::new(|trace, _| {
            trace.end();
            Ok(())
        }),
    );
    add(
        OUTPUT,
        Box::new(|trace, number| {
            trace.output = number;
            Ok(())
        }),
    );
    let by = Arc::clone(meter);
    add(
        PLAIN,
        Box::new(move |trace, number| {
            if let Some((words, line)) = plain.get(number) {
                by.take(words.len() as u64)?;
                trace.plain(words, *line);
            }
            full(trace)
        }),
    );
}

/// Fails if the result has become too large.
fn full(trace: &Trace) -> Result<(), Error> {
    if trace.whole.text.len() > MAX_BYTES {
        Err(Error::new(ErrorKind::InvalidOperation, FULL))
    } else {
        Ok(())
    }
}

/// minijinja's message, with the part of the text that it is about.
fn failed(text: &str, error: &Error) -> Failed {
    let line = error.line().unwrap_or(1);
    let words = error
        .range()
        .and_then(|range| words_at(text, range.start, line));
    Failed::Jinja {
        line,
        detail: error
            .detail()
            .map_or_else(|| error.kind().to_string(), str::to_owned),
        words,
    }
}

/// The part on a line of the tag at an offset.
fn words_at(text: &str, at: usize, line: usize) -> Option<String> {
    let inner = tag_at(text, at)?.inner();
    let above = text.get(..inner.start)?.matches('\n').count();
    let words = text
        .get(inner)?
        .split('\n')
        .nth(line.checked_sub(above + 1)?)?
        .trim();
    // In the file, XML characters are escaped.
    words
        .split(['<', '>', '&'])
        .next()
        .map(|words| words.trim().to_owned())
        .filter(|words| !words.is_empty())
}

/// The ranges that a text outputs in any case: plain text outside of all statements.
pub(crate) fn certain(text: &str) -> Vec<Range<usize>> {
    let Ok(Stmt::Template(template)) = tree(text) else {
        return Vec::new();
    };
    let plain = template.children.iter().filter_map(|stmt| {
        if let Stmt::EmitRaw(one) = stmt {
            Some(one.raw)
        } else {
            None
        }
    });
    plain
        .map(|words| (place(text, words), words.len()))
        .map(|(start, length)| start..start + length)
        .collect()
}

/// Returns true if a text captures or changes some of its output before writing it: for a filter, a
/// name, a macro, a recursive loop, or escaping.
pub(crate) fn captures(text: &str) -> bool {
    let mut found = false;
    if let Ok(tree) = tree(text) {
        each_stmt(&tree, &mut |stmt| {
            found |= match stmt {
                Stmt::AutoEscape(_)
                | Stmt::CallBlock(_)
                | Stmt::FilterBlock(_)
                | Stmt::Macro(_)
                | Stmt::SetBlock(_) => true,
                Stmt::ForLoop(one) => one.recursive,
                _ => false,
            };
        });
    }
    found
}

/// Converts a value for minijinja. The nesting of JSON is limited by its parser.
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
        Value::Object(fields) => minijinja::Value::from_pairs(
            fields
                .iter()
                .map(|(name, value)| (name.as_str(), native(value))),
        ),
    }
}
