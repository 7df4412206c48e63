//! The faults of recordings of other tools.

/// The reason why a file of another tool cannot be read as calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignFault {
    /// It is not valid in its format.
    #[error("it begins like {what}, but line {line} cannot be read: {why}")]
    Unreadable {
        /// The format.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// It contains no list of calls.
    #[error("it begins like a VCR cassette, but its key `interactions` holds no list")]
    NoList,
    /// It contains only calls to other servers.
    #[error(
        "none of its {0} calls goes to a model API that ctxc reads (docs/RECORD.md lists them)"
    )]
    NoCall(usize),
    /// It contains no call at all.
    #[error("the cassette is empty: it holds no call")]
    Empty,
    /// It contains no span or event of a model call.
    #[error(
        "it holds no span or event of a call to a model: expected attributes such as `gen_ai.input.messages`"
    )]
    NoSpans,
    /// The program that wrote it left out all content.
    #[error(
        "it holds {0} of calls to models, none with content: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true \
         (OpenLLMetry: TRACELOOP_TRACE_CONTENT=true) and trace the program again"
    )]
    NoContent(String),
}
