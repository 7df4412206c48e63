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

const fn method(name: &'static str, instead: &'static str) -> Absent {
    Absent { what: JinjaName::Method, name, why: "a value has no methods here", instead }
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
    method("append", "hand the whole list in, or write `{% set all = all + [item] %}`"),
    method("capitalize", "write `text|capitalize`"),
    method("center", "write `text|center(40)`"),
    method("copy", "use the value itself: nothing changes it"),
    method("count", "write `(text|split(\"x\")|length) - 1`"),
    method("decode", "hand it in as a text"),
    method("encode", "hand it in as it is meant"),
    method("endswith", "write `text is endingwith \"x\"`"),
    method("extend", "write `{% set all = all + more %}`"),
    method("find", "write `\"x\" in text`, or compute the place before and hand it in"),
    method("format", "write `\"%s\"|format(value)`"),
    method("get", "write `object.name|default(\"x\")`"),
    method("index", "compute the place before and hand it in"),
    method("insert", "write `[item] + list`"),
    method("isdigit", "compute it before and hand it in"),
    method("items", "write `object|items`"),
    method("join", "write `list|join(\", \")`"),
    method("keys", "write `object|list`"),
    method("lower", "write `text|lower`"),
    method("lstrip", "write `text|trim`, or trim it before and hand it in"),
    method("partition", "write `text|split(\"x\", 1)`"),
    method("pop", "write `list|last` or `object.name`: nothing changes a value"),
    method("removeprefix", "cut it off before and hand it in"),
    method("removesuffix", "cut it off before and hand it in"),
    method("replace", "write `text|replace(\"a\", \"b\")`"),
    method("rsplit", "write `text|split(\"x\")|last`"),
    method("rstrip", "write `text|trim`, or trim it before and hand it in"),
    method("split", "write `text|split(\",\")`, and `(text|split)[0]` for the first part"),
    method("splitlines", "write `text|lines`"),
    method("startswith", "write `text is startingwith \"x\"`"),
    method("strip", "write `text|trim`, or `text|trim(\"x\")`"),
    method("title", "write `text|title`"),
    method("update", "write `dict(object, name=value)`"),
    method("upper", "write `text|upper`"),
    method("values", "write `object|items|map(\"last\")`"),
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

/// One of each kind that is known: numbers with more than 16 digits or very small ones that are joined to a text, what counts as equal, formats,
/// what a value lacks.
pub const DIFFERENT: &[Different] = &[
    different("{{ 1e16 ~ \"\" }}", "1e+16", Some("10000000000000000.0")),
    different("{{ [0.00001]|join }}", "1e-05", Some("0.00001")),
    different("{{ {\"k\": 1}|attr(\"k\") is defined }}", "False", Some("True")),
    different("{{ {\"a\": 1, \"b\": 2}|reverse|list }}", "['b', 'a']", Some("['a', 'b']")),
    different("{{ [1, true, 1.0]|unique|list }}", "[1]", Some("[1, True]")),
    different("{{ \"%r\"|format(\"q\") }}", "'q'", None),
    different("{{ 5|format }}", "5", None),
    different("{{ {\"k\": 1}.q }}", "", None),
    different("{{ {\"k\": 1}.q|upper }}", "", None),
    different("{{ {\"k\": 1}.q in [1] }}", "False", None),
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
