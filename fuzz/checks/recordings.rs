//! Any text is a recording: lines of ctxc, a VCR cassette, a trace of `OpenTelemetry`. No panic; what is read is written and read again; what must
//! not be kept is found in no text that is kept, and a stream that is masked in parts says the same as one that is masked whole.

use ctxc::internals::project::config::Content;
use ctxc::internals::record::file::Recordings;
use ctxc::internals::record::foreign::{Format, read};
use ctxc::internals::record::mask::{Ending, Mask};
use ctxc::internals::record::recording::Recording;

/// What is replaced wherever it stands.
const SECRET: &str = "planted-4711-key";

/// Reads the bytes as each format, and masks them.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for format in [Format::Vcr, Format::Otlp] {
        match read(format, text) {
            Ok(calls) => calls.iter().for_each(again),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    match Recordings::read(text) {
        Ok(found) => found.calls.iter().for_each(again),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    for content in [Content::Redacted, Content::Full, Content::Shape] {
        let mask = Mask::new([7; 32], [SECRET.to_owned()], content);
        assert!(!mask.text(text).contains(SECRET));
        let kept = mask.json(text, "/request", &mut Vec::new());
        assert!(
            serde_json::from_str::<serde_json::Value>(text).is_err()
                || serde_json::from_str::<serde_json::Value>(&kept).is_ok()
        );
        let middle = text.floor_char_boundary(text.len() / 2);
        let parts = mask.stream(
            text,
            (&[middle, text.len()], Ending::Whole),
            &mut Vec::new(),
        );
        assert_eq!(
            parts.concat(),
            mask.stream(text, (&[text.len()], Ending::Whole), &mut Vec::new())
                .concat()
        );
        assert!(!parts.concat().contains(SECRET));
    }
}

/// A call is written and read as it is.
fn again(call: &Recording) {
    let line = call.line();
    let read = Recording::read(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
    assert_eq!(read.line(), line);
}
