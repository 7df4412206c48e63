//! Writes fences into a Jinja text: around every output that an untrusted value can reach.
//!
//! Filters, tests and comparisons see the bare value; what leaves through an output is fenced whole, and numbers, truth values and
//! `none` say nothing that needs one. What is captured (`set`, macros) is fenced where it is written, not inside; a `filter`, a `call` and a
//! recursive loop are fenced as a block. Lines stay where they are.

use super::fill::fence;
use crate::template::jinja_flow::{Flow, Source, Written};
use crate::template::jinja_walk::flow;
use minijinja::value::{Object, ValueKind};
use minijinja::{Environment, Error, State, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The filter that fences an output, and those that write the openings and the ends around a block. No text can name them.
pub(super) const FILTERS: [&str; 3] = ["_f", "_o", "_c"];

/// Which of the untrusted names reach something, a bit for each; those beyond the last share it.
type Names = u64;

/// A text with its fences.
#[derive(Debug)]
pub(super) struct Fenced {
    /// The text.
    pub(super) text: String,
    /// The openings and ends that it names by number.
    pub(super) fences: Vec<(String, String)>,
}

/// Fences what these names reach.
pub(super) fn fenced(text: &str, untrusted: &BTreeSet<String>, nonce: &str) -> Fenced {
    let flow = flow(text);
    let reached = reached(&flow, untrusted);
    let mut numbers: BTreeMap<Names, usize> = BTreeMap::new();
    let mut fences = Vec::new();
    let mut inserts = Vec::new();
    for output in &flow.outputs {
        let Some(names) = reached.get(output.node).copied().filter(|names| *names != 0) else { continue };
        let number = *numbers.entry(names).or_insert_with(|| {
            fences.push(fence(nonce, &listed(untrusted, names)));
            fences.len() - 1
        });
        let [filter, open, close] = FILTERS;
        match &output.kind {
            Written::Expression(bytes) => {
                inserts.push((bytes.start, "(".to_owned()));
                inserts.push((bytes.end, format!(")|{filter}({number})")));
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
                inserts.push((bytes.end, format!("{{{{ {number}|{close} {behind}}}}}")));
            }
        }
    }
    inserts.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(text.len() + 16 * inserts.len());
    let mut start = 0;
    for (at, words) in inserts {
        out.push_str(text.get(start..at).unwrap_or(""));
        out.push_str(&words);
        start = at;
    }
    out.push_str(text.get(start..).unwrap_or(""));
    Fenced { text: out, fences }
}

fn bit(at: usize) -> Names {
    1 << at.min(Names::BITS as usize - 1)
}

fn listed(untrusted: &BTreeSet<String>, names: Names) -> String {
    let all = untrusted.iter().enumerate().filter(|(at, _)| names & bit(*at) != 0);
    all.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The untrusted names that reach each node. Each node passes each name on once.
fn reached(flow: &Flow<'_>, untrusted: &BTreeSet<String>) -> Vec<Names> {
    let mut reached: Vec<Names> = vec![0; flow.nodes];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); flow.nodes];
    let bits: BTreeMap<&str, Names> = untrusted.iter().enumerate().map(|(at, name)| (name.as_str(), bit(at))).collect();
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

/// A value that stands in a fence when it is written.
#[derive(Debug)]
struct Guarded {
    fence: usize,
    value: Value,
}

impl Object for Guarded {}

/// One side of a fence.
#[derive(Debug)]
struct Side {
    fence: usize,
    is_end: bool,
}

impl Object for Side {}

/// Has an environment know the filters that fence.
pub(super) fn attach(environment: &mut Environment<'_>) {
    let [filter, open, close] = FILTERS;
    // What is undefined is refused where it is written, as everywhere.
    environment.add_filter(
        filter,
        |value: Value, fence: usize| {
            if value.is_undefined() { value } else { Value::from_object(Guarded { fence, value }) }
        },
    );
    environment.add_filter(open, |fence: usize| Value::from_object(Side { fence, is_end: false }));
    environment.add_filter(close, |fence: usize| Value::from_object(Side { fence, is_end: true }));
}

/// Writes a value, in its fence if it needs one.
pub(super) fn write(
    out: &mut minijinja::Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    fences: &[(String, String)],
) -> Result<(), Error> {
    if let Some(side) = value.downcast_object_ref::<Side>() {
        let sides = fences.get(side.fence);
        return Ok(out.write_str(sides.map_or("", |(open, close)| if side.is_end { close } else { open }))?);
    }
    let Some(guarded) = value.downcast_object_ref::<Guarded>() else {
        return minijinja::escape_formatter(out, state, value);
    };
    let says_nothing = matches!(guarded.value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number);
    let Some((open, close)) = fences.get(guarded.fence).filter(|_| !says_nothing) else {
        return minijinja::escape_formatter(out, state, &guarded.value);
    };
    out.write_str(open)?;
    minijinja::escape_formatter(out, state, &guarded.value)?;
    Ok(out.write_str(close)?)
}

/// What a value weighs that may stand in a fence.
pub(super) fn inner(value: &Value) -> &Value {
    value.downcast_object_ref::<Guarded>().map_or(value, |guarded| &guarded.value)
}
