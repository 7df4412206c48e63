//! The refactoring that is offered for selected words: a fragment that other texts can use as well.

use crate::base::fix::Edit;
use crate::lsp::prelude::*;
use crate::syntax::tree::Element;
use crate::syntax::write::insert_first_child;
use crate::template::elements::Kind;
use crate::template::names::DefinitionKind;

/// What a text may say about how it is read: its words mean something else in a fragment then.
const READ_OTHERWISE: [&str; 5] = ["src", "syntax", "verbatim", "trust", "xml:space"];

/// A fragment made of selected words.
pub(super) struct Extraction {
    pub(super) title: String,
    /// What changes in the file itself.
    pub(super) edits: Vec<Edit>,
    /// The file that holds the fragment, where this one holds a single definition: its name, and what is in it.
    pub(super) creates: Option<(String, String)>,
}

/// The fragment that the selected words of a text would be; `None` where the agent would read anything else afterwards.
pub(super) fn extract(project: &ProjectState, name: &Arc<str>, text: &str, selected: Span) -> Option<Extraction> {
    let words = selected.slice(text);
    let start = selected.start + (words.len() - words.trim_start().len()) as u32;
    let trimmed = Span::new(start, start + words.trim().len() as u32);
    if trimmed.is_empty() || !project.is_xml(name) {
        return None;
    }
    place::with(text, &project.config.limits, |document| {
        let element = document.element_at(trimmed.start)?;
        let inner = element.inner();
        let is_inside = inner.start <= trimmed.start && trimmed.end <= inner.end;
        let before = Span::new(inner.start, trimmed.start).slice(text);
        if !is_inside || !is_shareable(element) || !is_whole(before, trimmed.slice(text)) {
            return None;
        }
        // Several lines are indented alike in the fragment only where they are all that the text says.
        let is_all = inner.slice(text).trim() == trimmed.slice(text);
        let moved = if is_all { inner } else { trimmed };
        if !is_all && trimmed.slice(text).contains(['\n', '\r']) {
            return None;
        }
        let index = project.index();
        let is_taken = |own: &str| index.names(DefinitionKind::Fragment).any(|other| other == own);
        let own = (1..).map(|number| if number == 1 { "shared-text".to_owned() } else { format!("shared-text-{number}") });
        let own = own.into_iter().find(|own| !is_taken(own))?;
        let fragment = format!("<fragment name=\"{own}\">{}</fragment>", moved.slice(text));
        let mut edits = vec![Edit::replace(trimmed, format!("<use fragment=\"{own}\"/>"))];
        let root = document.root()?;
        let creates = if root.name() == Kind::Library.tag() {
            edits.insert(0, insert_first_child(root, &fragment));
            None
        } else {
            let folder = name.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
            Some((format!("{folder}{own}.xml"), format!("<library>\n  {fragment}\n</library>\n")))
        };
        Some(Extraction { title: format!("move the selected words into the fragment `{own}`"), edits, creates })
    })
}

/// Whether a text may use fragments, and is read as any other.
fn is_shareable(element: Element<'_>) -> bool {
    let may_use = place::kind(element).is_some_and(|kind| kind.is_text() && kind.child(Kind::Use.tag()).is_some());
    may_use && !element.is_damaged() && READ_OTHERWISE.iter().all(|name| element.attribute(name).is_none())
}

/// Whether words behind others are text, and cut no markup, reference or expression in two.
fn is_whole(before: &str, words: &str) -> bool {
    let closes = |text: &str| {
        let is_open = text.rfind('&').is_some_and(|sign| !text.get(sign..).unwrap_or("").contains(';'));
        text.matches("{{").count() == text.matches("}}").count() && !text.ends_with('{') && !is_open
    };
    // A comment or a section of characters may be open.
    let is_plain = !before.contains("<!") && !before.contains("<?") && !words.contains(['<', '>']) && !words.contains("{%");
    is_plain && closes(before) && closes(words)
}
