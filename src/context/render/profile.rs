//! The format of segments: a heading or tag before, fences around untrusted text, a separator
//! after.
//!
//! A frame depends on its segment alone, so that omitting one changes no other.

use crate::context::fence_marker::{FenceMarks, escape_attribute, without_controls};
use crate::kernel::context::{Kind, Segment, Trust};
pub use crate::kernel::profile::Profile;

/// The text before and after a segment's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentFrame {
    /// The text before it.
    pub head: String,
    /// The text after it.
    pub tail: String,
}

/// Returns the name for a segment's heading; empty for untrusted files and context, whose names
/// stand only in their fence, because a heading reads as the author's text.
fn heading_name(segment: &Segment) -> &str {
    let is_foreign = segment.trust == Trust::Untrusted
        && matches!(segment.kind, Kind::File | Kind::Inherited | Kind::Fresh);
    if is_foreign { "" } else { &segment.title }
}

/// Returns the title of a segment's heading.
fn heading_title(segment: &Segment) -> String {
    let name = heading_name(segment);
    let of = |words: &str| {
        if name.is_empty() {
            words.to_owned()
        } else {
            [words, ": ", name].concat()
        }
    };
    match segment.kind {
        Kind::Tools | Kind::System => String::new(),
        Kind::Description => "Task".to_owned(),
        Kind::Instructions => "Instructions".to_owned(),
        Kind::Criteria => "Criteria".to_owned(),
        Kind::OutputFormat => "Output format".to_owned(),
        Kind::Constraints => "Constraints".to_owned(),
        Kind::Input => of("Input"),
        Kind::PreviousOutput => "Previous output".to_owned(),
        Kind::Accumulated => of("Earlier step"),
        Kind::File => of("File"),
        Kind::Inherited => of("From the parent"),
        Kind::Fresh => of("Looked up"),
        Kind::Examples => "Examples".to_owned(),
        Kind::History => "Conversation".to_owned(),
        Kind::FailureHistory => "Earlier attempts".to_owned(),
        Kind::Custom(kind) => of(kind.title),
    }
}

/// Returns the frame of a segment.
pub fn segment_frame(profile: Profile, segment: &Segment, marks: &FenceMarks) -> SegmentFrame {
    let mut frame = match profile {
        Profile::Markdown => markdown_frame(segment),
        Profile::Xml => xml_frame(segment),
        Profile::Plain => heading_frame(segment, "", ":\n"),
        Profile::Sections => heading_frame(segment, "## ", "\n\n"),
        Profile::Bare => SegmentFrame::default(),
    };
    if segment.trust == Trust::Untrusted {
        let name = if segment.title.is_empty() {
            segment.kind.as_str()
        } else {
            &segment.title
        };
        let (open, close) = marks.fence(name, segment.text.text());
        frame.head.push_str(&open);
        frame.tail.insert_str(0, &close);
    }
    frame
}

fn heading_frame(segment: &Segment, before: &str, after: &str) -> SegmentFrame {
    let title = heading_title(segment);
    let head = if title.is_empty() {
        String::new()
    } else {
        [before, &without_controls(&title), after].concat()
    };
    SegmentFrame {
        head,
        tail: String::new(),
    }
}

fn markdown_frame(segment: &Segment) -> SegmentFrame {
    let mut frame = heading_frame(segment, "## ", "\n\n");
    if segment.kind == Kind::File && segment.trust == Trust::Trusted {
        let fence = "`".repeat(longest_run(segment.text.text()).max(2) + 1);
        frame.head.push_str(&fence);
        frame.head.push_str(info_string(&segment.title));
        frame.head.push('\n');
        let text = segment.text.text();
        frame.tail = [if text.ends_with('\n') { "" } else { "\n" }, &fence].concat();
    }
    frame
}

fn xml_frame(segment: &Segment) -> SegmentFrame {
    if matches!(segment.kind, Kind::Tools | Kind::System) {
        return SegmentFrame::default();
    }
    let tag = segment.kind.as_str();
    let name = if heading_name(segment).is_empty() {
        String::new()
    } else {
        format!(" name=\"{}\"", escape_attribute(heading_name(segment)))
    };
    SegmentFrame {
        head: format!("<{tag}{name}>\n"),
        tail: format!("\n</{tag}>"),
    }
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Returns the info string of a code fence: the file's extension if it is alphanumeric.
fn info_string(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or("");
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if ending.len() <= 12 && ending.chars().all(|c| c.is_ascii_alphanumeric()) {
        ending
    } else {
        ""
    }
}
