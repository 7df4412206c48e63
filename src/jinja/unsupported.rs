//! Features of Python's Jinja2 that a prompt cannot use, each with the reason and an alternative.

use super::environment::JinjaNameKind;

/// An unsupported name of Jinja2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedName {
    /// The kind of the name.
    pub what: JinjaNameKind,
    /// The name.
    pub name: &'static str,
    /// The reason, as a fragment.
    pub why: &'static str,
    /// The alternative, as a fragment.
    pub instead: &'static str,
}

const fn unsupported_filter(
    name: &'static str,
    why: &'static str,
    instead: &'static str,
) -> UnsupportedName {
    UnsupportedName {
        what: JinjaNameKind::Filter,
        name,
        why,
        instead,
    }
}

const fn unsupported_method(name: &'static str, instead: &'static str) -> UnsupportedName {
    UnsupportedName {
        what: JinjaNameKind::Method,
        name,
        why: "a value has no such method here",
        instead,
    }
}

const VARIES_BY_RUN: &str = "its output differs from run to run";
const NEEDS_TRANSLATIONS: &str = "it needs translation catalogues of the surrounding program";
const PASS_TRANSLATION: &str =
    "write a template for each language, or pass the translation in as a parameter";
const ONLY_NAMED_ARGUMENTS: &str = "a macro takes only the arguments that it names";
const NAME_ARGUMENTS: &str =
    "name them in the macro, with defaults, or pass it a list or an object";
const WRITES_HTML: &str = "it writes HTML, which a model does not need";

/// All unsupported names, sorted.
pub const UNSUPPORTED_NAMES: &[UnsupportedName] = &[
    unsupported_filter(
        "center",
        "a model does not see columns",
        "print the text as it is",
    ),
    unsupported_filter("forceescape", WRITES_HTML, "write `text|escape`"),
    unsupported_filter(
        "random",
        VARIES_BY_RUN,
        "choose before the run, and pass the choice in as a parameter",
    ),
    unsupported_filter(
        "urlize",
        "it makes links for a browser, which a model does not follow",
        "print the text as it is, or pass it in with its links made",
    ),
    unsupported_filter("xmlattr", WRITES_HTML, "write the attributes"),
    UnsupportedName {
        what: JinjaNameKind::Test,
        name: "callable",
        why: "no value that is passed in can be called",
        instead: "leave the condition out: it is false for every value",
    },
    UnsupportedName {
        what: JinjaNameKind::Function,
        name: "_",
        why: NEEDS_TRANSLATIONS,
        instead: PASS_TRANSLATION,
    },
    UnsupportedName {
        what: JinjaNameKind::Function,
        name: "gettext",
        why: NEEDS_TRANSLATIONS,
        instead: PASS_TRANSLATION,
    },
    UnsupportedName {
        what: JinjaNameKind::Function,
        name: "lipsum",
        why: VARIES_BY_RUN,
        instead: "write the intended text",
    },
    UnsupportedName {
        what: JinjaNameKind::Function,
        name: "ngettext",
        why: NEEDS_TRANSLATIONS,
        instead: PASS_TRANSLATION,
    },
    unsupported_method(
        "append",
        "pass the whole list in, or write `{% set all = all + [item] %}`",
    ),
    unsupported_method("copy", "use the value itself: nothing changes it"),
    unsupported_method("decode", "pass it in as a text"),
    unsupported_method("encode", "pass it in as it should appear"),
    unsupported_method("extend", "write `{% set all = all + more %}`"),
    unsupported_method("index", "compute the position first and pass it in"),
    unsupported_method("insert", "write `[item] + list`"),
    unsupported_method("partition", "write `text|split(\"x\", 1)`"),
    unsupported_method(
        "pop",
        "write `list|last` or `object.name`: nothing changes a value",
    ),
    unsupported_method("removeprefix", "cut it off first and pass it in"),
    unsupported_method("removesuffix", "cut it off first and pass it in"),
    unsupported_method("rsplit", "write `text|split(\"x\")|last`"),
    unsupported_method("update", "write `dict(object, name=value)`"),
    unsupported_method("zfill", "write `\"%03d\"|format(number)`"),
    UnsupportedName {
        what: JinjaNameKind::Variable,
        name: "kwargs",
        why: ONLY_NAMED_ARGUMENTS,
        instead: NAME_ARGUMENTS,
    },
    UnsupportedName {
        what: JinjaNameKind::Variable,
        name: "self",
        why: "a text here has no blocks to refer to",
        instead: "keep the block's text in `{% set title %}…{% endset %}`, and put `{{ title }}` in both places",
    },
    UnsupportedName {
        what: JinjaNameKind::Variable,
        name: "varargs",
        why: ONLY_NAMED_ARGUMENTS,
        instead: NAME_ARGUMENTS,
    },
];

/// The entry of an unsupported name.
pub fn find_unsupported(what: JinjaNameKind, name: &str) -> Option<&'static UnsupportedName> {
    UNSUPPORTED_NAMES
        .iter()
        .find(|absent| absent.what == what && absent.name == name)
}
