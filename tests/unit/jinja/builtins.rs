//! Tests of the private items of `src/jinja/builtins.rs`.

use super::{FILTER_NAMES, TEST_NAMES, filter_argument_bounds};
use crate::jinja::environment::build_environment;
use minijinja::{ErrorKind, Value};
use pretty_assertions::assert_eq;

/// The words between quotes of one field of what minijinja shows of itself.
fn quoted_words(field: &str) -> Vec<String> {
    let all = format!("{:?}", build_environment());
    let (_, list) = all
        .split_once(&format!("{field}: ["))
        .expect("a list of names");
    let (list, _) = list.split_once(']').expect("its end");
    let words = list
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words.map(str::to_owned).collect()
}

#[test]
fn they_are_those_of_the_environment() {
    assert_eq!(quoted_words("filters"), FILTER_NAMES);
    assert_eq!(quoted_words("tests"), TEST_NAMES);
}

#[test]
fn filters_take_as_many_arguments_as_those_of_the_environment() {
    let environment = build_environment();
    let fails = |filter: &str, count: usize, kind: ErrorKind| {
        let values = [
            Value::from("x"),
            Value::from(1),
            Value::from(Vec::<Value>::new()),
        ];
        let others = [Value::from("x"), Value::from(1), Value::from(())];
        values.iter().any(|value| {
            // None stands for an argument that is not there.
            others
                .iter()
                .filter(|other| kind != ErrorKind::MissingArgument || !other.is_none())
                .any(|other| {
                    let args: Vec<Value> = std::iter::once(value)
                        .chain(std::iter::repeat_n(other, count))
                        .cloned()
                        .collect();
                    environment
                        .empty_state()
                        .apply_filter(filter, &args)
                        .is_err_and(|error| error.kind() == kind)
                })
        })
    };
    let mut wrong = Vec::new();
    for filter in FILTER_NAMES {
        let (least, most) = filter_argument_bounds(filter);
        let taken = |count: &usize| {
            fails(filter, *count, ErrorKind::MissingArgument) == (*count < least)
                && fails(filter, *count, ErrorKind::TooManyArguments) == (*count > most)
        };
        wrong.extend(
            (0..6)
                .filter(|count| !taken(count))
                .map(|count| format!("{filter} {count}")),
        );
    }
    assert_eq!(wrong, [""; 0]);
}
