//! `ctxc package diff`: eighty changes of a package, each with its category and the version that it
//! asks for.

use super::gate::{commit, git};
use super::project::Project;
use pretty_assertions::assert_eq;

const CONFIG: &str = r#"[package]
name = "acme/rules"
version = "1.0.0"
exports = ["tasks/triage", "tasks/report", "fragments/house", "roles/clerk", "tools/search", "tools/find_owner", "rules"]

[roles.clerk]
template = "triage"
system = "You sort."
tools = ["search", "read_page"]
blocked_tools = ["delete_page"]
budget = { tokens = 4000 }

[tools.search]
description = "Search the tickets."
parameters = { type = "object", properties = { query = { type = "string" }, limit = { type = "integer" } }, required = ["query"] }

[tools.read_page]
description = "Read a page."

[tools.delete_page]
description = "Delete a page."

[tools.find_owner]
description = "Find the owner."
parameters = { type = "object", properties = { team = { enum = ["billing", "access"] } } }

[lints]
no-context = "error"
"#;

const TRIAGE: &str = r#"<task type="atomic" name="triage">
  <description>Sort the ticket: {{ticket}}</description>
  <instructions>Name the team. Write in a {{tone}} tone.</instructions>
  <constraints>
    <constraint><use fragment="house"/></constraint>
  </constraints>
  <output_format type="json" schema="../schemas/verdict.json"/>
  <parameters>
    <parameter name="ticket" type="string" required="true" trust="untrusted"/>
    <parameter name="tone" type="string" default="kind"/>
  </parameters>
</task>
"#;

const REPORT: &str = r#"<task type="sequential" name="report">
  <description>Report on the week.</description>
  <parameters>
    <parameter name="week" type="integer" required="true"/>
  </parameters>
  <steps>
    <task type="atomic" as="facts">
      <description>Collect the facts of week {{week}}.</description>
      <constraints>
        <constraint><use fragment="source"/></constraint>
      </constraints>
    </task>
    <task type="atomic" as="page">
      <description>Write a page from {{facts}}.</description>
      <criteria>It has one paragraph.</criteria>
    </task>
  </steps>
</task>
"#;

const HOUSE: &str = r#"<library>
  <fragment name="house">Answer in English.</fragment>
  <fragment name="private">Be kind.</fragment>
  <fragment name="source">Count each ticket once.</fragment>
</library>
"#;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "team": {"type": "string", "enum": ["billing", "access", "other"]},
    "severity": {"type": "integer", "minimum": 1, "maximum": 5},
    "note": {"type": "string"}
  },
  "required": ["team", "severity"]
}
"#;

/// A package with one export of each kind.
pub(super) fn package() -> Project {
    Project::new()
        .with_file("ctxc.toml", CONFIG)
        .with_file("templates/triage.xml", TRIAGE)
        .with_file("templates/report.xml", REPORT)
        .with_file("templates/house.xml", HOUSE)
        .with_file("schemas/verdict.json", SCHEMA)
}

/// A change of one file, its gravest category, and the version that it asks for.
struct Change {
    path: &'static str,
    from: &'static str,
    to: &'static str,
    category: &'static str,
    version: &'static str,
}

const fn change(path: &'static str, edit: [&'static str; 2], result: [&'static str; 2]) -> Change {
    Change {
        path,
        from: edit[0],
        to: edit[1],
        category: result[0],
        version: result[1],
    }
}

const VERDICT: &str = "schemas/verdict.json";
const TASK: &str = "templates/triage.xml";
const STEPS: &str = "templates/report.xml";
const LIBRARY: &str = "templates/house.xml";
const SETTINGS: &str = "ctxc.toml";
const MAJOR: &str = "2.0.0";
const MINOR: &str = "1.1.0";
const PATCH: &str = "1.0.1";

const CHANGES: [Change; 80] = [
    // The answer.
    change(
        VERDICT,
        [",\n    \"note\": {\"type\": \"string\"}", ""],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["[\"team\", \"severity\"]", "[\"severity\"]"],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["[\"team\", \"severity\"]", "[\"team\"]"],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["\"maximum\": 5", "\"maximum\": 10"],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["\"minimum\": 1", "\"minimum\": 0"],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["\"other\"]", "\"other\", \"legal\"]"],
        ["OUTPUT", MAJOR],
    ),
    change(VERDICT, [", \"other\"]", "]"], ["OUTPUT", MAJOR]),
    change(VERDICT, ["\"integer\"", "\"number\""], ["OUTPUT", MAJOR]),
    change(
        VERDICT,
        [
            "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 5}",
            "{\"type\": \"string\"}",
        ],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        [
            "\"note\": {\"type\": \"string\"}",
            "\"note\": {\"type\": [\"string\", \"null\"]}",
        ],
        ["OUTPUT", MAJOR],
    ),
    change(VERDICT, ["team", "group"], ["OUTPUT", MAJOR]),
    change(
        VERDICT,
        ["\"type\": \"object\"", "\"type\": \"array\""],
        ["OUTPUT", MAJOR],
    ),
    change(
        TASK,
        [
            "type=\"json\" schema=\"../schemas/verdict.json\"",
            "type=\"text\"",
        ],
        ["OUTPUT", MAJOR],
    ),
    change(
        TASK,
        ["../schemas/verdict.json", "object"],
        ["OUTPUT", MAJOR],
    ),
    change(
        TASK,
        [
            "  <output_format type=\"json\" schema=\"../schemas/verdict.json\"/>\n",
            "",
        ],
        ["OUTPUT", MAJOR],
    ),
    change(SETTINGS, ["\"tasks/report\", ", ""], ["OUTPUT", MAJOR]),
    change(SETTINGS, ["\"tools/search\", ", ""], ["OUTPUT", MAJOR]),
    change(STEPS, ["facts", "findings"], ["OUTPUT", MAJOR]),
    change(
        STEPS,
        [
            "  <steps>\n",
            "  <steps>\n    <task type=\"atomic\" as=\"plan\">\n      <description>Plan.</description>\n    </task>\n",
        ],
        ["OUTPUT", MAJOR],
    ),
    change(
        VERDICT,
        ["\"minimum\": 1", "\"minimum\": 2"],
        ["OUTPUT", MINOR],
    ),
    // The inputs.
    change(
        TASK,
        [
            "<parameters>\n",
            "<parameters>\n    <parameter name=\"owner\" type=\"string\" required=\"true\"/>\n",
        ],
        ["INPUT", MAJOR],
    ),
    change(
        TASK,
        [
            "<parameters>\n",
            "<parameters>\n    <parameter name=\"owner\" type=\"string\" default=\"none\"/>\n",
        ],
        ["INPUT", MINOR],
    ),
    change(
        TASK,
        [
            "type=\"string\" default=\"kind\"",
            "type=\"string\" required=\"true\"",
        ],
        ["INPUT", MAJOR],
    ),
    change(TASK, ["tone", "voice"], ["INPUT", MAJOR]),
    change(
        TASK,
        ["name=\"tone\" type=\"string\"", "name=\"tone\""],
        ["INPUT", MAJOR],
    ),
    change(STEPS, ["\"integer\"", "\"number\""], ["INPUT", MAJOR]),
    change(STEPS, ["\"integer\"", "\"string\""], ["INPUT", MAJOR]),
    // The arguments of tools.
    change(
        SETTINGS,
        [
            "required = [\"query\"]",
            "required = [\"query\", \"limit\"]",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "limit = { type = \"integer\" }",
            "limit = { type = \"string\" }",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [", limit = { type = \"integer\" }", ""],
        ["TOOLS", MAJOR],
    ),
    change(SETTINGS, ["query", "words"], ["TOOLS", MAJOR]),
    change(
        SETTINGS,
        ["limit = {", "page = { type = \"integer\" }, limit = {"],
        ["TOOLS", MINOR],
    ),
    // A tool that no role uses.
    change(
        SETTINGS,
        [
            "{ enum = [\"billing\", \"access\"] }",
            "{ type = \"integer\" }",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        ["[\"billing\", \"access\"]", "[\"billing\"]"],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "[\"billing\", \"access\"]",
            "[\"billing\", \"access\", \"other\"]",
        ],
        ["TOOLS", MINOR],
    ),
    change(
        SETTINGS,
        [
            "\"access\"] } } }",
            "\"access\"] } }, required = [\"team\"] }",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "\"access\"] } } }",
            "\"access\"] } }, additionalProperties = false }",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        ["Find the owner.", "Find the owner of a ticket."],
        ["TEXT", PATCH],
    ),
    // The tools of a role.
    change(
        SETTINGS,
        [
            "tools = [\"search\", \"read_page\"]",
            "tools = [\"search\"]",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "tools = [\"search\", \"read_page\"]",
            "tools = [\"read_page\"]",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "tools = [\"search\", \"read_page\"]",
            "tools = [\"search\", \"read_page\", \"delete_*\"]",
        ],
        ["TOOLS", MINOR],
    ),
    change(
        SETTINGS,
        [
            "tools = [\"search\", \"read_page\"]",
            "tools = [\"search\", \"read_*\"]",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "blocked_tools = [\"delete_page\"]",
            "blocked_tools = [\"delete_page\", \"search_*\"]",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        ["tools = [\"search\", \"read_page\"]", "tools = []"],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        ["blocked_tools = [\"delete_page\"]\n", ""],
        ["TOOLS", MINOR],
    ),
    // The segments.
    change(
        TASK,
        [
            "  <instructions>Name the team. Write in a {{tone}} tone.</instructions>\n",
            "",
        ],
        ["SEGMENTS", MAJOR],
    ),
    change(
        TASK,
        [
            "  <constraints>\n    <constraint><use fragment=\"house\"/></constraint>\n  </constraints>\n",
            "",
        ],
        ["SEGMENTS", MAJOR],
    ),
    change(
        SETTINGS,
        ["system = \"You sort.\"\n", ""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        STEPS,
        ["      <criteria>It has one paragraph.</criteria>\n", ""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        TASK,
        ["<instructions>", "<instructions trust=\"untrusted\">"],
        ["SEGMENTS", MAJOR],
    ),
    change(
        TASK,
        [
            "<instructions>Name the team. Write in a {{tone}} tone.</instructions>",
            "<criteria>Name the team. Write in a {{tone}} tone.</criteria>",
        ],
        ["SEGMENTS", MAJOR],
    ),
    change(
        STEPS,
        [
            "      <criteria>",
            "      <instructions>Be brief.</instructions>\n      <criteria>",
        ],
        ["TOKENS", MAJOR],
    ),
    // The trust.
    change(
        TASK,
        ["required=\"true\" trust=\"untrusted\"", "required=\"true\""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        TASK,
        ["default=\"kind\"", "default=\"kind\" trust=\"untrusted\""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        STEPS,
        ["type=\"integer\"", "type=\"integer\" trust=\"untrusted\""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        LIBRARY,
        ["name=\"house\"", "name=\"house\" trust=\"untrusted\""],
        ["SEGMENTS", MAJOR],
    ),
    change(
        LIBRARY,
        ["name=\"source\"", "name=\"source\" trust=\"untrusted\""],
        ["SEGMENTS", MAJOR],
    ),
    // The tokens.
    change(
        SETTINGS,
        ["tokens = 4000", "tokens = 5000"],
        ["TOKENS", MAJOR],
    ),
    change(
        SETTINGS,
        ["tokens = 4000", "tokens = 4200"],
        ["TOKENS", MINOR],
    ),
    change(
        SETTINGS,
        ["budget = { tokens = 4000 }\n", ""],
        ["TOKENS", MAJOR],
    ),
    change(
        STEPS,
        [
            "It has one paragraph.",
            "It has one paragraph for each team, and a table of all the open tickets of the week.",
        ],
        ["TOKENS", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "You sort.",
            "You sort tickets of customers by team and severity, one at a time, and never guess what a ticket does not say.",
        ],
        ["TOKENS", MAJOR],
    ),
    change(
        LIBRARY,
        [
            "Answer in English.",
            "Answer in English, in plain words that a person who is not of this trade understands at first reading, without names of products.",
        ],
        ["TOKENS", MAJOR],
    ),
    // The prefix.
    change(SETTINGS, ["You sort.", "You rank."], ["CACHE", MINOR]),
    change(
        LIBRARY,
        ["Answer in English.", "Answer in Spanish."],
        ["CACHE", MINOR],
    ),
    change(
        STEPS,
        ["It has one paragraph.", "It has two paragraphs."],
        ["CACHE", MINOR],
    ),
    change(
        STEPS,
        ["Report on the week.", "Report on the year."],
        ["CACHE", MINOR],
    ),
    change(
        SETTINGS,
        ["\"Read a page.\"", "\"Open a page.\""],
        ["CACHE", MINOR],
    ),
    // The rest.
    change(TASK, ["Name the team.", "State the team."], ["TEXT", PATCH]),
    change(
        TASK,
        ["default=\"kind\"", "default=\"calm\""],
        ["TEXT", PATCH],
    ),
    change(
        STEPS,
        ["Write a page from", "Make a page from"],
        ["TEXT", PATCH],
    ),
    change(LIBRARY, ["Be kind.", "Be brief."], ["TEXT", PATCH]),
    change(
        SETTINGS,
        ["no-context = \"error\"", "no-context = \"warning\""],
        ["TEXT", PATCH],
    ),
    // The rules that others extend, and what the users of a fragment give.
    change(
        SETTINGS,
        ["tokens = 4000 }", "tokens = 4000, usd = 0.1 }"],
        ["INPUT", MAJOR],
    ),
    change(
        LIBRARY,
        [
            "\"house\">Answer",
            "\"house\" syntax=\"jinja\">{% if tone %}Answer{% endif %}",
        ],
        ["INPUT", MAJOR],
    ),
    change(
        SETTINGS,
        ["[lints]", "[lints]\nunused-parameter = \"error\""],
        ["INPUT", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "[lints]",
            "[[require]]\nmust = [\"has description\"]\n[lints]",
        ],
        ["INPUT", MAJOR],
    ),
    change(
        LIBRARY,
        ["in English", "in {{tone}} English"],
        ["INPUT", MAJOR],
    ),
    change(
        SETTINGS,
        [
            "\"delete_page\"]\n",
            "\"delete_page\"]\nprotected_paths = [\".env\"]\n",
        ],
        ["TOOLS", MAJOR],
    ),
    change(
        SETTINGS,
        ["\"delete_page\"]\n", "\"delete_page\"]\ntemperature = 0\n"],
        ["TEXT", PATCH],
    ),
];

/// The category of the first change that is printed, and the version that the change asks for.
fn judge(old: &Project, new: &Project) -> [String; 2] {
    let (old, new) = (old.path(""), new.path(""));
    let run = Project::new()
        .run(&[
            "package",
            "diff",
            &old.to_string_lossy(),
            &new.to_string_lossy(),
        ])
        .exits_with(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "acme/rules 1.0.0 → 1.0.0");
    let word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let version = lines.last().unwrap().split("must be ").nth(1);
    [word(lines[1]), word(version.expect(&run.stdout))]
}

#[test]
fn each_change_has_its_category_and_its_version() {
    let old = package();
    let mut wrong = Vec::new();
    for Change {
        path,
        from,
        to,
        category,
        version,
    } in CHANGES
    {
        let new = package();
        let text = new.read_file(path);
        assert!(text.contains(from), "{path}: {from}");
        new.write_file(path, text.replace(from, to));
        let judged = judge(&old, &new);
        if judged != [category, version] {
            wrong.push(format!(
                "{path}: {from} → {to}: {judged:?}, not {category} {version}"
            ));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_version_that_shows_its_change_will_do() {
    let (old, new) = (package(), package());
    let diff = |old: &Project, new: &Project| {
        let (old, new) = (old.path(""), new.path(""));
        Project::new().run(&[
            "package",
            "diff",
            &old.to_string_lossy(),
            &new.to_string_lossy(),
        ])
    };
    diff(&old, &new)
        .exits_with(0)
        .stdout_contains("no change: 1.0.0 will do");
    new.write_file(SETTINGS, CONFIG.replace("You sort.", "You rank."));
    diff(&old, &new)
        .exits_with(1)
        .stdout_contains("the version must be 1.1.0 or higher, and is 1.0.0");
    let config = new.read_file(SETTINGS);
    new.write_file(SETTINGS, config.replace("\"1.0.0\"", "\"1.1.0\""));
    diff(&old, &new)
        .exits_with(0)
        .stdout_contains("CACHE     roles/clerk")
        .stdout_contains("1.1.0 will do");
    new.write_file(SETTINGS, config.replace("acme/rules", "acme/others"));
    diff(&old, &new)
        .exits_with(2)
        .stderr_contains("these are two packages: acme/rules and acme/others");
    // A new export is one that users notice.
    let export = CONFIG.replace("\"rules\"]", "\"rules\", \"fragments/private\"]");
    new.write_file(SETTINGS, export);
    diff(&old, &new)
        .exits_with(1)
        .stdout_contains("the version must be 1.1.0");
}

#[test]
fn archives_are_compared_like_folders() {
    let project = package();
    let pack = |file: &str| project.run(&["package", "pack", "-o", file]).exits_with(0);
    pack("old.tar.zst");
    project.write_file(TASK, TRIAGE.replace("tone", "voice"));
    pack("new.tar.zst");
    project
        .run(&["package", "diff", "old.tar.zst", "new.tar.zst"])
        .exits_with(1)
        .stdout_contains("INPUT     tasks/triage  `tone` is gone  (breaks)");
}

#[test]
fn a_release_is_compared_by_its_version() {
    let project = package();
    git(&project, &["init", "-q"]);
    commit(&project);
    git(&project, &["tag", "v1.0.0"]);
    project.write_file(TASK, TRIAGE.replace("tone", "voice"));
    let diff = |old: &str| project.run(&["package", "diff", old, "."]);
    diff("acme/rules@1.0.0")
        .exits_with(1)
        .stdout_contains("INPUT     tasks/triage  `tone` is gone  (breaks)");
    for unknown in ["acme/rules@0.9.0", "acme/other@1.0.0"] {
        diff(unknown)
            .exits_with(2)
            .stderr_contains(&format!("no tag here has {}", unknown.replace('@', " ")))
            .stderr_contains("expected an archive, the folder of a project, or NAME@VERSION");
    }
}
