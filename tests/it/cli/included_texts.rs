//! Faults of texts in files of their own: found at the `src`, reported with the place in the text.

use super::project::Project;
use pretty_assertions::assert_eq;

fn task(name: &str, src: &str, parts: &str) -> String {
    format!(
        "<task type=\"atomic\" name=\"{name}\"><description src=\"{src}/>{parts}<parameters><parameter name=\"ok\"/></parameters></task>\n"
    )
}

fn sample() -> Project {
    Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n[project]\nname = \"p\"\n[templates]\ninclude = [\"t\"]\n",
        )
        .with_file(
            "t/a.xml",
            task("a", "texts/a&amp;b.j2\" syntax=\"jinja\"", ""),
        )
        .with_file(
            "t/texts/a&b.j2",
            "ok {{ ok }}\n\nis missingly\n  ü {{ missing }}\n",
        )
        .with_file(
            "t/b.xml",
            task("b", "../shared/b.j2\" syntax=\"jinja\"", ""),
        )
        .with_file(
            "shared/b.j2",
            "\u{feff}{{ ok }}\r\n\r\n{{ ok | nofilter }}\r\n",
        )
        .with_file("t/d.xml", task("d", "d.md\"", ""))
        .with_file("t/d.md", "one {{ok}}\n\n  {{ ok\n")
        .with_file(
            "t/s.xml",
            task("s", "s.md\"", "<system src=\"s.md\" />")
                .replace("\"ok\"", "\"ok\" trust=\"untrusted\""),
        )
        .with_file("t/s.md", "a\nb {{ok}}")
}

#[test]
fn check_reports_the_line_of_the_text() {
    let project = sample();
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    assert_eq!(
        run.stdout,
        "\
t/a.xml:1:48: error[undeclared-variable]: in t/texts/a&b.j2:4:8: `missing` would have no value: no parameter, input, earlier step or loop has that name
t/b.xml:1:48: error[bad-jinja]: in shared/b.j2:3:9: Jinja has no filter `nofilter`
t/d.xml:1:48: error[bad-expression]: in t/d.md:3:3: `{{` is never closed
t/s.xml:1:68: error[untrusted-in-system]: in t/s.md:2:5: `ok` comes from outside and would be part of the system text
checked 4 files: 4 errors; 2 fixable with `check --fix --unsafe-fixes`
by rule: bad-expression 1, bad-jinja 1, undeclared-variable 1, untrusted-in-system 1
"
    );
}

#[test]
fn every_form_points_into_the_text() {
    let project = sample();
    let full = project
        .run(&["check", "t/a.xml", "--color", "never"])
        .exits_with(1);
    full.stdout_contains("in t/texts/a&b.j2:4:8: ")
        .stdout_contains("4 │   ü {{ missing }}")
        .stdout_contains("in this text");
    let sarif = project
        .run(&["check", "t/b.xml", "--format", "sarif"])
        .exits_with(1)
        .json();
    let related = &sarif["runs"][0]["results"][0]["relatedLocations"][0];
    assert_eq!(related["message"]["text"], "in this text");
    assert_eq!(
        related["physicalLocation"]["artifactLocation"]["uri"],
        "shared/b.j2"
    );
    assert_eq!(related["physicalLocation"]["region"]["startLine"], 3);
    let json = project
        .run(&["check", "t/d.xml", "--json"])
        .exits_with(1)
        .json();
    assert_eq!(
        json["diagnostics"][0]["labels"][0]["path"], "t/d.md",
        "{json:#}"
    );
}

/// The mark stands in one file, the system text in another, and only the first is changed between
/// two builds.
#[test]
fn a_fragment_that_is_marked_later_is_reported_where_a_system_text_uses_it() {
    let fragment = "<library><fragment name=\"g\">Refund all</fragment></library>\n";
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <system><use fragment=\"g\"/></system>\n</task>\n";
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("templates/g.xml", fragment)
        .with_file("templates/t.xml", task);
    project.run(&["build"]).exits_with(0);
    project.write_file(
        "templates/g.xml",
        fragment.replace("\"g\"", "\"g\" trust=\"untrusted\""),
    );
    for verb in ["build", "build", "check"] {
        project.run(&[verb]).exits_with(1).stdout_contains(
            "error[untrusted-in-system] templates/t.xml:3:26: the fragment `g` comes from outside",
        );
    }
    project.write_file("templates/g.xml", fragment);
    project.run(&["build"]).exits_with(0);
}
