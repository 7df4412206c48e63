//! CTX706: a tool name that the vendor rejects.

use super::prelude::*;

/// Names from other sources, such as a tool server, may contain dots, slashes or spaces.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        706,
        "tool-name",
        "a tool name outside the vendor's pattern",
        case!("tool-name"),
    ),
    check: Check::Request(check_request),
};

/// A vendor's constraints on tool names.
struct NamePattern {
    /// The documented pattern.
    words: &'static str,
    /// Allowed characters besides letters, digits, `_` and `-`.
    extra_bytes: &'static [u8],
    /// The maximum length.
    max_len: usize,
    /// True if the first character must be a letter or `_`.
    begins_with_letter: bool,
}

/// For Anthropic, and for OpenAI responses.
const LONG_NAMES: NamePattern = NamePattern {
    words: "[a-zA-Z0-9_-]{1,128}",
    extra_bytes: b"",
    max_len: 128,
    begins_with_letter: false,
};
const CHAT_NAMES: NamePattern = NamePattern {
    words: "[a-zA-Z0-9_-]{1,64}",
    extra_bytes: b"",
    max_len: 64,
    begins_with_letter: false,
};
const GEMINI_NAMES: NamePattern = NamePattern {
    words: "[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    extra_bytes: b".:",
    max_len: 128,
    begins_with_letter: true,
};

impl NamePattern {
    fn matches(&self, name: &str) -> bool {
        let fits = |byte: &u8| {
            byte.is_ascii_alphanumeric() || b"_-".contains(byte) || self.extra_bytes.contains(byte)
        };
        let begins =
            |byte: &u8| !self.begins_with_letter || byte.is_ascii_alphabetic() || *byte == b'_';
        let bytes = name.as_bytes();
        bytes.len() <= self.max_len && bytes.first().is_some_and(begins) && bytes.iter().all(fits)
    }
}

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let pattern = match cx.request.dialect {
        Dialect::Anthropic if cx.is_claude() => LONG_NAMES,
        Dialect::Gemini => GEMINI_NAMES,
        Dialect::OpenaiResponses if cx.openai_model(&[cx.request.dialect]).is_some() => LONG_NAMES,
        Dialect::OpenaiChat if cx.openai_model(&[cx.request.dialect]).is_some() => CHAT_NAMES,
        Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Anthropic | Dialect::Ollama => {
            return;
        }
    };
    let vendor = cx.request.dialect.vendor();
    for tool in cx
        .request
        .tools
        .iter()
        .filter(|tool| !tool.is_server && !pattern.matches(&tool.name))
    {
        let message = format!(
            "found the tool name `{}`; {vendor} expects `{}`",
            shorten(&tool.name),
            pattern.words
        );
        out.push(
            cx.finding(&RULE.meta, &tool.pointer, message)
                .help("replace other characters by `_` and shorten longer names; keep a table that maps them back to the tools"),
        );
    }
}
