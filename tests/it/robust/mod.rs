//! Effects of the machine on a program: it is killed, runs twice, meets a full disk, missing
//! permissions, a closed pipe.

mod disk;
mod kill;
mod permissions;
mod pipe;
mod project;
