//! Finds the child that an element with an unknown or misplaced name stands for, by its name or by
//! its content.

use crate::base::suggest::{likeliest_candidate, nearest_candidate};
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::{ChildSpec, ElementKind, OwnerType};

/// The children that an element has under their own names, as bits by their index in the table.
pub(super) fn present_children(kind: ElementKind, element: Element<'_>) -> u64 {
    let names = element
        .elements()
        .filter(|child| child.namespace().is_none());
    let places = names.filter_map(|child| {
        kind.spec()
            .children
            .iter()
            .position(|known| known.kind.tag() == child.name())
    });
    places.fold(0, |bits, at| bits | 1 << at)
}

/// Returns the child of `parent`, not among `taken`, that an element stands for: the one with a
/// similar name, or the only one that accepts such content. A known but misplaced name counts as a
/// mistake for it only if the child itself can contain such elements.
pub(super) fn find_intended_child(
    parent: ElementKind,
    within: Element<'_>,
    found: Element<'_>,
    taken: u64,
) -> Option<(usize, &'static ChildSpec)> {
    let name = found.name();
    let open = || {
        let children = parent.spec().children.iter().enumerate();
        children.filter(move |(at, child)| {
            !is_wrapped(parent, child.kind) && (child.is_repeatable || taken & (1 << at) == 0)
        })
    };
    let tag = |(_, child): &(usize, &'static ChildSpec)| child.kind.tag();
    // A final case without a condition belongs to other languages.
    if parent == ElementKind::Cond && ["else", "otherwise", "default"].contains(&name) {
        return None;
    }
    let is_at_home = ElementKind::parents_of_tag(name).next().is_some();
    if !is_at_home
        && let Some(near) = likeliest_candidate(name, open().map(|child| child.1.kind.tag()))
    {
        return open().find(|child| tag(child) == near);
    }
    // A list of one kind of element contains nothing else.
    if let (false, [only]) = (is_at_home, parent.spec().children)
        && only.is_repeatable
    {
        return Some((0, only));
    }
    // Elements that could stand here directly are only grouped; they do not identify the group.
    if contains_only(found, |inside| accepts_child(parent, inside)) {
        return None;
    }
    let fits = |child: &ChildSpec| {
        belongs_to(child.owner, within)
            && contains_only(found, |inside| accepts_child_or_task(child.kind, inside))
    };
    let is_like = |child: &ChildSpec| !is_at_home || child.kind.child(name).is_some();
    let fitting: Vec<_> = open()
        .filter(|(_, child)| is_like(child) && fits(child))
        .collect();
    let near = nearest_candidate(name, fitting.iter().map(tag));
    match *fitting {
        [only] => Some(only),
        _ => fitting.into_iter().find(|child| Some(tag(child)) == near),
    }
}

/// True if all known elements inside an element satisfy `is`, and at least one does.
fn contains_only(element: Element<'_>, is: impl Fn(Element<'_>) -> bool) -> bool {
    let mut known = element
        .elements()
        .filter(|inside| is(*inside) || ElementKind::parents_of_tag(inside.name()).next().is_some())
        .peekable();
    known.peek().is_some() && known.all(&is)
}

/// True if the child is a task wrapped in a body, which is no correct form.
fn is_wrapped(parent: ElementKind, child: ElementKind) -> bool {
    parent.is_body() && child == ElementKind::Task
}

fn accepts_child(kind: ElementKind, inside: Element<'_>) -> bool {
    kind.child(inside.name())
        .is_some_and(|child| !is_wrapped(kind, child.kind))
}

/// True if an element is a valid child of a kind; a task matches under any name.
fn accepts_child_or_task(kind: ElementKind, inside: Element<'_>) -> bool {
    let is_step = !kind.is_body() && kind.child(ElementKind::Task.tag()).is_some();
    accepts_child(kind, inside)
        || is_step && contains_only(inside, |part| accepts_child(ElementKind::Task, part))
}

/// True if a child belongs to the type of a task, or if that type is none of the language.
fn belongs_to(of: OwnerType, task: Element<'_>) -> bool {
    let own = task
        .attribute("type")
        .map_or("atomic".into(), Attribute::value);
    let is_own = |of: OwnerType| matches!(of, OwnerType::Type(of) if of == own);
    let is_known = own == "atomic"
        || ElementKind::Task
            .spec()
            .children
            .iter()
            .any(|child| is_own(child.owner));
    of == OwnerType::Any || !is_known || is_own(of)
}
