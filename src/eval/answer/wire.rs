//! The request of a case as it is sent, and the recorded call that answers it.

use crate::context::render::call::{Call, MODEL, limit};
use crate::context::render::message::Message;
use crate::context::render::target::Target;
use crate::context::render::targets::TARGETS;
use crate::eval::asked::Sent;
use crate::eval::prepared::PreparedCase;
use crate::eval::trials::{Rows, Tries};
use crate::project::models::{Model, ProviderKind};
use crate::provider::read;
use crate::record::recording::{Recording, Stage};
use crate::record::volatile::Volatile;
use crate::record::{json_text, key};
use crate::scenario::model::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// How the requests of a case are written.
#[derive(Debug)]
pub(in crate::eval) struct Wire<'c> {
    call: Call,
    target: &'static Target,
    /// The model, where the project has it.
    pub(in crate::eval) model: Option<&'c Model>,
}

impl<'c> Wire<'c> {
    /// For the model of a case; without one, as a chat completion.
    pub(in crate::eval) fn of(case: &'c PreparedCase<'_>) -> Result<Self, String> {
        let model = case.routed.choice.as_ref().map(|choice| choice.model);
        let kind = model.and_then(|model| {
            let name = &model.provider.value;
            ProviderKind::of(name, case.run.answers.providers.and_then(|providers| providers.get(name)))
        });
        let name = kind.unwrap_or(ProviderKind::Openai).dialect();
        let sampling: BTreeMap<_, _> = case.routed.sampling.iter().map(|one| (one.name, one.value.clone())).collect();
        let reserve = model.and_then(|model| u32::try_from(model.reserve).ok()).filter(|reserve| *reserve > 0);
        let tools = case.receiver.role.and_then(|role| role.tools.as_ref());
        let call = Call {
            name: case.receiver.task.to_owned(),
            model: model.map(|model| model.id.clone()).or_else(|| case.model().map(str::to_owned)),
            limit: limit(&sampling).or(reserve),
            tools: tools.iter().flat_map(|tools| tools.given()).cloned().collect(),
            sampling,
            answer: case.answer.clone(),
        };
        let target = TARGETS.iter().copied().find(|target| target.name == name);
        let target = target.ok_or_else(|| format!("no request has the form `{name}`"))?;
        Ok(Self { call, target, model })
    }

    /// Tokens that an answer may have.
    pub(super) fn limit(&self) -> Option<u64> {
        self.call.limit.map(u64::from)
    }

    /// The request that says some messages.
    pub(in crate::eval) fn sent(&self, messages: &[Message]) -> Result<Sent, String> {
        let body = self.target.body(messages, &self.call).map_err(|none| none.to_string())?;
        let body = json_text::compact(&body);
        let dialect = self.target.name;
        let model = self.call.model.clone().unwrap_or_else(|| MODEL.to_owned());
        let endpoint = read::dialect(dialect).map_or_else(String::new, |dialect| (dialect.address)("", &model));
        let key = key::key("POST", &endpoint, &body).to_string();
        Ok(Sent { dialect, model, endpoint, body, key })
    }
}

/// The recorded answers of a case, each given in its turn: in each stage the nth equal request gets the nth, then the last.
#[derive(Debug)]
pub(in crate::eval) struct Replay<'r> {
    calls: &'r [Recording],
    volatile: &'r Volatile,
    by_key: BTreeMap<(Stage, String), Vec<&'r Recording>>,
    given: BTreeMap<(Stage, String), usize>,
}

fn stage(call: &Recording) -> Stage {
    call.trial.map(|trial| trial.stage).unwrap_or_default()
}

impl<'r> Replay<'r> {
    pub(in crate::eval) fn new(calls: &'r [Recording], volatile: &'r Volatile) -> Self {
        let mut by_key: BTreeMap<(Stage, String), Vec<&Recording>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for call in calls.iter().filter(|call| call.is_answered()) {
            // A line that was copied is no trial more.
            if call.trial.is_some_and(|trial| !seen.insert((trial.stage, trial.number, &call.key))) {
                continue;
            }
            by_key.entry((stage(call), volatile.key_of(call))).or_default().push(call);
        }
        Self { calls, volatile, by_key, given: BTreeMap::new() }
    }

    /// What finds the answers to a request.
    fn place(&self, stage: Stage, sent: &Sent) -> (Stage, String) {
        let rest = self.volatile.key(&sent.endpoint, &sent.body).map(|rest| (stage, rest.to_string()));
        rest.filter(|place| self.by_key.contains_key(place)).unwrap_or_else(|| (stage, sent.key.clone()))
    }

    /// The trials of a stage, by its first request and its rule: as many as are recorded, and no more have to pass. Where more were recorded once,
    /// the rule holds as it is.
    pub(super) fn tries(&self, of: Stage, first: &Sent, rule: Rule, rows: Rows) -> Tries {
        let there = self.by_key.get(&self.place(of, first)).map_or(0, Vec::len);
        let planned = self.calls.iter().filter(|call| stage(call) == of).filter_map(|call| Some(call.trial?.of)).max();
        Tries::known(of, rule, (there, planned.unwrap_or(0)), rows)
    }

    /// Whether a stage was recorded.
    pub(super) fn has(&self, of: Stage) -> bool {
        self.calls.iter().any(|call| stage(call) == of)
    }

    /// The next answer to a request.
    pub(in crate::eval) fn next(&mut self, stage: Stage, sent: &Sent) -> Option<&'r Recording> {
        let place = self.place(stage, sent);
        let calls = self.by_key.get(&place)?;
        let number = self.given.entry(place).or_default();
        let call = calls.get(*number).or(calls.last()).copied();
        *number += 1;
        call
    }
}
