//! Collects the evidence about values in a Jinja text: from their use at each place, never from
//! their names.

use crate::jinja::tree::{
    BinOpKind, Call, CallArg, CompareOpKind, Expr, Stmt, UnaryOpKind, argument, each_stmt, inner,
    place,
};
use std::collections::{BTreeMap, BTreeSet};

/// The evidence that one use gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
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
pub(super) type Name<'t> = (Option<&'t str>, &'t str);

/// The evidence about one name.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen<'t> {
    /// The offset of its first use.
    pub(super) first: usize,
    pub(super) uses: BTreeSet<Use>,
    /// The default for a missing value.
    pub(super) default: Option<String>,
    /// Other names of its value.
    pub(super) also: BTreeSet<Name<'t>>,
}

/// A use of an input that behaves differently in Jinja2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Oddity {
    /// `is defined`, `is not none`: the test, as written.
    Tested(String),
    /// `|default(none)`
    DefaultNone,
}

/// The evidence in a whole text.
#[derive(Debug, Default)]
pub(super) struct Uses<'t> {
    pub(super) seen: BTreeMap<Name<'t>, Seen<'t>>,
    /// Names set for the whole text, with the end of the first such statement.
    pub(super) sets: BTreeMap<&'t str, usize>,
    /// Uses that behave differently in Jinja2, with their offsets.
    pub(super) oddities: Vec<(&'t str, usize, Oddity)>,
}

/// The evidence that a place gives about its value.
#[derive(Clone, Debug, Default)]
struct Hint<'t> {
    uses: BTreeSet<Use>,
    default: Option<String>,
    /// Another name of the value.
    also: Option<Name<'t>>,
}

impl<'t> Hint<'t> {
    fn of(uses: impl IntoIterator<Item = Use>) -> Self {
        Self {
            uses: uses.into_iter().collect(),
            ..Self::default()
        }
    }

    fn also(name: Name<'t>) -> Self {
        Self {
            also: Some(name),
            ..Self::default()
        }
    }

    fn and(&self, uses: impl IntoIterator<Item = Use>) -> Self {
        let mut hint = self.clone();
        hint.uses.extend(uses);
        hint
    }
}

/// Filters and methods that take lists.
const OF_LISTS: [&str; 18] = [
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
const OF_OBJECTS: [&str; 6] = ["dictsort", "get", "items", "keys", "values", "xmlattr"];
/// Filters that take numbers.
const OF_NUMBERS: [&str; 3] = ["abs", "filesizeformat", "round"];
/// Filters and methods that take texts.
const OF_TEXTS: [&str; 20] = [
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
const ASKED: [Use; 2] = [Use::Asked, Use::Alone];

fn worked_on(name: &str) -> Option<Use> {
    match name {
        name if OF_LISTS.contains(&name) => Some(Use::List),
        name if OF_OBJECTS.contains(&name) => Some(Use::Object),
        name if OF_NUMBERS.contains(&name) => Some(Use::Number),
        name if OF_TEXTS.contains(&name) || name == "wordcount" => Some(Use::Text),
        _ => None,
    }
}

/// Collects the evidence of all places in a text.
pub(super) fn uses<'t>(text: &'t str, tree: &Stmt<'t>) -> Uses<'t> {
    let mut walk = Walk {
        text,
        macros: BTreeMap::new(),
        called: BTreeMap::new(),
        inside: Vec::new(),
        scopes: 0,
        found: Uses::default(),
    };
    each_stmt(tree, &mut |stmt| match stmt {
        Stmt::Macro(one) => drop(
            walk.macros
                .insert(one.name, one.args.iter().filter_map(var).collect()),
        ),
        Stmt::Set(one) => {
            if let (Some(called), Expr::GetAttr(field)) = (var(&one.target), &one.expr) {
                walk.called.insert(called, field.name);
            }
        }
        _ => {}
    });
    walk.statement(tree);
    walk.found
}

struct Walk<'t> {
    text: &'t str,
    /// The parameters of macros.
    macros: BTreeMap<&'t str, Vec<&'t str>>,
    /// Names set to a field, which can be a macro of that name.
    called: BTreeMap<&'t str, &'t str>,
    /// The macros around the current place.
    inside: Vec<&'t str>,
    /// The number of statements around the current place with a scope of their own.
    scopes: usize,
    found: Uses<'t>,
}

fn var<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    if let Expr::Var(var) = expr {
        Some(var.id)
    } else {
        None
    }
}

/// The type of a literal.
fn literal(expr: &Expr<'_>) -> Option<Use> {
    match expr {
        Expr::UnaryOp(one) if matches!(one.op, UnaryOpKind::Neg) => {
            literal(&one.expr).filter(|found| *found == Use::Number)
        }
        Expr::Const(one) if one.value.as_str().is_some() => Some(Use::Text),
        Expr::Const(one) if one.value.is_number() => Some(Use::Number),
        Expr::Const(one) if one.value.kind().to_string() == "bool" => Some(Use::Truth),
        _ => None,
    }
}

/// The items of a list literal.
fn items<'e, 't>(expr: &'e Expr<'t>) -> Option<&'e [Expr<'t>]> {
    match expr {
        Expr::List(list) => Some(&list.items),
        Expr::Tuple(list) => Some(&list.items),
        _ => None,
    }
}

impl<'t> Walk<'t> {
    fn statement(&mut self, stmt: &Stmt<'t>) {
        let put = || Hint::of([Use::Put]);
        match stmt {
            Stmt::EmitExpr(one) => self.value(&one.expr, put()),
            Stmt::ForLoop(one) => {
                self.value(&one.iter, Hint::of([Use::List]));
                one.filter_expr
                    .iter()
                    .for_each(|filter| self.value(filter, Hint::of(ASKED)));
            }
            Stmt::IfCond(one) => self.value(&one.expr, Hint::of(ASKED)),
            Stmt::WithBlock(one) => one
                .assignments
                .iter()
                .for_each(|(_, value)| self.value(value, put())),
            Stmt::Set(one) => {
                if let Some(name) = var(&one.target).filter(|_| self.scopes == 0) {
                    self.found
                        .sets
                        .entry(name)
                        .or_insert(one.span().end_offset as usize);
                }
                self.value(
                    &one.expr,
                    var(&one.target).map_or_else(put, |name| Hint::also((None, name))),
                );
            }
            Stmt::SetBlock(one) => one
                .filter
                .iter()
                .for_each(|filter| self.value(filter, put())),
            Stmt::FilterBlock(one) => self.value(&one.filter, put()),
            Stmt::AutoEscape(one) => self.value(&one.enabled, put()),
            Stmt::CallBlock(one) => {
                self.call(&one.call);
                one.macro_decl
                    .defaults
                    .iter()
                    .for_each(|default| self.value(default, put()));
            }
            Stmt::Do(one) => self.call(&one.call),
            Stmt::Macro(one) => {
                self.inside.push(one.name);
                one.defaults
                    .iter()
                    .for_each(|default| self.value(default, put()));
            }
            _ => {}
        }
        let is_scope = matches!(
            stmt,
            Stmt::ForLoop(_) | Stmt::WithBlock(_) | Stmt::Macro(_) | Stmt::CallBlock(_)
        );
        self.scopes += usize::from(is_scope);
        inner(stmt).for_each(|stmt| self.statement(stmt));
        self.scopes -= usize::from(is_scope);
        if matches!(stmt, Stmt::Macro(_)) {
            self.inside.pop();
        }
    }

    fn value(&mut self, expr: &Expr<'t>, hint: Hint<'t>) {
        let put = || Hint::of([Use::Put]);
        match expr {
            Expr::Var(one) => self.read(one.id, hint),
            Expr::Const(_) => {}
            Expr::Slice(one) => {
                self.value(&one.expr, hint);
                [&one.start, &one.stop, &one.step]
                    .into_iter()
                    .flatten()
                    .for_each(|part| self.value(part, put()));
            }
            Expr::GetAttr(one) => self.value(&one.expr, Hint::of([Use::Object])),
            Expr::GetItem(one) => {
                let of_loop = matches!(&one.subscript_expr, Expr::GetAttr(field) if var(&field.expr) == Some("loop"));
                let is_list = of_loop || literal(&one.subscript_expr) == Some(Use::Number);
                self.value(
                    &one.expr,
                    Hint::of([if is_list { Use::List } else { Use::Object }]),
                );
                self.value(&one.subscript_expr, put());
            }
            Expr::UnaryOp(one) => match (&one.op, &one.expr) {
                (UnaryOpKind::Not, Expr::Test(_)) => self.test(&one.expr, "not "),
                (UnaryOpKind::Not, inner) => self.value(inner, Hint::of(ASKED)),
                (UnaryOpKind::Neg, inner) => self.value(inner, Hint::of([Use::Number])),
            },
            Expr::BinOp(one) => self.binary(one.op, (&one.left, &one.right), hint),
            Expr::Compare(one) => {
                let mut left = &one.expr;
                for other in &one.ops {
                    self.compare(left, other.op, &other.expr);
                    left = &other.expr;
                }
            }
            Expr::IfExpr(one) => {
                self.value(&one.test_expr, Hint::of(ASKED));
                one.false_expr
                    .iter()
                    .for_each(|other| self.value(other, hint.and(ASKED)));
                self.value(&one.true_expr, hint);
            }
            Expr::Filter(one) => {
                one.args
                    .iter()
                    .for_each(|arg| self.value(argument(arg), put()));
                let Some(of) = &one.expr else { return };
                let first = one.args.first().map(argument);
                let hint = match one.name {
                    "default" | "d" => self.default(of, first, &hint),
                    "safe" | "e" | "escape" | "forceescape" => hint,
                    name => Hint::of([worked_on(name).unwrap_or(Use::Put)]),
                };
                self.value(of, hint);
            }
            Expr::Test(_) => self.test(expr, ""),
            Expr::Call(one) => self.call(one),
            Expr::List(one) => one.items.iter().for_each(|item| self.value(item, put())),
            Expr::Tuple(one) => one.items.iter().for_each(|item| self.value(item, put())),
            Expr::Map(one) => one
                .keys
                .iter()
                .chain(&one.values)
                .for_each(|part| self.value(part, put())),
        }
    }

    fn read(&mut self, name: &'t str, hint: Hint<'t>) {
        let is_own = |own: &&&str| {
            self.macros
                .get(**own)
                .is_some_and(|all| all.contains(&name))
        };
        let own = self.inside.last().filter(is_own).copied();
        let at = place(self.text, name);
        let one = self.found.seen.entry((own, name)).or_insert_with(|| Seen {
            first: at,
            ..Seen::default()
        });
        one.first = one.first.min(at);
        one.uses.extend(hint.uses);
        one.default = one.default.take().or(hint.default);
        one.also.extend(hint.also);
    }

    /// Records a use that behaves differently in Jinja2, if the value is a plain name.
    fn odd(&mut self, of: &Expr<'t>, is_odd: bool, what: impl FnOnce() -> Oddity) {
        let is_own = |name: &str| {
            self.inside
                .last()
                .and_then(|own| self.macros.get(own))
                .is_some_and(|all| all.contains(&name))
        };
        if let Some(name) = var(of).filter(|name| is_odd && !is_own(name)) {
            self.found
                .oddities
                .push((name, place(self.text, name), what()));
        }
    }

    /// The evidence of `default(…)`. Texts are common defaults for numbers, so a text reveals no
    /// type.
    fn default(&mut self, of: &Expr<'t>, value: Option<&Expr<'t>>, hint: &Hint<'t>) -> Hint<'t> {
        let mut hint = hint.and([Use::Asked]);
        let Some(value) = value else { return hint };
        self.odd(
            of,
            matches!(value, Expr::Const(one) if one.value.is_none()),
            || Oddity::DefaultNone,
        );
        match (value, literal(value)) {
            (Expr::Const(one), Some(Use::Text)) => {
                hint.uses.insert(Use::Put);
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
            (Expr::List(_), _) => drop(hint.uses.insert(Use::List)),
            (Expr::Map(_), _) => drop(hint.uses.insert(Use::Object)),
            _ => {}
        }
        hint
    }

    fn binary(&mut self, op: BinOpKind, (left, right): (&Expr<'t>, &Expr<'t>), hint: Hint<'t>) {
        let put = || Hint::of([Use::Put]);
        let mut both = |of_left: Hint<'t>, of_right: Hint<'t>| {
            self.value(left, of_left);
            self.value(right, of_right);
        };
        let of = |other: &Expr<'t>, types: &[Use]| {
            Hint::of([literal(other)
                .filter(|found| types.contains(found))
                .unwrap_or(Use::Put)])
        };
        match op {
            BinOpKind::ScOr => {
                let first = match right {
                    Expr::List(_) => Some(Use::List),
                    Expr::Map(_) => Some(Use::Object),
                    _ => None,
                };
                both(hint.and(ASKED).and(first), hint);
            }
            BinOpKind::ScAnd => both(hint.clone(), hint),
            BinOpKind::Add => both(
                of(right, &[Use::Number, Use::Text]),
                of(left, &[Use::Number, Use::Text]),
            ),
            BinOpKind::Mul => both(of(right, &[Use::Number]), of(left, &[Use::Number])),
            BinOpKind::Rem if literal(left) == Some(Use::Text) => both(put(), put()),
            BinOpKind::Sub
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                both(Hint::of([Use::Number]), Hint::of([Use::Number]));
            }
            BinOpKind::Concat => both(put(), put()),
            BinOpKind::Eq | BinOpKind::Ne => self.compare(left, CompareOpKind::Eq, right),
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                self.compare(left, CompareOpKind::Lt, right);
            }
            BinOpKind::In => self.compare(left, CompareOpKind::In, right),
        }
    }

    fn compare(&mut self, left: &Expr<'t>, op: CompareOpKind, right: &Expr<'t>) {
        // A value in an order comparison is rarely a text.
        let other = match op {
            CompareOpKind::Eq | CompareOpKind::Ne => Use::Put,
            CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => {
                Use::Number
            }
            CompareOpKind::In | CompareOpKind::NotIn => {
                let found = items(right).and_then(|items| literal(items.first()?));
                self.value(left, Hint::of([found.unwrap_or(Use::Put)]));
                return self.value(right, Hint::of([Use::Put]));
            }
        };
        self.value(left, Hint::of([literal(right).unwrap_or(other)]));
        self.value(right, Hint::of([literal(left).unwrap_or(other)]));
    }

    /// Visits a test with the word before it.
    fn test(&mut self, expr: &Expr<'t>, not: &str) {
        let Expr::Test(one) = expr else { return };
        let is_asked = one.name == "defined" || !not.is_empty();
        let found = match one.name {
            "divisibleby" | "odd" | "even" => Some(Use::Number),
            "startingwith" | "endingwith" => Some(Use::Text),
            "eq" | "equalto" | "ne" | "lt" | "lessthan" | "gt" | "greaterthan" => {
                one.args.first().and_then(|arg| literal(argument(arg)))
            }
            _ => None,
        };
        let hint = found.map_or_else(
            || Hint::of(is_asked.then_some(Use::Asked)),
            |found| Hint::of([found]),
        );
        self.odd(&one.expr, is_asked && found.is_none(), || {
            Oddity::Tested(format!("{not}{}", one.name))
        });
        self.value(&one.expr, hint);
        one.args
            .iter()
            .for_each(|arg| self.value(argument(arg), Hint::of([Use::Put])));
    }

    /// Visits a call: the arguments of a macro have the evidence of its parameters.
    fn call(&mut self, call: &Call<'t>) {
        let mut called = var(&call.expr);
        if let Expr::GetAttr(method) = &call.expr {
            self.value(
                &method.expr,
                Hint::of([worked_on(method.name).unwrap_or(Use::Object)]),
            );
            called = Some(method.name);
        } else if called.is_none() {
            self.value(&call.expr, Hint::of([Use::Put]));
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
                (Some(slot), _) => Hint::also((called, slot)),
                (None, Some("range")) => Hint::of([Use::Number]),
                (None, Some("join")) => Hint::of([Use::List]),
                (None, _) => Hint::of([Use::Put]),
            };
            self.value(argument(arg), hint);
        }
    }
}
