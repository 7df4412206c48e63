//! A cloned project does nothing by itself: each action is refused by name until its user permits
//! it.

use super::support::{project_with_templates, run_scripted, state_folder};
use crate::cli::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;

const SCRIPT: &str = r#"<task type="sequential" name="t"><description>Count.</description><steps>
    <task type="script" as="out"><description>Write.</description><command>sh write.sh {{x}}</command></task>
    <task><description>Read {{out}}.</description></task></steps>
    <parameters><parameter name="x" type="string" default="a b; touch no"/></parameters></task>"#;

fn with_state(project: &Project, args: &[&str]) -> ProgramRun {
    ProgramRun::from(
        project
            .command(args)
            .env("XDG_STATE_HOME", state_folder(project))
            .env("PLANTED_KEY", "planted-0123456789")
            .output()
            .unwrap(),
    )
}

#[test]
fn a_command_runs_in_a_trusted_project_alone_and_by_its_argument_list() {
    let project = project_with_templates(&[("t", SCRIPT)]).with_file(
        "write.sh",
        "printf '%s|' \"$@\"; echo \"$PLANTED_KEY\" > seen; env > env\n",
    );
    let answers = "- {reply: counted}\n";
    let run = run_scripted(&project, &["t"], answers).exits_with(2);
    run.stderr_contains(
        "running the command of /steps/0 (sh write.sh {{x}}) is not permitted in this project",
    );
    assert!(!project.files().contains(&"seen".to_owned()), "nothing ran");
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    assert_eq!(
        run_scripted(&project, &["t"], answers).exits_with(0).stdout,
        "counted\n"
    );
    // One argument, with any content; and nothing of the environment except the variables that find
    // programs.
    assert!(!project.files().contains(&"no".to_owned()));
    assert_eq!(project.read_file("seen"), "\n");
    assert!(project.read_file("env").contains("PATH="));
    // A policy bounds the user's permissions.
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[policy]\ncommands = [\"git\"]\n",
    );
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    run_scripted(&project, &["t"], answers)
        .exits_with(1)
        .stderr_contains("`[policy] commands` in ctxc.toml allows none that begins like this");
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[policy]\nblocked = [\"touch\"]\n",
    );
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    run_scripted(&project, &["t"], answers)
        .exits_with(1)
        .stderr_contains("rules out `touch`");
}

#[test]
fn how_a_command_ends_is_distinguished() {
    let of = |body: &str, timeout: &str| {
        let task = format!(
            r#"<task type="script" name="t"><description>Run.</description><command>sh go.sh</command><timeout unit="ms">{timeout}</timeout></task>"#
        );
        let project = project_with_templates(&[("t", &task)]).with_file("go.sh", body);
        with_state(&project, &["trust", "--yes"]).exits_with(0);
        with_state(&project, &["run", "t"])
    };
    assert_eq!(of("echo hi\n", "9000").exits_with(0).stdout, "hi\n");
    of("echo no room >&2; exit 3\n", "9000")
        .exits_with(1)
        .stderr_contains("the command ended with exit code 3: no room");
    of("kill -9 $$\n", "9000")
        .exits_with(1)
        .stderr_contains("signal 9 ended it");
    of("sleep 30\n", "300")
        .exits_with(1)
        .stderr_contains("it was stopped after 0.3 s: `<timeout>` allows more");
    of(
        "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n",
        "60000",
    )
    .exits_with(1)
    .stderr_contains("it wrote more than 1048576 bytes");
}

#[test]
fn a_list_of_files_from_a_command_needs_permission() {
    let task = r#"<task type="atomic" name="t"><description>Read.</description><file_paths source="command"><command>ls notes</command></file_paths></task>"#;
    let project = project_with_templates(&[("t", task)]).with_file("notes/a.md", "the desk is oak");
    run_scripted(&project, &["t"], "- {reply: x}\n")
        .exits_with(2)
        .stderr_contains("running `ls notes`, which lists files is not permitted");
    let listed = r#"<task type="atomic" name="t"><description>Read.</description><file_paths source="command"><command>sh list.sh</command></file_paths></task>"#;
    project.write_file("templates/t.xml", listed);
    project.write_file("list.sh", "echo notes/a.md\n");
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    run_scripted(
        &project,
        &["t"],
        "- {when: {has: the desk is oak}, reply: read}\n",
    )
    .exits_with(0)
    .stdout_contains("read");
}

#[test]
fn a_model_is_asked_and_a_key_read_in_a_trusted_project_alone() {
    let upstream = crate::cli::eval_record::upstream(vec![r#"{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}"#.to_owned()]);
    let config = format!(
        "edition = \"2026\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 8000\n\
         [providers.house]\nkind = \"openai\"\nbase_url = \"{}\"\napi_key_env = \"PLANTED_KEY\"\n",
        upstream.address
    );
    let task = r#"<task type="atomic" name="t"><model>small</model><description>Is it planted-0123456789?</description></task>"#;
    let project = project_with_templates(&[("t", task)]).with_file("ctxc.toml", config);
    for answers in ["record", "live", "replay-or-record"] {
        with_state(&project, &["run", "t", "--answers", answers])
            .exits_with(2)
            .stderr_contains("asking a model is not permitted in this project");
    }
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    assert_eq!(
        with_state(&project, &["run", "t", "--answers", "record"])
            .exits_with(0)
            .stdout,
        "yes\n"
    );
    // The key is in nothing that was written.
    let trace = std::fs::read_to_string(super::support::newest_trace_file(&state_folder(&project)))
        .unwrap();
    assert!(
        trace.contains("house-1") && !trace.contains("planted-0123456789"),
        "{trace}"
    );
    // The recording answers from now on, with no server.
    assert_eq!(
        with_state(&project, &["run", "t", "--recording", "run:last"])
            .exits_with(0)
            .stdout,
        "yes\n"
    );
}

#[test]
fn a_tool_of_a_command_is_run_for_the_role_that_may_use_it() {
    let config = "edition = \"2026\"\n[tools.weigh]\ndescription = \"Weigh it.\"\ncommand = [\"sh\", \"weigh.sh\"]\n\
        [tools.burn]\ncommand = [\"sh\", \"burn.sh\"]\n[roles.clerk]\ntemplate = \"t\"\ntools = [\"weigh\"]\n";
    let project = project_with_templates(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Weigh.</description></task>"#,
    )])
    .with_file("ctxc.toml", config)
    .with_file("weigh.sh", "cat > given; echo 12 kg\n")
    .with_file("burn.sh", "touch burnt\n");
    let answers = "- {when: {lacks: 12 kg}, tool_calls: [{name: weigh, arguments: {what: desk}}, {name: burn}]}\n- {when: {has: 12 kg}, reply: heavy}\n";
    run_scripted(&project, &["clerk"], answers)
        .exits_with(2)
        .stderr_contains("running the command of the tool `weigh` is not permitted");
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    assert_eq!(
        run_scripted(&project, &["clerk"], answers)
            .exits_with(0)
            .stdout,
        "heavy\n"
    );
    assert_eq!(project.read_file("given"), "{\"what\":\"desk\"}");
    assert!(
        !project.files().contains(&"burnt".to_owned()),
        "it is no tool of the role"
    );
    // Incomplete arguments are reported to the agent, and passed to no command.
    project.write_file("weigh.sh", "touch burnt\n");
    let cut = r#"- {when: {lacks: not JSON}, tool_calls: [{name: weigh, arguments: '{"what": '}]}
- {when: {has: 'its arguments are not JSON'}, reply: light}
"#;
    assert_eq!(
        run_scripted(&project, &["clerk"], cut).exits_with(0).stdout,
        "light\n"
    );
    assert!(
        !project.files().contains(&"burnt".to_owned()),
        "it was called"
    );
}

const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked["method"], asked.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
    elif method == "tools/list":
        result = {"tools": [{"name": "weigh", "inputSchema": {"type": "object"}}], "nextCursor": "2"} if not params else {"tools": [{"name": "lift"}]}
    elif params["name"] == "lift":
        result = {"content": [{"type": "text", "text": "too heavy"}], "isError": True}
    else:
        result = {"content": [{"type": "text", "text": params["arguments"]["what"] + " weighs 12 kg"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

#[test]
fn a_server_of_tools_is_started_in_a_trusted_project_alone() {
    let config = "edition = \"2026\"\n[mcp.scales]\ncommand = [\"python3\", \"serve.py\"]\n[tools.weigh]\n[tools.lift]\n\
        [roles.clerk]\ntemplate = \"t\"\ntools = [\"weigh\", \"lift\"]\nprotected_paths = [\"vault/**\"]\n";
    let project = project_with_templates(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Weigh.</description></task>"#,
    )])
    .with_file("ctxc.toml", config)
    .with_file("serve.py", SERVER);
    let answers = "- {when: {lacks: 12 kg}, tool_calls: [{name: weigh, arguments: {what: desk}}, {name: lift}, {name: weigh, arguments: {what: ./vault/gold}}]}\n\
        - {when: {has: [desk weighs 12 kg, too heavy, 'vault/gold is a protected path']}, reply: heavy}\n";
    run_scripted(&project, &["clerk"], answers)
        .exits_with(2)
        .stderr_contains("starting the server of tools `scales` is not permitted");
    with_state(&project, &["trust", "--yes"])
        .exits_with(0)
        .stdout_contains("python3 serve.py");
    assert_eq!(
        run_scripted(&project, &["clerk"], answers)
            .exits_with(0)
            .stdout,
        "heavy\n"
    );
    // A server that speaks another protocol is reported.
    project.write_file("serve.py", "print('hello')\n");
    run_scripted(&project, &["clerk"], answers)
        .exits_with(3)
        .stderr_contains(
            "the server of tools `scales`: expected a message of JSON-RPC, found hello",
        );
    project.write_file("serve.py", "import sys\nsys.exit('no scales are here')\n");
    run_scripted(&project, &["clerk"], answers)
        .exits_with(3)
        .stderr_contains("it ended before it answered initialize: no scales are here");
}
