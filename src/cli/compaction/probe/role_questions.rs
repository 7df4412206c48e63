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

/// The texts of a question, by the parameters of its template.
pub(super) type QuestionInputs = BTreeMap<String, Value>;

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

    /// Asks a role all questions, in an order by the seed. `read` reads the answer to the question
    /// of a number; an answer that it refuses is asked for again. Returns `None` if the calls were
    /// only planned.
    ///
    /// # Errors
    /// The role cannot be asked, or the user did not permit it.
    pub(super) fn ask<T: Send>(
        &self,
        to: AskedRole<'_>,
        questions: Vec<QuestionInputs>,
        read: impl Fn(usize, &str) -> std::result::Result<T, String> + Sync,
        cx: &mut Cx,
    ) -> Result<Option<Vec<std::result::Result<T, String>>>> {
        let config = &self.project.config;
        let role = find_role(config, to.name)?;
        let registry = config
            .compile(to.template.text)
            .map_err(|why| unusable_role(to.name, &why))?;
        let mut shipped = Role {
            tools: None,
            ..role.clone()
        };
        to.template.task.clone_into(&mut shipped.task.value);
        let needed = to.template.needed;
        let agent = RoleAgent::load(&self.project.registry, role, needed)
            .or_else(|_| RoleAgent::load(&registry, &shipped, needed))
            .map_err(|why| unusable_role(to.name, &why))?;
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
            .map_err(|why| unusable_role(to.name, &why))?;
        let mut requests = Vec::new();
        for (number, inputs) in questions.into_iter().enumerate() {
            let request = agent
                .build_request(settings, inputs)
                .map_err(|why| unusable_role(to.name, &why))?;
            requests.push(NumberedRequest { number, request });
        }
        let seed = self.args.seed;
        let order = |one: &NumberedRequest<'_>| format!("{seed}\0{}", one.request.sent.key);
        requests.sort_by_cached_key(|one| Hash::digest(order(one).as_bytes()));
        let is_open = |request: &&RoleRequest<'_>| {
            let live = request.sent.to_live();
            !self.recorded.has_same(&live, |_| true)
        };
        let all = requests.iter().map(|one| &one.request);
        let open: Vec<&RoleRequest<'_>> = all.filter(is_open).collect();
        if !open.is_empty() && !self.permit(to, &agent, &open, cx)? {
            return Ok(None);
        }
        let threads = NonZeroUsize::new(MAX_CALLS);
        let answered = parallel::map_items(&requests, threads, |one| {
            (one.number, self.valid_answer(one, &read))
        });
        let answers: BTreeMap<usize, _> = answered.into_iter().collect();
        Ok(Some(answers.into_values().collect()))
    }

    /// Returns the first answer that is not refused.
    fn valid_answer<T>(
        &self,
        asked: &NumberedRequest<'_>,
        read: &impl Fn(usize, &str) -> std::result::Result<T, String>,
    ) -> std::result::Result<T, String> {
        let mut refusals: Vec<String> = Vec::new();
        while refusals.len() < MAX_ATTEMPTS {
            let text = self.answer_text(&asked.request, refusals.len())?;
            match read(asked.number, &text) {
                Ok(answer) => return Ok(answer),
                Err(why) => refusals.push(why),
            }
        }
        refusals.dedup();
        Err(format!(
            "no valid answer in {MAX_ATTEMPTS} attempts: {}",
            refusals.join("; ")
        ))
    }

    /// Returns the recorded answer of an attempt, or asks for it and records it.
    fn answer_text(
        &self,
        request: &RoleRequest<'_>,
        attempt: usize,
    ) -> std::result::Result<String, String> {
        let known = self.recorded.same_calls(&request.sent.to_live());
        if let Some(call) = known.get(attempt) {
            return Ok(recorded_response(call)?.answer.content());
        }
        if self.args.plan {
            return Err("only planned".to_owned());
        }
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

    /// Shows the calls that are not recorded, and asks for permission. Returns false if they are
    /// only planned.
    fn permit(
        &self,
        to: AskedRole<'_>,
        agent: &RoleAgent<'_>,
        open: &[&RoleRequest<'_>],
        cx: &mut Cx,
    ) -> Result<bool> {
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
            return Ok(false);
        }
        require_permission(self.project, &self.args.trust, "asking a model")?;
        if self.project.config.record.content == RecordedContent::Shape {
            return Err(CliError::usage(
                "answers are not recorded in this project: `[record] content` in ctxc.toml is \"shape\"",
            ));
        }
        if self.args.yes {
            return Ok(true);
        }
        if !io::stdin().is_terminal() {
            return Err(CliError::usage(
                "found no terminal to ask, expected a yes before text of a session is sent",
            )
            .with_hint("`--yes` sends it; `--plan` shows the calls and asks no model"));
        }
        if cx.confirm("send this text?")? {
            return Ok(true);
        }
        Err(CliError::usage("nothing was sent"))
    }

    /// Returns a line for each vendor that receives text.
    fn receivers(&self, open: &[&RoleRequest<'_>]) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for request in open {
            let provider = request.model.map(|model| model.provider.value.as_str());
            *counts.entry(provider.unwrap_or_default()).or_default() += 1;
        }
        let line = |(name, count): (&str, usize)| {
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
                pluralize(count, "request")
            )
        };
        counts.into_iter().map(line).collect()
    }
}

/// A request with the number of its question.
struct NumberedRequest<'r> {
    number: usize,
    request: RoleRequest<'r>,
}

/// Describes the number and the price of calls, with those after refused answers.
fn plan_calls(open: &[&RoleRequest<'_>]) -> String {
    let attempts = MAX_ATTEMPTS as u64;
    let mut usd = Some([0.0, 0.0]);
    for request in open {
        let prices = request.model.and_then(|model| model.prices.as_ref());
        let input = request.tokens.unwrap_or(0);
        let output = request.output_limit.unwrap_or(DEFAULT_ANSWER_TOKENS);
        usd = usd.zip(prices).map(|([least, most], prices)| {
            let whole = prices.call_cost(input, 0, output);
            #[allow(clippy::cast_precision_loss, reason = "attempts are few")]
            let retried = whole * attempts as f64;
            [least + prices.call_cost(input, 0, 0), most + retried]
        });
    }
    let calls = open.len() as u64;
    describe_calls([calls, calls * attempts], usd)
}

fn unusable_role(name: &str, why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Findings,
        format!("the role `{name}` cannot be asked: {why}"),
    )
}

fn unusable_recording(path: &Path, why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("the recording {} cannot be read: {why}", path.display()),
    )
}
