//! The steps that every client of `ctxc lsp` takes: it opens a broken template, sees the finding at
//! its place, applies the way out and sees it gone. The set-up is the one that `docs/EDITORS.md`
//! shows, taken from the page.

use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The characters before the fault have different lengths in bytes, in UTF-16 and in characters.
const BROKEN: &str = "<task type=\"atomic\" name=\"broken\">
  <context_management><!-- 🦀é --><inherit_context>full</inherit_context><fresh_context>enabled</fresh_context></context_management>
</task>
";
const COVERED: &str = "<fresh_context>enabled</fresh_context>";
const FILE: &str = "project/templates/broken.xml";
/// The template has no description: a client that does not find the project has one finding more.
const SETTINGS: &str = "[lints]\nmissing-description = \"off\"\n";

/// The text under the finding before the fix, the text after it, and the remaining findings.
pub(super) fn expected() -> Value {
    json!({
        "seen": [{
            "code": "CTX201",
            "covers": COVERED,
            "message": "looks up fresh context, but would also inherit all of its parent's",
        }],
        "text": BROKEN.replace("<inherit_context>full<", "<inherit_context>none<"),
        "left": [],
    })
}

/// A project with one broken template, in a folder of its own: the editor is started above it.
pub(super) fn project() -> Project {
    Project::new()
        .with_file("project/ctxc.toml", SETTINGS)
        .with_file(FILE, BROKEN)
}

/// The code of a language under a heading of the page, in the order of the page.
pub(super) fn snippets(heading: &str, language: &str) -> Vec<String> {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/EDITORS.md")).unwrap();
    let parts = page
        .split("\n## ")
        .filter(|part| part.starts_with(heading))
        .collect::<Vec<_>>();
    let [part] = parts[..] else {
        panic!("{} headings {heading:?} in docs/EDITORS.md", parts.len())
    };
    let blocks = part.split("\n```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .map(str::to_owned)
        .collect()
}

/// A script that drives a client, by its name in this folder.
pub(super) fn script(name: &str) -> String {
    format!(
        "{}/tests/it/peers/clients/{name}",
        env!("CARGO_MANIFEST_DIR")
    )
}

/// A command in the project which finds `ctxc` as its user would: on the path.
pub(super) fn command(project: &Project, program: &str) -> Command {
    let ctxc = Path::new(env!("CARGO_BIN_EXE_ctxc")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(program);
    command
        .current_dir(project.path(""))
        .env("PATH", format!("{}:{path}", ctxc.display()));
    // Nothing of the tester's own set-up of the program.
    command
        .env("HOME", project.path(""))
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("XDG_DATA_HOME");
    command
        .env("CTXC_FILE", project.path(FILE))
        .env("CTXC_REPORT", project.path("report.json"));
    command
}

/// Runs a client and reads its report.
#[track_caller]
pub(super) fn report(project: &Project, command: &mut Command) -> Value {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}",
        output.status
    );
    let report = std::fs::read(project.path("report.json"))
        .unwrap_or_else(|error| panic!("{command:?}: {error}\n{printed}"));
    serde_json::from_slice(&report).unwrap()
}

#[test]
fn snippets_are_found_on_the_page() {
    assert_eq!(snippets("Emacs", "elisp").len(), 1);
    assert_eq!(snippets("Emacs", "lua").len(), 0);
    assert_eq!(snippets("Neovim", "lua").len(), 2);
    assert_eq!(snippets("Helix", "toml").len(), 1);
}

/// The keys that Helix reads in `[[language]]`, where it refuses every other key, and in
/// `[language-server.NAME]`.
const HELIX_LANGUAGE: &str = "name language-id scope file-types shebangs roots comment-token comment-tokens \
    block-comment-tokens text-width soft-wrap auto-format formatter path-completion word-completion diagnostic-severity \
    grammar injection-regex language-servers indent debugger auto-pairs rulers workspace-lsp-roots \
    persistent-diagnostic-sources rainbow-brackets";
const HELIX_SERVER: &str = "command args environment config timeout required-root-patterns";

/// No package brings Helix, so its set-up is compared with the keys that Helix reads, and its
/// command is run.
#[test]
fn the_set_up_for_helix_is_one_that_helix_reads() {
    let [text] = &snippets("Helix", "toml")[..] else {
        panic!("one set-up")
    };
    let set_up: Value = toml::from_str(text).unwrap();
    let keys = |table: &Value| {
        table
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let all_of = |known: &str, table: &Value| {
        keys(table)
            .iter()
            .all(|key| known.split(' ').any(|word| word == key))
    };
    let mut parts = keys(&set_up);
    parts.sort_unstable();
    assert_eq!(parts, ["language", "language-server"]);
    let [language] = &set_up["language"].as_array().unwrap()[..] else {
        panic!("one language")
    };
    assert!(all_of(HELIX_LANGUAGE, language), "{language}");
    // Omitted keys come from the entry that Helix itself has under this name.
    assert_eq!(
        (&language["name"], &language["roots"]),
        (&json!("xml"), &json!(["ctxc.toml"]))
    );
    let server = &set_up["language-server"][language["language-servers"][0].as_str().unwrap()];
    assert!(all_of(HELIX_SERVER, server), "{server}");

    let project = project();
    let mut command = command(&project, server["command"].as_str().unwrap());
    command.args(
        server["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap()),
    );
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    write!(
        child.stdin.take().unwrap(),
        "Content-Length: {}\r\n\r\n{ask}",
        ask.len()
    )
    .unwrap();
    let printed = child.wait_with_output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&printed).contains(r#""serverInfo":{"name":"ctxc""#));
}
