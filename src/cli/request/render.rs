//! `ctxc render @NAME#3`: prints a recorded request, segment by segment.

use super::load;
use crate::cli::prelude::*;
use crate::cli::render::escape::escape_lines;
use crate::cli::shared_args::FileMark;
use crate::eval::request::examined_request::model_facts;

/// Prints a request, or writes it to a file: as segments, or the body alone.
pub(crate) fn render_request(
    subject: &str,
    is_raw: bool,
    output: Option<&Path>,
    cx: &mut Cx,
) -> Result<()> {
    let project = Project::load(&cx.options)?;
    let loaded = load::load_single(subject, &project.root)?;
    if is_raw {
        return cx.write_to(
            output,
            Some(FileMark {
                artifact: "request body",
                text: "{",
            }),
            |cx| cx.print_json(&loaded.request.body),
        );
    }
    let counter = model_facts(&loaded.request, &project.config.models).counter;
    cx.write_to(output, None, |cx| {
        for segment in &loaded.segments {
            let speaker = segment.speaker.map_or("", |speaker| speaker.word());
            let who = if speaker.is_empty() {
                String::new()
            } else {
                format!(", {speaker}")
            };
            let head = format!(
                "── {}{who}, {}",
                escape_line(&segment.id),
                token_count(segment.tokens(&*counter))
            );
            let head = cx.options.screen.paint(Paint::Strong, &head);
            cx.print_line(&head)?;
            cx.print_line(&escape_lines(&segment.text))?;
        }
        Ok(())
    })
}

fn token_count(tokens: usize) -> String {
    if tokens < 1000 {
        pluralize(tokens, "token")
    } else {
        format!("{} tokens", format_thousands(tokens))
    }
}
