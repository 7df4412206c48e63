//! The agent roles of a project as receivers of contexts: the task that each plays, and what it is given besides.

use crate::cli::context::project::Compiled;
use crate::context;
use crate::context::render::profile::Profile;
use crate::eval::receiver::Receiver;
use crate::eval::run::Roles;
use crate::project::routing;

/// Every role of the project.
pub(in crate::cli::context) fn roles(project: &Compiled) -> Roles {
    let config = &project.config;
    let receiver = |role: &crate::project::roles::Role| {
        let model = routing::choose(config, Some(role), &[]).map(|choice| choice.model);
        let tools = role.tools.clone().unwrap_or_default();
        let blocked = tools.blocked.iter().map(|tool| format!("!{}", tool.value));
        Receiver {
            role: Some(role.name.value.clone()),
            task: role.task.value.clone(),
            system: role.system.as_ref().map(|system| (system.text.clone(), Some(system.path.clone()))),
            profile: role
                .profile
                .as_ref()
                .and_then(|profile| Profile::ALL.into_iter().find(|known| known.word() == profile.value)),
            order: context::role::order(Some(role)),
            model: model.map(|model| model.name.value.clone()),
            tools: tools.allowed.iter().map(|tool| tool.value.clone()).chain(blocked).collect(),
            protected_paths: role.protected_paths.iter().map(|path| path.value.clone()).collect(),
            budget: routing::budget(Some(role), model).map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)),
        }
    };
    config.roles.iter().map(|(name, role)| (name.clone(), receiver(role))).collect()
}
