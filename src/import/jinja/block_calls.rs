//! Finds the places where a text outputs one of its blocks: `self.title()`, `super()`.

use crate::jinja::tree::{Call, Expr, Stmt, each, expressions};

/// The use of a block by a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockCall<'t> {
    /// Outputs the block of this name, and nothing else; `None` for the overridden one.
    Whole(Option<&'t str>),
    /// Uses a block in an expression, as written.
    Part(String),
}

/// A call of a block, as written.
pub(super) fn said(block: Option<&str>) -> String {
    block.map_or_else(|| "super()".to_owned(), |block| format!("self.{block}()"))
}

/// The name of a block; `None` for the overridden one.
struct Block<'t>(Option<&'t str>);

/// The block that an expression calls.
fn called<'t>(call: &Call<'t>) -> Option<Block<'t>> {
    let is = |expr: &Expr<'_>, name: &str| matches!(expr, Expr::Var(var) if var.id == name);
    match &call.expr {
        expr if is(expr, "super") => Some(Block(None)),
        Expr::GetAttr(method) if is(&method.expr, "self") => Some(Block(Some(method.name))),
        _ => None,
    }
}

/// The use of a block in a statement.
pub(super) fn block_call<'t>(stmt: &Stmt<'t>) -> Option<BlockCall<'t>> {
    if let Stmt::EmitExpr(put) = stmt
        && let Expr::Call(call) = &put.expr
        && let Some(Block(block)) = called(call).filter(|_| call.args.is_empty())
    {
        return Some(BlockCall::Whole(block));
    }
    let mut found = None;
    for expr in expressions(stmt) {
        each(expr, &mut |expr| {
            if let (Expr::Call(call), None) = (expr, &found) {
                found = called(call);
            }
        });
    }
    found.map(|Block(block)| BlockCall::Part(said(block)))
}

#[cfg(test)]
#[path = "../../../tests/unit/import/jinja/block_calls.rs"]
mod tests;
