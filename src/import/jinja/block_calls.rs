//! Where a text puts out what one of its blocks says: `self.title()`, `super()`, filtered or kept under a name too.

use crate::jinja::tree::{Call, Expr, Stmt, each, expressions};

/// What a tag does with a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockCall<'t> {
    /// It puts out or keeps what the block says, and does nothing else.
    Whole(Whole<'t>),
    /// It uses what one says in an expression: as it is written.
    Part(String),
}

/// A block that is put out or kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole<'t> {
    /// Its name; `None` for the one that is overridden.
    pub(super) block: Option<&'t str>,
    /// The name under which it is kept, where it is not put out.
    pub(super) kept: Option<&'t str>,
    /// The filters that it goes through, as they are written.
    pub(super) filters: &'t str,
}

impl Whole<'_> {
    /// As it is written.
    pub(super) fn said(&self) -> String {
        said(self.block)
    }
}

fn said(block: Option<&str>) -> String {
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
pub(super) fn block_call<'t>(text: &'t str, stmt: &Stmt<'t>) -> Option<BlockCall<'t>> {
    let (expr, kept) = match stmt {
        Stmt::EmitExpr(one) => (Some(&one.expr), None),
        Stmt::Set(one) => match &one.target {
            Expr::Var(var) => (Some(&one.expr), Some(var.id)),
            _ => (None, None),
        },
        _ => (None, None),
    };
    if let Some((Block(block), filters)) = expr.and_then(|expr| filtered(text, expr)) {
        return Some(BlockCall::Whole(Whole { block, kept, filters }));
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

/// A call of a block and the filters behind it, where an expression is nothing else.
fn filtered<'t>(text: &'t str, expr: &Expr<'t>) -> Option<(Block<'t>, &'t str)> {
    let mut inner = expr;
    while let Expr::Filter(filter) = inner {
        inner = filter.expr.as_ref()?;
    }
    let Expr::Call(call) = inner else { return None };
    let block = called(call).filter(|_| call.args.is_empty())?;
    let filters = text.get(call.span().end_offset as usize..expr.span().end_offset as usize)?;
    Some((block, filters.trim().strip_prefix('|').unwrap_or("").trim()))
}

#[cfg(test)]
#[path = "../../../tests/unit/import/jinja/block_calls.rs"]
mod tests;
