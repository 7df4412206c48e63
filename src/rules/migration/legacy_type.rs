//! CTX402: a type of an older dialect.

use crate::rules::prelude::*;
use crate::rules::structure::structure_prelude::file_finding;
use crate::syntax::write::set_attribute;
use crate::template::fault::{TemplateFault, TemplateFaultKind};

/// Read with its former meaning, so that older templates build.
pub(crate) static RULE: Rule = Rule::new(
    meta!(warning, 402, "legacy-type", "a type of an older dialect").with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::LegacyType {
        found,
        modern,
        subtype,
    } = fault.kind
    else {
        return None;
    };
    let mut edits = vec![Edit::replace(fault.span, modern)];
    let subtype = subtype.filter(|_| fault.element.attribute("subtype").is_none());
    let form = match subtype {
        Some(subtype) => {
            // After `type`, at any position among the attributes.
            let after = fault
                .element
                .attribute("type")
                .map(|attribute| attribute.span().end);
            edits.push(after.map_or_else(
                || set_attribute(fault.element, "subtype", subtype),
                |end| Edit::insert(end, format!(" subtype=\"{subtype}\"")),
            ));
            format!("type=\"{modern}\" subtype=\"{subtype}\"")
        }
        None => format!("type=\"{modern}\""),
    };
    let message = format!("`{found}` is a type of an older dialect, read as {form}");
    Some(
        file_finding(&RULE.meta, cx, fault.span, message)
            .fix(Fix::safe(format!("write {form}"), edits)),
    )
}
