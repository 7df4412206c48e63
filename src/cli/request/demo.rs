//! `ctxc demo`: the output of the verbs on requests for a bundled agent with two mistakes. Reads no
//! file and makes no call.

use super::load::{BodySource, CallBody, CallBodyKind};
use super::request_findings::{RequestChecker, RequestWithBody};
use super::{load, manifest, prompt_cache};
use crate::cli::findings;
use crate::cli::prelude::*;
use crate::cli::render::sources::SourceTexts;
use crate::project::config::Config;

/// The handwritten calls of a small support bot: each has the time in its system text, and the last
/// one lost a tool result.
const DEMO_CALLS: &str = include_str!("demo.jsonl");
/// The size limit of source files, unused here: no file is read.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc demo\n\n\
    The calls were written by hand; no model answered them. `ctxc record -- COMMAND` records those of your own agent.")]
pub(crate) struct DemoArgs {}

/// Runs the demo.
pub(crate) fn run_demo(cx: &mut Cx) -> Result<Exit> {
    let config = Config::default();
    let calls = load::calls_of_text("@demo", DEMO_CALLS)?;
    cx.print_line("a support bot of some forty lines, as `ctxc record -- python support_bot.py` would keep it: 3 calls")?;
    print_title("manifest", cx)?;
    manifest::print_manifest(&manifest::build_manifest(&calls, &config), cx)?;
    print_title("check", cx)?;
    let mut checker = RequestChecker::new(&config);
    for one in &calls {
        let Some(call) = one.call.clone() else {
            continue;
        };
        let kind = CallBodyKind::Call(Box::new(call));
        checker.check_request(RequestWithBody::parse(CallBody {
            name: one.name.clone(),
            kind,
            source: BodySource::Sent,
            place: None,
            rows: None,
        }));
    }
    let RequestChecker { report, texts, .. } = checker;
    let mut sources = SourceTexts::new(PathBuf::new(), MAX_FILE_BYTES).with_texts(&texts);
    findings::print_report(
        cx,
        &report,
        FindingFormat::Full,
        Path::new(""),
        &mut sources,
    )?;
    print_title("prompt-cache", cx)?;
    prompt_cache::print_report(
        &prompt_cache::build_report(&prompt_cache::compare_recorded_calls(&calls, &config)),
        cx,
    )?;
    cx.print_line("")?;
    cx.print_line("your own agent: `ctxc record -- COMMAND`, then the same verbs with @last")?;
    Ok(Exit::Success)
}

fn print_title(verb: &str, cx: &mut Cx) -> Result<()> {
    let line = cx
        .options
        .screen
        .paint(Paint::Dim, &format!("$ ctxc {verb} @demo"));
    cx.print_line("")?;
    cx.print_line(&line)
}
