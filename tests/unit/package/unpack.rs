//! Hostile archives, each refused.

use super::*;
use crate::package::archive::write_archive;
use serde_json::json;
use tar::{Builder, Header};

fn file(path: &str, text: &str) -> PackedFile {
    PackedFile {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

/// The description of some files.
fn description(files: &[PackedFile]) -> PackedFile {
    let hashes: BTreeMap<&str, String> = files
        .iter()
        .map(|file| (file.path.as_str(), sha256_hex(&file.bytes)))
        .collect();
    let document = json!({
        "schema": "ctxc/package/1", "name": "acme/rules", "version": "1.0.0", "tool": "0.1.0",
        "files": hashes, "exports": {}, "scorecard": null, "registry": {},
        "manifest": {"schema": "ctxc/manifest/1", "registry_hash": "", "entries": []},
    });
    file(PACKAGE_FILE, &document.to_string())
}

/// A package whose description lists all of its files.
fn described(mut files: Vec<PackedFile>) -> Vec<PackedFile> {
    files.push(description(&files));
    files
}

fn sound_files() -> Vec<PackedFile> {
    described(vec![
        file("ctxc.toml", "[package]\n"),
        file("templates/triage.xml", "<task/>\n"),
    ])
}

/// An entry that no program should write.
struct RawEntry<'e> {
    name: &'e [u8],
    kind: EntryType,
    bytes: &'e [u8],
}

impl Default for RawEntry<'_> {
    fn default() -> Self {
        Self {
            name: b"templates/x.xml",
            kind: EntryType::Regular,
            bytes: b"x",
        }
    }
}

fn raw_header(entry: &RawEntry<'_>) -> Header {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..entry.name.len()].copy_from_slice(entry.name);
    header.set_entry_type(entry.kind);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(entry.bytes.len() as u64);
    header.set_cksum();
    header
}

/// A sound package with one more entry, which its description lists if it is a file.
fn with_entry(entry: &RawEntry<'_>) -> Vec<u8> {
    let mut files = sound_files();
    files.pop();
    let mut listed = files.clone();
    if let Ok(path) = std::str::from_utf8(entry.name) {
        listed.push(PackedFile {
            path: path.to_owned(),
            bytes: entry.bytes.to_vec(),
        });
    }
    files.push(description(&listed));
    with_raw(&files, |tar| {
        tar.append(&raw_header(entry), entry.bytes).unwrap();
    })
}

fn named(name: &[u8]) -> Vec<u8> {
    with_entry(&RawEntry {
        name,
        ..RawEntry::default()
    })
}

fn of_kind(kind: EntryType) -> Vec<u8> {
    let bytes = b"";
    with_entry(&RawEntry {
        kind,
        bytes,
        ..RawEntry::default()
    })
}

/// An archive that another program wrote, with entries behind the files.
fn with_raw(files: &[PackedFile], change: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for file in files {
        let entry = RawEntry {
            name: file.path.as_bytes(),
            bytes: &file.bytes,
            ..RawEntry::default()
        };
        tar.append(&raw_header(&entry), file.bytes.as_slice())
            .unwrap();
    }
    change(&mut tar);
    compress(&tar.into_inner().unwrap())
}

fn compress(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).unwrap()
}

/// A sound archive with a change of its bytes before the compression.
fn with_bytes(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut tar = write_tar(&sound_files()).unwrap();
    change(&mut tar);
    compress(&tar)
}

fn refusal(bytes: &[u8]) -> String {
    match read_package(bytes) {
        Ok(package) => panic!("accepted: {:?}", package.files),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_package_is_read_as_it_was_written() {
    let files = sound_files();
    let package = read_package(&write_archive(&files).unwrap()).unwrap();
    assert_eq!(package.document.name, "acme/rules");
    assert_eq!(package.files, files[..2]);
    let long = format!("templates/{}/a.xml", "long-name-".repeat(15));
    let files = described(vec![file(&long, "x"), file("ü/日本.md", "x")]);
    assert!(read_package(&write_archive(&files).unwrap()).is_ok());
}

#[test]
fn names_that_leave_the_package_or_mean_another_file_are_refused() {
    let cases: [(&[u8], &str); 26] = [
        (b"../evil.xml", "has `.` or `..`"),
        (b"templates/../../evil.xml", "has `.` or `..`"),
        (b"./x.xml", "has `.` or `..`"),
        (b"/etc/cron.d/evil", "the path is absolute"),
        (b"\\\\server\\share\\x", "the path is absolute"),
        (b"C:/evil.xml", "the path is absolute"),
        (b"c:evil.xml", "the path is absolute"),
        (b"a\\..\\..\\evil.xml", "no character of a name"),
        (b"templates//x.xml", "an empty part"),
        (b"templates/", "an empty part"),
        (b".git/hooks/post-checkout", "the file is hidden"),
        (b"templates/.env", "the file is hidden"),
        (b"CON", "Windows reserves"),
        (b"templates/nul.xml", "Windows reserves"),
        (b"COM1.txt", "Windows reserves"),
        ("lpt\u{b9}.md".as_bytes(), "Windows reserves"),
        (b"aux /x.xml", "Windows reserves"),
        (b"x.xml.", "Windows reserves"),
        (b"x.xml ", "Windows reserves"),
        (b"x.xml:stream", "no character of a name"),
        (b"a\x1b[2Jb", "no character of a name"),
        (b"a\nb", "no character of a name"),
        (b"what?.xml", "no character of a name"),
        ("a\u{202E}lmx.exe".as_bytes(), "no character of a name"),
        ("a\u{E0041}.xml".as_bytes(), "no character of a name"),
        (b"a\xff.xml", "the name is not UTF-8"),
    ];
    for (name, expected) in cases {
        let why = refusal(&named(name));
        assert!(why.contains(expected), "{name:?}: {why}");
    }
}

#[test]
fn names_that_some_systems_take_for_one_are_refused() {
    for name in [
        "Templates/x.xml",
        "templates/TRIAGE.xml",
        "templates/triage.xml/x",
        "templates",
        "CTXC.toml",
        "ctxc.toml",
    ] {
        let why = refusal(&named(name.as_bytes()));
        assert!(why.contains("some systems take it for"), "{name}: {why}");
    }
    for (first, second) in [
        ("stra\u{df}e.md", "STRASSE.md"),
        ("\u{e9}.md", "e\u{301}.md"),
    ] {
        let files = described(vec![file(first, "x"), file(second, "x")]);
        let why = refusal(&with_raw(&files, |_| {}));
        assert!(why.contains("some systems take it for"), "{first}: {why}");
    }
}

#[test]
fn entries_that_are_no_files_are_refused() {
    for (kind, expected) in [
        (EntryType::Symlink, "a link"),
        (EntryType::Link, "a link"),
        (EntryType::Directory, "a folder"),
        (EntryType::Char, "a device"),
        (EntryType::Block, "a device"),
        (EntryType::Fifo, "a pipe"),
        (EntryType::GNUSparse, "an entry of another kind"),
        (EntryType::Continuous, "an entry of another kind"),
        (EntryType::new(b'S'), "an entry of another kind"),
    ] {
        let why = refusal(&of_kind(kind));
        assert!(
            why.contains(&format!("is {expected}")) || kind == EntryType::GNUSparse,
            "{kind:?}: {why}"
        );
    }
}

#[test]
fn files_that_the_description_does_not_have_are_refused() {
    let mut files = sound_files();
    files.push(file("templates/more.xml", "x"));
    let refused = |files: &[PackedFile]| refusal(&write_archive(files).unwrap());
    assert!(refused(&files).contains("`templates/more.xml` is not listed"));
    let mut files = sound_files();
    files.remove(1);
    assert!(refused(&files).contains("`templates/triage.xml` is missing"));
    let mut files = sound_files();
    files[1].bytes.push(b' ');
    assert!(refused(&files).contains("`templates/triage.xml` was changed"));
    assert!(refused(&sound_files()[..2]).contains("it has no ctxc-package.json"));
    let broken = [file(PACKAGE_FILE, "{\"schema\": \"ctxc/package/1\"}")];
    assert!(refused(&broken).contains("cannot be read: missing field"));
    let newer = [file(PACKAGE_FILE, "{\"schema\": \"ctxc/package/2\"}")];
    assert!(refused(&newer).contains("its schema is `ctxc/package/2`"));
}

#[test]
fn archives_of_other_programs_are_refused() {
    let foreign = "its entries are not as `ctxc package pack` writes them";
    // The time of the first entry, and what lies behind the last one.
    let cases = [
        with_bytes(|tar| tar.extend_from_slice(b"hidden behind the end")),
        with_bytes(|tar| tar.truncate(tar.len() - 512)),
        with_raw(
            &described(vec![file("z.xml", "x"), file("a.xml", "x")]),
            |_| {},
        ),
        with_entry_changed(|header| header.set_mtime(1_700_000_000)),
        with_entry_changed(|header| header.set_mode(0o4755)),
        with_entry_changed(|header| header.set_uid(1000)),
        with_entry_changed(|header| header.set_username("root").unwrap()),
    ];
    for (number, bytes) in cases.iter().enumerate() {
        let why = refusal(bytes);
        assert!(why.contains(foreign), "{number}: {why}");
    }
}

fn with_entry_changed(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let listed = described(vec![file("a.xml", "x")]);
    let mut tar = Builder::new(Vec::new());
    let mut first = raw_header(&RawEntry {
        name: b"a.xml",
        ..RawEntry::default()
    });
    change(&mut first);
    first.set_cksum();
    tar.append(&first, &b"x"[..]).unwrap();
    let described = RawEntry {
        name: PACKAGE_FILE.as_bytes(),
        bytes: &listed[1].bytes,
        ..RawEntry::default()
    };
    tar.append(&raw_header(&described), described.bytes)
        .unwrap();
    compress(&tar.into_inner().unwrap())
}

#[test]
fn a_bomb_is_refused_before_it_is_unpacked() {
    assert!(refusal(&compress(&vec![0; 64 << 20])).contains("more than 100 times its own size"));
    let zeros = "0".repeat(8 << 20);
    let bytes = write_archive(&described(vec![file("a.xml", &zeros)])).unwrap();
    assert!(refusal(&bytes).contains("more than 100 times its own size"));
}

#[test]
fn too_many_files_are_refused() {
    let files = (0..=MAX_FILES).map(|number| file(&format!("t/{number}.xml"), &number.to_string()));
    let bytes = write_archive(&described(files.collect())).unwrap();
    assert!(refusal(&bytes).contains("more than 10000 files"));
}

#[test]
fn files_that_are_too_large_together_are_refused() {
    // A text that no compression makes a hundred times smaller.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..1 << 20).map(|_| noise()).collect();
    let mut files: Vec<PackedFile> = (0..101)
        .map(|number| PackedFile {
            path: format!("t/{number}.xml"),
            bytes: noise.iter().map(|byte| byte ^ number).collect(),
        })
        .collect();
    let all = write_tar(&described(files.clone())).unwrap();
    assert!(refusal(&compress(&all)).contains("more than 100 MiB together"));
    files.truncate(1);
    let sound = write_archive(&described(files)).unwrap();
    assert!(read_package(&sound).is_ok());
}

#[test]
fn bytes_that_are_no_archive_are_refused() {
    for bytes in [
        &b""[..],
        b"not an archive",
        b"PK\x03\x04",
        &compress(b"no tar, and long enough to look like the head of an entry in one"),
        &write_archive(&sound_files()).unwrap()[..200],
    ] {
        let why = refusal(bytes);
        assert!(
            why.contains("it is no archive of a package") || why.contains("it unpacks to more"),
            "{why}"
        );
    }
    // A window of 2 GiB would take as much memory.
    let mut wide = zstd::Encoder::new(Vec::new(), 3).unwrap();
    wide.window_log(27).unwrap();
    wide.include_contentsize(false).unwrap();
    std::io::Write::write_all(&mut wide, &write_tar(&sound_files()).unwrap()).unwrap();
    let why = refusal(&wide.finish().unwrap());
    assert!(why.contains("it is no archive of a package"), "{why}");
}

#[test]
fn hidden_text_without_a_reason_is_refused() {
    let hidden = file("templates/notes.md", "Sort.\u{E0041}\n");
    let files = described(vec![file("ctxc.toml", "[package]\n"), hidden]);
    let refused = read_package(&write_archive(&files).unwrap()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "templates/notes.md:1: U+E0041: models read this character, no editor displays it, and the package gives no reason for it"
    );
}
