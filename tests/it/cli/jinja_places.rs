//! Words of Jinja texts are reported at their place behind any text: statements over many lines,
//! comments of both kinds, raw text, references, sections, line ends of two bytes.

use super::project::Project;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

/// Pseudo-random numbers, the same in every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

/// Text between words; `@` marks a place for a sign that controls white space.
const BETWEEN: [&str; 18] = [
    "{#@ c @#}",
    "{#@ c\n d\n é @#}",
    "{%@ set q = 1 @%}",
    "{%@ set q =\n  1 @%}",
    "{%@ set q = 'a\nb' @%}",
    "{{@ 'é漢' @}}",
    "{{@ a\n  | upper @}}",
    "{%@ if a @%}{%@ endif @%}",
    "{%@ raw @%}{{ no }}\n{% no %}{%@ endraw @%}",
    "\n",
    "\n\n   ",
    " ",
    "é漢 ",
    "<!-- c -->",
    "<!-- c\n\n é -->",
    "&lt;&amp;",
    "<![CDATA[ & \n <]]>",
    "&#10;",
];

/// A text with words, each made by `word` of its number, as XML or as a file of its own.
fn text(drawn: &mut Drawn, is_file: bool, word: impl Fn(usize) -> String) -> String {
    let (mut out, mut number) = (String::new(), 0);
    for _ in 0..4 + drawn.below(10) {
        if drawn.below(3) == 0 {
            out.push_str(&word(number));
            number += 1;
            continue;
        }
        let piece = drawn.of(if is_file { &BETWEEN[..13] } else { &BETWEEN });
        out.extend(piece.split('@').enumerate().map(|(at, part)| {
            let sign = if at > 0 && drawn.below(3) == 0 {
                "-"
            } else {
                ""
            };
            format!("{sign}{part}")
        }));
    }
    out + &word(number)
}

/// A project of `count` templates with a Jinja text of random white space, line ends, tags and
/// places, and its files by path. `word` gives the words of a text, by the number of the template
/// and that of the word.
fn project(
    seed: u64,
    count: usize,
    word: impl Fn(usize, usize) -> String,
) -> (Project, BTreeMap<String, String>) {
    let (mut drawn, project, mut texts) = (Drawn(seed), Project::new(), BTreeMap::new());
    for at in 0..count {
        let (is_file, line_end) = (drawn.below(3) == 0, drawn.of(&["\n", "\r\n"]));
        let words = text(&mut drawn, is_file, |number| word(at, number));
        let head = format!(
            "<task type=\"atomic\" name=\"t{at}\">\n<description>D</description><parameters><parameter name=\"a\" default=\"v\"/></parameters>"
        );
        let (path, inner) = if is_file {
            let path = format!("templates/t{at}.j2");
            texts.insert(path.clone(), words.replace('\n', line_end));
            (
                path,
                format!("<instructions syntax=\"jinja\" src=\"t{at}.j2\"/>"),
            )
        } else {
            let space = drawn.of(&["", " xml:space=\"preserve\""]);
            let indent = drawn.of(&["", "\n", "\n    "]);
            (
                format!("templates/t{at}.xml"),
                format!("<instructions syntax=\"jinja\"{space}>{indent}{words}</instructions>"),
            )
        };
        texts.insert(
            format!("templates/t{at}.xml"),
            format!("{head}{inner}</task>\n").replace('\n', line_end),
        );
        assert!(texts.contains_key(&path));
    }
    for (path, text) in &texts {
        project.write_file(path, text);
    }
    (project, texts)
}

/// The line, from 1, of a word in a text.
fn line_of(text: &str, word: &str) -> Option<usize> {
    text.find(word)
        .map(|at| 1 + text[..at].matches('\n').count())
}

#[test]
fn a_finding_stands_where_the_word_is_written() {
    for wrong in ["filter", "name"] {
        let word = |at: usize, number: usize| match wrong {
            "filter" => format!("{{{{ a|w{at}n{number}z }}}}"),
            _ => format!("w{at}n{number}z {{{{- w{at}n{number}z }}}}"),
        };
        let (project, texts) = project(7, 120, word);
        let json = project
            .run(&["check", "--format", "json"])
            .exits_with(1)
            .json();
        let mut found = 0;
        for diagnostic in json["diagnostics"].as_array().unwrap() {
            let message = diagnostic["message"].as_str().unwrap();
            let mut named = message
                .split('`')
                .filter(|part| part.starts_with('w') && part.ends_with('z'));
            let Some(name) = named.next() else { continue };
            let inside = diagnostic["labels"]
                .as_array()
                .unwrap()
                .iter()
                .find(|label| label["text"] == "in this text");
            let place = inside.unwrap_or(diagnostic);
            let text = &texts[place["path"].as_str().unwrap()];
            let before = if wrong == "name" { "{{- " } else { "|" };
            let start = text.find(&format!("{before}{name}")).unwrap() + before.len();
            let span = (
                place["span"]["start"].as_u64().unwrap(),
                place["span"]["end"].as_u64().unwrap(),
            );
            assert_eq!(
                span,
                (start as u64, (start + name.len()) as u64),
                "{name} in\n{text}"
            );
            found += 1;
        }
        // Most of the 120 texts have several such words: the test has not looked at too few.
        assert!(found > 300, "{found}");
    }
}

#[test]
fn a_rendered_line_is_from_the_line_of_its_first_words() {
    let (project, texts) = project(11, 60, |at, number| format!("w{at}n{number}z"));
    let mut found = 0;
    for at in 0..60 {
        let run = project.run(&["render", &format!("t{at}")]).exits_with(0);
        for line in run.stdout.lines().filter_map(|line| line.split_once('│')) {
            let words = line.1.trim_start();
            let Some(name) = words
                .strip_prefix('w')
                .and_then(|rest| rest.split_once('z'))
                .map(|(name, _)| format!("w{name}z"))
            else {
                continue;
            };
            let (path, line) = words
                .rsplit_once("templates/")
                .and_then(|(_, source)| source.rsplit_once(':'))
                .unwrap();
            let text = &texts[&format!("templates/{path}")];
            assert_eq!(line.parse().ok(), line_of(text, &name), "{name} in\n{text}");
            found += 1;
        }
    }
    assert!(found > 40, "{found}");
}
