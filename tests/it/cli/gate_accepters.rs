//! The accepters of a change, and the proof that they accepted it; and the scenarios and results by
//! which the gate decides.

use super::gate::{CONFIG, SCRIPTED, begin, branch, commit, git, replace};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;

const BARE: &str = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";

/// A branch whose base has another rule on who accepts.
fn held_by(rule: &str, owners: Option<&str>) -> Project {
    let project = branch();
    git(&project, &["switch", "-q", "main"]);
    project.write_file(
        "ctxc.toml",
        CONFIG.replace("accepters = [\"lead@example.org\"]", rule),
    );
    if let Some(owners) = owners {
        project.write_file(".github/CODEOWNERS", owners);
    }
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - absent: [sorry]\n",
        "",
    );
    project
}

fn accept(project: &Project, by: &str) {
    project
        .run(&["baseline", "accept", "--reason", "so", "--by", by])
        .exits_with(0);
}

#[test]
fn the_address_that_git_has_of_its_user_accepts() {
    let accept = ["baseline", "accept", "--reason", "so"];
    for (variable, configured) in [
        (Some("eve@example.org"), None),
        (None, Some("eve@example.org")),
        (Some("eve@example.org"), Some("a@b")),
    ] {
        let project = held_by("accepters = []", None);
        if let Some(configured) = configured {
            git(&project, &["config", "user.email", configured]);
        }
        let mut command = project.command(&accept);
        command.env_remove("GIT_AUTHOR_EMAIL").env_remove("EMAIL");
        command.envs(variable.map(|address| ("GIT_AUTHOR_EMAIL", address)));
        ProgramRun::from(command.output().unwrap()).exits_with(0);
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains("accepted by eve@example.org (unverified): so");
    }
}

#[test]
fn a_code_owner_accepts_and_a_name_alone_is_unverified() {
    let project = held_by(
        "accepters = \"codeowners\"",
        Some("* @all\n/baselines/ lead@example.org @bea\n"),
    );
    accept(&project, "mallory@example.org");
    let run = project.run(&["gate"]).exits_with(4);
    run.stdout_contains("what mallory@example.org accepted does not count: the `accepters` of the base are @bea, lead@example.org");
    accept(&project, "@bea");
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("accepted by @bea: so")
        .stdout_contains("mallory@example.org (unverified) accepted");
    // The branch's own file names no accepter.
    let project = held_by("accepters = \"codeowners\"", Some("* @all\n"));
    project.write_file(".github/CODEOWNERS", "* mallory@example.org\n");
    accept(&project, "mallory@example.org");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("the `accepters` of the base are @all");
    // Without owners no user may accept, in place of any user.
    let project = held_by("accepters = \"codeowners\"", None);
    accept(&project, "codeowners");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("the `accepters` of the base are nobody");
    let project = held_by(
        "accepters = [\"lead@example.org\"]",
        Some("* mallory@example.org\n"),
    );
    accept(&project, "lead@example.org");
    let run = project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org (unverified): so");
    run.stdout_contains("new in the log: lead@example.org (unverified) accepted");
    let decision = project.run(&["gate", "--json"]).json();
    assert_eq!(
        (
            &decision["weakened"][0]["unverified"],
            &decision["log"][0]["unverified"]
        ),
        (&true.into(), &true.into())
    );
}

/// A program in the place of `gpg`: it signs everything, and reports the lead as the signer.
#[cfg(unix)]
const SIGNER: &str = "#!/bin/sh\ncase \"$*\" in\n*--verify*) cat >/dev/null; echo '[GNUPG:] GOODSIG 0123456789ABCDEF Lead <lead@example.org>'; echo '[GNUPG:] TRUST_FULLY 0 pgp';;\n\
    *) cat >/dev/null; printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nnone\\n-----END PGP SIGNATURE-----\\n'; echo '[GNUPG:] SIG_CREATED D' >&2;;\nesac\n";

#[test]
#[cfg(unix)]
fn who_signed_the_commit_of_a_line_is_verified() {
    use std::os::unix::fs::PermissionsExt;
    let outside = tempfile::tempdir().unwrap();
    let signer = outside.path().join("signer");
    std::fs::write(&signer, SIGNER).unwrap();
    std::fs::set_permissions(&signer, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (by, verified) in [("lead@example.org", true), ("ead@example.org", false)] {
        let project = held_by("accepters = []", None);
        git(
            &project,
            &["config", "gpg.program", signer.to_str().unwrap()],
        );
        accept(&project, by);
        git(&project, &["add", "-A"]);
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains(&format!("accepted by {by} (unverified): so"));
        git(
            &project,
            &[
                "-c",
                "user.signingkey=lead",
                "commit",
                "-q",
                "-S",
                "-m",
                "accepted",
            ],
        );
        let mark = if verified { "" } else { " (unverified)" };
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains(&format!("accepted by {by}{mark}: so"));
        // A signature of a later commit does not cover the line.
        git(&project, &["reset", "-q", "--soft", "HEAD~1"]);
        commit(&project);
        git(
            &project,
            &[
                "-c",
                "user.signingkey=lead",
                "commit",
                "-q",
                "-S",
                "--allow-empty",
                "-m",
                "later",
            ],
        );
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains(&format!("accepted by {by} (unverified): so"));
    }
}

#[test]
fn the_gate_can_be_of_some_suites_and_of_other_accepted_results() {
    let project = branch();
    let other = SCRIPTED
        .replace("name: scripted", "name: other")
        .replace("  - snapshot: true\n", "");
    project.write_file(
        "scenarios/other.yaml",
        other.replace("reply: billing", "reply: access"),
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("`other` fails");
    project
        .run(&["gate", "--suite", "scripted"])
        .exits_with(0)
        .stdout_contains("1 scenario, 1 with answers");
    project
        .run(&["gate", "--suite", "scripted", "--suite", "other"])
        .exits_with(4)
        .stdout_contains("2 scenarios");
    project
        .run(&["gate", "--suite", "scriped"])
        .exits_with(2)
        .stderr_contains("there is no suite `scriped`")
        .stderr_contains("scripted");
    project
        .run(&["eval", "scripted", "--out", "card.json"])
        .exits_with(0);
    project
        .run(&["gate", "--suite", "scripted", "--candidate", "card.json"])
        .exits_with(0);
    project
        .run(&["gate", "--candidate", "card.json"])
        .exits_with(2);
    // A relaxation elsewhere is listed all the same.
    replace(
        &project,
        "scenarios/recorded.yaml",
        "- contains: [billing]",
        "- contains: [.]",
    );
    project
        .run(&["gate", "--suite", "scripted"])
        .exits_with(4)
        .stdout_contains("expectation of `recorded`");
    // Results that were accepted elsewhere.
    let project = branch();
    let baseline = project.read_file("baselines/scripted.json");
    project.write_file("held/scripted.json", baseline.clone());
    for path in ["held", "held/scripted.json"] {
        let decision = project
            .run(&["gate", "--baseline", path, "--json"])
            .exits_with(0)
            .json();
        assert_eq!(
            decision["baselines"],
            serde_json::json!(["baselines/scripted.json"])
        );
    }
    project.write_file(
        "held/scripted.json",
        baseline.replace("\"pass\"", "\"fail\""),
    );
    project
        .run(&["gate", "--baseline", "held"])
        .exits_with(2)
        .stderr_contains("held/scripted.json cannot be compared with: it was changed by hand");
    project.write_file("empty/readme.md", "x");
    project
        .run(&["gate", "--baseline", "empty"])
        .exits_with(2)
        .stderr_contains("the folder holds no baseline");
    project
        .run(&["gate", "--baseline", "nowhere.json"])
        .exits_with(2)
        .stderr_contains("nowhere.json cannot be compared with");
}

#[test]
fn scenarios_that_the_base_got_meanwhile_are_named() {
    let project = branch();
    git(&project, &["switch", "-q", "main"]);
    project.write_file("scenarios/bare.yaml", BARE);
    project.write_file("scenarios/more.yaml", BARE.replace("bare", "more"));
    commit(&project);
    git(&project, &["switch", "-q", "change"]);
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("main has `bare` and 1 more scenario by now, which this branch lacks");
    git(&project, &["merge", "-q", "main", "-m", "x"]);
    project.run(&["gate"]).exits_with(0).output_lacks("by now");
}
