//! The rows of the element table, in the order of [`ElementKind`], and lookups in it.

use super::elements::ElementContent::{Elements, Empty, Opaque, Text, TextOrElements, Word};
use super::elements::{
    Attr, AttrValues, ChildSpec, ElementContent, ElementKind, ElementKind as K, ElementSpec,
    OwnerType, TEXT_ATTRIBUTES, TRUST_MEANINGS,
};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::{EFFORT_WORDS, Parameter};

const fn single_child(kind: K) -> ChildSpec {
    ChildSpec {
        kind,
        is_repeatable: false,
        owner: OwnerType::Any,
    }
}

const fn repeated_child(kind: K) -> ChildSpec {
    ChildSpec {
        kind,
        is_repeatable: true,
        owner: OwnerType::Any,
    }
}

const fn typed_child(kind: K, operator: &'static str) -> ChildSpec {
    ChildSpec {
        kind,
        is_repeatable: false,
        owner: OwnerType::Type(operator),
    }
}

const fn optional_attr(name: &'static str, values: AttrValues, doc: &'static str) -> Attr {
    Attr {
        name,
        values,
        required: false,
        doc,
        aliases: &[],
        meanings: &[],
    }
}

const fn required_attr(name: &'static str, values: AttrValues, doc: &'static str) -> Attr {
    Attr {
        name,
        values,
        required: true,
        doc,
        aliases: &[],
        meanings: &[],
    }
}

const fn element_spec(
    kind: K,
    tag: &'static str,
    content: ElementContent,
    attributes: &'static [Attr],
    children: &'static [ChildSpec],
    doc: &'static str,
) -> ElementSpec {
    ElementSpec {
        kind,
        tag,
        doc,
        content,
        attributes,
        children,
        deprecated: None,
    }
}

const fn text_element(kind: K, tag: &'static str, doc: &'static str) -> ElementSpec {
    element_spec(kind, tag, Text, &[], USES, doc)
}

const fn deprecated_element(
    kind: K,
    tag: &'static str,
    doc: &'static str,
    instead: &'static str,
) -> ElementSpec {
    ElementSpec {
        kind,
        tag,
        doc,
        content: Opaque,
        attributes: &[],
        children: &[],
        deprecated: Some(instead),
    }
}

const USES: &[ChildSpec] = &[repeated_child(K::Use)];
const RESULT_NAME: Attr = optional_attr(
    "as",
    AttrValues::Name,
    "the name under which later steps see the result",
)
.with_aliases(&["result", "name"]);
const FROM_DOC: &str = "the variable that it takes its value from";
const VALUE_TRUST: Attr = optional_attr(
    "trust",
    AttrValues::OneOf(&["trusted", "untrusted"]),
    "`untrusted` values are fenced when rendered",
)
.with_meanings(TRUST_MEANINGS);
const RESULT_TRUST: Attr = optional_attr(
    "trust",
    AttrValues::OneOf(&["trusted", "untrusted"]),
    "the trust of its result: only a trusted one may give orders",
)
.with_meanings(&[
    "the result was checked, whatever it is made of",
    "from outside, as the output of a command may be",
]);
const SEQUENTIAL: &str = "sequential";
const REDUCE: &str = "reduce";
const SCRIPT: &str = "script";
const DIRECTOR_EVALUATOR_LOOP: &str = "director_evaluator_loop";
/// The types of a declared value.
pub(super) const VALUE_TYPES: &[&str] = &[
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
    "one XML element for each segment",
    "titles and blank lines",
    "headings, and `---` between segments",
    "the author's text alone",
];

/// The children of a task and of a task body in place.
const BODY_CHILDREN: &[ChildSpec] = &[
    single_child(K::Description),
    single_child(K::Instructions),
    single_child(K::System),
    single_child(K::Criteria),
    single_child(K::Constraints),
    single_child(K::Provider),
    single_child(K::Model),
    single_child(K::Parameters),
    single_child(K::Inputs),
    single_child(K::ContextManagement),
    single_child(K::ContextRelevance),
    single_child(K::FilePaths),
    single_child(K::OutputFormat),
    single_child(K::Sampling),
    single_child(K::History),
    single_child(K::Examples),
    typed_child(K::Steps, SEQUENTIAL),
    typed_child(K::InitialValue, REDUCE),
    typed_child(K::InnerTask, REDUCE),
    typed_child(K::ReductionTask, REDUCE),
    typed_child(K::Command, SCRIPT),
    typed_child(K::Timeout, SCRIPT),
    typed_child(K::Env, SCRIPT),
    typed_child(K::Cwd, SCRIPT),
    typed_child(K::Director, DIRECTOR_EVALUATOR_LOOP),
    typed_child(K::Evaluator, DIRECTOR_EVALUATOR_LOOP),
    typed_child(K::ScriptExecution, DIRECTOR_EVALUATOR_LOOP),
    typed_child(K::MaxIterations, DIRECTOR_EVALUATOR_LOOP),
    typed_child(K::TerminationCondition, DIRECTOR_EVALUATOR_LOOP),
    single_child(K::OutputSlot),
    single_child(K::InputSource),
    single_child(K::ManualXml),
    single_child(K::DisableReparsing),
    single_child(K::ExpectedOutput),
    single_child(K::ContinuationPolicy),
    single_child(K::ValidationRules),
    // A body in place that is wrapped in a task of its own is accepted with a fix.
    ChildSpec {
        kind: K::Task,
        is_repeatable: false,
        owner: OwnerType::Type(""),
    },
];

#[rustfmt::skip]
pub(super) static SPECS: &[ElementSpec] = &[
    element_spec(K::Task, "task", Elements, &[
        optional_attr("type", AttrValues::Name, "the kind of task; `atomic` when absent"),
        optional_attr("subtype", AttrValues::Name, "a refinement of the type, with defaults of its own"),
        optional_attr("name", AttrValues::Name, "the name in the registry; the file's stem when absent").with_aliases(&["id"]),
        optional_attr("version", AttrValues::Name, "the author's version of the task"),
        optional_attr("ref", AttrValues::Name, "use a registered task in this place").with_aliases(&["use", "task", "template"]),
        optional_attr("profile", AttrValues::OneOf(&Profile::WORDS), "the format of its segments; when absent, that of the task around it, its role or the run").with_meanings(PROFILE_MEANINGS),
        RESULT_NAME,
        RESULT_TRUST,
    ], BODY_CHILDREN, "a task: the work of an agent, and the context it receives"),
    element_spec(K::Template, "template", Elements, &[
        required_attr("name", AttrValues::Name, "the name that calls use").with_aliases(&["id"]),
        optional_attr("params", AttrValues::Any, "its parameters, separated by spaces or commas").with_aliases(&["parameters", "args"]),
        optional_attr("returns", AttrValues::Name, "the type of its result"),
    ], &[single_child(K::Description), single_child(K::Task)], "a function over tasks, which sees only its parameters"),
    element_spec(K::Library, "library", Elements, &[optional_attr("name", AttrValues::Name, "a name for people")],
        &[single_child(K::Description), repeated_child(K::Task), repeated_child(K::Template), repeated_child(K::Fragment)], "many tasks, templates and fragments in one file"),
    element_spec(K::Fragment, "fragment", Text, &[required_attr("name", AttrValues::Name, "the name that `use` refers to").with_aliases(&["id"])], USES, "a shared text"),
    element_spec(K::Use, "use", Empty, &[required_attr("fragment", AttrValues::Name, "the fragment whose text is inserted here").with_aliases(&["name", "ref", "id"])], &[], "puts a shared text in its place"),
    element_spec(K::Call, "call", Elements, &[required_attr("template", AttrValues::Name, "the template that is called").with_aliases(&["name", "function", "ref", "task"]), RESULT_NAME, RESULT_TRUST], &[repeated_child(K::CallArg)], "calls a function template"),
    element_spec(K::CallArg, "arg", TextOrElements, &[
        optional_attr("name", AttrValues::Name, "the parameter; by position when absent").with_aliases(&["param", "parameter"]),
        optional_attr("from", AttrValues::Name, FROM_DOC),
    ], &[repeated_child(K::Use), single_child(K::Task), single_child(K::Call)], "an argument of a call"),
    element_spec(K::Cond, "cond", Elements, &[RESULT_NAME], &[repeated_child(K::Case)], "runs the first case whose test holds"),
    element_spec(K::Case, "case", Elements, &[required_attr("test", AttrValues::Name, "the condition").with_aliases(&["when", "if", "condition"])], &[single_child(K::Task), single_child(K::Call)], "a task under a condition"),
    text_element(K::Description, "description", "the purpose of the task; context is looked up by it"),
    text_element(K::Instructions, "instructions", "the work of the agent"),
    text_element(K::System, "system", "the identity of the agent, and the rules that always hold"),
    text_element(K::Criteria, "criteria", "the criteria of a good result"),
    element_spec(K::Constraints, "constraints", Elements, &[], &[repeated_child(K::Constraint)], "the constraints that must not be violated"),
    text_element(K::Constraint, "constraint", "one constraint that must not be violated"),
    element_spec(K::Provider, "provider", Word, &[], &[], "the provider's name, opaque to the compiler"),
    element_spec(K::Model, "model", TextOrElements, &[], &[single_child(K::Preferred), single_child(K::Fallback)], "the model's name, or a preferred one with a fallback"),
    element_spec(K::Preferred, "preferred", Word, &[], &[], "the model that is tried first"),
    element_spec(K::Fallback, "fallback", Word, &[], &[], "the model that is tried next"),
    element_spec(K::Parameters, "parameters", Elements, &[], &[repeated_child(K::Parameter)], "the variables that a task takes"),
    element_spec(K::Parameter, "parameter", Empty, &[
        required_attr("name", AttrValues::Name, "the variable's name").with_aliases(&["id", "key"]),
        optional_attr("type", AttrValues::OneOf(VALUE_TYPES), "the type of its value").with_meanings(TYPE_MEANINGS),
        optional_attr("required", AttrValues::Bool, "makes a value mandatory in a run; `true` without a default")
            .with_meanings(&["a run must give it a value", "a run may omit the value: its `default` is used then"]),
        optional_attr("default", AttrValues::Any, "the value when a run gives none").with_aliases(&["value"]),
        VALUE_TRUST,
    ], &[], "a variable that a task takes"),
    element_spec(K::Inputs, "inputs", Elements, &[], &[repeated_child(K::Input)], "named values for the agent"),
    element_spec(K::Input, "input", TextOrElements, &[
        required_attr("name", AttrValues::Name, "its name").with_aliases(&["id"]),
        optional_attr("from", AttrValues::Name, FROM_DOC).with_aliases(&["ref", "source"]),
        optional_attr("max_tokens", AttrValues::Count, "the maximum number of tokens; the end of a longer value is left out"),
    ], &[repeated_child(K::Use), single_child(K::Task), single_child(K::Call)], "a named value: from a variable, a text, or the result of a task"),
    element_spec(K::ContextManagement, "context_management", Elements, &[], &[
        single_child(K::InheritContext), single_child(K::AccumulateData), single_child(K::AccumulationFormat), single_child(K::FreshContext),
    ], "the context that the task receives"),
    element_spec(K::InheritContext, "inherit_context", Word, &[
        optional_attr("max_tokens", AttrValues::Count, "the maximum number of tokens of each part"),
    ], &[], "the part of its parent's context that the task sees"),
    element_spec(K::AccumulateData, "accumulate_data", Word, &[], &[], "carries results of earlier steps along"),
    element_spec(K::AccumulationFormat, "accumulation_format", Word, &[], &[], "the form in which results of earlier steps are carried"),
    element_spec(K::FreshContext, "fresh_context", Word, &[
        optional_attr("max_tokens", AttrValues::Count, "the maximum number of tokens of each passage"),
    ], &[], "enables the lookup of context"),
    element_spec(K::ContextRelevance, "context_relevance", Elements, &[], &[repeated_child(K::RelevanceInput)], "the inputs by which context is looked up"),
    element_spec(K::RelevanceInput, "input", Empty, &[
        required_attr("name", AttrValues::Name, "the input"),
        optional_attr("include", AttrValues::Bool, "includes the input in the lookup; `true` when absent")
            .with_meanings(&["context is looked up by this input", "context is not looked up by this input"]),
    ], &[], "an input that is included in the lookup of context, or excluded from it"),
    element_spec(K::FilePaths, "file_paths", Elements, &[
        optional_attr("source", AttrValues::OneOf(&["literal", "command", "description"]), "the source of the list; `literal` when absent")
            .with_meanings(&["the `path` elements are the list", "a `command` lists the files when the task runs", "a `description` describes the files in words, and matching finds them"]),
        optional_attr("max_tokens", AttrValues::Count, "the maximum number of tokens of each file"),
    ], &[repeated_child(K::Path), single_child(K::FilesCommand), single_child(K::FilesDescription)], "files that are always included"),
    element_spec(K::Path, "path", Word, &[], &[], "a file, relative to the project"),
    element_spec(K::FilesCommand, "command", Word, &[], &[], "a command that lists files"),
    element_spec(K::FilesDescription, "description", Text, &[], USES, "a description of files, in words"),
    element_spec(K::OutputFormat, "output_format", Empty, &[
        optional_attr("type", AttrValues::OneOf(&["json", "text"]), "the form of the result")
            .with_meanings(&["JSON, which can be checked by a `schema`", "text, in whatever form the agent writes it"]),
        optional_attr("schema", AttrValues::Name, "`object`, `array`, `string[]`, `number`, `boolean`, or a JSON Schema file"),
    ], &[], "the form that the result must have"),
    element_spec(K::Steps, "steps", Elements, &[], &[repeated_child(K::Task), repeated_child(K::Call), repeated_child(K::Cond)], "the steps, one after the other"),
    element_spec(K::InitialValue, "initial_value", Text, &[optional_attr("from", AttrValues::Name, FROM_DOC)], USES, "the value that the reduction starts with"),
    element_spec(K::InnerTask, "inner_task", Elements, &[], BODY_CHILDREN, "the task for each input"),
    element_spec(K::ReductionTask, "reduction_task", Elements, &[], BODY_CHILDREN, "the task that merges each result into the accumulated value"),
    element_spec(K::Command, "command", TextOrElements, &[optional_attr("shell", AttrValues::OneOf(&["sh"]), "run by this shell; without it, split into arguments")
        .with_meanings(&["run by `sh`: pipes, globs and variables work, and values have to be quoted"])], &[repeated_child(K::CommandArg)], "the command that a script task runs"),
    element_spec(K::CommandArg, "arg", Text, &[], USES, "one argument, passed literally"),
    element_spec(K::Timeout, "timeout", Word, &[optional_attr("unit", AttrValues::OneOf(&["s", "ms"]), "`s` when absent").with_meanings(&["seconds", "milliseconds"])], &[], "the time limit of the command"),
    element_spec(K::Env, "env", Elements, &[optional_attr("inherit", AttrValues::OneOf(&["none", "all"]), "the part of ctxc's own environment that it sees; `none` when absent")
        .with_meanings(&["only the variables that are written here", "all of ctxc's own environment, with the variables that are written here on top"])], &[repeated_child(K::Var)], "its environment"),
    element_spec(K::Var, "var", Text, &[required_attr("name", AttrValues::Name, "the variable's name").with_aliases(&["id", "key"])], &[], "an environment variable"),
    element_spec(K::Cwd, "cwd", Word, &[], &[], "the folder it runs in, relative to the project"),
    element_spec(K::Director, "director", Elements, &[], BODY_CHILDREN, "the task that proposes"),
    element_spec(K::Evaluator, "evaluator", Elements, &[], BODY_CHILDREN, "the task that judges"),
    element_spec(K::ScriptExecution, "script_execution", Elements, &[], BODY_CHILDREN, "a command that runs between the two"),
    element_spec(K::MaxIterations, "max_iterations", Word, &[], &[], "the maximum number of rounds; 5 when absent"),
    element_spec(K::TerminationCondition, "termination_condition", Elements, &[], &[single_child(K::Condition)], "the condition that ends the loop early"),
    element_spec(K::Condition, "condition", Word, &[], &[], "the condition"),
    element_spec(K::Sampling, "sampling", Empty, &[
        optional_attr("temperature", AttrValues::Sampling(Parameter::Temperature), "the randomness of the choice between words: 0 to 2"),
        optional_attr("top_p", AttrValues::Sampling(Parameter::TopP), "the share of the likeliest words that is considered: 0 to 1"),
        optional_attr("seed", AttrValues::Sampling(Parameter::Seed), "the seed of the random choice, so that an answer can be repeated"),
        optional_attr("effort", AttrValues::OneOf(&EFFORT_WORDS), "the amount of reasoning before the answer")
            .with_meanings(&["brief reasoning, or none", "the usual amount of reasoning", "long reasoning"]),
        optional_attr("stop", AttrValues::Sampling(Parameter::Stop), "the text before which an answer ends"),
        optional_attr("tool_choice", AttrValues::Sampling(Parameter::ToolChoice), "`auto`, `none`, `required`, or the tool that it has to call"),
        optional_attr("max_output_tokens", AttrValues::Sampling(Parameter::MaxOutputTokens), "the maximum number of tokens of an answer"),
    ], &[], "the sampling parameters of the model"),
    element_spec(K::History, "history", Empty, &[
        optional_attr("turns", AttrValues::Count, "the maximum number of last turns; a turn begins with a message of the user"),
        optional_attr("max_tokens", AttrValues::Count, "the maximum number of tokens; a longer history loses its oldest messages, down to seven tenths").with_aliases(&["tokens"]),
        optional_attr("compacted", AttrValues::Bool, "leaves out results of tools before the last turn; `false` when absent")
            .with_meanings(&["results of tools before the last turn are left out, their calls stay", "results of tools stay complete"]),
    ], &[], "the conversation so far, which a run provides"),
    element_spec(K::Examples, "examples", Elements, &[
        optional_attr("as", AttrValues::OneOf(&["text", "turns"]), "the form in which they are shown; `text` when absent")
            .with_meanings(&["one below the other, in one text", "as messages: the input from the user, the good answer from the agent"]),
    ], &[repeated_child(K::Example)], "examples of input and output"),
    element_spec(K::Example, "example", Elements, &[], &[single_child(K::ExampleInput), single_child(K::ExampleOutput)], "one example, never cut in the middle"),
    text_element(K::ExampleInput, "input", "the input"),
    text_element(K::ExampleOutput, "output", "a good answer"),
    deprecated_element(K::OutputSlot, "output_slot", "the target of the result in an older dialect", "the step's `as` attribute"),
    deprecated_element(K::InputSource, "input_source", "the source of an input in an older dialect", "`from` on the input"),
    deprecated_element(K::ManualXml, "manual_xml", "a request to an older program not to generate XML", "nothing: it has no effect"),
    deprecated_element(K::DisableReparsing, "disable_reparsing", "a request to an older program not to read again", "nothing: it has no effect"),
    deprecated_element(K::ExpectedOutput, "expected_output", "a description of the result in an older dialect", "`criteria` or `output_format`"),
    deprecated_element(K::ContinuationPolicy, "continuation_policy", "the condition to continue in an older dialect", "nothing: a continuation is a result"),
    deprecated_element(K::ValidationRules, "validation_rules", "a description of checks of the result in an older dialect", "`criteria` or `output_format`"),
];

impl ElementKind {
    /// The table row of this kind.
    #[allow(
        clippy::indexing_slicing,
        reason = "the table is not empty, known when this is compiled"
    )]
    pub fn spec(self) -> &'static ElementSpec {
        // The table has a row for each kind, in the same order; a test checks this.
        SPECS.get(self as usize).unwrap_or(const { &SPECS[0] })
    }

    /// Its tag.
    pub fn tag(self) -> &'static str {
        self.spec().tag
    }

    /// True if this is a text element.
    pub fn is_text(self) -> bool {
        matches!(
            self.spec().content,
            ElementContent::Text | ElementContent::TextOrElements
        )
    }

    /// The child with the given tag.
    pub fn child(self, tag: &str) -> Option<&'static ChildSpec> {
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
    pub fn parents_of_tag(tag: &str) -> impl Iterator<Item = ElementKind> {
        SPECS
            .iter()
            .filter(move |spec| spec.children.iter().any(|child| child.kind.tag() == tag))
            .map(|spec| spec.kind)
    }
}

/// All rows of the table.
pub fn table_rows() -> &'static [ElementSpec] {
    SPECS
}
