//! Checks of a project's own, which the gate runs as the base has them: no edit of their files
//! turns it green.
#![cfg(unix)]

use super::gate::{begin, commit, git, git_in, replace};
use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket by the rules of the house.</description>\n</task>\n";
/// The answer depends on the template, and the check on `billing`.
const CHECKED: &str = "name: checked\ntask: triage\nruns: 1\npass_threshold: 1\ncontext: {objective: sort}\nexpectations:\n  - CHECK\n\
    answers:\n  - when: {has: [house]}\n    reply: billing\n  - reply: access\n";
/// Accepts a trial whose answer is in the file of words.
const WORDS: &str = "trial=$(cat); word=$(cat WORDS); case $trial in *\"\\\"answer\\\":\\\"$word\\\"\"*) ok=true;; *) ok=false;; esac; echo \"{\\\"pass\\\": $ok, \\\"reason\\\": \\\"$word\\\"}\"\n";

/// A check, its files, and the change of one of them.
struct Way {
    name: &'static str,
    check: &'static str,
    files: &'static [(&'static str, &'static str)],
    edit: (&'static str, &'static str),
}

/// Rejects an answer that contains a line of a file.
const CALM: &str = "if grep -q -F -f data/bad.txt; then ok=false; else ok=true; fi; echo \"{\\\"pass\\\": $ok, \\\"reason\\\": \\\"x\\\"}\"\n";

const GOOD: &str = "def good(trial):\n    return trial['answer'] == 'billing'\n";

fn ways() -> Vec<Way> {
    vec![
        Way {
            name: "a file of data",
            check: "command: [sh, checks/own.sh]",
            files: &[
                ("checks/own.sh", "WORDS:data/words.txt"),
                ("data/words.txt", "billing"),
            ],
            edit: ("data/words.txt", "access"),
        },
        Way {
            name: "a shell file that is sourced",
            check: "command: [sh, checks/own.sh]",
            files: &[
                ("checks/own.sh", ". lib/judge.sh\n"),
                ("lib/judge.sh", "WORDS:data/words.txt"),
                ("data/words.txt", "billing"),
            ],
            edit: ("lib/judge.sh", "echo '{\"pass\": true, \"reason\": \"x\"}'"),
        },
        Way {
            name: "`sh -c`",
            check: "command: [sh, -c, 'cd checks && exec ./own']",
            files: &[
                ("checks/own", "WORDS:../data/words.txt"),
                ("data/words.txt", "billing"),
            ],
            edit: (
                "checks/own",
                "#!/bin/sh\necho '{\"pass\": true, \"reason\": \"x\"}'\n",
            ),
        },
        Way {
            name: "a script that a package names",
            check: "command: [sh, -c, 'exec sh -c \"$(sed -n s/^judge=//p package.txt)\"']",
            files: &[
                ("package.txt", "judge=sh lib/judge.sh\n"),
                ("lib/judge.sh", "WORDS:data/words.txt"),
                ("data/words.txt", "billing"),
            ],
            edit: (
                "package.txt",
                "judge=printf '{\"pass\": true, \"reason\": \"x\"}'\n",
            ),
        },
        Way {
            name: "line ends of a file of data",
            check: "command: [sh, checks/own.sh]",
            files: &[("checks/own.sh", CALM), ("data/bad.txt", "access\n")],
            edit: ("data/bad.txt", "access\r\n"),
        },
        Way {
            name: "a makefile",
            check: "command: [sh, -c, 'make -s -f checks.mk judge']",
            files: &[
                ("checks.mk", "judge:\n\t@sh lib/judge.sh\n"),
                ("lib/judge.sh", "WORDS:data/words.txt"),
                ("data/words.txt", "billing"),
            ],
            edit: (
                "checks.mk",
                "judge:\n\t@echo '{\"pass\": true, \"reason\": \"x\"}'\n",
            ),
        },
        Way {
            name: "a Python import by name",
            check: "python: checks.plan:good",
            files: &[
                (
                    "checks/plan.py",
                    "import importlib\n\ndef good(trial):\n    return importlib.import_module('rules.house').good(trial)\n",
                ),
                ("rules/house.py", GOOD),
            ],
            edit: ("rules/house.py", "def good(trial):\n    return True\n"),
        },
        Way {
            name: "a module that shadows another one",
            check: "python: checks.plan:good",
            files: &[
                (
                    "checks/plan.py",
                    "import importlib\n\ndef good(trial):\n    return importlib.import_module('house').good(trial)\n",
                ),
                ("house.py", GOOD),
            ],
            edit: ("house/__init__.py", "def good(trial):\n    return True\n"),
        },
        Way {
            name: "a setting that a program reads",
            check: "python: checks.plan:good",
            files: &[
                (
                    "checks/plan.py",
                    "import json\n\ndef good(trial):\n    return trial['answer'] in json.load(open('house.json'))\n",
                ),
                ("house.json", "[\"billing\"]"),
            ],
            edit: ("house.json", "[\"billing\", \"access\"]"),
        },
    ]
}

fn start(way: &Way) -> Project {
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("ctxc.toml", "");
    project.write_file(
        "scenarios/checked.yaml",
        CHECKED.replace("CHECK", way.check),
    );
    for (path, text) in way.files {
        let text = text.strip_prefix("WORDS:").map_or_else(
            || (*text).to_owned(),
            |words| format!("#!/bin/sh\n{}", WORDS.replace("WORDS", words)),
        );
        project.write_file(path, text);
        if *path == "checks/own" {
            std::fs::set_permissions(
                project.path(path),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .unwrap();
        }
    }
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    begin(&project);
    project.run(&["trust", "--yes"]).exits_with(0);
    project
}

fn is_there(program: &str) -> bool {
    std::process::Command::new(program)
        .arg("--version")
        .output()
        .is_ok()
}

#[test]
fn no_edit_of_what_a_check_is_made_of_turns_the_gate_green() {
    for way in ways() {
        if way.check.contains("make") && !is_there("make")
            || way.check.contains("python") && !is_there("python3")
        {
            continue;
        }
        let project = start(&way);
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains("nothing is loosened");
        let (path, text) = way.edit;
        replace(
            &project,
            "templates/triage.xml",
            "of the house",
            "as they are",
        );
        let run = project.run(&["gate"]);
        assert_eq!(run.code, Some(4), "{}: {run:?}", way.name);
        project.write_file(path, text);
        if way.files.iter().any(|(file, _)| *file == "checks/own") {
            std::fs::set_permissions(
                project.path("checks/own"),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .unwrap();
        }
        let run = project.run(&["gate"]);
        assert_eq!(run.code, Some(4), "{}: {run:?}", way.name);
        assert!(
            run.stdout.contains("`checked`") && run.stdout.contains("by the expectations of main"),
            "{}: {run:?}",
            way.name
        );
        commit(&project);
        project.run(&["gate"]).exits_with(4);
    }
}

#[test]
fn a_template_takes_no_file_away_from_the_checks_of_the_base() {
    let project = start(&ways().remove(0));
    replace(
        &project,
        "templates/triage.xml",
        "of the house",
        "as they are",
    );
    project.write_file("data/words.txt", "access");
    project.write_file(
        "templates/words.xml",
        "<task type=\"atomic\" name=\"words\">\n  <description src=\"../data/words.txt\"/>\n</task>\n",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("by the expectations of main");
}

const WORDS_OF_PACKAGE: &str = "#!/bin/sh\nsh deps/judge/judge.sh\n";

#[test]
fn a_check_of_the_base_reads_its_submodule_and_its_workspace() {
    let lib = Project::new().with_file("words.txt", "billing");
    git(&lib, &["init", "-q", "-b", "main"]);
    commit(&lib);
    let project = start(&Way {
        name: "a submodule, and a package of a workspace",
        check: "command: [sh, checks/own.sh]",
        files: &[
            ("checks/own.sh", WORDS_OF_PACKAGE),
            (".gitignore", "deps/\n"),
            ("packages/judge/judge.sh", "WORDS:vendor/words.txt"),
        ],
        edit: ("", ""),
    });
    git(&project, &["switch", "-q", "main"]);
    let from = lib.path("").display().to_string();
    git(
        &project,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &from,
            "vendor",
        ],
    );
    project.write_file("ctxc.toml", "[eval.gate]\nlink = [\"deps\"]\n");
    std::fs::create_dir(project.path("deps")).unwrap();
    std::os::unix::fs::symlink("../packages/judge", project.path("deps/judge")).unwrap();
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project.run(&["trust", "--yes"]).exits_with(0);
    project.run(&["gate"]).exits_with(0);
    // Packages of a workspace are files of the repository, and those of the base are its own.
    replace(
        &project,
        "templates/triage.xml",
        "of the house",
        "as they are",
    );
    let good = project.read_file("packages/judge/judge.sh");
    project.write_file(
        "packages/judge/judge.sh",
        "echo '{\"pass\": true, \"reason\": \"x\"}'\n",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("by the expectations of main");
    project.write_file("packages/judge/judge.sh", good);
    // So are the files of a submodule, whose commit at that time is in its clone.
    lib.write_file("words.txt", "access");
    commit(&lib);
    let vendor = project.path("vendor");
    git_in(
        &vendor,
        &["-c", "protocol.file.allow=always", "fetch", "-q", "origin"],
    );
    git_in(&vendor, &["checkout", "-q", "origin/main"]);
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("by the expectations of main");
    std::fs::remove_dir_all(project.path(".git/modules/vendor/objects")).unwrap();
    std::fs::create_dir_all(project.path(".git/modules/vendor/objects")).unwrap();
    let run = project.run(&["gate"]);
    assert_ne!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("git diff-index"), "{run:?}");
}

const LINKED: Way = Way {
    name: "dependencies",
    check: "command: [sh, checks/own.sh]",
    files: &[
        ("checks/own.sh", ". deps/judge.sh\n"),
        (".gitignore", "deps/\n"),
        ("deps/judge.sh", "WORDS:data/words.txt"),
        ("data/words.txt", "billing"),
    ],
    edit: ("data/words.txt", "access"),
};

#[test]
fn what_a_check_of_the_base_lacks_is_named() {
    let project = start(&LINKED);
    project.run(&["gate"]).exits_with(0);
    // Only a template differs: a finished check is not run once more.
    replace(
        &project,
        "templates/triage.xml",
        "Sort the ticket",
        "Sort this ticket",
    );
    project.run(&["gate"]).exits_with(0);
    project.write_file("data/more.txt", "x");
    let run = project.run(&["gate"]).exits_with(7);
    run.stdout_contains("a check of `checked` does not run as main has it")
        .stdout_contains("`[eval.gate] link`");
    git(&project, &["checkout", "-q", "."]);
    git(&project, &["switch", "-q", "main"]);
    project.write_file("ctxc.toml", "[eval.gate]\nlink = [\"deps\"]\n");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    project.run(&["trust", "--yes"]).exits_with(0);
    project.write_file("data/more.txt", "x");
    project.run(&["gate"]).exits_with(0);
    project.write_file("package.json", "{}");
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("note: package.json differs from main: what `[eval.gate] link` names may be installed by this change");
    // The base still decides.
    replace(
        &project,
        "templates/triage.xml",
        "of the house",
        "as they are",
    );
    project.write_file("data/words.txt", "access");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("by the expectations of main");
    git(&project, &["checkout", "-q", "."]);
    // A file that the change puts there is none that was installed.
    project.write_file("deps/more.sh", "x");
    git(&project, &["add", "-f", "deps/more.sh"]);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("`[eval.gate] link` names deps, in which this change has deps/more.sh");
    git(&project, &["rm", "-q", "-f", "deps/more.sh"]);
    std::fs::remove_dir_all(project.path("deps")).unwrap();
    project
        .run(&["gate"])
        .stdout_contains("`[eval.gate] link` names deps, which is not here");
}

#[test]
fn a_check_of_equal_files_is_run_once() {
    let project = start(&Way {
        name: "counted",
        check: "command: [sh, checks/own.sh]",
        files: &[(
            "checks/own.sh",
            "echo x >> \"$COUNTED\"; echo '{\"pass\": true, \"reason\": \"x\"}'\n",
        )],
        edit: ("", ""),
    });
    let counted = |project: &Project| {
        let count = tempfile::NamedTempFile::new().unwrap();
        let output = project
            .command(&["gate"])
            .env("COUNTED", count.path())
            .output()
            .unwrap();
        super::project::ProgramRun::from(output).exits_with(0);
        std::fs::read_to_string(count.path())
            .unwrap()
            .lines()
            .count()
    };
    replace(
        &project,
        "templates/triage.xml",
        "Sort the ticket",
        "Sort this ticket",
    );
    assert_eq!(counted(&project), 1);
    project.write_file("data.txt", "x");
    assert_eq!(counted(&project), 2);
}

/// A command of a check, the files it is made of, and the files of which each is changed alone.
type Read = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const READ: &[Read] = &[
    (
        "command: [sh, checks/own.sh]",
        &[
            ("checks/own.sh", ". ./lib/j.sh\n"),
            (
                "lib/j.sh",
                "grep -q -f \"$(dirname \"$0\")/../data/bad words.txt\" | sh checks/rest\n",
            ),
            ("data/bad words.txt", "x\n"),
            ("checks/rest", "cd data && cat good.txt\n"),
            ("data/good.txt", "x\n"),
        ],
        &[
            "lib/j.sh",
            "data/bad words.txt",
            "checks/rest",
            "data/good.txt",
        ],
    ),
    (
        "python: checks.plan:good",
        &[
            (
                "checks/plan.py",
                "import importlib, json\nfrom .words import (\n    bad,\n)\nR = importlib.import_module('house')\nL = 'rules.late'\n",
            ),
            (
                "checks/words.py",
                "json.load(open(HERE / 'data' / 'house.json'))\n",
            ),
            ("checks/bad.py", "x\n"),
            ("data/house.json", "[]\n"),
            ("house.py", "x\n"),
            ("rules/late.py", "x\n"),
            ("rules/__init__.py", "x\n"),
        ],
        &[
            "checks/words.py",
            "checks/bad.py",
            "data/house.json",
            "house.py",
            "rules/late.py",
            "rules/__init__.py",
            "checks/__pycache__/words.cpython-311.pyc",
            "checks/__pycache__/plan.cpython-311.pyc",
            "house/__init__.py",
        ],
    ),
    (
        "command: [node, checks/own.mjs]",
        &[
            (
                "checks/own.mjs",
                "import {\n  good,\n} from \"./lib.mjs\";\nconst more = require('./more')\n",
            ),
            ("checks/lib.mjs", "x\n"),
            ("checks/more.cjs", "x\n"),
        ],
        &["checks/lib.mjs", "checks/more.cjs"],
    ),
    (
        "command: [npm, run, judge]",
        &[
            (
                "package.json",
                "{\"scripts\": {\"judge\": \"npm run own\", \"own\": \"node lib/own.mjs\", \"start\": \"node agent.mjs\"}}\n",
            ),
            ("lib/own.mjs", "x\n"),
            ("agent.mjs", "x\n"),
        ],
        &["lib/own.mjs"],
    ),
];

/// Files that differ as the gate lists them: `check PATH`.
fn listed_files(project: &Project) -> Vec<String> {
    let decision = project.run(&["gate", "--json"]).json();
    let all = decision["weakened"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["what"].as_str().unwrap().to_owned());
    all.collect()
}

#[test]
fn whatever_a_check_reads_is_listed() {
    for (check, files, edits) in READ {
        let project = start(&Way {
            name: "",
            check,
            files,
            edit: ("", ""),
        });
        for path in *edits {
            let old = project.path(path).exists().then(|| project.read_file(path));
            project.write_file(path, b"\xff other");
            git(&project, &["add", "-f", "."]);
            assert_eq!(listed_files(&project), [format!("check {path}")], "{check}");
            git(&project, &["rm", "-q", "-f", path]);
            if let Some(old) = old {
                project.write_file(path, old);
            }
        }
        // Neither a file that no check names, nor a file that an agent reads.
        project.write_file("README.md", "# Other\n");
        project.write_file("agent.mjs", "y\n");
        assert_eq!(listed_files(&project), [""; 0], "{check}");
    }
    // Of a package only the scripts that are run.
    let (check, files, _) = READ[3];
    let project = start(&Way {
        name: "",
        check,
        files,
        edit: ("", ""),
    });
    replace(&project, "package.json", "agent.mjs", "other.mjs");
    assert_eq!(listed_files(&project), [""; 0]);
    replace(
        &project,
        "package.json",
        "lib/own.mjs",
        "lib/../lib/own.mjs",
    );
    assert_eq!(listed_files(&project), ["check package.json"]);
}
