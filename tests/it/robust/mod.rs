//! What the machine does to a program: kills it, runs it twice, fills its disk, takes its
//! permissions, closes its pipe.

mod disk;
mod kill;
mod permissions;
mod pipe;
mod project;
