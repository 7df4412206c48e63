//! Any text gives a project file: no panic, every fault at a place that exists and with a finding, the same answer each time.

use ctxc::internals::base::fs::MemoryFs;
use ctxc::internals::base::rule_meta::RuleMeta;
use ctxc::internals::project::config::{Config, ConfigInput};
use std::path::Path;

/// Reads the bytes as `ctxc.toml` and as what it extends.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut files = MemoryFs::new();
    files.insert("shared.toml", "[lints]\nno-context = \"error\"\n");
    files.insert("itself.toml", text);
    let rules: Vec<&'static RuleMeta> = ctxc::internals::rules::list::all_rules()
        .map(|rule| &rule.meta)
        .collect();
    let input = ConfigInput {
        path: "ctxc.toml",
        text,
        root: Path::new(""),
        files: &files,
        rules: &rules,
    };
    let config = Config::read(&input);
    for fault in &config.faults {
        let Some(file) = config.files.get(usize::from(fault.file)) else {
            panic!("{fault:?} is in no file")
        };
        assert!(
            file.text
                .get(fault.span.start as usize..fault.span.end as usize)
                .is_some(),
            "{fault:?} is at no place"
        );
    }
    // Without `[lints]` nothing can turn a finding off: no fault may be lost.
    if !text.contains("lints") {
        assert_eq!(
            ctxc::internals::rules::check::config_findings(&config).len(),
            config.faults.len(),
            "{:?}",
            config.faults
        );
    }
    let again = Config::read(&input);
    assert_eq!(config.faults, again.faults);
    assert_eq!(
        format!("{:?}", config.layers),
        format!("{:?}", again.layers)
    );
}
