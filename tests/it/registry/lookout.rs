//! A selection that is looked at again and again finds what a check from nothing finds, and opens what changed.

use super::edits::{Numbers, edit};
use super::incremental::{Folder, atomic, library};
use ctxc::registry::lookout::{Look, Lookout};
use ctxc::registry::survey::{self, Goal, Overlay, Request, Surveyed};
use ctxc::rules::check::Identity;
use ctxc::{Project, Severity};
use pretty_assertions::assert_eq;
use std::path::PathBuf;

/// Both ways of looking at the same files, now: they agree.
fn both(folder: &Folder, lookout: &mut Lookout, given: &[PathBuf]) -> (Look, Surveyed) {
    let project = Project::load(folder.dir.path()).unwrap();
    let overlay = Overlay::default();
    let request = Request {
        root: folder.dir.path(),
        config: project.config(),
        given,
        held: None,
        overlay: &overlay,
        threads: None,
        goal: Goal::Findings,
        identity: Identity::Wanted,
        least: Severity::Hint,
        tick: &|| {},
    };
    let fresh = survey::survey(&request).unwrap();
    let look = lookout.look(&request).unwrap();
    let shown = |surveyed: &Surveyed| {
        // The whole finding, of its rule the name alone.
        let line = |finding: &ctxc::Diagnostic| {
            let ctxc::Diagnostic { severity, message, path, span, start, labels, notes, fixes, fingerprint, .. } = finding;
            format!(
                "{} {severity:?} {path} {span:?} {start:?} {message} {labels:?} {notes:?} {fixes:?} {fingerprint}",
                finding.rule.name
            )
        };
        (surveyed.diagnostics.iter().map(line).collect::<Vec<_>>(), surveyed.files, surveyed.paths.clone())
    };
    assert_eq!(shown(&look.surveyed), shown(&fresh));
    (look, fresh)
}

#[test]
fn any_sequence_of_edits_is_seen() {
    let mut findings = 0;
    for seed in 100..106 {
        let mut numbers = Numbers(seed);
        let mut folder = Folder::new(&[
            ("templates/x/n0.xml", &atomic("n0", "start")),
            ("templates/guide.md", "start"),
            ("templates/lib.xml", &library("<fragment name=\"house\">kind</fragment>")),
        ]);
        let mut lookout = Lookout::default();
        let mut part = Lookout::default();
        for _ in 0..25 {
            edit(&mut folder, &mut numbers);
            if numbers.below(6) == 0 {
                Folder::settle();
            }
            findings += both(&folder, &mut lookout, &[]).1.diagnostics.len();
            let given = [folder.path("templates/lib.xml"), folder.path("templates")];
            both(&folder, &mut part, if numbers.below(2) == 0 { &given[..1] } else { &given });
        }
    }
    assert!(findings > 100, "{findings}");
}

#[test]
fn only_what_changed_is_opened_and_said_to_have_changed() {
    let mut folder = Folder::new(&[
        ("templates/a.xml", &atomic("a", "one")),
        ("templates/b.xml", &atomic("b", "two")),
        ("templates/pom.xml", "<project/>"),
        ("templates/text.md", "kind"),
        (
            "templates/s.xml",
            "<task name=\"s\" type=\"atomic\"><description>d</description><instructions src=\"text.md\"/></task>",
        ),
    ]);
    Folder::settle();
    let mut lookout = Lookout::default();
    let mut look = |folder: &Folder| {
        let (look, fresh) = both(folder, &mut lookout, &[]);
        let rules: Vec<&str> = fresh.diagnostics.iter().map(|finding| finding.rule.name).collect();
        (
            look.opened,
            look.changed.into_iter().collect::<Vec<_>>().join(" "),
            rules.contains(&"duplicate-name"),
            rules.contains(&"missing-source"),
        )
    };
    let is = |opened: usize, changed: &str, duplicate: bool, missing: bool| (opened, changed.to_owned(), duplicate, missing);
    assert_eq!(look(&folder), is(4, "", false, false));
    assert_eq!(look(&folder), is(0, "", false, false));
    folder.write("templates/a.xml", &atomic("b", "three"));
    folder.write("templates/pom.xml", "<project>more</project>");
    Folder::settle();
    assert_eq!(look(&folder), is(2, "templates/a.xml", true, false));
    std::fs::remove_file(folder.path("templates/b.xml")).unwrap();
    assert_eq!(look(&folder), is(0, "templates/b.xml", false, false));
    // A text belongs to the template that pulls it in.
    folder.write("templates/text.md", "kinder");
    Folder::settle();
    assert_eq!(look(&folder), is(1, "templates/text.md", false, false));
    std::fs::remove_file(folder.path("templates/text.md")).unwrap();
    assert_eq!(look(&folder), is(1, "templates/text.md", false, true));
    assert_eq!(look(&folder), is(0, "", false, true));
    // Saved again as it was, and under another project file: opened, and not changed.
    folder.write("templates/a.xml", &atomic("b", "three"));
    Folder::settle();
    assert_eq!(look(&folder), is(1, "", false, true));
    folder.write("ctxc.toml", "[defaults.atomic]\ninherit_context = \"none\"\n");
    assert_eq!(look(&folder), is(3, "", false, true));
}

#[test]
fn what_lies_beside_the_selection_counts_once_it_is_pointed_at() {
    let caller = |name: &str| {
        format!(
            "<task name=\"caller\" type=\"sequential\"><description>d</description><steps><task ref=\"{name}\"/></steps></task>"
        )
    };
    let mut folder = Folder::new(&[("templates/caller.xml", &caller("a")), ("templates/a.xml", &atomic("a", "one"))]);
    let given = [folder.path("templates/caller.xml")];
    let mut lookout = Lookout::default();
    let mut look = |folder: &Folder| {
        Folder::settle();
        let (look, fresh) = both(folder, &mut lookout, &given);
        let is_broken = fresh.diagnostics.iter().any(|finding| finding.rule.name == "unresolved-reference");
        (look.opened, look.changed.into_iter().collect::<Vec<_>>().join(" "), is_broken)
    };
    assert_eq!(look(&folder), (2, String::new(), false));
    assert_eq!(look(&folder), (0, String::new(), false));
    std::fs::remove_file(folder.path("templates/a.xml")).unwrap();
    assert_eq!(look(&folder), (0, "templates/a.xml".to_owned(), true));
    folder.write("templates/c.xml", &atomic("c", "one"));
    folder.write("templates/caller.xml", &caller("c"));
    assert_eq!(look(&folder), (2, "templates/c.xml templates/caller.xml".to_owned(), false));
}
