//! `ctxc demo`: the output of the verbs on requests for a bundled agent with two mistakes. Reads no
//! file and makes no call.

use super::check::{Checker, ReadBody};
use super::load::{self, Body, BodyKind};
use super::{comparison, manifest, prompt_cache};
use crate::cli::findings;
use crate::cli::prelude::*;
use crate::cli::render::sources::Sources;
use crate::project::config::Config;

/// The handwritten calls of a small support bot: each has the time in its system text, and the last
/// one lost a tool result.
const CALLS: &str = include_str!("demo.jsonl");
/// The size limit of source files, unused here: no file is read.
const LIMIT: u64 = 1 << 20;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc demo\n\n\
    The calls were written by hand; no model answered them. `ctxc record -- COMMAND` records those of your own agent.")]
pub(crate) struct DemoArgs {}

/// Runs the demo.
pub(crate) fn run(cx: &mut Cx) -> Result<Exit> {
    let config = Config::default();
    let calls = load::of_text("@demo", CALLS)?;
    cx.line("a support bot of some forty lines, as `ctxc record -- python support_bot.py` would keep it: 3 calls")?;
    title("manifest", cx)?;
    manifest::text(&manifest::of_calls(&calls, &config), cx)?;
    title("check", cx)?;
    let mut checker = Checker::new(&config);
    for one in &calls {
        let Some(call) = one.call.clone() else {
            continue;
        };
        let kind = BodyKind::Call(Box::new(call));
        checker.take(ReadBody::of(Body {
            name: one.name.clone(),
            kind,
            is_rebuilt: false,
            place: None,
        }));
    }
    let Checker { report, texts, .. } = checker;
    let mut sources = Sources::new(PathBuf::new(), LIMIT).with_texts(&texts);
    findings::print(
        cx,
        &report,
        FindingFormat::Full,
        Path::new(""),
        &mut sources,
    )?;
    title("prompt-cache", cx)?;
    prompt_cache::text(
        &prompt_cache::document(&comparison::all(&calls, &config)),
        cx,
    )?;
    cx.line("")?;
    cx.line("your own agent: `ctxc record -- COMMAND`, then the same verbs with @last")?;
    Ok(Exit::Success)
}

fn title(verb: &str, cx: &mut Cx) -> Result<()> {
    let line = cx
        .options
        .screen
        .paint(Paint::Dim, &format!("$ ctxc {verb} @demo"));
    cx.line("")?;
    cx.line(&line)
}
