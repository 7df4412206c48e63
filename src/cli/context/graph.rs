//! `ctxc graph TASK`: a drawing of a task's flow.

use super::project::Compiled;
use super::subject::SubjectArgs;
use crate::cli::args::Sign;
use crate::cli::prelude::*;
use crate::context::TaskGraph;
use crate::run::drawing;
use crate::run::plan::plan;
use clap::ValueEnum;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc graph investigate\n  ctxc graph investigate --as svg -o investigate.svg"
)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    subject: SubjectArgs,
    /// The form of the drawing
    #[arg(long = "as", value_name = "FORM", default_value = "mermaid")]
    form: Form,
    /// Write the drawing to a file, completely or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A form of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A Mermaid chart, for Markdown
    Mermaid,
    /// A self-contained picture
    Svg,
}

/// Runs the verb.
pub(crate) fn run(args: &GraphArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Compiled::load(cx)?;
    let (_, task) = args.subject.read(&project)?;
    let graph = TaskGraph::load(&project.registry, &task)?;
    let graph = graph.ok_or_else(|| CliError::usage(format!("there is no task `{task}`")))?;
    let plan = plan(&graph, &task)?;
    let (text, sign) = match args.form {
        Form::Mermaid => (drawing::mermaid(&plan), "flowchart TD"),
        Form::Svg => (drawing::svg(&plan), "<svg"),
    };
    cx.write(
        args.output.as_deref(),
        Some(Sign {
            artifact: "drawing",
            text: sign,
        }),
        |cx| cx.print(|out| out.write_all(text.as_bytes())),
    )?;
    Ok(Exit::Success)
}
