//! The files of a lookup in a project that names no types.

use super::{DOCUMENTS, NAMES, SOURCE, is_document_or_source};

#[test]
fn the_lists_are_sorted() {
    assert!(DOCUMENTS.is_sorted() && SOURCE.is_sorted() && NAMES.is_sorted());
}

#[test]
fn documents_and_source_are_distinguished_from_data() {
    for taken in [
        "a/README",
        "README.md",
        "docs/Guide.RST",
        "src/main.rs",
        "web/App.tsx",
        "Makefile",
        "notes.txt",
    ] {
        assert!(is_document_or_source(taken), "{taken}");
    }
    for left_out in [
        "config/prod.yaml",
        "package.json",
        "Cargo.toml",
        "dump.sql",
        "rows.csv",
        "trace.log",
        "id_rsa",
        ".md",
        "tls.pem",
        "vars.tfvars",
        "app.ini",
        "nginx.conf",
        "pom.xml",
        "picture.png",
        "a.md/bin",
    ] {
        assert!(!is_document_or_source(left_out), "{left_out}");
    }
}
