//! Families 1xx and 4xx (the places of elements, and older forms), with the examples of 3xx.

mod examples;
mod faults;
mod fixes;
mod hostile;
mod no_effect;
