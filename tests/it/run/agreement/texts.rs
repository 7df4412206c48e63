//! Texts and conditions of random projects: each way in which the language reads a value.

use super::generator::{DrawnType, ProjectGenerator, ScopeName};

impl ProjectGenerator<'_> {
    pub(super) fn condition(&mut self, scope: &[ScopeName]) -> String {
        let (name, kind) = self.random.pick(scope).clone();
        let one = match kind {
            DrawnType::Number => format!(
                "{name} {} {}",
                self.pick(&["lt", "ge", "=="]),
                self.random.below(5)
            ),
            DrawnType::Boolean => self
                .pick(&["c1", "not c1", "c1 == true"])
                .replace("c1", &name),
            DrawnType::Record => format!(
                "{name}.{} {} 'a'",
                self.pick(&["k", "v"]),
                self.pick(&["==", "!="])
            ),
            DrawnType::Text | DrawnType::List | DrawnType::Object | DrawnType::Answer => {
                format!(
                    "{name} {} '{}'",
                    self.pick(&["==", "!="]),
                    self.pick(&["x", "words"])
                )
            }
        };
        let (other, _) = self.random.pick(scope).clone();
        match self.random.below(4) {
            0 => format!("{one} or {other} != 'y'"),
            1 => format!("({one}) and {other} != 'y'"),
            _ => one,
        }
    }

    /// Returns a text that may read values, in one of the notations of the language.
    pub(super) fn text_element(
        &mut self,
        element: &str,
        attributes: &str,
        scope: &[ScopeName],
    ) -> String {
        let (name, kind) = self.random.pick(scope).clone();
        let is_prompt = matches!(
            element,
            "description" | "instructions" | "criteria" | "constraint" | "system"
        );
        let may_call = element != "system" && is_prompt;
        let (syntax, words) = match self.random.below(10) {
            0 => match self.random.below(6) {
                0 => (" verbatim=\"true\"", format!("Keep {{{{{name}}}}}.")),
                1 => (
                    " trust=\"untrusted\"",
                    format!("Somebody wrote {{{{{name}}}}}."),
                ),
                2 if is_prompt => (" src=\"text.md\"", String::new()),
                3 if is_prompt => (" src=\"text.jinja\" syntax=\"jinja\"", String::new()),
                4 => (
                    " xml:space=\"preserve\"",
                    format!("\n  It is {{{{{name}}}}}.\n "),
                ),
                _ => ("", "<![CDATA[a < b & {{b1}}]]>".to_owned()),
            },
            1 => ("", "Some words.".to_owned()),
            2 | 3 => ("", format!("See {{{{{name}}}}}.")),
            4 if matches!(kind, DrawnType::Object | DrawnType::Record) => {
                ("", format!("See {{{{{name}.v}}}}."))
            }
            4 => ("", "Keep to this: <use fragment=\"g0\"/>".to_owned()),
            5 if may_call => ("", format!("Of {{{{f0({name})}}}}.")),
            6 => (
                " syntax=\"jinja\"",
                format!("{} <use fragment=\"g1\"/>", self.jinja_text(&name, kind)),
            ),
            _ => (
                " syntax=\"jinja\"",
                format!("It is {}", self.jinja_text(&name, kind)),
            ),
        };
        format!("<{element}{attributes}{syntax}>{words}</{element}>")
    }

    /// Returns a Jinja text that reads a value.
    fn jinja_text(&mut self, name: &str, kind: DrawnType) -> String {
        let any = [
            "{% if x %}so{% endif %}",
            "{% if false %}a{% elif x %}b{% else %}c{% endif %}",
            "{{ 'a' if x else 'b' }}",
            "{{ x is defined }}",
            "{% if x == 'a' %}one{% endif %}",
            "{% set v = x %}{{ v }}",
            "{% with v = x %}{{ v }}{% endwith %}",
            "{% macro m(p) %}{{ p }}{% endmacro %}{{ m(x) }}",
            "{% for v in [x] %}{{ v }}{% endfor %}",
            "{{ x|default('d') }}",
            "{% if x is string and x %}s{% endif %}",
            "{% set v %}{{ x }}{% endset %}{{ v|upper }}",
            "{{ x }}",
        ];
        let more: &[&str] = match kind {
            DrawnType::Text | DrawnType::Answer => &[
                "{{ x|string|upper }}",
                "{{ x|string|length }}",
                "{{ 'p' ~ x }}",
            ],
            DrawnType::Number => &[
                "{{ x + 1 }}",
                "{% if x > 2 %}many{% endif %}",
                "{{ x|round }}",
            ],
            DrawnType::Boolean => &["{{ not x }}"],
            DrawnType::Record => &[
                "{{ x.v }}",
                "{% if x.k == 'a' %}{{ x.v }}{% endif %}",
                "{{ x['k'] }}",
                "{{ x.v|default('d') }}",
            ],
            DrawnType::List => &[
                "{% for v in x %}- {{ v }}\n{% endfor %}",
                "{{ x|join(', ') }}",
                "{{ x|length }}",
            ],
            DrawnType::Object => &[
                "{{ x.v }}",
                "{% if x.v %}{{ x.v }}{% endif %}",
                "{% for k, v in x|items %}{{ k }}{% endfor %}",
            ],
        };
        let at = self.random.below(any.len() + 2 * more.len());
        let form = any
            .get(at)
            .or_else(|| more.get((at - any.len()) / 2))
            .copied()
            .unwrap_or("{{ x }}");
        // A single `x` stands for the name.
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut out = String::new();
        let mut before = ' ';
        let letters: Vec<char> = form.chars().collect();
        for (at, letter) in letters.iter().enumerate() {
            let next = letters.get(at + 1).copied().unwrap_or(' ');
            if *letter == 'x' && !is_word(before) && !is_word(next) {
                out += name;
            } else {
                out.push(*letter);
            }
            before = *letter;
        }
        out.replace('>', "&gt;")
    }
}
