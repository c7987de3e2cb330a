//! paddock-tests

#[cfg(feature = "window")]
pub mod desktop;
#[cfg(feature = "window")]
pub mod webdriver;
