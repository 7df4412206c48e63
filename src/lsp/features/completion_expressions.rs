//! Completion in an expression, a condition or the path of `from`: names of values, fields of
//! results with a known schema, and filters, tests and tags of Jinja.

use super::completion_context::{ExpressionSlot, expression_slot, open_call};
use super::completion_cx::{CompletionCx, CompletionPlace};
use super::{implicit_names, variable_definition};
use crate::base::contained_path;
use crate::jinja::builtins::{FILTER_NAMES, TEST_NAMES};
use crate::lsp::prelude::*;
use crate::syntax::tree::Element;
use crate::template::elements::ElementKind;
use crate::template::names::DefinitionKind;
use gen_lsp_types::{CompletionItem, CompletionItemKind};
use std::collections::BTreeMap;

/// The tags of Jinja.
const JINJA_TAGS: &[&str] = &[
    "if", "elif", "else", "endif", "for", "endfor", "set", "raw", "endraw",
];

/// The operators that compare two values or join conditions.
const OPERATORS: &[&str] = &["==", "!=", "lt", "le", "gt", "ge", "and", "or"];

impl<'c> CompletionCx<'c> {
    /// Returns the completions of an expression, a condition or a path; `before` ends at the word.
    pub(in crate::lsp) fn expression_items(&self, before: &str) -> Vec<CompletionItem> {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let typed = Span::new(self.place.word.start, self.place.offset).slice(self.place.text);
        let is_value = before.ends_with(typed) && !before.starts_with(['{']);
        let before = if is_value {
            before.trim_end_matches(is_of_name)
        } else {
            before
        };
        let head = self
            .place
            .text
            .get(..self.place.offset as usize)
            .unwrap_or("");
        let rest = self
            .place
            .text
            .get(self.place.offset as usize..)
            .unwrap_or("");
        let last = (head.len() - head.trim_end_matches(is_of_name).len()) as u32;
        let tail = (rest.len() - rest.trim_start_matches(is_of_name).len()) as u32;
        let word = Span::new(self.place.offset - last, self.place.offset + tail);
        let cx = Self {
            place: CompletionPlace {
                word,
                start: word.start,
                ..self.place
            },
            ..*self
        };
        let rest = cx.place.text_after();
        let end = rest
            .find(['\n', '<'])
            .into_iter()
            .chain(rest.find("{{"))
            .min()
            .unwrap_or(rest.len());
        let is_closed =
            !before.starts_with("{{") || rest.get(..end).is_some_and(|rest| rest.contains("}}"));
        let close = match is_closed {
            true => "",
            false if before.ends_with(' ') => " }}",
            false => "}}",
        };
        let words = |words: &[&str], kind: CompletionItemKind| {
            let is_jinja = cx.is_jinja();
            words
                .iter()
                .filter(|_| is_jinja)
                .map(|word| cx.item(word, kind, "", word))
                .collect()
        };
        match expression_slot(before) {
            ExpressionSlot::Name => {
                let named = cx.argument_items(before);
                let calls =
                    if before.starts_with("{{") && !cx.is_jinja() && open_call(before).is_none() {
                        let hole = if cx.place.client.supports_snippets {
                            "($0)"
                        } else {
                            "()"
                        };
                        cx.definition_items(DefinitionKind::Template, &format!("{hole}{close}"))
                    } else {
                        Vec::new()
                    };
                named
                    .into_iter()
                    .chain(cx.variable_items(close))
                    .chain(calls)
                    .collect()
            }
            ExpressionSlot::Field(path) => cx.field_items(path, close),
            ExpressionSlot::Word(path) => cx.enum_items(path),
            ExpressionSlot::Operator => OPERATORS
                .iter()
                .map(|word| cx.item(word, CompletionItemKind::Operator, "", word))
                .collect(),
            ExpressionSlot::Filter => words(FILTER_NAMES, CompletionItemKind::Function),
            ExpressionSlot::Test => words(TEST_NAMES, CompletionItemKind::Function),
            ExpressionSlot::Tag => words(JINJA_TAGS, CompletionItemKind::Keyword),
        }
    }

    /// Returns the names of further arguments in an open call: `{{shorten(text=message, `.
    fn argument_items(&self, before: &str) -> Vec<CompletionItem> {
        let Some((name, written)) = open_call(before).filter(|(_, given)| !given.ends_with('='))
        else {
            return Vec::new();
        };
        let index = self.project.index();
        let template = index
            .find_definition(DefinitionKind::Template, name)
            .and_then(|id| index.definition(id));
        let params = template.map_or(&[][..], |template| &template.params);
        // An argument without a name is passed by its position.
        let one = |(at, one): (usize, &str)| match one.split_once('=') {
            Some((name, _)) => Some(name.trim().to_owned()),
            None => params
                .get(at)
                .filter(|_| !one.trim().is_empty())
                .map(|param| param.name.to_string()),
        };
        let given: Vec<String> = written.split(',').enumerate().filter_map(one).collect();
        let after = if self.place.text_after().trim_start().starts_with('=') {
            ""
        } else {
            "="
        };
        self.free_parameter_items(params, &given, after)
    }

    fn is_jinja(&self) -> bool {
        self.ancestors().iter().any(|element| {
            element
                .attribute("syntax")
                .is_some_and(|syntax| syntax.value().trim() == "jinja")
        })
    }

    /// Returns the names of values that are visible at the place.
    fn variable_items(&self, close: &str) -> Vec<CompletionItem> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let chain = self.ancestors();
        for (name, element) in self.visible_bindings(&chain) {
            names
                .entry(name)
                .or_insert_with(|| variable_definition::describe_binding(self.project, element));
        }
        for name in chain
            .iter()
            .flat_map(|element| implicit_names::names_inside(element.name()))
        {
            names
                .entry((*name).to_owned())
                .or_insert_with(|| implicit_names::meaning(name).unwrap_or_default().to_owned());
        }
        if self.is_jinja() {
            names.extend(
                self.jinja_names(&chain)
                    .into_iter()
                    .map(|name| (name, "a name that this text gives itself".to_owned())),
            );
        }
        let one = |(name, doc): (&String, &String)| {
            self.item(
                name,
                CompletionItemKind::Variable,
                doc,
                &format!("{name}{close}"),
            )
        };
        names.iter().map(one).collect()
    }

    /// Returns the names that `for` and `set` define in the text before the place.
    fn jinja_names(&self, chain: &[Element<'_>]) -> Vec<String> {
        let own = chain.first().filter(|_| self.at == self.place.offset);
        let start = own.map_or(0, |element| element.start_tag().end);
        let mut names: Vec<Vec<String>> = Vec::new();
        let text = self
            .place
            .text
            .get(start as usize..self.place.offset as usize)
            .unwrap_or("");
        for tag in text
            .split("{%")
            .skip(1)
            .filter_map(|rest| rest.split_once("%}"))
            .map(|(tag, _)| tag.trim_matches(['-', '+', ' ']))
        {
            let listed = |names: &str| {
                names
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .collect()
            };
            match tag.split_once(' ').unwrap_or((tag, "")) {
                ("for", rest) => names.push(
                    rest.split_once(" in ")
                        .map_or_else(Vec::new, |(names, _)| listed(names)),
                ),
                ("set", rest) => names.insert(
                    0,
                    rest.split_once('=')
                        .map_or_else(Vec::new, |(names, _)| listed(names)),
                ),
                ("endfor", _) => drop(names.pop()),
                _ => {}
            }
        }
        names.concat()
    }

    /// Returns the elements that bind names visible at the place.
    fn visible_bindings(&self, chain: &[Element<'c>]) -> Vec<(String, Element<'c>)> {
        let holder = chain
            .iter()
            .rev()
            .find(|element| matches!(element.name(), "task" | "template"));
        let mut found = Vec::new();
        let mut stack: Vec<Element<'_>> = holder.copied().into_iter().collect();
        while let Some(element) = stack.pop() {
            found.extend(
                self.bound_names(element, chain)
                    .into_iter()
                    .map(|name| (name, element)),
            );
            stack.extend(element.elements());
        }
        found
    }

    /// Returns the fields of the value at a path, from the JSON Schema of the result.
    fn field_items(&self, path: &str, close: &str) -> Vec<CompletionItem> {
        let schema = self.schema_at(path).unwrap_or_default();
        let fields = schema.get("properties").and_then(Value::as_object);
        let doc = |field: &Value| {
            let word = |key: &str| field.get(key).and_then(Value::as_str).map(str::to_owned);
            [word("type"), word("description")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(": ")
        };
        let one = |(name, field): (&String, &Value)| {
            self.item(
                name,
                CompletionItemKind::Field,
                &doc(field),
                &format!("{name}{close}"),
            )
        };
        fields.into_iter().flatten().map(one).collect()
    }

    /// Returns the words that the schema of a result allows at a path.
    fn enum_items(&self, path: &str) -> Vec<CompletionItem> {
        let schema = self.schema_at(path).unwrap_or_default();
        let words = schema
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        words
            .map(|word| self.item(word, CompletionItemKind::EnumMember, "", word))
            .collect()
    }

    /// Returns the JSON Schema of the value at a path.
    fn schema_at(&self, path: &str) -> Option<Value> {
        let mut parts = path.split('.');
        let root = parts.next()?;
        let chain = self.ancestors();
        let own = self
            .visible_bindings(&chain)
            .into_iter()
            .find(|(name, _)| name == root)
            .map(|(_, element)| element);
        let element = own.or_else(|| {
            implicit_names::source_part(self.document, self.at, root).map(|(_, part)| part)
        })?;
        let mut schema = self.result_schema(element)?;
        for part in parts {
            schema = schema.get_mut("properties")?.get_mut(part)?.take();
        }
        Some(schema)
    }

    /// Returns the JSON Schema of an element's result: its own, or that of the task it references.
    fn result_schema(&self, element: Element<'_>) -> Option<Value> {
        let read = |file: &str, body: Element<'_>| {
            let format = body
                .elements()
                .find(|child| child.name() == "output_format")?;
            let path =
                contained_path::resolve_beside(file, format.attribute("schema")?.value().trim())?;
            serde_json::from_str(&self.project.read_text(&path)?).ok()
        };
        if element.name() == "input" {
            return self.result_schema(element.elements().find(|inner| inner.name() == "task")?);
        }
        let Some(name) = element.attribute("ref") else {
            return read(self.name, element);
        };
        let name = name.value();
        let index = self.project.index();
        let id = index.find_definition(DefinitionKind::Task, name.trim())?;
        let file = index.file(id.file)?.path;
        let span = index.definition(id)?.span;
        let text = self.project.read_text(file)?;
        place::with_document(&text, &self.config().limits, |document| {
            read(file, document.element_at(span.start)?)
        })
    }

    /// Returns the names that an element binds, if they are visible inside `chain`.
    fn bound_names(&self, element: Element<'_>, chain: &[Element<'_>]) -> Vec<String> {
        let is_around = |element: &Element<'_>| chain.iter().any(|own| own.id() == element.id());
        let parent = |tag: &str| {
            element
                .parent()
                .filter(|parent| parent.name() == tag)
                .and_then(Element::parent)
        };
        let (attribute, home) = match element.name() {
            "parameter" => ("name", parent("parameters")),
            // An input is not visible inside itself.
            "input" if !is_around(&element) => ("name", parent("inputs")),
            // A step has no result before it has run.
            "task" | "call" | "cond" if !is_around(&element) && element.span().start < self.at => {
                let mut around = place::ancestors(element.parent());
                (
                    "as",
                    around.find(|element| {
                        place::element_kind(*element).is_some_and(ElementKind::is_body)
                    }),
                )
            }
            "template" => ("params", Some(element)),
            _ => return Vec::new(),
        };
        let Some(value) = element
            .attribute(attribute)
            .filter(|_| home.as_ref().is_some_and(is_around))
        else {
            return Vec::new();
        };
        let value = value.value();
        let names = value
            .split(|c: char| attribute == "params" && (c.is_ascii_whitespace() || c == ','))
            .map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }
}
