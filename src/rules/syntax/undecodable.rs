//! CTX006: bytes that are no text.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, RuleMeta, Severity};
use crate::base::span::Span;
use crate::rules::rule::{Check, Rule};
use crate::syntax::decode::DecodeFault;
use std::sync::Arc;

/// A guess at an encoding would change what the agent reads without a word.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(6),
        name: "undecodable",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        summary: "a file that is not in an encoding that is read",
        page: "\
Templates are UTF-8, or UTF-16 that begins with a byte order mark. Anything else is refused rather than guessed: a wrong guess turns
umlauts and quotation marks into other characters, and the agent would receive those.

Save the file as UTF-8 and leave `encoding` out of the XML declaration, or make it `encoding=\"UTF-8\"`. On a Unix shell:
`iconv -f ISO-8859-1 -t UTF-8 old.xml > new.xml`.",
        bad: &[],
        good: &[],
    },
    check: Check::Edge,
};

/// Words it. The span counts bytes of the file, since there is no text whose bytes it could count.
pub(crate) fn word(path: &Arc<str>, fault: &DecodeFault) -> Diagnostic {
    let offset = u32::try_from(fault.offset()).unwrap_or(u32::MAX);
    let finding = Diagnostic::new(&RULE.meta, path, Span::at(offset), fault.to_string());
    match fault {
        DecodeFault::InvalidUtf8 { declared: Some(name), .. } => {
            finding.note(format!("the XML declaration says {name}")).help("save the file as UTF-8 and leave `encoding` out")
        }
        DecodeFault::InvalidUtf8 { .. } => finding.help("save the file as UTF-8; it may be in a Windows or Latin encoding now"),
        DecodeFault::LoneSurrogate { .. } | DecodeFault::OddLength { .. } => {
            finding.help("the file is damaged, or is no UTF-16; save it as UTF-8")
        }
        DecodeFault::Unsupported { .. } => finding.help("save the file as UTF-8"),
        DecodeFault::Contradiction { .. } => finding.help("leave `encoding` out of the XML declaration"),
    }
}
