//! Renders Jinja texts: strictly, with only the values passed in, within limits of steps, bytes and
//! cost.
//!
//! No template loads another, no function accesses anything outside; an undefined variable is an
//! error.

use super::environment::build_environment;
use super::instrument::{
    BEGIN_FILTER, END_FILTER, InstrumentedCode, OUTPUT_FILTER, PLAIN_FILTER, instrument_code,
};
use super::jinja_fault::JinjaFaultKind;
use super::meter::{self, CostMeter};
use super::parse::analyze;
use super::reads::analyze_flow;
use super::tags::tag_at;
pub(crate) use super::trace::{ByteOrigin, FenceBuilder, TracedOutput};
use super::trace::{OutputTrace, analyze_outputs};
use super::tree::{parse_tree, slice_offset, visit_statements};
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
const STEPS_PER_STEP: u64 = 2;
/// Maximum size of a rendered text in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 1_000_000;
/// The detail of an error that ends a render because of its length.
const FULL_DETAIL: &str = "\0full";

/// The reason why a text could not be rendered.
#[derive(Clone, Debug)]
pub(crate) enum RenderFailure {
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
pub(crate) fn read_variables(
    text: &str,
    is_bound: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, RenderFailure> {
    let parsed = analyze(text);
    match parsed.faults.first() {
        None => {
            let hidden = parsed.functions.into_iter().filter(|name| is_bound(name));
            Ok(parsed.variables.into_iter().chain(hidden).collect())
        }
        // A compiled text has no faults; a text from another source may have some.
        Some(fault) => Err(RenderFailure::Jinja {
            line: 1 + text
                .get(..fault.span.start as usize)
                .map_or(0, |before| before.matches('\n').count()),
            detail: match &fault.kind {
                JinjaFaultKind::Syntax(words) => words.clone(),
                JinjaFaultKind::BareTuple => "a tuple without parentheses".to_owned(),
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
    /// The names that the text reads, as returned by [`read_variables`].
    pub(crate) names: &'a BTreeSet<String>,
    /// The untrusted names among them: text that they reach is fenced.
    pub(crate) untrusted: &'a BTreeSet<String>,
    /// Builds the fences.
    pub(crate) fence: FenceBuilder,
    /// Maximum number of steps: [`MAX_STEPS`] in a run.
    pub(crate) steps: u64,
}

/// Renders a text that [`read_variables`] has accepted.
pub(crate) fn render_text(
    text: &str,
    with: RenderInputs<'_>,
) -> Result<TracedOutput, RenderFailure> {
    let tree = parse_tree(text).map_err(|error| jinja_failure(text, &error))?;
    let flow = analyze_flow(&tree);
    let mut code = CodeGenerator::new("text", text);
    code.compile_stmt(&tree);
    let (code, blocks) = code.finish();
    let InstrumentedCode {
        code,
        plain,
        outputs: count,
    } = instrument_code(&code);
    let outputs = analyze_outputs(text, &flow, with.names, with.untrusted);
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
                lines.line_number(slice_offset(text, words) as u32) - 1,
            )
        })
        .collect();
    let meter = CostMeter::new();
    let trace = Arc::new(Mutex::new(OutputTrace::default()));
    let mut environment = build_environment();
    environment.set_fuel(Some(with.steps * STEPS_PER_STEP));
    meter::attach_meter(&mut environment, &meter);
    attach_trace(&mut environment, &meter, &trace, plain);
    let by = Arc::clone(&meter);
    let written = Arc::clone(&trace);
    let fence = with.fence;
    environment.set_formatter(move |out, state, value| {
        let value = by.weigh_and_pass(value.clone())?;
        let mut words = String::new();
        escape_formatter(&mut make_string_output(&mut words), state, &value)?;
        let says_nothing = matches!(
            value.kind(),
            ValueKind::None | ValueKind::Bool | ValueKind::Number
        );
        let mut trace = written
            .lock()
            .map_err(|_| Error::from(ErrorKind::InvalidOperation))?;
        trace.write_value(&words, &outputs, says_nothing, &fence);
        check_output_size(&trace)?;
        out.write_str(&words).map_err(Error::from)
    });
    let mut unread = String::new();
    let ended = eval(
        &environment,
        &code,
        to_native(with.values),
        &blocks,
        &mut make_string_output(&mut unread),
        AutoEscape::None,
    );
    match ended {
        Ok(_) => {}
        Err(error) if meter::has_detail(&error, FULL_DETAIL) => {
            return Err(RenderFailure::TooLarge {
                limit: MAX_OUTPUT_BYTES,
            });
        }
        Err(error) if meter::is_spent(&error) => {
            return Err(RenderFailure::TooCostly {
                limit: meter::COST_ALLOWANCE,
            });
        }
        Err(error) if error.kind() == ErrorKind::OutOfFuel => {
            return Err(RenderFailure::TooLong { limit: MAX_STEPS });
        }
        Err(error) => return Err(jinja_failure(text, &error)),
    }
    drop(environment);
    let trace = Arc::into_inner(trace).and_then(|trace| trace.into_inner().ok());
    trace
        .map(|trace| trace.whole)
        .ok_or(RenderFailure::TooLarge {
            limit: MAX_OUTPUT_BYTES,
        })
}

/// Processes a number that the instructions pass.
type TraceUpdate = Box<dyn Fn(&mut OutputTrace, usize) -> Result<(), Error> + Send + Sync>;

/// Makes an environment record the announcements of the instructions.
fn attach_trace(
    environment: &mut Environment<'_>,
    meter: &Arc<CostMeter>,
    trace: &Arc<Mutex<OutputTrace>>,
    plain: Vec<(String, u32)>,
) {
    let mut add = |name: &'static str, noted: TraceUpdate| {
        let trace = Arc::clone(trace);
        environment.add_filter(name, move |number: usize| {
            let mut trace = trace
                .lock()
                .map_err(|_| Error::from(ErrorKind::InvalidOperation))?;
            noted(&mut trace, number).map(|()| number)
        });
    };
    add(
        BEGIN_FILTER,
        Box::new(|trace, _| {
            trace.begin_capture();
            Ok(())
        }),
    );
    add(
        END_FILTER,
        Box::new(|trace, _| {
            trace.end_capture();
            Ok(())
        }),
    );
    add(
        OUTPUT_FILTER,
        Box::new(|trace, number| {
            trace.output = number;
            Ok(())
        }),
    );
    let by = Arc::clone(meter);
    add(
        PLAIN_FILTER,
        Box::new(move |trace, number| {
            if let Some((words, line)) = plain.get(number) {
                by.charge(words.len() as u64)?;
                trace.write_plain(words, *line);
            }
            check_output_size(trace)
        }),
    );
}

/// Fails if the result has become too large.
fn check_output_size(trace: &OutputTrace) -> Result<(), Error> {
    if trace.whole.text.len() > MAX_OUTPUT_BYTES {
        Err(Error::new(ErrorKind::InvalidOperation, FULL_DETAIL))
    } else {
        Ok(())
    }
}

/// minijinja's message, with the part of the text that it is about.
fn jinja_failure(text: &str, error: &Error) -> RenderFailure {
    let line = error.line().unwrap_or(1);
    let words = error
        .range()
        .and_then(|range| tag_words(text, range.start, line));
    RenderFailure::Jinja {
        line,
        detail: error
            .detail()
            .map_or_else(|| error.kind().to_string(), str::to_owned),
        words,
    }
}

/// The part on a line of the tag at an offset.
fn tag_words(text: &str, at: usize, line: usize) -> Option<String> {
    let inner = tag_at(text, at)?.inner_range();
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
pub(crate) fn certain_ranges(text: &str) -> Vec<Range<usize>> {
    let Ok(Stmt::Template(template)) = parse_tree(text) else {
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
        .map(|words| (slice_offset(text, words), words.len()))
        .map(|(start, length)| start..start + length)
        .collect()
}

/// Returns true if a text captures or changes some of its output before writing it: for a filter, a
/// name, a macro, a recursive loop, or escaping.
pub(crate) fn has_captures(text: &str) -> bool {
    let mut found = false;
    if let Ok(tree) = parse_tree(text) {
        visit_statements(&tree, &mut |stmt| {
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
fn to_native(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(value) => minijinja::Value::from(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => minijinja::Value::from(whole),
            (None, Some(whole)) => minijinja::Value::from(whole),
            (None, None) => minijinja::Value::from(number.as_f64().unwrap_or(0.0)),
        },
        Value::String(text) => minijinja::Value::from(text.as_str()),
        Value::Array(items) => {
            minijinja::Value::from(items.iter().map(to_native).collect::<Vec<_>>())
        }
        Value::Object(fields) => minijinja::Value::from_pairs(
            fields
                .iter()
                .map(|(name, value)| (name.as_str(), to_native(value))),
        ),
    }
}
