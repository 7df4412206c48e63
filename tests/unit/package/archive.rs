//! Archives of packages, written.

use super::*;

fn file(path: &str, text: &str) -> PackedFile {
    PackedFile {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

#[test]
fn the_order_of_files_does_not_change_an_archive() {
    let long = format!("templates/{}.xml", "a".repeat(150));
    let (a, b) = (file("ctxc.toml", "x = 1\n"), file(&long, "<a/>"));
    let bytes = write_archive(&[a.clone(), b.clone()]).unwrap();
    assert_eq!(bytes, write_archive(&[b.clone(), a.clone()]).unwrap());
    assert_ne!(bytes, write_archive(&[a]).unwrap());
}
