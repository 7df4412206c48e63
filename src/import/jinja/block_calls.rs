//! Finds the places where a text outputs one of its blocks: `self.title()`, `super()`.

use crate::jinja::tree::{Call, Expr, Stmt, statement_exprs, visit_exprs};

/// The use of a block by a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockCall<'t> {
    /// Outputs the block of this name, and nothing else; `None` for the overridden one.
    Whole(Option<&'t str>),
    /// Uses a block in an expression, as written.
    Part(String),
}

/// A call of a block, as written.
pub(super) fn call_text(block: Option<&str>) -> String {
    block.map_or_else(|| "super()".to_owned(), |block| format!("self.{block}()"))
}

/// The name of a block; `None` for the overridden one.
struct CalledBlock<'t>(Option<&'t str>);

/// The block that an expression calls.
fn called_block<'t>(call: &Call<'t>) -> Option<CalledBlock<'t>> {
    let is = |expr: &Expr<'_>, name: &str| matches!(expr, Expr::Var(var) if var.id == name);
    match &call.expr {
        expr if is(expr, "super") => Some(CalledBlock(None)),
        Expr::GetAttr(method) if is(&method.expr, "self") => Some(CalledBlock(Some(method.name))),
        _ => None,
    }
}

/// The use of a block in a statement.
pub(super) fn find_block_call<'t>(stmt: &Stmt<'t>) -> Option<BlockCall<'t>> {
    if let Stmt::EmitExpr(put) = stmt
        && let Expr::Call(call) = &put.expr
        && let Some(CalledBlock(block)) = called_block(call).filter(|_| call.args.is_empty())
    {
        return Some(BlockCall::Whole(block));
    }
    let mut found = None;
    for expr in statement_exprs(stmt) {
        visit_exprs(expr, &mut |expr| {
            if let (Expr::Call(call), None) = (expr, &found) {
                found = called_block(call);
            }
        });
    }
    found.map(|CalledBlock(block)| BlockCall::Part(call_text(block)))
}

#[cfg(test)]
#[path = "../../../tests/unit/import/jinja/block_calls.rs"]
mod tests;
