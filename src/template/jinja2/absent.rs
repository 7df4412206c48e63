//! What Jinja2 has and a prompt cannot: why, and what to write instead.

use crate::template::jinja::JinjaName;

/// Something of Jinja's that is not carried.
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

const RUN: &str = "what it says differs from run to run";

/// All of them, sorted.
pub const ABSENT: &[Absent] = &[
    Absent {
        what: JinjaName::Filter,
        name: "random",
        why: RUN,
        instead: "choose before the run, and hand in what was chosen as a parameter",
    },
    Absent {
        what: JinjaName::Filter,
        name: "urlize",
        why: "it makes links for a browser, which a model does not follow",
        instead: "put the text out as it is, or hand it in with its links made",
    },
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
];

const GETTEXT: &str = "it looks its words up in catalogues of the program around it";
const TRANSLATE: &str = "write a template for each language, or hand the translation in as a parameter";

/// What is known of a name that Jinja2 has and a prompt cannot.
pub fn absent(what: JinjaName, name: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.what == what && absent.name == name)
}
