//! Answers depend only on the query and the files.

use super::folder::{Folder, globs, ids, whole};
use ctxc::internals::context::context_source::ContextSource;
use ctxc::internals::store::{IndexScope, SearchIndex, SkipReason, SkippedFile};
use pretty_assertions::assert_eq;

/// Texts over a few words, so that many of them are equally good answers; the same for the same
/// seed.
fn texts(count: u64) -> Vec<(String, String)> {
    let words = [
        "rollback", "deploy", "pager", "alert", "queue", "schema", "token", "ledger",
    ];
    let text = |seed: u64| {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut text = String::new();
        for _ in 0..(seed % 5) * 40 + 20 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[(state >> 33) as usize % words.len()]);
            text.push_str(if state >> 60 == 0 { ".\n\n" } else { " " });
        }
        text
    };
    // Each text twice: a tie for every query.
    (0..count)
        .map(|at| (format!("docs/{:03}.md", (at * 7) % count), text(at / 2)))
        .collect()
}

#[test]
fn the_order_of_reading_does_not_show() {
    let texts = texts(60);
    let queries = [
        "rollback",
        "the pager alert",
        "deploy deploy ledger",
        "schema docs",
        "token 003",
    ];
    let first = Folder::of(&[]);
    for (name, text) in &texts {
        first.put(name, text);
    }
    let first = first.index();
    // Another one grows file by file from the end, with detours.
    let second = Folder::of(&[]);
    for (at, (name, text)) in texts.iter().enumerate().rev() {
        second.put(
            name,
            if at % 3 == 0 {
                "rollback of something else"
            } else {
                text
            },
        );
        second.put("docs/passing.md", format!("pager {at}"));
        if at % 7 == 0 {
            second.ids("rollback");
        }
        second.put(name, text);
    }
    second.remove("docs/passing.md");
    let second = second.index();
    for query in queries {
        let answer = whole(&first, query);
        assert!(answer.len() > 100, "{query} finds something");
        assert_eq!(answer, whole(&first, query), "asked again");
        assert_eq!(answer, whole(&second, query), "of another history: {query}");
    }
}

#[test]
fn threads_that_ask_and_write_at_once_get_the_same_answers() {
    let folder = Folder::of(&[]);
    for (name, text) in texts(80) {
        folder.put(&name, text);
    }
    let answers: Vec<String> = std::thread::scope(|scope| {
        let ask = || whole(&folder.index(), "rollback pager ledger");
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for answer in &answers {
        assert_eq!(answer, &answers[0]);
    }
    assert_eq!(folder.index().load_state().unwrap().files, 80);
}

#[test]
fn equal_scores_go_by_path_and_line() {
    let section = |name: &str| {
        format!(
            "## {name}\n\npager duty\n\n{}\n\n",
            "other words here\n".repeat(60)
        )
    };
    let folder = Folder::of(&[
        ("d.md", "pager duty"),
        ("b.md", "pager duty"),
        ("c.md", "pager duty"),
        ("a.md", "pager duty"),
        (
            "long.md",
            &[section("x"), section("x"), section("x")].concat(),
        ),
        ("rest.md", "nothing of it"),
        ("more.md", "nothing of it either"),
    ]);
    assert_eq!(
        folder.ids("pager duty"),
        [
            "a.md",
            "b.md",
            "c.md",
            "d.md",
            "long.md:1-64",
            "long.md:67-130",
            "long.md:133-196"
        ]
    );
    let found = folder.index().find_passages(None, "pager duty", 2).unwrap();
    assert_eq!(
        found.iter().map(|found| &*found.id).collect::<Vec<_>>(),
        ["a.md", "b.md"],
        "the limit does not choose"
    );
    assert_eq!(found[0].score, found[1].score);
}

#[test]
fn a_match_shows_where_it_is_and_which_words_it_holds() {
    let filler = |words: &str| format!("{}\n\n", format!("{words}\n").repeat(160));
    let text = [
        "# Runbook\n\n",
        &filler("background about services"),
        "## Roll back\n\nUse rollbackDeploy twice.\n",
        "\n\n",
    ]
    .concat();
    let folder = Folder::of(&[
        ("docs/runbook.md", &text),
        ("src/ui.rs", "fn paint() {}"),
        ("src/db.rs", "fn query() {}"),
    ]);
    let found = folder
        .index()
        .find_passages(None, "How do I roll back a deploy?", 8)
        .unwrap();
    assert_eq!(found[0].id, "docs/runbook.md:165-167");
    assert_eq!((found[0].first, found[0].last), (165, 167));
    assert_eq!(found[0].words, ["roll", "back", "deploy"]);
    assert_eq!(found[0].text, "## Roll back\n\nUse rollbackDeploy twice.");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[164..167].join("\n"),
        found[0].text,
        "the lines are those of the file"
    );
    assert_eq!(folder.ids("paint"), ["src/ui.rs"], "a small file is whole");
    assert_eq!(folder.ids("ui"), ["src/ui.rs"], "and found by its path");
    assert_eq!(folder.ids("unknown words only"), [""; 0]);
    let whole = folder.index().files("roll back services", 8).unwrap();
    assert_eq!(
        (&*whole[0].id, &*whole[0].text, whole.len()),
        ("docs/runbook.md", &*text, 1)
    );
}

#[test]
fn what_shares_a_common_word_alone_is_no_match() {
    let mut files = vec![(
        "exact.md".to_owned(),
        "the quarantine ledger holds the quarantined rows".to_owned(),
    )];
    files.extend((0..30).map(|at| {
        (
            format!("noise{at}.md"),
            format!("the service number {at} of many"),
        )
    }));
    files.extend((0..5).map(|at| (format!("near{at}.md"), format!("ledger of account {at}"))));
    let folder = Folder::of(&[]);
    for (name, text) in &files {
        folder.put(name, text);
    }
    assert_eq!(
        folder.ids("why is the row in the quarantine ledger of the service")[0],
        "exact.md"
    );
    assert!(
        !folder
            .ids("the quarantine")
            .contains(&"noise1.md".to_owned())
    );
}

#[test]
fn the_score_of_a_passage_is_its_own() {
    let folder = Folder::of(&[
        ("a.md", "roll back the deploy"),
        ("b.md", "the deploy rings the pager, which rings"),
    ]);
    let scores = |folder: &Folder| {
        let found = folder
            .index()
            .find_passages(None, "roll back a deploy of the pager", 50)
            .unwrap();
        let known = found
            .into_iter()
            .filter(|found| ["a.md", "b.md"].contains(&&*found.path));
        known
            .map(|found| (found.path, found.score))
            .collect::<Vec<_>>()
    };
    let before = scores(&folder);
    assert_eq!(before.len(), 2);
    for at in 0..40 {
        folder.put(
            &format!("noise{at}.md"),
            "deploy deploy pager ".repeat(at + 1),
        );
    }
    folder.put("empty.md", "the of a to");
    assert_eq!(scores(&folder), before, "whatever else is there");
    assert_eq!(
        folder.ids("the of a to"),
        [""; 0],
        "words that say nothing match nothing"
    );
}

#[test]
fn what_is_hidden_is_not_found_unless_it_is_registered() {
    let folder = Folder::of(&[
        (".gitignore", "build/\n*.log\n"),
        ("docs/.gitignore", "draft.md\n"),
        ("docs/guide.md", "the zebra guide"),
        ("docs/draft.md", "the zebra draft"),
        ("build/out.md", "zebra output"),
        ("trace.log", "zebra trace"),
        (".env", "ZEBRA=secret"),
        ("prompts/find.xml", "<task>zebra</task>"),
        ("vendor/zebra.md", "vendored zebra"),
        (
            "registry.json",
            "{\"schema\": \"ctxc/registry/1\", \"zebra\": 1}",
        ),
        (
            "scenarios/one.yaml",
            "schema: ctxc/scenario/1\nexpect: zebra\n",
        ),
        (
            "junit.xml",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ctxc eval\" tests=\"1\">zebra</testsuites>",
        ),
        (
            "check.xml",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ctxc\" tests=\"1\">zebra</testsuites>",
        ),
        (
            "m.html",
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"ctxc/manifest/1\">\nzebra",
        ),
    ]);
    let all = ["docs/guide.md", "vendor/zebra.md"];
    let sorted = |index: &SearchIndex| {
        let mut ids = ids(index, "zebra");
        ids.sort();
        ids
    };
    let excluded_files = || ["prompts/find.xml".to_owned()].into();
    let scope = || IndexScope {
        excluded_files: excluded_files(),
        ..folder.scope()
    };
    assert_eq!(sorted(&SearchIndex::new(scope())), all);
    assert_eq!(
        sorted(&SearchIndex::new(IndexScope {
            include: Some(globs(&["docs"])),
            ..scope()
        })),
        ["docs/guide.md"]
    );
    assert_eq!(
        sorted(&SearchIndex::new(IndexScope {
            exclude: globs(&["vendor/**"]),
            ..scope()
        })),
        ["docs/guide.md"]
    );
    let documents = globs(&["build/*.md", "docs/draft.md", "handbook.md"]);
    let index = SearchIndex::new(IndexScope {
        include: Some(globs(&["docs/**"])),
        documents,
        ..scope()
    });
    assert_eq!(
        sorted(&index),
        ["build/out.md", "docs/draft.md", "docs/guide.md"]
    );
    let missing = SkippedFile {
        path: "handbook.md".to_owned(),
        why: SkipReason::Missing,
    };
    assert_eq!(index.load_state().unwrap().skipped, [missing]);
}

/// The omitted files, with the reason.
fn left_out(index: &SearchIndex) -> Vec<String> {
    index
        .load_state()
        .unwrap()
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.path, skipped.why))
        .collect()
}

#[test]
fn documents_and_source_are_found_and_other_types_where_a_pattern_names_them() {
    let folder = Folder::of(&[
        ("README", "zebra"),
        ("docs/a.md", "zebra"),
        ("src/a.rs", "// zebra"),
        ("config/prod.yaml", "zebra: 1"),
        ("package.json", "{\"zebra\": 1}"),
        ("dump.sql", "-- zebra"),
    ]);
    let sorted = |index: &SearchIndex| {
        let mut ids = ids(index, "zebra");
        ids.sort();
        ids
    };
    let index = folder.index();
    assert_eq!(sorted(&index), ["README", "docs/a.md", "src/a.rs"]);
    let reason = "its type is not looked up unless `[context] include` names it";
    assert_eq!(
        left_out(&index),
        ["config/prod.yaml", "dump.sql", "package.json"].map(|path| format!("{path}: {reason}"))
    );
    let index = SearchIndex::new(IndexScope {
        include: Some(globs(&["config", "docs"])),
        ..folder.scope()
    });
    assert_eq!(sorted(&index), ["config/prod.yaml", "docs/a.md"]);
    let index = SearchIndex::new(IndexScope {
        documents: globs(&["*.json"]),
        ..folder.scope()
    });
    assert_eq!(
        sorted(&index),
        ["README", "docs/a.md", "package.json", "src/a.rs"]
    );
}

#[test]
fn no_pattern_brings_in_a_key_or_what_a_role_protects() {
    let key = format!(
        "{}\n{}\n",
        concat!("-----BEGIN PRIV", "ATE KEY-----"),
        "zebra0123".repeat(6)
    );
    let folder = Folder::of(&[
        ("a.md", "zebra"),
        ("id_rsa", "zebra"),
        ("keys/ID_ED25519", "zebra"),
        ("keys/tls.pem", "zebra"),
        ("config/secrets.yaml", "zebra: 1"),
        ("config/prod.env", "ZEBRA=1"),
        (".env", "ZEBRA=1"),
        ("notes.txt", &format!("zebra\n{key}")),
        ("settings.txt", "ZEBRA_PASSWORD=dGhlIHplYnJh\nPORT=80\n"),
        ("billing/plan.md", "zebra"),
    ]);
    let protected = || [("clerk".to_owned(), globs(&["billing/**"]))].into();
    let everything = || globs(&["**"]);
    for (include, documents) in [
        (None, globs(&[])),
        (Some(everything()), globs(&[])),
        (None, everything()),
    ] {
        let index = SearchIndex::new(IndexScope {
            include,
            documents,
            protected: protected(),
            ..folder.scope()
        });
        assert_eq!(ids(&index, "zebra"), ["a.md"]);
        let left_out = left_out(&index);
        let named = "its name is that of a key, a credential or an environment file";
        for wanted in [
            format!("id_rsa: {named}"),
            format!("keys/ID_ED25519: {named}"),
            format!("keys/tls.pem: {named}"),
            format!("config/secrets.yaml: {named}"),
            "notes.txt: it holds a key or credentials".to_owned(),
            "settings.txt: it holds a key or credentials".to_owned(),
            "billing/plan.md: role `clerk` protects it".to_owned(),
        ] {
            assert!(left_out.contains(&wanted), "{wanted}: {left_out:#?}");
        }
    }
    // An index that was stored before follows the files that a role protects now.
    assert_eq!(folder.ids("zebra").len(), 2);
    let index = SearchIndex::new(IndexScope {
        protected: protected(),
        ..folder.scope()
    });
    assert_eq!(ids(&index, "zebra"), ["a.md"]);
}

#[test]
fn what_gitignore_names_is_not_included_by_a_pattern() {
    let folder = Folder::of(&[
        (".gitignore", "private/\nnotes.md\n"),
        ("docs/.gitignore", "draft\n"),
        ("docs/a.md", "zebra"),
        ("docs/draft/b.md", "zebra"),
        ("private/c.md", "zebra"),
        ("private/deep/d.md", "zebra"),
        ("notes.md", "zebra"),
        (".github/e.md", "zebra"),
    ]);
    let patterns = [
        "docs",
        "docs/draft",
        "private",
        "private/deep/*.md",
        "notes.md",
        ".github",
    ];
    let index = SearchIndex::new(IndexScope {
        include: Some(globs(&patterns)),
        ..folder.scope()
    });
    let mut found = ids(&index, "zebra");
    found.sort();
    assert_eq!(found, [".github/e.md", "docs/a.md"]);
    let reason = "`.gitignore` names it; `[context] documents` takes files that it names";
    let named = ["docs/draft", "notes.md", "private", "private/deep/*.md"];
    assert_eq!(
        left_out(&index),
        named.map(|path| format!("{path}: {reason}"))
    );
}

#[test]
#[cfg(unix)]
fn nothing_outside_the_project_comes_in_by_a_link() {
    let outside = Folder::of(&[("secret.md", "zebra secret")]);
    let folder = Folder::of(&[("a.md", "zebra")]);
    std::os::unix::fs::symlink(outside.path("secret.md"), folder.path("link.md")).unwrap();
    std::os::unix::fs::symlink(outside.root(), folder.path("folder")).unwrap();
    assert_eq!(folder.ids("zebra secret"), ["a.md"]);
    let documents = globs(&["folder/secret.md", "folder/**"]);
    let index = SearchIndex::new(IndexScope {
        documents,
        ..folder.scope()
    });
    assert_eq!(ids(&index, "zebra secret"), ["a.md"]);
    assert!(
        index
            .load_state()
            .unwrap()
            .skipped
            .iter()
            .all(|skipped| skipped.why == SkipReason::Outside)
    );
    assert_eq!(index.load_state().unwrap().skipped.len(), 2);
}

#[test]
fn what_is_no_text_or_too_large_is_named() {
    let folder = Folder::of(&[("a.md", "zebra")]);
    folder.put("picture.md", b"zebra \x89PNG\0\xff");
    folder.put("nul.txt", "zebra\0zebra");
    folder.put("latin.txt", b"zebra caf\xe9");
    folder.put(
        "wide.txt",
        "\u{feff}zebra"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    folder.put("large.txt", "zebra ".repeat(200_000));
    let index = folder.index();
    assert_eq!(ids(&index, "zebra"), ["a.md", "wide.txt"]);
    let state = index.load_state().unwrap();
    assert_eq!((state.files, state.passages), (2, 2));
    let skipped_files: Vec<String> = state
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", skipped.path, skipped.why))
        .collect();
    let binary =
        ["latin.txt", "nul.txt", "picture.md"].map(|path| format!("{path}: it holds no text"));
    assert_eq!(
        skipped_files,
        [
            "large.txt: it is larger than 1 MiB",
            &*binary[0],
            &*binary[1],
            &*binary[2]
        ]
    );
    let index = SearchIndex::new(IndexScope {
        documents: globs(&["large.txt"]),
        ..folder.scope()
    });
    assert!(
        ids(&index, "zebra")
            .iter()
            .any(|id| id.starts_with("large.txt:1#")),
        "registered, it may be larger"
    );
}
