//! The flags that several verbs share, as written; nothing is decided here. [`super::options`]
//! resolves the flags that every verb takes.

use super::render::screen::ColorChoice;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options of every verb.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag as it is written"
)]
pub(crate) struct GlobalArgs {
    /// Project folder, the one with ctxc.toml [default: the nearest folder upwards that has one]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) project: Option<PathBuf>,
    /// Project of a workspace, by its path below the root or the last part of it [default at the root: all, for check, build, eval, gate and manifest]
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) member: Option<String>,
    /// When to colour the output
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorChoice,
    /// Print only findings and results
    #[arg(short, long, conflicts_with = "verbose", global = true)]
    pub(crate) quiet: bool,
    /// Print more: findings of every severity, and the origin of each value
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads, global = true)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Write files even if they contain a secret: a value of the project's .env, or a
    /// random-looking value beside a name such as `apiKey`
    #[arg(long, global = true)]
    pub(crate) allow_secrets: bool,
    /// Fail if the packages or `[dependencies]` differ from ctxc.lock
    #[arg(long, global = true)]
    pub(crate) locked: bool,
}

/// Formats of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingFormat {
    /// For people: the lines, the reasons, possible fixes
    #[default]
    Full,
    /// One line per finding
    Concise,
    /// One document
    Json,
    /// One finding per line, totals last
    Jsonl,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// One test case per file, in the XML format of `JUnit`
    Junit,
    /// The XML format of Checkstyle
    Checkstyle,
    /// The diagnostic format of reviewdog
    Rdjson,
}

impl FindingFormat {
    /// Returns true if the format is for people. All other formats are complete; nothing else is
    /// printed beside them.
    pub(crate) const fn is_for_people(self) -> bool {
        matches!(self, Self::Full | Self::Concise)
    }
}

/// A format that a result can be written in.
pub(crate) trait OutputFormat:
    ValueEnum + Copy + Default + PartialEq + Send + Sync + 'static
{
    /// The name of the default format.
    const DEFAULT: &'static str = "text";

    /// Returns the mark that identifies a file in this format; `None` for a text for people.
    fn file_mark(self) -> Option<FileMark> {
        (self != Self::default()).then_some(FileMark {
            artifact: "result of ctxc",
            text: "\"ctxc/",
        })
    }
}

/// The mark of a file that may be overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileMark {
    /// The kind of such a file, for messages.
    pub(crate) artifact: &'static str,
    /// A text near the head of such a file.
    pub(crate) text: &'static str,
}

impl OutputFormat for FindingFormat {
    const DEFAULT: &'static str = "full";

    fn file_mark(self) -> Option<FileMark> {
        let text = match self {
            Self::Full | Self::Concise => return None,
            Self::Json => "\"ctxc/diagnostics/",
            Self::Jsonl => "{\"",
            Self::Sarif => "sarif",
            Self::Github => "::",
            Self::Gitlab => "[",
            Self::Junit => "<testsuites",
            Self::Checkstyle => "<checkstyle",
            Self::Rdjson => "\"diagnostics\"",
        };
        Some(FileMark {
            artifact: "report in this format",
            text,
        })
    }
}

/// Formats of everything but findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
}

impl OutputFormat for DataFormat {}

/// Formats for a pull request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommentFormat {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
    /// For a comment on a pull request
    Markdown,
}

impl OutputFormat for CommentFormat {
    fn file_mark(self) -> Option<FileMark> {
        let text = if self == Self::Json {
            "\"ctxc/"
        } else {
            "<!-- ctxc/"
        };
        (self != Self::Text).then_some(FileMark {
            artifact: "result of ctxc",
            text,
        })
    }
}

/// A result in one more format, and the file that it is written to.
#[derive(Clone, Debug)]
pub(crate) struct ReportFile<F> {
    pub(crate) format: F,
    pub(crate) path: PathBuf,
}

/// The formats in which a result is written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FormatArgs<F: OutputFormat> {
    /// Format of the result
    // Not `default_value_t`: it computes its default once and shares it between all `F`.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = F::DEFAULT)]
    format: F,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Also write the result to a file in this format (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = parse_report::<F>)]
    report: Vec<ReportFile<F>>,
}

impl<F: OutputFormat> FormatArgs<F> {
    /// Returns the format of the result.
    pub(crate) fn result_format(&self) -> F {
        F::from_str("json", false)
            .ok()
            .filter(|_| self.json)
            .unwrap_or(self.format)
    }

    /// Returns every format that is written: that of the result and those of the reports.
    pub(crate) fn formats(&self) -> impl Iterator<Item = F> {
        std::iter::once(self.result_format()).chain(self.report.iter().map(|report| report.format))
    }

    /// Returns the files that are written beside the result.
    pub(crate) fn reports(&self) -> &[ReportFile<F>] {
        &self.report
    }
}

/// The formats in which a result is written, and its file.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OutputArgs<F: OutputFormat> {
    #[command(flatten)]
    pub(crate) format: FormatArgs<F>,
    /// Write the result to a file, completely or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(parse_output::<F>))]
    pub(crate) output: Option<PathBuf>,
}

/// The files to process.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PathArgs {
    /// Files and folders, `-` for standard input [default: the project's templates, else templates/, else this folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Name of standard input in findings
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub(crate) stdin_path: String,
    /// Do not fail if there is nothing to check
    #[arg(long)]
    pub(crate) allow_empty: bool,
}

/// Limits on input; every template written by hand stays within the defaults.
#[derive(Clone, Debug, Default, Args)]
#[allow(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Limits on input")]
pub(crate) struct LimitArgs {
    /// Levels of nested elements [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512), hide_short_help = true)]
    pub(crate) max_depth: Option<u32>,
    /// Attributes of one element [default: 256]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) max_attributes: Option<u32>,
    /// Namespace bindings in scope [default: 128]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) max_namespaces: Option<u32>,
    /// Size of a file [default: 10M]
    #[arg(long, value_name = "BYTES", value_parser = parse_size, hide_short_help = true)]
    pub(crate) max_file_size: Option<u64>,
    /// Size of one text or attribute value [default: 10000000]
    #[arg(long, value_name = "BYTES", value_parser = parse_size, hide_short_help = true)]
    pub(crate) max_text_size: Option<u64>,
    /// Bytes of a name [default: 1000]
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub(crate) max_name: Option<u32>,
    /// Nodes of one document [default: 1000000]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) max_nodes: Option<u32>,
    /// Findings in one file [default: 10000]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub(crate) max_diagnostics: Option<u32>,
}

impl<F: OutputFormat> OutputArgs<F> {
    /// True if a result is written to a file that the command line names.
    pub(crate) fn names_file(&self) -> bool {
        self.output.is_some() || !self.format.report.is_empty()
    }

    /// Adds reports.
    #[must_use]
    pub(crate) fn with_reports(mut self, reports: impl Iterator<Item = ReportFile<F>>) -> Self {
        self.format.report.extend(reports);
        self
    }
}

/// Parses `FORMAT=FILE`, such as `junit=report.xml`.
pub(crate) fn parse_report<F: OutputFormat>(text: &str) -> Result<ReportFile<F>, String> {
    let names = || {
        F::value_variants()
            .iter()
            .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
    };
    let Some((name, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err("expected FORMAT=FILE, such as json=report.json".into());
    };
    let format = F::from_str(name, false).map_err(|_| {
        format!(
            "`{name}` is not a format; expected one of {}",
            names().collect::<Vec<_>>().join(", ")
        )
    })?;
    Ok(ReportFile {
        format,
        path: path.into(),
    })
}

/// Parses the file of `-o`. Rejects the name of a format, which other programs accept there.
fn parse_output<F: OutputFormat>(path: PathBuf) -> Result<PathBuf, String> {
    match path
        .to_str()
        .filter(|name| F::from_str(name, false).is_ok())
    {
        Some(name) => Err(format!(
            "`{name}` is a format, and -o names a file; write `--format {name}`, or `-o ./{name}` for a file of that name"
        )),
        None => Ok(path),
    }
}

/// Parses a number of tokens, such as `8000`, `8k` or `1M`, in powers of 1,000.
pub(crate) fn parse_tokens(text: &str) -> Result<usize, String> {
    const WANTED: &str = "expected a number of tokens, such as 8000 or 8k";
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text
            .strip_suffix('M')
            .map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let number: usize = digits.replace('_', "").parse().map_err(|_| WANTED)?;
    number.checked_mul(unit).ok_or_else(|| WANTED.to_owned())
}

pub(crate) fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a number, 1 or more".into())
}

/// Parses a number of bytes, such as `4096`, `64K`, `10M` or `1G`, in powers of 1,024.
fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let shift = match unit
        .trim()
        .to_ascii_lowercase()
        .trim_end_matches("ib")
        .trim_end_matches('b')
    {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err("expected a number of bytes, or one with K, M or G, such as 64M".into()),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number of bytes, or one with K, M or G, such as 64M")?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "that is more bytes than can be counted".into())
}

#[cfg(test)]
#[path = "../../tests/unit/cli/shared_args.rs"]
mod tests;
