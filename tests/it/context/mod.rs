//! Family 2xx: the findings about settings, as readers see them.

mod examples;
mod wording;
