//! Walks the syntax tree of a Jinja text, and records its reads and its data flow. Names are
//! resolved only after the whole tree has been recorded.

use super::flow::{BindingCertainty, FlowOutput, FlowScope, JinjaFlow};
use super::tree::{argument_expr, slice_offset, visit_exprs};
use minijinja::machinery::ast::{Call, CallArg, CallType, Expr, ForLoop, Macro, Stmt, WithBlock};
use std::collections::{BTreeMap, BTreeSet};

/// The name of a recursive loop inside itself.
const LOOP_NAME: &str = "loop";
/// The name of a `call` block inside a macro.
const CALLER_NAME: &str = "caller";

/// Analyses the tree of a text.
pub(super) fn analyze_flow<'t>(tree: &Stmt<'t>) -> JinjaFlow<'t> {
    let flow = JinjaFlow {
        scopes: vec![FlowScope::default()],
        ..JinjaFlow::default()
    };
    let mut walk = FlowAnalyzer {
        flow,
        scope: 0,
        capture: None,
        recursive: None,
        in_macro: false,
        set: vec![BTreeSet::from(["self"])],
    };
    if let Stmt::Template(template) = tree {
        walk.walk_body(&template.children);
    }
    walk.flow
}

struct FlowAnalyzer<'t> {
    flow: JinjaFlow<'t>,
    scope: usize,
    /// The node of the text that the innermost statement captures.
    capture: Option<usize>,
    /// The node of the input and output of the innermost recursive loop.
    recursive: Option<usize>,
    in_macro: bool,
    /// The names set so far, by branch.
    set: Vec<BTreeSet<&'t str>>,
}

impl<'t> FlowAnalyzer<'t> {
    fn add_node(&mut self) -> usize {
        self.flow.nodes += 1;
        self.flow.nodes - 1
    }

    fn add_edge(&mut self, from: usize, to: usize) {
        self.flow.edges.push((from, to));
    }

    /// Records the names that expressions read; returns a node that their values reach.
    fn read_expressions<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr<'t>>) -> usize
    where
        't: 'e,
    {
        let node = self.add_node();
        for expr in exprs {
            self.read_into(expr, node);
        }
        if let Some(recursive) = self.recursive {
            self.add_edge(node, recursive);
        }
        node
    }

    fn read_into(&mut self, expr: &Expr<'t>, node: usize) {
        let mut called = None;
        visit_exprs(expr, &mut |expr| match expr {
            Expr::Call(call) => called = Some(std::ptr::from_ref(&call.expr)),
            Expr::Var(var) => {
                self.flow.reads.push((var.id, self.scope, node));
                self.record_read(var.id, called == Some(std::ptr::from_ref(expr)));
            }
            _ => {}
        });
    }

    /// Records a name that is read.
    fn record_read(&mut self, name: &'t str, is_called: bool) {
        if self.set.iter().all(|set| !set.contains(name)) {
            self.flow.variables.insert(name);
            if !is_called {
                self.flow.values.insert(name);
            }
        }
    }

    /// Records names that are read without a data flow from their values.
    fn read_condition(&mut self, expr: &Expr<'t>) {
        self.read_expressions([expr]);
    }

    /// Binds a name in the scope, with a data flow from a node.
    fn bind_name(
        &mut self,
        name: &'t str,
        from: Option<usize>,
        certainty: BindingCertainty,
    ) -> usize {
        let new = self.flow.nodes;
        let node = self.flow.scopes.get_mut(self.scope).map_or(new, |scope| {
            scope.names.entry(name).or_insert((new, certainty)).0
        });
        self.flow.nodes = new + usize::from(node == new);
        if let Some(from) = from {
            self.add_edge(from, node);
        }
        if let Some(set) = self.set.last_mut() {
            set.insert(name);
        }
        node
    }

    /// Binds the targets of an assignment, or records a write into a field of a target.
    fn assign(&mut self, target: &Expr<'t>, from: usize, certainty: BindingCertainty) {
        match target {
            Expr::Var(var) => drop(self.bind_name(var.id, Some(from), certainty)),
            Expr::List(list) => list
                .items
                .iter()
                .for_each(|item| self.assign(item, from, certainty)),
            Expr::GetAttr(field) => {
                self.read_condition(&field.expr);
                self.flow.shared.push(from);
                // The arguments of a macro are not tracked.
                self.flow.is_shared_unknown |= self.in_macro;
            }
            _ => {}
        }
    }

    fn enter_scope(&mut self) -> usize {
        self.flow.scopes.push(FlowScope {
            parent: Some(self.scope),
            names: BTreeMap::new(),
        });
        std::mem::replace(&mut self.scope, self.flow.scopes.len() - 1)
    }

    fn walk_body(&mut self, body: &[Stmt<'t>]) {
        for stmt in body {
            self.walk_statement(stmt);
        }
    }

    /// A body that may not run; returns the names that it sets.
    fn walk_branch(&mut self, body: &[Stmt<'t>]) -> BTreeSet<&'t str> {
        self.set.push(BTreeSet::new());
        self.walk_body(body);
        self.set.pop().unwrap_or_default()
    }

    /// A body whose text is captured; returns its node.
    fn walk_captured(&mut self, body: &[Stmt<'t>]) -> usize {
        let node = self.add_node();
        let outer = self.capture.replace(node);
        self.walk_body(body);
        self.capture = outer;
        node
    }

    /// Records an output, also as a part of the current capture.
    fn record_output(&mut self, node: usize, part_of: Option<&'t str>, start: usize) {
        for around in [self.capture, self.recursive].into_iter().flatten() {
            self.add_edge(node, around);
        }
        self.flow.outputs.push(FlowOutput {
            node,
            part_of,
            start,
        });
    }

    fn walk_statement(&mut self, stmt: &Stmt<'t>) {
        let start = |span: minijinja::machinery::Span| span.start_offset as usize;
        match stmt {
            Stmt::EmitExpr(one) => {
                let node = self.read_expressions([&one.expr]);
                if !writes_output_itself(&one.expr) {
                    self.record_output(node, root_name(&one.expr), start(one.expr.span()));
                }
            }
            Stmt::IfCond(one) => {
                self.read_condition(&one.expr);
                let yes = self.walk_branch(&one.true_body);
                let no = self.walk_branch(&one.false_body);
                self.set
                    .last_mut()
                    .into_iter()
                    .for_each(|set| set.extend(yes.intersection(&no)));
            }
            Stmt::ForLoop(one) => self.walk_loop(one),
            Stmt::WithBlock(one) => self.walk_with(one),
            Stmt::Set(one) => {
                let node = self.read_expressions([&one.expr]);
                self.assign(&one.target, node, BindingCertainty::Possible);
            }
            Stmt::SetBlock(one) => {
                let kept = self.walk_captured(&one.body);
                let node = self.read_expressions(&one.filter);
                self.add_edge(kept, node);
                self.assign(&one.target, node, BindingCertainty::Possible);
            }
            Stmt::AutoEscape(one) => {
                self.read_condition(&one.enabled);
                self.walk_body(&one.body);
            }
            Stmt::FilterBlock(one) => {
                let kept = self.walk_captured(&one.body);
                let node = self.read_expressions([&one.filter]);
                self.add_edge(kept, node);
                self.record_output(node, None, start(one.span()));
            }
            Stmt::Macro(one) => {
                let name = self.bind_name(one.name, None, BindingCertainty::Possible);
                let kept = self.walk_macro(one);
                self.add_edge(kept, name);
            }
            Stmt::CallBlock(one) => {
                let kept = self.walk_macro(&one.macro_decl);
                let node = self.walk_call(&one.call);
                self.add_edge(kept, node);
                self.record_output(node, None, start(one.span()));
            }
            Stmt::Do(one) => drop(self.walk_call(&one.call)),
            Stmt::Template(_) | Stmt::Block(_) => drop(
                super::tree::inner_statements(stmt)
                    .map(|inner| self.walk_statement(inner))
                    .count(),
            ),
            Stmt::EmitRaw(_)
            | Stmt::Import(_)
            | Stmt::FromImport(_)
            | Stmt::Extends(_)
            | Stmt::Include(_) => {}
        }
    }

    fn walk_loop(&mut self, one: &ForLoop<'t>) {
        let items = self.read_expressions([&one.iter]);
        let outer = (self.enter_scope(), self.recursive);
        if one.recursive {
            self.recursive = Some(items);
        }
        self.set.push(BTreeSet::new());
        self.assign(&one.target, items, BindingCertainty::Certain);
        self.bind_name(LOOP_NAME, Some(items), BindingCertainty::Certain);
        visit_exprs(&one.target, &mut |target| {
            if let Expr::Var(var) = target {
                self.flow.items.insert(var.id);
            }
        });
        one.filter_expr
            .iter()
            .for_each(|filter| self.read_condition(filter));
        self.walk_body(&one.body);
        self.set.pop();
        (self.scope, self.recursive) = outer;
        // The `else` of a loop runs outside of it, and its assignments may never happen.
        self.walk_branch(&one.else_body);
    }

    fn walk_with(&mut self, one: &WithBlock<'t>) {
        self.set.push(BTreeSet::new());
        let outer = self.enter_scope();
        for (target, value) in &one.assignments {
            let node = self.read_expressions([value]);
            // The value may read the name's outer binding.
            visit_exprs(value, &mut |expr| {
                if let Expr::Var(var) = expr {
                    self.flow.reads.push((var.id, outer, node));
                }
            });
            self.assign(target, node, BindingCertainty::Certain);
        }
        self.walk_body(&one.body);
        self.scope = outer;
        self.set.pop();
    }

    fn walk_call(&mut self, call: &Call<'t>) -> usize {
        if let Expr::Var(var) = &call.expr {
            self.record_read(var.id, true);
        }
        let node = self.read_expressions(call.args.iter().map(argument_expr));
        match &call.expr {
            Expr::Var(var) => self.flow.reads.push((var.id, self.scope, node)),
            other => self.read_into(other, node),
        }
        node
    }

    /// The parameters and the body of a macro or a call; returns the node of its output.
    fn walk_macro(&mut self, one: &Macro<'t>) -> usize {
        self.set.push(BTreeSet::new());
        let outer = self.enter_scope();
        let was_in_macro = std::mem::replace(&mut self.in_macro, true);
        self.bind_name(CALLER_NAME, None, BindingCertainty::Certain);
        let without = one.args.len() - one.defaults.len().min(one.args.len());
        for (number, target) in one.args.iter().enumerate() {
            let default = number
                .checked_sub(without)
                .and_then(|number| one.defaults.get(number));
            let node = self.add_node();
            if let Some(default) = default {
                self.read_into(default, node);
                visit_exprs(default, &mut |expr| {
                    if let Expr::Var(var) = expr {
                        self.flow.reads.push((var.id, outer, node));
                    }
                });
            }
            self.assign(target, node, BindingCertainty::Certain);
        }
        let kept = self.walk_captured(&one.body);
        (self.scope, self.in_macro) = (outer, was_in_macro);
        self.set.pop();
        kept
    }
}

/// Returns true if a loop or a block writes an output itself, without an `Emit` instruction.
fn writes_output_itself(expr: &Expr<'_>) -> bool {
    let Expr::Call(call) = expr else { return false };
    match call.identify_call() {
        CallType::Function(LOOP_NAME) => {
            matches!(
                &*call.args,
                [CallArg::Pos(_)
                    | CallArg::Kwarg(..)
                    | CallArg::PosSplat(_)
                    | CallArg::KwargSplat(_)]
            )
        }
        CallType::Function("super") => call.args.is_empty(),
        CallType::Block(_) => true,
        CallType::Function(_) | CallType::Method(..) | CallType::Object(_) => false,
    }
}

/// The name from which an expression takes its value, or a part of it.
fn root_name<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    match expr {
        Expr::Var(var) => Some(var.id),
        Expr::GetAttr(one) => root_name(&one.expr),
        Expr::GetItem(one) => root_name(&one.expr),
        Expr::Slice(one) => root_name(&one.expr),
        Expr::Filter(one) => one.expr.as_ref().and_then(root_name),
        Expr::Call(one) => {
            if let Expr::GetAttr(method) = &one.expr {
                root_name(&method.expr)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Macro arguments whose default uses another argument, which has no value yet, with the offset of
/// that use.
pub(super) fn find_early_defaults<'t>(
    text: &str,
    one: &Macro<'t>,
) -> Vec<(&'t str, &'t str, usize)> {
    let name = |expr: &Expr<'t>| {
        if let Expr::Var(var) = expr {
            Some(var.id)
        } else {
            None
        }
    };
    let names: Vec<&str> = one.args.iter().filter_map(name).collect();
    let with_default = names
        .iter()
        .skip(names.len().saturating_sub(one.defaults.len()));
    let mut found = Vec::new();
    for (argument, default) in with_default.zip(&one.defaults) {
        let mut first = None;
        visit_exprs(default, &mut |expr| {
            let other = name(expr).filter(|other| names.contains(other));
            first = first.or(other.map(|other| (*argument, other, slice_offset(text, other))));
        });
        found.extend(first);
    }
    found
}
