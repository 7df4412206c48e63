//! The command line of `ctxc manifest`.

use super::counting::CountingArgs;
use crate::cli::context::lookup::LookupArgs;
use crate::cli::context::values::{GivenArgs, HistoryArgs, ObjectiveArgs};
use crate::cli::shared_args::{FileMark, OutputFormat, ReportFile, parse_report};
use crate::cli::workspace_reach::{PrintedForm, WorkspaceReach};
use crate::context::manifest::MANIFEST_SCHEMA;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    group(ArgGroup::new("one").args(["subject", "role"])),
    group(ArgGroup::new("of_one").args(["node", "input", "result"]).multiple(true).requires("one")),
    disable_help_subcommand = true,
    after_help = "Examples:\n  ctxc manifest triage\n  ctxc manifest --role clerk\n  ctxc manifest answer --input ticket=@samples/t1.txt --budget 8000\n  \
    ctxc manifest -o context-manifest.json && ctxc manifest --check\n  \
    ctxc manifest --format html > manifest.html\n  ctxc manifest diff registry.json registry.json\n\n\
    Nothing is run and no model is asked. Values that only a run has are listed and count as 0 tokens; --input and --result \
    provide some. Looked-up context is unknown too, unless you name TASK and everything that it is looked up by is known. \
    An agent that depends on a file with errors is left out and listed, with exit code 1; --output and --check need them all. \
    A file is written completely or not at all.\n\n\
    `ctxc manifest @claude` shows where the tokens of the last call of a session go (also `@codex`, `@pi`, `@gemini`, or a file); `@claude#3` is its third call (in `compaction`, its third compaction)."
)]
pub(crate) struct ManifestArgs {
    #[command(subcommand)]
    pub(super) verb: Option<ManifestVerb>,
    /// A task's name, the file that contains it, an agent role, a recording (`@last`, `@NAME#3`, a file of requests), or a session of a coding agent [default: every role, and every task that no role plays]
    #[arg(value_name = "TASK|ROLE")]
    pub(super) subject: Option<String>,
    /// An agent role of the project, if a task has the same name
    #[arg(long, value_name = "NAME")]
    pub(super) role: Option<String>,
    #[command(flatten)]
    pub(super) given: GivenArgs,
    #[command(flatten)]
    pub(super) objective: ObjectiveArgs,
    #[command(flatten)]
    pub(super) history: HistoryArgs,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
    /// Format of the result [default: by the extension of the output file, else text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<ManifestFormat>,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) counting: CountingArgs,
    /// Also write the manifest to a file in this format (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_report::<ManifestFormat>)]
    pub(super) report: Vec<ReportFile<ManifestFormat>>,
    /// Write to a file, completely or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write nothing: exit with 1 if the manifest of --output (JSON) is out of date, and print the
    /// changes [default: context-manifest.json]
    #[arg(long, conflicts_with_all = ["format", "json", "report"])]
    pub(super) check: bool,
}

impl ManifestArgs {
    /// Returns the part of a workspace that the command line is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        if self.verb.is_some() || self.subject.is_some() || self.role.is_some() {
            return WorkspaceReach::Folder;
        }
        let format = output_format(self);
        let output = self.output.as_deref();
        let reports = self.report.iter().map(|report| &*report.path);
        let form = PrintedForm::new(format, output);
        WorkspaceReach::members(
            form,
            reports.chain(output.filter(|path| path.is_absolute())),
        )
    }
}

/// Further operations on manifests.
#[derive(Debug, Subcommand)]
pub(super) enum ManifestVerb {
    Diff(super::diff::DiffArgs),
}

/// Formats of a manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ManifestFormat {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// Tables, for pull requests
    Markdown,
    /// One self-contained page
    Html,
}

impl OutputFormat for ManifestFormat {
    fn file_mark(self) -> Option<FileMark> {
        (self != Self::Text).then_some(FileMark {
            artifact: "manifest",
            text: MANIFEST_SCHEMA,
        })
    }
}

impl ManifestFormat {
    /// Returns the format for the extension of a file.
    pub(super) fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "json" => Some(Self::Json),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Returns the requested format, or the one for the extension of the output file.
pub(super) fn output_format(args: &ManifestArgs) -> ManifestFormat {
    let format = if args.json {
        Some(ManifestFormat::Json)
    } else {
        args.format
    };
    format
        .or_else(|| ManifestFormat::from_path(args.output.as_ref()?))
        .unwrap_or_default()
}
