//! The client side of the protocol that Visual Studio Code is built on; and Taplo, on which its
//! extension for TOML is built.

use super::editors::{command, expected, project, report, script};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use std::process::Command;

#[test]
#[ignore = "needs npmclient: node and vscode-languageserver-protocol"]
fn npmclient_sees_and_mends_the_finding() {
    for way in ["push", "pull"] {
        let project = project();
        let mut node = command(&project, "node");
        node.args([script("npmclient.js").as_str(), way]);
        assert_eq!(report(&project, &mut node), expected(), "{way}");
    }
}

/// The mistakes that Taplo finds in a project file by the schema in its first line.
#[test]
#[ignore = "needs npmclient: node and @taplo/cli"]
fn taplo_marks_mistakes_of_a_project_file() {
    let marked = |text: &str| {
        let project = Project::new().with_file(
            "ctxc.toml",
            format!("#:schema ./.ctxc.schema.json\nedition = \"2026\"\n{text}"),
        );
        let schema = project.run(&["schema", "config"]).exits_with(0);
        project.write_file(".ctxc.schema.json", &schema.stdout);
        let modules = std::env::var("CTXC_MODULES").unwrap();
        let mut taplo = Command::new(format!("{modules}/node_modules/.bin/taplo"));
        taplo
            .args(["lint", "--colors", "never", "ctxc.toml"])
            .current_dir(project.path(""));
        let output = taplo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    let (is_valid, said) = marked("[eval]\nruns = 3\n");
    assert!(is_valid, "{said}");
    for (text, mistake) in [
        ("[eval]\nrunz = 3\n", "'runz' was unexpected"),
        (
            "[lints]\nmissing-description = \"of\"\n",
            "\"of\" is not one of",
        ),
    ] {
        let (is_valid, said) = marked(text);
        assert!(!is_valid && said.contains(mistake), "{said}");
    }
}
