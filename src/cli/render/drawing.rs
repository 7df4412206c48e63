//! Draws the source lines of a finding with marks under them, by miette. Draws no other part of the
//! finding.

use super::escape::escape_line;
use super::excerpt::Excerpt;
use super::screen::Screen;
use super::sources::FindingSource;
use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, SourceSpan};

/// Lines shown before and after a marked one.
const CONTEXT_LINES: u32 = 1;

/// The part of a diagnostic that miette requires to draw lines.
#[derive(Debug)]
struct SourceDrawing {
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
}

impl std::fmt::Display for SourceDrawing {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl std::error::Error for SourceDrawing {}

impl miette::Diagnostic for SourceDrawing {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Draws the lines around the marks of a source. Without a `name`, the first mark is the finding's
/// own.
pub(super) fn draw_marks(
    diagnostic: &Diagnostic,
    source: &FindingSource,
    marks: &[(Span, &str)],
    name: Option<&str>,
    screen: Screen,
) -> String {
    let spans: Vec<Span> = marks.iter().map(|(span, _)| *span).collect();
    let (mut excerpt, places) = Excerpt::new(
        &source.text,
        &source.index,
        &spans,
        CONTEXT_LINES,
        screen.width,
    );
    if let Some(name) = name {
        excerpt = excerpt.with_name(name);
    }
    let mut labels = Vec::new();
    let mut order: Vec<(SourceSpan, bool)> = Vec::new();
    for (at, (place, (_, text))) in places.iter().zip(marks).enumerate() {
        let primary = at == 0 && name.is_none();
        let text = (!text.is_empty()).then(|| escape_line(text).into_owned());
        labels.push(if primary {
            LabeledSpan::new_primary_with_span(text, *place)
        } else {
            LabeledSpan::new_with_span(text, *place)
        });
        order.push((*place, primary));
    }
    // miette colours marks by their order in the text.
    labels.sort_by_key(LabeledSpan::offset);
    order.sort_by_key(|(place, _)| place.offset());
    let theme = drawing_theme(diagnostic, &order, screen);
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_urls(false)
        .without_cause_chain()
        .without_syntax_highlighting()
        .with_wrap_lines(false)
        .with_context_lines(CONTEXT_LINES as usize);
    let mut drawn = String::new();
    // The first line is miette's own (empty) message.
    match handler.render_report(&mut drawn, &SourceDrawing { excerpt, labels }) {
        Ok(()) => drawn
            .lines()
            .skip(1)
            .flat_map(|line| [trim_frame(line, name), "\n"])
            .collect(),
        Err(_) => String::new(),
    }
}

/// Returns a drawn line without trailing space. For the finding's own file, the frame contains no
/// place, because the first line of the finding does.
fn trim_frame<'l>(line: &'l str, name: Option<&str>) -> &'l str {
    let opens = line.trim_start().starts_with(['╭', ',']);
    match line.split_once('[') {
        Some((corner, _)) if opens && name.is_none() => corner,
        _ => line.trim_end(),
    }
}

fn drawing_theme(
    diagnostic: &Diagnostic,
    order: &[(SourceSpan, bool)],
    screen: Screen,
) -> GraphicalTheme {
    use crate::base::rule_meta::Severity;
    let mut theme = match (screen.color, screen.unicode) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::ascii(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let first = match diagnostic.severity {
        Severity::Error => theme.styles.error,
        Severity::Warning => theme.styles.warning,
        Severity::Info | Severity::Hint => theme.styles.advice,
    };
    let other = theme.styles.help;
    theme.styles.highlights = order
        .iter()
        .map(|(_, primary)| if *primary { first } else { other })
        .collect();
    if theme.styles.highlights.is_empty() {
        theme.styles.highlights.push(first);
    }
    theme
}
