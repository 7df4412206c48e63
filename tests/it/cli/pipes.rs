//! Pipes in the place of files: an opened pipe would block without end. A file named on the command
//! line may be one.

use super::project::{ProgramRun, Project};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TASK: &str = "<task type=\"atomic\" name=\"t\">
  <description src=\"d.md\"/>
  <parameters><parameter name=\"x\" type=\"string\"/></parameters>
  <file_paths source=\"literal\"><path>docs/plan.md</path></file_paths>
  <output_format type=\"json\" schema=\"out.json\"/>
</task>
";

fn sample() -> Project {
    let config = "edition = \"2026\"\nextends = { path = \"shared.toml\", hash = \"HASH\" }\n[roles.guide]\ntemplate = \"t\"\nsystem = { file = \"prompts/x.md\" }\n";
    let hash = format!("b3:{}", blake3_of("[lints]\n"));
    let case = "name: t-1\ntask: t\ncontext:\n  objective: go\n  inputs: {x: \"@data.md\"}\nexpect_context:\n  - snapshot: true\n";
    let suite = "id: u\ndefaults:\n  task: t\n  context: {objective: go}\n  expect_context: [nothing_cut: true]\ncases_from: cases.csv\n";
    Project::new()
        .with_file("ctxc.toml", config.replace("HASH", &hash))
        .with_file("shared.toml", "[lints]\n")
        .with_file("prompts/x.md", "You guide.\n")
        .with_file("templates/t.xml", TASK)
        .with_file("templates/d.md", "Do {{x}}.\n")
        .with_file(
            "templates/out.json",
            "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\"}}}\n",
        )
        .with_file("docs/plan.md", "A plan.\n")
        .with_file("scenarios/t.yaml", case)
        .with_file("scenarios/u.yaml", suite)
        .with_file("scenarios/cases.csv", "id,x\na,1\n")
        .with_file("scenarios/data.md", "data\n")
}

fn blake3_of(text: &str) -> String {
    ctxc::internals::base::hash::Hash::digest(text.as_bytes())
        .to_string()
        .trim_start_matches("b3:")
        .to_owned()
}

fn pipe(project: &Project, place: &str) {
    let path = project.path(place);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = std::fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A run that must end by itself.
#[track_caller]
fn run(project: &Project, args: &[&str]) -> ProgramRun {
    let mut child = project
        .command(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut outputs = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        outputs.0.read_to_string(&mut stdout).unwrap();
        outputs.1.read_to_string(&mut stderr).unwrap();
        (stdout, stderr)
    });
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > Duration::from_mins(1) {
            child.kill().unwrap();
            panic!("`ctxc {}` waits for a pipe", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (stdout, stderr) = reader.join().unwrap();
    ProgramRun {
        code: status.code(),
        stdout,
        stderr,
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_and_never_waited_for() {
    const IRREGULAR: &str = "it is not a regular file";
    let places: [(&str, &[&str], &str); 17] = [
        ("ctxc.toml", &["check"], IRREGULAR),
        ("ctxc.suppressions.toml", &["check"], IRREGULAR),
        (
            "shared.toml",
            &["check"],
            "cannot read the shared file shared.toml: it is not a regular file",
        ),
        ("prompts/x.md", &["check"], "ctxc.toml:5:"),
        ("prompts/x.md", &["check"], IRREGULAR),
        ("templates/d.md", &["check"], IRREGULAR),
        ("templates/out.json", &["check"], IRREGULAR),
        ("docs/plan.md", &["check"], IRREGULAR),
        ("scenarios/t.yaml", &["check"], IRREGULAR),
        ("scenarios/cases.csv", &["check"], IRREGULAR),
        ("scenarios/data.md", &["check"], "scenarios/data.md"),
        (
            ".gitignore",
            &["check"],
            "error[unreadable-file] .gitignore:1:1: cannot be read: it is not a regular file",
        ),
        (
            "templates/.ignore",
            &["build"],
            "error[unreadable-file] templates/.ignore:1:1: cannot be read: it is not a regular file",
        ),
        (
            "docs/.gitignore",
            &["search", "plan"],
            "docs/.gitignore: it cannot be read: it is not a regular file",
        ),
        (
            "prompts/.gitignore",
            &["import", ".", "--dry-run"],
            "prompts/.gitignore: error: it cannot be read: it is not a regular file",
        ),
        (
            "scenarios/snapshots/t-1.json",
            &["eval", "--accept"],
            "scenarios/snapshots/t-1.json is not a regular file",
        ),
        (
            "registry.json",
            &["build"],
            "registry.json is not a regular file",
        ),
    ];
    for (place, args, says) in places {
        let project = sample();
        pipe(&project, place);
        let run = run(&project, args);
        assert!(
            run.code != Some(0) || args[0] == "search",
            "{place}: {run:#?}"
        );
        assert!(
            format!("{}{}", run.stdout, run.stderr).contains(says),
            "{place}: {run:#?}"
        );
    }
}

#[test]
fn no_verb_waits_for_a_pipe_of_the_project() {
    let project = sample();
    let places = [
        ".gitignore",
        "templates/.gitignore",
        "prompts/x.md",
        "scenarios/snapshots/t-1.json",
        ".ctxc/lock",
        "docs/plan.md",
    ];
    for place in places.into_iter().chain([
        ".ctxc/cache/search.db",
        ".ctxc/cache/scorecard",
        "registry.json",
    ]) {
        pipe(&project, place);
    }
    for verb in [
        "check",
        "check --fix",
        "build",
        "fmt",
        "eval",
        "manifest",
        "render t -i x=1",
        "render --role guide -i x=1 --objective go",
        "search plan",
        "show t",
        "import . --dry-run",
        "init",
        "scenarios",
        "new scenario t -i x=1",
    ] {
        run(&project, &verb.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_pipe_that_the_user_names_is_read_and_written() {
    let project = sample();
    pipe(&project, "words");
    let path = project.path("words");
    let writer = std::thread::spawn(move || std::fs::write(path, "from a pipe").unwrap());
    run(&project, &["render", "t", "-i", "x=@words"])
        .exits_with(0)
        .stdout_contains("from a pipe");
    writer.join().unwrap();
    let path = project.path("words");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).unwrap());
    run(&project, &["build", "-o", "words"]).exits_with(0);
    assert!(reader.join().unwrap().contains("ctxc/registry/"));
}

#[test]
fn a_pipe_among_templates_and_prompts_is_reported() {
    let project = sample();
    pipe(&project, "templates/p.xml");
    pipe(&project, "legacy/x.j2");
    for (args, says) in [
        (
            &["check"][..],
            "error[unreadable-file] templates/p.xml:1:1: cannot be read: it is not a regular file",
        ),
        (&["import", "legacy"], "legacy/x.j2"),
        (&["import", "legacy"], "it is not a regular file"),
    ] {
        let run = run(&project, args);
        assert!(
            run.code != Some(0) && format!("{}{}", run.stdout, run.stderr).contains(says),
            "{args:?}: {run:#?}"
        );
    }
}

/// `/proc/kmsg` claims to be regular and empty, and its reader waits.
#[test]
#[cfg(target_os = "linux")]
fn a_file_of_the_system_is_reported_and_never_waited_for() {
    for place in [
        "proc/kmsg",
        "proc/self/environ",
        "proc/self/mem",
        "dev/zero",
    ] {
        let path = format!("{}{place}", "../".repeat(12));
        let config = format!(
            "extends = {{ path = \"{path}\", hash = \"b3:{}\" }}\n",
            "0".repeat(64)
        );
        let project = sample().with_file("ctxc.toml", config);
        let run = run(&project, &["check"]);
        assert_eq!(run.code, Some(2), "{place}: {run:#?}");
        assert!(
            run.stdout.contains("error[unpinned-shared-file]")
                || run.stdout.contains("error[unreadable-shared-file]"),
            "{run:#?}"
        );
        assert!(
            run.stdout.contains(place) && !run.stdout.contains("PATH="),
            "{place}: {run:#?}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn no_more_than_the_limit_is_read_of_a_file_that_states_it_is_empty() {
    use ctxc::internals::base::fs;
    let path = std::path::Path::new("/proc/self/maps");
    assert_eq!(std::fs::metadata(path).unwrap().len(), 0);
    for read in [fs::read_regular, fs::read_into] {
        let mut bytes = Vec::new();
        assert_eq!(
            read(path, 64, &mut bytes).unwrap_err().kind(),
            std::io::ErrorKind::FileTooLarge
        );
        assert!(bytes.len() <= 65, "{} bytes were read", bytes.len());
        read(path, 1 << 24, &mut bytes).unwrap();
        assert!(bytes.len() > 64 && bytes.ends_with(b"\n"));
    }
}
