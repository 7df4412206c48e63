//! Who receives a context: a task, or an agent role with its model, its tools and what they may not touch. Plain data.

use crate::context::render::profile::Profile;
use crate::context::role;
use crate::kernel::context::{Kind, Origin, Segment, Traced};

/// Who receives a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receiver {
    /// The agent role, where one is asked for.
    pub role: Option<String>,
    /// The task.
    pub task: String,
    /// What the role says of itself, before what its task says of that; with the file that holds it, if one does.
    pub system: Option<(String, Option<String>)>,
    /// How segments look; `None` for the usual way.
    pub profile: Option<Profile>,
    /// Kinds of segments that stand before all others of their message.
    pub order: Vec<Kind>,
    /// The model that would be called.
    pub model: Option<String>,
    /// The tools that it may use.
    pub tools: Vec<String>,
    /// What its tools may not touch.
    pub protected_paths: Vec<String>,
    /// Tokens of its context; `None` for no limit.
    pub budget: Option<usize>,
}

impl Receiver {
    /// A task alone.
    pub fn of_task(task: impl Into<String>) -> Self {
        Self { task: task.into(), ..Self::default() }
    }

    /// Puts what the role says of itself before what its task says, as a run does.
    pub(super) fn open(&self, segments: &mut Vec<Segment>) {
        let Some((text, path)) = &self.system else { return };
        let origin = path.as_ref().map_or(Origin::Frame, |path| Origin::File { path: path.clone(), line: 0 });
        role::tell(Traced::new(text.as_str(), origin), segments);
    }
}
