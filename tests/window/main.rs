//! Tests of the built app in a real window, with a real keyring and a real notification daemon around it.
//! `cargo xtask test window` brings up the display, the session bus and both daemons.

mod demo;
mod fence;
mod first_window;
mod keys;
mod left_out;
mod models;
mod notifications;
mod steadiness;
mod steps;
mod surroundings;
mod work;
