//! Any bytes are a registry or an error: no panic, and what was read can be looked at to the last node.

use ctxc::internals::registry::Registry;

/// Reads the bytes as `registry.json`.
pub(crate) fn check(data: &[u8]) {
    let registry = match Registry::read(data) {
        Ok(registry) => registry,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for task in registry.tasks().chain(registry.templates()) {
        // Errors are fine here: entries are parsed when they are looked at, and say what is wrong with them.
        let _ = task.source();
        let _ = task.parameters();
        let _ = task.references();
        let _ = task.warnings();
        let _ = task.root();
    }
    for task in registry.tasks() {
        let Some(found) = registry.find(task.name()) else {
            panic!("`{}` is listed and not found", task.name())
        };
        assert_eq!(found.hash(), task.hash());
        assert!(
            registry
                .of_type(task.operator(), task.subtype())
                .any(|other| other.name() == task.name())
        );
    }
    for fragment in registry.fragments() {
        assert!(registry.fragment(fragment.name()).is_some());
        let _ = registry.fragment_text(fragment);
    }
    let changes = ctxc::internals::registry::diff::compare_registries(&registry, &registry);
    if let Ok(changes) = changes {
        assert!(
            changes.is_empty(),
            "a registry differs from itself: {changes:?}"
        );
    }
}
