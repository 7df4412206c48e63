//! The size of expanded definitions is computed, not built: a few lines that would be gigabytes are
//! one finding, at once.

use ctxc::{Config, compile_sources};
use pretty_assertions::assert_eq;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The errors of a library, each as its rule and its place.
fn errors(library: &str) -> Vec<String> {
    let text = format!("<library>\n{library}</library>\n");
    let start = Instant::now();
    let built = compile_sources(&Config::default(), [("a.xml", &*text)]);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    let errors = built
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == ctxc::Severity::Error);
    errors
        .map(|finding| format!("{} `{}`", finding.rule.name, finding.span.slice(&text)))
        .collect()
}

/// Fragments, each of which uses the next one this many times.
fn fragments(count: usize, uses: usize) -> String {
    let mut out = String::new();
    for at in 0..count {
        let uses = format!("<use fragment=\"g{}\"/>", at + 1).repeat(uses);
        let _ = writeln!(out, "<fragment name=\"g{at}\">x {uses}</fragment>");
    }
    let _ = writeln!(out, "<fragment name=\"g{count}\">x</fragment>");
    out
}

#[test]
fn fragments_that_double_are_one_error() {
    for (count, uses) in [(40, 2), (60, 2), (60, 9), (25, 40)] {
        let task = "<task name=\"t\"><description><use fragment=\"g0\"/></description></task>\n";
        let found = errors(&format!("{}{task}", fragments(count, uses)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("expansion-too-large"), "{found:?}");
    }
    // The definition that exceeds the limit is reported, and neither those that use it nor those
    // that it uses.
    let library = format!(
        "{}<fragment name=\"big\">{}</fragment>\n",
        fragments(2, 2),
        "x".repeat(3_000_000)
    );
    let library = library.replace(
        "<fragment name=\"g2\">x",
        "<fragment name=\"g2\">x <use fragment=\"big\"/>",
    );
    assert_eq!(errors(&library), ["expansion-too-large `g0`"]);
}

#[test]
fn fragments_that_use_one_another_deeper_than_they_are_filled_are_an_error() {
    assert_eq!(errors(&fragments(62, 1)), [""; 0]);
    assert_eq!(errors(&fragments(64, 1)), ["expansion-too-large `g0`"]);
}

#[test]
fn tasks_that_refer_to_two_others_are_one_error() {
    let task = |at: usize, refs: &[usize]| {
        let refs: Vec<String> = refs
            .iter()
            .map(|to| format!("<task ref=\"t{to}\"/>"))
            .collect();
        let refs = refs.concat();
        let steps = if refs.is_empty() {
            String::new()
        } else {
            format!("<steps>{refs}</steps>")
        };
        let kind = if refs.is_empty() {
            "atomic"
        } else {
            "sequential"
        };
        format!("<task type=\"{kind}\" name=\"t{at}\"><description>d</description>{steps}</task>\n")
    };
    let library = |count: usize| -> String {
        let tasks = (0..count).map(|at| task(at, &[at + 1, at + 2]));
        tasks
            .chain([task(count, &[]), task(count + 1, &[])])
            .collect()
    };
    assert_eq!(errors(&library(15)), [""; 0]);
    for count in [22, 40, 60] {
        let found = errors(&library(count));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("expansion-too-large"), "{found:?}");
    }
    let chain: String = (0..80)
        .map(|at| task(at, &[at + 1]))
        .chain([task(80, &[])])
        .collect();
    assert_eq!(errors(&chain), ["expansion-too-large `t16`"]);
}

#[test]
fn names_that_are_handed_on_are_bounded() {
    let fragment = |at: usize| {
        format!(
            "<fragment name=\"g{at}\">{{{{v{at}}}}}<use fragment=\"g{}\"/></fragment>\n",
            at + 1
        )
    };
    let many = |count: usize| {
        (0..count)
            .map(|at| ["{{v", &at.to_string(), "}}"].concat())
            .collect::<Vec<_>>()
            .concat()
    };
    let library = |count: usize| {
        let asks = format!(
            "<task name=\"asks\"><description>d {}</description></task>\n",
            many(count)
        );
        asks + "<task type=\"sequential\" name=\"t\"><description>d</description><steps><task ref=\"asks\"/></steps></task>\n"
    };
    assert_eq!(errors(&library(128)), [""; 0]);
    assert_eq!(errors(&library(129)), ["expansion-too-large `asks`"]);
    // A task without references may take any number.
    assert_eq!(
        errors(&format!(
            "<task name=\"t\"><description>d {}</description></task>",
            many(300)
        )),
        [""; 0]
    );
    grows_linearly("fragments that hand names on", 500, |count| {
        (0..count)
            .map(fragment)
            .chain([format!("<fragment name=\"g{count}\">x</fragment>")])
            .collect()
    });
    grows_linearly("tasks that refer to one with many names", 300, |count| {
        let task = |at: usize| {
            format!(
                "<task type=\"sequential\" name=\"s{at}\"><description>d</description><steps><task ref=\"asks\"/></steps></task>\n"
            )
        };
        library(count) + &(0..count).map(task).collect::<String>()
    });
}

/// The time for a library of some size and of four times that: linear is four times as long.
fn grows_linearly(what: &str, size: usize, library: impl Fn(usize) -> String) {
    let time = |size: usize| {
        let text = format!("<library>{}</library>", library(size));
        let start = Instant::now();
        let built = compile_sources(&Config::default(), [("a.xml", &*text)]);
        assert!(!text.is_empty() && built.diagnostics.len() < 20_000);
        start.elapsed().as_millis()
    };
    assert!(
        (0..4).any(|_| time(4 * size) < 300 + 9 * time(size)),
        "{what}: four times as many take more than nine times as long"
    );
}

#[test]
fn effective_allows_and_unresolved_names_stay_linear() {
    grows_linearly("allow", 1_000, |count| {
        let task = "<task type=\"atomic\"><?ctxc allow no-context redundant-override reason=\"r\"?><description>d</description>\
             <context_management><inherit_context>none</inherit_context></context_management></task>\n";
        (0..count)
            .map(|at| task.replacen("atomic\"", &format!("atomic\" name=\"t{at}\""), 1))
            .collect()
    });
    grows_linearly("allows of one element", 1_000, |count| {
        let allows = "<?ctxc allow unknown-element reason=\"r\"?><foreignish/>\n".repeat(count);
        format!("<task name=\"t\"><description>d</description>{allows}</task>")
    });
    grows_linearly("allows without effect on one line", 2_000, |count| {
        let allows = "<?ctxc allow no-context reason=\"x\"?>".repeat(count);
        format!("<task name=\"t\"><description>d</description>{allows}</task>")
    });
    grows_linearly("unresolved references", 700, |count| {
        let steps: Vec<String> = (0..count)
            .map(|at| format!("<task ref=\"nowhere-at-all-{at}\"/>"))
            .collect();
        let task = |at| {
            format!("<task name=\"anything-you-want-{at}\"><description>d</description></task>\n")
        };
        let tasks: Vec<String> = (0..count).map(task).collect();
        let (steps, tasks) = (steps.concat(), tasks.concat());
        format!(
            "<task type=\"sequential\" name=\"t\"><description>d</description><steps>{steps}</steps></task>{tasks}"
        )
    });
}

#[test]
fn findings_on_one_long_line_stay_linear() {
    for head in ["", "é"] {
        grows_linearly("one line", 2_000, |count| {
            format!(
                "<task name=\"t\"><description>{head}{}</description></task>",
                "{{f(".repeat(count)
            )
        });
        grows_linearly("unknown elements on one line", 2_000, |count| {
            format!("<task name=\"t\">{head}{}</task>", "<zz/>".repeat(count))
        });
    }
}

#[test]
fn inputs_that_double_are_one_error() {
    let task = |count: usize, text: &dyn Fn(usize) -> String| {
        let inputs = (1..=count)
            .map(|at| format!("<input name=\"i{at}\">{}</input>\n", text(at - 1)))
            .collect::<Vec<_>>()
            .concat();
        format!(
            "<task name=\"t\"><description>d {{{{i{count}}}}}</description><inputs><input name=\"i0\">xxxxxxxxxx</input>\n{inputs}</inputs></task>\n"
        )
    };
    let twice = |at: usize| format!("{{{{i{at}}}}}{{{{i{at}}}}}");
    for count in [24, 40, 80] {
        assert_eq!(
            errors(&task(count, &twice)),
            ["expansion-too-large `input`"],
            "{count}"
        );
        assert_eq!(
            errors(&task(count, &|at| format!("{{{{i{at}}}}}"))),
            [""; 0]
        );
    }
    assert_eq!(errors(&task(16, &twice)), [""; 0]);
    // The description that names an input often is the one to fix.
    let often = task(16, &twice).replace("d {{i16}}", &"{{i16}}".repeat(40));
    assert_eq!(errors(&often), ["expansion-too-large `description`"]);
    grows_linearly("inputs that double", 500, |count| task(count, &twice));
}
