//! Attempts of a branch's author to get a green gate: none is green without being listed.

use super::gate::{CONFIG, RECORDED, SCRIPTED, TASK, begin, commit, git, recorded, replace};
use super::gate_harmless_changes::{Edit, FIXTURE, each};
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::sync::LazyLock;

const RICH: &str = "name: rich\ntask: triage\nruns: 5\npass_threshold: 4\ncontext:\n  objective: sort\n  constraints: [be short]\n  inputs: {ticket: my invoice}\n\
    expect_context:\n  - contains: [invoice, house]\n  - absent: [password]\n  - tokens: {of: total, min: 2, max: 60}\n  - nothing_cut: true\n\
    expectations:\n  - field_matches: {path: $.team, pattern: ^billing$}\n  - absent: [sorry, sad]\n  - contains: [team]\n  - max_risk: low\n  \
    - decomposes: false\n  - max_tokens: 400\n  - exact: {team: billing, risk: low}\n  - schema: files/answer.json\n  - never_calls_tool: refund\n  \
    - not: {contains: [refund]}\n  - not: {exact: refund}\n  - any_of: [{contains: [billing]}, {contains: [invoice]}]\n  - all_of: [{contains: [billing]}, {absent: [spam]}]\n\
    answers:\n  - reply: {team: billing, risk: low}\n";
const PATH: &str = "scenarios/rich.yaml";

static RICHER: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::copy_of(&FIXTURE);
    git(&project, &["switch", "-q", "main"]);
    project.write_file(PATH, RICH);
    replace(
        &project,
        "ctxc.toml",
        "[roles.clerk]\n",
        "[roles.clerk]\nprotected_paths = [\"keys/**\"]\n",
    );
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "first",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project
});

/// A file, a text of it, and its replacement.
type Swap = (&'static str, &'static str, &'static str);

const SWAPS: &[Swap] = &[
    // Removed expectations.
    (PATH, "  - contains: [invoice, house]\n", ""),
    (PATH, "  - absent: [password]\n", ""),
    (PATH, "  - tokens: {of: total, min: 2, max: 60}\n", ""),
    (PATH, "  - nothing_cut: true\n", ""),
    (
        PATH,
        "  - field_matches: {path: $.team, pattern: ^billing$}\n",
        "",
    ),
    (PATH, "  - absent: [sorry, sad]\n", ""),
    (PATH, "  - contains: [team]\n", ""),
    (PATH, "  - max_risk: low\n", ""),
    (PATH, "  - decomposes: false\n", ""),
    (PATH, "  - max_tokens: 400\n", ""),
    (PATH, "  - exact: {team: billing, risk: low}\n", ""),
    (PATH, "  - schema: files/answer.json\n", ""),
    (PATH, "  - never_calls_tool: refund\n", ""),
    (PATH, "  - not: {contains: [refund]}\n", ""),
    (
        PATH,
        "  - any_of: [{contains: [billing]}, {contains: [invoice]}]\n",
        "",
    ),
    (
        PATH,
        "  - all_of: [{contains: [billing]}, {absent: [spam]}]\n",
        "",
    ),
    // Expectations with weaker requirements.
    (PATH, "[invoice, house]", "[invoice]"),
    (PATH, "[invoice, house]", "[invoice, h]"),
    (PATH, "[invoice, house]", "[invoice, '.*']"),
    (PATH, "absent: [password]", "absent: [passwords]"),
    (PATH, "max: 60", "max: 61"),
    (PATH, "min: 2, ", ""),
    (PATH, "of: total", "of: prefix"),
    (PATH, "nothing_cut: true", "tokens: {of: total, max: 9000}"),
    (PATH, "^billing$", "billing"),
    (PATH, "^billing$", "."),
    (PATH, "path: $.team", "path: $..*"),
    (PATH, "[sorry, sad]", "[sorry]"),
    (PATH, "[sorry, sad]", "[sorry, 'sad and sorry']"),
    (PATH, "contains: [team]\n", "contains: [t]\n"),
    (PATH, "max_risk: low", "max_risk: critical"),
    (PATH, "decomposes: false", "max_tokens: 9000"),
    (PATH, "max_tokens: 400", "max_tokens: 401"),
    (
        PATH,
        "exact: {team: billing, risk: low}",
        "contains: [billing]",
    ),
    (
        PATH,
        "never_calls_tool: refund",
        "never_calls_tool: refunds",
    ),
    (
        PATH,
        "not: {contains: [refund]}",
        "not: {contains: [refunded]}",
    ),
    (
        PATH,
        "{contains: [invoice]}]",
        "{contains: [invoice]}, {max_tokens: 9000}]",
    ),
    (
        PATH,
        "[{contains: [billing]}, {absent: [spam]}]",
        "[{contains: [billing]}]",
    ),
    (
        PATH,
        "all_of: [{contains: [billing]}",
        "any_of: [{contains: [billing]}",
    ),
    (
        PATH,
        "- max_tokens: 400",
        "- {max_tokens: 400, gate: false}",
    ),
    (PATH, "- max_risk: low", "- {max_risk: low, gate: false}"),
    (
        PATH,
        "- exact: {team: billing, risk: low}",
        "- {exact: {team: billing, risk: low}, gate: false}",
    ),
    (
        PATH,
        "- absent: [sorry, sad]",
        "- any_of: [{absent: [sorry, sad]}, {max_tokens: 9000}]",
    ),
    (PATH, "- max_risk: low", "- not: {not: {max_risk: high}}"),
    // The required number of passes.
    (PATH, "pass_threshold: 4", "pass_threshold: 3"),
    (PATH, "runs: 5", "runs: 6"),
    (
        PATH,
        "runs: 5\npass_threshold: 4",
        "runs: 1\npass_threshold: 1",
    ),
    (
        PATH,
        "runs: 5\npass_threshold: 4\n",
        "rule: {runs: 5, pass: 4, confirm: {runs: 10, pass: 1}}\n",
    ),
    (
        PATH,
        "runs: 5\npass_threshold: 4\n",
        "rule: {sequential: {p0: 0.01, p1: 0.02, alpha: 0.4, beta: 0.4, max: 50}}\n",
    ),
    (PATH, "runs: 5\npass_threshold: 4\n", ""),
    ("ctxc.toml", "runs = 3\npass = 2", "runs = 3\npass = 1"),
    ("ctxc.toml", "runs = 3\npass = 2", "runs = 9\npass = 2"),
    // Frozen values.
    (PATH, "ticket: my invoice", "ticket: 'my invoice, please'"),
    (PATH, "objective: sort", "objective: sort it"),
    (PATH, "constraints: [be short]", "constraints: []"),
    (PATH, "  constraints: [be short]\n", ""),
    (
        PATH,
        "ticket: my invoice",
        "ticket: {file: files/ticket.txt}",
    ),
    (
        PATH,
        "reply: {team: billing, risk: low}",
        "reply: {risk: low, team: billing, more: true}",
    ),
    (
        PATH,
        "  - reply: {team: billing, risk: low}",
        "  - when: {has: [x]}\n    reply: {team: sales}\n  - reply: {team: billing, risk: low}",
    ),
    (PATH, "task: triage\n", "task: noted\n"),
    ("scenarios/files/ticket.txt", "of May", "of June"),
    (
        "scenarios/files/answer.json",
        ", \"required\": [\"team\"]",
        "",
    ),
    (
        "scenarios/files/answer.json",
        "\"object\"",
        "[\"object\", \"string\"]",
    ),
    (
        "scenarios/files/answer.json",
        "\"object\"",
        "\"object\", \"properties\": {\"title\": {\"type\": \"string\"}}",
    ),
    (
        "scenarios/filed.yaml",
        "files/ticket.txt",
        "files/answer.json",
    ),
    (
        "scenarios/filed.yaml",
        "{file: files/ticket.txt}",
        "my invoice",
    ),
    (
        "scenarios/filed.yaml",
        "schema: files/answer.json",
        "schema: {type: object}",
    ),
    (
        "scenarios/suite.yaml",
        "expect_context: [{contains: [login]}]",
        "expect_context: [{nothing_cut: true}]",
    ),
    (
        "scenarios/suite.yaml",
        "ticket: my login",
        "ticket: a login",
    ),
    (
        "scenarios/suite.yaml",
        "  - id: two\n",
        "  - id: two\n    role: clerk\n#",
    ),
    // Stored and recorded files.
    (
        "scenarios/snapshots/scripted.json",
        "of the house",
        "of a house",
    ),
    ("scenarios/scripted.yaml", "  - snapshot: true\n", ""),
    (
        "scenarios/recordings/recorded.jsonl",
        "\"content\":\"billing\"",
        "\"content\":\"billing and sales\"",
    ),
    (
        "scenarios/recordings/recorded.jsonl",
        "\"prompt_tokens\":9",
        "\"prompt_tokens\":1",
    ),
    // Settings.
    (
        "ctxc.toml",
        "no-context = \"warning\"",
        "no-context = \"off\"",
    ),
    (
        "ctxc.toml",
        "[lints]\n",
        "[lints]\nunused-parameter = \"hint\"\n",
    ),
    (
        "ctxc.toml",
        "[lints]\n",
        "[lints]\nsingle-braces = \"off\"\n",
    ),
    (
        "ctxc.toml",
        "must = [\"has description\"]",
        "must = [\"has parameters\"]",
    ),
    ("ctxc.toml", "[[require]]\n", "[[require]]\nname = \"x\"\n"),
    (
        "ctxc.toml",
        "manifest_tokens = 0.10",
        "manifest_tokens = 0.11",
    ),
    (
        "ctxc.toml",
        "manifest_tokens = 0.10\n",
        "manifest_tokens = 100.0\n",
    ),
    ("ctxc.toml", "pass_rate = 1.0", "pass_rate = 0.99"),
    ("ctxc.toml", "pass_rate = 1.0\n", ""),
    ("ctxc.toml", "[eval]\n", "[eval]\nstale = \"warn\"\n"),
    ("ctxc.toml", "[eval]\n", "[eval]\nplan_path = \"$.none\"\n"),
    ("ctxc.toml", "[eval]\n", "[eval]\nstale_after_days = 9000\n"),
    ("ctxc.toml", "reruns = 3", "reruns = 1"),
    ("ctxc.toml", "variance = 0.1", "variance = 1.0"),
    ("ctxc.toml", "cost_usd = 1.0", "cost_usd = 9.0"),
    (
        "ctxc.toml",
        "[\"lead@example.org\"]",
        "[\"lead@example.org\", \"me@example.org\"]",
    ),
    ("ctxc.toml", "[\"lead@example.org\"]", "[]"),
    ("ctxc.toml", "input = 1.0", "input = 0.1"),
    (
        "ctxc.toml",
        "input = 1.0",
        "input = 1.0, cached_input = 0.0",
    ),
    (
        "ctxc.toml",
        "context_window = 8000\n",
        "context_window = 8000\ntokenizer = \"claude\"\n",
    ),
    ("ctxc.toml", "commands = [\"git log\", \"sh\"]\n", ""),
    ("ctxc.toml", "[\"git log\", \"sh\"]", "[\"git\", \"sh\"]"),
    ("ctxc.toml", "blocked = [\"rm\"]", "blocked = []"),
    ("ctxc.toml", "blocked = [\"rm\"]", "blocked = [\"rm -rf\"]"),
    (
        "ctxc.toml",
        "[\"LANG\", \"TZ\"]",
        "[\"LANG\", \"TZ\", \"HOME\"]",
    ),
    ("ctxc.toml", "depth = 100", "depth = 200"),
    ("ctxc.toml", "[limits]\ndepth = 100\n", ""),
    (
        "ctxc.toml",
        "[limits]\n",
        "[requests]\nvolatile = [\"/messages\"]\n\n[limits]\n",
    ),
    (
        "ctxc.toml",
        "[limits]\n",
        "[requests.blocks]\nAll = \".*\"\n\n[limits]\n",
    ),
    (
        "ctxc.toml",
        "[limits]\n",
        "[templates]\nexclude = [\"templates/old.xml\"]\n\n[limits]\n",
    ),
    (
        "ctxc.toml",
        "[limits]\n",
        "[templates]\ninclude = [\"templates/triage.xml\"]\n\n[limits]\n",
    ),
    (
        "ctxc.toml",
        "[eval]\n",
        "[eval]\nscenarios = [\"scenarios/recorded.yaml\"]\n",
    ),
    (
        "ctxc.toml",
        "[eval]\n",
        "[eval]\nscenarios = [\"scenarios/*d.yaml\"]\n",
    ),
    (
        "ctxc.toml",
        "[eval]\n",
        "[eval.drift]\nwindow = 50\n\n[eval]\n",
    ),
    (
        "ctxc.toml",
        "[eval]\n",
        "[eval.drift]\ntoken_inflation = 9.0\n\n[eval]\n",
    ),
    ("ctxc.toml", "blocked_tools = [\"web_post\"]\n", ""),
    ("ctxc.toml", "\"db_read\"", "\"db_*\""),
    ("ctxc.toml", "\"look\", ", "\"look\", \"refund\", "),
    ("ctxc.toml", "tokens = 5000", "tokens = 9000"),
    ("ctxc.toml", "budget = { tokens = 5000 }\n", ""),
    ("scenarios/requests/sent.jsonl", "my invoice", "an invoice"),
    // Findings that no longer count.
    (
        "templates/triage.xml",
        "<description>",
        "<?ctxc allow no-context reason=\"x\"?><description>",
    ),
    (
        "templates/noted.xml",
        "unused-parameter reason",
        "unused-parameter no-context reason",
    ),
    (
        "templates/noted.xml",
        "</task>",
        "<?ctxc allow unused-parameter reason=\"y\"?></task>",
    ),
];

fn remove(project: &Project, path: &str) {
    std::fs::remove_file(project.path(path)).unwrap();
}

fn edit(project: &Project, path: &str, from: &str, to: &str) {
    replace(project, path, from, to);
}

const WAYS: &[(&str, Edit)] = &[
    ("a scenario is removed", |p| remove(p, PATH)),
    ("all scenarios are removed", |p| {
        std::fs::remove_dir_all(p.path("scenarios")).unwrap();
    }),
    ("a case of a suite is removed", |p| {
        edit(
            p,
            "scenarios/suite.yaml",
            &p.read_file("scenarios/suite.yaml")[p
                .read_file("scenarios/suite.yaml")
                .find("  - id: two")
                .unwrap()..],
            "",
        );
    }),
    ("a scenario becomes no scenario", |p| {
        std::fs::rename(p.path(PATH), p.path("scenarios/rich.txt")).unwrap();
    }),
    ("a scenario moves where none is read", |p| {
        std::fs::create_dir_all(p.path("scenarios/fixtures")).unwrap();
        std::fs::rename(p.path(PATH), p.path("scenarios/fixtures/rich.yaml")).unwrap();
    }),
    ("a scenario becomes hidden", |p| {
        std::fs::rename(p.path(PATH), p.path("scenarios/.rich.yaml")).unwrap();
    }),
    ("a template is ignored", |p| {
        p.write_file("templates/.ignore", "old.xml\n");
    }),
    ("a scenario gets another name and asks for less", |p| {
        edit(p, PATH, "name: rich", "name: poor");
        edit(p, PATH, "  - max_risk: low\n", "");
    }),
    ("a scenario takes the name of another", |p| {
        remove(p, "scenarios/recorded.yaml");
        edit(
            p,
            "scenarios/scripted.yaml",
            "name: scripted",
            "name: recorded",
        );
    }),
    ("two scenarios exchange their names", |p| {
        edit(
            p,
            "scenarios/scripted.yaml",
            "name: scripted",
            "name: other",
        );
        edit(
            p,
            "scenarios/recorded.yaml",
            "name: recorded",
            "name: scripted",
        );
        edit(
            p,
            "scenarios/scripted.yaml",
            "name: other",
            "name: recorded",
        );
    }),
    ("a copy with less takes the place of a scenario", |p| {
        let text = p.read_file(PATH);
        p.write_file(
            "scenarios/copy.yaml",
            text.replace("name: rich", "name: copy"),
        );
        p.write_file(PATH, text.replace("  - max_risk: low\n", ""));
    }),
    ("a scenario moves, and asks for less", |p| {
        let text = p.read_file(PATH);
        remove(p, PATH);
        p.write_file(
            "scenarios/desk/rich.yaml",
            text.replace("max: 60", "max: 600")
                .replace("files/answer", "../files/answer"),
        );
    }),
    ("a frozen file moves, and differs", |p| {
        remove(p, "scenarios/files/ticket.txt");
        p.write_file("scenarios/files/t.txt", "my invoice\nof June\n");
        edit(p, "scenarios/filed.yaml", "files/ticket.txt", "files/t.txt");
    }),
    ("a schema stands in the scenario, and asks for less", |p| {
        edit(
            p,
            PATH,
            "schema: files/answer.json",
            "schema: {type: object}",
        );
    }),
    ("a snapshot is stored anew", |p| {
        edit(
            p,
            "templates/triage.xml",
            "rules of the house",
            "rules of a house",
        );
        p.run(&["eval", "--accept"]);
    }),
    ("a snapshot is removed", |p| {
        edit(p, "scenarios/scripted.yaml", "  - snapshot: true\n", "");
        remove(p, "scenarios/snapshots/scripted.json");
    }),
    ("a recording is removed", |p| {
        remove(p, "scenarios/recordings/recorded.jsonl");
    }),
    ("a recording is emptied", |p| {
        p.write_file("scenarios/recordings/recorded.jsonl", "");
    }),
    ("a recording takes the place of a script", |p| {
        p.write_file(
            "scenarios/recordings/rich.jsonl",
            recorded(
                p,
                "my invoice",
                "{\"team\": \"billing\", \"risk\": \"low\"}",
            ),
        );
    }),
    ("a suppression", |p| {
        edit(
            p,
            "templates/triage.xml",
            "</parameters>",
            "<parameter name=\"spare\" required=\"false\"/></parameters>",
        );
        p.run(&["check", "--suppress-existing"]);
    }),
    ("a suppression of a template that moves and differs", |p| {
        let text = p.read_file("templates/old.xml").replace(
            "</parameters>",
            "<parameter name=\"more\" required=\"false\"/></parameters>",
        );
        remove(p, "templates/old.xml");
        p.write_file("templates/a/old.xml", text);
        p.run(&["check", "--suppress-existing"]);
    }),
    ("a suppression counts more often", |p| {
        let text = p.read_file("ctxc.suppressions.toml");
        p.write_file("ctxc.suppressions.toml", text.replace("= 1\n", "= 2\n"));
    }),
    ("an `allow` stands further outside", |p| {
        git(p, &["switch", "-q", "main"]);
        let allow = "  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n";
        edit(p, "templates/noted.xml", allow, "");
        edit(
            p,
            "templates/noted.xml",
            "  <parameters>\n",
            &format!("  <parameters>\n  {allow}"),
        );
        commit(p);
        git(p, &["switch", "-q", "-C", "change"]);
        begin(p);
        edit(p, "templates/noted.xml", allow, "");
        edit(
            p,
            "templates/noted.xml",
            "  <description>",
            &format!("{allow}  <description>"),
        );
    }),
    ("an `allow` goes to another task", |p| {
        let allow = "  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n";
        edit(p, "templates/noted.xml", allow, "");
        edit(
            p,
            "templates/triage.xml",
            "  <description>",
            &format!("{allow}  <description>"),
        );
    }),
    ("a moved template has one `allow` more", |p| {
        let text = p
            .read_file("templates/noted.xml")
            .replace("unused-parameter", "unused-parameter no-context");
        remove(p, "templates/noted.xml");
        p.write_file("templates/b/noted.xml", text);
    }),
    ("accepted results are removed", |p| {
        remove(p, "baselines/rich.json");
    }),
    ("all accepted results are removed", |p| {
        std::fs::remove_dir_all(p.path("baselines")).unwrap();
    }),
    ("the log is rewritten", |p| {
        edit(p, "baselines/LOG.jsonl", "\"first\"", "\"second\"");
    }),
    ("the log is emptied", |p| {
        p.write_file("baselines/LOG.jsonl", "");
    }),
    ("the author accepts", |p| {
        edit(p, PATH, "  - max_risk: low\n", "");
        p.run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "me@example.org",
        ])
        .exits_with(0);
    }),
    ("the author names himself, and accepts", |p| {
        edit(p, PATH, "  - max_risk: low\n", "");
        edit(
            p,
            "ctxc.toml",
            "[\"lead@example.org\"]",
            "[\"me@example.org\"]",
        );
        p.run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "me@example.org",
        ])
        .exits_with(0);
    }),
    ("a failing scenario is accepted by its author", |p| {
        edit(p, "templates/triage.xml", "house", "desk");
        p.run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "me@example.org",
        ]);
    }),
    ("a result is carried to another name and differs", |p| {
        edit(
            p,
            "scenarios/scripted.yaml",
            "name: scripted",
            "name: sorted",
        );
        std::fs::rename(
            p.path("scenarios/snapshots/scripted.json"),
            p.path("scenarios/snapshots/sorted.json"),
        )
        .unwrap();
        p.run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "me@example.org",
        ])
        .exits_with(0);
        remove(p, "baselines/rich.json");
    }),
    ("a context grows", |p| {
        edit(
            p,
            "templates/triage.xml",
            "rules of the house",
            "rules of the house, every one of them, as they are written down here and there",
        );
        edit(p, "scenarios/scripted.yaml", "  - snapshot: true\n", "");
    }),
    ("a context grows under another name", |p| {
        edit(
            p,
            "templates/triage.xml",
            "name=\"triage\"",
            "name=\"sort\"",
        );
        edit(
            p,
            "templates/triage.xml",
            "rules of the house",
            "rules of the house, every one of them, as they are written down here and there",
        );
        edit(
            p,
            "ctxc.toml",
            "template = \"triage\"",
            "template = \"sort\"",
        );
        for file in ["scripted", "recorded", "filed", "suite", "rich"] {
            edit(
                p,
                &format!("scenarios/{file}.yaml"),
                "task: triage",
                "task: sort",
            );
        }
    }),
    (
        "what the base expects breaks, and the branch expects it no more",
        |p| {
            edit(p, "templates/triage.xml", "of the house", "of ours");
            edit(p, PATH, "[invoice, house]", "[invoice]");
            p.run(&["eval", "--accept"]);
        },
    ),
    ("another project takes the place of this one", |p| {
        std::fs::rename(p.path("ctxc.toml"), p.path("old.toml")).unwrap();
        p.write_file("ctxc.toml", "");
    }),
    ("the project file goes", |p| remove(p, "ctxc.toml")),
    ("the project moves twice", |p| {
        for place in ["a", "b"] {
            p.write_file(&format!("{place}/ctxc.toml"), CONFIG);
            p.write_file(
                &format!("{place}/templates/triage.xml"),
                TASK.replace("\"triage\"", &format!("\"{place}\"")),
            );
            p.write_file(
                &format!("{place}/scenarios/s.yaml"),
                RECORDED.replace("task: triage", &format!("task: {place}")),
            );
        }
        for path in ["ctxc.toml", "templates", "scenarios"] {
            git(p, &["rm", "-r", "-q", path]);
        }
        _ = std::fs::remove_dir_all(p.path("scenarios"));
    }),
    ("a tag takes the place of the base", |p| {
        edit(p, PATH, "  - max_risk: low\n", "");
        commit(p);
        git(p, &["tag", "main"]);
    }),
    ("the base is the change", |p| {
        edit(p, PATH, "  - max_risk: low\n", "");
        commit(p);
        git(p, &["branch", "-q", "-f", "main"]);
    }),
    ("the history has no common commit", |p| {
        git(p, &["checkout", "-q", "--orphan", "alone"]);
        edit(p, PATH, "  - max_risk: low\n", "");
        commit(p);
    }),
    ("attributes of git name a filter", |p| {
        p.write_file(".gitattributes", "*.yaml filter=none\n");
        edit(p, PATH, "  - max_risk: low\n", "");
        commit(p);
    }),
    ("an index that lies about a file", |p| {
        git(p, &["update-index", "--assume-unchanged", PATH]);
        edit(p, PATH, "  - max_risk: low\n", "");
    }),
    ("a scenario is skipped in the work tree", |p| {
        git(p, &["update-index", "--skip-worktree", PATH]);
        remove(p, PATH);
    }),
    ("a shared file takes settings away", |p| {
        let shared = "[lints]\nno-context = \"off\"\n";
        p.write_file("shared.toml", shared);
        let hash = ctxc::internals::base::hash::Hash::digest(shared.as_bytes());
        let text = p
            .read_file("ctxc.toml")
            .replace("no-context = \"warning\"\n", "");
        p.write_file(
            "ctxc.toml",
            format!("extends = {{ path = \"shared.toml\", hash = \"{hash}\" }}\n{text}"),
        );
    }),
    ("defaults of a suite ask for less", |p| {
        let text = p
            .read_file("scenarios/suite.yaml")
            .replace("    expect_context: [{contains: [login]}]\n", "");
        p.write_file(
            "scenarios/suite.yaml",
            text.replace(
                "cases:\n",
                "defaults:\n  expect_context: [{nothing_cut: true}]\ncases:\n",
            ),
        );
    }),
    ("a scenario is there twice", |p| {
        let text = p.read_file(PATH).replace("  - max_risk: low\n", "");
        remove(p, PATH);
        p.write_file("scenarios/a.yaml", text.clone());
        p.write_file(
            "scenarios/b.yaml",
            SCRIPTED
                .replace("name: scripted", "name: second")
                .replace("  - snapshot: true\n", ""),
        );
    }),
    ("a recorded request is edited, and said to be masked", |p| {
        edit(p, "templates/triage.xml", "of the house", "of ours");
        let path = "scenarios/recordings/recorded.jsonl";
        edit(p, path, "of the house", "of ours");
        edit(
            p,
            path,
            "\"redacted\":[]",
            "\"redacted\":[{\"pointer\":\"/request/messages/0/content\",\"kind\":\"email\",\"count\":1}]",
        );
    }),
    (
        "a pattern of masks takes a rule out of the comparison",
        |p| {
            edit(p, "templates/triage.xml", " of the house", "");
            p.write_file(
                "ctxc.toml",
                format!(
                    "{}\n[record]\nmask = [\"rules( of the house)?\"]\n",
                    p.read_file("ctxc.toml")
                ),
            );
        },
    ),
    ("a role reads what it did not", |p| {
        edit(
            p,
            "ctxc.toml",
            "protected_paths = [\"keys/**\"]",
            "protected_paths = []",
        );
    }),
    ("an expected value looks like ctxc's own notation", |p| {
        edit(
            p,
            PATH,
            "not: {exact: refund}",
            "not: {exact: {Text: refund}}",
        );
    }),
    ("a scenario asks nothing but one thing", |p| {
        let text = p.read_file(PATH);
        let (head, rest) = text.split_once("expect_context:").unwrap();
        let answers = rest.split_once("answers:").unwrap().1;
        p.write_file(
            PATH,
            format!("{head}expect_context:\n  - nothing_cut: true\nanswers:{answers}"),
        );
    }),
];

/// The exit code of the gate, and its reasons against the change; an error that ends the run is its
/// first line.
fn verdict(project: &Project) -> String {
    let run = project.run(&["gate", "--json"]);
    let code = run
        .code
        .map_or("no code".to_owned(), |code| code.to_string());
    let Ok(decision) = serde_json::from_str::<Value>(&run.stdout) else {
        return format!("{code} | {}", run.stderr.lines().next().unwrap_or_default());
    };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or("").to_owned();
    let each = |key: &str, shown: &dyn Fn(&Value) -> String| -> Vec<String> {
        decision[key]
            .as_array()
            .into_iter()
            .flatten()
            .map(shown)
            .collect()
    };
    let mut all = each("weakened", &|one| {
        format!(
            "loosened {} {}: {}",
            text(one, "kind"),
            text(one, "of"),
            text(one, "what")
        )
    });
    all.extend(each("violated_thresholds", &|one| {
        format!("violated {} {}", text(one, "name"), text(one, "case"))
    }));
    all.extend(each("failing_cases", &|one| {
        format!("failing {}", text(one, "id"))
    }));
    all.extend(
        decision["error"]
            .as_str()
            .and_then(|error| error.lines().next())
            .map(|error| format!("error {error}")),
    );
    if all.is_empty() {
        all = decision["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| format!("warning {one}"))
            .collect();
    }
    all.dedup();
    format!("{code} | {}", all.join(" | "))
}

#[test]
fn no_way_is_green_without_being_listed() {
    assert!(
        SWAPS.len() + WAYS.len() >= 135,
        "{} and {}",
        SWAPS.len(),
        WAYS.len()
    );
    RICHER
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    let swaps: Vec<(String, &Swap)> = SWAPS
        .iter()
        .map(|swap| (format!("{}: {:?} → {:?}", swap.0, swap.1, swap.2), swap))
        .collect();
    let rows: Vec<(&str, &Swap)> = swaps
        .iter()
        .map(|(name, swap)| (name.as_str(), *swap))
        .collect();
    let verdict = |project: &Project| Some(verdict(project));
    let mut found = each(
        &rows,
        &RICHER,
        |(path, from, to), project| replace(project, path, from, to),
        verdict,
    );
    found.extend(each(WAYS, &RICHER, |edit, project| edit(project), verdict));
    found.sort();
    let green = |line: &&String| line.contains(": 0 | ") && !line.contains("loosened");
    assert_eq!(
        found.iter().filter(green).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    // Each is stopped for its own reason, not for that of a neighbour.
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn a_script_is_no_answer_to_a_request_that_had_a_recorded_one() {
    let project = super::gate::branch();
    git(&project, &["switch", "-q", "main"]);
    for path in ["scenarios/scripted.yaml", "baselines/scripted.json"] {
        remove(&project, path);
    }
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    replace(
        &project,
        "templates/triage.xml",
        "of the house",
        "of our house",
    );
    project.write_file(
        "scenarios/recorded.yaml",
        format!("{RECORDED}answers:\n  - reply: billing\n"),
    );
    project.run(&["gate"]).exits_with(4);
    remove(&project, "scenarios/recordings/recorded.jsonl");
    project.run(&["gate"]).exits_with(4);
}
