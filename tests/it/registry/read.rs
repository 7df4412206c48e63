//! Reading `registry.json`: every released form loads, every other file is refused with its form
//! and a way out.

use ctxc::internals::registry::artifact::ReferenceKind;
use ctxc::internals::registry::{ReadError, Registry};
use ctxc::internals::settings::provenance::{Layer, SettingValue};
use ctxc::internals::template::setting::{Inherit, SettingName};
use pretty_assertions::assert_eq;

pub(super) const COMPAT_1: &str = include_str!("../../compat/registry-1.json");

#[test]
fn the_first_released_form_loads() {
    let registry = Registry::read(COMPAT_1).unwrap();
    assert_eq!(registry.edition(), "2026");
    assert_eq!(
        registry
            .tasks()
            .map(ctxc::internals::registry::Task::name)
            .collect::<Vec<_>>(),
        ["answer", "triage"]
    );
    let triage = registry.task("triage").unwrap();
    assert_eq!(
        (triage.version(), triage.operator(), triage.subtype()),
        (Some("1.2"), "sequential", None)
    );
    assert_eq!(triage.source().unwrap().path, "templates/triage.xml");
    assert_eq!(triage.parameters().unwrap().first().unwrap().name, "ticket");
    assert_eq!(
        triage.references().unwrap().first().unwrap().kind,
        ReferenceKind::Use
    );
    assert_eq!(triage.warnings().unwrap().first().unwrap().code, "CTX204");
    let template = registry.template("ask").unwrap();
    assert_eq!(
        (template.returns(), template.parameters().unwrap().len()),
        (Some("string"), 1)
    );
    let house = registry.fragment("house").unwrap();
    assert_eq!(
        registry.fragment_text(house).unwrap().text.as_deref(),
        Some("Never promise a refund.")
    );
    assert!(registry.find("ask").is_none() && registry.template("triage").is_none());
}

#[test]
fn a_task_is_read_with_its_settings_and_children() {
    let registry = Registry::read(COMPAT_1).unwrap();
    let root = registry.task("triage").unwrap().root().unwrap();
    let accumulate = root
        .settings
        .as_ref()
        .unwrap()
        .get(SettingName::AccumulateData);
    assert_eq!(
        (accumulate.value, accumulate.origin.layer),
        (SettingValue::Accumulate(false), Layer::Template)
    );
    assert_eq!(
        accumulate.overridden.first().unwrap().value,
        SettingValue::Accumulate(true)
    );
    let child = root.children.first().unwrap();
    assert_eq!(
        (
            child.slot.as_str(),
            child.name.as_deref(),
            child.node.id.as_str()
        ),
        ("steps", Some("runbook"), "/steps/1")
    );
    let inherit = child
        .node
        .settings
        .as_ref()
        .unwrap()
        .get(SettingName::InheritContext);
    assert_eq!(inherit.value, SettingValue::Inherit(Inherit::None));
    let settings = child.node.settings.as_ref().unwrap();
    assert_eq!(
        settings.get(SettingName::AccumulationFormat).value,
        SettingValue::NotApplicable
    );
}

#[test]
fn what_is_read_writes_the_same_again() {
    let registry = Registry::read(COMPAT_1).unwrap();
    for task in registry.tasks() {
        let root = serde_json::to_string(&task.root().unwrap()).unwrap();
        assert!(COMPAT_1.contains(&root), "{root}");
    }
}

#[test]
fn tasks_are_found_by_operator_and_subtype() {
    let registry = Registry::read(COMPAT_1).unwrap();
    let names = |operator, subtype| {
        registry
            .of_type(operator, subtype)
            .map(|task| task.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names("atomic", Some("subtask")), ["answer"]);
    assert_eq!(names("sequential", None), ["triage"]);
    assert!(names("atomic", None).is_empty() && names("director", None).is_empty());
}

#[test]
fn a_newer_schema_is_refused_by_name() {
    for text in [
        COMPAT_1.replace("ctxc/registry/1", "ctxc/registry/7"),
        // With any other content of a newer one.
        r#"{"hash":3,"tasks":{"a":[1]},"schema":"ctxc/registry/7"}"#.to_owned(),
    ] {
        let message = Registry::read(text).unwrap_err().to_string();
        let expected = format!(
            "this registry has schema `ctxc/registry/7`, but this program (ctxc {}) reads up to `ctxc/registry/1`: \
             use the newer ctxc that wrote it, or remove it and build it again with this one",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(message, expected);
    }
}

#[test]
fn other_json_is_named() {
    let message = |text: &str| Registry::read(text).unwrap_err().to_string();
    let expected = "expected a registry (schema `ctxc/registry/1`), found ";
    assert_eq!(message("{}"), format!("{expected}JSON without a `schema`"));
    assert_eq!(
        message(r#"{"schema":"ctxc/manifest/1"}"#),
        format!("{expected}schema `ctxc/manifest/1`")
    );
    assert_eq!(
        message(r#"{"schema":"ctxc/registry/0"}"#),
        format!("{expected}schema `ctxc/registry/0`")
    );
}

#[test]
fn damage_is_reported_with_its_place() {
    // The first task's line, cut inside.
    let cut = COMPAT_1.replacen(r#""operator":"atomic","#, r#""operator":7,"#, 1);
    let error = Registry::read(cut.clone()).unwrap_err();
    let column = cut.lines().nth(2).unwrap().find("7,").unwrap() + 1;
    let reason = "invalid type: integer `7`, expected a string".to_owned();
    assert_eq!(
        error,
        ReadError::Damaged {
            line: 3,
            column,
            reason
        }
    );
    // A fault in a body is reported when the body is read, in the coordinates of the file.
    let late = COMPAT_1.replacen(r#""element":"task""#, r#""element":7"#, 1);
    let registry = Registry::read(late.clone()).unwrap();
    let Err(ReadError::Damaged { line, column, .. }) = registry.task("answer").unwrap().root()
    else {
        panic!("must fail")
    };
    assert_eq!(
        (line, column),
        (
            3,
            late.lines().nth(2).unwrap().find("\"element\":7").unwrap() + "\"element\":7".len()
        )
    );
    let twice = COMPAT_1.replace(r#""name":"answer""#, r#""name":"triage""#);
    assert_eq!(
        Registry::read(twice).unwrap_err(),
        ReadError::Twice {
            kind: "task",
            name: "triage".to_owned()
        }
    );
    assert_eq!(
        Registry::read(&b"{\"schema\xff"[..]).unwrap_err(),
        ReadError::NotText { at: 8 }
    );
}

#[test]
fn every_truncation_and_every_changed_byte_is_survived() {
    let bytes = COMPAT_1.as_bytes();
    for end in 0..bytes.len() - 1 {
        assert!(Registry::read(&bytes[..end]).is_err(), "cut at {end}");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[at] ^= 0x15;
        if let Ok(registry) = Registry::read(changed) {
            for task in registry.tasks().chain(registry.templates()) {
                // Any answer will do; a panic will not.
                let _ = (
                    task.root(),
                    task.parameters(),
                    task.references(),
                    task.warnings(),
                    task.source(),
                );
            }
        }
    }
}

#[test]
fn bottomless_nesting_is_refused_without_recursion() {
    let leaf = r#"{"id":"/","element":"task","operator":null,"subtype":null,"settings":null,"body":{},"children":["#;
    let deep = |levels: usize| {
        let open = format!("{leaf}{{\"slot\":\"steps\",\"as\":null,\"node\":").repeat(levels);
        let root = format!("{open}{leaf}]}}{}", "}]}".repeat(levels));
        let text = COMPAT_1.replace("\"children\":[]}}", "\"children\":[]}}\u{0}");
        let at = text.find(r#""root":"#).unwrap() + 7;
        let end = text.find("}\u{0}").unwrap();
        format!("{}{root}{}", &text[..at], &text[end..]).replace('\u{0}', "")
    };
    let read = |levels| {
        Registry::read(deep(levels))
            .unwrap()
            .task("answer")
            .unwrap()
            .root()
    };
    assert_eq!(read(255).unwrap().children.len(), 1);
    assert_eq!(read(256).unwrap_err(), ReadError::TooDeep { limit: 256 });
    assert_eq!(read(5_000).unwrap_err(), ReadError::TooDeep { limit: 256 });
    let brackets = format!(r#"{{"schema":{}"#, "[".repeat(1_000_000));
    assert!(matches!(
        Registry::read(brackets),
        Err(ReadError::Damaged { .. })
    ));
}
