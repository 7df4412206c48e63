//! Finds the child that an element with an unknown or misplaced name stands for, by its name or by
//! its content.

use crate::base::suggest::{likeliest, nearest};
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::{Child, Kind, Of};

/// The children that an element has under their own names, as bits by their index in the table.
pub(super) fn present(kind: Kind, element: Element<'_>) -> u64 {
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
/// slip only if the child itself can contain such elements.
pub(super) fn meant(
    parent: Kind,
    within: Element<'_>,
    found: Element<'_>,
    taken: u64,
) -> Option<(usize, &'static Child)> {
    let name = found.name();
    let open = || {
        let children = parent.spec().children.iter().enumerate();
        children.filter(move |(at, child)| {
            !is_wrapped(parent, child.kind) && (child.many || taken & (1 << at) == 0)
        })
    };
    let tag = |(_, child): &(usize, &'static Child)| child.kind.tag();
    // A final case without a condition belongs to other languages.
    if parent == Kind::Cond && ["else", "otherwise", "default"].contains(&name) {
        return None;
    }
    let is_at_home = Kind::homes(name).next().is_some();
    if !is_at_home && let Some(near) = likeliest(name, open().map(|child| child.1.kind.tag())) {
        return open().find(|child| tag(child) == near);
    }
    // A list of one kind of element contains nothing else.
    if let (false, [only]) = (is_at_home, parent.spec().children)
        && only.many
    {
        return Some((0, only));
    }
    // Elements that could stand here directly are only grouped; they do not identify the group.
    if holds(found, |inside| takes(parent, inside)) {
        return None;
    }
    let fits = |child: &Child| {
        is_of(child.of, within) && holds(found, |inside| takes_task(child.kind, inside))
    };
    let is_like = |child: &Child| !is_at_home || child.kind.child(name).is_some();
    let fitting: Vec<_> = open()
        .filter(|(_, child)| is_like(child) && fits(child))
        .collect();
    let near = nearest(name, fitting.iter().map(tag));
    match *fitting {
        [only] => Some(only),
        _ => fitting.into_iter().find(|child| Some(tag(child)) == near),
    }
}

/// True if all known elements inside an element satisfy `is`, and at least one does.
fn holds(element: Element<'_>, is: impl Fn(Element<'_>) -> bool) -> bool {
    let mut known = element
        .elements()
        .filter(|inside| is(*inside) || Kind::homes(inside.name()).next().is_some())
        .peekable();
    known.peek().is_some() && known.all(&is)
}

/// True if the child is a task wrapped in a body, which is no correct form.
fn is_wrapped(parent: Kind, child: Kind) -> bool {
    parent.is_body() && child == Kind::Task
}

fn takes(kind: Kind, inside: Element<'_>) -> bool {
    kind.child(inside.name())
        .is_some_and(|child| !is_wrapped(kind, child.kind))
}

/// True if an element is a valid child of a kind; a task matches under any name.
fn takes_task(kind: Kind, inside: Element<'_>) -> bool {
    let is_step = !kind.is_body() && kind.child(Kind::Task.tag()).is_some();
    takes(kind, inside) || is_step && holds(inside, |part| takes(Kind::Task, part))
}

/// True if a child belongs to the type of a task, or if that type is none of the language.
fn is_of(of: Of, task: Element<'_>) -> bool {
    let own = task
        .attribute("type")
        .map_or("atomic".into(), Attribute::value);
    let is_own = |of: Of| matches!(of, Of::Type(of) if of == own);
    let is_known = own == "atomic"
        || Kind::Task
            .spec()
            .children
            .iter()
            .any(|child| is_own(child.of));
    of == Of::Any || !is_known || is_own(of)
}
