//! What Python's Jinja2 has and a prompt cannot use: why, and what to write instead.

use super::names::JinjaName;

/// Something of Jinja2's that does not exist here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absent {
    /// What it is.
    pub what: JinjaName,
    /// Its name.
    pub name: &'static str,
    /// Why it is not there, as a fragment.
    pub why: &'static str,
    /// What to write instead, as a fragment.
    pub instead: &'static str,
}

const fn filter(name: &'static str, why: &'static str, instead: &'static str) -> Absent {
    Absent { what: JinjaName::Filter, name, why, instead }
}

const fn method(name: &'static str, instead: &'static str) -> Absent {
    Absent { what: JinjaName::Method, name, why: "a value has no such method here", instead }
}

const RUN: &str = "what it says differs from run to run";
const GETTEXT: &str = "it looks its words up in catalogues of the program around it";
const TRANSLATE: &str = "write a template for each language, or hand the translation in as a parameter";
const REST: &str = "a macro takes the arguments that it names, and no others";
const NAME: &str = "name them in the macro, with defaults, or hand it a list or an object";
const HTML: &str = "it writes HTML, which a model does not need";

/// All of them, sorted.
pub const ABSENT: &[Absent] = &[
    filter("center", "a model does not see columns", "put the text out as it is"),
    filter("forceescape", HTML, "write `text|escape`"),
    filter("random", RUN, "choose before the run, and hand in what was chosen as a parameter"),
    filter(
        "urlize",
        "it makes links for a browser, which a model does not follow",
        "put the text out as it is, or hand it in with its links made",
    ),
    filter("xmlattr", HTML, "write the attributes"),
    Absent {
        what: JinjaName::Test,
        name: "callable",
        why: "no value that is handed in can be called",
        instead: "leave the condition out: it is false for every value",
    },
    Absent { what: JinjaName::Function, name: "_", why: GETTEXT, instead: TRANSLATE },
    Absent { what: JinjaName::Function, name: "gettext", why: GETTEXT, instead: TRANSLATE },
    Absent { what: JinjaName::Function, name: "lipsum", why: RUN, instead: "write the words that are meant" },
    Absent { what: JinjaName::Function, name: "ngettext", why: GETTEXT, instead: TRANSLATE },
    method("append", "hand the whole list in, or write `{% set all = all + [item] %}`"),
    method("copy", "use the value itself: nothing changes it"),
    method("decode", "hand it in as a text"),
    method("encode", "hand it in as it is meant"),
    method("extend", "write `{% set all = all + more %}`"),
    method("index", "compute the place before and hand it in"),
    method("insert", "write `[item] + list`"),
    method("partition", "write `text|split(\"x\", 1)`"),
    method("pop", "write `list|last` or `object.name`: nothing changes a value"),
    method("removeprefix", "cut it off before and hand it in"),
    method("removesuffix", "cut it off before and hand it in"),
    method("rsplit", "write `text|split(\"x\")|last`"),
    method("update", "write `dict(object, name=value)`"),
    method("zfill", "write `\"%03d\"|format(number)`"),
    Absent { what: JinjaName::Variable, name: "kwargs", why: REST, instead: NAME },
    Absent {
        what: JinjaName::Variable,
        name: "self",
        why: "a text here has no blocks that it could name",
        instead: "keep what the block says, `{% set title %}…{% endset %}`, and put `{{ title }}` in both places",
    },
    Absent { what: JinjaName::Variable, name: "varargs", why: REST, instead: NAME },
];

/// What is known of a name that Jinja2 has and a prompt cannot use.
pub fn absent(what: JinjaName, name: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.what == what && absent.name == name)
}
