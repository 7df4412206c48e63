//! CTX113: something that is no number in range.

use super::family::{finding, shown};
use crate::rules::prelude::*;
use crate::syntax::write::set_attribute;
use crate::template::fault::{Fault, FaultKind};

/// A limit that cannot be read is none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(113, "bad-number", "a number that cannot be read, or is out of range", PAGE)
        .examples(BAD, GOOD)
        .fixed(Fixable::Safe),
    check: Check::Template(word),
};

const PAGE: &str = "\
`<max_iterations>` and `<timeout>` hold a whole number from 1, in decimal digits and without a unit; the unit of a timeout is its
attribute: `<timeout unit=\"ms\">500</timeout>`, seconds when absent. `turns` and `tokens` of `<history>` are such numbers too. A limit of 0
would allow nothing. The `default` of a parameter whose type is `integer` or `number` is such a number, of any sign and of at most 64 bits where it is whole: each run that hands in none goes
on with it.";

const BAD: &[Example] = &[
    template(
        "<task type=\"script\" name=\"count\">\n  <description>count the lines</description>\n  <command>wc -l README.md</command>\n  <timeout>30s</timeout>\n</task>\n",
    ),
    template(
        "<task type=\"script\" name=\"count\">\n  <description>count the lines</description>\n  <command>wc -l README.md</command>\n  <timeout>0</timeout>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"reply\">\n  <description>reply to the customer</description>\n  <history turns=\"all\"/>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"reply\">\n  <description>reply in {{lines}} lines</description>\n  <parameters>\n    <parameter name=\"lines\" type=\"integer\" default=\"few\"/>\n  </parameters>\n</task>\n",
    ),
];

const GOOD: &[Example] = &[template(
    "<task type=\"script\" name=\"count\">\n  <description>count the lines</description>\n  <command>wc -l README.md</command>\n  <timeout unit=\"s\">30</timeout>\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::BadNumber { name, found, expected } = &fault.kind else { return None };
    let message = format!("`{name}` is `{}`; expected {expected}", shown(found));
    let finding = finding(&RULE.meta, cx, fault.span, message);
    let with_unit = ["ms", "s"].into_iter().find_map(|unit| Some((found.strip_suffix(unit)?.trim_end(), unit)));
    let Some((number, unit)) = with_unit.filter(|(number, _)| *name == "timeout" && is_count(number)) else {
        return Some(finding);
    };
    let edits = vec![set_attribute(fault.element, "unit", unit), Edit::replace(fault.span, number)];
    Some(finding.fix(Fix::safe(format!("write {number} with unit=\"{unit}\""), edits)))
}

fn is_count(digits: &str) -> bool {
    digits.parse::<std::num::NonZeroU32>().is_ok()
}
