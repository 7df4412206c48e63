//! Family 2xx: the findings about settings, as their readers see them.

mod examples;
mod wording;
