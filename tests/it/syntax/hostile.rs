//! Hostile input: a clear fault, linear work, memory in proportion.
//!
//! Work is bounded by comparing a text with one four times as long: linear work takes four times as
//! long, quadratic work sixteen. The absolute bound is that of the promise, times twenty for a
//! build without optimisation on a busy machine.

use super::shape;
use ctxc::internals::syntax::fault::XmlFaultKind;
use ctxc::internals::syntax::{XmlLimits, XmlReader, decode};
use pretty_assertions::assert_eq;
use std::time::{Duration, Instant};

/// The minimum of three times, and the kinds of faults without repetitions.
fn read(text: &str) -> (Duration, Vec<XmlFaultKind>) {
    let mut reader = XmlReader::new();
    let limits = XmlLimits {
        file: 1 << 30,
        ..XmlLimits::default()
    };
    let time = || {
        let start = Instant::now();
        reader.read(text, &limits);
        start.elapsed()
    };
    let best = std::iter::repeat_with(time)
        .take(3)
        .min()
        .expect("three times");
    shape::check(reader.document(text), reader.faults());
    let mut kinds: Vec<XmlFaultKind> = reader.faults().iter().map(|fault| fault.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    (best, kinds)
}

/// Reads a text that must give this fault among its first, in time.
fn refuse(what: &str, text: &str, kind: XmlFaultKind) {
    let (time, kinds) = read(text);
    assert!(kinds.contains(&kind), "{what}: {kinds:?}");
    assert!(
        time < Duration::from_secs(10),
        "{what}: {time:?} for {} bytes",
        text.len()
    );
}

fn nested(count: usize, open: impl Fn(usize) -> String) -> String {
    (0..count).map(open).collect()
}

#[test]
fn deep_and_wide_input_stops_at_its_limit() {
    refuse(
        "4,000 namespaces",
        &nested(4_000, |at| format!("<a xmlns:p{at}=\"u{at}\">")),
        XmlFaultKind::TooManyNamespaces,
    );
    refuse(
        "1,000,000 nested tags",
        &"<a>".repeat(1_000_000),
        XmlFaultKind::TooDeep,
    );
    refuse(
        "1,000,000 nested and closed",
        &("<a>".repeat(1_000_000) + &"</a>".repeat(1_000_000)),
        XmlFaultKind::TooDeep,
    );
    let wide = format!("<a {}/>", nested(50_000, |at| format!("b{at}=\"\" ")));
    refuse("50,000 attributes", &wide, XmlFaultKind::TooManyAttributes);
    refuse(
        "2,000,000 elements",
        &format!("<a>{}</a>", "<b/>".repeat(2_000_000)),
        XmlFaultKind::TooManyNodes,
    );
    refuse(
        "a name of 2 MB",
        &format!("<{}/>", "a".repeat(2_000_000)),
        XmlFaultKind::NameTooLong,
    );
    refuse(
        "an end tag of 2 MB",
        &format!("<a></{}>", "a".repeat(2_000_000)),
        XmlFaultKind::NameTooLong,
    );
    refuse(
        "a text of 12 MB",
        &format!("<a>{}</a>", "x".repeat(12_000_000)),
        XmlFaultKind::TextTooLong,
    );
    refuse(
        "a value of 12 MB",
        &format!("<a b=\"{}\"/>", "x".repeat(12_000_000)),
        XmlFaultKind::TextTooLong,
    );
    refuse(
        "100,000 errors",
        &format!("<a>{}</a>", "& ".repeat(100_000)),
        XmlFaultKind::TooManyFaults,
    );
}

#[test]
fn a_file_above_the_limit_is_not_read() {
    let text = "<a>".to_owned() + &"x".repeat(11 << 20);
    let mut reader = XmlReader::new();
    reader.read(&text, &XmlLimits::default());
    assert_eq!(
        reader
            .faults()
            .iter()
            .map(|fault| fault.kind)
            .collect::<Vec<_>>(),
        [XmlFaultKind::FileTooLong]
    );
    assert!(reader.document(&text).tree.is_empty());
}

#[test]
fn entity_bombs_are_one_fault() {
    let mut bomb = "<!DOCTYPE a [<!ENTITY a0 \"lol\">".to_owned();
    bomb.extend((1..50).map(|at| {
        format!(
            "<!ENTITY a{at} \"{}\">",
            format!("&a{};", at - 1).repeat(10)
        )
    }));
    bomb += "]><a>&a49;</a>";
    let (_, kinds) = read(&bomb);
    assert_eq!(kinds, [XmlFaultKind::Doctype]);
    let (_, kinds) = read("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a>&b;</a>");
    assert_eq!(kinds, [XmlFaultKind::Doctype]);
    refuse(
        "20,000 open document types",
        &"<!DOCTYPE [".repeat(20_000),
        XmlFaultKind::Doctype,
    );
}

#[test]
fn bytes_that_are_no_text() {
    use decode::DecodeFault;
    let fault = |bytes: &[u8]| decode::decode(bytes).expect_err("no text");
    assert_eq!(
        fault(b"<a>\xFF</a>"),
        DecodeFault::InvalidUtf8 {
            offset: 3,
            declared: None
        }
    );
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
    assert_eq!(
        fault(latin),
        DecodeFault::InvalidUtf8 {
            offset: 46,
            declared: Some("ISO-8859-1".into())
        }
    );
    assert_eq!(
        fault(b"\xEF\xBB\xBF<a>\xC3"),
        DecodeFault::InvalidUtf8 {
            offset: 6,
            declared: None
        }
    );
    assert_eq!(
        fault(b"\xFF\xFE<\0\x00\xD8a\0"),
        DecodeFault::LoneSurrogate { offset: 4 }
    );
    assert_eq!(
        fault(b"\xFE\xFF\0<\0"),
        DecodeFault::OddLength { offset: 4 }
    );
    assert!(matches!(
        fault(b"<\0a\0/\0>\0"),
        DecodeFault::Unsupported { .. }
    ));
    assert!(matches!(
        fault(b"\xFF\xFE\0\0<\0\0\0"),
        DecodeFault::Unsupported { .. }
    ));
    assert!(matches!(
        fault(b"<?xml version='1.0' encoding='UTF-16'?><a/>"),
        DecodeFault::Contradiction { .. }
    ));
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("<a>é𝒳</a>".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    assert_eq!(decode::decode(&utf16).expect("text"), "<a>é𝒳</a>");
    assert_eq!(
        decode::decode("\u{FEFF}<a/>".as_bytes()).expect("text"),
        "<a/>"
    );
    refuse(
        "NUL bytes",
        &"\0".repeat(1_000_000),
        XmlFaultKind::IllegalCharacter,
    );
    refuse(
        "NUL bytes apart",
        &"<a\0>".repeat(100_000),
        XmlFaultKind::TooManyFaults,
    );
}

/// Texts that make a reader look ahead or back, with their repeated part.
const UNITS: &[&str] = &[
    "<a b=\"",
    "<a b='c",
    "<!--",
    "<!-- -",
    "<!-- --",
    "<![CDATA[",
    "<![CDATA[ ]]\n",
    "<?a ",
    "<?a>",
    "<? ",
    "&",
    "&a",
    "&#",
    "<",
    "< ",
    "</",
    "</a",
    "</a>",
    "</b>\n",
    "<a",
    "<a ",
    "<a/",
    "<a b",
    "<a b=",
    "<a b=c",
    "<a b=\"c\"d",
    "<a b=\"< \"",
    "a b=\"< ",
    "]]>",
    "]]",
    "]",
    "<!",
    "<!a",
    "<!a>",
    "<!-",
    "<![",
    "<![CDATA",
    "<[CDATA[",
    "<<<<<<<\n",
    "<<<<<<< a\n=======\n",
    "\n=======\n",
    "\n>>>>>>>\n",
    "<a>\n",
    "<a>\n</b>\n",
    "a>x</a>",
    "\na>\nb>",
    "<ab>c</a>",
    "<a>c<a>",
    "<a>c/a>",
    "<a x=\"y\">z<a x=\"y\">",
    "<p:a q:b=\"\">",
    "\u{1}",
    "\u{FFFE}",
    "<a\u{1}>",
    "\r",
    "\t\n",
    "<a xmlns:b=\"\"/>",
    "<a b=\"\" b=\"\">",
    "<a b='>' c='\n",
    "<a b=\"c d=",
    "<xml?>",
    "<a ?>",
    "é",
];

#[test]
fn nothing_is_quadratic() {
    let limits = XmlLimits {
        diagnostics: u32::MAX,
        nodes: u32::MAX,
        file: 1 << 30,
        ..XmlLimits::default()
    };
    let mut reader = XmlReader::new();
    let mut time = |text: &str| {
        let best = (0..2).map(|_| {
            let start = Instant::now();
            reader.read(text, &limits);
            start.elapsed()
        });
        best.min().expect("two times")
    };
    for unit in UNITS {
        for (before, after) in [("", ""), ("<r>\n  ", "\n</r>")] {
            let text = |count: usize| format!("{before}{}{after}", unit.repeat(count));
            // Other tests run beside this one: one quiet moment of several shows that the work is
            // linear, and short times prove little. Quadratic work fails every time.
            let fine = (0..8).any(|_| {
                let (small, large) = (time(&text(3_000)), time(&text(12_000)));
                large < small * 9 || large < Duration::from_millis(60)
            });
            assert!(
                fine,
                "{unit:?}: four times the text takes more than nine times as long"
            );
        }
    }
}

#[test]
fn every_mixture_of_two_gives_a_tree() {
    let mut reader = XmlReader::new();
    for first in UNITS {
        for second in UNITS {
            let text = format!("<r>\n{}</r>", format!("{first}{second}").repeat(8));
            reader.read(&text, &XmlLimits::default());
            shape::check(reader.document(&text), reader.faults());
        }
    }
}
