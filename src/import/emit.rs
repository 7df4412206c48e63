//! Writes a prompt as the smallest equivalent template.

use super::prompt_model::{
    ImportedParameter as Declared, ImportedPrompt, ImportedTurn, PlaceholderSyntax, PromptText,
    RequestedModel, TurnRole,
};
use crate::base::contained_path::relative_path;
use crate::kernel::sampling::Parameter;
use crate::syntax::write::{escape_attribute, escape_text};
use crate::template::text::dedent;
use std::fmt::Write as _;

/// The source of a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptOrigin<'a> {
    /// Its file.
    pub path: &'a str,
    /// The name of its format.
    pub format: &'a str,
}

/// The text of a template in `folder`, for a prompt from `origin`. The results of `write!` are
/// ignored, since writing to a string cannot fail.
pub fn write_template(
    imported: &ImportedPrompt,
    name: &str,
    folder: &str,
    origin: PromptOrigin<'_>,
) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    write_comment(imported, origin, &mut out);
    // Generated headings would not be text of the prompt.
    let _ = writeln!(
        out,
        "<task type=\"atomic\" name=\"{}\" profile=\"bare\">",
        escape_attribute(name)
    );
    let turn = |role: TurnRole| imported.turns.iter().filter(move |turn| turn.role == role);
    if let Some(turn) = turn(TurnRole::User).next_back() {
        write_text("description", turn, folder, "  ", &mut out);
    } else {
        let request = imported.request.as_deref().unwrap_or("request");
        let _ = writeln!(out, "  <description>{{{{{request}}}}}</description>");
    }
    write_parameters(&imported.parameters, &mut out);
    for turn in turn(TurnRole::System) {
        write_text("system", turn, folder, "  ", &mut out);
    }
    if !imported.history.is_empty() {
        out.push_str("  <history/>\n");
    }
    write_examples(imported, folder, &mut out);
    if imported.schema.is_some() {
        let _ = writeln!(
            out,
            "  <output_format type=\"json\" schema=\"{}\"/>",
            escape_attribute(&schema_file(name))
        );
    } else if imported.answers_json {
        out.push_str("  <output_format type=\"json\"/>\n");
    }
    let sampling = imported
        .model
        .as_ref()
        .map(RequestedModel::sampling)
        .unwrap_or_default();
    if !sampling.is_empty() {
        let one = |(name, value): (&Parameter, &String)| {
            format!(" {}=\"{}\"", name.word(), escape_attribute(value))
        };
        let _ = writeln!(
            out,
            "  <sampling{}/>",
            sampling.iter().map(one).collect::<String>()
        );
    }
    out.push_str("</task>\n");
    out
}

/// The path of a task's answer schema, relative to its template.
pub fn schema_file(name: &str) -> String {
    format!("schemas/{name}.schema.json")
}

/// Writes the question-answer pairs before the last question.
fn write_examples(imported: &ImportedPrompt, folder: &str, out: &mut String) {
    let talk: Vec<&ImportedTurn> = imported
        .turns
        .iter()
        .filter(|turn| turn.role != TurnRole::System)
        .collect();
    if talk.len() < 2 {
        return;
    }
    out.push_str("  <examples as=\"turns\">\n");
    for pair in talk.chunks_exact(2) {
        let [input, output] = pair else { continue };
        out.push_str("    <example>\n");
        write_text("input", input, folder, "      ", out);
        write_text("output", output, folder, "      ", out);
        out.push_str("    </example>\n");
    }
    out.push_str("  </examples>\n");
}

/// The beginning of the comment that names the source prompt of a template.
const ORIGIN_PREFIX: &str = "<!-- Imported by `ctxc import` from ";

/// The source prompt of a template, from its comment.
pub fn template_origin(template: &str) -> Option<String> {
    let (_, rest) = template.split_once(ORIGIN_PREFIX)?;
    let (path, _) = rest.lines().next()?.rsplit_once(" (")?;
    Some(path.replace("- -", "--"))
}

fn write_comment(imported: &ImportedPrompt, origin: PromptOrigin<'_>, out: &mut String) {
    let PromptOrigin { path, format } = origin;
    let safe = |text: &str| text.replace("--", "- -");
    let _ = write!(out, "{ORIGIN_PREFIX}{} ({format}).", safe(path));
    if let Some(description) = &imported.description {
        for line in description.lines().filter(|line| !line.trim().is_empty()) {
            let _ = write!(out, "\n     {}", safe(line.trim()));
        }
    }
    out.push_str(" -->\n");
}

fn write_parameters(all: &[Declared], out: &mut String) {
    if all.is_empty() {
        return;
    }
    out.push_str("  <parameters>\n");
    for parameter in all {
        let _ = write!(
            out,
            "    <parameter name=\"{}\"",
            escape_attribute(&parameter.name)
        );
        if let Some(kind) = parameter.kind {
            let _ = write!(out, " type=\"{kind}\"");
        }
        match &parameter.default {
            Some(default) => {
                let _ = write!(out, " default=\"{}\"", escape_attribute(default));
            }
            None => out.push_str(" required=\"true\""),
        }
        out.push_str("/>\n");
    }
    out.push_str("  </parameters>\n");
}

/// Writes one text element.
fn write_text(element: &str, turn: &ImportedTurn, folder: &str, indent: &str, out: &mut String) {
    let syntax = match turn.syntax {
        PlaceholderSyntax::Plain => "",
        PlaceholderSyntax::Jinja => " syntax=\"jinja\"",
        PlaceholderSyntax::Verbatim => " verbatim=\"true\"",
    };
    // Both Jinja and the language remove the last line break; no other engine does.
    let words = match (&turn.body, turn.syntax) {
        (PromptText::InPlace { text, .. }, PlaceholderSyntax::Jinja) => {
            text.strip_suffix('\n').unwrap_or(text)
        }
        (PromptText::InPlace { text, .. } | PromptText::Inline(text), _) => text,
    };
    let is_canonical = dedent(words) == *words;
    let space = if is_canonical {
        ""
    } else {
        " xml:space=\"preserve\""
    };
    match &turn.body {
        PromptText::InPlace { path, .. } => {
            let src = escape_attribute(&relative_path(folder, path)).into_owned();
            let _ = writeln!(out, "{indent}<{element} src=\"{src}\"{syntax}{space}/>");
        }
        PromptText::Inline(_) if !is_canonical => {
            let _ = writeln!(
                out,
                "{indent}<{element}{syntax}{space}>{}</{element}>",
                escape_content(words)
            );
        }
        PromptText::Inline(_) if !words.contains('\n') && words.len() < 100 => {
            let _ = writeln!(
                out,
                "{indent}<{element}{syntax}>{}</{element}>",
                escape_text(words)
            );
        }
        PromptText::Inline(_) => write_block(element, syntax, words, indent, out),
    }
}

/// Writes an element with indented lines, in CDATA if they contain XML markup.
fn write_block(element: &str, syntax: &str, words: &str, indent: &str, out: &mut String) {
    let is_cdata = words.contains(['<', '&']) && !words.contains("]]>");
    let (open, close) = if is_cdata {
        ("<![CDATA[", "]]>")
    } else {
        ("", "")
    };
    let _ = writeln!(out, "{indent}<{element}{syntax}>{open}");
    for line in words.split('\n') {
        let line = if is_cdata {
            line.into()
        } else {
            escape_text(line)
        };
        if !line.is_empty() {
            out.extend([indent, "  ", &line]);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{indent}{close}</{element}>");
}

/// Escapes text between two tags without any loss of white space.
fn escape_content(words: &str) -> String {
    if words.contains(['<', '&']) && !words.contains("]]>") {
        return format!("<![CDATA[{words}]]>");
    }
    escape_text(words).into_owned()
}
