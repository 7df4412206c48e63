//! Families 1xx and 4xx: what stands where, and older forms.

mod examples;
mod faults;
mod fixes;
