//! `ctxc render TASK`: the exact text that an agent receives, and the source of each line.

use super::lookup::LookupArgs;
use super::manifest::agent_facts;
use super::models::ProjectCounters;
use super::project::{CompiledProject, FirstAgentWording};
use super::render_report;
use super::subject::SubjectArgs;
use super::values::{GivenArgs, HistoryArgs, ObjectiveArgs, ObjectiveReceiver, read_turn_file};
use crate::cli::prelude::*;
use crate::cli::render::escape::escape_lines;
use crate::cli::request;
use crate::cli::shared_args::FileMark;
use crate::context::assemble::{Assembly, assemble};
use crate::context::lines::Lines;
use crate::context::manifest::{DefaultValue, defaults_of};
use crate::context::options::{ModelSettings, Options};
use crate::context::render::call::{CallParams, MODEL_PLACEHOLDER, output_limit};
use crate::context::render::profile::Profile;
use crate::context::render::target::{NoBody, RenderTarget};
use crate::context::render::targets::TARGETS;
use crate::context::request::{CallerGoals, Request};
use crate::context::role::ModelRoute;
use crate::context::{TaskGraph, role};
use crate::eval::draft::has_conversation;
use crate::eval::locate::describe_origin;
use crate::eval::request::examined_request::min_tokens;
use crate::kernel::budget::{Counting, Disposition};
use crate::kernel::context::{Origin, TracedText};
use crate::kernel::sampling::Sampling;
use crate::project::config::Config;
use crate::project::models::ModelConfig;
use crate::rules::request::check::find_body_rejection;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ops::Range;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc render triage\n  ctxc render --role clerk --objective \'sort the new tickets\' --explain\n  ctxc render answer --input ticket=@samples/t1.txt --explain\n  ctxc render investigate --node /steps/1 --result precedents=\'none found\'\n  ctxc render triage --as openai-chat --model gpt-5-mini > body.json\n  ctxc render triage --output context.txt --allow-secrets\n\n\
    A file that `--output` names holds exactly what is printed. It is not written if it would hold a secret, unless --allow-secrets is given."
)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    objective: ObjectiveArgs,
    #[command(flatten)]
    history: HistoryArgs,
    #[command(flatten)]
    lookup: LookupArgs,
    /// Format of segments [default: the task's, else the role's, else markdown]
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    profile: Option<Profile>,
    /// Tokens that the context may have, counted by the tokenizer, unless the role or model allows fewer
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    budget: Option<usize>,
    /// Tokenizer: o200k and cl100k count exactly; claude, gemini and llama estimate; bytes gives an upper bound
    /// [default: that of the model; o200k if it has none]
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    /// The conversation or run that the request belongs to: the unpredictable fences around
    /// untrusted text are derived from it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    session: String,
    /// Print only the request body for a provider; no call is made
    #[arg(long = "as", value_name = "TARGET", value_parser = target_parser(), conflicts_with_all = ["raw", "explain"])]
    body: Option<&'static RenderTarget>,
    /// The model to name in the body [default: the one that the project chooses; else the task's own]
    #[arg(long, value_name = "NAME", requires = "body")]
    model: Option<String>,
    /// Maximum tokens of the answer, in the body [default: the model's output reserve; else the provider's default, or 4096 for Anthropic, which has none]
    #[arg(long, value_name = "TOKENS", requires = "body", value_parser = clap::value_parser!(u32).range(1..))]
    max_output: Option<u32>,
    /// Later turns, put at the end: answers of this agent and results of its tools; one chat message per line
    #[arg(long, value_name = "FILE")]
    turns: Option<PathBuf>,
    /// Print only the text, without its origin
    #[arg(long)]
    raw: bool,
    /// Show the state of every segment, the reason, and its number of tokens
    #[arg(long, conflicts_with = "raw")]
    explain: bool,
    /// Print the context, with the explanation of `--explain`, as JSON
    #[arg(long, conflicts_with_all = ["raw", "body", "explain"])]
    json: bool,
    /// Write the result to a file, completely or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Returns a parser of profile names.
fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    let names =
        Profile::ALL.map(|profile| PossibleValue::new(profile.word()).help(profile.description()));
    PossibleValuesParser::new(names)
        .try_map(|name| Profile::parse(&name).ok_or("no profile has this name"))
}

/// Columns for the text if the width of the screen is unknown.
const DEFAULT_WIDTH: usize = 72;

/// Runs the verb.
pub(crate) fn run_render(args: &RenderArgs, cx: &mut Cx) -> Result<Exit> {
    if let Some(subject) = args.subject.sent_request() {
        if args.body.is_some() || args.explain || args.json {
            return Err(CliError::usage(
                "a request that was sent is shown as it is: `--raw` prints its body, `ctxc manifest` its segments as JSON",
            ));
        }
        return request::render::render_request(subject, args.raw, args.output.as_deref(), cx)
            .map(|()| Exit::Success);
    }
    let project = CompiledProject::load(cx)?;
    let counters = ProjectCounters::new(&project.config, args.tokenizer.as_deref())?;
    let (role, name) = args.subject.resolve(&project)?;
    let parameters = project.task_parameters(&name)?;
    let (inputs, results) = args
        .given
        .read_values(&project.registry, &name, &parameters)?;
    let node = if let Some(node) = &args.given.node {
        project.find_node(&name, node)?
    } else {
        let wording = FirstAgentWording {
            reason: "",
            hint: "`render` shows what an agent receives; scripts only run commands",
            is: "this is",
            names: "shows",
        };
        project.first_agent(&name, &wording, cx)?
    };
    let files = project.files();
    let source = args.lookup.for_project(&project);
    let history = args.history.read_turns()?;
    let inputs = &inputs;
    let results = &results;
    let history = &*history;
    let request = Request {
        node: &node,
        inputs,
        results,
        files: &files,
        source: &source,
        history,
        ..Request::new(&name)
    };
    let objective = args.objective.read_objective(
        ObjectiveReceiver {
            task: &name,
            parameters: &parameters,
            role,
        },
        inputs,
    )?;
    let goals = CallerGoals {
        objective: objective.as_deref(),
        ..CallerGoals::default()
    };
    let request = Request {
        goals,
        role,
        session: &args.session,
        ..request
    };
    let counting = if args.explain || args.json {
        Counting::Always
    } else {
        Counting::WhenNeeded
    };
    let models = Some(ModelSettings {
        profile: args.profile,
        ..counters.model_settings(&project.config)
    });
    let (budget, target) = (args.budget, args.body);
    let options = Options {
        budget,
        counter: counters.default_counter(),
        counting,
        target,
        models,
        ..Options::default()
    };
    let assembled = assemble(&project.registry, &request, &options);
    source.note_index(cx);
    let mut assembly = assembled.map_err(|faults| project.context_error(&faults))?;
    if let Some(path) = &args.turns {
        let turns = read_turn_file(path, "--turns")?;
        let added = pluralize(turns.len(), "message");
        assembly.messages.extend(turns.into_iter().map(Into::into));
        // The counter of the model, which the limit was counted with.
        let routed = route_agent(&project, &request, &options)?;
        let counter = routed.map_or_else(
            || counters.default_counter(),
            |routed| routed.options.counter,
        );
        let all: usize = assembly
            .messages
            .iter()
            .map(|message| counter.count(message.as_str()))
            .sum();
        if let Some(budget) = assembly.report.budget.filter(|budget| all > *budget) {
            let all = pluralize(all, "token");
            let limit = format_thousands(budget);
            cx.print_note(&format!("this request has {all} with its {added} of --turns, which are never cut; the limit is {limit}"));
        }
    }
    if !history.is_empty() && !has_conversation(&assembly) {
        cx.print_note("this agent sees nothing of the conversation: its task has no <history>");
    }
    if !args.explain && !args.json {
        note_omitted_segments(&assembly, cx);
    }
    let target = args.output.as_deref();
    if let Some(body) = args.body {
        let call = body_params(args, &project, &request, &options)?;
        cx.write_to(
            target,
            Some(FileMark {
                artifact: "request body",
                text: "{",
            }),
            |cx| print_body(body, &assembly, &call, &project.config, cx),
        )?;
        return Ok(Exit::Success);
    }
    if args.raw {
        cx.write_to(target, None, |cx| print_raw(&assembly, cx))?;
        return Ok(Exit::Success);
    }
    let lines = project.text_lines(&project.definition_paths());
    let routed = if args.explain || args.json {
        route_agent(&project, &request, &options)?
    } else {
        None
    };
    let defaults = defaults_of(&project.registry, &request, &options);
    if args.json {
        let document = render_report::build_report(&assembly, &request, routed.as_ref(), &defaults);
        cx.write_to(
            target,
            Some(FileMark {
                artifact: "context",
                text: "\"ctxc/",
            }),
            |cx| cx.print_json(&document),
        )?;
        return Ok(Exit::Success);
    }
    cx.write_to(target, None, |cx| {
        let tools = assembly.tools();
        if !tools.is_empty() {
            print_message("tools", &tools, &lines, cx)?;
        }
        for message in &assembly.messages {
            print_message(message.speaker.word(), &message.text, &lines, cx)?;
        }
        if args.explain {
            render_report::print_explanation(&assembly, routed.as_ref(), cx)?;
        }
        if assembly.messages.is_empty() {
            Ok(())
        } else {
            print_defaults(&defaults, cx)
        }
    })?;
    Ok(Exit::Success)
}

/// Returns the parameters of the request body beside its messages.
fn body_params(
    args: &RenderArgs,
    project: &CompiledProject,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<CallParams> {
    let call = CallParams::from_registry(&project.registry, request)
        .map_err(|fault| project.context_error(&[fault]))?;
    let chosen = route_agent(project, request, options)?.and_then(|routed| routed.choice);
    // A provider identifies a model by its own id, not by the project's name for it.
    let requested = args
        .model
        .as_ref()
        .map(|name| project.config.models.get(name));
    let model = requested.unwrap_or_else(|| chosen.as_ref().map(|choice| choice.model));
    let sampling = model_sampling(project, request, model)?;
    let reserve = model
        .and_then(|model| u32::try_from(model.reserve).ok())
        .filter(|reserve| *reserve > 0);
    let named = model
        .map(|model| model.id.clone())
        .or_else(|| args.model.clone());
    let limit = args
        .max_output
        .or_else(|| output_limit(&sampling))
        .or(reserve);
    Ok(CallParams {
        model: named.or(call.model),
        limit,
        sampling,
        ..call
    })
}

/// Prints the defaults in the context, below the text.
fn print_defaults(defaults: &[DefaultValue], cx: &mut Cx) -> Result<()> {
    let Some(defaults) = agent_facts::describe_defaults(defaults, None) else {
        return Ok(());
    };
    cx.print_line("")?;
    cx.print_hanging(&escape_line(&defaults), 4)
}

/// Prints a note about segments that were omitted for the budget, or about an empty context.
fn note_omitted_segments(assembly: &Assembly, cx: &mut Cx) {
    let accounts = &assembly.report.segments;
    if accounts.is_empty() {
        cx.print_note("this agent receives nothing: every text of it is empty with these values");
    }
    let turns = accounts.iter().filter(|account| account.segment.is_turn());
    let lost = turns
        .clone()
        .filter(|account| account.disposition != Disposition::Kept)
        .count();
    if lost > 0 {
        let all = pluralize(turns.count(), "message");
        cx.print_note(&format!(
            "not shown whole: {} of {all} of the conversation; --explain says why",
            format_thousands(lost)
        ));
    }
    let texts = || accounts.iter().filter(|account| !account.segment.is_turn());
    let of = |is: fn(&Disposition) -> bool| {
        let ids: Vec<_> = texts()
            .filter(|account| is(&account.disposition))
            .map(|account| escape_line(&account.segment.id))
            .collect();
        ids.join(", ")
    };
    let cut = of(|disposition| {
        matches!(
            disposition,
            Disposition::Cut { .. } | Disposition::Shortened { .. }
        )
    });
    let dropped = of(|disposition| *disposition == Disposition::Dropped);
    let parts = [("cut", cut), ("dropped", dropped)];
    let reasons: Vec<String> = parts
        .iter()
        .filter(|part| !part.1.is_empty())
        .map(|(disposition, ids)| format!("{disposition}: {ids}"))
        .collect();
    let room = assembly.report.budget.map_or_else(
        || "its `max_tokens`".to_owned(),
        |budget| pluralize(budget, "token"),
    );
    if !reasons.is_empty() {
        cx.print_note(&format!(
            "not everything fits into {room}; {}; --explain says why",
            reasons.join("; ")
        ));
    }
}

/// Returns the model of the agent, with its sampling; `None` if the task does not exist.
fn route_agent<'a>(
    project: &CompiledProject,
    request: &Request<'_>,
    options: &Options<'a>,
) -> Result<Option<ModelRoute<'a>>> {
    let Some(graph) = TaskGraph::load(&project.registry, request.task)? else {
        return Ok(None);
    };
    Ok(Some(role::route_model(&graph, request, options)?))
}

/// Returns the sampling settings for a model.
fn model_sampling(
    project: &CompiledProject,
    request: &Request<'_>,
    model: Option<&ModelConfig>,
) -> Result<Sampling> {
    let Some(graph) = TaskGraph::load(&project.registry, request.task)? else {
        return Ok(Sampling::new());
    };
    Ok(role::sampling_for(&graph, request, model)?
        .into_iter()
        .map(|one| (one.name, one.value))
        .collect())
}

fn print_raw(assembly: &Assembly, cx: &mut Cx) -> Result<()> {
    // Byte for byte for files and pipes; a terminal would interpret control characters of the text.
    let is_terminal = cx.is_terminal();
    let tools = assembly.tools();
    let tools = Some(("tools", tools.text())).filter(|(_, text)| !text.is_empty());
    let messages = assembly
        .messages
        .iter()
        .map(|message| (message.speaker.word(), message.as_str()));
    for (number, (who, text)) in tools.into_iter().chain(messages).enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        let text = if is_terminal {
            escape_lines(text)
        } else {
            text.into()
        };
        cx.print(|out| writeln!(out, "{gap}[{who}]\n{text}"))?;
    }
    Ok(())
}

/// Prints one message line by line, each line with its source.
fn print_message(who: &str, text: &TracedText, lines: &Lines, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    let room = screen
        .width
        .map_or(DEFAULT_WIDTH, |width| (width * 3 / 5).max(40))
        .saturating_sub(10);
    let mut start = 0;
    let mut last = LineOrigin::default();
    let mut counted = CountedLines::default();
    for (number, line) in text.text().split('\n').enumerate() {
        let who = if number == 0 { who } else { "" };
        let source = line_origin(text, start..start + line.len(), lines, &mut counted);
        start += line.len() + 1;
        // A file is repeated in each line; a source without lines is printed only where it begins.
        let shown = if source == last && !source.is_line {
            String::new()
        } else {
            source.words.clone()
        };
        last = source;
        let line = escape_line(line);
        let padded = format!("{line:<room$}");
        let head = screen.paint(Paint::Strong, &format!("{who:<9}"));
        let line = format!(
            "{head} │ {padded}  {}",
            screen.paint(Paint::Dim, &escape_line(&shown))
        );
        let line = line.trim_end().to_owned();
        cx.print(|out| writeln!(out, "{line}"))?;
    }
    Ok(())
}

/// The lines of a stretch that were already counted, so that each line of a long stretch is counted
/// once.
#[derive(Debug, Default)]
struct CountedLines {
    /// The start of the stretch.
    from: usize,
    /// The end of the counted part.
    to: usize,
    lines: u32,
}

/// The source of a line.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineOrigin {
    /// The printed form of the source; empty if no author wrote any part of the line.
    words: String,
    /// True if the source is a line of a file.
    is_line: bool,
}

/// Returns the source of the first written words of a line. If a value continues there, the source
/// of the words after it.
fn line_origin(
    text: &TracedText,
    line: Range<usize>,
    lines: &Lines,
    counted: &mut CountedLines,
) -> LineOrigin {
    let first = text
        .stretches()
        .partition_point(|stretch| stretch.range.end <= line.start);
    let inside = text.stretches().get(first..).unwrap_or(&[]).iter();
    let mut inside = inside
        .take_while(|stretch| stretch.range.start < line.end.max(line.start + 1))
        .filter(|stretch| stretch.origin != Origin::Generated);
    let Some(mut stretch) = inside.next() else {
        return LineOrigin::default();
    };
    let has_text = |range: &Range<usize>| {
        let words = text
            .text()
            .get(range.start.max(line.start)..range.end.min(line.end));
        words.is_some_and(|words| !words.trim().is_empty())
    };
    let goes_on =
        stretch.range.start < line.start && lines.locate_origin(&stretch.origin).is_none();
    // Blanks before the first words may belong to another line of the same text.
    let is_blank = stretch.range.end < line.end
        && lines.locate_origin(&stretch.origin).is_some()
        && !has_text(&stretch.range);
    if is_blank {
        let first = inside.find(|stretch| has_text(&stretch.range));
        stretch = first
            .filter(|first| is_same_text(&first.origin, &stretch.origin))
            .unwrap_or(stretch);
    } else if goes_on {
        let behind = inside.find(|stretch| {
            lines.locate_origin(&stretch.origin).is_some() && has_text(&stretch.range)
        });
        stretch = behind.unwrap_or(stretch);
    }
    let from = stretch.range.start;
    if counted.from != from || counted.to < from {
        *counted = CountedLines {
            from,
            to: from,
            lines: 0,
        };
    }
    let to = line.start.max(from);
    counted.lines += text
        .text()
        .get(counted.to..to)
        .map_or(0, |skipped| skipped.matches('\n').count() as u32);
    counted.to = to;
    let origin = stretch.origin.clone().shifted_by_lines(counted.lines);
    if let Some((path, line)) = lines.locate_origin(&origin) {
        return LineOrigin {
            words: format!("{path}:{line}"),
            is_line: true,
        };
    }
    let words = describe_origin(&origin).unwrap_or_default();
    let words = if let Origin::File { path, .. } | Origin::Schema { path } = origin {
        path
    } else {
        words
    };
    LineOrigin {
        words,
        is_line: false,
    }
}

/// Returns true if two lines belong to one text.
fn is_same_text(one: &Origin, other: &Origin) -> bool {
    let first = |origin: &Origin| {
        let mut origin = origin.clone();
        *origin.line_mut()? = 0;
        Some(origin)
    };
    first(one).is_some_and(|one| first(other) == Some(one))
}

/// Returns a parser of target names.
pub(super) fn target_parser() -> impl TypedValueParser<Value = &'static RenderTarget> {
    let names = TARGETS
        .iter()
        .map(|target| PossibleValue::new(target.name).help(target.about));
    PossibleValuesParser::new(names).try_map(|name| {
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .copied()
            .ok_or("no target has this name")
    })
}

/// Prints the body and nothing else; a note gives the reason if the vendor would refuse it.
pub(super) fn print_body(
    target: &RenderTarget,
    assembly: &Assembly,
    call: &CallParams,
    config: &Config,
    cx: &mut Cx,
) -> Result<()> {
    let text = target
        .render_body(&assembly.messages, call)
        .map_err(|none| {
            let error = CliError::new(CliErrorKind::Findings, none.to_string());
            if none == NoBody::Empty {
                error.with_hint("a value may be empty: look at the text without --as")
            } else {
                error
            }
        })?;
    let unthought = target.dropped_reasoning(&assembly.messages);
    if unthought > 0 {
        cx.print_note(&format!(
            "the agent's thinking is left out of {}: {} has no field for it",
            pluralize(unthought, "message"),
            target.name
        ));
    }
    for (parameter, why) in target.omitted_parameters(call) {
        cx.print_note(&format!("`{}` is left out: {why}", parameter.word()));
    }
    if call.model.is_none() && target.names_model {
        cx.print_note(&format!(
            "`{MODEL_PLACEHOLDER}` stands for the model: neither the task nor --model names one"
        ));
    }
    if let Some(refusal) = find_body_rejection(&text, None, min_tokens, config) {
        cx.print_note(&refusal.describe());
    }
    cx.print(|out| writeln!(out, "{text}"))
}
