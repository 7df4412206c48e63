//! Instruments the instructions of a Jinja text: written text is traced, copied or compared values
//! are weighed.
//!
//! Each instruction keeps its effect, and jumps keep their targets. The called filters have names
//! that no text can use.

use minijinja::Value;
use minijinja::machinery::{Instruction, Instructions};
use std::collections::BTreeSet;

/// Weighs a value and returns it; lazy values are evaluated.
pub(super) const PASS_FILTER: &str = "_pass";
/// Weighs the operands of a comparison, a list of them.
pub(super) const OPERANDS_FILTER: &str = "_operands";
/// Weighs the texts among the operands of an access.
pub(super) const TEXTS_FILTER: &str = "_texts";
/// Weighs the texts among the operands of a slice; also replaces a step that cannot be negated.
pub(super) const SLICE_FILTER: &str = "_slice";
/// Announces the number of the next output.
pub(super) const OUTPUT_FILTER: &str = "_output";
/// Announces the number of the next plain text.
pub(super) const PLAIN_FILTER: &str = "_plain";
/// Announces the start of a capture.
pub(super) const BEGIN_FILTER: &str = "_begin";
/// Announces the end of a capture.
pub(super) const END_FILTER: &str = "_end";

/// Instrumented instructions, and the plain texts by their numbers.
pub(super) struct InstrumentedCode<'t> {
    pub(super) code: Instructions<'t>,
    pub(super) plain: Vec<&'t str>,
    /// The number of outputs.
    pub(super) outputs: usize,
}

/// Instruments the instructions.
pub(super) fn instrument_code<'t>(code: &Instructions<'t>) -> InstrumentedCode<'t> {
    let all: Vec<&Instruction<'t>> = (0..).map_while(|at| code.get(at)).collect();
    let macros: BTreeSet<u32> = all
        .iter()
        .filter_map(|one| {
            if let Instruction::BuildMacro(_, start, _) = one {
                Some(*start)
            } else {
                None
            }
        })
        .collect();
    let mut instrumenter = Instrumenter {
        code,
        instructions: Instructions::new(code.name(), code.source()),
        at: 0,
        plain: Vec::new(),
        outputs: 0,
        length: 0,
    };
    let mut moved = Vec::with_capacity(all.len() + 1);
    for (at, one) in (0..).zip(&all) {
        instrumenter.at = at;
        moved.push(instrumenter.length);
        if macros.contains(&at) {
            instrumenter.emit_announcement(BEGIN_FILTER, 0);
        }
        instrumenter.emit_before(one);
        instrumenter.emit((*one).clone());
        instrumenter.emit_after(one);
    }
    moved.push(instrumenter.length);
    let mut code = instrumenter.instructions;
    for at in 0..instrumenter.length {
        let Some(
            Instruction::Jump(target)
            | Instruction::JumpIfFalse(target)
            | Instruction::JumpIfFalseOrPop(target)
            | Instruction::JumpIfTrueOrPop(target)
            | Instruction::Iterate(target)
            | Instruction::BuildMacro(_, target, _),
        ) = code.get_mut(at)
        else {
            continue;
        };
        *target = moved.get(*target as usize).copied().unwrap_or(*target);
    }
    InstrumentedCode {
        code,
        plain: instrumenter.plain,
        outputs: instrumenter.outputs,
    }
}

struct Instrumenter<'c, 't> {
    code: &'c Instructions<'t>,
    instructions: Instructions<'t>,
    /// The index of the current original instruction.
    at: u32,
    plain: Vec<&'t str>,
    outputs: usize,
    /// The number of generated instructions.
    length: u32,
}

impl<'t> Instrumenter<'_, 't> {
    fn emit(&mut self, one: Instruction<'t>) {
        let last = match (self.code.get_span(self.at), self.code.get_line(self.at)) {
            (Some(span), _) => self.instructions.add_with_span(one, span),
            (None, Some(line)) => self
                .instructions
                .add_with_line(one, u16::try_from(line).unwrap_or(u16::MAX)),
            (None, None) => self.instructions.add(one),
        };
        self.length = last + 1;
    }

    /// Emits a call of a filter for its side effect.
    fn emit_announcement(&mut self, filter: &'static str, number: usize) {
        self.emit(Instruction::LoadConst(Value::from(number)));
        self.emit_filter(filter);
        self.emit(Instruction::DiscardTop);
    }

    /// Emits a call of a filter on the value on top of the stack.
    fn emit_filter(&mut self, filter: &'static str) {
        self.emit(Instruction::ApplyFilter(filter, Some(1), !0));
    }

    /// Emits a call of a filter on the topmost `count` values, as a list. The filter returns the
    /// list in reverse, because unpacking puts the first value on top.
    fn emit_list_filter(&mut self, filter: &'static str, count: usize) {
        self.emit(Instruction::BuildList(Some(count)));
        self.emit_filter(filter);
        self.emit(Instruction::UnpackList(count));
    }

    fn emit_before(&mut self, one: &Instruction<'t>) {
        match one {
            Instruction::EmitRaw(words) => {
                self.emit_announcement(PLAIN_FILTER, self.plain.len());
                self.plain.push(words);
            }
            Instruction::Emit => {
                self.emit_announcement(OUTPUT_FILTER, self.outputs);
                self.outputs += 1;
            }
            Instruction::EndCapture | Instruction::Return => self.emit_announcement(END_FILTER, 0),
            Instruction::CallFunction("loop", _) => self.emit_announcement(BEGIN_FILTER, 0),
            Instruction::Slice => self.emit_list_filter(SLICE_FILTER, 4),
            // A loop compares these values with those of the previous iteration.
            Instruction::CallMethod("changed", Some(count)) => {
                self.emit_list_filter(OPERANDS_FILTER, usize::from(count.saturating_sub(1)));
            }
            Instruction::GetItem => self.emit_list_filter(TEXTS_FILTER, 2),
            Instruction::Eq
            | Instruction::Ne
            | Instruction::Gt
            | Instruction::Gte
            | Instruction::Lt
            | Instruction::Lte
            | Instruction::In
            | Instruction::StringConcat
            | Instruction::CompareAndPreserve(_) => self.emit_list_filter(OPERANDS_FILTER, 2),
            _ => {}
        }
    }

    fn emit_after(&mut self, one: &Instruction<'t>) {
        match one {
            Instruction::BeginCapture(_) => self.emit_announcement(BEGIN_FILTER, 0),
            Instruction::CallFunction("loop", _) => {
                self.emit_announcement(END_FILTER, 0);
                self.emit_filter(PASS_FILTER);
            }
            // The result is weighed as a number, and iterated item by item.
            Instruction::CallFunction("range", _) => {}
            Instruction::Add
            | Instruction::Mul
            | Instruction::Slice
            | Instruction::BuildList(_)
            | Instruction::BuildMap(_)
            | Instruction::BuildTuple(_)
            | Instruction::CallFunction(..)
            | Instruction::CallMethod(..)
            | Instruction::CallObject(_) => self.emit_filter(PASS_FILTER),
            _ => {}
        }
    }
}
