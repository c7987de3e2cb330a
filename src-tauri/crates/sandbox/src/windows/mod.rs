//! Confinement on Windows, as far as it goes without an administrator: a job that everything a command starts stays in and
//! ends with, and a token that may change only what names an identity of the project. Reading and the network stay open,
//! which the facts say. What is pure is tested on every system.

mod acl;
mod boundary;
mod command_line;
#[cfg(windows)]
mod confined;
mod environment;
#[cfg(windows)]
mod job;
#[cfg(windows)]
mod machine;
#[cfg(windows)]
mod rights;
mod sid;

#[cfg(windows)]
pub(crate) use machine::{WindowsConfinement, release, start_in_job};
