//! Confinement on macOS: every command runs under a Seatbelt profile of its own, and everything that carries the profile's
//! mark is ended with it. Whether that works here is found out by doing it once. What is pure is tested on every Unix.

mod bounds;
#[cfg(target_os = "macos")]
mod confined;
#[cfg(target_os = "macos")]
mod keeper;
#[cfg(target_os = "macos")]
mod machine;
mod marker;
#[cfg(target_os = "macos")]
mod processes;
mod profile;
mod toolchains;

#[cfg(target_os = "macos")]
pub(crate) use keeper::run_if_asked;
#[cfg(target_os = "macos")]
pub(crate) use machine::MacConfinement;
