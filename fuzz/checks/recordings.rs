//! Any text is a recording: lines of ctxc, a VCR cassette, a trace of `OpenTelemetry`. No panic; what is read is written and read again; what must
//! not be kept is found in no text that is kept, and a stream that is masked in parts says the same as one that is masked whole.

use ctxc::internals::project::config::RecordedContent;
use ctxc::internals::record::file::RecordingFile;
use ctxc::internals::record::foreign::{RecordingFormat, read_calls};
use ctxc::internals::record::mask::{CallMask, StreamEnding};
use ctxc::internals::record::recording::Recording;

/// What is replaced wherever it stands.
const SECRET: &str = "planted-4711-key";

/// Reads the bytes as each format, and masks them.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for format in [RecordingFormat::Vcr, RecordingFormat::Otlp] {
        match read_calls(format, text) {
            Ok(calls) => calls.iter().for_each(again),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    match RecordingFile::parse(text) {
        Ok(found) => found.calls.iter().for_each(again),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    for content in [
        RecordedContent::Redacted,
        RecordedContent::Full,
        RecordedContent::Shape,
    ] {
        let mask = CallMask::new([7; 32], [SECRET.to_owned()], content);
        assert!(!mask.mask_text(text).contains(SECRET));
        let kept = mask.mask_body(text, "/request", &mut Vec::new());
        assert!(
            serde_json::from_str::<serde_json::Value>(text).is_err()
                || serde_json::from_str::<serde_json::Value>(&kept).is_ok()
        );
        let middle = text.floor_char_boundary(text.len() / 2);
        let parts = mask.mask_stream(
            text,
            &[middle, text.len()],
            StreamEnding::Whole,
            &mut Vec::new(),
        );
        assert_eq!(
            parts.concat(),
            mask.mask_stream(text, &[text.len()], StreamEnding::Whole, &mut Vec::new())
                .concat()
        );
        assert!(!parts.concat().contains(SECRET));
    }
}

/// A call is written and read as it is.
fn again(call: &Recording) {
    let line = call.to_line();
    let read = Recording::parse_line(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
    assert_eq!(read.to_line(), line);
}
