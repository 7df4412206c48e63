//! A segment before it is fitted and rendered, with what is known about it before a run.

use crate::context::fill::Faults;
use crate::context::segments::sequence_steps::StepRun;
use crate::kernel::assembler::Deferred;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Segment, Stability, Traced, Trust};
use std::collections::BTreeSet;

/// A segment with what is known about it before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct DraftSegment {
    /// The segment; where `unknown` is not empty, its text is only what is known.
    pub(in crate::context) segment: Segment,
    /// What it is made of beside its text, once values are known, in a dry run.
    pub(in crate::context) latent: Traced,
    /// Variables that it waits for, in a dry run.
    pub(in crate::context) unknown: BTreeSet<String>,
    /// When it is there at all, in a dry run, where that is not certain.
    pub(in crate::context) condition: Option<&'static str>,
    /// Whether, in a dry run, something else may say the same once it is known, so that this is left out.
    pub(in crate::context) is_doubtful: bool,
    /// The steps that are told with it as one, in a dry run: but for its title, they are what it is.
    pub(in crate::context) others: Option<StepRun>,
    /// What is wrong with it. It counts where the agent receives the segment.
    pub(in crate::context) faults: Faults,
    /// What it needs that is not there before the agent has run that the context is for: then the agent does not receive it.
    pub(in crate::context) late: BTreeSet<String>,
}

impl DraftSegment {
    /// A segment of which everything is known.
    pub(in crate::context) fn whole(segment: Segment) -> Self {
        let (latent, unknown, late, faults) = (Traced::default(), BTreeSet::new(), BTreeSet::new(), Vec::new());
        Self { segment, latent, unknown, condition: None, is_doubtful: false, others: None, faults, late }
    }

    /// A segment whose words cannot be known before the agent has run that the context is for.
    pub(in crate::context) fn late(kind: Kind, (id, title): (String, &str), why: &str, late: BTreeSet<String>) -> Self {
        let segment = Segment::of(kind, Traced::default(), why).named(id, title).stable(Stability::Call);
        Self { late, ..Self::whole(segment) }
    }

    /// True for a segment of which others wrote nothing.
    pub(in crate::context) fn is_trusted(&self) -> bool {
        self.segment.overall_trust() == Trust::Trusted && self.segment.text.untrusted().is_empty()
    }

    /// True for a text of a task that is empty in this request and of which others write some in another one.
    pub(in crate::context) fn is_blank(&self) -> bool {
        let Self { segment, unknown, late, faults, .. } = self;
        let is_own_text = segment.priority() < FIRST_EXPENDABLE && !segment.is_turn();
        is_own_text
            && segment.text.is_empty()
            && segment.has_untrusted_values
            && [unknown, late].iter().all(|names| names.is_empty())
            && faults.is_empty()
    }

    /// What is said of it where it is late.
    pub(in crate::context) fn told(self) -> Deferred {
        Deferred { id: self.segment.id, needs: self.late.into_iter().collect() }
    }

    /// The segment, and what is known of it beside its text.
    pub(in crate::context) fn apart(self) -> (Segment, Waiting) {
        let Self { segment, latent, unknown, condition, is_doubtful, others: _, faults: _, late: _ } = self;
        (segment, Waiting { unknown, condition, is_doubtful, latent })
    }
}

/// What is known of a segment of a dry run beside its text.
pub(in crate::context) struct Waiting {
    /// What it waits for.
    pub(in crate::context) unknown: BTreeSet<String>,
    /// When it is there at all.
    pub(in crate::context) condition: Option<&'static str>,
    /// Whether something else may say the same, so that it is left out.
    pub(in crate::context) is_doubtful: bool,
    /// What it is made of once that is known.
    pub(in crate::context) latent: Traced,
}
