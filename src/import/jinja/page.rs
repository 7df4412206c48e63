//! A template file: its pieces, and the includes, definitions and block calls of its statements.

use super::block_calls::{BlockCall, block_call};
use super::pieces::{Kind, Piece, Trim, pieces};
use crate::base::source::LineIndex;
use crate::import::note::{Note, NoteKind};
use crate::jinja::fault::{self, JinjaFaultKind};
use crate::jinja::limits::{MAX_BYTES, MAX_COLUMNS};
use crate::jinja::names::JinjaName;
use crate::jinja::parse::{parse, read_tree};
use crate::jinja::tags::tags;
use crate::jinja::tree::{Expr, FromImport, Stmt, each, each_stmt, expressions, place};
use crate::jinja::unsupported::absent;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A template file.
#[derive(Debug)]
pub(super) struct Page<'t> {
    pub(super) path: &'t str,
    pub(super) text: &'t str,
    pub(super) pieces: Vec<Piece<'t>>,
    /// The relevant statements, by the index of their piece.
    pub(super) statements: BTreeMap<usize, Statement<'t>>,
    /// The definitions of names on its top level.
    pub(super) definitions: Vec<Definition>,
    /// The names that its top level sets unconditionally.
    pub(super) exports: BTreeSet<&'t str>,
    /// Each field access of a name: the name, the field, and the offset.
    pub(super) fields: Vec<(&'t str, &'t str, usize)>,
    /// Notes on parts that cannot be rendered.
    pub(super) notes: Vec<Note>,
    pub(super) lines: LineIndex,
}

/// A statement that matters for flattening.
#[derive(Debug)]
pub(super) enum Statement<'t> {
    /// The file, if it is a literal, and true if the statement is on the top level.
    Extends(Option<String>, bool),
    /// The file, and true if it may be missing.
    Include(Option<String>, bool),
    Import(Import<'t>),
    /// The name of the block, and the piece that closes it.
    Block(&'t str, usize),
    Asks(BlockCall<'t>),
}

/// An import, as written.
#[derive(Debug)]
pub(super) struct Import<'t> {
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
pub(super) struct Definition {
    pub(super) pieces: Range<usize>,
    pub(super) is_silenced: bool,
}

impl<'t> Page<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Self {
        let lines = LineIndex::new(text);
        let mut page = Self {
            path,
            text,
            pieces: pieces(text),
            statements: BTreeMap::new(),
            definitions: Vec::new(),
            exports: BTreeSet::new(),
            fields: Vec::new(),
            notes: faults(path, text, &lines),
            lines,
        };
        if let Ok(Stmt::Template(template)) = read_tree(text) {
            for stmt in &template.children {
                page.define(stmt);
                each_stmt(stmt, &mut |inner| {
                    page.statement(inner, std::ptr::eq(inner, stmt));
                });
            }
            page.exports = sets(&template.children);
        }
        page
    }

    /// The index of the piece at a byte.
    fn piece(&self, at: u32) -> usize {
        self.pieces
            .partition_point(|piece| piece.range.end <= at as usize)
    }

    fn define(&mut self, stmt: &Stmt<'t>) {
        let mut defines = false;
        each_stmt(stmt, &mut |stmt| defines |= is_definition(stmt));
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
            self.piece(span.start_offset)..self.piece(span.end_offset.saturating_sub(1)) + 1;
        self.definitions.push(Definition {
            pieces,
            is_silenced: !is_definition(stmt),
        });
    }

    fn statement(&mut self, stmt: &Stmt<'t>, is_outermost: bool) {
        for expr in expressions(stmt) {
            each(expr, &mut |expr| {
                if let Expr::GetAttr(field) = expr
                    && let Expr::Var(var) = &field.expr
                {
                    self.fields
                        .push((var.id, field.name, place(self.text, var.id)));
                }
            });
        }
        let (span, statement) = match stmt {
            Stmt::Extends(one) => (
                one.span(),
                Statement::Extends(literal(&one.name), is_outermost),
            ),
            Stmt::Include(one) => (
                one.span(),
                Statement::Include(literal(&one.name), one.ignore_missing),
            ),
            Stmt::Block(one) => (
                one.span(),
                Statement::Block(
                    one.name,
                    self.piece(one.span().end_offset.saturating_sub(1)),
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
                    Statement::Import(Import {
                        file: literal(&one.expr),
                        module,
                        chosen: Vec::new(),
                        is_with_context,
                    }),
                )
            }
            Stmt::FromImport(one) => {
                let is_with_context = self.is_with_context(one.span().start_offset);
                let import = Import {
                    file: literal(&one.expr),
                    module: None,
                    chosen: chosen(one),
                    is_with_context,
                };
                (one.span(), Statement::Import(import))
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
                let Some(call) = block_call(stmt) else { return };
                let Some(expr) = expressions(stmt).first().map(|expr| expr.span()) else {
                    return;
                };
                (expr, Statement::Asks(call))
            }
            Stmt::Template(_) | Stmt::EmitRaw(_) => return,
        };
        self.statements
            .insert(self.piece(span.start_offset), statement);
    }

    /// Returns true if a tag ends with `with context`.
    fn is_with_context(&self, at: u32) -> bool {
        self.has_word(self.piece(at), "with")
    }

    /// Returns true if a tag contains a word.
    pub(super) fn has_word(&self, at: usize, word: &str) -> bool {
        let Some(Piece {
            kind: Kind::Tag(tag),
            ..
        }) = self.pieces.get(at)
        else {
            return false;
        };
        (1..tag.tokens.len()).any(|at| tag.name(at) == word)
    }

    /// The blocks of the page, each with the pieces inside it.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&'t str, Range<usize>)> {
        self.statements
            .iter()
            .filter_map(|(open, statement)| match statement {
                Statement::Block(name, close) => Some((*name, open + 1..*close)),
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
        next.is_some_and(|piece| !piece.is_data() && piece.left == Trim::All)
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
fn sets<'t>(stmts: &[Stmt<'t>]) -> BTreeSet<&'t str> {
    let mut names = BTreeSet::new();
    let bind = |target: &Expr<'t>, names: &mut BTreeSet<&'t str>| match target {
        Expr::Var(var) => drop(names.insert(var.id)),
        Expr::List(list) => names.extend(list.items.iter().filter_map(name)),
        Expr::Tuple(list) => names.extend(list.items.iter().filter_map(name)),
        _ => {}
    };
    for stmt in stmts {
        match stmt {
            Stmt::Macro(one) => drop(names.insert(one.name)),
            Stmt::Set(one) => bind(&one.target, &mut names),
            Stmt::SetBlock(one) => bind(&one.target, &mut names),
            Stmt::Import(one) => bind(&one.name, &mut names),
            Stmt::FromImport(one) => {
                names.extend(chosen(one).into_iter().map(|(_, called)| called));
            }
            Stmt::IfCond(one) => {
                names.extend(sets(&one.true_body).intersection(&sets(&one.false_body)));
            }
            _ => {}
        }
    }
    names
}

fn name<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    if let Expr::Var(var) = expr {
        Some(var.id)
    } else {
        None
    }
}

fn chosen<'t>(import: &FromImport<'t>) -> Vec<(&'t str, &'t str)> {
    let names = import.names.iter().filter_map(|(chosen, called)| {
        let chosen = name(chosen)?;
        Some((chosen, called.as_ref().map_or(Some(chosen), name)?))
    });
    names.collect()
}

/// The value of a string literal.
fn literal(expr: &Expr<'_>) -> Option<String> {
    if let Expr::Const(constant) = expr {
        constant.value.as_str().map(str::to_owned)
    } else {
        None
    }
}

/// The note on a file name that is computed while rendering.
pub(super) fn chosen_later(what: &str) -> NoteKind {
    let why = "what it includes is chosen while rendering; write the name as a text".to_owned();
    NoteKind::Unsupported {
        what: format!("`{what}`"),
        why,
    }
}

/// Inserts a text in place of a tag.
pub(super) fn enclose(
    out: &mut String,
    content: &str,
    ends: (Trim, Trim),
    inner: (Trim, Trim),
    is_trimmed_behind: bool,
) {
    let signs = [ends.0, ends.1, inner.0, inner.1];
    let dashed = |text: &str, at_end: bool| {
        let text = if at_end {
            text.trim_end()
        } else {
            text.trim_start()
        };
        let signs = if at_end {
            ["-%}", "-}}", "-#}"]
        } else {
            ["{%-", "{{-", "{#-"]
        };
        signs.iter().any(|sign| {
            if at_end {
                text.ends_with(sign)
            } else {
                text.starts_with(sign)
            }
        })
    };
    let names = || tags(content).any(|tag| matches!(tag.keyword(), "set" | "macro"));
    let is_plain = signs.iter().all(|sign| *sign == Trim::Default)
        && !is_trimmed_behind
        && !dashed(out, true)
        && !dashed(content, true)
        && !dashed(content, false)
        && !names();
    if is_plain {
        return out.push_str(content);
    }
    out.extend(["{%", ends.0.sign(), " with ", inner.0.sign(), "%}"]);
    out.push_str(content);
    out.extend(["{%", inner.1.sign(), " endwith ", ends.1.sign(), "%}"]);
}

/// Notes on constructs that minijinja cannot render, except includes and blocks, which are
/// flattened.
fn faults(path: &str, text: &str, lines: &LineIndex) -> Vec<Note> {
    let is_followed = |kind: &JinjaFaultKind| matches!(kind, JinjaFaultKind::Unknown { name, .. } if ["self", "super"].contains(&name.as_str()));
    let found = parse(text)
        .faults
        .into_iter()
        .filter(|fault| !is_followed(&fault.kind));
    let notes = found.filter_map(|fault| {
        let line = lines.line(fault.span.start);
        Some(Note {
            path: path.to_owned(),
            line,
            kind: fault_note(fault.kind)?,
        })
    });
    notes.collect()
}

/// Converts a fault of a Jinja text into a note.
pub(super) fn fault_note(kind: JinjaFaultKind) -> Option<NoteKind> {
    let broken = |words: String| Some(NoteKind::Broken(words));
    match kind {
        JinjaFaultKind::OtherTemplate(_) => None,
        JinjaFaultKind::TooLarge => Some(NoteKind::TooLarge { limit: MAX_BYTES }),
        JinjaFaultKind::LineTooLong => broken(format!(
            "a tag reaches more than {MAX_COLUMNS} characters into its line"
        )),
        JinjaFaultKind::TooDeep => broken("blocks or expressions are nested too deep".to_owned()),
        JinjaFaultKind::TooMuchRepeated => broken("a repeated text becomes too long".to_owned()),
        JinjaFaultKind::Arguments {
            filter,
            given,
            least,
            most,
        } => broken(fault::arguments(&filter, given, least, most)),
        JinjaFaultKind::Fails(words) | JinjaFaultKind::FailsByDefault(words) => {
            broken(format!("this fails in every run: {words}"))
        }
        JinjaFaultKind::ByZero => broken("nothing can be divided by zero".to_owned()),
        JinjaFaultKind::Syntax(words) => broken(format!("the text is not valid Jinja: {words}")),
        JinjaFaultKind::TooEarly { argument, name } => {
            let what = format!("a default of `{argument}` that names `{name}`");
            let why = "arguments have no value yet when defaults are evaluated; set it inside of the macro".to_owned();
            Some(NoteKind::Unsupported { what, why })
        }
        JinjaFaultKind::Unknown { what, name, near } => {
            let absent = absent(what, &name);
            let shown = match what {
                JinjaName::Method => format!("`.{name}()`"),
                JinjaName::Filter => format!("filter `{name}`"),
                JinjaName::Test => format!("test `{name}`"),
                JinjaName::Function => format!("function `{name}`"),
                JinjaName::Variable if name == "self" => "`self`".to_owned(),
                JinjaName::Variable => format!("`{name}` of a macro"),
            };
            let why = match (absent, near) {
                (Some(absent), _) => format!("{}; {}", absent.why, absent.instead),
                (None, Some(near)) => {
                    format!("there is none of that name; the nearest is `{near}`")
                }
                (None, None) => "there is none of that name".to_owned(),
            };
            Some(NoteKind::Unsupported { what: shown, why })
        }
    }
}
