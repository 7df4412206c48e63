//! CTX619: a frozen file that does not exist.

use super::scenario_prelude::*;
use super::walk;
use crate::scenario::paths::resolve_beside;

/// The case cannot be run.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        619,
        "missing-frozen-file",
        "a frozen file that does not exist"
    ),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    walk::for_each_file(cx.case, &mut |path, span| {
        let message = match resolve_beside(cx.file.path, path) {
            None => format!("`{path}` lies outside the project"),
            Some(inside) if (cx.file.world.exists)(&inside) => return,
            Some(inside) if (cx.file.world.leads_out)(&inside) => {
                format!(
                    "`{inside}` is behind a link that leads out of the project, and is not read"
                )
            }
            Some(inside) => format!("there is no file `{inside}`"),
        };
        let finding = cx
            .finding(&RULE.meta, span, message)
            .note("paths are relative to the folder of the scenario");
        let is_short = span
            .slice(cx.file.text)
            .trim_start_matches(['"', '\''])
            .starts_with('@');
        out.push(if is_short {
            finding.help("a text that begins with `@` is written with two: `@@`")
        } else {
            finding
        });
    });
}
