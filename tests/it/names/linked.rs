//! Names across `ref`, `call` and `use`: a project that passes `check` can run.

use crate::assembly::shipped::{Here, agents};
use crate::project::reading::read;
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::fault::{FaultKind, MissingFrom};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::{Request, StepResult};
use ctxc::internals::registry::workspace;
use ctxc::internals::registry::workspace::request::{CheckGoal, InputRecording};
use ctxc::internals::rules::check::Fingerprints;
use ctxc::{Config, Registry, compile_sources};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Each finding of the given codes, with the words at its place.
pub(super) fn places(library: &str, codes: &[&str]) -> Vec<String> {
    let built = compile_sources(&Config::default(), [("a.xml", library)]);
    let found = built
        .diagnostics
        .iter()
        .map(|found| (found.rule.code.to_string(), found));
    let of = found.filter(|(code, _)| codes.contains(&code.as_str()));
    of.map(|(code, found)| format!("{code} {}", found.span.slice(library)))
        .collect()
}

/// The parameters of a task, undeclared ones with a `?`.
fn parameters(registry: &Registry, task: &str) -> Vec<String> {
    let all = registry.find(task).unwrap().parameters().unwrap();
    all.into_iter()
        .map(|own| format!("{}{}", own.name, if own.implicit { "?" } else { "" }))
        .collect()
}

const Q: &str = "<task type=\"atomic\" name=\"q\"><description>x {{n}}</description><parameters><parameter name=\"n\"/></parameters></task>";

#[test]
fn what_a_reference_takes_is_bound_where_it_stands() {
    let of = |rest: &str| places(&format!("<library>{Q}\n{rest}</library>"), &["CTX304"]);
    let task = |body: &str| {
        of(&format!(
            "<task type=\"sequential\" name=\"o\"><description>x</description>{body}</task>"
        ))
    };
    let steps = "<steps><task ref=\"q\"/></steps>";
    assert_eq!(
        task(&format!(
            "<parameters><parameter name=\"c\"/></parameters>{steps}"
        )),
        ["CTX304 q"]
    );
    for bound in [
        format!("<parameters><parameter name=\"n\"/></parameters>{steps}"),
        format!("<parameters><parameter name=\"c\"/></parameters><inputs><input name=\"n\" from=\"c\"/></inputs>{steps}"),
        "<parameters/><steps><task as=\"n\"><description>make</description></task><task ref=\"q\"/></steps>".to_owned(),
        steps.to_owned(),
    ] {
        assert_eq!(task(&bound), [""; 0], "{bound}");
    }
    let function = "<template name=\"F\" params=\"a\"><task type=\"sequential\"><description>{{a}}</description><steps><task ref=\"q\"/></steps></task></template>";
    assert_eq!(of(function), ["CTX304 q"]);
    // A default is as good, and a parameter inside is one of the definition.
    let inner = |attributes: &str| {
        task(&format!(
            "<parameters><parameter name=\"c\"/></parameters><steps><task><description>{{{{p}}}}</description><parameters><parameter name=\"p\"{attributes}/></parameters></task></steps>"
        ))
    };
    assert_eq!(
        (
            inner(""),
            inner(" required=\"true\""),
            inner(" default=\"d\"").len()
        ),
        (vec!["CTX304 p".to_owned()], vec!["CTX304 p".to_owned()], 0)
    );
    let fragment = "<fragment name=\"g\">{{v}}</fragment><template name=\"G\" params=\"b\"><task type=\"atomic\"><description>{{b}} <use fragment=\"g\"/></description></task></template>";
    assert_eq!(of(fragment), ["CTX304 g"]);
}

#[test]
fn what_nothing_binds_is_a_parameter_of_those_that_declare_none() {
    let library = format!(
        "<library>{Q}\
         <task type=\"sequential\" name=\"one\"><description>x</description><steps><task ref=\"q\"/></steps></task>\
         <task type=\"sequential\" name=\"two\"><description>{{{{m}}}}</description><steps><task ref=\"one\"/><task ref=\"q\"/></steps></task>\
         <fragment name=\"f\"><use fragment=\"g\"/></fragment><fragment name=\"g\">{{{{v}}}}</fragment>\
         <task type=\"atomic\" name=\"three\"><description>t <use fragment=\"f\"/></description></task>\
         <task type=\"sequential\" name=\"four\"><description>t</description><steps><task><description>{{{{p}}}}</description>\
         <parameters><parameter name=\"p\"/></parameters></task></steps></task></library>"
    );
    let registry = compile_sources(&Config::default(), [("a.xml", library.as_str())])
        .registry
        .unwrap();
    let all = ["one", "two", "three", "four"].map(|task| parameters(&registry, task).join(" "));
    assert_eq!(all, ["n?", "m? n?", "v?", "p?"]);
    // The hash of a definition moves with them.
    let hash = |library: &str| {
        let registry = compile_sources(&Config::default(), [("a.xml", library)])
            .registry
            .unwrap();
        registry.find("two").unwrap().hash().to_string()
    };
    assert_ne!(
        hash(&library),
        hash(&library.replacen("name=\"n\"/>", "name=\"n\" type=\"string\"/>", 1))
    );
}

const MAIL: &str = "<description>d</description><parameters><parameter name=\"mail\" trust=\"untrusted\"/></parameters>";

#[test]
fn nothing_untrusted_reaches_a_system_text_by_way_of_a_reference() {
    let library = "<fragment name=\"g\">{{mail}}</fragment><fragment name=\"h\">x <use fragment=\"g\"/></fragment>\
        <task type=\"atomic\" name=\"q\"><description>d</description><parameters><parameter name=\"mail\"/></parameters><system>S {{mail}}</system></task>\
        <task type=\"atomic\" name=\"kept\"><description>{{mail}}</description><parameters><parameter name=\"mail\"/></parameters><system>S</system></task>\
        <template name=\"f\" params=\"m\"><task type=\"atomic\"><description>d</description><system>S {{m}}</system></task></template>\
        <template name=\"by\" params=\"k\"><task type=\"sequential\"><description>d</description><inputs><input name=\"z\">a {{k}}</input></inputs>\
        <steps><call template=\"f\"><arg name=\"m\" from=\"z\"/></call></steps></task></template>";
    let found = |body: &str| {
        let task = format!(
            "<library>{library}<task type=\"sequential\" name=\"o\">{MAIL}{body}</task></library>"
        );
        places(&task, &["CTX310"]).len()
    };
    for bad in [
        "<system>Obey <use fragment=\"h\"/></system>",
        "<inputs><input name=\"i\">s <use fragment=\"h\"/></input></inputs><system>Obey {{i}}</system>",
        "<steps><task ref=\"q\"/></steps>",
        "<steps><call template=\"f\"><arg name=\"m\" from=\"mail\"/></call></steps>",
        "<steps><call template=\"f\"><arg>see {{mail}}</arg></call></steps>",
        "<steps><call template=\"by\"><arg name=\"k\">see <use fragment=\"g\"/></arg></call></steps>",
        "<steps><task><description>d</description><parameters><parameter name=\"mail\"/></parameters><system>{{mail}}</system></task></steps>",
    ] {
        assert_eq!(found(bad), 1, "{bad}");
    }
    for good in [
        "<system>Obey</system><instructions><use fragment=\"h\"/></instructions>",
        "<steps><task ref=\"kept\"/></steps>",
        "<steps><call template=\"f\"><arg name=\"m\">all</arg></call></steps>",
    ] {
        assert_eq!(found(good), 0, "{good}");
    }
}

/// One mistake in a fragment is one finding, whatever the number of its uses.
#[test]
fn what_several_uses_of_a_fragment_lack_is_reported_at_the_fragment() {
    let of = |users: &[&str]| {
        let user = |name: &&str| {
            format!(
                "<task type=\"atomic\" name=\"{name}\"><description>{{{{p}}}} <use fragment=\"g\"/></description><parameters><parameter name=\"p\"/></parameters></task>"
            )
        };
        let users: String = users.iter().map(user).collect();
        places(
            &format!(
                "<library><fragment name=\"g\">{{{{p}}}} {{{{v}}}}</fragment>{users}</library>"
            ),
            &["CTX304"],
        )
    };
    assert_eq!(
        (of(&[]).len(), of(&["a"]), of(&["a", "b", "c"])),
        (0, vec!["CTX304 g".to_owned()], vec!["CTX304 g".to_owned()])
    );
    let library = "<library><fragment name=\"g\">{{v}}</fragment><task type=\"atomic\" name=\"a\"><description>d <use fragment=\"g\"/></description>\
        <instructions><use fragment=\"g\"/></instructions><parameters/></task></library>";
    let built = compile_sources(&Config::default(), [("a.xml", library)]);
    let found = built
        .diagnostics
        .iter()
        .find(|found| found.rule.name == "undeclared-variable")
        .unwrap();
    assert_eq!(
        found.message,
        "the fragment `g` takes `v`, which has no value in 2 of the places that use it"
    );
    assert_eq!(
        (found.span.start as usize, found.labels.len()),
        (library.find("g\">").unwrap(), 2)
    );
}

/// Reported once, where it is declared, whatever refers to it.
#[test]
fn what_may_be_left_out_has_a_default() {
    let q = "<task type=\"atomic\" name=\"q\"><description>{{n}}</description><parameters><parameter name=\"n\" required=\"false\"/></parameters></task>";
    let users = ["a", "b"].map(|name| {
        format!("<task type=\"sequential\" name=\"{name}\"><description>{{{{m}}}}</description><parameters><parameter name=\"m\"/></parameters><steps><task ref=\"q\"/></steps></task>")
    });
    let of = |library: &str| places(library, &["CTX304", "CTX315", "CTX324"]);
    assert_eq!(
        of(&format!("<library>{q}{}</library>", users.concat())),
        ["CTX324 n"]
    );
    assert_eq!(of(&q.replace("/></", " default=\"1\"/></")), [""; 0]);
    // Inside a task it has the bindings around it.
    let inner = |parameters: &str| {
        let inner = q.replace(" name=\"q\"", "");
        of(&format!(
            "<task type=\"sequential\" name=\"o\"><description>d</description>{parameters}<steps>{inner}</steps></task>"
        ))
    };
    assert_eq!(
        inner("<parameters><parameter name=\"n\"/></parameters>"),
        [""; 0]
    );
    assert_eq!(inner("<parameters/>"), ["CTX324 n"]);
    assert_eq!(inner(""), ["CTX324 n"]);
}

/// A body inside takes its parameter from the surrounding task until its own input of that name
/// exists.
#[test]
fn an_input_gives_a_parameter_its_value_from_there_on() {
    let of = |inputs: &str, around: &str, system: &str| {
        let library = format!(
            "<task type=\"sequential\" name=\"o\"><description>d</description>{around}<steps><task><description>{{{{b}}}}</description>\
             <parameters><parameter name=\"b\"/></parameters><inputs>{inputs}</inputs>{system}</task></steps></task>"
        );
        places(&library, &["CTX304", "CTX310", "CTX315"])
    };
    let (itself, plain) = (
        "<input name=\"b\">t {{b}}</input>",
        "<input name=\"b\">t</input>",
    );
    assert_eq!(of(plain, "", ""), [""; 0]);
    assert_eq!(of(itself, "", ""), ["CTX315 task"]);
    assert_eq!(
        of(
            &format!("<input name=\"a\">{{{{b}}}}</input>{plain}"),
            "",
            ""
        ),
        ["CTX315 task"]
    );
    assert_eq!(of(itself, "<parameters/>", ""), ["CTX304 b"]);
    assert_eq!(
        of(
            itself,
            "<parameters><parameter name=\"b\"/></parameters>",
            ""
        ),
        [""; 0]
    );
    let untrusted = "<parameters><parameter name=\"b\" trust=\"untrusted\"/></parameters>";
    assert_eq!(
        of(itself, untrusted, "<system>{{b}}</system>"),
        ["CTX310 b"]
    );
    assert_eq!(of(plain, untrusted, "<system>{{b}}</system>"), [""; 0]);
}

#[test]
fn types_are_held_across_references() {
    let of = |kind: &str, taken: &str| {
        let library = format!(
            "<library><task type=\"atomic\" name=\"q\"><description>x {{{{n}}}}</description><parameters><parameter name=\"n\" type=\"{taken}\"/></parameters></task>\
             <task type=\"sequential\" name=\"o\"><description>x</description><parameters><parameter name=\"n\" type=\"{kind}\"/></parameters><steps><task ref=\"q\"/></steps></task></library>"
        );
        places(&library, &["CTX305"]).len()
    };
    assert_eq!(
        (
            of("string", "number"),
            of("object", "string"),
            of("boolean", "array")
        ),
        (1, 1, 1)
    );
    assert_eq!(
        (
            of("string", "string"),
            of("integer", "number"),
            of("number", "integer"),
            of("array", "string[]")
        ),
        (0, 0, 0, 0)
    );
}

/// A text from outside is never a number, by whose type alone it would be trusted.
#[test]
fn a_text_from_outside_is_not_handed_over_as_a_number() {
    let of = |inner: &str, trust: &str| {
        let library = format!(
            "<library><task type=\"atomic\" name=\"q\"><description>x {{{{n}}}}</description><parameters><parameter name=\"n\" type=\"number\"/></parameters></task>\
             <template name=\"f\" params=\"n\"><task type=\"atomic\"><description>x {{{{n}}}}</description><parameters><parameter name=\"n\" type=\"number\"/></parameters></task></template>\
             <task type=\"atomic\" name=\"m\"><description>x {{{{n}}}}</description><parameters><parameter name=\"n\" type=\"number\" trust=\"untrusted\"/></parameters></task>\
             <task type=\"sequential\" name=\"o\"><description>x</description><parameters><parameter name=\"mail\"{trust}/></parameters>{inner}</task></library>"
        );
        places(&library, &["CTX305"])
    };
    // A name that is marked itself is held to its type, with any value.
    let marked = of(
        "<inputs><input name=\"n\">4</input></inputs><steps><task ref=\"m\"/></steps>",
        "",
    );
    assert_eq!(marked, ["CTX305 m"]);
    let input = |given: &str| {
        format!("<inputs><input name=\"n\"{given}</inputs><steps><task ref=\"q\"/></steps>")
    };
    let call =
        |given: &str| format!("<steps><call template=\"f\"><arg name=\"n\"{given}</call></steps>");
    let untrusted = " trust=\"untrusted\"";
    assert_eq!(of(&input(">{{mail}}</input>"), untrusted), ["CTX305 q"]);
    assert_eq!(of(&call(">{{mail}}</arg>"), untrusted), ["CTX305 f"]);
    for (inner, trust) in [
        (input(" from=\"mail\"/>"), untrusted),
        (call(" from=\"mail\"/>"), untrusted),
        (call(" trust=\"trusted\">{{mail}}</arg>"), untrusted),
        (input(">{{mail}}</input>"), ""),
        (input(">4</input>"), untrusted),
        (
            input(">{{mail}}</input>"),
            " trust=\"untrusted\" type=\"number\"",
        ),
    ] {
        assert_eq!(of(&inner, trust), [""; 0], "{inner}");
    }
}

/// Small random numbers from one seed.
struct Dice {
    state: u64,
    /// True while a part of a reduce is being written.
    is_part: bool,
}

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % sides
    }

    fn of<'s>(&mut self, words: &[&'s str]) -> &'s str {
        words[self.roll(words.len() as u64) as usize]
    }

    /// A name that may be bound, in the parts of a reduce those of its rounds, too.
    fn name(&mut self) -> &'static str {
        let of_rounds = if self.is_part { 3 } else { 0 };
        [
            "a",
            "b",
            "c",
            "current_input",
            "accumulator",
            "current_result",
        ][self.roll(3 + of_rounds) as usize]
    }

    fn text(&mut self, fragments: u64) -> String {
        let name = self.name();
        let expression = match self.roll(8) {
            6 => format!("{{{{{name}.x}}}}"),
            7 => format!("{{{{{name}.x.y}}}}"),
            0 | 1 => format!("{{{{{name}}}}}"),
            2 => format!("&#123;{{{name}}}}}"),
            3 => format!("{{<!-- -->{{{name}}}<![CDATA[}}]]>"),
            4 if fragments > 0 => format!("<use fragment=\"g{}\"/>", self.roll(fragments)),
            _ => String::new(),
        };
        format!("t {expression}")
    }

    fn profile(&mut self) -> &'static str {
        self.of(&["", "", "", "", "", " profile=\"bare\"", " profile=\"xml\""])
    }

    fn parameters(&mut self) -> String {
        let mut out = String::from("<parameters>");
        for name in ["a", "b", "c"] {
            let kind = self.of(&[
                "",
                "",
                " type=\"string\"",
                " type=\"number\"",
                " type=\"object\"",
            ]);
            let more = self.of(&[
                "",
                "",
                " required=\"true\"",
                " trust=\"untrusted\"",
                " default=\"1\"",
            ]);
            let is_object = kind.contains("object");
            let more = if is_object {
                more.replace("\"1\"", "'{\"x\": 1}'")
            } else {
                more.to_owned()
            };
            if self.roll(3) > 0 && (!more.contains("default") || kind.is_empty() || is_object) {
                let _ = write!(out, "<parameter name=\"{name}\"{kind}{more}/>");
            }
        }
        out + "</parameters>"
    }

    fn inputs(&mut self, fragments: u64) -> String {
        let mut out = String::new();
        for name in ["a", "b"] {
            match self.roll(5) {
                0 => out.extend([
                    "<input name=\"",
                    name,
                    "\" from=\"",
                    self.name(),
                    self.of(&["", "", ".x"]),
                    "\"/>",
                ]),
                1 => out.extend([
                    "<input name=\"",
                    name,
                    "\">",
                    &self.text(fragments),
                    "</input>",
                ]),
                _ => {}
            }
        }
        if out.is_empty() {
            out
        } else {
            format!("<inputs>{out}</inputs>")
        }
    }

    fn body(&mut self, fragments: u64, tasks: u64, depth: u64) -> String {
        let mut out = format!("<description>{}</description>", self.text(fragments));
        if self.roll(3) == 0 {
            out += &self.parameters();
        }
        out += &self.inputs(fragments);
        if self.roll(3) == 0 {
            out.extend(["<system>s ", &self.text(fragments), "</system>"]);
        }
        if depth > 0 {
            let mut steps = String::new();
            for _ in 0..=self.roll(3) {
                // A result has a name that belongs to its form: see `result`.
                let named = |name: &str| format!(" as=\"{name}\"");
                match self.roll(4) {
                    0 | 1 if tasks > 0 => {
                        let at = self.roll(tasks);
                        let result = named(FORMS[at as usize % 3].0);
                        let _ = write!(steps, "<task ref=\"t{at}\"{result}/>");
                    }
                    2 if tasks > 0 => {
                        let arg = if self.roll(6) == 0 {
                            String::new()
                        } else {
                            self.text(fragments)
                        };
                        let result = named("b");
                        let _ = write!(
                            steps,
                            "<call template=\"f\"{result}><arg name=\"a\">{arg}</arg></call>"
                        );
                    }
                    _ => {
                        let (name, form) = FORMS[self.roll(3) as usize];
                        let (body, profile) = (self.body(fragments, 0, 0), self.profile());
                        let _ = write!(
                            steps,
                            "<task type=\"atomic\"{}{profile}>{body}{form}</task>",
                            named(name)
                        );
                    }
                }
            }
            out.extend(["<steps>", &steps, "</steps>"]);
        }
        out
    }

    /// Writes the parts of a reduce task: its rounds leave a value of the form `c`.
    fn reduce(&mut self, fragments: u64) -> String {
        let mut out = self.body(fragments, 0, 0);
        if self.roll(3) == 0 {
            out.extend(["<initial_value>", &self.text(fragments), "</initial_value>"]);
        }
        self.is_part = true;
        for part in ["inner_task", "reduction_task"] {
            let _ = write!(
                out,
                "<{part}>{}{}</{part}>",
                self.body(fragments, 0, 0),
                FORMS[2].1
            );
        }
        self.is_part = false;
        out
    }

    fn task(&mut self, number: u64) -> String {
        let kind = self.of(&["atomic", "sequential", "reduce"]);
        let body = if kind == "reduce" {
            self.reduce(3)
        } else {
            self.body(3, number, u64::from(kind == "sequential"))
        };
        let profile = self.profile();
        format!(
            "<task type=\"{kind}\" name=\"t{number}\"{profile}>{body}{}</task>\n",
            FORMS[number as usize % 3].1
        )
    }

    /// A library in which everything passes: of each definition the first that does, if one of a
    /// few does.
    fn project(&mut self) -> String {
        let mut out = String::from("<library>\n");
        for at in 0..3 {
            let _ = writeln!(out, "<fragment name=\"g{at}\">{}</fragment>", self.text(at));
        }
        let _ = self.add(&mut out, |dice| {
            let body = dice.body(3, 0, 0).replace("{b", "{a").replace("{c", "{a");
            let form = FORMS[1].1;
            format!("<template name=\"f\" params=\"a\" returns=\"number\"><task type=\"atomic\">{body}{form}</task></template>\n")
        });
        let mut tasks = 0;
        while tasks < 5 && self.add(&mut out, |dice| dice.task(tasks)) {
            tasks += 1;
        }
        out + "</library>"
    }

    fn add(&mut self, library: &mut String, make: impl Fn(&mut Self) -> String) -> bool {
        let passes = |one: &String| {
            built(&format!("{library}{one}</library>"))
                .registry
                .is_some()
        };
        let found = (0..12).map(|_| make(self)).find(passes);
        library.push_str(found.as_deref().unwrap_or_default());
        found.is_some()
    }
}

fn built(library: &str) -> ctxc::Built {
    compile_sources(&config(library), [("a.xml", library), ("c.json", C)])
}

/// Roles that play every second task, without fences where it names no profile.
fn config(library: &str) -> Config {
    let played = (0..5)
        .step_by(2)
        .filter(|at| library.contains(&format!(" name=\"t{at}\"")));
    read(
        &played
            .map(|at| format!("[roles.r{at}]\ntemplate = \"t{at}\"\nprofile = \"bare\"\n"))
            .collect::<Vec<_>>()
            .concat(),
    )
}

/// A value for a parameter.
fn value(kind: Option<&str>) -> Value {
    match kind {
        Some("number" | "integer") => json!(4),
        Some("string") => json!("words"),
        // A name without a declared type has every part that is used, by way of other inputs too.
        _ => parts(6),
    }
}

fn parts(levels: u32) -> Value {
    if levels == 0 {
        json!("deep")
    } else {
        json!({"x": parts(levels - 1), "y": parts(levels - 1)})
    }
}

/// A result of the form that belongs to its name.
fn result(name: &str) -> Value {
    match name {
        "a" => json!("words"),
        "b" => json!(4),
        _ => json!({"x": "one"}),
    }
}

/// The forms of answers, and the names of their results.
const FORMS: [(&str, &str); 3] = [
    ("a", "<output_format type=\"text\"/>"),
    ("b", "<output_format type=\"json\" schema=\"number\"/>"),
    ("c", "<output_format type=\"json\" schema=\"c.json\"/>"),
];

const C: &str =
    r#"{"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": false}"#;

/// The values that a run brings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brings {
    All,
    /// The required values.
    Needed,
}

/// Renders every agent with the parameters of its task, and other values of a run; returns the
/// reason of the first refusal.
fn refused(registry: &Registry, brings: Brings, config: &Config) -> Option<String> {
    let played = |task: &str| config.roles.values().find(|role| role.task.value == task);
    let roles = |(task, node): (String, String)| {
        let roles = [None, played(&task)];
        roles
            .into_iter()
            .take(1 + usize::from(roles[1].is_some()))
            .map(move |role| (task.clone(), node.clone(), role))
    };
    for (task, node, role) in agents(registry).into_iter().flat_map(roles) {
        let all = registry.find(&task).unwrap().parameters().unwrap();
        let given: Vec<_> = all
            .iter()
            .filter(|own| brings == Brings::All || own.default.is_none())
            .collect();
        let mut inputs: BTreeMap<String, Value> = given
            .iter()
            .map(|own| (own.name.clone(), value(own.kind.as_deref())))
            .collect();
        // A name without a declared type has one that fits, by way of other names too.
        let open: Vec<_> = given.iter().filter(|own| own.kind.is_none()).collect();
        let mut tries = 0;
        let mut results: BTreeMap<String, StepResult> = BTreeMap::new();
        loop {
            let source = Fixtures(Vec::new());
            let request = Request {
                node: &node,
                inputs: &inputs,
                results: &results,
                files: &Here,
                source: &source,
                role,
                ..Request::new(&task)
            };
            let Err(faults) = assemble(registry, &request, &Options::default()) else {
                break;
            };
            if faults.iter().all(|fault| {
                matches!(*fault.kind, FaultKind::WrongType { .. })
                    || tries > 0 && matches!(*fault.kind, FaultKind::NoPart { .. })
            }) && tries + 1 < 3_usize.pow(open.len() as u32)
            {
                tries += 1;
                for (at, own) in open.iter().enumerate() {
                    let kinds = [None, Some("number"), Some("string")];
                    inputs.insert(
                        own.name.clone(),
                        value(kinds[tries / 3_usize.pow(at as u32) % 3]),
                    );
                }
                continue;
            }
            let mut known = results.len();
            for fault in faults.iter() {
                if let FaultKind::Missing {
                    name,
                    origin: MissingFrom::Result,
                } = &*fault.kind
                {
                    results.insert(
                        name.clone(),
                        StepResult {
                            content: result(name),
                            ..StepResult::default()
                        },
                    );
                }
                // A result without a name of its own has the form that its task gives it.
                if let FaultKind::ResultForm { name, takes, .. } = &*fault.kind {
                    let content = if takes.ends_with("number") {
                        json!(4)
                    } else {
                        json!("words")
                    };
                    let is_new = results
                        .get(name)
                        .is_none_or(|given| given.content != content);
                    results.insert(
                        name.clone(),
                        StepResult {
                            content,
                            ..StepResult::default()
                        },
                    );
                    known = known.min(results.len() - usize::from(is_new));
                }
            }
            if results.len() == known {
                return Some(format!("{task}{node}: {faults:#?}"));
            }
        }
    }
    None
}

proptest! {
    // The same projects in every run, unless PROPTEST_RNG_SEED asks for others.
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: seed(), ..ProptestConfig::default() })]

    #[test]
    fn what_passes_check_can_run(seed: u64) {
        let project = Dice { state: seed, is_part: false }.project();
        let built = built(&project);
        let registry = built.registry.unwrap();
        // A part that a default lacks is a warning for every use of the default: a run may bring
        // another value.
        let is_told = built.diagnostics.iter().any(|found| found.rule.name == "unknown-field");
        let why = refused(&registry, Brings::All, &config(&project)).or_else(|| refused(&registry, Brings::Needed, &config(&project)));
        prop_assert_eq!(why.filter(|_| !is_told), None, "{}", project);
    }
}

fn seed() -> RngSeed {
    match ProptestConfig::default().rng_seed {
        RngSeed::Random => RngSeed::Fixed(15),
        asked @ RngSeed::Fixed(_) => asked,
    }
}

/// A check without a registry keeps less of each file, and reports the same.
#[test]
fn a_check_alone_finds_what_a_build_finds() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.json"), C).unwrap();
    let mut wrong = 0;
    for seed in 0..24 {
        let mut dice = Dice {
            state: seed,
            is_part: false,
        };
        let project = dice.project();
        // The last task is taken without a check.
        let project = format!(
            "{}{}</library>",
            project.trim_end_matches("</library>"),
            dice.task(5)
        );
        std::fs::write(folder.path().join("a.xml"), &project).unwrap();
        let [check, build] = [CheckGoal::Findings, CheckGoal::Registry].map(|goal| {
            let request = workspace::request::CheckRequest {
                root: folder.path(),
                config: &Config::default(),
                given: &[],
                stdin: None,
                overlay: &BTreeMap::new(),
                threads: None,
                goal,
                recording: InputRecording::Off,
                identity: Fingerprints::Computed,
                min_severity: ctxc::Severity::Hint,
            };
            let found = workspace::project_check::check_project(&request)
                .unwrap()
                .diagnostics;
            found
                .iter()
                .map(|found| format!("{found:?}"))
                .collect::<Vec<_>>()
        });
        assert_eq!(check, build, "{project}");
        wrong += usize::from(check.iter().any(|found| found.contains("from outside")));
    }
    assert!(wrong > 0, "no project is wrong by what references bring");
}

/// A number as a result carries no instructions, in any value behind a reference.
#[test]
fn a_number_handed_to_a_reference_is_no_text() {
    let project = r#"<library>
<task type="sequential" name="t0"><description>d</description>
<inputs><input name="b">t {{b}}</input></inputs>
<steps><task type="atomic"><system>Say {{b}}</system><description>go</description></task></steps></task>
<task type="reduce" name="t1"><description>r</description><inputs><input name="l" from="l"/></inputs><initial_value>0</initial_value>
<inner_task><description>i {{current_input}}</description></inner_task>
<reduction_task><description>s {{accumulator}}</description></reduction_task><output_format type="json" schema="number"/></task>
<task type="sequential" name="t2"><description>d</description><steps><task ref="t1" as="b"/><task ref="t0" as="a"/></steps></task>
</library>"#;
    let built = compile_sources(&Config::default(), [("a.xml", project)]);
    assert!(
        !built
            .diagnostics
            .iter()
            .any(|found| found.severity == ctxc::Severity::Error),
        "{:?}",
        built.diagnostics
    );
    assert_eq!(
        refused(&built.registry.unwrap(), Brings::All, &Config::default()),
        None
    );
}

/// The results that a loop without a script does not have (finding L21).
#[test]
fn a_loop_without_a_script_has_no_result_of_one() {
    let cycle = |script: &str| {
        let parts = "<director><description>d</description></director>";
        let evaluator = "<evaluator><description>r {{script_result}}</description></evaluator>";
        places(
            &format!(
                "<library><task type=\"director_evaluator_loop\" name=\"l\"><description>t</description>\
                 <parameters/>{parts}{evaluator}{script}<max_iterations>2</max_iterations></task></library>"
            ),
            &["CTX304"],
        )
    };
    assert_eq!(cycle(""), ["CTX304 script_result"]);
    assert_eq!(
        cycle("<script_execution><command>ls</command></script_execution>"),
        Vec::<String>::new()
    );
    // An unknown element, reported as that, may be the script.
    assert_eq!(
        cycle("<script><command>ls</command></script>"),
        Vec::<String>::new()
    );
}
