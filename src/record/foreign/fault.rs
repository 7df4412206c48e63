//! Why a file of another tool holds no calls.

/// Why a file of another tool holds no calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignFault {
    /// It is not in its format.
    #[error("it begins like {what}, but line {line} cannot be read: {why}")]
    Unreadable {
        /// The format.
        what: &'static str,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// It has no list of calls.
    #[error("it begins like a VCR cassette, but its key `interactions` holds no list")]
    NoList,
    /// It has calls of other servers alone.
    #[error("none of its {0} calls goes to a model API that ctxc reads (docs/RECORD.md lists them)")]
    NoCall(usize),
    /// It holds no call at all.
    #[error("the cassette is empty: it holds no call")]
    Empty,
    /// Nothing in it is of a model.
    #[error("it holds no span or event of a call to a model: expected attributes such as `gen_ai.input.messages`")]
    NoSpans,
    /// The program that wrote it left all content out.
    #[error(
        "it holds {0} of calls to models, none with content: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true \
         (OpenLLMetry: TRACELOOP_TRACE_CONTENT=true) and trace the program again"
    )]
    NoContent(String),
}
