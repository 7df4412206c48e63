//! The examples on the pages of rules.

use ctxc::internals::base::rule_meta::RuleMeta;

/// A template, and optionally the project file beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleExample {
    /// Shown as `template.xml`.
    pub(crate) template: &'static str,
    /// Shown as `ctxc.toml`; empty for none. Files beside it follow, each behind a line `# file:
    /// NAME`.
    pub(crate) project: &'static str,
}

impl RuleExample {
    /// The project's files with their names, `ctxc.toml` first; empty if the example needs no
    /// project.
    pub(crate) fn project_files(&self) -> Vec<(&'static str, &'static str)> {
        if self.project.is_empty() {
            return Vec::new();
        }
        let mut parts = self.project.split("# file: ");
        let own = parts.next().unwrap_or("");
        std::iter::once(("ctxc.toml", own))
            .chain(parts.filter_map(|part| part.split_once('\n')))
            .collect()
    }
}

/// A request to a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestExample {
    /// The text after `json` at the opening of the fence: the dialect, and facts about the call.
    pub(crate) words: &'static str,
    /// The body.
    pub(crate) body: &'static str,
}

/// The examples on a rule's page.
pub(crate) trait RuleExamples {
    /// Examples that give this finding; others of lower severity may accompany it.
    fn bad_examples(&self) -> Vec<RuleExample>;

    /// Examples that do not give it.
    fn good_examples(&self) -> Vec<RuleExample>;

    /// The requests under `Wrong` or `Right`.
    fn request_examples(&self, title: &str) -> Vec<RequestExample>;
}

impl RuleExamples for RuleMeta {
    fn bad_examples(&self) -> Vec<RuleExample> {
        titled_examples(self, "Wrong")
    }

    fn good_examples(&self) -> Vec<RuleExample> {
        titled_examples(self, "Right")
    }

    fn request_examples(&self, title: &str) -> Vec<RequestExample> {
        let request = |fence: &'static str| {
            let (opening, rest) = fence.split_once('\n')?;
            let body = rest.find("\n```").and_then(|end| rest.get(..end))?;
            Some(RequestExample {
                words: opening.trim(),
                body,
            })
        };
        titled_sections(self, title)
            .flat_map(|section| section.split("\n```json").skip(1).filter_map(request))
            .collect()
    }
}

fn titled_examples(rule: &RuleMeta, title: &str) -> Vec<RuleExample> {
    let example = |section| RuleExample {
        template: fence_text(section, "```xml\n"),
        project: fence_text(section, "```toml\n"),
    };
    let is_example =
        |example: &RuleExample| !(example.template.is_empty() && example.project.is_empty());
    titled_sections(rule, title)
        .map(example)
        .filter(is_example)
        .collect()
}

fn titled_sections(rule: &RuleMeta, title: &str) -> impl Iterator<Item = &'static str> {
    rule.case
        .split("\n## ")
        .skip(1)
        .filter(move |section| section.starts_with(title))
}

/// Returns the text of the first fence in a section that opens like this; empty if no such fence
/// exists.
fn fence_text(section: &'static str, opening: &str) -> &'static str {
    let inside = section.split_once(opening).map_or("", |(_, inside)| inside);
    inside
        .find("\n```")
        .and_then(|end| inside.get(..=end))
        .unwrap_or_default()
}
