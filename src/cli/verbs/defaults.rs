//! `ctxc defaults`: the defaults of all types in this project.

use crate::cli::origin;
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::settings::data::SettingsData;
use crate::settings::explain::View;
use crate::template::setting::{SettingName, Word};
use std::fmt::Write as _;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc defaults\n  ctxc defaults --format json")]
pub(crate) struct DefaultsArgs {
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// The default settings of every type, as they hold in a project: `ctxc defaults --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Document<'r> {
    /// The format.
    schema: &'static str,
    /// The types of the language, then those that the project declares.
    rows: Vec<Row<'r>>,
}

/// One type with its settings.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Row<'r> {
    /// The name of the type.
    operator: &'r str,
    /// The subtype or part; null for the type itself.
    subtype: Option<&'r str>,
    /// What a task of this type gets that writes nothing itself.
    #[schemars(with = "SettingsData")]
    settings: View<'r>,
}

/// Prints the table.
pub(crate) fn run(args: &DefaultsArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.without_errors()?;
    let layers = &project.config.layers;
    cx.emit(&args.output, |format, cx| match format {
        DataFormat::Json => {
            let rows = layers.rows().map(|(_, row)| Row {
                operator: row.operator(),
                subtype: row.subtype().map(|subtype| &**subtype),
                settings: View {
                    resolved: row.defaults(),
                    layers,
                    path: "",
                },
            });
            cx.json(&Document {
                schema: names::DEFAULTS,
                rows: rows.collect(),
            })
        }
        DataFormat::Text => text(&project, cx),
    })?;
    Ok(Exit::Success)
}

/// The layout of the table on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    /// Every column is as wide as the longest name of a setting.
    Wide,
    /// Columns are as narrow as the values allow, with names of settings in two lines.
    Narrow,
}

impl Columns {
    fn of(widest: usize, width: Option<usize>) -> Self {
        let needed: usize = widest
            + Self::Wide
                .widths()
                .map(|width| width + Self::Wide.gap())
                .sum::<usize>();
        if width.is_some_and(|width| width < needed) {
            Self::Narrow
        } else {
            Self::Wide
        }
    }

    /// Returns the number of spaces before a column.
    const fn gap(self) -> usize {
        match self {
            Self::Wide => 2,
            Self::Narrow => 1,
        }
    }

    /// Returns the widths of the columns: enough for the name, or the longer part of it, and for
    /// the longest value with a mark.
    fn widths(self) -> impl Iterator<Item = usize> {
        SettingName::ALL
            .iter()
            .map(move |name| match (self, name.word().split_once('_')) {
                (Self::Narrow, Some((first, second))) => {
                    (first.len() + 1).max(second.len()).max("disabled*".len())
                }
                (Self::Wide | Self::Narrow, _) => "accumulation_format".len(),
            })
    }

    /// Returns the header: the names of the settings in one line, or split after their first word
    /// in two.
    fn heads(self, widest: usize) -> Vec<String> {
        let parts = |name: &SettingName| {
            name.word()
                .split_once('_')
                .map_or((name.word(), ""), |parts| parts)
        };
        let mut heads = vec![format!("{:<widest$}", "type")];
        if self == Self::Narrow {
            heads.push(" ".repeat(widest));
        }
        for (name, width) in SettingName::ALL.iter().zip(self.widths()) {
            let (first, second) = parts(name);
            let texts = if self == Self::Wide {
                vec![name.word().to_owned()]
            } else {
                vec![format!("{first}_"), second.to_owned()]
            };
            for (head, text) in heads.iter_mut().zip(texts) {
                let _ = write!(head, "{:gap$}{text:<width$}", "", gap = self.gap());
            }
        }
        heads
    }
}

fn text(project: &Project, cx: &mut Cx) -> Result<()> {
    let layers = &project.config.layers;
    let screen = cx.options.screen;
    let widest = layers
        .rows()
        .map(|(_, row)| row.name().len())
        .max()
        .unwrap_or(0)
        .max(4);
    let columns = Columns::of(widest, screen.width);
    for line in columns.heads(widest) {
        cx.line(&screen.paint(Paint::Strong, line.trim_end()))?;
    }
    let mut sources = project.sources();
    let mut notes = Vec::new();
    for (_, row) in layers.rows() {
        let mut line = format!("{:<widest$}", row.name());
        let view = View {
            resolved: row.defaults(),
            layers,
            path: "",
        };
        for (&name, width) in SettingName::ALL.iter().zip(columns.widths()) {
            let setting = view.setting(name);
            let changed = setting.origin.path.is_some();
            let mark = if changed { "*" } else { "" };
            let value = format!("{}{mark}", setting.value.word());
            let _ = write!(line, "{:gap$}{value:<width$}", "", gap = columns.gap());
            if changed {
                let lost = origin::beaten(&setting, &mut sources);
                let why = origin::words(&setting.origin, &mut sources);
                notes.push(format!(
                    "{} {}: {}, {why}{lost}",
                    row.name(),
                    name.word(),
                    setting.value.word()
                ));
            }
        }
        cx.line(line.trim_end())?;
    }
    if !notes.is_empty() {
        cx.line("")?;
    }
    for note in notes {
        cx.hanging(&format!("* {note}"), 2)?;
    }
    Ok(())
}
