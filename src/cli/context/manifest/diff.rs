//! `ctxc manifest diff OLD NEW`: what two manifests say differently, in tokens and in words.

use super::args::CountingArgs;
use super::side::Sides;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::exit::Exit;
use crate::cli::project::root;
use crate::cli::render::escape::escape;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::{plural, thousands};
use crate::context::manifest::{Manifest, Moved, difference};
use clap::Args;
use std::path::PathBuf;

/// Compare what each agent would receive: two manifests, registries, projects or git revisions
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc manifest diff main\n  ctxc manifest diff HEAD~2 HEAD\n  ctxc manifest diff main...\n  \
    ctxc manifest diff context-manifest.json .\n\n\
    One argument is compared with the project as it stands. A..B and A...B mean what git means by them: a side that is left\n\
    out is HEAD, and three dots begin where B left A. A file or folder that exists is taken before a revision of that name;\n\
    refs/heads/NAME is always the branch. A revision is compiled in memory: the work tree is not touched, nothing is fetched."
)]
pub(super) struct DiffArgs {
    /// Before: a manifest, a registry, a project's folder, or a git revision
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// After [default: the project as it stands]
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,
    #[command(flatten)]
    counting: CountingArgs,
}

/// Prints the difference.
pub(super) fn run(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    let root = root(&cx.options)?;
    let sides = Sides { root: &root, counting: &args.counting };
    let (old, new) = sides.both(&args.old, args.new.as_deref())?;
    print(&old.manifest, &new.manifest, cx)?;
    Ok(Exit::Success)
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
