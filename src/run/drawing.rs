//! Draws the flow of a task as Mermaid, or as a self-contained SVG.
//!
//! Both show the order, the choices, the repetitions, and the inputs that are made first.

use super::plan::{PlanKind, PlanNode};
use std::fmt::Write as _;

/// The title of a node: its name, otherwise its path.
fn title(node: &PlanNode) -> String {
    let kind = if matches!(node.kind, PlanKind::Script) {
        " (script)"
    } else {
        ""
    };
    let name = node.name.clone().unwrap_or_else(|| node.path.clone());
    format!("{name}{kind}")
}

/// The caption of a node that repeats others.
fn caption(node: &PlanNode) -> Option<String> {
    match &node.kind {
        PlanKind::Fold { .. } => Some(format!("{}: for each input", title(node))),
        PlanKind::Loop {
            condition, rounds, ..
        } => {
            let until = condition
                .as_ref()
                .map_or_else(String::new, |condition| format!("until {condition}, "));
            Some(format!("{}: {until}at most {rounds} rounds", title(node)))
        }
        PlanKind::Agent
        | PlanKind::Script
        | PlanKind::Sequence(_)
        | PlanKind::Choice(_)
        | PlanKind::Definition(_) => None,
    }
}

/// The parts of a node that run one after another.
fn parts(node: &PlanNode) -> Vec<&PlanNode> {
    match &node.kind {
        PlanKind::Sequence(steps) => steps.iter().collect(),
        PlanKind::Fold { inner, reduction } => vec![inner, reduction],
        PlanKind::Loop {
            director,
            script,
            evaluator,
            ..
        } => [Some(director), script.as_ref(), evaluator.as_ref()]
            .into_iter()
            .flatten()
            .map(|part| &**part)
            .collect(),
        PlanKind::Definition(root) => vec![root],
        PlanKind::Agent | PlanKind::Script | PlanKind::Choice(_) => Vec::new(),
    }
}

/// Draws the flow as a Mermaid chart.
pub fn mermaid(plan: &PlanNode) -> String {
    let mut chart = Chart {
        out: "flowchart TD\n".to_owned(),
        nodes: 0,
    };
    let ends = chart.node(plan, &[]);
    let done = chart.add("done", ("([", "])"));
    chart.lead(&ends, done);
    chart.out
}

/// A node where a flow leaves another one, and the label of the arrow from there.
type End = (usize, String);

struct Chart {
    out: String,
    nodes: usize,
}

impl Chart {
    fn add(&mut self, title: &str, (open, close): (&str, &str)) -> usize {
        let id = self.nodes;
        self.nodes += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "  n{id}{open}\"{}\"{close}", quoted(title));
        id
    }

    fn lead(&mut self, from: &[End], to: usize) {
        for (id, words) in from {
            let arrow = if words.is_empty() {
                "-->".to_owned()
            } else {
                format!("-->|\"{}\"|", quoted(words))
            };
            let _ = writeln!(self.out, "  n{id} {arrow} n{to}");
        }
    }

    fn node(&mut self, node: &PlanNode, from: &[End]) -> Vec<End> {
        let mut from = from.to_vec();
        for made in &node.made {
            from = self.node(made, &from);
        }
        match &node.kind {
            PlanKind::Agent | PlanKind::Script => {
                let shape = if node.kind == PlanKind::Script {
                    ("[[", "]]")
                } else {
                    ("[", "]")
                };
                let id = self.add(&title(node), shape);
                self.lead(&from, id);
                vec![(id, String::new())]
            }
            PlanKind::Choice(cases) => {
                let id = self.add(&title(node), ("{", "}"));
                self.lead(&from, id);
                let mut ends = Vec::new();
                for (test, case) in cases {
                    ends.extend(self.node(
                        case,
                        &[(id, test.clone().unwrap_or_else(|| "else".to_owned()))],
                    ));
                }
                if cases.iter().all(|(test, _)| test.is_some()) {
                    ends.push((id, "no case".to_owned()));
                }
                ends
            }
            PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
                let first = self.nodes;
                let mut ends = from;
                for part in parts(node) {
                    ends = self.node(part, &ends);
                }
                let words = caption(node).unwrap_or_default();
                for (id, _) in &ends {
                    let _ = writeln!(self.out, "  n{id} -.->|\"{}\"| n{first}", quoted(&words));
                }
                ends
            }
            PlanKind::Sequence(_) | PlanKind::Definition(_) => parts(node)
                .into_iter()
                .fold(from, |ends, part| self.node(part, &ends)),
        }
    }
}

fn quoted(text: &str) -> String {
    text.replace('&', "#amp;")
        .replace('"', "#quot;")
        .replace('<', "#lt;")
        .replace('>', "#gt;")
        .replace(['\n', '\r'], " ")
}

/// The height of a box, the gap between two boxes, and the width of a letter.
const BOX: usize = 34;
const GAP: usize = 18;
const LETTER: usize = 8;

/// Draws the flow as SVG: boxes from top to bottom, choices side by side, repetitions in a frame.
pub fn svg(plan: &PlanNode) -> String {
    let (width, height) = size(plan);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<style>rect{{fill:none;stroke:currentColor}}.s{{stroke-dasharray:4 3}}\
         line{{stroke:currentColor}}text{{fill:currentColor}}</style>\n",
        w = width + 2 * GAP,
        h = height + 2 * GAP
    );
    draw(plan, (GAP, GAP), &mut out);
    out.push_str("</svg>\n");
    out
}

/// The total size of a row or column of nodes.
fn sum(sizes: impl Iterator<Item = (usize, usize)>, is_row: bool) -> (usize, usize) {
    let (mut along, mut across, mut count) = (0, 0, 0);
    for (width, height) in sizes {
        let (own, other) = if is_row {
            (width, height)
        } else {
            (height, width)
        };
        along += own;
        across = across.max(other);
        count += 1;
    }
    along += GAP * usize::saturating_sub(count, 1);
    if is_row {
        (along, across)
    } else {
        (across, along)
    }
}

/// The width and height of a node, including the inputs that are made above it.
fn size(node: &PlanNode) -> (usize, usize) {
    let own = own_size(node);
    if node.made.is_empty() {
        return own;
    }
    sum(
        [sum(node.made.iter().map(size), true), own].into_iter(),
        false,
    )
}

fn own_size(node: &PlanNode) -> (usize, usize) {
    let text = |words: &str| words.chars().count() * LETTER + 2 * GAP;
    match &node.kind {
        PlanKind::Agent | PlanKind::Script => (text(&title(node)), BOX),
        PlanKind::Choice(cases) => {
            let cases = cases.iter().map(|(test, case)| {
                let (width, height) = size(case);
                (
                    width.max(text(test.as_deref().unwrap_or("else"))),
                    height + GAP,
                )
            });
            sum(cases, true)
        }
        PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
            let (width, height) = sum(parts(node).into_iter().map(size), false);
            (
                width.max(text(&caption(node).unwrap_or_default())) + 2 * GAP,
                height + BOX + GAP,
            )
        }
        PlanKind::Sequence(_) | PlanKind::Definition(_) => {
            sum(parts(node).into_iter().map(size), false)
        }
    }
}

fn draw(node: &PlanNode, (x, y): (usize, usize), out: &mut String) {
    let mut top = y;
    if !node.made.is_empty() {
        let mut left = x;
        for made in &node.made {
            draw(made, (left, y), out);
            left += size(made).0 + GAP;
        }
        top += sum(node.made.iter().map(size), true).1;
        down(x + GAP, top, out);
        top += GAP;
    }
    let (width, height) = own_size(node);
    match &node.kind {
        PlanKind::Agent | PlanKind::Script => {
            let class = if node.kind == PlanKind::Script {
                " class=\"s\""
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\"{class}/>"
            );
            words(&title(node), (x + GAP, top + 22), out);
        }
        PlanKind::Choice(cases) => {
            let mut left = x;
            for (test, case) in cases {
                let test = test.as_deref().unwrap_or("else");
                words(test, (left, top + 12), out);
                draw(case, (left, top + GAP), out);
                left += size(case).0.max(test.chars().count() * LETTER + 2 * GAP) + GAP;
            }
        }
        PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\" class=\"s\"/>"
            );
            words(&caption(node).unwrap_or_default(), (x + GAP, top + 22), out);
            column(&parts(node), (x + GAP, top + BOX), out);
        }
        PlanKind::Sequence(_) | PlanKind::Definition(_) => column(&parts(node), (x, top), out),
    }
}

fn column(parts: &[&PlanNode], (x, mut y): (usize, usize), out: &mut String) {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            down(x + GAP, y, out);
            y += GAP;
        }
        draw(part, (x, y), out);
        y += size(part).1;
    }
}

/// Draws a line to the next node.
fn down(x: usize, y: usize, out: &mut String) {
    let _ = writeln!(
        out,
        "<line x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{}\"/>",
        y + GAP
    );
}

fn words(text: &str, (x, y): (usize, usize), out: &mut String) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
}
