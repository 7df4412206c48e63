//! Floor 3: the four settings, resolved.

mod declared;
mod explain;
mod truth_table;
