//! Names and exports of packages.

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

#[test]
fn settings_of_an_authors_machine_stay_out_of_a_package() {
    let plain = "# a comment\n[package]\nname = \"a/b\"\n[providers.x]\nkind = \"ollama\"\n";
    assert_eq!(without_private_settings(plain), plain);
    // A prompt has the keys of a schema in the order in which they are written.
    let tool = "[tools.look]\nparameters = { type = \"object\", properties = { id = {} }, required = [\"id\"] }\n";
    let with_history = format!("{tool}[history]\npath = \"x.db\"\n");
    assert_eq!(without_private_settings(&with_history), tool);
    let private = "[history]\npath = \"x.db\"\n[policy]\ncommands = [\"ls\"]\n[record]\nmask = [\"a\"]\nupstream = [\"https://x\"]\n\
        [[package.consumers]]\nsource = \"git+ssh://x\"\n[providers.x]\nkind = \"openai\"\nbase_url = \"https://x\"\napi_key_env = \"KEY\"\n";
    assert_eq!(
        without_private_settings(private),
        "[record]\nmask = [\"a\"]\n[providers.x]\nkind = \"openai\"\n"
    );
}
