//! Features of Python's Jinja2 that a prompt cannot use, each with the reason and an alternative.

use super::names::JinjaName;

/// An unsupported name of Jinja2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// The kind of the name.
    pub what: JinjaName,
    /// The name.
    pub name: &'static str,
    /// The reason, as a fragment.
    pub why: &'static str,
    /// The alternative, as a fragment.
    pub instead: &'static str,
}

const fn filter(name: &'static str, why: &'static str, instead: &'static str) -> Absent {
    Absent {
        what: JinjaName::Filter,
        name,
        why,
        instead,
    }
}

const fn method(name: &'static str, instead: &'static str) -> Absent {
    Absent {
        what: JinjaName::Method,
        name,
        why: "a value has no such method here",
        instead,
    }
}

const RUN: &str = "its output differs from run to run";
const GETTEXT: &str = "it needs translation catalogues of the surrounding program";
const TRANSLATE: &str =
    "write a template for each language, or pass the translation in as a parameter";
const REST: &str = "a macro takes only the arguments that it names";
const NAME: &str = "name them in the macro, with defaults, or pass it a list or an object";
const HTML: &str = "it writes HTML, which a model does not need";

/// All unsupported names, sorted.
pub const ABSENT: &[Absent] = &[
    filter(
        "center",
        "a model does not see columns",
        "print the text as it is",
    ),
    filter("forceescape", HTML, "write `text|escape`"),
    filter(
        "random",
        RUN,
        "choose before the run, and pass the choice in as a parameter",
    ),
    filter(
        "urlize",
        "it makes links for a browser, which a model does not follow",
        "print the text as it is, or pass it in with its links made",
    ),
    filter("xmlattr", HTML, "write the attributes"),
    Absent {
        what: JinjaName::Test,
        name: "callable",
        why: "no value that is passed in can be called",
        instead: "leave the condition out: it is false for every value",
    },
    Absent {
        what: JinjaName::Function,
        name: "_",
        why: GETTEXT,
        instead: TRANSLATE,
    },
    Absent {
        what: JinjaName::Function,
        name: "gettext",
        why: GETTEXT,
        instead: TRANSLATE,
    },
    Absent {
        what: JinjaName::Function,
        name: "lipsum",
        why: RUN,
        instead: "write the intended text",
    },
    Absent {
        what: JinjaName::Function,
        name: "ngettext",
        why: GETTEXT,
        instead: TRANSLATE,
    },
    method(
        "append",
        "pass the whole list in, or write `{% set all = all + [item] %}`",
    ),
    method("copy", "use the value itself: nothing changes it"),
    method("decode", "pass it in as a text"),
    method("encode", "pass it in as it should appear"),
    method("extend", "write `{% set all = all + more %}`"),
    method("index", "compute the position first and pass it in"),
    method("insert", "write `[item] + list`"),
    method("partition", "write `text|split(\"x\", 1)`"),
    method(
        "pop",
        "write `list|last` or `object.name`: nothing changes a value",
    ),
    method("removeprefix", "cut it off first and pass it in"),
    method("removesuffix", "cut it off first and pass it in"),
    method("rsplit", "write `text|split(\"x\")|last`"),
    method("update", "write `dict(object, name=value)`"),
    method("zfill", "write `\"%03d\"|format(number)`"),
    Absent {
        what: JinjaName::Variable,
        name: "kwargs",
        why: REST,
        instead: NAME,
    },
    Absent {
        what: JinjaName::Variable,
        name: "self",
        why: "a text here has no blocks to refer to",
        instead: "keep the block's text in `{% set title %}…{% endset %}`, and put `{{ title }}` in both places",
    },
    Absent {
        what: JinjaName::Variable,
        name: "varargs",
        why: REST,
        instead: NAME,
    },
];

/// The entry of an unsupported name.
pub fn absent(what: JinjaName, name: &str) -> Option<&'static Absent> {
    ABSENT
        .iter()
        .find(|absent| absent.what == what && absent.name == name)
}
