//! Changes that relax nothing: the gate passes all of them, and lists nothing.

use super::gate::{
    CONFIG, RECORDED, SCRIPTED, TASK, begin, commit, git, on_branch, recorded, replace,
};
use super::project::Project;
use ctxc::internals::base::hash::Hash;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

const MORE: &str = "\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n\
    usd_per_million = { input = 1.0, output = 2.0 }\n\n[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n\
    tools = [\"look\", \"db_read\", \"web_*\"]\nblocked_tools = [\"web_post\"]\nbudget = { tokens = 5000 }\n\n\
    [policy]\ncommands = [\"git log\", \"sh\"]\nblocked = [\"rm\"]\nenv = [\"LANG\", \"TZ\"]\n\n[limits]\ndepth = 100\n";
const NOTED: &str = "<task type=\"atomic\" name=\"noted\">\n  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n  \
    <description>Answer the letter.</description>\n  <parameters>\n    <parameter name=\"spare\" required=\"false\"/>\n  </parameters>\n</task>\n";
const FILED: &str = "name: filed\ntask: triage\nruns: 3\npass_threshold: 2\ncontext:\n  objective: sort\n  inputs:\n    ticket: {file: files/ticket.txt}\n\
    expectations:\n  - schema: files/answer.json\n  - max_tokens: 500\nanswers:\n  - reply: {team: billing}\n";
const SUITE: &str = "id: desk\ncases:\n  - id: one\n    task: triage\n    context: {objective: sort, inputs: {ticket: my invoice}}\n    \
    expect_context: [{contains: [invoice]}]\n  - id: two\n    task: triage\n    context: {objective: sort, inputs: {ticket: my login}}\n    \
    expect_context: [{contains: [login]}]\n";
const SENT: &str =
    "name: sent\nrequest: {file: requests/sent.jsonl}\nexpect_context:\n  - contains: [invoice]\n";
const ROW: &str = "  - id: two\n    task: triage\n    context: {objective: sort, inputs: {ticket: my login}}\n    expect_context: [{contains: [login]}]\n";

/// A project with every kind of file, whose results were accepted on `main`, with a branch off it.
pub(super) static FIXTURE: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::new()
        .with_file("ctxc.toml", format!("{CONFIG}{MORE}"))
        .with_file("templates/triage.xml", TASK)
        .with_file("templates/noted.xml", NOTED)
        .with_file(
            "templates/old.xml",
            NOTED.replace("\"noted\"", "\"old\"").replace(
                "  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n",
                "",
            ),
        )
        .with_file("scenarios/scripted.yaml", SCRIPTED)
        .with_file("scenarios/recorded.yaml", RECORDED)
        .with_file("scenarios/filed.yaml", FILED)
        .with_file("scenarios/suite.yaml", SUITE)
        .with_file("scenarios/files/ticket.txt", "my invoice\nof May\n")
        .with_file(
            "scenarios/files/answer.json",
            "{\"type\": \"object\", \"required\": [\"team\"]}\n",
        )
        .with_file("readme.md", "# Desk\n");
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    project.write_file(
        "scenarios/requests/sent.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    project.write_file("scenarios/sent.yaml", SENT);
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    on_branch(project)
});

/// An edit of a project.
pub(super) type Edit = fn(&Project);

/// Runs every row of a table on a copy of a project, and returns the reports of the rows.
pub(super) fn each<E: Sync>(
    rows: &[(&str, E)],
    of: &Project,
    edit: impl Fn(&E, &Project) + Sync,
    found: impl Fn(&Project) -> Option<String> + Sync,
) -> Vec<String> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((name, own)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let project = Project::copy_of(of);
                    edit(own, &project);
                    if let Some(found) = found(&project) {
                        all.lock().unwrap().push(format!("{name}: {found}"));
                    }
                }
            });
        }
    });
    all.into_inner().unwrap()
}

/// The reasons why a decision is no plain pass.
fn alarm(project: &Project) -> Option<String> {
    let run = project.run(&["gate", "--json"]);
    let decision: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let is_empty = |key: &str| decision[key].as_array().is_some_and(Vec::is_empty);
    let is_plain = run.code == Some(0)
        && decision["decision"] == "pass"
        && is_empty("weakened")
        && is_empty("violated_thresholds");
    (!is_plain).then(|| format!("{:?} {}{}", run.code, run.stderr, decision))
}

fn rename(project: &Project, from: &str, to: &str) {
    let to = project.path(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::rename(project.path(from), to).unwrap();
}

fn remove(project: &Project, path: &str) {
    std::fs::remove_file(project.path(path)).unwrap();
}

fn append(project: &Project, path: &str, text: &str) {
    let old = project.read_file(path);
    project.write_file(path, old + text);
}

/// The snapshot in another layout.
fn lay_out(project: &Project, layout: fn(&Value) -> String) {
    let path = "scenarios/snapshots/scripted.json";
    let value: Value = serde_json::from_str(&project.read_file(path)).unwrap();
    project.write_file(path, layout(&value));
}

fn rename_scripted(project: &Project, name: &str) {
    replace(
        project,
        "scenarios/scripted.yaml",
        "name: scripted",
        &format!("name: {name}"),
    );
    rename(
        project,
        "scenarios/snapshots/scripted.json",
        &format!("scenarios/snapshots/{name}.json"),
    );
}

/// Line ends as a checkout with `core.autocrlf` leaves them.
fn to_crlf(project: &Project, path: &str) {
    let text = project.read_file(path);
    project.write_file(path, text.replace('\n', "\r\n"));
}

/// Former false alarms.
const ALARMS: &[(&str, Edit)] = &[
    ("a template moves with its `allow`", |p| {
        rename(p, "templates/noted.xml", "templates/letters/noted.xml");
    }),
    ("a template moves with its `allow`, and is edited", |p| {
        rename(p, "templates/noted.xml", "templates/letters/noted.xml");
        replace(
            p,
            "templates/letters/noted.xml",
            "the letter",
            "that letter",
        );
    }),
    ("a template with suppressed findings moves", |p| {
        rename(p, "templates/old.xml", "templates/letters/old.xml");
        remove(p, "ctxc.suppressions.toml");
        p.run(&["check", "--suppress-existing"]).exits_with(0);
    }),
    ("a task with an `allow` gets another name", |p| {
        replace(
            p,
            "templates/noted.xml",
            "name=\"noted\"",
            "name=\"letter\"",
        );
    }),
    ("the policy permits fewer commands", |p| {
        replace(
            p,
            "ctxc.toml",
            "[\"git log\", \"sh\"]",
            "[\"git log --oneline\"]",
        );
    }),
    ("the policy blocks more", |p| {
        replace(p, "ctxc.toml", "[\"rm\"]", "[\"rm\", \"curl\"]");
    }),
    ("the policy shows fewer variables", |p| {
        replace(p, "ctxc.toml", "[\"LANG\", \"TZ\"]", "[\"TZ\"]");
    }),
    ("`[templates] include` is written out", |p| {
        append(p, "ctxc.toml", "\n[templates]\ninclude = [\"templates\"]\n");
    }),
    ("`[eval] scenarios` is written out with a slash", |p| {
        replace(
            p,
            "ctxc.toml",
            "[eval]\n",
            "[eval]\nscenarios = [\"scenarios/\"]\n",
        );
    }),
    ("a price is raised", |p| {
        replace(p, "ctxc.toml", "output = 2.0", "output = 3.0");
    }),
    ("a frozen file moves", |p| {
        rename(
            p,
            "scenarios/files/ticket.txt",
            "scenarios/texts/invoice.txt",
        );
        replace(
            p,
            "scenarios/filed.yaml",
            "files/ticket.txt",
            "texts/invoice.txt",
        );
    }),
    ("a frozen file moves into the scenario", |p| {
        replace(
            p,
            "scenarios/filed.yaml",
            "{file: files/ticket.txt}",
            "|\n      my invoice\n      of May",
        );
        remove(p, "scenarios/files/ticket.txt");
    }),
    ("a schema moves into the scenario", |p| {
        replace(
            p,
            "scenarios/filed.yaml",
            "schema: files/answer.json",
            "schema: {required: [team], type: object}",
        );
        remove(p, "scenarios/files/answer.json");
    }),
    ("a schema moves", |p| {
        rename(p, "scenarios/files/answer.json", "scenarios/answer.json");
        replace(
            p,
            "scenarios/filed.yaml",
            "files/answer.json",
            "answer.json",
        );
    }),
    ("a stored request is indented anew", |p| {
        lay_out(p, |value| format!("{value:#}\n").replace("  ", "    "));
    }),
    ("a stored request is one line", |p| {
        lay_out(p, Value::to_string);
    }),
    ("a stored request has other line ends", |p| {
        to_crlf(p, "scenarios/snapshots/scripted.json");
    }),
    ("all files have other line ends", |p| {
        for path in p.files().iter().filter(|path| !path.starts_with(".git/")) {
            to_crlf(p, path);
        }
    }),
    ("git changes line ends", |p| {
        git(p, &["config", "core.autocrlf", "true"]);
        for path in p.files().iter().filter(|path| !path.starts_with(".git/")) {
            remove(p, path);
        }
        git(p, &["checkout", "-q", "-f", "HEAD", "."]);
    }),
    ("a scenario with a stored request gets another name", |p| {
        rename_scripted(p, "sorted");
    }),
    ("a scenario with recorded answers gets another name", |p| {
        replace(
            p,
            "scenarios/recorded.yaml",
            "name: recorded",
            "name: answered",
        );
        rename(
            p,
            "scenarios/recordings/recorded.jsonl",
            "scenarios/recordings/answered.jsonl",
        );
    }),
    (
        "a scenario gets another name, and its accepted result with it",
        |p| {
            rename_scripted(p, "sorted");
            p.run(&[
                "baseline",
                "accept",
                "--reason",
                "renamed",
                "--by",
                "anybody@example.org",
            ])
            .exits_with(0);
            assert!(p.path("baselines/sorted.json").exists());
        },
    ),
    (
        "two scenarios exchange nothing but their names' files",
        |p| {
            rename(p, "scenarios/scripted.yaml", "scenarios/x.yaml");
            rename(p, "scenarios/recorded.yaml", "scenarios/scripted.yaml");
            rename(p, "scenarios/x.yaml", "scenarios/recorded.yaml");
        },
    ),
    ("files come through a filter", |p| {
        for (key, value) in [("smudge", "sed s/PLAIN/my/"), ("clean", "sed s/my/PLAIN/")] {
            git(p, &["config", &format!("filter.plain.{key}"), value]);
        }
        git(p, &["switch", "-q", "main"]);
        p.write_file(
            ".gitattributes",
            "*.txt filter=plain\nscenarios/snapshots/* filter=plain\n",
        );
        git(p, &["add", "--renormalize", "."]);
        commit(p);
        git(p, &["switch", "-q", "-C", "change"]);
        begin(p);
        git(p, &["status"]);
        assert_eq!(
            p.read_file("scenarios/files/ticket.txt"),
            "my invoice\nof May\n"
        );
    }),
];

const COMMON: &[(&str, Edit)] = &[
    ("nothing", |_| {}),
    ("documentation", |p| {
        append(p, "readme.md", "How letters are sorted.\n");
    }),
    ("a new document", |p| {
        p.write_file("docs/desk.md", "# Desk\n");
    }),
    ("a comment in a template", |p| {
        replace(
            p,
            "templates/triage.xml",
            "<parameters>",
            "<!-- why -->\n  <parameters>",
        );
    }),
    ("a template is formatted", |p| {
        p.run(&["fmt"]).exits_with(0);
    }),
    ("attributes change places", |p| {
        replace(
            p,
            "templates/triage.xml",
            "type=\"atomic\" name=\"triage\"",
            "name=\"triage\" type=\"atomic\"",
        );
    }),
    ("a template is indented by tabs", |p| {
        let text = p.read_file("templates/triage.xml");
        p.write_file(
            "templates/triage.xml",
            text.replace("\n  ", "\n\t").replace("\n\t  ", "\n\t\t"),
        );
    }),
    ("empty lines at the end of a template", |p| {
        append(p, "templates/triage.xml", "\n\n");
    }),
    ("a template moves", |p| {
        rename(p, "templates/triage.xml", "templates/desk/triage.xml");
    }),
    ("the folder of templates has another name", |p| {
        rename(p, "templates", "prompts");
        append(p, "ctxc.toml", "\n[templates]\ninclude = [\"prompts\"]\n");
        remove(p, "ctxc.suppressions.toml");
        p.run(&["check", "--suppress-existing"]).exits_with(0);
    }),
    ("the folder of scenarios has another name", |p| {
        rename(p, "scenarios", "tests");
        replace(
            p,
            "ctxc.toml",
            "[eval]\n",
            "[eval]\nscenarios = [\"tests\"]\n",
        );
    }),
    ("a template more", |p| {
        p.write_file("templates/more.xml", TASK.replace("\"triage\"", "\"more\""));
    }),
    ("a scenario more", |p| {
        p.write_file(
            "scenarios/more.yaml",
            SCRIPTED
                .replace("name: scripted", "name: more")
                .replace("  - snapshot: true\n", ""),
        );
    }),
    ("a case more in a suite", |p| {
        append(p, "scenarios/suite.yaml", &ROW.replace("two", "three"));
    }),
    ("a comment in a scenario", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "task: triage",
            "# why\ntask: triage # sorts",
        );
    }),
    ("keys of a scenario change places", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "name: scripted\ntask: triage\nruns: 3\npass_threshold: 2\n",
            "pass_threshold: 2\ntask: triage\nname: scripted\nruns: 3\n",
        );
    }),
    ("expectations change places", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "  - contains: [billing]\n  - absent: [sorry]\n",
            "  - absent: [sorry]\n  - contains: [billing]\n",
        );
    }),
    ("a flow map becomes a block", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "{objective: sort, inputs: {ticket: my invoice}}",
            "\n  objective: sort\n  inputs:\n    ticket: my invoice",
        );
    }),
    ("texts are quoted", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "ticket: my invoice",
            "ticket: \"my invoice\"",
        );
        replace(
            p,
            "scenarios/scripted.yaml",
            "- absent: [sorry]",
            "- absent: ['sorry']",
        );
    }),
    ("a scenario becomes JSON", |p| {
        remove(p, "scenarios/recorded.yaml");
        let json = "{\"schema\": \"ctxc/scenario/1\", \"name\": \"recorded\", \"task\": \"triage\", \"context\": {\"objective\": \"sort\", \"inputs\": {\"ticket\": \"my invoice\"}}, \"expectations\": [{\"contains\": [\"billing\"]}]}";
        p.write_file("scenarios/recorded.json", json);
    }),
    ("a scenario file has another name", |p| {
        rename(p, "scenarios/scripted.yaml", "scenarios/sort.yaml");
    }),
    ("scenarios move into a folder", |p| {
        rename(p, "scenarios/scripted.yaml", "scenarios/desk/scripted.yaml");
        rename(
            p,
            "scenarios/snapshots/scripted.json",
            "scenarios/desk/snapshots/scripted.json",
        );
    }),
    ("a suite is split", |p| {
        replace(p, "scenarios/suite.yaml", ROW, "");
        p.write_file(
            "scenarios/second.yaml",
            format!("id: second\ncases:\n{ROW}"),
        );
    }),
    ("scenarios become a suite", |p| {
        let second = ROW
            .replace("two", "three")
            .replace("  - id: three\n", "name: three\n")
            .replace("\n    ", "\n")
            .replace("    task", "task");
        p.write_file("scenarios/third.yaml", second);
        append(p, "scenarios/suite.yaml", "");
    }),
    ("a default of a scenario is written out", |p| {
        replace(
            p,
            "scenarios/recorded.yaml",
            "task: triage\n",
            "task: triage\nruns: 3\npass_threshold: 2\n",
        );
    }),
    ("a tag and a review", |p| {
        append(
            p,
            "scenarios/recorded.yaml",
            "tags: [desk]\nreviewed: 2026-11-01\n",
        );
    }),
    ("an expectation more", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "  - absent: [sorry]\n",
            "  - absent: [sorry]\n  - max_tokens: 9000\n",
        );
    }),
    ("a pattern more", |p| {
        replace(p, "scenarios/scripted.yaml", "[sorry]", "[sorry, sad]");
    }),
    ("a lower ceiling", |p| {
        replace(p, "scenarios/scripted.yaml", "max: 60", "max: 50");
    }),
    ("a lower ceiling of an answer", |p| {
        replace(
            p,
            "scenarios/filed.yaml",
            "max_tokens: 500",
            "max_tokens: 400",
        );
    }),
    ("more trials have to pass", |p| {
        replace(
            p,
            "scenarios/scripted.yaml",
            "pass_threshold: 2",
            "pass_threshold: 3",
        );
    }),
    ("keys of ctxc.toml change places", |p| {
        replace(
            p,
            "ctxc.toml",
            "runs = 3\npass = 2\n",
            "pass = 2\nruns = 3\n",
        );
        replace(p, "ctxc.toml", "[limits]\ndepth = 100\n", "");
        let text = p.read_file("ctxc.toml");
        p.write_file("ctxc.toml", format!("[limits]\ndepth = 100\n\n{text}"));
    }),
    ("comments in ctxc.toml", |p| {
        replace(
            p,
            "ctxc.toml",
            "[eval]\n",
            "# how agents are tested\n[eval] # here\n",
        );
    }),
    ("a table of ctxc.toml stands in one line", |p| {
        replace(p, "ctxc.toml", "[limits]\ndepth = 100\n", "");
        let text = p.read_file("ctxc.toml");
        p.write_file("ctxc.toml", format!("limits = {{ depth = 100 }}\n\n{text}"));
    }),
    ("a number is written otherwise", |p| {
        replace(
            p,
            "ctxc.toml",
            "manifest_tokens = 0.10",
            "manifest_tokens = 1e-1",
        );
    }),
    ("a lint is stricter", |p| {
        replace(
            p,
            "ctxc.toml",
            "no-context = \"warning\"",
            "no-context = \"error\"",
        );
    }),
    ("a requirement more", |p| {
        replace(
            p,
            "ctxc.toml",
            "[[require]]\n",
            "[[require]]\nmust = [\"has parameters\"]\n\n[[require]]\n",
        );
    }),
    ("a context may grow less", |p| {
        replace(
            p,
            "ctxc.toml",
            "manifest_tokens = 0.10",
            "manifest_tokens = 0.05",
        );
    }),
    ("a budget of the gate", |p| {
        replace(
            p,
            "ctxc.toml",
            "pass_rate = 1.0\n",
            "pass_rate = 1.0\ntokens = 0.2\n",
        );
    }),
    ("a limit is lower", |p| {
        replace(p, "ctxc.toml", "depth = 100", "depth = 50");
    }),
    ("defaults of limits are written out", |p| {
        replace(
            p,
            "ctxc.toml",
            "depth = 100",
            "depth = 100\nattributes = 256",
        );
    }),
    ("the gate's defaults are written out", |p| {
        replace(
            p,
            "ctxc.toml",
            "[eval]\n",
            "[eval]\nplan_path = \"$.subtasks\"\nstale = \"error\"\nstale_after_days = 90\n",
        );
    }),
    ("another model", |p| {
        append(
            p,
            "ctxc.toml",
            "\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\nusd_per_million = { input = 5, output = 9 }\n",
        );
    }),
    ("a model without use goes", |p| {
        append(
            p,
            "ctxc.toml",
            "\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
        );
        commit(p);
        replace(
            p,
            "ctxc.toml",
            "[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
            "",
        );
    }),
    ("another role", |p| {
        append(
            p,
            "ctxc.toml",
            "\n[roles.writer]\ntemplate = \"noted\"\nmodel = \"small\"\n",
        );
    }),
    ("attributes of git", |p| {
        p.write_file(
            ".gitattributes",
            "*.xml text\n*.md linguist-documentation\n",
        );
    }),
    ("what git ignores", |p| {
        p.write_file(".gitignore", "target/\nnode_modules/\n*.log\n");
    }),
];

/// Further ones.
const OWN: &[(&str, Edit)] = &[
    ("a suppressed finding is mended", |p| {
        replace(
            p,
            "templates/old.xml",
            "<parameter name=\"spare\" required=\"false\"/>",
            "",
        );
        p.run(&["check", "--fix"]);
    }),
    ("an `allow` is no longer needed", |p| {
        replace(
            p,
            "templates/noted.xml",
            "  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n",
            "",
        );
        replace(
            p,
            "templates/noted.xml",
            "<parameter name=\"spare\" required=\"false\"/>",
            "",
        );
    }),
    ("an `allow` stands further inside", |p| {
        let allow = "  <?ctxc allow unused-parameter reason=\"of a later release\"?>\n";
        replace(p, "templates/noted.xml", allow, "");
        replace(
            p,
            "templates/noted.xml",
            "  <parameters>\n",
            &format!("  <parameters>\n  {allow}"),
        );
    }),
    ("a template is split into two files", |p| {
        let both = format!("<templates>\n{TASK}{NOTED}</templates>\n");
        drop(both);
        rename(p, "templates/noted.xml", "templates/a/noted.xml");
        rename(p, "templates/old.xml", "templates/b.xml");
        remove(p, "ctxc.suppressions.toml");
        p.run(&["check", "--suppress-existing"]).exits_with(0);
    }),
    ("a declaration of XML", |p| {
        let text = p.read_file("templates/triage.xml");
        p.write_file(
            "templates/triage.xml",
            format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}"),
        );
    }),
    ("a mark of byte order", |p| {
        let text = p.read_file("scenarios/scripted.yaml");
        p.write_file("scenarios/scripted.yaml", format!("\u{feff}{text}"));
    }),
    ("a shared script by anchors", |p| {
        replace(
            p,
            "scenarios/filed.yaml",
            "answers:\n  - reply: {team: billing}\n",
            "answers:\n  - reply: {\"team\": 'billing'}\n",
        );
    }),
    ("a frozen file has another layout", |p| {
        rename(p, "scenarios/files/answer.json", "scenarios/files/a.json");
        p.write_file(
            "scenarios/files/answer.json",
            "{\n  \"required\": [\"team\"],\n  \"type\": \"object\"\n}\n",
        );
        remove(p, "scenarios/files/a.json");
    }),
    ("a folder of files beside scenarios has another name", |p| {
        rename(p, "scenarios/files", "scenarios/frozen");
        replace(
            p,
            "scenarios/filed.yaml",
            "files/ticket.txt",
            "frozen/ticket.txt",
        );
        replace(
            p,
            "scenarios/filed.yaml",
            "files/answer.json",
            "frozen/answer.json",
        );
    }),
    ("a suite has another id", |p| {
        replace(p, "scenarios/suite.yaml", "id: desk", "id: front");
    }),
    ("all scenarios get other names", |p| {
        rename_scripted(p, "a");
        replace(p, "scenarios/recorded.yaml", "name: recorded", "name: b");
        rename(
            p,
            "scenarios/recordings/recorded.jsonl",
            "scenarios/recordings/b.jsonl",
        );
        replace(p, "scenarios/filed.yaml", "name: filed", "name: c");
    }),
    ("a task and its scenarios get other names", |p| {
        replace(
            p,
            "templates/triage.xml",
            "name=\"triage\"",
            "name=\"sort\"",
        );
        replace(
            p,
            "ctxc.toml",
            "template = \"triage\"",
            "template = \"sort\"",
        );
        for file in ["scripted", "recorded", "filed", "suite"] {
            replace(
                p,
                &format!("scenarios/{file}.yaml"),
                "task: triage",
                "task: sort",
            );
        }
        rename_scripted(p, "a");
    }),
    ("an answer is recorded once more", |p| {
        let line = p.read_file("scenarios/recordings/recorded.jsonl");
        append(
            p,
            "scenarios/recordings/recorded.jsonl",
            &line.replace("\"id\":\"1\"", "\"id\":\"2\""),
        );
    }),
    ("a new key of Python tools", |p| {
        p.write_file("pyproject.toml", "[project]\nname = \"desk\"\n");
    }),
    ("a folder of an editor", |p| {
        p.write_file(".vscode/settings.json", "{}\n");
    }),
    ("fewer may accept", |p| {
        replace(
            p,
            "ctxc.toml",
            "pass_rate = 1.0\n",
            "pass_rate = 1.0\naccepters = [\"lead@example.org\"]\n",
        );
    }),
    ("a role may use fewer tools", |p| {
        replace(p, "ctxc.toml", "\"db_read\", \"web_*\"", "\"web_get\"");
    }),
    ("a role may not use more tools", |p| {
        replace(p, "ctxc.toml", "[\"web_post\"]", "[\"web_p*\"]");
    }),
    ("a tool goes, and what blocks it", |p| {
        replace(p, "ctxc.toml", ", \"web_*\"", "");
        replace(p, "ctxc.toml", "blocked_tools = [\"web_post\"]\n", "");
    }),
    ("a role may spend less", |p| {
        replace(p, "ctxc.toml", "tokens = 5000", "tokens = 4000");
    }),
    ("a schema of answers has annotations", |p| {
        let text = "{\"title\": \"Answer\", \"$comment\": \"x\", \"type\": \"object\", \"required\": [\"team\"], \"description\": \"The team.\", \"examples\": [1]}";
        p.write_file("scenarios/files/answer.json", text);
    }),
    ("a request is recorded again", |p| {
        let mut call: Value =
            serde_json::from_str(&p.read_file("scenarios/requests/sent.jsonl")).unwrap();
        call["at"] = "2026-11-27T13:51:01Z".into();
        call["run"] = "other".into();
        p.write_file("scenarios/requests/sent.jsonl", format!("{call}\n"));
    }),
    ("a pattern of masks", |p| {
        append(p, "ctxc.toml", "\n[record]\nmask = [\"desk-[0-9]+\"]\n");
    }),
];

#[test]
fn a_harmless_change_passes() {
    let rows: Vec<(&str, Edit)> = ALARMS.iter().chain(COMMON).chain(OWN).copied().collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    let alarms = each(&rows, &FIXTURE, |edit, project| edit(project), alarm);
    assert!(
        alarms.is_empty(),
        "{} of {}:\n{}",
        alarms.len(),
        rows.len(),
        alarms.join("\n")
    );
}

#[test]
fn a_checkout_with_other_line_ends_passes() {
    let house = "[lints]\nno-context = \"warning\"\n";
    let hash = Hash::digest(house.as_bytes());
    let documented = TASK.replace(
        "</task>",
        "  <file_paths><path>docs/desk.md</path></file_paths>\n</task>",
    );
    let project = Project::new()
        .with_file("house.toml", house)
        .with_file("ctxc.toml", format!("extends = {{ path = \"house.toml\", hash = \"{hash}\" }}\n"))
        .with_file("templates/triage.xml", documented)
        .with_file("docs/desk.md", "# Desk\nRefunds need a lead.\n")
        .with_file("scenarios/ticket.txt", "my invoice\nof May\n")
        .with_file("scenarios/s.yaml", "name: s\ntask: triage\ncontext: {objective: sort, inputs: {ticket: {file: ticket.txt}}}\nexpect_context: [snapshot: true]\n");
    project.run(&["eval", "--accept"]).exits_with(0);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    begin(&project);
    git(&project, &["config", "core.autocrlf", "true"]);
    for path in project
        .files()
        .iter()
        .filter(|path| !path.starts_with(".git/"))
    {
        remove(&project, path);
    }
    git(&project, &["checkout", "-q", "-f", "HEAD", "."]);
    assert!(
        project.read_file("docs/desk.md").contains("\r\n")
            && project.read_file("house.toml").contains("\r\n")
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened")
        .output_lacks("note:");
}

#[test]
fn a_scenario_that_is_renamed_is_named() {
    let project = Project::copy_of(&FIXTURE);
    rename_scripted(&project, "sorted");
    project.run(&["gate"]).exits_with(0).stdout_contains(
        "note: the scenario `scripted` is called `sorted` now, and is held to its accepted result",
    );
    // It is: a case that passes less often is worse, and a case with a changed key is another one.
    replace(
        &project,
        "scenarios/sorted.yaml"
            .replace("sorted", "scripted")
            .as_str(),
        "reply: billing",
        "reply: sales",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("expectation of `scripted`: the scenario: it is gone");
    // Its accepted result goes on to the next change.
    replace(
        &project,
        "scenarios/scripted.yaml",
        "reply: sales",
        "reply: billing",
    );
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "renamed",
            "--by",
            "anybody@example.org",
        ])
        .exits_with(0);
    commit(&project);
    super::gate::base(&project);
    project
        .run(&["gate"])
        .exits_with(0)
        .output_lacks("is called");
}
