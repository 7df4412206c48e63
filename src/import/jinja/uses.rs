//! Collects the evidence about values in a Jinja text: from their use at each place, never from
//! their names.

use crate::jinja::tree::{
    BinOpKind, Call, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind, argument_expr,
    inner_statements, slice_offset, visit_statements,
};
use std::collections::{BTreeMap, BTreeSet};

/// The evidence that one use gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueUse {
    List,
    Object,
    Number,
    Text,
    /// It is compared with `true` or `false`.
    Truth,
    /// It is tested for presence, so it can be missing.
    Asked,
    /// It is tested as a truth value.
    Alone,
    /// It is output, compared, or passed on.
    Put,
}

/// A name, and the macro that it is a parameter of.
pub(super) type MacroScopedName<'t> = (Option<&'t str>, &'t str);

/// The evidence about one name.
#[derive(Clone, Debug, Default)]
pub(super) struct NameEvidence<'t> {
    /// The offset of its first use.
    pub(super) first: usize,
    pub(super) uses: BTreeSet<ValueUse>,
    /// The default for a missing value.
    pub(super) default: Option<String>,
    /// Other names of its value.
    pub(super) also: BTreeSet<MacroScopedName<'t>>,
}

/// A use of an input that behaves differently in Jinja2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UseDifference {
    /// `is defined`, `is not none`: the test, as written.
    Tested(String),
    /// `|default(none)`
    DefaultNone,
}

/// The evidence in a whole text.
#[derive(Debug, Default)]
pub(super) struct TextEvidence<'t> {
    pub(super) seen: BTreeMap<MacroScopedName<'t>, NameEvidence<'t>>,
    /// Names set for the whole text, with the end of the first such statement.
    pub(super) sets: BTreeMap<&'t str, usize>,
    /// Uses that behave differently in Jinja2, with their offsets.
    pub(super) oddities: Vec<(&'t str, usize, UseDifference)>,
}

/// The evidence that a place gives about its value.
#[derive(Clone, Debug, Default)]
struct PlaceEvidence<'t> {
    uses: BTreeSet<ValueUse>,
    default: Option<String>,
    /// Another name of the value.
    also: Option<MacroScopedName<'t>>,
}

impl<'t> PlaceEvidence<'t> {
    fn from_uses(uses: impl IntoIterator<Item = ValueUse>) -> Self {
        Self {
            uses: uses.into_iter().collect(),
            ..Self::default()
        }
    }

    fn alias_of(name: MacroScopedName<'t>) -> Self {
        Self {
            also: Some(name),
            ..Self::default()
        }
    }

    fn with_uses(&self, uses: impl IntoIterator<Item = ValueUse>) -> Self {
        let mut hint = self.clone();
        hint.uses.extend(uses);
        hint
    }
}

/// Filters and methods that take lists.
const LIST_FILTERS: [&str; 18] = [
    "batch",
    "chain",
    "first",
    "groupby",
    "join",
    "last",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "select",
    "selectattr",
    "slice",
    "sort",
    "sum",
    "unique",
    "zip",
];
/// Filters and methods that take objects.
const OBJECT_FILTERS: [&str; 6] = ["dictsort", "get", "items", "keys", "values", "xmlattr"];
/// Filters that take numbers.
const NUMBER_FILTERS: [&str; 3] = ["abs", "filesizeformat", "round"];
/// Filters and methods that take texts.
const TEXT_FILTERS: [&str; 20] = [
    "capitalize",
    "center",
    "endswith",
    "format",
    "indent",
    "lines",
    "lower",
    "lstrip",
    "replace",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "striptags",
    "title",
    "trim",
    "truncate",
    "upper",
    "wordwrap",
];
/// The uses of a value in a condition.
const CONDITION_USES: [ValueUse; 2] = [ValueUse::Asked, ValueUse::Alone];

fn filter_use(name: &str) -> Option<ValueUse> {
    match name {
        name if LIST_FILTERS.contains(&name) => Some(ValueUse::List),
        name if OBJECT_FILTERS.contains(&name) => Some(ValueUse::Object),
        name if NUMBER_FILTERS.contains(&name) => Some(ValueUse::Number),
        name if TEXT_FILTERS.contains(&name) || name == "wordcount" => Some(ValueUse::Text),
        _ => None,
    }
}

/// Collects the evidence of all places in a text.
pub(super) fn collect_uses<'t>(text: &'t str, tree: &Stmt<'t>) -> TextEvidence<'t> {
    let mut walk = UseCollector {
        text,
        macros: BTreeMap::new(),
        called: BTreeMap::new(),
        inside: Vec::new(),
        scopes: 0,
        found: TextEvidence::default(),
    };
    visit_statements(tree, &mut |stmt| match stmt {
        Stmt::Macro(one) => drop(walk.macros.insert(
            one.name,
            one.args.iter().filter_map(variable_name).collect(),
        )),
        Stmt::Set(one) => {
            if let (Some(called), Expr::GetAttr(field)) = (variable_name(&one.target), &one.expr) {
                walk.called.insert(called, field.name);
            }
        }
        _ => {}
    });
    walk.visit_statement(tree);
    walk.found
}

struct UseCollector<'t> {
    text: &'t str,
    /// The parameters of macros.
    macros: BTreeMap<&'t str, Vec<&'t str>>,
    /// Names set to a field, which can be a macro of that name.
    called: BTreeMap<&'t str, &'t str>,
    /// The macros around the current place.
    inside: Vec<&'t str>,
    /// The number of statements around the current place with a scope of their own.
    scopes: usize,
    found: TextEvidence<'t>,
}

fn variable_name<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    if let Expr::Var(var) = expr {
        Some(var.id)
    } else {
        None
    }
}

/// The type of a literal.
fn literal_type(expr: &Expr<'_>) -> Option<ValueUse> {
    match expr {
        Expr::UnaryOp(one) if matches!(one.op, UnaryOpKind::Neg) => {
            literal_type(&one.expr).filter(|found| *found == ValueUse::Number)
        }
        Expr::Const(one) if one.value.as_str().is_some() => Some(ValueUse::Text),
        Expr::Const(one) if one.value.is_number() => Some(ValueUse::Number),
        Expr::Const(one) if one.value.kind().to_string() == "bool" => Some(ValueUse::Truth),
        _ => None,
    }
}

/// The items of a list literal.
fn list_items<'e, 't>(expr: &'e Expr<'t>) -> Option<&'e [Expr<'t>]> {
    match expr {
        Expr::List(list) => Some(&list.items),
        Expr::Tuple(list) => Some(&list.items),
        _ => None,
    }
}

impl<'t> UseCollector<'t> {
    fn visit_statement(&mut self, stmt: &Stmt<'t>) {
        let put = || PlaceEvidence::from_uses([ValueUse::Put]);
        match stmt {
            Stmt::EmitExpr(one) => self.visit_value(&one.expr, put()),
            Stmt::ForLoop(one) => {
                self.visit_value(&one.iter, PlaceEvidence::from_uses([ValueUse::List]));
                one.filter_expr.iter().for_each(|filter| {
                    self.visit_value(filter, PlaceEvidence::from_uses(CONDITION_USES));
                });
            }
            Stmt::IfCond(one) => {
                self.visit_value(&one.expr, PlaceEvidence::from_uses(CONDITION_USES));
            }
            Stmt::WithBlock(one) => one
                .assignments
                .iter()
                .for_each(|(_, value)| self.visit_value(value, put())),
            Stmt::Set(one) => {
                if let Some(name) = variable_name(&one.target).filter(|_| self.scopes == 0) {
                    self.found
                        .sets
                        .entry(name)
                        .or_insert(one.span().end_offset as usize);
                }
                self.visit_value(
                    &one.expr,
                    variable_name(&one.target)
                        .map_or_else(put, |name| PlaceEvidence::alias_of((None, name))),
                );
            }
            Stmt::SetBlock(one) => one
                .filter
                .iter()
                .for_each(|filter| self.visit_value(filter, put())),
            Stmt::FilterBlock(one) => self.visit_value(&one.filter, put()),
            Stmt::AutoEscape(one) => self.visit_value(&one.enabled, put()),
            Stmt::CallBlock(one) => {
                self.visit_call(&one.call);
                one.macro_decl
                    .defaults
                    .iter()
                    .for_each(|default| self.visit_value(default, put()));
            }
            Stmt::Do(one) => self.visit_call(&one.call),
            Stmt::Macro(one) => {
                self.inside.push(one.name);
                one.defaults
                    .iter()
                    .for_each(|default| self.visit_value(default, put()));
            }
            _ => {}
        }
        let is_scope = matches!(
            stmt,
            Stmt::ForLoop(_) | Stmt::WithBlock(_) | Stmt::Macro(_) | Stmt::CallBlock(_)
        );
        self.scopes += usize::from(is_scope);
        inner_statements(stmt).for_each(|stmt| self.visit_statement(stmt));
        self.scopes -= usize::from(is_scope);
        if matches!(stmt, Stmt::Macro(_)) {
            self.inside.pop();
        }
    }

    fn visit_value(&mut self, expr: &Expr<'t>, hint: PlaceEvidence<'t>) {
        let put = || PlaceEvidence::from_uses([ValueUse::Put]);
        match expr {
            Expr::Var(one) => self.record_use(one.id, hint),
            Expr::Const(_) => {}
            Expr::Slice(one) => {
                self.visit_value(&one.expr, hint);
                [&one.start, &one.stop, &one.step]
                    .into_iter()
                    .flatten()
                    .for_each(|part| self.visit_value(part, put()));
            }
            Expr::GetAttr(one) => {
                self.visit_value(&one.expr, PlaceEvidence::from_uses([ValueUse::Object]));
            }
            Expr::GetItem(one) => {
                let of_loop = matches!(&one.subscript_expr, Expr::GetAttr(field) if variable_name(&field.expr) == Some("loop"));
                let is_list =
                    of_loop || literal_type(&one.subscript_expr) == Some(ValueUse::Number);
                self.visit_value(
                    &one.expr,
                    PlaceEvidence::from_uses([if is_list {
                        ValueUse::List
                    } else {
                        ValueUse::Object
                    }]),
                );
                self.visit_value(&one.subscript_expr, put());
            }
            Expr::UnaryOp(one) => match (&one.op, &one.expr) {
                (UnaryOpKind::Not, Expr::Test(_)) => self.visit_test(&one.expr, "not "),
                (UnaryOpKind::Not, inner) => {
                    self.visit_value(inner, PlaceEvidence::from_uses(CONDITION_USES));
                }
                (UnaryOpKind::Neg, inner) => {
                    self.visit_value(inner, PlaceEvidence::from_uses([ValueUse::Number]));
                }
            },
            Expr::BinOp(one) => self.visit_binary(&one.left, one.op, &one.right, hint),
            Expr::Compare(one) => {
                let mut left = &one.expr;
                for other in &one.ops {
                    self.visit_comparison(left, other.op, &other.expr);
                    left = &other.expr;
                }
            }
            Expr::IfExpr(one) => {
                self.visit_value(&one.test_expr, PlaceEvidence::from_uses(CONDITION_USES));
                one.false_expr
                    .iter()
                    .for_each(|other| self.visit_value(other, hint.with_uses(CONDITION_USES)));
                self.visit_value(&one.true_expr, hint);
            }
            Expr::Filter(one) => {
                one.args
                    .iter()
                    .for_each(|arg| self.visit_value(argument_expr(arg), put()));
                let Some(of) = &one.expr else { return };
                let first = one.args.first().map(argument_expr);
                let hint = match one.name {
                    "default" | "d" => self.default_evidence(of, first, &hint),
                    "safe" | "e" | "escape" | "forceescape" => hint,
                    name => PlaceEvidence::from_uses([filter_use(name).unwrap_or(ValueUse::Put)]),
                };
                self.visit_value(of, hint);
            }
            Expr::Test(_) => self.visit_test(expr, ""),
            Expr::Call(one) => self.visit_call(one),
            Expr::List(one) => one
                .items
                .iter()
                .for_each(|item| self.visit_value(item, put())),
            Expr::Tuple(one) => one
                .items
                .iter()
                .for_each(|item| self.visit_value(item, put())),
            Expr::Map(one) => one
                .keys
                .iter()
                .chain(&one.values)
                .for_each(|part| self.visit_value(part, put())),
        }
    }

    fn record_use(&mut self, name: &'t str, hint: PlaceEvidence<'t>) {
        let is_own = |own: &&&str| {
            self.macros
                .get(**own)
                .is_some_and(|all| all.contains(&name))
        };
        let own = self.inside.last().filter(is_own).copied();
        let at = slice_offset(self.text, name);
        let one = self
            .found
            .seen
            .entry((own, name))
            .or_insert_with(|| NameEvidence {
                first: at,
                ..NameEvidence::default()
            });
        one.first = one.first.min(at);
        one.uses.extend(hint.uses);
        one.default = one.default.take().or(hint.default);
        one.also.extend(hint.also);
    }

    /// Records a use that behaves differently in Jinja2, if the value is a plain name.
    fn record_difference(&mut self, of: &Expr<'t>, what: impl FnOnce() -> UseDifference) {
        let is_own = |name: &str| {
            self.inside
                .last()
                .and_then(|own| self.macros.get(own))
                .is_some_and(|all| all.contains(&name))
        };
        if let Some(name) = variable_name(of).filter(|name| !is_own(name)) {
            self.found
                .oddities
                .push((name, slice_offset(self.text, name), what()));
        }
    }

    /// The evidence of `default(…)`. Texts are common defaults for numbers, so a text reveals no
    /// type.
    fn default_evidence(
        &mut self,
        of: &Expr<'t>,
        value: Option<&Expr<'t>>,
        hint: &PlaceEvidence<'t>,
    ) -> PlaceEvidence<'t> {
        let mut hint = hint.with_uses([ValueUse::Asked]);
        let Some(value) = value else { return hint };
        if matches!(value, Expr::Const(one) if one.value.is_none()) {
            self.record_difference(of, || UseDifference::DefaultNone);
        }
        match (value, literal_type(value)) {
            (Expr::Const(one), Some(ValueUse::Text)) => {
                hint.uses.insert(ValueUse::Put);
                hint.default = hint
                    .default
                    .or_else(|| one.value.as_str().map(str::to_owned));
            }
            (Expr::Const(one), Some(found)) => {
                hint.uses.insert(found);
                let span = one.span();
                let written = self
                    .text
                    .get(span.start_offset as usize..span.end_offset as usize);
                hint.default = hint.default.or_else(|| written.map(str::to_lowercase));
            }
            (Expr::List(_), _) => drop(hint.uses.insert(ValueUse::List)),
            (Expr::Map(_), _) => drop(hint.uses.insert(ValueUse::Object)),
            _ => {}
        }
        hint
    }

    fn visit_binary(
        &mut self,
        left: &Expr<'t>,
        op: BinOpKind,
        right: &Expr<'t>,
        hint: PlaceEvidence<'t>,
    ) {
        let put = || PlaceEvidence::from_uses([ValueUse::Put]);
        let mut both = |of_left: PlaceEvidence<'t>, of_right: PlaceEvidence<'t>| {
            self.visit_value(left, of_left);
            self.visit_value(right, of_right);
        };
        let of = |other: &Expr<'t>, types: &[ValueUse]| {
            PlaceEvidence::from_uses([literal_type(other)
                .filter(|found| types.contains(found))
                .unwrap_or(ValueUse::Put)])
        };
        match op {
            BinOpKind::ScOr => {
                let first = match right {
                    Expr::List(_) => Some(ValueUse::List),
                    Expr::Map(_) => Some(ValueUse::Object),
                    _ => None,
                };
                both(hint.with_uses(CONDITION_USES).with_uses(first), hint);
            }
            BinOpKind::ScAnd => both(hint.clone(), hint),
            BinOpKind::Add => both(
                of(right, &[ValueUse::Number, ValueUse::Text]),
                of(left, &[ValueUse::Number, ValueUse::Text]),
            ),
            BinOpKind::Mul => both(
                of(right, &[ValueUse::Number]),
                of(left, &[ValueUse::Number]),
            ),
            BinOpKind::Rem if literal_type(left) == Some(ValueUse::Text) => both(put(), put()),
            BinOpKind::Sub
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                both(
                    PlaceEvidence::from_uses([ValueUse::Number]),
                    PlaceEvidence::from_uses([ValueUse::Number]),
                );
            }
            BinOpKind::Concat => both(put(), put()),
            BinOpKind::Eq | BinOpKind::Ne => self.visit_comparison(left, CompareOpKind::Eq, right),
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                self.visit_comparison(left, CompareOpKind::Lt, right);
            }
            BinOpKind::In => self.visit_comparison(left, CompareOpKind::In, right),
        }
    }

    fn visit_comparison(&mut self, left: &Expr<'t>, op: CompareOpKind, right: &Expr<'t>) {
        // A value in an order comparison is rarely a text.
        let other = match op {
            CompareOpKind::Eq | CompareOpKind::Ne => ValueUse::Put,
            CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => {
                ValueUse::Number
            }
            CompareOpKind::In | CompareOpKind::NotIn => {
                let found = list_items(right).and_then(|items| literal_type(items.first()?));
                self.visit_value(
                    left,
                    PlaceEvidence::from_uses([found.unwrap_or(ValueUse::Put)]),
                );
                return self.visit_value(right, PlaceEvidence::from_uses([ValueUse::Put]));
            }
        };
        self.visit_value(
            left,
            PlaceEvidence::from_uses([literal_type(right).unwrap_or(other)]),
        );
        self.visit_value(
            right,
            PlaceEvidence::from_uses([literal_type(left).unwrap_or(other)]),
        );
    }

    /// Visits a test with the word before it.
    fn visit_test(&mut self, expr: &Expr<'t>, not: &str) {
        let Expr::Test(one) = expr else { return };
        let is_asked = one.name == "defined" || !not.is_empty();
        let found = match one.name {
            "divisibleby" | "odd" | "even" => Some(ValueUse::Number),
            "startingwith" | "endingwith" => Some(ValueUse::Text),
            "eq" | "equalto" | "ne" | "lt" | "lessthan" | "gt" | "greaterthan" => one
                .args
                .first()
                .and_then(|arg| literal_type(argument_expr(arg))),
            _ => None,
        };
        let hint = found.map_or_else(
            || PlaceEvidence::from_uses(is_asked.then_some(ValueUse::Asked)),
            |found| PlaceEvidence::from_uses([found]),
        );
        if is_asked && found.is_none() {
            self.record_difference(&one.expr, || {
                UseDifference::Tested(format!("{not}{}", one.name))
            });
        }
        self.visit_value(&one.expr, hint);
        one.args.iter().for_each(|arg| {
            self.visit_value(
                argument_expr(arg),
                PlaceEvidence::from_uses([ValueUse::Put]),
            );
        });
    }

    /// Visits a call: the arguments of a macro have the evidence of its parameters.
    fn visit_call(&mut self, call: &Call<'t>) {
        let mut called = variable_name(&call.expr);
        if let Expr::GetAttr(method) = &call.expr {
            self.visit_value(
                &method.expr,
                PlaceEvidence::from_uses([filter_use(method.name).unwrap_or(ValueUse::Object)]),
            );
            called = Some(method.name);
        } else if called.is_none() {
            self.visit_value(&call.expr, PlaceEvidence::from_uses([ValueUse::Put]));
        }
        let called = called.map(|name| {
            if self.macros.contains_key(name) {
                name
            } else {
                self.called.get(name).unwrap_or(&name)
            }
        });
        let parameters = called
            .and_then(|name| self.macros.get(name))
            .cloned()
            .unwrap_or_default();
        for (at, arg) in call.args.iter().enumerate() {
            let slot = match arg {
                CallArg::Pos(_) => parameters.get(at),
                CallArg::Kwarg(name, _) => parameters.iter().find(|one| *one == name),
                CallArg::PosSplat(_) | CallArg::KwargSplat(_) => None,
            };
            let hint = match (slot, called) {
                (Some(slot), _) => PlaceEvidence::alias_of((called, slot)),
                (None, Some("range")) => PlaceEvidence::from_uses([ValueUse::Number]),
                (None, Some("join")) => PlaceEvidence::from_uses([ValueUse::List]),
                (None, _) => PlaceEvidence::from_uses([ValueUse::Put]),
            };
            self.visit_value(argument_expr(arg), hint);
        }
    }
}
