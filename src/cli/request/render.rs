//! `ctxc render @NAME#3`: prints a recorded request, segment by segment.

use super::load;
use crate::cli::args::Sign;
use crate::cli::prelude::*;
use crate::cli::render::escape::escape_lines;
use crate::eval::request::facts::facts;

/// Prints a request, or writes it to a file: as segments, or the body alone.
pub(crate) fn run(subject: &str, is_raw: bool, output: Option<&Path>, cx: &mut Cx) -> Result<()> {
    let project = Project::load(&cx.options)?;
    let loaded = load::one(subject, &project.root)?;
    if is_raw {
        return cx.write(
            output,
            Some(Sign {
                artifact: "request body",
                text: "{",
            }),
            |cx| cx.json(&loaded.request.body),
        );
    }
    let counter = facts(&loaded.request, &project.config.models).counter;
    cx.write(output, None, |cx| {
        for segment in &loaded.segments {
            let speaker = segment.speaker.map_or("", |speaker| speaker.word());
            let who = if speaker.is_empty() {
                String::new()
            } else {
                format!(", {speaker}")
            };
            let head = format!(
                "── {}{who}, {}",
                escape(&segment.id),
                count(segment.tokens(&*counter))
            );
            let head = cx.options.screen.paint(Paint::Strong, &head);
            cx.line(&head)?;
            cx.line(&escape_lines(&segment.text))?;
        }
        Ok(())
    })
}

fn count(tokens: usize) -> String {
    if tokens < 1000 {
        plural(tokens, "token")
    } else {
        format!("{} tokens", thousands(tokens))
    }
}
