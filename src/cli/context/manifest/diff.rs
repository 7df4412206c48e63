//! `ctxc manifest diff OLD NEW`: what two manifests or registries say differently, in tokens and in words.

use super::args::CountingArgs;
use super::run::of_registry;
use crate::base::fs;
use crate::cli::context::project::Inside;
use crate::cli::context::refused::refused;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::exit::Exit;
use crate::cli::project::root;
use crate::cli::render::escape::escape;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::{plural, thousands};
use crate::context::lines::Lines;
use crate::context::manifest::{Manifest, Moved, SCHEMA, difference};
use crate::registry::{self, Registry};
use crate::rules::input::read_fault::reason;
use clap::Args;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// Compare two manifests or registries: what each agent would receive, in tokens and in words
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc manifest diff registry.json registry.json\n  \
    git show main:context-manifest.json > before.json; ctxc manifest diff before.json context-manifest.json\n\n\
    A registry is assembled dry, with the files of this project; manifests are taken as they are.")]
pub(super) struct DiffArgs {
    /// The manifest or registry before
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The manifest or registry after
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[command(flatten)]
    counting: CountingArgs,
}

/// Larger than the manifest of any project.
const LIMIT: u64 = 4 << 30;
/// Where manifests come from.
const WHENCE: &str = "`ctxc manifest --output context-manifest.json` writes a manifest, `ctxc build` a registry";

/// Prints the difference.
pub(super) fn run(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    let root = root(&cx.options)?;
    let (old, new) = (either(&args.old, &root, &args.counting)?, either(&args.new, &root, &args.counting)?);
    print(&old, &new, cx)?;
    Ok(Exit::Success)
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match fs::read_into(path, LIMIT, &mut bytes) {
        Ok(_) => Ok(bytes),
        Err(err) => {
            let kind = if err.kind() == io::ErrorKind::NotFound { Kind::Usage } else { Kind::Infrastructure };
            Err(CliError::new(kind, format!("{} cannot be read: {}", path.display(), reason(&err))).hint(WHENCE))
        }
    }
}

/// What a file says that it is.
#[derive(Deserialize)]
struct Declared {
    schema: String,
}

/// Reads a manifest.
pub(super) fn manifest(path: &Path) -> Result<Manifest> {
    of_bytes(path, &bytes(path)?)
}

fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Manifest> {
    let shown = path.display();
    let other = |why: String| CliError::new(Kind::Infrastructure, format!("{shown} is no manifest: {why}")).hint(WHENCE);
    let declared: Declared = serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))?;
    if declared.schema != SCHEMA {
        let newer = declared.schema.starts_with("ctxc/manifest/");
        let error = other(format!("its schema is `{}`, expected `{SCHEMA}`", declared.schema));
        return Err(if newer { error.hint("a newer ctxc wrote it: use that one") } else { error });
    }
    serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))
}

/// A manifest, or that of a registry.
fn either(path: &Path, root: &Path, counting: &CountingArgs) -> Result<Manifest> {
    let bytes = bytes(path)?;
    let declared = serde_json::from_slice::<Declared>(&bytes).ok();
    if declared.is_none_or(|declared| declared.schema.starts_with("ctxc/manifest/")) {
        return of_bytes(path, &bytes);
    }
    let unusable =
        |err: registry::ReadError| CliError::new(Kind::Infrastructure, format!("{}: {err}", path.display())).hint(WHENCE);
    let registry = Registry::read(bytes).map_err(unusable)?;
    let files = Inside { root };
    of_registry(&registry, &files, counting, |faults| refused(&faults, &Lines::default()))
}

fn moved(moved: Moved) -> String {
    let Moved { from, to } = moved;
    if from == to {
        return thousands(to);
    }
    let (sign, by) = if to > from { ("+", to - from) } else { ("−", from - to) };
    let share = (by * 100 + from / 2).checked_div(from).map_or_else(String::new, |share| format!(", {sign}{share} %"));
    format!("{} → {} ({sign}{}{share})", thousands(from), thousands(to), thousands(by))
}

/// Prints what two manifests say differently.
pub(super) fn print(old: &Manifest, new: &Manifest, cx: &mut Cx) -> Result<()> {
    let difference = difference(old, new);
    if difference.is_empty() {
        let more = if old.registry_hash == new.registry_hash { "" } else { "; what changed reaches no agent" };
        return cx.line(&format!("every agent receives the same{more}"));
    }
    let screen = cx.options.screen;
    for (sign, agents) in [("+", &difference.added), ("-", &difference.removed)] {
        for (agent, tokens) in agents {
            let agent = screen.paint(Paint::Strong, &format!("{sign} {}", escape(agent)));
            cx.line(&format!("{agent}  {} tokens", thousands(*tokens)))?;
        }
    }
    for change in &difference.changed {
        let agent = screen.paint(Paint::Strong, &format!("~ {}", escape(&change.agent)));
        let prefix = if change.prefix.from == change.prefix.to {
            String::new()
        } else {
            format!("; reusable prefix {}", moved(change.prefix))
        };
        cx.hanging(&format!("{agent}  {} tokens{prefix}", moved(change.total)), 4)?;
        for word in &change.words {
            cx.hanging(&format!("    {}", escape(word)), 6)?;
        }
    }
    let count = |count: usize, what: &str| (count > 0).then(|| format!("{} {what}", plural(count, "agent")));
    let (added, removed) = (difference.added.len(), difference.removed.len());
    let parts = [count(added, "added"), count(removed, "removed"), count(difference.changed.len(), "changed")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    cx.line(&format!("{}; {} tokens known before a run", parts.join(", "), moved(difference.total)))
}
