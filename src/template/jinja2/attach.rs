//! The table of what is added, by its names.

use super::{data, markup, texts, turns, wrap};
use minijinja::value::{Rest, ValueOrKwargs};
use minijinja::{Environment, Error, Value};

/// What makes a value of the arguments of a call.
type Makes = fn(&[Value]) -> Result<Value, Error>;

const FILTERS: [(&str, Makes); 15] = [
    ("center", texts::center),
    ("e", markup::escape),
    ("escape", markup::escape),
    ("filesizeformat", data::filesizeformat),
    ("forceescape", markup::forceescape),
    ("groupby", data::groupby),
    ("indent", texts::indent),
    ("replace", texts::replace),
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
    for (name, makes) in FUNCTIONS {
        environment.add_function(name, move |args: Rest<ValueOrKwargs>| makes(&args.into_values()));
    }
}
