//! Tasks with values that the shipped ones lack, so that every word of a schema occurs in one.

/// A task with a file, a value and everything else that the shipped ones lack.
pub(super) const HELD: &str = "\
<task type=\"sequential\" name=\"held\">
  <description>Judge {{topic}}.</description>
  <sampling seed=\"1\"/>
  <steps>
    <task type=\"atomic\" as=\"read\">
      <description>Read it.</description>
      <inputs><input name=\"said\" from=\"topic\" max_tokens=\"90\"/></inputs>
      <file_paths source=\"literal\" max_tokens=\"900\"><path>templates/house-rules.xml</path></file_paths>
      <sampling temperature=\"0\" top_p=\"1\" seed=\"1\" effort=\"low\" stop=\"x\" tool_choice=\"auto\" max_output_tokens=\"9\"/>
      <history turns=\"6\" max_tokens=\"900\"/>
    </task>
    <task type=\"atomic\"><description>Weigh {{read}}.</description><examples as=\"turns\"><example><input>a</input><output>b</output></example></examples><sampling temperature=\"0\"/></task>
  </steps>
</task>
";

/// A task with texts of every origin: a parameter's default, a fragment, a schema, settings of its
/// own.
pub(super) const MOVED: &str = "\
<task type=\"atomic\" name=\"moved\">
  <description>Judge the {{thing}}.</description>
  <parameters><parameter name=\"thing\" default=\"the one\"/></parameters>
  <context_management>
    <inherit_context max_tokens=\"9\">none</inherit_context>
    <fresh_context max_tokens=\"9\">disabled</fresh_context>
  </context_management>
  <constraints><constraint>Be brief about the one.</constraint></constraints>
  <output_format type=\"json\" schema=\"moved.json\"/>
</task>
";
