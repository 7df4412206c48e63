//! The truth table of the language: 9 rows × 108 combinations of overrides, the compiler against a
//! plain statement of the rules that uses no code of the compiler.

use ctxc::internals::base::span::{Span, Spanned};
use ctxc::internals::settings::conflict::{
    TaskContentFacts, WithoutContext, WrittenSide, check_exclusivity, is_empty_subset,
    is_redundant, is_without_effect, missing_context,
};
use ctxc::internals::settings::layers::{Layers, RowId};
use ctxc::internals::settings::operators::BodyPart;
use ctxc::internals::settings::resolve::resolve;
use ctxc::internals::template::setting::{
    Format, Fresh, Inherit, SettingName, Word, WrittenSettings,
};
use pretty_assertions::assert_eq;

/// The table of the language page, typed in once more: row, then the four defaults. `-` is N/A.
const TABLE: [[&str; 5]; 9] = [
    ["atomic", "full", "-", "-", "disabled"],
    ["atomic subtask", "none", "-", "-", "enabled"],
    ["sequential", "full", "true", "notes_only", "disabled"],
    ["reduce", "none", "-", "-", "enabled"],
    ["reduce inner_task", "full", "-", "-", "disabled"],
    ["reduce reduction_task", "full", "-", "-", "disabled"],
    ["script", "full", "-", "-", "disabled"],
    [
        "director_evaluator_loop",
        "none",
        "true",
        "notes_only",
        "enabled",
    ],
    [
        "director_evaluator_loop director",
        "full",
        "-",
        "-",
        "disabled",
    ],
];

const INHERIT: [&str; 4] = ["", "full", "none", "subset"];
const ACCUMULATE: [&str; 3] = ["", "true", "false"];
const FORMAT: [&str; 3] = ["", "notes_only", "full_output"];
const FRESH: [&str; 3] = ["", "enabled", "disabled"];

/// The outcome of one cell, in words.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    values: [String; 4],
    applies: [bool; 4],
    findings: Vec<String>,
}

/// The rules of the language, stated plainly over words.
fn stated(defaults: &[&str; 5], written: [&str; 4], has_content: bool, selects: bool) -> Cell {
    let value = |at: usize| {
        if written[at].is_empty() {
            defaults[at + 1]
        } else {
            written[at]
        }
    };
    let has_steps = defaults[2] != "-";
    let [inherit, accumulate, format, fresh] = [value(0), value(1), value(2), value(3)];
    let mut findings = Vec::new();
    if fresh == "enabled" && inherit != "none" {
        findings.push(match (written[0], written[3]) {
            ("", "") => unreachable!("no row of the language conflicts by itself"),
            ("", _) => "CTX202 fresh_context".to_owned(),
            (_, "") => "CTX202 inherit_context".to_owned(),
            _ => "CTX201".to_owned(),
        });
    }
    if inherit == "none" && accumulate != "true" && fresh == "disabled" {
        findings.push(
            if has_content {
                "CTX203 info"
            } else {
                "CTX203 warning"
            }
            .to_owned(),
        );
    }
    let idle_data = written[1] == "true" && !has_steps;
    let idle_format = !written[2].is_empty() && (!has_steps || accumulate != "true");
    if idle_data {
        findings.push("CTX204 accumulate_data".to_owned());
    }
    if idle_format {
        findings.push("CTX204 accumulation_format".to_owned());
    }
    let alone = findings.iter().any(|finding| finding.starts_with("CTX203"));
    let conflict = findings
        .iter()
        .any(|finding| finding.starts_with("CTX201") || finding.starts_with("CTX202"));
    for (at, name) in [
        "inherit_context",
        "accumulate_data",
        "accumulation_format",
        "fresh_context",
    ]
    .iter()
    .enumerate()
    {
        let graver = (conflict && (at == 0 || at == 3))
            || (alone && at != 2)
            || (idle_data && at == 1)
            || (idle_format && at == 2);
        if !written[at].is_empty() && written[at] == defaults[at + 1] && !graver {
            findings.push(format!("CTX205 {name}"));
        }
    }
    if inherit == "subset" && !selects {
        findings.push("CTX206".to_owned());
    }
    Cell {
        values: [inherit, accumulate, format, fresh].map(str::to_owned),
        applies: [true, has_steps, has_steps, true],
        findings,
    }
}

fn written(words: [&str; 4]) -> WrittenSettings {
    fn at<T: Word>(word: &str, position: u32) -> Option<Spanned<T>> {
        (!word.is_empty()).then(|| Spanned::new(T::parse(word).unwrap(), Span::empty_at(position)))
    }
    WrittenSettings {
        inherit_context: at::<Inherit>(words[0], 1),
        accumulate_data: at::<bool>(words[1], 2),
        accumulation_format: at::<Format>(words[2], 3),
        fresh_context: at::<Fresh>(words[3], 4),
    }
}

fn row(layers: &Layers, name: &str) -> RowId {
    match name {
        "reduce inner_task" => layers.part_row(
            layers.resolve_row("reduce", None).unwrap(),
            BodyPart::InnerTask,
        ),
        "reduce reduction_task" => layers.part_row(
            layers.resolve_row("reduce", None).unwrap(),
            BodyPart::ReductionTask,
        ),
        "director_evaluator_loop director" => layers.part_row(
            layers.resolve_row("director_evaluator_loop", None).unwrap(),
            BodyPart::Director,
        ),
        _ => {
            let (operator, subtype) = name
                .split_once(' ')
                .map_or((name, None), |(o, s)| (o, Some(s)));
            layers.resolve_row(operator, subtype).unwrap()
        }
    }
}

/// The compiler's answer, in the same words.
fn compiled(layers: &Layers, id: RowId, words: [&str; 4], facts: TaskContentFacts) -> Cell {
    let resolved = resolve(id, layers, &written(words));
    let settings = [0, 1, 2, 3].map(|at| resolved.get(SettingName::ALL[at]));
    let mut findings = Vec::new();
    if let Some(conflict) = check_exclusivity(&resolved, layers) {
        assert_eq!(conflict.inherit, resolved.inherit_context.value);
        findings.push(match conflict.side {
            WrittenSide::Both => "CTX201".to_owned(),
            WrittenSide::Inherit => "CTX202 inherit_context".to_owned(),
            WrittenSide::Fresh => "CTX202 fresh_context".to_owned(),
        });
    }
    findings.extend(missing_context(&resolved, facts).map(|alone| match alone {
        WithoutContext::Empty => "CTX203 warning".to_owned(),
        WithoutContext::OwnContent => "CTX203 info".to_owned(),
    }));
    let names = || SettingName::ALL.iter().copied();
    findings.extend(
        names()
            .filter(|name| is_without_effect(&resolved, *name))
            .map(|name| format!("CTX204 {}", name.word())),
    );
    findings.extend(
        names()
            .filter(|name| is_redundant(&resolved, layers, *name))
            .map(|name| format!("CTX205 {}", name.word())),
    );
    if is_empty_subset(&resolved, facts) {
        findings.push("CTX206".to_owned());
    }
    Cell {
        values: settings.map(|setting| setting.value.as_str().replace("N/A", "-")),
        applies: settings.map(|setting| setting.applies),
        findings,
    }
}

#[test]
fn the_compiler_and_the_stated_rules_agree_on_every_cell() {
    let layers = Layers::default();
    let mut cells = 0;
    for defaults in &TABLE {
        let id = row(&layers, defaults[0]);
        for (i, a, f, x) in combinations() {
            let words = [INHERIT[i], ACCUMULATE[a], FORMAT[f], FRESH[x]];
            // A key that selects a part is content too, except for `context_relevance` alone.
            for (has_content, selects) in
                [(false, false), (true, true), (true, false), (false, true)]
            {
                let facts = TaskContentFacts {
                    has_content,
                    selects,
                };
                let stated = stated(defaults, words, has_content, selects);
                assert_eq!(
                    compiled(&layers, id, words, facts),
                    stated,
                    "{} {words:?}",
                    defaults[0]
                );
            }
            cells += 1;
        }
    }
    assert_eq!(cells, 9 * 108);
}

fn combinations() -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..108).map(|n| (n / 27, n / 9 % 3, n / 3 % 3, n % 3))
}

#[test]
fn the_table_is_the_table_of_the_language() {
    let layers = Layers::default();
    for defaults in &TABLE {
        let resolved = layers.defaults(row(&layers, defaults[0]));
        let values = [0, 1, 2, 3].map(|at| {
            resolved
                .get(SettingName::ALL[at])
                .value
                .as_str()
                .replace("N/A", "-")
        });
        assert_eq!(values.as_slice(), &defaults[1..], "{}", defaults[0]);
    }
    // The ninth row is that of two parts.
    let looped = layers.resolve_row("director_evaluator_loop", None).unwrap();
    let [director, evaluator] = [BodyPart::Director, BodyPart::Evaluator]
        .map(|part| *layers.defaults(layers.part_row(looped, part)));
    assert_eq!(
        director.inherit_context.value,
        evaluator.inherit_context.value
    );
    assert_eq!(
        director.accumulate_data.value,
        evaluator.accumulate_data.value
    );
    assert_eq!(director.fresh_context.value, evaluator.fresh_context.value);
}

#[test]
fn no_default_is_flipped_to_escape_a_conflict() {
    let layers = Layers::default();
    let resolved = resolve(RowId::ATOMIC, &layers, &written(["", "", "", "enabled"]));
    assert_eq!(
        (resolved.inherit_context.value, resolved.fresh_context.value),
        (Inherit::Full, Fresh::Enabled)
    );
}

#[test]
fn subtypes_without_a_row_keep_their_operators() {
    let layers = Layers::default();
    for (operator, subtype) in [
        ("sequential", "subtask"),
        ("reduce", "subtask"),
        ("script", "subtask"),
        ("atomic", "director"),
        ("atomic", "evaluator"),
    ] {
        let of = layers.defaults(layers.resolve_row(operator, None).unwrap());
        let own = layers.defaults(layers.resolve_row(operator, Some(subtype)).unwrap());
        for name in SettingName::ALL {
            assert_eq!(own.get(*name), of.get(*name), "{operator} {subtype}");
        }
    }
    assert_eq!(
        layers.resolve_row("atomic", Some("standard")),
        Ok(RowId::ATOMIC)
    );
}
