//! A part laid out: what an editor asks for.

use super::generate::template;
use ctxc::internals::base::fix;
use ctxc::internals::base::span::Span;
use ctxc::internals::format::{Broken, Options, format, format_range};
use ctxc::internals::syntax::Limits;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

fn in_range(text: &str, span: Span) -> String {
    let edits = format_range(text, &Limits::default(), span, Options::default()).unwrap();
    for edit in &edits {
        assert_ne!(edit.span.slice(text), edit.insert, "an edit that changes nothing");
    }
    fix::apply(text, &edits).expect("the edits fit")
}

/// Formats what stands between two marks.
fn marked(text: &str) -> String {
    let (before, rest) = text.split_once('«').unwrap();
    let (inside, after) = rest.split_once('»').unwrap();
    let span = Span::of(before.len(), before.len() + inside.len());
    in_range(&format!("{before}{inside}{after}"), span)
}

#[test]
fn only_what_is_touched_is_laid_out() {
    let text = "<task  name='t'>\n <description  >d</description>\n    <mod«el > small</»model>\n <inputs><input name='a'/></inputs>\n</task>";
    assert_eq!(
        marked(text),
        "<task  name='t'>\n <description  >d</description>\n  <model>small</model>\n <inputs><input name='a'/></inputs>\n</task>"
    );
    let two =
        "<task>\n <description  >«d</description>\n    <model > small</mod»el>\n <inputs><input name='a'/></inputs>\n</task>";
    assert_eq!(
        marked(two),
        "<task>\n  <description>d</description>\n  <model>small</model>\n <inputs><input name='a'/></inputs>\n</task>"
    );
    // Settings in another order are one piece.
    let settings = "<task>\n <context_management>\n  <fresh_context>«enabled</fresh_context>\n <inherit_context>no»ne</inherit_context></context_management>\n  <model > small</model>\n</task>";
    assert_eq!(
        marked(settings),
        "<task>\n  <context_management>\n    <inherit_context>none</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n  <model > small</model>\n</task>"
    );
    // Nothing to do, nothing done.
    let laid = "<task>\n  <model>sm«al»l</model>\n</task>\n";
    assert_eq!(marked(laid), laid.replace(['«', '»'], ""));
    // Whole lines are selected up to the start of the next one, which is not meant.
    let lines = "<task>\n«<model  >a</model>\n»<inputs><input name='a'/></inputs>\n</task>";
    assert_eq!(marked(lines), "<task>\n  <model>a</model>\n<inputs><input name='a'/></inputs>\n</task>");
    // A cursor at the edge of an element means it, one between two elements means nothing.
    let edge = "<task>\n<model  >a</model>«»\n\n\n</task>";
    assert_eq!(marked(edge), "<task>\n  <model>a</model>\n\n\n</task>");
    let between = "<task>\n<model  >a</model>\n«\n»\n<inputs  />\n</task>";
    assert_eq!(marked(between), between.replace(['«', '»'], ""));
    // What the formatter is kept from moves as a whole.
    let off = "<task>\n<?ctxc fmt off?>\n<model  >«a»</model><?ctxc fmt on?>\n<inputs  /></task>";
    assert_eq!(marked(off), "<task>\n  <?ctxc fmt off?>\n<model  >a</model><?ctxc fmt on?>\n<inputs  /></task>");
    // All of it.
    let all = "<task  name='t'><model/></task>";
    assert_eq!(in_range(all, Span::of(0, all.len())), "<task name=\"t\">\n  <model/>\n</task>\n");
}

#[test]
fn a_range_inside_of_a_tag_means_the_tag() {
    let start = "<task  nam«»e='t'>\n<model  >a</model></task>";
    assert_eq!(marked(start), "<task name=\"t\">\n<model  >a</model></task>");
    let first = "«»<task  name='t'>\n<model  >a</model></task>";
    assert_eq!(marked(first), marked(start));
    let end = "<task  name='t'>\n<model  >a</model></ta«s»k>";
    assert_eq!(marked(end), end.replace(['«', '»'], ""));
    let inner = "<task>\n <inputs>\n<in«pu»t  name='a' ><task><model  >m</model></task></input></inputs>\n</task>";
    assert_eq!(
        marked(inner),
        "<task>\n <inputs>\n    <input name=\"a\"><task><model  >m</model></task></input></inputs>\n</task>"
    );
    // What becomes a tag of another kind is one piece.
    let empty = "<task>\n<in«»puts ></inputs>\n</task>";
    assert_eq!(marked(empty), "<task>\n  <inputs/>\n</task>");
    // Where nothing stands there is nothing to do.
    let text = "<task  name='t'><model  /></task>";
    let length = text.len() as u32;
    for span in [Span::at(length), Span::new(length, length + 9), Span { start: 12, end: 3 }] {
        assert_eq!(in_range(text, span), text, "{span:?}");
    }
}

#[test]
fn a_part_of_a_broken_file_is_refused() {
    let text = "<task>\n<model  >a</model>\n<inputs>\n</task>";
    let part = format_range(text, &Limits::default(), Span::new(8, 12), Options::default());
    assert!(matches!(part, Err(Broken::Syntax(_))), "{part:?}");
    assert_eq!(format_range("<a/>", &Limits::default(), Span::new(0, 1), Options::default()), Err(Broken::Foreign));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A part laid out first changes nothing of what the whole is laid out to, and is stable itself.
    #[test]
    fn a_part_first_comes_to_the_same_as_the_whole(seed in any::<u64>(), from in 0usize..1000, length in 0usize..400) {
        let text = template(seed);
        let place = |share: usize| text.floor_char_boundary(text.len() * share.min(1000) / 1000);
        let span = Span::of(place(from), place(from + length));
        let part = in_range(&text, span);
        // Of several kinds of line breaks the last one decides, and it can lie in what the part loses.
        let whole = |text: &str| format(text, &Limits::default(), Options::default()).unwrap().replace("\r\n", "\n");
        prop_assert_eq!(whole(&part), whole(&text), "{:?} of\n{}\ngave\n{}", span, text, part);
    }
}
