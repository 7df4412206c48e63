//! Words that stand in JSON Schemas.

/// What editors and generators write beside the keywords, for people or for programs that make code.
pub(super) const BESIDE: &[&str] = &[
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "deprecationMessage",
    "errorMessage",
    "defaultSnippets",
    "example",
    "discriminator",
    "externalDocs",
    "propertyOrder",
    "tsType",
];

/// Words of `type`.
pub(super) const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];

/// Words of `format` that the drafts have. A program may have others.
pub(super) const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];
