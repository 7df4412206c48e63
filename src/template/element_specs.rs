//! The rows of the element table, in the order of [`Kind`], and lookups in it.

use super::elements::Content::{Elements, Empty, Opaque, Text, TextOrElements, Word};
use super::elements::{
    Attr, Child, Content, Kind, Kind as K, Of, Spec, TEXT_ATTRIBUTES, TRUST_MEANINGS, Values,
};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::{EFFORT, Parameter};

const fn one(kind: K) -> Child {
    Child {
        kind,
        many: false,
        of: Of::Any,
    }
}

const fn many(kind: K) -> Child {
    Child {
        kind,
        many: true,
        of: Of::Any,
    }
}

const fn of(kind: K, operator: &'static str) -> Child {
    Child {
        kind,
        many: false,
        of: Of::Type(operator),
    }
}

const fn attr(name: &'static str, values: Values, doc: &'static str) -> Attr {
    Attr {
        name,
        values,
        required: false,
        doc,
        also: &[],
        meanings: &[],
    }
}

const fn must(name: &'static str, values: Values, doc: &'static str) -> Attr {
    Attr {
        name,
        values,
        required: true,
        doc,
        also: &[],
        meanings: &[],
    }
}

const fn row(
    kind: K,
    tag: &'static str,
    content: Content,
    attributes: &'static [Attr],
    children: &'static [Child],
    doc: &'static str,
) -> Spec {
    Spec {
        kind,
        tag,
        doc,
        content,
        attributes,
        children,
        deprecated: None,
    }
}

const fn text(kind: K, tag: &'static str, doc: &'static str) -> Spec {
    row(kind, tag, Text, &[], USES, doc)
}

const fn old(kind: K, tag: &'static str, doc: &'static str, instead: &'static str) -> Spec {
    Spec {
        kind,
        tag,
        doc,
        content: Opaque,
        attributes: &[],
        children: &[],
        deprecated: Some(instead),
    }
}

const USES: &[Child] = &[many(K::Use)];
const AS: Attr = attr(
    "as",
    Values::Name,
    "the name under which later steps see the result",
)
.also(&["result", "name"]);
const FROM: &str = "the variable that it takes its value from";
const TRUST: Attr = attr(
    "trust",
    Values::OneOf(&["trusted", "untrusted"]),
    "`untrusted` values are fenced when rendered",
)
.says(TRUST_MEANINGS);
const RESULT_TRUST: Attr = attr(
    "trust",
    Values::OneOf(&["trusted", "untrusted"]),
    "whether its result may give orders",
)
.says(&[
    "somebody checked the result, whatever it is made of",
    "from outside, as the output of a command may be",
]);
const SEQ: &str = "sequential";
const RED: &str = "reduce";
const SCR: &str = "script";
const DEL: &str = "director_evaluator_loop";
/// The types of a declared value.
pub(super) const TYPES: &[&str] = &[
    "string", "number", "integer", "boolean", "object", "array", "string[]",
];

/// The meanings of the types of a declared value, in their order.
const TYPE_MEANINGS: &[&str] = &[
    "a text",
    "a number, with or without a fraction",
    "a whole number",
    "`true` or `false`",
    "a JSON object: fields by name",
    "a JSON array: a list of any values",
    "a list of texts",
];

/// The meanings of the profiles, in their order.
const PROFILE_MEANINGS: &[&str] = &[
    "headings of Markdown",
    "an element for each segment",
    "titles and blank lines",
    "headings, and `---` between segments",
    "the author's words and nothing else",
];

/// The children of a task and of a task body in place.
const BODY: &[Child] = &[
    one(K::Description),
    one(K::Instructions),
    one(K::System),
    one(K::Criteria),
    one(K::Constraints),
    one(K::Provider),
    one(K::Model),
    one(K::Parameters),
    one(K::Inputs),
    one(K::ContextManagement),
    one(K::ContextRelevance),
    one(K::FilePaths),
    one(K::OutputFormat),
    one(K::Sampling),
    one(K::History),
    one(K::Examples),
    of(K::Steps, SEQ),
    of(K::InitialValue, RED),
    of(K::InnerTask, RED),
    of(K::ReductionTask, RED),
    of(K::Command, SCR),
    of(K::Timeout, SCR),
    of(K::Env, SCR),
    of(K::Cwd, SCR),
    of(K::Director, DEL),
    of(K::Evaluator, DEL),
    of(K::ScriptExecution, DEL),
    of(K::MaxIterations, DEL),
    of(K::TerminationCondition, DEL),
    one(K::OutputSlot),
    one(K::InputSource),
    one(K::ManualXml),
    one(K::DisableReparsing),
    one(K::ExpectedOutput),
    one(K::ContinuationPolicy),
    one(K::ValidationRules),
    // A body in place that is wrapped in a task of its own is accepted with a fix.
    Child {
        kind: K::Task,
        many: false,
        of: Of::Type(""),
    },
];

#[rustfmt::skip]
pub(super) static SPECS: &[Spec] = &[
    row(K::Task, "task", Elements, &[
        attr("type", Values::Name, "the kind of task; `atomic` when absent"),
        attr("subtype", Values::Name, "a refinement of the type, with defaults of its own"),
        attr("name", Values::Name, "the name in the registry; the file's stem when absent").also(&["id"]),
        attr("version", Values::Name, "the author's version of the task"),
        attr("ref", Values::Name, "use a registered task in this place").also(&["use", "task", "template"]),
        attr("profile", Values::OneOf(&Profile::WORDS), "how its segments look; as the task around it, its role or the run says when absent").says(PROFILE_MEANINGS),
        AS,
        RESULT_TRUST,
    ], BODY, "a task: what an agent is asked to do, and which context it receives"),
    row(K::Template, "template", Elements, &[
        must("name", Values::Name, "the name that calls use").also(&["id"]),
        attr("params", Values::Any, "its parameters, separated by spaces or commas").also(&["parameters", "args"]),
        attr("returns", Values::Name, "the type of its result"),
    ], &[one(K::Description), one(K::Task)], "a function over tasks: sees its parameters and nothing else"),
    row(K::Library, "library", Elements, &[attr("name", Values::Name, "a name for people")],
        &[one(K::Description), many(K::Task), many(K::Template), many(K::Fragment)], "many tasks, templates and fragments in one file"),
    row(K::Fragment, "fragment", Text, &[must("name", Values::Name, "the name that `use` gives").also(&["id"])], USES, "a shared text"),
    row(K::Use, "use", Empty, &[must("fragment", Values::Name, "the fragment whose text stands here").also(&["name", "ref", "id"])], &[], "puts a shared text in its place"),
    row(K::Call, "call", Elements, &[must("template", Values::Name, "the template that is called").also(&["name", "function", "ref", "task"]), AS, RESULT_TRUST], &[many(K::CallArg)], "calls a function template"),
    row(K::CallArg, "arg", TextOrElements, &[
        attr("name", Values::Name, "the parameter; by position when absent").also(&["param", "parameter"]),
        attr("from", Values::Name, FROM),
    ], &[many(K::Use), one(K::Task), one(K::Call)], "an argument of a call"),
    row(K::Cond, "cond", Elements, &[AS], &[many(K::Case)], "runs the first case whose test holds"),
    row(K::Case, "case", Elements, &[must("test", Values::Name, "the condition").also(&["when", "if", "condition"])], &[one(K::Task), one(K::Call)], "a task under a condition"),
    text(K::Description, "description", "what the task is for; what context is looked up by"),
    text(K::Instructions, "instructions", "what the agent is to do"),
    text(K::System, "system", "who the agent is and what always holds"),
    text(K::Criteria, "criteria", "what a good result looks like"),
    row(K::Constraints, "constraints", Elements, &[], &[many(K::Constraint)], "what must not be violated"),
    text(K::Constraint, "constraint", "one thing that must not be violated"),
    row(K::Provider, "provider", Word, &[], &[], "the provider's name, opaque to the compiler"),
    row(K::Model, "model", TextOrElements, &[], &[one(K::Preferred), one(K::Fallback)], "the model's name, or a preferred one with a fallback"),
    row(K::Preferred, "preferred", Word, &[], &[], "the model that is tried first"),
    row(K::Fallback, "fallback", Word, &[], &[], "the model that is tried next"),
    row(K::Parameters, "parameters", Elements, &[], &[many(K::Parameter)], "the variables that a task takes"),
    row(K::Parameter, "parameter", Empty, &[
        must("name", Values::Name, "the variable's name").also(&["id", "key"]),
        attr("type", Values::OneOf(TYPES), "the type of its value").says(TYPE_MEANINGS),
        attr("required", Values::Bool, "whether a run must give it; `true` without a default")
            .says(&["a run must give it a value", "a run may leave it out: its `default` is its value then"]),
        attr("default", Values::Any, "the value when a run gives none").also(&["value"]),
        TRUST,
    ], &[], "a variable that a task takes"),
    row(K::Inputs, "inputs", Elements, &[], &[many(K::Input)], "named values for the agent"),
    row(K::Input, "input", TextOrElements, &[
        must("name", Values::Name, "its name").also(&["id"]),
        attr("from", Values::Name, FROM).also(&["ref", "source"]),
        attr("max_tokens", Values::Count, "how many tokens of it at most; of what is longer the end is left out"),
    ], &[many(K::Use), one(K::Task), one(K::Call)], "a named value: from a variable, a text, or the result of a task"),
    row(K::ContextManagement, "context_management", Elements, &[], &[
        one(K::InheritContext), one(K::AccumulateData), one(K::AccumulationFormat), one(K::FreshContext),
    ], "which context the task receives"),
    row(K::InheritContext, "inherit_context", Word, &[
        attr("max_tokens", Values::Count, "how many tokens of each part of it at most"),
    ], &[], "what of its parent's context the task sees"),
    row(K::AccumulateData, "accumulate_data", Word, &[], &[], "whether results of earlier steps are carried along"),
    row(K::AccumulationFormat, "accumulation_format", Word, &[], &[], "in which form they are carried"),
    row(K::FreshContext, "fresh_context", Word, &[
        attr("max_tokens", Values::Count, "how many tokens of each passage at most"),
    ], &[], "whether context is looked up"),
    row(K::ContextRelevance, "context_relevance", Elements, &[], &[many(K::RelevanceInput)], "which inputs drive the looking up"),
    row(K::RelevanceInput, "input", Empty, &[
        must("name", Values::Name, "the input"),
        attr("include", Values::Bool, "whether it counts; `true` when absent")
            .says(&["context is looked up by this input", "this input plays no part when context is looked up"]),
    ], &[], "an input that counts, or does not, when context is looked up"),
    row(K::FilePaths, "file_paths", Elements, &[
        attr("source", Values::OneOf(&["literal", "command", "description"]), "where the list comes from; `literal` when absent")
            .says(&["the `path` elements are the list", "a `command` lists the files when the task runs", "a `description` says in words which files, and matching finds them"]),
        attr("max_tokens", Values::Count, "how many tokens of each file at most"),
    ], &[many(K::Path), one(K::FilesCommand), one(K::FilesDescription)], "files that are always included"),
    row(K::Path, "path", Word, &[], &[], "a file, relative to the project"),
    row(K::FilesCommand, "command", Word, &[], &[], "a command that lists files"),
    row(K::FilesDescription, "description", Text, &[], USES, "which files, in words"),
    row(K::OutputFormat, "output_format", Empty, &[
        attr("type", Values::OneOf(&["json", "text"]), "the form of the result")
            .says(&["JSON, which can be held against a `schema`", "text, in whatever form the agent writes it"]),
        attr("schema", Values::Name, "`object`, `array`, `string[]`, `number`, `boolean`, or a JSON Schema file"),
    ], &[], "the form that the result must have"),
    row(K::Steps, "steps", Elements, &[], &[many(K::Task), many(K::Call), many(K::Cond)], "the steps, one after the other"),
    row(K::InitialValue, "initial_value", Text, &[attr("from", Values::Name, FROM)], USES, "what the reduction starts from"),
    row(K::InnerTask, "inner_task", Elements, &[], BODY, "what is done with each input"),
    row(K::ReductionTask, "reduction_task", Elements, &[], BODY, "how a result is folded into what is there"),
    row(K::Command, "command", TextOrElements, &[attr("shell", Values::OneOf(&["sh"]), "run by this shell; without it, split into arguments")
        .says(&["run by `sh`: pipes, globs and variables work, and values have to be quoted"])], &[many(K::CommandArg)], "the command that a script task runs"),
    row(K::CommandArg, "arg", Text, &[], USES, "one argument, taken as it is"),
    row(K::Timeout, "timeout", Word, &[attr("unit", Values::OneOf(&["s", "ms"]), "`s` when absent").says(&["seconds", "milliseconds"])], &[], "how long it may take"),
    row(K::Env, "env", Elements, &[attr("inherit", Values::OneOf(&["none", "all"]), "what of our own environment it sees; `none` when absent")
        .says(&["only the variables that are written here", "all of our own environment, with what is written here on top"])], &[many(K::Var)], "its environment"),
    row(K::Var, "var", Text, &[must("name", Values::Name, "the variable's name").also(&["id", "key"])], &[], "an environment variable"),
    row(K::Cwd, "cwd", Word, &[], &[], "the folder it runs in, relative to the project"),
    row(K::Director, "director", Elements, &[], BODY, "the task that proposes"),
    row(K::Evaluator, "evaluator", Elements, &[], BODY, "the task that judges"),
    row(K::ScriptExecution, "script_execution", Elements, &[], BODY, "a command that runs between the two"),
    row(K::MaxIterations, "max_iterations", Word, &[], &[], "how many rounds at most; 5 when absent"),
    row(K::TerminationCondition, "termination_condition", Elements, &[], &[one(K::Condition)], "when the loop ends early"),
    row(K::Condition, "condition", Word, &[], &[], "the condition"),
    row(K::Sampling, "sampling", Empty, &[
        attr("temperature", Values::Sampling(Parameter::Temperature), "how far it may stray from the likeliest words: 0 to 2"),
        attr("top_p", Values::Sampling(Parameter::TopP), "which part of the likeliest words is looked at: 0 to 1"),
        attr("seed", Values::Sampling(Parameter::Seed), "where its chance begins, so that an answer may be repeated"),
        attr("effort", Values::OneOf(&EFFORT), "how long it thinks first")
            .says(&["it thinks briefly, or not at all", "it thinks as long as is usual", "it thinks long"]),
        attr("stop", Values::Sampling(Parameter::Stop), "the text before which an answer ends"),
        attr("tool_choice", Values::Sampling(Parameter::ToolChoice), "`auto`, `none`, `required`, or the tool that it has to call"),
        attr("max_output_tokens", Values::Sampling(Parameter::MaxOutputTokens), "tokens that an answer may have"),
    ], &[], "how the model is asked to answer"),
    row(K::History, "history", Empty, &[
        attr("turns", Values::Count, "how many of the last turns at most; a turn begins where the user speaks"),
        attr("max_tokens", Values::Count, "how many tokens of it at most; beyond them its oldest messages go, down to seven tenths").also(&["tokens"]),
        attr("compacted", Values::Bool, "whether results of tools before the last turn are left out; `false` when absent")
            .says(&["what a tool gave back before the last turn is left out, the call stays", "results of tools are there as they came"]),
    ], &[], "the conversation so far, which a run hands in"),
    row(K::Examples, "examples", Elements, &[
        attr("as", Values::OneOf(&["text", "turns"]), "how they are shown; `text` when absent")
            .says(&["one below the other, in one text", "as messages: what comes in is the user's, what a good answer looks like the agent's"]),
    ], &[many(K::Example)], "examples of input and output"),
    row(K::Example, "example", Elements, &[], &[one(K::ExampleInput), one(K::ExampleOutput)], "one example, never cut in the middle"),
    text(K::ExampleInput, "input", "what came in"),
    text(K::ExampleOutput, "output", "what a good answer looks like"),
    old(K::OutputSlot, "output_slot", "where the result went in an older dialect", "the step's `as` attribute"),
    old(K::InputSource, "input_source", "where an input came from in an older dialect", "`from` on the input"),
    old(K::ManualXml, "manual_xml", "asked an older program not to generate XML", "nothing: it has no effect"),
    old(K::DisableReparsing, "disable_reparsing", "asked an older program not to read again", "nothing: it has no effect"),
    old(K::ExpectedOutput, "expected_output", "described the result in an older dialect", "`criteria` or `output_format`"),
    old(K::ContinuationPolicy, "continuation_policy", "said in an older dialect when to go on", "nothing: a continuation is a result"),
    old(K::ValidationRules, "validation_rules", "described checks of the result in an older dialect", "`criteria` or `output_format`"),
];

impl Kind {
    /// The table row of this kind.
    #[allow(
        clippy::indexing_slicing,
        reason = "the table is not empty, known when this is compiled"
    )]
    pub fn spec(self) -> &'static Spec {
        // The table has a row for each kind, in the same order; a test checks this.
        SPECS.get(self as usize).unwrap_or(const { &SPECS[0] })
    }

    /// Its tag.
    pub fn tag(self) -> &'static str {
        self.spec().tag
    }

    /// True if this is a text element.
    pub fn is_text(self) -> bool {
        matches!(self.spec().content, Content::Text | Content::TextOrElements)
    }

    /// The child with the given tag.
    pub fn child(self, tag: &str) -> Option<&'static Child> {
        self.spec()
            .children
            .iter()
            .find(|child| child.kind.tag() == tag)
    }

    /// The attribute with the given name, including those of text elements.
    pub fn attribute(self, name: &str) -> Option<&'static Attr> {
        self.attributes().find(|attribute| attribute.name == name)
    }

    /// The attributes, including those of text elements.
    pub fn attributes(self) -> impl Iterator<Item = &'static Attr> {
        let shared = if self.is_text() { TEXT_ATTRIBUTES } else { &[] };
        self.spec().attributes.iter().chain(shared)
    }

    /// The kinds that can contain a tag, in the order of the table.
    pub fn homes(tag: &str) -> impl Iterator<Item = Kind> {
        SPECS
            .iter()
            .filter(move |spec| spec.children.iter().any(|child| child.kind.tag() == tag))
            .map(|spec| spec.kind)
    }
}

/// All rows of the table.
pub fn all() -> &'static [Spec] {
    SPECS
}
