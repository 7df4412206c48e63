//! The few forms that schemas are put together from. Every object is closed, and every key of it says what it means.

use super::value::Json;
use std::borrow::Cow;

/// A key of an object.
pub(super) struct Field {
    name: &'static str,
    about: Cow<'static, str>,
    schema: Json,
    presence: Presence,
}

#[derive(PartialEq, Eq)]
enum Presence {
    Always,
    WhereWritten,
}

/// A key that is always there.
pub(super) fn must(name: &'static str, about: impl Into<Cow<'static, str>>, schema: Json) -> Field {
    Field { name, about: about.into(), schema, presence: Presence::Always }
}

/// A key that is left out where there is nothing to say.
pub(super) fn may(name: &'static str, about: impl Into<Cow<'static, str>>, schema: Json) -> Field {
    Field { name, about: about.into(), schema, presence: Presence::WhereWritten }
}

/// An object with these keys and no other.
pub(super) fn object(fields: Vec<Field>) -> Json {
    let required = fields.iter().filter(|field| field.presence == Presence::Always).map(|field| Json::from(field.name)).collect();
    let properties = fields.into_iter().map(|field| {
        let property = describe(field.about, field.schema);
        (Cow::Borrowed(field.name), property)
    });
    let properties = Json::Object(properties.collect());
    of_type("object").with("properties", properties).with("required", Json::List(required)).with("additionalProperties", false)
}

/// A description in front of a schema.
pub(super) fn describe(about: impl Into<Cow<'static, str>>, schema: Json) -> Json {
    let mut entries = vec![(Cow::Borrowed("description"), Json::from(about.into()))];
    if let Json::Object(rest) = schema {
        entries.extend(rest);
    }
    Json::Object(entries)
}

/// A schema that says nothing yet.
pub(super) fn empty() -> Json {
    Json::Object(Vec::new())
}

fn of_type(word: &'static str) -> Json {
    empty().with("type", word)
}

/// Any string.
pub(super) fn text() -> Json {
    of_type("string")
}

/// A string that is not empty.
pub(super) fn word() -> Json {
    text().with("minLength", 1)
}

/// A string of one form.
pub(super) fn pattern(pattern: impl Into<Cow<'static, str>>) -> Json {
    text().with("pattern", pattern.into())
}

/// One of these words.
pub(super) fn one_of(words: impl IntoIterator<Item = &'static str>) -> Json {
    text().with("enum", list_of(words))
}

/// This word.
pub(super) fn only(word: &'static str) -> Json {
    empty().with("const", word)
}

/// A word of the author's, with those that the language knows as examples: a project may declare others.
pub(super) fn such_as(words: impl IntoIterator<Item = &'static str>) -> Json {
    word().with("examples", list_of(words))
}

/// Words as a list.
pub(super) fn list_of(words: impl IntoIterator<Item = &'static str>) -> Json {
    Json::List(words.into_iter().map(Json::from).collect())
}

/// `true` or `false`.
pub(super) fn boolean() -> Json {
    of_type("boolean")
}

/// Nothing: a key that later versions give values.
pub(super) fn null() -> Json {
    of_type("null")
}

/// A whole number, at least this one.
pub(super) fn number(least: u64) -> Json {
    of_type("integer").with("minimum", least)
}

/// A number that need not be whole, at least 0.
pub(super) fn amount() -> Json {
    of_type("number").with("minimum", 0)
}

/// A list.
pub(super) fn list(items: Json) -> Json {
    of_type("array").with("items", items)
}

/// A part of the schema that has a name.
pub(super) fn part(name: &str) -> Json {
    empty().with("$ref", format!("#/$defs/{name}"))
}

/// The same or `null`.
pub(super) fn or_null(schema: Json) -> Json {
    let Json::Object(mut entries) = schema else { return schema };
    let known = entries.iter_mut().find(|(key, _)| key == "type");
    let Some((_, kind)) = known else {
        return empty().with("anyOf", vec![Json::Object(entries), of_type("null")]);
    };
    *kind = Json::List(vec![kind.clone(), Json::from("null")]);
    if let Some((_, Json::List(words))) = entries.iter_mut().find(|(key, _)| key == "enum") {
        words.push(Json::Null);
    }
    Json::Object(entries)
}

/// Where `key` is one of `words`, the object has to fit `then` too.
pub(super) fn where_is(key: &'static str, words: impl IntoIterator<Item = &'static str>, then: Json) -> Json {
    let known = Json::Object(vec![(Cow::Borrowed(key), empty().with("enum", list_of(words)))]);
    let condition = empty().with("properties", known).with("required", list_of([key]));
    empty().with("if", condition).with("then", then)
}

/// What a key has to fit, besides what its object says of it.
pub(super) fn narrowed(keys: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let keys = keys.into_iter().map(|(key, schema)| (Cow::Borrowed(key), schema));
    empty().with("properties", Json::Object(keys.collect()))
}
