//! Limits constant folding in a Jinja text: the compiler evaluates `"=" * 40` without counting
//! steps or bytes.

use super::static_limits::MAX_REPEATED_BYTES;
use super::tree::{child_exprs, statement_exprs, visit_statements};
use minijinja::machinery::Span;
use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use minijinja::{Value, value::ValueKind};

/// The cost of an entry of a list or an object besides its text.
const ENTRY_BYTES: f64 = 32.0;

/// The place at which the total size of the constants in a text exceeds the limit.
pub(super) fn find_oversized_constant(stmt: &Stmt<'_>) -> Option<Span> {
    let mut sum = 0.0;
    let mut found = None;
    visit_statements(stmt, &mut |stmt| {
        for expr in statement_exprs(stmt) {
            add_constant_sizes(expr, &mut sum);
            if sum > f64::from(MAX_REPEATED_BYTES) && found.is_none() {
                found = Some(expr.span());
            }
        }
    });
    found
}

/// An upper bound of a constant: bytes of a text or a list, or the size of a number.
#[derive(Clone, Copy)]
enum ConstantBound {
    Bytes(f64),
    Number(f64),
}

/// Adds the sizes of the outermost constant operations of an expression.
fn add_constant_sizes(expr: &Expr<'_>, sum: &mut f64) {
    if let Expr::BinOp(_) = expr
        && let Some(bound) = constant_bound(expr)
    {
        *sum += if let ConstantBound::Bytes(bytes) = bound {
            bytes
        } else {
            0.0
        };
        return;
    }
    for child in child_exprs(expr) {
        add_constant_sizes(child, sum);
    }
}

/// The bound of a constant expression; `None` if it is not constant.
fn constant_bound(expr: &Expr<'_>) -> Option<ConstantBound> {
    match expr {
        Expr::Const(one) => Some(value_bound(&one.value)),
        Expr::UnaryOp(one) => constant_bound(&one.expr),
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => {
            child_exprs(expr)
                .into_iter()
                .try_fold(ConstantBound::Bytes(0.0), |sum, child| {
                    Some(ConstantBound::Bytes(
                        bound_bytes(sum) + ENTRY_BYTES + bound_bytes(constant_bound(child)?),
                    ))
                })
        }
        Expr::BinOp(one) => {
            let left = constant_bound(&one.left)?;
            let right = constant_bound(&one.right)?;
            Some(match (one.op, left, right) {
                (BinOpKind::Mul, ConstantBound::Number(one), ConstantBound::Number(other)) => {
                    ConstantBound::Number(one * other)
                }
                (BinOpKind::Mul, ConstantBound::Bytes(bytes), ConstantBound::Number(times))
                | (BinOpKind::Mul, ConstantBound::Number(times), ConstantBound::Bytes(bytes)) => {
                    ConstantBound::Bytes(bytes * times)
                }
                (BinOpKind::Pow, ConstantBound::Number(one), ConstantBound::Number(power)) => {
                    ConstantBound::Number(one.max(1.0).powf(power))
                }
                // A quotient of small numbers can be arbitrarily large.
                (
                    BinOpKind::Div | BinOpKind::FloorDiv,
                    ConstantBound::Number(one),
                    ConstantBound::Number(other),
                ) => ConstantBound::Number((one / other).abs()),
                (
                    BinOpKind::Add | BinOpKind::Sub | BinOpKind::Rem,
                    ConstantBound::Number(one),
                    ConstantBound::Number(other),
                ) => ConstantBound::Number(one + other),
                (_, left, right) => ConstantBound::Bytes(bound_bytes(left) + bound_bytes(right)),
            })
        }
        _ => None,
    }
}

fn bound_bytes(bound: ConstantBound) -> f64 {
    if let ConstantBound::Bytes(bytes) = bound {
        bytes
    } else {
        ENTRY_BYTES
    }
}

fn value_bound(value: &Value) -> ConstantBound {
    if value.kind() == ValueKind::Number {
        return ConstantBound::Number(f64::try_from(value.clone()).unwrap_or(f64::INFINITY).abs());
    }
    ConstantBound::Bytes(value.as_str().map_or(ENTRY_BYTES, |text| {
        f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX))
    }))
}
