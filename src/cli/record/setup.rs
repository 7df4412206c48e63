//! The setup of a run that records or replays: the file of the recording, the source of answers,
//! and the variables that lead a program to the proxy.

use super::args::{AnswerArgs, KeepArgs};
use super::comparison::comparison;
use super::gc;
use super::known_secrets::known_secrets;
use crate::base::folders;
use crate::base::fs;
use crate::cli::context::trust::permitted_here;
use crate::cli::prelude::*;
use crate::eval::masks;
use crate::eval::request::facts::least_tokens;
use crate::project::config::{Config, Content};
use crate::record::comparison::Comparison;
use crate::record::places::{self, Call, LAST, PlaceFault, Subject};
use crate::record::proxy::keeper::{Keep, SeenCall};
use crate::record::proxy::replay::{By, Replay};
use crate::record::proxy::server::{Limits, Plan, Route, Server, Source};
use crate::record::proxy::strict::{Hook, Refusal, Strict};
use crate::record::proxy::vendor::{VENDORS, Vendor, vendor};
use crate::rules::input::read_fault::reason;
use crate::rules::request::check;
use crate::scenario::date;
use crate::store::secret::secret;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Variables with the keys of vendors. Libraries refuse to start without them.
const KEYS: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
const PLACEHOLDER: &str = "not-a-key-ctxc-answers";
/// The hosts that bypass an HTTP proxy of the environment.
const LOCAL: &str = "127.0.0.1,localhost";

/// A started proxy, with the variables that lead to it.
pub(super) struct Setup {
    pub(super) server: Server,
    /// The variables for the program.
    pub(super) variables: Vec<(String, String)>,
    /// The name of the recording in messages; `None` if calls are not recorded.
    pub(super) shown: Option<String>,
    pub(super) project: PathBuf,
}

/// A server that answers a program from a recording.
#[derive(Debug)]
pub(crate) struct Double {
    pub(crate) server: Server,
    /// The variables for the program.
    pub(crate) variables: Vec<(String, String)>,
}

/// The settings of a verb.
pub(super) struct Wanted<'w> {
    pub(super) keep: &'w KeepArgs,
    /// True if calls are recorded even without `--name` or `--into`.
    pub(super) always: bool,
    pub(super) answer: &'w AnswerArgs,
    pub(super) replay: Option<(&'w str, By)>,
    pub(super) port: u16,
    pub(super) command: Option<&'w [OsString]>,
}

/// Returns the error with which the vendor would reject a request, by the rules on requests.
fn refusal(endpoint: &str, body: &str, config: &Config) -> Option<Refusal> {
    let found = check::refusal_of_body(body, Some(endpoint), least_tokens, config);
    let word = |check::Refusal { rule, message }| Refusal {
        status: 400,
        rule: rule.name.to_owned(),
        message,
        page: format!("ctxc explain {}", rule.name),
    };
    found.map(word)
}

/// Starts the proxy. No file is written before the first call.
pub(super) fn setup(wanted: &Wanted<'_>, cx: &Cx) -> Result<Setup> {
    let Project { root, config, .. } = Project::load(&cx.options)?.without_errors()?;
    let source = match (&wanted.answer.script, wanted.replay) {
        (Some(script), _) => Source::Script(super::script::load(script)?),
        (None, Some((recording, by))) => Source::Replay(Arc::new(replayed(
            recording,
            by,
            &root,
            comparison(known_secrets(&root, &config), &config),
        )?)),
        (None, None) => Source::Upstream,
    };
    let file = file(wanted, &root)?;
    permitted(
        wanted.answer,
        &config,
        (matches!(source, Source::Upstream), file.is_some()),
        cx,
    )?;
    let (routes, variables) = routes(wanted.answer, &config)?;
    let shown = file.as_ref().map(|file| shown(file, wanted.keep));
    let command = wanted.command.map(|words| {
        words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    });
    let keep = Keep {
        file,
        command,
        ..keep(&root, &config)?
    };
    let needs_keys = !matches!(source, Source::Upstream);
    let limits = Limits {
        idle: Duration::from_secs(wanted.answer.timeout.max(1)),
        ..Limits::default()
    };
    // The project file is read a second time, because the threads of the proxy need settings of
    // their own.
    let rules = Project::load(&cx.options)?.config;
    let hook: Hook = Arc::new(move |path, body| refusal(path, body, &rules));
    let strict = Strict {
        hook: Some(hook),
        is_lenient: wanted.answer.lenient,
    };
    let server = Server::start(Plan { port: wanted.port, routes, source, strict, limits, keep }).map_err(|why| {
        let error =
            CliError::new(Kind::Infrastructure, format!("the proxy cannot listen on port {}: {}", wanted.port, reason(&why)));
        if why.kind() == io::ErrorKind::AddrInUse {
            return error.hint("another program has the port: name another one, or leave `--port` out for one that is free");
        }
        error
    })?;
    let variables = environment(&server, variables, needs_keys);
    Ok(Setup {
        server,
        variables,
        shown,
        project: root,
    })
}

/// Ends the run if a file of the project requires more than its user permitted: calls to another
/// address, or recorded personal data.
fn permitted(
    args: &AnswerArgs,
    config: &Config,
    (sends, keeps): (bool, bool),
    cx: &Cx,
) -> Result<()> {
    let elsewhere = sends && args.upstream.is_empty() && !config.record.upstream.is_empty();
    let what = if elsewhere {
        "sending calls where `[record] upstream` says"
    } else if keeps && config.record.content == Content::Full {
        "keeping personal data, as `[record] content = \"full\"` says,"
    } else {
        return Ok(());
    };
    permitted_here(&args.trust, what, cx)
}

/// Returns the secret from which placeholders are derived.
pub(crate) fn salt() -> Result<[u8; 32]> {
    secret().map_err(|why| {
        CliError::new(
            Kind::Infrastructure,
            format!(
                "what recordings are redacted with cannot be kept: {}",
                reason(&why)
            ),
        )
    })
}

/// Returns the options of the recorder, without a destination.
fn keep(root: &Path, config: &Config) -> Result<Keep> {
    Ok(Keep {
        salt: salt()?,
        secrets: known_secrets(root, config)
            .filter(|value| value != PLACEHOLDER)
            .collect(),
        content: config.record.content,
        own: masks(&config.record.mask),
        file: None,
        also: None,
        project: root.to_path_buf(),
        command: None,
    })
}

/// Starts a double that answers a program of the project from these calls, and sends each call to
/// `also`. A changed request is matched by its turn in its conversation.
///
/// # Errors
/// The double cannot listen, or a variable of the environment contains no address.
pub(crate) fn double(
    root: &Path,
    config: &Config,
    answers: Vec<Call>,
    also: Sender<SeenCall>,
) -> Result<Double> {
    let (routes, variables) = routes(&AnswerArgs::default(), config)?;
    let keep = Keep {
        content: Content::Redacted,
        also: Some(also),
        ..keep(root, config)?
    };
    let source = Source::Replay(Arc::new(Replay::new(
        answers,
        By::Turn,
        comparison(known_secrets(root, config), config),
    )));
    // The receiver of the calls reports requests that their vendor would reject.
    let strict = Strict {
        hook: None,
        is_lenient: true,
    };
    let plan = Plan {
        port: 0,
        routes,
        source,
        strict,
        limits: Limits::default(),
        keep,
    };
    let server = Server::start(plan).map_err(|why| {
        CliError::new(
            Kind::Infrastructure,
            format!("the double cannot listen: {}", reason(&why)),
        )
    })?;
    let variables = environment(&server, variables, true);
    Ok(Double { server, variables })
}

/// Returns the variables that lead a program to a server.
fn environment(
    server: &Server,
    variables: Vec<Variable>,
    needs_keys: bool,
) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = variables
        .into_iter()
        .map(|(name, route, behind)| (name, server.url(&route) + &behind))
        .collect();
    for name in ["NO_PROXY", "no_proxy"] {
        let hosts =
            fs::env(name).map_or_else(|| LOCAL.to_owned(), |hosts| format!("{hosts},{LOCAL}"));
        variables.push((name.to_owned(), hosts));
    }
    if needs_keys {
        let unset = KEYS.iter().filter(|name| fs::env(name).is_none());
        variables.extend(unset.map(|name| ((*name).to_owned(), PLACEHOLDER.to_owned())));
    }
    variables
}

/// Removes old recordings of the project after each run.
pub(super) fn sweep(project: &Path, ttl: u32) {
    if let Some(folder) = folders::data(project) {
        // Files that cannot be removed stay; `ctxc gc` reports the reason.
        let _ = gc::sweep(&folder, ttl);
    }
}

fn replayed(recording: &str, by: By, root: &Path, comparison: Comparison) -> Result<Replay> {
    // An incomplete line of a recording is skipped; its request then has no answer.
    let calls = Subject::parse(recording)
        .load(root, &mut |_| {})
        .map_err(|fault| {
            let kind = match &fault {
                PlaceFault::Line { .. } => Kind::Infrastructure,
                PlaceFault::Nowhere
                | PlaceFault::NoName { .. }
                | PlaceFault::NoCall { .. }
                | PlaceFault::NoFiles(_)
                | PlaceFault::Foreign { .. }
                | PlaceFault::Unreadable { .. } => Kind::Usage,
            };
            CliError::new(kind, fault.to_string())
        })?;
    Ok(Replay::new(calls, by, comparison))
}

/// Returns the file of the recording.
fn file(wanted: &Wanted<'_>, root: &Path) -> Result<Option<PathBuf>> {
    let KeepArgs { name, into, .. } = wanted.keep;
    if !wanted.always && name.is_none() && into.is_none() {
        return Ok(None);
    }
    let folder = match into {
        Some(folder) => folder.clone(),
        None => folders::data(root).ok_or_else(|| {
            CliError::new(Kind::Infrastructure, PlaceFault::Nowhere.to_string())
                .hint("`--into DIR` keeps the recording elsewhere")
        })?,
    };
    let name = name.clone().unwrap_or_else(|| now(&folder));
    let file = places::file(&folder, &name).ok_or_else(|| {
        let message = if name == LAST {
            "`last` is the newest recording, whatever its name".to_owned()
        } else {
            format!("`{name}` cannot be the name of a recording")
        };
        CliError::usage(message)
            .hint("a name has letters, digits, `-`, `_` and `.`, and begins with no dot")
    })?;
    folders::make(&folder).map_err(|why| CliError::write(&folder, &why))?;
    Ok(Some(file))
}

/// Returns an unused name made from the current time.
fn now(folder: &Path) -> String {
    let at = date::time((fs::now() / 1_000_000_000) as i64);
    // `2026-11-23-235353`
    let name: String = at.trim_end_matches('Z').replace(':', "").replace('T', "-");
    let is_free = |name: &String| places::file(folder, name).is_some_and(|file| !fs::exists(&file));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone())
        .chain(numbered)
        .find(is_free)
        .unwrap_or_default()
}

/// Returns the name of a recording in messages.
fn shown(file: &Path, keep: &KeepArgs) -> String {
    match keep {
        KeepArgs { into: Some(_), .. } => file.display().to_string(),
        KeepArgs {
            name: Some(name), ..
        } => format!("@{name}"),
        KeepArgs { .. } => format!("@{LAST}"),
    }
}

/// A variable, its route, and the suffix of its address.
type Variable = (String, String, String);

/// Returns the routes through the proxy, and the variables that lead there.
fn routes(args: &AnswerArgs, config: &Config) -> Result<(Vec<Route>, Vec<Variable>)> {
    let wrong = |why: String| {
        CliError::usage(why).hint("an upstream is an address, or `openai=`, `anthropic=`, `gemini=` or `ollama=` and an address")
    };
    let mut upstreams: Vec<(Option<&'static Vendor>, &str)> = Vec::new();
    let given = if args.upstream.is_empty() && args.script.is_none() {
        &config.record.upstream
    } else {
        &args.upstream
    };
    for written in given {
        let named = written
            .split_once('=')
            .filter(|(name, _)| !name.contains("://"));
        upstreams.push(match named {
            Some((name, url)) => {
                let known =
                    vendor(name).ok_or_else(|| wrong(format!("there is no vendor `{name}`")))?;
                (Some(known), url)
            }
            None => (None, written),
        });
    }
    let own = |name: &String| {
        let vendor = of_name(name);
        let behind = if vendor.has_version {
            vendor.version
        } else {
            ""
        };
        (
            name.to_ascii_lowercase(),
            vendor,
            vec![(name.clone(), behind)],
        )
    };
    let named = |vendor: &'static Vendor| {
        let names = vendor
            .variables
            .iter()
            .map(|(name, behind)| ((*name).to_owned(), *behind));
        (vendor.name.to_owned(), vendor, names.collect())
    };
    let mut routes = Vec::new();
    let mut variables = Vec::new();
    for (route, vendor, names) in VENDORS
        .iter()
        .map(named)
        .chain(config.record.env.iter().map(own))
    {
        let given = upstreams
            .iter()
            .rev()
            .find(|(of, _)| of.is_none_or(|of| of.name == vendor.name))
            .map(|(_, url)| *url);
        let held = names
            .iter()
            .find_map(|(name, _)| Some((name, fs::env(name)?)));
        let upstream = match (given, held) {
            (Some(url), _) => vendor.base(url).map_err(wrong)?,
            (None, Some((name, url))) => vendor.base(&url).map_err(|why| {
                CliError::usage(format!(
                    "the variable {name} holds what cannot be asked: {why}"
                ))
            })?,
            (None, None) => vendor.base_url.to_owned(),
        };
        routes.push(Route {
            name: route.clone(),
            vendor,
            upstream,
        });
        variables.extend(
            names
                .into_iter()
                .map(|(name, behind)| (name, route.clone(), behind.to_owned())),
        );
    }
    Ok((routes, variables))
}

/// Returns the vendor of a variable of the project's own, by its name. The default is OpenAI, whose
/// dialect most gateways use.
fn of_name(name: &str) -> &'static Vendor {
    let name = name.to_ascii_lowercase();
    let words = [
        ("anthropic", 1),
        ("claude", 1),
        ("gemini", 2),
        ("google", 2),
        ("ollama", 3),
    ];
    let at = words
        .iter()
        .find(|(word, _)| name.contains(word))
        .map_or(0, |(_, at)| *at);
    VENDORS.get(at).unwrap_or(&VENDORS[0])
}
