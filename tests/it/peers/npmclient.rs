//! The client side of the protocol that Visual Studio Code is built on.

use super::editors::{command, expected, project, report, script};
use pretty_assertions::assert_eq;

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
