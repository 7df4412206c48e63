//! Walks the syntax tree of a Jinja text, and records its reads and its data flow. Names are
//! resolved only after the whole tree has been recorded.

use super::flow::{Flow, Output, Scope};
use super::tree::{argument, each, place};
use minijinja::machinery::ast::{Call, CallArg, CallType, Expr, ForLoop, Macro, Stmt, WithBlock};
use std::collections::{BTreeMap, BTreeSet};

/// The name of a recursive loop inside itself.
const LOOP: &str = "loop";
/// The name of a `call` block inside a macro.
const CALLER: &str = "caller";

/// Analyses the tree of a text.
pub(super) fn flow<'t>(tree: &Stmt<'t>) -> Flow<'t> {
    let flow = Flow {
        scopes: vec![Scope::default()],
        ..Flow::default()
    };
    let mut walk = Walk {
        flow,
        scope: 0,
        capture: None,
        recursive: None,
        in_macro: false,
        set: vec![BTreeSet::from(["self"])],
    };
    if let Stmt::Template(template) = tree {
        walk.body(&template.children);
    }
    walk.flow
}

struct Walk<'t> {
    flow: Flow<'t>,
    scope: usize,
    /// The node of the text that the innermost statement captures.
    capture: Option<usize>,
    /// The node of the input and output of the innermost recursive loop.
    recursive: Option<usize>,
    in_macro: bool,
    /// The names set so far, by branch.
    set: Vec<BTreeSet<&'t str>>,
}

impl<'t> Walk<'t> {
    fn node(&mut self) -> usize {
        self.flow.nodes += 1;
        self.flow.nodes - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.flow.edges.push((from, to));
    }

    /// Records the names that expressions read; returns a node that their values reach.
    fn read<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr<'t>>) -> usize
    where
        't: 'e,
    {
        let node = self.node();
        for expr in exprs {
            self.read_into(expr, node);
        }
        if let Some(recursive) = self.recursive {
            self.edge(node, recursive);
        }
        node
    }

    fn read_into(&mut self, expr: &Expr<'t>, node: usize) {
        let mut called = None;
        each(expr, &mut |expr| match expr {
            Expr::Call(call) => called = Some(std::ptr::from_ref(&call.expr)),
            Expr::Var(var) => {
                self.flow.reads.push((var.id, self.scope, node));
                self.reads(var.id, called == Some(std::ptr::from_ref(expr)));
            }
            _ => {}
        });
    }

    /// Records a name that is read.
    fn reads(&mut self, name: &'t str, is_called: bool) {
        if self.set.iter().all(|set| !set.contains(name)) {
            self.flow.variables.insert(name);
            if !is_called {
                self.flow.values.insert(name);
            }
        }
    }

    /// Records names that are read without a data flow from their values.
    fn condition(&mut self, expr: &Expr<'t>) {
        self.read([expr]);
    }

    /// Binds a name in the scope, with a data flow from a node.
    fn bind(&mut self, name: &'t str, from: Option<usize>, is_certain: bool) -> usize {
        let new = self.flow.nodes;
        let node = self.flow.scopes.get_mut(self.scope).map_or(new, |scope| {
            scope.names.entry(name).or_insert((new, is_certain)).0
        });
        self.flow.nodes = new + usize::from(node == new);
        if let Some(from) = from {
            self.edge(from, node);
        }
        if let Some(set) = self.set.last_mut() {
            set.insert(name);
        }
        node
    }

    /// Binds the targets of an assignment, or records a write into a field of a target.
    fn assign(&mut self, target: &Expr<'t>, from: usize, is_certain: bool) {
        match target {
            Expr::Var(var) => drop(self.bind(var.id, Some(from), is_certain)),
            Expr::List(list) => list
                .items
                .iter()
                .for_each(|item| self.assign(item, from, is_certain)),
            Expr::GetAttr(field) => {
                self.condition(&field.expr);
                self.flow.shared.push(from);
                // The arguments of a macro are not tracked.
                self.flow.is_shared_unknown |= self.in_macro;
            }
            _ => {}
        }
    }

    fn enter(&mut self) -> usize {
        self.flow.scopes.push(Scope {
            parent: Some(self.scope),
            names: BTreeMap::new(),
        });
        std::mem::replace(&mut self.scope, self.flow.scopes.len() - 1)
    }

    fn body(&mut self, body: &[Stmt<'t>]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    /// A body that may not run; returns the names that it sets.
    fn branch(&mut self, body: &[Stmt<'t>]) -> BTreeSet<&'t str> {
        self.set.push(BTreeSet::new());
        self.body(body);
        self.set.pop().unwrap_or_default()
    }

    /// A body whose text is captured; returns its node.
    fn captured(&mut self, body: &[Stmt<'t>]) -> usize {
        let node = self.node();
        let outer = self.capture.replace(node);
        self.body(body);
        self.capture = outer;
        node
    }

    /// Records an output, also as a part of the current capture.
    fn write(&mut self, node: usize, part_of: Option<&'t str>, start: usize) {
        for around in [self.capture, self.recursive].into_iter().flatten() {
            self.edge(node, around);
        }
        self.flow.outputs.push(Output {
            node,
            part_of,
            start,
        });
    }

    fn statement(&mut self, stmt: &Stmt<'t>) {
        let start = |span: minijinja::machinery::Span| span.start_offset as usize;
        match stmt {
            Stmt::EmitExpr(one) => {
                let node = self.read([&one.expr]);
                if !is_own_call(&one.expr) {
                    self.write(node, root(&one.expr), start(one.expr.span()));
                }
            }
            Stmt::IfCond(one) => {
                self.condition(&one.expr);
                let yes = self.branch(&one.true_body);
                let no = self.branch(&one.false_body);
                self.set
                    .last_mut()
                    .into_iter()
                    .for_each(|set| set.extend(yes.intersection(&no)));
            }
            Stmt::ForLoop(one) => self.for_each(one),
            Stmt::WithBlock(one) => self.with(one),
            Stmt::Set(one) => {
                let node = self.read([&one.expr]);
                self.assign(&one.target, node, false);
            }
            Stmt::SetBlock(one) => {
                let kept = self.captured(&one.body);
                let node = self.read(&one.filter);
                self.edge(kept, node);
                self.assign(&one.target, node, false);
            }
            Stmt::AutoEscape(one) => {
                self.condition(&one.enabled);
                self.body(&one.body);
            }
            Stmt::FilterBlock(one) => {
                let kept = self.captured(&one.body);
                let node = self.read([&one.filter]);
                self.edge(kept, node);
                self.write(node, None, start(one.span()));
            }
            Stmt::Macro(one) => {
                let name = self.bind(one.name, None, false);
                let kept = self.declared(one);
                self.edge(kept, name);
            }
            Stmt::CallBlock(one) => {
                let kept = self.declared(&one.macro_decl);
                let node = self.called(&one.call);
                self.edge(kept, node);
                self.write(node, None, start(one.span()));
            }
            Stmt::Do(one) => drop(self.called(&one.call)),
            Stmt::Template(_) | Stmt::Block(_) => drop(
                super::tree::inner(stmt)
                    .map(|inner| self.statement(inner))
                    .count(),
            ),
            Stmt::EmitRaw(_)
            | Stmt::Import(_)
            | Stmt::FromImport(_)
            | Stmt::Extends(_)
            | Stmt::Include(_) => {}
        }
    }

    fn for_each(&mut self, one: &ForLoop<'t>) {
        let items = self.read([&one.iter]);
        let outer = (self.enter(), self.recursive);
        if one.recursive {
            self.recursive = Some(items);
        }
        self.set.push(BTreeSet::new());
        self.assign(&one.target, items, true);
        self.bind(LOOP, Some(items), true);
        each(&one.target, &mut |target| {
            if let Expr::Var(var) = target {
                self.flow.items.insert(var.id);
            }
        });
        one.filter_expr
            .iter()
            .for_each(|filter| self.condition(filter));
        self.body(&one.body);
        self.set.pop();
        (self.scope, self.recursive) = outer;
        // The `else` of a loop runs outside of it, and its assignments may never happen.
        self.branch(&one.else_body);
    }

    fn with(&mut self, one: &WithBlock<'t>) {
        self.set.push(BTreeSet::new());
        let outer = self.enter();
        for (target, value) in &one.assignments {
            let node = self.read([value]);
            // The value may read the name's outer binding.
            each(value, &mut |expr| {
                if let Expr::Var(var) = expr {
                    self.flow.reads.push((var.id, outer, node));
                }
            });
            self.assign(target, node, true);
        }
        self.body(&one.body);
        self.scope = outer;
        self.set.pop();
    }

    fn called(&mut self, call: &Call<'t>) -> usize {
        if let Expr::Var(var) = &call.expr {
            self.reads(var.id, true);
        }
        let node = self.read(call.args.iter().map(argument));
        match &call.expr {
            Expr::Var(var) => self.flow.reads.push((var.id, self.scope, node)),
            other => self.read_into(other, node),
        }
        node
    }

    /// The parameters and the body of a macro or a call; returns the node of its output.
    fn declared(&mut self, one: &Macro<'t>) -> usize {
        self.set.push(BTreeSet::new());
        let outer = self.enter();
        let was_in_macro = std::mem::replace(&mut self.in_macro, true);
        self.bind(CALLER, None, true);
        let without = one.args.len() - one.defaults.len().min(one.args.len());
        for (number, target) in one.args.iter().enumerate() {
            let default = number
                .checked_sub(without)
                .and_then(|number| one.defaults.get(number));
            let node = self.node();
            if let Some(default) = default {
                self.read_into(default, node);
                each(default, &mut |expr| {
                    if let Expr::Var(var) = expr {
                        self.flow.reads.push((var.id, outer, node));
                    }
                });
            }
            self.assign(target, node, true);
        }
        let kept = self.captured(&one.body);
        (self.scope, self.in_macro) = (outer, was_in_macro);
        self.set.pop();
        kept
    }
}

/// Returns true if a loop or a block writes an output itself, without an `Emit` instruction.
fn is_own_call(expr: &Expr<'_>) -> bool {
    let Expr::Call(call) = expr else { return false };
    match call.identify_call() {
        CallType::Function(LOOP) => {
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
fn root<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    match expr {
        Expr::Var(var) => Some(var.id),
        Expr::GetAttr(one) => root(&one.expr),
        Expr::GetItem(one) => root(&one.expr),
        Expr::Slice(one) => root(&one.expr),
        Expr::Filter(one) => one.expr.as_ref().and_then(root),
        Expr::Call(one) => {
            if let Expr::GetAttr(method) = &one.expr {
                root(&method.expr)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Macro arguments whose default uses another argument, which has no value yet, with the offset of
/// that use.
pub(super) fn too_early<'t>(text: &str, one: &Macro<'t>) -> Vec<(&'t str, &'t str, usize)> {
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
        each(default, &mut |expr| {
            let other = name(expr).filter(|other| names.contains(other));
            first = first.or(other.map(|other| (*argument, other, place(text, other))));
        });
        found.extend(first);
    }
    found
}
