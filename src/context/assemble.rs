//! One call from a compiled task to messages and a report: segments by the settings, positions, budget, rendering.
//!
//! `ctxc render`, `ctxc manifest`, runs and hosts share this path, so none of them can tell another story.

use super::chain::Forest;
use super::fault::{Fault, FaultKind};
use super::fill::{Filler, Unknown};
use super::own::Drafted;
use super::render::message::{self, Message, Rendered, speaker};
use super::render::profile::{self, Frame, Profile};
use super::request::Request;
use super::strategy::{self, Strategy};
use crate::base::hash::Hasher;
use crate::kernel::assembler::{Account, ContextAssembler, positions, reusable};
use crate::kernel::context::{Cut, Origin, Segment, Traced};
use crate::kernel::fit::{self, Block, Budget, Counting, Fate, Fitted};
use crate::kernel::tokens::{Bytes, TokenCounter};
use crate::registry::{Registry, Task};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How a context is assembled.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// How segments look.
    pub profile: Profile,
    /// Tokens in all; `None` for no limit.
    pub budget: Option<usize>,
    /// Who counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Whether figures are wanted where nothing has to be counted.
    pub counting: Counting,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { profile: Profile::default(), budget: None, counter: &Bytes, counting: Counting::WhenNeeded }
    }
}

/// What an agent receives, and what became of each segment on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Every segment, in the order of the sources.
    pub report: Report,
}

/// An account of every segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One entry a segment; nothing is dropped in silence.
    pub segments: Vec<Account>,
    /// The budget in tokens.
    pub budget: Option<usize>,
    /// The tokenizer's name.
    pub tokenizer: String,
    /// Whether its figures are exact.
    pub is_exact: bool,
    /// Tokens of what stayed; `None` where nothing had to be counted.
    pub tokens: Option<usize>,
    /// Tokens in front that a provider's cache can reuse from call to call.
    pub prefix_tokens: Option<usize>,
    /// What marks untrusted text in this request.
    pub nonce: String,
}

/// A context before it is rendered.
struct Draft {
    /// Its segments, in the order of their sources.
    segments: Vec<Drafted>,
    /// What marks untrusted text.
    nonce: String,
}

/// Assembles the context of one agent.
///
/// # Errors
/// Everything that is wrong, in the order of the places.
pub fn assemble(registry: &Registry, request: &Request<'_>, options: &Options<'_>) -> Result<Assembly, Vec<Fault>> {
    let missing = || Fault::from(FaultKind::Dangling { name: request.task.to_owned() });
    let forest =
        Forest::load(registry, request.task).and_then(|forest| forest.ok_or_else(missing)).map_err(|fault| vec![fault])?;
    let draft = draft(&forest, request, Unknown::Fault)?;
    let assembler = Assembler { options, nonce: &draft.nonce, may_lack: &[] };
    assembler.assemble(draft.segments.into_iter().map(|drafted| drafted.segment).collect()).map_err(|fault| vec![fault])
}

impl Task<'_> {
    /// What the task's agent receives, with the values and the parent's context handed in.
    ///
    /// # Errors
    /// Everything that is wrong: a value that is missing, texts that may not be cut over the budget.
    pub fn assemble(
        self,
        inputs: &BTreeMap<String, Value>,
        parent: &[Segment],
        budget: Option<usize>,
    ) -> Result<Assembly, Vec<Fault>> {
        let request = Request { inputs, parent, ..Request::new(self.name()) };
        assemble(self.registry(), &request, &Options { budget, ..Options::default() })
    }
}

/// What a segment of a dry run waits for, and when it is there at all.
pub(super) type Waiting = (BTreeSet<String>, Option<&'static str>);

/// The report of a run before any run: what is not known counts as nothing, and is named beside each segment.
pub(super) fn dry(
    forest: &Forest<'_>,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<(Report, Vec<Waiting>), Vec<Fault>> {
    let draft = draft(forest, request, Unknown::Variable)?;
    let may_lack: Vec<bool> = draft.segments.iter().map(|drafted| drafted.condition.is_some()).collect();
    let (segments, waiting) =
        draft.segments.into_iter().map(|drafted| (drafted.segment, (drafted.unknown, drafted.condition))).unzip();
    let assembler = Assembler { options, nonce: &draft.nonce, may_lack: &may_lack };
    let Assembly { report, .. } = assembler.assemble(segments).map_err(|fault| vec![fault])?;
    Ok((report, waiting))
}

/// The segments of a request. With [`Unknown::Variable`] what is not known is recorded, else it is a fault.
fn draft(forest: &Forest<'_>, request: &Request<'_>, unknown: Unknown) -> Result<Draft, Vec<Fault>> {
    let registry = forest.registry;
    let agents = || forest.agents(request.task).map_err(|fault| vec![fault]);
    let chain = forest.chain(request.task, request.node).map_err(|fault| vec![fault])?;
    if !chain.last().is_some_and(|link| super::chain::is_agent(link.node)) {
        let there = agents()?.into_iter().map(|agent| agent.node).collect();
        return Err(vec![FaultKind::NoAgent { node: request.node.to_owned(), there }.into()]);
    }
    let mut round = 0;
    loop {
        let nonce = nonce(registry, request, round);
        let filler = Filler { registry, path: "", unknown, nonce: &nonce };
        let mut strategy = Strategy { request, filler, faults: Vec::new() };
        let segments = strategy.segments(forest).map_err(|fault| vec![fault])?;
        if !strategy.faults.is_empty() {
            return Err(strategy::faults(strategy.faults));
        }
        // A text that holds the mark could close its fence. Nobody can write one on purpose but by knowing all the rest.
        let is_safe = !segments.iter().any(|drafted| holds(&drafted.segment, &nonce));
        if is_safe || round == u32::MAX {
            return Ok(Draft { segments, nonce });
        }
        round += 1;
    }
}

/// Whether some text from outside holds the mark.
fn holds(segment: &Segment, nonce: &str) -> bool {
    let text = segment.text.text();
    let foreign = segment.text.stretches().iter().filter(|stretch| stretch.origin != Origin::Frame);
    foreign.into_iter().any(|stretch| text.get(stretch.range.clone()).is_some_and(|part| part.contains(nonce)))
}

/// A mark that depends on everything that was handed in: the same request has the same one, and no text can know it.
fn nonce(registry: &Registry, request: &Request<'_>, round: u32) -> String {
    let mut hasher = Hasher::new();
    hasher.field("ctxc untrusted").number(u64::from(round)).field(request.task).field(request.node);
    hasher.field(registry.task(request.task).map_or([0; 32], |task| task.hash().0));
    for (name, value) in request.inputs {
        hasher.field(name).field(value.to_string());
    }
    hasher.field("results");
    for (name, result) in request.results {
        hasher.field(name).field(result.content.to_string()).field(result.notes.as_deref().unwrap_or("\0"));
    }
    hasher.field("parent");
    for segment in request.parent {
        hasher.field(&segment.id).field(segment.text.text());
    }
    let hash = hasher.finish().to_string();
    hash.get(3..19).unwrap_or_default().to_owned()
}

/// The assembler of rendered segments.
struct Assembler<'a> {
    options: &'a Options<'a>,
    nonce: &'a str,
    /// Which segments of a dry run may not be there at all: no figure of another segment counts on them.
    may_lack: &'a [bool],
}

impl ContextAssembler for Assembler<'_> {
    type Output = Assembly;
    type Error = Fault;

    fn assemble(&self, segments: Vec<Segment>) -> Result<Assembly, Fault> {
        let Options { profile, budget, counter, counting } = *self.options;
        let frames: Vec<Frame> = segments.iter().map(|segment| framed(profile, segment, self.nonce)).collect();
        let blocks: Vec<Block<'_>> = segments.iter().zip(&frames).map(|(segment, frame)| block(segment, frame)).collect();
        let mut fitted = fit::fit(&blocks, &Budget { tokens: budget, counter, counting }).map_err(FaultKind::OverBudget)?;
        let order = positions(&segments, speaker);
        let stays = |at: &&usize| fitted.get(**at).is_some_and(|fitted| fitted.fate != Fate::Dropped);
        let order: Vec<usize> = order.iter().filter(stays).copied().collect();
        let rendered: Vec<Rendered<'_>> = order
            .iter()
            .filter_map(|&index| {
                let (segment, fitted) = (segments.get(index)?, fitted.get(index)?);
                let frame = profile::frame(profile, segment, self.nonce);
                Some(Rendered { index, segment, text: text(segment, &frame, &fitted.fate) })
            })
            .collect();
        recount(&mut fitted, &rendered, self.may_lack, counter);
        let messages = message::messages(&rendered, profile);
        let known = fitted.iter().all(|fitted| fitted.kept.is_some());
        let kept = |at: usize| fitted.get(at).and_then(|fitted| fitted.kept).unwrap_or(0);
        let reused = reusable(order.iter().filter_map(|&at| segments.get(at)));
        let prefix = order.iter().take(reused).map(|&at| kept(at)).sum();
        let tokens = (0..segments.len()).map(kept).sum();
        drop(rendered);
        let accounts = accounts(segments, fitted, &order);
        let report = Report {
            segments: accounts,
            budget,
            tokenizer: counter.name().to_owned(),
            is_exact: counter.is_exact(),
            tokens: known.then_some(tokens),
            prefix_tokens: known.then_some(prefix),
            nonce: self.nonce.to_owned(),
        };
        Ok(Assembly { messages, report })
    }
}

/// Behind the last segment of a message stands no separator. Room was kept for one, since nobody knew which would be the last.
fn recount(fitted: &mut [Fitted], rendered: &[Rendered<'_>], may_lack: &[bool], counter: &dyn TokenCounter) {
    let is_certain = |part: &&Rendered<'_>| !may_lack.get(part.index).is_some_and(|may_lack| *may_lack);
    for message in rendered.chunk_by(|a, b| speaker(a.segment) == speaker(b.segment)) {
        let Some(last) = message.iter().rev().find(is_certain) else { continue };
        let Some(fitted) = fitted.get_mut(last.index).filter(|fitted| fitted.kept.is_some()) else { continue };
        fitted.kept = Some(counter.count(last.text.text()));
        if fitted.fate == Fate::Kept {
            fitted.full = fitted.kept;
        }
    }
}

/// A frame with the separator behind it: what a segment costs.
pub(super) fn framed(profile: Profile, segment: &Segment, nonce: &str) -> Frame {
    let mut frame = profile::frame(profile, segment, nonce);
    frame.tail.push_str(profile.separator());
    frame
}

pub(super) fn block<'a>(segment: &'a Segment, frame: &'a Frame) -> Block<'a> {
    Block {
        id: &segment.id,
        priority: segment.kind.priority(),
        head: &frame.head,
        text: segment.text.text(),
        tail: &frame.tail,
        cut: &segment.cut,
    }
}

/// The text of a segment as it is rendered.
fn text(segment: &Segment, frame: &Frame, fate: &Fate) -> Traced {
    let mut out = Traced::new(frame.head.as_str(), Origin::Frame);
    match fate {
        Fate::Kept => out.append(&segment.text),
        Fate::Cut { range, mark } => {
            let part = segment.text.slice(range.clone());
            let is_front = matches!(segment.cut, Cut::HeadAt(_));
            if is_front {
                out.push(mark, Origin::Frame);
            }
            out.append(&part);
            if !is_front {
                out.push(mark, Origin::Frame);
            }
        }
        Fate::Dropped => {}
    }
    out.push(&frame.tail, Origin::Frame);
    out
}

fn accounts(segments: Vec<Segment>, fitted: Vec<Fitted>, order: &[usize]) -> Vec<Account> {
    let account = |(at, (segment, fitted)): (usize, (Segment, Fitted))| Account {
        segment,
        position: order.iter().position(|&other| other == at),
        fate: fitted.fate,
        full_tokens: fitted.full,
        kept_tokens: fitted.kept,
        reason: fitted.reason,
    };
    segments.into_iter().zip(fitted).enumerate().map(account).collect()
}
