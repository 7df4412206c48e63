//! The texts that `ctxc init` writes. Pure functions.

use crate::syntax::write::TemplateWriter;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The path of the first template of an empty project.
pub(super) const FIRST_TEMPLATE_PATH: &str = "templates/summarize-document.xml";

/// Returns the text of `ctxc.toml` for templates in these folders.
pub(super) fn project_file(folders: &BTreeMap<String, usize>) -> String {
    let mut out = String::from(
        "# A ctxc project. Every key is optional: `ctxc defaults` shows what holds, `ctxc rules` what is checked.\n\
         edition = \"2026\"\n\n[templates]\n",
    );
    let names = folders.keys().map(|folder| {
        if folder.is_empty() {
            "*.xml".to_owned()
        } else {
            literal_pattern(folder)
        }
    });
    let list: Vec<String> = names.map(|name| quote_toml(&name)).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "include = [{}]", list.join(", "));
    out.push_str(
        "\n[lints]\n# A rule or a family: \"error\", \"warning\", \"info\", \"hint\" or \"off\".\n# no-context = \"error\"\n",
    );
    out
}

/// The text of `ctxc.toml` for an agent, which needs no template.
pub(super) const AGENT_PROJECT: &str = "# A ctxc project that tests an agent: `ctxc record -- COMMAND` keeps the requests that it sends, and\n\
     # `ctxc new scenario --from @last` makes a test of one. Every key is optional: `ctxc defaults` shows what holds.\n\
     edition = \"2026\"\n";

/// Returns a pattern that matches a folder's name literally. Special characters become `?`.
fn literal_pattern(name: &str) -> String {
    name.chars()
        .map(|c| {
            if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',') {
                '?'
            } else {
                c
            }
        })
        .collect()
}

fn quote_toml(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns the text of the first template.
pub(super) fn first_template() -> String {
    let mut xml = TemplateWriter::new();
    xml.open(
        "task",
        &[
            ("type", "atomic"),
            ("name", "summarize-document"),
            ("version", "1.0.0"),
        ],
    );
    xml.leaf(
        "description",
        &[],
        "Summarize {{document}} for {{audience}}.",
    );
    xml.open("parameters", &[]);
    xml.empty(
        "parameter",
        &[
            ("name", "document"),
            ("type", "string"),
            ("required", "true"),
        ],
    );
    xml.empty(
        "parameter",
        &[
            ("name", "audience"),
            ("type", "string"),
            ("default", "a reader who has not seen it"),
        ],
    );
    xml.close();
    xml.comment("A fresh start: only looked-up context, nothing of the parent's. Without this block: all of the parent's.");
    xml.open("context_management", &[]);
    xml.leaf("inherit_context", &[], "none");
    xml.leaf("fresh_context", &[], "enabled");
    xml.close();
    xml.leaf(
        "instructions",
        &[],
        "Write five sentences. Keep every number and name as the document has it; say what it leaves open.",
    );
    xml.finish()
}
