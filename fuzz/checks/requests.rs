//! Any text is the body of a request, in every dialect: no panic, the same answer each time, every segment at a place of the body that
//! exists, every finding at a place of the text.

use ctxc::internals::request::dialect::Dialect;
use ctxc::internals::request::model::ModelRequest;
use ctxc::internals::request::prompt_cache::compare_calls;
use ctxc::internals::request::segments::build_segments;
use ctxc::internals::rules::request::check;
use ctxc::internals::rules::request::cx::RequestCx;
use std::sync::Arc;

/// Reads the bytes as a request of whichever form, and of each.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let file: Arc<str> = Arc::from("request.json");
    let config = ctxc::Config::default();
    for path in std::iter::once(None).chain(Dialect::ALL.map(|dialect| Some(dialect.path_suffix())))
    {
        let found = match ModelRequest::parse(text, path) {
            Ok(request) => {
                let own = build_segments(&request);
                for segment in &own {
                    assert!(
                        request.value_at(&segment.pointer).is_some(),
                        "{} is at no place: {}",
                        segment.id,
                        segment.pointer
                    );
                    for section in segment.sections() {
                        assert!(
                            segment.text.get(section.range.clone()).is_some(),
                            "{section:?}"
                        );
                    }
                }
                assert!(
                    compare_calls(&own, &own, &Counter).broken_by.is_none(),
                    "a request differs from itself"
                );
                check::request_findings(&RequestCx::new(&file, text, &request, &config), &config)
            }
            Err(why) => {
                assert!(!why.to_string().is_empty());
                check::unreadable_body_findings(&file, text, &why, &config)
            }
        };
        for finding in &found {
            let span = finding.span;
            assert!(
                text.get(span.start as usize..span.end as usize).is_some(),
                "{} is at no place: {span:?}",
                finding.rule.name
            );
        }
    }
}

#[derive(Debug)]
struct Counter;

impl ctxc::internals::kernel::tokens::TokenCounter for Counter {
    fn name(&self) -> &'static str {
        "bytes"
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn count(&self, text: &str) -> usize {
        text.len()
    }
}
