//! Numbers the outputs of a Jinja text, to know whose value each of them writes, and to fence those that an untrusted value can reach.
//!
//! Filters, tests and comparisons see the bare value; what leaves through an output is fenced whole, and numbers, truth values and
//! `none` say nothing that needs one. What is captured (`set`, macros) is fenced where it is written, not inside; a `filter`, a `call` and a
//! recursive loop are fenced as a block. Lines stay where they are.

use super::fill::fence;
use super::jinja_trace::{Now, Writes};
use crate::base::source::LineIndex;
use crate::template::jinja::said;
use crate::template::jinja_flow::{Flow, Source, Written};
use crate::template::jinja_tags::{Tag, inserted};
use crate::template::jinja_walk::flow;
use minijinja::value::{Object, ValueKind};
use minijinja::{Environment, Error, State, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The filter that fences an output, and those that stand before a block and behind one that needs a fence. No text can name them.
pub(super) const FILTERS: [&str; 3] = ["_f", "_o", "_c"];

/// Which names reach something, a bit for each; those beyond the last share it.
type Names = u64;

/// A text whose outputs have numbers.
#[derive(Debug)]
pub(super) struct Numbered {
    /// The text.
    pub(super) text: String,
    /// What is known of each output.
    pub(super) outputs: Vec<Known>,
    /// What is kept as a value before it is written, in the text as it was.
    pub(super) captured: Vec<Range<usize>>,
}

/// What is known of an output before it is written.
#[derive(Debug)]
pub(super) struct Known {
    /// The opening and the end that it needs.
    fence: Option<(String, String)>,
    /// The name whose value it writes, or a part of it. What a text puts together itself is the value of none.
    pub(super) name: Option<String>,
    /// Lines above it in the text.
    pub(super) line: u32,
}

/// Numbers the outputs that these names reach, and says which of them need a fence.
pub(super) fn numbered(text: &str, names: &BTreeSet<String>, untrusted: &BTreeSet<String>, nonce: &str) -> Numbered {
    let flow = flow(text);
    // Those that need fences first: what has no bit of its own is fenced with what it shares one with.
    let others = names.iter().filter(|name| !untrusted.contains(*name));
    let names: Vec<&str> = untrusted.iter().chain(others).map(String::as_str).collect();
    let unsafe_names = (0..untrusted.len()).map(bit).fold(0, |all, bit| all | bit);
    let reached = reached(&flow, &names);
    let (mut outputs, mut inserts) = (Vec::new(), Vec::new());
    let lines = LineIndex::new(text);
    for output in &flow.outputs {
        let by = reached.get(output.node).copied().unwrap_or(0);
        let fenced = by & unsafe_names;
        let number = outputs.len();
        let [filter, open, close] = FILTERS;
        let start = match &output.kind {
            Written::Expression(bytes) => {
                inserts.push((bytes.start, "(".to_owned()));
                inserts.push((bytes.end, format!(")|{filter}({number})")));
                bytes.start
            }
            // What the block trims beside itself is beside the fence.
            Written::Block(bytes) => {
                let sign = |at: Option<usize>| match at.and_then(|at| text.as_bytes().get(at)) {
                    Some(b'-') => "-",
                    Some(b'+') => "+",
                    _ => "",
                };
                let before = sign(Some(bytes.start + 2));
                let behind = sign(bytes.end.checked_sub(3));
                inserts.push((bytes.start, format!("{{{{{before} {number}|{open} }}}}")));
                if fenced != 0 {
                    inserts.push((bytes.end, format!("{{{{ {number}|{close} {behind}}}}}")));
                }
                bytes.start
            }
        };
        let line = lines.line(start as u32) - 1;
        let fence = (fenced != 0).then(|| fence(nonce, &listed(&names, fenced)));
        let is_one = by.is_power_of_two() && by != bit(Names::BITS as usize);
        let is_whole = output.part_of.is_some_and(|root| names.contains(&root) || flow.items.contains(root));
        let name = (is_one && is_whole).then(|| listed(&names, by));
        outputs.push(Known { fence, name, line });
    }
    Numbered { text: inserted(text, inserts), outputs, captured: flow.captured }
}

fn bit(at: usize) -> Names {
    1 << at.min(Names::BITS as usize - 1)
}

fn listed(all: &[&str], chosen: Names) -> String {
    let named = all.iter().enumerate().filter(|(at, _)| chosen & bit(*at) != 0);
    named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}

/// The names that reach each node. Each node passes each name on once.
fn reached(flow: &Flow<'_>, names: &[&str]) -> Vec<Names> {
    let mut reached: Vec<Names> = vec![0; flow.nodes];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); flow.nodes];
    let bits: BTreeMap<&str, Names> = names.iter().enumerate().map(|(at, name)| (*name, bit(at))).collect();
    let (mut open, mut reads) = (Vec::new(), vec![false; flow.nodes]);
    for (from, to) in flow.flows() {
        if let Some(reads) = reads.get_mut(to) {
            *reads = true;
        }
        match from {
            Source::Node(from) => next.get_mut(from).into_iter().for_each(|next| next.push(to)),
            Source::Outside(name) => open.extend(bits.get(name).map(|bit| (to, *bit))),
        }
    }
    while let Some((at, names)) = open.pop() {
        let Some(here) = reached.get_mut(at).filter(|here| **here | names != **here) else { continue };
        *here |= names;
        let names = *here;
        open.extend(next.get(at).into_iter().flatten().map(|to| (*to, names)));
    }
    // What is written into a value that has other names is looked for under all of them.
    let mut shared = flow.shared.iter().filter_map(|node| reached.get(*node)).fold(0, |all, names| all | names);
    if flow.is_shared_unknown {
        shared |= bits.values().fold(0, |all, names| all | names);
    }
    for (here, _) in reached.iter_mut().zip(reads).filter(|(_, reads)| *reads) {
        *here |= shared;
    }
    reached
}

/// A value with the number of the output that writes it.
#[derive(Debug)]
struct Guarded {
    output: usize,
    value: Value,
}

impl Object for Guarded {}

/// One side of a fence.
#[derive(Debug)]
struct Side {
    output: usize,
    is_end: bool,
}

impl Object for Side {}

/// Whether a tag stands for one side of a fence: no tag of the text became it.
pub(super) fn is_side(tag: &Tag<'_>) -> bool {
    let [_, open, close] = FILTERS;
    !tag.is_block && [open, close].contains(&tag.word(2))
}

/// Has an environment know the filters that fence.
pub(super) fn attach(environment: &mut Environment<'_>) {
    let [filter, open, close] = FILTERS;
    // What is undefined is refused where it is written, as everywhere.
    environment.add_filter(
        filter,
        |value: Value, output: usize| {
            if value.is_undefined() { value } else { Value::from_object(Guarded { output, value }) }
        },
    );
    environment.add_filter(open, |output: usize| Value::from_object(Side { output, is_end: false }));
    environment.add_filter(close, |output: usize| Value::from_object(Side { output, is_end: true }));
}

/// Writes a value, in its fence if it needs one, and says meanwhile what is written.
pub(super) fn write(
    out: &mut minijinja::Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    outputs: &[Known],
    now: &Now,
) -> Result<(), Error> {
    if let Some(side) = value.downcast_object_ref::<Side>() {
        let known = outputs.get(side.output);
        if let Some(known) = known.filter(|_| !side.is_end) {
            now.below(known.line);
        }
        let sides = known.and_then(|known| known.fence.as_ref());
        let side = sides.map_or("", |(open, close)| if side.is_end { close } else { open });
        return now.during(Writes::Fence, || out.write_str(side));
    }
    let Some(guarded) = value.downcast_object_ref::<Guarded>() else {
        return now.during(Writes::Something, || minijinja::escape_formatter(out, state, &said(value)));
    };
    let says_nothing = matches!(guarded.value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number);
    let fence = outputs.get(guarded.output).and_then(|known| known.fence.as_ref()).filter(|_| !says_nothing);
    if let Some((open, _)) = fence {
        now.during(Writes::Fence, || out.write_str(open))?;
    }
    now.during(Writes::Output(guarded.output), || minijinja::escape_formatter(out, state, &said(&guarded.value)))?;
    if let Some((_, close)) = fence {
        now.during(Writes::Fence, || out.write_str(close))?;
    }
    Ok(())
}

/// What a value weighs that may stand in a fence.
pub(super) fn inner(value: &Value) -> &Value {
    value.downcast_object_ref::<Guarded>().map_or(value, |guarded| &guarded.value)
}
