//! Task templates that were compiled with the program: nothing is read, resolved or guessed while it runs.

pub use ctxc::{Registry, Task};
use std::sync::OnceLock;

/// What `build.rs` compiled.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/registry.json"));

/// The registry that this program carries, read once.
///
/// # Panics
/// Never with the bytes that the build script of this very package wrote.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        Registry::read(BYTES).expect("written by the build script with the same version of ctxc")
    })
}

/// What a task would look up or inherit, in one line for a log.
///
/// # Panics
/// Never with the bytes that the build script of this very package wrote.
pub fn receives(task: Task<'_>) -> String {
    let root = task
        .root()
        .expect("written by the build script with the same version of ctxc");
    let Some(settings) = root.settings else {
        return format!("{}: nothing", task.name());
    };
    format!(
        "{}: inherit_context {}, fresh_context {}",
        task.name(),
        settings.inherit_context.value.as_str(),
        settings.fresh_context.value.as_str()
    )
}
