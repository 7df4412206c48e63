//! `ctxc graph TASK`: a drawing of a task's flow.

use super::project::CompiledProject;
use super::subject::SubjectArgs;
use crate::cli::prelude::*;
use crate::cli::shared_args::FileMark;
use crate::context::TaskGraph;
use crate::run::drawing;
use crate::run::plan::build_plan;
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
    form: DrawingForm,
    /// Write the drawing to a file, completely or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A form of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DrawingForm {
    /// A Mermaid chart, for Markdown
    Mermaid,
    /// A self-contained picture
    Svg,
}

/// Runs the verb.
pub(crate) fn run_graph(args: &GraphArgs, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    let (_, task) = args.subject.resolve(&project)?;
    let graph = TaskGraph::load(&project.registry, &task)?;
    let graph = graph.ok_or_else(|| CliError::usage(format!("there is no task `{task}`")))?;
    let plan = build_plan(&graph, &task)?;
    let (text, sign) = match args.form {
        DrawingForm::Mermaid => (drawing::mermaid_chart(&plan), "flowchart TD"),
        DrawingForm::Svg => (drawing::svg_image(&plan), "<svg"),
    };
    cx.write_to(
        args.output.as_deref(),
        Some(FileMark {
            artifact: "drawing",
            text: sign,
        }),
        |cx| cx.print(|out| out.write_all(text.as_bytes())),
    )?;
    Ok(Exit::Success)
}
