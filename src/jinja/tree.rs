//! Traversals of minijinja's syntax tree.
//!
//! Recursive: requires texts that `depth` has accepted.

pub(crate) use minijinja::machinery::ast::{
    BinOpKind, Call, CallArg, CompareOpKind, Expr, FromImport, Stmt, UnaryOpKind,
};
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

/// Parses a text into its tree.
pub(crate) fn parse_tree(text: &str) -> Result<Stmt<'_>, minijinja::Error> {
    parse(text, "text", SyntaxConfig::default())
}

/// The offset of a slice of a text.
pub(crate) fn slice_offset(text: &str, slice: &str) -> usize {
    slice
        .as_ptr()
        .addr()
        .saturating_sub(text.as_ptr().addr())
        .min(text.len())
}

/// The expression of an argument.
pub(crate) fn argument_expr<'e, 't>(argument: &'e CallArg<'t>) -> &'e Expr<'t> {
    match argument {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

/// The direct subexpressions of an expression, in the order of the text, except `a if b`, which
/// yields `b` first.
pub(crate) fn child_exprs<'e, 't>(expr: &'e Expr<'t>) -> Vec<&'e Expr<'t>> {
    fn call_exprs<'e, 't>(of: &'e Expr<'t>, args: &'e [CallArg<'t>]) -> Vec<&'e Expr<'t>> {
        std::iter::once(of)
            .chain(args.iter().map(argument_expr))
            .collect()
    }
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(one) => [
            Some(&one.expr),
            one.start.as_ref(),
            one.stop.as_ref(),
            one.step.as_ref(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Expr::UnaryOp(one) => vec![&one.expr],
        Expr::BinOp(one) => vec![&one.left, &one.right],
        Expr::Compare(one) => std::iter::once(&one.expr)
            .chain(one.ops.iter().map(|other| &other.expr))
            .collect(),
        Expr::IfExpr(one) => [
            Some(&one.test_expr),
            Some(&one.true_expr),
            one.false_expr.as_ref(),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Expr::Filter(one) => one
            .expr
            .iter()
            .chain(one.args.iter().map(argument_expr))
            .collect(),
        Expr::Test(one) => call_exprs(&one.expr, &one.args),
        Expr::GetAttr(one) => vec![&one.expr],
        Expr::GetItem(one) => vec![&one.expr, &one.subscript_expr],
        Expr::Call(one) => call_exprs(&one.expr, &one.args),
        Expr::List(one) => one.items.iter().collect(),
        Expr::Tuple(one) => one.items.iter().collect(),
        Expr::Map(one) => one
            .keys
            .iter()
            .zip(&one.values)
            .flat_map(|(key, value)| [key, value])
            .collect(),
    }
}

/// Visits an expression and all its subexpressions, outermost first.
pub(crate) fn visit_exprs<'e, 't>(expr: &'e Expr<'t>, look: &mut impl FnMut(&'e Expr<'t>)) {
    look(expr);
    for child in child_exprs(expr) {
        visit_exprs(child, look);
    }
}

/// The expressions directly in a statement; the target of an assignment only if it is a field.
pub(crate) fn statement_exprs<'s, 't>(stmt: &'s Stmt<'t>) -> Vec<&'s Expr<'t>> {
    let field =
        |target: &'s Expr<'t>| Some(target).filter(|target| matches!(target, Expr::GetAttr(_)));
    match stmt {
        Stmt::EmitExpr(one) => vec![&one.expr],
        Stmt::ForLoop(one) => std::iter::once(&one.iter).chain(&one.filter_expr).collect(),
        Stmt::IfCond(one) => vec![&one.expr],
        Stmt::WithBlock(one) => one.assignments.iter().map(|(_, value)| value).collect(),
        Stmt::Set(one) => field(&one.target).into_iter().chain([&one.expr]).collect(),
        Stmt::SetBlock(one) => field(&one.target).into_iter().chain(&one.filter).collect(),
        Stmt::AutoEscape(one) => vec![&one.enabled],
        Stmt::FilterBlock(one) => vec![&one.filter],
        Stmt::Macro(one) => one.defaults.iter().collect(),
        Stmt::CallBlock(one) => {
            let args = one.call.args.iter().map(argument_expr);
            std::iter::once(&one.call.expr)
                .chain(args)
                .chain(&one.macro_decl.defaults)
                .collect()
        }
        Stmt::Do(one) => std::iter::once(&one.call.expr)
            .chain(one.call.args.iter().map(argument_expr))
            .collect(),
        Stmt::Template(_)
        | Stmt::EmitRaw(_)
        | Stmt::Block(_)
        | Stmt::Import(_)
        | Stmt::FromImport(_)
        | Stmt::Extends(_)
        | Stmt::Include(_) => Vec::new(),
    }
}

/// The statements directly in a statement.
pub(crate) fn inner_statements<'s, 't>(stmt: &'s Stmt<'t>) -> impl Iterator<Item = &'s Stmt<'t>> {
    let (one, other): (&[Stmt<'t>], &[Stmt<'t>]) = match stmt {
        Stmt::Template(one) => (&one.children, &[]),
        Stmt::ForLoop(one) => (&one.body, &one.else_body),
        Stmt::IfCond(one) => (&one.true_body, &one.false_body),
        Stmt::WithBlock(one) => (&one.body, &[]),
        Stmt::SetBlock(one) => (&one.body, &[]),
        Stmt::AutoEscape(one) => (&one.body, &[]),
        Stmt::FilterBlock(one) => (&one.body, &[]),
        Stmt::Block(one) => (&one.body, &[]),
        Stmt::Macro(one) => (&one.body, &[]),
        Stmt::CallBlock(one) => (&one.macro_decl.body, &[]),
        Stmt::EmitExpr(_)
        | Stmt::EmitRaw(_)
        | Stmt::Set(_)
        | Stmt::Import(_)
        | Stmt::FromImport(_)
        | Stmt::Extends(_)
        | Stmt::Include(_)
        | Stmt::Do(_) => (&[], &[]),
    };
    one.iter().chain(other)
}

/// Visits a statement and all statements in it, outermost first.
pub(crate) fn visit_statements<'s, 't>(stmt: &'s Stmt<'t>, look: &mut impl FnMut(&'s Stmt<'t>)) {
    look(stmt);
    for inner in inner_statements(stmt) {
        visit_statements(inner, look);
    }
}

/// Each name that is read, with its offset and true if it is called; without fields, filters and
/// names of arguments.
pub(crate) fn read_names<'t>(text: &str, stmt: &Stmt<'t>) -> Vec<(&'t str, usize, bool)> {
    let mut found = Vec::new();
    visit_statements(stmt, &mut |stmt| {
        for expr in statement_exprs(stmt) {
            let mut called = if matches!(stmt, Stmt::CallBlock(_) | Stmt::Do(_)) {
                Some(std::ptr::from_ref(expr))
            } else {
                None
            };
            visit_exprs(expr, &mut |expr| match expr {
                Expr::Call(call) => called = Some(std::ptr::from_ref(&call.expr)),
                Expr::Var(var) => found.push((
                    var.id,
                    slice_offset(text, var.id),
                    called == Some(std::ptr::from_ref(expr)),
                )),
                _ => {}
            });
        }
    });
    found
}
