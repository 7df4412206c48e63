//! Questions to a role of the project about texts of a session: planned, permitted, recorded, replayed.
//!
//! A recorded answer is never requested again. Before the first call, the number of calls, their price
//! and the vendors that receive text are printed, and the user has to agree.

use super::command_line::RoleArgs;
use crate::base::hash::Hash;
use crate::base::{folders, fs, parallel};
use crate::cli::context::eval::describe_calls;
use crate::cli::context::model_calls::{ModelCalls, redactor};
use crate::cli::context::models::{ProjectCounters, find_role};
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::require_permission;
use crate::cli::prelude::*;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::context::options::Options;
use crate::eval::judge::MAX_ATTEMPTS;
use crate::eval::role_agent::{RoleAgent, RoleRequest, RoleSettings};
use crate::kernel::budget::Counting;
use crate::project::config::RecordedContent;
use crate::project::roles::Role;
use crate::provider::endpoint::ProviderAddress;
use crate::provider::limiter::MAX_CALLS;
use crate::provider::spending::SpendLimit;
use crate::record::comparison::ComparisonScope;
use crate::record::file::{RecordingFile, append_call};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::run::answers::recorded_response;
use crate::run::runner::SubtaskCompiler;
use crate::scenario::date;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// The recording of all probes of a project, in its folder for data.
const RECORDING: &str = "probes.jsonl";
/// The maximum size of a recording in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// The tokens of an answer if its role has no limit.
const DEFAULT_ANSWER_TOKENS: u64 = 2_000;

/// The beginning of a text that stands in the place of an answer or a context while calls are only planned.
pub(super) const PLACEHOLDER: &str = "(an answer that is not given yet)";

/// The texts of a question, by the parameters of its template.
pub(super) type QuestionInputs = BTreeMap<String, Value>;
/// The answers to a question, one for each vote, or the reason of their absence.
pub(super) type RoleAnswers<T> = std::result::Result<Vec<T>, String>;

/// Returns the inputs of a question.
pub(super) fn question_inputs<const N: usize>(texts: [(&str, Option<&str>); N]) -> QuestionInputs {
    let texts = texts.into_iter();
    texts
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())))
        .collect()
}

/// A template of this program, which the task of a role replaces if it has the same parameters.
pub(super) struct RoleTemplate {
    pub(super) task: &'static str,
    text: &'static str,
    /// The parameters that it needs.
    needed: &'static [&'static str],
    /// Those of its parameters that are texts of a session; the first must be shown.
    untrusted: &'static [&'static str],
}

/// The judge of answers.
pub(super) static GRADE_PROBE: RoleTemplate = RoleTemplate {
    task: "grade-probe",
    text: include_str!("grade-probe.xml"),
    needed: &["probe_question", "model_response", "rubric_criteria"],
    untrusted: &["model_response", "compacted_context", "ground_truth"],
};
/// The agent that answers from a compacted context.
pub(super) static ANSWER_PROBE: RoleTemplate = RoleTemplate {
    task: "answer-probe",
    text: include_str!("answer-probe.xml"),
    needed: &["compacted_context", "probe_question"],
    untrusted: &["compacted_context"],
};
/// The method that works each truncated part into a lasting summary.
pub(super) static COMPACT_ANCHORED: RoleTemplate = RoleTemplate {
    task: "compact-anchored",
    text: include_str!("compact-anchored.xml"),
    needed: &["conversation", "summary"],
    untrusted: &["conversation", "summary"],
};
/// The method that writes a new summary of everything.
pub(super) static COMPACT_REGENERATIVE: RoleTemplate = RoleTemplate {
    task: "compact-regenerative",
    text: include_str!("compact-regenerative.xml"),
    needed: &["conversation"],
    untrusted: &["conversation"],
};

/// A role with the template that it is asked by.
#[derive(Clone, Copy)]
pub(super) struct AskedRole<'a> {
    pub(super) name: &'a str,
    pub(super) template: &'static RoleTemplate,
    /// The number of answers to each question.
    pub(super) votes: usize,
}

/// Asks roles of a project.
pub(super) struct RoleQuestions<'p> {
    project: &'p CompiledProject,
    args: &'p RoleArgs,
    counters: ProjectCounters,
    models: ModelCalls<'p>,
    redactor: Redactor,
    check: SecretCheck,
    path: PathBuf,
    recorded: RecordedCalls<Recording>,
    /// Held while a call is added to the recording.
    writing: Mutex<()>,
}

impl<'p> RoleQuestions<'p> {
    /// Opens the recording. Calls no model.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(super) fn open(project: &'p CompiledProject, args: &'p RoleArgs, cx: &Cx) -> Result<Self> {
        let path = match &args.recording {
            Some(path) => path.clone(),
            None => folders::project_data(&project.root)
                .map(|folder| folder.join(RECORDING))
                .ok_or_else(|| {
                    CliError::usage("found no folder for your own data, expected XDG_DATA_HOME")
                        .with_hint("`--recording FILE` names a file for the answers")
                })?,
        };
        let mut bytes = Vec::new();
        match fs::read_into(&path, MAX_FILE_BYTES, &mut bytes) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => {
                return Err(unusable_recording(&path, &err.to_string()));
            }
            _ => {}
        }
        let calls = RecordingFile::parse(&String::from_utf8_lossy(&bytes))
            .map_err(|fault| unusable_recording(&path, &fault.to_string()))?
            .calls;
        let answered = calls.into_iter().filter(Recording::is_answered).collect();
        Ok(Self {
            project,
            args,
            counters: ProjectCounters::new(&project.config, None)?,
            models: ModelCalls::new(
                &project.config,
                SpendLimit {
                    tokens: None,
                    usd: args.budget_usd,
                },
                None,
            ),
            redactor: redactor(project)?,
            check: SecretCheck::new(&cx.options, &project.root),
            path,
            recorded: RecordedCalls::new(answered, project.comparison(), ComparisonScope::Whole),
            writing: Mutex::default(),
        })
    }

    /// Asks a role questions, in an order by the seed; equal ones are asked once. `read` reads the
    /// answer to the question of a number; an answer that it refuses is asked for again. Each
    /// question has as many answers as it has votes. If the calls are only planned, a text of the
    /// length of an answer stands in the place of those that are not recorded.
    ///
    /// # Errors
    /// The role cannot be asked, or the user did not permit it.
    pub(super) fn ask<T: Clone + Send>(
        &self,
        to: AskedRole<'_>,
        questions: Vec<QuestionInputs>,
        read: impl Fn(usize, &str) -> std::result::Result<T, String> + Sync,
        cx: &mut Cx,
    ) -> Result<Vec<RoleAnswers<T>>> {
        let config = &self.project.config;
        let role = find_role(config, to.name)?;
        let unusable = |why: String| {
            let why = format!("the role `{}` cannot be asked: {why}", to.name);
            CliError::new(CliErrorKind::Findings, why)
        };
        let registry = config.compile(to.template.text).map_err(unusable)?;
        let mut shipped = Role {
            tools: None,
            ..role.clone()
        };
        to.template.task.clone_into(&mut shipped.task.value);
        let needed = to.template.needed;
        let agent = RoleAgent::load(&self.project.registry, role, needed)
            .or_else(|_| RoleAgent::load(&registry, &shipped, needed))
            .map_err(unusable)?;
        let files = self.project.files();
        let settings = RoleSettings {
            files: &files,
            options: Options {
                counter: self.counters.default_counter(),
                models: Some(self.counters.model_settings(config)),
                counting: Counting::Always,
                ..Options::default()
            },
            providers: Some(&config.providers),
        };
        agent
            .check_fences(settings, needed, to.template.untrusted)
            .map_err(unusable)?;
        let mut keys = Vec::new();
        let mut requests = BTreeMap::new();
        for (number, inputs) in questions.into_iter().enumerate() {
            let request = agent.build_request(settings, inputs).map_err(unusable)?;
            keys.push(request.sent.key.clone());
            let question = AskedQuestion {
                number,
                request,
                left: 0,
            };
            requests
                .entry(question.request.sent.key.clone())
                .or_insert(question);
        }
        let mut requests: Vec<AskedQuestion<'_>> = requests.into_values().collect();
        let seed = self.args.seed;
        requests.sort_by_cached_key(|one| {
            Hash::digest(format!("{seed}\0{}", one.request.sent.key).as_bytes())
        });
        for one in &mut requests {
            let recorded = self.recorded_votes(one, to.votes, &read);
            one.left = recorded.map_or(0, |recorded| recorded.count_open(to.votes));
        }
        let open: Vec<&AskedQuestion<'_>> = requests.iter().filter(|one| one.left > 0).collect();
        if self.args.plan || !open.is_empty() {
            self.permit(to, &agent, &open, cx)?;
        }
        let answered = parallel::map_items(&requests, NonZeroUsize::new(MAX_CALLS), |one| {
            let answers = self.answers(one, to.votes, &read);
            (one.request.sent.key.clone(), answers)
        });
        let answered: BTreeMap<String, RoleAnswers<T>> = answered.into_iter().collect();
        let none = || Err("it was not asked".to_owned());
        let own = |key: &String| answered.get(key).cloned().unwrap_or_else(none);
        Ok(keys.iter().map(own).collect())
    }

    /// Asks a role questions whose answers are texts.
    ///
    /// # Errors
    /// As for any question.
    pub(super) fn ask_texts(
        &self,
        to: AskedRole<'_>,
        questions: Vec<QuestionInputs>,
        cx: &mut Cx,
    ) -> Result<Vec<RoleAnswers<String>>> {
        let read = |_: usize, text: &str| {
            let text = text.trim();
            let is_text = !text.is_empty();
            is_text
                .then(|| text.to_owned())
                .ok_or_else(|| "an empty text".to_owned())
        };
        self.ask(to, questions, read, cx)
    }

    /// Returns the answers to a question: the recorded ones, then those of the model.
    fn answers<T>(
        &self,
        question: &AskedQuestion<'_>,
        votes: usize,
        read: &impl Fn(usize, &str) -> std::result::Result<T, String>,
    ) -> RoleAnswers<T> {
        let mut given = self.recorded_votes(question, votes, read)?;
        while given.count_open(votes) > 0 {
            let text = if self.args.plan {
                question.placeholder()
            } else {
                self.call_model(&question.request)?
            };
            given.add(read(question.number, &text));
        }
        given.finish(votes)
    }

    /// Returns the recorded answers to a question.
    fn recorded_votes<T>(
        &self,
        question: &AskedQuestion<'_>,
        votes: usize,
        read: &impl Fn(usize, &str) -> std::result::Result<T, String>,
    ) -> std::result::Result<GivenVotes<T>, String> {
        let mut given = GivenVotes {
            valid: Vec::new(),
            refusals: Vec::new(),
        };
        for call in self.recorded.same_calls(&question.request.sent.to_live()) {
            if given.count_open(votes) > 0 {
                let text = recorded_response(call)?.answer.content();
                given.add(read(question.number, &text));
            }
        }
        Ok(given)
    }

    /// Asks a model and records its answer.
    fn call_model(&self, request: &RoleRequest<'_>) -> std::result::Result<String, String> {
        let model = request
            .model
            .ok_or("no model of `[models]` is known for it")?;
        let (_, response) = self.models.call_model(model, &request.sent, request.tokens);
        let response = response.map_err(|none| none.to_string())?;
        let sent = &request.sent;
        let call = Recording {
            id: Hash::digest(sent.key.as_bytes()).to_string(),
            at: Some(date::format_time(fs::timestamp_seconds())),
            ..sent.to_recording(Some(&response), AnsweredBy::Upstream, &self.redactor)
        };
        self.record(&call)?;
        // The recorded answer counts, so that the next run has the same.
        Ok(recorded_response(&call)?.answer.content())
    }

    fn record(&self, call: &Recording) -> std::result::Result<(), String> {
        let name = self.path.display().to_string();
        let text = call.to_line();
        let checked = self.check.check_files([NewFile {
            name: &name,
            text: &text,
        }]);
        checked.map_err(|error| error.message)?;
        let _held = self.writing.lock();
        let unwritten = |err: io::Error| format!("{name} cannot be written: {err}");
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        if self.args.recording.is_none() {
            folders::create_private(folder).map_err(unwritten)?;
        } else if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder).map_err(unwritten)?;
        }
        append_call(&self.path, call).map_err(unwritten)
    }

    /// Shows the calls that are not recorded, and asks for permission unless they are only planned.
    fn permit(
        &self,
        to: AskedRole<'_>,
        agent: &RoleAgent<'_>,
        open: &[&AskedQuestion<'_>],
        cx: &mut Cx,
    ) -> Result<()> {
        let mut lines = vec![format!(
            "role `{}` with the task `{}`: {}",
            escape_line(to.name),
            escape_line(agent.task()),
            plan_calls(open)
        )];
        lines.extend(self.receivers(open));
        for line in lines {
            if self.args.plan {
                cx.print_line(&line)?;
            } else {
                cx.print_note(&line);
            }
        }
        if self.args.plan {
            return Ok(());
        }
        require_permission(self.project, &self.args.trust, "asking a model")?;
        if self.project.config.record.content == RecordedContent::Shape {
            return Err(CliError::usage(
                "answers are not recorded in this project: `[record] content` in ctxc.toml is \"shape\"",
            ));
        }
        if self.args.yes {
            return Ok(());
        }
        if !io::stdin().is_terminal() {
            return Err(CliError::usage(
                "found no terminal to ask, expected a yes before text of a session is sent",
            )
            .with_hint("`--yes` sends it; `--plan` shows the calls and asks no model"));
        }
        if cx.confirm("send this text?")? {
            return Ok(());
        }
        Err(CliError::usage("nothing was sent"))
    }

    /// Returns a line for each vendor that receives text.
    fn receivers(&self, open: &[&AskedQuestion<'_>]) -> Vec<String> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for one in open {
            let provider = one.request.model.map(|model| model.provider.value.as_str());
            *counts.entry(provider.unwrap_or_default()).or_default() += one.left;
        }
        let line = |(name, count): (&str, u64)| {
            let address = ProviderAddress::resolve(name, &self.project.config);
            let place = address.map_or_else(
                || "no provider is known for it".to_owned(),
                |found| {
                    let open = if found.is_unencrypted() {
                        ", not encrypted"
                    } else {
                        ""
                    };
                    format!("{}{open}", escape_line(found.base_url))
                },
            );
            format!(
                "text of the session, masked, goes to `{}` ({place}) in {}",
                escape_line(name),
                pluralize(usize::try_from(count).unwrap_or(usize::MAX), "request")
            )
        };
        counts.into_iter().map(line).collect()
    }
}

/// A question of a number.
struct AskedQuestion<'r> {
    number: usize,
    request: RoleRequest<'r>,
    /// The number of answers that are not recorded.
    left: u64,
}

impl AskedQuestion<'_> {
    /// Returns a text of the length of its answer.
    fn placeholder(&self) -> String {
        let words = usize::try_from(self.answer_tokens()).unwrap_or(usize::MAX);
        format!(
            "{PLACEHOLDER} {}{}",
            self.request.sent.key,
            " word".repeat(words)
        )
    }

    fn answer_tokens(&self) -> u64 {
        self.request.output_limit.unwrap_or(DEFAULT_ANSWER_TOKENS)
    }

    /// Returns the lower and the upper bound of its cost, with the calls after refused answers.
    fn cost(&self) -> Option<[f64; 2]> {
        let prices = self.request.model?.prices.as_ref()?;
        let input = self.request.tokens.unwrap_or(0);
        let mut messages = self.request.messages.iter();
        let is_unknown = messages.any(|one| one.as_str().contains(PLACEHOLDER));
        let least = if is_unknown { 0 } else { input };
        #[allow(clippy::cast_precision_loss, reason = "calls are few")]
        let (calls, attempts) = (self.left as f64, MAX_ATTEMPTS as f64);
        let most = prices.call_cost(input, 0, self.answer_tokens()) * attempts;
        Some([prices.call_cost(least, 0, 0), most].map(|cost| cost * calls))
    }
}

/// The valid answers to a question, and the reasons why those since the last one were refused.
struct GivenVotes<T> {
    valid: Vec<T>,
    refusals: Vec<String>,
}

impl<T> GivenVotes<T> {
    fn add(&mut self, answer: std::result::Result<T, String>) {
        match answer {
            Ok(answer) => {
                self.valid.push(answer);
                self.refusals.clear();
            }
            Err(why) => self.refusals.push(why),
        }
    }

    /// Returns the number of answers that are still to be asked for.
    fn count_open(&self, votes: usize) -> u64 {
        if self.refusals.len() < MAX_ATTEMPTS {
            votes.saturating_sub(self.valid.len()) as u64
        } else {
            0
        }
    }

    fn finish(mut self, votes: usize) -> RoleAnswers<T> {
        if self.valid.len() >= votes {
            return Ok(self.valid);
        }
        self.refusals.dedup();
        Err(format!(
            "no valid answer in {MAX_ATTEMPTS} attempts: {}",
            self.refusals.join("; ")
        ))
    }
}

/// Describes the number and the price of calls, with those after refused answers.
fn plan_calls(open: &[&AskedQuestion<'_>]) -> String {
    let usd = open.iter().try_fold([0.0, 0.0], |[least, most], one| {
        let [own_least, own_most] = one.cost()?;
        Some([least + own_least, most + own_most])
    });
    let calls = open.iter().map(|one| one.left).sum::<u64>();
    describe_calls([calls, calls * MAX_ATTEMPTS as u64], usd)
}

fn unusable_recording(path: &Path, why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("the recording {} cannot be read: {why}", path.display()),
    )
}
