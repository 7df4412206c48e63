//! Where a text puts out what one of its blocks says: `self.title()`, `super()`.

use crate::jinja::tree::{Call, Expr, Stmt, each, expressions};

/// What a tag does with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockCall<'t> {
    /// It puts out what the block of this name says, and does nothing else; `None` for the one that is overridden.
    Whole(Option<&'t str>),
    /// It uses what one says in an expression: as it is written.
    Part(String),
}

/// A call of a block as it is written.
pub(super) fn said(block: Option<&str>) -> String {
    block.map_or_else(|| "super()".to_owned(), |block| format!("self.{block}()"))
}

/// The name of a block; `None` for the one that is overridden.
struct Block<'t>(Option<&'t str>);

/// The block that a call asks for.
fn called<'t>(call: &Call<'t>) -> Option<Block<'t>> {
    let is = |expr: &Expr<'_>, name: &str| matches!(expr, Expr::Var(var) if var.id == name);
    match &call.expr {
        expr if is(expr, "super") => Some(Block(None)),
        Expr::GetAttr(method) if is(&method.expr, "self") => Some(Block(Some(method.name))),
        _ => None,
    }
}

/// What a statement does with a block.
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
