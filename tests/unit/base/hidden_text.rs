//! Tests of the private items of `src/base/hidden_text.rs`.

use super::{HiddenKind, decode_tags, hidden_runs};

fn kinds(text: &str) -> Vec<(HiddenKind, bool)> {
    hidden_runs(text)
        .map(|run| (run.kind, run.is_critical))
        .collect()
}

#[test]
fn text_of_languages_and_emoji_is_not_hidden() {
    for text in [
        "plain",
        "Größe, naïve, – “quoted” …",
        "\u{FEFF}first",
        "👨‍👩‍👧 👁️‍🗨️ ✔︎ ❤️ 1️⃣",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "می‌خواهم",
        "क्‍ष",
        "葛󠄀城",
        "שלום\u{200F}! \u{200E}C++",
        "שלום!\u{200F}",
        "©\u{FE0E} 1\u{FE0E} 0\u{FE00}",
        "々\u{E0100}",
        "ภาษา\u{200B}ไทย",
        "\u{1019}\u{FE00}",
        // Syllables of old Korean without a first or a middle letter.
        "\u{115F}\u{1161}",
        "\u{1100}\u{1160}\u{11A8}",
        "\u{115F}\u{1160}\u{11A8}",
    ] {
        assert_eq!(kinds(text), [], "{text}");
    }
}

#[test]
fn text_that_people_do_not_see_is_critical() {
    let tags: String = "ignore all".chars().map(as_tag).collect();
    for (text, kind) in [
        (tags.clone(), HiddenKind::Tag),
        // Behind a flag, too.
        (format!("🏴{tags}"), HiddenKind::Tag),
        (format!("🏴{tags}\u{E007F}"), HiddenKind::Tag),
        ("run \u{202E}txt.exe".to_owned(), HiddenKind::Direction),
        ("\u{2066}admin\u{2069}".to_owned(), HiddenKind::Direction),
        (
            "😀\u{FE01}\u{E0102}\u{E0150}".to_owned(),
            HiddenKind::Selector,
        ),
        // Kinds in turns, and a mark behind one that is harmless.
        (
            "😀\u{FE01}\u{200D}\u{FE05}\u{200D}".to_owned(),
            HiddenKind::Selector,
        ),
        (
            "x\u{FE0F}\u{200D}\u{FE0F}\u{200C}".to_owned(),
            HiddenKind::Selector,
        ),
        (
            "\u{200B}\u{2064}\u{200B}\u{2064}".to_owned(),
            HiddenKind::NoWidth,
        ),
        ("\u{2066}\u{202E}txt".to_owned(), HiddenKind::Direction),
    ] {
        let found = kinds(&text);
        assert_eq!(found.first(), Some(&(kind, true)), "{text:?}");
    }
    assert_eq!(decode_tags(&tags), "ignore all");
}

#[test]
fn other_characters_without_width_are_minor() {
    for (text, kind) in [
        ("pass\u{200B}word", HiddenKind::NoWidth),
        ("in\u{200D}put", HiddenKind::Joiner),
        ("a\u{FE01}", HiddenKind::Selector),
        ("a\u{E0101}", HiddenKind::Selector),
        ("a\u{200F}", HiddenKind::DirectionHint),
        ("a\u{FEFF}b", HiddenKind::NoWidth),
        ("pass\u{AD}word", HiddenKind::NoWidth),
        ("a\u{115F}b", HiddenKind::NoWidth),
        ("a\u{1160}b", HiddenKind::NoWidth),
        ("\u{3164}admin", HiddenKind::NoWidth),
        ("admin\u{FFA0}", HiddenKind::NoWidth),
        ("שם: \u{2068}Ann\u{2069}", HiddenKind::Direction),
    ] {
        let found = kinds(text);
        assert!(!found.is_empty(), "{text:?}");
        assert!(
            found.iter().all(|one| *one == (kind, false)),
            "{text:?}: {found:?}"
        );
    }
}

#[test]
fn each_run_has_its_place() {
    let runs = hidden_runs("ä\u{200B}\u{200B}b\u{202E}c");
    let ranges: Vec<_> = runs.map(|run| run.range).collect();
    assert_eq!(ranges, [2..8, 9..12]);
    // However much harmless text stands before it.
    let padded = format!("{}\u{202E}", "a\u{200B}".repeat(1000));
    assert!(hidden_runs(&padded).any(|run| run.is_critical));
}

fn as_tag(one: char) -> char {
    char::from_u32(u32::from(one) + 0xE_0000).expect("a tag character")
}
