//! The setup of a run that records or replays: the file of the recording, the source of answers,
//! and the variables that lead a program to the proxy.

use super::args::{AnswerArgs, RecordingArgs};
use super::comparison::{known_secrets, project_comparison};
use super::gc;
use crate::base::{folders, fs};
use crate::cli::context::trust::require_permission_here;
use crate::cli::prelude::*;
use crate::eval::compile_masks;
use crate::eval::request::examined_request::min_tokens;
use crate::project::config::{Config, RecordedContent};
use crate::record::comparison::RequestComparison;
use crate::record::places::{
    self, AGENT_NAMES, LAST_NAME, LocatedCall, RecordingPlaceFault, RecordingSelector,
};
use crate::record::proxy::call_recorder::{ObservedCall, RecorderOptions};
use crate::record::proxy::replay::{Replay, ReplayMatching};
use crate::record::proxy::request::{RefusalHook, StrictMode, VendorRefusal};
use crate::record::proxy::server::{
    ForwardLimits, ProxyOptions, ProxyRoute, ProxyServer, ProxySource,
};
use crate::record::proxy::vendor::{ProxyVendor, VENDORS, find_vendor};
use crate::rules::input::read_fault::describe_io_error;
use crate::rules::request::check;
use crate::scenario::date;
use crate::store::secret::load_or_create;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Variables with the keys of vendors. Libraries refuse to start without them.
const KEY_VARIABLES: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
const PLACEHOLDER_KEY: &str = "not-a-key-ctxc-answers";
/// The hosts that bypass an HTTP proxy of the environment.
const LOCAL_HOSTS: &str = "127.0.0.1,localhost";

/// A started proxy, with the variables that lead to it.
pub(super) struct ProxySetup {
    pub(super) server: ProxyServer,
    /// The variables for the program.
    pub(super) variables: Vec<(String, String)>,
    /// The name of the recording in messages; `None` if calls are not recorded.
    pub(super) shown: Option<String>,
    pub(super) project: PathBuf,
}

/// A server that answers a program from a recording.
#[derive(Debug)]
pub(crate) struct ReplayDouble {
    pub(crate) server: ProxyServer,
    /// The variables for the program.
    pub(crate) variables: Vec<(String, String)>,
}

/// The settings of a verb.
pub(super) struct ProxyRequest<'w> {
    pub(super) destination: &'w RecordingArgs,
    /// True if calls are recorded even without `--name` or `--into`.
    pub(super) always: bool,
    pub(super) answer: &'w AnswerArgs,
    pub(super) replay: Option<(&'w str, ReplayMatching)>,
    pub(super) port: u16,
    pub(super) command: Option<&'w [OsString]>,
}

/// Returns the error with which the vendor would reject a request, by the rules on requests.
fn find_refusal(endpoint: &str, body: &str, config: &Config) -> Option<VendorRefusal> {
    let found = check::find_body_rejection(body, Some(endpoint), min_tokens, config);
    let word = |check::VendorRejection { rule, message }| VendorRefusal {
        status: 400,
        rule: rule.name.to_owned(),
        message,
        page: format!("ctxc explain {}", rule.name),
    };
    found.map(word)
}

/// Starts the proxy. No file is written before the first call.
pub(super) fn set_up_proxy(wanted: &ProxyRequest<'_>, cx: &Cx) -> Result<ProxySetup> {
    let Project { root, config, .. } = Project::load(&cx.options)?.require_no_errors()?;
    let source = match (&wanted.answer.script, wanted.replay) {
        (Some(script), _) => ProxySource::Script(super::script::load_proxy_script(script)?),
        (None, Some((recording, by))) => ProxySource::Replay(Arc::new(load_replay(
            recording,
            by,
            &root,
            project_comparison(known_secrets(&root, &config), &config),
        )?)),
        (None, None) => ProxySource::Upstream,
    };
    let file = recording_file(wanted, &root)?;
    if let Some(what) = permission_to_ask(&source, file.as_deref(), wanted.answer, &config) {
        require_permission_here(&wanted.answer.trust, what, cx)?;
    }
    let (routes, variables) = proxy_routes(wanted.answer, &config)?;
    let shown = file
        .as_ref()
        .map(|file| recording_name(file, wanted.destination));
    let command = wanted.command.map(|words| {
        words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    });
    let recorder = RecorderOptions {
        file,
        command,
        ..recorder_options(&root, &config)?
    };
    let needs_keys = !matches!(source, ProxySource::Upstream);
    let limits = ForwardLimits {
        idle: Duration::from_secs(wanted.answer.timeout.max(1)),
        ..ForwardLimits::default()
    };
    // The project file is read a second time, because the threads of the proxy need settings of
    // their own.
    let rules = Project::load(&cx.options)?.config;
    let hook: RefusalHook = Arc::new(move |path, body| find_refusal(path, body, &rules));
    let strict = StrictMode {
        hook: Some(hook),
        is_lenient: wanted.answer.lenient,
    };
    let server = ProxyServer::start(ProxyOptions { port: wanted.port, routes, source, strict, limits, recorder }).map_err(|why| {
        let error =
            CliError::new(CliErrorKind::Infrastructure, format!("the proxy cannot listen on port {}: {}", wanted.port, describe_io_error(&why)));
        if why.kind() == io::ErrorKind::AddrInUse {
            return error.with_hint("another program has the port: name another one, or leave `--port` out for one that is free");
        }
        error
    })?;
    let variables = proxy_environment(&server, variables, needs_keys);
    Ok(ProxySetup {
        server,
        variables,
        shown,
        project: root,
    })
}

/// Returns the action of a project's file that needs the permission of its user: calls to another
/// address, or recorded personal data.
fn permission_to_ask(
    source: &ProxySource,
    file: Option<&Path>,
    args: &AnswerArgs,
    config: &Config,
) -> Option<&'static str> {
    let sends = matches!(source, ProxySource::Upstream);
    if sends && args.upstream.is_empty() && !config.record.upstream.is_empty() {
        Some("sending calls where `[record] upstream` says")
    } else if file.is_some() && config.record.content == RecordedContent::Full {
        Some("keeping personal data, as `[record] content = \"full\"` says,")
    } else {
        None
    }
}

/// Returns the secret from which placeholders are derived.
pub(crate) fn load_salt() -> Result<[u8; 32]> {
    load_or_create().map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "what recordings are redacted with cannot be kept: {}",
                describe_io_error(&why)
            ),
        )
    })
}

/// Returns the options of the recorder, without a destination.
fn recorder_options(root: &Path, config: &Config) -> Result<RecorderOptions> {
    Ok(RecorderOptions {
        salt: load_salt()?,
        secrets: known_secrets(root, config)
            .filter(|value| value != PLACEHOLDER_KEY)
            .collect(),
        content: config.record.content,
        patterns: compile_masks(&config.record.mask),
        file: None,
        observer: None,
        project: root.to_path_buf(),
        command: None,
    })
}

/// Starts a double that answers a program of the project from these calls, and sends each call to
/// `also`. A changed request is matched by its turn in its conversation.
///
/// # Errors
/// The double cannot listen, or a variable of the environment contains no address.
pub(crate) fn start_double(
    root: &Path,
    config: &Config,
    answers: Vec<LocatedCall>,
    observer: Sender<ObservedCall>,
) -> Result<ReplayDouble> {
    let (routes, variables) = proxy_routes(&AnswerArgs::default(), config)?;
    let recorder = RecorderOptions {
        content: RecordedContent::Redacted,
        observer: Some(observer),
        ..recorder_options(root, config)?
    };
    let source = ProxySource::Replay(Arc::new(Replay::new(
        answers,
        ReplayMatching::Turn,
        project_comparison(known_secrets(root, config), config),
    )));
    // The receiver of the calls reports requests that their vendor would reject.
    let strict = StrictMode {
        hook: None,
        is_lenient: true,
    };
    let plan = ProxyOptions {
        port: 0,
        routes,
        source,
        strict,
        limits: ForwardLimits::default(),
        recorder,
    };
    let server = ProxyServer::start(plan).map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("the double cannot listen: {}", describe_io_error(&why)),
        )
    })?;
    let variables = proxy_environment(&server, variables, true);
    Ok(ReplayDouble { server, variables })
}

/// Returns the variables that lead a program to a server.
fn proxy_environment(
    server: &ProxyServer,
    variables: Vec<RouteVariable>,
    needs_keys: bool,
) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = variables
        .into_iter()
        .map(|(name, route, behind)| (name, server.url(&route) + &behind))
        .collect();
    for name in ["NO_PROXY", "no_proxy"] {
        let hosts = fs::env_var(name).map_or_else(
            || LOCAL_HOSTS.to_owned(),
            |hosts| format!("{hosts},{LOCAL_HOSTS}"),
        );
        variables.push((name.to_owned(), hosts));
    }
    if needs_keys {
        let unset = KEY_VARIABLES
            .iter()
            .filter(|name| fs::env_var(name).is_none());
        variables.extend(unset.map(|name| ((*name).to_owned(), PLACEHOLDER_KEY.to_owned())));
    }
    variables
}

/// Removes old recordings of the project after each run.
pub(super) fn remove_old_recordings(project: &Path, ttl: u32) {
    if let Some(folder) = folders::project_data(project) {
        // Files that cannot be removed stay; `ctxc gc` reports the reason.
        let _ = gc::remove_old(&folder, ttl);
    }
}

fn load_replay(
    recording: &str,
    matching: ReplayMatching,
    root: &Path,
    comparison: RequestComparison,
) -> Result<Replay> {
    // An incomplete line of a recording is skipped; its request then has no answer.
    let calls = RecordingSelector::parse(recording)
        .load_calls(root, &mut |_| {})
        .map_err(|fault| {
            let kind = match &fault {
                RecordingPlaceFault::Line { .. } => CliErrorKind::Infrastructure,
                RecordingPlaceFault::NoDataFolder
                | RecordingPlaceFault::NoName { .. }
                | RecordingPlaceFault::NoCall { .. }
                | RecordingPlaceFault::NoFiles(_)
                | RecordingPlaceFault::Foreign { .. }
                | RecordingPlaceFault::Unreadable { .. } => CliErrorKind::Usage,
            };
            CliError::new(kind, fault.to_string())
        })?;
    Ok(Replay::new(calls, matching, comparison))
}

/// Returns the file of the recording.
fn recording_file(wanted: &ProxyRequest<'_>, root: &Path) -> Result<Option<PathBuf>> {
    let RecordingArgs { name, into, .. } = wanted.destination;
    if !wanted.always && name.is_none() && into.is_none() {
        return Ok(None);
    }
    let folder = match into {
        Some(folder) => folder.clone(),
        None => folders::project_data(root).ok_or_else(|| {
            CliError::new(
                CliErrorKind::Infrastructure,
                RecordingPlaceFault::NoDataFolder.to_string(),
            )
            .with_hint("`--into DIR` keeps the recording elsewhere")
        })?,
    };
    let name = name.clone().unwrap_or_else(|| unused_name(&folder));
    let file = places::recording_path(&folder, &name).ok_or_else(|| {
        let message = if name == LAST_NAME {
            "`last` is the newest recording, whatever its name".to_owned()
        } else if AGENT_NAMES.contains(&name.as_str()) {
            format!("`@{name}` is the newest session of that agent, not a recording")
        } else {
            format!("`{name}` cannot be the name of a recording")
        };
        CliError::usage(message)
            .with_hint("a name has letters, digits, `-`, `_` and `.`, and begins with no dot")
    })?;
    folders::create_private(&folder).map_err(|why| CliError::write_failed(&folder, &why))?;
    Ok(Some(file))
}

/// Returns an unused name made from the current time.
fn unused_name(folder: &Path) -> String {
    let at = date::format_time((fs::now_nanos() / 1_000_000_000) as i64);
    // `2026-11-23-235353`
    let name: String = at.trim_end_matches('Z').replace(':', "").replace('T', "-");
    let is_free =
        |name: &String| places::recording_path(folder, name).is_some_and(|file| !fs::exists(&file));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone())
        .chain(numbered)
        .find(is_free)
        .unwrap_or_default()
}

/// Returns the name of a recording in messages.
fn recording_name(file: &Path, destination: &RecordingArgs) -> String {
    match destination {
        RecordingArgs { into: Some(_), .. } => file.display().to_string(),
        RecordingArgs {
            name: Some(name), ..
        } => format!("@{name}"),
        RecordingArgs { .. } => format!("@{LAST_NAME}"),
    }
}

/// A variable, its route, and the suffix of its address.
type RouteVariable = (String, String, String);

/// Returns the routes through the proxy, and the variables that lead there.
fn proxy_routes(
    args: &AnswerArgs,
    config: &Config,
) -> Result<(Vec<ProxyRoute>, Vec<RouteVariable>)> {
    let upstream_error = |why: String| {
        CliError::usage(why).with_hint("an upstream is an address, or `openai=`, `anthropic=`, `gemini=` or `ollama=` and an address")
    };
    let mut upstreams: Vec<(Option<&'static ProxyVendor>, &str)> = Vec::new();
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
                let known = find_vendor(name)
                    .ok_or_else(|| upstream_error(format!("there is no vendor `{name}`")))?;
                (Some(known), url)
            }
            None => (None, written),
        });
    }
    let own = |name: &String| {
        let vendor = vendor_of_variable(name);
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
    let named = |vendor: &'static ProxyVendor| {
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
            .find_map(|(name, _)| Some((name, fs::env_var(name)?)));
        let upstream = match (given, held) {
            (Some(url), _) => vendor.parse_base_url(url).map_err(upstream_error)?,
            (None, Some((name, url))) => vendor.parse_base_url(&url).map_err(|why| {
                CliError::usage(format!(
                    "the variable {name} holds what cannot be asked: {why}"
                ))
            })?,
            (None, None) => vendor.base_url.to_owned(),
        };
        routes.push(ProxyRoute {
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
fn vendor_of_variable(name: &str) -> &'static ProxyVendor {
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
