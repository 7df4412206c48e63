//! What a Jinja text may cost: every value that is copied, compared, kept or printed is weighed against one allowance.
//!
//! minijinja counts steps, and one step may double a text or a list. Here no step costs more than what it was weighed for, nothing
//! nests deeper than may be printed and dropped, and nothing lazy is kept: what it stands for is.

use super::jinja_fence::{self, Known};
use super::jinja_marks;
use super::jinja_trace::Now;
use crate::template::jinja::{FILTERS, TESTS, bare, words};
use minijinja::value::{Kwargs, Rest, StringInput, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The filter that weighs.
pub(super) const NAME: &str = "_";
/// The filter that weighs texts alone.
pub(super) const TEXT: &str = "_t";
/// The filter behind the step of a slice.
pub(super) const STEP: &str = "_s";
/// The filters behind the first factor of a multiplication, each further one, an exponent, and all of it.
pub(super) const FACTORS: [&str; 4] = ["_m", "_n", "_p", "_q"];
/// What all steps of a text may cost together, in bytes.
pub(super) const ALLOWANCE: u64 = 8 << 20;
/// What each call of a filter costs beside its arguments.
const CALL: u64 = 256;
/// What an entry of a list or an object costs beside its text.
const ENTRY: u64 = 32;
/// How deep lists and objects may nest.
const DEPTH: usize = 64;
/// Filters that ask whether there is anything, and make nothing of what there is not.
const OF_NOTHING: [&str; 3] = ["bool", "d", "default"];
/// What an error says that ends a render for its cost; nobody else's does.
const SPENT: &str = "\0spent";

/// What a factor is among those of one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    First,
    Next,
    Power,
}

/// What is left of the allowance, and what is being multiplied.
#[derive(Debug)]
pub(super) struct Meter {
    left: AtomicU64,
    products: Mutex<Vec<Product>>,
}

/// What was weighed of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    bytes: u64,
    /// How deep its lists and objects nest.
    depth: usize,
}

/// What the factors so far make of each other.
#[derive(Clone, Copy, Debug)]
struct Product {
    size: u64,
    is_text: bool,
}

/// Whether a render ended for its cost.
pub(super) fn is_spent(error: &Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<Error>().is_some_and(|error| error.detail() == Some(SPENT)) {
            return true;
        }
        next = error.source();
    }
    false
}

fn spent() -> Error {
    Error::new(ErrorKind::InvalidOperation, SPENT)
}

impl Meter {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(ALLOWANCE), products: Mutex::default() })
    }

    /// Takes a cost off.
    fn take(&self, cost: u64) -> Result<(), Error> {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(cost), Ordering::Relaxed);
        if cost > left { Err(spent()) } else { Ok(()) }
    }

    /// Takes off what a value costs, and gives back what it weighed.
    fn weigh(&self, value: &Value) -> Result<Weight, Error> {
        let before = self.left.load(Ordering::Relaxed);
        let (mut open, mut deepest) = (vec![(value.clone(), 0)], 0);
        while let Some((value, depth)) = open.pop() {
            self.take(ENTRY)?;
            deepest = deepest.max(depth);
            if let Some(text) = value.as_str() {
                self.take(text.len() as u64)?;
                continue;
            }
            let kind = value.kind();
            let is_map = kind == ValueKind::Map || value.is_kwargs();
            if !is_map && kind != ValueKind::Seq && kind != ValueKind::Iterable {
                self.take(if kind == ValueKind::Bytes { value.len().unwrap_or(0) as u64 } else { 0 })?;
                continue;
            }
            if depth >= DEPTH {
                return Err(spent());
            }
            // Before anything is unfolded: what has no end says no length, and what is lazy may say a great one.
            self.take((value.len().unwrap_or(0) as u64).saturating_mul(ENTRY))?;
            for item in value.try_iter()? {
                self.take(ENTRY)?;
                if is_map {
                    open.push((value.get_item(&item)?, depth + 1));
                }
                open.push((item, depth + 1));
            }
        }
        Ok(Weight { bytes: before - self.left.load(Ordering::Relaxed), depth: deepest })
    }

    /// Weighs one more factor, before it is multiplied with those so far.
    fn factor(&self, value: Value, role: Factor) -> Result<Value, Error> {
        let value = self.pass(value)?;
        let (size, is_text) = match value.len() {
            Some(length) => ((length as u64).saturating_mul(if value.as_str().is_some() { 1 } else { ENTRY }), true),
            None => (size(&value), false),
        };
        let Ok(mut products) = self.products.lock() else { return Err(spent()) };
        let next = match (role, products.last().copied()) {
            (Factor::First, _) | (_, None) => Product { size: size.max(1), is_text },
            (Factor::Next, Some(so_far)) => {
                Product { size: so_far.size.saturating_mul(size.max(1)), is_text: is_text || so_far.is_text }
            }
            (Factor::Power, Some(so_far)) => {
                let power = u32::try_from(size.min(64)).unwrap_or(64);
                Product { size: so_far.size.saturating_pow(power), is_text: is_text || so_far.is_text }
            }
        };
        if role != Factor::First {
            products.pop();
        }
        products.push(next);
        drop(products);
        if next.is_text {
            self.take(next.size)?;
        }
        Ok(value)
    }

    /// Weighs what came of a multiplication.
    fn product(&self, value: Value) -> Result<Value, Error> {
        if let Ok(mut products) = self.products.lock() {
            products.pop();
        }
        self.pass(value)
    }

    /// Weighs a value and hands it on; what is lazy is unfolded.
    fn pass(&self, value: Value) -> Result<Value, Error> {
        self.weigh(&value)?;
        if value.kind() == ValueKind::Iterable { Ok(Value::from(value.try_iter()?.collect::<Vec<_>>())) } else { Ok(value) }
    }
}

/// What a filter is given, by its place or by its name.
struct Given<'a> {
    args: &'a [Value],
    named: Option<Kwargs>,
    /// What was weighed of the value that it is called on, and of everything else.
    weights: (Weight, u64),
}

impl<'a> Given<'a> {
    fn weighed(args: &'a [Value], by: &Meter) -> Result<Self, Error> {
        let (named, args) = match args.split_last() {
            Some((last, before)) if last.is_kwargs() => (Kwargs::try_from(last.clone()).ok(), before),
            _ => (None, args),
        };
        let of = args.first().map_or(Ok(Weight::default()), |of| by.weigh(of))?;
        let given = Self { args, named, weights: (of, 0) };
        let others = given.others().try_fold(0, |sum, value| Ok::<_, Error>(sum + by.weigh(&value)?.bytes))?;
        Ok(Self { weights: (of, others), ..given })
    }

    /// The words of the value that it is called on, and its entries.
    fn of(&self) -> (Cow<'_, str>, u64) {
        let of = self.args.first();
        (of.map(words).unwrap_or_default(), of.and_then(Value::len).unwrap_or(0) as u64)
    }

    fn others(&self) -> impl Iterator<Item = Value> {
        let named = self.named.iter().flat_map(|named| named.args().filter_map(|name| named.peek::<Value>(name).ok()));
        self.args.iter().skip(1).cloned().chain(named)
    }

    fn at(&self, place: usize, name: &str) -> Option<Value> {
        let named = || self.named.as_ref().and_then(|named| named.peek::<Value>(name).ok());
        self.args.get(place).cloned().or_else(named)
    }

    /// The bytes of an argument as a text, whatever it is.
    fn length(&self, place: usize, name: &str) -> u64 {
        self.at(place, name).map_or(0, |value| words(&value).len() as u64)
    }

    fn longest(&self) -> u64 {
        self.others().map(|value| words(&value).len() as u64).max().unwrap_or(0)
    }

    /// The sum of all numbers, but for the value itself.
    fn numbers(&self) -> u64 {
        self.others().map(|value| size(&value)).fold(0, u64::saturating_add)
    }
}

/// How large a number is; what is none has no size.
fn size(value: &Value) -> u64 {
    if !matches!(value.kind(), ValueKind::Number | ValueKind::Bool) {
        return 0;
    }
    match value.as_i64() {
        Some(number) => number.unsigned_abs(),
        #[allow(clippy::cast_sign_loss, reason = "it has none, and what is too large is as large as can be")]
        None => f64::try_from(value.clone()).map_or(u64::MAX, |number| number.abs().ceil() as u64),
    }
}

/// What a filter makes beyond its arguments.
fn growth(name: &str, given: &Given<'_>) -> u64 {
    let ((text, items), numbers) = (given.of(), given.numbers());
    let length = text.len() as u64;
    match name {
        "indent" => {
            let lines = text.chars().filter(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')).count() as u64;
            lines.saturating_add(1).saturating_mul(numbers.saturating_add(given.longest()))
        }
        "center" => numbers,
        "wordwrap" => {
            let width = given.others().filter(Value::is_number).map(|width| size(&width)).min().unwrap_or(79).max(1);
            let parts = 2 * pieces(&text, None) as u64 + text.matches('-').count() as u64 + length / width;
            parts.saturating_mul(given.longest().saturating_add(ENTRY))
        }
        "replace" => ((length + 1) / given.length(1, "old").max(1)).saturating_mul(given.length(2, "new")),
        "batch" | "slice" => numbers.saturating_mul(2 * ENTRY),
        "split" => (pieces(&text, given.args.get(1)) as u64).saturating_mul(ENTRY),
        "lines" => (text.matches('\n').count() as u64).saturating_mul(ENTRY),
        "list" | "unique" | "sort" | "reverse" if given.args.first().is_some_and(|of| of.as_str().is_some()) => {
            length.saturating_mul(ENTRY.saturating_add(2 * given.longest()))
        }
        // A path of names is read for each entry, and where they are put in order, whenever two are compared.
        "groupby" | "sort" => {
            items.saturating_mul(given.longest()).saturating_mul(2 * u64::from(u64::BITS - items.leading_zeros()))
        }
        "tojson" => {
            let Weight { bytes, depth } = given.weights.0;
            (bytes / ENTRY + 1).saturating_mul(numbers.saturating_mul(depth as u64 + 1))
        }
        // A sum of texts or lists copies what it has with each; one that begins with a number takes numbers alone.
        "sum" if given.at(2, "start").is_some_and(|start| !start.is_number()) => {
            items.saturating_mul(given.weights.0.bytes.saturating_add(given.weights.1))
        }
        "join" | "map" | "max" | "min" | "sum" | "unique" => items.saturating_mul(given.longest()),
        // Each entry is held against what the test is given.
        "select" | "reject" | "selectattr" | "rejectattr" => items.saturating_mul(given.weights.1),
        "format" => {
            let places = (text.matches('%').count() as u64).saturating_mul(given.longest());
            // A star takes its width from what is given.
            let widths = if text.contains('*') { numbers } else { 0 };
            widths.saturating_add(digits(&text)).saturating_add(places)
        }
        _ => 0,
    }
}

/// How many pieces a text falls into.
fn pieces(text: &str, by: Option<&Value>) -> usize {
    match by.and_then(Value::as_str) {
        Some("") => text.len(),
        Some(by) => text.matches(by).count(),
        None => text.split_whitespace().count(),
    }
}

/// The sum of all numbers in a text: the widths that a format asks for.
fn digits(text: &str) -> u64 {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
}

/// Has an environment weigh what its filters, tests and functions are given and give back, and write these outputs.
pub(super) fn attach(environment: &mut Environment<'_>, meter: &Arc<Meter>, outputs: &Arc<[Known]>, now: &Now) {
    let by = Arc::clone(meter);
    environment.add_filter(NAME, move |value: Value| by.pass(value));
    let by = Arc::clone(meter);
    environment.add_filter(TEXT, move |state: &mut State<'_, '_>, value: Value| {
        // minijinja would cut nothing out of nothing.
        defined(state, Some(&value))?;
        by.take(value.as_str().map_or(0, |text| text.len() as u64))?;
        if value.kind() == ValueKind::Iterable { by.pass(value) } else { Ok::<_, Error>(value) }
    });
    // minijinja takes the negative of a step, which the least number has none of.
    let step = |step: Value| if step.as_i64() == Some(i64::MIN) { Value::from(-i64::MAX) } else { step };
    environment.add_filter(STEP, step);
    let by = Arc::clone(meter);
    environment.add_filter(jinja_marks::FILTER, move |value: Value, line: u32| {
        by.weigh(&value)?;
        Ok::<_, Error>(jinja_marks::marked(value, line))
    });
    let [first, next, power, all] = FACTORS;
    for (name, role) in [(first, Factor::First), (next, Factor::Next), (power, Factor::Power)] {
        let by = Arc::clone(meter);
        environment.add_filter(name, move |value: Value| by.factor(value, role));
    }
    let by = Arc::clone(meter);
    environment.add_filter(all, move |value: Value| by.product(value));
    jinja_fence::attach(environment);
    let plain = Arc::new(bare());
    for &name in FILTERS {
        let (by, plain) = (Arc::clone(meter), Arc::clone(&plain));
        environment.add_filter(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            filter(name, state, &args.into_values(), &by, &plain)
        });
    }
    for &name in TESTS {
        let (by, plain) = (Arc::clone(meter), Arc::clone(&plain));
        environment.add_test(name, move |args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            args.iter().try_for_each(|value| by.weigh(value).map(drop))?;
            plain.empty_state().perform_test(name, &args)
        });
    }
    for (name, function) in plain.globals() {
        let (by, called) = (Arc::clone(meter), name.to_owned());
        environment.add_function(name.to_owned(), move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            by.take(CALL)?;
            args.iter().try_for_each(|value| by.weigh(value).map(drop))?;
            if called == "range" {
                by.take(args.iter().map(size).fold(0, u64::saturating_add))?;
            }
            function.call(state, &args)
        });
    }
    let by = Arc::clone(meter);
    let (outputs, now) = (Arc::clone(outputs), now.clone());
    environment.set_formatter(move |out, state, value| {
        by.weigh(jinja_fence::inner(value))?;
        jinja_fence::write(out, state, value, &outputs, &now)
    });
}

/// Refuses what is undefined where something is made of it: it would be made of nothing, in silence. In minijinja's own words, which
/// name it; what an `if` without `else` leaves is as empty as its author wrote it.
fn defined(state: &State<'_, '_>, value: Option<&Value>) -> Result<(), Error> {
    value.filter(|value| value.is_undefined()).map_or(Ok(()), |value| StringInput::new(state, value).map(drop))
}

fn filter(name: &str, state: &mut State<'_, '_>, args: &[Value], by: &Meter, plain: &Environment<'_>) -> Result<Value, Error> {
    if !OF_NOTHING.contains(&name) {
        defined(state, args.first())?;
    }
    by.take(growth(name, &Given::weighed(args, by)?).saturating_add(CALL))?;
    // A filter that is called by another one is weighed as well; ours are nobody's to call.
    let inner = args.get(1).filter(|inner| name == "map" && inner.as_str().is_some_and(|inner| FILTERS.contains(&inner)));
    let made = match (inner.and_then(Value::as_str), args.first()) {
        (Some(inner), Some(items)) => {
            let rest = args.get(2..).unwrap_or(&[]);
            let one = |item: Value| state.apply_filter(inner, &[&[item], rest].concat());
            Value::from(items.try_iter()?.map(one).collect::<Result<Vec<_>, _>>()?)
        }
        _ => plain.empty_state().apply_filter(name, args)?,
    };
    by.pass(made)
}
