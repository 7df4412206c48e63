//! The names of recordings, and the message for a missing one.

use super::file::call;
use ctxc::internals::record::places::{RecordingPlace, RecordingSelector, recording_path};
use pretty_assertions::assert_eq;
use std::path::{Path, PathBuf};

#[test]
fn a_recording_has_a_name_or_a_path_and_its_calls_have_numbers() {
    let parse = |text: &str| {
        let RecordingSelector { place, number } = RecordingSelector::parse(text);
        (
            place.to_string(),
            matches!(place, RecordingPlace::Named(_)),
            number,
        )
    };
    assert_eq!(parse("@last"), ("@last".to_owned(), true, None));
    assert_eq!(
        parse("@night-run#12"),
        ("@night-run".to_owned(), true, Some(12))
    );
    assert_eq!(
        parse("calls/a.jsonl"),
        ("calls/a.jsonl".to_owned(), false, None)
    );
    assert_eq!(parse("calls#3"), ("calls".to_owned(), false, Some(3)));
    assert_eq!(parse("calls#x"), ("calls#x".to_owned(), false, None));
    for name in ["", "last", "../up", ".hidden", "a b", "a#1"] {
        assert_eq!(recording_path(Path::new("data"), name), None, "{name}");
    }
    assert_eq!(
        recording_path(Path::new("data"), "b.2"),
        Some(PathBuf::from("data/b.2.jsonl"))
    );
}

#[test]
fn the_calls_of_a_folder_are_counted_over_its_files_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("b.jsonl"), format!("\n{}", call("3").to_line())).unwrap();
    std::fs::write(
        at("a.jsonl"),
        [call("1").to_line(), call("2").to_line()].concat(),
    )
    .unwrap();
    std::fs::write(at("notes.txt"), "no calls").unwrap();
    let load =
        |text: String| RecordingSelector::parse(&text).load_calls(folder.path(), &mut |_| {});
    let path = folder.path().display().to_string();
    let ids: Vec<String> = load(path.clone())
        .unwrap()
        .into_iter()
        .map(|call| call.call.id)
        .collect();
    assert_eq!(ids, ["1", "2", "3"]);
    let third = load(format!("{path}#3")).unwrap();
    assert_eq!(
        (third.len(), third[0].at.line, &*third[0].call.id),
        (1, 2, "3")
    );
    assert_eq!(
        (third[0].file.clone(), third[0].name.clone()),
        (at("b.jsonl"), format!("{path}#3"))
    );
    let load_error = |text: String| load(text).unwrap_err().to_string();
    for number in [0, 4] {
        assert_eq!(
            load_error(format!("{path}#{number}")),
            format!("{path} has 3 calls, so there is no call {number}")
        );
    }
    assert!(load_error(format!("{path}/notes.txt")).ends_with(
        "notes.txt: line 1 is not a complete call: it was cut off, or this is not a recording"
    ));
    std::fs::write(at("list.txt"), "[]\n").unwrap();
    assert!(
        load_error(format!("{path}/list.txt"))
            .contains("list.txt: line 1: it is not a recorded call")
    );
    assert!(
        load_error(format!("{path}/none.jsonl"))
            .contains("none.jsonl cannot be read: it does not exist")
    );
    let empty = tempfile::tempdir().unwrap();
    assert!(
        load_error(empty.path().display().to_string())
            .ends_with("holds no file that ends in .jsonl")
    );
}
