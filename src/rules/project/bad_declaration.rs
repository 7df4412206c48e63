//! CTX507: a type or subtype that cannot be declared.

use crate::project::fault::Refusal;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A declared type needs a name of its own and a base.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(507, "bad-declaration", "a type or subtype that cannot be declared", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`[operators.NAME]` declares a type of the project's own. It needs a `base`, one of the five types of the language, which says which
children it may have; what it does not set comes from that type's row. `[operators.TYPE.NAME]` declares a subtype, also of a type of
the language. The rows of the language itself are not declared again: their defaults are changed under `[defaults]`. Nor can the types
of older dialects be taken (`map`, `director`, `evaluator`): templates that have them keep the meaning that they had.";

const BAD: &[Example] = &[
    project("[operators.research]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n"),
    project("[operators.atomic]\nfresh_context = \"disabled\"\n"),
    project("[operators.map]\nbase = \"reduce\"\n"),
    project("[operators.atomic.subtask]\nfresh_context = \"disabled\"\n"),
];

const GOOD: &[Example] =
    &[project("[operators.research]\nbase = \"atomic\"\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BadDeclaration { row, why } = &fault.kind else { return None };
    let found = |message: String| cx.finding(&RULE, fault, message);
    Some(match why {
        Refusal::Language => found(format!("`{row}` is part of the language and cannot be declared again"))
            .help(format!("to change what it starts from, write the settings under `[defaults.{row}]`")),
        Refusal::Legacy { modern, subtype } => {
            let subtype = subtype.map(|subtype| format!(" subtype=\"{subtype}\"")).unwrap_or_default();
            found(format!("`{row}` is a type of an older dialect and cannot be declared"))
                .note(format!("templates that have it are read as type=\"{modern}\"{subtype}, with the defaults of that"))
                .help("give the new type a name of its own")
        }
        Refusal::NoBase => found(format!("type `{row}` has no `base`; expected one of the types of the language"))
            .note("the base says which children a task of the new type may have")
            .help("add `base = \"atomic\"` (or `sequential`, `reduce`, `script`, `director_evaluator_loop`)"),
        Refusal::BadName => {
            found(format!("`{row}` cannot be a name; expected letters, digits, `_` and `-`, beginning with a letter"))
        }
        Refusal::TooMany => found(format!("`{row}` is one declared type too many; a project has at most 1,000")),
    })
}
