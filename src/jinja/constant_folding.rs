//! Limits constant folding in a Jinja text: the compiler evaluates `"=" * 40` without counting
//! steps or bytes.

use super::limits::MAX_REPEATED;
use super::tree::{children, each_stmt, expressions};
use minijinja::machinery::Span;
use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use minijinja::{Value, value::ValueKind};

/// The cost of an entry of a list or an object besides its text.
const ENTRY: f64 = 32.0;

/// The place at which the total size of the constants in a text exceeds the limit.
pub(super) fn too_much(stmt: &Stmt<'_>) -> Option<Span> {
    let mut sum = 0.0;
    let mut found = None;
    each_stmt(stmt, &mut |stmt| {
        for expr in expressions(stmt) {
            repeated(expr, &mut sum);
            if sum > f64::from(MAX_REPEATED) && found.is_none() {
                found = Some(expr.span());
            }
        }
    });
    found
}

/// An upper bound of a constant: bytes of a text or a list, or the size of a number.
#[derive(Clone, Copy)]
enum Bound {
    Bytes(f64),
    Number(f64),
}

/// Adds the sizes of the outermost constant operations of an expression.
fn repeated(expr: &Expr<'_>, sum: &mut f64) {
    if let Expr::BinOp(_) = expr
        && let Some(bound) = bound(expr)
    {
        *sum += if let Bound::Bytes(bytes) = bound {
            bytes
        } else {
            0.0
        };
        return;
    }
    for child in children(expr) {
        repeated(child, sum);
    }
}

/// The bound of a constant expression; `None` if it is not constant.
fn bound(expr: &Expr<'_>) -> Option<Bound> {
    match expr {
        Expr::Const(one) => Some(of(&one.value)),
        Expr::UnaryOp(one) => bound(&one.expr),
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => children(expr)
            .into_iter()
            .try_fold(Bound::Bytes(0.0), |sum, child| {
                Some(Bound::Bytes(bytes(sum) + ENTRY + bytes(bound(child)?)))
            }),
        Expr::BinOp(one) => {
            let left = bound(&one.left)?;
            let right = bound(&one.right)?;
            Some(match (one.op, left, right) {
                (BinOpKind::Mul, Bound::Number(one), Bound::Number(other)) => {
                    Bound::Number(one * other)
                }
                (BinOpKind::Mul, Bound::Bytes(bytes), Bound::Number(times))
                | (BinOpKind::Mul, Bound::Number(times), Bound::Bytes(bytes)) => {
                    Bound::Bytes(bytes * times)
                }
                (BinOpKind::Pow, Bound::Number(one), Bound::Number(power)) => {
                    Bound::Number(one.max(1.0).powf(power))
                }
                // A quotient of small numbers can be arbitrarily large.
                (
                    BinOpKind::Div | BinOpKind::FloorDiv,
                    Bound::Number(one),
                    Bound::Number(other),
                ) => Bound::Number((one / other).abs()),
                (
                    BinOpKind::Add | BinOpKind::Sub | BinOpKind::Rem,
                    Bound::Number(one),
                    Bound::Number(other),
                ) => Bound::Number(one + other),
                (_, left, right) => Bound::Bytes(bytes(left) + bytes(right)),
            })
        }
        _ => None,
    }
}

fn bytes(bound: Bound) -> f64 {
    if let Bound::Bytes(bytes) = bound {
        bytes
    } else {
        ENTRY
    }
}

fn of(value: &Value) -> Bound {
    if value.kind() == ValueKind::Number {
        return Bound::Number(f64::try_from(value.clone()).unwrap_or(f64::INFINITY).abs());
    }
    Bound::Bytes(value.as_str().map_or(ENTRY, |text| {
        f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX))
    }))
}
