//! The exact texts of messages and of their fixes.

use crate::project::reading::{check_template, read};
use ctxc::internals::base::fix;
use pretty_assertions::assert_eq;

/// Message of the first finding of a rule, and the text after its first fix.
fn fixed(text: &str, rule: &str) -> (String, String) {
    let found = check_template(text, &read(""));
    let finding = found
        .iter()
        .find(|finding| finding.rule.name == rule)
        .unwrap_or_else(|| panic!("no {rule} in {found:#?}"));
    let mended = finding.fixes.first().map_or_else(String::new, |first| {
        fix::apply_edits(text, &first.edits).expect("the edits fit")
    });
    (finding.message.clone(), mended)
}

#[test]
fn implicit_parameters_are_declared_all_at_once() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>{{b}} {{a.c}} {{b}}</description>\n</task>\n";
    let (message, mended) = fixed(text, "implicit-parameter");
    assert_eq!(
        message,
        "takes variables that it does not declare: `b` and `a`"
    );
    assert_eq!(
        mended,
        "<task type=\"atomic\" name=\"t\">\n  <description>{{b}} {{a.c}} {{b}}</description>\n  <parameters>\n    <parameter name=\"b\" required=\"true\"/>\n    <parameter name=\"a\" required=\"true\"/>\n  </parameters>\n</task>\n"
    );
    assert!(check_template(&mended, &read("")).is_empty());
}

#[test]
fn an_undeclared_variable_of_a_function_is_corrected() {
    let text = "<template name=\"f\" params=\"text\">\n  <task type=\"atomic\"><description>{{texts}} {{text}}</description></task>\n</template>\n";
    let found = check_template(text, &read(""));
    let finding = found
        .iter()
        .find(|finding| finding.rule.name == "undeclared-variable")
        .expect("it is found");
    let mended: Vec<String> = finding
        .fixes
        .iter()
        .map(|one| fix::apply_edits(text, &one.edits).expect("the edits fit"))
        .collect();
    assert_eq!(mended, [text.replace("{{texts}}", "{{text}}")]);
}

#[test]
fn a_function_that_is_not_called_is_a_variable() {
    let task = |text: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\">\n  <description syntax=\"jinja\">{text}</description>\n  \
             <parameters><parameter name=\"range\"/></parameters>\n</task>\n"
        )
    };
    for text in [
        "{{ range }}",
        "{% for x in range %}{{ x }}{% endfor %}",
        "{{ range(3) }}",
    ] {
        assert_eq!(check_template(&task(text), &read("")).len(), 0, "{text}");
    }
    let text = task("{{ range }}{{ dict(a=1) }} {{ dict }}");
    let found: Vec<_> = check_template(&text, &read(""))
        .into_iter()
        .map(|one| (one.rule.name, one.span.start))
        .collect();
    assert_eq!(
        found,
        [("undeclared-variable", text.rfind("dict").unwrap() as u32)]
    );
}

#[test]
fn braces_in_from_go() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <inputs><input name=\"a\" from=\"{{ b.c }}\"/></inputs>\n</task>\n";
    let (message, mended) = fixed(text, "bad-from");
    assert_eq!(message, "`{{ b.c }}` is not the name of a variable");
    assert_eq!(mended, text.replace("{{ b.c }}", "b.c"));
}

#[test]
fn a_typo_in_a_variable_is_not_reported_at_its_parameter_too() {
    let text = "<task type=\"atomic\" name=\"t\">\n  <description>sort {{tiket}}</description>\n  <parameters>\n    <parameter name=\"ticket\"/>\n    <parameter name=\"tone\"/>\n  </parameters>\n</task>\n";
    let found: Vec<(&str, String)> = check_template(text, &read(""))
        .into_iter()
        .map(|finding| (finding.rule.name, finding.message))
        .collect();
    let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["undeclared-variable", "unused-parameter"]);
    assert!(found[1].1.contains("`tone`"), "{found:?}");
}

#[test]
fn a_typo_that_is_made_again_is_one_finding() {
    let task = |name: &str, uses: &str| {
        format!(
            "<task name=\"{name}\"><description>{uses}</description><parameters><parameter name=\"customer\"/></parameters></task>"
        )
    };
    let found = |text: &str| {
        let found = check_template(&format!("<library>{text}</library>"), &read(""));
        found
            .into_iter()
            .filter(|found| found.rule.name == "undeclared-variable")
            .collect::<Vec<_>>()
    };
    let three = task(
        "t",
        "{{custmer}} {{custmer}}</description><instructions>{{custmer}}</instructions>",
    );
    let three = three.replace("</instructions></description>", "</instructions>");
    let all = found(&three);
    assert_eq!(
        (all.len(), all[0].labels.len(), all[0].fixes[0].edits.len()),
        (1, 2, 3),
        "{all:?}"
    );
    assert_eq!(
        all[0].span.start as usize,
        "<library>".len() + three.find("custmer").unwrap()
    );
    // Of many, some are shown.
    let all = found(&task("t", &"{{custmer}} ".repeat(50)));
    assert_eq!(
        (all.len(), all[0].labels.len(), all[0].notes.len()),
        (1, 6, 1)
    );
    // Two slips, and the same in two tasks, are two.
    assert_eq!(found(&task("t", "{{custmer}} {{cstomer}}")).len(), 2);
    assert_eq!(
        found(&[task("t", "{{custmer}}"), task("u", "{{custmer}}")].concat()).len(),
        2
    );
}
