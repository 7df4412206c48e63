use super::*;

#[test]
fn exports_have_a_kind_and_a_name() {
    for text in [
        "tasks/triage",
        "fragments/house-rules",
        "roles/a/b",
        "rules",
    ] {
        let export = PackageExport::parse(text).expect(text);
        assert_eq!(export.to_string(), text);
    }
    for text in [
        "", "triage", "tasks", "tasks/", "rules/", "rules/x", "lints/x",
    ] {
        assert_eq!(PackageExport::parse(text), None, "{text}");
    }
}

#[test]
fn names_of_packages_have_one_slash() {
    assert!(is_package_name("acme/house-rules2"));
    for text in [
        "acme",
        "acme/",
        "/rules",
        "a/b/c",
        "Acme/rules",
        "acme/-r",
        "acme/r-",
        "acme/r_s",
        "../x",
    ] {
        assert!(!is_package_name(text), "{text}");
    }
}
