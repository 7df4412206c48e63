//! Turns faults and models into findings: runs every rule, applies `[lints]` and `allow`, then
//! locates and sorts.
//!
//! Rules run in the order of their codes. A fault is reported by the first rule that handles it. A
//! file without faults costs one call per task and rule, and no allocation.

use super::allow::{self, Instruction, Silencers};
use super::context::context_conflict_with_default;
use super::engine::unknown_instruction::{self, VERBS};
use super::engine::unused_allow::{self, UnusedExtent};
use super::engine::{locked_allow, missing_reason, unknown_allow};
use super::file_stem::default_task_name;
use super::input::hidden_text;
use super::list;
use super::project::requirement;
use super::rule::{Check, CheckScope, ConfigCx, FileCx, LinkCx, NodeCx, Rule, SyntaxCx};
use super::syntax::limits;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::Severity;
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::project::linked_names::Links;
use crate::syntax::fault::XmlFault;
use crate::template::model::{Definition, TaskBody, TemplateFile};
use crate::template::{self, nodes};
use std::sync::Arc;

/// The rules that a project has not turned off, grouped by the input of their check. Built once,
/// used for every file.
#[derive(Debug)]
pub struct ActiveRules {
    syntax: Vec<&'static Rule>,
    template: Vec<&'static Rule>,
    file: Vec<&'static Rule>,
    node: Vec<&'static Rule>,
    identity: Fingerprints,
}

/// Controls the computation of fingerprints. They cost as much as the rest of a finding, and only
/// suppressions and machine-readable formats need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprints {
    /// Each finding gets its fingerprint.
    Computed,
    /// Fingerprints stay empty.
    Omitted,
}

impl ActiveRules {
    /// Collects the rules that a project enables.
    pub fn new(config: &Config) -> Self {
        let identity = Fingerprints::Computed;
        let mut active = Self {
            syntax: Vec::new(),
            template: Vec::new(),
            file: Vec::new(),
            node: Vec::new(),
            identity,
        };
        // A fault that affects settings is reported even if its rule is off.
        let is_asked = |rule: &Rule| {
            config.lints.is_on(&rule.meta)
                || matches!(rule.check, Check::Template(_) | Check::TemplateAndFile(..))
        };
        for rule in list::all_rules().filter(|rule| is_asked(rule)) {
            match rule.check {
                Check::Syntax(_) => active.syntax.push(rule),
                Check::Template(_) => active.template.push(rule),
                Check::TemplateAndFile(..) => {
                    active.template.push(rule);
                    active.file.push(rule);
                }
                Check::File(_) | Check::FileAndLink(..) => active.file.push(rule),
                Check::Node(_) => active.node.push(rule),
                Check::Config(_)
                | Check::Link(_)
                | Check::Scenario(_)
                | Check::Case(_)
                | Check::Suites(_)
                | Check::Request(_)
                | Check::Edge => {}
            }
        }
        active
    }

    /// Keeps only the rules about XML syntax, for files too large for all others.
    #[must_use]
    pub fn syntax_only(self) -> Self {
        Self {
            template: Vec::new(),
            file: Vec::new(),
            node: Vec::new(),
            ..self
        }
    }

    /// Enables or disables fingerprints.
    #[must_use]
    pub fn with_fingerprints(self, identity: Fingerprints) -> Self {
        Self { identity, ..self }
    }
}

/// Returns the findings of one file, located and sorted. At most `limits.diagnostics` are returned;
/// the gravest stay.
pub fn file_findings(
    active: &ActiveRules,
    cx: &FileCx<'_>,
    faults: &[XmlFault],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for fault in faults {
        found.extend(active.syntax.iter().find_map(|rule| {
            let Check::Syntax(words) = rule.check else {
                return None;
            };
            let (_, word) = words.iter().find(|(kind, _)| *kind == fault.kind)?;
            Some(word(&SyntaxCx::new(&rule.meta, cx, fault)))
        }));
    }
    for fault in &cx.file.faults {
        if is_reported(cx, fault, faults) {
            continue;
        }
        let worded = active.template.iter().find_map(|rule| {
            let (Check::Template(word) | Check::TemplateAndFile(word, _)) = rule.check else {
                return None;
            };
            word(cx, fault)
        });
        found.extend(worded.map(|finding| Diagnostic {
            locked: finding.locked || fault.loses_something,
            ..finding
        }));
    }
    nodes::visit_bodies(cx.file, |task, _| {
        let Some(body) = cx.bodies.get(task) else {
            return;
        };
        let node = NodeCx { cx, task, body };
        for rule in &active.node {
            if let Check::Node(check) = rule.check {
                check(&node, &mut found);
            }
        }
    });
    for rule in &active.file {
        if let Check::File(check)
        | Check::FileAndLink(check, _)
        | Check::TemplateAndFile(_, check) = rule.check
        {
            check(cx, &mut found);
        }
    }
    finish_findings(active, cx, found)
}

/// True if a text between elements contains only a part that the reader has reported.
fn is_reported(
    cx: &FileCx<'_>,
    fault: &template::fault::TemplateFault<'_>,
    faults: &[XmlFault],
) -> bool {
    if !matches!(
        fault.kind,
        template::fault::TemplateFaultKind::MisplacedText { .. }
    ) || faults.is_empty()
    {
        return false;
    }
    let text = fault.span.slice(cx.document.text);
    let start = fault.span.start + (text.len() - text.trim_ascii_start().len()) as u32;
    let after = faults.partition_point(|other| other.span.start < start);
    faults.get(after).is_some_and(|other| {
        other.span.start == start && other.span.len() as usize >= text.trim_ascii().len()
    })
}

fn finish_findings(
    active: &ActiveRules,
    cx: &FileCx<'_>,
    mut found: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut instructions = allow::collect_instructions(cx.document);
    let mut silencers = Silencers::from_instructions(&instructions);
    found.retain(|finding| !silencers.silence(&mut instructions, cx.document, finding));
    check_instructions(cx, &instructions, &mut found);
    found.retain_mut(|finding| {
        effective_severity(cx.config, finding)
            .inspect(|level| finding.severity = *level)
            .is_some()
    });
    report_withheld_conflicts(active, cx, &mut found);
    if found.is_empty() {
        return found;
    }
    limits::truncate_findings(cx, &mut found);
    let index = LineIndex::new(cx.document.text);
    let mut last: Option<Arc<str>> = None;
    for finding in &mut found {
        if finding.task.is_none() {
            finding.task = task_at(cx.file, cx.path, finding.span.start, last.as_ref());
            last.clone_from(&finding.task);
        }
        finding.place(cx.document.text, &index);
        if active.identity == Fingerprints::Computed {
            finding.identify(cx.document.text, &index);
        }
    }
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// Reports conflicts of settings that were withheld because another error explained them. If that
/// error was silenced, the conflict is reported after all: a registry never contains one.
fn report_withheld_conflicts(active: &ActiveRules, cx: &FileCx<'_>, found: &mut Vec<Diagnostic>) {
    if active.node.is_empty() || cx.config.is_broken() || found.iter().any(is_error) {
        return;
    }
    nodes::visit_bodies(cx.file, |task, _| {
        let Some(body) = cx.bodies.get(task) else {
            return;
        };
        found.extend(context_conflict_with_default::report(&NodeCx {
            cx,
            task,
            body,
        }));
    });
}

/// Returns the name of the task that contains an offset. `last` is the name returned before.
fn task_at(
    file: &TemplateFile<'_>,
    path: &Arc<str>,
    offset: u32,
    last: Option<&Arc<str>>,
) -> Option<Arc<str>> {
    let after = file
        .definitions
        .partition_point(|definition| definition.element().span().start <= offset);
    let definition = file.definitions.get(after.checked_sub(1)?)?;
    if !definition.element().span().contains(offset) {
        return None;
    }
    match (definition, definition.name()) {
        (_, Some(name)) => Some(reuse_name(&name.value, last)),
        (Definition::Task(TaskBody { .. }), None) => {
            Some(reuse_name(default_task_name(path), last))
        }
        (Definition::Template(_) | Definition::Fragment(_), None) => None,
    }
}

/// Returns `last` if it equals the name; allocates otherwise.
fn reuse_name(name: &str, last: Option<&Arc<str>>) -> Arc<str> {
    last.filter(|last| ***last == *name)
        .map_or_else(|| Arc::from(name), Arc::clone)
}

fn check_instructions(
    cx: &FileCx<'_>,
    instructions: &[Instruction<'_>],
    out: &mut Vec<Diagnostic>,
) {
    for instruction in instructions {
        if !VERBS.contains(&instruction.verb.value)
            || (instruction.is_allow() && instruction.names.is_empty())
        {
            out.push(unknown_instruction::report(cx, instruction.verb));
            continue;
        }
        if !instruction.is_allow() {
            continue;
        }
        let only = if instruction.names.len() == 1 {
            UnusedExtent::Name
        } else {
            UnusedExtent::OneOfSeveral
        };
        for (name, used) in &instruction.names {
            match list::find_rule(name.value) {
                None => out.push(unknown_allow::report(
                    cx,
                    *name,
                    &list::all_rules()
                        .map(|rule| rule.meta.name)
                        .collect::<Vec<_>>(),
                )),
                Some(rule) if rule.meta.locked => out.push(locked_allow::report(cx, *name)),
                Some(_) if !used => {
                    out.push(unused_allow::report(cx, instruction.span, *name, only));
                }
                Some(_) => {}
            }
        }
        if !instruction.has_reason && instruction.names.iter().any(|(_, used)| *used) {
            out.push(missing_reason::report(cx, instruction.span));
        }
    }
}

/// Returns the findings of a project file.
pub fn config_findings(config: &Config) -> Vec<Diagnostic> {
    let cx = ConfigCx { config };
    let mut found: Vec<Diagnostic> = Vec::new();
    for fault in &config.faults {
        let worded = list::all_rules().find_map(|rule| {
            let Check::Config(word) = rule.check else {
                return None;
            };
            word(&cx, fault)
        });
        let Some(mut finding) = worded else { continue };
        finding.locked |= fault.kind.decides_settings();
        // A shared file is pinned by its hash, and `--fix` does not write it.
        if fault.file > 0 {
            let ways: Vec<_> = finding.fixes.drain(..).map(|fix| fix.title).collect();
            finding.help = finding
                .help
                .or_else(|| (!ways.is_empty()).then(|| ways.join("; or ").into()));
        }
        if let Some(file) = config.files.get(fault.file as usize) {
            finding.locate(&file.text, &file.lines);
        }
        found.extend(apply_levels(config, finding));
    }
    let mut hidden = Vec::new();
    for (number, file) in config.files.iter().enumerate() {
        let mut own = hidden_text::find_hidden(&file.path, &file.text);
        if number > 0 {
            // A file above the project is not its own to change.
            for finding in &mut own {
                finding.fixes.clear();
            }
        }
        hidden.append(&mut own);
    }
    hidden.extend(hidden_prompts(config));
    found.extend(
        hidden
            .into_iter()
            .filter_map(|finding| apply_levels(config, finding)),
    );
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// Returns the findings of hidden characters in system prompts that have a file of their own.
fn hidden_prompts(config: &Config) -> Vec<Diagnostic> {
    let Some(file) = config.files.first() else {
        return Vec::new();
    };
    let prompts = config
        .roles
        .values()
        .filter_map(|role| role.system.as_ref());
    let found = prompts
        .filter(|prompt| prompt.file.is_some())
        .filter_map(|prompt| {
            let mut finding =
                hidden_text::find_in_included(&file.path, prompt.span, &prompt.path, &prompt.text)?;
            finding.locate(&file.text, &file.lines);
            Some(finding)
        });
    found.collect()
}

/// Returns the findings about names and references of all files. They are not located, because the
/// texts are not available here.
pub fn link_findings(config: &Config, links: &Links<'_>, scope: CheckScope) -> Vec<Diagnostic> {
    let Links {
        index,
        order,
        cycles,
        names,
    } = links;
    let cx = LinkCx {
        index,
        order,
        names,
        cycles,
        config,
        scope,
    };
    let mut found = Vec::new();
    for rule in list::all_rules() {
        if let Check::Link(check) | Check::FileAndLink(_, check) = rule.check {
            check(&cx, &mut found);
        }
    }
    found
        .into_iter()
        .filter_map(|finding| {
            let package = config.packages.of_file(&finding.path);
            apply_levels(package.map_or(config, |package| &*package.config), finding)
        })
        .collect()
}

/// Applies the project's levels. Returns `None` for a rule that is off.
pub fn apply_levels(config: &Config, mut finding: Diagnostic) -> Option<Diagnostic> {
    finding.severity = effective_severity(config, &finding)?;
    Some(finding)
}

/// The severity of a finding under the project's levels. Levels do not lower a locked finding.
fn effective_severity(config: &Config, finding: &Diagnostic) -> Option<Severity> {
    let level = config.lints.severity_for(finding.rule, finding.severity);
    if finding.locked {
        Some(level.map_or(finding.severity, |level| level.min(finding.severity)))
    } else {
        level
    }
}

/// True if a finding makes its definition invalid. Missing scenarios do not.
pub fn invalidates_definition(finding: &Diagnostic) -> bool {
    is_error(finding) && !requirement::is_about_scenarios(finding)
}

/// True if a finding makes the build fail.
pub fn is_error(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error
}
