//! Emacs without a screen, with eglot.

use super::editors::{command, expected, project, report, script, snippets};
use pretty_assertions::assert_eq;

#[test]
#[ignore = "needs emacs: Emacs with eglot, by the set-up of docs/EDITORS.md"]
fn emacs_shows_the_finding_and_mends_it() {
    let project = project();
    let [init] = &snippets("Emacs", "elisp")[..] else {
        panic!("one set-up")
    };
    project.write_file("init.el", init);
    let mut emacs = command(&project, "emacs");
    // Packages are there before the set-up is read, as in a session.
    emacs.args([
        "--batch",
        "--no-init-file",
        "--eval",
        "(package-activate-all)",
        "--load",
        "init.el",
        "--load",
    ]);
    emacs.arg(script("emacs.el"));
    assert_eq!(report(&project, &mut emacs), expected());
}
