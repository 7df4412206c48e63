//! Any text is a scenario file: no panic, every fault at a place that exists, the same answer each time.

use ctxc::internals::scenario::{ScenarioReadOptions, read_suite_with};

/// Reads the bytes as a scenario or suite, and as the table of its cases.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let tables = |_: &str| Ok(text.to_owned());
    let options = ScenarioReadOptions {
        tables: Some(&tables),
        ..ScenarioReadOptions::default()
    };
    let (suite, faults) = read_suite_with("scenarios/a.yaml", text, &options);
    for fault in &faults {
        assert!(
            text.get(fault.span.start as usize..fault.span.end as usize)
                .is_some(),
            "{fault:?} is at no place"
        );
    }
    for case in suite.iter().flat_map(|suite| &suite.cases) {
        assert!(
            text.get(case.span.start as usize..case.span.end as usize)
                .is_some(),
            "{:?} is at no place",
            case.span
        );
    }
    let (_, again) = read_suite_with("scenarios/a.yaml", text, &options);
    assert_eq!(faults, again);
}
