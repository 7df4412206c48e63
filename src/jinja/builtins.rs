//! The names of filters and tests that a Jinja text can use. minijinja does not expose them, so
//! they are listed here; a test compares them with the environment.

/// The keywords of statements in Jinja, including those that minijinja does not support.
#[rustfmt::skip]
const STATEMENT_KEYWORDS: &[&str] = &[
    "autoescape", "block", "break", "call", "continue", "do", "elif", "else", "endautoescape", "endblock", "endcall", "endfilter",
    "endfor", "endif", "endmacro", "endraw", "endset", "endtrans", "endwith", "extends", "filter", "for", "from", "if", "import",
    "include", "macro", "raw", "set", "trans", "with",
];

/// Returns true if a text has a statement of Jinja, `{% if … %}`: other `{% … %}` may be plain
/// text.
pub fn has_statement(text: &str) -> bool {
    let is_statement = |rest: &str| {
        let inner = rest
            .split_once("%}")
            .map(|(inner, _)| inner.trim_start_matches(['-', '+']).trim_start());
        inner.is_some_and(|inner| {
            STATEMENT_KEYWORDS.contains(
                &inner
                    .split(|c: char| !c.is_alphanumeric())
                    .next()
                    .unwrap_or(""),
            )
        })
    };
    text.split("{%").skip(1).any(is_statement)
}

/// Filters, sorted.
pub(crate) const FILTER_NAMES: &[&str] = &[
    "abs",
    "attr",
    "batch",
    "bool",
    "capitalize",
    "chain",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "filesizeformat",
    "first",
    "float",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pluralize",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "striptags",
    "sum",
    "title",
    "tojson",
    "trim",
    "truncate",
    "unique",
    "upper",
    "urlencode",
    "wordcount",
    "wordwrap",
    "zip",
];

/// Named tests, sorted; those written as operators are only for `select`.
pub(crate) const TEST_NAMES: &[&str] = &[
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "equalto",
    "escaped",
    "even",
    "false",
    "filter",
    "float",
    "ge",
    "greaterthan",
    "gt",
    "in",
    "int",
    "integer",
    "iterable",
    "le",
    "lessthan",
    "lower",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "safe",
    "sameas",
    "sequence",
    "startingwith",
    "string",
    "test",
    "true",
    "undefined",
    "upper",
];

/// The minimum and maximum number of arguments of a filter, without its input and keyword-only
/// arguments.
pub(super) fn filter_argument_bounds(filter: &str) -> (usize, usize) {
    match filter {
        "attr" | "groupby" => (1, 1),
        "batch" | "slice" => (1, 2),
        "replace" => (2, 2),
        "rejectattr" | "selectattr" => (1, usize::MAX),
        "chain" | "format" | "map" | "reject" | "select" | "zip" => (0, usize::MAX),
        "filesizeformat" | "float" | "tojson" | "trim" => (0, 1),
        "d" | "default" | "int" | "join" | "pluralize" | "round" | "split" | "sum" => (0, 2),
        "indent" => (0, 3),
        "truncate" | "wordwrap" => (0, 4),
        _ => (0, 0),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/jinja/builtins.rs"]
mod tests;
