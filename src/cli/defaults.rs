//! `ctxc defaults`: the operator table as it holds in this project.

use super::args::{DataFormat, DataFormatArgs};
use super::cx::Cx;
use super::error::Result;
use super::exit::Exit;
use super::origin;
use super::project::Project;
use super::render::screen::Paint;
use crate::schema::json::names;
use crate::settings::explain::View;
use crate::template::setting::{SettingName, Word};
use clap::Args;
use serde::Serialize;
use std::fmt::Write as _;

/// Show the default settings of every type, with what this project changes
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc defaults\n  ctxc defaults --format json")]
pub(crate) struct DefaultsArgs {
    #[command(flatten)]
    format: DataFormatArgs,
}

#[derive(Serialize)]
struct Document<'r> {
    schema: &'static str,
    rows: Vec<Row<'r>>,
}

#[derive(Serialize)]
struct Row<'r> {
    operator: &'r str,
    subtype: Option<&'r str>,
    settings: View<'r>,
}

/// Prints the table.
pub(crate) fn run(args: &DefaultsArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.sound()?;
    let layers = &project.config.layers;
    match args.format.resolve() {
        DataFormat::Json => {
            let rows = layers.rows().map(|(_, row)| Row {
                operator: row.operator(),
                subtype: row.subtype().map(|subtype| &**subtype),
                settings: View { resolved: row.defaults(), layers, path: "" },
            });
            cx.json(&Document { schema: names::DEFAULTS, rows: rows.collect() })?;
        }
        DataFormat::Text => text(&project, cx)?,
    }
    Ok(Exit::Success)
}

fn text(project: &Project, cx: &mut Cx) -> Result<()> {
    let layers = &project.config.layers;
    let screen = cx.options.screen;
    let widest = layers.rows().map(|(_, row)| row.name().len()).max().unwrap_or(0).max(4);
    let mut head = format!("{:<widest$}", "type");
    for name in SettingName::ALL {
        let _ = write!(head, "  {:<19}", name.word());
    }
    cx.line(&screen.paint(Paint::Strong, head.trim_end()))?;
    let mut sources = project.sources();
    let mut notes = Vec::new();
    for (_, row) in layers.rows() {
        let mut line = format!("{:<widest$}", row.name());
        let view = View { resolved: row.defaults(), layers, path: "" };
        for &name in SettingName::ALL {
            let setting = view.setting(name);
            let changed = setting.origin.path.is_some();
            let mark = if changed { "*" } else { "" };
            let _ = write!(line, "  {:<19}", format!("{}{mark}", setting.value.word()));
            if changed {
                let lost = origin::beaten(&setting, &mut sources);
                let why = origin::words(&setting.origin, &mut sources);
                notes.push(format!("{} {}: {}, {why}{lost}", row.name(), name.word(), setting.value.word()));
            }
        }
        cx.line(line.trim_end())?;
    }
    if !notes.is_empty() {
        cx.line("")?;
    }
    for note in notes {
        cx.line(&format!("* {note}"))?;
    }
    Ok(())
}
