//! The appearance of a formatted template.

use ctxc::internals::format::{FormatError, FormatOptions, Indent, format};
use ctxc::internals::syntax::XmlLimits;
use pretty_assertions::assert_eq;

fn laid_out(text: &str) -> String {
    format_with(text, FormatOptions::default())
}

fn format_with(text: &str, options: FormatOptions) -> String {
    let once = format(text, &XmlLimits::default(), options).unwrap();
    assert_eq!(
        format(&once, &XmlLimits::default(), options).unwrap(),
        once,
        "not stable"
    );
    once
}

#[test]
fn each_element_stands_on_a_line() {
    let flat = "<?xml version='1.0'?><!-- what it shows --><task type='atomic'   name = 'say \"hi\"' ><description>d</description>\
        <parameters><parameter name='a'></parameter><parameter name='b'> </parameter></parameters><model>\n  small\n</model></task>";
    insta::assert_snapshot!(laid_out(flat), @r#"
    <?xml version='1.0'?>
    <!-- what it shows -->
    <task type="atomic" name='say "hi"'>
      <description>d</description>
      <parameters>
        <parameter name="a"/>
        <parameter name="b"/>
      </parameters>
      <model>small</model>
    </task>
    "#);
}

#[test]
fn one_empty_line_stays_where_there_were_some() {
    let text = "\n\n<!-- a -->\n\n\n\n<library>\n\n\n  <fragment name=\"a\">x</fragment>\n\n\n\n  <!-- b -->\n  <fragment name=\"b\">y</fragment> <!-- trailing -->\n\n</library>\n\n\n<!-- c --> <!-- d -->";
    insta::assert_snapshot!(laid_out(text), @r#"
    <!-- a -->

    <library>
      <fragment name="a">x</fragment>

      <!-- b -->
      <fragment name="b">y</fragment> <!-- trailing -->
    </library>

    <!-- c --> <!-- d -->
    "#);
}

#[test]
fn settings_take_the_order_of_the_table_and_their_comments_along() {
    let text = "<task name=\"t\" type=\"sequential\"><description>d</description><context_management>\n  <!-- nothing is looked up -->\n  \
        <fresh_context>disabled</fresh_context><!-- really -->\n\n  <accumulate_data> true </accumulate_data>\n  <!-- all of it -->\n  \
        <inherit_context>full</inherit_context>\n  <!-- the end -->\n</context_management></task>";
    insta::assert_snapshot!(laid_out(text), @r#"
    <task name="t" type="sequential">
      <description>d</description>
      <context_management>
        <!-- all of it -->
        <inherit_context>full</inherit_context>

        <accumulate_data>true</accumulate_data>
        <!-- nothing is looked up -->
        <fresh_context>disabled</fresh_context> <!-- really -->
        <!-- the end -->
      </context_management>
    </task>
    "#);
    // A duplicate, or an element that is no setting, keeps the order.
    for odd in [
        "<fresh_context>enabled</fresh_context>",
        "<other/>",
        "<?ctxc allow no-context?>",
    ] {
        let text = format!(
            "<task>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n    <inherit_context>none</inherit_context>\n    {odd}\n  </context_management>\n</task>\n"
        );
        assert_eq!(laid_out(&text), text);
    }
}

#[test]
fn long_tags_are_wrapped_and_short_ones_joined() {
    let text = "<task>\n  <parameters>\n    <parameter\n      name=\"a\"\n      type=\"string\"/>\n    <parameter name=\"severity\" type=\"string\" default=\"the graver one of the two, when two levels fit the ticket\"/>\n  </parameters>\n</task>\n";
    insta::assert_snapshot!(format_with(text, FormatOptions { width: 60, ..FormatOptions::default() }), @r#"
    <task>
      <parameters>
        <parameter name="a" type="string"/>
        <parameter
            name="severity"
            type="string"
            default="the graver one of the two, when two levels fit the ticket"/>
      </parameters>
    </task>
    "#);
    let exact = "<task name=\"abcd\" version=\"1\">\n  <description>d</description>\n</task>\n";
    let first = exact.lines().next().unwrap().len() as u32;
    assert_eq!(
        format_with(
            exact,
            FormatOptions {
                width: first,
                ..FormatOptions::default()
            }
        ),
        exact
    );
    assert!(
        format_with(
            exact,
            FormatOptions {
                width: first - 1,
                ..FormatOptions::default()
            }
        )
        .contains("\n    version=\"1\">\n")
    );
    // One attribute gains nothing by a line of its own; columns are characters, not bytes.
    let one = "<library name=\"ééééééééééééééééééééééééé\">\n  <fragment name=\"é\">x</fragment>\n</library>\n";
    assert_eq!(
        format_with(
            one,
            FormatOptions {
                width: 20,
                ..FormatOptions::default()
            }
        ),
        one
    );
}

#[test]
fn texts_move_with_their_element_and_keep_their_shape() {
    let text = "<task>\n      <instructions>\n\n          First:   \n            - a <!-- note -->\n\n          <use fragment=\"x\"/>\n          <!-- alone -->\n            last\n\n      </instructions>\n  <description>one line</description>\n  <system>begins here\n      and goes on</system>\n</task>";
    insta::assert_snapshot!(laid_out(text).replace(' ', "·"), @r#"
    <task>
    ··<instructions>
    ····First:···
    ······-·a·<!--·note·-->

    ····<use·fragment="x"/>
    ····<!--·alone·-->
    ······last
    ··</instructions>
    ··<description>one·line</description>
    ··<system>begins·here
    ······and·goes·on</system>
    </task>
    "#);
}

#[test]
fn what_could_mean_something_is_left_as_it_is() {
    for kept in [
        // White space that is content, or may be.
        "<description xml:space=\"preserve\">\n a\n   b </description>",
        "<description>\n&#32; a\n   b\n  </description>",
        "<description><![CDATA[\n a\n  b ]]></description>",
        "<description> a </description>",
        // Kept in the registry as it is written.
        "<validation_rules>\n <a   b='c'/>\n</validation_rules>",
        "<x:note xmlns:x='urn:x'  a = 'b'>\n <x:i/></x:note>",
        // Their meaning is unknown.
        "<unknown   a='b'>\n x </unknown>",
        "<steps>stray <task/></steps>",
        "<output_format>\n a\n  b </output_format>",
        "<description>a <b>c</b>\n     d</description>",
    ] {
        let text = format!("<task>\n  {kept}\n</task>\n");
        assert_eq!(laid_out(&text), text);
    }
}

#[test]
fn the_formatter_can_be_turned_off() {
    let text = "<task   name='t'>\n  <?ctxc fmt off?>\n  <parameters>\n    <parameter name='a'       type='string'/>\n    <parameter name='count'   type='number'/>\n  </parameters>\n  <?ctxc fmt on?>\n  <inputs><input name='a'   from='a'/></inputs>\n</task>";
    insta::assert_snapshot!(laid_out(text), @r#"
    <task name="t">
      <?ctxc fmt off?>
      <parameters>
        <parameter name='a'       type='string'/>
        <parameter name='count'   type='number'/>
      </parameters>
      <?ctxc fmt on?>
      <inputs>
        <input name="a" from="a"/>
      </inputs>
    </task>
    "#);
    // Without `on`, to the end of the element; before the root, to the end of the file.
    let open = "<library>\n  <fragment name=\"a\">x</fragment>\n  <?ctxc   fmt  off ?>\n      <fragment   name='b'>y</fragment>\n</library>\n";
    assert_eq!(laid_out(open), open);
    let all = "<?ctxc fmt off?>\n<task   name='t'>\n<description>d</description></task>\n";
    assert_eq!(laid_out(all), all);
    let text =
        "<task>\n  <description>\n    <?ctxc fmt off?>\n  a\n      b</description>\n</task>\n";
    assert_eq!(laid_out(text), text);
}

#[test]
fn indentation_and_line_ends_are_those_asked_for() {
    let text = "<task>\r\n<description>\r\n  a\r\n    b\r\n</description></task>";
    assert_eq!(
        laid_out(text),
        "<task>\r\n  <description>\r\n    a\r\n      b\r\n  </description>\r\n</task>\r\n"
    );
    // In a text with mixed line ends the last one decides.
    let mixed = "\n<task>\r\n<model>a</model></task>";
    assert_eq!(
        laid_out(mixed),
        "<task>\r\n  <model>a</model>\r\n</task>\r\n"
    );
    assert_eq!(
        laid_out(&format!("{mixed}\n")),
        "<task>\n  <model>a</model>\n</task>\n"
    );
    let options = |indent| FormatOptions {
        indent,
        ..FormatOptions::default()
    };
    assert_eq!(
        format_with(
            "<task><description>d</description></task>",
            options(Indent::Tab)
        ),
        "<task>\n\t<description>d</description>\n</task>\n"
    );
    assert_eq!(
        format_with(
            "<task>\n\t<system>\n\t\ta\n\t\t\tb\n\t</system>\n</task>",
            options(Indent::Spaces(4))
        ),
        "<task>\n    <system>\n        a\n        \tb\n    </system>\n</task>\n"
    );
}

#[test]
fn broken_and_foreign_files_are_refused() {
    let refused = |text| format(text, &XmlLimits::default(), FormatOptions::default()).unwrap_err();
    assert!(
        matches!(refused("<task>\n  <description>a < b</description>\n</task>"), FormatError::Syntax(span) if span.start == 24)
    );
    assert!(matches!(refused(""), FormatError::Syntax(_)));
    assert_eq!(refused("<project><task/></project>"), FormatError::Foreign);
    assert_eq!(refused("<task xmlns=\"urn:x\"/>"), FormatError::Foreign);
}
