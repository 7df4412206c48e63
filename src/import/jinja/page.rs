//! A template file: its pieces, and the includes, definitions and block calls of its statements.

use super::pieces::{JinjaPiece, PieceKind, TrimPair, WhitespaceTrim, split_pieces};
use crate::base::source::LineIndex;
use crate::import::note::{ImportNote, ImportNoteKind};
use crate::jinja::environment::JinjaNameKind;
use crate::jinja::jinja_fault::{self, JinjaFaultKind};
use crate::jinja::parse::{analyze, read_tree};
use crate::jinja::static_limits::{MAX_COLUMNS, MAX_TEXT_BYTES};
use crate::jinja::tags::split_tags;
use crate::jinja::tree::{
    Call, Expr, FromImport, Stmt, slice_offset, statement_exprs, visit_exprs, visit_statements,
};
use crate::jinja::unsupported::find_unsupported;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A template file.
#[derive(Debug)]
pub(super) struct JinjaPage<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    pub(super) pieces: Vec<JinjaPiece<'t>>,
    /// The relevant statements, by the index of their piece.
    pub(super) statements: BTreeMap<usize, PageStatement<'t>>,
    /// The definitions of names on its top level.
    pub(super) definitions: Vec<TopLevelDefinition>,
    /// The names that its top level sets unconditionally.
    pub(super) exports: BTreeSet<&'t str>,
    /// Each field access of a name: the name, the field, and the offset.
    pub(super) fields: Vec<(&'t str, &'t str, usize)>,
    /// Notes on parts that cannot be rendered.
    pub(super) notes: Vec<ImportNote>,
    pub(super) lines: LineIndex,
}

/// A statement that matters for flattening.
#[derive(Debug)]
pub(super) enum PageStatement<'t> {
    /// The file, if it is a literal, and true if the statement is on the top level.
    Extends(Option<String>, bool),
    Include(JinjaInclude),
    Import(JinjaImport<'t>),
    /// The name of the block, and the piece that closes it.
    Block(&'t str, usize),
    BlockCall(BlockCall<'t>),
}

/// An include, as written.
#[derive(Debug)]
pub(super) struct JinjaInclude {
    /// The file, if it is a literal.
    pub(super) file: Option<String>,
    /// True if the file may be missing.
    pub(super) is_optional: bool,
}

/// An import, as written.
#[derive(Debug)]
pub(super) struct JinjaImport<'t> {
    /// The file, if it is a literal.
    pub(super) file: Option<String>,
    /// The name of the file's namespace, if it is imported as a whole.
    pub(super) module: Option<&'t str>,
    /// The imported names, each with its local name.
    pub(super) chosen: Vec<(&'t str, &'t str)>,
    pub(super) is_with_context: bool,
}

/// Pieces that define names, and true if their output must be discarded.
#[derive(Debug)]
pub(super) struct TopLevelDefinition {
    pub(super) pieces: Range<usize>,
    pub(super) is_silenced: bool,
}

impl<'t> JinjaPage<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Self {
        let lines = LineIndex::new(text);
        let mut page = Self {
            path,
            text,
            pieces: split_pieces(text),
            statements: BTreeMap::new(),
            definitions: Vec::new(),
            exports: BTreeSet::new(),
            fields: Vec::new(),
            notes: fault_notes(path, text, &lines),
            lines,
        };
        if let Ok(Stmt::Template(template)) = read_tree(text) {
            for stmt in &template.children {
                page.add_definition(stmt);
                visit_statements(stmt, &mut |inner| {
                    page.add_statement(inner, std::ptr::eq(inner, stmt));
                });
            }
            page.exports = always_set_names(&template.children);
        }
        page
    }

    /// The index of the piece at a byte.
    fn piece_at(&self, at: u32) -> usize {
        self.pieces
            .partition_point(|piece| piece.range.end <= at as usize)
    }

    fn add_definition(&mut self, stmt: &Stmt<'t>) {
        let mut defines = false;
        visit_statements(stmt, &mut |stmt| defines |= is_definition(stmt));
        let span = match stmt {
            Stmt::Macro(one) => one.span(),
            Stmt::Set(one) => one.span(),
            Stmt::SetBlock(one) => one.span(),
            Stmt::Do(one) => one.span(),
            Stmt::Import(one) => one.span(),
            Stmt::FromImport(one) => one.span(),
            Stmt::ForLoop(one) if defines => one.span(),
            Stmt::IfCond(one) if defines => one.span(),
            Stmt::WithBlock(one) if defines => one.span(),
            _ => return,
        };
        let pieces =
            self.piece_at(span.start_offset)..self.piece_at(span.end_offset.saturating_sub(1)) + 1;
        self.definitions.push(TopLevelDefinition {
            pieces,
            is_silenced: !is_definition(stmt),
        });
    }

    fn add_statement(&mut self, stmt: &Stmt<'t>, is_outermost: bool) {
        for expr in statement_exprs(stmt) {
            visit_exprs(expr, &mut |expr| {
                if let Expr::GetAttr(field) = expr
                    && let Expr::Var(var) = &field.expr
                {
                    self.fields
                        .push((var.id, field.name, slice_offset(self.text, var.id)));
                }
            });
        }
        let (span, statement) = match stmt {
            Stmt::Extends(one) => (
                one.span(),
                PageStatement::Extends(string_literal(&one.name), is_outermost),
            ),
            Stmt::Include(one) => (
                one.span(),
                PageStatement::Include(JinjaInclude {
                    file: string_literal(&one.name),
                    is_optional: one.ignore_missing,
                }),
            ),
            Stmt::Block(one) => (
                one.span(),
                PageStatement::Block(
                    one.name,
                    self.piece_at(one.span().end_offset.saturating_sub(1)),
                ),
            ),
            Stmt::Import(one) => {
                let module = if let Expr::Var(var) = &one.name {
                    Some(var.id)
                } else {
                    None
                };
                let is_with_context = self.is_with_context(one.span().start_offset);
                (
                    one.span(),
                    PageStatement::Import(JinjaImport {
                        file: string_literal(&one.expr),
                        module,
                        chosen: Vec::new(),
                        is_with_context,
                    }),
                )
            }
            Stmt::FromImport(one) => {
                let is_with_context = self.is_with_context(one.span().start_offset);
                let import = JinjaImport {
                    file: string_literal(&one.expr),
                    module: None,
                    chosen: imported_names(one),
                    is_with_context,
                };
                (one.span(), PageStatement::Import(import))
            }
            Stmt::EmitExpr(_)
            | Stmt::Set(_)
            | Stmt::IfCond(_)
            | Stmt::ForLoop(_)
            | Stmt::WithBlock(_)
            | Stmt::FilterBlock(_)
            | Stmt::CallBlock(_)
            | Stmt::Macro(_)
            | Stmt::SetBlock(_)
            | Stmt::Do(_)
            | Stmt::AutoEscape(_) => {
                let Some(call) = find_block_call(stmt) else {
                    return;
                };
                let Some(expr) = statement_exprs(stmt).first().map(|expr| expr.span()) else {
                    return;
                };
                (expr, PageStatement::BlockCall(call))
            }
            Stmt::Template(_) | Stmt::EmitRaw(_) => return,
        };
        self.statements
            .insert(self.piece_at(span.start_offset), statement);
    }

    /// Returns true if a tag ends with `with context`.
    fn is_with_context(&self, at: u32) -> bool {
        self.has_word(self.piece_at(at), "with")
    }

    /// Returns true if a tag contains a word.
    pub(super) fn has_word(&self, at: usize, word: &str) -> bool {
        let Some(JinjaPiece {
            kind: PieceKind::Tag(tag),
            ..
        }) = self.pieces.get(at)
        else {
            return false;
        };
        (1..tag.tokens.len()).any(|at| tag.name_token(at) == word)
    }

    /// The blocks of the page, each with the pieces inside it.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&'t str, Range<usize>)> {
        self.statements
            .iter()
            .filter_map(|(open, statement)| match statement {
                PageStatement::Block(name, close) => Some((*name, open + 1..*close)),
                _ => None,
            })
    }

    /// Returns true if the next tag trims the white space before it.
    pub(super) fn trims_back(&self, from: usize) -> bool {
        let next = self
            .pieces
            .iter()
            .skip(from)
            .find(|piece| !piece.slice(self.text).trim().is_empty());
        next.is_some_and(|piece| !piece.is_data() && piece.left == WhitespaceTrim::All)
    }
}

/// Returns true if a statement only defines names.
const fn is_definition(stmt: &Stmt<'_>) -> bool {
    matches!(
        stmt,
        Stmt::Macro(_)
            | Stmt::Set(_)
            | Stmt::SetBlock(_)
            | Stmt::Do(_)
            | Stmt::Import(_)
            | Stmt::FromImport(_)
    )
}

/// The names that statements set unconditionally.
fn always_set_names<'t>(stmts: &[Stmt<'t>]) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let bind = |target: &Expr<'t>, names: &mut BTreeSet<&'t str>| match target {
        Expr::Var(var) => drop(names.insert(var.id)),
        Expr::List(list) => names.extend(list.items.iter().filter_map(variable_name)),
        Expr::Tuple(list) => names.extend(list.items.iter().filter_map(variable_name)),
        _ => {}
    };
    for stmt in stmts {
        match stmt {
            Stmt::Macro(one) => drop(names.insert(one.name)),
            Stmt::Set(one) => bind(&one.target, &mut names),
            Stmt::SetBlock(one) => bind(&one.target, &mut names),
            Stmt::Import(one) => bind(&one.name, &mut names),
            Stmt::FromImport(one) => {
                names.extend(imported_names(one).into_iter().map(|(_, called)| called));
            }
            Stmt::IfCond(one) => {
                names.extend(
                    always_set_names(&one.true_body)
                        .intersection(&always_set_names(&one.false_body)),
                );
            }
            _ => {}
        }
    }
    names
}

fn variable_name<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    if let Expr::Var(var) = expr {
        Some(var.id)
    } else {
        None
    }
}

fn imported_names<'t>(import: &FromImport<'t>) -> Vec<(&'t str, &'t str)> {
    let names = import.names.iter().filter_map(|(chosen, called)| {
        let chosen = variable_name(chosen)?;
        Some((chosen, called.as_ref().map_or(Some(chosen), variable_name)?))
    });
    names.collect()
}

/// The value of a string literal.
fn string_literal(expr: &Expr<'_>) -> Option<String> {
    if let Expr::Const(constant) = expr {
        constant.value.as_str().map(str::to_owned)
    } else {
        None
    }
}

/// The note on a file name that is computed while rendering.
pub(super) fn computed_name_note(what: &str) -> ImportNoteKind {
    let why = "what it includes is chosen while rendering; write the name as a text".to_owned();
    ImportNoteKind::Unsupported {
        what: format!("`{what}`"),
        why,
    }
}

/// A text in place of a tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnclosedText<'a> {
    pub(super) text: &'a str,
    /// The outer ends of the tags that it replaces.
    pub(super) outer: TrimPair,
    /// The inner ends of these tags.
    pub(super) inner: TrimPair,
    /// True if the tag after it removes the white space before itself.
    pub(super) is_trimmed_behind: bool,
}

/// Inserts a text in place of a tag.
pub(super) fn insert_enclosed(out: &mut String, enclosed: EnclosedText<'_>) {
    let EnclosedText {
        text,
        outer,
        inner,
        is_trimmed_behind,
    } = enclosed;
    let signs = [outer.left, outer.right, inner.left, inner.right];
    let names = || split_tags(text).any(|tag| matches!(tag.keyword(), "set" | "macro"));
    let is_plain = signs.iter().all(|sign| *sign == WhitespaceTrim::Default)
        && !is_trimmed_behind
        && !ends_with_trim(out)
        && !ends_with_trim(text)
        && !starts_with_trim(text)
        && !names();
    if is_plain {
        return out.push_str(text);
    }
    out.extend(["{%", outer.left.sign(), " with ", inner.left.sign(), "%}"]);
    out.push_str(text);
    out.extend([
        "{%",
        inner.right.sign(),
        " endwith ",
        outer.right.sign(),
        "%}",
    ]);
}

/// Returns true if the first tag of a text removes the white space before itself.
fn starts_with_trim(text: &str) -> bool {
    let text = text.trim_start();
    ["{%-", "{{-", "{#-"]
        .iter()
        .any(|sign| text.starts_with(sign))
}

/// Returns true if the last tag of a text removes the white space behind itself.
fn ends_with_trim(text: &str) -> bool {
    let text = text.trim_end();
    ["-%}", "-}}", "-#}"]
        .iter()
        .any(|sign| text.ends_with(sign))
}

/// Notes on constructs that minijinja cannot render, except includes and blocks, which are
/// flattened.
fn fault_notes(path: &str, text: &str, lines: &LineIndex) -> Vec<ImportNote> {
    let is_followed = |kind: &JinjaFaultKind| matches!(kind, JinjaFaultKind::Unknown { name, .. } if ["self", "super"].contains(&name.as_str()));
    let found = analyze(text)
        .faults
        .into_iter()
        .filter(|fault| !is_followed(&fault.kind));
    let notes = found.filter_map(|fault| {
        let line = lines.line_number(fault.span.start);
        Some(ImportNote {
            path: path.to_owned(),
            line,
            kind: fault_note(fault.kind)?,
        })
    });
    notes.collect()
}

/// Converts a fault of a Jinja text into a note.
pub(super) fn fault_note(kind: JinjaFaultKind) -> Option<ImportNoteKind> {
    let broken = |words: String| Some(ImportNoteKind::Broken(words));
    match kind {
        JinjaFaultKind::OtherTemplate(_) => None,
        JinjaFaultKind::TooLarge => Some(ImportNoteKind::TooLarge {
            limit: MAX_TEXT_BYTES,
        }),
        JinjaFaultKind::LineTooLong => broken(format!(
            "a tag reaches more than {MAX_COLUMNS} characters into its line"
        )),
        JinjaFaultKind::TooDeep => broken("blocks or expressions are nested too deep".to_owned()),
        JinjaFaultKind::TooMuchRepeated => broken("a repeated text becomes too long".to_owned()),
        JinjaFaultKind::Arguments {
            filter,
            given,
            min,
            max,
        } => broken(jinja_fault::describe_argument_fault(
            &filter, given, min, max,
        )),
        JinjaFaultKind::Fails(words) | JinjaFaultKind::FailsByDefault(words) => {
            broken(format!("this fails in every run: {words}"))
        }
        JinjaFaultKind::BareTuple => broken(
            "a tuple without parentheses is not read here: write `(a, b)`, or a list, `[a, b]`"
                .to_owned(),
        ),
        JinjaFaultKind::ByZero => broken("nothing can be divided by zero".to_owned()),
        JinjaFaultKind::Syntax(words) => broken(format!("the text is not valid Jinja: {words}")),
        JinjaFaultKind::TooEarly { argument, name } => {
            let what = format!("a default of `{argument}` that names `{name}`");
            let why = "arguments have no value yet when defaults are evaluated; set it inside of the macro".to_owned();
            Some(ImportNoteKind::Unsupported { what, why })
        }
        JinjaFaultKind::Unknown { what, name, near } => {
            let absent = find_unsupported(what, &name);
            let shown = match what {
                JinjaNameKind::Method => format!("`.{name}()`"),
                JinjaNameKind::Filter => format!("filter `{name}`"),
                JinjaNameKind::Test => format!("test `{name}`"),
                JinjaNameKind::Function => format!("function `{name}`"),
                JinjaNameKind::Variable if name == "self" => "`self`".to_owned(),
                JinjaNameKind::Variable => format!("`{name}` of a macro"),
            };
            let why = match (absent, near) {
                (Some(absent), _) => format!("{}; {}", absent.why, absent.instead),
                (None, Some(near)) => {
                    format!("there is none of that name; the nearest is `{near}`")
                }
                (None, None) => "there is none of that name".to_owned(),
            };
            Some(ImportNoteKind::Unsupported { what: shown, why })
        }
    }
}

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
#[path = "../../../tests/unit/import/jinja/page.rs"]
mod tests;
