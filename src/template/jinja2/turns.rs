//! `cycler` and `joiner`: what says something else each time that it is asked.
//!
//! Both live as long as one render, so the same text with the same values says the same. What a cycler holds can be seen as its
//! items, so that it is weighed, and never nests without being noticed.

use super::given::{Given, refused};
use minijinja::value::{Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[derive(Debug)]
struct Cycler {
    items: Vec<Value>,
    at: AtomicUsize,
}

impl Cycler {
    fn current(&self) -> Value {
        self.items.get(self.at.load(Ordering::Relaxed)).cloned().unwrap_or_default()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        if key.as_str() == Some("current") { Some(self.current()) } else { self.items.get(key.as_usize()?).cloned() }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, method: &str, args: &[Value]) -> Result<Value, Error> {
        if !args.is_empty() {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        let current = self.current();
        match method {
            "next" => self.at.store((self.at.load(Ordering::Relaxed) + 1) % self.items.len().max(1), Ordering::Relaxed),
            "reset" => self.at.store(0, Ordering::Relaxed),
            _ => return Err(Error::from(ErrorKind::UnknownMethod)),
        }
        Ok(if method == "next" { current } else { Value::from(()) })
    }
}

/// `cycler(…)`.
pub(super) fn cycler(args: &[Value]) -> Result<Value, Error> {
    if args.is_empty() || args.last().is_some_and(Value::is_kwargs) {
        return Err(refused("a cycler goes through what it is given: at least one value, without a name"));
    }
    Ok(Value::from_object(Cycler { items: args.to_vec(), at: AtomicUsize::new(0) }))
}

#[derive(Debug)]
struct Joiner {
    between: Value,
    is_used: AtomicBool,
}

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_usize() == Some(0)).then(|| self.between.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(1)
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        if !args.is_empty() {
            return Err(Error::from(ErrorKind::TooManyArguments));
        }
        Ok(if self.is_used.swap(true, Ordering::Relaxed) { self.between.clone() } else { Value::from("") })
    }
}

/// `joiner(sep=", ")`.
pub(super) fn joiner(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["sep"])?;
    let between = given.get(0).cloned().unwrap_or_else(|| Value::from(", "));
    Ok(Value::from_object(Joiner { between, is_used: AtomicBool::new(false) }))
}
