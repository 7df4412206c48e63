//! Parts that several artifacts share: places, hashes, ids of nodes, types, and the four settings with their origins.

use super::shape::{
    Field, boolean, describe, empty, list, list_of, must, narrowed, null, number, object, one_of, or_null, part, pattern,
    such_as, text, where_is, word,
};
use super::value::Json;
use crate::registry::SLOTS;
use crate::rules::list::FAMILIES;
use crate::settings::operators::{DEFAULTS, Operator, ROWLESS};
use crate::settings::provenance::Layer;
use crate::template::elements::Kind;
use crate::template::setting::{SettingName, Word};
use std::collections::BTreeSet;

/// A named part of a schema.
pub(super) type Part = (&'static str, Json);

/// `b3:` and 64 digits.
pub(super) fn hash() -> Json {
    pattern("^b3:[0-9a-f]{64}$")
}

/// `CTX203`, of one of the families.
pub(super) fn code() -> Json {
    let families: String = FAMILIES.iter().map(|family| family.number.to_string()).collect();
    pattern(format!("^CTX[{families}][0-9]{{2}}$"))
}

/// `context-conflict`.
pub(super) fn rule_name() -> Json {
    pattern("^[a-z]+(-[a-z]+)*$")
}

/// `/` or `/steps/1/inputs/0`.
pub(super) fn node_id() -> Json {
    let slots = |is_numbered: bool| {
        let words: Vec<&str> = SLOTS.iter().filter(|(_, numbered)| *numbered == is_numbered).map(|(word, _)| *word).collect();
        words.join("|")
    };
    pattern(format!("^(/|(/({})/[0-9]+|/({}))+)$", slots(true), slots(false)))
}

/// The slot of a node in the one that it stands in.
pub(super) fn slot() -> Json {
    one_of(SLOTS.iter().map(|(word, _)| *word))
}

/// A file's path.
pub(super) fn path() -> Json {
    word()
}

/// A type of the language, or one that a project declares.
pub(super) fn operator() -> Json {
    such_as(Operator::ALL.map(Operator::word))
}

/// A subtype or part of the language, or one that a project declares.
pub(super) fn subtype() -> Json {
    let rows = DEFAULTS.iter().flat_map(|row| row.names.iter().copied()).filter(|name| *name != "standard");
    let known: BTreeSet<&str> = rows.chain(ROWLESS.iter().map(|(_, name)| *name)).collect();
    or_null(such_as(known))
}

/// Elements that are nodes with settings of their own.
pub(super) fn bodies() -> impl Iterator<Item = &'static str> {
    crate::template::elements::all().iter().filter(|spec| spec.kind.is_body()).map(|spec| spec.tag)
}

/// The element of a node.
pub(super) fn element() -> Json {
    one_of(bodies().chain([Kind::Call.tag(), Kind::Cond.tag()]))
}

/// The name of a setting.
pub(super) fn setting_name() -> Json {
    one_of(SettingName::ALL.iter().map(|name| name.word()))
}

/// Bytes of a text.
pub(super) fn span() -> Part {
    let about = "a range of bytes of the decoded text of a file; a byte order mark is not counted";
    let start = must("start", "the first byte, from 0", number(0));
    let end = must("end", "one past the last byte; equal to the start for a place between two bytes", number(0));
    ("span", describe(about, object(vec![start, end])))
}

/// Whether what is shown can be written in a template.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    ByTemplates,
    Never,
    /// It can, and what is shown leaves out where: the agents of a manifest.
    Placeless,
}

/// Where a value came from.
pub(super) fn origin(written: Written) -> Part {
    // No artifact holds a request yet.
    let layers = Layer::ALL.into_iter().filter(|layer| match written {
        Written::ByTemplates | Written::Placeless => *layer != Layer::Request,
        Written::Never => !layer.is_written(),
    });
    let about = "who set a value, and where it stands";
    let layer = must(
        "layer",
        "the layer that set it: the language's or a project's row of the operator or subtype, a project's defaults for one \
         of them, or the template itself",
        one_of(layers.map(Layer::as_str)),
    );
    let row = must("row", "the type that the layer speaks about, such as `atomic` or `atomic.subtask`", word());
    let file = must("path", "the file it stands in, relative to the project; null for the language's own table", or_null(path()));
    let span = match written {
        Written::ByTemplates | Written::Never => {
            must("span", "its place in that file; null where there is no file", or_null(part("span")))
        }
        Written::Placeless => must("span", "always null: places move with every line above them", null()),
    };
    ("origin", describe(about, object(vec![layer, row, file, span])))
}

const fn about_setting(name: SettingName) -> &'static str {
    match name {
        SettingName::InheritContext => "what of its parent's context the task sees",
        SettingName::AccumulateData => "whether results of earlier steps are carried along; null where there are no steps",
        SettingName::AccumulationFormat => "in which form results of earlier steps are carried; null where there are no steps",
        SettingName::FreshContext => "whether context is looked up",
    }
}

/// The name of the part that holds a setting's values.
const fn values_part(name: SettingName) -> &'static str {
    match name {
        SettingName::InheritContext => "inherit_context_value",
        SettingName::AccumulateData => "accumulate_data_value",
        SettingName::AccumulationFormat => "accumulation_format_value",
        SettingName::FreshContext => "fresh_context_value",
    }
}

/// The values of each setting: a part for each.
pub(super) fn values() -> impl Iterator<Item = Part> {
    SettingName::ALL.iter().map(|&name| {
        let words = || one_of(name.words().iter().copied());
        let values = match name {
            SettingName::AccumulateData => or_null(boolean()),
            SettingName::AccumulationFormat => or_null(words()),
            SettingName::InheritContext | SettingName::FreshContext => words(),
        };
        (values_part(name), describe(about_setting(name), values))
    })
}

/// A value of whichever setting.
pub(super) fn any_value() -> Json {
    empty().with("type", list_of(["string", "boolean", "null"]))
}

/// `setting` says which values the keys may have: a condition for each setting.
pub(super) fn by_setting(narrow: impl Fn(Json) -> Json) -> Json {
    let conditions = SettingName::ALL.iter().map(|&name| where_is("setting", [name.word()], narrow(part(values_part(name)))));
    Json::List(conditions.collect())
}

/// Values that another one has beaten.
pub(super) fn beaten(value: Json) -> Json {
    list(object(vec![
        must("value", "the value that did not hold; null for “does not apply”", value),
        must("origin", "who had set it", part("origin")),
    ]))
}

/// The values in a list of beaten ones.
pub(super) fn beaten_values(value: Json) -> Json {
    empty().with("items", narrowed([("value", value)]))
}

const fn setting_part(name: SettingName) -> &'static str {
    match name {
        SettingName::InheritContext => "inherit_context",
        SettingName::AccumulateData => "accumulate_data",
        SettingName::AccumulationFormat => "accumulation_format",
        SettingName::FreshContext => "fresh_context",
    }
}

/// What is said of a setting, whichever it is.
pub(super) fn setting_fields(value: Json) -> [Field; 4] {
    [
        must("value", "the value that holds; null where the setting does not apply to the type", value.clone()),
        must("applies", "whether the value has any effect", boolean()),
        must("origin", "who set the value that holds", part("origin")),
        must("beaten", "the values that it has beaten, the nearest layer first", beaten(value)),
    ]
}

/// Everything that settings are made of: their values, each setting, and the four together.
pub(super) fn settings(written: Written) -> Vec<Part> {
    let mut parts = match written {
        Written::ByTemplates | Written::Never => vec![span()],
        Written::Placeless => Vec::new(),
    };
    parts.push(origin(written));
    parts.extend(values().map(|(name, schema)| match (written, name) {
        // An agent has no steps of its own whose results it could carry.
        (Written::Placeless, "accumulate_data_value") => (name, describe(about_setting(SettingName::AccumulateData), null())),
        (Written::Placeless, "accumulation_format_value") => {
            (name, describe(about_setting(SettingName::AccumulationFormat), null()))
        }
        _ => (name, schema),
    }));
    parts.extend(SettingName::ALL.iter().map(|&name| {
        let setting = object(Vec::from(setting_fields(part(values_part(name)))));
        (setting_part(name), describe(about_setting(name), setting))
    }));
    let fields = SettingName::ALL.iter().map(|&name| must(name.word(), about_setting(name), part(setting_part(name))));
    parts.push(("settings", describe("the four context settings, resolved", object(fields.collect()))));
    parts
}

/// A line and a column.
pub(super) fn position() -> Part {
    let fields = vec![
        must("line", "the line, from 1", number(1)),
        must("column", "the column in characters (Unicode scalar values), from 1", number(1)),
        must("utf16", "the column in UTF-16 code units, from 1", number(1)),
    ];
    ("position", describe("a place in a text as people count", object(fields)))
}

/// A name of a task, template or fragment.
pub(super) fn name() -> Json {
    text()
}
