//! Settings that say in one row what they take, what they are for, and where their value goes.

use super::glob::Globs;
use super::table::{Key, Shape, key};
use crate::base::span::Spanned;

/// A key of a table that is read into a `T`.
#[derive(Debug)]
pub struct Row<T: 'static> {
    /// The key.
    pub key: Key,
    /// How its value is read, and where it goes.
    pub set: Set<T>,
}

/// How a value is read, and where it goes. A value that cannot be taken goes nowhere.
#[derive(Debug)]
pub enum Set<T: 'static> {
    /// A whole number in bounds.
    Whole((u64, u64), fn(&mut T, Spanned<u64>)),
    /// A number in bounds.
    Number((f64, f64), fn(&mut T, Spanned<f64>)),
    /// Patterns of paths.
    Globs(fn(&mut T, Globs)),
}

impl<T> Row<T> {
    /// A whole number.
    pub const fn whole(name: &'static str, bounds: (u64, u64), about: &'static str, set: fn(&mut T, Spanned<u64>)) -> Self {
        Self { key: key(name, Shape::Whole(bounds), about), set: Set::Whole(bounds, set) }
    }

    /// A number.
    pub const fn number(name: &'static str, bounds: (f64, f64), about: &'static str, set: fn(&mut T, Spanned<f64>)) -> Self {
        Self { key: key(name, Shape::Number(bounds), about), set: Set::Number(bounds, set) }
    }

    /// Patterns of paths.
    pub const fn globs(name: &'static str, about: &'static str, set: fn(&mut T, Globs)) -> Self {
        Self { key: key(name, Shape::Globs, about), set: Set::Globs(set) }
    }
}

/// The keys of some rows.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, and within the array")]
pub const fn keys<T, const N: usize>(rows: &[Row<T>; N]) -> [Key; N] {
    let mut keys = [rows[0].key; N];
    let mut at = 0;
    while at < N {
        keys[at] = rows[at].key;
        at += 1;
    }
    keys
}
