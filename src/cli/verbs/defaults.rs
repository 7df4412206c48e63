//! `ctxc defaults`: the defaults of all types in this project.

use crate::cli::origin;
use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::settings::data::SettingsData;
use crate::settings::explain::SettingsView;
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
#[schemars(rename = "Document")]
pub(crate) struct DefaultsDocument<'r> {
    /// The version of the format.
    schema: &'static str,
    /// The types of the language, then those that the project declares.
    rows: Vec<DefaultsRow<'r>>,
}

/// One type with its settings.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Row")]
pub(crate) struct DefaultsRow<'r> {
    /// The name of the type.
    operator: &'r str,
    /// The subtype or part; null for the type itself.
    subtype: Option<&'r str>,
    /// The settings of a task of this type that sets none itself.
    #[schemars(with = "SettingsData")]
    settings: SettingsView<'r>,
}

/// Prints the table.
pub(crate) fn run_defaults(args: &DefaultsArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    project.require_project()?;
    let layers = &project.config.layers;
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => {
            let rows = layers.rows().map(|(_, row)| DefaultsRow {
                operator: row.operator(),
                subtype: row.subtype().map(|subtype| &**subtype),
                settings: SettingsView {
                    resolved: row.defaults(),
                    layers,
                    path: "",
                },
            });
            cx.print_json(&DefaultsDocument {
                schema: names::DEFAULTS,
                rows: rows.collect(),
            })
        }
        DataFormat::Text => print_table(&project, cx),
    })?;
    Ok(Exit::Success)
}

/// The layout of the table on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableLayout {
    /// Every column is as wide as the longest name of a setting.
    Wide,
    /// Columns are as narrow as the values allow, with names of settings in two lines.
    Narrow,
}

impl TableLayout {
    fn for_width(widest: usize, width: Option<usize>) -> Self {
        let needed: usize = widest
            + Self::Wide
                .column_widths()
                .map(|width| width + Self::Wide.column_gap())
                .sum::<usize>();
        if width.is_some_and(|width| width < needed) {
            Self::Narrow
        } else {
            Self::Wide
        }
    }

    /// Returns the number of spaces before a column.
    const fn column_gap(self) -> usize {
        match self {
            Self::Wide => 2,
            Self::Narrow => 1,
        }
    }

    /// Returns the widths of the columns: enough for the name, or the longer part of it, and for
    /// the longest value with a mark.
    fn column_widths(self) -> impl Iterator<Item = usize> {
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
    fn header_lines(self, widest: usize) -> Vec<String> {
        let parts = |name: &SettingName| {
            name.word()
                .split_once('_')
                .map_or((name.word(), ""), |parts| parts)
        };
        let mut heads = vec![format!("{:<widest$}", "type")];
        if self == Self::Narrow {
            heads.push(" ".repeat(widest));
        }
        for (name, width) in SettingName::ALL.iter().zip(self.column_widths()) {
            let (first, second) = parts(name);
            let texts = if self == Self::Wide {
                vec![name.word().to_owned()]
            } else {
                vec![format!("{first}_"), second.to_owned()]
            };
            for (head, text) in heads.iter_mut().zip(texts) {
                let _ = write!(head, "{:gap$}{text:<width$}", "", gap = self.column_gap());
            }
        }
        heads
    }
}

fn print_table(project: &Project, cx: &mut Cx) -> Result<()> {
    let layers = &project.config.layers;
    let screen = cx.options.screen;
    let widest = layers
        .rows()
        .map(|(_, row)| row.name().len())
        .max()
        .unwrap_or(0)
        .max(4);
    let columns = TableLayout::for_width(widest, screen.width);
    for line in columns.header_lines(widest) {
        cx.print_line(&screen.paint(Paint::Strong, line.trim_end()))?;
    }
    let mut sources = project.sources();
    let mut notes = Vec::new();
    for (_, row) in layers.rows() {
        let mut line = format!("{:<widest$}", row.name());
        let view = SettingsView {
            resolved: row.defaults(),
            layers,
            path: "",
        };
        for (&name, width) in SettingName::ALL.iter().zip(columns.column_widths()) {
            let setting = view.setting_data(name);
            let changed = setting.origin.path.is_some();
            let mark = if changed { "*" } else { "" };
            let value = format!("{}{mark}", setting.value.as_str());
            let _ = write!(
                line,
                "{:gap$}{value:<width$}",
                "",
                gap = columns.column_gap()
            );
            if changed {
                let lost = origin::describe_overridden(&setting, &mut sources);
                let why = origin::describe_origin(&setting.origin, &mut sources);
                notes.push(format!(
                    "{} {}: {}, {why}{lost}",
                    row.name(),
                    name.word(),
                    setting.value.as_str()
                ));
            }
        }
        cx.print_line(line.trim_end())?;
    }
    if !notes.is_empty() {
        cx.print_line("")?;
    }
    for note in notes {
        cx.print_hanging(&format!("* {note}"), 2)?;
    }
    Ok(())
}
