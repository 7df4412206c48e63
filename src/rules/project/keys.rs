//! CTX502–CTX505, CTX531, CTX532, CTX537–CTX539: syntax errors, keys and values of the project file.

use super::project_prelude::{as_fragment, *};
use crate::project::config::{DEFAULT_EDITION, VERSION};

/// The settings of an unreadable file cannot apply.
pub(super) static PROJECT_SYNTAX: Rule = Rule::new(
    meta!(
        locked_error,
        502,
        "project-syntax",
        "the project file is not valid TOML"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_syntax),
);

fn report_syntax(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::Syntax { message } = &fault.kind else {
        return None;
    };
    let text = cx
        .config
        .files
        .get(fault.file as usize)
        .map_or("", |file| &file.text);
    if let Some((key, value, sign)) = key_value_spans(text, fault.span) {
        let written = value.slice(text);
        let found =
            |words: String| cx.finding(&PROJECT_SYNTAX, fault, format!("not TOML: {words}"));
        let quoted = format!("\"{written}\"");
        if sign.slice(text) == ":" {
            let edits = vec![Edit::replace(Span::new(key.end, sign.end), " =")];
            return Some(
                found("a key and its value are joined by `=`, not by `:`".to_owned())
                    .fix(Fix::suggested("write `=`", edits)),
            );
        }
        let is_bare = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_word = written.starts_with(char::is_alphabetic) && written.chars().all(is_bare);
        if is_word && !["true", "false", "inf", "nan"].contains(&written) {
            let edits = vec![Edit::replace(value, &*quoted)];
            return Some(
                found(format!("the text `{written}` stands without quotes"))
                    .fix(Fix::suggested(format!("write {quoted}"), edits)),
            );
        }
    }
    let finding = cx.finding(
        &PROJECT_SYNTAX,
        fault,
        format!("not TOML: {}", as_fragment(message)),
    );
    Some(finding.help("correct this line; whatever else is wrong in this file is reported then"))
}

/// Returns the spans of the key, the value and the sign between them, on the line of a span.
fn key_value_spans(text: &str, span: Span) -> Option<(Span, Span, Span)> {
    let start = text
        .get(..span.start as usize)?
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next()?;
    let key = line.len()
        - line
            .trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
            .len();
    let rest = line.get(key..)?;
    let sign = key + rest.len() - rest.trim_start().len();
    let value = line
        .get(sign..)
        .filter(|rest| rest.starts_with(['=', ':']))?
        .get(1..)?;
    let bare = value
        .split_once(" #")
        .map_or(value, |(value, _)| value)
        .trim();
    let from = sign + 1 + (value.len() - value.trim_start().len());
    let at = |from: usize, len: usize| Span::from_offsets(start + from, start + from + len);
    (key > 0 && !bare.is_empty()).then(|| (at(0, key), at(from, bare.len()), at(sign, 1)))
}

/// A misspelt key changes nothing, and its author believes that it does.
pub(super) static UNKNOWN_KEY: Rule = Rule::new(
    meta!(
        error,
        503,
        "unknown-key",
        "a key that the project file does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_key),
);

fn report_unknown_key(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    if let ProjectFaultKind::LostHeader {
        table,
        keys,
        section,
    } = &fault.kind
    {
        let finding = cx.finding(
            &UNKNOWN_KEY,
            fault,
            format!("`[{table}]` has no keys {}", name_list(keys)),
        );
        let finding = finding.note(format!(
            "they are keys of `[{section}.NAME]`, whose header seems to be missing"
        ));
        return Some(finding.help(format!("write `[{section}.NAME]` above them")));
    }
    let ProjectFaultKind::UnknownKey {
        table,
        key,
        near,
        valid,
    } = &fault.kind
    else {
        return None;
    };
    let place = if table.is_empty() {
        cx.path(fault.file).to_string()
    } else {
        format!("`[{table}]`")
    };
    let finding = cx.finding(&UNKNOWN_KEY, fault, format!("{place} has no key `{key}`"));
    let are = if valid.len() == 1 {
        "its only key is"
    } else {
        "the keys are"
    };
    let finding = finding.note(format!(
        "nothing reads it, so it has no effect; {are} {}",
        name_list(valid)
    ));
    Some(suggest_name(
        finding,
        fault.span,
        near.as_deref(),
        NameForm::Key,
    ))
}

/// A value of the wrong type or outside the allowed set.
pub(super) static WRONG_VALUE: Rule = Rule::new(
    meta!(
        error,
        504,
        "wrong-value",
        "a value that its key does not allow"
    )
    .with_fix(Fixable::Safe),
    Check::Config(report_wrong_value),
);

fn report_wrong_value(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&WRONG_VALUE, fault, message);
    if let ProjectFaultKind::BadValue {
        key,
        found: what,
        expected,
        near,
    } = &fault.kind
    {
        let finding = found(format!("`{key}` is `{what}`; expected {expected}"));
        return Some(suggest_name(
            finding,
            fault.span,
            near.as_deref(),
            NameForm::QuotedText,
        ));
    }
    if let ProjectFaultKind::BadGlob { pattern, error } = &fault.kind {
        let finding = found(format!("the pattern `{pattern}` cannot be read: {error}"));
        return Some(
            finding.help("`*` stands for a name, `**` for any folders: `templates/**/*.xml`"),
        );
    }
    let ProjectFaultKind::WrongType {
        key,
        expected,
        found: what,
    } = &fault.kind
    else {
        return None;
    };
    let finding = found(format!("`{key}` is {what}; expected {expected}"));
    let inner = fault_text(cx, fault).trim_matches(['"', '\'']);
    let takes_bare = expected.starts_with("`true`") && matches!(inner, "true" | "false")
        || expected.contains("number") && inner.parse::<u64>().is_ok();
    if *what == "a text" && takes_bare {
        return Some(finding.fix(Fix::safe(
            "take the quotes off",
            vec![Edit::replace(fault.span, inner)],
        )));
    }
    let is_whole = inner.chars().all(|c| c.is_ascii_digit() || c == '_')
        && inner.starts_with(|c: char| c.is_ascii_digit());
    if *what == "a number" && key.ends_with(".budget") && is_whole {
        let written = format!("{{ tokens = {inner} }}");
        let fix = Fix::suggested(
            format!("write `{written}`"),
            vec![Edit::replace(fault.span, &*written)],
        );
        return Some(
            finding
                .help(format!("tokens of its context are written `{written}`"))
                .fix(fix),
        );
    }
    if key == "edition" && fault_text(cx, fault) == DEFAULT_EDITION {
        return Some(finding.fix(Fix::safe(
            "put it in quotes",
            vec![Edit::replace(fault.span, format!("\"{DEFAULT_EDITION}\""))],
        )));
    }
    Some(finding)
}

/// An edition fixes the meaning of templates.
pub(super) static UNKNOWN_EDITION: Rule = Rule::new(
    meta!(
        error,
        505,
        "unknown-edition",
        "an edition of the language that this release does not read"
    )
    .with_fix(Fixable::Suggested),
    Check::Config(report_unknown_edition),
);

fn report_unknown_edition(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::UnknownEdition { found } = &fault.kind else {
        return None;
    };
    let message = format!("edition `{found}` is not known; this release reads `{DEFAULT_EDITION}`");
    let finding = cx.finding(&UNKNOWN_EDITION, fault, message);
    let fix = Fix::suggested(
        format!("write \"{DEFAULT_EDITION}\""),
        vec![Edit::replace(fault.span, format!("\"{DEFAULT_EDITION}\""))],
    );
    Some(finding.help("a newer edition needs a newer ctxc").fix(fix))
}

/// Another version can read the same files differently, or not know a key of theirs.
pub(super) static WRONG_VERSION: Rule = Rule::new(
    meta!(
        locked_error,
        537,
        "wrong-version",
        "a project that another version of ctxc reads"
    ),
    Check::Config(report_wrong_version),
);

fn report_wrong_version(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::WrongVersion { required } = &fault.kind else {
        return None;
    };
    let message = format!("this is ctxc {VERSION}; the project is for ctxc {required}");
    let finding = cx.finding(&WRONG_VERSION, fault, message);
    Some(finding.help("install one of these versions, or change `required-version` after a check"))
}

/// The section would silently be empty.
pub(super) static NO_WORKSPACE: Rule = Rule::new(
    meta!(
        locked_error,
        538,
        "no-workspace",
        "a section that cannot be taken over from a workspace"
    ),
    Check::Config(report_no_workspace),
);

fn report_no_workspace(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::NoWorkspace { name, reason } = &fault.kind else {
        return None;
    };
    let message = format!("cannot take over `[{name}]` from the workspace: {reason}");
    let finding = cx.finding(&NO_WORKSPACE, fault, message);
    Some(finding.help(format!(
        "write `[workspace.{name}]` in the `ctxc.toml` of a folder above that lists this one under `members`, or write the section here"
    )))
}

/// Nothing at the root of a workspace reads it.
pub(super) static NOT_OF_WORKSPACE: Rule = Rule::new(
    meta!(
        locked_error,
        539,
        "not-of-workspace",
        "a key in the file of a workspace that belongs to its members"
    ),
    Check::Config(report_not_of_workspace),
);

fn report_not_of_workspace(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::NotOfWorkspace { key } = &fault.kind else {
        return None;
    };
    let message = format!("`{key}` cannot stand in the file of a workspace: nothing reads it");
    let finding = cx.finding(&NOT_OF_WORKSPACE, fault, message);
    Some(finding.help("move it to the `ctxc.toml` of a member; members share `[workspace.defaults]`, `[workspace.lints]` and `[workspace.models]`"))
}

/// One of the two entries was probably meant to be another.
pub(super) static REPEATED_ENTRY: Rule = Rule::new(
    meta!(
        warning,
        531,
        "repeated-entry",
        "a list of a role or model has an entry twice"
    ),
    Check::Config(report_repeated_entry),
);

fn report_repeated_entry(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::RepeatedEntry { key, entry, first } = &fault.kind else {
        return None;
    };
    let message = format!("`{key}` has `{entry}` twice");
    let finding = cx.finding(&REPEATED_ENTRY, fault, message);
    let finding = cx.add_label(finding, fault.file, *first, "the first time");
    Some(finding.help("remove it, or write the one that was meant"))
}

/// The missing key has no default.
pub(super) static MISSING_KEY: Rule = Rule::new(
    meta!(
        error,
        532,
        "missing-key",
        "a table of the project file lacks a required key"
    ),
    Check::Config(report_missing_key),
);

fn report_missing_key(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let ProjectFaultKind::MissingKey { table, key } = &fault.kind else {
        return None;
    };
    let message = format!("`{table}` lacks the required key `{key}`");
    let finding = cx.finding(&MISSING_KEY, fault, message);
    Some(finding.help(match *key {
        "name" => "add the organisation and the name: `name = \"acme/rules\"`",
        "version" => "add the version: `version = \"0.1.0\"`",
        "provider" => "add the provider: `provider = \"openai\"`, or one of `[providers]`",
        "tier" => "add the tier: `tier = \"standard\"` (economy, standard, standard_plus, premium)",
        "context_window" => "add the context window in tokens: `context_window = 128000`",
        "kind" => "add the protocol: `kind = \"openai\"` (openai, anthropic, gemini, ollama)",
        "input" => "add the price of a million input tokens in US$: `input = 0.15`",
        "output" => "add the price of a million output tokens in US$: `output = 0.60`",
        "reruns" => "add the number of runs of each case: `reruns = 3`",
        "variance" => "add the allowed variance of the pass rate: `variance = 0.1`",
        "cost_usd" => "add the budget of one run in US$: `cost_usd = 5.0`",
        "accepters" => "add the people who may accept a baseline: `accepters = [\"ada\"]`",
        "source" => "add the source: `source = \"git+https://example.org/rules.git@v1.2.0\"`, or `path:FOLDER`",
        _ => "add the file, relative to the project: `file = \"prompts/role.md\"`",
    }))
}
