//! The command line of `ctxc import`.

use crate::cli::args::FormatArgs;
use crate::cli::prelude::*;
use crate::import::{EngineOptions, FORMATS, PromptFormat};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc import legacy\n  ctxc import legacy/reply.j2 --dry-run\n  \
    ctxc import legacy --force --trim-blocks --lstrip-blocks\n  ctxc import --verify samples.jsonl\n\n\
    Your prompts are read and never changed. A text stays in its file (`src`) if possible; if it must be rewritten, it is copied \
    into the template, and the reason is reported. Anything that cannot be converted is reported with its file and line, \
    and gives no template. Existing files are only overwritten with --force.\n\n\
    A sample line: {\"template\": \"reply\", \"inputs\": {…}, \"expected\": \"the text\"}; `expected` may be a list of \
    {\"role\", \"content\"}, or the body of a whole request. docs/IMPORT.md has the rest.\n\n\
    Exit codes: 0 all converted and equal, 1 a prompt was not converted or a sample differs, 2 wrong usage or project \
    file, 3 a file cannot be written, 5 no prompt found."
)]
pub(crate) struct ImportArgs {
    /// Files and folders with prompts; with --verify and no path: the templates of the project as they are
    #[arg(value_name = "PATH", required_unless_present = "verify")]
    pub(super) paths: Vec<PathBuf>,
    /// Folder for the templates [default: the project's first folder of templates, else templates/]
    #[arg(short, long, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,
    /// Format of the named files, whatever their extensions say
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(super) from: Option<&'static PromptFormat>,
    /// Overwrite existing templates
    #[arg(long)]
    pub(super) force: bool,
    /// Report the files that would be written, and write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Render samples and compare them byte for byte with the expected text; one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) verify: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: FormatArgs<DataFormat>,
    #[command(flatten)]
    pub(super) engine: EngineArgs,
}

/// The options of the engine that rendered the prompts so far.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "How your Jinja environment is set up")]
pub(super) struct EngineArgs {
    /// Remove the line break after a statement
    #[arg(long)]
    trim_blocks: bool,
    /// Remove blanks before a statement at the start of a line
    #[arg(long)]
    lstrip_blocks: bool,
    /// Keep the last line break of a file
    #[arg(long)]
    keep_trailing_newline: bool,
}

impl EngineArgs {
    /// Returns the options of the template engine.
    pub(super) const fn engine_options(self) -> EngineOptions {
        let Self {
            trim_blocks,
            lstrip_blocks,
            keep_trailing_newline,
        } = self;
        EngineOptions {
            trim_blocks,
            lstrip_blocks,
            keep_trailing_newline,
        }
    }
}

/// Parses the name of a format.
fn format_parser() -> impl TypedValueParser<Value = &'static PromptFormat> {
    let words = FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.help));
    PossibleValuesParser::new(words).try_map(|word| {
        FORMATS
            .iter()
            .copied()
            .find(|format| format.name == word)
            .ok_or("no format")
    })
}
