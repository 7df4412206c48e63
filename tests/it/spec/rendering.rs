//! `docs/spec/rendering.md`: its tables and examples equal the rendered output.

use super::pages::with;
use crate::support::fresh::assert_fresh;
use crate::support::profiles::fenced_profiles;
use ctxc::internals::context::answer_format::AnswerForm;
use ctxc::internals::context::fence_marker::FenceMarks;
use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::message::{self, Message};
use ctxc::internals::context::render::profile::{self, Profile, SegmentFrame};
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::assembler::Speaker;
use ctxc::internals::kernel::budget::{
    BudgetBlock, Counting, Disposition, TokenBudget, WORTH_CUTTING, fit_blocks,
};
use ctxc::internals::kernel::context::{
    CutPolicy, FIRST_EXPENDABLE, Kind, Origin, Segment, Stability, TracedText, Trust,
};
use ctxc::internals::kernel::sampling::{Parameter, Sampling};
use ctxc::internals::kernel::tokens::ByteCounter;
use ctxc::internals::project::tools::ProjectTool;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::fmt::Write as _;

const NONCE: &str = "012345678901234567890";

/// A frame with zeros for its mark.
fn frame(profile: Profile, segment: &Segment) -> SegmentFrame {
    let marks = FenceMarks::for_request(&Request::new("t"));
    let SegmentFrame { head, tail } = profile::segment_frame(profile, segment, &marks);
    let plain = |text: String| text.replace(marks.first(), NONCE);
    SegmentFrame {
        head: plain(head),
        tail: plain(tail),
    }
}

fn segment(kind: Kind, title: &str, text: &str) -> Segment {
    Segment {
        id: kind.as_str().to_owned(),
        kind,
        title: title.to_owned(),
        text: TracedText::new(text, Origin::History),
        stability: Stability::Fixed,
        trust: Trust::Trusted,
        has_untrusted_values: false,
        cut: CutPolicy::Tail,
        why: String::new(),
        priority: None,
        max_tokens: None,
        turns: Vec::new(),
    }
}

/// A title that the assembly gives segments of a kind.
const fn title(kind: Kind) -> &'static str {
    if matches!(
        kind,
        Kind::Input | Kind::Accumulated | Kind::Inherited | Kind::Fresh
    ) {
        return "NAME";
    }
    if matches!(kind, Kind::File) {
        "src/NAME.rs"
    } else {
        ""
    }
}

/// A text as a JSON string in a code span, with any backticks.
fn code(text: &str) -> String {
    let text = json!(text).to_string();
    let mut ticks = 1;
    while text.contains(&"`".repeat(ticks)) {
        ticks += 1;
    }
    let (ticks, gap) = ("`".repeat(ticks), if ticks > 1 { " " } else { "" });
    format!("{ticks}{gap}{text}{gap}{ticks}").replace('|', "\\|")
}

fn headings() -> String {
    let mut out = String::from(
        "| kind | `markdown` | `xml` | `plain` | `sections` | `bare` |\n|---|---|---|---|---|---|\n",
    );
    for kind in Kind::ALL {
        let _ = write!(out, "| `{}` |", kind.as_str());
        for profile in Profile::ALL {
            let frame = frame(profile, &segment(kind, title(kind), "text"));
            let shown = match (frame.head.is_empty(), frame.tail.is_empty()) {
                (true, true) => "nothing".to_owned(),
                (_, true) => code(&frame.head),
                _ => format!("{} … {}", code(&frame.head), code(&frame.tail)),
            };
            let _ = write!(out, " {shown} |");
        }
        out.push('\n');
    }
    out
}

fn separators() -> String {
    let mut out = String::from("| profile | between segments |\n|---|---|\n");
    for profile in Profile::ALL {
        let _ = writeln!(
            out,
            "| `{}` | {} |",
            profile.word(),
            code(profile.separator())
        );
    }
    out
}

fn weights() -> String {
    let nobody = |kind: Kind, who: &'static str| if kind == Kind::Tools { "nobody" } else { who };
    let mut out = String::from(
        "| kind | priority | may be cut or dropped | said by, while `fixed` and trusted | while `call` |\n",
    );
    out.push_str("|---|---|---|---|---|\n");
    for kind in Kind::ALL {
        let of = |stability| {
            let who = message::speaker_of(&Segment {
                stability,
                ..segment(kind, "", "text")
            });
            if who == Speaker::System {
                "system"
            } else {
                "user"
            }
        };
        let expendable = if kind.priority() >= FIRST_EXPENDABLE {
            "yes"
        } else {
            "never"
        };
        let (fixed, call) = (
            nobody(kind, of(Stability::Fixed)),
            nobody(kind, of(Stability::Call)),
        );
        let _ = writeln!(
            out,
            "| `{}` | {} | {expendable} | {fixed} | {call} |",
            kind.as_str(),
            kind.priority()
        );
    }
    out
}

fn marks() -> String {
    let mut out = String::from("| may be cut | mark |\n|---|---|\n");
    let text = "x".repeat(300);
    let cuts = [
        ("after any character", CutPolicy::Tail),
        (
            "before a later part, the last one first",
            CutPolicy::TailAt(vec![0, 100, 200]),
        ),
        (
            "before an earlier part, the first one first",
            CutPolicy::HeadAt(vec![0, 100, 200]),
        ),
    ];
    for (about, cut) in cuts {
        let block = BudgetBlock {
            id: "ID",
            priority: 4,
            turn: (Trust::Trusted, Kind::File),
            head: "",
            text: &text,
            tail: "",
            open: &[],
            others: 0,
            max_tokens: None,
            cut: &cut,
            untrusted: &[],
        };
        let budget = TokenBudget {
            tokens: Some(290),
            counter: &ByteCounter,
            counting: Counting::WhenNeeded,
        };
        let fitted = fit_blocks(&[block], &budget).unwrap();
        let Disposition::Cut { range, mark } = &fitted[0].disposition else {
            panic!("{fitted:?}")
        };
        let _ = writeln!(
            out,
            "| {about} | {} for bytes {} to {} of 300 |",
            code(mark),
            range.start,
            range.end
        );
    }
    let _ = writeln!(
        out,
        "\nWith {WORTH_CUTTING} tokens left or fewer, nothing is cut: it is dropped."
    );
    out
}

fn fence() -> String {
    let foreign = Segment {
        trust: Trust::Untrusted,
        ..segment(Kind::Input, "ticket", "Hello")
    };
    let mut out = String::new();
    for profile in fenced_profiles() {
        let frame = frame(profile, &foreign);
        let _ = writeln!(
            out,
            "`{}`:\n\n```text\n{}Hello{}\n```\n",
            profile.word(),
            frame.head,
            frame.tail
        );
    }
    out
}

/// The messages of the bodies on the page.
fn page_messages() -> Vec<Message> {
    let message = |speaker, text: &str, breakpoints: &[usize]| Message {
        speaker,
        text: TracedText::new(text, Origin::Generated),
        parts: Vec::new(),
        segments: Vec::new(),
        breakpoints: breakpoints.to_vec(),
    };
    let system = "You sort tickets.\n\n## File: teams.md\n\n```md\n- web\n```";
    let (fixed, all) = ("You sort tickets.".len(), system.len());
    vec![
        message(Speaker::System, system, &[fixed, all]),
        message(Speaker::User, "## Task\n\nSort “login”.", &[]),
    ]
}

fn targets() -> String {
    let schema = json!({
        "type": "object",
        "properties": {"team": {"type": "string"}},
        "required": ["team"],
        "additionalProperties": false
    });
    let parameters = json!({"type": "object", "properties": {"ticket": {"type": "string"}}, "required": ["ticket"]});
    let tool = ProjectTool {
        name: "read_ticket".to_owned(),
        description: "Read a ticket.".to_owned(),
        parameters,
        strict: None,
        command: Vec::new(),
        path: String::new(),
        line: 0,
    };
    let call = CallParams {
        name: "triage".to_owned(),
        model: None,
        limit: Some(1000),
        tools: vec![tool],
        sampling: Sampling::new(),
        answer: AnswerForm::Schema(schema),
    };
    let mut out = String::new();
    for target in TARGETS {
        let _ = writeln!(
            out,
            "#### `{}`\n\n```json\n{}\n```\n",
            target.name,
            target.render_body(&page_messages(), &call).unwrap()
        );
    }
    out
}

/// The names of the sampling parameters for each target.
fn sampling() -> String {
    let names: Vec<String> = TARGETS
        .iter()
        .map(|target| format!("`{}`", target.name))
        .collect();
    let mut out = format!(
        "| | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for parameter in Parameter::ALL {
        let field = |target: &&ctxc::internals::context::render::target::RenderTarget| {
            let found = target
                .sampling
                .iter()
                .find(|(known, _)| *known == parameter);
            found.map_or_else(|| "left out".to_owned(), |(_, path)| format!("`{path}`"))
        };
        let fields: Vec<String> = TARGETS.iter().map(field).collect();
        let _ = writeln!(out, "| `{}` | {} |", parameter.word(), fields.join(" | "));
    }
    out
}

#[test]
fn the_page_on_rendering_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/spec/rendering.md");
    let mut page = std::fs::read_to_string(path).unwrap();
    let parts = [
        ("headings", headings()),
        ("separators", separators()),
        ("weights", weights()),
        ("marks", marks()),
        ("fence", fence()),
        ("sampling", sampling()),
        ("targets", targets()),
    ];
    for (name, made) in parts {
        page = with(&page, name, &made);
    }
    assert_fresh("docs/spec/rendering.md", &page);
}

/// The page's rules of code fences.
#[test]
fn a_code_fence_is_longer_than_what_it_holds_and_names_a_plain_ending() {
    let head = |path: &str, text: &str| frame(Profile::Markdown, &segment(Kind::File, path, text));
    assert_eq!(head("a.rs", "x").head, "## File: a.rs\n\n```rs\n");
    assert_eq!(head("a.rs", "x").tail, "\n```");
    assert_eq!(head("a.rs", "x\n").tail, "```");
    assert_eq!(head("a.md", "````\n").head, "## File: a.md\n\n`````md\n");
    for bare in ["Makefile", "a.b/c", "a.tar-gz", "a.abcdefghijklm"] {
        assert!(head(bare, "x").head.ends_with("```\n"), "{bare}");
    }
    let foreign = Segment {
        trust: Trust::Untrusted,
        ..segment(Kind::File, "a\"<b>\n.rs", "x")
    };
    let framed = frame(Profile::Markdown, &foreign);
    assert_eq!(
        framed.head,
        format!("## File\n\n<untrusted-{NONCE} name=\"a&quot;&lt;b&gt; .rs\">\n")
    );
}
