//! Confinement on Linux: a helper builds namespaces, a new root, Landlock and call filters around every command. Whether
//! that works here is found out by doing it once, never by reading settings; where it does not, commands run unconfined
//! and the facts say so.

mod bwrap;
mod confined;
mod filter;
mod granted;
mod helper;
mod init;
mod lockdown;
mod machine;
mod outer;
mod plan;
mod reach;
mod reduced;
mod sys;
mod view;
mod visible;
mod wire;

pub(crate) use helper::run_if_asked;
pub(crate) use machine::LinuxConfinement;
