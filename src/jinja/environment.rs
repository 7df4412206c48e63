//! The Jinja environment: minijinja, the filters and functions of `minijinja-contrib`, and the
//! methods of Python's values. A missing field is false in a condition, and an error when it is
//! written or used.
//!
//! `debug` is removed: it would reveal more than the values that a text may use.

use super::builtins::{FILTER_NAMES, TEST_NAMES};
use minijinja::filters::tojson;
use minijinja::tests::is_divisibleby;
use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};
use minijinja_contrib::filters::{truncate, wordwrap};
use minijinja_contrib::globals::cycler;

/// The arguments of `truncate`, in the order of Jinja2; minijinja's version accepts them only by
/// name.
const TRUNCATE_ARGUMENTS: [&str; 4] = ["length", "killwords", "end", "leeway"];
/// The arguments of `wordwrap`, in the order of Jinja2.
const WORDWRAP_ARGUMENTS: [&str; 4] = [
    "width",
    "break_long_words",
    "wrapstring",
    "break_on_hyphens",
];

/// The environment without any values.
pub(super) fn build_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    minijinja_contrib::add_to_environment(&mut environment);
    environment.add_filter(
        "truncate",
        |state: &mut State<'_, '_>, value: Value, args: Rest<ValueOrKwargs>| {
            truncate(state, &value, name_arguments(args, TRUNCATE_ARGUMENTS)?)
        },
    );
    environment.add_filter("wordwrap", |value: Value, args: Rest<ValueOrKwargs>| {
        wordwrap(&value, name_arguments(args, WORDWRAP_ARGUMENTS)?)
    });
    environment.add_filter(
        "tojson",
        |value: Value, indent: Option<Value>, args: Kwargs| {
            tojson(&sort_fields(&value), indent, args)
        },
    );
    // minijinja's version takes one list; in Jinja2 each argument is an item of the cycle.
    environment.add_function("cycler", |items: Rest<Value>| cycler(items.0));
    // minijinja's version divides without a check, and panics on zero.
    environment.add_test("divisibleby", |value: Value, by: Value| {
        let is_zero = by.is_number() && !by.is_true();
        if is_zero {
            Err(Error::new(
                ErrorKind::InvalidOperation,
                "nothing is divisible by zero",
            ))
        } else {
            Ok(is_divisibleby(&value, &by))
        }
    });
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.remove_global("debug");
    // Debug mode makes errors name the undefined value and its place, independent of the build of
    // ctxc.
    environment.set_debug(true);
    environment
}

/// Sorts the fields of objects by name, as Jinja2 does for JSON; a value that is not valid JSON
/// stays unchanged.
fn sort_fields(value: &Value) -> Value {
    let Ok(entries) = value.try_iter() else {
        return value.clone();
    };
    match value.kind() {
        ValueKind::Map => {
            let mut keys: Vec<Value> = entries.collect();
            keys.sort_by_cached_key(ToString::to_string);
            Value::from_pairs(keys.into_iter().map(|key| {
                let entry = sort_fields(&value.get_item(&key).unwrap_or_default());
                (key, entry)
            }))
        }
        ValueKind::Seq => entries.map(|entry| sort_fields(&entry)).collect(),
        _ => value.clone(),
    }
}

/// Converts positional arguments to named ones.
fn name_arguments(args: Rest<ValueOrKwargs>, names: [&str; 4]) -> Result<Kwargs, Error> {
    let args = args.into_values();
    let (given, placed) = match args.split_last() {
        Some((last, before)) if last.is_kwargs() => (Some(Kwargs::try_from(last.clone())?), before),
        _ => (None, &*args),
    };
    if placed.len() > names.len() {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let by_place = names.into_iter().zip(placed.iter().cloned());
    let by_name = given.iter().flat_map(|given| {
        given
            .args()
            .map(|name| (name, given.peek::<Value>(name).unwrap_or_default()))
    });
    Ok(by_place.chain(by_name).collect())
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JinjaNameKind {
    /// `{{ a|upper }}`.
    Filter,
    /// `{{ a is defined }}`.
    Test,
    /// `{{ range(3) }}`.
    Function,
    /// `{{ text.strip() }}`.
    Method,
    /// `{{ varargs }}` inside of a macro, `{{ self.block() }}`.
    Variable,
}

impl JinjaNameKind {
    /// All names of this kind, sorted; empty for methods and variables, which belong to values and
    /// texts.
    pub fn known_names(self) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match self {
            Self::Filter => owned(FILTER_NAMES),
            Self::Test => owned(TEST_NAMES),
            Self::Function => {
                let mut names: Vec<String> = build_environment()
                    .globals()
                    .map(|(name, _)| name.to_owned())
                    .collect();
                names.sort();
                names
            }
            Self::Method | Self::Variable => Vec::new(),
        }
    }
}
