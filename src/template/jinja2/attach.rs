//! The table of what is added, by its names.

use super::{data, floats, lists, markup, numbers, texts, turns, wrap};
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, Value};

/// What makes a value of the arguments of a call.
type Makes = fn(&[Value]) -> Result<Value, Error>;

const FILTERS: [(&str, Makes); 20] = [
    ("batch", lists::batch),
    ("center", texts::center),
    ("e", markup::escape),
    ("escape", markup::escape),
    ("filesizeformat", data::filesizeformat),
    ("float", numbers::float),
    ("forceescape", markup::forceescape),
    ("groupby", data::groupby),
    ("indent", texts::indent),
    ("int", numbers::int),
    ("replace", texts::replace),
    ("slice", lists::slice),
    ("string", floats::string),
    ("striptags", markup::striptags),
    ("tojson", data::tojson),
    ("truncate", texts::truncate),
    ("urlencode", markup::urlencode),
    ("wordcount", texts::wordcount),
    ("wordwrap", wrap::wordwrap),
    ("xmlattr", markup::xmlattr),
];

const FUNCTIONS: [(&str, Makes); 2] = [("cycler", turns::cycler), ("joiner", turns::joiner)];

/// Has an environment know them.
pub(in crate::template) fn attach(environment: &mut Environment<'_>) {
    for (name, makes) in FILTERS {
        environment.add_filter(name, move |args: Rest<ValueOrKwargs>| makes(&args.into_values()));
    }
    environment.set_formatter(|out, state, value| minijinja::escape_formatter(out, state, &floats::said(value)));
    // What has a length and entries that are looked up: a text and an object, too.
    environment.add_test("sequence", |value: Value| {
        value.is_undefined() || matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::String)
    });
    // minijinja divides by what it is given, and nothing divides by nothing.
    environment.add_test("divisibleby", |args: Rest<Value>| numbers::divisibleby(&args));
    for (name, makes) in FUNCTIONS {
        environment.add_function(name, move |args: Rest<ValueOrKwargs>| makes(&args.into_values()));
    }
}
