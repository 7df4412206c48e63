//! Edits keep the text around them; written text is read back.

use ctxc::internals::base::fix::{self, Edit};
use ctxc::internals::syntax::tree::Element;
use ctxc::internals::syntax::{XmlLimits, XmlReader, write};
use pretty_assertions::assert_eq;

/// Applies an edit of the first element called `name`.
fn edited(text: &str, name: &str, edit: impl Fn(Element<'_>) -> Vec<Edit>) -> String {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let element = reader
        .document(text)
        .elements()
        .find(|element| element.name() == name)
        .expect("the element is there");
    let mut edits = edit(element);
    edits.sort();
    fix::apply_edits(text, &edits).expect("the edits apply")
}

#[test]
fn a_child_goes_behind_its_siblings() {
    let add = |element: Element<'_>| vec![write::insert_child(element, "<c>\n  <d/>\n</c>")];
    assert_eq!(
        edited("<a>\n  <b/>\n</a>\n", "a", add),
        "<a>\n  <b/>\n  <c>\n    <d/>\n  </c>\n</a>\n"
    );
    assert_eq!(
        edited("<a>\r\n\t<b/>\r\n</a>\r\n", "a", add),
        "<a>\r\n\t<b/>\r\n\t<c>\r\n\t  <d/>\r\n\t</c>\r\n</a>\r\n"
    );
    assert_eq!(
        edited("<a><b/></a>", "a", add),
        "<a><b/><c>\n  <d/>\n</c></a>"
    );
}

#[test]
fn a_first_child_opens_its_parent_up() {
    let add = |element: Element<'_>| vec![write::insert_child(element, "<c/>")];
    assert_eq!(
        edited("<a>\n    <b/>\n</a>", "b", add),
        "<a>\n    <b>\n        <c/>\n    </b>\n</a>"
    );
    assert_eq!(edited("<a></a>", "a", add), "<a>\n  <c/>\n</a>");
    assert_eq!(edited("<a>text</a>", "a", add), "<a>text\n  <c/>\n</a>");
    assert_eq!(
        edited("<a>\n  text\n</a>", "a", add),
        "<a>\n  text\n  <c/>\n</a>"
    );
    assert_eq!(
        edited("<x><a b='1' /></x>", "a", add),
        "<x><a b='1'><c/></a></x>"
    );
}

#[test]
fn siblings_before_and_first_children() {
    let first = |element: Element<'_>| vec![write::insert_first_child(element, "<c/>")];
    assert_eq!(
        edited("<a>\n  <!-- x -->\n  <b/>\n</a>", "a", first),
        "<a>\n  <c/>\n  <!-- x -->\n  <b/>\n</a>"
    );
    let before = |element: Element<'_>| vec![write::insert_before(element, "<c/>")];
    assert_eq!(
        edited("<a>\n  <b/>\n</a>", "b", before),
        "<a>\n  <c/>\n  <b/>\n</a>"
    );
}

#[test]
fn an_element_goes_with_its_line() {
    let remove = |element: Element<'_>| vec![write::remove_element(element)];
    assert_eq!(
        edited("<a>\r\n  <b>\r\n  </b> \r\n  <c/>\r\n</a>", "b", remove),
        "<a>\r\n  <c/>\r\n</a>"
    );
    assert_eq!(
        edited("<a>\n  <b/><c/>\n</a>", "b", remove),
        "<a>\n  <c/>\n</a>"
    );
}

#[test]
fn names_and_attributes() {
    let rename = |element: Element<'_>| write::rename_element(element, "z");
    assert_eq!(
        edited("<a><b c='1'>x</b ></a>", "b", rename),
        "<a><z c='1'>x</z ></a>"
    );
    assert_eq!(edited("<a><b/></a>", "b", rename), "<a><z/></a>");
    let set = |element: Element<'_>| vec![write::set_attribute(element, "c", "x\"&'\n")];
    assert_eq!(
        edited("<a c='1'/>", "a", set),
        "<a c='x&quot;&amp;&apos;&#10;'/>"
    );
    assert_eq!(
        edited("<a b=\"1\" />", "a", set),
        "<a b=\"1\" c=\"x&quot;&amp;&apos;&#10;\" />"
    );
    assert_eq!(
        edited("<a/>", "a", set),
        "<a c=\"x&quot;&amp;&apos;&#10;\"/>"
    );
    let remove = |element: Element<'_>| write::remove_attribute(element, "c").into_iter().collect();
    assert_eq!(edited("<a b='1'\n   c='2'/>", "a", remove), "<a b='1'/>");
}

#[test]
fn a_written_template_is_read_back() {
    let mut writer = write::TemplateWriter::new();
    writer
        .comment("a -- b")
        .open("task", &[("name", "x<\"y\"")])
        .leaf("description", &[], "a & b < c ]]> d\r");
    writer.empty("input", &[("name", "n")]);
    let text = writer.finish();
    let expected = "<!-- a - - b -->\n<task name=\"x&lt;&quot;y&quot;\">\n  <description>a &amp; b &lt; c ]]&gt; d&#13;</description>\n  \
                    <input name=\"n\"/>\n</task>\n";
    assert_eq!(text, expected);
    assert_eq!(super::reader::faults(&text), []);
    let mut reader = XmlReader::new();
    reader.read(&text, &XmlLimits::default());
    let root = reader.document(&text).root().expect("a root");
    assert_eq!(
        root.attribute("name")
            .map(|name| name.value().into_owned())
            .as_deref(),
        Some("x<\"y\"")
    );
    assert_eq!(
        root.elements()
            .next()
            .map(|leaf| leaf.text().into_owned())
            .as_deref(),
        Some("a & b < c ]]> d\r")
    );
}
