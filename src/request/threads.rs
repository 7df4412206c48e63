//! Which agent a request is of, and which conversation: what nobody says is read off the requests themselves.

use super::dialect::Dialect;
use super::segments::Segment;
use std::collections::BTreeMap;

/// A request among others.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'r> {
    /// Its segments.
    pub segments: &'r [Segment],
    /// Its form: one agent sends one form alone.
    pub dialect: Dialect,
    /// Its agent, where the program says.
    pub agent: Option<&'r str>,
    /// Its conversation, where the program says.
    pub conversation: Option<&'r str>,
}

/// Where a request belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its agent: the program's own name, else `agent-1`, `agent-2`.
    pub agent: String,
    /// Its conversation: the program's own name, else a number from 1.
    pub conversation: String,
    /// The call before it in its conversation, by its place in the list.
    pub before: Option<usize>,
    /// The call before it of its agent, in whichever conversation.
    pub agent_before: Option<usize>,
}

/// Whether a segment is the same with every call of its agent.
pub fn is_shared(segment: &Segment) -> bool {
    matches!(segment.group.as_str(), "tools" | "response_format" | "system")
}

/// The threads of requests, in the order in which they were sent.
///
/// One agent has the same tools by name, and a system text of which at least half stays. A conversation goes on where it begins as before,
/// or where at least half of what was said before is said again.
pub fn threads(sent: &[Sent<'_>]) -> Vec<Thread> {
    let mut out: Vec<Thread> = Vec::with_capacity(sent.len());
    // The last request of each agent and of each conversation.
    let mut agents: Vec<(String, usize)> = Vec::new();
    let mut conversations: Vec<(String, String, usize)> = Vec::new();
    for (at, own) in sent.iter().enumerate() {
        let is_agent = |(name, last): &&mut (String, usize)| match own.agent {
            Some(agent) => name == agent,
            None => sent.get(*last).is_some_and(|last| {
                last.agent.is_none() && last.dialect == own.dialect && same_agent(last.segments, own.segments)
            }),
        };
        let known = agents.iter_mut().rev().find(is_agent).map(|(name, last)| (name.clone(), std::mem::replace(last, at)));
        let (agent, agent_before) = if let Some((name, last)) = known {
            (name, Some(last))
        } else {
            let name = own.agent.map_or_else(|| format!("agent-{}", agents.len() + 1), str::to_owned);
            agents.push((name.clone(), at));
            (name, None)
        };
        let score = |(of, name, last): &(String, String, usize)| match own.conversation {
            _ if *of != agent => None,
            Some(conversation) => (name == conversation).then_some((true, 0, 0)),
            None => {
                sent.get(*last).filter(|last| last.conversation.is_none()).and_then(|last| goes_on(last.segments, own.segments))
            }
        };
        // Of equals the newest.
        let best = conversations.iter_mut().filter_map(|one| Some((score(one)?, one))).max_by_key(|(score, _)| *score);
        let (conversation, before) = if let Some((_, (_, name, last))) = best {
            (name.clone(), Some(std::mem::replace(last, at)))
        } else {
            let name = own.conversation.map_or_else(|| (conversations.len() + 1).to_string(), str::to_owned);
            conversations.push((agent.clone(), name.clone(), at));
            (name, None)
        };
        out.push(Thread { agent, conversation, before, agent_before });
    }
    out
}

fn same_agent(a: &[Segment], b: &[Segment]) -> bool {
    let tools = |of: &[Segment]| of.iter().filter(|one| one.group == "tools").map(|one| one.id.clone()).collect::<Vec<_>>();
    let (left, right) = (tools(a), tools(b));
    let common = left.iter().filter(|id| right.contains(id)).count();
    let system = |of: &[Segment]| {
        of.iter().filter(|one| one.group == "system").map(|one| one.wire.as_str()).collect::<Vec<_>>().join("\n")
    };
    common * 2 >= left.len().max(right.len()) && is_alike(&system(a), &system(b))
}

/// Whether at least half of the longer text is in the other, at its beginning or its end.
fn is_alike(a: &str, b: &str) -> bool {
    let most = a.len().max(b.len());
    let front = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - front;
    let back = a.bytes().rev().zip(b.bytes().rev()).take(room).take_while(|(a, b)| a == b).count();
    (front + back) * 2 >= most
}

/// How surely a later request goes on with an earlier one: whether it says all of that first, how much of it it says first, and how much
/// of it at all. `None` where it does not go on with it.
fn goes_on(earlier: &[Segment], later: &[Segment]) -> Option<(bool, usize, usize)> {
    let said = |of: &'_ [Segment]| of.iter().filter(|one| !is_shared(one)).map(|one| one.wire.clone()).collect::<Vec<_>>();
    let (earlier, later) = (said(earlier), said(later));
    let front = earlier.iter().zip(&later).take_while(|(a, b)| a == b).count();
    if earlier == later {
        // The same is asked once more.
        return Some((true, front, front));
    }
    if later.len() < 2 {
        return None;
    }
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &earlier {
        *left.entry(one).or_default() += 1;
    }
    let mut common = 0;
    for one in &later {
        if let Some(count) = left.get_mut(one.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    (front > 0 || common * 2 >= earlier.len()).then_some((front == earlier.len(), front, common))
}
