//! Assigns requests to agents and conversations: by the program's own names, otherwise by comparing
//! the requests.

use super::dialect::Dialect;
use super::segments::RequestSegment;
use crate::base::hash::Hash;
use std::cmp::Ordering;
use std::rc::Rc;

/// One of several requests.
#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'r> {
    /// Its segments.
    pub segments: &'r [RequestSegment],
    /// Its dialect; each agent uses a single one.
    pub dialect: Dialect,
    /// Its agent, if the program names it.
    pub agent: Option<&'r str>,
    /// Its conversation, if the program names it.
    pub conversation: Option<&'r str>,
}

/// The agent and conversation of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribution {
    /// Its agent: the program's own name, otherwise `agent-1`, `agent-2`.
    pub agent: String,
    /// Its conversation: the program's own name, otherwise a number from 1.
    pub conversation: String,
    /// The index of the previous call in its conversation.
    pub before: Option<usize>,
    /// The index of the previous call of its agent, in any conversation.
    pub agent_before: Option<usize>,
}

/// Returns true if a segment is the same in every call of its agent.
pub fn is_shared(segment: &RequestSegment) -> bool {
    matches!(
        segment.group.as_str(),
        "tools" | "response_format" | "system"
    )
}

/// The features of a request that identify its agent and its conversation.
#[derive(Debug)]
struct RequestOutline {
    at: usize,
    dialect: Dialect,
    /// The agent and the conversation that the program named.
    named: (Option<String>, Option<String>),
    /// The ids of its tools.
    tools: Vec<String>,
    /// The system text.
    system: Rc<str>,
    /// The first bytes of the hash of each segment that differs between calls.
    message_hashes: Vec<u64>,
    /// The hashes of `message_hashes`, sorted.
    sorted: Vec<u64>,
}

/// Returns the part of a hash that distinguishes the segments of a recording.
fn short_hash(text: &str) -> u64 {
    let Hash(bytes) = Hash::digest(text.as_bytes());
    bytes
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl RequestOutline {
    fn from_request(sent: &SentRequest<'_>, at: usize) -> Self {
        let hashes: Vec<u64> = sent
            .segments
            .iter()
            .filter(|one| !is_shared(one))
            .map(|one| short_hash(&one.wire))
            .collect();
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        let group = |name: &'static str| sent.segments.iter().filter(move |one| one.group == name);
        Self {
            at,
            dialect: sent.dialect,
            named: (
                sent.agent.map(str::to_owned),
                sent.conversation.map(str::to_owned),
            ),
            tools: group("tools").map(|one| one.id.clone()).collect(),
            system: group("system")
                .map(|one| one.wire.as_str())
                .collect::<Vec<_>>()
                .join("\n")
                .into(),
            message_hashes: hashes,
            sorted,
        }
    }
}

/// Assigns requests one by one, in the order in which they were sent. Stores the last request of
/// each agent and of each conversation, by its hashes.
///
/// An agent has the same tools by name, and a system text of which at least half stays. A request
/// continues a conversation if it begins as before, or if it repeats at least half of the earlier
/// messages.
#[derive(Debug, Default)]
pub struct ConversationTracker {
    count: usize,
    agents: Vec<(String, Rc<RequestOutline>)>,
    conversations: Vec<(String, String, Rc<RequestOutline>)>,
}

impl ConversationTracker {
    /// Assigns the next request.
    pub fn attribute(&mut self, sent: &SentRequest<'_>) -> Attribution {
        let mut own = RequestOutline::from_request(sent, self.count);
        self.count += 1;
        let is_agent = |(name, last): &&mut (String, Rc<RequestOutline>)| match sent.agent {
            Some(agent) => name == agent,
            None => {
                last.named.0.is_none() && last.dialect == sent.dialect && is_same_agent(last, &own)
            }
        };
        let known = self.agents.iter_mut().rev().find(is_agent);
        // Most calls of an agent share one system text.
        if let Some((_, last)) = &known
            && last.system == own.system
        {
            own.system = Rc::clone(&last.system);
        }
        let own = Rc::new(own);
        let known =
            known.map(|(name, last)| (name.clone(), std::mem::replace(last, Rc::clone(&own)).at));
        let (agent, agent_before) = if let Some((name, last)) = known {
            (name, Some(last))
        } else {
            let name = sent
                .agent
                .map_or_else(|| format!("agent-{}", self.agents.len() + 1), str::to_owned);
            self.agents.push((name.clone(), Rc::clone(&own)));
            (name, None)
        };
        let score =
            |(of, name, last): &(String, String, Rc<RequestOutline>)| match sent.conversation {
                _ if *of != agent => None,
                Some(conversation) => (name == conversation).then_some((true, 0, 0)),
                None if last.named.1.is_some() => None,
                None => continuation_score(last, &own),
            };
        // Among equals the newest wins.
        let best = self
            .conversations
            .iter_mut()
            .filter_map(|one| Some((score(one)?, one)))
            .max_by_key(|(score, _)| *score);
        let (conversation, before) = if let Some((_, (_, name, last))) = best {
            (name.clone(), Some(std::mem::replace(last, own).at))
        } else {
            let name = sent
                .conversation
                .map_or_else(|| (self.conversations.len() + 1).to_string(), str::to_owned);
            self.conversations.push((agent.clone(), name.clone(), own));
            (name, None)
        };
        Attribution {
            agent,
            conversation,
            before,
            agent_before,
        }
    }

    /// Returns the indices of the requests that a later one may be compared with.
    pub fn latest_requests(&self) -> impl Iterator<Item = usize> {
        let agents = self.agents.iter().map(|(_, last)| last.at);
        agents.chain(self.conversations.iter().map(|(_, _, last)| last.at))
    }
}

/// Assigns requests, in the order in which they were sent.
pub fn attribute_requests(sent: &[SentRequest<'_>]) -> Vec<Attribution> {
    let mut threads = ConversationTracker::default();
    sent.iter().map(|sent| threads.attribute(sent)).collect()
}

fn is_same_agent(a: &RequestOutline, b: &RequestOutline) -> bool {
    let common = a.tools.iter().filter(|id| b.tools.contains(id)).count();
    common * 2 >= a.tools.len().max(b.tools.len()) && is_alike(&a.system, &b.system)
}

/// Returns true if at least half of the longer text is in the other, at its beginning or its end.
fn is_alike(a: &str, b: &str) -> bool {
    let max = a.len().max(b.len());
    let front = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - front;
    let back = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take(room)
        .take_while(|(a, b)| a == b)
        .count();
    (front + back) * 2 >= max
}

/// Returns a score for a later request that continues an earlier one: a flag that it begins with
/// the whole earlier one, the length of the common beginning, and the number of common segments.
/// `None` if it does not continue it.
fn continuation_score(
    earlier: &RequestOutline,
    later: &RequestOutline,
) -> Option<(bool, usize, usize)> {
    let front = earlier
        .message_hashes
        .iter()
        .zip(&later.message_hashes)
        .take_while(|(a, b)| a == b)
        .count();
    let is_whole = front == earlier.message_hashes.len();
    if is_whole && front == later.message_hashes.len() {
        // The same request was sent again.
        return Some((true, front, front));
    }
    if later.message_hashes.len() < 2 {
        return None;
    }
    let mut common = 0;
    let (mut left, mut right) = (
        earlier.sorted.iter().peekable(),
        later.sorted.iter().peekable(),
    );
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        match a.cmp(b) {
            Ordering::Less => drop(left.next()),
            Ordering::Greater => drop(right.next()),
            Ordering::Equal => {
                common += 1;
                left.next();
                right.next();
            }
        }
    }
    (front > 0 || common * 2 >= earlier.message_hashes.len()).then_some((is_whole, front, common))
}
