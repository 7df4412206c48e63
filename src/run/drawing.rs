//! Draws the flow of a task as Mermaid, or as a self-contained SVG.
//!
//! Both show the order, the choices, the repetitions, and the inputs that are made first.

use super::plan::{PlanKind, PlanNode};
use std::fmt::Write as _;

/// The title of a node: its name, otherwise its path.
fn node_title(node: &PlanNode) -> String {
    let kind = if matches!(node.kind, PlanKind::Script) {
        " (script)"
    } else {
        ""
    };
    let name = node.name.clone().unwrap_or_else(|| node.path.clone());
    format!("{name}{kind}")
}

/// The caption of a node that repeats others.
fn node_caption(node: &PlanNode) -> Option<String> {
    match &node.kind {
        PlanKind::Fold { .. } => Some(format!("{}: for each input", node_title(node))),
        PlanKind::Loop {
            condition, rounds, ..
        } => {
            let until = condition
                .as_ref()
                .map_or_else(String::new, |condition| format!("until {condition}, "));
            Some(format!(
                "{}: {until}at most {rounds} rounds",
                node_title(node)
            ))
        }
        PlanKind::Agent
        | PlanKind::Script
        | PlanKind::Sequence(_)
        | PlanKind::Choice(_)
        | PlanKind::Definition(_) => None,
    }
}

/// The parts of a node that run one after another.
fn sequential_parts(node: &PlanNode) -> Vec<&PlanNode> {
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
pub fn mermaid_chart(plan: &PlanNode) -> String {
    let mut chart = MermaidChart {
        out: "flowchart TD\n".to_owned(),
        nodes: 0,
    };
    let ends = chart.draw_node(plan, &[]);
    let done = chart.add_node("done", NodeShape::END);
    chart.add_arrows(&ends, done);
    chart.out
}

/// A node where a flow leaves another one, and the label of the arrow from there.
type FlowExit = (usize, String);

/// The signs of Mermaid around the title of a node, which give it its form.
#[derive(Clone, Copy)]
struct NodeShape(&'static str, &'static str);

impl NodeShape {
    const END: Self = Self("([", "])");
    const AGENT: Self = Self("[", "]");
    const SCRIPT: Self = Self("[[", "]]");
    const CHOICE: Self = Self("{", "}");
}

struct MermaidChart {
    out: String,
    nodes: usize,
}

impl MermaidChart {
    fn add_node(&mut self, title: &str, shape: NodeShape) -> usize {
        let NodeShape(open, close) = shape;
        let id = self.nodes;
        self.nodes += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "  n{id}{open}\"{}\"{close}", escape_label(title));
        id
    }

    fn add_arrows(&mut self, from: &[FlowExit], to: usize) {
        for (id, words) in from {
            let arrow = if words.is_empty() {
                "-->".to_owned()
            } else {
                format!("-->|\"{}\"|", escape_label(words))
            };
            let _ = writeln!(self.out, "  n{id} {arrow} n{to}");
        }
    }

    fn draw_node(&mut self, node: &PlanNode, from: &[FlowExit]) -> Vec<FlowExit> {
        let mut from = from.to_vec();
        for made in &node.made {
            from = self.draw_node(made, &from);
        }
        match &node.kind {
            PlanKind::Agent | PlanKind::Script => {
                let shape = if node.kind == PlanKind::Script {
                    NodeShape::SCRIPT
                } else {
                    NodeShape::AGENT
                };
                let id = self.add_node(&node_title(node), shape);
                self.add_arrows(&from, id);
                vec![(id, String::new())]
            }
            PlanKind::Choice(cases) => {
                let id = self.add_node(&node_title(node), NodeShape::CHOICE);
                self.add_arrows(&from, id);
                let mut ends = Vec::new();
                for (test, case) in cases {
                    ends.extend(self.draw_node(
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
                for part in sequential_parts(node) {
                    ends = self.draw_node(part, &ends);
                }
                let words = node_caption(node).unwrap_or_default();
                for (id, _) in &ends {
                    let _ = writeln!(
                        self.out,
                        "  n{id} -.->|\"{}\"| n{first}",
                        escape_label(&words)
                    );
                }
                ends
            }
            PlanKind::Sequence(_) | PlanKind::Definition(_) => sequential_parts(node)
                .into_iter()
                .fold(from, |ends, part| self.draw_node(part, &ends)),
        }
    }
}

fn escape_label(text: &str) -> String {
    text.replace('&', "#amp;")
        .replace('"', "#quot;")
        .replace('<', "#lt;")
        .replace('>', "#gt;")
        .replace(['\n', '\r'], " ")
}

/// A position in a drawing.
#[derive(Clone, Copy)]
struct Point {
    x: usize,
    y: usize,
}

impl Point {
    const fn new(x: usize, y: usize) -> Self {
        Self { x, y }
    }
}

/// The height of a box, the gap between two boxes, and the width of a letter.
const BOX_HEIGHT: usize = 34;
const GAP: usize = 18;
const LETTER_WIDTH: usize = 8;

/// Draws the flow as SVG: boxes from top to bottom, choices side by side, repetitions in a frame.
pub fn svg_image(plan: &PlanNode) -> String {
    let (width, height) = node_size(plan);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<style>rect{{fill:none;stroke:currentColor}}.s{{stroke-dasharray:4 3}}\
         line{{stroke:currentColor}}text{{fill:currentColor}}</style>\n",
        w = width + 2 * GAP,
        h = height + 2 * GAP
    );
    draw_at(plan, Point::new(GAP, GAP), &mut out);
    out.push_str("</svg>\n");
    out
}

/// The total size of a row or column of nodes.
fn total_size(sizes: impl Iterator<Item = (usize, usize)>, is_row: bool) -> (usize, usize) {
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
fn node_size(node: &PlanNode) -> (usize, usize) {
    let own = size_without_made(node);
    if node.made.is_empty() {
        return own;
    }
    total_size(
        [total_size(node.made.iter().map(node_size), true), own].into_iter(),
        false,
    )
}

fn size_without_made(node: &PlanNode) -> (usize, usize) {
    let text = |words: &str| words.chars().count() * LETTER_WIDTH + 2 * GAP;
    match &node.kind {
        PlanKind::Agent | PlanKind::Script => (text(&node_title(node)), BOX_HEIGHT),
        PlanKind::Choice(cases) => {
            let cases = cases.iter().map(|(test, case)| {
                let (width, height) = node_size(case);
                (
                    width.max(text(test.as_deref().unwrap_or("else"))),
                    height + GAP,
                )
            });
            total_size(cases, true)
        }
        PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
            let (width, height) =
                total_size(sequential_parts(node).into_iter().map(node_size), false);
            (
                width.max(text(&node_caption(node).unwrap_or_default())) + 2 * GAP,
                height + BOX_HEIGHT + GAP,
            )
        }
        PlanKind::Sequence(_) | PlanKind::Definition(_) => {
            total_size(sequential_parts(node).into_iter().map(node_size), false)
        }
    }
}

fn draw_at(node: &PlanNode, at: Point, out: &mut String) {
    let Point { x, y } = at;
    let mut top = y;
    if !node.made.is_empty() {
        let mut left = x;
        for made in &node.made {
            draw_at(made, Point::new(left, y), out);
            left += node_size(made).0 + GAP;
        }
        top += total_size(node.made.iter().map(node_size), true).1;
        draw_line(x + GAP, top, out);
        top += GAP;
    }
    let (width, height) = size_without_made(node);
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
            draw_text(&node_title(node), Point::new(x + GAP, top + 22), out);
        }
        PlanKind::Choice(cases) => {
            let mut left = x;
            for (test, case) in cases {
                let test = test.as_deref().unwrap_or("else");
                draw_text(test, Point::new(left, top + 12), out);
                draw_at(case, Point::new(left, top + GAP), out);
                left += node_size(case)
                    .0
                    .max(test.chars().count() * LETTER_WIDTH + 2 * GAP)
                    + GAP;
            }
        }
        PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\" class=\"s\"/>"
            );
            draw_text(
                &node_caption(node).unwrap_or_default(),
                Point::new(x + GAP, top + 22),
                out,
            );
            draw_column(
                &sequential_parts(node),
                Point::new(x + GAP, top + BOX_HEIGHT),
                out,
            );
        }
        PlanKind::Sequence(_) | PlanKind::Definition(_) => {
            draw_column(&sequential_parts(node), Point::new(x, top), out);
        }
    }
}

fn draw_column(parts: &[&PlanNode], at: Point, out: &mut String) {
    let Point { x, mut y } = at;
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            draw_line(x + GAP, y, out);
            y += GAP;
        }
        draw_at(part, Point::new(x, y), out);
        y += node_size(part).1;
    }
}

/// Draws a line to the next node.
fn draw_line(x: usize, y: usize, out: &mut String) {
    let _ = writeln!(
        out,
        "<line x1=\"{x}\" y1=\"{y}\" x2=\"{x}\" y2=\"{}\"/>",
        y + GAP
    );
}

fn draw_text(text: &str, at: Point, out: &mut String) {
    let Point { x, y } = at;
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
}
