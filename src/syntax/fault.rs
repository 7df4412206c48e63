//! The reader's faults, as data. Their texts are in the rules of family 0xx, nowhere else.

use crate::base::span::Span;

/// One structural fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlFault {
    /// The kind of fault.
    pub kind: XmlFaultKind,
    /// The faulty place.
    pub span: Span,
    /// A second place that explains it (the expected end, the first of two).
    pub other: Option<Span>,
}

/// The kinds of structural faults. Each documents its `span` and, if present, its `other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum XmlFaultKind {
    /// No root element; the end of the text.
    NoRoot,
    /// A second element (or CDATA section) beside the root; its start. `other`: the root's name.
    SecondRoot,
    /// Text outside the root element. `other`: the root's name, when the root came first.
    TextOutsideRoot,

    /// An element without an end tag; its name. `other`: the place where the end tag was expected.
    MissingEnd,
    /// An end tag that closes nothing; the tag. `other`: the name of the surrounding element, or
    /// the later end tag that closes the element that this one would end too early.
    StrayEnd,
    /// An end tag whose start tag is missing, but not the content between the two; the end tag.
    /// `other`: the start of that content.
    MissingStart,
    /// An element that is written `<a/>` and has an end tag of its own further on; its name.
    /// `other`: the end tag.
    ClosedTwice,
    /// An end tag with another name than its element; the name in the end tag. `other`: the name in
    /// the start tag.
    MismatchedEnd,
    /// An end tag that lost its slash, `<a>…<a>`; the second tag. `other`: the name in the start
    /// tag.
    EndWithoutSlash,
    /// An end tag that lost its bracket, `<a>…/a>`; the rest of it. `other`: the name in the start
    /// tag.
    EndWithoutBracket,
    /// A start tag that lost its bracket, `a>…</a>`; its name. `other`: the end tag.
    StartWithoutBracket,
    /// Something other than a name in an end tag; the tag.
    JunkInEnd,
    /// A start tag without `>`; its name. `other`: the place where `>` was expected.
    UnclosedStart,
    /// An end tag without `>`; its name. `other`: the place where `>` was expected.
    UnclosedEnd,
    /// Anything in a tag that is not an attribute.
    JunkInTag,

    /// No white space between two attributes (or a name and an attribute); the second. `other`: the
    /// first.
    MissingSpace,
    /// An attribute name followed by a quoted value without `=`; both.
    MissingEquals,
    /// An attribute without a value; its name.
    MissingValue,
    /// An attribute value without quotes; the value.
    UnquotedValue,
    /// An attribute value without its closing quote; the opening quote and the value. `other`: the
    /// place where the quote was expected.
    UnclosedValue,
    /// A `<` in an attribute value; that byte.
    LessInValue,
    /// An attribute that its element has already; its name. `other`: the first one's name.
    DuplicateAttribute,

    /// A `&` that begins no reference; that byte, and further ones directly after it.
    BareAmpersand,
    /// A reference without `;`; the existing part of it.
    UnclosedReference,
    /// A reference to an entity that is not among the five of XML; the reference.
    UnknownEntity,
    /// A character reference to a code point that XML does not allow; the reference.
    BadCharReference,
    /// A `<` in text; that byte.
    LessInText,
    /// `]]>` in text.
    CdataEndInText,
    /// Characters that XML does not allow; a run of them.
    IllegalCharacter,

    /// A comment without `-->`; its first four bytes. `other`: the place at which reading
    /// continued.
    UnclosedComment,
    /// `--` in a comment. `other`: the comment.
    DashesInComment,
    /// A CDATA section without `]]>`; its opening delimiter. `other`: the place at which reading
    /// continued.
    UnclosedCdata,
    /// A CDATA section with a misspelt opening delimiter; the delimiter.
    MisspeltCdata,
    /// An instruction without `?>`; its first bytes. `other`: the place at which reading continued.
    UnclosedInstruction,
    /// An instruction without a valid target or without its first `?`; the instruction.
    BadTarget,
    /// `<?xml …?>` (in any case) that does not stand at the very beginning; the instruction.
    MisplacedDeclaration,
    /// An XML declaration that breaks its grammar; the offending part. `other`: the declaration.
    BadDeclaration,
    /// An XML declaration that names an encoding other than UTF-8 and UTF-16; the name.
    UnsupportedEncoding,
    /// `<!` that begins no comment, CDATA section or document type; all of it.
    UnknownMarkup,
    /// A document type declaration; all of it. No unknown entity is then reported, and no other
    /// fault if the declaration has no end.
    Doctype,
    /// A merge conflict, from the first marker to the last; `other`: the middle marker. Without
    /// `other`: a first marker alone.
    MergeConflict,

    /// A prefix without a declaration; the name.
    UndeclaredPrefix,
    /// A use of `xml` or `xmlns`, or of their URIs, that is not allowed; the name.
    ReservedPrefix,
    /// `xmlns:p=""`; the name.
    EmptyPrefix,
    /// A name with more than one colon, or one at its end, or nothing valid after it; the name.
    BadColon,

    /// More bytes than a file may have; nothing was read.
    FileTooLong,
    /// Deeper nesting than allowed; the name of the first element that is too deep. Reading stopped
    /// there.
    TooDeep,
    /// More attributes than allowed; the name of the element. Reading stopped there.
    TooManyAttributes,
    /// More namespace bindings than allowed; the name of the attribute. Reading stopped there.
    TooManyNamespaces,
    /// A longer text or attribute value than allowed; its first byte. Reading stopped there.
    TextTooLong,
    /// A longer name than allowed; the name. Reading stopped there.
    NameTooLong,
    /// More nodes than allowed; the first one too many. Reading stopped there.
    TooManyNodes,
    /// As many faults as allowed; the place of the next one. Reading stopped there.
    TooManyFaults,
}
