//! The cost limit of a Jinja text: every value that is copied, compared, kept or written is charged
//! to one allowance.
//!
//! minijinja counts steps, but one step may double a text or a list. Here each step is charged at
//! least its cost, nesting is limited to a depth that can be printed and dropped safely, and lazy
//! values are evaluated before they are kept.

use super::builtins::{FILTER_NAMES, TEST_NAMES};
use super::environment::build_environment;
use super::instrument::{OPERANDS_FILTER, PASS_FILTER, SLICE_FILTER, TEXTS_FILTER};
use minijinja::value::{Kwargs, Rest, StringInput, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The total cost allowed for a text, in bytes.
pub(super) const COST_ALLOWANCE: u64 = 8 << 20;
/// The cost of each call of a filter besides its arguments.
const CALL_COST: u64 = 256;
/// The cost of an entry of a list or an object besides its text.
const ENTRY_COST: u64 = 32;
/// Maximum nesting of lists and objects.
const MAX_DEPTH: usize = 64;
/// Filters that accept undefined values.
const ACCEPT_UNDEFINED: [&str; 3] = ["bool", "d", "default"];
/// The detail of an error that ends a render because of its cost; no other error has it.
const SPENT_DETAIL: &str = "\0spent";

/// The remaining cost allowance of a render.
#[derive(Debug)]
pub(super) struct CostMeter(AtomicU64);

/// The weight of a value.
#[derive(Clone, Copy, Debug, Default)]
struct ValueWeight {
    bytes: u64,
    /// The nesting of its lists and objects.
    depth: usize,
    /// True if the value contains an object with hidden contents.
    is_closed: bool,
}

/// Returns true if an error or one of its causes has this detail.
pub(super) fn has_detail(error: &Error, words: &str) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error
            .downcast_ref::<Error>()
            .is_some_and(|error| error.detail() == Some(words))
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// Returns true if a render ended because of its cost.
pub(super) fn is_spent(error: &Error) -> bool {
    has_detail(error, SPENT_DETAIL)
}

fn spent_error() -> Error {
    Error::new(ErrorKind::InvalidOperation, SPENT_DETAIL)
}

impl CostMeter {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(COST_ALLOWANCE)))
    }

    /// Charges a cost.
    pub(super) fn charge(&self, cost: u64) -> Result<(), Error> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(cost), Ordering::Relaxed);
        if cost > left {
            Err(spent_error())
        } else {
            Ok(())
        }
    }

    /// Charges the cost of a value, and returns its weight.
    fn weigh(&self, value: &Value) -> Result<ValueWeight, Error> {
        let before = self.0.load(Ordering::Relaxed);
        let mut open = vec![(value.clone(), 0)];
        let mut deepest = 0;
        let mut is_closed = false;
        while let Some((value, depth)) = open.pop() {
            self.charge(ENTRY_COST)?;
            deepest = deepest.max(depth);
            if let Some(text) = value.as_str() {
                self.charge(text.len() as u64)?;
                continue;
            }
            let kind = value.kind();
            let is_map = kind == ValueKind::Map || value.is_kwargs();
            if !is_map && kind != ValueKind::Seq && kind != ValueKind::Iterable {
                is_closed |= value.as_object().is_some();
                self.charge(if kind == ValueKind::Bytes {
                    value.len().unwrap_or(0) as u64
                } else {
                    0
                })?;
                continue;
            }
            if depth >= MAX_DEPTH {
                return Err(spent_error());
            }
            // Before anything is evaluated: an endless value has no length, and a lazy one may have
            // a large one.
            self.charge((value.len().unwrap_or(0) as u64).saturating_mul(ENTRY_COST))?;
            for item in value.try_iter()? {
                self.charge(ENTRY_COST)?;
                if is_map {
                    open.push((value.get_item(&item)?, depth + 1));
                }
                open.push((item, depth + 1));
            }
        }
        Ok(ValueWeight {
            bytes: before - self.0.load(Ordering::Relaxed),
            depth: deepest,
            is_closed,
        })
    }

    /// Charges the cost of the texts among values.
    fn charge_texts(&self, values: &[Value]) -> Result<(), Error> {
        self.charge(
            values
                .iter()
                .filter_map(|value| value.as_str().map(|text| text.len() as u64))
                .sum(),
        )
    }

    /// Weighs a value and returns it; lazy values are evaluated.
    pub(super) fn weigh_and_pass(&self, value: Value) -> Result<Value, Error> {
        self.weigh(&value)?;
        if value.kind() == ValueKind::Iterable {
            Ok(Value::from(value.try_iter()?.collect::<Vec<_>>()))
        } else {
            Ok(value)
        }
    }
}

/// The values in reverse order.
fn reversed(values: Vec<Value>) -> Value {
    values.into_iter().rev().collect::<Vec<_>>().into()
}

/// The arguments of a filter or a method, by position or by name.
struct CallArgs<'a> {
    args: &'a [Value],
    named: Option<Kwargs>,
    /// The weight of the value that it is called on, and the bytes of all other arguments.
    weights: (ValueWeight, u64),
}

impl<'a> CallArgs<'a> {
    fn weigh_arguments(args: &'a [Value], by: &CostMeter) -> Result<Self, Error> {
        let (named, args) = match args.split_last() {
            Some((last, before)) if last.is_kwargs() => {
                (Kwargs::try_from(last.clone()).ok(), before)
            }
            _ => (None, args),
        };
        let of = args
            .first()
            .map_or(Ok(ValueWeight::default()), |of| by.weigh(of))?;
        let given = Self {
            args,
            named,
            weights: (of, 0),
        };
        let others = given.other_arguments().try_fold(0, |sum, value| {
            Ok::<_, Error>(sum + by.weigh(&value)?.bytes)
        })?;
        Ok(Self {
            weights: (of, others),
            ..given
        })
    }

    fn other_arguments(&self) -> impl Iterator<Item = Value> {
        let named = self.named.iter().flat_map(|named| {
            named
                .args()
                .filter_map(|name| named.peek::<Value>(name).ok())
        });
        self.args.iter().skip(1).cloned().chain(named)
    }

    fn argument(&self, place: usize, name: &str) -> Option<Value> {
        let named = || {
            self.named
                .as_ref()
                .and_then(|named| named.peek::<Value>(name).ok())
        };
        self.args.get(place).cloned().or_else(named)
    }

    /// The length in bytes of an argument converted to text.
    fn argument_length(&self, place: usize, name: &str) -> u64 {
        self.argument(place, name)
            .map_or(0, |value| value_text(&value).len() as u64)
    }

    fn longest_argument(&self) -> u64 {
        self.other_arguments()
            .map(|value| value_text(&value).len() as u64)
            .max()
            .unwrap_or(0)
    }

    /// The sum of all numeric arguments, without the value itself.
    fn sum_numbers(&self) -> u64 {
        self.other_arguments()
            .map(|value| number_size(&value))
            .fold(0, u64::saturating_add)
    }
}

/// A value as text.
fn value_text(value: &Value) -> Cow<'_, str> {
    value
        .as_str()
        .map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

/// The size of a number; 0 for other values.
fn number_size(value: &Value) -> u64 {
    if !matches!(value.kind(), ValueKind::Number | ValueKind::Bool) {
        return 0;
    }
    match value.as_i64() {
        Some(number) => number.unsigned_abs(),
        #[allow(
            clippy::cast_sign_loss,
            reason = "the absolute value has no sign, and a conversion keeps to the bounds"
        )]
        None => f64::try_from(value.clone()).map_or(u64::MAX, |number| number.abs().ceil() as u64),
    }
}

/// The size of the result of a filter or a method beyond its arguments.
fn result_growth(name: &str, given: &CallArgs<'_>) -> u64 {
    let of = given.args.first();
    let (text, items, numbers) = (
        of.map(value_text).unwrap_or_default(),
        of.and_then(Value::len).unwrap_or(0) as u64,
        given.sum_numbers(),
    );
    let length = text.len() as u64;
    match name {
        "indent" => (text.matches('\n').count() as u64 + 1)
            .saturating_mul(numbers.saturating_add(given.longest_argument())),
        "wordwrap" => {
            let width = given
                .other_arguments()
                .filter(Value::is_number)
                .map(|width| number_size(&width))
                .min()
                .unwrap_or(79)
                .max(1);
            let parts = 2 * count_parts(&text, None) as u64
                + text.matches('-').count() as u64
                + length / width;
            parts.saturating_mul(given.longest_argument().saturating_add(ENTRY_COST))
        }
        "replace" => ((length + 1) / given.argument_length(1, "old").max(1))
            .saturating_mul(given.argument_length(2, "new")),
        "batch" | "slice" => numbers.saturating_mul(2 * ENTRY_COST),
        "split" => (count_parts(&text, given.args.get(1)) as u64).saturating_mul(ENTRY_COST),
        "lines" | "splitlines" => (text.matches('\n').count() as u64).saturating_mul(ENTRY_COST),
        "list" | "unique" | "sort" | "reverse" if of.is_some_and(|of| of.as_str().is_some()) => {
            length.saturating_mul(ENTRY_COST.saturating_add(2 * given.longest_argument()))
        }
        // A path of names is read for each entry and, when sorting, for each comparison.
        "groupby" | "sort" => items
            .saturating_mul(given.longest_argument())
            .saturating_mul(2 * u64::from(u64::BITS - items.leading_zeros())),
        "tojson" => {
            let ValueWeight { bytes, depth, .. } = given.weights.0;
            (bytes / ENTRY_COST + 1).saturating_mul(numbers.saturating_mul(depth as u64 + 1))
        }
        // A sum of texts or lists copies the intermediate result with each item; one that starts
        // with a number accepts only numbers.
        "sum"
            if given
                .argument(2, "start")
                .is_some_and(|start| !start.is_number()) =>
        {
            items.saturating_mul(given.weights.0.bytes.saturating_add(given.weights.1))
        }
        // The method puts the text itself between the entries of its argument.
        "join" if of.is_some_and(|of| of.as_str().is_some()) => {
            let entries = given
                .other_arguments()
                .filter_map(|value| value.len())
                .max()
                .unwrap_or(0) as u64;
            items
                .saturating_mul(given.longest_argument())
                .max(entries.saturating_mul(length))
        }
        "join" | "map" | "max" | "min" | "sum" | "unique" => {
            items.saturating_mul(given.longest_argument())
        }
        // Each entry is compared with the arguments of the test.
        "select" | "reject" | "selectattr" | "rejectattr" => items.saturating_mul(given.weights.1),
        "format" => {
            let places =
                (text.matches(['%', '{']).count() as u64).saturating_mul(given.longest_argument());
            // A `*` takes its width from the arguments.
            let widths = if text.contains(['*', '{']) {
                numbers
            } else {
                0
            };
            widths
                .saturating_add(sum_digits(&text))
                .saturating_add(places)
        }
        _ => 0,
    }
}

/// The number of parts of a split text.
fn count_parts(text: &str, by: Option<&Value>) -> usize {
    match by.and_then(Value::as_str) {
        Some("") => text.len(),
        Some(by) => text.matches(by).count(),
        None => text.split_whitespace().count(),
    }
}

/// The sum of all numbers in a text: the widths in a format string.
fn sum_digits(text: &str) -> u64 {
    let numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty());
    numbers
        .map(|digits| digits.parse().unwrap_or(u64::MAX))
        .fold(0, u64::saturating_add)
}

/// Makes an environment weigh the arguments and results of its filters, tests, functions and
/// methods.
pub(super) fn attach_meter(environment: &mut Environment<'_>, meter: &Arc<CostMeter>) {
    let by = Arc::clone(meter);
    environment.add_filter(PASS_FILTER, move |value: Value| by.weigh_and_pass(value));
    let by = Arc::clone(meter);
    environment.add_filter(OPERANDS_FILTER, move |values: Vec<Value>| {
        values
            .iter()
            .try_for_each(|value| by.weigh(value).map(drop))
            .map(|()| reversed(values))
    });
    let by = Arc::clone(meter);
    environment.add_filter(TEXTS_FILTER, move |values: Vec<Value>| {
        by.charge_texts(&values).map(|()| reversed(values))
    });
    let by = Arc::clone(meter);
    environment.add_filter(
        SLICE_FILTER,
        move |state: &mut State<'_, '_>, mut values: Vec<Value>| {
            values
                .first()
                .map_or(Ok(()), |value| check_defined(state, value))?;
            by.charge_texts(&values)?;
            // minijinja negates the step, which overflows for the smallest number.
            if let Some(step) = values
                .last_mut()
                .filter(|step| step.as_i64() == Some(i64::MIN))
            {
                *step = Value::from(-i64::MAX);
            }
            Ok::<_, Error>(reversed(values))
        },
    );
    let plain = Arc::new(self::build_environment());
    for &name in FILTER_NAMES {
        let by = Arc::clone(meter);
        let plain = Arc::clone(&plain);
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                run_filter(name, state, &args.into_values(), &by, &plain)
            },
        );
    }
    for &name in TEST_NAMES {
        let by = Arc::clone(meter);
        let plain = Arc::clone(&plain);
        environment.add_test(name, move |args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            args.iter()
                .try_for_each(|value| by.weigh(value).map(drop))?;
            plain.empty_state().perform_test(name, &args)
        });
    }
    for (name, function) in plain.globals() {
        let by = Arc::clone(meter);
        let is_range = name == "range";
        let keeps = matches!(name, "cycler" | "joiner");
        environment.add_function(
            name.to_owned(),
            move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                let args = args.into_values();
                by.charge(CALL_COST)?;
                for value in &args {
                    // Stateful objects that contain each other could nest without limit.
                    if by.weigh(value)?.is_closed && keeps {
                        return Err(spent_error());
                    }
                }
                by.charge(if is_range {
                    args.iter().map(number_size).fold(0, u64::saturating_add)
                } else {
                    0
                })?;
                function.call(state, &args)
            },
        );
    }
    let by = Arc::clone(meter);
    environment.set_unknown_method_callback(move |state, value, method, args| {
        let all: Vec<Value> = std::iter::once(value).chain(args).cloned().collect();
        by.charge(
            result_growth(method, &CallArgs::weigh_arguments(&all, &by)?).saturating_add(CALL_COST),
        )?;
        minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)
    });
}

/// Rejects an undefined value where a result is built from it, which would silently be empty. Uses
/// minijinja's own error, which names the value. The result of an `if` without `else` stays empty,
/// as its author intended.
fn check_defined(state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        StringInput::new(state, value).map(drop)
    } else {
        Ok(())
    }
}

fn run_filter(
    name: &str,
    state: &mut State<'_, '_>,
    args: &[Value],
    by: &CostMeter,
    plain: &Environment<'_>,
) -> Result<Value, Error> {
    if let Some(value) = args.first().filter(|_| !ACCEPT_UNDEFINED.contains(&name)) {
        check_defined(state, value)?;
    }
    by.charge(
        result_growth(name, &CallArgs::weigh_arguments(args, by)?).saturating_add(CALL_COST),
    )?;
    // A filter that another filter calls is weighed as well; the filters of the instrumentation
    // cannot be called.
    let inner = args.get(1).filter(|inner| {
        name == "map"
            && inner
                .as_str()
                .is_some_and(|inner| FILTER_NAMES.contains(&inner))
    });
    let result = match (inner.and_then(Value::as_str), args.first()) {
        (Some(inner), Some(items)) => {
            let rest = args.get(2..).unwrap_or(&[]);
            let one = |item: Value| state.apply_filter(inner, &[&[item], rest].concat());
            Value::from(items.try_iter()?.map(one).collect::<Result<Vec<_>, _>>()?)
        }
        _ => plain.empty_state().apply_filter(name, args)?,
    };
    by.weigh_and_pass(result)
}
