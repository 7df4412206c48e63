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
    Absent { what: JinjaName::Variable, name: "kwargs", why: REST, instead: NAME },
    Absent {
        what: JinjaName::Variable,
        name: "self",
        why: "a text here has no blocks that it could name",
        instead: "keep what the block says, `{% set title %}…{% endset %}`, and put `{{ title }}` in both places",
    },
    Absent { what: JinjaName::Variable, name: "varargs", why: REST, instead: NAME },
];

const REST: &str = "a macro takes the arguments that it names, and no others";
const NAME: &str = "name them in the macro, with defaults, or hand it a list or an object";

const GETTEXT: &str = "it looks its words up in catalogues of the program around it";
const TRANSLATE: &str = "write a template for each language, or hand the translation in as a parameter";

/// What is known of a name that Jinja2 has and a prompt cannot.
pub fn absent(what: JinjaName, name: &str) -> Option<&'static Absent> {
    ABSENT.iter().find(|absent| absent.what == what && absent.name == name)
}

/// A text that says something else than in Jinja2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Different {
    /// The text.
    pub text: &'static str,
    /// What Jinja2 says.
    pub jinja2: &'static str,
    /// What is said here; `None` where it is an error.
    pub here: Option<&'static str>,
}

const fn different(text: &'static str, jinja2: &'static str, here: Option<&'static str>) -> Different {
    Different { text, jinja2, here }
}

/// One of each kind that is known: numbers with more than 16 digits or very small ones, what counts as equal, formats.
pub const DIFFERENT: &[Different] = &[
    different("{{ 1e16 }}", "1e+16", Some("10000000000000000.0")),
    different("{{ 0.00001 }}", "1e-05", Some("0.00001")),
    different("{{ \"nan\"|float }}", "nan", Some("NaN")),
    different("{{ {\"k\": 1}|attr(\"k\") is defined }}", "False", Some("True")),
    different("{{ [1, true, 1.0]|unique|list }}", "[1]", Some("[1, True]")),
    different("{{ \"%r\"|format(\"q\") }}", "'q'", None),
    different("{{ 5|format }}", "5", None),
];

#[cfg(test)]
mod tests {
    use super::DIFFERENT;
    use pretty_assertions::assert_eq;

    #[test]
    fn what_is_different_is_as_it_is_written_down() {
        let environment = crate::template::jinja::bare();
        for different in DIFFERENT {
            let said = environment.render_str(different.text, ()).ok();
            assert_eq!(said.as_deref(), different.here, "{}", different.text);
            assert_ne!(said.as_deref(), Some(different.jinja2));
        }
    }
}
