//! Follows a Jinja text statement by statement and notes what flows where. Each tag is read once; nothing is looked up before all is noted.

use super::jinja_flow::{Flow, Output, Scope, Written};
use super::jinja_tags::{Kind, Piece, Tag, pieces};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The name that a recursive loop is called by inside.
const LOOP: &str = "loop";
/// The name that a macro has for what a `call` holds.
const CALLER: &str = "caller";

/// Reads a text that parses.
pub(crate) fn flow(text: &str) -> Flow<'_> {
    let flow = Flow { scopes: vec![Scope::default()], ..Flow::default() };
    let mut walk = Walk { flow, scope: 0, capture: None, open: Vec::new(), set: vec![BTreeSet::from(["self"])] };
    for placed in pieces(text) {
        match placed.piece {
            Piece::Tag(tag) if tag.is_block => walk.statement(&tag),
            Piece::Tag(tag) => walk.output(&tag),
            Piece::Comment | Piece::Raw => {}
        }
    }
    walk.flow
}

/// A statement that waits for its end.
#[derive(Debug)]
struct Block<'t> {
    /// Where its first brace is.
    start: usize,
    /// The scope and the capture around it.
    scope: usize,
    capture: Option<usize>,
    /// Where what it captures is written to the text itself.
    written: Option<usize>,
    branches: Branches<'t>,
    /// What it sets at its end.
    later: BTreeSet<&'t str>,
}

/// What all branches of an `if` so far have set.
#[derive(Debug)]
enum Branches<'t> {
    None,
    If { common: Option<BTreeSet<&'t str>>, is_whole: bool },
}

struct Walk<'t> {
    flow: Flow<'t>,
    scope: usize,
    /// The node of what the innermost statement captures.
    capture: Option<usize>,
    open: Vec<Block<'t>>,
    /// The names set so far, by statement.
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

    /// Names that are read; a value of theirs flows nowhere.
    fn condition(&mut self, tag: &Tag<'t>, stretch: Range<usize>) {
        let start = stretch.start;
        for at in stretch.filter(|at| tag.is_name(*at, start)) {
            let name = tag.word(at);
            if self.set.iter().any(|set| set.contains(name)) {
                continue;
            }
            self.flow.variables.insert(name);
            if tag.word(at + 1) != "(" {
                self.flow.values.insert(name);
            }
        }
    }

    /// Names that are read, and a node that their values reach.
    fn read(&mut self, tag: &Tag<'t>, stretch: Range<usize>) -> usize {
        self.condition(tag, stretch.clone());
        let node = self.node();
        self.flow.reads.extend(tag.names(stretch).map(|name| (name, self.scope, node)));
        if let Some(capture) = self.capture {
            self.edge(node, capture);
        }
        node
    }

    /// The node of what a name is bound to in a scope.
    fn bound(&mut self, name: &'t str, scope: usize, is_certain: bool) -> usize {
        let new = self.flow.nodes;
        let Some(scope) = self.flow.scopes.get_mut(scope) else { return self.node() };
        let node = scope.names.entry(name).or_insert((new, is_certain)).0;
        self.flow.nodes = new + usize::from(node == new);
        node
    }

    fn bind(&mut self, name: &'t str, from: Option<usize>, is_certain: bool) -> usize {
        let node = self.bound(name, self.scope, is_certain);
        if let Some(from) = from {
            self.edge(from, node);
        }
        if let Some(set) = self.set.last_mut() {
            set.insert(name);
        }
        node
    }

    /// Binds what an assignment names, or writes into what it names a field of.
    fn assign(&mut self, tag: &Tag<'t>, target: Range<usize>, from: usize) {
        for at in target.clone() {
            let is_root = tag.kind(at) == Some(Kind::Word) && !(at > target.start && tag.word(at - 1) == ".");
            if is_root && tag.word(at + 1) == "." {
                self.condition(tag, at..at + 1);
                self.flow.shared.push(from);
                // A macro is given what nobody follows.
                self.flow.is_shared_unknown |= self.is_in_macro();
            } else if is_root {
                self.bind(tag.word(at), Some(from), false);
            }
        }
    }

    fn is_in_macro(&self) -> bool {
        let mut at = Some(self.scope);
        while let Some(scope) = at.and_then(|at| self.flow.scopes.get(at)) {
            if scope.names.contains_key(CALLER) {
                return true;
            }
            at = scope.parent;
        }
        false
    }

    fn open(&mut self, start: usize) {
        let block = Block {
            start,
            scope: self.scope,
            capture: self.capture,
            written: None,
            branches: Branches::None,
            later: BTreeSet::new(),
        };
        self.open.push(block);
        self.set.push(BTreeSet::new());
    }

    fn enter(&mut self) {
        self.flow.scopes.push(Scope { parent: Some(self.scope), names: BTreeMap::new() });
        self.scope = self.flow.scopes.len() - 1;
    }

    /// What follows is kept as a value, until the end of the statement.
    fn keep(&mut self) -> usize {
        let node = self.node();
        if let Some(outer) = self.capture {
            self.edge(node, outer);
        }
        self.capture = Some(node);
        node
    }

    /// What follows is kept, changed and written.
    fn keep_and_write(&mut self) -> usize {
        let is_written = self.capture.is_none();
        let node = self.keep();
        if let Some(block) = self.open.last_mut().filter(|_| is_written) {
            block.written = Some(node);
        }
        node
    }

    fn close(&mut self, tag: &Tag<'t>) {
        let set = if self.set.len() > 1 { self.set.pop() } else { None };
        let Some(block) = self.open.pop() else { return };
        let keeps_names = self.scope == block.scope;
        if block.capture.is_none() && self.capture.is_some() {
            self.flow.captured.push(block.start..tag.end);
        }
        (self.scope, self.capture) = (block.scope, block.capture);
        if let Some(node) = block.written {
            let kind = Written::Block(block.start..tag.end);
            self.flow.outputs.push(Output { node, part_of: None, kind });
        }
        let (Some(set), Some(outer)) = (set, self.set.last_mut()) else { return };
        outer.extend(block.later);
        match block.branches {
            Branches::If { common, is_whole: true } => {
                outer.extend(set.into_iter().filter(|name| common.as_ref().is_none_or(|common| common.contains(name))));
            }
            Branches::None if keeps_names => outer.extend(set),
            Branches::If { .. } | Branches::None => {}
        }
    }

    fn output(&mut self, tag: &Tag<'t>) {
        let node = self.read(tag, 0..tag.tokens.len());
        if let (None, Some(first), Some(last)) = (self.capture, tag.tokens.first(), tag.tokens.last()) {
            let kind = Written::Expression(first.start..last.end);
            self.flow.outputs.push(Output { node, part_of: tag.part_of(), kind });
        }
    }

    fn statement(&mut self, tag: &Tag<'t>) {
        let all = 1..tag.tokens.len();
        match tag.word(0) {
            "for" => self.each(tag),
            "if" => {
                self.condition(tag, all);
                self.open(tag.open);
                if let Some(block) = self.open.last_mut() {
                    block.branches = Branches::If { common: None, is_whole: false };
                }
            }
            "elif" | "else" => self.branch(tag),
            "with" => self.with(tag),
            "set" => self.set(tag),
            "filter" => {
                self.open(tag.open);
                let kept = self.keep_and_write();
                let node = self.read_filters(tag, 1);
                self.edge(node, kept);
            }
            "autoescape" => {
                self.condition(tag, all);
                self.open(tag.open);
            }
            "macro" => self.macro_(tag),
            "call" => self.call(tag),
            "do" => {
                self.read(tag, all);
            }
            end if end.starts_with("end") => self.close(tag),
            _ => {}
        }
    }

    /// The arguments of a chain of filters whose first name stands at a token.
    fn read_filters(&mut self, tag: &Tag<'t>, first: usize) -> usize {
        self.read(tag, first + 1..tag.tokens.len())
    }

    fn each(&mut self, tag: &Tag<'t>) {
        let all = tag.tokens.len();
        let of = tag.outside("in", 1..all).unwrap_or(all);
        let is_recursive = all > of + 2 && tag.word(all - 1) == "recursive" && tag.ends_value(all - 2);
        let end = all - usize::from(is_recursive);
        // Without brackets, a first `if` is the loop's own.
        let condition = tag.outside("if", of + 1..end).filter(|at| tag.ends_value(at - 1));
        let items = self.read(tag, of + 1..condition.unwrap_or(end));
        self.open(tag.open);
        self.enter();
        let items = if is_recursive {
            let kept = self.keep_and_write();
            self.edge(items, kept);
            kept
        } else {
            items
        };
        for at in (1..of).filter(|at| tag.kind(*at) == Some(Kind::Word)) {
            self.bind(tag.word(at), Some(items), true);
            self.flow.items.insert(tag.word(at));
        }
        self.bind(LOOP, Some(items), true);
        if let Some(condition) = condition {
            self.condition(tag, condition + 1..end);
        }
    }

    fn branch(&mut self, tag: &Tag<'t>) {
        let Some(block) = self.open.last_mut() else { return };
        let set = self.set.last_mut().map(std::mem::take).unwrap_or_default();
        if let Branches::If { common, is_whole } = &mut block.branches {
            *is_whole = tag.word(0) == "else";
            let both = match common.take() {
                Some(common) => set.into_iter().filter(|name| common.contains(name)).collect(),
                None => set,
            };
            *common = Some(both);
            if tag.word(0) == "elif" {
                self.condition(tag, 1..tag.tokens.len());
            }
            return;
        }
        // The `else` of a loop runs outside of it; what it sets may never be set.
        self.scope = block.scope;
        block.branches = Branches::If { common: None, is_whole: false };
    }

    fn with(&mut self, tag: &Tag<'t>) {
        self.open(tag.open);
        let outer = self.scope;
        self.enter();
        for part in tag.parts(1..tag.tokens.len()) {
            let Some(equal) = tag.outside("=", part.clone()) else { continue };
            let value = self.read(tag, equal + 1..part.end);
            // The value may be what the name was bound to outside.
            self.flow.reads.extend(tag.names(equal + 1..part.end).map(|name| (name, outer, value)));
            for at in (part.start..equal).filter(|at| tag.kind(*at) == Some(Kind::Word)) {
                self.bind(tag.word(at), Some(value), true);
            }
        }
    }

    fn set(&mut self, tag: &Tag<'t>) {
        let all = tag.tokens.len();
        if let Some(equal) = tag.assigned() {
            let value = self.read(tag, equal + 1..all);
            return self.assign(tag, 1..equal, value);
        }
        let filters = tag.outside("|", 1..all).unwrap_or(all);
        self.open(tag.open);
        let kept = self.keep();
        if filters < all {
            let node = self.read_filters(tag, filters + 1);
            self.edge(node, kept);
        }
        self.assign(tag, 1..filters, kept);
        if let (Some(block), Some(set)) = (self.open.last_mut(), self.set.last_mut()) {
            block.later = std::mem::take(set);
        }
    }

    /// Binds the names in the brackets of a macro or a call; the token behind them.
    fn parameters(&mut self, tag: &Tag<'t>, open: usize) -> usize {
        let (outer, close) = (self.scope, tag.closed(open));
        self.enter();
        self.bind(CALLER, None, true);
        for part in tag.parts(open + 1..close) {
            let value = (part.len() > 2).then(|| {
                let value = self.read(tag, part.start + 2..part.end);
                self.flow.reads.extend(tag.names(part.start + 2..part.end).map(|name| (name, outer, value)));
                value
            });
            self.bind(tag.word(part.start), value, true);
        }
        close + 1
    }

    fn macro_(&mut self, tag: &Tag<'t>) {
        let name = self.bind(tag.word(1), None, false);
        self.open(tag.open);
        let kept = self.keep();
        self.edge(kept, name);
        self.parameters(tag, 2);
    }

    fn call(&mut self, tag: &Tag<'t>) {
        let has_parameters = tag.word(1) == "(";
        let first = if has_parameters { tag.closed(1) + 1 } else { 1 };
        let called = self.read(tag, first..tag.tokens.len());
        self.open(tag.open);
        let kept = self.keep_and_write();
        self.edge(called, kept);
        if has_parameters {
            self.parameters(tag, 1);
        } else {
            self.enter();
            self.bind(CALLER, None, true);
        }
    }
}
