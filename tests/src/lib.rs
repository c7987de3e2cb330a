//! What the tests of the whole product share: a model server, runs of the program, and the window from outside.

#[cfg(feature = "window")]
pub mod desktop;
pub mod model_server;
pub mod sessions;
#[cfg(feature = "window")]
pub mod webdriver;
