//! What a filter or a function is given: its arguments by position or by name, as Python binds them.

use super::floats::said;
use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value};
use std::borrow::Cow;

/// The arguments of a call, in the order of their names.
#[derive(Debug)]
pub(super) struct Given<'a, const N: usize> {
    names: [&'a str; N],
    values: [Option<Value>; N],
}

/// A fault of a call, worded.
pub(super) fn refused(words: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, words)
}

impl<'a, const N: usize> Given<'a, N> {
    /// Binds what a call holds to the names of what it may hold. The first is always given.
    pub(super) fn new(args: &[Value], names: [&'a str; N]) -> Result<Self, Error> {
        let mut values = std::array::from_fn(|_| None);
        let (by_name, positional) = match args.split_last() {
            Some((last, before)) if last.is_kwargs() => (Some(Kwargs::try_from(last.clone())?), before),
            _ => (None, args),
        };
        if positional.len() > N {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        for (slot, value) in values.iter_mut().zip(positional) {
            *slot = Some(value.clone());
        }
        for name in by_name.as_ref().into_iter().flat_map(Kwargs::args) {
            let slot = names.iter().position(|known| *known == name).and_then(|at| values.get_mut(at));
            let Some(slot) = slot else { return Err(refused(format!("there is no argument `{name}`"))) };
            if slot.is_some() {
                return Err(refused(format!("the argument `{name}` is given twice")));
            }
            *slot = by_name.as_ref().map(|given| given.get(name)).transpose()?;
        }
        Ok(Self { names, values })
    }

    /// What is given; `none` as well as nothing counts as nothing.
    pub(super) fn get(&self, at: usize) -> Option<&Value> {
        self.values.get(at)?.as_ref().filter(|value| !value.is_none() && !value.is_undefined())
    }

    /// What is given, even `none`; else another value.
    pub(super) fn or(&self, at: usize, other: impl Into<Value>) -> Value {
        let given = self.values.get(at).and_then(Option::as_ref).filter(|value| !value.is_undefined());
        given.cloned().unwrap_or_else(|| other.into())
    }

    /// What the call is made on. What is undefined is refused, as everywhere.
    pub(super) fn value(&self) -> Result<&Value, Error> {
        match self.values.first() {
            Some(Some(value)) if value.is_undefined() => Err(Error::from(ErrorKind::UndefinedError)),
            Some(Some(value)) => Ok(value),
            Some(None) | None => Err(Error::from(ErrorKind::MissingArgument)),
        }
    }

    /// What the call is made on as a text, whatever it is.
    pub(super) fn text(&self) -> Result<Cow<'_, str>, Error> {
        self.value().map(words)
    }

    /// What the call is made on, which must be a text.
    pub(super) fn own_text(&self) -> Result<&str, Error> {
        let value = self.value()?;
        value.as_str().ok_or_else(|| refused(format!("a text is expected, found {}", value.kind())))
    }

    /// A whole number that is not negative.
    pub(super) fn size(&self, at: usize, default: usize) -> Result<usize, Error> {
        let Some(value) = self.get(at) else { return Ok(default) };
        let size = value.as_usize();
        size.ok_or_else(|| refused(format!("`{}` is a whole number, found {value}", self.names.get(at).unwrap_or(&""))))
    }

    /// Whether an argument is given and true.
    pub(super) fn is_true(&self, at: usize) -> bool {
        self.get(at).is_some_and(Value::is_true)
    }

    /// The words of an argument.
    pub(super) fn words(&self, at: usize) -> Option<Cow<'_, str>> {
        self.get(at).map(words)
    }
}

/// A value as `str` writes it.
pub(crate) fn words(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(said(value).to_string()), Cow::Borrowed)
}
