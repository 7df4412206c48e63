//! One answer: its text, its JSON value, its tool calls, its cost.

use crate::eval::scripted::reply_text;
use crate::kernel::conversation::{Part, Speaker, ToolCall, Turn};
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::provider::{self, Stop, Usage};
use crate::kernel::tokens::TokenCounter;
use crate::project::models::Prices;
use crate::provider::throttle::describe_miscount;
use crate::record::recording::TrialStage;
use crate::scenario::model::ScriptedAnswer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialAnswer {
    /// Its text, verbatim.
    pub text: String,
    /// The JSON value of the text; `None` if it is not valid JSON.
    #[serde(skip)]
    pub json: Option<Value>,
    /// The names and arguments of its tool calls, in order.
    pub tool_calls: Vec<(String, Value)>,
    /// Tokens sent and received.
    pub tokens: (u64, u64),
    /// The costs other than tokens.
    pub took: AnswerCost,
    /// The reason why its text cannot be judged.
    pub flaw: Option<AnswerFlaw>,
    /// The impossible count of its provider, because of which tokens were counted locally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miscounted: Option<String>,
    /// The run that produced it, if a whole task was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<WholeRun>>,
}

/// The run of a whole task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WholeRun {
    /// `complete`, `failed` or `blocked`.
    pub ends: String,
    /// The reason why it is not complete.
    pub obstacle: Option<String>,
    /// Its agents and scripts in the order of execution, once per execution; subtasks are part of
    /// the agent that requested them.
    pub stages: Vec<RunStage>,
}

/// An agent or a script that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStage {
    /// Its node with the rounds around it.
    pub stage: String,
    /// Its node.
    pub node: String,
    /// The name of its result, if any.
    pub name: Option<String>,
    /// True for an agent, false for a script.
    pub is_agent: bool,
    /// Its answer.
    pub answer: TrialAnswer,
    /// Its output for others; `None` if it has no result.
    pub output: Option<AgentOutput>,
}

impl RunStage {
    /// Its display name: its own name, or else the node with its rounds.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.stage)
    }

    /// Returns true if a name or a path denotes it.
    pub fn is_named(&self, name: &str) -> bool {
        self.stage == name || self.node == name || self.name.as_deref() == Some(name)
    }
}

impl WholeRun {
    /// The stages that a name or a path denotes; a suffix `@N` selects the Nth execution.
    pub fn find_stages<'r>(&'r self, name: &str) -> Vec<&'r RunStage> {
        let all = |name: &str| {
            self.stages
                .iter()
                .filter(|stage| stage.is_named(name))
                .collect::<Vec<_>>()
        };
        let found = all(name);
        let numbered = name
            .rsplit_once('@')
            .and_then(|(name, number)| Some((name, number.parse::<usize>().ok()?)));
        match numbered.filter(|_| found.is_empty()) {
            Some((name, number)) => all(name)
                .into_iter()
                .skip(number.saturating_sub(1))
                .take(1)
                .collect(),
            None => found,
        }
    }

    /// The labels of its stages, in order.
    pub fn path(&self) -> Vec<String> {
        self.stages
            .iter()
            .map(|stage| stage.label().to_owned())
            .collect()
    }
}

/// The costs of an answer, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerCost {
    /// Tokens of the request that came from the provider's cache.
    pub cached: Option<u64>,
    /// Tokens of the answer spent on reasoning.
    pub reasoning: Option<u64>,
    /// US$, by the prices in `ctxc.toml`.
    pub usd: Option<f64>,
    /// Milliseconds from the request to the end of the response.
    pub latency_ms: Option<u64>,
    /// True if a model was just called, so that time and price are its own.
    pub is_live: bool,
}

impl AnswerCost {
    /// The sum of both.
    fn add(self, other: Self) -> Self {
        Self {
            cached: add_options(self.cached, other.cached, u64::saturating_add),
            reasoning: add_options(self.reasoning, other.reasoning, u64::saturating_add),
            usd: add_options(self.usd, other.usd, |a, b| a + b),
            latency_ms: add_options(self.latency_ms, other.latency_ms, u64::saturating_add),
            is_live: self.is_live || other.is_live,
        }
    }
}

/// The sum of two optional values; a missing value counts as zero.
fn add_options<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// The reason why the text of an answer cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFlaw {
    /// It was cut by the token limit, after this number of tokens.
    Cut(u64),
    /// The provider withheld it, or the model refused.
    Withheld,
    /// It has neither text nor tool calls.
    Empty,
    /// The conversation reached this limit of requests, and still calls tools.
    Endless(usize),
}

impl AnswerFlaw {
    /// The description of the flaw, and advice.
    pub(super) fn describe(self) -> (String, &'static str) {
        match self {
            Self::Cut(tokens) => (
                format!("one that was cut at {tokens} tokens"),
                "raise `max_output_tokens`: the limit of the request ended the answer, so what is missing says nothing about the model",
            ),
            Self::Withheld => (
                "one that its provider withheld, or that the model refused to give".to_owned(),
                "look at the recorded response, which says why; another wording of the request may be answered",
            ),
            Self::Endless(requests) => (
                format!("calls of tools without an end: no answer after {requests} requests"),
                "look at the calls of the last request: a tool whose result does not help is called again and again",
            ),
            Self::Empty => (
                "no text and no call of a tool".to_owned(),
                "an empty answer has nothing that is ruled out, but proves nothing",
            ),
        }
    }
}

/// An answer as stored in the history, to be judged again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredAnswer {
    /// The stage of its trial.
    pub stage: TrialStage,
    /// The source of the answer.
    pub by: String,
    /// The answer.
    pub answer: Arc<TrialAnswer>,
}

impl StoredAnswer {
    /// The answer as it was judged first, with its JSON parsed again.
    pub fn restore(&self) -> TrialAnswer {
        let mut answer = TrialAnswer::clone(&self.answer);
        answer.json = serde_json::from_str(&answer.text).ok();
        for stage in answer.run.iter_mut().flat_map(|run| &mut run.stages) {
            stage.answer.json = serde_json::from_str(&stage.answer.text).ok();
        }
        answer
    }
}

impl TrialAnswer {
    /// A scripted answer; one that calls tools without a reply has no text. Missing token counts
    /// are computed: `context` as input, reply and tool arguments as output.
    pub fn from_script(script: &ScriptedAnswer, context: u64, counter: &dyn TokenCounter) -> Self {
        let text = reply_text(&script.reply);
        // A JSON reply is used directly, since a parser would limit its depth.
        let is_text = script.reply.is_null() || script.reply.is_string();
        let json = if is_text {
            serde_json::from_str(&text).ok()
        } else {
            Some(script.reply.clone())
        };
        let count = |text: &str| counter.count(text) as u64;
        let describe = |(name, arguments): &(String, Value)| {
            count(name).saturating_add(count(&arguments.to_string()))
        };
        let out = || {
            script
                .tool_calls
                .iter()
                .map(describe)
                .fold(count(&text), u64::saturating_add)
        };
        let tokens = script.usage.unwrap_or_else(|| (context, out()));
        Self {
            text,
            json,
            tool_calls: script.tool_calls.clone(),
            tokens,
            took: AnswerCost::default(),
            flaw: None,
            miscounted: None,
            run: None,
        }
    }

    /// The answer of a model. Token counts that its provider omits are computed.
    pub(in crate::eval) fn from_model(
        answer: &provider::Answer,
        context: u64,
        counter: &dyn TokenCounter,
        prices: Option<&Prices>,
    ) -> Self {
        let text = answer.content();
        let tool_calls: Vec<(String, Value)> = answer
            .tool_calls()
            .map(|call| (call.name.clone(), call.arguments.clone()))
            .collect();
        let out = || counter.count(&answer.turn.text_form().text) as u64;
        let miscounted = describe_miscount(answer, Some(context));
        let usage = if miscounted.is_some() {
            Usage::default()
        } else {
            answer.usage
        };
        let tokens = (
            usage.input.unwrap_or(context),
            usage.output.unwrap_or_else(out),
        );
        let Usage {
            cached, reasoning, ..
        } = usage;
        let usd = prices.map(|prices| prices.call_cost(tokens.0, cached.unwrap_or(0), tokens.1));
        let took = AnswerCost {
            cached,
            reasoning,
            usd,
            ..AnswerCost::default()
        };
        let flaw = match answer.stop {
            Stop::Length => Some(AnswerFlaw::Cut(tokens.1)),
            Stop::Filter => Some(AnswerFlaw::Withheld),
            Stop::End | Stop::Tool | Stop::Other => {
                (text.trim().is_empty() && tool_calls.is_empty()).then_some(AnswerFlaw::Empty)
            }
        };
        Self {
            json: serde_json::from_str(&text).ok(),
            text,
            tool_calls,
            tokens,
            took,
            flaw,
            miscounted,
            run: None,
        }
    }

    /// A text without token counts.
    pub(in crate::eval) fn without_tokens(text: String) -> Self {
        let json = serde_json::from_str(&text).ok();
        let took = AnswerCost::default();
        Self {
            text,
            json,
            tool_calls: Vec::new(),
            tokens: (0, 0),
            took,
            flaw: None,
            miscounted: None,
            run: None,
        }
    }

    /// The answers of a conversation as one: the last one, with the calls and tokens of all.
    pub(super) fn combine(answers: Vec<Self>) -> Option<Self> {
        let (mut called, mut tokens, mut took, mut miscounted) =
            (Vec::new(), (0_u64, 0_u64), AnswerCost::default(), None);
        for answer in &answers {
            tokens = (
                tokens.0.saturating_add(answer.tokens.0),
                tokens.1.saturating_add(answer.tokens.1),
            );
            took = took.add(answer.took);
            called.extend(answer.tool_calls.iter().cloned());
            miscounted = miscounted.or_else(|| answer.miscounted.clone());
        }
        let last = answers.into_iter().next_back()?;
        Some(Self {
            tool_calls: called,
            tokens,
            took,
            miscounted,
            ..last
        })
    }

    /// Its message in the conversation, whose calls have the ids that results refer to.
    pub(in crate::eval) fn to_turn(&self) -> Turn {
        let call = |(number, (name, arguments)): (usize, &(String, Value))| {
            Part::Call(ToolCall {
                id: format!("call_{}", number + 1),
                name: name.clone(),
                arguments: arguments.clone(),
            })
        };
        let text = Some(&self.text)
            .filter(|text| !text.is_empty())
            .map(|text| Part::Text(text.clone()));
        let parts = text
            .into_iter()
            .chain(self.tool_calls.iter().enumerate().map(call))
            .collect();
        Turn {
            speaker: Speaker::Assistant,
            parts,
        }
    }

    /// The texts to search: the answer's text, and each value of its JSON unescaped.
    pub(super) fn searchable_texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        std::iter::once(Cow::Borrowed(self.text.as_str()))
            .chain(scalars(self.json.iter().collect()))
    }

    /// The texts of [`Self::searchable_texts`] and the arguments of tool calls, for patterns that
    /// must be absent.
    pub(super) fn all_texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let arguments = self.tool_calls.iter().rev().map(|(_, arguments)| arguments);
        self.searchable_texts().chain(scalars(arguments.collect()))
    }

    /// The answer as JSON: its value, or its text as a string.
    pub(super) fn json_value(&self) -> Value {
        self.json
            .clone()
            .unwrap_or_else(|| Value::String(self.text.clone()))
    }
}

/// The strings, numbers and booleans within values; the last value comes first.
fn scalars(mut open: Vec<&Value>) -> impl Iterator<Item = Cow<'_, str>> {
    std::iter::from_fn(move || {
        loop {
            let value = open.pop()?;
            match value {
                Value::Array(items) => open.extend(items.iter().rev()),
                Value::Object(fields) => open.extend(fields.values().rev()),
                Value::String(text) if text.is_empty() => {}
                Value::String(text) => return Some(Cow::Borrowed(text.as_str())),
                Value::Number(_) | Value::Bool(_) => return Some(Cow::Owned(value.to_string())),
                Value::Null => {}
            }
        }
    })
}
