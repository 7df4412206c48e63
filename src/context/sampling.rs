//! The sampling parameters of an agent: each comes from the nearest node that sets it, else from
//! its role, else from its model.

use super::task_graph::ChainLink;
use crate::kernel::sampling::{Parameter, Sampled, Sampling};
use crate::project::models::ModelConfig;
use crate::project::roles::Role;

/// Returns the parameters of the agent at the end of a chain, in the order of [`Parameter::ALL`].
pub(super) fn resolve_sampling(
    chain: &[ChainLink<'_>],
    role: Option<&Role>,
    model: Option<&ModelConfig>,
) -> Vec<Sampled> {
    let place = |link: &ChainLink<'_>| {
        format!(
            "task {}{}",
            link.tree.task.name(),
            link.node.id.trim_end_matches('/')
        )
    };
    let tasks = chain
        .iter()
        .rev()
        .map(|link| (place(link), &link.node.body.sampling));
    let role = role.map(|role| (format!("role {}", role.name.value), &role.sampling));
    let model = model.map(|model| (format!("model {}", model.name.value), &model.sampling));
    let layers: Vec<(String, &Sampling)> = tasks.chain(role).chain(model).collect();
    let found = |name: Parameter| {
        layers.iter().find_map(|(from, layer)| {
            Some(Sampled {
                name,
                value: layer.get(&name)?.clone(),
                from: from.clone(),
            })
        })
    };
    Parameter::ALL.into_iter().filter_map(found).collect()
}
