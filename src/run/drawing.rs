//! Draws the flow of a task as Mermaid, or as a self-contained SVG.
//!
//! Both show the order, the choices, the repetitions, and the inputs that are made first.

use super::plan::{PlanKind, PlanNode};
use std::fmt::Write as _;

/// The title of a node, with its kind if it is no agent.
fn node_title(node: &PlanNode) -> String {
    let kind = if node.kind == PlanKind::Script {
        " (script)"
    } else {
        ""
    };
    format!("{}{kind}", node.title)
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
        for producer in &node.producers {
            from = self.draw_node(producer, &from);
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

/// The width and height of a part of a drawing.
#[derive(Clone, Copy, Default)]
struct Size {
    width: usize,
    height: usize,
}

/// The height of a box, the gap beside it, the length of an arrow, and the width of a letter.
const BOX_HEIGHT: usize = 34;
const GAP: usize = 18;
const ARROW: usize = 40;
const LETTER_WIDTH: usize = 8;
/// The attribute of scripts and frames.
const DASHED: &str = " class=\"dashed\"";

/// Draws the flow as SVG: boxes from top to bottom, choices side by side, repetitions in a frame.
pub fn svg_image(plan: &PlanNode) -> String {
    let all = stacked_size([node_size(plan), text_size("done")].into_iter());
    let mut image = SvgImage {
        out: format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<style>rect,polygon{{fill:none;stroke:currentColor}}.dashed{{stroke-dasharray:4 3}}\
             text{{fill:currentColor;text-anchor:middle}}.edge{{fill:none;stroke:currentColor;marker-end:url(#arrow)}}</style>\n\
             <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 8 4 0 8z\" fill=\"currentColor\"/></marker></defs>\n",
            w = all.width + 2 * GAP,
            h = all.height + 2 * GAP
        ),
    };
    let top = Point::new(GAP + all.width / 2, GAP);
    let done = Point::new(top.x, GAP + all.height - BOX_HEIGHT);
    let ends = image.draw_node(plan, top, &[]);
    image.draw_arrows(&ends, done);
    image.draw_box(text_size("done"), done, "");
    image.draw_text("done", done);
    image.out.push_str("</svg>\n");
    image.out
}

/// The size of a box with a text.
fn text_size(text: &str) -> Size {
    Size {
        width: text.chars().count() * LETTER_WIDTH + 2 * GAP,
        height: BOX_HEIGHT,
    }
}

/// The size of parts below each other, with arrows between them.
fn stacked_size(parts: impl Iterator<Item = Size>) -> Size {
    let all = parts.fold(Size::default(), |all, part| Size {
        width: all.width.max(part.width),
        height: all.height + part.height + ARROW,
    });
    Size {
        height: all.height.saturating_sub(ARROW),
        ..all
    }
}

/// The size of a node, with the inputs that are made above it.
fn node_size(node: &PlanNode) -> Size {
    stacked_size(
        node.producers
            .iter()
            .map(node_size)
            .chain([size_without_made(node)]),
    )
}

fn size_without_made(node: &PlanNode) -> Size {
    let parts = || stacked_size(sequential_parts(node).into_iter().map(node_size));
    match &node.kind {
        PlanKind::Agent | PlanKind::Script => text_size(&node_title(node)),
        PlanKind::Choice(_) => {
            let branches = choice_branches(node);
            let row = Size {
                width: branches.iter().map(|branch| branch.size.width).sum(),
                height: branches
                    .iter()
                    .map(|branch| branch.size.height)
                    .max()
                    .unwrap_or(0),
            };
            stacked_size([text_size(&node_title(node)), row].into_iter())
        }
        PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
            let caption = text_size(&node_caption(node).unwrap_or_default());
            let inner = parts();
            Size {
                width: inner.width.max(caption.width) + 2 * GAP,
                height: caption.height + inner.height + ARROW,
            }
        }
        PlanKind::Sequence(_) | PlanKind::Definition(_) => parts(),
    }
}

/// A case of a choice, or the way past all of them.
struct Branch<'p> {
    test: &'p str,
    node: Option<&'p PlanNode>,
    /// With the gap beside it.
    size: Size,
}

/// The branches of a choice, side by side.
fn choice_branches(node: &PlanNode) -> Vec<Branch<'_>> {
    let PlanKind::Choice(cases) = &node.kind else {
        return Vec::new();
    };
    let past = cases
        .iter()
        .all(|(test, _)| test.is_some())
        .then_some((Some("no case"), None));
    cases
        .iter()
        .map(|(test, case)| (test.as_deref(), Some(case)))
        .chain(past)
        .map(|(test, node)| {
            let test = test.unwrap_or("else");
            let size = node.map(node_size).unwrap_or_default();
            let width = size.width.max(text_size(test).width) + GAP;
            Branch {
                test,
                node,
                size: Size { width, ..size },
            }
        })
        .collect()
}

/// A point where a flow leaves a node, and the label of the arrow from there.
type PointExit<'p> = (Point, &'p str);

struct SvgImage {
    out: String,
}

impl SvgImage {
    /// Draws a node whose top has its middle at a point.
    fn draw_node<'p>(
        &mut self,
        node: &'p PlanNode,
        mut at: Point,
        from: &[PointExit<'p>],
    ) -> Vec<PointExit<'p>> {
        let from = self.draw_column(node.producers.iter().collect(), &mut at, from);
        let size = size_without_made(node);
        let bottom = Point::new(at.x, at.y + size.height);
        match &node.kind {
            PlanKind::Agent | PlanKind::Script => {
                let is_script = node.kind == PlanKind::Script;
                let look = if is_script { DASHED } else { "" };
                self.draw_box(size, at, look);
                self.draw_text(&node_title(node), at);
                self.draw_arrows(&from, at);
                vec![(bottom, "")]
            }
            PlanKind::Choice(_) => {
                let title = node_title(node);
                let Size { width, height } = text_size(&title);
                let (left, right, middle) = (at.x - width / 2, at.x + width / 2, at.y + height / 2);
                let foot = Point::new(at.x, at.y + height);
                let _ = writeln!(
                    self.out,
                    "<polygon points=\"{left},{middle} {},{top} {},{top} {right},{middle} {},{end} {},{end}\"/>",
                    left + GAP / 2,
                    right - GAP / 2,
                    right - GAP / 2,
                    left + GAP / 2,
                    top = at.y,
                    end = foot.y
                );
                self.draw_text(&title, at);
                self.draw_arrows(&from, at);
                self.draw_branches(&choice_branches(node), foot)
            }
            PlanKind::Fold { .. } | PlanKind::Loop { .. } => {
                self.draw_box(size, at, DASHED);
                self.draw_text(&node_caption(node).unwrap_or_default(), at);
                self.draw_arrows(&from, at);
                let mut inner = Point::new(at.x, at.y + BOX_HEIGHT);
                let ends = self.draw_column(sequential_parts(node), &mut inner, &[]);
                self.draw_arrows(&ends, bottom);
                vec![(bottom, "")]
            }
            PlanKind::Sequence(_) | PlanKind::Definition(_) => {
                self.draw_column(sequential_parts(node), &mut at, &from)
            }
        }
    }

    /// Draws nodes below each other, and moves the point below them.
    fn draw_column<'p>(
        &mut self,
        parts: Vec<&'p PlanNode>,
        at: &mut Point,
        from: &[PointExit<'p>],
    ) -> Vec<PointExit<'p>> {
        parts.into_iter().fold(from.to_vec(), |from, part| {
            let ends = self.draw_node(part, *at, &from);
            at.y += node_size(part).height + ARROW;
            ends
        })
    }

    /// Draws the branches below the point where the flow divides.
    fn draw_branches<'p>(&mut self, branches: &[Branch<'p>], foot: Point) -> Vec<PointExit<'p>> {
        let width: usize = branches.iter().map(|branch| branch.size.width).sum();
        let mut left = foot.x - width / 2;
        let mut ends = Vec::new();
        for Branch { test, node, size } in branches {
            let top = Point::new(left + size.width / 2, foot.y + ARROW);
            let from = [(foot, *test)];
            if let Some(node) = node {
                ends.extend(self.draw_node(node, top, &from));
            } else {
                self.draw_arrows(&from, top);
                ends.push((top, ""));
            }
            left += size.width;
        }
        ends
    }

    /// Draws arrows: down, across right above their end, and down again. A label interrupts the
    /// last part.
    fn draw_arrows(&mut self, from: &[PointExit<'_>], to: Point) {
        let Point { x, y } = to;
        for (start, label) in from {
            let turn = y - ARROW + 6;
            let gap = if label.is_empty() {
                String::new()
            } else {
                self.draw_text(label, Point::new(x, y - ARROW));
                format!("V{}M{x} {}", turn + 4, y - 12)
            };
            let _ = writeln!(
                self.out,
                "<path class=\"edge\" d=\"M{} {}V{turn}H{x}{gap}V{y}\"/>",
                start.x, start.y
            );
        }
    }

    fn draw_box(&mut self, size: Size, at: Point, look: &str) {
        let _ = writeln!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"{look}/>",
            at.x - size.width / 2,
            at.y,
            size.width,
            size.height
        );
    }

    /// Writes a text into the box whose top has its middle at a point.
    fn draw_text(&mut self, text: &str, at: Point) {
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let _ = writeln!(
            self.out,
            "<text x=\"{}\" y=\"{}\">{text}</text>",
            at.x,
            at.y + 22
        );
    }
}
