//! Floor 3: the four settings, resolved.

mod declared;
mod explain;
mod locked;
mod truth_table;
