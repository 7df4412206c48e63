//! `--mutate`: the changes that no scenario would notice, and for each agent how many of those tried were noticed.

use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::plural;
use crate::eval::mutate::{Score, Scores};

/// Prints what nobody would notice.
pub(super) fn print(found: &Scores, cx: &mut Cx) -> Result<()> {
    for score in &found.scores {
        let Score { subject, node, asked, tried, unnoticed } = score;
        let noticed = tried - unnoticed.len();
        let place = if node == "/" { subject.clone() } else { format!("{subject}{node}") };
        let share = (noticed * 100).checked_div(*tried).unwrap_or(0);
        let title = cx.options.screen.paint(Paint::Strong, &escape(&place));
        let by = plural(*asked, "scenario");
        cx.line(&format!("{title}  {noticed} of {} noticed by {by} ({share} %)", plural(*tried, "change")))?;
        for change in unnoticed {
            cx.line(&format!("  nobody notices: {}", escape(&change.words())))?;
        }
    }
    if found.scores.is_empty() {
        cx.line("no scenario passes, so none can notice a change")?;
    }
    for name in &found.failing {
        cx.line(&format!("not asked: `{}` does not pass as it is; `ctxc eval` says why", escape(name)))?;
    }
    Ok(())
}
