//! Analyses a Jinja text at compile time: the variables that it reads, and the faults that prevent
//! rendering.
//!
//! Continues after a fault, as far as further faults can be detected.

use super::builtins::{FILTER_NAMES, TEST_NAMES, filter_argument_bounds};
use super::constant_folding::find_oversized_constant;
use super::environment::{JinjaNameKind, build_environment};
use super::jinja_fault::{JinjaFault, JinjaFaultKind};
use super::reads::{analyze_flow, find_early_defaults};
use super::static_limits::{MAX_TEXT_BYTES, find_excess};
use super::tags::{split_tags, tag_at};
use super::tree::{
    BinOpKind, UnaryOpKind, inner_statements, parse_tree, read_names, slice_offset,
    statement_exprs, visit_exprs, visit_statements,
};
use super::unsupported::find_unsupported;
use crate::base::span::Span;
use crate::base::suggest::nearest_candidate;
use minijinja::machinery::ast::{CallArg, Expr, Filter, Macro, Stmt};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of names in one text for which a suggestion is searched.
const MAX_SUGGESTIONS: usize = 100;
/// Objects of Jinja itself that have methods.
const BUILTIN_OBJECTS: [&str; 3] = ["loop", "self", "super"];
/// The names of a macro's surplus arguments.
const SURPLUS_ARGUMENTS: [&str; 2] = ["kwargs", "varargs"];

/// The analysis of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JinjaAnalysis {
    /// The variables that it reads and does not set itself, sorted, without functions of minijinja
    /// (`range`) that are only called. An attribute (`a.b`) counts as its root. Empty if a fault
    /// hides them.
    pub variables: BTreeSet<String>,
    /// The functions that it calls and neither sets nor reads otherwise, sorted. If a variable has
    /// the name of one, the name means the variable.
    pub functions: BTreeSet<String>,
    /// The parts of variables that are output unchanged (`{{ a.b }}`).
    pub parts: Vec<JinjaPart>,
    /// The faults that prevent rendering, in the order of the text.
    pub faults: Vec<JinjaFault>,
}

/// A part of a variable that is output unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JinjaPart {
    /// The variable.
    pub name: String,
    /// The path into it: `.a.b`.
    pub path: String,
    /// The span of variable and path.
    pub span: Span,
    /// True outside of every block, where every render reaches it.
    pub is_certain: bool,
}

/// Parses a text.
pub fn analyze(text: &str) -> JinjaAnalysis {
    let mut read = match read_tree(text) {
        Ok(tree) => TextAnalyzer::new(text).analyze_tree(&tree),
        Err(fault) => {
            let rest = if matches!(
                fault.kind,
                JinjaFaultKind::Syntax(_) | JinjaFaultKind::BareTuple
            ) {
                blank_tag(text, fault.span)
            } else {
                None
            };
            let mut faults = rest
                .and_then(|rest| {
                    Some(
                        TextAnalyzer::new(&rest)
                            .analyze_tree(&parse_tree(&rest).ok()?)
                            .faults,
                    )
                })
                .unwrap_or_default();
            faults.push(fault);
            JinjaAnalysis {
                faults,
                ..JinjaAnalysis::default()
            }
        }
    };
    read.faults.sort_by_key(|fault| fault.span.start);
    read
}

/// The tree of a text that is neither too large nor too deep.
pub(crate) fn read_tree(text: &str) -> Result<Stmt<'_>, JinjaFault> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(JinjaFault {
            kind: JinjaFaultKind::TooLarge,
            span: Span::from_offsets(MAX_TEXT_BYTES, text.len()),
        });
    }
    find_excess(text).map_or_else(
        || parse_tree(text).map_err(|error| syntax_fault(&error, text)),
        Err,
    )
}

/// The offset of the first read of each name; of its first call, if it is only called.
pub(crate) fn find_first_reads(text: &str) -> BTreeMap<&str, usize> {
    let mut found: BTreeMap<&str, (bool, usize)> = BTreeMap::new();
    if let Ok(tree) = parse_tree(text) {
        for (name, at, is_called) in read_names(text, &tree) {
            let first = found.entry(name).or_insert((is_called, at));
            *first = (is_called, at).min(*first);
        }
    }
    found
        .into_iter()
        .map(|(name, (_, at))| (name, at))
        .collect()
}

/// The steps that a path into a variable may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathSteps {
    /// `.name`.
    Fields,
    /// `.name`, `[0]` and `['name']`.
    FieldsAndItems,
}

/// Returns the variable and path of an expression that consists of nothing else.
pub(super) fn variable_path(text: &str, expr: &Expr<'_>, steps: PathSteps) -> Option<JinjaPart> {
    match expr {
        Expr::Var(var) => {
            let at = slice_offset(text, var.id);
            let span = Span::from_offsets(at, at + var.id.len());
            Some(JinjaPart {
                name: var.id.to_owned(),
                path: String::new(),
                span,
                is_certain: false,
            })
        }
        Expr::GetAttr(field) => {
            let whole = variable_path(text, &field.expr, steps)?;
            let end = slice_offset(text, field.name) + field.name.len();
            Some(JinjaPart {
                path: format!("{}.{}", whole.path, field.name),
                span: Span::from_offsets(whole.span.start as usize, end),
                ..whole
            })
        }
        Expr::GetItem(entry) if steps == PathSteps::FieldsAndItems => {
            let whole = variable_path(text, &entry.expr, steps)?;
            let Expr::Const(key) = &entry.subscript_expr else {
                return None;
            };
            let step = key
                .value
                .as_str()
                .map_or_else(|| format!("[{}]", key.value), |name| format!(".{name}"));
            let end = entry.subscript_expr.span().end_offset as usize + 1;
            Some(JinjaPart {
                path: whole.path + &step,
                span: Span::from_offsets(whole.span.start as usize, end.min(text.len())),
                ..whole
            })
        }
        _ => None,
    }
}

/// The text with spaces in place of the output that contains a span.
fn blank_tag(text: &str, span: Span) -> Option<String> {
    let tag = tag_at(text, span.start as usize).filter(|tag| !tag.is_block)?;
    let before = text.get(..tag.range.start)?;
    let behind = text.get(tag.range.end..)?;
    let spaces = text
        .get(tag.range)?
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' });
    Some(format!("{before}{}{behind}", spaces.collect::<String>()))
}

/// Collects the reads and the faults of a text.
struct TextAnalyzer<'t> {
    text: &'t str,
    faults: Vec<JinjaFault>,
    /// The filters, tests, functions and methods that it uses.
    named: Vec<(JinjaNameKind, &'t str)>,
    /// The statements that load another template, each with its offset.
    others: Vec<(&'static str, usize)>,
}

impl<'t> TextAnalyzer<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            faults: Vec::new(),
            named: Vec::new(),
            others: Vec::new(),
        }
    }

    fn analyze_tree(mut self, tree: &Stmt<'t>) -> JinjaAnalysis {
        visit_statements(tree, &mut |stmt| self.check_statement(stmt));
        self.report_other_templates();
        if let Some(span) = find_oversized_constant(tree) {
            self.report_fault(
                JinjaFaultKind::TooMuchRepeated,
                span.start_offset as usize,
                span.end_offset as usize,
            );
            return JinjaAnalysis {
                faults: self.faults,
                ..JinjaAnalysis::default()
            };
        }
        self.report_predefined_names(tree);
        let globals = build_environment();
        let globals: BTreeSet<&str> = globals.globals().map(|(name, _)| name).collect();
        let flow = analyze_flow(tree);
        let is_function = |name: &&str| globals.contains(*name) && !flow.values.contains(*name);
        let imports = self
            .others
            .iter()
            .any(|(word, _)| matches!(*word, "import" | "from"));
        let read = if imports {
            BTreeSet::new()
        } else {
            flow.variables.clone()
        };
        let (functions, mut variables): (BTreeSet<&str>, BTreeSet<&str>) =
            read.into_iter().partition(is_function);
        for fault in &self.faults {
            if let JinjaFaultKind::Unknown {
                what: JinjaNameKind::Variable,
                name,
                ..
            } = &fault.kind
            {
                variables.remove(&**name);
            }
        }
        self.report_unknown(&mut variables, &globals);
        let mut parts = Vec::new();
        for outer in inner_statements(tree) {
            visit_statements(outer, &mut |stmt| {
                let Stmt::EmitExpr(one) = stmt else { return };
                let is_set = |name: &str| {
                    flow.scopes
                        .iter()
                        .any(|scope| scope.names.contains_key(name))
                };
                let own = variable_path(self.text, &one.expr, PathSteps::Fields)
                    .filter(|own| !own.path.is_empty() && !is_set(&own.name));
                parts.extend(own.map(|own| JinjaPart {
                    is_certain: std::ptr::eq(stmt, outer),
                    ..own
                }));
            });
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        JinjaAnalysis {
            variables: owned(variables),
            functions: owned(functions),
            parts,
            faults: self.faults,
        }
    }

    fn report_fault(&mut self, kind: JinjaFaultKind, start: usize, end: usize) {
        self.faults.push(JinjaFault {
            kind,
            span: Span::from_offsets(start, end),
        });
    }

    fn check_statement(&mut self, stmt: &Stmt<'t>) {
        let other = match stmt {
            Stmt::Block(one) => Some(("block", one.span())),
            Stmt::Import(one) => Some(("import", one.span())),
            Stmt::FromImport(one) => Some(("from", one.span())),
            Stmt::Extends(one) => Some(("extends", one.span())),
            Stmt::Include(one) => Some(("include", one.span())),
            _ => None,
        };
        self.others
            .extend(other.map(|(word, span)| (word, span.start_offset as usize)));
        match stmt {
            Stmt::Macro(one) => self.check_macro(one),
            Stmt::CallBlock(one) => self.check_macro(&one.macro_decl),
            _ => {}
        }
        match stmt {
            Stmt::CallBlock(one) => self.record_call(&one.call.expr),
            Stmt::Do(one) => self.record_call(&one.call.expr),
            _ => {}
        }
        for expr in statement_exprs(stmt) {
            visit_exprs(expr, &mut |expr| match expr {
                Expr::Filter(filter) => {
                    self.named.push((JinjaNameKind::Filter, filter.name));
                    self.check_arguments(filter);
                }
                Expr::Test(test) => self.named.push((JinjaNameKind::Test, test.name)),
                Expr::Call(call) => self.record_call(&call.expr),
                Expr::BinOp(one)
                    if matches!(
                        one.op,
                        BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem
                    ) =>
                {
                    let right = one.right.span();
                    if is_zero(&one.right) {
                        self.report_fault(
                            JinjaFaultKind::ByZero,
                            right.start_offset as usize,
                            right.end_offset as usize,
                        );
                    }
                }
                _ => {}
            });
        }
    }

    /// Checks the number of arguments of a filter; all named ones count as one.
    fn check_arguments(&mut self, filter: &Filter<'t>) {
        let is_spread =
            |arg: &CallArg<'_>| matches!(arg, CallArg::PosSplat(_) | CallArg::KwargSplat(_));
        if !FILTER_NAMES.contains(&filter.name) || filter.args.iter().any(is_spread) {
            return;
        }
        let (min, max) = filter_argument_bounds(filter.name);
        let placed = filter
            .args
            .iter()
            .filter(|arg| matches!(arg, CallArg::Pos(_)))
            .count();
        let named = usize::from(placed < filter.args.len());
        if placed + named < min || placed > max {
            let at = slice_offset(self.text, filter.name);
            let kind = JinjaFaultKind::Arguments {
                filter: filter.name.to_owned(),
                given: placed,
                min,
                max,
            };
            self.report_fault(kind, at, at + filter.name.len());
        }
    }

    /// Reports each statement that loads another template, with everything between its braces.
    fn report_other_templates(&mut self) {
        let mut tags = if self.others.is_empty() {
            None
        } else {
            Some(split_tags(self.text))
        }
        .into_iter()
        .flatten();
        for (word, at) in self.others.clone() {
            let Some(tag) = tags.find(|tag| tag.range.contains(&at)) else {
                return;
            };
            let start = tag.range.start + 2;
            let sign = self
                .text
                .get(start..)
                .is_some_and(|rest| rest.starts_with(['-', '+']));
            self.report_fault(
                JinjaFaultKind::OtherTemplate(word),
                start + usize::from(sign),
                tag.range.end,
            );
        }
    }

    fn record_call(&mut self, called: &Expr<'t>) {
        match called {
            Expr::Var(var) => self.named.push((JinjaNameKind::Function, var.id)),
            Expr::GetAttr(method) if !matches!(&method.expr, Expr::Var(var) if BUILTIN_OBJECTS.contains(&var.id)) =>
            {
                self.named.push((JinjaNameKind::Method, method.name));
            }
            _ => {}
        }
    }

    /// Checks the head of a macro or a call.
    fn check_macro(&mut self, one: &Macro<'t>) {
        for (argument, name, at) in find_early_defaults(self.text, one) {
            let kind = JinjaFaultKind::TooEarly {
                argument: argument.to_owned(),
                name: name.to_owned(),
            };
            self.report_fault(kind, at, at + name.len());
        }
    }

    /// Reports names that are predefined in Jinja2 but not here.
    fn report_predefined_names(&mut self, tree: &Stmt<'t>) {
        let mut found: Vec<(&str, usize)> = Vec::new();
        let sets_self = analyze_flow(tree)
            .scopes
            .iter()
            .any(|scope| scope.names.contains_key("self"));
        found.extend(
            read_names(self.text, tree)
                .into_iter()
                .find(|(name, ..)| *name == "self" && !sets_self)
                .map(|(name, at, _)| (name, at)),
        );
        visit_statements(tree, &mut |stmt| {
            let Stmt::Macro(one) = stmt else { return };
            let is_declared = |name: &str| {
                one.args
                    .iter()
                    .any(|arg| matches!(arg, Expr::Var(var) if var.id == name))
            };
            let inside = one.body.iter().flat_map(|stmt| read_names(self.text, stmt));
            let rest =
                inside.filter(|(name, ..)| SURPLUS_ARGUMENTS.contains(name) && !is_declared(name));
            found.extend(rest.map(|(name, at, _)| (name, at)));
        });
        found.sort_by_key(|(_, at)| *at);
        found.dedup();
        for (name, at) in found {
            let kind = JinjaFaultKind::Unknown {
                what: JinjaNameKind::Variable,
                name: name.to_owned(),
                near: None,
            };
            self.report_fault(kind, at, at + name.len());
        }
    }

    /// Reports unknown filters, tests, functions and methods, each once. A called name is not a
    /// variable that could be declared.
    fn report_unknown(&mut self, variables: &mut BTreeSet<&str>, globals: &BTreeSet<&str>) {
        let mut reported: BTreeSet<(JinjaNameKind, &str)> = BTreeSet::new();
        for (what, name) in std::mem::take(&mut self.named) {
            let is_known = match what {
                JinjaNameKind::Filter => FILTER_NAMES.contains(&name),
                JinjaNameKind::Test => TEST_NAMES.contains(&name),
                JinjaNameKind::Function => !variables.contains(name) || globals.contains(name),
                // A method unknown in Python may be a macro in a value.
                JinjaNameKind::Method | JinjaNameKind::Variable => {
                    find_unsupported(JinjaNameKind::Method, name).is_none()
                }
            };
            if is_known || !reported.insert((what, name)) {
                continue;
            }
            let is_near =
                reported.len() <= MAX_SUGGESTIONS && find_unsupported(what, name).is_none();
            let near = match what {
                _ if !is_near => None,
                JinjaNameKind::Filter => nearest_candidate(name, FILTER_NAMES.iter().copied()),
                JinjaNameKind::Test => nearest_candidate(name, TEST_NAMES.iter().copied()),
                JinjaNameKind::Function => nearest_candidate(name, globals.iter().copied()),
                JinjaNameKind::Method | JinjaNameKind::Variable => None,
            };
            let near = near.map(str::to_owned);
            let at = slice_offset(self.text, name);
            self.report_fault(
                JinjaFaultKind::Unknown {
                    what,
                    name: name.to_owned(),
                    near,
                },
                at,
                at + name.len(),
            );
        }
        for (what, name) in reported {
            if what != JinjaNameKind::Method {
                variables.remove(name);
            }
        }
    }
}

/// Returns true if an expression is a literal zero.
fn is_zero(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Const(one) => one.value.is_number() && !one.value.is_true(),
        Expr::UnaryOp(one) => matches!(one.op, UnaryOpKind::Neg) && is_zero(&one.expr),
        _ => false,
    }
}

fn syntax_fault(error: &minijinja::Error, text: &str) -> JinjaFault {
    let range = error
        .range()
        .or_else(|| line_range(text, error.line()?))
        .unwrap_or(0..text.len());
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    let words = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    let is_tuple = words
        .strip_prefix("unexpected `,`, expected ")
        .is_some_and(|expected| {
            matches!(expected, "end of block" | "end of variable block" | "`]`")
        });
    JinjaFault {
        kind: if is_tuple {
            JinjaFaultKind::BareTuple
        } else {
            JinjaFaultKind::Syntax(words)
        },
        span: Span::from_offsets(start, end),
    }
}

/// The byte range of a line, counted from 1, without its end.
fn line_range(text: &str, number: usize) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for line in text.split('\n').take(number.checked_sub(1)?) {
        start += line.len() + 1;
    }
    let length = text.get(start..)?.split('\n').next()?.trim_end().len();
    Some(start..start + length)
}
